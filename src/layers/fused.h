/* Two dense layers with one output, f(x) = sum_k a_k phi(<w_k, x>), on processors with wide vectors: forward
 * and backward over a few samples at a time with everything in the first two caches, without calls of BLAS.
 * Used for small inputs; the same order of operations for any number of threads. */
#ifndef RF_LAYERS_FUSED_H
#define RF_LAYERS_FUSED_H

#include "layers/layers.h"

enum { RF_FUSED_ROWS = 24 }; /* samples per block */

/* Sizes of one kernel call, with the neurons padded to whole vectors. */
typedef struct RfFusedShape {
  rf_index inputs, padded; /* d; m rounded up to whole vectors */
} RfFusedShape;

/* For one number type: F (rows of outputs, RF_FUSED_ROWS), H (RF_FUSED_ROWS x padded, receives phi(z)) from
 * weights WT (inputs x padded) and a (padded); then H becomes s_ik = r_i phi'(z_ik) and GT (inputs x padded)
 * += X^T H. rows < RF_FUSED_ROWS needs X with RF_FUSED_ROWS readable rows; H is then zero there going back.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): types and names */
#define RF_FUSED_KERNEL(REAL, NAME)                                                                          \
  typedef struct NAME {                                                                                      \
    void (*forward)(REAL * F, REAL *H, const REAL *X, const REAL *WT, const REAL *a, REAL leak,              \
                    RfFusedShape shape);                                                                     \
    void (*backward)(REAL * GT, REAL *H, const REAL *X, const REAL *r, REAL leak, RfFusedShape shape);       \
  } NAME;
RF_FUSED_KERNEL(double, RfFusedKernel_double)
RF_FUSED_KERNEL(float, RfFusedKernel_float)
#undef RF_FUSED_KERNEL
/* NOLINTEND(bugprone-macro-parentheses) */

/* The kernel of this processor; NULL where there is none. */
const RfFusedKernel_double *rf_fused_kernel_double(void);
const RfFusedKernel_float *rf_fused_kernel_float(void);
/* The network is of this kind and its weights stay in the second cache. size: of one number. */
bool rf_fused_suits(const RfLayeredNet *net, size_t size);
RfFusedShape rf_fused_shape(const RfLayeredNet *net, size_t size);
/* Numbers of scratch memory for one thread. */
rf_index rf_fused_room(RfFusedShape shape);

#endif
