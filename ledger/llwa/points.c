/* Lyu, Li, Wang, Arora: global optima and KKT points. LLWA-03 (Theorem 4.2), 34 (App. I.1.1), 35 (Lemma G.10,
 * Theorem G.11). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cross/cross.h"
#include "core/core.h"
#include "llwa/llwa.h"
#include "reluflow/certify.h"
#include "la/la.h"
#include "margin/margin.h"
#include "reluflow/optimum.h"

/* ---- LLWA-03: Theorem 4.2, the optimum of symmetric data is linear ------------------------------------- */

static RfStatus judge_linear_optimum(RfClaimRun *run, const RfLlwaSet *set, double *worst_gap) {
  RfOptimum best = {0};
  RfDualNorm dual = {0};
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = set->leak;
  RfStatus status = rf_optimum_solve(run->context, &best, set->X, set->y, set->n, set->d, &settings);
  if (!status)
    status =
        rf_optimum_dual_norm(run->context, &dual, set->X, set->y, best.lambda, set->n, set->d, set->leak, 0);
  if (!status) {
    double mass[2] = {0, 0}, factor = (1 + set->leak) / 4;
    rf_claim_at_most(run, "relative gap", best.gap, 0, 1e-7);
    rf_claim_at_most(run, "dual feasibility", dual.upper, 1, 1e-8);
    rf_claim_relative(run, "best normalised margin against (1+leak)/4 gstar", 1 / (2 * best.objective),
                      factor * set->gstar, 1e-7);
    for (rf_index k = 0; k < best.neurons; k++) {
      const double *u = best.U + k * set->d;
      double size = rf_la_norm(u, set->d);
      rf_claim_at_most(
          run, "distance of a neuron from +-wstar",
          fabs(1 - best.sign[k] * rf_la_dot(u, set->wstar, set->d) / size) * size / best.objective, 0, 1e-7);
      mass[best.sign[k] < 0] += size / best.objective;
    }
    rf_claim_close(run, "share of the neurons along wstar", mass[0], 0.5, 1e-6);
    RfRandom random = rf_claim_random(run, 0);
    for (int t = 0; t < 100; t++) { /* f at |theta| = 1 is (1+leak)/4 <wstar,x> */
      double x[RF_LLWA_D], f = 0;
      rf_random_direction(&random, x, set->d);
      for (rf_index k = 0; k < best.neurons; k++)
        f += best.sign[k] * rf_llwa_phi(rf_la_dot(best.U + k * set->d, x, set->d), set->leak) /
             (2 * best.objective);
      rf_claim_close(run, "f(x) against (1+leak)/4 <wstar,x>", f, factor * rf_la_dot(set->wstar, x, set->d),
                     1e-6);
    }
    *worst_gap = fmax(*worst_gap, best.gap);
  }
  rf_dual_norm_free(&dual);
  rf_optimum_free(&best);
  return status;
}

RfStatus rf_llwa_03(RfClaimRun *run) {
  const double leaks[] = {0.1, 0.5, 0.9};
  double gap = 0;
  RfStatus status = RF_OK;
  for (int s = 0; s < 7 && !status; s++)
    for (int l = 0; l < 3 && !status; l++) {
      RfLlwaSet set;
      char spec[60] = "DS-SYM6";
      if (s == 1) rf_format(spec, sizeof spec, "DS-LL1(0.5)");
      if (s > 1) rf_format(spec, sizeof spec, "DS-SYM(4,3,0.2,%d)", s - 2);
      status = rf_llwa_load(run, &set, spec, leaks[l], 1);
      if (status) break;
      status = judge_linear_optimum(run, &set, &gap);
      rf_llwa_free(&set);
    }
  if (!status) status = rf_cross_leak(run);
  rf_claim_note(run, "7 data sets, 3 leaks; largest certified gap %.1e", gap);
  return status;
}

/* ---- LLWA-34: App. I.1.1, a KKT point that is not linear ----------------------------------- */

/* Number of directions on the circle where f changes sign, and the largest deviation of those from a line. */
static double boundary_bend(const RfNet *net) {
  enum { steps = 3600 };
  double zeros[8], pi = acos(-1.0), bend = 0, last = 0;
  int count = 0;
  for (int k = 0; k <= steps; k++) {
    double angle = 2 * pi * (k + 0.5) / steps, x[] = {cos(angle), sin(angle)}, f = rf_llwa_output(net, x);
    if (k > 0 && f * last < 0 && count < 8) zeros[count++] = angle - pi / steps;
    last = f;
  }
  if (count != 2) return pi;
  bend = fabs(fabs(zeros[1] - zeros[0]) - pi);
  return bend;
}

/* |theta - sum_i mult_i d(y_i f(x_i))| over |theta|, slope leak on the kinks. */
static double rebuild_error(const RfNet *net, const RfLlwaSet *set, const double *multipliers) {
  double W[3 * 2] = {0}, a[3] = {0};
  RfNet sum = {.m = 3, .d = 2, .W = W, .a = a};
  for (rf_index i = 0; i < set->n; i++)
    for (rf_index k = 0; k < net->m; k++) {
      const double *x = set->X + i * set->d;
      double z = rf_la_dot(net->W + k * net->d, x, net->d), weight = multipliers[i] * set->y[i];
      if (fabs(z) < 1e-12) z = 0;
      rf_la_axpy(W + k * net->d, weight * net->a[k] * (z > 0 ? 1 : net->leak), x, net->d);
      a[k] += weight * rf_llwa_phi(z, net->leak);
    }
  return rf_llwa_far(net, &sum) / sqrt(rf_net_norm2(net));
}

static RfStatus judge_kkt_net(RfClaimRun *run, double leak, double *gap) {
  RfLlwaSet set;
  RfKkt kkt = {0};
  char spec[60];
  rf_format(spec, sizeof spec, "DS-LL1(%.17g)", leak);
  RfStatus status = rf_llwa_load(run, &set, spec, leak, 1);
  if (status) return status;
  double beta = atan(1 / set.X[1]), a1 = 1 / sqrt(2 * (1 + leak) * cos(beta)), a3 = 1 / sqrt(1 + leak);
  double root =
      (2 * sin(beta) * sin(beta) + cos(beta)) * leak * leak - (1 + cos(beta)) * leak + cos(2 * beta);
  double W[] = {a1 * cos(beta), a1 * sin(beta), a1 * cos(beta), -a1 * sin(beta), -a3, 0}, a[] = {a1, a1, -a3};
  RfNet net = {.m = 3, .d = 2, .W = W, .a = a, .leak = leak};
  rf_claim_close(run, "equation for beta", root, 0, 1e-10);
  status = rf_certify_kkt(run->context, &kkt, &net, set.X, set.y, set.n);
  if (!status) {
    double s = sin(beta) * sin(beta) / (cos(beta) * (1 - leak)), sum = 0;
    for (rf_index i = 0; i < set.n; i++) {
      rf_claim_close(run, "all margins are 1", set.y[i] * rf_llwa_output(&net, set.X + 2 * i), 1, 1e-10);
      sum += kkt.lambda[i];
    }
    const double multipliers[] = {s, 0, s, 0, 1 - 2 * leak * s, 0};
    rf_claim_at_most(run, "KKT residual with the printed multipliers", rebuild_error(&net, &set, multipliers),
                     0, 1e-10);
    rf_claim_at_most(run, "KKT residual with multipliers of its own", kkt.stationarity, 0, 1e-10);
    rf_claim_relative(run, "normalised margin", kkt.margin, (1 + leak) * cos(beta) / (2 * (1 + cos(beta))),
                      1e-10);
    rf_claim_relative(run, "sum of the multipliers against 1 + 2s - 2 leak s", sum, 1 + 2 * s - 2 * leak * s,
                      1e-10);
    rf_claim_at_least(run, "mult_5 = 1 - 2 leak s", 1 - 2 * leak * s, 0, 0);
    rf_claim_at_least(run, "optimum minus margin", (1 + leak) / 4 * set.gstar - kkt.margin, 0, 0);
    rf_claim_at_least(run, "the decision boundary bends, radians", boundary_bend(&net), 0.01, 0);
    *gap = fmax(*gap, 1 - kkt.margin / ((1 + leak) / 4));
  }
  rf_kkt_free(&kkt);
  rf_llwa_free(&set);
  return status;
}

RfStatus rf_llwa_34(RfClaimRun *run) {
  const double leaks[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9};
  double gap = 0;
  for (int l = 0; l < 6; l++) {
    RfStatus status = judge_kkt_net(run, leaks[l], &gap);
    if (status) return status;
  }
  rf_claim_note(run, "margins lie up to %.1f percent below the optimum (1+leak)/4", 100 * gap);
  return RF_OK;
}

/* ---- LLWA-35: Lemma G.10, Theorem G.11 ----------------------------------------------------- */

RfStatus rf_llwa_one_sided(RfClaimRun *run, RfLlwaOneSided *out, const RfLlwaSet *set, int side) {
  RfLinearMargin margin = {0};
  RfOptimum best = {0};
  RfDualNorm dual = {0};
  double factor[RF_LLWA_ROWS], X[RF_LLWA_ROWS * RF_LLWA_D], y[RF_LLWA_ROWS];
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = set->leak, settings.signs = -side;
  for (rf_index i = 0; i < set->n; i++) factor[i] = set->y[i] * (set->y[i] == side ? 1 : set->leak);
  memset(out, 0, sizeof *out);
  RfStatus status = rf_margin_weighted(run->context, &margin, set->X, factor, set->n, set->d);
  for (rf_index s = 0; s < margin.n_support && !status; s++) {
    memcpy(X + s * set->d, set->X + margin.support[s] * set->d, (size_t)set->d * sizeof *X);
    y[s] = set->y[margin.support[s]];
  }
  if (!status) {
    memcpy(out->w, margin.w, (size_t)set->d * sizeof *X);
    out->margin = margin.margin, out->support = margin.n_support;
    status = rf_optimum_solve(run->context, &best, X, y, margin.n_support, set->d, &settings);
  }
  if (!status && best.status != RF_OPTIMUM_INFEASIBLE) {
    double total = 0;
    for (rf_index s = 0; s < margin.n_support; s++) total += best.lambda[s];
    rf_la_scale(best.lambda, 1 / total, margin.n_support);
    status = rf_optimum_dual_norm(run->context, &dual, X, y, best.lambda, margin.n_support, set->d, set->leak,
                                  -side);
    out->sup = 1 / (2 * best.objective), out->inf = dual.upper / 2;
  }
  rf_optimum_free(&best);
  settings.signs = side;
  if (!status) status = rf_optimum_solve(run->context, &best, X, y, margin.n_support, set->d, &settings);
  if (!status) out->same = 1 / (2 * best.objective);
  rf_dual_norm_free(&dual);
  rf_optimum_free(&best);
  rf_linear_margin_free(&margin);
  return status;
}

/* Neurons of P share the one-neuron solution with squared parts `part`, the others are zero. */
static void share_solution(RfNet *net, const RfLlwaOneSided *one, const double *part) {
  for (rf_index k = 0; k < net->m; k++) {
    net->a[k] = sqrt(part[k] / 2);
    for (rf_index j = 0; j < net->d; j++) net->W[k * net->d + j] = net->a[k] * one->w[j];
  }
}

static double normalised_margin(const RfNet *net, const RfLlwaSet *set) {
  return rf_llwa_least(net, set) / rf_net_norm2(net);
}

typedef struct Neighbours {
  double best;    /* largest normalised margin */
  double least;   /* smallest loss of margin over the squared distance of the functions */
  rf_index other; /* draws with another function */
} Neighbours;

/* Random neighbours within 0.01 whose signs of a respect P (the first `size` neurons). */
static Neighbours neighbours(RfClaimRun *run, const RfLlwaSet *set, const RfLlwaOneSided *one, int size) {
  enum { m = 4 };
  double W[m * RF_LLWA_D], a[m], V[m * RF_LLWA_D], b[m], one_W[RF_LLWA_D], one_a;
  RfNet net = {.m = m, .d = set->d, .W = W, .a = a, .leak = set->leak}, move = net;
  RfNet aim = {.m = 1, .d = set->d, .W = one_W, .a = &one_a, .leak = set->leak};
  RfRandom random = rf_claim_random(run, (uint64_t)size);
  Neighbours out = {.best = -INFINITY, .least = INFINITY};
  rf_llwa_single(&aim, one->w, 1);
  move.W = V, move.a = b;
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 100000); draw++) {
    double part[m] = {0}, total = 0;
    for (int k = 0; k < size; k++) part[k] = 0.1 + rf_random_uniform(&random), total += part[k];
    for (int k = 0; k < size; k++) part[k] /= total;
    share_solution(&net, one, part);
    rf_llwa_gaussian(&move, &random, 1);
    double radius = 0.01 * pow(rf_random_uniform(&random), 2) / sqrt(rf_net_norm2(&move));
    rf_la_axpy(W, radius, V, m * set->d);
    for (int k = 0; k < m; k++) a[k] = k < size ? a[k] + radius * b[k] : -radius * fabs(b[k]);
    double margin = normalised_margin(&net, set);
    out.best = fmax(out.best, margin);
    if (draw % 10) continue; /* equality only with the same function */
    rf_llwa_copy(&net, &net, 1 / sqrt(rf_net_norm2(&net)));
    double apart = rf_llwa_apart(&net, &aim);
    if (apart < 1e-5) continue;
    out.least = fmin(out.least, (one->margin / 2 - margin) / (apart * apart)), out.other++;
  }
  return out;
}

RfStatus rf_llwa_35(RfClaimRun *run) {
  const char *specs[] = {"DS-HINT(20,1,0.1)", "DS-MID"};
  double above = -INFINITY, lost = INFINITY, values[2] = {0, 0};
  RfStatus status = RF_OK;
  rf_claim_require(run, "neighbours with another function", rf_claim_repetitions(run, 20000));
  for (int s = 0; s < 2 && !status; s++) {
    RfLlwaSet set;
    RfLlwaOneSided one;
    status = rf_llwa_load(run, &set, specs[s], 0.5, 1);
    if (status) break;
    status = rf_llwa_one_sided(run, &one, &set, 1);
    if (!status) {
      values[s] = one.sup;
      rf_claim_relative(run, "sup over nets with a <= 0 against inf over weights", one.sup, one.inf, 1e-7);
      rf_claim_at_most(run, "assumption A.5: that value is below gL+/2", one.sup, one.margin / 2 * (1 - 1e-6),
                       0);
      if (s == 0) rf_claim_close(run, "DS-HINT: the value is leak e/2", one.sup, set.leak * 0.1 / 2, 1e-9);
    }
    for (int size = 1; size <= 2 && !status; size++) {
      double part[] = {0.3, 0.7, 0, 0}, W[4 * RF_LLWA_D], a[4];
      RfNet net = {.m = 4, .d = set.d, .W = W, .a = a, .leak = set.leak};
      Neighbours near = neighbours(run, &set, &one, size);
      above = fmax(above, near.best - one.margin / 2);
      rf_claim_at_most(run, "no neighbour has a larger normalised margin", near.best, one.margin / 2, 1e-10);
      rf_claim_at_least(run, "another function: margin lost over the squared distance", near.least, 1e-6, 0);
      rf_claim_made(run, "neighbours with another function", near.other);
      lost = fmin(lost, near.least);
      share_solution(&net, &one, part); /* equality: the same function, split otherwise */
      rf_claim_close(run, "margin of the embedded solution", normalised_margin(&net, &set), one.margin / 2,
                     1e-12);
    }
    rf_llwa_free(&set);
  }
  rf_claim_note(
      run,
      "best nets with a <= 0 on the support: %.6g and %.6g; largest margin of a neighbour minus gL+/2: %.1e; "
      "margin lost over the squared distance of the functions at least %.1e",
      values[0], values[1], above, lost);
  return status;
}
