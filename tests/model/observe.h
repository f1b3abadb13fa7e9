/* The observers of the model's world: their notices, and those that the reference expects. (observe.c) */
#ifndef MODEL_OBSERVE_H
#define MODEL_OBSERVE_H

#include "model.h"

void observers_forget(void);    /* what was heard so far; before reef does an operation */
bool observers_heard(void);     /* anything */
void observers_unsure(void);    /* what is heard of this operation isn't compared */
void observers_begin(model *m); /* the reference is about to do it */
void observers_compare(model *m);

#endif
