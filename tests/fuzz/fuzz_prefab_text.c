/* Fuzzes the text form of prefabs (addons/prefab_text). For any bytes reading ends; either it says where and why it
 * failed, and the world is as it was, or the prefabs are there, and the world is valid; then what is written of them is
 * read again, and written the same. */
#include "must.h"
#include "reef/all.h"
#include "reef_prefab_text.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    float x;
    int8_t small[2];
    char text[4];
    bool on;
} Mix;
typedef struct {
    reef_entity at;
} Aim;
typedef struct {
    int32_t n;
} Some;
typedef struct {
    int32_t n;
} Common;
REEF_COMPONENT(Mix);
REEF_FIELDS(Mix, (x, "m", -10, 10), small, text, on);
REEF_COMPONENT(Aim);
REEF_FIELDS(Aim, at);
REEF_COMPONENT_IN(Some, REEF_MULTI);
REEF_FIELDS(Some, n);
REEF_COMPONENT_IN(Common, REEF_SHARED);
REEF_FIELDS(Common, n);
typedef struct {
    int32_t n;
} Metres;
REEF_COMPONENT(Metres);
REEF_FIELDS(Metres, n);
REEF_TAG(Tag);
REEF_RELATION(To);
REEF_RELATION_OF(One, Metres, REEF_EXCLUSIVE);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static reef_world *world(void)
{
    reef_world *w = reef_world_new(NULL);
    MUST(w && reef_set_name(w, reef_create(w), "world") == REEF_OK);
    return w;
}

static reef_entity prefabs[1000];
static uint32_t prefab_count;

static bool prefab_find(void *context, reef_entity e, reef_component type, const void *value, size_t size)
{
    const reef_world *w = context;
    (void)type, (void)value, (void)size;
    if (reef_has(w, e, ReefPrefab) && reef_entity_is_null(reef_parent(w, e)) && prefab_count < 1000)
        prefabs[prefab_count++] = e;
    return true;
}

static char *write(reef_world *w, size_t *size)
{
    prefab_count = 0;
    (void)reef_visit_entities(w, prefab_find, w);
    return reef_prefab_text_write(w, prefabs, prefab_count, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reef_world *w = world(), *other = world();
    reef_prefab_text_error error;
    char message[200];
    const uint64_t before = reef_hash(w);
    const reef_status s = reef_prefab_text_read(w, (const char *)data, size, "fuzz", &error);
    MUST(reef_validate(w, message, sizeof message) == REEF_OK);
    if (s != REEF_OK) {
        MUST(s < 0 && error.message[0] && reef_hash(w) == before);
    } else {
        size_t length, again;
        char *text = write(w, &length);
        if (text) {
            MUST(reef_prefab_text_read(other, text, length, "again", &error) == REEF_OK);
            char *second = write(other, &again);
            MUST(second && again == length && memcmp(text, second, length) == 0);
            reef_prefab_text_free(second);
        }
        reef_prefab_text_free(text);
    }
    reef_world_free(w);
    reef_world_free(other);
    return 0;
}
