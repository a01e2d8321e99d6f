/* The search of a proof: like search.c on the final multipliers, but every step is a statement of the format.
 * Chords, caps and cones are used; the spectral bound is not, as no rule states it. Bounds from caps are not
 * handed down to children, which find their own: what is written stays near where it is used. */
#include "optimum/proof_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"

#include <string.h>

/* ---- set-up ----------------------------------------------------------------------------------- */

static void tree_free(RfProofTree *t) {
  rf_free(t->at), rf_free(t->power), rf_free(t->V), rf_free(t->lambda), rf_free(t->length),
      rf_free(t->levels);
  rf_free(t->store), rf_free(t->refs_store), rf_free(t->sides), rf_free(t->ray), rf_free(t->rho);
  rf_free(t->wide), rf_free(t->records), rf_free(t->terms), rf_free(t->numbers), rf_free(t->refs);
  rf_free(t->log), rf_free(t->wides), rf_free(t->rows), rf_free(t->counted);
  rf_box_free(&t->box), rf_box_free(&t->cone);
}

/* Samples with a multiplier, own class first; rows times a power of two, so that their length is about 1. */
static bool load(RfProofTree *t, const double *X, const double *y, const double *lambda, rf_index n) {
  for (int pass = 1; pass >= -1; pass -= 2)
    for (rf_index i = 0; i < n; i++) {
      if (!(lambda[i] > 0) || y[i] * t->sign * pass < 0) continue;
      rf_index c = t->count++;
      double size = rf_la_norm(X + i * t->d, t->d);
      frexp(size, &t->power[c]);
      t->at[c] = i, t->lambda[c] = ldexp(lambda[i], t->power[c]);
      for (rf_index k = 0; k < t->d; k++) {
        double x = ldexp(X[i * t->d + k], -t->power[c]);
        t->V[c * t->d + k] = pass * x;
        if (ldexp(x, t->power[c]) != X[i * t->d + k]) return false;
      }
      if (ldexp(t->lambda[c], -t->power[c]) != lambda[i]) return false;
      RfWide square = rf_wide_dot(t->V + c * t->d, t->V + c * t->d, t->d, NULL);
      t->length[c] = rf_wide_root_up(square + square * (RfWide)0x1p-100);
      if (pass > 0) t->own++;
    }
  return true;
}

static RfStatus tree_levels(RfProofTree *t) {
  rf_index levels = t->own + 2, per = 3 * t->count + 4 * t->own;
  t->levels = RF_NEW(RfProofNode, levels);
  t->store = RF_NEW(double, levels *per), t->refs_store = RF_NEW(int, levels * 4 * (t->own + 1));
  t->sides = RF_NEW(signed char, levels *(t->own + 1)), t->ray = RF_NEW(double, t->own + 1);
  t->rho = RF_NEW(double, t->d), t->wide = rf_alloc(t->d, sizeof *t->wide);
  t->rows = RF_NEW(double, (t->own + 1) * t->d), t->counted = RF_NEW(double, t->own + 1);
  if (!t->rows || !t->counted) return rf_fail(t->context, RF_ERR_MEMORY, "out of memory for a proof");
  memcpy(t->rows, t->V, (size_t)(t->own * t->d) * sizeof(double));
  RfStatus status = rf_box_new(t->context, &t->box, t->count + 1, t->d);
  if (!status) status = rf_box_new(t->context, &t->cone, t->own + 1, t->d);
  if (!status && (!t->levels || !t->store || !t->refs_store || !t->sides || !t->ray || !t->rho || !t->wide))
    status = rf_fail(t->context, RF_ERR_MEMORY, "out of memory for a proof");
  for (rf_index k = 0; k < levels && !status; k++) {
    double *s = t->store + k * per;
    int *refs = t->refs_store + k * 4 * (t->own + 1);
    RfProofNode *v = &t->levels[k];
    v->coef = s, v->low = s + t->count, v->high = s + 2 * t->count, v->l = s + 3 * t->count;
    v->h = v->l + t->own, v->lower = refs, v->upper = refs + t->own, v->side = t->sides + k * (t->own + 1);
  }
  return status;
}

static RfStatus tree_new(RfProofTree *t, const double *X, const double *y, const double *lambda, rf_index n) {
  t->at = RF_NEW(rf_index, n), t->power = RF_NEW(int, n), t->V = RF_NEW(double, n * t->d);
  t->lambda = RF_NEW(double, n), t->length = RF_NEW(double, n);
  if (!t->at || !t->power || !t->V || !t->lambda || !t->length)
    return rf_fail(t->context, RF_ERR_MEMORY, "out of memory for a proof");
  if (!load(t, X, y, lambda, n)) return RF_UNDECIDED; /* scales beyond the range of doubles */
  return tree_levels(t);
}

/* ---- the state of a node ---------------------------------------------------------------------- */

static void set_side(RfProofTree *t, RfProofNode *v, rf_index i, int side) {
  double slope = side > 0 ? t->lambda[i] : t->leak * t->lambda[i];
  v->side[i] = (signed char)side;
  v->low[i] = side > 0 ? slope : -INFINITY, v->high[i] = side > 0 ? INFINITY : slope;
  v->coef[i] = slope;
}

static double chord(const RfProofTree *t, const RfProofNode *v, rf_index i) {
  return t->lambda[i] * (1 - t->leak) * v->h[i] * -v->l[i] / (v->h[i] - v->l[i]);
}

double rf_proof_chord(const RfProofTree *t, const RfProofNode *v, rf_index i, double gamma) {
  RfWide left = ((RfWide)t->leak * (RfWide)t->lambda[i] - (RfWide)gamma) * (RfWide)v->l[i];
  RfWide right = ((RfWide)t->lambda[i] - (RfWide)gamma) * (RfWide)v->h[i];
  RfWide e = left > right ? left : right;
  return e > 0 ? rf_wide_up(e + e * (RfWide)0x1p-100) : 0;
}

/* Slopes of the chords; returns the sum of their constants. */
static double set_chords(RfProofTree *t, RfProofNode *v) {
  double sum = 0;
  for (rf_index i = 0; i < t->own; i++) {
    if (v->side[i]) continue;
    double slope = t->lambda[i] * (v->h[i] - t->leak * v->l[i]) / (v->h[i] - v->l[i]);
    v->low[i] = v->high[i] = v->coef[i] = slope;
    sum += chord(t, v, i);
  }
  return sum;
}

static void aim_box(RfProofTree *t, RfProofNode *v) {
  t->box.V = t->V, t->box.n = t->count, t->box.r = t->d;
  t->box.coef = v->coef, t->box.low = v->low, t->box.high = v->high;
  rf_box_residual(&t->box);
}

/* Coordinate steps for rows of any length; |res|. */
static double sweep(RfProofTree *t) {
  RfBox *box = &t->box;
  for (rf_index i = 0; i < box->n; i++) {
    if (box->low[i] == box->high[i]) continue;
    const double *x = box->V + i * box->r;
    double old = box->coef[i], now = old - rf_short_dot(x, box->res, box->r) / (t->length[i] * t->length[i]);
    now = now < box->low[i] ? box->low[i] : now > box->high[i] ? box->high[i] : now;
    if (now == old) continue;
    box->coef[i] = now;
    rf_short_axpy(box->res, now - old, x, box->r);
  }
  return sqrt(rf_short_dot(box->res, box->res, box->r));
}

/* Writes the closing line when |res| + C allows, with as few digits as will do. */
static bool close_node(RfProofTree *t, const RfProofNode *v, double room) {
  static const int bits[] = {12, 20, 30, 53};
  int k = 0;
  while (k < 3 && room <= rf_proof_room[k]) k++;
  for (; k < 4; k++)
    if (rf_line_close(t, v, bits[k])) return true;
  return false;
}

static bool shrink(RfProofTree *t, RfProofNode *v, double constant, double *size) {
  double before = INFINITY;
  for (int turn = 0; turn < 40; turn++) {
    *size = sweep(t);
    if (*size + constant <= t->tau) {
      sweep(t), sweep(t); /* a little more room makes shorter numbers */
      *size = sweep(t);
      if (close_node(t, v, t->tau - *size - constant)) return true;
    }
    if (before - *size < 0.03 * (*size + constant - t->tau)) break;
    before = *size;
  }
  return false;
}

/* ---- ranges ----------------------------------------------------------------------------------- */

static void take_bound(RfProofTree *t, RfProofNode *v, rf_index i, int toward, int record, double bound) {
  if (record < 0) return;
  if (bound <= 0) { /* z <= bound <= 0, or z >= 0 */
    rf_line_write(t, record);
    set_side(t, v, i, -toward);
  } else if (toward > 0)
    v->h[i] = bound, v->upper[i] = record;
  else
    v->l[i] = -bound, v->lower[i] = record;
}

/* mu for which |x + mu G| - mu b is least, from cosines; 0 when the cap says nothing. */
static double cap_multiplier(double q, double cosine, double sine, double length, double size) {
  double step = sqrt(fmax(0, 1 - q * q)) * cosine / fmax(sine, rf_cap_sine) - q;
  return step > 0 ? step * length / size : 0;
}

/* The nearest point of the cone of the sides to minus the last row of t->rows, multipliers in t->ray; its
 * distance. */
static double reach_exactly(RfProofTree *t, const RfProofNode *v) {
  RfBox *box = &t->cone;
  box->V = t->rows, box->n = t->own + 1, box->r = t->d;
  for (rf_index j = 0; j < t->own; j++) {
    box->coef[j] = v->side[j] * t->ray[j];
    box->low[j] = v->side[j] < 0 ? -INFINITY : 0, box->high[j] = v->side[j] > 0 ? INFINITY : 0;
  }
  box->coef[t->own] = box->low[t->own] = box->high[t->own] = 1;
  double size = rf_box_solve(box);
  for (rf_index j = 0; j < t->own; j++) t->ray[j] = v->side[j] ? fabs(box->coef[j]) : 0;
  return size;
}

static void aim_row(RfProofTree *t, rf_index i, double toward) {
  for (rf_index k = 0; k < t->d; k++) t->rows[t->own * t->d + k] = toward * t->V[i * t->d + k];
}

/* A sample that the sides hold on one side of its plane, to rounding: with a little of a cap, whose b is
 * positive, that is shown exactly. */
static bool decide_flat(RfProofTree *t, RfProofNode *v, int cap, rf_index i) {
  int toward = v->h[i] < rf_flat_range ? 1 : -v->l[i] < rf_flat_range ? -1 : 0;
  if (toward == 0 || cap < 0) return false;
  const RfWide *G = rf_line_cap_vector(t, cap);
  if (!(G[t->d] > 0)) return false;
  aim_row(t, i, toward);
  double *row = t->rows + t->own * t->d;
  for (rf_index k = 0; k < t->d; k++) row[k] += rf_flat_share * (double)G[k];
  reach_exactly(t, v);
  int record = rf_line_side(t, v, cap, i, toward, rf_flat_share, t->ray);
  if (record < 0) return false;
  rf_line_write(t, record);
  set_side(t, v, i, -toward);
  return true;
}

/* Ranges from the cap of the present box; true when a side was decided or the constant fell noticeably. */
static bool narrow(RfProofTree *t, RfProofNode *v, double constant, double size) {
  double cosine = fmin(1, (t->tau - constant) / size);
  if (!(cosine > 0)) return false;
  double sine = sqrt(fmax(0, 1 - cosine * cosine)), before = 0, after = 0;
  int cap = -1;
  bool decided = false;
  for (rf_index i = 0; i < t->own && !t->status; i++) {
    if (v->side[i]) continue;
    if (fmin(v->h[i], -v->l[i]) < rf_flat_range) {
      if (cap < 0) cap = rf_line_cap(t, v);
      if (decide_flat(t, v, cap, i)) {
        decided = true;
        continue;
      }
    }
    before += chord(t, v, i);
    double q = rf_short_dot(t->V + i * t->d, t->box.res, t->d) / (size * t->length[i]);
    for (int toward = 1; toward >= -1 && !v->side[i]; toward -= 2) {
      double now = toward > 0 ? v->h[i] : -v->l[i],
             mu = cap_multiplier(toward * q, cosine, sine, t->length[i], size);
      double guess = t->length[i] * (toward * q * cosine + sqrt(fmax(0, 1 - q * q)) * sine), bound;
      if (!(mu > 0) || guess > 0.97 * now) continue;
      if (cap < 0) cap = rf_line_cap(t, v);
      if (cap < 0) return false;
      int record = rf_line_bound_by_cap(t, cap, i, toward, mu, &bound);
      if (record >= 0 && bound < now) take_bound(t, v, i, toward, record, bound);
    }
    if (v->side[i])
      decided = true;
    else
      after += chord(t, v, i);
  }
  return decided || after < 0.9 * before;
}

/* A few coordinate steps on the multipliers of sides, for |x_i toward + sum c sigma x|; the size reached. */
static double reach(RfProofTree *t, const RfProofNode *v, rf_index i, double toward, int sweeps) {
  rf_index d = t->d;
  for (rf_index k = 0; k < d; k++) t->rho[k] = toward * t->V[i * d + k];
  memset(t->ray, 0, (size_t)(t->own + 1) * sizeof(double));
  double size = t->length[i];
  for (int turn = 0; turn < sweeps; turn++) {
    for (rf_index j = 0; j < t->own; j++) {
      if (!v->side[j]) continue;
      const double *x = t->V + j * d;
      double step = -v->side[j] * rf_short_dot(x, t->rho, d) / (t->length[j] * t->length[j]);
      double now = fmax(0, t->ray[j] + step);
      if (now == t->ray[j]) continue;
      rf_short_axpy(t->rho, v->side[j] * (now - t->ray[j]), x, d);
      t->ray[j] = now;
    }
    double after = sqrt(rf_short_dot(t->rho, t->rho, d));
    bool slow = after > 0.95 * size;
    size = after;
    if (slow) break;
  }
  return size;
}

/* Ranges from the cone of the known sides. */
static bool narrow_by_cone(RfProofTree *t, RfProofNode *v) {
  double before = 0, after = 0;
  int sweeps = t->d <= 4 ? 8 : 5;
  t->known = 0;
  for (rf_index j = 0; j < t->own; j++) t->known += v->side[j] != 0;
  for (rf_index i = 0; i < t->own && !t->status; i++) {
    if (v->side[i]) continue;
    before += chord(t, v, i);
    for (int toward = 1; toward >= -1; toward -= 2) {
      double now = toward > 0 ? v->h[i] : -v->l[i], bound;
      double size = reach(t, v, i, toward, sweeps);
      aim_row(t, i, toward);
      if (t->known >= t->d) size = reach_exactly(t, v);
      if (size > 0.97 * now) continue;
      int record = rf_line_bound_by_sides(t, v, i, toward, t->ray, &bound);
      if (record >= 0 && bound < now && bound > 0) take_bound(t, v, i, toward, record, bound);
    }
    after += chord(t, v, i);
  }
  return after < 0.9 * before;
}

/* ---- the tree --------------------------------------------------------------------------------- */

static rf_index choose(const RfProofTree *t, const RfProofNode *v, double size) {
  rf_index at = -1;
  double worst = -INFINITY;
  for (rf_index i = 0; i < t->own; i++) {
    if (v->side[i]) continue;
    double q = size > 0 ? rf_short_dot(t->V + i * t->d, t->box.res, t->d) / size : 0;
    double inside = fmin(fmax(q, v->l[i]), v->h[i]);
    double slope = t->lambda[i] * (v->h[i] - t->leak * v->l[i]) / (v->h[i] - v->l[i]);
    double gap = chord(t, v, i) + slope * inside - t->lambda[i] * rf_phi(inside, t->leak);
    if (gap > worst) worst = gap, at = i;
  }
  return at;
}

static bool leaf(RfProofTree *t, RfProofNode *v) {
  double constant = set_chords(t, v);
  aim_box(t, v);
  double size = rf_box_solve(&t->box);
  return close_node(t, v, t->tau - size - constant);
}

/* A range from a cap that is not written: no child may use it, as its cap would have to be written there,
 * where other samples have sides. */
static bool pending(const RfProofTree *t, int record) {
  return record >= 0 && t->records[record].cap >= 0 && !t->records[record].written;
}

static void forget_pending(const RfProofTree *t, RfProofNode *v, const RfProofNode *base) {
  for (rf_index i = 0; i < t->own; i++) {
    if (v->side[i]) continue;
    if (pending(t, v->lower[i])) v->l[i] = base->l[i], v->lower[i] = base->lower[i];
    if (pending(t, v->upper[i])) v->h[i] = base->h[i], v->upper[i] = base->upper[i];
  }
}

static void copy_node(const RfProofTree *t, RfProofNode *to, const RfProofNode *from) {
  memcpy(to->coef, from->coef, (size_t)(3 * t->count + 2 * t->own) * sizeof(double));
  memcpy(to->lower, from->lower, (size_t)(2 * t->own) * sizeof(int));
  memcpy(to->side, from->side, (size_t)t->own);
}

static void visit(RfProofTree *t, rf_index depth);

static void branch(RfProofTree *t, rf_index depth, rf_index at) {
  RfProofNode *v = &t->levels[depth];
  rf_line_split(t, at);
  for (int side = 1; side >= -1 && !t->status; side -= 2) {
    RfProofMark mark = rf_line_mark(t);
    copy_node(t, &t->levels[depth + 1], v);
    set_side(t, &t->levels[depth + 1], at, side);
    visit(t, depth + 1);
    rf_line_back(t, mark);
  }
}

static void visit(RfProofTree *t, rf_index depth) {
  RfProofNode *v = &t->levels[depth], *base = &t->levels[depth + 1]; /* free until a child is made */
  double constant = 0, size = 0;
  t->nodes++;
  if (rf_context_stop(t->context)) t->status = RF_INTERRUPTED;
  if (t->d <= 7) narrow_by_cone(t, v);
  copy_node(t, base, v);
  for (int round = 0; round < 6 && !t->status; round++) {
    constant = set_chords(t, v);
    aim_box(t, v);
    if (shrink(t, v, constant, &size)) return;
    if (constant <= rf_leaf_constant && leaf(t, v)) return;
    if (!narrow(t, v, constant, size)) break;
  }
  if (t->status) return;
  rf_index at = choose(t, v, size);
  if (at < 0) {
    if (!leaf(t, v)) t->status = RF_UNDECIDED;
    return;
  }
  forget_pending(t, v, base);
  branch(t, depth, at);
}

static void root(RfProofTree *t) {
  RfProofNode *v = &t->levels[0];
  for (rf_index i = t->own; i < t->count; i++) {
    v->low[i] = t->leak * t->lambda[i], v->high[i] = t->lambda[i];
    v->coef[i] = t->lambda[i] * (1 + t->leak) / 2;
  }
  for (bool changed = true; changed && !t->status;) {
    changed = false;
    for (rf_index i = 0; i < t->own; i++) {
      int side;
      if (v->side[i] || !rf_line_monotone(t, v, i, &side)) continue;
      set_side(t, v, i, side);
      changed = true;
    }
  }
  for (rf_index i = 0; i < t->own && !t->status; i++)
    if (!v->side[i]) rf_line_root(t, v, i);
  for (rf_index i = 0; i < t->own && !t->status; i++)
    if (!v->side[i]) rf_line_write(t, v->lower[i]), rf_line_write(t, v->upper[i]);
}

RfStatus rf_proof_tree(RfContext *context, RfProofText *text, double *nodes, const double *X, const double *y,
                       const double *lambda, rf_index n, rf_index d, double leak, int sign, double tau) {
  RfProofTree t = {.context = context, .text = text, .d = d, .sign = sign, .leak = leak, .tau = tau};
  t.status = tree_new(&t, X, y, lambda, n);
  if (!t.status) {
    double *coef = t.box.coef, *low = t.box.low, *high = t.box.high;
    rf_proof_word(text, sign > 0 ? "tree +1\n" : "tree -1\n");
    root(&t);
    visit(&t, 0);
    t.box.coef = coef, t.box.low = low, t.box.high = high;
  }
  *nodes += t.nodes;
  tree_free(&t);
  return t.status;
}
