#include "types.h"

REEF_COMPONENT(Shared);
REEF_FIELDS(Shared, (x, "m"), (y, "m"));
REEF_COMPONENT_IN(Burning, REEF_SPARSE);
REEF_TAG(OnlyTag);
REEF_BEFORE_MAIN(declare_narrow)
{
    static reef_type_decl narrow = {"Narrow", 8, 4, REEF_TABLE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    reef_declare(&narrow);
}

reef_component c_shared(void) { return reef_id(Shared); }
reef_component c_burning(void) { return reef_id(Burning); }
reef_component c_only_tag(void) { return reef_id(OnlyTag); }

float c_sum(reef_world *w)
{
    float sum = 0;
    for (reef_block b = reef_begin_text(w, "in Shared"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) sum += reef_in(&b, Shared)[i].x;
    return sum;
}
