/* The vector kernels of fused_body.h for AVX-512 and for AVX2 with fused multiply-add, in double and float,
 * chosen when the program runs. */
#include "fused.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

/* clang-format off: the order matters; NOLINTBEGIN(readability-duplicate-include): a body for each width */
#include "vector_512_double.h"
#include "fused_body.h"
#include "vector_end.h"
#include "vector_512_float.h"
#include "fused_body.h"
#include "vector_end.h"
#include "vector_256_double.h"
#include "fused_body.h"
#include "vector_end.h"
#include "vector_256_float.h"
#include "fused_body.h"
#include "vector_end.h"
/* NOLINTEND(readability-duplicate-include) */
/* clang-format on */

const RfFusedKernel_double *rf_fused_kernel_double(void) {
  static const RfFusedKernel_double wide = {fused_forward_512_double, fused_backward_512_double},
                                    narrow = {fused_forward_256_double, fused_backward_256_double};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &wide;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &narrow : NULL;
}

const RfFusedKernel_float *rf_fused_kernel_float(void) {
  static const RfFusedKernel_float wide = {fused_forward_512_float, fused_backward_512_float},
                                   narrow = {fused_forward_256_float, fused_backward_256_float};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &wide;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &narrow : NULL;
}

#else

const RfFusedKernel_double *rf_fused_kernel_double(void) { return NULL; }

const RfFusedKernel_float *rf_fused_kernel_float(void) { return NULL; }

#endif

RfFusedShape rf_fused_shape(const RfLayeredNet *net, size_t size) {
  rf_index lanes = 64 / (rf_index)size, m = net->layers[0].outputs;
  return (RfFusedShape){net->layers[0].inputs, (m + lanes - 1) / lanes * lanes};
}

bool rf_fused_suits(const RfLayeredNet *net, size_t size) {
  if (net->n_layers != 2 || !(net->leak >= 0 && net->leak <= 1)) return false;
  const RfLayer *first = &net->layers[0], *head = &net->layers[1];
  if (first->kind != RF_LAYER_DENSE || head->kind != RF_LAYER_DENSE || head->outputs != 1 || head->residual)
    return false;
  RfFusedShape shape = rf_fused_shape(net, size);
  return shape.inputs <= 256 && shape.inputs * shape.padded * (rf_index)size <= 204800 &&
         (size == sizeof(float) ? rf_fused_kernel_float() != NULL : rf_fused_kernel_double() != NULL);
}

/* WT and GT, a, H, F and r, a block of X for the last rows, and room to align. */
rf_index rf_fused_room(RfFusedShape shape) {
  return (2 * shape.inputs + 1 + RF_FUSED_ROWS) * shape.padded + (shape.inputs + 2) * RF_FUSED_ROWS + 64;
}
