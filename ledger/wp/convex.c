/* Wang and Pilanci, sections 2 and 3: the convex program over arrangements, its dual, and when a dual vector
 * is feasible. WP-01, -02, -03, -05, -06, -07. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/networks.h"
#include "core/core.h"
#include "kit/data.h"
#include "reluflow/certify.h"
#include "la/la.h"
#include "wp/wp.h"

static void signed_multipliers(double *lam, const RfOptimum *optimum, const double *y) {
  for (rf_index i = 0; i < optimum->n; i++) lam[i] = y[i] * optimum->lambda[i];
}

/* ---- WP-01: Proposition 2 ----------------------------------------------------------------------- */

/* The neurons are feasible for (14): each lies in the closed cone of an enumerated D_j. lam is feasible for
 * (15): in every one of these cones, for both signs. By weak duality both are then optimal for the literal
 * program over all masks. */
static RfStatus enumerated_certificate(RfClaimRun *run, const RfDataset *data, const RfOptimum *optimum) {
  RfWpMasks masks;
  rf_index n = data->n, d = data->d;
  double lam[RF_WP_MOST], mirrored[RF_WP_MOST];
  signed_multipliers(lam, optimum, data->y);
  for (rf_index i = 0; i < n; i++) mirrored[i] = -lam[i];
  RfStatus status = rf_wp_masks(run->context, &masks, data->X, n, d);
  if (status) return status;
  for (rf_index k = 0; k < optimum->neurons; k++) {
    const double *u = optimum->U + k * d;
    bool inside = false;
    for (rf_index j = 0; j < masks.count && !inside; j++) {
      inside = true;
      for (rf_index i = 0; i < n && inside; i++) {
        double side = (masks.masks[j] >> i & 1 ? 1 : -1) * rf_la_dot(data->X + i * d, u, d);
        inside = side >= -1e-9 * rf_la_norm(u, d) * rf_la_norm(data->X + i * d, d);
      }
    }
    rf_claim_true(run, "an optimal neuron lies in an enumerated cone", inside);
  }
  for (rf_index j = 0; j < masks.count && !status; j++)
    for (int s = 0; s < 2 && !status; s++) {
      double most;
      status =
          rf_wp_cone_maximum(run->context, &most, NULL, data->X, n, d, masks.masks[j], s ? mirrored : lam);
      rf_claim_at_most(run, "dual constraint of an arrangement", most, 1, 1e-8);
    }
  rf_wp_masks_free(&masks);
  return status;
}

/* (13) itself: limits of the flow from random networks of width m are feasible points of it. */
static RfStatus best_of_restarts(RfClaimRun *run, double *best, const RfDataset *data, rf_index m,
                                 rf_index restarts) {
  RfStatus status = RF_OK;
  *best = INFINITY;
  for (rf_index k = 0; k < restarts && !status; k++) {
    RfNet net;
    RfFlowResult flow;
    double margin;
    status =
        rf_net_init(run->context, &net, RF_INIT_BALANCED, m, data->d, 0, (uint64_t)rf_wp_seed(run, k), 1);
    if (status) break;
    double scale = k < 3 ? 0.3 : 0.03; /* large starts cross more hyperplanes while the loss falls: slower */
    rf_la_scale(net.W, scale, m * data->d), rf_la_scale(net.a, scale, m);
    status = rf_claim_limit(run, &flow, &net, data->X, data->y, data->n, RF_LOSS_LOGISTIC);
    rf_net_free(&net);
    if (status == RF_NOT_SEPARABLE || status == RF_UNDECIDED) { /* a start that dies: the next one */
      rf_claim_dropped(run, "restarts", 1);
      status = RF_OK;
      continue;
    }
    if (status) break;
    rf_claim_made(run, "restarts", 1);
    status = rf_net_margin(run->context, &margin, NULL, &flow.limit.net, data->X, data->y, data->n);
    if (margin > 0) *best = fmin(*best, 1 / (2 * margin));
    rf_flow_result_free(&flow);
  }
  return status;
}

static RfStatus one_program(RfClaimRun *run, const RfDataset *data, double predicted, rf_index restarts) {
  RfOptimum optimum;
  RfWpMasks masks;
  double best, m;
  RfStatus status = rf_wp_optimum(run->context, &optimum, data);
  if (status) return status;
  rf_claim_relative(run, "Pcvx", optimum.objective, predicted, 1e-10);
  rf_claim_relative(run, "Pcvx = Dcvx", optimum.lower, optimum.objective, 1e-7);
  status = enumerated_certificate(run, data, &optimum);
  if (!status) status = rf_wp_masks(run->context, &masks, data->X, data->n, data->d);
  if (!status) {
    m = 2 * (double)masks.count;
    rf_wp_masks_free(&masks);
    status = best_of_restarts(run, &best, data, (rf_index)m, restarts);
    rf_claim_at_least(run, "min of (13), never below", best, optimum.objective, 1e-7 * optimum.objective);
    rf_claim_at_most(run, "min of (13), reached", best, optimum.objective, 1e-5 * optimum.objective);
  }
  rf_optimum_free(&optimum);
  return status;
}

/* 64 restarts on each set, of width 2p (64 on the random ones).
 * Predicted: |w+|+|w-| on orthogonally separable data, |X^-1 1| for the spike-free pair. */
RfStatus rf_wp_01(RfClaimRun *run) {
  for (int k = -3; k < 5; k++) {
    char spec[64];
    static const char *const named[] = {"DS-WP1", "DS-WP2", "DS-PL2"};
    RfDataset data;
    double norms[2];
    if (k < 0)
      rf_format(spec, sizeof spec, "%s", named[k + 3]);
    else
      rf_format(spec, sizeof spec, "DS-OS(3,3,3,0.3),seed=%d", rf_wp_seed(run, k));
    RfStatus status = rf_claim_generate(run, &data, spec);
    if (status) return status;
    if (k == -2) {
      double A[4], b[] = {1, 1};
      memcpy(A, data.X, sizeof A);
      status = rf_la_solve(run->context, A, b, 2);
      norms[0] = rf_la_norm(b, 2), norms[1] = 0;
    } else {
      status = rf_wp_class_vectors(run->context, norms, NULL, NULL, &data);
    }
    if (!status) status = one_program(run, &data, norms[0] + norms[1], rf_claim_repetitions(run, 64));
    rf_dataset_free(&data);
    if (status) return status;
  }
  rf_claim_require(run, "restarts", 7 * rf_claim_repetitions(run, 64));
  rf_claim_note(run, "(13) by limits of the flow: 64 starts on each of 8 sets, width 2p");
  return RF_OK;
}

/* ---- WP-02: Proposition 1 ----------------------------------------------------------------------- */

/* The K networks side by side are feasible for (5) with value sum ½|theta_k|^2, the K dual vectors for (8)
 * with value tr(Lam^T Y): both equal, so the sum of the binary optima is the multi-class optimum. */
static RfStatus several_classes(RfClaimRun *run, const char *spec, double *total) {
  RfDataset all;
  double primal = 0, dual = 0;
  RfStatus status = rf_claim_generate(run, &all, spec);
  if (status) return status;
  for (rf_index k = 0; k < all.n_classes && !status; k++) {
    RfDataset part;
    RfOptimum optimum = {0};
    RfNet net = {0};
    double q[RF_WP_MOST], lam[RF_WP_MOST], norm = NAN, trace = 0;
    status = rf_dataset_one_versus_rest(run->context, &part, &all, k);
    if (status) break;
    status = rf_wp_optimum(run->context, &optimum, &part);
    if (!status) status = rf_optimum_net(run->context, &net, &optimum);
    if (!status) status = rf_net_outputs(run->context, q, &net, part.X, part.n);
    if (!status) {
      signed_multipliers(lam, &optimum, part.y);
      status = rf_wp_dual_norm(run->context, &norm, NULL, part.X, part.n, part.d, lam, 0);
    }
    for (rf_index i = 0; i < part.n && !status; i++) {
      rf_claim_at_least(run, "constraint of (5)", part.y[i] * q[i], 1, 1e-9);
      rf_claim_at_least(run, "diag(y_k) lam_k >= 0", part.y[i] * lam[i], 0, 0);
      trace += lam[i] * part.y[i];
    }
    if (!status) {
      rf_claim_at_most(run, "constraint of (8)", norm, 1, 1e-8);
      rf_claim_relative(run, "gap of a class", trace, rf_net_norm2(&net) / 2, 1e-7);
      primal += rf_net_norm2(&net) / 2, dual += trace;
      if (all.n_classes == 3 && all.n == 3)
        for (rf_index i = 0; i < 3; i++)
          rf_claim_close(run, "dual vector of DS-MC3", lam[i], i == k ? 1 : -sqrt(0.5), 1e-8);
    }
    rf_net_free(&net);
    rf_optimum_free(&optimum);
    rf_dataset_free(&part);
  }
  rf_dataset_free(&all);
  if (!status) rf_claim_relative(run, "multi-class optimum = sum of the binary ones", primal, dual, 1e-7);
  *total = primal;
  return status;
}

RfStatus rf_wp_02(RfClaimRun *run) {
  double total;
  RfStatus status = several_classes(run, "DS-MC2", &total);
  if (!status) status = several_classes(run, "DS-MC3", &total);
  if (!status) rf_claim_close(run, "DS-MC3, total", total, 3 * (1 + sqrt(2)), 1e-7);
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 10) && !status; seed++) {
    char spec[64];
    rf_format(spec, sizeof spec, "gaussian,n=6,d=2,classes=3,seed=%d", rf_wp_seed(run, seed));
    status = several_classes(run, spec, &total);
  }
  return status;
}

/* ---- WP-03: the number of arrangements ---------------------------------------------------------- */

static double cover_bound(double n, double r) { return 2 * r * pow(exp(1) * (n - 1) / r, r); }

static double general_position_count(rf_index n, rf_index r) {
  double sum = 0, term = 1;
  for (rf_index k = 0; k < r; k++) sum += term, term *= (double)(n - 1 - k) / (double)(k + 1);
  return 2 * sum;
}

/* In the plane, masks 1(Xw >= 0): the open sectors, the rays of the hyperplanes, and w = 0. */
static rf_index plane_masks(const double *X, rf_index n, const RfWpMasks *open) {
  uint64_t seen[8 * RF_WP_MOST];
  rf_index count = 0;
  for (rf_index j = 0; j < open->count; j++) seen[count++] = open->masks[j];
  for (rf_index k = 0; k <= 2 * n; k++) {
    double side = k % 2 ? 1 : -1;
    uint64_t mask = 0;
    for (rf_index i = 0; i < n; i++) {
      double cross = k == 2 * n ? 0 : side * (X[2 * (k / 2)] * X[2 * i + 1] - X[2 * (k / 2) + 1] * X[2 * i]);
      if (cross >= -1e-12) mask |= (uint64_t)1 << i;
    }
    rf_index known = 0;
    while (known < count && seen[known] != mask) known++;
    if (known == count) seen[count++] = mask;
  }
  return count;
}

static RfStatus count_masks(RfClaimRun *run, const char *spec, double predicted, double with_boundary) {
  RfDataset data;
  RfWpMasks masks;
  RfStatus status = rf_claim_generate(run, &data, spec);
  if (status) return status;
  status = rf_wp_masks(run->context, &masks, data.X, data.n, data.d);
  if (!status) {
    double p = (double)masks.count;
    rf_index rank;
    rf_claim_close(run, "open sectors", p, predicted, 0);
    status = rf_la_rank(run->context, &rank, NULL, data.X, data.n, data.d, 1e-12);
    if (with_boundary > 0) {
      p = (double)plane_masks(data.X, data.n, &masks);
      rf_claim_close(run, "masks 1(Xw >= 0) with those on hyperplanes and at 0", p, with_boundary, 0);
    }
    if (data.n >= 2)
      rf_claim_at_most(run, "p against 2r(e(n-1)/r)^r", p, cover_bound((double)data.n, (double)rank), 0);
    rf_wp_masks_free(&masks);
  }
  rf_dataset_free(&data);
  return status;
}

RfStatus rf_wp_03(RfClaimRun *run) {
  RfStatus status = count_masks(run, "DS-WP1", 4, 0);
  if (!status) status = count_masks(run, "DS-PL2", 8, 11);
  for (int n = 1; n <= 12; n++)
    for (int d = 1; d <= 4 && !status; d++) {
      char spec[64];
      rf_format(spec, sizeof spec, "gaussian,n=%d,d=%d,seed=%d", n, d, rf_wp_seed(run, n + 20 * d));
      status = count_masks(run, spec, general_position_count(n, n < d ? n : d), 0);
    }
  rf_claim_misprint(run, "MP-WP-18", "bound at n = 1", cover_bound(1, 1), NAN, 2, 2 <= cover_bound(1, 1));
  return status;
}

/* ---- WP-05: Theorem 3 --------------------------------------------------------------------------- */

/* (16) is the largest of (17) over the arrangements; in the plane also the maximum on a grid. */
static RfStatus equal_maxima(RfClaimRun *run, double *norm, const double *X, rf_index n, rf_index d,
                             const double *lam) {
  RfWpMasks masks;
  double most = 0, mirrored[RF_WP_MOST];
  for (rf_index i = 0; i < n; i++) mirrored[i] = -lam[i];
  RfStatus status = rf_wp_dual_norm(run->context, norm, NULL, X, n, d, lam, 0);
  if (!status) status = rf_wp_masks(run->context, &masks, X, n, d);
  if (status) return status;
  for (rf_index j = 0; j < masks.count && !status; j++) {
    double up, down;
    status = rf_wp_cone_maximum(run->context, &up, NULL, X, n, d, masks.masks[j], lam);
    if (!status) status = rf_wp_cone_maximum(run->context, &down, NULL, X, n, d, masks.masks[j], mirrored);
    if (!status) most = fmax(most, fmax(up, down));
  }
  rf_wp_masks_free(&masks);
  rf_claim_relative(run, "(16) against the largest of (17)", most, *norm, 1e-8);
  if (d == 2) rf_claim_relative(run, "(16) on a grid", rf_wp_grid_norm(X, n, lam, 0), *norm, 1e-6);
  return status;
}

/* (47) with z = 0 on the mask of a neuron: u = |a| w is the one non-zero vector of its mask, on the side of
 * the sign of a. As printed both u and u' are set: the second leaves the cone and the outputs double. */
static void neuron_masks(RfClaimRun *run, const RfNet *net, const double *X, rf_index n, const double *lam,
                         bool report) {
  rf_index d = net->d;
  bool printed_fine = true;
  for (rf_index k = 0; k < net->m; k++) {
    const double *w = net->W + k * d;
    double v[RF_WP_MOST_D], size = rf_la_norm(w, d);
    uint64_t mask = 0;
    bool in_cone = true;
    for (rf_index i = 0; i < n; i++) {
      double side = rf_la_dot(X + i * d, w, d);
      if (side > 0) mask |= (uint64_t)1 << i;
      in_cone = in_cone && side <= 0; /* -w in the cone of the same mask needs Xw = 0 there */
    }
    rf_wp_masked(v, X, n, d, mask, lam);
    for (rf_index j = 0; j < d; j++)
      rf_claim_close(run, "(47): X^T D lam = w/a", v[j], w[j] / size * (net->a[k] > 0 ? 1 : -1), 1e-9);
    printed_fine = printed_fine && in_cone;
  }
  if (report)
    rf_claim_misprint(run, "MP-WP-10", "u and u' = -u in one cone (1 = yes)", 1, 0, printed_fine,
                      printed_fine);
}

/* X^T D lam + X^T (2D - I) z with these z >= 0, summed anew, has the length that was found. */
static void judge_vector(RfClaimRun *run, const double *X, rf_index n, rf_index d, uint64_t mask,
                         const double *lam, const double *z, double size) {
  double v[RF_WP_MOST_D], scale = 1;
  rf_wp_masked(v, X, n, d, mask, lam);
  for (rf_index i = 0; i < n; i++) {
    rf_claim_at_least(run, "z >= 0", z[i], 0, 0);
    rf_la_axpy(v, (mask >> i & 1 ? 1 : -1) * z[i], X + i * d, d);
    scale += fabs(z[i]) * rf_la_norm(X + i * d, d);
  }
  rf_claim_close(run, "|X^T D_j lam + X^T (2D_j - I) z|, summed anew", rf_la_norm(v, d), size, 1e-9 * scale);
}

/* The rest of (46) at the point u_k = |a_k| w_k of two neurons: it is feasible, lam is zero on samples beyond
 * 1, has the signs of y, and both objectives agree. With (47), where z = 0, this is all of the convex KKT
 * conditions. */
static void primal_side(RfClaimRun *run, const RfNet *net, const RfDataset *data, const double *lam) {
  double total = 0, dual = 0;
  for (rf_index k = 0; k < net->m; k++) total += fabs(net->a[k]) * rf_la_norm(net->W + k * net->d, net->d);
  for (rf_index i = 0; i < data->n; i++) {
    double f = 0;
    for (rf_index k = 0; k < net->m; k++)
      f += net->a[k] * fmax(0, rf_la_dot(net->W + k * net->d, data->X + i * net->d, net->d));
    rf_claim_at_least(run, "(46): the point is feasible", data->y[i] * f, 1, 1e-9);
    rf_claim_at_least(run, "(46): y lam >= 0", data->y[i] * lam[i], 0, 0);
    rf_claim_at_most(run, "(46): lam (y f - 1) = 0", fabs(lam[i]) * (data->y[i] * f - 1), 0, 1e-9);
    dual += data->y[i] * lam[i];
  }
  rf_claim_relative(run, "(46): sum of y lam against sum of |u|", dual, total, 1e-9);
}

/* The first two conditions of (46) on every D_j: multipliers z >= 0 that bring the vector into the unit ball.
 * The largest length is returned. */
static RfStatus convex_kkt(RfClaimRun *run, double *longest, const double *X, rf_index n, rf_index d,
                           const double *lam) {
  RfWpMasks masks;
  *longest = 0;
  RfStatus status = rf_wp_masks(run->context, &masks, X, n, d);
  if (status) return status;
  for (rf_index j = 0; j < masks.count && !status; j++)
    for (int s = -1; s <= 1 && !status; s += 2) {
      double turned[RF_WP_MOST], z[RF_WP_MOST], size;
      for (rf_index i = 0; i < n; i++) turned[i] = s * lam[i];
      status = rf_wp_cone_maximum(run->context, &size, z, X, n, d, masks.masks[j], turned);
      *longest = fmax(*longest, size);
      if (!status) judge_vector(run, X, n, d, masks.masks[j], turned, z, size);
    }
  rf_wp_masks_free(&masks);
  return status;
}

RfStatus rf_wp_05(RfClaimRun *run) {
  RfStatus status = RF_OK;
  double lam[RF_WP_MOST], norms[2], w[2 * RF_WP_MOST_D], norm = NAN, longest = NAN;
  for (rf_index k = 0; k < rf_claim_repetitions(run, 20) && !status; k++) { /* random lam */
    char spec[64];
    RfDataset data;
    RfRandom random = rf_claim_random(run, (uint64_t)k);
    rf_format(spec, sizeof spec, "gaussian,n=%d,d=%d,seed=%d", 2 + (int)(k % 6), 2 + (int)(k % 2),
              rf_wp_seed(run, k));
    status = rf_claim_generate(run, &data, spec);
    if (status) break;
    for (rf_index i = 0; i < data.n; i++) lam[i] = data.y[i] * rf_random_uniform(&random);
    status = equal_maxima(run, &norm, data.X, data.n, data.d, lam);
    rf_dataset_free(&data);
  }
  static const char *const named[] = {"DS-WP1", "DS-PL2"};
  for (int k = 0; k < 2 && !status; k++) { /* a feasible lam: convex KKT */
    RfDataset data;
    status = rf_claim_generate(run, &data, named[k]);
    if (status) break;
    status = rf_wp_class_vectors(run->context, norms, w, lam, &data);
    double a[] = {1, -1};
    RfNet net = {.m = 2, .d = 2, .W = w, .a = a};
    if (!status) status = equal_maxima(run, &norm, data.X, data.n, 2, lam);
    if (!status) status = convex_kkt(run, &longest, data.X, data.n, 2, lam);
    if (!status) neuron_masks(run, &net, data.X, data.n, lam, k == 0);
    if (!status) primal_side(run, &net, &data, lam);
    rf_claim_at_most(run, "feasible lam", norm, 1, 1e-9);
    rf_claim_at_most(run, "|X^T D_j lam +- X^T (2D_j - I) z|", longest, 1, 1e-9);
    rf_dataset_free(&data);
  }
  /* negative control: the KKT point (0,2), 2 of VSS Theorem 3.2 has lam = (2,2), which is not feasible */
  const double X[] = {1, 0.25, -1, 0.25}, two[] = {2, 2};
  if (!status) status = equal_maxima(run, &norm, X, 2, 2, two);
  if (!status) status = convex_kkt(run, &longest, X, 2, 2, two);
  rf_claim_close(run, "negative control, (16)", norm, 2 * sqrt(1 + 1. / 16), 1e-9);
  rf_claim_close(run, "negative control, no z helps", longest, 2 * sqrt(1 + 1. / 16), 1e-9);
  return status;
}

/* ---- WP-06, WP-07: Proposition 4 and its lemmas ------------------------------------------------- */

RfStatus rf_wp_06(RfClaimRun *run) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < 2 * rf_claim_repetitions(run, 20) && !status; k++) {
    char spec[64];
    RfDataset data;
    double norms[2], w[2 * RF_WP_MOST_D], lam[RF_WP_MOST], norm = NAN;
    rf_format(spec, sizeof spec, "DS-OS(%s),seed=%d", k % 2 ? "10,10,5,0.05" : "5,5,3,0.2",
              rf_wp_seed(run, k / 2));
    status = rf_claim_generate(run, &data, spec);
    if (status) break;
    status = rf_wp_class_vectors(run->context, norms, w, lam, &data);
    for (rf_index i = 0; i < data.n && !status; i++) {
      const double *own = w + (data.y[i] > 0 ? 0 : data.d);
      rf_claim_at_least(run, "masks cover both classes", rf_la_dot(data.X + i * data.d, own, data.d), 1,
                        1e-9);
      rf_claim_at_least(run, "y lam >= 0", data.y[i] * lam[i], 0, 0);
    }
    if (!status) status = rf_wp_dual_norm(run->context, &norm, NULL, data.X, data.n, data.d, lam, 0);
    rf_claim_at_most(run, "max |lam^T (Xu)_+|", norm, 1, 1e-9);
    rf_dataset_free(&data);
  }
  return status;
}

typedef struct Lemma5 {
  const RfDataset *data;
  uint64_t mask0;
  double lam[RF_WP_MOST], u0[RF_WP_MOST_D];
  rf_index agreeing, others, violating; /* masks with the hypothesis, without it, of these where (52) fails */
} Lemma5;

/* Dhat0: random, on the positive samples the mask of a direction (so that some D_j agree); lam random with
 * y lam >= 0, scaled to |X^T Dhat0 lam| = 1. */
static bool draw_lemma(Lemma5 *lemma, RfRandom *random) {
  const RfDataset *data = lemma->data;
  double u[RF_WP_MOST_D], size;
  rf_random_direction(random, u, data->d);
  lemma->mask0 = 0;
  for (rf_index i = 0; i < data->n; i++) {
    lemma->lam[i] = data->y[i] * rf_random_uniform(random);
    bool in = lemma->lam[i] > 0 ? rf_la_dot(data->X + i * data->d, u, data->d) > 0
                                : rf_random_below(random, 2) == 0;
    if (in) lemma->mask0 |= (uint64_t)1 << i;
  }
  rf_wp_masked(lemma->u0, data->X, data->n, data->d, lemma->mask0, lemma->lam);
  size = rf_la_norm(lemma->u0, data->d);
  if (!(size > 1e-3)) return false;
  rf_la_scale(lemma->u0, 1 / size, data->d);
  rf_la_scale(lemma->lam, 1 / size, data->n);
  return true;
}

/* One D_j that agrees with Dhat0 where lam > 0: z_n = -lam_n at the differences gives u0, and (52) holds. */
static RfStatus check_lemma5(RfClaimRun *run, Lemma5 *lemma, uint64_t mask) {
  const RfDataset *data = lemma->data;
  rf_index n = data->n, d = data->d;
  double reached[RF_WP_MOST_D], most;
  bool agrees = true;
  for (rf_index i = 0; i < n; i++)
    if ((mask ^ lemma->mask0) >> i & 1 && lemma->lam[i] > 0) agrees = false;
  if (!agrees && lemma->others++ % 16)
    return RF_OK; /* most masks: some of them are enough to see (52) fail */
  RfStatus status = rf_wp_cone_maximum(run->context, &most, NULL, data->X, n, d, mask, lemma->lam);
  if (status) return status;
  rf_wp_masked(reached, data->X, n, d, mask, lemma->lam);
  for (rf_index i = 0; i < n; i++) {
    if (!((mask ^ lemma->mask0) >> i & 1)) continue;
    rf_la_axpy(reached, (mask >> i & 1 ? 1 : -1) * -lemma->lam[i], data->X + i * d, d);
  }
  if (!agrees) {
    lemma->violating += most > 1 + 1e-6;
    return RF_OK;
  }
  lemma->agreeing++;
  for (rf_index k = 0; k < d; k++)
    rf_claim_close(run, "(58): X^T D_j lam + X^T (2D_j - I) z = u0", reached[k], lemma->u0[k], 1e-10);
  rf_claim_at_most(run, "(52)", most, 1, 1e-9);
  return RF_OK;
}

/* Lemma 6: |X^T D lam| <= |X^T Dhat0 lam| for sub-masks, on orthogonally separable data. */
static void check_lemma6(RfClaimRun *run, const Lemma5 *lemma, RfRandom *random) {
  const RfDataset *data = lemma->data;
  for (int k = 0; k < 20; k++) {
    double part[RF_WP_MOST_D];
    rf_wp_masked(part, data->X, data->n, data->d, lemma->mask0 & rf_random_u64(random), lemma->lam);
    rf_claim_at_most(run, "Lemma 6: a sub-mask is shorter", rf_la_norm(part, data->d), 1, 1e-9);
  }
}

/* 20 data sets of each of two shapes; Dhat0 and lam are drawn until some D_j agree. */
RfStatus rf_wp_07(RfClaimRun *run) {
  static const char *const shapes[] = {"5,5,3,0.2", "10,10,5,0.05"};
  static const char *const names[] = {"DS-OS(5,5,3,0.2) with agreeing masks",
                                      "DS-OS(10,10,5,0.05) with agreeing masks"};
  RfStatus status = RF_OK;
  rf_index agreeing = 0, violating = 0, sets = rf_claim_repetitions(run, 20);
  for (rf_index k = 0; k < 2 * sets && !status; k++) {
    char spec[64];
    RfDataset data;
    RfWpMasks masks;
    RfRandom random = rf_claim_random(run, (uint64_t)k);
    rf_format(spec, sizeof spec, "DS-OS(%s),seed=%d", shapes[k % 2], rf_wp_seed(run, k / 2));
    status = rf_claim_generate(run, &data, spec);
    if (status) break;
    status = rf_wp_masks(run->context, &masks, data.X, data.n, data.d);
    Lemma5 lemma = {.data = &data};
    for (int draw = 0; draw < 20 && lemma.agreeing == 0 && !status; draw++) {
      if (!draw_lemma(&lemma, &random)) continue;
      for (rf_index j = 0; j < masks.count && !status; j++)
        status = check_lemma5(run, &lemma, masks.masks[j]);
      check_lemma6(run, &lemma, &random);
    }
    if (!status) rf_wp_masks_free(&masks);
    rf_claim_made(run, names[k % 2], lemma.agreeing > 0);
    agreeing += lemma.agreeing, violating += lemma.violating;
    rf_dataset_free(&data);
  }
  for (int k = 0; k < 2; k++) rf_claim_require(run, names[k], sets);
  rf_claim_note(run, "%lld masks with the hypothesis of Lemma 5; without it (52) fails on %lld",
                (long long)agreeing, (long long)violating);
  return status;
}
