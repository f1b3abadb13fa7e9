/* A library: books are found by their fields, with parameters that a loop sets again and again; a system sees only the
 * books that are overdue, and a bulk call marks what is cheap. */
#include <reef.h>
#include <reef/bulk.h>
#include <reef/condition.h>
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
    reef_world_free(w);
}
