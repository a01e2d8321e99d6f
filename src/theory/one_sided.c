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

#include <math.h>
#include <string.h>

static RfAssumption support_assumption(const RfDataset *data, const RfLinearMargin *margin, double leak,
                                       int side) {
  bool pure = true;
  for (rf_index k = 0; k < margin->n_support; k++) pure = pure && data->y[margin->support[k]] == side;
  return rf_assumption(pure ? (1 - leak) / 2 * margin->margin : NAN, 0);
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
    *assumption = support_assumption(data, &margin, problem->leak, side);
    if (!*w) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a separator");
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
