/* Lyu, Li, Wang, Arora: two neurons on symmetric data, and neighbourhoods of local maximisers. LLWA-21
 * (Lemmas F.2, F.3), 22 (Theorem 5.5), 24 (Theorem 5.6). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "llwa/llwa.h"

#include "kit/data.h"
#include "reluflow/certify.h"
#include "la/la.h"
#include "margin/margin.h"

enum { most = 4 };

typedef struct Point {
  double W[most * RF_LLWA_D], a[most];
} Point;

static RfNet at(Point *point, rf_index m, const RfLlwaSet *set) {
  return (RfNet){.m = m, .d = set->d, .W = point->W, .a = point->a, .leak = set->leak};
}

/* ---- LLWA-21: every KKT direction of two neurons in the plane ------------------------------ */

/* A cell of the arrangement: an open sector or one of the rays between them. */
typedef struct Cell {
  double middle[2];       /* a unit vector inside, or the ray */
  double low, high;       /* angles; equal for a ray */
  double h[RF_LLWA_ROWS]; /* slope of every sample; 0 on the hyperplane of a ray, where the input is 0 */
  rf_index dimension;     /* 2 or 1 */
} Cell;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void cell_fill(Cell *cell, double low, double high, const RfLlwaSet *set) {
  double angle = (low + high) / 2;
  cell->low = low, cell->high = high, cell->dimension = low == high ? 1 : 2;
  cell->middle[0] = cos(angle), cell->middle[1] = sin(angle);
  for (rf_index i = 0; i < set->n; i++) {
    double z = rf_la_dot(cell->middle, set->X + 2 * i, 2);
    cell->h[i] = fabs(z) < 1e-9 ? 0 : z > 0 ? 1 : set->leak;
  }
}

/* cells: room for 4n. */
static int plane_cells(Cell *cells, const RfLlwaSet *set) {
  double angles[2 * RF_LLWA_ROWS], pi = acos(-1.0);
  int count = 0, distinct = 0, out = 0;
  for (rf_index i = 0; i < set->n; i++)
    for (int side = 0; side < 2; side++) {
      double angle = atan2(set->X[2 * i + 1], set->X[2 * i]) + (side ? pi / 2 : -pi / 2);
      angles[count++] = fmod(angle + 4 * pi, 2 * pi);
    }
  qsort(angles, (size_t)count, sizeof *angles, by_value);
  for (int k = 0; k < count; k++)
    if (distinct == 0 || angles[k] - angles[distinct - 1] > 1e-9) angles[distinct++] = angles[k];
  for (int k = 0; k < distinct; k++) {
    cell_fill(&cells[out++], angles[k], angles[k], set);
    cell_fill(&cells[out++], angles[k], k + 1 < distinct ? angles[k + 1] : angles[0] + 2 * pi, set);
  }
  return out;
}

/* With both cells fixed the problem is convex: min |u1|^2/t + |u2|^2/(1-t) over u and t in [0,1]; for a given
 * t it is a hard margin. Returns its value, infinite when infeasible; u receives u1, u2 in the plane. */
static double cell_value(RfClaimRun *run, double u[4], const Cell *one, const Cell *two, double t,
                         const RfLlwaSet *set) {
  double rows[RF_LLWA_ROWS * 4], factor[RF_LLWA_ROWS], value = INFINITY;
  const Cell *cells[] = {one, two};
  rf_index width = one->dimension + two->dimension;
  RfLinearMargin margin = {0};
  for (rf_index i = 0; i < set->n; i++) {
    double *row = rows + i * width;
    factor[i] = set->y[i];
    for (int k = 0; k < 2; k++) { /* neuron 0 has a > 0, neuron 1 has a < 0 */
      double weight = (k ? -sqrt(1 - t) : sqrt(t)) * cells[k]->h[i];
      if (cells[k]->dimension == 2)
        *row++ = weight * set->X[2 * i], *row++ = weight * set->X[2 * i + 1];
      else
        *row++ = weight * rf_la_dot(cells[k]->middle, set->X + 2 * i, 2);
    }
  }
  if (rf_margin_weighted(run->context, &margin, rows, factor, set->n, width) == RF_OK) {
    const double *w = margin.w;
    value = 1 / (margin.margin * margin.margin);
    for (int k = 0; k < 2; k++) {
      double scale = (k ? sqrt(1 - t) : sqrt(t)) / margin.margin;
      if (cells[k]->dimension == 2)
        u[2 * k] = scale * *w++, u[2 * k + 1] = scale * *w++;
      else
        u[2 * k] = scale * *w * cells[k]->middle[0], u[2 * k + 1] = scale * *w * cells[k]->middle[1], w++;
    }
  }
  rf_linear_margin_free(&margin);
  return value;
}

/* The minimiser over t by golden section, ends included. */
static bool cell_minimum(RfClaimRun *run, double u[4], const Cell *one, const Cell *two,
                         const RfLlwaSet *set) {
  const double golden = (sqrt(5) - 1) / 2;
  double low = 0, high = 1, other[4], best;
  for (int step = 0; step < 60; step++) {
    double p = high - golden * (high - low), q = low + golden * (high - low);
    if (cell_value(run, other, one, two, p, set) <= cell_value(run, other, one, two, q, set))
      high = q;
    else
      low = p;
  }
  best = cell_value(run, u, one, two, (low + high) / 2, set);
  for (int end = 0; end < 2; end++) {
    double value = cell_value(run, other, one, two, end, set);
    if (value <= best * (1 + 1e-12)) best = value, memcpy(u, other, sizeof other);
  }
  return isfinite(best);
}

/* Golden section finds t to 1e-8; alternating with the best t for given u, |u1|/(|u1| + |u2|), finds the
 * rest. */
static void cell_polish(RfClaimRun *run, double u[4], const Cell *one, const Cell *two,
                        const RfLlwaSet *set) {
  for (int step = 0; step < 200; step++) {
    double first = rf_la_norm(u, 2), second = rf_la_norm(u + 2, 2), next[4] = {0}, moved = 0;
    if (first < 1e-9 || second < 1e-9) return; /* one neuron: no t */
    if (!isfinite(cell_value(run, next, one, two, first / (first + second), set))) return;
    for (int j = 0; j < 4; j++) moved = fmax(moved, fabs(next[j] - u[j]));
    memcpy(u, next, sizeof next);
    if (moved < 1e-14 * (first + second)) return;
  }
}

static bool inside_cell(const double *u, const Cell *cell) {
  double pi = acos(-1.0), angle = atan2(u[1], u[0]);
  if (rf_la_norm(u, 2) < 1e-9) return true; /* a zero neuron */
  while (angle < cell->low - 1e-9) angle += 2 * pi;
  return cell->dimension == 1 ? rf_la_dot(u, cell->middle, 2) > (1 - 1e-9) * rf_la_norm(u, 2)
                              : angle > cell->low + 1e-7 && angle < cell->high - 1e-7;
}

/* The three KKT directions of Lemma F.3. */
static void predicted(RfNet *net, int which, const RfLlwaSet *set) {
  rf_llwa_pair(net, set);
  for (int k = 0; k < 2 && which; k++) {
    double factor = k == which - 1 ? sqrt(2) : 0;
    for (rf_index j = 0; j < net->d; j++) net->W[k * net->d + j] *= factor;
    net->a[k] *= factor;
  }
}

static int nearest(double *distance, const RfNet *net, const RfLlwaSet *set) {
  int best = 0;
  *distance = INFINITY;
  for (int which = 0; which < 3; which++) {
    Point point;
    RfNet aim = at(&point, 2, set);
    predicted(&aim, which, set);
    double away = rf_llwa_far(net, &aim);
    if (away < *distance) *distance = away, best = which;
  }
  return best;
}

static RfStatus kkt_residual(RfClaimRun *run, double *out, const RfNet *net, const RfLlwaSet *set) {
  RfKkt kkt = {0};
  RfStatus status = rf_certify_kkt(run->context, &kkt, net, set->X, set->y, set->n);
  *out = status == RF_OK ? fmax(kkt.stationarity, kkt.complementarity) : INFINITY;
  rf_kkt_free(&kkt);
  return status < 0 ? status : RF_OK;
}

/* All pairs of cells; a candidate that is a KKT point must be one of the three. */
static RfStatus enumerate(RfClaimRun *run, const RfLlwaSet *set, rf_index found[3], rf_index *pairs) {
  Cell cells[4 * RF_LLWA_ROWS];
  int count = plane_cells(cells, set);
  RfContext loose = *run->context; /* golden section finds t to 1e-8 only */
  loose.tol.kkt = 1e-6;
  RfClaimRun inner = *run;
  inner.context = &loose;
  for (int p = 0; p < count; p++)
    for (int q = 0; q < count; q++) {
      double u[4] = {0}, residual, distance;
      Point point;
      RfNet net = at(&point, 2, set);
      ++*pairs;
      if (!cell_minimum(run, u, &cells[p], &cells[q], set) || !inside_cell(u, &cells[p]) ||
          !inside_cell(u + 2, &cells[q]))
        continue;
      cell_polish(run, u, &cells[p], &cells[q], set);
      double total = rf_la_norm(u, 2) + rf_la_norm(u + 2, 2);
      for (int k = 0; k < 2; k++) {
        double size = rf_la_norm(u + 2 * k, 2), root = sqrt(size / (2 * total));
        if (size < 1e-7 * total) root = 0;
        net.a[k] = k ? -root : root;
        for (int j = 0; j < 2; j++) net.W[2 * k + j] = root == 0 ? 0 : root * u[2 * k + j] / size;
      }
      RfStatus status = kkt_residual(&inner, &residual, &net, set);
      if (status) return status;
      if (!(residual <= 1e-5)) continue;
      found[nearest(&distance, &net, set)]++;
      rf_claim_at_most(run, "distance of an enumerated KKT direction from the three", distance, 0, 1e-9);
      rf_claim_at_most(run, "its KKT residual", residual, 0, 1e-10);
    }
  return RF_OK;
}

static RfStatus limits_of_two(RfClaimRun *run, const RfLlwaSet *set, rf_index draws, uint64_t stream,
                              rf_index met[3], double *worst) {
  for (rf_index draw = 0; draw < draws; draw++) {
    Point point;
    RfFlowResult flow;
    bool converged;
    double distance = INFINITY;
    RfNet start = at(&point, 2, set);
    RfRandom random = rf_claim_random(run, stream + (uint64_t)draw);
    rf_llwa_gaussian(&start, &random, 0.5);
    start.a[0] = rf_la_norm(start.W, set->d), start.a[1] = -rf_la_norm(start.W + set->d, set->d);
    RfStatus status = rf_llwa_limit(run, &flow, &converged, set, &start, 0);
    if (converged) met[nearest(&distance, &flow.limit.net, set)]++;
    rf_flow_result_free(&flow);
    rf_claim_at_most(run, "distance of a limit from the three directions", distance, 0, 1e-8);
    *worst = fmax(*worst, distance);
    if (status) return status;
  }
  return RF_OK;
}

RfStatus rf_llwa_21(RfClaimRun *run) {
  const char *specs[] = {"DS-SYM6", "DS-SYM(3,2,0.2,0)"};
  const double leaks[] = {0.1, 0.5, 0.9};
  rf_index found[3] = {0}, met[3] = {0}, pairs = 0;
  double worst = 0;
  RfStatus status = RF_OK;
  for (int s = 0; s < 2 && !status; s++)
    for (int l = 0; l < 3 && !status; l++) {
      RfLlwaSet set;
      rf_index here[3] = {0};
      status = rf_llwa_load(run, &set, specs[s], leaks[l], 1);
      if (status) break;
      for (int which = 0; which < 3 && !status; which++) {
        Point point;
        double residual = INFINITY;
        RfNet net = at(&point, 2, &set);
        predicted(&net, which, &set);
        status = kkt_residual(run, &residual, &net, &set);
        rf_claim_at_most(run, "KKT residual of the three directions", residual, 0, 1e-10);
      }
      if (!status) status = enumerate(run, &set, here, &pairs);
      for (int which = 0; which < 3 && !status; which++) {
        rf_claim_true(run, "every one of the three is enumerated", here[which] >= 1);
        found[which] += here[which];
      }
      if (!status)
        status = limits_of_two(run, &set, rf_claim_repetitions(run, 34),
                               1000 * (3 * (uint64_t)s + (uint64_t)l), met, &worst);
      rf_llwa_free(&set);
    }
  rf_claim_note(run, "%lld pairs of cells; limits: %lld at the pair, %lld and %lld at one neuron, to %.1e",
                (long long)pairs, (long long)met[0], (long long)met[1], (long long)met[2], worst);
  return status;
}

/* ---- LLWA-22: Theorem 5.5 ------------------------------------------------------------------ */

typedef struct Growth {
  double least;      /* smallest |w2|/|w1| or its inverse so far */
  double x[2], y[2]; /* ln smargin and ln of the squared ratio at two moments, while it is small */
} Growth;

static void see_sizes(void *user, const RfLlwaMoment *now) {
  Growth *growth = user;
  double one = rf_la_norm(now->theta->W, now->theta->d),
         two = rf_la_norm(now->theta->W + now->theta->d, now->theta->d);
  double ratio = fmin(one / two, two / one);
  growth->least = fmin(growth->least, ratio);
  if (now->frozen) return;
  if (growth->x[0] == 0 && now->smargin >= 20)
    growth->x[0] = log(now->smargin), growth->y[0] = 2 * log(ratio);
  if (now->smargin >= 20 && ratio < 0.1) growth->x[1] = log(now->smargin), growth->y[1] = 2 * log(ratio);
}

/* At the one-neuron direction a sample and its mirror image differ by (1-leak)/2 <x,wstar>. */
static RfStatus judge_mirrored(RfClaimRun *run) {
  RfLlwaSet set;
  Point point;
  RfStatus status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
  if (status) return status;
  RfNet net = at(&point, 1, &set);
  double x[2] = {set.X[0], set.X[1]}, mirrored[2] = {-x[0], -x[1]}, along = rf_la_dot(x, set.wstar, 2);
  rf_llwa_single(&net, set.wstar, 1);
  double factor = (rf_llwa_output(&net, x) + rf_llwa_output(&net, mirrored)) / along;
  rf_claim_relative(run, "(q_i - q_i')/<x_i,wstar> at the one-neuron direction", factor, (1 - set.leak) / 2,
                    1e-10);
  rf_claim_misprint(run, "MP-LLWA-09", "(q_i - q_i')/<x_i,wstar> at the one-neuron direction",
                    (1 - set.gstar) / 2, (1 - set.leak) / 2, factor,
                    fabs(factor - (1 - set.gstar) / 2) < 1e-10);
  rf_llwa_free(&set);
  return RF_OK;
}

RfStatus rf_llwa_22(RfClaimRun *run) {
  const double leaks[] = {0.1, 0.5, 0.9}, ratios[] = {1, 100, 0.01};
  double worst = 0, least = INFINITY, printed = INFINITY, slope_low = INFINITY, slope_high = -INFINITY;
  RfStatus status = RF_OK;
  for (int l = 0; l < 3 && !status; l++) {
    RfLlwaSet set;
    Point goal;
    status = rf_llwa_load(run, &set, "DS-SYM6", leaks[l], 1);
    if (status) break;
    RfNet aim = at(&goal, 2, &set);
    rf_llwa_pair(&aim, &set);
    for (rf_index k = 0; k < 3 * rf_claim_repetitions(run, 20) && !status; k++) {
      Point point;
      RfFlowResult flow;
      bool converged;
      Growth growth = {.least = INFINITY};
      RfNet start = at(&point, 2, &set);
      RfRandom random = rf_claim_random(run, (uint64_t)(1000 * l + k));
      double ratio = ratios[k % 3];
      for (int neuron = 0; neuron < 2; neuron++) {
        double *w = start.W + neuron * set.d, size = 0.1 * (neuron ? sqrt(ratio) : 1 / sqrt(ratio));
        rf_random_direction(&random, w, set.d);
        double along = rf_la_dot(w, set.wstar, set.d);
        rf_la_scale(w, (neuron ? -1 : 1) * (along < 0 ? -1 : 1) * size, set.d);
        start.a[neuron] = neuron ? -size : size;
      }
      status =
          rf_llwa_walk(run, &flow, &converged, &set, &start, RF_UNTIL_INFINITY, 0, 2, see_sizes, &growth);
      double error = converged ? rf_llwa_far(&flow.limit.net, &aim) : INFINITY;
      rf_claim_at_most(run, "distance from (wstar,-wstar,1,-1)/2", error, 0, 1e-8);
      worst = fmax(worst, error), least = fmin(least, growth.least);
      if (converged) {
        rf_claim_close(run, "|w2|/|w1| in the limit",
                       rf_la_norm(flow.limit.net.W + set.d, set.d) / rf_la_norm(flow.limit.net.W, set.d), 1,
                       1e-8);
        rf_llwa_copy(&start, &aim, 0.5);
        printed = fmin(printed, rf_llwa_far(&flow.limit.net, &start));
      }
      if (l == 1 && growth.x[1] > growth.x[0] + log(3)) {
        double slope = (growth.y[1] - growth.y[0]) / (growth.x[1] - growth.x[0]);
        slope_low = fmin(slope_low, slope), slope_high = fmax(slope_high, slope);
      }
      rf_flow_result_free(&flow);
    }
    rf_llwa_free(&set);
  }
  rf_claim_at_least(run, "the size ratio stays away from 0", least, 1e-4, 0);
  if (!status) status = judge_mirrored(run);
  rf_claim_misprint(run, "MP-LLWA-01", "distance of the limits from the vector with 1/4 and with 1/2",
                    printed, worst, NAN, printed < 1e-8);
  rf_claim_note(
      run,
      "error at t = infinity %.1e, smallest size ratio on the way %.1e; leak 1/2: the squared ratio grows "
      "like smargin^%.2f to ^%.2f (derived: 1)",
      worst, least, slope_low, slope_high);
  return status;
}

/* ---- LLWA-24: Theorem 5.6, flows near a local maximiser stay ------------------------------- */

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static RfStatus near_maximiser(RfClaimRun *run, const RfLlwaSet *set, const RfNet *point, double margin,
                               int which, double *largest) {
  enum { draws = 20 };
  const double norms[] = {3, 10, 30}, errors[] = {1e-1, 1e-2, 1e-3};
  RfStatus status = RF_OK;
  for (int s = 0; s < 3; s++) {
    double last = INFINITY;
    for (int e = 0; e < 3; e++) {
      double distances[draws], apart = 0;
      for (int draw = 0; draw < draws && !status; draw++) {
        Point one, two;
        RfNet start = at(&one, point->m, set), noise = at(&two, point->m, set);
        RfFlowResult flow;
        bool converged;
        RfRandom random = rf_claim_random(run, 10000 * (uint64_t)which + 1000 * (uint64_t)s +
                                                   100 * (uint64_t)e + (uint64_t)draw);
        rf_llwa_gaussian(&noise, &random, 1);
        double size = errors[e] / sqrt(rf_net_norm2(&noise));
        rf_llwa_copy(&start, point, 1);
        rf_la_axpy(start.W, size, noise.W, point->m * set->d), rf_la_axpy(start.a, size, noise.a, point->m);
        rf_llwa_copy(&start, &start, norms[s] / sqrt(rf_net_norm2(&start)));
        status = rf_llwa_limit(run, &flow, &converged, set, &start, 0);
        distances[draw] = converged ? rf_llwa_far(&flow.limit.net, point) : INFINITY;
        if (converged) apart = fmax(apart, fabs(flow.limit.margin / margin - 1));
        rf_flow_result_free(&flow);
      }
      if (status) return status;
      double middle = median(distances, draws);
      rf_claim_at_most(run, "median distance of the limit over the direction error of the start",
                       middle / errors[e], 1, 0);
      rf_claim_at_most(run, "median distance falls with the direction error", middle, last, 1e-12);
      if (e == 2)
        rf_claim_at_most(run, "normalised margin of the limit against the maximiser's", apart, 0, 1e-8);
      last = middle, *largest = fmax(*largest, middle / errors[e]);
    }
  }
  return RF_OK;
}

RfStatus rf_llwa_24(RfClaimRun *run) {
  RfLlwaSet set;
  Point points[2];
  double largest[2] = {0, 0};
  RfStatus status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
  if (status) return status;
  const double b[] = {0.6, -0.3, 0.8, -0.9}; /* the optimum of two neurons in four */
  RfNet two = at(&points[0], 2, &set), four = at(&points[1], 4, &set);
  rf_llwa_pair(&two, &set);
  rf_llwa_embed(&four, &two, b);
  status = near_maximiser(run, &set, &four, (1 + set.leak) / 4 * set.gstar, 0, &largest[0]);
  rf_llwa_free(&set);
  if (status) return status;
  RfDataset vee = {
      0}; /* the local optimum (0,2), (0,-1) of VSS Lemma C.6 on (1,1/4), (-1,1/4), (0,-1), leak 0 */
  status = rf_claim_generate(run, &vee, "DS-V4");
  if (status) return status;
  RfLlwaSet other = {.X = vee.X, .y = vee.y, .n = vee.n, .d = 2};
  RfNet local = at(&points[0], 2, &other);
  memcpy(local.W, (double[]){0, 2, 0, -1}, 4 * sizeof(double));
  local.a[0] = 2, local.a[1] = 1;
  rf_llwa_copy(&local, &local, 1 / sqrt(rf_net_norm2(&local)));
  status = near_maximiser(run, &other, &local, rf_llwa_least(&local, &other), 1, &largest[1]);
  rf_dataset_free(&vee);
  rf_claim_note(
      run,
      "norms 3, 10, 30, direction errors 0.1, 0.01, 0.001, 20 draws each, limits at t = infinity; median "
      "distance over the error at most %.3f (DS-SYM6) and %.3f (VSS C.6)",
      largest[0], largest[1]);
  return status;
}
