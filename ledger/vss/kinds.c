/* Vardi, Shamir, Srebro, Theorem 2.1 (VSS-01): flows of networks of every kind end at KKT points. */
#include <math.h>
#include <string.h>

#include "kit/data.h"
#include "kit/networks.h"
#include "reluflow/certify.h"
#include "flow/flow.h"
#include "la/la.h"
#include "vss/vss.h"

static const RfLoss losses[] = {RF_LOSS_EXP, RF_LOSS_LOGISTIC};

/* ---- VSS-01: Theorem 2.1 ------------------------------------------------------------------------------ */

enum { n_kinds = 7, most_draws = 8 };

static const char *const kind_names[n_kinds] = {"dense linear, depth 2",
                                                "dense ReLU, depth 2",
                                                "dense linear, depth 3",
                                                "dense ReLU, depth 3",
                                                "diagonal, depth 2",
                                                "diagonal, depth 3",
                                                "shared"};

/* The kinds of the theorem: dense linear and ReLU of depth 2 and 3, diagonal linear and ReLU, shared. */
static RfStatus build_kind(RfContext *context, RfLayeredNet *net, int kind) {
  const rf_index two[] = {4, 4, 1}, three[] = {4, 4, 4, 1};
  switch (kind) {
  case 0: return rf_claim_dense(context, net, two, 2, 1);
  case 1: return rf_claim_dense(context, net, two, 2, 0);
  case 2: return rf_claim_dense(context, net, three, 3, 1);
  case 3: return rf_claim_dense(context, net, three, 3, 0);
  case 4: return rf_claim_diagonal(context, net, 4, 2, 1);
  case 5: return rf_claim_diagonal(context, net, 4, 3, 1);
  default: return rf_claim_two_patches(context, net, 1);
  }
}

/* On the way of fully connected linear networks: stationarity at smoothed margins 200 and 400, which falls at
 * least like smargin^{-1/D}, and how far the direction still turns. Elsewhere units that stop or start
 * growing make the way uneven (VSS-13), and only its end is judged. */
static RfStatus direction_converges(RfClaimRun *run, const RfLayeredNet *net, const double *X,
                                    const double *y, rf_index n, RfLoss loss) {
  enum { most = 64 };
  RfLayeredFlow flow = {0};
  double marks[] = {200, 400, 800}, at[3][most], residual[3], D = (double)net->n_layers;
  RfStatus status = rf_layered_flow_new(run->context, &flow, net, X, y, n, loss);
  flow.max_steps = 100000, flow.tolerance = 1e-10; /* 1e-8 leaves a ratio of residuals 6 percent off */
  for (int k = 0; k < 3 && !status; k++) {
    RfLayeredKkt kkt;
    status = rf_layered_flow_to_smargin(run->context, &flow, marks[k]);
    if (!status) status = rf_certify_layered_kkt(run->context, &kkt, &flow.net, X, y, n);
    if (status) break;
    residual[k] = kkt.stationarity;
    rf_layered_kkt_free(&kkt);
    for (rf_index p = 0; p < net->n_parameters; p++) at[k][p] = flow.net.theta[p] / flow.norm;
  }
  if (!status) {
    double first = 0, second = 0;
    for (rf_index p = 0; p < net->n_parameters; p++)
      first += pow(at[1][p] - at[0][p], 2), second += pow(at[2][p] - at[1][p], 2);
    rf_claim_at_most(run, "KKT residual at smoothed margin 400", residual[1], 0, 0.1);
    if (residual[1] > 1e-4)
      rf_claim_at_most(run, "its decay from 200 to 400", residual[1] / residual[0], pow(2, -1 / D) + 0.04, 0);
    if (second > 1e-16)
      rf_claim_at_most(run, "turning from 400 to 800 against 200 to 400", sqrt(second / first), 1, 0);
    rf_claim_true(run, "the norm grows", flow.norm > rf_la_norm(net->theta, net->n_parameters));
  }
  rf_layered_flow_free(&flow);
  return status == RF_UNDECIDED || status == RF_NOT_SEPARABLE ? RF_OK : status;
}

/* The end of the way, where the flow finds it: a KKT point. */
static RfStatus limit_is_kkt(RfClaimRun *run, const RfLayeredNet *net, const double *X, const double *y,
                             rf_index n, RfLoss loss, bool *arrived) {
  RfLayeredLimit limit = {0};
  RfStatus status = rf_claim_layered_limit(run, &limit, net, X, y, n, loss);
  if (!status && limit.outcome == RF_FLOW_CONVERGED) {
    rf_claim_at_most(run, "KKT residual at t = infinity", limit.stationarity, 0, 1e-8);
    rf_claim_true(run, "and the data are separated", limit.margin > 0);
    *arrived = true;
  }
  rf_layered_limit_free(&limit);
  return status;
}

/* ReLU of depth 2, by the flow that knows what its units do on kinks. */
static RfStatus relu_limit_is_kkt(RfClaimRun *run, const RfLayeredNet *net, const double *X, const double *y,
                                  rf_index n, RfLoss loss, bool *arrived) {
  const RfLayer *first = &net->layers[0];
  RfNet two = {.m = first->outputs, .d = first->inputs, .W = net->theta, .a = rf_layers_weights(net, 1)};
  RfFlowResult limit;
  RfStatus outcome = rf_claim_limit(run, &limit, &two, X, y, n, loss);
  if (outcome) return outcome < 0 ? outcome : RF_OK;
  rf_claim_at_most(run, "KKT residual of the ReLU limit", limit.limit.stationarity, 0, 1e-8);
  rf_flow_result_free(&limit);
  *arrived = true;
  return RF_OK;
}

/* One draw of data and start of a kind, followed to t = infinity. */
static RfStatus one_run(RfClaimRun *run, int kind, RfRandom *random, RfLoss loss, bool way, bool *arrived) {
  enum { n = 8, d = 4 };
  double X[n * d], y[n];
  RfLayeredNet net;
  rf_claim_separable(random, X, y, n, d);
  RfStatus status = build_kind(run->context, &net, kind);
  if (status) return status;
  rf_claim_gaussian_weights(random, &net, 0.1);
  if (way && (kind == 0 || kind == 2)) status = direction_converges(run, &net, X, y, n, loss);
  if (kind == 3) { /* positive samples of one label and a positive start, so that no unit dies */
    for (int k = 0; k < n * d; k++) X[k] = 0.2 + fabs(X[k]);
    for (int i = 0; i < n; i++) y[i] = 1;
    for (rf_index p = 0; p < net.n_parameters; p++) net.theta[p] = fabs(net.theta[p]);
  }
  if (!status) status = (kind == 1 ? relu_limit_is_kkt : limit_is_kkt)(run, &net, X, y, n, loss, arrived);
  rf_layers_free(&net);
  return status;
}

/* DS-V1 ... DS-V6: ReLU networks of three neurons from starts that separate, at L < Lsep. */
static RfStatus catalogue_limits(RfClaimRun *run) {
  static const char *const sets[] = {"DS-V1", "DS-V2", "DS-V3", "DS-V4", "DS-V5", "DS-V6"};
  enum { m = 4 };
  RfStatus status = RF_OK;
  rf_claim_require(run, "ReLU limits on DS-V1...V6", 10);
  for (int s = 0; s < 12 && !status; s++) {
    RfDataset data;
    RfRandom random = rf_claim_random(run, 900 + (uint64_t)s);
    double W[m * 4], a[m], q[4], least = -1;
    bool arrived = false;
    status = rf_claim_generate(run, &data, sets[s / 2]);
    if (status) break;
    RfNet net = {.m = m, .d = data.d, .W = W, .a = a};
    for (int draw = 0; draw < 1000 && !status && !(least > 0.05); draw++) {
      for (rf_index k = 0; k < m * data.d; k++) W[k] = rf_random_gaussian(&random);
      for (int k = 0; k < m; k++) a[k] = rf_random_gaussian(&random);
      status = rf_net_outputs(run->context, q, &net, data.X, data.n);
      least = INFINITY;
      for (rf_index i = 0; i < data.n; i++) least = fmin(least, data.y[i] * q[i]);
    }
    /* larger weights bring the loss below its threshold: n e^{-q} < ln 2 */
    double grow = sqrt(log(2. * (double)data.n / log(2)) / least);
    if (grow > 1) rf_la_scale(W, grow, m * data.d), rf_la_scale(a, grow, m);
    RfFlowResult limit;
    if (!status) status = rf_claim_limit(run, &limit, &net, data.X, data.y, data.n, losses[s % 2]);
    if (status == RF_OK) {
      arrived = limit.limit.outcome == RF_FLOW_CONVERGED;
      if (arrived) rf_claim_at_most(run, "KKT residual on DS-V", limit.limit.stationarity, 0, 1e-8);
      rf_flow_result_free(&limit);
    }
    if (status > 0 && status != RF_INTERRUPTED) status = RF_OK; /* undecided or branched */
    if (arrived)
      rf_claim_made(run, "ReLU limits on DS-V1...V6", 1);
    else
      rf_claim_dropped(run, "ReLU limits on DS-V1...V6", 1);
    rf_dataset_free(&data);
  }
  return status;
}

RfStatus rf_vss_01(RfClaimRun *run) {
  rf_index wanted = rf_claim_repetitions(run, 4);
  for (int kind = 0; kind < n_kinds; kind++) {
    rf_index made = 0;
    for (rf_index draw = 0; draw < most_draws * wanted && made < wanted; draw++) {
      RfRandom random = rf_claim_random(run, (uint64_t)(draw * n_kinds + kind));
      bool arrived = false;
      RfStatus status = one_run(run, kind, &random, losses[draw % 2], draw < wanted, &arrived);
      if (status) return status;
      made += arrived;
    }
    rf_claim_require(run, "kinds of networks", n_kinds);
    if (made >= wanted)
      rf_claim_made(run, "kinds of networks", 1);
    else
      rf_claim_note(run, "%s: %lld of %lld", kind_names[kind], (long long)made, (long long)wanted);
  }
  /* the printed threshold 1 also for the logistic loss: theta = 0 has loss ln 2 < 1 and never moves */
  RfLayeredNet zero;
  double gradient[4], weight = 0.5, x[] = {1, 0};
  const rf_index widths[] = {2, 1, 1};
  RfStatus status = catalogue_limits(run);
  if (status) return status;
  status = rf_claim_dense(run->context, &zero, widths, 2, 0);
  if (!status) status = rf_layers_gradient(run->context, gradient, NULL, &zero, x, &weight, 1);
  if (!status) rf_claim_true(run, "theta = 0 does not move", rf_la_norm(gradient, 3) == 0);
  rf_claim_misprint(run, "MP-VSS-02", "loss below which the data are separated (logistic, sum)", 1,
                    rf_loss_value(RF_LOSS_LOGISTIC, 0), rf_loss_value(RF_LOSS_LOGISTIC, 0),
                    rf_loss_value(RF_LOSS_LOGISTIC, 0) >= 1);
  rf_layers_free(&zero);
  return status ? status : rf_vss_01_threshold(run);
}
