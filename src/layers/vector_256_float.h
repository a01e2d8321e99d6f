/* AVX2 with fused multiply-add, float: what the kernels fused_body.h and conv_body.h are written with. REAL,
 * NAME(x), TARGET (attribute of every function), VEC and LANES; FMA(a,b,c) = ab + c; STEP(h, up, low) = up
 * where h > 0, else low; SUM adds the lanes; how many accumulators a tile may hold in registers. vector_end.h
 * takes all of it back. */
#define TARGET           __attribute__((target("avx2,fma")))
#define TILE_ROWS        4
#define TILE_VECS        3
#define TILE_PIXELS      4
#define TILE_TAPS        6
#define REAL             float
#define NAME(x)          x##_256_float
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

TARGET static inline float sum_256(__m256 v) {
  float lanes[8];
  _mm256_storeu_ps(lanes, v);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}
