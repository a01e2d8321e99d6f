/* Wang and Pilanci, section 4: how fast one neuron aligns. WP-15 (Lemma 3), WP-16 (Corollary 1), WP-17
 * (Proposition 6). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flow/flow.h"
#include "core/core.h"

#include "kit/data.h"
#include "kit/samples.h"
#include "la/la.h"
#include "wp/wp.h"

static const double deltas[] = {0.5, 0.1, 0.01};
static const double half_turn = 3.14159265358979323846;

/* ---- the first sector of a path ----------------------------------------------------------------- */

/* Until it is left, <u,v> with v the direction of g(sigma_0). */
typedef struct FirstSector {
  double g0, c0; /* |g(sigma_0, y/2)| and <u0,v0> */
  bool left;
  double t1, c1;    /* when it was left, <u1,v1> there */
  double passed[3]; /* when <u,v> reached 1 - delta inside the sector; infinity = not */
} FirstSector;

static void first_sector(FirstSector *first, const RfWpPath *path, const RfDataset *data) {
  double v[RF_WP_MOST_D], before = 0, t_before = 0;
  rf_index d = data->d;
  rf_wp_masked(v, data->X, data->n, d, path->on[0], data->y);
  double size = rf_la_norm(v, d);
  *first = (FirstSector){.g0 = size / 2, .c0 = rf_la_dot(v, path->u, d) / size};
  for (int k = 0; k < 3; k++) first->passed[k] = first->c0 >= 1 - deltas[k] ? 0 : INFINITY;
  for (rf_index row = 0; row < path->count && !first->left; row++) {
    double c = rf_la_dot(v, path->u + row * d, d) / size, t = path->t[row];
    first->left = path->on[row] != path->on[0] || path->zero[row] != path->zero[0];
    for (int k = 0; k < 3; k++) /* artanh <u,v> is linear in t inside a sector */
      if (c >= 1 - deltas[k] && isinf(first->passed[k]) && row > 0) {
        double from = atanh(before), to = atanh(fmin(c, 1 - 1e-16));
        first->passed[k] = t_before + (t - t_before) * (atanh(1 - deltas[k]) - from) / (to - from);
      }
    if (first->left) first->t1 = t, first->c1 = c;
    before = c, t_before = t;
  }
}

/* In the limit of small starts <u,v> = tanh(g0 t + artanh <u0,v0>). */
static void limit_formula(RfClaimRun *run, const RfWpPath *path, const RfDataset *data,
                          const FirstSector *first) {
  for (rf_index row = 0; row < path->count; row++) {
    if (path->on[row] != path->on[0] || path->zero[row] != path->zero[0]) break;
    double c = rf_wp_cosine(data, path->u + row * data->d, path->on[0]);
    rf_claim_close(run, "<u,v> = tanh(g0 t + artanh <u0,v0>)", c,
                   tanh(first->g0 * path->t[row] + atanh(first->c0)), 1e-6);
  }
}

typedef struct Lemma3 {
  rf_index runs, left, late; /* late: left after Tshift */
  rf_index violations;       /* of Corollary 1 */
  rf_index printed_fails;    /* Lemma 3 with sqrt(1 - delta/8) */
  double tightest;           /* largest time over its bound */
  double printed;            /* and over the printed one */
} Lemma3;

/* time <= the bound with sqrt(1 - delta/4); the printed bound is counted. */
static void judge_time(RfClaimRun *run, Lemma3 *all, const char *what, double time, double delta,
                       const FirstSector *first, double c, bool judge) {
  double bound = rf_wp_shift_time(delta, 0.25, first->g0, first->c0, c);
  double printed = rf_wp_shift_time(delta, 0.125, first->g0, first->c0, c);
  if (judge) rf_claim_at_most(run, what, time, bound, 1e-9 * fmax(1, bound));
  if (time > printed + 1e-9) all->printed_fails++;
  if (bound > 0) all->tightest = fmax(all->tightest, time / bound);
  if (printed > 0) all->printed = fmax(all->printed, time / printed);
}

static void judge_lemma3(RfClaimRun *run, Lemma3 *all, const FirstSector *first, bool lemma) {
  all->runs++, all->left += first->left;
  for (int k = 0; k < 3; k++) {
    double delta = deltas[k], root = sqrt(1 - delta / 4);
    if (first->c0 >= 1 - delta) continue;
    if (first->left && first->c1 <= 1 - delta)
      judge_time(run, all, "the sector is left before Tshift", first->t1, delta, first, first->c1, lemma);
    else
      judge_time(run, all, "aligned before Tstar", first->passed[k], delta, first, 1 - delta, lemma);
    if (!first->left || first->c1 >= root) continue;
    bool late = first->t1 > rf_wp_shift_time(delta, 0.25, first->g0, first->c0, first->c1) + 1e-12;
    all->late += late;
    all->violations += late && first->c1 <= 1 - delta;
  }
}

/* Start angles with y^T (Xu)_+ > 0 on DS-WP1 and DS-PL2/3, a > 0, ln eps = -60. */
static RfStatus lemma3_runs(RfClaimRun *run, Lemma3 *all, bool lemma) {
  static const char *const specs[] = {"DS-WP1", "DS-PL2/3"};
  RfStatus status = RF_OK;
  rf_index wanted = rf_claim_repetitions(run, 200);
  for (int s = 0; s < 2 && !status; s++) {
    RfDataset data;
    RfRandom random = rf_claim_random(run, (uint64_t)s);
    status = rf_claim_generate(run, &data, specs[s]);
    if (status) break;
    rf_index kept = 0;
    for (rf_index draw = 0; draw < 20 * wanted && kept < wanted && !status; draw++) {
      double angle = 2 * half_turn * rf_random_uniform(&random), u[] = {cos(angle), sin(angle)}, g[2];
      RfWpPath path;
      FirstSector first;
      if (rf_wp_rectified(data.X, data.n, 2, data.y, u) <= 0) continue;
      uint64_t on = 0;
      for (rf_index i = 0; i < data.n; i++)
        if (rf_la_dot(data.X + 2 * i, u, 2) > 0) on |= (uint64_t)1 << i;
      kept++;
      rf_wp_masked(g, data.X, data.n, 2, on, data.y);
      double g0 = rf_la_norm(g, 2) / 2, c0 = rf_wp_cosine(&data, u, on);
      double t_end = c0 < 0.99 ? rf_wp_shift_time(0.01, 0.25, g0, c0, 0.99) * 1.01 : 1 / g0;
      status = rf_wp_follow(run, &path, &data, u, 1, -60, t_end);
      if (status) break;
      first_sector(&first, &path, &data);
      if (lemma) limit_formula(run, &path, &data, &first);
      judge_lemma3(run, all, &first, lemma);
      rf_wp_path_free(&path);
    }
    rf_claim_require(run, "starts with y^T (Xu)_+ > 0", 2 * wanted);
    rf_claim_made(run, "starts with y^T (Xu)_+ > 0", kept);
    rf_dataset_free(&data);
  }
  return status;
}

/* z' = g0 (1 - delta/4 - z^2): the state at t, and the time at which z reaches `target` (Runge-Kutta 4). */
static double comparison(double *hit, double g0, double delta, double z, double t, double target) {
  int steps = 20000;
  double h = t / steps, level = 1 - delta / 4;
  if (hit) *hit = NAN;
  for (int k = 0; k < steps; k++) {
    double k1 = g0 * (level - z * z), k2 = g0 * (level - pow(z + h / 2 * k1, 2));
    double k3 = g0 * (level - pow(z + h / 2 * k2, 2)), k4 = g0 * (level - pow(z + h * k3, 2));
    double next = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    if (hit && z < target && next >= target) *hit = h * (k + (target - z) / (next - z));
    z = next;
  }
  return z;
}

RfStatus rf_wp_15(RfClaimRun *run) {
  Lemma3 all = {0};
  RfStatus status = lemma3_runs(run, &all, true);
  rf_claim_misprint(run, "MP-WP-06", "largest time over the bound: sqrt(1-delta/8), sqrt(1-delta/4)",
                    all.printed, all.tightest, NAN, all.printed_fails == 0);
  rf_claim_note(run,
                "%lld runs, %lld leave the sector; largest share of the bound %.4f; the bounds with "
                "sqrt(1-delta/8) fail in %lld cases",
                (long long)all.runs, (long long)all.left, all.tightest, (long long)all.printed_fails);
  return status;
}

RfStatus rf_wp_16(RfClaimRun *run) {
  Lemma3 all = {0};
  RfStatus status = lemma3_runs(run, &all, false);
  rf_claim_close(run, "sectors left late at a cosine <= 1 - delta", (double)all.violations, 0, 0);
  rf_claim_true(run, "sectors are left", all.left > 0);
  /* (93) at g0 = 1.3, z0 = 0.2, delta = 0.1, t = 1/2 */
  double g0 = 1.3, z0 = 0.2, delta = 0.1, t = 0.5, root = sqrt(1 - delta / 4), old = sqrt(1 - delta / 8);
  double c3 = (root + z0) / (root - z0), z = root - 2 * root / (1 + c3 * exp(2 * g0 * t * root));
  double printed = old - 2 * old / (1 + exp(2 * g0 * t / old) / (old / z0 - 1));
  double integrated = comparison(NULL, g0, delta, z0, t, 2);
  double hit, corrected = rf_wp_shift_time(delta, 0.25, g0, z0, 0.9),
              too_soon = rf_wp_shift_time(delta, 0.125, g0, z0, 0.9);
  comparison(&hit, g0, delta, z0, 2, 0.9);
  rf_claim_close(run, "(93) solves (92)", integrated, z, 1e-9);
  rf_claim_close(run, "(92) reaches 1 - delta", hit, corrected, 1e-7);
  rf_claim_misprint(run, "MP-WP-06", "when (92) reaches 1 - delta: g0 = 1.3, <v0,u0> = 0.2, delta = 0.1",
                    too_soon, corrected, hit, fabs(hit - too_soon) < 1e-7);
  rf_claim_misprint(run, "MP-WP-07", "(93) at g0 = 1.3, z0 = 0.2, delta = 0.1, t = 1/2", printed, z,
                    integrated, fabs(printed - integrated) < 1e-6);
  rf_claim_note(run, "%lld sectors left, %lld of them after Tshift", (long long)all.left,
                (long long)all.late);
  return status;
}

/* ---- WP-17: Proposition 6 ----------------------------------------------------------------------- */

typedef struct Prop6 {
  rf_index tested, kinks, undefined, terms; /* undefined: printed logarithms of T_i without a value */
  double lowest;                            /* smallest final cosine of a neuron on a kink */
  double slope_low, slope_high;             /* measured slope over 1/(2|g|) */
  double tightest;                          /* first passage over the bound */
} Prop6;

/* When the cosine with g(u,y) first reaches 1 - delta; infinity when it does not. */
static double first_passage(const RfWpPath *path, const RfDataset *data, double delta) {
  double before = NAN;
  for (rf_index row = 0; row < path->count; row++) {
    double c = rf_wp_cosine(data, path->u + row * data->d, path->on[row]);
    if (c >= 1 - delta) {
      bool same = row > 0 && path->on[row] == path->on[row - 1];
      if (!same) return path->t[row]; /* it jumped there: a new sector */
      double from = atanh(before), to = atanh(fmin(c, 1 - 1e-16));
      return path->t[row - 1] + (path->t[row] - path->t[row - 1]) * (atanh(1 - delta) - from) / (to - from);
    }
    before = c;
  }
  return INFINITY;
}

/* Inside the end sector the cosine is tanh(|g| t + c): ln(1/delta) it gains per time, over 2|g|. Read between
 * two deltas of that sector, a factor ten apart and at most 1e-5; NaN when the path holds none. */
static double end_slope(const RfWpPath *path, const RfDataset *data, double G) {
  rf_index last = path->count - 1, first = last;
  double gap[2] = {NAN, NAN}, t[2] = {NAN, NAN}, g[RF_WP_MOST_D];
  while (first > 0 && path->on[first - 1] == path->on[last] && path->zero[first - 1] == 0) first--;
  rf_wp_masked(g, data->X, data->n, data->d, path->on[last], data->y);
  rf_la_scale(g, 1 / rf_la_norm(g, data->d), data->d);
  for (rf_index row = first; row <= last; row++) {
    double off = 0; /* 1 - cosine = |u - g|^2/2, without cancellation */
    for (rf_index j = 0; j < data->d; j++) off += pow(path->u[row * data->d + j] - g[j], 2) / 2;
    if (off > 1e-5 || off < 1e-12) continue;
    if (isnan(gap[0])) gap[0] = off, t[0] = path->t[row];
    if (isnan(gap[1]) && off <= gap[0] / 10) gap[1] = off, t[1] = path->t[row];
  }
  return (t[1] - t[0]) / log(gap[0] / gap[1]) * 2 * G;
}

/* Sum of T_i over the distinct lengths of g(sigma, y/2), with sqrt(1-delta/4) and G(u0)/g_i in place of the
 * printed <v0,u0>/g_i; terms with a ratio >= 1 - delta/2 are zero. */
static double total_bound(Prop6 *all, const RfDataset *data, const RfWpMasks *masks, const double *u0,
                          double delta) {
  double lengths[512], sum = 0, G = rf_wp_rectified(data->X, data->n, data->d, data->y, u0) / 2;
  rf_index count = 0;
  uint64_t on = 0;
  for (rf_index i = 0; i < data->n; i++)
    if (rf_la_dot(data->X + i * data->d, u0, data->d) > 0) on |= (uint64_t)1 << i;
  for (rf_index j = 0; j < masks->count && count < 512; j++) {
    double g[RF_WP_MOST_D];
    rf_wp_masked(g, data->X, data->n, data->d, masks->masks[j], data->y);
    double size = rf_la_norm(g, data->d) / 2;
    bool known = size < 1e-12;
    for (rf_index k = 0; k < count && !known; k++) known = fabs(lengths[k] - size) < 1e-12 * size;
    if (!known) lengths[count++] = size;
  }
  for (rf_index k = 0; k < count; k++) {
    double ratio = G / lengths[k], old = rf_wp_cosine(data, u0, on) / lengths[k];
    all->terms++, all->undefined += old >= sqrt(1 - delta / 8);
    if (ratio < 1 - delta / 2) sum += rf_wp_shift_time(delta, 0.25, lengths[k], ratio, 1 - delta / 2);
  }
  return sum;
}

/* A neuron that ends in an open sector: T(delta) for six deltas, its slope, and the bound. */
static void open_end(RfClaimRun *run, Prop6 *all, const RfWpPath *path, const RfDataset *data,
                     const RfWpMasks *masks, double G) {
  double times[6];
  for (int k = 0; k < 6; k++) {
    double delta = pow(10, -1 - k), bound = total_bound(all, data, masks, path->u, delta);
    times[k] = first_passage(path, data, delta);
    rf_claim_true(run, "the cosine reaches 1 - delta", isfinite(times[k]));
    rf_claim_at_most(run, "T(delta) <= sum of T_i", times[k], bound, 1e-9 * fmax(1, bound));
    if (bound > 0) all->tightest = fmax(all->tightest, times[k] / bound);
  }
  double slope = end_slope(path, data, G);
  if (isnan(slope)) {
    rf_claim_dropped(run, "slopes in the end sector", 1); /* aligned to rounding from the start */
    return;
  }
  rf_claim_made(run, "slopes in the end sector", 1);
  rf_claim_close(run, "slope of T in ln(1/delta), times 2|g|", slope, 1, 0.02);
  all->slope_low = fmin(all->slope_low, slope), all->slope_high = fmax(all->slope_high, slope);
}

/* One that ends on a kink aligns with the projected field and not with g(u,y). */
static void kink_end(RfClaimRun *run, Prop6 *all, const RfWpPath *path, const RfDataset *data) {
  rf_index last = path->count - 1, d = data->d;
  double c = rf_wp_cosine(data, path->u + last * d, path->on[last]), g[RF_WP_MOST_D], rest[RF_WP_MOST_D];
  char sector[RF_WP_MOST];
  for (rf_index i = 0; i < data->n; i++) sector[i] = path->zero[last] >> i & 1 ? '0' : '+';
  rf_wp_masked(g, data->X, data->n, d, path->on[last], data->y);
  memcpy(rest, g, sizeof rest);
  rf_claim_off_span(rest, data, sector);
  double end = rf_la_norm(rest, d) / rf_la_norm(g, d); /* |PerpP g|/|g| */
  all->kinks++;
  all->lowest = fmin(all->lowest, c);
  rf_claim_at_least(run, "on a kink: cosine with the projected field",
                    rf_la_dot(path->u + last * d, path->g + last * d, d), 1 - 1e-6, 0);
  rf_claim_close(run, "on a kink: cosine with g(u,y) against |PerpP g|/|g|", c, end, 1e-5);
  rf_claim_true(run, "on a kink: that is below 1", end < 1);
}

static RfStatus prop6_neuron(RfClaimRun *run, Prop6 *all, const RfDataset *data, const RfWpMasks *masks,
                             const double *u0) {
  double c[RF_WP_MOST], joint[RF_WP_MOST_D + 1];
  RfAlignNeuron exact;
  RfWpPath path;
  for (rf_index i = 0; i < data->n; i++) c[i] = data->y[i] / 2;
  for (rf_index j = 0; j < data->d; j++) joint[j] = u0[j] * sqrt(0.5);
  joint[data->d] = sqrt(0.5);
  RfAlignField field = {.X = data->X, .c = c, .n = data->n, .d = data->d};
  RfStatus status = rf_flow_align_neuron(run->context, &exact, &field, joint, 0, NULL, INFINITY);
  if (status < 0) return status;
  double G = exact.G, t_end = exact.t_last + 12 / G; /* 1e-6 needs 7.3/G */
  rf_align_neuron_free(&exact);
  if (!(G > 1e-3)) { /* a field of rounding size: no time scale */
    rf_claim_dropped(run, "neurons", 1);
    return RF_OK;
  }
  status = rf_wp_follow(run, &path, data, u0, 1, fmin(-200, -30 - 2 * G * t_end), t_end);
  if (status) return status;
  all->tested++;
  rf_claim_made(run, "neurons", 1);
  if (path.zero[path.count - 1])
    kink_end(run, all, &path, data);
  else
    open_end(run, all, &path, data, masks, G);
  rf_wp_path_free(&path);
  return RF_OK;
}

static RfStatus prop6_data(RfClaimRun *run, Prop6 *all, const char *spec, rf_index neurons) {
  RfDataset data;
  RfWpMasks masks;
  RfRandom random = rf_claim_random(run, (uint64_t)strlen(spec));
  RfStatus status = rf_claim_generate(run, &data, spec);
  if (status) return status;
  status = rf_wp_masks(run->context, &masks, data.X, data.n, data.d);
  for (rf_index kept = 0, draw = 0; kept < neurons && draw < 1000 && !status; draw++) {
    double u[RF_WP_MOST_D];
    rf_random_direction(&random, u, data.d);
    if (rf_wp_rectified(data.X, data.n, data.d, data.y, u) <= 0) continue;
    kept++;
    status = prop6_neuron(run, all, &data, &masks, u);
  }
  rf_wp_masks_free(&masks);
  rf_dataset_free(&data);
  return status;
}

RfStatus rf_wp_17(RfClaimRun *run) {
  Prop6 ordered = {.lowest = 1, .slope_low = INFINITY}, general = ordered;
  rf_index neurons = rf_claim_repetitions(run, 40);
  RfStatus status = prop6_data(run, &ordered, "DS-WP1", neurons);
  if (!status) status = prop6_data(run, &ordered, "DS-PL2/3", neurons);
  rf_claim_close(run, "orthogonally separable data: neurons that end on a kink", (double)ordered.kinks, 0, 0);
  for (int seed = 0; seed < 10 && !status; seed++) {
    char spec[64];
    rf_format(spec, sizeof spec, "gaussian,n=10,d=3,seed=%d", rf_wp_seed(run, seed));
    status = prop6_data(run, &general, spec, neurons / 2 + 1);
  }
  rf_claim_require(run, "neurons", 5 * neurons);
  rf_claim_require(run, "slopes in the end sector", neurons);
  rf_claim_misprint(run, "MP-WP-20", "Gaussian data: share of neurons that never reach the cosine", 0, NAN,
                    (double)general.kinks / (double)general.tested, general.kinks == 0);
  rf_claim_misprint(run, "MP-WP-21", "share of logarithms of T_i that are undefined", 0, NAN,
                    (double)ordered.undefined / (double)ordered.terms, ordered.undefined == 0);
  rf_claim_note(run,
                "Gaussian data: %lld of %lld neurons end on a kink, cosine down to %.2f; slope times 2|g| "
                "%.4f to %.4f; largest share of the bound %.2f",
                (long long)general.kinks, (long long)general.tested, general.lowest,
                fmin(ordered.slope_low, general.slope_low), fmax(ordered.slope_high, general.slope_high),
                fmax(ordered.tightest, general.tightest));
  return status;
}
