/* The part of reef__invalidate that isn't inlined. */
#include "storage/invalidate.h"

void reef__bundles_distrust(reef_world *w)
{
    for (bundle_gate *b = w->bundles_ready; b; b = b->next) b->ready = b;
    w->bundles_ready = NULL;
}
