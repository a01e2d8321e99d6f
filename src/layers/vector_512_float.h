/* AVX-512, float: what the kernels fused_body.h and conv_body.h are written with. REAL, NAME(x), TARGET
 * (attribute of every function), VEC and LANES; FMA(a,b,c) = ab + c; STEP(h, up, low) = up where h > 0, else
 * low; SUM adds the lanes; how many accumulators a tile may hold in registers. vector_end.h takes all of it
 * back. */
#define TARGET           __attribute__((target("avx512f,avx512dq,fma")))
#define TILE_ROWS        6
#define TILE_VECS        4
#define TILE_PIXELS      7
#define TILE_TAPS        9
#define REAL             float
#define NAME(x)          x##_512_float
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
