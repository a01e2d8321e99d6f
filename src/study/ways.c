/* A flow that meets a point with several continuations has no limit of its own: explain follows the
 * continuations, and tells what becomes of them. The flow itself stays what `flow` prints. */
#include <math.h>
#include <string.h>

#include "study/study_internal.h"
#include "core/core.h"

static void count_run(RfExplainWays *ways, const RfStudyRun *run, rf_index k) {
  const RfFlowLimit *limit = &run->result.limit;
  if (run->out_of_time || limit->outcome == RF_FLOW_INTERRUPTED) {
    ways->left++;
    return;
  }
  ways->followed++;
  ways->not_separated += limit->outcome == RF_FLOW_NOT_SEPARATED;
  if (limit->outcome != RF_FLOW_CONVERGED) return;
  if (ways->converged == 0 || limit->margin > ways->highest) ways->highest = limit->margin, ways->best = k;
  ways->lowest = ways->converged ? fmin(ways->lowest, limit->margin) : limit->margin;
  ways->converged++;
}

/* What became of the continuations of a flow, and where it first had several. */
static void count(RfExplainWays *ways, const RfStudyFlow *flow) {
  *ways = (RfExplainWays){.left = flow->continuations_left,
                          .log_t = NAN,
                          .lowest = NAN,
                          .highest = NAN,
                          .neuron = -1,
                          .best = -1};
  for (rf_index k = 0; k < flow->n_continuations; k++) {
    const RfFlowResult *result = &flow->continuations[k].result;
    count_run(ways, &flow->continuations[k], k);
    if (ways->neuron < 0 && result->n_branches > 0)
      ways->neuron = result->branches[0].neuron, ways->log_t = result->branches[0].log_t,
      ways->options = result->branches[0].n_options;
  }
}

RfStatus rf_study_ways(RfContext *context, RfExplanation *e, double seconds) {
  RfStudyFlowSettings settings = e->settings.flow;
  if (e->flow.n_continuations > 0) {
    count(&e->ways, &e->flow);
    e->has_ways = true;
    return RF_OK;
  }
  if (e->flow.run.result.limit.outcome != RF_FLOW_BRANCHED || seconds <= 0) return RF_OK;
  settings.judge_later = true;
  settings.flow_seconds = seconds, settings.frames = 0, settings.checkpoint = settings.resume = NULL;
  RfContext own = rf_study_limited(context, seconds);
  own.on_message = NULL; /* what was not followed is told in the sentences */
  RfStatus status = rf_study_continuations(&own, &e->ways_flow, e->data, e->positive_class, &settings);
  if (status < 0) return rf_study_hand_up(context, &own, status);
  count(&e->ways, &e->ways_flow);
  e->has_ways = e->ways.followed > 0;
  return RF_OK;
}

void rf_study_ways_judge(RfExplanation *e) {
  RfExplainWays *w = &e->ways;
  const RfOptimum *best = &e->best.global;
  if (!e->has_ways || !w->converged) return;
  w->equal = w->converged == w->followed && !w->left && w->highest - w->lowest <= RF_STUDY_SHORT * w->highest;
  w->optimal = w->equal && e->best.has_global && best->status == RF_OPTIMUM_PROVED &&
               2 * best->objective * w->lowest > 1 - RF_STUDY_PREDICTED;
}

const RfNet *rf_study_ways_best(const RfExplanation *e) {
  const RfStudyFlow *flow = e->flow.n_continuations > 0 ? &e->flow : &e->ways_flow;
  return e->has_ways && e->ways.best >= 0 ? &flow->continuations[e->ways.best].result.limit.net : NULL;
}
