/* One pass over everything the papers say about a data set: assumptions, theorems, predictions. */
#include "theory/theory_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

void rf_theory_free(RfTheory *theory) {
  if (!theory) return;
  for (rf_index k = 0; k < theory->n_predictions; k++) rf_free(theory->predictions[k].u);
  rf_free(theory->predictions);
  rf_free(theory->theorems);
  rf_free(theory->principal.a1_direction);
  rf_free(theory->principal.w_plus);
  rf_free(theory->principal.w_minus);
  memset(theory, 0, sizeof *theory);
}

const RfTheorem *rf_theory_find(const RfTheory *theory, const char *id) {
  for (rf_index k = 0; k < theory->n_theorems; k++)
    if (strcmp(theory->theorems[k].id, id) == 0) return &theory->theorems[k];
  return NULL;
}

static void nothing_known(RfTheory *theory) {
  const RfAssumption open = {RF_UNKNOWN, NAN};
  memset(theory, 0, sizeof *theory);
  theory->fits = RF_UNKNOWN;
  theory->separable = theory->symmetric = theory->off_mean = open;
  RfPrincipal *p = &theory->principal;
  p->a1 = p->a2 = p->a3 = p->a5 = p->a8 = p->a9 = open;
  p->mu_plus_norm = p->mu_minus_norm = p->margin_plus = p->margin_minus = NAN;
  theory->alignment = (RfAlignmentBounds){open, NAN, NAN, NAN, NAN};
}

/* LLWA 4.5: <mu,x_i> != 0 for all i. */
static RfStatus off_mean(RfContext *context, RfTheory *theory, const RfTheoryProblem *problem) {
  const RfDataset *data = problem->data;
  double *mu = RF_NEW(double, data->d), least = INFINITY, scale = problem->pairs->norm_max;
  if (!mu) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a mean");
  rf_theory_mean(mu, data, 1, 1);
  for (rf_index i = 0; i < data->n; i++)
    least = fmin(least, fabs(rf_la_dot(mu, data->X + i * data->d, data->d)));
  theory->off_mean = rf_assumption(least, context->tol.zero * scale * scale);
  rf_free(mu);
  return RF_OK;
}

static RfStatus binary_facts(RfContext *context, RfTheory *theory, const RfTheoryProblem *problem,
                             char *misfit) {
  theory->separable.holds = problem->linear->separable ? RF_YES : RF_NO;
  theory->separable.slack = problem->linear->separable ? problem->linear->margin : NAN;
  theory->symmetric.holds = problem->pairs->symmetric ? RF_YES : RF_NO;
  rf_theory_alignment(context, &theory->alignment, problem);
  RfStatus status = off_mean(context, theory, problem);
  if (!status) status = rf_theory_fits(context, &theory->fits, misfit, problem);
  if (!status) status = rf_theory_principal(context, &theory->principal, problem);
  return status;
}

RfStatus rf_theory_inspect(RfContext *context, RfTheory *theory, const RfTheoryProblem *problem) {
  char misfit[256] = "";
  RfStatus status = RF_OK;
  nothing_known(theory);
  if (problem->data->n < 1) return rf_fail(context, RF_ERR_USAGE, "theory needs at least one sample");
  if (problem->data->y && (!problem->linear || !problem->pairs || !problem->positive || !problem->negative))
    return rf_fail(context, RF_ERR_USAGE, "theory needs the margins and the pairwise facts");
  if (problem->data->y) status = binary_facts(context, theory, problem, misfit);
  if (status >= 0) {
    RfStatus next = rf_theory_theorems(context, theory, problem, misfit);
    if (!next) next = rf_theory_predict(context, theory, problem);
    if (next) status = next;
  }
  if (status < 0) rf_theory_free(theory);
  return status;
}
