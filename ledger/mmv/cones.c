/* Min, Mallada, Vidal: the geometry of separated data. MMV-01: Assumption 1 on the cone K of the z_i; MMV-02:
 * the cones S+, S-, Sdead; MMV-03: the constants zeta1 and xi; MMV-04: Assumption 2; MMV-05: the slope of the
 * loss near 0; MMV-09: the sum of active samples. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mmv/mmv.h"
#include "core/core.h"
#include "geometry/geometry.h"
#include "la/la.h"
#include "theory/theory.h"
#include "kit/samples.h"
#include "kit/setting.h"

static const char *const separated_sets[] = {"gen:DS-OS(5,5,5,0.5,0)",
                                             "gen:DS-OS(5,5,5,0.1,1)",
                                             "gen:DS-OS(5,5,5,0.01,2)",
                                             "gen:DS-OS(5,5,2,0.2,3)",
                                             "gen:DS-PL2",
                                             "gen:DS-M2(0.1)"};
enum { n_sets = 6 };

RfStatus rf_mmv_bounds(RfContext *context, RfAlignmentBounds *bounds, RfPairFacts *pairs,
                       const RfDataset *data, RfLoss loss) {
  RfStatus status = rf_geometry_pairs(context, pairs, data->X, data->y, data->n, data->d);
  RfTheoryProblem problem = {.data = data, .loss = loss, .pairs = pairs};
  if (!status) rf_theory_alignment(context, bounds, &problem);
  return status;
}

static RfStatus load_facts(RfClaimRun *run, RfDataset *data, RfAlignmentBounds *bounds, RfPairFacts *pairs,
                           const char *spec) {
  RfStatus status = rf_claim_data(run, data, spec, 1);
  if (!status) status = rf_mmv_bounds(run->context, bounds, pairs, data, RF_LOSS_EXP);
  return status;
}

/* ---- MMV-01: Assumption 1, Lemma 5, (18) --------------------------------------------------- */

static RfStatus rejected(RfClaimRun *run, const char *spec, bool zero) {
  RfDataset data = {0};
  RfAlignmentBounds bounds;
  RfPairFacts pairs;
  RfStatus status = load_facts(run, &data, &bounds, &pairs, spec);
  if (!status) {
    if (zero) rf_claim_close(run, "orthogonal data: sep", pairs.sep, 0, 0);
    if (!zero) rf_claim_at_most(run, "random data: sep", pairs.sep, -1e-6, 0);
    rf_claim_true(run, "assumption 1 is rejected", bounds.separated.holds == RF_NO);
  }
  rf_dataset_free(&data);
  return status;
}

RfStatus rf_mmv_01(RfClaimRun *run) {
  const double planted[n_sets] = {0.5, 0.1, 0.01, 0.2, NAN, sin(0.1)};
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = RF_OK;
  double tightest = 0;
  for (int k = 0; k < n_sets && !status; k++) {
    RfDataset data = {0};
    RfAlignmentBounds bounds;
    RfPairFacts pairs;
    double a[8], b[8];
    status = load_facts(run, &data, &bounds, &pairs, separated_sets[k]);
    if (!status && !isnan(planted[k])) rf_claim_close(run, "sep", pairs.sep, planted[k], 1e-12);
    for (rf_index t = 0; t < rf_claim_repetitions(run, 100000) && !status; t++) {
      rf_claim_random_conic(a, &data, &random), rf_claim_random_conic(b, &data, &random);
      double cosine = rf_la_dot(a, b, data.d);
      rf_claim_at_least(run, "cosine of two elements of K", cosine, pairs.sep, 1e-9);
      tightest = fmax(tightest, pairs.sep / cosine);
    }
    rf_dataset_free(&data);
  }
  if (!status) status = rejected(run, "gen:DS-M2(0)", true);
  for (int seed = 0; seed < 5 && !status; seed++) {
    char spec[40];
    rf_format(spec, sizeof spec, "gen:DS-GEN(10,3,%d)", seed);
    status = rejected(run, spec, false);
  }
  rf_claim_note(run, "tightness sep/cosine up to %.6f", tightest);
  return status;
}

/* ---- MMV-02: Lemmas 6, 7 ------------------------------------------------------------------- */

static void judge_cones(RfClaimRun *run, const RfDataset *data, double least, RfRandom *random) {
  double u[8], minus[8], other[8], sum[8];
  rf_claim_random_conic(u, data, random);
  for (rf_index j = 0; j < data->d; j++) minus[j] = -u[j];
  for (rf_index i = 0; i < data->n; i++)
    rf_claim_at_least(run, "y_i <u,x_i> for u in K",
                      data->y[i] * rf_la_dot(u, data->X + i * data->d, data->d), least, 1e-9);
  rf_claim_true(run, "K inside S+", rf_claim_in_cone(u, data, 1));
  rf_claim_true(run, "-K inside S-", rf_claim_in_cone(minus, data, -1));
  /* other: near K, often in S+ or in S- after a change of sign */
  rf_random_direction(random, other, data->d);
  double step = rf_random_uniform(random), weight = 3 * rf_random_uniform(random) + 0.01;
  for (rf_index j = 0; j < data->d; j++) other[j] = u[j] + step * other[j], sum[j] = u[j] + weight * other[j];
  if (rf_claim_in_cone(other, data, 1))
    rf_claim_true(run, "S+ closed under positive combinations", rf_claim_in_cone(sum, data, 1));
  for (rf_index j = 0; j < data->d; j++) other[j] = -other[j], sum[j] = minus[j] + weight * other[j];
  if (rf_claim_in_cone(other, data, -1))
    rf_claim_true(run, "S- closed under positive combinations", rf_claim_in_cone(sum, data, -1));
}

/* Sdead with its proof: an element, or a positive combination of spanning samples that is 0. */
static RfStatus judge_dead(RfClaimRun *run, const RfDataset *data, rf_index *empty) {
  RfCone cone = {0};
  RfStatus status =
      rf_geometry_cone(run->context, &cone, RF_CONE_DEAD, data->X, data->y, NULL, data->n, data->d);
  if (!status && cone.nonempty == RF_YES)
    for (rf_index i = 0; i < data->n; i++)
      rf_claim_at_most(run, "an element of Sdead", rf_la_dot(cone.witness, data->X + i * data->d, data->d), 0,
                       1e-12);
  if (!status && cone.nonempty == RF_NO) {
    double sum[8];
    rf_la_combine(sum, data->X, cone.certificate, data->n, data->d, data->d);
    for (rf_index i = 0; i < data->n; i++)
      rf_claim_true(run, "Sdead empty: positive weights", cone.certificate[i] > 0);
    rf_claim_at_most(run, "Sdead empty: their combination is 0", rf_la_norm(sum, data->d), 0, 1e-12);
    ++*empty;
  }
  rf_claim_true(run, "Sdead is decided", !status && cone.nonempty != RF_UNKNOWN);
  rf_cone_free(&cone);
  return status;
}

/* The printed definition asks an element of Sdead to see the negatives: it never does. */
static RfStatus printed_dead(RfClaimRun *run) {
  RfDataset data = {0};
  RfCone cone = {0};
  RfStatus status = rf_claim_data(run, &data, "gen:DS-OS(2,2,5,0.5)", 1);
  if (!status)
    status = rf_geometry_cone(run->context, &cone, RF_CONE_DEAD, data.X, data.y, NULL, data.n, data.d);
  if (!status && cone.nonempty == RF_YES) {
    double seen = 0;
    for (rf_index i = 0; i < data.n; i++)
      seen += rf_la_dot(cone.witness, data.X + i * data.d, data.d) > 1e-12;
    rf_claim_misprint(run, "MP-MMV-03", "samples that an element of Sdead sees", 2, 0, seen, seen > 0);
  }
  rf_cone_free(&cone);
  rf_dataset_free(&data);
  return status;
}

RfStatus rf_mmv_02(RfClaimRun *run) {
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = RF_OK;
  rf_index empty = 0;
  for (int k = 0; k < n_sets && !status; k++) {
    RfDataset data = {0};
    RfAlignmentBounds bounds;
    RfPairFacts pairs;
    status = load_facts(run, &data, &bounds, &pairs, separated_sets[k]);
    for (rf_index t = 0; t < rf_claim_repetitions(run, 10000) && !status; t++)
      judge_cones(run, &data, pairs.sep * pairs.norm_min, &random);
    for (rf_index i = 0; i < data.n && !status; i++)
      rf_claim_true(run, "samples in the cone of their class",
                    rf_claim_in_cone(data.X + i * data.d, &data, (int)data.y[i]));
    if (!status) status = judge_dead(run, &data, &empty);
    rf_dataset_free(&data);
  }
  if (!status) status = printed_dead(run);
  rf_claim_true(run, "Sdead is empty for some sets and not for others", empty > 0 && empty < n_sets);
  rf_claim_note(run, "Sdead is empty, with a certificate, for %lld of %d sets", (long long)empty, n_sets);
  return status;
}

/* ---- MMV-03: Lemmas 8, 9, (19)-(22) -------------------------------------------------------- */

static const double pi = 3.14159265358979323846;

/* 1 - sup cos^2 over directions outside S+ and S-, by brute force. */
typedef struct Brute {
  double zeta;    /* inf of 1 - cos^2(w, x+-) over w outside S+- */
  double largest; /* sup |cos(K, w)| over w outside both */
} Brute;

static void look_at(Brute *brute, const double *w, const RfDataset *data, double (*sums)[8], bool boundary) {
  bool in[2] = {!boundary && rf_claim_in_cone(w, data, 1), !boundary && rf_claim_in_cone(w, data, -1)};
  for (int side = 0; side < 2; side++) {
    double c = rf_claim_cosine(w, sums[side], data->d);
    if (!in[side] && c > 0) brute->zeta = fmin(brute->zeta, 1 - c * c);
  }
  for (rf_index i = 0; i < data->n && !in[0] && !in[1]; i++)
    brute->largest = fmax(brute->largest, fabs(rf_claim_cosine(w, data->X + i * data->d, data->d)));
}

/* All directions of the plane; in space the great circles that bound the sectors, with random elements of K.
 */
static void scan(Brute *brute, const RfDataset *data, RfRandom *random) {
  enum { plane = 120000, circle = 12000 };
  double sums[2][8], w[3], e1[3], e2[3], u[3];
  rf_claim_class_sum(sums[0], data, 1), rf_claim_class_sum(sums[1], data, -1);
  if (data->d == 2) {
    for (int t = 0; t < plane; t++) {
      w[0] = cos(2 * pi * t / plane), w[1] = sin(2 * pi * t / plane);
      look_at(brute, w, data, sums, false);
    }
    return;
  }
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + 3 * i;
    double norm = rf_la_norm(x, 3);
    rf_random_direction(random, e1, 3);
    rf_la_axpy(e1, -rf_la_dot(e1, x, 3) / (norm * norm), x, 3);
    rf_la_scale(e1, 1 / rf_la_norm(e1, 3), 3);
    for (int j = 0; j < 3; j++)
      e2[j] = (x[(j + 1) % 3] * e1[(j + 2) % 3] - x[(j + 2) % 3] * e1[(j + 1) % 3]) / norm;
    for (int t = 0; t < circle; t++) {
      for (int j = 0; j < 3; j++) w[j] = cos(2 * pi * t / circle) * e1[j] + sin(2 * pi * t / circle) * e2[j];
      look_at(brute, w, data, sums, true);
      if (t % 20) continue;
      rf_claim_random_conic(u, data, random);
      brute->largest = fmax(brute->largest, fabs(rf_la_dot(w, u, 3)));
    }
  }
}

RfStatus rf_mmv_03(RfClaimRun *run) {
  const char *sets[] = {"gen:DS-PL2",           "gen:DS-OS(4,3,2,0.2,3)", "gen:DS-OS(6,6,2,0.4,7)",
                        "gen:DS-OS(4,4,3,0.1)", "gen:DS-OS(4,4,3,0.3,1)", "gen:DS-OS(4,4,3,0.5,2)"};
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = RF_OK;
  for (int k = 0; k < 6 && !status; k++) {
    RfDataset data = {0};
    RfAlignmentBounds bounds;
    RfPairFacts pairs;
    Brute brute = {.zeta = 1};
    status = load_facts(run, &data, &bounds, &pairs, sets[k]);
    if (status) break;
    scan(&brute, &data, &random);
    rf_claim_close(run, "zeta1 by brute force", brute.zeta, bounds.zeta1, 1e-4);
    rf_claim_close(run, "xi by brute force", 1 - brute.largest * brute.largest, bounds.xi, 1e-4);
    if (k == 0) {
      rf_claim_close(run, "DS-PL2: zeta1", bounds.zeta1, 0.2, 1e-12);
      rf_claim_close(run, "DS-PL2: xi", bounds.xi, 0.02, 1e-12);
      double sums[2][8];
      rf_claim_class_sum(sums[0], &data, 1), rf_claim_class_sum(sums[1], &data, -1);
      rf_claim_misprint(run, "MP-MMV-08", "cos(x+,x-) on DS-PL2", -1, NAN,
                        rf_claim_cosine(sums[0], sums[1], 2),
                        fabs(rf_claim_cosine(sums[0], sums[1], 2) + 1) <= 1e-9);
    }
    rf_dataset_free(&data);
  }
  return status;
}

/* ---- MMV-04: Assumption 2, (26) ------------------------------------------------------------ */

/* A single neuron along the sum of the negatives. */
static RfStatus along_minus(RfClaimRun *run, const RfDataset *data, double a, double *zeta2) {
  double W[16];
  RfNet net = {.m = 1, .d = data->d, .W = W, .a = &a};
  rf_claim_class_sum(W, data, -1);
  return rf_theory_start_angle(run->context, zeta2, &net, data->X, data->y, data->n);
}

RfStatus rf_mmv_04(RfClaimRun *run) {
  const char *sets[] = {"gen:DS-PL2", "gen:DS-OS(5,5,10,0.1,0)"};
  RfStatus status = RF_OK;
  for (int k = 0; k < 2 && !status; k++) {
    RfDataset data = {0};
    RfAlignmentBounds bounds;
    RfPairFacts pairs;
    double zeta2, sums[2][16];
    status = load_facts(run, &data, &bounds, &pairs, sets[k]);
    if (!status) rf_claim_class_sum(sums[0], &data, 1), rf_claim_class_sum(sums[1], &data, -1);
    for (rf_index t = 0; t < rf_claim_repetitions(run, 100) && !status; t++) { /* 1000 neurons: 1e5 draws */
      RfNet net;
      status = rf_net_init(run->context, &net, RF_INIT_MMV, 1000, data.d, 0,
                           rf_claim_seed(run, "start", (uint64_t)t), 1);
      if (status) break;
      status = rf_theory_start_angle(run->context, &zeta2, &net, data.X, data.y, data.n);
      rf_claim_true(run, "zeta2 > 0", !status && zeta2 > 0 && zeta2 <= 1);
      double largest = -1, zeta = fmin(bounds.zeta1, zeta2);
      for (rf_index j = 0; j < net.m && !status; j++)
        largest = fmax(largest, rf_claim_cosine(net.W + j * data.d, sums[net.a[j] > 0], data.d));
      if (!status)
        rf_claim_at_most(run, "cosine with the sum of the other class", largest, sqrt(1 - zeta), 1e-12);
      /* with the larger constant the start lies inside the cone that it must never enter */
      double printed = sqrt(1 - fmax(bounds.zeta1, zeta2));
      if (!status && k == 0 && t == 0)
        rf_claim_misprint(run, "MP-MMV-04", "sqrt(1-zeta), above the cosines of the start", printed,
                          sqrt(1 - zeta), largest, largest <= printed);
      rf_net_free(&net);
    }
    if (!status) status = along_minus(run, &data, 1, &zeta2);
    if (!status) rf_claim_close(run, "positive neuron along x-: zeta2", zeta2, 0, 0);
    if (!status && k == 0)
      rf_claim_misprint(run, "MP-MMV-12",
                        "a positive neuron along x-: cosine with the sum that must be avoided",
                        rf_claim_cosine(sums[0], sums[1], data.d), 1, 1,
                        rf_claim_cosine(sums[0], sums[1], data.d) >= 1 - 1e-9);
    if (!status) status = along_minus(run, &data, -1, &zeta2);
    if (!status) rf_claim_true(run, "negative neuron along x-: allowed", zeta2 > 0);
    rf_dataset_free(&data);
  }
  return status;
}

/* ---- MMV-05: Lemma 2, (9) ------------------------------------------------------------------ */

RfStatus rf_mmv_05(RfClaimRun *run) {
  enum { steps = 2000 };
  const RfLoss losses[] = {RF_LOSS_EXP, RF_LOSS_LOGISTIC2};
  double tightest = 0;
  for (int t = -steps; t <= steps; t++) {
    double q = (double)t / steps; /* q = y yhat: |-loss' - y| = |slope - 1| for either label */
    for (int k = 0; k < 2; k++) {
      double off = fabs(expm1(rf_loss_log_slope(losses[k], q)));
      rf_claim_at_most(run, "|-loss' - y|", off, 2 * fabs(q), 1e-9);
      if (t != 0) tightest = fmax(tightest, off / (2 * fabs(q)));
    }
    rf_claim_at_most(run, "squared loss", fabs((1 - q) - 1), 2 * fabs(q), 1e-9);
  }
  double plain = 1 - exp(rf_loss_log_slope(RF_LOSS_LOGISTIC, 0));
  rf_claim_close(run, "ln(1+e^-q) misses at 0 by 1/2", plain, 0.5, 1e-12);
  rf_claim_misprint(run, "MP-MMV-02", "|-loss' - y| at output 0", plain, 0,
                    fabs(expm1(rf_loss_log_slope(RF_LOSS_LOGISTIC2, 0))), plain <= 1e-9);
  rf_claim_note(run, "tightness up to %.3f (exp at -1); the plain logistic loss fails at 0 by %g", tightest,
                plain);
  return RF_OK;
}

/* ---- MMV-09: Lemma 11 ---------------------------------------------------------------------- */

typedef struct ActiveSums {
  RfClaimRun *run;
  const RfDataset *data;
  double factor; /* sqrt(sep) X_min */
  double tightest;
} ActiveSums;

static bool judge_active_sum(void *user, const uint64_t *positive, const double *witness) {
  ActiveSums *at = user;
  const RfDataset *data = at->data;
  double sum[8] = {0}, active = (double)rf_bits_count(positive, data->n);
  (void)witness;
  for (rf_index i = 0; i < data->n; i++)
    if (rf_bits_get(positive, i)) rf_la_axpy(sum, data->y[i], data->X + i * data->d, data->d);
  double size = rf_la_norm(sum, data->d);
  rf_claim_at_least(at->run, "|x_a|", size, at->factor * active, 1e-9 * size);
  if (active > 0) at->tightest = fmax(at->tightest, at->factor * active / size);
  return true;
}

RfStatus rf_mmv_09(RfClaimRun *run) {
  const char *sets[] = {"gen:DS-PL2", "gen:DS-OS(5,5,3,0.2,0)", "gen:DS-OS(5,5,5,0.1,1)",
                        "gen:DS-OS(7,6,4,0.01,2)"};
  RfStatus status = RF_OK;
  rf_index total = 0;
  double tightest = 0;
  for (int k = 0; k < 4 && !status; k++) {
    RfDataset data = {0};
    RfAlignmentBounds bounds;
    RfPairFacts pairs;
    rf_index visited = 0;
    status = load_facts(run, &data, &bounds, &pairs, sets[k]);
    ActiveSums at = {run, &data, sqrt(pairs.sep) * pairs.norm_min, 0};
    if (!status)
      status = rf_geometry_visit_sectors(run->context, &visited, data.X, data.n, data.d, NULL,
                                         judge_active_sum, &at);
    total += visited, tightest = fmax(tightest, at.tightest);
    rf_dataset_free(&data);
  }
  rf_claim_note(run, "all %lld activation patterns; bound/value up to %.3f", (long long)total, tightest);
  return status;
}
