/* explain: the main job. One walk through the house for a two-class dataset: what the data decide, what a
 * theorem predicts, where gradient flow goes from a given start, what that point is, and the best margin
 * there is. Nothing is computed twice. */
#ifndef RELUFLOW_EXPLAIN_H
#define RELUFLOW_EXPLAIN_H

#include "reluflow/certify.h"
#include "reluflow/core.h"
#include "reluflow/data.h"
#include "reluflow/flow.h"
#include "reluflow/optimum.h"
#include "reluflow/report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RfExplainSettings {
  double leak;
  RfLoss loss;
  RfInit init;
  rf_index width;
  double log_scale; /* ln eps of the start */
  uint64_t seed;
  double optimum_seconds; /* time for the global optimum; what is known by then is reported */
  rf_index trace;         /* rows of the trace for the pictures */
} RfExplainSettings;

RF_API RfExplainSettings
rf_explain_settings_default(void); /* ReLU, logistic, balanced, 50 neurons, 1e-6, 20 s, 200 rows */

enum { RF_EXPLAIN_SENTENCES = 10, RF_EXPLAIN_SENTENCE = 400 };

typedef struct RfExplanation {
  const RfDataset *data; /* borrowed */
  RfExplainSettings settings;
  RfInspection inspection;
  const RfPrediction *prediction; /* of the first theorem that predicts a limit; NULL when none does */
  char why[RF_EXPLAIN_SENTENCE];  /* why it applies, or why none does */
  RfNet start_net;
  RfFlowStart start;
  RfFlowProblem problem;
  RfFlowResult flow;
  double flow_seconds;
  bool has_certificate; /* the flow converged and its limit was judged */
  RfCertificate certificate;
  bool has_optimum;
  RfOptimumSettings optimum_settings;
  RfOptimum optimum;
  rf_index n_sentences;
  char sentences[RF_EXPLAIN_SENTENCES][RF_EXPLAIN_SENTENCE];
} RfExplanation;

RF_API void rf_explanation_free(RfExplanation *explanation);
/* data with two classes (or one): data->y is set. RF_OK when the flow converged; otherwise the outcome of the
 * flow (RF_NOT_SEPARABLE, RF_BRANCHED, RF_UNDECIDED), RF_INTERRUPTED, all with what is known filled in; or a
 * failure. */
RF_API RfStatus rf_explain_run(RfContext *context, RfExplanation *explanation, const RfDataset *data,
                               const RfExplainSettings *settings);
/* Ten lines, and the self-contained page. */
RF_API void rf_explanation_page(RfText *page, const RfExplanation *explanation, int width);
RF_API RfStatus rf_explanation_html(RfContext *context, RfText *page, const RfExplanation *explanation);
/* The members of table `explain`. */
RF_API void rf_explanation_json(RfJson *json, const RfExplanation *explanation, int detail);

#ifdef __cplusplus
}
#endif
#endif
