/* LLWA appendix A: the one-neuron max-margin vectors wL+, wL- (hard margins of the copies whose negative,
 * respectively positive, samples are multiplied by leak), and the assumptions A.5 and A.9 on their support
 * sets.
 *
 * A.5 compares gL+/2 with the best normalised margin of networks with all a <= 0 on the support S of wL+.
 * When all labels on S are positive, such a network is sum_k |a_k| psi(<-w_k,x>) with psi(s) = min(s, leak s)
 * concave and homogeneous, so one neuron is best and its margin is leak gL+/2: the slack is exactly (1-leak)
 * gL+/2. Otherwise the global solver decides, restricted to that sign. A.9 is the mirror image (printed with
 * a <= 0, which the flip of labels turns into a >= 0). */
#include "theory/theory_internal.h"
#include "margin/margin.h"

#include <math.h>
#include <string.h>

#include "reluflow/optimum.h"

/* Slack of A.5 (side +1) or A.9 (side -1) for a support with both labels. */
static RfStatus mixed_support(RfContext *context, RfAssumption *assumption, const RfDataset *data,
                              const RfLinearMargin *margin, double leak, int side) {
  rf_index d = data->d, count = margin->n_support;
  double *X = RF_NEW(double, count *d), *y = RF_NEW(double, count);
  RfOptimum optimum;
  RfOptimumSettings settings;
  RfStatus status;
  memset(&optimum, 0, sizeof optimum);
  if (!X || !y) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for support samples");
    goto done;
  }
  for (rf_index k = 0; k < count; k++) {
    memcpy(X + k * d, data->X + margin->support[k] * d, (size_t)d * sizeof *X);
    y[k] = data->y[margin->support[k]];
  }
  rf_optimum_settings_init(&settings);
  settings.leak = leak, settings.signs = -side, settings.time_limit = 2;
  status = rf_optimum_solve(context, &optimum, X, y, count, d, &settings);
  if (status == RF_INTERRUPTED && !rf_context_stop(context)) status = RF_OK; /* its own time limit */
  if (status) goto done;
  double own = margin->margin / 2, tolerance = context->tol.gap * own;
  if (optimum.status == RF_OPTIMUM_INFEASIBLE)
    *assumption = rf_assumption(own, tolerance);
  else {
    double reached = own - 0.5 / optimum.objective, proved = own - 0.5 / optimum.lower;
    assumption->slack = reached;
    assumption->holds = proved > tolerance ? RF_YES : reached <= tolerance ? RF_NO : RF_UNKNOWN;
  }
done:
  rf_optimum_free(&optimum);
  rf_free(X);
  rf_free(y);
  return status;
}

static RfStatus support_assumption(RfContext *context, RfAssumption *assumption, const RfDataset *data,
                                   const RfLinearMargin *margin, double leak, int side) {
  bool pure = true;
  for (rf_index k = 0; k < margin->n_support; k++) pure = pure && data->y[margin->support[k]] == side;
  if (!pure) return mixed_support(context, assumption, data, margin, leak, side);
  *assumption = rf_assumption((1 - leak) / 2 * margin->margin, 0);
  return RF_OK;
}

/* Hard margin of the copies for one side: the other class is multiplied by leak. */
static RfStatus side_margin(RfContext *context, RfLinearMargin *margin, const RfDataset *data, double leak,
                            int side) {
  double *factor = RF_NEW(double, data->n);
  if (!factor) return rf_fail(context, RF_ERR_MEMORY, "out of memory for scaled samples");
  for (rf_index i = 0; i < data->n; i++) factor[i] = data->y[i] * (data->y[i] == side ? 1 : leak);
  RfStatus status = rf_margin_weighted(context, margin, data->X, factor, data->n, data->d);
  rf_free(factor);
  return status;
}

static RfStatus one_side(RfContext *context, double **w, double *size, RfAssumption *assumption,
                         const RfTheoryProblem *problem, int side) {
  const RfDataset *data = problem->data;
  RfLinearMargin margin;
  memset(&margin, 0, sizeof margin);
  RfStatus status = side_margin(context, &margin, data, problem->leak, side);
  if (!status) {
    *size = margin.margin;
    *w = rf_copy_doubles(margin.w, data->d);
    status = *w ? support_assumption(context, assumption, data, &margin, problem->leak, side)
                : rf_fail(context, RF_ERR_MEMORY, "out of memory for a separator");
  } else if (status > 0 && status != RF_INTERRUPTED)
    status = RF_OK; /* not decided within rounding: left open */
  rf_linear_margin_free(&margin);
  return status;
}

RfStatus rf_theory_one_sided(RfContext *context, RfPrincipal *principal, const RfTheoryProblem *problem) {
  RfStatus status =
      one_side(context, &principal->w_plus, &principal->margin_plus, &principal->a5, problem, 1);
  if (!status)
    status = one_side(context, &principal->w_minus, &principal->margin_minus, &principal->a9, problem, -1);
  return status;
}
