/* AVX2 with fused multiply-add, double: what the kernels fused_body.h and conv_body.h are written with. REAL,
 * NAME(x), TARGET (attribute of every function), VEC and LANES; FMA(a,b,c) = ab + c; STEP(h, up, low) = up
 * where h > 0, else low; SUM adds the lanes; how many accumulators a tile may hold in registers. vector_end.h
 * takes all of it back. */
#define TARGET           __attribute__((target("avx2,fma")))
#define TILE_ROWS        4
#define TILE_VECS        3
#define TILE_PIXELS      4
#define TILE_TAPS        6
#define REAL             double
#define NAME(x)          x##_256_double
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

TARGET static inline double sum_256d(__m256d v) {
  double lanes[4];
  _mm256_storeu_pd(lanes, v);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}
