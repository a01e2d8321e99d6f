/* Lyu, Li, Wang, Arora: where flows end, at t = infinity. LLWA-02 (Theorem 3.1), 08 (Theorems B.2, B.3,
 * Lemmas B.4, B.5, B.9), 24 (Theorem 5.6), 28 (Lemma A.4, Theorem G.9), 36 (Theorem H.2, Lemma H.3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "llwa/llwa.h"
#include "reluflow/certify.h"
#include "geometry/geometry.h"
#include "la/la.h"
#include "margin/margin.h"
#include "reluflow/train.h"

enum { most = 8 };

typedef struct Point {
  double W[most * RF_LLWA_D], a[most];
} Point;

static RfNet at(Point *point, rf_index m, const RfLlwaSet *set) {
  return (RfNet){.m = m, .d = set->d, .W = point->W, .a = point->a, .leak = set->leak};
}

static RfStatus stationarity(RfClaimRun *run, double *out, const RfNet *net, const RfLlwaSet *set) {
  RfKkt kkt = {0};
  RfStatus status = rf_certify_kkt(run->context, &kkt, net, set->X, set->y, set->n);
  *out = status == RF_OK ? fmax(kkt.stationarity, kkt.complementarity) : INFINITY;
  rf_kkt_free(&kkt);
  return status < 0 ? status : RF_OK;
}

/* ---- LLWA-02: Theorem 3.1 ------------------------------------------------------------------ */

typedef struct Setting {
  const char *spec;
  double leak, divide;
} Setting;

static const Setting separated[] = {{"DS-SYM6", 0.5, 1}, {"DS-SEP(10,3,0)", 0.5, 0}, {"DS-PL2", 0, 3}};

RfStatus rf_llwa_02(RfClaimRun *run) {
  double worst = 0, least_size = INFINITY;
  rf_index runs = 0;
  for (int s = 0; s < 3; s++) {
    RfLlwaSet set;
    RfStatus status = rf_llwa_load(run, &set, separated[s].spec, separated[s].leak, separated[s].divide);
    if (status) return status;
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 20) && !status; draw++) {
      Point point;
      RfFlowResult flow;
      bool converged;
      double residual = INFINITY;
      RfNet start = at(&point, 6, &set);
      RfRandom random = rf_claim_random(run, (uint64_t)(100 * s + draw));
      rf_llwa_low_loss(&start, &random, &set);
      status = rf_llwa_limit(run, &flow, &converged, &set, &start, 0);
      if (!status && converged) status = stationarity(run, &residual, &flow.limit.net, &set);
      rf_claim_true(run, "the direction converges", converged);
      rf_claim_at_most(run, "KKT residual of the limit", residual, 0, 1e-8);
      rf_claim_at_most(run, "ln L where integration ends", flow.log_loss_end, -1000, 0);
      rf_claim_at_least(run, "|theta| there", exp(flow.log_norm_end), 100, 0);
      worst = fmax(worst, residual), least_size = fmin(least_size, flow.log_norm_end), runs++;
      rf_flow_result_free(&flow);
    }
    rf_llwa_free(&set);
    if (status) return status;
  }
  rf_claim_note(run, "%lld runs from L < ln 2/n; largest KKT residual at t = infinity %.1e", (long long)runs,
                worst);
  return RF_OK;
}

/* ---- LLWA-28: Lemma A.4, Theorem G.9, one neuron ------------------------------------------- */

typedef struct Aim {
  Point point;
  RfNet net; /* at norm 1 */
} Aim;

/* Distance of directions. */
static double direction_error(void *user, const RfNet *theta) {
  const Aim *aim = user;
  Point unit;
  RfNet net = *theta;
  net.W = unit.W, net.a = unit.a;
  rf_llwa_copy(&net, theta, 1 / sqrt(rf_net_norm2(theta)));
  return rf_llwa_far(&net, &aim->net);
}

/* The only KKT direction with a >= 0: a neuron that separates the data has them all on one side each, so that
 * its problem is convex. With u = a w, u* the best one and residuals r, (|u - u*|/|u|)^2 is at most a few r:
 * no other direction that separates has small residuals. */
static RfStatus judge_unique(RfClaimRun *run, const RfLlwaSet *set, const Aim *aim, RfRandom *random) {
  enum { wanted = 200 };
  rf_index found = 0;
  RfStatus status = RF_OK;
  for (int draw = 0; draw < 100 * wanted && found < wanted && !status; draw++) {
    Point point;
    double w[RF_LLWA_D], step[RF_LLWA_D], least = INFINITY, residual, far = pow(10, -2 * (draw % 5) / 4.0);
    RfNet net = at(&point, 1, set);
    rf_random_direction(random, step, set->d);
    for (rf_index j = 0; j < set->d; j++) w[j] = aim->net.W[j] * sqrt(2) + far * step[j];
    rf_la_scale(w, 1 / rf_la_norm(w, set->d), set->d);
    rf_llwa_single(&net, w, 1);
    for (rf_index i = 0; i < set->n; i++)
      least = fmin(least, set->y[i] * rf_llwa_output(&net, set->X + i * set->d));
    if (!(least > 0)) continue;
    status = stationarity(run, &residual, &net, set);
    double apart = rf_llwa_far(&net, &aim->net);
    rf_claim_at_least(run, "KKT residual elsewhere over the squared distance", residual / (apart * apart),
                      0.05, 0);
    found++;
  }
  rf_claim_made(run, "other directions that separate", found);
  return status;
}

RfStatus rf_llwa_28(RfClaimRun *run) {
  static const Setting sets[] = {{"DS-HINT(20,1,0.1)", 0.5, 0},
                                 {"DS-HINT(80,1,0.1)", 0.5, 0},
                                 {"DS-MID", 0.5, 0},
                                 {"DS-SYM6", 0.5, 1},
                                 {"DS-SEP(10,3,0)", 0.5, 0}};
  double worst = 0, way = 0;
  for (int s = 0; s < 5; s++) {
    RfLlwaSet set;
    RfLlwaOneSided one;
    Aim aim;
    RfStatus status = rf_llwa_load(run, &set, sets[s].spec, 0.5, sets[s].divide);
    if (status) return status;
    status = rf_llwa_one_sided(run, &one, &set, 1);
    aim.net = at(&aim.point, 1, &set);
    rf_llwa_single(&aim.net, one.w, 1);
    RfRandom around = rf_claim_random(run, 100 * (uint64_t)s + 99);
    if (!status) status = judge_unique(run, &set, &aim, &around);
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 5) && !status; draw++) {
      Point point;
      RfFlowResult flow;
      bool converged;
      double residual = INFINITY;
      RfNet start = at(&point, 1, &set);
      RfRandom random = rf_claim_random(run, (uint64_t)(100 * s + draw));
      RfLlwaDecay decay = {.error = direction_error, .user = &aim};
      do rf_llwa_gaussian(&start, &random, 0.3);
      while (!(rf_la_dot(start.W, set.wstar, set.d) > 0));
      start.a[0] = rf_la_norm(start.W, set.d);
      status = rf_llwa_walk(run, &flow, &converged, &set, &start, RF_UNTIL_INFINITY, 0, 20, rf_llwa_decay_see,
                            &decay);
      if (!status && converged) status = stationarity(run, &residual, &flow.limit.net, &set);
      double error = converged ? rf_llwa_far(&flow.limit.net, &aim.net) : INFINITY;
      rf_claim_at_most(run, "distance of the limit from (wL+,1)/sqrt 2", error, 0, 1e-8);
      rf_claim_close(run, "its normalised margin against gL+/2", flow.limit.margin, one.margin / 2, 1e-8);
      rf_claim_at_most(run, "its KKT residual", residual, 0, 1e-8);
      /* slow where the support does not span; how far off at 400 depends on the data */
      rf_claim_decay_judge(run, "error of the direction on the way", &decay.marks,
                           one.support < set.d ? 0.5 : 1, s < 4 ? 2e-2 : INFINITY);
      worst = fmax(worst, error), way = fmax(way, decay.marks.at[1]);
      rf_flow_result_free(&flow);
    }
    rf_llwa_free(&set);
    if (status) return status;
  }
  rf_claim_require(run, "other directions that separate", 500);
  rf_claim_note(run, "largest error at t = infinity %.1e, at smoothed margin 400 %.4f", worst, way);
  return RF_OK;
}

/* ---- LLWA-36: Theorem H.2, Lemma H.3, orthogonally separable data with leak 0 -------------- */

typedef struct Classes {
  double plus[RF_LLWA_D], minus[RF_LLWA_D], total; /* w+, w- and |w+| + |w-| */
  Point point;
  RfNet net; /* f = (phi<w+,x> - phi<w-,x>)/(2 total) at norm 1 */
} Classes;

static RfStatus class_vectors(RfClaimRun *run, Classes *out, const RfLlwaSet *set) {
  RfClassMargin positive = {0}, negative = {0};
  RfStatus status = rf_margin_class(run->context, &positive, set->X, set->y, set->n, set->d, 1);
  if (!status) status = rf_margin_class(run->context, &negative, set->X, set->y, set->n, set->d, -1);
  if (!status) {
    out->total = positive.norm + negative.norm;
    out->net = at(&out->point, 2, set);
    memcpy(out->plus, positive.w, (size_t)set->d * sizeof(double));
    memcpy(out->minus, negative.w, (size_t)set->d * sizeof(double));
    const RfClassMargin *classes[] = {&positive, &negative};
    for (int c = 0; c < 2; c++) {
      double size = sqrt(classes[c]->norm / (2 * out->total));
      out->net.a[c] = c ? -size : size;
      for (rf_index j = 0; j < set->d; j++)
        out->net.W[c * set->d + j] = size * classes[c]->w[j] / classes[c]->norm;
    }
  }
  rf_class_margin_free(&positive), rf_class_margin_free(&negative);
  return status;
}

/* Lemma H.3 at min margin 1: (sum_{a_j a_k > 0} a_j^2) w_k/|a_k| = w+-; relative error of the worst neuron.
 */
static double shared_minimiser_error(const RfNet *limit, const Classes *classes, double margin,
                                     double printed[1]) {
  double mass[2] = {0, 0}, worst = 0, factor = 1 / margin; /* theta times sqrt(factor) has min margin 1 */
  for (rf_index k = 0; k < limit->m; k++) mass[limit->a[k] < 0] += factor * limit->a[k] * limit->a[k];
  for (rf_index k = 0; k < limit->m; k++) {
    const double *aim = limit->a[k] < 0 ? classes->minus : classes->plus;
    double away = 0, turned = 0;
    if (fabs(limit->a[k]) < 1e-6) continue;
    for (rf_index j = 0; j < limit->d; j++) {
      double u = mass[limit->a[k] < 0] * limit->W[k * limit->d + j];
      away = hypot(away, u / fabs(limit->a[k]) - aim[j]), turned = hypot(turned, u / limit->a[k] - aim[j]);
    }
    worst = fmax(worst, away / rf_la_norm(aim, limit->d));
    *printed = fmax(*printed, turned / rf_la_norm(aim, limit->d));
  }
  return worst;
}

static double function_error(void *user, const RfNet *theta) {
  const Classes *classes = user;
  Point unit;
  RfNet net = *theta;
  net.W = unit.W, net.a = unit.a;
  rf_llwa_copy(&net, theta, 1 / sqrt(rf_net_norm2(theta)));
  return rf_llwa_apart(&net, &classes->net);
}

typedef struct Orthogonal {
  rf_index runs, separated;
  double function, way, shared, turned, sum; /* largest errors; printed forms: w_k/a_k, phi + phi */
} Orthogonal;

/* Large, small and unbalanced starts in turn. */
static RfStatus orthogonal_run(RfClaimRun *run, Orthogonal *out, const RfLlwaSet *set, Classes *classes,
                               rf_index draw, RfRandom *random) {
  Point points[2];
  RfFlowResult flow;
  bool converged;
  RfNet start = at(&points[0], 6, set), added = at(&points[1], 2, set);
  RfLlwaDecay decay = {.error = function_error, .user = classes};
  const double spreads[] = {0.7, 1e-3, 0.3};
  rf_llwa_gaussian(&start, random, spreads[draw % 3]);
  for (rf_index k = 0; k < start.m && draw % 3 < 2; k++)
    start.a[k] = (start.a[k] < 0 ? -1 : 1) * rf_la_norm(start.W + k * set->d, set->d);
  RfStatus status =
      rf_llwa_walk(run, &flow, &converged, set, &start, RF_UNTIL_INFINITY, 0, 20, rf_llwa_decay_see, &decay);
  out->runs++;
  if (!status && converged) { /* starts whose neurons die on a class do not separate */
    const RfNet *limit = &flow.limit.net;
    double error = rf_llwa_apart(limit, &classes->net);
    out->separated++;
    rf_claim_at_most(run, "limit function against (phi<w+,x> - phi<w-,x>)/(2(|w+|+|w-|))", error, 0, 1e-8);
    rf_claim_relative(run, "|theta|^2 at min margin 1", 1 / flow.limit.margin, 2 * classes->total, 1e-8);
    double shared = shared_minimiser_error(limit, classes, flow.limit.margin, &out->turned);
    rf_claim_at_most(run, "Lemma H.3 at min margin 1", shared, 0, 1e-6);
    out->shared = fmax(out->shared, shared);
    if (draw % 3 == 1) /* small starts; the others approach more slowly than any stated rate at first */
      rf_claim_decay_judge(run, "error of the function on the way", &decay.marks, 0.5, INFINITY);
    rf_llwa_copy(&added, &classes->net, 1);
    added.a[1] = -added.a[1];
    out->sum = fmax(out->sum, rf_llwa_apart(limit, &added));
    out->function = fmax(out->function, error), out->way = fmax(out->way, decay.marks.at[1]);
  }
  rf_flow_result_free(&flow);
  return status;
}

RfStatus rf_llwa_36(RfClaimRun *run) {
  const Setting sets[] = {{"DS-PL2", 0, 3}, {"DS-OS(5,5,3,0.2)", 0, 0}, {"DS-WP1", 0, 0}};
  Orthogonal all = {0};
  for (int s = 0; s < 3; s++) {
    RfLlwaSet set;
    Classes classes;
    RfStatus status = rf_llwa_load(run, &set, sets[s].spec, 0, sets[s].divide);
    if (status) return status;
    status = class_vectors(run, &classes, &set);
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 50) && !status; draw++) {
      RfRandom random = rf_claim_random(run, (uint64_t)(1000 * s + draw));
      status = orthogonal_run(run, &all, &set, &classes, draw, &random);
    }
    rf_llwa_free(&set);
    if (status) return status;
  }
  rf_claim_at_least(run, "share of starts that separate the data", (double)all.separated / (double)all.runs,
                    0.5, 0);
  rf_claim_misprint(run, "MP-LLWA-11", "largest error of the function, phi + phi and phi - phi", all.sum,
                    all.function, 0, all.sum < 1e-8);
  rf_claim_misprint(run, "MP-LLWA-11", "largest error of Lemma H.3 with w_k/a_k and w_k/|a_k|", all.turned,
                    all.shared, 0, all.turned < 1e-6);
  rf_claim_note(
      run, "%lld of %lld starts separate; function error %.1e at t = infinity, %.4f at smoothed margin 400",
      (long long)all.separated, (long long)all.runs, all.function, all.way);
  return RF_OK;
}

/* ---- LLWA-08: homogeneity, Euler's identity, balanced KKT points --------------------------- */

static RfStatus judge_homogeneous(RfClaimRun *run, const RfLlwaSet *set, RfRandom *random) {
  Point points[2];
  double J[2][RF_LLWA_ROWS * most * (RF_LLWA_D + 1)], f[RF_LLWA_ROWS],
      factor = 0.1 + 3 * rf_random_uniform(random);
  rf_index m = 1 + rf_random_below(random, most), P = m * (set->d + 1);
  RfNet net = at(&points[0], m, set), scaled = at(&points[1], m, set);
  RfLayeredNet layered[2] = {{0}, {0}};
  rf_llwa_gaussian(&net, random, 1);
  rf_llwa_copy(&scaled, &net, factor);
  RfStatus status = rf_train_from_net(run->context, &layered[0], &net);
  if (!status) status = rf_train_from_net(run->context, &layered[1], &scaled);
  for (int k = 0; k < 2 && !status; k++)
    status = rf_layers_jacobian(run->context, J[k], &layered[k], set->X, set->n);
  if (!status) status = rf_net_outputs(run->context, f, &net, set->X, set->n);
  for (rf_index i = 0; i < set->n && !status; i++) {
    double g = rf_llwa_output(&scaled, set->X + i * set->d), size = rf_la_norm(J[0] + i * P, P), away = 0;
    double scale = size * sqrt(rf_net_norm2(&net));
    if (size == 0) continue; /* no neuron is active */
    rf_claim_close(run, "f(c theta) against c^2 f(theta)", g / scale, factor * factor * f[i] / scale, 1e-10);
    for (rf_index p = 0; p < P; p++) away = fmax(away, fabs(J[1][i * P + p] - factor * J[0][i * P + p]));
    rf_claim_at_most(run, "gradient at c theta against c times it", away / size, 0, 1e-10);
    rf_claim_close(run, "<gradient,theta> against 2f", rf_la_dot(J[0] + i * P, layered[0].theta, P) / scale,
                   2 * f[i] / scale, 1e-10);
  }
  rf_layers_free(&layered[0]), rf_layers_free(&layered[1]);
  return status;
}

/* grad G(w) = G(w) w at the unit maximiser of |G|. */
static RfStatus judge_maximiser(RfClaimRun *run, const RfLlwaSet *set) {
  RfExtremal extremal = {0};
  RfExtremalSettings settings = {.leak = set->leak, .slope = 0.5};
  RfStatus status = rf_geometry_extremal(run->context, &extremal, set->X, set->y, set->n, set->d, &settings);
  if (!status && extremal.n_positive > 0 && extremal.n_negative > 0) {
    bool up = extremal.positive[0].G >= -extremal.negative[0].G;
    const double *w = up ? extremal.positive[0].direction : extremal.negative[0].direction;
    double gradient[RF_LLWA_D] = {0};
    double G = rf_geometry_potential(w, set->X, set->y, set->n, set->d, set->leak, 0.5);
    for (rf_index i = 0; i < set->n; i++) {
      const double *x = set->X + i * set->d;
      rf_la_axpy(gradient, 0.5 * set->y[i] * (rf_la_dot(w, x, set->d) > 0 ? 1 : set->leak), x, set->d);
    }
    for (rf_index j = 0; j < set->d; j++)
      rf_claim_close(run, "grad G against G w at the maximiser", gradient[j] / fabs(G), G / fabs(G) * w[j],
                     1e-10);
  } else {
    rf_claim_true(run, "a maximiser was found", false);
  }
  rf_extremal_free(&extremal);
  return status;
}

/* Every KKT point has |w_k| = |a_k|: limits from unbalanced starts, 20 of each set. */
static RfStatus judge_balanced(RfClaimRun *run, const RfLlwaSet *set, RfRandom *random, double *worst) {
  Point point;
  RfNet start = at(&point, 4, set);
  RfFlowResult flow;
  bool converged;
  rf_llwa_low_loss(&start, random, set);
  RfStatus status = rf_llwa_limit(run, &flow, &converged, set, &start, 0);
  if (converged)
    rf_claim_made(run, "KKT points from unbalanced starts", 1);
  else
    rf_claim_dropped(run, "KKT points from unbalanced starts", 1);
  for (rf_index k = 0; k < 4 && converged; k++) {
    const double *w = flow.limit.net.W + k * set->d;
    double off = fabs(rf_la_norm(w, set->d) - fabs(flow.limit.net.a[k]));
    rf_claim_at_most(run, "| |w_k| - |a_k| | at a KKT point of norm 1", off, 0, 1e-10);
    *worst = fmax(*worst, off);
  }
  rf_flow_result_free(&flow);
  return status;
}

RfStatus rf_llwa_08(RfClaimRun *run) {
  /* the last three are those of LLWA-34 and LLWA-36 */
  const Setting sets[] = {{"DS-SYM6", 0.5, 1},
                          {"DS-HINT(20,1,0.1)", 0.5, 0},
                          {"DS-LL1(0.5)", 0.5, 0},
                          {"DS-PL2", 0, 3},
                          {"DS-OS(5,5,3,0.2)", 0, 0}};
  double worst = 0;
  for (int s = 0; s < 5; s++) {
    RfLlwaSet set;
    RfStatus status = rf_llwa_load(run, &set, sets[s].spec, sets[s].leak, sets[s].divide);
    if (status) return status;
    if (s < 2) status = judge_maximiser(run, &set);
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 200) && !status; draw++) {
      RfRandom random = rf_claim_random(run, (uint64_t)(1000 * s + draw));
      status = judge_homogeneous(run, &set, &random);
      if (draw % 10 == 0 && !status) status = judge_balanced(run, &set, &random, &worst);
    }
    rf_llwa_free(&set);
    if (status) return status;
  }
  rf_claim_require(run, "KKT points from unbalanced starts", 4 * rf_claim_repetitions(run, 20));
  rf_claim_note(run, "KKT points from unbalanced starts are balanced to %.1e", worst);
  return RF_OK;
}
