/* Phuong and Lampert: the potential G and its extremal directions. PL-03: Lemma A.1; PL-04: Lemma A.2; PL-08:
 * Lemma 2; PL-15: the probability of Theorem 1. Logistic loss: b0 = 1/2. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pl/pl.h"
#include "core/core.h"
#include "flow/flow.h"
#include "geometry/geometry.h"
#include "la/la.h"
#include "kit/samples.h"
#include "kit/setting.h"

/* g of (31): the projection off the hyperplanes that carry w of half the signed sum of the active samples. */
static void projected_sum(double *g, const RfDataset *data, const char *sector) {
  memset(g, 0, (size_t)data->d * sizeof *g);
  for (rf_index i = 0; i < data->n; i++)
    if (sector[i] == '+') rf_la_axpy(g, 0.5 * data->y[i], data->X + i * data->d, data->d);
  rf_claim_off_span(g, data, sector);
}

static RfStatus extremal_of(RfContext *context, RfExtremal *extremal, const RfDataset *data) {
  RfExtremalSettings settings = {.leak = 0, .slope = 0.5};
  return rf_geometry_extremal(context, extremal, data->X, data->y, data->n, data->d, &settings);
}

/* ---- PL-03: Lemma A.1, (31)-(36) ----------------------------------------------------------- */

/* Ascent of side G on the sphere by steps w + h g/G of falling length, g the sum of the active samples: an
 * independent search. Near a maximum the part along its face shrinks by 1 - h, and w stays within h |g|/G of
 * the face. Returns G at the end; not positive: the ascent has died. */
static double ascend(double *w, const RfDataset *data, int side) {
  double G = 0;
  for (int k = 0; k < 6000; k++) {
    double g[RF_CLAIM_MOST_D] = {0}, h = 3. / (k + 60);
    for (rf_index i = 0; i < data->n; i++)
      if (rf_la_dot(w, data->X + i * data->d, data->d) > 0)
        rf_la_axpy(g, 0.5 * side * data->y[i], data->X + i * data->d, data->d);
    G = rf_la_dot(g, w, data->d);
    double size = rf_la_norm(g, data->d);
    if (size == 0) return 0;
    rf_la_axpy(w, h / fmax(G, 0.05 * size), g, data->d);
    rf_la_scale(w, 1 / rf_la_norm(w, data->d), data->d);
  }
  return G;
}

/* Every ascent ends at a direction of the list, or dies. */
static void judge_ascents(RfClaimRun *run, const RfDataset *data, const RfExtremal *extremal,
                          RfRandom *random) {
  for (int draw = 0; draw < 20; draw++) {
    int side = draw % 2 ? -1 : 1;
    rf_index count = side > 0 ? extremal->n_positive : extremal->n_negative;
    const RfExtremalDirection *list = side > 0 ? extremal->positive : extremal->negative;
    double w[RF_CLAIM_MOST_D], nearest = 2, size = 0;
    rf_random_direction(random, w, data->d);
    double G = ascend(w, data, side);
    for (rf_index i = 0; i < data->n; i++) size += 0.5 * rf_la_norm(data->X + i * data->d, data->d);
    if (G <= 0.01 * size) { /* dead, or so weak that its place cannot be told from chatter */
      rf_claim_dropped(run, "ascents", 1);
      continue;
    }
    for (rf_index e = 0; e < count; e++) {
      double apart = 0;
      for (rf_index j = 0; j < data->d; j++) apart += pow(w[j] - list[e].direction[j], 2);
      nearest = fmin(nearest, sqrt(apart));
    }
    rf_claim_at_most(run, "an ascent ends at a direction of the list", nearest, 0, 0.05);
    rf_claim_made(run, "ascents", 1);
  }
}

/* No direction nearby, short of the next hyperplane, has a larger |G|. */
static void judge_peak(RfClaimRun *run, const RfDataset *data, const RfExtremalDirection *at, int side,
                       RfRandom *random) {
  double near = 2e-3;
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + i * data->d;
    double along = fabs(rf_la_dot(at->direction, x, data->d)) / rf_la_norm(x, data->d);
    if (along > 1e-9) near = fmin(near, along);
  }
  for (int draw = 0; draw < 50; draw++) {
    double w[RF_CLAIM_MOST_D], step[RF_CLAIM_MOST_D], G = 0, size = near / 2 * pow(10, -(draw % 4));
    rf_random_direction(random, step, data->d);
    for (rf_index j = 0; j < data->d; j++) w[j] = at->direction[j] + size * step[j];
    rf_la_scale(w, 1 / rf_la_norm(w, data->d), data->d);
    for (rf_index i = 0; i < data->n; i++)
      G += 0.5 * data->y[i] * fmax(0, rf_la_dot(w, data->X + i * data->d, data->d));
    rf_claim_at_most(run, "G beside an extremal direction", side * G, fabs(at->G), 1e-12 * fabs(at->G));
  }
}

/* Signs of <w,x_i>, 0 within rounding. */
static void read_sector(char *sector, const double *w, const RfDataset *data) {
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + i * data->d;
    double along = rf_la_dot(w, x, data->d) / rf_la_norm(x, data->d);
    sector[i] = along > 1e-9 ? '+' : along < -1e-9 ? '-' : '0';
  }
  sector[data->n] = 0;
}

static RfStatus stationary(RfClaimRun *run, const char *spec, RfRandom *random, rf_index *directions,
                           rf_index *kinks) {
  RfDataset data = {0};
  RfExtremal extremal = {0};
  RfStatus status = rf_claim_data(run, &data, spec, 1);
  if (!status) status = extremal_of(run->context, &extremal, &data);
  rf_index count = status ? 0 : extremal.n_positive + extremal.n_negative;
  if (!status) rf_claim_true(run, "the enumeration is complete", extremal.complete);
  for (rf_index e = 0; e < count; e++) {
    const RfExtremalDirection *at =
        e < extremal.n_positive ? &extremal.positive[e] : &extremal.negative[e - extremal.n_positive];
    double g[RF_CLAIM_MOST_D];
    char sector[64];
    read_sector(sector, at->direction, &data);
    projected_sum(g, &data, sector);
    double C = rf_la_dot(g, at->direction, data.d);
    rf_claim_close(run, "C against G(w)", C, at->G, 1e-8 * fabs(at->G));
    rf_la_axpy(g, -C, at->direction, data.d);
    rf_claim_at_most(run, "|g(w) - C w| / |C|", rf_la_norm(g, data.d) / fabs(C), 0, 1e-8);
    *kinks += strchr(sector, '0') != NULL;
    judge_peak(run, &data, at, e < extremal.n_positive ? 1 : -1, random);
  }
  if (!status) judge_ascents(run, &data, &extremal, random);
  *directions += count;
  rf_extremal_free(&extremal);
  rf_dataset_free(&data);
  return status;
}

RfStatus rf_pl_03(RfClaimRun *run) {
  const char *sets[] = {"gen:DS-PL2", "gen:DS-WP1", "gen:orthogonal"};
  rf_index directions = 0, kinks = 0;
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < 3 + rf_claim_repetitions(run, 30) && !status; k++) {
    char spec[40];
    rf_format(spec, sizeof spec, "gen:DS-GEN(8,3,%d)", (int)k);
    status = stationary(run, k < 3 ? sets[k] : spec, &random, &directions, &kinks);
  }
  rf_claim_require(run, "ascents", 5 * (3 + rf_claim_repetitions(run, 30)));
  rf_claim_require(run, "extremal directions on hyperplanes", 1);
  rf_claim_made(run, "extremal directions on hyperplanes", kinks);
  rf_claim_note(run, "%lld extremal directions, %lld of them on hyperplanes", (long long)directions,
                (long long)kinks);
  return status;
}

/* ---- PL-04: Lemma A.2, (37)-(44) ----------------------------------------------------------- */

/* G of the normalised w + eps v against (37), and w.g(w + eps v) = G(w), for eps up to eps_max of (40): the
 * first sign change of a sample off its hyperplane. */
static void judge_step(RfClaimRun *run, const double *w, const double *v, const RfDataset *data,
                       const char *sector, double share) {
  rf_index d = data->d;
  double limit = 10, moved[RF_CLAIM_MOST_D], g[RF_CLAIM_MOST_D], sum = 0, scale = 0;
  char there[32];
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + i * d;
    double now = rf_la_dot(w, x, d), speed = rf_la_dot(v, x, d);
    if (sector[i] != '0' && now * speed < 0) limit = fmin(limit, -now / speed);
    scale += rf_la_norm(x, d);
  }
  double eps = share * 0.5 * limit, G = rf_geometry_potential(w, data->X, data->y, data->n, d, 0, 0.5);
  for (rf_index j = 0; j < d; j++) moved[j] = w[j] + eps * v[j];
  for (rf_index i = 0; i < data->n; i++) { /* a sample whose hyperplane carries w moves with v alone */
    const double *x = data->X + i * d;
    double along = rf_la_dot(v, x, d), product = sector[i] == '0' ? eps * along : rf_la_dot(moved, x, d);
    there[i] = product > 0 ? '+' : product < 0 ? '-' : '0';
    if (there[i] == '+') sum += 0.5 * data->y[i] * along;
  }
  double norm = rf_la_norm(moved, d);
  projected_sum(g, data, there);
  rf_claim_close(run, "w.g(w + eps v) = G(w)", rf_la_dot(w, g, d), G, 1e-10 * scale);
  rf_la_scale(moved, 1 / norm, d);
  rf_claim_close(run, "(37)", rf_geometry_potential(moved, data->X, data->y, data->n, d, 0, 0.5),
                 (G + eps * sum) / norm, 1e-10 * scale);
}

RfStatus rf_pl_04(RfClaimRun *run) {
  RfRandom random = rf_claim_random(run, 0);
  for (rf_index t = 0; t < rf_claim_repetitions(run, 2000); t++) {
    char spec[40], sector[32];
    double w[8], v[8];
    rf_index n = 3 + rf_random_below(&random, 6), d = 2 + rf_random_below(&random, 3);
    RfDataset data = {0};
    rf_format(spec, sizeof spec, "gen:DS-GEN(%d,%d,%d)", (int)n, (int)d, (int)t);
    RfStatus status = rf_claim_data(run, &data, spec, 1);
    if (status) return status;
    rf_random_direction(&random, w, d), rf_random_direction(&random, v, d);
    for (rf_index i = 0; i < n; i++) sector[i] = i < t % d ? '0' : '+'; /* up to d-1 hyperplanes carry w */
    rf_claim_off_span(w, &data, sector);
    rf_la_scale(w, 1 / rf_la_norm(w, d), d);
    for (rf_index i = t % d; i < n; i++) sector[i] = rf_la_dot(w, data.X + i * d, d) > 0 ? '+' : '-';
    judge_step(run, w, v, &data, sector, rf_random_uniform(&random));
    judge_step(run, w, v, &data, sector, 1);
    rf_dataset_free(&data);
  }
  return RF_OK;
}

/* ---- PL-08: Lemma 2, (13), (14) ------------------------------------------------------------ */

/* side +1: entry '+' on positives, '-' where some positive has a negative product, '0' otherwise. */
static void expected_sector(char *sector, const RfDataset *data, int side) {
  for (rf_index j = 0; j < data->n; j++) {
    sector[j] = data->y[j] == side ? '+' : '0';
    for (rf_index i = 0; i < data->n && sector[j] == '0'; i++)
      if (data->y[i] == side && rf_la_dot(data->X + i * data->d, data->X + j * data->d, data->d) < 0)
        sector[j] = '-';
  }
  sector[data->n] = 0;
}

static RfStatus judge_unique(RfClaimRun *run, const RfDataset *data) {
  RfExtremal extremal = {0};
  RfStatus status = extremal_of(run->context, &extremal, data);
  for (int side = 1; side >= -1 && !status; side -= 2) {
    rf_index count = side > 0 ? extremal.n_positive : extremal.n_negative;
    char sector[64];
    double sum[RF_CLAIM_MOST_D];
    rf_claim_true(run, "the enumeration is complete", extremal.complete);
    rf_claim_close(run, "number of extremal directions of a sign", (double)count, 1, 0);
    if (count != 1) break;
    const RfExtremalDirection *at = side > 0 ? extremal.positive : extremal.negative;
    rf_claim_class_sum(sum, data, side);
    rf_claim_close(run, "its cosine with the class sum", rf_claim_cosine(sum, at->direction, data->d), 1,
                   1e-12);
    expected_sector(sector, data, side);
    rf_claim_true(run, "its sector is (13), (14)", strcmp(at->sector, sector) == 0);
  }
  rf_extremal_free(&extremal);
  return status;
}

RfStatus rf_pl_08(RfClaimRun *run) {
  const char *sets[] = {"gen:DS-PL2",           "gen:DS-WP1",           "gen:orthogonal",
                        "gen:DS-OS(5,5,3,0.2)", "gen:DS-OS(5,5,2,0.1)", "gen:DS-OS(4,4,4,0.05,3)",
                        "gen:DS-PL(40,4,0)"};
  const double X[] = {1, 0, 1, 0.5, 0, -1}, y[] = {1, 1, -1}; /* x3 is orthogonal to x1, not to x2 */
  RfDataset data = {0};
  RfStatus status = RF_OK;
  for (int k = 0; k < 8 && !status; k++) {
    status = k < 7 ? rf_claim_data(run, &data, sets[k], 1)
                   : rf_dataset_from_arrays(run->context, &data, X, y, 3, 2, NULL);
    if (!status) status = judge_unique(run, &data);
    rf_dataset_free(&data);
  }
  return status;
}

/* ---- PL-15: Theorem 1, probability --------------------------------------------------------- */

/* Where the neurons of one start arrive in the limit eps -> 0: bit 0 for J+, bit 1 for J-. */
static RfStatus groups_of_start(RfClaimRun *run, int *groups, const RfDataset *data, rf_index m,
                                RfRandom *random) {
  RfFlowStart start;
  RfAlignment alignment = {0};
  rf_index d = data->d;
  RfStatus status = rf_flow_start_new(run->context, &start, m, d);
  if (status) return status;
  for (rf_index k = 0; k < m; k++) {
    double *v = start.directions + k * (d + 1);
    rf_random_direction(random, v, d);
    rf_la_scale(v, sqrt(0.5), d);
    v[d] = sqrt(0.5) * rf_random_sign(random);
    start.log_norms[k] = 0;
  }
  RfFlowProblem problem = {
      .X = data->X, .y = data->y, .n = data->n, .d = d, .start = &start, .in_limit = true};
  status = rf_flow_align(run->context, &alignment, &problem);
  *groups = 0;
  for (rf_index k = 0; k < m && !status; k++) {
    RfDestiny destiny = alignment.neurons[k].destiny;
    *groups |= destiny == RF_DESTINY_S_PLUS ? 1 : destiny == RF_DESTINY_S_MINUS ? 2 : 0;
  }
  rf_alignment_free(&alignment);
  rf_flow_start_free(&start);
  return status;
}

RfStatus rf_pl_15(RfClaimRun *run) {
  const char *sets[] = {"gen:DS-PL2", "gen:DS-OS(3,3,5,0.2)"};
  rf_index N = rf_claim_repetitions(run, 2000), both_of[2] = {0, 0};
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = RF_OK;
  for (int k = 0; k < 2 && !status; k++) {
    RfDataset data = {0};
    status = rf_claim_data(run, &data, sets[k], k ? 1 : 3);
    for (rf_index m = 1; m <= 5 && !status; m++) {
      rf_index some = 0, both = 0;
      for (rf_index draw = 0; draw < N && !status; draw++) {
        int groups;
        status = groups_of_start(run, &groups, &data, m, &random);
        some += groups != 0, both += groups == 3;
      }
      if (status) break;
      double promised = 1 - pow(2, -(double)m);
      rf_claim_probability(run, "share of starts with a live neuron", some, N, promised, false);
      if (m == 2) both_of[k] = both;
    }
    rf_dataset_free(&data);
  }
  rf_claim_misprint(run, "MP-PL-04", "share of starts with both groups, two neurons on DS-PL2/3", 0.75, NAN,
                    (double)both_of[0] / (double)N, (double)both_of[0] >= 0.75 * (double)N);
  rf_claim_note(run,
                "the bound promises one group, not both: with two neurons both groups live in %.3f of the "
                "starts on DS-PL2/3, %.3f on DS-OS(3,3,5,0.2)",
                (double)both_of[0] / (double)N, (double)both_of[1] / (double)N);
  return status;
}
