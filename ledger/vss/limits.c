/* Vardi, Shamir, Srebro: where the flows of linear, diagonal, sparse and shared networks go. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/networks.h"
#include "kit/setting.h"
#include "reluflow/certify.h"
#include "flow/flow.h"
#include "la/la.h"
#include "margin/margin.h"
#include "vss/vss.h"

static const double one[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const RfLoss losses[] = {RF_LOSS_EXP, RF_LOSS_LOGISTIC};

/* ---- VSS-05: Theorem 3.1 ------------------------------------------------------------------- */

static RfStatus deep_linear(RfClaimRun *run, rf_index depth, rf_index draw) {
  enum { n = 10, d = 3 };
  const rf_index widths[] = {d, 5, 5, 5, 1};
  rf_index shape[5];
  double X[n * d], y[n], f[d], values[5];
  RfRandom random = rf_claim_random(run, (uint64_t)(draw * 10 + depth));
  RfLayeredNet net;
  RfLayeredLimit limit = {0};
  RfLinearMargin linear = {0};
  memcpy(shape, widths, sizeof shape);
  shape[depth] = 1;
  rf_claim_separable(&random, X, y, n, d);
  RfStatus status = rf_claim_dense(run->context, &net, shape, depth, 1);
  if (status) return status;
  rf_claim_gaussian_weights(&random, &net, 1e-2);
  status = rf_margin_linear(run->context, &linear, X, y, n, d);
  if (!status) status = rf_claim_layered_limit(run, &limit, &net, X, y, n, losses[draw % 2]);
  bool settled = !status && limit.outcome == RF_FLOW_CONVERGED;
  if (settled)
    rf_claim_made(run, "limits", 1);
  else
    rf_claim_dropped(run, "limits", 1);
  for (int j = 0; j < d && settled && !status; j++) {
    double unit[d] = {0};
    unit[j] = 1;
    status = rf_layers_evaluate(run->context, &f[j], NULL, &limit.net, unit, 1);
  }
  if (!status && settled) {
    double best =
        linear.margin / pow((double)depth, (double)depth / 2); /* |theta|^2 = D C^2, C^D = 1/margin */
    for (int j = 0; j < d; j++)
      rf_claim_close(run, "direction of the linear map against the max-margin vector",
                     f[j] / rf_la_norm(f, d), linear.w[j], 1e-8);
    rf_claim_relative(run, "normalised margin against the global optimum", limit.margin, best, 1e-8);
    status = rf_la_singular(run->context, values, NULL, rf_layers_weights(&limit.net, 0), shape[1], d);
    rf_claim_at_most(run, "second singular value of W1 over the first", values[1] / values[0], 0, 1e-8);
  }
  rf_linear_margin_free(&linear);
  rf_layered_limit_free(&limit);
  rf_layers_free(&net);
  return status;
}

RfStatus rf_vss_05(RfClaimRun *run) {
  rf_claim_require(run, "limits", 2 * rf_claim_repetitions(run, 5));
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 5); draw++)
    for (rf_index depth = 2; depth <= 4; depth++) {
      RfStatus status = deep_linear(run, depth, draw);
      if (status) return status;
    }
  return RF_OK;
}

/* ---- VSS-06: Theorem 3.2, dynamics --------------------------------------------------------- */

/* On the way: (w1,v1) alone approaches (0,1,1)/sqrt 2 like 1/smargin; the whole vector is off by the frozen
 * neuron, |(w2,v2)|/|theta| with |theta|^2 = 8 q: off sqrt(8 smargin)/|(w2,v2)| -> 1. */
static RfStatus frozen_law(RfClaimRun *run, RfLayeredFlow *flow, const double *theta) {
  const double want[] = {0, sqrt(0.5), 0, 0, sqrt(0.5), 0};
  double frozen = sqrt(theta[2] * theta[2] + theta[3] * theta[3] + theta[5] * theta[5]), own[2], reached[2],
         all = 0;
  RfStatus status = RF_OK;
  for (int k = 0; k < 2 && !status; k++) {
    status = rf_layered_flow_to_smargin(run->context, flow, 200 * (k + 1));
    const double *now = flow->net.theta;
    reached[k] = flow->smargin;
    double part = sqrt(now[0] * now[0] + now[1] * now[1] + now[4] * now[4]);
    own[k] = sqrt(pow(now[0] / part, 2) + pow(now[1] / part - want[1], 2) + pow(now[4] / part - want[4], 2));
    all = 0;
    for (int p = 0; p < 6; p++) all += pow(now[p] / flow->norm - want[p], 2);
  }
  if (status) return status;
  rf_claim_at_most(run, "(w1,v1) at smoothed margin 400", own[1], 0, 2e-2);
  if (own[1] > 1e-4) /* steps may pass the marks */
    rf_claim_at_most(run, "(w1,v1): decay from 200", own[1] / own[0], reached[0] / reached[1] + 0.15, 0);
  rf_claim_relative(run, "whole vector: error sqrt(8 smargin)/|(w2,v2)|",
                    sqrt(all) * sqrt(8 * flow->smargin) / frozen, 1, 0.02);
  return RF_OK;
}

/* The trajectory in pieces: w2, v2 bit-constant, |w1[1]| decreasing, w1[2] increasing. */
static RfStatus vee_dynamics(RfClaimRun *run, const double *theta, RfLoss loss) {
  const double X[] = {1, 0.25, -1, 0.25};
  const rf_index widths[] = {2, 2, 1};
  RfLayeredNet net;
  RfLayeredFlow flow = {0};
  RfStatus status = rf_claim_dense(run->context, &net, widths, 2, 0);
  if (status) return status;
  memcpy(net.theta, theta, 6 * sizeof *theta);
  status = rf_layered_flow_new(run->context, &flow, &net, X, one, 2, loss);
  double before[6];
  for (int piece = 0; piece < 60 && !status; piece++) {
    memcpy(before, flow.net.theta, sizeof before);
    status = rf_layered_flow_to_smargin(run->context, &flow, flow.smargin + 1);
    const double *now = flow.net.theta;
    rf_claim_true(run, "the inactive neuron does not move",
                  now[2] == theta[2] && now[3] == theta[3] && now[5] == theta[5]);
    double slack = 1e-9 * flow.norm;
    rf_claim_at_most(run, "|w1[1]| decreases", fabs(now[0]), fabs(before[0]), slack);
    rf_claim_at_least(run, "w1[1] keeps its sign", copysign(1, theta[0]) * now[0], 0, slack);
    rf_claim_at_least(run, "w1[2] increases", now[1], before[1], slack);
  }
  if (!status) status = frozen_law(run, &flow, theta);
  rf_layered_flow_free(&flow);
  rf_layers_free(&net);
  return status;
}

/* The limit at t = infinity: (0,1,0,0,1,0)/sqrt 2 in the order (w1, w2, v1, v2). */
static RfStatus vee_limit(RfClaimRun *run, const double *theta, RfLoss loss) {
  const double X[] = {1, 0.25, -1, 0.25}, want[] = {0, sqrt(0.5), 0, 0};
  double W[4], a[2];
  memcpy(W, theta, sizeof W), memcpy(a, theta + 4, sizeof a);
  RfNet net = {.m = 2, .d = 2, .W = W, .a = a};
  RfFlowStart from = {0};
  RfFlowResult flow = {0};
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.with_alignment = false;
  RfStatus status = rf_flow_start_from_net(run->context, &from, &net);
  RfFlowProblem problem = {.X = X, .y = one, .n = 2, .d = 2, .loss = loss, .start = &from};
  if (!status) status = rf_claim_run_flow(run, &flow, &problem, &settings);
  for (int k = 0; k < 4 && !status; k++)
    rf_claim_close(run, "limit of W", flow.limit.net.W[k], want[k], 1e-8);
  if (!status) rf_claim_close(run, "limit of v1", flow.limit.net.a[0], sqrt(0.5), 1e-8);
  rf_flow_result_free(&flow);
  rf_flow_start_free(&from);
  return status;
}

RfStatus rf_vss_06(RfClaimRun *run) {
  RfStatus status = RF_OK;
  for (rf_index draw = 0; draw <= rf_claim_repetitions(run, 20) && !status; draw++) {
    double theta[] = {0.3, 2,  0.1, -1.5,
                      0.7, 0.4}; /* the start of the ledger, then random ones that obey the hypotheses */
    RfRandom random = rf_claim_random(run, (uint64_t)draw);
    if (draw > 0) {
      theta[1] = 1 + rf_random_uniform(&random),
      theta[0] = 0.24 * theta[1] * (2 * rf_random_uniform(&random) - 1);
      theta[3] = -1 - rf_random_uniform(&random),
      theta[2] = 0.24 * theta[3] * (2 * rf_random_uniform(&random) - 1);
      theta[4] = 0.2 + rf_random_uniform(&random), theta[5] = rf_random_gaussian(&random);
    }
    for (int loss = 0; loss < 2 && !status; loss++) {
      status = vee_dynamics(run, theta, losses[loss]);
      if (!status) status = vee_limit(run, theta, losses[loss]);
    }
  }
  return status;
}

/* ---- VSS-11, VSS-17, VSS-18: single samples ------------------------------------------------ */

typedef struct SingleSample {
  RfLayeredNet net; /* at its start */
  const double *x, *limit;
  double scale; /* the limit is `limit` at output 1 */
} SingleSample;

/* The flow keeps the direction it starts in, for both losses; the limit is a KKT point. */
static RfStatus judge_single(RfClaimRun *run, const SingleSample *s) {
  for (int loss = 0; loss < 2; loss++) {
    RfLayeredFlow flow;
    RfLayeredKkt kkt;
    RfStatus status = rf_layered_flow_new(run->context, &flow, &s->net, s->x, one, 1, losses[loss]);
    if (!status) status = rf_layered_flow_to_smargin(run->context, &flow, 400);
    double size = rf_la_norm(s->limit, s->net.n_parameters);
    for (rf_index p = 0; p < s->net.n_parameters && !status; p++)
      rf_claim_close(run, "limit direction", flow.net.theta[p] / flow.norm, s->limit[p] / size, 1e-8);
    if (!status) status = rf_certify_layered_kkt(run->context, &kkt, &flow.net, s->x, one, 1);
    if (!status) {
      rf_claim_at_most(run, "stationarity of the limit", kkt.stationarity, 0, 1e-8);
      rf_layered_kkt_free(&kkt);
    }
    rf_layered_flow_free(&flow);
    if (status) return status;
  }
  return RF_OK;
}

/* J-CE: weights `theta` give output >= 1, within `radius` of `point`, with squared norm `norm2` below that of
 * the point. */
static RfStatus judge_witness(RfClaimRun *run, RfLayeredNet *net, const double *theta, const double *point,
                              const double *x, double output, double radius, double norm2) {
  double f, distance2 = 0;
  rf_index P = net->n_parameters;
  memcpy(net->theta, theta, (size_t)P * sizeof *theta);
  RfStatus status = rf_layers_evaluate(run->context, &f, NULL, net, x, 1);
  for (rf_index p = 0; p < P; p++) distance2 += (theta[p] - point[p]) * (theta[p] - point[p]);
  rf_claim_at_least(run, "witness output", f, output, 1e-12);
  rf_claim_at_most(run, "distance of the witness", sqrt(distance2), radius, 1e-12);
  rf_claim_close(run, "squared norm of the witness", rf_la_dot(theta, theta, P), norm2, 1e-12);
  rf_claim_at_most(run, "the witness is shorter", norm2, rf_la_dot(point, point, P), 0);
  return status;
}

/* Theorem 4.1: sample (1,2), w1 = w2 = (1,0). */
RfStatus rf_vss_11(RfClaimRun *run) {
  const double x[] = {1, 2}, point[] = {1, 0, 1, 0}, sizes[] = {0.5, 0.1, 1e-3};
  RfStatus status = RF_OK;
  for (int leak = 0; leak < 2 && !status; leak++) {
    SingleSample s = {.x = x, .limit = point};
    status = rf_claim_diagonal(run->context, &s.net, 2, 2, leak);
    if (status) break;
    memcpy(s.net.theta, point, sizeof point);
    status = judge_single(run, &s);
    for (int k = 0; k < 3 && !status; k++) {
      double e = sizes[k], u = sqrt(1 - e), v = sqrt(e / 2), theta[] = {u, v, u, v};
      status = judge_witness(run, &s.net, theta, point, x, 1, 2 * sqrt(e), 2 - e);
    }
    rf_layers_free(&s.net);
  }
  return status;
}

/* C.7 writes the output of the linear network for the ReLU one as well. The second patch sees
 * -4 w_1 + w_2/sqrt 2, which is negative for large radii: there only the first one is left. */
static RfStatus printed_patch(RfClaimRun *run, const RfLayeredNet *net, const double *x, const double *theta,
                              double e) {
  double f, first = x[0] * theta[0] + x[1] * theta[1], second = x[2] * theta[0] + x[3] * theta[1];
  double corrected = theta[2] * fmax(first, 0) + theta[3] * fmax(second, 0);
  RfStatus status = rf_layers_evaluate(run->context, &f, NULL, net, x, 1);
  if (status) return status;
  rf_claim_close(run, "ReLU: output of the witness, patch by patch", f, corrected, 1e-12);
  rf_claim_misprint(run, "MP-VSS-03", "output of the ReLU witness at radius 0.9", 1 + 3 * e, corrected, f,
                    fabs(f - (1 + 3 * e)) <= 1e-12);
  return RF_OK;
}

/* Theorem 4.4: two patches with one filter, x = (4, 1/sqrt 2, -4, 1/sqrt 2), w = (0,1), v = (1,1)/sqrt 2. */
RfStatus rf_vss_17(RfClaimRun *run) {
  double r = sqrt(0.5), x[] = {4, r, -4, r}, point[] = {0, 1, r, r};
  const double radii[] = {0.9, 0.3, 0.03};
  RfStatus status = RF_OK;
  for (int leak = 0; leak < 2 && !status; leak++) {
    SingleSample s = {.x = x, .limit = point};
    status = rf_claim_two_patches(run->context, &s.net, leak);
    if (status) break;
    memcpy(s.net.theta, point, sizeof point);
    status = judge_single(run, &s);
    for (int k = 0; k < 3 && !status; k++) {
      double e = radii[k] * radii[k] / 2, root = sqrt(e), theta[] = {root, 1 - e, r + root / 2, r - root / 2};
      /* linear: output 1 + 3e exactly; ReLU: at least that, since the second patch may switch off */
      status = judge_witness(run, &s.net, theta, point, x, leak ? 1 + 3 * e : 1, radii[k], 2 - e / 2 + e * e);
      if (!status && !leak && k == 0) status = printed_patch(run, &s.net, x, theta, e);
    }
    rf_layers_free(&s.net);
  }
  return status;
}

/* Theorem 5.1: sample (1,1), diagonal depth D >= 3, all ones; D = 2 gives equal norms. */
RfStatus rf_vss_18(RfClaimRun *run) {
  const double x[] = {1, 1}, sizes[] = {0.5, 0.1, 1e-2, 1e-3};
  RfStatus status = RF_OK;
  for (rf_index depth = 2; depth <= 5 && !status; depth++)
    for (int leak = 0; leak < 2 && !status; leak++) {
      double point[10], D = (double)depth;
      SingleSample s = {.x = x, .limit = point};
      for (rf_index p = 0; p < 2 * depth; p++) point[p] = pow(2, -1 / D);
      status = rf_claim_diagonal(run->context, &s.net, 2, depth, leak);
      if (status) break;
      for (rf_index p = 0; p < 2 * depth; p++) s.net.theta[p] = 1;
      status = judge_single(run, &s);
      for (int k = 0; k < 4 && !status; k++) { /* within every radius: w moves by at most e 2^{-1/D} */
        double theta[10], e = sizes[k], radius = 2 * sqrt(D) * e;
        for (rf_index p = 0; p < 2 * depth; p++) theta[p] = pow((p % 2 ? 1 - e : 1 + e) / 2, 1 / D);
        double norm2 = D * pow(0.5, 2 / D) * (pow(1 + e, 2 / D) + pow(1 - e, 2 / D));
        if (depth > 2)
          status = judge_witness(run, &s.net, theta, point, x, 1, radius, norm2);
        else
          rf_claim_relative(run, "depth 2: equal norms", norm2, rf_la_dot(point, point, 4), 1e-12);
      }
      rf_layers_free(&s.net);
    }
  return status;
}

/* ---- VSS-13: Remark 4.1 -------------------------------------------------------------------- */

/* The linear map of a diagonal network of depth 2: at the limit at min margin 1 (smargin 0), or, with the
 * smallest margin in beta[2], where the smoothed margin reaches `smargin`. */
static RfStatus diagonal_beta(RfClaimRun *run, double *beta, const double *X, rf_index n, double w1,
                              double w2, double smargin, RfLoss loss) {
  RfLayeredNet net;
  RfLayeredFlow flow = {0};
  RfLayeredLimit limit = {0};
  RfStatus status = rf_claim_diagonal(run->context, &net, 2, 2, 1);
  if (status) return status;
  net.theta[0] = net.theta[2] = w1, net.theta[1] = net.theta[3] = w2;
  if (smargin > 0) {
    status = rf_layered_flow_new(run->context, &flow, &net, X, one, n, loss);
    if (!status) status = rf_layered_flow_to_smargin(run->context, &flow, smargin);
  } else {
    status = rf_claim_layered_limit(run, &limit, &net, X, one, n, loss);
  }
  const double *theta = smargin > 0 ? flow.net.theta : limit.net.theta;
  for (int j = 0; j < 2 && !status; j++) beta[j] = theta[j] * theta[2 + j] / (smargin > 0 ? 1 : limit.margin);
  if (!status && smargin > 0) beta[2] = flow.min_q;
  rf_layered_flow_free(&flow);
  rf_layered_limit_free(&limit);
  rf_layers_free(&net);
  return status;
}

/* The l1 norm of beta against the least one that separates, which is bracketed. */
static RfStatus judge_l1(RfClaimRun *run, const char *what, const double *beta, double times, const double *X,
                         rf_index n) {
  double upper, lower, least;
  RfStatus status = rf_vss_group_program(run->context, &upper, &lower, &least, X, one, n, 2, 1);
  if (status) return status;
  rf_claim_relative(run, "l1 optimum: the bracket is closed", upper, lower, 1e-7);
  rf_claim_relative(run, what, (fabs(beta[0]) + fabs(beta[1])) / lower, times, 1e-7);
  return RF_OK;
}

static RfStatus diagonal_limits(RfClaimRun *run, RfLoss loss) {
  const double x[] = {1, 2}, pair[] = {1, 0.2, 0.2, 1};
  double beta[3];
  RfStatus status = diagonal_beta(run, beta, x, 1, 1, 0, 0, loss);
  if (!status) {
    rf_claim_close(run, "(i) beta[1]", beta[0], 1, 1e-8);
    rf_claim_close(run, "(i) beta[2]", beta[1], 0, 0);
    status = judge_l1(run, "(i) l1 norm over the optimum", beta, 2, x, 1);
  }
  if (!status) status = diagonal_beta(run, beta, pair, 2, 1, 0.5, 0, loss);
  if (!status) {
    rf_claim_close(run, "(ii) beta[1]", beta[0], 1 / 1.2, 1e-8);
    rf_claim_close(run, "(ii) beta[2]", beta[1], 1 / 1.2, 1e-8);
    status = judge_l1(run, "(ii) l1 norm over the optimum", beta, 1, pair, 2);
  }
  if (!status) status = diagonal_beta(run, beta, x, 1, 1, 1, 1000, loss);
  if (!status) {
    rf_claim_relative(run, "(iii) beta1/beta2 sqrt(q/2)", beta[0] / beta[1] * sqrt(beta[2] / 2), 1, 2e-2);
    status = diagonal_beta(run, beta, x, 1, 1, 1, 0, loss);
  }
  if (!status) {
    rf_claim_close(run, "(iii) beta[1] at t = infinity", beta[0], 0, 1e-8);
    rf_claim_close(run, "(iii) beta[2] at t = infinity", beta[1], 0.5, 1e-8);
    status = judge_l1(run, "(iii) l1 norm over the optimum", beta, 1, x, 1);
  }
  return status;
}

RfStatus rf_vss_13(RfClaimRun *run) {
  RfStatus status = RF_OK;
  for (int k = 0; k < 2 && !status; k++) status = diagonal_limits(run, losses[k]);
  return status;
}

/* ---- VSS-19: Theorem 5.2, every layer solves its own problem ------------------------------- */

static RfStatus layers_optimal(RfClaimRun *run, RfLayeredNet *net, RfRandom *random, double spread,
                               RfLoss loss, rf_index *arrived) {
  enum { n = 8, d = 4 };
  double X[n * d], y[n];
  RfLayeredLimit limit;
  RfLayerVerdict verdicts[4];
  rf_claim_separable(random, X, y, n, d);
  rf_claim_gaussian_weights(random, net, spread);
  RfStatus status = rf_claim_layered_limit(run, &limit, net, X, y, n, loss);
  if (status) return status;
  if (limit.outcome == RF_FLOW_CONVERGED) { /* other starts never separate, or not in time */
    status = rf_certify_each_layer(run->context, verdicts, &limit.net, X, y, n);
    for (rf_index l = 0; l < net->n_layers && !status; l++)
      rf_claim_at_most(run, "gap of a layer", verdicts[l].gap, 0, 1e-8);
    *arrived += !status;
  }
  rf_layered_limit_free(&limit);
  return status;
}

/* The exact points of VSS-11, 17 and 18. */
static RfStatus exact_points(RfClaimRun *run) {
  const double pair[] = {1, 2}, ones[] = {1, 1}, r = sqrt(0.5), patches[] = {4, r, -4, r};
  RfStatus status = RF_OK;
  for (int k = 0; k < 5 && !status; k++) {
    RfLayeredNet net;
    RfLayerVerdict verdicts[5];
    rf_index depth = k < 2 ? 2 : 1 + k; /* VSS-18: 3, 4, 5 */
    status = k == 1 ? rf_claim_two_patches(run->context, &net, 1)
                    : rf_claim_diagonal(run->context, &net, 2, depth, 1);
    if (status) return status;
    const double first[] = {1, 0, 1, 0}, second[] = {0, 1, r, r};
    for (rf_index p = 0; p < net.n_parameters; p++)
      net.theta[p] = k == 0 ? first[p] : k == 1 ? second[p] : pow(2, -1 / (double)depth);
    status = rf_certify_each_layer(run->context, verdicts, &net,
                                   k == 0   ? pair
                                   : k == 1 ? patches
                                            : ones,
                                   one, 1);
    for (rf_index l = 0; l < net.n_layers && !status; l++)
      rf_claim_at_most(run, "gap of a layer of VSS-11, 17, 18", verdicts[l].gap, 0, 1e-9);
    rf_layers_free(&net);
  }
  return status;
}

/* Every kind and depth from small and large starts, the losses in turn. */
RfStatus rf_vss_19(RfClaimRun *run) {
  const rf_index widths[] = {4, 4, 4, 4, 1};
  rf_index arrived = 0, tried = 0;
  RfStatus status = exact_points(run);
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 6) && !status; draw++)
    for (int kind = 0; kind < 3 && !status; kind++) {
      rf_index depth = 2 + draw % 3, shape[5];
      RfRandom random = rf_claim_random(run, (uint64_t)(draw * 3 + kind));
      RfLayeredNet net;
      memcpy(shape, widths, sizeof shape);
      shape[depth] = 1;
      status = kind == 0   ? rf_claim_dense(run->context, &net, shape, depth, 1)
               : kind == 1 ? rf_claim_diagonal(run->context, &net, 4, depth, 1)
                           : rf_claim_two_patches(run->context, &net, 1);
      if (status) break;
      status =
          layers_optimal(run, &net, &random, draw % 6 < 3 ? 1 : 1e-2, losses[(draw + kind) % 2], &arrived);
      rf_layers_free(&net);
      tried++;
    }
  if (status) return status;
  rf_claim_require(run, "starts that arrived", (3 * tried + 4) / 5);
  rf_claim_made(run, "starts that arrived", arrived),
      rf_claim_dropped(run, "starts that arrived", tried - arrived);
  rf_claim_note(run, "%lld of %lld starts arrived at a limit", (long long)arrived, (long long)tried);
  return RF_OK;
}
