/* Has the flow of a layered network come to rest? Is what has come into sight seen at all? */
#include <math.h>
#include <string.h>

#include "flow/layered/layered_tolerances.h"
#include "flow/layered/work.h"
#include "la/la.h"

typedef struct RfLayeredFlowWork Work;

/* Do the pushes of the samples cancel, at velocity v? Near zero they are small without that. A unit that is
 * held is such a cancelling: its samples push as if it were not. */
static bool cancels(RfLayeredFlow *flow, const double *v) {
  Work *work = flow->work;
  rf_index P = flow->net.n_parameters;
  double pushes = 0, *one = work->k[1], *weights = work->weights;
  const double *p = rf_sided_weights(work->sided);
  rf_index held = rf_sided_held(work->sided);
  double *slopes = rf_sided_slopes(work->sided);
  for (rf_index k = 0; k < held; k++) slopes[k] = 1;
  rf_sided_outputs(work->sided, work->q, NULL, flow->net.theta);
  for (rf_index i = 0; i < flow->n; i++) {
    weights[i] = p[i];
    rf_sided_gradient(work->sided, one, weights, flow->net.theta);
    pushes += rf_la_norm(one, P), weights[i] = 0;
  }
  return rf_la_norm(v, P) <= RF_LAYERED_CANCELS * pushes;
}

/* Does nothing grow at the state in the time tau waited? Dear, so not asked before tau has doubled. */
static RfStatus nothing_grows(RfContext *context, RfLayeredFlow *flow, double tau, bool *answer) {
  Work *work = flow->work;
  *answer = false;
  if (!work->stiff || tau < work->next_look) return RF_OK;
  work->next_look = 2 * tau;
  RfStatus status = rf_layered_prepare_implicit(context, flow, CLOCK_LATE);
  *answer = work->growth * tau < 1;
  return status;
}

/* The mean velocity while tau doubled, where it just has; infinite elsewhere. Steps leave stiff margins off
 * their rest by more than they move, and each state alone has a velocity of that. */
static double mean_speed(RfLayeredFlow *flow, double tau) {
  Work *work = flow->work;
  rf_index P = flow->net.n_parameters;
  double square = 0, since = tau - work->from_tau;
  if (tau < 1 || tau < 2 * work->from_tau) return INFINITY;
  for (rf_index p = 0; p < P; p++) square += pow(flow->net.theta[p] - work->from[p], 2);
  memcpy(work->from, flow->net.theta, (size_t)P * sizeof(double));
  bool first = work->from_tau == 0;
  work->from_tau = tau;
  return first ? INFINITY : sqrt(square) / since;
}

RfStatus rf_layered_at_rest(RfContext *context, RfLayeredFlow *flow, double tau, bool *rests) {
  Work *work = flow->work;
  rf_index P = flow->net.n_parameters;
  *rests = false;
  if (!work->sided) return RF_OK;
  if (!work->fresh || work->clock != CLOCK_LATE) {
    rf_layered_velocity(context, flow, work->k[0], flow->net.theta, CLOCK_LATE);
    work->fresh = true, work->clock = CLOCK_LATE, work->log_S[0] = work->shift;
  }
  /* A velocity that is rounding, of margins with terms of size |theta| |df_i|, since tau was half as large.
   */
  double push = rf_sided_push(work->sided), speed = rf_la_norm(work->k[0], P);
  double rounding = RF_LAYERED_ROUNDING * flow->norm * push * push;
  if (!(speed <= rounding)) work->still_from = 2 * fmax(tau, 1);
  if ((*rests = tau > work->still_from)) return RF_OK;
  if (mean_speed(flow, tau) <= RF_LAYERED_ROUNDINGS * rounding && work->stiff) {
    RfStatus status = rf_layered_prepare_implicit(context, flow, CLOCK_LATE);
    work->fresh = false;
    if (status || (*rests = work->growth * tau < 1)) return status;
  }
  double fall =
      exp(work->log_S[0] - flow->seen_loss) * rf_la_quick_dot(work->k[0], work->k[0], P) * fmax(tau, 1);
  if (!(fall < RF_LAYERED_REST)) return RF_OK;
  work->fresh = false; /* slopes and hidden inputs are used below */
  if (!cancels(flow, work->k[0])) return RF_OK;
  if (work->stiff) return nothing_grows(context, flow, tau, rests);
  *rests = RF_LAYERED_REST_WAIT * fall < RF_LAYERED_REST;
  return RF_OK;
}

bool rf_layered_barely_seen(RfLayeredFlow *flow) {
  Work *work = flow->work;
  const int8_t *seen = rf_sided_seen(work->sided);
  double most = 0, least = INFINITY;
  rf_sided_outputs(work->sided, work->q, NULL, flow->net.theta);
  for (rf_index i = 0; i < flow->n; i++) {
    if (!seen[i]) continue;
    work->weights[i] = 1;
    rf_sided_gradient(work->sided, work->k[1], work->weights, flow->net.theta);
    work->weights[i] = 0;
    double size = rf_la_norm(work->k[1], flow->net.n_parameters);
    most = fmax(most, size), least = fmin(least, size);
  }
  return least <= RF_LAYERED_DARK * most;
}
