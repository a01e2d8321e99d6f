/* core: what every room stands on. Status codes, the context that carries settings, messages and
 * cancellation, checked allocation, random numbers, bitsets, and every tolerance of the library.
 *
 * Conventions of the whole library:
 *   - functions return RfStatus: 0 done, >0 an outcome the caller should look at, <0 a failure;
 *     after a failure context->error holds one line that says what went wrong;
 *   - outputs come first, then inputs, then sizes; matrices are rows of contiguous doubles;
 *   - results own their memory: rf_..._free(NULL) and freeing a zeroed struct are fine;
 *   - the library never prints, exits, or keeps mutable globals. */
#ifndef RELUFLOW_CORE_H
#define RELUFLOW_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RF_PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))
#define RF_API                      __attribute__((visibility("default")))
#else
#define RF_PRINTF(format_at, first)
#define RF_API
#endif

/* Marks a hot loop that is compiled for several instruction sets and chosen at load time. The order of
 * operations is the same in all of them (no contraction, no reassociation), so are the bits. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) &&                 \
    !defined(__SANITIZE_ADDRESS__)
#define RF_HOT __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RF_HOT
#endif

#define RF_VERSION_MAJOR 0
#define RF_VERSION_MINOR 1
#define RF_VERSION_PATCH 0
#define RF_VERSION       "0.1.0"

/* The one index type: samples, neurons, columns, counts. BLAS integers are converted in src/la/blas.c only.
 */
typedef int64_t rf_index;

/* ---- status ---------------------------------------------------------------------------------- */

typedef enum RfStatus {
  RF_OK = 0,
  /* outcomes: the call worked, and this is what it found */
  RF_NOT_SEPARABLE = 1, /* no separator through the origin; a Farkas certificate is in the result */
  RF_BRANCHED = 2,      /* the flow has several continuations */
  RF_UNDECIDED = 3,     /* within tolerance of two answers */
  RF_LIMIT = 4,         /* a work or size limit stopped it; the result is partial and marked */
  RF_INTERRUPTED = 5,   /* the caller's cancel flag or the deadline; the result is partial and marked */
  RF_INFEASIBLE = 6,    /* no network of the asked kind fits the data */
  /* failures: the result is not to be used */
  RF_ERR_MEMORY = -1,
  RF_ERR_USAGE = -2,   /* an argument makes no sense */
  RF_ERR_INPUT = -3,   /* a file does not follow its format: error is "file:line:column: ..." */
  RF_ERR_IO = -4,      /* the operating system refused */
  RF_ERR_NUMERIC = -5, /* iteration failed; the error says what is known */
  RF_ERR_INTERNAL = -6 /* a broken invariant: a bug in this library */
} RfStatus;

/* A fixed English phrase for a status; never NULL. */
RF_API const char *rf_status_text(RfStatus status);
/* The worse of two: a failure, then interrupted, undecided, cut short, branched, infeasible, not separable.
 */
RF_API RfStatus rf_status_worse(RfStatus a, RfStatus b);

/* ---- tolerances: every one of them, once, relative ------------------------------------------------ */

typedef struct RfTolerances {
  double zero;        /* |w.x| <= zero |w||x| counts as "on the hyperplane"                    1e-12 */
  double tight;       /* support: margin within tight of the minimum, relative                 1e-9  */
  double emptiness;   /* a cone is empty when the least-squares residual norm is below this    1e-12 */
  double rank;        /* singular values below rank * largest are zero                         1e-12 */
  double kkt;         /* stationarity and complementarity that count as a KKT point            1e-8  */
  double kink;        /* certify: |w.x| <= kink |w||x| is a kink                               1e-9  */
  double dead_neuron; /* certify: |w||a| <= dead_neuron |theta|^2 is a zero neuron             1e-12 */
  double gap;         /* global optimum: relative gap that counts as proved                    1e-8  */
  double solver;      /* stopping rule of least-squares solvers, times machine epsilon scales  1e-14 */
  double balanced;    /* | |w|-|a| | <= balanced |w| counts as |w| = |a|                       1e-14 */
  double ode;         /* relative tolerance of the integrators                                 1e-10 */
} RfTolerances;

RF_API RfTolerances rf_tolerances_default(void);

/* ---- context --------------------------------------------------------------------------------------- */

#define RF_ERROR_SIZE 512

typedef enum RfLevel { RF_INFO = 0, RF_NOTE = 1, RF_WARNING = 2 } RfLevel;

typedef void (*RfMessageFn)(void *user, RfLevel level, const char *text);
/* fraction in [0,1], or negative when the length is unknown; detail is a short text or "". */
typedef void (*RfProgressFn)(void *user, const char *phase, double fraction, const char *detail);

/* One per thread of callers. Plain data: set what you need after rf_context_init. */
typedef struct RfContext {
  RfTolerances tol;
  int threads; /* worker threads; results never depend on it */
  RfMessageFn on_message;
  RfProgressFn on_progress;
  void *user;                 /* passed to both callbacks */
  const volatile int *cancel; /* non-zero asks long work to stop with what it has; may be NULL */
  double deadline;            /* rf_clock_seconds() at which long work stops; infinity = never */
  const char *data_dir; /* folder of real data: gen:digits reads data_dir/mnist; NULL = the current folder */
  char error[RF_ERROR_SIZE]; /* one line about the last failure */
} RfContext;

RF_API void rf_context_init(RfContext *context);
/* Cancel flag set, or deadline passed. Cheap enough for once per outer iteration. */
RF_API bool rf_context_stop(const RfContext *context);
/* Records one line and returns the status given: `return rf_fail(context, RF_ERR_USAGE, "...", ...)`. */
RF_API RfStatus rf_fail(RfContext *context, RfStatus status, const char *format, ...) RF_PRINTF(3, 4);
RF_API void rf_message(const RfContext *context, RfLevel level, const char *format, ...) RF_PRINTF(3, 4);
RF_API void rf_progress(const RfContext *context, const char *phase, double fraction, const char *detail);
/* Monotonic seconds. */
RF_API double rf_clock_seconds(void);

/* ---- memory ------------------------------------------------------------------------------------------ */

/* count * size bytes, overflow-checked, zeroed. NULL for a negative count, overflow or exhaustion;
 * never NULL for count 0. Release with rf_free. */
RF_API void *rf_alloc(rf_index count, size_t size);
/* As realloc with an overflow check; new bytes are not zeroed. On failure the old block is kept. */
RF_API void *rf_resize(void *block, rf_index count, size_t size);
RF_API void rf_free(void *block);
RF_API char *rf_copy_text(const char *text);
/* A fresh copy of count doubles, NULL on failure. */
RF_API double *rf_copy_doubles(const double *from, rf_index count);
/* a*b (or a+b) in *out; false when it overflows or an operand is negative. */
RF_API bool rf_multiply_sizes(rf_index *out, rf_index a, rf_index b);
RF_API bool rf_add_sizes(rf_index *out, rf_index a, rf_index b);

#define RF_NEW(type, count) ((type *)rf_alloc((count), sizeof(type)))

/* ---- random numbers: Philox 4x32-10, counter based ---------------------------------------------------- */

/* Same seed and stream, same numbers on every machine; streams are independent. Open struct: copying it
 * copies the state. Gaussian numbers use this library's own logarithm, so they do not depend on libm. */
typedef struct RfRandom {
  uint32_t key[2];
  uint32_t counter[4];
  uint32_t block[4];
  int used; /* words of block already handed out; 4 = empty */
  bool has_spare;
  double spare; /* second Gaussian of a pair */
} RfRandom;

RF_API void rf_random_init(RfRandom *random, uint64_t seed, uint64_t stream);
RF_API uint32_t rf_random_u32(RfRandom *random);
RF_API uint64_t rf_random_u64(RfRandom *random);
/* Uniform in [0,1) with 53 bits. */
RF_API double rf_random_uniform(RfRandom *random);
/* Standard normal (Marsaglia polar method). */
RF_API double rf_random_gaussian(RfRandom *random);
/* Uniform in 0..bound-1 without bias; bound >= 1. */
RF_API rf_index rf_random_below(RfRandom *random, rf_index bound);
/* -1 or +1. */
RF_API double rf_random_sign(RfRandom *random);
/* Uniform on the unit sphere of R^d. */
RF_API void rf_random_direction(RfRandom *random, double *out, rf_index d);
/* Fisher-Yates on 0..n-1. */
RF_API void rf_random_permutation(RfRandom *random, rf_index *out, rf_index n);
/* Natural logarithm from IEEE operations only (relative error below 2e-16), the same bits everywhere. */
RF_API double rf_portable_log(double x);
/* Sine and cosine likewise, for |x| <= 1e5 (absolute error below 4e-16). */
RF_API void rf_portable_sincos(double x, double *sine, double *cosine);

/* ---- bitsets --------------------------------------------------------------------------------------------
 */

/* n bits in (n+63)/64 words, bit i in word i/64. */
static inline rf_index rf_bits_words(rf_index n) { return (n + 63) / 64; }
static inline bool rf_bits_get(const uint64_t *bits, rf_index i) { return (bits[i >> 6] >> (i & 63)) & 1u; }
static inline void rf_bits_set(uint64_t *bits, rf_index i) { bits[i >> 6] |= (uint64_t)1 << (i & 63); }
static inline void rf_bits_clear(uint64_t *bits, rf_index i) { bits[i >> 6] &= ~((uint64_t)1 << (i & 63)); }
static inline void rf_bits_flip(uint64_t *bits, rf_index i) { bits[i >> 6] ^= (uint64_t)1 << (i & 63); }
RF_API rf_index rf_bits_count(const uint64_t *bits, rf_index n);
RF_API bool rf_bits_equal(const uint64_t *a, const uint64_t *b, rf_index n);
RF_API uint64_t rf_bits_hash(const uint64_t *bits, rf_index n);

#ifdef __cplusplus
}
#endif
#endif
