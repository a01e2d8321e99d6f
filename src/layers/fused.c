/* The vector kernels of fused_body.h for AVX-512 and for AVX2 with fused multiply-add, in double and float,
 * chosen when the program runs. */
#include "fused.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

/* ---- AVX-512 --------------------------------------------------------------------------------------------
 */

#define TARGET    __attribute__((target("avx512f,avx512dq,fma")))
#define TILE_ROWS 6
#define TILE_VECS 4

#define REAL             double
#define NAME(x)          x##_avx512_double
#define VEC              __m512d
#define LANES            8
#define LOAD(p)          _mm512_loadu_pd(p)
#define STORE(p, v)      _mm512_storeu_pd(p, v)
#define SPREAD(x)        _mm512_set1_pd(x)
#define ZERO()           _mm512_setzero_pd()
#define FMA(a, b, c)     _mm512_fmadd_pd(a, b, c)
#define MUL(a, b)        _mm512_mul_pd(a, b)
#define MAX(a, b)        _mm512_max_pd(a, b)
#define STEP(h, up, low) _mm512_mask_mov_pd(low, _mm512_cmp_pd_mask(h, _mm512_setzero_pd(), _CMP_GT_OQ), up)
#define SUM(v)           _mm512_reduce_add_pd(v)
#include "fused_body.h"
#undef REAL
#undef NAME
#undef VEC
#undef LANES
#undef LOAD
#undef STORE
#undef SPREAD
#undef ZERO
#undef FMA
#undef MUL
#undef MAX
#undef STEP
#undef SUM

#define REAL             float
#define NAME(x)          x##_avx512_float
#define VEC              __m512
#define LANES            16
#define LOAD(p)          _mm512_loadu_ps(p)
#define STORE(p, v)      _mm512_storeu_ps(p, v)
#define SPREAD(x)        _mm512_set1_ps(x)
#define ZERO()           _mm512_setzero_ps()
#define FMA(a, b, c)     _mm512_fmadd_ps(a, b, c)
#define MUL(a, b)        _mm512_mul_ps(a, b)
#define MAX(a, b)        _mm512_max_ps(a, b)
#define STEP(h, up, low) _mm512_mask_mov_ps(low, _mm512_cmp_ps_mask(h, _mm512_setzero_ps(), _CMP_GT_OQ), up)
#define SUM(v)           _mm512_reduce_add_ps(v)
#include "fused_body.h"
#undef REAL
#undef NAME
#undef VEC
#undef LANES
#undef LOAD
#undef STORE
#undef SPREAD
#undef ZERO
#undef FMA
#undef MUL
#undef MAX
#undef STEP
#undef SUM
#undef TARGET
#undef TILE_ROWS
#undef TILE_VECS

/* ---- AVX2 -----------------------------------------------------------------------------------------------
 */

#define TARGET    __attribute__((target("avx2,fma")))
#define TILE_ROWS 4
#define TILE_VECS 3

TARGET static inline double sum_256d(__m256d v) {
  double lanes[4];
  _mm256_storeu_pd(lanes, v);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

TARGET static inline float sum_256(__m256 v) {
  float lanes[8];
  _mm256_storeu_ps(lanes, v);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

#define REAL             double
#define NAME(x)          x##_avx2_double
#define VEC              __m256d
#define LANES            4
#define LOAD(p)          _mm256_loadu_pd(p)
#define STORE(p, v)      _mm256_storeu_pd(p, v)
#define SPREAD(x)        _mm256_set1_pd(x)
#define ZERO()           _mm256_setzero_pd()
#define FMA(a, b, c)     _mm256_fmadd_pd(a, b, c)
#define MUL(a, b)        _mm256_mul_pd(a, b)
#define MAX(a, b)        _mm256_max_pd(a, b)
#define STEP(h, up, low) _mm256_blendv_pd(low, up, _mm256_cmp_pd(h, _mm256_setzero_pd(), _CMP_GT_OQ))
#define SUM(v)           sum_256d(v)
#include "fused_body.h"
#undef REAL
#undef NAME
#undef VEC
#undef LANES
#undef LOAD
#undef STORE
#undef SPREAD
#undef ZERO
#undef FMA
#undef MUL
#undef MAX
#undef STEP
#undef SUM

#define REAL             float
#define NAME(x)          x##_avx2_float
#define VEC              __m256
#define LANES            8
#define LOAD(p)          _mm256_loadu_ps(p)
#define STORE(p, v)      _mm256_storeu_ps(p, v)
#define SPREAD(x)        _mm256_set1_ps(x)
#define ZERO()           _mm256_setzero_ps()
#define FMA(a, b, c)     _mm256_fmadd_ps(a, b, c)
#define MUL(a, b)        _mm256_mul_ps(a, b)
#define MAX(a, b)        _mm256_max_ps(a, b)
#define STEP(h, up, low) _mm256_blendv_ps(low, up, _mm256_cmp_ps(h, _mm256_setzero_ps(), _CMP_GT_OQ))
#define SUM(v)           sum_256(v)
#include "fused_body.h"
#undef REAL
#undef NAME
#undef VEC
#undef LANES
#undef LOAD
#undef STORE
#undef SPREAD
#undef ZERO
#undef FMA
#undef MUL
#undef MAX
#undef STEP
#undef SUM
#undef TARGET
#undef TILE_ROWS
#undef TILE_VECS

const RfFusedKernel_double *rf_fused_kernel_double(void) {
  static const RfFusedKernel_double wide = {fused_forward_avx512_double, fused_backward_avx512_double},
                                    narrow = {fused_forward_avx2_double, fused_backward_avx2_double};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &wide;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &narrow : NULL;
}

const RfFusedKernel_float *rf_fused_kernel_float(void) {
  static const RfFusedKernel_float wide = {fused_forward_avx512_float, fused_backward_avx512_float},
                                   narrow = {fused_forward_avx2_float, fused_backward_avx2_float};
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
