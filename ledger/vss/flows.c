/* Vardi, Shamir, Srebro: balance of hidden units (VSS-03), data near those of the theorems (VSS-10), and
 * sparse linear networks (VSS-12). */
#include <math.h>
#include <string.h>

#include "kit/networks.h"
#include "reluflow/certify.h"
#include "flow/flow.h"
#include "la/la.h"
#include "margin/margin.h"
#include "vss/vss.h"

static const double one[] = {1, 1, 1, 1};
static const RfLoss losses[] = {RF_LOSS_EXP, RF_LOSS_LOGISTIC};

/* ---- VSS-03: Lemmas C.3, C.4 --------------------------------------------------------------------------- */

/* Three units on disjoint pairs of six coordinates, all weights their own. */
static RfStatus three_pairs(RfContext *context, RfLayeredNet *net, double leak) {
  const int32_t pattern[] = {0, 1, -1, -1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1, -1, -1, 4, 5};
  RfStatus status = rf_layers_new(context, net, leak);
  if (!status) status = rf_layers_add_shared(context, net, pattern, 6, 3);
  if (!status) status = rf_layers_add_dense(context, net, 3, 1);
  if (status) rf_layers_free(net);
  return status;
}

/* |w_j| and |v_j| of the three units. */
static void unit_sizes(double *w, double *v, const double *theta) {
  for (int j = 0; j < 3; j++) w[j] = hypot(theta[2 * j], theta[2 * j + 1]), v[j] = fabs(theta[6 + j]);
}

typedef struct Units {
  double w[3][3], v[3][3], norm[3]; /* at the start and at smoothed margins 200 and 400 */
} Units;

/* |w_j|^2 - v_j^2 is kept, so that | |w_j| - |v_j| | never exceeds its root, and over |theta| it vanishes. */
static void judge_units(RfClaimRun *run, const Units *u) {
  for (int j = 0; j < 3; j++) {
    double gap[3], apart[3], growth = u->w[2][j] * u->v[2][j] / (u->w[1][j] * u->v[1][j]);
    for (int k = 0; k < 3; k++) {
      gap[k] = u->w[k][j] * u->w[k][j] - u->v[k][j] * u->v[k][j];
      apart[k] = fabs(u->w[k][j] - u->v[k][j]) / u->norm[k];
    }
    for (int k = 1; k < 3; k++)
      rf_claim_at_most(run, "drift of |w_j|^2 - v_j^2", fabs(gap[k] - gap[0]), 0,
                       1e-7 * u->norm[k] * u->norm[k]);
    rf_claim_at_most(run, "| |w_j| - |v_j| | against the root of the difference of squares", apart[2],
                     sqrt(fabs(gap[0])) / u->norm[2], 1e-9);
    if (growth > 1.6) {
      rf_claim_made(run, "growing units", 1);
      rf_claim_at_most(run, "growing unit: | |w_j| - |v_j| | / |theta|", apart[2], 0, 0.15);
      if (apart[2] > 1e-4) rf_claim_at_most(run, "growing unit: decay", apart[2] / apart[1], 0.65, 0);
    } else if (fabs(growth - 1) < 0.05) {
      rf_claim_made(run, "stopped units", 1);
      rf_claim_at_most(run, "stopped unit: | |w_j| - |v_j| | / |theta|", apart[2], 0, 0.15);
      if (apart[2] > 1e-4)
        rf_claim_at_most(run, "stopped unit: decay", apart[2] / apart[1], sqrt(0.5) + 0.04, 0);
    } else {
      rf_claim_dropped(run, "units between", 1); /* on their way: the root above is all that is said */
    }
  }
}

/* At t = infinity every unit is balanced, those that have stopped as zeros. */
static RfStatus units_at_infinity(RfClaimRun *run, const RfLayeredNet *net, const double *X, const double *y,
                                  rf_index n, RfLoss loss) {
  RfLayeredLimit limit = {0};
  double w[3], v[3];
  RfStatus status = rf_claim_layered_limit(run, &limit, net, X, y, n, loss);
  if (!status && limit.outcome == RF_FLOW_CONVERGED) {
    unit_sizes(w, v, limit.net.theta);
    for (int j = 0; j < 3; j++) rf_claim_close(run, "|w_j| at t = infinity against |v_j|", w[j], v[j], 1e-7);
    rf_claim_made(run, "limits", 1);
  } else if (!status) {
    rf_claim_dropped(run, "limits", 1);
  }
  rf_layered_limit_free(&limit);
  return status;
}

/* Every second data set hardly uses the coordinates of the last unit, which stops. */
RfStatus rf_vss_03(RfClaimRun *run) {
  enum { n = 8, d = 6 };
  double X[n * d], y[n];
  rf_index wanted = rf_claim_repetitions(run, 10), made = 0;
  for (rf_index draw = 0; draw < 5 * wanted && made < wanted; draw++) {
    RfRandom random = rf_claim_random(run, (uint64_t)draw);
    RfLayeredNet net;
    RfLayeredFlow flow = {0};
    Units units;
    rf_claim_separable(&random, X, y, n, d);
    for (rf_index k = 0; draw % 2 == 0 && k < n * d; k++) X[k] *= k % d >= 4 ? 0.01 : 1;
    RfStatus status = three_pairs(run->context, &net, draw % 4 < 2);
    if (status) return status;
    rf_claim_gaussian_weights(&random, &net, 1);
    status = rf_layered_flow_new(run->context, &flow, &net, X, y, n, losses[draw % 2]);
    flow.max_steps = 100000, flow.tolerance = 1e-11;
    unit_sizes(units.w[0], units.v[0], net.theta), units.norm[0] = rf_la_norm(net.theta, net.n_parameters);
    for (int k = 1; k < 3 && !status; k++) {
      status = rf_layered_flow_to_smargin(run->context, &flow, 200 * k);
      unit_sizes(units.w[k], units.v[k], flow.net.theta), units.norm[k] = flow.norm;
    }
    if (!status) judge_units(run, &units);
    if (!status) status = units_at_infinity(run, &net, X, y, n, losses[draw % 2]);
    if (status == RF_OK)
      rf_claim_made(run, "flows that separate", 1), made++;
    else
      rf_claim_dropped(run, "flows that separate", 1); /* another start */
    rf_layered_flow_free(&flow);
    rf_layers_free(&net);
    if (status < 0 || status == RF_INTERRUPTED) return status;
  }
  rf_claim_require(run, "flows that separate", wanted);
  rf_claim_require(run, "growing units", (wanted + 1) / 2);
  if (!run->settings->quick) rf_claim_require(run, "stopped units", 1);
  if (!run->settings->quick) rf_claim_require(run, "limits", wanted / 2);
  return RF_OK;
}

/* ---- VSS-10: Remark 3.2, perturbed inputs -------------------------------------------------- */

static const double radius = 1e-2;

static void perturbed(RfRandom *random, double *X, const double *from, int count) {
  for (int k = 0; k < count; k++) X[k] = from[k] + 0.05 * (2 * rf_random_uniform(random) - 1);
}

/* DS-V1: at the limit (w1, v1, 0, 0) a second neuron sqrt(2e)(+-1,0; 1) pays for a shorter w1. With v1 fixed,
 * w1' solves v1 w1'.x_i = 1 - 2e (u.x_i)_+ for both samples. */
static RfStatus near_v1(RfClaimRun *run, RfRandom *random, RfLoss loss) {
  const double base[] = {1, 0.25, -1, 0.25};
  double X[4], W[] = {0.3, 2, 0.1, -1.5}, a[] = {0.7, 0.4}, e = radius * radius / 9, best = INFINITY;
  perturbed(random, X, base, 4);
  RfNet start = {.m = 2, .d = 2, .W = W, .a = a};
  RfFlowResult flow;
  RfStatus status = rf_claim_limit(run, &flow, &start, X, one, 2, loss);
  if (status) return status;
  double scale = sqrt(2 * 0.5 / flow.limit.margin / 1); /* |theta|^2 = 1/margin at min margin 1 */
  double v1 = scale * flow.limit.net.a[0], w1[] = {scale * flow.limit.net.W[0], scale * flow.limit.net.W[1]};
  double norm2 = v1 * v1 + w1[0] * w1[0] + w1[1] * w1[1];
  rf_claim_at_most(run, "DS-V1: the second neuron vanishes",
                   fabs(flow.limit.net.W[2]) + fabs(flow.limit.net.W[3]) + fabs(flow.limit.net.a[1]), 0,
                   1e-9);
  double det = X[0] * X[3] - X[1] * X[2], distance = 0;
  for (int side = -1; side <= 1; side += 2) {
    double right[2], new[2], size = sqrt(2 * e);
    for (int i = 0; i < 2; i++) right[i] = (1 - 2 * e * fmax(0, side * X[2 * i])) / v1;
    new[0] = (right[0] * X[3] - right[1] * X[1]) / det, new[1] = (X[0] * right[1] - X[2] * right[0]) / det;
    double total = v1 * v1 + new[0] * new[0] + new[1] * new[1] + 4 * e,
           W2[] = {new[0], new[1], side *size, 0}, a2[] = {v1, size}, q[2];
    RfNet witness = {.m = 2, .d = 2, .W = W2, .a = a2};
    if (total >= best) continue;
    status = rf_net_outputs(run->context, q, &witness, X, 2);
    if (!status && fmin(q[0], q[1]) >= 1 - 1e-12) {
      best = total;
      distance = sqrt(pow(new[0] - w1[0], 2) + pow(new[1] - w1[1], 2) + 4 * e);
    }
  }
  rf_claim_at_most(run, "DS-V1: a feasible point is shorter", best, norm2, 0);
  rf_claim_at_most(run, "DS-V1: its distance", distance, radius, 0);
  rf_flow_result_free(&flow);
  return status;
}

/* Flow of a diagonal network on one sample, to a direction; the state is scaled to output 1. */
static RfStatus diagonal_limit(RfClaimRun *run, double *theta, const double *x, rf_index depth, double kappa,
                               RfLoss loss) {
  RfLayeredNet net;
  RfLayeredFlow flow = {0};
  RfStatus status = rf_claim_diagonal(run->context, &net, 2, depth, 1);
  if (status) return status;
  memcpy(net.theta, theta, (size_t)(2 * depth) * sizeof *theta);
  status = rf_layered_flow_new(run->context, &flow, &net, x, one, 1, loss);
  if (!status) status = rf_layered_flow_to_smargin(run->context, &flow, 400);
  if (!status && kappa > 0) status = rf_layered_flow_far(run->context, &flow, kappa);
  for (rf_index p = 0; p < 2 * depth && !status; p++)
    theta[p] = flow.net.theta[p] / pow(flow.min_q, 1 / (double)depth);
  rf_layered_flow_free(&flow);
  rf_layers_free(&net);
  return status;
}

/* DS-V2: (s sqrt(1-e), sqrt(e/x2)) in both layers, s^2 = 1/x1. */
static RfStatus near_v2(RfClaimRun *run, RfRandom *random, RfLoss loss) {
  const double base[] = {1, 2};
  double x[2], theta[] = {1, 0, 1, 0}, e = radius * radius / 4;
  perturbed(random, x, base, 2);
  RfStatus status = diagonal_limit(run, theta, x, 2, 0, loss);
  if (status) return status;
  rf_claim_close(run, "DS-V2: first coordinate of the limit", theta[0], sqrt(1 / x[0]), 1e-8);
  rf_claim_close(run, "DS-V2: second coordinate of the limit", theta[1], 0, 0);
  double first = sqrt((1 - e) / x[0]), second = sqrt(e / x[1]);
  rf_claim_at_least(run, "DS-V2: output of the witness", first * first * x[0] + second * second * x[1], 1,
                    1e-12);
  rf_claim_at_most(run, "DS-V2: the witness is shorter", first * first + second * second, 1 / x[0], 0);
  rf_claim_at_most(run, "DS-V2: its distance", sqrt(2) * hypot(first - sqrt(1 / x[0]), second), radius, 0);
  return RF_OK;
}

/* DS-V6, depth 3: shares p_j = x_j w_j^3 of the output; |theta|^2 = 3 sum (p_j/x_j)^{2/3} is concave in them.
 */
static RfStatus near_v6(RfClaimRun *run, RfRandom *random, RfLoss loss) {
  const double base[] = {1, 1};
  double x[2], theta[6], e = 1e-3;
  perturbed(random, x, base, 2);
  for (int p = 0; p < 6; p++) theta[p] = 1 / x[p % 2];
  RfStatus status = diagonal_limit(run, theta, x, 3, 0, loss);
  if (status) return status;
  double before = 0, best = INFINITY, distance = 0;
  rf_claim_close(run, "DS-V6: the limit keeps its direction", theta[0] * x[0], theta[1] * x[1], 1e-6);
  for (int j = 0; j < 2; j++) before += 3 * theta[j] * theta[j];
  for (int side = -1; side <= 1; side += 2) {
    double total = 0, far = 0;
    for (int j = 0; j < 2; j++) {
      double share = x[j] * pow(theta[j], 3) + side * (j ? e : -e), w = cbrt(share / x[j]);
      total += 3 * w * w, far += 3 * pow(w - theta[j], 2);
    }
    if (total < best) best = total, distance = sqrt(far);
  }
  rf_claim_at_most(run, "DS-V6: the witness is shorter", best, before, 0);
  rf_claim_at_most(run, "DS-V6: its distance", distance, radius, 0);
  for (int p = 0; p < 6; p++) theta[p] = 1; /* from all ones the larger coordinate wins */
  for (; fabs(x[0] - x[1]) < 0.005; perturbed(random, x, base, 2)) /* too slow to be seen */
    rf_claim_dropped(run, "DS-V6 from all ones", 1);
  rf_claim_made(run, "DS-V6 from all ones", 1);
  status = diagonal_limit(run, theta, x, 3, 40, loss);
  if (status) return status;
  double norm2 = rf_la_dot(theta, theta, 6), optimum = 3 * pow(fmax(x[0], x[1]), -2.0 / 3);
  rf_claim_relative(run, "DS-V6 from all ones: the global optimum", norm2, optimum, 1e-3);
  if (run->result->n_misprints == 0) /* printed: the limit is not even a local optimum */
    rf_claim_misprint(run, "MP-VSS-05", "DS-V6 moved, from all ones: |theta|^2 of the limit over the optimum",
                      before / optimum, 1, norm2 / optimum, norm2 > optimum * (1 + 1e-3));
  return RF_OK;
}

/* DS-V4: still a local optimum, still not global. */
static RfStatus near_v4(RfClaimRun *run, RfRandom *random, RfLoss loss) {
  const double base[] = {1, 0.25, -1, 0.25, 0, -1};
  double X[6], W[] = {0, 3, 0, -2}, a[] = {3, 2};
  perturbed(random, X, base, 6);
  RfNet start = {.m = 2, .d = 2, .W = W, .a = a};
  RfFlowResult flow;
  RfCertificate c;
  RfStatus status = rf_claim_limit(run, &flow, &start, X, one, 3, loss);
  if (status) return status;
  status = rf_certify_net(run->context, &c, &flow.limit.net, X, one, 3, NULL);
  if (!status) {
    rf_claim_true(run, "DS-V4: a local optimum", c.local == RF_VERDICT_OPTIMUM);
    /* C.6: x1/|x1|^2 alone serves x1, and one neuron serves x2 and x3 */
    double det = X[2] * X[5] - X[3] * X[4], u[] = {(X[5] - X[3]) / det, (X[2] - X[4]) / det}, q[3];
    double size = rf_la_norm(X, 2), root = sqrt(rf_la_norm(u, 2)), own = sqrt(1 / size);
    double W2[] = {own * X[0] / size, own * X[1] / size, u[0] / root, u[1] / root}, a2[] = {own, root};
    RfNet witness = {.m = 2, .d = 2, .W = W2, .a = a2};
    status = rf_net_outputs(run->context, q, &witness, X, 3);
    for (int i = 0; i < 3 && !status; i++) rf_claim_at_least(run, "DS-V4: output of C.6", q[i], 1, 1e-12);
    rf_claim_at_most(run, "DS-V4: C.6 is shorter", rf_net_norm2(&witness) / 2, 0.95 * c.kkt.objective, 0);
    rf_certificate_free(&c);
  }
  rf_flow_result_free(&flow);
  return status;
}

RfStatus rf_vss_10(RfClaimRun *run) {
  RfStatus (*const checks[])(RfClaimRun *, RfRandom *, RfLoss) = {near_v1, near_v2, near_v6, near_v4};
  rf_index draws = rf_claim_repetitions(run, 50);
  rf_claim_require(run, "DS-V6 from all ones", 2 * draws);
  rf_claim_require(run, "moved data sets", 8 * draws);
  for (rf_index draw = 0; draw < draws; draw++)
    for (int k = 0; k < 8; k++) {
      RfRandom random = rf_claim_random(run, (uint64_t)(4 * draw + k / 2));
      RfStatus status = checks[k / 2](run, &random, losses[k % 2]);
      if (status) return status;
      rf_claim_made(run, "moved data sets", 1);
    }
  rf_claim_note(run, "%lld draws of each of DS-V1, V2, V4, V6, inputs moved by up to 0.05, both losses",
                (long long)draws);
  return RF_OK;
}

/* ---- VSS-12: Theorem 4.2 (1), programs (7)-(9) --------------------------------------------- */

/* min sum_l |u_l| s.t. y_i sum_l <u_l, x_i^l> >= 1 over groups of `size` coordinates, by |u| = min_h
 * (u^2/h+h)/2: hard margins with reweighted columns. *upper and *lower bracket the optimum (the lower bound
 * from the multipliers, scaled to dual feasibility); *least is the smallest group over the largest. */
RfStatus rf_vss_group_program(RfContext *context, double *upper, double *lower, double *least,
                              const double *X, const double *y, rf_index n, rf_index d, rf_index size) {
  enum { most = 64 };
  double weight[8], scaled[most], u[8];
  rf_index groups = d / size;
  for (rf_index g = 0; g < groups; g++) weight[g] = 1;
  *lower = 0, *upper = INFINITY;
  for (int round = 0; round < 20000; round++) {
    RfLinearMargin margin;
    double total = 0, largest = 0, worst = 0, sum = 0;
    for (rf_index k = 0; k < n * d; k++) scaled[k] = X[k] * sqrt(weight[k % d / size]);
    RfStatus status = rf_margin_linear(context, &margin, scaled, y, n, d);
    if (status) return status;
    for (rf_index j = 0; j < d; j++) u[j] = margin.w[j] / margin.margin * sqrt(weight[j / size]);
    for (rf_index i = 0; i < n; i++) sum += margin.multipliers[i];
    *least = INFINITY;
    for (rf_index g = 0; g < groups; g++) {
      double norm = rf_la_norm(u + g * size, size), dual[8] = {0};
      for (rf_index i = 0; i < n; i++)
        rf_la_axpy(dual, margin.multipliers[i] * y[i], X + i * d + g * size, size);
      worst = fmax(worst, rf_la_norm(dual, size));
      total += norm, largest = fmax(largest, norm), *least = fmin(*least, norm);
      weight[g] = fmax(norm, 1e-14);
    }
    *least /= largest;
    *upper = fmin(*upper, total), *lower = fmax(*lower, sum / worst);
    rf_linear_margin_free(&margin);
    if (*upper - *lower <= 1e-9 * *upper) break;
  }
  return RF_OK;
}

/* The lower bound sum lambda / max_g |sum lambda_i y_i x_i^g| on that optimum, which any lambda >= 0 gives.
 */
static double group_bound(const double *lambda, const double *X, const double *y, rf_index n, rf_index d,
                          rf_index size) {
  double worst = 0, sum = 0;
  for (rf_index i = 0; i < n; i++) sum += lambda[i];
  for (rf_index g = 0; g < d / size; g++) {
    double dual[8] = {0};
    for (rf_index i = 0; i < n; i++) rf_la_axpy(dual, lambda[i] * y[i], X + i * d + g * size, size);
    worst = fmax(worst, rf_la_norm(dual, size));
  }
  return worst > 0 ? sum / worst : 0;
}

RfStatus rf_vss_12(RfClaimRun *run) {
  enum { n = 8 };
  const rf_index dims[] = {4, 6, 4}, sizes[] = {1, 2, 4}, full[] = {4, 4, 1};
  double X[n * 6], y[n], at_400 = 0;
  static const char *const kind_names[] = {"diagonal", "on pairs", "fully connected"};
  rf_index kept[3] = {0}, wanted = rf_claim_repetitions(run, 6);
  for (int kind = 0; kind < 3; kind++) rf_claim_require(run, kind_names[kind], wanted);
  for (int kind = 0; kind < 3; kind++)
    for (rf_index draw = 0; draw < 20 * wanted && kept[kind] < wanted; draw++) {
      RfRandom random = rf_claim_random(run, (uint64_t)(1000 * kind + draw));
      rf_index d = dims[kind];
      RfLayeredNet net;
      RfLayeredFlow flow = {0};
      RfLayeredLimit limit = {0};
      double upper, lower, least;
      rf_claim_separable(&random, X, y, n, d);
      RfStatus status = rf_vss_group_program(run->context, &upper, &lower, &least, X, y, n, d, sizes[kind]);
      if (status) return status;
      if (least < 1e-3) { /* a group that is zero in the program decays like a power of q only */
        rf_claim_dropped(run, kind_names[kind], 1);
        continue;
      }
      rf_claim_relative(run, "program (8): the bracket is closed", upper, lower, 1e-7);
      status = kind == 0   ? rf_claim_diagonal(run->context, &net, d, 2, 1)
               : kind == 1 ? three_pairs(run->context, &net, 1)
                           : rf_claim_dense(run->context, &net, full, 2, 1);
      if (status) return status;
      rf_claim_gaussian_weights(&random, &net, 1);
      status = rf_layered_flow_new(run->context, &flow, &net, X, y, n, losses[draw % 2]);
      flow.max_steps = 100000, flow.tolerance = 1e-8;
      if (!status) status = rf_layered_flow_to_smargin(run->context, &flow, 400);
      if (!status) at_400 = fmax(at_400, 1 - lower / (flow.norm * flow.norm / flow.min_q / 2));
      rf_layered_flow_free(&flow);
      if (status >= 0) status = rf_claim_layered_limit(run, &limit, &net, X, y, n, losses[draw % 2]);
      if (!status &&
          limit.outcome == RF_FLOW_CONVERGED) { /* the reweighting is slow where groups hardly vanish */
        lower = fmax(lower, group_bound(limit.lambda, X, y, n, d, sizes[kind]));
        rf_claim_relative(run, "objective at t = infinity against the certified optimum", 0.5 / limit.margin,
                          lower, 1e-8);
        kept[kind]++, rf_claim_made(run, kind_names[kind], 1);
      } else {
        rf_claim_dropped(run, kind_names[kind], 1);
      }
      rf_layered_limit_free(&limit);
      rf_layers_free(&net);
      if (status < 0) return status;
    }
  rf_claim_note(
      run, "%lld diagonal, %lld on pairs, %lld fully connected; largest gap at smoothed margin 400: %.2g",
      (long long)kept[0], (long long)kept[1], (long long)kept[2], at_400);
  return RF_OK;
}
