/* Vardi, Shamir, Srebro: ReLU limits with non-zero inputs (VSS-15, VSS-21), the tables (VSS-22) and the
 * figure (VSS-23). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "core/core.h"
#include "kit/networks.h"
#include "reluflow/certify.h"
#include "la/la.h"
#include "margin/margin.h"
#include "reluflow/train.h"
#include "vss/vss.h"

/* ---- limits with non-zero inputs ----------------------------------------------------------------------- */

enum { most_n = 10, most_d = 3, width = 4 };

static const RfLoss losses[] = {RF_LOSS_EXP, RF_LOSS_LOGISTIC};
static const char *const kinds[] = {"limits on DS-PL2/3", "limits on DS-V4", "limits on DS-SEP",
                                    "limits on orthogonally separable data"};

typedef struct Limit {
  double X[most_n * most_d], y[most_n];
  rf_index n, d;
  RfFlowResult flow; /* polished */
} Limit;

static void points(Limit *l, const double *X, const double *y, rf_index n, rf_index d) {
  memcpy(l->X, X, (size_t)(n * d) * sizeof *X), memcpy(l->y, y, (size_t)n * sizeof *y);
  l->n = n, l->d = d;
}

/* Data of draw k: DS-PL2/3, DS-V4, DS-SEP(8,3), orthogonally separable pairs. */
static void draw_data(Limit *l, RfRandom *random, int k) {
  const double pl[] = {2 / 3.0, 1 / 3.0, 1 / 3.0, 2 / 3.0, 1, 1, -1, 1 / 3.0, -1 / 3.0, -2 / 3.0},
               pl_y[] = {1, 1, 1, -1, -1}, v4[] = {1, 0.25, -1, 0.25, 0, -1}, v4_y[] = {1, 1, 1};
  double X[most_n * most_d], y[most_n];
  if (k == 0) {
    points(l, pl, pl_y, 5, 2);
  } else if (k == 1) {
    points(l, v4, v4_y, 3, 2);
  } else if (k == 2) {
    rf_claim_separable(random, X, y, 8, 3);
    points(l, X, y, 8, 3);
  } else {
    for (int i = 0; i < 6; i++) {
      y[i] = i % 2 ? 1 : -1;
      for (int j = 0; j < 3; j++) X[3 * i + j] = y[i] * ((j == 0) + 0.5 * rf_random_uniform(random));
    }
    points(l, X, y, 6, 3);
  }
}

/* The smallest |w_k.x_i| / (|w_k||x_i|); 0 when a neuron is zero. */
static double nearest_kink(const Limit *l) {
  const RfNet *net = &l->flow.limit.net;
  double nearest = INFINITY;
  for (rf_index k = 0; k < net->m; k++)
    for (rf_index i = 0; i < l->n; i++) {
      const double *w = net->W + k * net->d, *x = l->X + i * l->d;
      double size = rf_la_norm(w, l->d) * rf_la_norm(x, l->d);
      nearest = fmin(nearest, rf_la_norm(w, l->d) > 1e-6 ? fabs(rf_la_dot(w, x, l->d)) / size : 0);
    }
  return nearest;
}

/* A polished limit with every hidden input away from zero; *found is false when this start gives none. */
static RfStatus smooth_limit(RfClaimRun *run, Limit *l, RfRandom *random, int kind, RfLoss loss,
                             bool *found) {
  double W[width * most_d], a[width];
  draw_data(l, random, kind);
  rf_index m = 2 + rf_random_below(random, 2);
  for (rf_index k = 0; k < m;
       k++) { /* half of the starts lean to the class sums, so that fewer neurons die */
    double sign = l->y[rf_random_below(random, l->n)];
    for (rf_index j = 0; j < l->d; j++) {
      double sum = 0;
      for (rf_index i = 0; i < l->n; i++) sum += l->y[i] == sign ? l->X[i * l->d + j] : 0;
      W[k * l->d + j] = rf_random_gaussian(random) + sum;
    }
    a[k] = sign * rf_la_norm(W + k * l->d, l->d);
  }
  if (kind == 1) {
    const double start[] = {0, 3, 0, -2}, top[] = {3, 2};
    m = 2;
    memcpy(W, start, sizeof start), memcpy(a, top, sizeof top);
    for (int k = 0; k < 4; k++) W[k] += 0.05 * rf_random_gaussian(random);
  }
  RfNet net = {.m = m, .d = l->d, .W = W, .a = a};
  RfStatus status = rf_claim_limit(run, &l->flow, &net, l->X, l->y, l->n, loss);
  *found = !status && l->flow.limit.outcome == RF_FLOW_CONVERGED && nearest_kink(l) > 1e-4;
  if (!status && !*found) rf_flow_result_free(&l->flow);
  return status > 0 ? RF_OK : status; /* undecided or branched: another start */
}

/* ---- VSS-15: Theorem 4.3 ------------------------------------------------------------------------------- */

/* The activation-frozen program (11): min sum_j |u_j| s.t. y_i sum_j s_ij <u_j, x_i> >= 1. Its dual bound
 * from the multipliers of the KKT point. */
static double frozen_gap(const Limit *l, const RfKkt *kkt) {
  const RfNet *net = &l->flow.limit.net;
  double worst = 0, sum = 0;
  for (rf_index i = 0; i < l->n; i++) sum += kkt->lambda[i];
  for (rf_index k = 0; k < net->m; k++) {
    double dual[most_d] = {0};
    for (rf_index i = 0; i < l->n; i++)
      if (rf_la_dot(net->W + k * l->d, l->X + i * l->d, l->d) > 0)
        rf_la_axpy(dual, kkt->lambda[i] * l->y[i], l->X + i * l->d, l->d);
    worst = fmax(worst, rf_la_norm(dual, l->d));
  }
  return 1 - sum / fmax(worst, 1) / kkt->objective;
}

/* Random nets in the ball of half the distance to the nearest kink: none has a larger normalised margin. */
static RfStatus ball_test(RfClaimRun *run, const Limit *l, RfRandom *random, double distance) {
  const RfNet *net = &l->flow.limit.net;
  double W[width * most_d], a[width], least = INFINITY;
  for (rf_index k = 0; k < net->m; k++) least = fmin(least, rf_la_norm(net->W + k * l->d, l->d));
  double size = 0.5 * distance * least;
  rf_index parameters = net->m * (l->d + 1), samples = rf_claim_repetitions(run, 100000);
  for (rf_index s = 0; s < samples; s++) {
    double step[width * (most_d + 1)], margin;
    rf_random_direction(random, step, parameters);
    double r = size * pow(rf_random_uniform(random), s % 2 ? 1 : 8); /* also very close */
    for (rf_index k = 0; k < net->m * l->d; k++) W[k] = net->W[k] + r * step[k];
    for (rf_index k = 0; k < net->m; k++) a[k] = net->a[k] + r * step[net->m * l->d + k];
    RfNet moved = {.m = net->m, .d = l->d, .W = W, .a = a};
    RfStatus status = rf_net_margin(run->context, &margin, NULL, &moved, l->X, l->y, l->n);
    if (status) return status;
    rf_claim_at_most(run, "margin of a net in the ball", margin, l->flow.limit.margin,
                     1e-9 * l->flow.limit.margin);
  }
  return RF_OK;
}

/* The same by search: ascent of the softly smallest margin over |theta|^2 inside the ball, from points in it.
 * The gain is judged at every step. */
static RfStatus ascent_test(RfClaimRun *run, const Limit *l, RfRandom *random, double distance) {
  const RfNet *net = &l->flow.limit.net;
  RfLayeredNet moved;
  double q[most_n], gradient[width * (most_d + 1)], centre[width * (most_d + 1)], least = INFINITY;
  for (rf_index k = 0; k < net->m; k++) least = fmin(least, rf_la_norm(net->W + k * l->d, l->d));
  double size = 0.5 * distance * least, best = 0;
  RfStatus status = rf_train_from_net(run->context, &moved, net);
  if (status) return status;
  rf_index P = moved.n_parameters;
  memcpy(centre, moved.theta, (size_t)P * sizeof *centre);
  for (int start = 0; start < 4 && !status; start++) {
    double step[width * (most_d + 1)];
    rf_random_direction(random, step, P);
    for (rf_index p = 0; p < P; p++) moved.theta[p] = centre[p] + size * step[p];
    for (int k = 1; k <= 200 && !status; k++) {
      double norm2 = rf_la_dot(moved.theta, moved.theta, P), margin = INFINITY, total = 0, r[most_n], far = 0;
      status = rf_layers_evaluate(run->context, q, NULL, &moved, l->X, l->n);
      for (rf_index i = 0; i < l->n; i++) margin = fmin(margin, l->y[i] * q[i]);
      best = fmax(best, margin / norm2);
      for (rf_index i = 0; i < l->n; i++)
        r[i] = exp(-200 * k * (l->y[i] * q[i] - margin) / margin), total += r[i];
      for (rf_index i = 0; i < l->n; i++) r[i] *= l->y[i] / total;
      if (!status) status = rf_layers_gradient(run->context, gradient, NULL, &moved, l->X, r, l->n);
      for (rf_index p = 0; p < P; p++) gradient[p] -= 2 * margin / norm2 * moved.theta[p];
      double slope = rf_la_norm(gradient, P);
      if (slope > 0) rf_la_axpy(moved.theta, size / (k * slope), gradient, P);
      for (rf_index p = 0; p < P; p++) far += pow(moved.theta[p] - centre[p], 2);
      for (rf_index p = 0; p < P && far > size * size; p++) /* back onto the ball */
        moved.theta[p] = centre[p] + (moved.theta[p] - centre[p]) * size / sqrt(far);
    }
  }
  rf_layers_free(&moved);
  if (!status)
    rf_claim_at_most(run, "margin found by ascent in the ball", best, l->flow.limit.margin,
                     1e-9 * l->flow.limit.margin);
  return status;
}

static RfStatus judge_local(RfClaimRun *run, Limit *l, RfRandom *random) {
  RfCertifySettings settings;
  RfCertificate c;
  rf_certify_settings_init(&settings);
  settings.global = false;
  RfStatus status = rf_certify_net(run->context, &c, &l->flow.limit.net, l->X, l->y, l->n, &settings);
  if (status) return status;
  rf_claim_at_most(run, "KKT residual of the polished limit", c.kkt.stationarity, 0, 1e-10);
  rf_claim_at_most(run, "gap of the frozen program", frozen_gap(l, &c.kkt), 0, 1e-7);
  rf_claim_true(run, "certified as a local optimum", c.local == RF_VERDICT_OPTIMUM);
  rf_certificate_free(&c);
  status = ball_test(run, l, random, nearest_kink(l));
  return status ? status : ascent_test(run, l, random, nearest_kink(l));
}

RfStatus rf_vss_15(RfClaimRun *run) {
  rf_index wanted = rf_claim_repetitions(run, 2);
  for (int kind = 0; kind < 4; kind++)
    for (int loss = 0; loss < 2; loss++) {
      rf_index kept = 0;
      for (rf_index draw = 0; draw < 40 * wanted && kept < wanted; draw++) {
        Limit l;
        bool found;
        RfRandom random = rf_claim_random(run, (uint64_t)(10000 * kind + 1000 * loss + draw));
        RfStatus status = smooth_limit(run, &l, &random, kind, losses[loss], &found);
        if (!status && found) {
          status = judge_local(run, &l, &random);
          rf_flow_result_free(&l.flow);
          kept++;
        } else {
          rf_claim_dropped(run, kinds[kind], 1);
        }
        if (status) return status;
      }
      rf_claim_require(run, kinds[kind], 2 * wanted), rf_claim_made(run, kinds[kind], kept);
    }
  return RF_OK;
}

/* ---- VSS-21: Theorem 5.4 ------------------------------------------------------------------------------- */

/* Smallest |input| of a hidden unit over the norms that make it: how far its layer can move before it meets a
 * kink. */
static RfStatus kink_distance(RfClaimRun *run, double *distance, const RfLayeredNet *net, const double *X,
                              rf_index n, rf_index layer) {
  enum { most_hidden = 64 };
  double out[most_n], Z[most_n * most_hidden], size = 0;
  rf_index hidden = rf_layers_hidden(net), at = 0;
  RfStatus status = rf_layers_evaluate(run->context, out, Z, net, X, n);
  *distance = INFINITY;
  for (rf_index l = 0; l < layer; l++) at += net->layers[l].outputs;
  for (rf_index i = 0; i < n && !status; i++) {
    for (rf_index k = at; k < hidden; k++) *distance = fmin(*distance, fabs(Z[i * hidden + k]));
    size = fmax(size, rf_la_norm(X + i * rf_layers_inputs(net), rf_layers_inputs(net)));
  }
  for (rf_index l = 0; l + 1 < net->n_layers; l++) /* a move of one layer goes through the others */
    if (l != layer) size *= fmax(1, rf_la_norm(rf_layers_weights(net, l), net->layers[l].parameters));
  *distance /= size;
  return status;
}

/* The ball test of (Player_l): with the other layers kept, no layer within half of that distance separates
 * with a larger margin for its norm. */
static RfStatus layer_ball(RfClaimRun *run, RfLayeredNet *net, rf_index layer, const double *X,
                           const double *y, rf_index n, RfRandom *random) {
  enum { most_weights = 64 };
  double centre[most_weights], step[most_weights], q[most_n], distance = 0, here = INFINITY;
  double *w = rf_layers_weights(net, layer);
  rf_index P = net->layers[layer].parameters;
  RfStatus status = rf_layers_evaluate(run->context, q, NULL, net, X, n);
  for (rf_index i = 0; i < n && !status; i++) here = fmin(here, y[i] * q[i]);
  memcpy(centre, w, (size_t)P * sizeof *w);
  here /= rf_la_norm(centre, P);
  if (!status) status = kink_distance(run, &distance, net, X, n, layer);
  if (!isfinite(distance)) distance = rf_la_norm(centre, P); /* the last layer meets no kink */
  for (rf_index s = 0; s < rf_claim_repetitions(run, 2000) && !status; s++) {
    double margin = INFINITY, r = 0.5 * distance * pow(rf_random_uniform(random), s % 2 ? 1 : 6);
    rf_random_direction(random, step, P);
    for (rf_index p = 0; p < P; p++) w[p] = centre[p] + r * step[p];
    status = rf_layers_evaluate(run->context, q, NULL, net, X, n);
    for (rf_index i = 0; i < n; i++) margin = fmin(margin, y[i] * q[i]);
    rf_claim_at_most(run, "margin of a layer in the ball over its norm", margin / rf_la_norm(w, P), here,
                     1e-9 * here);
  }
  memcpy(w, centre, (size_t)P * sizeof *w);
  return status;
}

/* Every layer of a polished two-layer limit. */
static RfStatus layers_of_limit(RfClaimRun *run, const Limit *l, RfRandom *random) {
  RfLayeredNet net;
  RfLayerVerdict verdicts[2];
  RfStatus status = rf_train_from_net(run->context, &net, &l->flow.limit.net);
  if (status) return status;
  status = rf_certify_each_layer(run->context, verdicts, &net, l->X, l->y, l->n);
  for (int k = 0; k < 2 && !status; k++) {
    rf_claim_at_most(run, "depth 2: gap of a layer", verdicts[k].gap, 0, 1e-7);
    rf_claim_true(run, "depth 2: layer certified", verdicts[k].verdict == RF_VERDICT_OPTIMUM);
    status = layer_ball(run, &net, k, l->X, l->y, l->n, random);
  }
  rf_layers_free(&net);
  return status;
}

/* Depth 3, at t = infinity: layers whose later inputs are all away from zero. With both labels every unit of
 * a later layer stops growing on the samples of the other class, so that its inputs go to zero there;
 * positive samples of one label and a positive start keep all of them away from it. */
static RfStatus deep_layers(RfClaimRun *run, RfRandom *random, RfLoss loss, rf_index *kept) {
  enum { n = 6, d = 3 };
  static const char *const names[] = {"depth 3: layers 1", "depth 3: layers 2", "depth 3: layers 3"};
  const rf_index widths[] = {d, 3, 2, 1};
  double X[n * d], y[n];
  RfLayeredNet net;
  RfLayeredLimit limit = {0};
  RfLayerVerdict verdicts[3];
  RfStatus status = rf_claim_dense(run->context, &net, widths, 3, 0);
  if (status) return status;
  rf_claim_gaussian_weights(random, &net, 0.7);
  for (rf_index p = 0; p < net.n_parameters; p++) net.theta[p] = fabs(net.theta[p]);
  for (int k = 0; k < n * d; k++) X[k] = 0.2 + rf_random_uniform(random);
  for (int i = 0; i < n; i++) y[i] = 1;
  status = rf_claim_layered_limit(run, &limit, &net, X, y, n, loss);
  bool settled = !status && limit.outcome == RF_FLOW_CONVERGED;
  if (settled) status = rf_certify_each_layer(run->context, verdicts, &limit.net, X, y, n);
  for (int k = 0; k < 3 && !status; k++) {
    if (!settled || verdicts[k].verdict == RF_VERDICT_UNKNOWN) {
      rf_claim_dropped(run, names[k], 1);
      continue;
    }
    rf_claim_at_most(run, "depth 3: gap of a layer", verdicts[k].gap, 0, 1e-7);
    rf_claim_true(run, "depth 3: layer certified", verdicts[k].verdict == RF_VERDICT_OPTIMUM);
    status = layer_ball(run, &limit.net, k, X, y, n, random);
    rf_claim_made(run, names[k], 1), kept[k]++;
  }
  for (int k = 0; k < 3; k++) rf_claim_require(run, names[k], rf_claim_repetitions(run, 4));
  rf_layered_limit_free(&limit);
  rf_layers_free(&net);
  return status;
}

RfStatus rf_vss_21(RfClaimRun *run) {
  rf_index kept[2] = {0}, deep[3] = {0}, wanted = rf_claim_repetitions(run, 8);
  for (int loss = 0; loss < 2; loss++)
    for (rf_index draw = 0; draw < 40 * wanted && kept[loss] < wanted; draw++) {
      Limit l;
      bool found;
      RfRandom random = rf_claim_random(run, (uint64_t)(1000 * loss + draw));
      RfStatus status = smooth_limit(run, &l, &random, (int)(draw % 4), losses[loss], &found);
      if (!status && found) {
        status = layers_of_limit(run, &l, &random);
        rf_flow_result_free(&l.flow);
        kept[loss]++;
      } else {
        rf_claim_dropped(run, "limits of depth 2", 1);
      }
      if (status) return status;
    }
  rf_claim_require(run, "limits of depth 2", 2 * wanted);
  rf_claim_made(run, "limits of depth 2", kept[0] + kept[1]);
  for (rf_index draw = 0; draw < wanted; draw++) {
    RfRandom random = rf_claim_random(run, (uint64_t)(10000 + draw));
    RfStatus status = deep_layers(run, &random, losses[draw % 2], deep);
    if (status) return status;
  }
  /* Lemma C.6: with v = (2,1) kept, the first layer (0,2),(0,-1) is not the shortest */
  const double X[] = {1, 0.25, -1, 0.25, 0, -1};
  double length = sqrt(17) / 4, W[] = {0.5 / length, 0.125 / length, -1.25, -1}, a[] = {2, 1}, q[3];
  RfNet witness = {.m = 2, .d = 2, .W = W, .a = a};
  RfStatus status = rf_net_outputs(run->context, q, &witness, X, 3);
  for (int i = 0; i < 3 && !status; i++) rf_claim_at_least(run, "C.6 witness: output", q[i], 1, 1e-12);
  rf_claim_at_most(run, "C.6 witness: first layer shorter than 5", rf_la_dot(W, W, 4), 5, 0);
  rf_claim_note(
      run, "%lld limits of depth 2; depth 3: %lld, %lld, %lld layers 1, 2, 3 with non-zero inputs after",
      (long long)kept[0] + (long long)kept[1], (long long)deep[0], (long long)deep[1], (long long)deep[2]);
  return status;
}

/* ---- VSS-22: Tables 1 and 2 ---------------------------------------------------------------------------- */

typedef struct Cell {
  const char *table, *row, *column, *verdict, *evidence;
  RfStatus (*checks[2])(RfClaimRun *); /* what must pass for the verdict */
} Cell;

static const Cell cells[] = {
    {"1", "fully connected", "linear", "global", "bound by the max-margin separator (VSS-05)", {rf_vss_05}},
    {"1",
     "fully connected",
     "ReLU",
     "not local",
     "limit and shorter nets within 1e-3 (VSS-06, 07)",
     {rf_vss_06, rf_vss_07}},
    {"1", "unshared", "linear", "not local", "witness on the sample (1,2) (VSS-11)", {rf_vss_11}},
    {"1", "unshared", "ReLU", "not local", "the same witness (VSS-11)", {rf_vss_11}},
    {"1",
     "unshared, non-zero weights",
     "linear",
     "global",
     "dual bound of program (8) (VSS-12)",
     {rf_vss_12}},
    {"1", "unshared, non-zero weights", "ReLU", "not local", "rotated cross (VSS-14)", {rf_vss_14}},
    {"1", "unshared, non-zero inputs", "linear", "global", "dual bound of program (8) (VSS-12)", {rf_vss_12}},
    {"1",
     "unshared, non-zero inputs",
     "ReLU",
     "local, not global",
     "multipliers, and |theta|^2 7.8125 below 10 (VSS-15, 16)",
     {rf_vss_15, rf_vss_16}},
    {"1",
     "shared, non-zero inputs",
     "linear",
     "not local",
     "two patches, 2 - e/2 + e^2 (VSS-17)",
     {rf_vss_17}},
    {"1", "shared, non-zero inputs", "ReLU", "not local", "the same witness (VSS-17)", {rf_vss_17}},
    {"2", "fully connected", "linear", "global", "bound by the max-margin separator (VSS-05)", {rf_vss_05}},
    {"2",
     "fully connected",
     "ReLU",
     "not local",
     "limit and shorter nets within 1e-3 (VSS-06, 07)",
     {rf_vss_06, rf_vss_07}},
    {"2", "unshared, non-zero inputs", "linear", "not local", "shares (1+-e)/2 (VSS-18)", {rf_vss_18}},
    {"2", "unshared, non-zero inputs", "ReLU", "not local", "the same witness (VSS-18)", {rf_vss_18}},
    {"2", "per layer", "linear", "global", "convex problem of every layer (VSS-19)", {rf_vss_19}},
    {"2", "per layer", "ReLU", "not local", "rotated cross keeps v (VSS-20)", {rf_vss_20}},
    {"2",
     "per layer, non-zero inputs",
     "linear",
     "global",
     "convex problem of every layer (VSS-19)",
     {rf_vss_19}},
    {"2",
     "per layer, non-zero inputs",
     "ReLU",
     "local, not global",
     "affine problem, and the first layer of C.6 (VSS-21)",
     {rf_vss_21}},
};
enum { n_cells = sizeof cells / sizeof cells[0] };

/* A check by itself, at a tenth of the repetitions; each is run once although several cells rest on it. */
static RfStatus passes(RfClaimRun *run, bool *good, RfStatus (*check)(RfClaimRun *)) {
  RfClaimSettings settings = *run->settings;
  RfClaimResult result = {.claim = run->result->claim};
  settings.quick = true, settings.svg_dir = NULL, settings.pictures = false;
  for (rf_index k = 0; k < rf_claims_vss.count; k++) /* the draws of that claim */
    if (rf_claims_vss.claims[k].check == check) result.claim = &rf_claims_vss.claims[k];
  RfClaimRun part = {.context = run->context, .settings = &settings, .result = &result};
  RfStatus status = check(&part);
  *good = !status && !part.failed && result.checks > 0;
  return status < 0 ? status : RF_OK;
}

RfStatus rf_vss_22(RfClaimRun *run) {
  RfStatus (*known[32])(RfClaimRun *) = {0};
  bool verdicts[32], good[n_cells];
  const char *rows[n_cells][4];
  int n_known = 0;
  RfText table = {0};
  rf_text_add(&table, "table,network,activation,verdict,evidence,holds\n");
  for (int c = 0; c < n_cells; c++) {
    bool holds = true;
    for (int k = 0; k < 2 && cells[c].checks[k]; k++) {
      int at = 0;
      while (at < n_known && known[at] != cells[c].checks[k]) at++;
      if (at == n_known) {
        known[n_known] = cells[c].checks[k];
        RfStatus status = passes(run, &verdicts[n_known++], cells[c].checks[k]);
        if (status) {
          rf_text_free(&table);
          return status;
        }
      }
      holds = holds && verdicts[at];
    }
    char what[160];
    rf_format(what, sizeof what, "Table %s, %s, %s: %s", cells[c].table, cells[c].row, cells[c].column,
              cells[c].verdict);
    rf_claim_true(run, what, holds);
    good[c] = holds, rows[c][0] = cells[c].table, rows[c][1] = cells[c].row;
    rows[c][2] = cells[c].column, rows[c][3] = cells[c].verdict;
    rf_text_addf(&table, "%s,\"%s\",%s,\"%s\",\"%s\",%s\n", cells[c].table, cells[c].row, cells[c].column,
                 cells[c].verdict, cells[c].evidence, holds ? "yes" : "no");
  }
  rf_claim_note(run, "18 cells from %d computations, a witness or certificate each", n_known);
  RfStatus status = rf_claim_text(run, "E-VS-2.csv", rf_text_string(&table));
  rf_text_free(&table);
  return status ? status : rf_vss_draw_table(run, (const char *const(*)[4])rows, good, n_cells);
}

/* ---- VSS-23: Figure 1 ---------------------------------------------------------------------------------- */

RfStatus rf_vss_23(RfClaimRun *run) {
  enum { steps = 200 };
  const double X[] = {1, 0.25, -1, 0.25}, y[] = {1, 1}, start[] = {0.3, 2, 0.1, -1.5, 0.7, 0.4};
  const rf_index widths[] = {2, 2, 1};
  static const char header[] = "smoothed_margin,u1_1,u1_2,u2_1,u2_2,norm";
  double series[6][steps];
  RfLayeredNet net;
  RfLayeredFlow flow = {0};
  RfStatus status = rf_claim_dense(run->context, &net, widths, 2, 0);
  if (status) return status;
  memcpy(net.theta, start, sizeof start);
  status = rf_layered_flow_new(run->context, &flow, &net, X, y, 2, RF_LOSS_EXP);
  rf_index rows = 0, at_two = -1, at_six = -1;
  for (; rows < steps && !status; rows++) {
    if (rows > 0) status = rf_layered_flow_to_smargin(run->context, &flow, flow.smargin + 0.1);
    const double *t = flow.net.theta;
    const double row[] = {flow.smargin, t[4] * t[0], t[4] * t[1], t[5] * t[2], t[5] * t[3], flow.norm};
    for (int j = 0; j < 6; j++) series[j][rows] = row[j];
    double size = hypot(row[1], row[2]);
    if (at_two < 0 && size >= 2) at_two = rows;
    if (at_six < 0 && size >= 6) at_six = rows;
    if (rows == 0) continue;
    rf_claim_at_least(run, "u1 grows", size, hypot(series[1][rows - 1], series[2][rows - 1]), 1e-9);
    rf_claim_at_most(run, "u1 turns to (0,1)", fabs(row[1]) / size,
                     fabs(series[1][rows - 1]) / hypot(series[1][rows - 1], series[2][rows - 1]), 1e-9);
    rf_claim_true(run, "u2 does not move", row[3] == series[3][0] && row[4] == series[4][0]);
  }
  rf_layered_flow_free(&flow);
  rf_layers_free(&net);
  if (status) return status;
  rf_claim_true(run, "|u1| passes 2 and 6", at_two >= 0 && at_six > at_two);
  rf_claim_at_most(run, "|u2|/|theta| falls", hypot(series[3][0], series[4][0]) / series[5][steps - 1],
                   0.5 * hypot(series[3][0], series[4][0]) / series[5][0], 0);
  const double *columns[6];
  for (int j = 0; j < 6; j++) columns[j] = series[j];
  status = rf_claim_series(run, "E-VS-1.csv", header, columns, 6, steps);
  if (status || !rf_claim_draws(run) || at_six < 0) return status;
  RfSvg svg = {0};
  static const RfLegendEntry entries[] = {{"u1 = v1 w1", RF_COLOUR_BLUE, -1},
                                          {"u2 = v2 w2", RF_COLOUR_VERMILION, -1},
                                          {"x1 and x2", RF_COLOUR_INK, -1}};
  rf_svg_begin(&svg, 760, 330, "E-VS-1: VSS Figure 1", "u1 and u2 at two times, with the inputs x1 and x2");
  rf_svg_label(&svg, 20, 18, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "VSS Figure 1: one neuron grows along (0,1), the other stays");
  const rf_index marks[] = {at_two, at_six};
  for (int k = 0; k < 2; k++) {
    RfPlot plot =
        rf_claim_panel(&svg, 0, k, k ? "first coordinate, when |u1| = 6" : "first coordinate, when |u1| = 2",
                       "second coordinate");
    plot.top += 8;
    plot.x.low = -2, plot.x.high = 2, plot.y.low = -1.5, plot.y.high = 6.5;
    rf_plot_axes(&plot);
    double zero_x = rf_plot_x(&plot, 0), zero_y = rf_plot_y(&plot, 0);
    for (int j = 0; j < 2; j++) {
      rf_svg_arrow(&svg, zero_x, zero_y, rf_plot_x(&plot, series[1 + 2 * j][marks[k]]),
                   rf_plot_y(&plot, series[2 + 2 * j][marks[k]]),
                   (RfPen){.colour = j ? RF_COLOUR_VERMILION : RF_COLOUR_BLUE, .width = 2});
      rf_svg_arrow(&svg, zero_x, zero_y, rf_plot_x(&plot, X[2 * j]), rf_plot_y(&plot, X[2 * j + 1]),
                   (RfPen){.colour = RF_COLOUR_INK, .width = 1.5});
    }
  }
  rf_svg_legend(&svg, 70, 285, 600, entries, 3);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-VS-1.svg");
}
