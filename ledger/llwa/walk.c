/* Lyu, Li, Wang, Arora: flows watched moment by moment, as networks with their velocities. */
#include <math.h>
#include <string.h>

#include "llwa/llwa.h"
#include "la/la.h"

typedef struct Watcher {
  const RfLlwaSet *set;
  void (*see)(void *user, const RfLlwaMoment *moment);
  void *user;
} Watcher;

/* (w,a) e^log_norm, and the velocity dw = a g, da = g.w in units of S/n. */
static void watch(void *observer, const RfFlowMoment *now) {
  const Watcher *watcher = observer;
  double W[RF_LLWA_WIDTH * RF_LLWA_D], a[RF_LLWA_WIDTH], V[RF_LLWA_WIDTH * RF_LLWA_D], b[RF_LLWA_WIDTH];
  RfNet theta = {.m = now->m, .d = now->d, .W = W, .a = a, .leak = watcher->set->leak}, velocity = theta;
  double shift = 0, n = (double)now->n;
  velocity.W = V, velocity.a = b;
  if (now->scale_frozen) {
    shift = -INFINITY;
    for (rf_index k = 0; k < now->m; k++) shift = fmax(shift, now->log_norms[k]);
  }
  for (rf_index k = 0; k < now->m; k++) {
    const double *unit = now->directions + k * (now->d + 1), *g = now->fields + k * now->d;
    double size = exp(now->log_norms[k] - shift);
    for (rf_index j = 0; j < now->d; j++) W[k * now->d + j] = size * unit[j];
    a[k] = size * unit[now->d];
    for (rf_index j = 0; j < now->d; j++) V[k * now->d + j] = a[k] * g[j];
    b[k] = rf_la_dot(g, W + k * now->d, now->d);
  }
  if (now->scale_frozen) {
    double norm = sqrt(rf_net_norm2(&theta));
    rf_llwa_copy(&theta, &theta, 1 / norm), rf_llwa_copy(&velocity, &velocity, 1 / norm);
  }
  RfLlwaMoment moment = {.theta = &theta,
                         .velocity = &velocity,
                         .log_speed = now->log_S - log(n),
                         .t = now->scale_frozen ? NAN : exp(now->log_t),
                         .log_loss = now->log_loss,
                         .smargin = rf_loss_inverse_log(RF_LOSS_LOGISTIC, now->log_loss + log(n)),
                         .q = now->q,
                         .sides = now->sides,
                         .frozen = now->scale_frozen};
  watcher->see(watcher->user, &moment);
}

RfStatus rf_llwa_walk(RfClaimRun *run, RfFlowResult *out, bool *converged, const RfLlwaSet *set,
                      const RfNet *start, RfUntil until, double value, rf_index inside,
                      void (*see)(void *user, const RfLlwaMoment *moment), void *user) {
  RfFlowResult own;
  RfFlowSettings settings;
  RfFlowResult *result = out ? out : &own;
  Watcher watcher = {.set = set, .see = see, .user = user};
  rf_flow_settings_init(&settings);
  settings.with_alignment = settings.check_direction = false, settings.branches = RF_BRANCHES_FOLLOW;
  settings.until = until, settings.until_value = value;
  settings.observe = watch, settings.observer = &watcher, settings.observe_inside = inside;
  RfStatus status = rf_llwa_flow(run, result, set, start, 0, &settings);
  if (converged) *converged = status == RF_OK && result->limit.outcome == RF_FLOW_CONVERGED;
  if (status == RF_UNDECIDED || status == RF_NOT_SEPARABLE || status == RF_BRANCHED) status = RF_OK;
  if (!out) rf_flow_result_free(&own);
  return status;
}

void rf_llwa_decay_see(void *decay, const RfLlwaMoment *moment) {
  RfLlwaDecay *d = decay;
  if (!moment->frozen && moment->smargin > 0)
    rf_claim_decay_add(&d->marks, moment->smargin, d->error(d->user, moment->theta));
}
