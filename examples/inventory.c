/* An inventory: things in containers, in an order that the player chooses. What is in a bag falls out when the bag is
 * destroyed; an enchantment ends with its thing; and the key of a locked chest can't be destroyed. */
#include <reef.h>
#include <reef/relation.h>
#include <stdio.h>

typedef struct {
    int grams;
} Weight;
typedef struct {
    int pieces;
} Stack;
REEF_COMPONENT(Weight);
REEF_COMPONENT(Stack);
REEF_RELATION_OF(Inside, Stack, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_TRANSITIVE); /* how many pieces lie there */
REEF_RELATION(Enchants, REEF_EXCLUSIVE | REEF_CASCADE);
REEF_RELATION(LockedBy, REEF_EXCLUSIVE | REEF_KEEPS_TARGET);

static reef_entity thing(reef_world *w, const char *name, int grams)
{
    reef_entity e = reef_spawn(w, reef_with(Weight, grams));
    reef_set_name(w, e, name);
    return e;
}

static void print_content(const reef_world *w, reef_entity container, int depth)
{
    for (reef_sources s = reef_sources_of(w, container, Inside); reef_sources_next(&s);)
        for (uint32_t i = 0; i < s.count; i++) {
            const int pieces = reef_relation_get(w, s.sources[i], Inside, container)->data.pieces;
            printf("%*s%s", 2 * depth, "", reef_name(w, s.sources[i]));
            if (pieces > 1) printf(" x %d", pieces);
            printf("\n");
            print_content(w, s.sources[i], depth + 1);
        }
}

/* The weight of all that is in a container, at any depth. */
static int content_weight(const reef_world *w, reef_entity container)
{
    int grams = 0;
    for (reef_sources s = reef_sources_of(w, container, Inside); reef_sources_next(&s);)
        for (uint32_t i = 0; i < s.count; i++)
            grams += reef_get(w, s.sources[i], Weight)->grams *
                         reef_relation_get(w, s.sources[i], Inside, container)->data.pieces +
                     content_weight(w, s.sources[i]);
    return grams;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity pack = thing(w, "backpack", 900), bag = thing(w, "bag", 100), key = thing(w, "key", 20);
    reef_entity rope = thing(w, "rope", 2000), apples = thing(w, "apple", 150), ring = thing(w, "ring", 5);
    reef_relate_data(w, rope, Inside, pack, 1);
    reef_relate_data(w, apples, Inside, pack, 3);
    reef_relate_data(w, bag, Inside, pack, 1);
    reef_relate_data(w, ring, Inside, bag, 1);
    reef_relate_data(w, key, Inside, bag, 1);
    print_content(w, pack, 1);
    printf("content: %d g\n", content_weight(w, pack));

    reef_relate_before(w, bag, Inside, pack, rope);            /* the bag to the front */
    reef_relation_mut(w, apples, Inside, pack)->data.pieces--; /* one is eaten */
    reef_retarget(w, key, Inside, bag, pack);                  /* the key out of the bag; it comes last */
    printf("later\n");
    print_content(w, pack, 1);
    printf("the ring is in the backpack: %d\n", reef_related(w, ring, Inside, pack));
    printf("the backpack in its bag: %s\n", reef_status_name(reef_relate(w, pack, Inside, bag)));

    reef_entity chest = thing(w, "chest", 20000), glow = thing(w, "glow", 0), spark = thing(w, "spark", 0);
    reef_relate(w, chest, LockedBy, key);
    printf("melting the key: %s", reef_status_name(reef_destroy(w, key)));
    printf(", for the sake of the %s\n", reef_name(w, reef_last_error(w).entity));
    reef_destroy(w, chest);
    printf("when the chest is gone: %s\n", reef_status_name(reef_destroy(w, key)));

    reef_relate(w, glow, Enchants, ring);
    reef_relate(w, spark, Enchants, glow); /* an enchantment of the enchantment */
    reef_destroy(w, ring);
    printf("enchantments left: %d\n", reef_is_alive(w, glow) + reef_is_alive(w, spark));
    reef_destroy(w, pack); /* its content lies on the ground now */
    printf("the rope is alive: %d, inside of something: %d\n", reef_is_alive(w, rope), reef_has(w, rope, Inside));
    reef_world_free(w);
}
