/* The training loops in double and float. */
#include <math.h>
#include <string.h>

#include "train_internal.h"
#include "layers/layers.h"

#define loss_gradient_double rf_layers_loss_gradient
#define square_root_double   sqrt
#define precision_double     RF_DOUBLE
#define REAL                 double
#define NAME(x)              x##_double
#include "loop_body.h"
#undef REAL
#undef NAME

#define loss_gradient_float rf_layers_loss_gradient_float
#define square_root_float   sqrtf
#define precision_float     RF_FLOAT
#define REAL                float
#define NAME(x)             x##_float
#include "loop_body.h"
#undef REAL
#undef NAME
