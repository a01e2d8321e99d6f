/* Claims of Vardi, Shamir, Srebro: On margin maximization in linear and ReLU networks. */
#include <math.h>
#include <string.h>

#include "kit/claims_internal.h"
#include "kit/networks.h"
#include "flow/flow.h"
#include "la/la.h"
#include "vss/vss.h"

#define VSS "Vardi, Shamir, Srebro"

/* ---- VSS-02: Lemmas C.1, C.2 --------------------------------------------------------------- */

static double square(const double *x, rf_index n) { return rf_la_dot(x, x, n); }

/* Incoming squares minus outgoing squares of every hidden unit of a dense net, as they stand. */
static void unit_differences(double *out, const RfLayeredNet *net) {
  for (rf_index l = 0; l + 1 < net->n_layers; l++) {
    const RfLayer *in = &net->layers[l], *next = &net->layers[l + 1];
    const double *w = rf_layers_weights(net, l), *v = rf_layers_weights(net, l + 1);
    for (rf_index k = 0; k < in->outputs; k++) {
      double outgoing = 0;
      for (rf_index o = 0; o < next->outputs; o++)
        outgoing += v[o * next->inputs + k] * v[o * next->inputs + k];
      *out++ = square(w + k * in->inputs, in->inputs) - outgoing;
    }
  }
}

/* One run to t = 20 from weights of order 1; the largest drift relative to |theta|^2. */
static RfStatus conservation(RfClaimRun *run, const RfLayeredNet *net, RfRandom *random, RfLoss loss,
                             bool dense) {
  enum { n = 8, most = 64 };
  double X[n * 4], y[n], before[most], after[most];
  rf_index d = rf_layers_inputs(net), units = 0;
  for (int i = 0; i < n; i++) {
    y[i] = i % 2 ? 1 : -1;
    for (rf_index j = 0; j < d; j++) X[i * d + j] = 0.4 * rf_random_gaussian(random) + (j == 0 ? y[i] : 0);
  }
  RfLayeredFlow flow;
  RfStatus status = rf_layered_flow_new(run->context, &flow, net, X, y, n, loss);
  if (status) return status;
  flow.tolerance = 1e-11;
  flow.max_steps = 4000; /* most take 500; one that comes to no end is dropped, and counted */
  if (dense) unit_differences(before, &flow.net), units = rf_layers_hidden(net);
  status = rf_layered_flow_to_time(run->context, &flow, 20);
  if (dense) unit_differences(after, &flow.net);
  double scale = flow.norm * flow.norm, drift = flow.drift;
  for (rf_index k = 0; k < units; k++) drift = fmax(drift, fabs(after[k] - before[k]) / scale);
  if (status == RF_OK) {
    rf_claim_at_most(run, "drift of the conserved differences", drift, 0, 1e-7);
    rf_claim_made(run, "runs to t = 20", 1);
  } else {
    rf_claim_dropped(run, "runs to t = 20", 1);
  }
  rf_layered_flow_free(&flow);
  return status == RF_UNDECIDED ? RF_OK : status;
}

/* Any loss, the squared one here, at any state: with slopes r_i the layers' <u, gradient> agree, and of every
 * unit of a dense net those of its incoming and outgoing weights; so d/dt of the differences is 0. */
static RfStatus squared_loss(RfClaimRun *run, const RfLayeredNet *net, RfRandom *random, bool dense) {
  enum { n = 8, most = 64 };
  double X[n * 4], r[n], gradient[most], before = NAN, scale = 0;
  for (rf_index k = 0; k < n * rf_layers_inputs(net); k++) X[k] = rf_random_gaussian(random);
  RfStatus status = rf_layers_evaluate(run->context, r, NULL, net, X, n);
  for (int i = 0; i < n; i++) r[i] = 2 * (r[i] - rf_random_sign(random));
  if (!status) status = rf_layers_gradient(run->context, gradient, NULL, net, X, r, n);
  for (rf_index l = 0; l < net->n_layers && !status; l++) {
    const RfLayer *layer = &net->layers[l];
    const double *w = rf_layers_weights(net, l);
    double along = rf_la_dot(w, gradient + layer->offset, layer->parameters);
    scale = fmax(scale,
                 rf_la_norm(w, layer->parameters) * rf_la_norm(gradient + layer->offset, layer->parameters));
    if (l > 0) rf_claim_close(run, "squared loss: <u, gradient> of two layers", along, before, 1e-10 * scale);
    before = along;
    if (!dense || l + 1 == net->n_layers) continue;
    const RfLayer *next = &net->layers[l + 1];
    for (rf_index k = 0; k < layer->outputs; k++) {
      double in = rf_la_dot(w + k * layer->inputs, gradient + layer->offset + k * layer->inputs,
                            layer->inputs),
             out = 0;
      for (rf_index o = 0; o < next->outputs; o++)
        out += rf_layers_weights(net, l + 1)[o * next->inputs + k] *
               gradient[next->offset + o * next->inputs + k];
      rf_claim_close(run, "squared loss: <u, gradient> of a unit, incoming and outgoing", in, out,
                     1e-10 * fmax(1, scale));
    }
  }
  return status;
}

static RfStatus check_02(RfClaimRun *run) {
  const rf_index widths[] = {4, 5, 4, 3, 1};
  rf_index draws = rf_claim_repetitions(run, 6);
  for (rf_index draw = 0; draw < draws; draw++) {
    RfRandom random = rf_claim_random(run, (uint64_t)draw);
    for (int kind = 0; kind < 6; kind++) {
      RfLayeredNet net;
      double leak = kind % 2 ? 0 : 1;
      rf_index shape[5];
      rf_index depth = 2 + draw % 3;
      memcpy(shape, widths, sizeof shape);
      shape[depth] = 1;
      RfStatus status = kind < 2   ? rf_claim_dense(run->context, &net, shape, depth, leak)
                        : kind < 4 ? rf_claim_diagonal(run->context, &net, 4, depth, leak)
                                   : rf_claim_two_patches(run->context, &net, leak);
      if (status) return status;
      rf_claim_gaussian_weights(&random, &net, 0.6);
      status = conservation(run, &net, &random, RF_LOSS_EXP, kind < 2);
      if (!status) status = conservation(run, &net, &random, RF_LOSS_LOGISTIC, kind < 2);
      if (!status) status = squared_loss(run, &net, &random, kind < 2);
      rf_layers_free(&net);
      if (status) return status;
    }
  }
  rf_claim_require(run, "runs to t = 20", 10 * draws);
  rf_claim_note(run, "dense, diagonal and shared nets, depth 2-4, exponential and logistic loss; the squared "
                     "loss through the identity of layer and unit gradients");
  return RF_OK;
}

/* ---- VSS-04: Lemma C.5 --------------------------------------------------------------------- */

static RfStatus check_04(RfClaimRun *run) {
  RfRandom random = rf_claim_random(run, 0);
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 100000); draw++) {
    int m = 2 + (int)(draw % 5);
    double product = 1, sum = 0, stretch = 1 + rf_random_uniform(&random);
    for (int j = 0; j < m; j++) {
      double a = rf_random_gaussian(&random);
      product *= fabs(a), sum += a * a;
    }
    double C = pow(product / stretch, 1.0 / m); /* the product exceeds C^m by the factor `stretch` */
    rf_claim_at_least(run, "sum of squares against m C^2", sum / (m * C * C), 1, 1e-9);
    double equal = exp(rf_random_gaussian(&random)), root = pow(pow(equal, m), 1.0 / m);
    rf_claim_relative(run, "equality for equal entries", m * equal * equal, m * root * root, 1e-10);
  }
  return RF_OK;
}

/* ---- VSS-08: the hypotheses of Theorem 3.2 have constant probability ----------------------- */

/* DS-V1: x1 = (1,1/4), x2 = (-1,1/4). Hypotheses on a Gaussian start: w1 sees both samples with positive
 * input, w2 neither, and v1 > 0. The cone of both is 2 arctan(1/4) wide. */
static RfStatus check_08(RfClaimRun *run) {
  RfRandom random = rf_claim_random(run, 0);
  rf_index N = rf_claim_repetitions(run, 1000000), hits = 0, either = 0;
  for (rf_index draw = 0; draw < N; draw++) {
    double w[4], v[2];
    bool both[2], none[2];
    for (int k = 0; k < 4; k++) w[k] = rf_random_gaussian(&random);
    for (int k = 0; k < 2; k++) {
      v[k] = rf_random_gaussian(&random);
      double left = w[2 * k] + 0.25 * w[2 * k + 1], right = -w[2 * k] + 0.25 * w[2 * k + 1];
      both[k] = left > 0 && right > 0, none[k] = left < 0 && right < 0;
    }
    bool fixed = both[0] && none[1] && v[0] > 0, swapped = both[1] && none[0] && v[1] > 0;
    hits += fixed, either += fixed || swapped;
  }
  double share = atan(0.25) / acos(-1.0), p = 0.5 * share * share;
  rf_claim_probability(run, "share of starts that satisfy the hypotheses", hits, N, p, true);
  rf_claim_probability(run, "share with the two neurons in either role", either, N, 2 * p, true);
  rf_claim_note(run, "%lld of %lld starts; 1/2 (arctan(1/4)/pi)^2 = %.7f", (long long)hits, (long long)N, p);
  return RF_OK;
}

static const RfClaim claims[] = {
    {"VSS-01", VSS, "Theorem 2.1",
     "from a small loss the flow goes to infinity in the direction of a KKT point", RF_CLAIM_LIMIT,
     RF_CLAIM_NORMAL, rf_vss_01},
    {"VSS-02", VSS, "Lemmas C.1, C.2",
     "gradient flow conserves the differences of squared layer and unit norms", RF_CLAIM_IDENTITY,
     RF_CLAIM_QUICK, check_02},
    {"VSS-03", VSS, "Lemmas C.3, C.4", "hidden units become balanced, also those that stop growing",
     RF_CLAIM_IDENTITY, RF_CLAIM_NORMAL, rf_vss_03},
    {"VSS-04", VSS, "Lemma C.5", "if a product is at least C^m, the sum of squares is at least m C^2",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, check_04},
    {"VSS-05", VSS, "Theorem 3.1",
     "deep linear networks converge to the global optimum, rank one along the max-margin vector",
     RF_CLAIM_LIMIT, RF_CLAIM_NORMAL, rf_vss_05},
    {"VSS-06", VSS, "Theorem 3.2",
     "from an open set of starts one neuron never moves and the other turns to (0,1)", RF_CLAIM_LIMIT,
     RF_CLAIM_QUICK, rf_vss_06},
    {"VSS-07", VSS, "Theorem 3.2, C.3", "that limit is a KKT point and not a local optimum",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_vss_07},
    {"VSS-08", VSS, "Theorem 3.2", "a Gaussian start satisfies the hypotheses with constant probability",
     RF_CLAIM_PROBABILITY, RF_CLAIM_QUICK, check_08},
    {"VSS-09", VSS, "Remark 3.1", "the limit can be longer than the optimum by any factor",
     RF_CLAIM_CONSTRUCTION, RF_CLAIM_QUICK, rf_vss_09},
    {"VSS-10", VSS, "Remark 3.2", "the counter-examples survive perturbed inputs", RF_CLAIM_COUNTER_EXAMPLE,
     RF_CLAIM_NORMAL, rf_vss_10},
    {"VSS-11", VSS, "Theorem 4.1",
     "diagonal networks of depth 2 can converge to a point that is not a local optimum",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_vss_11},
    {"VSS-12", VSS, "Theorem 4.2 (1)",
     "sparse linear networks of depth 2 without zero weights reach the global optimum", RF_CLAIM_LIMIT,
     RF_CLAIM_NORMAL, rf_vss_12},
    {"VSS-13", VSS, "Remark 4.1",
     "the l1 optimum is reached from non-zero starts, missed from zero ones, and can be slow",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_vss_13},
    {"VSS-14", VSS, "Theorem 4.2 (2)",
     "without zero neurons a ReLU limit can still fail to be a local optimum", RF_CLAIM_COUNTER_EXAMPLE,
     RF_CLAIM_QUICK, rf_vss_14},
    {"VSS-15", VSS, "Theorem 4.3", "ReLU limits with non-zero inputs are local optima", RF_CLAIM_LIMIT,
     RF_CLAIM_NORMAL, rf_vss_15},
    {"VSS-16", VSS, "Theorem 4.3, Lemma C.6", "with non-zero inputs the limit is local, but not global",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_vss_16},
    {"VSS-17", VSS, "Theorem 4.4", "shared weights: the limit is not a local optimum",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_vss_17},
    {"VSS-18", VSS, "Theorem 5.1", "depth 3 and more: the limit of a diagonal network is not a local optimum",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_vss_18},
    {"VSS-19", VSS, "Theorem 5.2", "every layer of a linear network solves its own max-margin problem",
     RF_CLAIM_LIMIT, RF_CLAIM_NORMAL, rf_vss_19},
    {"VSS-20", VSS, "Theorem 5.3", "with ReLU a layer need not be a local optimum of its own problem",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_vss_20},
    {"VSS-21", VSS, "Theorem 5.4",
     "with non-zero inputs from a layer on, that layer is a local optimum of its own problem", RF_CLAIM_LIMIT,
     RF_CLAIM_NORMAL, rf_vss_21},
    {"VSS-22", VSS, "Tables 1, 2", "both tables of the paper, every cell from a computed verdict",
     RF_CLAIM_TABLE, RF_CLAIM_NORMAL, rf_vss_22},
    {"VSS-23", VSS, "Figure 1", "u1 grows and turns to (0,1), u2 stays where it is", RF_CLAIM_FIGURE,
     RF_CLAIM_QUICK, rf_vss_23},
};
const RfClaimTable rf_claims_vss = {claims, sizeof claims / sizeof claims[0]};
