/* Claims on orthogonal and nearly orthogonal samples: NB-01 (Frei et al.), NB-04 (Vardi, Yehudai, Shamir). */
#include <math.h>
#include <string.h>

#include "kit/setting.h"
#include "la/la.h"
#include "neighbours/neighbours.h"
#include "certify/certify.h"
#include "reluflow/optimum.h"

/* ---- NB-01 ------------------------------------------------------------------------------------------- */

enum { most_n = 6, most_d = 60, width = 6 };

/* a_k = +-1/sqrt m in turn, frozen. A KKT point of min |W|^2 s.t. y_i f(x_i) >= 1 has
 * w_k = a_k sum_i lam_i y_i s_ik x_i. On orthogonal samples <w_k,x_i> = a_k lam_i y_i s_ik |x_i|^2 has the
 * sign of a_k y_i as soon as lam_i > 0, and lam_i = 0 would give f(x_i) = 0: so every lam_i > 0, all margins
 * are 1, s_ik = 1 where a_k y_i > 0 and leak elsewhere, and the point is the only one. w_k depends on the
 * sign of a_k alone: rank 2. With u for a > 0 and -v for a < 0, sign f(x) = sign <u+v,x>. On nearly
 * orthogonal samples the same patterns give lam from a linear system, and where nearly_orthogonal() holds no
 * KKT point has others. Without it some do: Gaussian samples in R^60, seed 8000044. */
typedef struct Frozen {
  rf_index n, d;
  double X[most_n * most_d], y[most_n], leak;
  double lam[most_n], rows[2 * most_d]; /* u, -v */
} Frozen;

static double slope_of(const Frozen *f, rf_index i, int side) { return f->y[i] * side > 0 ? 1 : f->leak; }

/* Gauss without pivoting is enough: the matrix is nearly diagonal. False when a multiplier is not positive or
 * a pattern is not the one assumed. */
static bool solve(Frozen *f) {
  double A[most_n][most_n + 1];
  for (rf_index i = 0; i < f->n; i++) {
    for (rf_index j = 0; j < f->n; j++) {
      double shared = 0; /* sum_k a_k^2 s_ik s_jk */
      for (int side = -1; side <= 1; side += 2) shared += 0.5 * slope_of(f, i, side) * slope_of(f, j, side);
      A[i][j] = shared * f->y[i] * f->y[j] * rf_la_dot(f->X + i * f->d, f->X + j * f->d, f->d);
    }
    A[i][f->n] = 1;
  }
  for (rf_index p = 0; p < f->n; p++)
    for (rf_index i = 0; i < f->n; i++) {
      double factor = i == p ? 0 : A[i][p] / A[p][p];
      for (rf_index j = p; j <= f->n; j++) A[i][j] -= factor * A[p][j];
    }
  bool fits = true;
  memset(f->rows, 0, sizeof f->rows);
  for (rf_index i = 0; i < f->n; i++) {
    f->lam[i] = A[i][f->n] / A[i][i], fits = fits && f->lam[i] > 0;
    for (int s = 0; s < 2; s++) {
      int side = s ? -1 : 1;
      rf_la_axpy(f->rows + s * most_d, side * f->lam[i] * f->y[i] * slope_of(f, i, side) / sqrt(width),
                 f->X + i * f->d, f->d);
    }
  }
  for (rf_index i = 0; i < f->n; i++)
    for (int s = 0; s < 2; s++)
      fits = fits && (s ? -1 : 1) * f->y[i] * rf_la_dot(f->rows + s * most_d, f->X + i * f->d, f->d) > 0;
  return fits;
}

/* The margins of a KKT point are q_i = sum_j lam_j y_i y_j <x_i,x_j> c_ij with c_ij in [leak^2,1]. With r the
 * sum of |<x_i,x_j>| over j != i at most, the largest multiplier, whose margin is 1, is at most L =
 * 1/(leak^2 min|x|^2 - r), and each at least (1 - L r)/max|x|^2, margins being at least 1. <w_k,x_i> has the
 * sign of a_k y_i when lam_i leak |x_i|^2 > L r. */
static bool nearly_orthogonal(const Frozen *f) {
  double shortest = INFINITY, longest = 0, r = 0;
  for (rf_index i = 0; i < f->n; i++) {
    double own = rf_la_dot(f->X + i * f->d, f->X + i * f->d, f->d), others = -own;
    for (rf_index j = 0; j < f->n; j++) others += fabs(rf_la_dot(f->X + i * f->d, f->X + j * f->d, f->d));
    shortest = fmin(shortest, own), longest = fmax(longest, own), r = fmax(r, others);
  }
  double L = 1 / (f->leak * f->leak * shortest - r);
  return L > 0 && (1 - L * r) / longest * f->leak * shortest > L * r;
}

/* Orthogonal samples in R^6, or in R^60 with the largest of 1, 1/2, 1/4, ... times a Gaussian vector of
 * length about 1 added to each that leaves them nearly orthogonal. */
static void draw_samples(Frozen *f, RfRandom *random, bool exact) {
  double noise[most_n * most_d], sizes[most_n];
  f->n = most_n, f->d = exact ? most_n : most_d, f->leak = 0.1 + 0.8 * rf_random_uniform(random);
  for (rf_index i = 0; i < f->n; i++) {
    f->y[i] = i == 0 ? 1 : i == 1 ? -1 : rf_random_sign(random);
    sizes[i] = 0.5 + rf_random_uniform(random);
  }
  for (rf_index p = 0; p < f->n * f->d; p++) noise[p] = rf_random_gaussian(random) / sqrt((double)f->d);
  for (double share = exact ? 0 : 1;; share /= 2) {
    for (rf_index p = 0; p < f->n * f->d; p++)
      f->X[p] = share * noise[p] + (p % f->d == p / f->d ? sizes[p / f->d] : 0);
    if (nearly_orthogonal(f)) break;
  }
}

/* The limit from one start against the prediction. */
static RfStatus judge_start(RfClaimRun *run, const Frozen *f, RfRandom *random) {
  double W[width * most_d], a[width], values[most_d], size = 0;
  RfFlowStart from = {0};
  RfFlowResult flow = {0};
  RfFlowSettings settings;
  for (rf_index k = 0; k < width; k++) {
    a[k] = (k % 2 ? -1 : 1) / sqrt(width);
    size += rf_la_dot(f->rows + k % 2 * most_d, f->rows + k % 2 * most_d, f->d);
    for (rf_index j = 0; j < f->d; j++) W[k * f->d + j] = rf_random_gaussian(random) / sqrt((double)f->d);
  }
  RfNet start = {.m = width, .d = f->d, .W = W, .a = a, .leak = f->leak};
  RfStatus status = rf_flow_start_from_net(run->context, &from, &start);
  RfFlowProblem problem = {
      .X = f->X, .y = f->y, .n = f->n, .d = f->d, .leak = f->leak, .start = &from, .freeze_second = true};
  rf_flow_settings_init(&settings);
  settings.with_alignment = settings.check_direction = false;
  if (!status) status = rf_claim_run_flow(run, &flow, &problem, &settings);
  if (!status && flow.limit.outcome == RF_FLOW_CONVERGED) {
    const RfNet *net = &flow.limit.net;
    double scale = sqrt(rf_la_dot(net->W, net->W, width * f->d)), worst = 0;
    for (rf_index k = 0; k < width; k++)
      for (rf_index j = 0; j < f->d; j++)
        worst = fmax(worst, fabs(net->W[k * f->d + j] / scale - f->rows[k % 2 * most_d + j] / sqrt(size)));
    rf_claim_at_most(run, "limit against the one KKT point", worst, 0, 1e-7);
    status = rf_la_singular(run->context, values, NULL, net->W, width, f->d);
    rf_claim_at_most(run, "third singular value over the first", values[2] / values[0], 0, 1e-7);
    RfFrozenVerdict verdict;
    if (!status) status = rf_certify_frozen(run->context, &verdict, net, f->X, f->y, f->n);
    if (!status) {
      rf_claim_true(run, "certified as the global optimum of the first layer",
                    verdict.global == RF_VERDICT_OPTIMUM);
      rf_frozen_verdict_free(&verdict);
    }
    rf_claim_made(run, "limits", 1);
  } else if (!status || status == RF_UNDECIDED) {
    rf_claim_dropped(run, "limits", 1), status = RF_OK;
  }
  rf_flow_result_free(&flow);
  rf_flow_start_free(&from);
  return status;
}

/* sign f(x) = sign <u+v,x>, and all margins are equal, at the predicted point. */
static void judge_point(RfClaimRun *run, const Frozen *f, RfRandom *random) {
  double x[most_d];
  for (rf_index k = 0; k < 200 + f->n; k++) {
    double sum = 0, along = 0;
    for (rf_index j = 0; j < f->d; j++) x[j] = k < f->n ? f->X[k * f->d + j] : rf_random_gaussian(random);
    for (int s = 0; s < 2; s++) {
      double z = rf_la_dot(f->rows + s * most_d, x, f->d);
      sum += (s ? -1 : 1) * sqrt(width) / 2 * (z > 0 ? z : f->leak * z), along += (s ? -1 : 1) * z;
    }
    if (k < f->n)
      rf_claim_close(run, "margins are equal", f->y[k] * sum, 1, 1e-9);
    else
      rf_claim_true(run, "sign f(x) = sign <u+v,x>", sum * along > 0);
  }
}

RfStatus rf_nb_01(RfClaimRun *run) {
  RfStatus status = RF_OK;
  rf_index sets = 2 * rf_claim_repetitions(run, 5), starts = 4;
  rf_claim_require(run, "limits", sets * starts * 3 / 4);
  for (rf_index k = 0; k < sets && !status; k++) {
    RfRandom random = rf_claim_random(run, (uint64_t)k);
    Frozen f;
    draw_samples(&f, &random, k % 2 == 0);
    if (!solve(&f)) { /* not orthogonal enough for these patterns */
      rf_claim_dropped(run, "limits", starts);
      continue;
    }
    judge_point(run, &f, &random);
    for (rf_index s = 0; s < starts && !status; s++) status = judge_start(run, &f, &random);
  }
  rf_claim_note(run,
                "orthogonal samples, and nearly orthogonal ones in R^60, leak 0.1 to 0.9, four starts each");
  return status;
}

/* ---- NB-04 ------------------------------------------------------------------------------------------- */

/* Orthonormal samples, ReLU: the dual is lam_i = 1/sqrt(n+-), its only tight directions are those of
 * w+ = sum of the positives and w- of the negatives, so that the optimal network, a KKT point, is
 * f(x) = c (phi<w+,x> - phi<w-,x>). For a positive sample
 * f(x+delta)/c >= min(1 + <w+,delta>, 1 + <w+ - w-,delta>) >= 1 - sqrt(n)|delta|: no perturbation below
 * 1/sqrt n flips it. delta = (w- - w+)/n (1+e), of length (1+e)/sqrt n, flips every positive sample, -delta
 * every negative one. */
static RfStatus judge_flips(RfClaimRun *run, const RfNet *net, const double *y, rf_index n,
                            RfRandom *random) {
  enum { draws = 200 };
  double length = 1 / sqrt((double)n);
  RfStatus status = RF_OK;
  for (rf_index i = 0; i < n; i++)
    for (int k = 0; k < draws + 2 && !status; k++) {
      double x[16], delta[16], f,
          size = length * (k == 0   ? 1.001
                           : k == 1 ? 0.999
                                    : 0.999 * rf_random_uniform(random));
      if (k >= 2) rf_random_direction(random, delta, n);
      for (rf_index j = 0; j < n; j++) {
        if (k < 2) delta[j] = -y[i] * y[j] * length;
        x[j] = (j == i) + size * delta[j];
      }
      status = rf_net_outputs(run->context, &f, net, x, 1);
      if (k == 0)
        rf_claim_true(run, "the perturbation of length 1.001/sqrt n flips every sample", y[i] * f < 0);
      else
        rf_claim_true(run, "none below 1/sqrt n flips one", y[i] * f > 0);
    }
  return status;
}

RfStatus rf_nb_04(RfClaimRun *run) {
  RfStatus status = RF_OK;
  for (rf_index n = 3; n <= 8 && !status; n++) {
    double X[64] = {0}, y[8], W[64], a[8], plus = 0, minus = 0;
    RfRandom random = rf_claim_random(run, (uint64_t)n);
    RfOptimum best = {0};
    RfOptimumSettings settings;
    for (rf_index i = 0; i < n; i++) {
      X[i * n + i] = 1, y[i] = i == 0 ? 1 : i == 1 ? -1 : rf_random_sign(&random);
      plus += y[i] > 0, minus += y[i] < 0;
    }
    rf_optimum_settings_init(&settings);
    status = rf_optimum_solve(run->context, &best, X, y, n, n, &settings);
    if (!status) {
      rf_claim_at_most(run, "gap of the optimal network", best.gap, 0, 1e-7);
      rf_claim_relative(run, "its objective against sqrt(n+) + sqrt(n-)", best.objective,
                        sqrt(plus) + sqrt(minus), 1e-7);
      rf_claim_true(run, "two neurons", best.neurons == 2);
    }
    for (rf_index k = 0; !status && best.neurons <= 8 && k < best.neurons; k++) {
      double size = rf_la_norm(best.U + k * n, n);
      a[k] = best.sign[k] * sqrt(size);
      for (rf_index j = 0; j < n; j++) W[k * n + j] = best.U[k * n + j] / sqrt(size);
    }
    RfNet net = {.m = best.neurons, .d = n, .W = W, .a = a};
    if (!status && best.neurons <= 8) status = judge_flips(run, &net, y, n, &random);
    RfRobustness robust = {0};
    if (!status && best.neurons <= 8) status = rf_certify_robustness(run->context, &robust, &net, X, y, n, 0);
    for (rf_index i = 0; robust.distance && i < n && !status; i++)
      rf_claim_close(run, "exact distance to the decision boundary against 1/sqrt n", robust.distance[i],
                     1 / sqrt((double)n), 1e-9);
    if (!status)
      rf_claim_close(run, "one perturbation flips all at 1/sqrt n", robust.universal, 1 / sqrt((double)n),
                     1e-6);
    rf_robustness_free(&robust);
    rf_optimum_free(&best);
  }
  rf_claim_note(run, "3 to 8 orthonormal samples; opposite classes are sqrt 2 apart");
  return status;
}
