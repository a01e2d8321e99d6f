/* core: what every room stands on. Status codes, the context that carries settings, messages and
 * cancellation, checked allocation, and the tolerances that users may set.
 *
 * Conventions of the whole library:
 *   - functions return RfStatus: 0 done, >0 an outcome the caller should look at, <0 a failure;
 *     after a failure context->error holds one line that says what went wrong;
 *   - outputs come first, then inputs, then sizes; matrices are rows of contiguous doubles;
 *   - results own their memory: rf_..._free(NULL) and freeing a zeroed struct are fine;
 *   - the library never prints, exits, or keeps mutable globals.
 *
 * Ownership: a context owns nothing; its callbacks, cancel flag and folder are the caller's. A block of
 * rf_alloc is freed with rf_free and in no other way.
 *
 * Threads: a context belongs to one thread at a time, which calls rf_context_init itself (that is where BLAS
 * is told to be serial); any number of threads may work with contexts of their own. The cancel flag may be
 * set from anywhere. Callbacks come in the thread of the call. */
#ifndef RELUFLOW_CORE_H
#define RELUFLOW_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RF_API __attribute__((visibility("default")))
#else
#define RF_API
#endif

/* The one place that states the version; CMake reads these three lines. */
#define RF_VERSION_MAJOR          0
#define RF_VERSION_MINOR          2
#define RF_VERSION_PATCH          0
#define RF_VERSION_TEXT_(a, b, c) #a "." #b "." #c
#define RF_VERSION_TEXT(a, b, c)  RF_VERSION_TEXT_(a, b, c)
#define RF_VERSION                RF_VERSION_TEXT(RF_VERSION_MAJOR, RF_VERSION_MINOR, RF_VERSION_PATCH) /* "0.2.0" */

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
RF_API const char *rf_status_name(RfStatus status);
/* The worse of two: a failure, then interrupted, undecided, cut short, branched, infeasible, not separable.
 */
RF_API RfStatus rf_status_worse(RfStatus a, RfStatus b);

/* ---- tolerances: every one of them, once, relative ------------------------------------------------ */

typedef struct RfTolerances {
  double zero;      /* |w.x| <= zero |w||x| counts as "on the hyperplane"                    1e-12 */
  double tight;     /* support: margin within tight of the minimum, relative                 1e-9  */
  double emptiness; /* a cone is empty when the least-squares residual norm is below this    1e-12 */
  double rank;      /* singular values below rank * largest are zero                         1e-12 */
  double kkt;       /* certify: the one tolerance, see RfCertifyTolerances                   1e-8  */
  double kink;      /* optimum: |w.x| <= kink |w||x| is a kink                               1e-9  */
  double gap;       /* global optimum: relative gap that counts as proved                    1e-8  */
  double solver;    /* stopping rule of least-squares solvers, times machine epsilon scales  1e-14 */
  double balanced;  /* | |w|-|a| | <= balanced |w| counts as |w| = |a|                       1e-14 */
  double ode;       /* relative tolerance of the integrators                                 1e-10 */
} RfTolerances;

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
  double deadline;            /* set by rf_context_limit; infinity = never */
  const char *data_dir; /* folder of real data: gen:digits reads data_dir/mnist; NULL = the current folder */
  char error[RF_ERROR_SIZE]; /* one line about the last failure */
} RfContext;

RF_API void rf_context_init(RfContext *context);
/* Long work stops with what it has `seconds` from now; infinity = never. */
RF_API void rf_context_limit(RfContext *context, double seconds);

/* ---- memory ------------------------------------------------------------------------------------------ */

/* count * size bytes, overflow-checked, zeroed. NULL for a negative count, overflow or exhaustion;
 * never NULL for count 0. Release with rf_free. */
RF_API void *rf_alloc(rf_index count, size_t size);
RF_API void rf_free(void *block);

#ifdef __cplusplus
}
#endif
#endif
