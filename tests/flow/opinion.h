/* The flow against the Cartesian integrator: weights at finite times, and what became of runs that were
 * called converged or not separated. Shared by the suite and bench/statuses.c. */
#ifndef RF_TEST_OPINION_H
#define RF_TEST_OPINION_H

#include "cartesian_far.h"
#include "families.h"

typedef struct Opinion {
  bool given;       /* false: the integrator has none (branching, dependent slides, step limit) */
  bool contradicts; /* the flow is refuted */
  double distance;  /* finite times: largest difference of a weight over the largest weight, else of the
                       directions */
  double estimate;  /* finite times: the integrator's own error, likewise */
  double log_t;     /* where it ended */
  int status;       /* a CartStatus */
  long steps;
  bool short_of; /* a plateau of three decades of time only, not of six */
  char text[200];
} Opinion;

static inline bool opinion_begin(Cart *cart, const FamilyProblem *p, double tol) {
  return cart_begin(cart, p->X, p->y, (int)p->n, (int)p->d, p->net.W, p->net.a, (int)p->m,
                    exp(p->flow.log_scale), p->flow.leak, (int)p->flow.loss, p->flow.mean,
                    p->flow.freeze_second, tol);
}

static inline double opinion_largest(const Cart *cart) {
  double most = 1e-300;
  for (int e = 0; e < cart->m * (cart->d + 1); e++) most = fmax(most, fabs(cart->theta[e]));
  return most;
}

/* Weights of the flow at time t beside the integrator's. flow: net_end times exp(log_norm_end). */
static inline Opinion opinion_at_time(const FamilyProblem *p, const RfFlowResult *flow, double t) {
  static Cart fine, coarse;
  Opinion out = {.given = false};
  if (!opinion_begin(&fine, p, 1e-14) || !opinion_begin(&coarse, p, 1e-12)) return out;
  CartStatus status = cart_to_time(&fine, t), other = cart_to_time(&coarse, t);
  if (status != CART_REACHED || other != CART_REACHED) {
    snprintf(out.text, sizeof out.text, "no opinion (%d, %d)", (int)status, (int)other);
    return out;
  }
  double size = exp(flow->log_norm_end), largest = opinion_largest(&fine);
  for (int k = 0; k < fine.m; k++)
    for (int j = 0; j <= fine.d; j++) {
      double own = fine.theta[k * (fine.d + 1) + j];
      double weight = size * (j < fine.d ? flow->net_end.W[k * fine.d + j] : flow->net_end.a[k]);
      out.distance = fmax(out.distance, fabs(weight - own) / largest);
      out.estimate = fmax(out.estimate, fabs(coarse.theta[k * (fine.d + 1) + j] - own) / largest);
    }
  out.given = out.estimate < 1e-6; /* beyond that the problem is too sensitive for it */
  out.contradicts = out.given && !(out.distance <= 1e-8 + 2 * out.estimate);
  snprintf(out.text, sizeof out.text, "distance %.2g, estimate %.2g, %ld events", out.distance, out.estimate,
           fine.events);
  return out;
}

static inline double opinion_direction(const Cart *cart, const RfNet *net) {
  double norm = sqrt(cart_dot(cart->theta, cart->theta, cart->m * (cart->d + 1))), sum = 0;
  for (int k = 0; k < cart->m; k++)
    for (int j = 0; j <= cart->d; j++) {
      double own = cart->theta[k * (cart->d + 1) + j] / norm;
      double gap = own - (j < cart->d ? net->W[k * cart->d + j] : net->a[k]);
      sum += gap * gap;
    }
  return sqrt(sum);
}

/* ln L of the flow at ln t = log_t, between two rows of its trace (or its end); times that are booked differ
 * a little. */
static inline void opinion_loss_at(const RfFlowResult *flow, double log_t, double *low, double *high) {
  const double blur = 0.1;
  *high = INFINITY, *low = flow->log_loss_end;
  for (rf_index r = 0; r < flow->n_trace; r++)
    if (flow->trace[r].log_t <= log_t - blur) *high = flow->trace[r].log_loss;
  for (rf_index r = flow->n_trace; r-- > 0;)
    if (flow->trace[r].log_t >= log_t + blur) *low = flow->trace[r].log_loss;
  if (flow->log_t_end <= log_t - blur) *high = flow->log_loss_end;
}

/* A run called converged or not separated, against the flow itself carried to margin 400 or to a plateau. The
 * normalised smoothed margin never falls, so that the limit's margin must not be below it. */
static inline Opinion opinion_once(const FamilyProblem *p, const RfFlowResult *flow, double tol) {
  static CartFar far;
  Cart *cart = &far.cart;
  Opinion out = {.given = false};
  memset(&far, 0, sizeof far);
  if (!opinion_begin(cart, p, tol)) return out;
  CartStatus status = far_to_end(&far, 400);
  double norm2 = cart_dot(cart->theta, cart->theta, cart->m * (cart->d + 1));
  double smoothed = rf_loss_inverse_log(p->flow.loss, cart->log_loss) / norm2;
  bool converged = flow->limit.outcome == RF_FLOW_CONVERGED;
  double low, high, own = cart->log_loss, near = 1e-3;
  opinion_loss_at(flow, far.log_t, &low, &high);
  bool later =
      status == CART_PLATEAU && own <= high + near && own >= low - near && flow->log_loss_end < own - near;
  out.given = (status == CART_REACHED || status == CART_PLATEAU) && far.trust < 1e-3 && far.woken == 0;
  out.given = out.given && !later; /* there the flow is at that loss, too, and leaves it afterwards */
  out.status = (int)status, out.steps = cart->steps, out.log_t = far.log_t, out.short_of = far.short_of;
  out.estimate = far.trust;
  out.distance = flow->limit.net.W ? opinion_direction(cart, &flow->limit.net) : NAN;
  if (!out.given)
    snprintf(out.text, sizeof out.text, "no opinion (%d) at ln t = %.3g, %ld steps, drift %.2g", (int)status,
             far.log_t, cart->steps, far.trust);
  else if (converged && status == CART_PLATEAU)
    snprintf(out.text, sizeof out.text, "converged, but loss %.9g is a plateau at ln t = %.3g",
             cart->loss_value, far.log_t);
  else if (converged && smoothed > flow->limit.margin * (1 + 1e-6))
    snprintf(out.text, sizeof out.text, "margin %.9g, but %.9g is reached", flow->limit.margin, smoothed);
  else if (!converged && status == CART_REACHED)
    snprintf(out.text, sizeof out.text, "not separated, but margin 400 at ln t = %.3g", far.log_t);
  else if (!converged && !(fabs(own - flow->log_loss_end) <= near))
    snprintf(out.text, sizeof out.text, "at rest with loss %.9g, but it is %.9g at ln t = %.3g",
             exp(flow->log_loss_end), cart->loss_value, far.log_t);
  out.contradicts = out.given && out.text[0];
  return out;
}

/* What contradicts must do so at a hundredth of the tolerance, too; otherwise there is no opinion. Where
 * rounding stops it, longer steps may not be. */
static inline Opinion opinion_on_status(const FamilyProblem *p, const RfFlowResult *flow) {
  Opinion out = opinion_once(p, flow, 1e-8);
  if (!out.given) out = opinion_once(p, flow, 1e-7);
  if (!out.contradicts) return out;
  Opinion finer = opinion_once(p, flow, 1e-10);
  if (finer.given && finer.contradicts) return finer;
  finer.given = false, finer.contradicts = false;
  snprintf(finer.text, sizeof finer.text, "no opinion: %.120s at one tolerance only", out.text);
  return finer;
}

#endif
