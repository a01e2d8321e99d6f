/* Verdicts with a frozen second layer. The problem in W alone is min |W|^2/2 s.t. q_i(W) >= 1, q_i = y_i
 * sum_k a_k phi(w_k.x_i).
 *
 * Local: where no tight sample of the own class (y_i a_k > 0) is on a kink, q_i is concave around W, the
 * feasible set is convex there, and a KKT point is the only minimiser around it.
 *
 * Global: for lambda >= 0, min over W of |W|^2/2 - sum lambda_i (q_i - 1) falls into neurons. Along w_k = r u
 * it is r^2/2 - r |a_k| D_k(u), D_k(u) = sign(a_k) sum_i lambda_i y_i phi(u.x_i), so that every W has |W|^2/2
 * >= sum lambda
 * - 1/2 sum_k a_k^2 max_u D_k^2. The best multiple of lambda gives (sum lambda)^2 / (2 sum_k a_k^2 max
 * D_k^2). At a KKT point sum lambda = |W|^2 and |w_k| = |a_k| D_k(w_k/|w_k|): it is attained when every
 * neuron points along the maximiser of its D_k. */
#include <math.h>
#include <string.h>

#include "certify/certify.h"
#include "certify/certify_internal.h"
#include "la/la.h"

void rf_frozen_verdict_free(RfFrozenVerdict *verdict) {
  rf_kkt_free(&verdict->kkt);
  memset(verdict, 0, sizeof *verdict);
}

/* sum_k a_k^2 max_u D_k(u)^2, from proved upper bounds. */
static RfStatus dual_squares(RfContext *context, double *sum, const RfKkt *kkt, const RfNet *net,
                             const double *X, const double *y) {
  double squares[2] = {0, 0};
  for (rf_index k = 0; k < net->m; k++) squares[net->a[k] < 0] += net->a[k] * net->a[k];
  *sum = 0;
  for (int s = 0; s < 2; s++) {
    RfDualNorm norm = {0};
    if (squares[s] == 0) continue;
    RfStatus status =
        rf_optimum_dual_norm(context, &norm, X, y, kkt->lambda, kkt->n, kkt->d, net->leak, s ? -1 : 1);
    double upper = norm.upper;
    rf_dual_norm_free(&norm);
    if (status) return status;
    *sum += squares[s] * upper * upper;
  }
  return RF_OK;
}

/* A tight sample of the own class on a kink: there the constraint is not concave. */
static bool own_kink(const RfKkt *kkt, const RfNet *net, const double *y, double tight) {
  for (rf_index k = 0; k < kkt->n_kinks; k++)
    if (y[kkt->kinks[k].sample] * net->a[kkt->kinks[k].neuron] > 0 &&
        kkt->margins[kkt->kinks[k].sample] <= 1 + tight)
      return true;
  for (rf_index k = 0; k < net->m; k++) /* a neuron at zero is on every kink */
    if (net->a[k] != 0 && rf_la_norm(net->W + k * net->d, net->d) == 0) return true;
  return false;
}

RfStatus rf_certify_frozen(RfContext *context, RfFrozenVerdict *out, const RfNet *net, const double *X,
                           const double *y, rf_index n) {
  memset(out, 0, sizeof *out);
  RfStatus status = rf_certify_kkt_first_layer(context, &out->kkt, net, X, y, n);
  out->gap = 1;
  out->local_why = out->global_why = "the network does not separate the data";
  if (status || !out->kkt.lambda) return status;
  RfCertifyTolerances tol = rf_certify_tolerances(context);
  double total = 0, squares = 0;
  for (rf_index i = 0; i < n; i++) total += out->kkt.lambda[i];
  status = dual_squares(context, &squares, &out->kkt, net, X, y);
  if (!status && squares > 0) out->lower = total * total / (2 * squares);
  out->gap = (out->kkt.objective - out->lower) / out->kkt.objective;
  if (!out->kkt.holds) {
    out->local = out->global = RF_VERDICT_NOT_OPTIMUM;
    out->local_why = out->global_why = "not a KKT point of the first layer";
  } else if (out->gap <= tol.gap) {
    out->local = out->global = RF_VERDICT_OPTIMUM;
    out->local_why = out->global_why = "its multipliers bound every first layer from below";
  } else {
    bool kink = own_kink(&out->kkt, net, y, tol.tight);
    out->local = kink ? RF_VERDICT_UNKNOWN : RF_VERDICT_OPTIMUM;
    out->local_why = kink ? "a tight sample of the own class is on a kink"
                          : "around it the margins are concave in the first layer";
    out->global_why = "its multipliers do not reach its size";
  }
  return status == RF_INTERRUPTED ? RF_OK : status;
}
