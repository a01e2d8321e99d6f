/* Problems: settings, names, and what makes no sense. */
#include "flow/flow_internal.h"

#include <math.h>
#include <string.h>

void rf_flow_settings_init(RfFlowSettings *settings) {
  memset(settings, 0, sizeof *settings);
  settings->check_direction = true;
  settings->audit = true;
  settings->with_alignment = true;
  settings->max_steps = 200000;
}

void rf_flow_checkpoint_free(RfFlowCheckpoint *checkpoint) {
  if (!checkpoint) return;
  rf_free(checkpoint->values);
  memset(checkpoint, 0, sizeof *checkpoint);
}

const char *rf_flow_outcome_name(RfFlowOutcome outcome) {
  static const char *const names[] = {"converged", "undecided",   "not-separated",
                                      "branched",  "interrupted", "stopped"};
  return names[outcome];
}

const char *rf_event_kind_name(RfEventKind kind) {
  static const char *const names[] = {"cross", "slide", "release", "die", "branch"};
  return names[kind];
}

static bool all_finite(const double *x, rf_index n) {
  for (rf_index i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

RfStatus rf_flow_check_problem(RfContext *context, const RfFlowProblem *problem,
                               const RfFlowSettings *settings) {
  const RfFlowStart *start = problem->start;
  if (problem->n < 1 || problem->d < 1) return rf_fail(context, RF_ERR_USAGE, "the flow needs data");
  if (!start || start->m < 1) return rf_fail(context, RF_ERR_USAGE, "the flow needs at least one neuron");
  if (start->d != problem->d)
    return rf_fail(context, RF_ERR_USAGE, "the network has dimension %lld, the data %lld",
                   (long long)start->d, (long long)problem->d);
  if (!(problem->leak >= 0 && problem->leak <= 1))
    return rf_fail(context, RF_ERR_USAGE, "leak must lie in [0,1]");
  if (!all_finite(problem->X, problem->n * problem->d))
    return rf_fail(context, RF_ERR_USAGE, "data must be finite");
  for (rf_index i = 0; i < problem->n; i++)
    if (problem->y[i] != 1 && problem->y[i] != -1)
      return rf_fail(context, RF_ERR_USAGE, "labels must be -1 or +1");
  if (!problem->in_limit && !isfinite(problem->log_scale))
    return rf_fail(context, RF_ERR_USAGE, "the initial scale must be positive and finite");
  if (!all_finite(start->directions, start->m * (start->d + 1)))
    return rf_fail(context, RF_ERR_USAGE, "initial weights must be finite");
  for (rf_index k = 0; k < start->m; k++)
    if (isnan(start->log_norms[k]) || start->log_norms[k] == INFINITY)
      return rf_fail(context, RF_ERR_USAGE, "initial weights must be finite");
  if (problem->freeze_second && problem->in_limit)
    return rf_fail(context, RF_ERR_USAGE,
                   "--freeze second, --scale limit: a frozen second layer has no limit of small scale");
  if (settings->until != RF_UNTIL_INFINITY && !(settings->until_value > 0 && isfinite(settings->until_value)))
    return rf_fail(context, RF_ERR_USAGE, "the loss or time to stop at must be positive and finite");
  if (settings->until == RF_UNTIL_TIME && problem->in_limit)
    return rf_fail(context, RF_ERR_USAGE,
                   "--until time=T, --scale limit: times have no meaning in the limit of small scale");
  if (settings->trace < 0 || settings->max_steps < 1)
    return rf_fail(context, RF_ERR_USAGE, "trace rows must be >= 0 and steps >= 1");
  return RF_OK;
}
