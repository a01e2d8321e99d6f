/* Wang and Pilanci: spike-free matrices, the rectified ellipsoid and its polar set, and the two worked
 * examples of appendix F. WP-08, -09, -25, -26, -27. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/networks.h"
#include "kit/data.h"
#include "reluflow/certify.h"
#include "geometry/geometry.h"
#include "la/la.h"
#include "wp/wp.h"
#include "wp/figures.h"

/* ---- WP-08: Definition 2 ------------------------------------------------------------------------ */

/* |X^-1 (Xu)_+| for square X with inverse Y. */
static double needed(const double *X, const double *Y, const double *u, rf_index n) {
  double p[RF_WP_MOST_D], z[RF_WP_MOST_D];
  rf_la_apply(p, X, u, n, n, n);
  for (rf_index i = 0; i < n; i++) p[i] = fmax(0, p[i]);
  rf_la_apply(z, Y, p, n, n, n);
  return rf_la_norm(z, n);
}

static RfStatus inverse(RfContext *context, double *Y, const double *X, rf_index n) {
  for (rf_index j = 0; j < n; j++) {
    double A[RF_WP_MOST_D * RF_WP_MOST_D], b[RF_WP_MOST_D] = {0};
    memcpy(A, X, (size_t)(n * n) * sizeof *A);
    b[j] = 1;
    RfStatus status = rf_la_solve(context, A, b, n);
    if (status) return status;
    for (rf_index i = 0; i < n; i++) Y[i * n + j] = b[i];
  }
  return RF_OK;
}

/* (XX^T)^-1 = Y^T Y has no positive entry off the diagonal. */
static bool sign_test(const double *Y, rf_index n) {
  for (rf_index i = 0; i < n; i++)
    for (rf_index j = 0; j < i; j++) {
      double entry = 0;
      for (rf_index k = 0; k < n; k++) entry += Y[k * n + i] * Y[k * n + j];
      if (entry > 0) return false;
    }
  return true;
}

/* The maximum of |X^-1 (Xu)_+| over 1e5 angles, or over random directions in higher dimension. */
static double sampled_number(const double *X, const double *Y, rf_index n, RfRandom *random) {
  double u[RF_WP_MOST_D], best = 0;
  for (int k = 0; k < (n == 2 ? 100000 : 2000); k++) {
    double angle = 2 * 3.14159265358979323846 * k / 100000;
    if (n == 2)
      u[0] = cos(angle), u[1] = sin(angle);
    else
      rf_random_direction(random, u, n);
    best = fmax(best, needed(X, Y, u, n));
  }
  return best;
}

/* The three tests agree. Returns the spike number of the library. */
static RfStatus three_tests(RfClaimRun *run, double *number, const double *X, rf_index n, RfRandom *random) {
  RfSpikeFree spike;
  double Y[RF_WP_MOST_D * RF_WP_MOST_D];
  RfStatus status = inverse(run->context, Y, X, n);
  if (!status) status = rf_geometry_spike_free(run->context, &spike, X, n, n, 0);
  if (status) return status;
  bool free_of_spikes = spike.holds == RF_YES;
  double sampled = sampled_number(X, Y, n, random);
  *number = spike.number;
  rf_claim_true(run, "sign test of (XX^T)^-1", sign_test(Y, n) == free_of_spikes);
  if (n == 2) rf_claim_true(run, "sign of <x1,x2>", (rf_la_dot(X, X + 2, 2) >= 0) == free_of_spikes);
  rf_claim_at_most(run, "no sampled direction needs more", sampled, spike.number,
                   1e-9 * fmax(1, spike.number));
  if (n == 2) rf_claim_relative(run, "spike number on 1e5 angles", sampled, spike.number, 1e-4);
  if (!free_of_spikes)
    rf_claim_relative(run, "spike number at its witness", needed(X, Y, spike.witness, n), spike.number,
                      1e-9 * fmax(1, spike.number));
  rf_spike_free_free(&spike);
  return RF_OK;
}

/* DS-WP1: on the spike along axis 1, (Xu)_+ = (|x1|,0) at u = x1/|x1|, so the number is |x1| |X^-1 e1| =
 * |x1||x2|/|det X|. (30) as printed asks (I - XX^T)(Xu)_+ = 0: with I - XX^T regular that leaves (Xu)_+ = 0.
 */
RfStatus rf_wp_08(RfClaimRun *run) {
  static const char *const named[] = {"DS-WP1", "DS-WP2"};
  RfStatus status = RF_OK;
  double number = NAN;
  RfRandom random = rf_claim_random(run, 0);
  for (int k = 0; k < 2 && !status; k++) {
    RfDataset data;
    status = rf_claim_generate(run, &data, named[k]);
    if (status) break;
    const double *x = data.X;
    double gram = rf_la_dot(x, x + 2, 2), s1 = rf_la_dot(x, x, 2), s2 = rf_la_dot(x + 2, x + 2, 2);
    double formula = k ? 1 : sqrt(s1 * s2) / fabs(x[0] * x[3] - x[1] * x[2]);
    double regular = (1 - s1) * (1 - s2) - gram * gram; /* det(I - XX^T): not 0 leaves (Xu)_+ = 0 only */
    double as_it_stands = fabs(regular) > 1e-9 ? 0 : NAN;
    status = three_tests(run, &number, x, 2, &random);
    rf_claim_relative(run, k ? "spike number, DS-WP2" : "spike number, DS-WP1", number, formula, 1e-9);
    if (k == 0)
      rf_claim_misprint(run, "MP-WP-09", "(30) on DS-WP1", as_it_stands, formula, number,
                        fabs(as_it_stands - number) <= 1e-9 * number);
    if (k == 1)
      rf_claim_misprint(run, "MP-WP-03", "1 when the data of F.2 have a spike", 1, 0, number > 1 + 1e-9,
                        number > 1 + 1e-9);
    rf_dataset_free(&data);
  }
  rf_index tried = rf_claim_repetitions(run, 1000), holds = 0;
  for (rf_index k = 0; k < tried && !status; k++) {
    rf_index n = k % 5 ? 3 : 2;
    double X[9];
    for (rf_index j = 0; j < n * n; j++) X[j] = rf_random_gaussian(&random);
    if (n == 2 && k > 100) continue; /* the grid is the costly part */
    status = three_tests(run, &number, X, n, &random);
    holds += n == 3 && number <= 1;
  }
  rf_claim_note(run, "%.1f percent of Gaussian 3 x 3 matrices are spike-free",
                125. * (double)holds / (double)tried);
  return status;
}

/* ---- WP-09: Proposition 5 and Remark 1 ---------------------------------------------------------- */

/* A KKT point of the flow on spike-free X. True when it has a positive and a negative neuron whose masks
 * cover the two classes (a class without samples needs none). Neurons may stand on hyperplanes of the other
 * class. */
static bool covering(const RfFlowLimit *limit, const double *X, const double *y, rf_index n, rf_index *plus,
                     rf_index *minus) {
  rf_index d = limit->net.d;
  bool need[] = {false, false};
  *plus = *minus = -1;
  for (rf_index i = 0; i < n; i++) need[y[i] > 0 ? 0 : 1] = true;
  for (rf_index k = 0; k < limit->net.m; k++) {
    const double *w = limit->net.W + k * d;
    double size = rf_la_norm(w, d), a = limit->net.a[k];
    bool covers = size > 1e-6;
    for (rf_index i = 0; i < n && covers; i++) {
      double side = rf_la_dot(X + i * d, w, d) / (size * rf_la_norm(X + i * d, d));
      if (y[i] * a > 0 && side <= 1e-7) covers = false;
    }
    if (covers) *(a > 0 ? plus : minus) = k;
  }
  return (!need[0] || *plus >= 0) && (!need[1] || *minus >= 0);
}

/* max over Xu >= 0, |u| <= 1 of lam^T X u. */
static RfStatus on_cone(RfContext *context, double *value, const double *X, rf_index n, const double *lam) {
  return rf_wp_cone_maximum(context, value, NULL, X, n, n, ~(uint64_t)0, lam);
}

/* (65), (67), (69) at random u: lam^T (Xu)_+ <= lam^T D (Xu)_+ <= lam^T Y+ (Xu)_+ and the middle one <= 1. D
 * lam = X^-T w+/a+ is `masked`; on a kink of the other class D is a fraction. */
static void inequalities(RfClaimRun *run, const double *X, const double *y, rf_index n, const double *lam,
                         const double *masked, RfRandom *random) {
  for (int k = 0; k < 50; k++) {
    double u[RF_WP_MOST_D], low = 0, middle = 0, high = 0;
    rf_random_direction(random, u, n);
    for (rf_index i = 0; i < n; i++) {
      double part = fmax(0, rf_la_dot(X + i * n, u, n));
      low += lam[i] * part, middle += masked[i] * part;
      if (y[i] > 0) high += lam[i] * part;
    }
    rf_claim_at_most(run, "(67), left", low, middle, 1e-8);
    rf_claim_at_most(run, "(67), right", middle, high, 1e-8);
    rf_claim_at_most(run, "(69)", middle, 1, 1e-8);
  }
}

/* One KKT point with covering masks. *mixed: largest of max lam^T Y+ (Xu)_+ over max lam^T (Xu)_+. */
static RfStatus spike_free_point(RfClaimRun *run, const RfFlowLimit *limit, const double *X, const double *y,
                                 rf_index n, rf_index plus, RfRandom *random, double *mixed) {
  double lam[RF_WP_MOST], only[RF_WP_MOST], norm, rectified, cone, printed, u[RF_WP_MOST_D];
  double T[RF_WP_MOST_D * RF_WP_MOST_D], masked[RF_WP_MOST_D];
  for (rf_index i = 0; i < n; i++) lam[i] = y[i] * limit->lambda[i], only[i] = fmax(0, lam[i]);
  RfStatus status = rf_wp_dual_norm(run->context, &norm, NULL, X, n, n, lam, 0);
  rf_claim_at_most(run, "lam is feasible (16)", norm, 1, 1e-7);
  if (status || plus < 0) return status;
  const double *w = limit->net.W + plus * n;
  status = rf_wp_dual_norm(run->context, &rectified, u, X, n, n, lam, 1);
  if (!status) status = on_cone(run->context, &cone, X, n, lam);
  if (!status) status = rf_wp_dual_norm(run->context, &printed, NULL, X, n, n, only, 1);
  if (status) return status;
  rf_claim_close(run, "max lam^T (Xu)_+ = max over Xu >= 0", rectified, cone, 1e-7);
  rf_claim_close(run, "max lam^T (Xu)_+ = 1", rectified, 1, 1e-7);
  for (rf_index j = 0; j < n; j++) {
    u[j] = masked[j] = w[j] / limit->net.a[plus];
    for (rf_index i = 0; i < n; i++) T[j * n + i] = X[i * n + j];
  }
  status = rf_la_solve(run->context, T, masked, n);
  rf_claim_close(run, "attained at w+/a+", rf_wp_rectified(X, n, n, lam, u), 1, 1e-7);
  rf_claim_at_least(run, "(65)", printed, rectified, 1e-9);
  *mixed = fmax(*mixed, printed / rectified);
  if (!status) inequalities(run, X, y, n, lam, masked, random);
  return status;
}

/* Flow limits from random starts on one spike-free X, until `wanted` have covering masks. */
static RfStatus spike_free_runs(RfClaimRun *run, const double *X, const double *y, rf_index n,
                                rf_index wanted, RfRandom *random, rf_index *kept, double *mixed) {
  RfStatus status = RF_OK;
  rf_index here = 0;
  for (rf_index k = 0; k < 100 * wanted && here < wanted && !status; k++) {
    RfNet net;
    RfFlowResult flow;
    rf_index plus, minus;
    status = rf_net_init(run->context, &net, RF_INIT_BALANCED, 6, n, 0, rf_random_u64(random) >> 1, 1);
    if (status) break;
    for (rf_index p = 0; p < 6; p++) rf_la_scale(net.W + p * n, 0.5, n), net.a[p] *= 0.5;
    status = rf_claim_limit(run, &flow, &net, X, y, n, RF_LOSS_LOGISTIC);
    rf_net_free(&net);
    if (status == RF_NOT_SEPARABLE || status == RF_UNDECIDED) {
      rf_claim_dropped(run, "KKT points with covering masks", 1);
      status = RF_OK;
      continue;
    }
    if (status) break;
    if (covering(&flow.limit, X, y, n, &plus, &minus)) {
      ++*kept, here++;
      status = spike_free_point(run, &flow.limit, X, y, n, plus, random, mixed);
    } else {
      rf_claim_dropped(run, "KKT points with covering masks", 1);
    }
    rf_flow_result_free(&flow);
  }
  return status;
}

RfStatus rf_wp_09(RfClaimRun *run) {
  RfDataset data;
  const double labels[][2] = {{1, 1}, {1, -1}};
  RfRandom random = rf_claim_random(run, 0);
  rf_index kept = 0, found = 0;
  double same = 1, mixed = 1, pair = 1;
  RfStatus status = rf_claim_generate(run, &data, "DS-WP2");
  if (status) return status;
  for (int k = 0; k < 2 && !status; k++)
    status = spike_free_runs(run, data.X, labels[k], 2, 4, &random, &kept, k ? &pair : &same);
  /* w+ stands on the hyperplane of x2: lam_1 |x1 - its part along x2| = 1, against lam_1 |x1| */
  double formula =
      rf_la_norm(data.X, 2) * rf_la_norm(data.X + 2, 2) / fabs(data.X[0] * data.X[3] - data.X[1] * data.X[2]);
  rf_dataset_free(&data);
  rf_index wanted = rf_claim_repetitions(run, 20);
  for (int draw = 0; draw < 20000 && found < wanted && !status; draw++) {
    double X[9], Y[9], y[3];
    for (int j = 0; j < 9; j++) X[j] = rf_random_gaussian(&random);
    status = inverse(run->context, Y, X, 3);
    if (status || !sign_test(Y, 3)) continue;
    for (int i = 0; i < 3; i++) y[i] = found % 2 ? 1 : i == (found / 2) % 3 ? -1 : 1;
    found++;
    status = spike_free_runs(run, X, y, 3, 3, &random, &kept, found % 2 ? &mixed : &same);
  }
  rf_claim_require(run, "KKT points with covering masks", 8 + 3 * wanted);
  rf_claim_made(run, "KKT points with covering masks", kept);
  rf_claim_close(run, "all labels 1: the second form of Remark 1 holds", same, 1, 1e-7);
  rf_claim_relative(run, "X of DS-WP2, y = (1,-1): max lam^T Y+ (Xu)_+", pair, formula, 1e-7);
  rf_claim_misprint(run, "MP-WP-19", "(64) on X of DS-WP2, y = (1,-1)", 1, formula, pair,
                    fabs(pair - 1) < 1e-7);
  rf_claim_at_least(run, "mixed labels: the second form fails", fmax(pair, mixed), 1.01, 0);
  rf_claim_note(run,
                "%lld KKT points with covering masks; mixed labels: the form with Y+ gives up to %.6f "
                "instead of 1",
                (long long)kept, fmax(pair, mixed));
  return status;
}

/* ---- WP-25: section 2.2 ------------------------------------------------------------------------- */

/* (11) and (12) for one lam on DS-WP1; inside the quadrant y lam >= 0 the two spikes alone give the norm. */
static RfStatus polar_set(RfClaimRun *run, const double *X, const double *lam, bool quadrant) {
  RfWpMasks masks;
  double norm, u[2], v[2], most = 0;
  RfStatus status = rf_wp_dual_norm(run->context, &norm, u, X, 2, 2, lam, 1);
  if (!status) status = rf_wp_masks(run->context, &masks, X, 2, 2);
  if (status) return status;
  for (rf_index j = 0; j < masks.count && !status; j++) {
    double value;
    status = rf_wp_cone_maximum(run->context, &value, NULL, X, 2, 2, masks.masks[j], lam);
    if (!status) most = fmax(most, value);
  }
  rf_wp_masks_free(&masks);
  rf_claim_close(run, "(11): Q against projected ellipsoids", most, norm, 1e-8);
  rf_claim_close(run, "(11) on a grid of 1e5 angles", rf_wp_grid_norm(X, 2, lam, 1), norm, 1e-8);
  if (norm > 1e-9) {
    uint64_t mask = 0;
    for (int i = 0; i < 2; i++)
      if (rf_la_dot(X + 2 * i, u, 2) > 0) mask |= (uint64_t)1 << i;
    rf_wp_masked(v, X, 2, 2, mask, lam);
    double size = rf_la_norm(v, 2);
    for (int j = 0; j < 2; j++) rf_claim_close(run, "(12): u = X^T D(u) lam/|.|", u[j], v[j] / size, 1e-8);
  }
  if (quadrant && !status) {
    double spikes = fmax(rf_la_norm(X, 2) * fabs(lam[0]), rf_la_norm(X + 2, 2) * fabs(lam[1])), both;
    status = rf_wp_dual_norm(run->context, &both, NULL, X, 2, 2, lam, 0);
    rf_claim_close(run, "F.1: the two spikes give the polar set", both, spikes, 1e-8);
  }
  return status;
}

RfStatus rf_wp_25(RfClaimRun *run) {
  RfDataset data;
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = rf_claim_generate(run, &data, "DS-WP1");
  if (status) return status;
  double best[] = {1 / rf_la_norm(data.X, 2), -1 / rf_la_norm(data.X + 2, 2)};
  status = polar_set(run, data.X, best, true);
  for (rf_index k = 0; k < rf_claim_repetitions(run, 60) && !status; k++) {
    double lam[] = {rf_random_gaussian(&random), rf_random_gaussian(&random)};
    if (k % 2) lam[0] = fabs(lam[0]), lam[1] = -fabs(lam[1]);
    status = polar_set(run, data.X, lam, k % 2);
  }
  rf_dataset_free(&data);
  return status;
}

/* ---- WP-26, WP-27: appendix F ------------------------------------------------------------------- */

/* Printed to two digits. */
static bool as_printed(double value, double printed) { return fabs(value - printed) <= 0.005 + 1e-12; }

/* (129) with one constraint per sign of lam is the dual norm; as printed it asks -lam twice, which lam =
 * (L, -1/|x2|) satisfies for every L. Returns the value of the printed program at L = 1e4. */
static RfStatus socp(RfClaimRun *run, double *printed, const double *X) {
  double x1 = rf_la_norm(X, 2), x2 = rf_la_norm(X + 2, 2), sizes[] = {1 / x1, 1, 1e2, 1e4};
  RfWpMasks masks;
  RfStatus status = rf_wp_masks(run->context, &masks, X, 2, 2);
  if (status) return status;
  for (int k = 0; k < 4 && !status; k++) {
    double lam[] = {sizes[k], -1 / x2}, mirrored[] = {-lam[0], -lam[1]}, up = 0, down = 0, norm;
    for (rf_index j = 0; j < masks.count && !status; j++) {
      double value, other = NAN;
      status = rf_wp_cone_maximum(run->context, &value, NULL, X, 2, 2, masks.masks[j], lam);
      if (!status) status = rf_wp_cone_maximum(run->context, &other, NULL, X, 2, 2, masks.masks[j], mirrored);
      if (!status) up = fmax(up, value), down = fmax(down, other);
    }
    if (!status) status = rf_wp_dual_norm(run->context, &norm, NULL, X, 2, 2, lam, 0);
    if (status) break;
    rf_claim_relative(run, "(129) with both signs is the dual constraint", fmax(up, down), norm, 1e-9);
    rf_claim_at_most(run, "(129) as printed admits every lam_1", down, 1, 1e-9);
    *printed = down <= 1 + 1e-9 ? lam[0] - lam[1] : NAN;
  }
  rf_wp_masks_free(&masks);
  return status;
}

RfStatus rf_wp_26(RfClaimRun *run) {
  RfDataset data;
  RfOptimum optimum = {0};
  double unbounded = NAN;
  RfStatus status = rf_claim_generate(run, &data, "DS-WP1");
  if (status) return status;
  const double *X = data.X, printed[] = {0.58, -0.16, -0.23, 0.66};
  status = rf_wp_optimum(run->context, &optimum, &data);
  if (!status) status = socp(run, &unbounded, X);
  if (!status) {
    rf_claim_close(run, "neurons", (double)optimum.neurons, 2, 0);
    rf_claim_at_most(run, "gap", optimum.gap, 0, 1e-7);
    double total = 0;
    for (rf_index k = 0; k < 2 && optimum.neurons == 2; k++) {
      rf_index row = optimum.sign[k] > 0 ? 0 : 1;
      const double *x = X + 2 * row, *u = optimum.U + 2 * k;
      double size2 = rf_la_dot(x, x, 2);
      total += 1 / sqrt(size2);
      rf_claim_close(run, "lam = 1/|x|", optimum.lambda[row], 1 / sqrt(size2), 1e-7);
      for (int j = 0; j < 2; j++) {
        rf_claim_close(run, "neuron = x/|x|^2", u[j], x[j] / size2, 1e-7);
        if (row == 0 && j == 0)
          rf_claim_misprint(run, "MP-WP-01", "(128), first entry", printed[0], x[0] / size2, u[0],
                            as_printed(u[0], printed[0]));
        else
          rf_claim_close(run, "printed to two digits", u[j], printed[2 * row + j], 0.005);
      }
    }
    rf_claim_close(run, "Pcvx = 1/|x1| + 1/|x2|", optimum.objective, total, 1e-7);
    rf_claim_misprint(run, "MP-WP-11", "value of (129), lam_1 up to 1e4", unbounded, total, optimum.lower,
                      fabs(unbounded - optimum.lower) <= 1e-6 * optimum.lower);
  }
  rf_optimum_free(&optimum);
  rf_dataset_free(&data);
  return status ? status : rf_wp_draw_numbers(run);
}

RfStatus rf_wp_27(RfClaimRun *run) {
  RfDataset data;
  RfOptimum optimum = {0};
  RfStatus status = rf_claim_generate(run, &data, "DS-WP2");
  if (status) return status;
  double A[4], u[] = {1, 1}, B[4], lam[2];
  memcpy(A, data.X, sizeof A);
  status = rf_la_solve(run->context, A, u, 2); /* X u = 1 */
  double size = rf_la_norm(u, 2);
  for (int i = 0; i < 2; i++) /* X^T lam = u/|u| */
    for (int j = 0; j < 2; j++) B[2 * j + i] = data.X[2 * i + j];
  lam[0] = u[0] / size, lam[1] = u[1] / size;
  if (!status) status = rf_la_solve(run->context, B, lam, 2);
  if (!status) status = rf_wp_optimum(run->context, &optimum, &data);
  if (!status) {
    rf_claim_close(run, "neurons", (double)optimum.neurons, 1, 0);
    rf_claim_at_most(run, "gap", optimum.gap, 0, 1e-7);
    rf_claim_close(run, "Pcvx = |X^-1 1|", optimum.objective, size, 1e-7);
    for (int j = 0; j < 2; j++) {
      rf_claim_close(run, "neuron = X^-1 1", optimum.U[j], u[j], 1e-7);
      rf_claim_close(run, "lam", optimum.lambda[j], lam[j], 1e-7);
    }
    rf_claim_close(run, "second entry, printed to two digits", optimum.U[1], 0.59, 0.005);
    rf_claim_misprint(run, "MP-WP-02", "(130), first entry", 0.43, u[0], optimum.U[0],
                      as_printed(optimum.U[0], 0.43));
  }
  rf_optimum_free(&optimum);
  rf_dataset_free(&data);
  return status;
}
