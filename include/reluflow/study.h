/* explain: the main job. One walk through the house for a dataset: what the data decide, what a theorem
 * predicts, where gradient flow goes from a given start, what that point is, and the best margin there is.
 * More than two classes: one network per class against the rest. Nothing is computed twice. */
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
RF_API RfStatus rf_inspection_run(RfContext *context, RfInspection *inspection, const RfDataset *data,
                                  const RfInspectionSettings *settings);
/* Orthogonal separability; RF_UNKNOWN when the inner products were not all seen. */
RF_API RfAnswer rf_inspection_orthogonal(const RfInspection *inspection);

/* ---- explain ---------------------------------------------------------------------------------- */

typedef struct RfExplainSettings {
  double leak;
  RfLoss loss;
  RfInit init;
  rf_index width;
  double log_scale; /* ln eps of the start */
  uint64_t seed;
  /* Seconds for each step, over all classes together; what is known by then is reported, and what is not. */
  double inspect_seconds, flow_seconds, optimum_seconds, certify_seconds;
  rf_index trace; /* rows of the trace for the pictures */
} RfExplainSettings;

RF_API RfExplainSettings rf_explain_settings_default(
    void); /* ReLU, logistic, balanced, 50 neurons, 1e-6, 30 + 60 + 20 + 20 s, 200 rows */

enum { RF_EXPLAIN_SENTENCES = 10, RF_EXPLAIN_SENTENCE = 480 };

typedef struct RfExplanation RfExplanation;
struct RfExplanation {
  const RfDataset *data; /* borrowed; of a part: part_data */
  RfExplainSettings settings;
  RfInspection inspection;        /* empty in a part */
  const RfInspection *seen;       /* what the data decide: inspection, or the part of it for this class */
  const char *positive_class;     /* in a part: the class that is +1 */
  const RfPrediction *prediction; /* of the first theorem that predicts a limit; NULL when none does */
  char why[RF_EXPLAIN_SENTENCE];  /* why it applies, or why none does */
  RfNet start_net;
  RfFlowStart start;
  RfFlowProblem problem;
  bool has_flow;
  RfFlowResult flow;
  double flow_seconds;
  bool flow_stopped;    /* by its own limit of time */
  rf_index n_wrong;     /* samples on the wrong side where the flow ended; -1 = not known */
  bool has_certificate; /* the flow converged and its limit was judged */
  RfCertificate certificate;
  bool has_optimum;
  RfOptimumSettings optimum_settings;
  RfOptimum optimum;
  rf_index n_sentences;
  char sentences[RF_EXPLAIN_SENTENCES][RF_EXPLAIN_SENTENCE];
  rf_index n_parts; /* classes, when there are more than two; then flow, certificate and optimum are there */
  RfExplanation *parts; /* only in the parts */
  RfDataset part_data;  /* of a part: this class against the rest, the samples borrowed from the whole */
};

RF_API void rf_explanation_free(RfExplanation *explanation);
/* RF_OK when the flow converged; otherwise its outcome (RF_NOT_SEPARABLE, RF_BRANCHED, RF_UNDECIDED; RF_LIMIT
 * when its own time ran out), of several classes the worst; RF_INTERRUPTED; all with what is known filled in;
 * or a failure. */
RF_API RfStatus rf_explain_run(RfContext *context, RfExplanation *explanation, const RfDataset *data,
                               const RfExplainSettings *settings);

/* "Theorem 1 of Phuong and Lampert" for PL-Thm1. */
RF_API void rf_explain_theorem(char *out, size_t size, const char *id);

#ifdef __cplusplus
}
#endif
#endif
