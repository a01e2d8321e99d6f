/* study: one place that answers a question about a dataset. What the data decide before training, where
 * gradient flow goes from a start and what that point is, the best margin there is, and all of it together
 * (explain). The command line, the Python package and the pages ask here and nowhere else, so that one
 * question has one answer.
 *
 * A dataset with more than two classes is a list of binary questions, each class against the rest; the same
 * settings and the same seed serve every one of them, so that the answer for a class is the one a user gets
 * who asks about that class alone.
 *
 * Results own their memory (rf_study_..._free) and borrow the dataset, which must outlive them. Every
 * function may run in several threads at the same time, each with a context of its own.
 *
 * Ownership: results own everything they hold (rf_..._free) except the dataset, which is the caller's and
 * must outlive them.
 *
 * Threads: calls with different contexts may run at the same time; callbacks come in the thread of the call.
 * Results do not depend on context->threads. */
#ifndef RELUFLOW_STUDY_H
#define RELUFLOW_STUDY_H

#include "reluflow/certify.h"
#include "reluflow/core.h"
#include "reluflow/data.h"
#include "reluflow/flow.h"
#include "reluflow/optimum.h"
#include "reluflow/theory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- classes -------------------------------------------------------------------------------------- */

typedef struct RfStudySplit {
  const RfDataset *whole; /* borrowed */
  rf_index count;         /* binary questions: 1, or one per class */
  RfDataset *parts;       /* count, their samples borrowed from the whole; NULL for two classes */
} RfStudySplit;

RF_API RfStatus rf_study_split(RfContext *context, RfStudySplit *split, const RfDataset *data);
RF_API void rf_study_split_free(RfStudySplit *split);
/* The data of question k, and the class that is +1 in it (NULL for two classes). */
RF_API const RfDataset *rf_study_split_data(const RfStudySplit *split, rf_index k);
RF_API const char *rf_study_split_name(const RfStudySplit *split, rf_index k);

/* SHA-256 of the rows as they are used, in hexadecimal: for each sample the name of its class, a zero byte,
 * and its coordinates as little-endian doubles. */
enum { RF_STUDY_DIGEST_SIZE = 65 };
RF_API void rf_study_digest(char out[RF_STUDY_DIGEST_SIZE], const RfDataset *data);

/* ---- what the data decide before training ------------------------------------------------------ */

/* The results of margin, geometry and theory for one dataset, gathered in one walk. With more than two
 * classes the label-dependent ones are in per_class, one dataset "class k against the rest" each. */
typedef struct RfInspectionSettings {
  double leak;
  RfLoss loss;
  bool thorough; /* let the search for extremal directions use its full limits, however long that takes */
} RfInspectionSettings;

typedef struct RfInspection RfInspection;
struct RfInspection {
  const RfDataset *data; /* the caller's, not owned; for a part of per_class: its own */
  RfInspectionSettings settings;
  bool interrupted;      /* the deadline or the caller stopped it: some results are not known */
  bool pairs_known;      /* every inner product was seen */
  RfPairFacts pairs;     /* for more than two classes: orthogonal_separable, min_same and max_cross are class
                            against     class, sep is NaN */
  rf_index *class_sizes; /* data->n_classes */
  RfSectorCount sectors; /* these two depend on X only: per_class borrows them from the whole */
  RfSpikeFree spike;
  RfLinearMargin linear;
  RfClassMargin positive, negative;
  RfCone cones[3]; /* by RfConeKind */
  RfExtremal extremal;
  RfTheory theory;
  rf_index n_parts; /* classes, when there are more than two; otherwise 0 */
  RfInspection *parts;
  RfDataset part_data; /* owned by a part; its X is released: the samples are those of the whole */
};

RF_API void rf_inspection_free(RfInspection *inspection);
/* RF_OK, RF_INTERRUPTED with what was found, RF_UNDECIDED when linear separability is, or a failure. */
RF_API RfStatus rf_study_inspect(RfContext *context, RfInspection *inspection, const RfDataset *data,
                                 const RfInspectionSettings *settings);
/* Orthogonal separability; RF_UNKNOWN when the inner products were not all seen. */
RF_API RfAnswer rf_inspection_orthogonal(const RfInspection *inspection);

/* ---- the best margin ------------------------------------------------------------------------------ */

typedef struct RfStudyBestSettings {
  RfOptimumSettings optimum; /* leak, width, signs, seed, time */
  bool linear_only;          /* stop after the linear part */
  bool intercept;            /* the linear part has an intercept that the norm does not count */
} RfStudyBestSettings;

RF_API void rf_study_best_settings_init(RfStudyBestSettings *settings);

typedef struct RfStudyBest {
  const RfDataset *data;
  const char *positive_class; /* NULL for two classes */
  RfLinearMargin linear;
  RfClassMargin positive, negative;
  bool has_global;
  RfOptimum global;
} RfStudyBest;

RF_API void rf_study_best_free(RfStudyBest *best);
/* One binary question. The network returned is at least as good as each of the known ones (n_known may be
 * 0). RF_OK; RF_INFEASIBLE, RF_UNDECIDED (a gap is left), RF_NOT_SEPARABLE (of the linear part, when nothing
 * else was asked for), RF_INTERRUPTED, all with the result filled; or a failure. */
RF_API RfStatus rf_study_best(RfContext *context, RfStudyBest *best, const RfDataset *data,
                              const char *positive_class, const RfNet *const *known, rf_index n_known,
                              const RfStudyBestSettings *settings);
/* Every question of a split, into an array of split->count (zeroed before); the worst status. */
RF_API RfStatus rf_study_bests(RfContext *context, RfStudyBest *bests, const RfStudySplit *split,
                               const RfStudyBestSettings *settings);
/* A network found afterwards: taken when it is better than the one in the result. */
RF_API RfStatus rf_study_best_offer(RfContext *context, RfStudyBest *best, const RfNet *net,
                                    const RfStudyBestSettings *settings);

/* ---- gradient flow ---------------------------------------------------------------------------------- */

typedef struct RfStudyStart {
  RfInit init;
  rf_index width;
  double leak, spread; /* spread: of a, relative to w, for RF_INIT_GAUSSIAN */
  uint64_t seed;
  double log_scale;     /* ln eps */
  bool in_limit;        /* the limit eps -> 0 after t = infinity */
  const RfNet *weights; /* starts from this network instead (its leak counts); NULL = drawn */
  const char *name;     /* where weights came from, for the reports */
} RfStudyStart;

typedef struct RfStudyFlowSettings {
  RfStudyStart start;
  RfLoss loss;
  bool mean, freeze_second;
  RfFlowSettings flow;
  bool all_branches;               /* follow every continuation of a flow that branches */
  double flow_seconds;             /* for the run; <= 0 = no limit but the context's */
  double verdict_seconds;          /* for the verdict on the limit; <= 0 = none */
  bool judge_later;                /* no verdict now: the caller has the best margin first */
  rf_index frames;                 /* about this many states of every neuron along the run; 0 = none */
  const char *checkpoint, *resume; /* files; NULL = none */
} RfStudyFlowSettings;

/* balanced, 50 neurons, ReLU, logistic, scale 1e-6, seed 0, 100 rows of trace, 2 s for the verdict */
RF_API void rf_study_flow_settings_init(RfStudyFlowSettings *settings);

/* The state of every neuron at one moment of a run. */
typedef struct RfStudyFrame {
  double log_t;       /* -infinity at t = 0; NaN once the scale is frozen, and for a start in the limit */
  double log_loss;    /* in the normalisation asked for */
  double log_norm;    /* ln |theta| */
  double *directions; /* m rows of d+1: (w,a) at joint norm 1; frozen second layer: unit w, and a itself */
  double *log_norms;  /* m: ln |(w,a)|; frozen second layer: ln |w| */
  double *margins;    /* n: y_i f(x_i) */
} RfStudyFrame;

/* A finished run and the verdict on its limit. */
typedef struct RfStudyRun {
  RfFlowResult result;
  double seconds;
  bool out_of_time; /* its own limit of time ended it */
  RfAnswer kkt;     /* RF_UNKNOWN = not judged */
  bool judged;      /* local, global and gap are known */
  RfVerdict local, global;
  double gap; /* NaN unless judged */
  rf_index n_frames;
  RfStudyFrame *frames; /* at moments even in what moves and in ln t */
  char *choice;         /* of a continuation: its name, "neuron 3: ++-0; neuron 5 at log t = 2.31: ..." */
} RfStudyRun;

enum { RF_STUDY_CONTINUATIONS = 32 }; /* at most this many are followed */

typedef struct RfStudyFlow {
  const RfDataset *data;
  const char *positive_class; /* NULL for two classes */
  const char *init;           /* name of the initialiser, or of what the weights came from */
  RfNet net;                  /* the start, before the scale */
  RfFlowStart start;
  RfFlowProblem problem; /* points into this struct: do not copy it */
  double t_bound; /* the papers' bound on the end of alignment, in the clock of the problem; NaN = none */
  RfStudyRun run;
  rf_index n_continuations, continuations_left; /* followed, and known but not followed */
  RfStudyRun *continuations;
} RfStudyFlow;

RF_API void rf_study_flow_free(RfStudyFlow *study);
/* One binary question. RF_OK, the outcome of rf_flow_run, RF_LIMIT when flow_seconds ran out, all with the
 * result filled, or a failure. */
RF_API RfStatus rf_study_flow(RfContext *context, RfStudyFlow *study, const RfDataset *data,
                              const char *positive_class, const RfStudyFlowSettings *settings);
/* Every question of a split, into an array of split->count (zeroed before); the worst status. */
RF_API RfStatus rf_study_flows(RfContext *context, RfStudyFlow *studies, const RfStudySplit *split,
                               const RfStudyFlowSettings *settings);

/* What a network is, given the best margin (NULL: the global question is not asked), in at most `seconds`.
 */
RF_API RfStatus rf_study_certify(RfContext *context, RfCertificate *certificate, const RfDataset *data,
                                 const RfNet *net, const RfOptimum *optimum, double seconds);

/* The flow of a layered network; of the settings start.log_scale, loss, mean, flow and verdict_seconds count.
 */
typedef struct RfStudyLayered {
  const RfDataset *data;
  const char *init; /* settings.start.name */
  RfLoss loss;
  bool mean;
  double log_scale;
  RfLayeredLimit limit;
  bool judged;
  RfLayeredCertificate certificate; /* of the limit, when judged */
  double seconds;
} RfStudyLayered;

RF_API void rf_study_layered_free(RfStudyLayered *study);
/* net is scaled in place. */
RF_API RfStatus rf_study_layered(RfContext *context, RfStudyLayered *study, const RfDataset *data,
                                 RfLayeredNet *net, const RfStudyFlowSettings *settings);

/* ---- explain ---------------------------------------------------------------------------------------- */

/* One walk through the house: what the data decide, what a theorem predicts, where gradient flow goes, what
 * that point is, and the best margin there is. Nothing is computed twice. */
typedef struct RfExplainSettings {
  RfStudyFlowSettings flow; /* the start, the loss and the run; its leak is that of every part */
  RfStudyBestSettings best;
  bool thorough; /* as in RfInspectionSettings */
  /* Seconds for the whole, and for each step at most (over all classes together); a step gets the part of
   * what is left that it and those after it can use. What is known by then is reported, and what is not. */
  double seconds, inspect_seconds, flow_seconds, optimum_seconds, certify_seconds;
  const char *proofs; /* an existing folder for proof files; NULL = none */
} RfExplainSettings;

enum { RF_EXPLAIN_PROOFS = 2, RF_EXPLAIN_PATH = 512 };

/* A proof file that was written: of the best margin, or of the limit's KKT residuals. */
typedef struct RfExplainProof {
  char file[RF_EXPLAIN_PATH];
  RfProof proof;
  bool checked, accepted; /* by a checker, which the caller runs; its line: */
  char verdict[256];
} RfExplainProof;

/* Those of the flow and of the best margin; 120 s, of which the steps take what they need; the flow and the
 * best margin without limits of their own. */
RF_API void rf_explain_settings_init(RfExplainSettings *settings);

enum { RF_EXPLAIN_SENTENCES = 10, RF_EXPLAIN_SENTENCE = 480 };

/* What becomes of the continuations of a flow that meets a point with several. */
typedef struct RfExplainWays {
  double log_t; /* when it first does */
  rf_index neuron, options;
  rf_index followed, left; /* to their ends, and known but not */
  rf_index converged, not_separated;
  double lowest, highest; /* margins of those that converge; NaN without */
  rf_index best;          /* the continuation with the highest; -1 without */
  bool equal;             /* none is left, all converge to one margin, */
  bool optimal;           /* the best there is (proved) */
} RfExplainWays;

typedef struct RfExplanation RfExplanation;
struct RfExplanation {
  const RfDataset *data; /* borrowed; of a part: part_data */
  RfExplainSettings settings;
  double until;                   /* clock at which its time is over */
  RfInspection inspection;        /* empty in a part */
  const RfInspection *seen;       /* what the data decide: inspection, or the part of it for this class */
  const char *positive_class;     /* in a part: the class that is +1 */
  const RfPrediction *prediction; /* of the first theorem that predicts a limit; NULL when none does */
  char why[RF_EXPLAIN_SENTENCE];  /* why it applies, or why none does */
  bool has_flow;
  bool flow_capped, best_capped; /* the step had its own limit of time, not a part of the whole's */
  RfStudyFlow flow;
  bool has_ways; /* the flow has several continuations, and some were followed: */
  RfExplainWays ways;
  RfStudyFlow ways_flow; /* the runs, where flow itself does not have them */
  rf_index n_wrong;      /* samples on the wrong side where the flow ended; -1 = not known */
  bool has_certificate;  /* the flow converged and its limit was judged */
  RfCertificate certificate;
  RfStudyBest best; /* the flow's limit and the certificate's witness were offered to it */
  rf_index n_sentences;
  char sentences[RF_EXPLAIN_SENTENCES][RF_EXPLAIN_SENTENCE];
  rf_index n_proofs;
  RfExplainProof proofs[RF_EXPLAIN_PROOFS];
  rf_index part;        /* of a part: which class, counted from 1 */
  rf_index n_parts;     /* classes, when there are more than two; then flow, certificate and best are there */
  RfExplanation *parts; /* only in the parts */
  RfDataset part_data;  /* of a part: this class against the rest, the samples borrowed from the whole */
};

RF_API void rf_explanation_free(RfExplanation *explanation);
/* RF_OK when the flow converged; otherwise its outcome (RF_NOT_SEPARABLE, RF_BRANCHED, RF_UNDECIDED; RF_LIMIT
 * when its own time ran out), of several classes the worst; RF_INTERRUPTED; all with what is known filled in;
 * or a failure. */
RF_API RfStatus rf_study_explain(RfContext *context, RfExplanation *explanation, const RfDataset *data,
                                 const RfExplainSettings *settings);
/* "Theorem 1 of Phuong and Lampert" for PL-Thm1. */
RF_API void rf_study_theorem_name(char *out, size_t size, const char *id);

#ifdef __cplusplus
}
#endif
#endif
