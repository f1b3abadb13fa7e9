/* A library: books are found by their fields, with parameters that a loop sets again and again; a system sees only the
 * books that are overdue, a bulk call marks what is cheap, and an index has the books in the order of their years. Each
 * reader's card has a number of its own. */
#include <reef.h>
#include <reef/bulk.h>
#include <reef/condition.h>
#include <reef/hooks.h>
#include <reef/value_index.h>
#include <stdio.h>

typedef enum Shelf { NOVELS, SCIENCE, COOKING } Shelf;
REEF_ENUM(Shelf, NOVELS, SCIENCE, COOKING);
typedef struct {
    char author[16];
    Shelf shelf;
    int year;
    float price;
} Book;
REEF_COMPONENT(Book);
REEF_FIELDS(Book, author, (shelf, enum, Shelf), year, price);
typedef struct {
    int days;
} Loan;
REEF_COMPONENT(Loan);
REEF_FIELDS(Loan, days);
REEF_TAG(OnSale);
typedef struct {
    unsigned number;
} Card;
static const reef_hooks one_number = {.unique = "number"};
REEF_COMPONENT_HOOKS(Card, &one_number);
REEF_FIELDS(Card, number);

static void remind(reef_block *b)
{
    const Book *book = reef_in(b, Book);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) printf("overdue: the book by %s\n", book[i].author);
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Book, "Eco", NOVELS, 1980, 12), reef_with(Loan, 40));
    reef_spawn(w, reef_with(Book, "Darwin", SCIENCE, 1859, 30));
    reef_spawn(w, reef_with(Book, "Lem", NOVELS, 1961, 9), reef_with(Loan, 7));
    reef_spawn(w, reef_with(Book, "Lem", SCIENCE, 1964, 25));
    reef_spawn(w, reef_with(Book, "Child", COOKING, 1961, 40));

    /* The text is read once. What stands behind $ is set for each loop. */
    reef_query written = reef_query_new(w, "in Book(year in $first..$last)");
    for (int first = 1850; first < 2000; first += 50) {
        reef_query_set(w, written, "first", first);
        reef_query_set(w, written, "last", first + 49);
        printf("%d to %d:", first, first + 49);
        reef_each(w, written, row) printf(" %s", reef_in_at(row, Book)->author);
        printf("\n");
    }

    reef_query by = reef_query_new(w, "in Book(author == $author), !Book(shelf == NOVELS)");
    reef_query_set(w, by, "author", "Lem");
    reef_each(w, by, row) printf("by Lem, and no novel: %d\n", reef_in_at(row, Book)->year);

    reef_system(w, remind, "in Book, Loan(days > 28)");
    reef_tick(w, 1);

    reef_add_where(w, reef_query_new(w, "Book(price < 26), !Loan"), OnSale);
    reef_each(w, reef_query_new(w, "in Book, OnSale"), row)
        printf("on sale: %s, %d\n", reef_in_at(row, Book)->author, reef_in_at(row, Book)->year);

    /* No other book is looked at. Queries for a year find the index by themselves, if there are many books. */
    const reef_index *years = reef_index_of(w, Book, year);
    reef_entity found[8];
    const uint64_t n = reef_index_range(years, reef_key_i32(1960), reef_key_i32(1999), 0, found, 8);
    for (uint64_t i = 0; i < n; i++)
        printf("%d, %s\n", reef_get(w, found[i], Book)->year, reef_get(w, found[i], Book)->author);
    printf("the oldest is by %s\n", reef_get(w, reef_index_first(years, 0, UINT64_MAX), Book)->author);

    reef_spawn(w, reef_with(Card, 17));
    if (reef_entity_is_null(reef_spawn(w, reef_with(Card, 17)))) printf("card 17: %s\n", reef_last_error(w).detail);
    reef_world_free(w);
}
