/* One forward and one backward pass over a block of samples, in double and in float (pass_template.h). */
#ifndef RF_LAYERS_PASS_H
#define RF_LAYERS_PASS_H

#include "layers/layers.h"

/* Widest layer, and the size of the unfolded patches of one sample. */
rf_index rf_pass_widest(const RfLayeredNet *net);
rf_index rf_pass_patches(const RfLayeredNet *net);
rf_index rf_pass_patch(const RfConvShape *shape);
/* Samples per block: enough for the matrix kernels, few enough for the features to stay in cache. Depends on
 * the shapes only, so that sums are taken in the same order everywhere. */
rf_index rf_pass_rows(rf_index widest, size_t size);
/* Output columns first..end-1 whose input column under kernel column kq lies inside the image. */
void rf_pass_span(rf_index *first, rf_index *end, const RfConvShape *shape, rf_index kq);

#define REAL    double
#define NAME(x) x##_double
#include "pass_template.h"
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_float
#include "pass_template.h"
#undef REAL
#undef NAME

#endif
