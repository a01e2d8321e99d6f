/* flow: gradient flow on two-layer networks from any initialisation to t = infinity.
 *
 *   dtheta/dt in -dL(theta) (Clarke),  L = cL sum_i loss(y_i f(x_i)),  f(x) = sum_k a_k phi(w_k . x).
 *
 * Three parts. `align`: the exact limit eps -> 0 near the origin, neuron by neuron, in closed form. `fit`:
 * high-order integration with exact events in the clock dtau = S dt, S = sum |loss'|. `infinity` and `limit`:
 * an implicit method to huge margins, then with the scale frozen, a Newton polish of the limit direction, and
 * the escape test that tells the flow's limit from a mere KKT point. Each neuron is a unit vector
 * (w,a)/|(w,a)| and a logarithm of its norm, so initial scales of 1e-300, ln eps = -1e5 and the limit eps ->
 * 0 are ordinary.
 *
 * Ownership: results, starts and checkpoints own their arrays (rf_..._free); the arrays of a problem are the
 * caller's and must outlive the call. What an observer or `save` is given holds until it returns.
 *
 * Threads: calls with different contexts may run at the same time; callbacks come in the thread of the call.
 * Results do not depend on context->threads. */
#ifndef RELUFLOW_FLOW_H
#define RELUFLOW_FLOW_H

#include "reluflow/core.h"
#include "reluflow/layers.h"
#include "reluflow/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- where the flow starts ----------------------------------------------------------------- */

/* theta(0) = eps * exp(log_norm_k) * direction_k. A zero neuron has log_norm -infinity (direction ignored).
 */
typedef struct RfFlowStart {
  rf_index m, d;
  double *directions; /* m rows of d+1: (w_k, a_k), joint norm 1 */
  double *log_norms;  /* m: ln |(w_k, a_k)|, without ln eps */
} RfFlowStart;

RF_API void rf_flow_start_free(RfFlowStart *start);
/* Splits the weights of a network into directions and log-norms. */
RF_API RfStatus rf_flow_start_from_net(RfContext *context, RfFlowStart *start, const RfNet *net);

/* ---- problem and settings ------------------------------------------------------------------ */

/* Everything is borrowed; the arrays must outlive the call. */
typedef struct RfFlowProblem {
  const double *X; /* n rows of d */
  const double *y; /* n labels, -1 or +1 */
  rf_index n, d;
  double leak;
  RfLoss loss;
  bool mean; /* loss averaged over samples: only the clock changes, t_mean = n t_sum */
  const RfFlowStart *start;
  double log_scale;   /* ln eps */
  bool in_limit;      /* eps -> 0 after t -> infinity: log_scale is ignored, times after alignment are NaN */
  bool freeze_second; /* a stays at its initial value (times eps); only W moves */
  const struct RfGram *gram; /* for the library's own use: NULL */
  bool located;              /* likewise: false; every event is located, however large the problem is */
} RfFlowProblem;

typedef enum RfBranches { RF_BRANCHES_STOP = 0, RF_BRANCHES_FOLLOW = 1 } RfBranches;
typedef enum RfUntil { RF_UNTIL_INFINITY = 0, RF_UNTIL_LOSS = 1, RF_UNTIL_TIME = 2 } RfUntil;

typedef struct RfFlowCheckpoint RfFlowCheckpoint;

/* The state at one moment, for those who watch. Arrays belong to the flow and hold until the call returns;
 * neurons are in the caller's order. */
typedef struct RfFlowMoment {
  rf_index n, d, m;
  double log_t;       /* in the clock of problem->mean; -infinity at t = 0; NaN once the scale is frozen */
  double log_loss;    /* in the normalisation of problem->mean */
  double log_S;       /* ln of sum_i |loss'(q_i)|, summed loss */
  bool at_event;      /* a hyperplane has just been reached, or left */
  bool scale_frozen;  /* on the way from margins of 1e6 to infinity: only directions mean something */
  double *directions; /* m rows of d+1: (w,a) at joint norm 1; frozen second layer: unit w, and a itself */
  double *log_norms;  /* m: ln |(w,a)|, with ln eps; frozen second layer: ln |w| */
  double *fields;     /* m rows of d: g_k with dw_k/dt = S a_k g_k and da_k/dt = S g_k.w_k (mean: S/n) */
  int8_t *sides;      /* m rows of n: sign of w.x, 0 = sliding on (or, dead, resting on) the hyperplane */
  const double *q;    /* n margins y_i f(x_i) */
} RfFlowMoment;

typedef struct RfFlowSettings {
  RfBranches branches; /* at a branching point stop, or follow the first continuation and mark the result */
  RfUntil until;
  double until_value;   /* L at which to stop (in the chosen normalisation), or the time t */
  rf_index trace;       /* about this many trace rows, 0 = none */
  bool check_direction; /* second run at other settings for limit.direction_error                     true */
  bool audit;           /* read the run independently for result.audit                                true */
  bool with_alignment;  /* fill result.alignment                                                      true */
  bool prove_alignment; /* and prove it, neuron by neuron                                            false */
  rf_index max_steps;   /* integrator steps before `undecided`                                     200000 */
  const RfFlowCheckpoint *resume; /* continue from here, bit-identically; NULL = from the start */
  /* Called at every accepted step when set; a true return asks for a checkpoint to be written by `save`. */
  bool (*want_checkpoint)(void *user);
  void (*save)(void *user, const RfFlowCheckpoint *checkpoint);
  /* Called at the start, at every accepted step, and at observe_inside points inside each explicit step.
   * Neurons are then followed one by one from t = 0, without merging and without jumps: for small problems.
   */
  void (*observe)(void *observer, const RfFlowMoment *moment);
  void *observer;
  rf_index observe_inside;
  /* Not NULL: at the j-th branching point the continuation choices[j] is taken, 0 being the one that is
   * followed otherwise, and 0 after the end of the list. Neurons are then followed one by one, as above. */
  const rf_index *choices;
  rf_index n_choices;
  void *user;
  const struct RfFlowVariant *variant; /* for the library's own use: NULL */
} RfFlowSettings;

RF_API void rf_flow_settings_init(RfFlowSettings *settings);

/* The complete state between two steps as one array of doubles (integers are exact in them). */
struct RfFlowCheckpoint {
  rf_index count;
  double *values;
};
RF_API void rf_flow_checkpoint_free(RfFlowCheckpoint *checkpoint);

/* ---- alignment: the limit eps -> 0 near the origin, exactly -------------------------------- */

typedef enum RfEventKind {
  RF_EVENT_CROSS = 0,
  RF_EVENT_SLIDE = 1,   /* the neuron stays on the hyperplane from here */
  RF_EVENT_RELEASE = 2, /* it leaves the hyperplane again */
  RF_EVENT_DIE = 3,
  RF_EVENT_BRANCH = 4
} RfEventKind;

RF_API const char *rf_event_kind_name(RfEventKind kind);

typedef enum RfDestiny {
  RF_DESTINY_S_PLUS = 0,
  RF_DESTINY_S_MINUS = 1,
  RF_DESTINY_DEAD = 2,
  RF_DESTINY_EXTREMAL = 3,
  RF_DESTINY_STUCK = 4, /* no velocity (or shrinking for ever) at a point that is not an extremal direction */
  RF_DESTINY_RUNNING = 5 /* t_end was reached first */
} RfDestiny;

RF_API const char *rf_destiny_name(
    RfDestiny destiny); /* "S+", "S-", "dead", "extremal", "stuck", "running" */

typedef struct RfCrossing {
  double t;
  rf_index n_samples;
  rf_index *samples; /* hyperplanes reached (or left, when sliding on them) together, ascending */
  int8_t *kinds;     /* an RfEventKind per sample: cross, slide, release or die */
  rf_index sliding;  /* number of hyperplanes the neuron was sliding on just before */
} RfCrossing;

/* The path of a neuron with every comparison decided, in balls of growing precision and at last in exact
 * rationals: which hyperplanes it meets in which order, where it crosses, slides or branches, what becomes of
 * it. It is about the numbers of the start as they are; a = +-|w| exactly where they are balanced to
 * tolerance. */
typedef struct RfAlignProof {
  bool asked, proved;
  const char *why; /* a sentence where it is not proved, else NULL */
  RfDestiny destiny;
  rf_index crossings;      /* hyperplanes reached, those together counted once */
  rf_index slides;         /* hyperplanes entered as slides */
  rf_index bits;           /* precision that decided, 0 = exact rationals */
  double G_lower, G_upper; /* around the final growth rate; 0 when dead or stuck */
  bool branched;           /* an exact tie: several continuations, of which the first was followed */
  rf_index branch_event;   /* crossings up to the first such point, that one included */
  rf_index n_options;      /* continuations there */
  rf_index n_branch;       /* hyperplanes that meet there */
  rf_index *branch_samples;
  bool agrees; /* destiny and branching are those of floating point */
} RfAlignProof;

/* One neuron under constant sample weights c: dw/dt = a g, da/dt = g.w, g = minimum-norm element of
 * sum_i c_i s_i x_i with s_i = 1 / leak by the side of hyperplane i, s_i in [leak,1] on it. */
typedef struct RfAlignNeuron {
  RfDestiny destiny;
  rf_index n;
  int8_t *sector; /* n final signs; 0 = sliding on (or, dead, resting on) that hyperplane */
  double t_last;  /* time of the last crossing, 0 without one */
  rf_index n_crossings;
  RfCrossing *crossings;
  double G;              /* final growth rate |g|, 0 when dead or stuck */
  double log_amplitude;  /* |w|,|a| ~ eps exp(log_amplitude + G t); NaN when dead or stuck */
  rf_index *crossed;     /* the samples of all crossings, one after the other */
  int8_t *crossed_kinds; /* and their kinds */
  bool branched;         /* met a point with several continuations (followed the first) */
  double t_branch;       /* time of the first such point, NaN without one */
  rf_index n_options;    /* continuations at that point, 0 without one */
  int8_t *options;       /* n_options rows of n signs to start with, 0 = sliding; the first was followed */
  bool options_complete; /* false: so many hyperplanes met that not every continuation was looked for */
  double *
      branch_direction; /* d+1, the state there: follow option j with rf_flow_align_neuron(..., options + j*n,
                           ...) */
  double branch_log_norm;
  rf_index n_slides; /* hyperplanes entered as slides */
  /* state at min(t_end, last event): unit joint vector and log-norm, without ln eps */
  double t_state;
  double *direction; /* d+1 */
  double log_norm;
  double *velocity;   /* d: g of the final sector, zero when dead */
  RfAlignProof proof; /* with settings->prove_alignment */
} RfAlignNeuron;

typedef struct RfAlignment {
  rf_index m;
  RfAlignNeuron *neurons;
  double t1; /* max of t_last */
  bool branched;
} RfAlignment;

/* Data and weights under which a neuron moves. */
typedef struct RfAlignField {
  const double *X; /* n rows of d */
  const double *c; /* n weights: loss slope at zero times y for alignment, lambda y for the escape test */
  rf_index n, d;
  double leak;
  bool freeze_second; /* a stays: |w| grows linearly, log_amplitude is NaN */
} RfAlignField;

RF_API void rf_align_neuron_free(RfAlignNeuron *neuron);
RF_API void rf_alignment_free(RfAlignment *alignment);
/* Follows one neuron (direction: d+1, joint norm 1; sector: n signs to start with, or NULL = signs of w.x) up
 * to t_end (may be infinite). At t_end = finite the state is the one at t_end exactly. */
RF_API RfStatus rf_flow_align_neuron(RfContext *context, RfAlignNeuron *out, const RfAlignField *field,
                                     const double *direction, double log_norm, const int8_t *sector,
                                     double t_end);
/* All neurons of a problem with c_i = b0 y_i (summed loss, whatever problem->mean says). When asked to stop
 * it leaves the remaining neurons at their start, with destiny RF_DESTINY_RUNNING. */
RF_API RfStatus rf_flow_align(RfContext *context, RfAlignment *out, const RfFlowProblem *problem);

/* ---- results ------------------------------------------------------------------------------- */

typedef struct RfFlowEvent {
  double log_t; /* in the clock of problem->mean, as log_t_end; -infinity at t = 0; NaN for in_limit */
  rf_index neuron, sample;
  RfEventKind kind;
  double q_min; /* smallest margin at that moment */
} RfFlowEvent;

/* A point with several continuations, met in a run with settings.choices. */
typedef struct RfFlowBranch {
  double log_t; /* as in events */
  rf_index neuron, taken, n_options;
  int8_t *sectors; /* n_options rows of n: where it may go on, 0 = sliding */
} RfFlowBranch;

typedef struct RfFlowTrace {
  double log_t, log_loss;
  double log_norm;        /* ln |theta| */
  double margin;          /* min_i q_i / |theta|^2 */
  double smoothed_margin; /* loss^{-1}(L/cL) / |theta|^2 */
  double stable_rank;     /* |W|_F^2 / |W|_2^2 */
  double cos_plus_min,
      cos_minus_min; /* least cosine of live a>0 (a<0) neurons with the class sum x+ (x-); NaN without */
} RfFlowTrace;

typedef struct RfFlowGroup {
  rf_index n_members;
  rf_index *members; /* ascending */
  int8_t *sector;    /* n signs, 0 = on the hyperplane */
  int sign;          /* of a */
  double *beta;      /* d: sum of |a_k| w_k at min margin 1 */
} RfFlowGroup;

typedef enum RfFlowOutcome {
  RF_FLOW_CONVERGED = 0,
  RF_FLOW_UNDECIDED = 1,
  RF_FLOW_NOT_SEPARATED = 2,
  RF_FLOW_BRANCHED = 3,
  RF_FLOW_INTERRUPTED = 4,
  RF_FLOW_STOPPED = 5 /* `until` was reached; the limit was not asked for */
} RfFlowOutcome;

RF_API const char *rf_flow_outcome_name(RfFlowOutcome outcome);

/* How the second run, which direction_error comes from, differed from the first. */
typedef struct RfFlowCompared {
  bool made;        /* there was one; false: the rest means nothing */
  double tolerance; /* of its integrator, relative to that of the first */
  double frozen_at; /* smallest margin at which it froze the scale */
  double merging;   /* difference of directions below which it merged neurons */
  bool by_steps;    /* events by steps that end there (the first: by dense output) */
  bool from_start;  /* false: a large problem, it began where the first had margins of 15 */
  bool long_steps;  /* it took long steps past events, and the first located them one by one */
  double
      disagreed; /* distance of a coarser run that ended elsewhere and was outvoted by finer ones; 0: none */
} RfFlowCompared;

/* Where one of several runs that do not agree ended. */
typedef struct RfFlowCandidate {
  RfFlowOutcome outcome;
  double margin, distance; /* normalised margin; |difference| of its direction from the first run's */
  rf_index n_groups;
  RfNet net; /* |theta| = 1 */
} RfFlowCandidate;

/* The limit direction; for outcomes other than converged, the normalised state reached. */
typedef struct RfFlowLimit {
  RfFlowOutcome outcome;
  char why[160]; /* one line, "" when converged */
  /* |theta| = 1, the caller's neuron order and signs; with a frozen second layer |W| = 1, a at its size, and
   * margin = min y f(x) of that network */
  RfNet net;
  double margin;
  double *margins; /* n, divided by their minimum (NaN when the minimum is not positive) */
  rf_index n_support, *support;
  rf_index n_groups;
  RfFlowGroup *groups;
  rf_index n_vanishing, *vanishing; /* rows that are 0 in the limit and not dead */
  rf_index n_dead, *dead;
  double stationarity, complementarity; /* NaN when not separated */
  double *lambda;                       /* n */
  double direction_error; /* largest |difference| to runs at other settings; NaN without a second run */
  RfFlowCompared compared;
  rf_index n_candidates; /* undecided because runs disagree: where each of them ended, the first run first */
  RfFlowCandidate *candidates;
  rf_index n_resting, *resting; /* not separated: samples with y f(x) <= 0 for ever */
  double log_size;              /* ln |theta| reached by integration before the polish */
} RfFlowLimit;

typedef struct RfFlowMonitors {
  double balance_error; /* largest drift of a_k^2-|w_k|^2 over |(w_k,a_k)|^2, unbalanced neurons */
  double energy_error;  /* largest |L drop - integral of |velocity|^2| over the drop, while L is a normal
                           number */
  bool smoothed_margin_monotone; /* after separation */
  rf_index steps_explicit, steps_implicit, evaluations, escapes;
  double seconds_fit, seconds_infinity, seconds_limit;
} RfFlowMonitors;

/* An independent reading of the run: from the weights and the data alone, at `points` of its states. Worst
 * deviations; the run passed when all are small. */
typedef struct RfFlowAudit {
  double velocity; /* of a unit from its least-norm element, over sum |loss'_i| s_i |x_i| / S */
  double energy;   /* of the fall of ln L from the integral of |velocity|^2 / L over explicit steps, over the
                      fall and over the largest margin that weights of that size could give, where above 1 */
  double balance;  /* of a_k^2 - |w_k|^2 from its start, over the larger of |(w_k,a_k)|^2 then and now */
  double sides;    /* of w.x beyond the side it is taken to be on, over |w||x| */
  double events;   /* field against the way an event took, over the scale of velocity */
  rf_index points; /* 0: no audit was made */
  bool passed;
} RfFlowAudit;

typedef struct RfFlowResult {
  rf_index n, d, m;
  RfAlignment alignment; /* empty unless asked for */
  double log_t_align; /* last pattern change before q_min reaches 1/4 of its class output; NaN when unknown */
  double log_t_fit;   /* MMV t2: both class outputs above 1/4 */
  bool branched;
  rf_index n_events;
  RfFlowEvent *events; /* in time order */
  rf_index n_branches; /* 0 without settings.choices */
  RfFlowBranch *branches;
  rf_index n_trace;
  RfFlowTrace *trace;
  RfFlowLimit limit;
  RfFlowMonitors monitors;
  RfFlowAudit audit;
  RfNet net_end;       /* state where integration ended, directions scaled to |theta| = 1 */
  double log_norm_end; /* ln |theta| there, */
  double log_t_end;    /* its time and */
  double log_loss_end; /* its loss: to about 1e-3 of themselves when the scale was frozen on the way */
  RfFlowCheckpoint checkpoint; /* state at an interruption; empty otherwise */
} RfFlowResult;

RF_API void rf_flow_result_free(RfFlowResult *result);
/* Integrates. RF_OK for every outcome except: RF_BRANCHED, RF_UNDECIDED, RF_NOT_SEPARABLE (not separated),
 * RF_INTERRUPTED (all with a filled result), or a failure (result zeroed). */
RF_API RfStatus rf_flow_run(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                            const RfFlowSettings *settings);

/* ---- layered networks ---------------------------------------------------------------------- */

/* Where the flow of a homogeneous layered network ends. The late clock carries it to smoothed margins of 400,
 * then the scale is frozen and a Newton polish looks for the KKT point beside it, again and again, until two
 * of them agree. Hidden units held on their kinks are part of both. */
typedef struct RfLayeredLimit {
  RfFlowOutcome outcome; /* converged, undecided, not separated, interrupted, or stopped at `until` */
  char why[160];         /* one line, "" when converged */
  RfLayeredNet
      net; /* |theta| = 1; not converged: the state reached, or the limit of the samples that are seen */
  rf_index n;
  double margin;                        /* min_i y_i f(x_i) / |theta|^D */
  double *margins;                      /* n, divided by their minimum; NULL when it is not positive */
  double stationarity, complementarity; /* by rf_certify_layered_kkt; NaN when not separated */
  double *lambda;                       /* n, NULL when not separated */
  rf_index held;                    /* hidden units on their kinks, with slopes in between, at the limit */
  double direction_error;           /* |difference| to the limit of a looser run; NaN without one */
  double distance;                  /* |state - limit| where the integration ended; NaN without a limit */
  double log_t, log_loss, log_norm; /* where the flow itself ended, before the scale was frozen */
  double drift;                     /* of |u^(l)|^2 - |u^(l+1)|^2, relative */
  rf_index steps;
  rf_index n_trace;
  RfFlowTrace *trace; /* stable rank and cosines are NaN; margins are divided by |theta|^D */
} RfLayeredLimit;

RF_API void rf_layered_limit_free(RfLayeredLimit *limit);
/* `settings`: until, trace, check_direction, max_steps. mean: only the clock and the loss change. Returns
 * RF_OK, RF_UNDECIDED, RF_NOT_SEPARABLE or RF_INTERRUPTED with the limit filled, or a failure. Networks with
 * residual connections or fixed layers need an `until`. */
RF_API RfStatus rf_flow_run_layered(RfContext *context, RfLayeredLimit *limit, const RfLayeredNet *start,
                                    const double *X, const double *y, rf_index n, RfLoss loss, bool mean,
                                    const RfFlowSettings *settings);

#ifdef __cplusplus
}
#endif
#endif
