/* The kernels of conv_body.h for AVX-512 and for AVX2 with fused multiply-add, chosen when the program runs.
 */
#include "conv.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

/* clang-format off: the order matters; NOLINTBEGIN(readability-duplicate-include): a body for each width */
#define KERNEL RfConvKernel_double
#include "vector_512_double.h"
#include "conv_body.h"
#include "vector_end.h"
#include "vector_256_double.h"
#include "conv_body.h"
#include "vector_end.h"
#undef KERNEL
#define KERNEL RfConvKernel_float
#include "vector_512_float.h"
#include "conv_body.h"
#include "vector_end.h"
#include "vector_256_float.h"
#include "conv_body.h"
#include "vector_end.h"
/* NOLINTEND(readability-duplicate-include) */
/* clang-format on */

const RfConvKernel_double *rf_conv_kernel_double(void) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &conv_kernel_512_double;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &conv_kernel_256_double : NULL;
}

const RfConvKernel_float *rf_conv_kernel_float(void) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &conv_kernel_512_float;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &conv_kernel_256_float : NULL;
}

#else

const RfConvKernel_double *rf_conv_kernel_double(void) { return NULL; }

const RfConvKernel_float *rf_conv_kernel_float(void) { return NULL; }

#endif

/* Few channels waste most of a vector; huge kernels belong to unfolding. */
bool rf_conv_suits(const RfConvShape *s) {
  return s->kernel_h * s->kernel_w <= RF_CONV_TAPS && s->channels_out >= 4 &&
         rf_conv_kernel_double() != NULL && rf_conv_kernel_float() != NULL;
}

/* Room for the largest user: weights packed for one direction, their gradient, a bordered source, bordered or
 * transposed sensitivities, a tile. */
rf_index rf_conv_room(const RfConvShape *s) {
  rf_index taps = s->kernel_h * s->kernel_w, lanes = RF_CONV_LANES;
  rf_index in = (s->channels_in + lanes - 1) / lanes * lanes,
           out = (s->channels_out + lanes - 1) / lanes * lanes;
  rf_index weights =
      taps * (s->channels_in * out > s->channels_out * in ? s->channels_in * out : s->channels_out * in);
  rf_index tile = RF_CONV_PIXELS * s->stride;
  rf_index source = s->channels_in * (s->height + 2 * s->padding + s->kernel_h + s->stride) *
                    (s->width + 2 * s->padding + s->kernel_w + 2 * tile);
  rf_index slopes = s->channels_out * (s->height_out + 2 * s->kernel_h + 2) *
                    (s->width_out + 2 * s->kernel_w + 2 * RF_CONV_PIXELS);
  rf_index turned = s->height_out * s->width_out * out;
  return 2 * weights + source + slopes + turned + 2 * RF_CONV_PIXELS * lanes + 8 * lanes;
}
