/* Exact maximum of F(u) = sum_own lambda phi(u.x) - sum_other lambda phi(u.x) over unit u, by branch and
 * bound on the signs of the own-class inner products (docs/math.md (G.7)-(G.10)).
 *
 * In a node every own sample is on a known side, or free. With z = u.x,
 *     known +  : contributes lambda z, and z >= 0 may be used:  coefficient in [lambda, inf)
 *     known -  : contributes leak lambda z, with z <= 0:        coefficient in (-inf, leak lambda]
 *     free     : phi(z) is below its chord on the range [l,h] of z:  coefficient = slope of the chord, plus a
 * constant opposite : -lambda phi(z) is concave:                     coefficient -m, m in [leak lambda,
 * lambda] so F(u) <= res.u + C for every admissible choice of coefficients, res = sum of coefficients times
 * rows, and |res| + C bounds the node. Coordinate steps shrink |res|; any stage of them is a valid bound. If
 * something above the target exists in the node, it lies in the cap res.u >= target - C, which narrows [l,h]
 * and decides samples without branching. For many free samples the sum of chord constants is beaten by
 * Cauchy-Schwarz: sum lambda |z| <= sqrt(sum lambda) sqrt(largest eigenvalue of sum lambda x x^T).
 *
 * Every conclusion holds for the rows and multipliers as given, rounding included: `pad` bounds the errors of
 * |res| + C, cosines and ranges carry theirs, and a leaf that is too close for doubles is evaluated with 113
 * bits (wide.h). */
#include "optimum/optimum_internal.h"
#include "optimum/kernels.h"
#include "optimum/wide.h"

#include <math.h>
#include <string.h>

typedef enum Side { side_free = 0, side_plus = 1, side_minus = -1 } Side;

/* What a node remembers; one per level of the tree. Entries 0..own-1 are own samples, the rest opposite ones.
 */
typedef struct Level {
  double *coef, *low, *high; /* own + other */
  double *l, *h;             /* own: range of z */
  signed char *side;         /* own */
} Level;

typedef struct Work {
  RfContext *context;
  RfSearch *search;
  const RfReduced *p;
  const double *lambda_all;
  int sign;
  rf_index own, count, r;
  double leak;
  double total;       /* sum of lambda */
  double edge;        /* no row is longer */
  RfWide *wide;       /* work, r */
  double *V, *lambda; /* count rows of r (own: x, opposite: -x), count weights */
  Level *levels;
  double *store;
  signed char *sides;
  RfBox box;
  double *u, *matrix, *vector, *ray;
  int range_sweeps; /* 0 = ranges from the cone do not pay */
  bool stopped;
  RfStatus status;
} Work;

/* ---- set-up ----------------------------------------------------------------------------------- */

static void work_free(Work *w) {
  rf_free(w->V), rf_free(w->lambda), rf_free(w->levels), rf_free(w->store), rf_free(w->sides);
  rf_free(w->u), rf_free(w->matrix), rf_free(w->vector), rf_free(w->ray), rf_free(w->wide);
  rf_box_free(&w->box);
}

static RfStatus work_alloc(Work *w, rf_index capacity) {
  rf_index r = w->r, levels = w->own + 2, per = 3 * w->count + 2 * w->own;
  w->levels = RF_NEW(Level, levels);
  w->store = RF_NEW(double, levels *per);
  w->sides = RF_NEW(signed char, levels *(w->own + 1));
  w->u = RF_NEW(double, r), w->matrix = RF_NEW(double, 2 * r * r), w->vector = RF_NEW(double, 2 * r);
  w->ray = RF_NEW(double, w->own), w->wide = rf_alloc(r, sizeof *w->wide);
  w->edge = 1 + (double)(w->p->d + r + 8) * 2 * DBL_EPSILON;
  for (rf_index i = 0; i < w->count; i++) w->total += w->lambda[i];
  w->range_sweeps = r <= 4 ? 8 : r <= 7 ? 5 : 0;
  RfStatus status = rf_box_new(w->context, &w->box, capacity, r);
  if (status) return status;
  if (!w->levels || !w->store || !w->sides || !w->u || !w->matrix || !w->vector || !w->ray || !w->wide)
    return rf_fail(w->context, RF_ERR_MEMORY, "out of memory for the search");
  for (rf_index k = 0; k < levels; k++) {
    double *s = w->store + k * per;
    w->levels[k] = (Level){.coef = s,
                           .low = s + w->count,
                           .high = s + 2 * w->count,
                           .l = s + 3 * w->count,
                           .h = s + 3 * w->count + w->own,
                           .side = w->sides + k * (w->own + 1)};
  }
  return RF_OK;
}

/* Compacts the samples with positive weight, own class first. */
static RfStatus work_new(Work *w) {
  const RfReduced *p = w->p;
  w->V = RF_NEW_TABLE(double, p->n, p->r);
  w->lambda = RF_NEW(double, p->n);
  if (!w->V || !w->lambda) return rf_fail(w->context, RF_ERR_MEMORY, "out of memory for the search");
  for (int pass = 1; pass >= -1; pass -= 2)
    for (rf_index i = 0; i < p->n; i++) {
      if (w->lambda_all[i] <= 0 || p->y[i] * w->sign * pass < 0) continue;
      for (rf_index k = 0; k < p->r; k++) w->V[w->count * p->r + k] = pass * p->X[i * p->r + k];
      w->lambda[w->count++] = w->lambda_all[i];
      if (pass > 0) w->own++;
    }
  return work_alloc(w, w->count);
}

static void set_side(Work *w, Level *v, rf_index i, Side side) {
  double lambda = w->lambda[i];
  v->side[i] = (signed char)side;
  v->low[i] = side == side_plus ? lambda : -INFINITY;
  v->high[i] = side == side_plus ? INFINITY : w->leak * lambda;
  v->coef[i] = side == side_plus ? lambda : w->leak * lambda;
  if (side == side_plus) v->l[i] = 0;
  if (side == side_minus) v->h[i] = 0;
}

/* Chord of phi on [l,h], l < 0 < h: lambda phi(z) <= slope z + constant. */
static double chord_slope(const Work *w, const Level *v, rf_index i) {
  return w->lambda[i] * (v->h[i] - w->leak * v->l[i]) / (v->h[i] - v->l[i]);
}
static double chord_constant(const Work *w, const Level *v, rf_index i) {
  return w->lambda[i] * (1 - w->leak) * v->h[i] * -v->l[i] / (v->h[i] - v->l[i]);
}

static void set_free(Level *v, rf_index i, double slope) {
  v->side[i] = side_free;
  v->low[i] = v->high[i] = v->coef[i] = slope;
}

/* Smallest and largest x_i.res over coefficients between leak lambda and lambda (undecided) or at their side.
 */
static void root_interval(const Work *w, const Level *v, rf_index i, double *least, double *most) {
  *least = *most = 0;
  for (rf_index j = 0; j < w->count; j++) {
    double g = rf_short_dot(w->V + i * w->r, w->V + j * w->r, w->r) * w->lambda[j];
    double low = j < w->own && v->side[j] == side_plus ? g : w->leak * g;
    double high = j < w->own && v->side[j] == side_minus ? w->leak * g : g;
    *least += fmin(low, high), *most += fmax(low, high);
  }
}

/* The distance is monotone in the slope of sample i when x_i.res keeps its sign: the side is then known
 * (G.8). */
static void root_sides(Work *w, Level *v) {
  double noise = (double)(w->count + w->r + 4) * 2 * rf_unit_roundoff * rf_length_slack * w->total;
  for (bool changed = true; changed;) {
    changed = false;
    for (rf_index i = 0; i < w->own; i++) {
      if (v->side[i] != side_free) continue;
      double least, most;
      root_interval(w, v, i, &least, &most);
      if (least < noise && most > -noise) continue;
      set_side(w, v, i, least >= noise ? side_plus : side_minus);
      changed = true;
    }
  }
}

static void root(Work *w) {
  Level *v = &w->levels[0];
  for (rf_index i = 0; i < w->own; i++) {
    v->l[i] = -w->edge, v->h[i] = w->edge;
    set_free(v, i, w->lambda[i] * (1 + w->leak) / 2);
  }
  for (rf_index i = w->own; i < w->count; i++) {
    v->low[i] = w->leak * w->lambda[i], v->high[i] = w->lambda[i];
    v->coef[i] = w->lambda[i] * (1 + w->leak) / 2;
  }
  root_sides(w, v);
}

/* ---- bounds ----------------------------------------------------------------------------------- */

/* Cholesky of (bound I - A) succeeds: then bound (1 + 2 r^2 u) is above the largest eigenvalue of A as stored
 * (Rump, Verification of positive definiteness, 2006, thm 2.3). A is r x r, work likewise. */
static bool above_spectrum(const double *A, double bound, double *L, rf_index r) {
  for (rf_index i = 0; i < r; i++)
    for (rf_index j = 0; j <= i; j++) {
      double sum = (i == j ? bound : 0) - A[i * r + j] - rf_short_dot(L + i * r, L + j * r, j);
      if (i == j && !(sum > 0)) return false;
      L[i * r + j] = i == j ? sqrt(sum) : sum / L[j * r + j];
    }
  return true;
}

/* Upper bound of the largest eigenvalue of a positive semidefinite A: power iteration, then proof. */
static double largest_eigenvalue(Work *w, const double *A) {
  rf_index r = w->r;
  double *x = w->vector, *z = w->vector + r, value = 0, trace = 0;
  for (rf_index k = 0; k < r; k++) x[k] = 1 + 0.1 * (double)(k % 3), trace += A[k * r + k];
  for (int step = 0; step < 12; step++) {
    for (rf_index k = 0; k < r; k++) z[k] = rf_short_dot(A + k * r, x, r);
    value = sqrt(rf_short_dot(z, z, r));
    if (value == 0) return trace * (1 + (double)(w->own + 2) * DBL_EPSILON);
    for (rf_index k = 0; k < r; k++) x[k] = z[k] / value;
    if (step == 0) value = 0;
  }
  /* A was summed from at most `own` terms: its errors are below (own + 2) u times its trace */
  double error = (double)(2 * r * r + 8) * rf_unit_roundoff, formed = (double)(w->own + 2) * rf_unit_roundoff;
  for (double factor = 1.02; factor < 1.5; factor += 0.08)
    if (above_spectrum(A, factor * value, w->matrix + r * r, r))
      return factor * value * (1 + 2 * error) + 2 * formed * trace;
  return trace * (1 + 2 * formed);
}

/* Constant of the free samples: chords, or Cauchy-Schwarz for those with wide ranges where that is smaller.
 * Sets their coefficients accordingly. */
static double free_constant(Work *w, Level *v) {
  rf_index r = w->r, wide = 0;
  double chords = 0, wide_chords = 0, weight = 0, *A = w->matrix;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    double constant = chord_constant(w, v, i), half = (1 - w->leak) / 2 * w->lambda[i];
    chords += constant;
    set_free(v, i, chord_slope(w, v, i));
    if (constant > 0.6 * half) wide++, wide_chords += constant, weight += w->lambda[i];
  }
  if (wide < 3) return chords;
  memset(A, 0, (size_t)(r * r) * sizeof *A);
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free || chord_constant(w, v, i) <= 0.3 * (1 - w->leak) * w->lambda[i]) continue;
    const double *x = w->V + i * r;
    for (rf_index k = 0; k < r; k++) rf_short_axpy(A + k * r, w->lambda[i] * x[k], x, r);
  }
  double spectral = (1 - w->leak) / 2 * sqrt(weight * largest_eigenvalue(w, A)) * rf_length_slack;
  if (spectral >= wide_chords) return chords;
  for (rf_index i = 0; i < w->own; i++)
    if (v->side[i] == side_free && chord_constant(w, v, i) > 0.3 * (1 - w->leak) * w->lambda[i])
      set_free(v, i, w->lambda[i] * (1 + w->leak) / 2);
  return chords - wide_chords + spectral;
}

/* Errors of |res| + C for res summed afresh: (count + r) u per unit of coefficient for the sum and its
 * length, 12 u per unit of weight for the slopes and constants of chords. */
static double pad(const Work *w, const Level *v, double constant) {
  double sum = constant;
  for (rf_index i = 0; i < w->count; i++) sum += fmax(fabs(v->coef[i]), w->lambda[i]);
  return (double)(w->count + w->r + 16) * rf_unit_roundoff * rf_length_slack * sum;
}

/* |res| rounded up, with 113 bits. */
static double wide_size(Work *w, const Level *v) {
  RfWide square = 0;
  double sum = 0;
  for (rf_index k = 0; k < w->r; k++) w->wide[k] = 0;
  for (rf_index i = 0; i < w->count; i++) {
    sum += fabs(v->coef[i]) * w->edge;
    for (rf_index k = 0; k < w->r; k++) w->wide[k] += (RfWide)v->coef[i] * (RfWide)w->V[i * w->r + k];
  }
  for (rf_index k = 0; k < w->r; k++) square += w->wide[k] * w->wide[k];
  double error = (double)(w->count + w->r + 4) * rf_wide_roundoff * rf_length_slack * sum;
  return rf_add_up(rf_wide_root_up(square + square * (RfWide)0x1p-100), error);
}

/* A bound of the node from the box as it stands, as sharp as needed: res afresh and padded, or with 113 bits
 * where only that can get below the target. */
static double node_bound(Work *w, const Level *v, double constant, double *size) {
  rf_box_residual(&w->box);
  *size = sqrt(rf_short_dot(w->box.res, w->box.res, w->r));
  double target = w->search->target, error = pad(w, v, constant), bound = *size + constant + error;
  if (bound <= target || *size + constant > target + error) return bound;
  double chords = constant > 0 ? constant + 16 * rf_unit_roundoff * (w->total + constant) : 0;
  return fmin(bound, rf_add_up(wide_size(w, v), chords));
}

/* Shrinks |res| while that promises to prune. Returns true when pruned; *size = |res|. */
static bool shrink(Work *w, Level *v, double constant, double *size) {
  RfBox *box = &w->box;
  double before = INFINITY, target = w->search->target;
  for (int sweep = 0; sweep < 40; sweep++) {
    *size = sqrt(rf_box_sweep(box));
    if (*size + constant <= target && node_bound(w, v, constant, size) <= target) return true;
    if (before - *size < 0.03 * (*size + constant - target)) break;
    before = *size;
  }
  return false;
}

/* The cap res.u >= target - C as seen from a free sample: cosine from below, sine from above, and the error
 * of x.res/|res|. */
typedef struct Cap {
  double cosine, sine, error;
} Cap;

static bool cap_of(Cap *cap, const Work *w, const Level *v, double constant, double size) {
  double error = pad(w, v, constant);
  cap->cosine = (w->search->target - constant - error) / (size + error) * (1 - 4 * DBL_EPSILON);
  if (!(cap->cosine > 0)) return false;
  cap->cosine = fmin(cap->cosine, 1);
  cap->sine = sqrt(1 - cap->cosine * cap->cosine + 8 * DBL_EPSILON) * (1 + DBL_EPSILON);
  cap->error = (double)(w->r + 8) * DBL_EPSILON + 2 * error / size + (w->edge - 1);
  return true;
}

/* Uses the cap to narrow the ranges of free samples; true when one was decided or the constant fell
 * noticeably. */
static bool narrow(Work *w, Level *v, double constant, double size) {
  Cap cap;
  if (!cap_of(&cap, w, v, constant, size)) return false;
  double before = 0, after = 0;
  bool decided = false;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    double q = rf_short_dot(w->V + i * w->r, w->box.res, w->r) / size;
    if (fabs(q) > cap.sine + cap.error) {
      set_side(w, v, i, q > 0 ? side_plus : side_minus);
      decided = true;
      continue;
    }
    before += chord_constant(w, v, i);
    double near = fmax(0, fabs(q) - cap.error);
    double across = sqrt(fmax(0, 1 - near * near) + 8 * DBL_EPSILON) * cap.sine + cap.error + 4 * DBL_EPSILON;
    if (q + cap.error < cap.cosine) v->h[i] = fmin(v->h[i], q * cap.cosine + across);
    if (-q + cap.error < cap.cosine) v->l[i] = fmax(v->l[i], q * cap.cosine - across);
    if (v->l[i] >= 0 || v->h[i] <= 0) {
      set_side(w, v, i, v->l[i] >= 0 ? side_plus : side_minus);
      decided = true;
    } else
      after += chord_constant(w, v, i);
  }
  return decided || after < 0.9 * before;
}

/* max z_i over unit u of the node's cone is at most |x_i + sum_j c_j s_j x_j| for any c >= 0 over the known
 * samples (and likewise -z_i): a few coordinate steps on c. toward = +1 for the largest z, -1 for the largest
 * -z. */
static double reach(Work *w, const Level *v, rf_index i, double toward) {
  rf_index r = w->r;
  double *rho = w->vector;
  for (rf_index k = 0; k < r; k++) rho[k] = toward * w->V[i * r + k];
  memset(w->ray, 0, (size_t)w->own * sizeof(double));
  double size = 1, moved = w->edge; /* every step adds at most 4 u (|step| + |rho|) of error, |rho| <= 1 */
  for (int sweep = 0; sweep < w->range_sweeps; sweep++) {
    for (rf_index j = 0; j < w->own; j++) {
      if (v->side[j] == side_free) continue;
      const double *x = w->V + j * r;
      double step = -v->side[j] * rf_short_dot(x, rho, r), now = fmax(0, w->ray[j] + step);
      if (now == w->ray[j]) continue;
      rf_short_axpy(rho, v->side[j] * (now - w->ray[j]), x, r);
      moved += fabs(now - w->ray[j]) + 2;
      w->ray[j] = now;
    }
    double after = sqrt(rf_short_dot(rho, rho, r));
    bool slow = after > 0.95 * size;
    size = after;
    if (slow) break;
  }
  return size * (1 + (double)(r + 4) * DBL_EPSILON) + 4 * DBL_EPSILON * rf_length_slack * moved;
}

/* Narrows the ranges of the free samples by the cone, never to nothing: a sample that the cone holds on its
 * plane keeps a chord of rounding size. True when the constant fell noticeably. */
static bool narrow_by_cone(Work *w, Level *v) {
  double before = 0, after = 0;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    before += chord_constant(w, v, i);
    v->h[i] = fmin(v->h[i], reach(w, v, i, 1));
    v->l[i] = fmax(v->l[i], -reach(w, v, i, -1));
    after += chord_constant(w, v, i);
  }
  return after < 0.9 * before;
}

/* ---- the tree --------------------------------------------------------------------------------- */

static void aim_box(Work *w, Level *v) {
  w->box.V = w->V, w->box.n = w->count, w->box.r = w->r;
  w->box.coef = v->coef, w->box.low = v->low, w->box.high = v->high;
}

static void note_value(Work *w, double size, double bound) {
  RfSearch *s = w->search;
  if (size > 0) {
    for (rf_index k = 0; k < w->r; k++) w->u[k] = w->box.res[k] / size;
    double value = rf_oracle_value(w->p, w->lambda_all, w->u, w->sign);
    if (value > s->target) {
      RfStatus status = rf_directions_add(w->context, &s->found, w->u, value, w->sign);
      if (status) w->status = status, w->stopped = true;
      if (s->stop_after > 0 && s->found.count >= s->stop_after) w->stopped = true;
    }
    s->best = fmax(s->best, value);
    if (s->stop_after == 0) s->target = fmax(s->target, s->best);
  }
  s->upper = fmax(s->upper, bound);
}

/* The free sample whose chord is furthest from phi at the present direction. */
static rf_index choose(Work *w, const Level *v, double size, bool *plus) {
  rf_index at = -1;
  double worst = -INFINITY;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    double q = size > 0 ? rf_short_dot(w->V + i * w->r, w->box.res, w->r) / size : 0;
    double inside = fmin(fmax(q, v->l[i]), v->h[i]);
    double gap =
        chord_constant(w, v, i) + chord_slope(w, v, i) * inside - w->lambda[i] * rf_phi(inside, w->leak);
    if (gap > worst) worst = gap, at = i, *plus = q >= 0;
  }
  return at;
}

static bool poll(Work *w) {
  RfSearch *s = w->search;
  s->nodes++;
  if (s->node_limit > 0 && s->nodes >= s->node_limit) w->stopped = true;
  if ((s->nodes & 15) == 0 && rf_context_stop(w->context)) w->status = RF_INTERRUPTED, w->stopped = true;
  return w->stopped;
}

static void copy_level(const Work *w, Level *to, const Level *from) {
  memcpy(to->coef, from->coef, (size_t)(3 * w->count + 2 * w->own) * sizeof(double));
  memcpy(to->side, from->side, (size_t)w->own);
}

static void visit(Work *w, rf_index depth) {
  Level *v = &w->levels[depth];
  double constant = 0, size = 0, bound = INFINITY;
  if (poll(w)) {
    w->search->upper = INFINITY; /* replaced by the parent's bound */
    return;
  }
  for (int round = 0; round < 6; round++) {
    constant = free_constant(w, v);
    aim_box(w, v);
    rf_box_residual(&w->box);
    if (shrink(w, v, constant, &size)) return;
    bound = node_bound(w, v, constant, &size);
    bool better = narrow(w, v, constant, size);
    if (w->range_sweeps > 0 && round < 2 && narrow_by_cone(w, v)) better = true;
    if (!better) break;
  }
  bool plus = true;
  rf_index at = choose(w, v, size, &plus);
  if (at < 0 || constant <= rf_leaf_constant) {
    constant = free_constant(w, v); /* the last narrowing may have decided more */
    rf_box_solve(&w->box);
    bound = node_bound(w, v, constant, &size);
    if (bound > w->search->target) note_value(w, size, bound);
    return;
  }
  if (w->search->stop_after == 0) note_value(w, size, 0);
  double outside = w->search->upper;
  for (int child = 0; child < 2 && !w->stopped; child++) {
    copy_level(w, &w->levels[depth + 1], v);
    set_side(w, &w->levels[depth + 1], at, (child == 0) == plus ? side_plus : side_minus);
    visit(w, depth + 1);
  }
  if (w->stopped)
    w->search->upper = fmax(outside, bound); /* whatever is open below is under this node's bound */
}

RfStatus rf_search_run(RfContext *context, RfSearch *search, const RfReduced *p, const double *lambda,
                       int sign) {
  Work w = {.context = context,
            .search = search,
            .p = p,
            .lambda_all = lambda,
            .sign = sign,
            .r = p->r,
            .leak = p->leak};
  search->found.r = p->r;
  search->upper = 0;
  w.status = work_new(&w);
  if (!w.status && w.own > 0) {
    double *coef = w.box.coef, *low = w.box.low, *high = w.box.high;
    root(&w);
    visit(&w, 0);
    w.box.coef = coef, w.box.low = low, w.box.high = high;
  }
  search->upper = fmax(search->upper, search->target);
  work_free(&w);
  return w.status;
}
