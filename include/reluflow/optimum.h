/* optimum: the global max margin of two-layer (leaky) ReLU networks,
 *
 *     minimise  1/2 |theta|^2   subject to   y_i f(x_i) >= 1,      f(x) = sum_k a_k phi(w_k . x),
 *
 * over every width, with a proof. The value equals min sum_k |u_k|, u_k = |a_k| w_k, and its dual is
 *
 *     maximise  sum_i lambda_i   over lambda >= 0 with   M(lambda) = max_{|u|<=1, s=+-1} s sum_i lambda_i y_i
 * phi(u . x_i) <= 1.
 *
 * Every reported number stands on its own: `objective` is recomputed from the network returned (a feasible
 * point), and `lower` = sum(lambda)/M with an upper bound of M from an exhaustive search. docs/math.md,
 * "Global max margin".
 *
 * Ownership: a result owns its arrays (rf_optimum_free, rf_dual_norm_free); X, y and what was known
 * before are read during the call only; `method` is a constant.
 *
 * Threads: calls with different contexts may run at the same time; on_record comes in the thread of the call.
 * Results do not depend on context->threads. */
#ifndef RELUFLOW_OPTIMUM_H
#define RELUFLOW_OPTIMUM_H

#include "reluflow/core.h"
#include "reluflow/margin.h"
#include "reluflow/net.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RfOptimumStatus {
  RF_OPTIMUM_PROVED = 0,      /* gap <= context->tol.gap */
  RF_OPTIMUM_GAP = 1,         /* both bounds hold, but they are further apart than that */
  RF_OPTIMUM_INTERRUPTED = 2, /* time or cancel: the best bounds so far */
  RF_OPTIMUM_INFEASIBLE = 3   /* no network of any width fits; `farkas` proves it */
} RfOptimumStatus;

/* "optimal", "gap", "interrupted", "infeasible". */
RF_API const char *rf_optimum_status_name(RfOptimumStatus status);

/* One line of the anytime curve: both bounds at a time. */
typedef struct RfOptimumRecord {
  double seconds, objective, lower;
  rf_index round, patterns, nodes; /* rounds of pattern generation, patterns seen, search nodes so far */
  double searched;                 /* share of the exact search that runs now; -1: none runs */
} RfOptimumRecord;

typedef struct RfOptimumSettings {
  double leak;           /* slope for non-positive inputs, in [0,1] */
  rf_index width;        /* given width, 0 = any; only compared with the width needed */
  int signs;             /* 0: both signs of a; +1: only a >= 0; -1: only a <= 0 */
  double time_limit;     /* seconds from the call; <= 0 = none (context->deadline still counts) */
  uint64_t seed;         /* starting points of the local searches; the proof does not depend on it */
  rf_index search_nodes; /* give up proving after this many search nodes; 0 = no limit */
  /* Networks known before the search (limits of the flow, witnesses): n_incumbents pointers, read during the
   * call only. Every one that fits the data is an upper bound from the start; a network of another dimension
   * or leak, a NULL, and neurons of a sign not allowed are passed over. */
  const RfNet *const *incumbents;
  rf_index n_incumbents;
  /* Multipliers known before the search (n >= 0 numbers, up to a common factor; those of a limit of the
   * flow): when they prove that one of the networks known is the best, nothing else is searched. May be NULL.
   */
  const double *multipliers;
  /* Called at every new bound, and a few times a second in an exact search; may be NULL. */
  void (*on_record)(void *user, const RfOptimumRecord *record);
  bool every_record; /* also those of a search that come less than a quarter of a second after the last */
  void *user;
} RfOptimumSettings;

RF_API void rf_optimum_settings_init(
    RfOptimumSettings *settings); /* leak 0, any width, both signs, no limit */

typedef struct RfOptimum {
  rf_index n, d;
  double leak;
  RfOptimumStatus status;
  double objective; /* sum |u_k| / min margin of the network below, every rounding counted: an upper bound;
                       inf when none is known. The min margin is 1 to rounding, or in [1,2) where dividing by
                       it would cost digits */
  double lower;     /* proved, every rounding counted: no network does better */
  double gap;       /* (objective - lower) / objective; 0 is perfect, 1 means no information */
  rf_index neurons; /* in the network below */
  double *U;        /* neurons rows of d: u_k = |a_k| w_k */
  double *sign;     /* neurons: sign of a_k, -1 or +1 */
  char *patterns;   /* neurons rows of n characters + - 0: the side of every sample */
  double *lambda;   /* n, >= 0, M(lambda) <= 1, sum(lambda)/M(lambda) >= lower: the dual certificate */
  double
      *farkas; /* n, only when infeasible (else NULL): >= 0, sums to 1, sum_i farkas_i y_i phi(u . x_i) <= 0
                  (= 0 with both signs) for all u */
  rf_index width_needed; /* neurons after Caratheodory reduction */
  bool width_enough; /* settings.width is 0 or >= width_needed; otherwise `lower` is only a lower bound for it
                      */
  rf_index patterns_seen, rounds, newton_steps, searches, nodes;
  double seconds;
  bool stopped; /* a limit of time or the cancel flag was met: bounds hold, digits may differ from those of a
                   run that ends by itself, also where the gap is small enough to be optimal */
  const char *method; /* "linear", "plane", "patterns", "none" */
} RfOptimum;

RF_API void rf_optimum_free(RfOptimum *optimum); /* frees the contents and zeroes the struct */

/* X is n rows of d, y in {-1,+1}. RF_OK with the status in the result (also for gap and infeasible),
 * RF_INTERRUPTED with the best bounds so far, or a failure. */
RF_API RfStatus rf_optimum_solve(RfContext *context, RfOptimum *optimum, const double *X, const double *y,
                                 rf_index n, rf_index d, const RfOptimumSettings *settings);

/* The network of the result, balanced: w_k = u_k/sqrt|u_k|, a_k = sign sqrt|u_k|. */
RF_API RfStatus rf_optimum_net(RfContext *context, RfNet *net, const RfOptimum *optimum);

/* A proof file (docs/proof.md), which a checker that shares nothing with this library reads in exact
 * arithmetic: `rfcheck FILE` or `python -m reluflow.checker FILE`. */
typedef struct RfProof {
  const char *claim;   /* "optimum", "infeasible", "separable", "inseparable" */
  double lower, upper; /* the bracket in the file: of sum |u_k|, or of the margin; infinite when infeasible */
  double nodes, bytes, seconds;
} RfProof;

/* Writes the proof of a result for the data it was computed from; signs as in the settings. A result with a
 * gap gives a proof of its two bounds. RF_OK; RF_UNDECIDED when no proof could be written, RF_INTERRUPTED
 * (deadline, cancel), or a failure: then there is no file. */
RF_API RfStatus rf_optimum_proof(RfContext *context, RfProof *proof, const char *path,
                                 const RfOptimum *optimum, const double *X, const double *y, int signs);
/* The same for a hard margin without intercept: separable with bounds of the margin, or inseparable. */
RF_API RfStatus rf_proof_linear(RfContext *context, RfProof *proof, const char *path,
                                const RfLinearMargin *margin, const double *X, const double *y);

/* Dual feasibility (WP eq. (16)): M(lambda) enclosed, with the direction that attains `value`. */
typedef struct RfDualNorm {
  double value; /* attained: sign * sum lambda_i y_i phi(u . x_i) at u, recomputed */
  double upper; /* proved: no unit u does better */
  double *u;    /* d, unit (zero when value is 0) */
  int sign;
  rf_index nodes;
} RfDualNorm;

RF_API void rf_dual_norm_free(RfDualNorm *norm);
/* lambda (n) >= 0. signs as in the settings. With the deadline or the cancel flag: RF_INTERRUPTED, and
 * `upper` is what was proved so far. */
RF_API RfStatus rf_optimum_dual_norm(RfContext *context, RfDualNorm *norm, const double *X, const double *y,
                                     const double *lambda, rf_index n, rf_index d, double leak, int signs);

#ifdef __cplusplus
}
#endif
#endif
