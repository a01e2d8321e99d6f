/* certify: what a given two-layer network is. A KKT point of the max-margin problem min |theta|^2/2 s.t. y_i
 * f(x_i) >= 1, a local optimum, a global optimum; always with multipliers or a witness that anyone can check
 * again.
 *
 * Ownership: results own their arrays and witnesses (rf_..._free); the reasons (`..._why`) are constants.
 * Data, networks and a known optimum are read during the call only.
 *
 * Threads: calls with different contexts may run at the same time. */
#ifndef RELUFLOW_CERTIFY_H
#define RELUFLOW_CERTIFY_H

#include "reluflow/core.h"
#include "reluflow/layers.h"
#include "reluflow/geometry.h"
#include "reluflow/net.h"
#include "reluflow/optimum.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RfVerdict {
  RF_VERDICT_UNKNOWN = 0,
  RF_VERDICT_OPTIMUM = 1,
  RF_VERDICT_NOT_OPTIMUM = 2
} RfVerdict;

/* "optimum", "not-optimum", "unknown". */
RF_API const char *rf_verdict_name(RfVerdict verdict);

/* A neuron whose input of a sample is zero to the tolerance of a kink: its slope there may be anything in
 * [leak, 1]. */
typedef struct RfKink {
  rf_index neuron, sample;
  double slope;    /* the element of [leak, 1] that the projection chose: with lambda it rebuilds the
                      subgradients */
  double distance; /* w.x / (|w||x|) */
} RfKink;

/* How far a network is from a KKT point. Everything refers to the network scaled to min_i y_i f(x_i) = 1, and
 * the figures do not depend on the scale of the network, of X, or on the order of its neurons. */
typedef struct RfKkt {
  RfStatus
      status; /* RF_OK; RF_NOT_SEPARABLE when some y_i f(x_i) <= 0: then only margin and objective are set;
                 RF_LIMIT when the projection stopped early: the figures are those of the lambda given */
  bool holds; /* stationarity and complementarity both <= tol.kkt */
  rf_index n, m, d;
  double margin;          /* min_i y_i f(x_i) / |theta|^2 */
  double objective;       /* |theta|^2/2 at min margin 1; infinite when the data are not separated */
  double log_scale;       /* ln of the factor that takes theta to min margin 1 */
  double *margins;        /* n: y_i f(x_i) divided by their minimum */
  double stationarity;    /* |theta - sum_i lambda_i h_i| / |theta|, h_i a Clarke subgradient of y_i f(x_i) */
  double complementarity; /* (2/|theta|^2) sum_i lambda_i (y_i f(x_i) - 1) */
  double
      *lambda; /* n, >= 0: minimises stationarity^2 + complementarity^2; at a KKT point sums to objective */
  double *residual_W; /* m rows of d, and m: theta - sum_i lambda_i h_i at min margin 1 */
  double *residual_a;
  RfKink *kinks; /* kinks of neurons with a_k != 0, by neuron, then sample */
  rf_index n_kinks;
  rf_index n_zero;      /* zero neurons, see RfCertifyTolerances */
  double balance_error; /* max_k | |w_k| - |a_k| | / |theta| */
  rf_index iterations;
} RfKkt;

RF_API void rf_kkt_free(RfKkt *kkt); /* frees the contents and zeroes the struct */
/* Projects theta on the cone of the subgradients. X is n rows of net->d, y has n entries -1 or +1. Returns
 * kkt->status, RF_INTERRUPTED, or a failure. */
RF_API RfStatus rf_certify_kkt(RfContext *context, RfKkt *kkt, const RfNet *net, const double *X,
                               const double *y, rf_index n);

/* The same where only W may move, with theta = W: min |W|^2/2 s.t. y_i f(x_i) >= 1. margin is min_i y_i
 * f(x_i) / |W|, and the sum of lambda at a KKT point is 2 objective. */
RF_API RfStatus rf_certify_kkt_first_layer(RfContext *context, RfKkt *kkt, const RfNet *net, const double *X,
                                           const double *y, rf_index n);

/* ---- layered networks ---------------------------------------------------------------------- */

/* A homogeneous layered network with one output as a point of min |theta|^2/2 s.t. y_i f(x_i) >= 1. At kinks
 * the derivative with phi'(0) = leak is used, so a network on a kink may be a KKT point although `holds` is
 * false: see `kinks`. */
typedef struct RfLayeredKkt {
  RfStatus status; /* RF_OK, or RF_NOT_SEPARABLE when some y_i f(x_i) <= 0 (then only margin is set) */
  bool holds;      /* stationarity and complementarity both <= tol.kkt */
  rf_index n;
  double margin;          /* min_i y_i f(x_i) / |theta|^D */
  double objective;       /* |theta|^2/2 at min margin 1 */
  double *margins;        /* n: y_i f(x_i) divided by their minimum */
  double stationarity;    /* |theta - sum_i lambda_i d(y_i f(x_i))| / |theta| at min margin 1 */
  double complementarity; /* (2/|theta|^2) sum_i lambda_i (q_i - 1) */
  double *lambda;         /* n, >= 0 */
  rf_index kinks;         /* hidden inputs that are kinks on samples with lambda_i > 0 */
} RfLayeredKkt;

RF_API void rf_layered_kkt_free(RfLayeredKkt *kkt);
RF_API RfStatus rf_certify_layered_kkt(RfContext *context, RfLayeredKkt *kkt, const RfLayeredNet *net,
                                       const double *X, const double *y, rf_index n);

/* One layer against its own max-margin problem with the others frozen (VSS Problem 4): min |u|^2 s.t. y_i <u,
 * g_i> >= 1, g_i = df(x_i)/du. For linear networks this is the problem itself, for ReLU the one with frozen
 * activations (VSS (11)). */
typedef struct RfLayerVerdict {
  double norm2; /* |u^(l)|^2 at min margin 1 */
  double best;  /* its minimum */
  double gap;   /* (norm2 - best) / norm2: 0 is optimal */
  /* Of the layer's own problem: global for a linear network and for the last layer, local for ReLU where
   * every hidden input from this layer on is away from its kink (VSS Theorem 5.4), else unknown. */
  RfVerdict verdict;
} RfLayerVerdict;

/* verdicts: one per layer. RF_NOT_SEPARABLE when some y_i f(x_i) <= 0. */
RF_API RfStatus rf_certify_each_layer(RfContext *context, RfLayerVerdict *verdicts, const RfLayeredNet *net,
                                      const double *X, const double *y, rf_index n);

/* A layered network as a whole. */
typedef struct RfLayeredCertificate {
  RfLayeredKkt kkt;
  rf_index n_layers;
  RfLayerVerdict *layers; /* NULL when the network does not separate the data */
  RfVerdict local, global;
  const char *local_why, *global_why; /* sentences */
  double lower; /* certified lower bound of the objective where the theory gives one (linear, fully connected:
                   D/2 margin^{-2/D}); NaN otherwise */
  double gap;   /* (objective - lower) / objective; NaN without a bound */
} RfLayeredCertificate;

RF_API void rf_layered_certificate_free(RfLayeredCertificate *certificate);
/* RF_OK (whatever the verdicts), RF_NOT_SEPARABLE, or a failure; residual networks are refused. */
RF_API RfStatus rf_certify_layered(RfContext *context, RfLayeredCertificate *certificate,
                                   const RfLayeredNet *net, const double *X, const double *y, rf_index n);

/* ---- verdicts ---------------------------------------------------------------------------------------- */

/* What counted as nothing: X = tol.kkt of the context (`certify --tol X`) is the one number behind them,
 * except that the gap is tol.gap. */
typedef struct RfCertifyTolerances {
  double kkt;         /* X: stationarity and complementarity of a KKT point */
  double kink;        /* |w.x| <= kink |w||x| is a kink */
  double tight;       /* y_i f(x_i) <= 1 + tight is tight, at min margin 1 */
  double zero_neuron; /* |w||a| <= zero_neuron |theta|^2 is a zero neuron */
  double gap;         /* (objective - lower) / objective of a global optimum */
} RfCertifyTolerances;

RF_API RfCertifyTolerances rf_certify_tolerances(const RfContext *context);

/* The nearest KKT point: found by Newton's method from the network itself on the pattern of kinks and tight
 * samples that it nearly has, then judged like any other network. */
typedef struct RfNearest {
  bool found;
  double distance;     /* |theta - theta'| / |theta|, both at min margin 1; NaN when none was found */
  double stationarity; /* the larger of stationarity and complementarity there */
} RfNearest;

/* An exact KKT point near the network, enclosed in ball arithmetic (a Krawczyk step on the equations of its
 * kinks and tight samples, every strict inequality decided): existence, not a small residual. */
typedef struct RfProvedPoint {
  bool asked, proved;
  const char *why;                   /* a sentence: what was proved, or where the proof stops */
  double distance;                   /* at most: |theta - theta'| / |theta|, both at min margin 1 */
  double radius;                     /* its weights are known to this, relative to |theta| */
  double margin_lower, margin_upper; /* around its normalised margin */
  double slack;                      /* least relative slack of the strict inequalities */
  rf_index equations, tight, kinks, bits;
} RfProvedPoint;

typedef struct RfCertifySettings {
  bool global;              /* compare with the global optimum */
  bool prove;               /* enclose an exact KKT point: fills `proved` */
  const RfOptimum *optimum; /* already known for these data and this leak; NULL = solve for it */
  double time_limit;        /* seconds for the search of the optimum; <= 0 = none */
  rf_index most_kinks;      /* try every choice of slopes up to this many own-class kinks */
  uint64_t seed;
} RfCertifySettings;

RF_API void rf_certify_settings_init(RfCertifySettings *settings); /* global, 60 s, 12 kinks */

/* What a network is among all networks of its width (local) and among all networks of any width (global). A
 * verdict is given only with its reason: `optimum` rests on multipliers (and a certified bound),
 * `not-optimum` on a better network that anyone can evaluate. Everything else is unknown. The two never
 * contradict each other: an optimum is a KKT point, a global optimum is a local one, and what is not a local
 * optimum is not a global one. */
typedef struct RfCertificate {
  RfKkt kkt;
  RfCertifyTolerances tolerances;
  RfNearest nearest;
  RfProvedPoint proved;
  RfVerdict local;
  const char *local_why; /* a sentence */
  RfNet witness;         /* a better network at min margin 1, of the same width; m = 0 when there is none */
  double norm2_drop;     /* 1 - |witness|^2/|theta|^2, NaN without a witness */
  rf_index own_kinks;    /* kinks on tight samples whose label has the sign of a_k: they decide about local */
  rf_index choices;      /* choices of slopes that were tried */
  RfVerdict global;
  const char *global_why;
  double lower; /* certified: no network of any width has a smaller objective; NaN when not computed */
  double best;  /* smallest objective of any network known; NaN when not computed */
  double gap;   /* (objective - lower)/objective */
  rf_index width_needed;       /* neurons of the best network known; 0 when not computed */
  RfAnswer dual_feasible;      /* max_|u|<=1 |sum_i lambda_i y_i phi(u.x_i)| <= 1 for these multipliers;
                                  multipliers are often not unique, so NO does not refute global optimality */
  double dual_norm;            /* proved: that maximum is not above this; NaN when not computed */
  double violation;            /* that maximum minus 1 where it is above 1, else 0; NaN when not computed */
  double *direction;           /* d: unit u that attains it; NULL when not computed */
  int direction_sign;          /* sign of a for a neuron in that direction */
  bool layers_known;           /* the two layers were each compared with their own problem */
  RfLayerVerdict layers[2];    /* layer 0: W, layer 1: a, activations frozen */
  RfVerdict layer_verdicts[2]; /* unknown at kinks unless the gap is 0 */
  RfOptimum optimum; /* the search behind `lower` and `best`, where none was given; otherwise empty */
  bool interrupted;
} RfCertificate;

RF_API void rf_certificate_free(RfCertificate *certificate);
/* RF_OK (whatever the verdicts), RF_NOT_SEPARABLE when the network does not separate the data, RF_INTERRUPTED
 * with what was found, or a failure. settings may be NULL. */
RF_API RfStatus rf_certify_net(RfContext *context, RfCertificate *certificate, const RfNet *net,
                               const double *X, const double *y, rf_index n,
                               const RfCertifySettings *settings);

/* Writes the proof file of claim kkt for this network: the residuals of `kkt`, rounded up, hold in exact
 * arithmetic with its multipliers and slopes. proof->upper is the bound of the stationarity. RF_OK,
 * RF_UNDECIDED (no file) when the network does not separate the data, or a failure. */
RF_API RfStatus rf_certify_proof(RfContext *context, RfProof *proof, const char *path, const RfKkt *kkt,
                                 const RfNet *net, const double *X, const double *y, rf_index n);

/* Where the global verdict is optimum, by a search of its own: the proof file of claim optimum with this
 * network as the upper bound. RF_OK, RF_UNDECIDED (no file), RF_INTERRUPTED, or a failure. */
RF_API RfStatus rf_certify_proof_optimum(RfContext *context, RfProof *proof, const char *path,
                                         const RfCertificate *certificate, const RfNet *net, const double *X,
                                         const double *y, rf_index n);

/* ---- how far samples are from the decision boundary -------------------------------------------------- */

/* Exact distances: |delta| is shortest with y_i f(x_i + delta) <= 0. At most |x_i|, because f(0) = 0; 0 where
 * the network is wrong. */
typedef struct RfRobustness {
  rf_index n, d;
  double *distance;  /* n; where not exact, a length that does flip the sample */
  double *lower;     /* n: no shorter one flips it; equal to the distance when exact */
  double *nearest;   /* n rows of d: x_i + delta */
  bool exact;        /* for every sample */
  double nodes;      /* linear pieces and groups of them that were looked at */
  double *direction; /* d: unit u of one perturbation for all samples, x_i - c y_i u */
  double
      universal; /* the smallest c that makes all samples wrong that were right; NaN when none up to 2|x| */
} RfRobustness;

RF_API void rf_robustness_free(RfRobustness *robustness);
/* max_nodes: per sample, 0 for the usual limit; beyond it a distance is bracketed. */
RF_API RfStatus rf_certify_robustness(RfContext *context, RfRobustness *robustness, const RfNet *net,
                                      const double *X, const double *y, rf_index n, double max_nodes);

#ifdef __cplusplus
}
#endif
#endif
