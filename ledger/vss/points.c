/* Vardi, Shamir, Srebro: exact KKT points, witnesses that are feasible, near and shorter, and global optima.
 */
#include <math.h>
#include <string.h>

#include "kit/networks.h"
#include "kit/setting.h"
#include "reluflow/certify.h"
#include "flow/flow.h"
#include "la/la.h"
#include "reluflow/optimum.h"
#include "vss/vss.h"

/* J-CE for a two-layer network: witness feasible, at the stated distance, of the stated norm. */
static RfStatus judge_witness(RfClaimRun *run, const RfNet *point, const RfNet *witness, const double *X,
                              rf_index n, double radius, double norm2) {
  double q[16], y[16], distance2 = 0;
  for (rf_index i = 0; i < n; i++) y[i] = 1;
  RfStatus status = rf_net_outputs(run->context, q, witness, X, n);
  if (status) return status;
  for (rf_index i = 0; i < n; i++) rf_claim_at_least(run, "witness output", y[i] * q[i], 1, 1e-12);
  for (rf_index k = 0; k < point->m * point->d; k++) distance2 += pow(point->W[k] - witness->W[k], 2);
  for (rf_index k = 0; k < point->m; k++) distance2 += pow(point->a[k] - witness->a[k], 2);
  rf_claim_at_most(run, "distance of the witness", sqrt(distance2), radius, 1e-12);
  rf_claim_close(run, "squared norm of the witness", rf_net_norm2(witness), norm2, 1e-12);
  rf_claim_at_most(run, "the witness is shorter", rf_net_norm2(witness), rf_net_norm2(point), 0);
  return RF_OK;
}

static RfStatus judge_kkt(RfClaimRun *run, const RfNet *net, const double *X, const double *y, rf_index n,
                          const double *lambda) {
  RfKkt kkt;
  RfStatus status = rf_certify_kkt(run->context, &kkt, net, X, y, n);
  if (status < 0) return status;
  rf_claim_at_most(run, "stationarity", kkt.stationarity, 0, 1e-10);
  rf_claim_at_most(run, "complementarity", kkt.complementarity, 0, 1e-10);
  for (rf_index i = 0; i < n && lambda && kkt.lambda; i++)
    rf_claim_close(run, "multiplier", kkt.lambda[i], lambda[i], 1e-8);
  rf_kkt_free(&kkt);
  return RF_OK;
}

/* The global optimum of DS..., |theta|^2/2, with its proof. */
static RfStatus judge_optimum(RfClaimRun *run, const double *X, const double *y, rf_index n, rf_index d,
                              double value, double tolerance) {
  RfOptimumSettings settings;
  RfOptimum optimum;
  rf_optimum_settings_init(&settings);
  RfStatus status = rf_optimum_solve(run->context, &optimum, X, y, n, d, &settings);
  if (status < 0) return status;
  rf_claim_at_most(run, "certified gap", optimum.gap, 0, 1e-7);
  rf_claim_relative(run, "global optimum", optimum.objective, value, tolerance);
  rf_optimum_free(&optimum);
  return RF_OK;
}

static RfNet view(double *W, double *a, rf_index m) {
  return (RfNet){.m = m, .d = 2, .W = W, .a = a, .leak = 0};
}

static const RfLoss losses[] = {RF_LOSS_EXP, RF_LOSS_LOGISTIC};
static const double vee[] = {1, 0.25, -1, 0.25}, ones[] = {1, 1, 1, 1};

/* Theorem 3.2: w1 = (0,2), v1 = 2, w2 = 0, v2 = 0 is KKT with multipliers (2,2) and not a local optimum. */
RfStatus rf_vss_07(RfClaimRun *run) {
  double W[] = {0, 2, 0, 0}, a[] = {2, 0};
  const double lambda[] = {2, 2}, radii[] = {0.9, 0.1, 1e-2, 1e-3};
  RfNet point = view(W, a, 2);
  RfStatus status = judge_kkt(run, &point, vee, ones, 2, lambda);
  for (int k = 0; k < 4 && !status; k++) {
    double e = radii[k] * radii[k] / 9, root = sqrt(2 * e);
    double W2[] = {e / 2, 2 - 2 * e, -root, 0}, a2[] = {2, root};
    RfNet witness = view(W2, a2, 2);
    status = judge_witness(run, &point, &witness, vee, 2, radii[k], 8 - 4 * e + 17 * e * e / 4);
    double W3[] = {e / 2, 2 - 2 * e, root, 0}, q[2];
    RfNet printed = view(W3, a2, 2);
    if (!status) status = rf_net_outputs(run->context, q, &printed, vee, 2);
    if (!status && k == 1)
      rf_claim_misprint(run, "MP-VSS-01", "smallest margin of the witness at radius 0.1", fmin(q[0], q[1]), 1,
                        1, fmin(q[0], q[1]) >= 1 - 1e-12);
  }
  return status ? status : rf_vss_draw_witnesses(run);
}

/* Remark 3.1: |theta_KKT|/|theta_opt| = sqrt(sqrt(1+s^2)/(2s)) is unbounded as s -> 0. */
RfStatus rf_vss_09(RfClaimRun *run) {
  const double sizes[] = {0.25, 0.1, 0.05, 0.01};
  RfStatus status = RF_OK;
  for (int k = 0; k < 8 && !status; k++) { /* both losses */
    double s = sizes[k / 2], X[] = {1, s, -1, s}, ratio = sqrt(sqrt(1 + s * s) / (2 * s));
    double W[] = {s, 2, 0.3 * s, -1.5}, a[] = {0.7, 0.4};
    RfNet start = view(W, a, 2);
    RfFlowStart from;
    RfFlowResult flow;
    RfFlowSettings settings;
    RfOptimumSettings options;
    RfOptimum optimum;
    rf_flow_settings_init(&settings);
    settings.with_alignment = false;
    rf_optimum_settings_init(&options);
    status = rf_flow_start_from_net(run->context, &from, &start);
    if (status) break;
    RfFlowProblem problem = {.X = X, .y = ones, .n = 2, .d = 2, .loss = losses[k % 2], .start = &from};
    status = rf_claim_run_flow(run, &flow, &problem, &settings);
    if (!status) status = rf_optimum_solve(run->context, &optimum, X, ones, 2, 2, &options);
    if (!status) {
      double point = 1 / (2 * flow.limit.margin); /* |theta|^2/2 at min margin 1 */
      rf_claim_relative(run, "limit of the flow against 1/s", point, 1 / s, 1e-8);
      rf_claim_relative(run, "norm of the limit over the optimum", sqrt(point / optimum.objective), ratio,
                        1e-6);
      rf_claim_at_most(run, "certified gap", optimum.gap, 0, 1e-7);
      rf_optimum_free(&optimum);
    }
    rf_flow_result_free(&flow);
    rf_flow_start_free(&from);
  }
  return status ? status : rf_vss_draw_ratio(run);
}

static const double cross[] = {0, 1, 1, 0, 0, -1, -1, 0};

static void rotated(double *W, double e) {
  const double rows[] = {e, 1 - e, 1 - e, -e, -e, -1 + e, -1 + e, e};
  memcpy(W, rows, sizeof rows);
}

/* The dynamics, with phi'(0) = 0: w_i = alpha(t) x_i, v_i = alpha(t). */
static RfStatus symmetric_growth(RfClaimRun *run, RfLoss loss) {
  RfLayeredNet net = {0};
  RfLayeredFlow flow = {0};
  const rf_index widths[] = {2, 4, 1};
  RfStatus status = rf_claim_dense(run->context, &net, widths, 2, 0);
  if (!status) {
    for (int k = 0; k < 8; k++) net.theta[k] = 2 * cross[k];
    for (int k = 8; k < 12; k++) net.theta[k] = 2;
    status = rf_layered_flow_new(run->context, &flow, &net, cross, ones, 4, loss);
  }
  if (!status) status = rf_layered_flow_to_smargin(run->context, &flow, 200);
  for (int k = 0; k < 12 && !status; k++)
    rf_claim_close(run, "direction of the flow", flow.net.theta[k] / flow.net.theta[8], k < 8 ? cross[k] : 1,
                   1e-8);
  if (!status) rf_claim_true(run, "it grows", flow.norm > 4 * sqrt(2));
  rf_layered_flow_free(&flow);
  rf_layers_free(&net);
  return status;
}

/* Theorem 4.2 (2): four neurons on four axes grow alike; the limit is KKT, not a local optimum; optimum 4
 * sqrt 2. */
RfStatus rf_vss_14(RfClaimRun *run) {
  double W[8], a[] = {1, 1, 1, 1};
  memcpy(W, cross, sizeof W);
  RfNet point = view(W, a, 4);
  RfStatus status = judge_kkt(run, &point, cross, ones, 4, NULL);
  const double radii[] = {0.5, 0.1, 1e-3};
  for (int k = 0; k < 3 && !status; k++) {
    double e = radii[k] / (2 * sqrt(2)), W2[8];
    rotated(W2, e);
    RfNet witness = view(W2, a, 4);
    status = judge_witness(run, &point, &witness, cross, 4, radii[k], 8 + 8 * e * (e - 1));
  }
  if (!status) status = judge_optimum(run, cross, ones, 4, 2, 2 * sqrt(2), 1e-8);
  for (int k = 0; k < 2 && !status; k++) status = symmetric_growth(run, losses[k]);
  return status;
}

/* Theorem 5.3: at that point the first layer alone can be improved; the witness of VSS-14 keeps v. */
RfStatus rf_vss_20(RfClaimRun *run) {
  const double radii[] = {0.5, 0.1, 1e-2, 1e-3, 1e-4};
  double W[8], a[] = {1, 1, 1, 1};
  RfStatus status = RF_OK;
  memcpy(W, cross, sizeof W);
  for (int r = 0; r < 5 && !status; r++) {
    double W2[8], e = radii[r] / (2 * sqrt(2));
    rotated(W2, e);
    RfNet point = view(W, a, 4), witness = view(W2, a, 4);
    rf_claim_at_most(run, "first layer shorter", rf_la_dot(W2, W2, 8), rf_la_dot(W, W, 8), 0);
    status = judge_witness(run, &point, &witness, cross, 4, radii[r], 8 + 8 * e * (e - 1));
  }
  return status;
}

/* The limit of the start of Lemma C.6: (0,2), (0,-1) at |theta|^2 = 10, a local optimum by certificate. */
static RfStatus down_limit(RfClaimRun *run, const double *X, RfLoss loss) {
  double W[] = {0, 3, 0, -2}, a[] = {3, 2};
  const double want[] = {0, 2, 0, -1};
  RfNet start = view(W, a, 2);
  RfFlowResult flow;
  RfCertificate certificate;
  RfStatus status = rf_claim_limit(run, &flow, &start, X, ones, 3, loss);
  if (status) return status;
  rf_claim_close(run, "normalised margin of the limit", flow.limit.margin, 0.1, 1e-10);
  for (int k = 0; k < 4; k++)
    rf_claim_close(run, "limit weights", flow.limit.net.W[k] * sqrt(10), want[k], 1e-8);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++)
      rf_claim_true(run, "every hidden input is away from zero",
                    fabs(rf_la_dot(flow.limit.net.W + 2 * k, X + 2 * i, 2)) > 0.05);
  status = judge_kkt(run, &flow.limit.net, X, ones, 3, NULL);
  if (!status) status = rf_certify_net(run->context, &certificate, &flow.limit.net, X, ones, 3, NULL);
  if (!status) {
    rf_claim_true(run, "a local optimum", certificate.local == RF_VERDICT_OPTIMUM);
    rf_claim_true(run, "not a global one", certificate.global == RF_VERDICT_NOT_OPTIMUM);
    rf_certificate_free(&certificate);
  }
  rf_flow_result_free(&flow);
  return status;
}

/* Theorem 4.3 and Lemma C.6: the flow ends at a local optimum, |theta|^2 = 10, while 7.8125 is feasible. */
RfStatus rf_vss_16(RfClaimRun *run) {
  const double X[] = {1, 0.25, -1, 0.25, 0, -1};
  RfStatus status = RF_OK;
  for (int k = 0; k < 2 && !status; k++) status = down_limit(run, X, losses[k]);
  double length = sqrt(17) / 4, alpha = 2, beta = 1, q[3]; /* w1' = x1/(alpha |x1|), w2' = (-5/4,-1)/beta */
  double W2[] = {1 / (alpha * length), 0.25 / (alpha * length), -1.25 / beta, -1 / beta},
         a2[] = {alpha, beta};
  RfNet witness = view(W2, a2, 2);
  if (!status) status = rf_net_outputs(run->context, q, &witness, X, 3);
  if (!status) {
    rf_claim_close(run, "first output of the witness", q[0], sqrt(17) / 4, 1e-12);
    rf_claim_close(run, "second output of the witness", q[1], 1, 1e-12);
    rf_claim_close(run, "third output of the witness", q[2], 1, 1e-12);
    rf_claim_close(run, "squared norm of the witness", rf_net_norm2(&witness), 7.8125, 1e-12);
    status = judge_optimum(run, X, ones, 3, 2, 1 / (2 * 0.203069), 1e-5);
  }
  return status;
}
