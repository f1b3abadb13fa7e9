#include "storage/state.h"
#include <stdio.h>
