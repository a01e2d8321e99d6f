/* Bounds of a node of the exact search: chords, Cauchy-Schwarz, caps and cones (search.c says what they are).
 * Every conclusion holds for the rows and multipliers as given, rounding included: `pad` bounds the errors of
 * |res| + C, cosines and ranges carry theirs, and what is too close for doubles is evaluated with 113 bits
 * (wide.h). */
#include "optimum/search_internal.h"
#include "optimum/kernels.h"

#include <math.h>
#include <string.h>

void rf_node_set_side(RfSearchWork *w, RfSearchLevel *v, rf_index i, RfSide side) {
  double lambda = w->lambda[i];
  v->side[i] = (signed char)side;
  v->low[i] = side == side_plus ? lambda : -INFINITY;
  v->high[i] = side == side_plus ? INFINITY : w->leak * lambda;
  v->coef[i] = side == side_plus ? lambda : w->leak * lambda;
  if (side == side_plus) v->l[i] = 0;
  if (side == side_minus) v->h[i] = 0;
}

/* Chord of phi on [l,h], l < 0 < h: lambda phi(z) <= slope z + constant. */
double rf_chord_slope(const RfSearchWork *w, const RfSearchLevel *v, rf_index i) {
  return w->lambda[i] * (v->h[i] - w->leak * v->l[i]) / (v->h[i] - v->l[i]);
}
double rf_chord_constant(const RfSearchWork *w, const RfSearchLevel *v, rf_index i) {
  return w->lambda[i] * (1 - w->leak) * v->h[i] * -v->l[i] / (v->h[i] - v->l[i]);
}

static void set_free(RfSearchLevel *v, rf_index i, double slope) {
  v->side[i] = side_free;
  v->low[i] = v->high[i] = v->coef[i] = slope;
}

/* Smallest and largest x_i.res over coefficients between leak lambda and lambda (undecided) or at their side.
 */
static void root_interval(const RfSearchWork *w, const RfSearchLevel *v, rf_index i, double *least,
                          double *most) {
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
static bool root_sides(RfSearchWork *w, RfSearchLevel *v) {
  bool any = false;
  double noise = (double)(w->count + w->r + 4) * 2 * rf_unit_roundoff * rf_length_slack * w->total;
  for (bool changed = true; changed;) {
    changed = false;
    for (rf_index i = 0; i < w->own; i++) {
      if (v->side[i] != side_free) continue;
      if (rf_context_stop(w->context)) { /* the sides known so far are right */
        w->status = RF_INTERRUPTED, w->stopped = true;
        return any;
      }
      double least, most;
      root_interval(w, v, i, &least, &most);
      if (least < noise && most > -noise) continue;
      rf_node_set_side(w, v, i, least >= noise ? side_plus : side_minus);
      changed = any = true;
    }
  }
  return any;
}

bool rf_node_root(RfSearchWork *w, RfSearchLevel *v) {
  for (rf_index i = 0; i < w->own; i++) {
    v->l[i] = -w->edge, v->h[i] = w->edge;
    set_free(v, i, w->lambda[i] * (1 + w->leak) / 2);
  }
  for (rf_index i = w->own; i < w->count; i++) {
    v->low[i] = w->leak * w->lambda[i], v->high[i] = w->lambda[i];
    v->coef[i] = w->lambda[i] * (1 + w->leak) / 2;
  }
  return root_sides(w, v);
}

/* ---- bounds ----------------------------------------------------------------------------------- */

/* Cholesky of (bound I - A) succeeds: then bound (1 + 2 r^2 u) is above the largest eigenvalue of A as stored
 * (Rump, Verification of positive definiteness, 2006, thm 2.3: (r + 1) u times the trace, which is r bound at
 * most, and one u more for entries that are multiplied by the inverse of the diagonal). A is r x r, work
 * likewise; the inverses of the diagonal are left on it. */
static bool above_spectrum(const double *A, double bound, double *L, rf_index r) {
  for (rf_index i = 0; i < r; i++) {
    for (rf_index j = 0; j < i; j++)
      L[i * r + j] = (-A[i * r + j] - rf_short_dot(L + i * r, L + j * r, j)) * L[j * r + j];
    double left = bound - A[i * r + i] - rf_short_dot(L + i * r, L + i * r, i);
    if (!(left > 0)) return false;
    L[i * r + i] = 1 / sqrt(left);
  }
  return true;
}

/* `steps` of a power iteration from the unit x; the length of the last image. */
static double power(const double *A, double *x, double *z, rf_index m, int steps) {
  double value = 0;
  for (int step = 0; step < steps; step++) {
    for (rf_index k = 0; k < m; k++) z[k] = rf_short_dot(A + k * m, x, m);
    value = sqrt(rf_short_dot(z, z, m));
    if (value == 0) return 0;
    for (rf_index k = 0; k < m; k++) x[k] = z[k] / value;
  }
  return value;
}

/* Upper bound of the largest eigenvalue of a positive semidefinite A (order m): power iteration, then proof.
 * The matrices of neighbouring nodes differ by a few samples: the iteration goes on from the last vector, and
 * goes further where the proof shows that it was not enough. A was summed from at most own + r terms: its
 * errors are below that many u times its trace. */
static double largest_eigenvalue(RfSearchWork *w, const double *A, rf_index m) {
  bool warm = w->eigen_order == m;
  double *x = w->eigen, *z = w->vector, *L = w->matrix + m * m, trace = 0;
  double error = (double)(2 * m * m + 8) * rf_unit_roundoff;
  double formed = (double)(w->own + w->r + 4) * rf_unit_roundoff * rf_length_slack;
  for (rf_index k = 0; k < m; k++) trace += A[k * m + k];
  for (rf_index k = 0; k < m && !warm; k++) x[k] = 1 + 0.1 * (double)(k % 3);
  double value = power(A, x, z, m, warm ? 4 : 12), factor = 1.01;
  w->eigen_order = value > 0 ? m : 0;
  if (value == 0) return trace * (1 + 2 * formed);
  bool above = above_spectrum(A, factor * value, L, m);
  for (int more = 0; more < 2 && !above; more++) {
    value = power(A, x, z, m, 8);
    above = above_spectrum(A, factor * value, L, m);
  }
  while (!above && (factor += 0.08) < 1.5) above = above_spectrum(A, factor * value, L, m);
  return above ? factor * value * (1 + 2 * error) + 2 * formed * trace : trace * (1 + 2 * formed);
}

/* Upper bound of the largest eigenvalue of sum lambda_i x_i x_i^T over the listed samples, of their Gram
 * matrix when they are fewer than the dimensions. */
static double spectrum(RfSearchWork *w, rf_index count) {
  rf_index r = w->r;
  double *A = w->matrix, *root = w->scale;
  if (w->gram && count < r) {
    for (rf_index a = 0; a < count; a++) root[a] = sqrt(w->lambda[w->wide_at[a]]);
    for (rf_index a = 0; a < count; a++)
      for (rf_index b = 0; b < count; b++)
        A[a * count + b] = root[a] * root[b] * w->gram[w->wide_at[a] * w->own + w->wide_at[b]];
    return largest_eigenvalue(w, A, count);
  }
  memset(A, 0, (size_t)(r * r) * sizeof *A);
  for (rf_index a = 0; a < count; a++) {
    const double *x = w->V + w->wide_at[a] * r;
    for (rf_index k = 0; k < r; k++) rf_short_axpy(A + k * r, w->lambda[w->wide_at[a]] * x[k], x, r);
  }
  return largest_eigenvalue(w, A, r);
}

/* Constant of the free samples: chords, or Cauchy-Schwarz for those with wide ranges where that is smaller.
 * Sets their coefficients accordingly. */
double rf_node_constant(RfSearchWork *w, RfSearchLevel *v) {
  rf_index wide = 0;
  double chords = 0, wide_chords = 0, weight = 0;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    double constant = rf_chord_constant(w, v, i), half = (1 - w->leak) / 2 * w->lambda[i];
    chords += constant;
    set_free(v, i, rf_chord_slope(w, v, i));
    if (constant > 0.6 * half) w->wide_at[wide++] = i, wide_chords += constant, weight += w->lambda[i];
  }
  if (wide < 3 || v->plain) return chords;
  double spectral = (1 - w->leak) / 2 * sqrt(weight * spectrum(w, wide)) * rf_length_slack;
  v->plain = spectral >= wide_chords; /* children have fewer such samples: chords win there as well */
  if (v->plain) return chords;
  for (rf_index a = 0; a < wide; a++)
    set_free(v, w->wide_at[a], w->lambda[w->wide_at[a]] * (1 + w->leak) / 2);
  return chords - wide_chords + spectral;
}

/* ---- free samples and the rest together ------------------------------------------------------- */

/* x.(bound I - A)^-1 x by the factor L of above_spectrum; y is work. */
static double inverse_form(const double *L, const double *x, double *y, rf_index m) {
  double sum = 0;
  for (rf_index i = 0; i < m; i++) {
    y[i] = (x[i] - rf_short_dot(L + i * m, y, i)) * L[i * m + i];
    sum += y[i] * y[i];
  }
  return sum;
}

/* With sum lambda |z| <= (t sum lambda + u.A u / t)/2 for any t > 0, half = (1 - leak)/2 and a bound E of the
 * spectrum of A, the node has
 *     F(u) <= C + sqrt(half^2 E rho sum(lambda) + res.(I - A/(rho E))^-1 res),   rho > 1:
 * a sum of squares where Cauchy-Schwarz alone gives a sum. True when that prunes. The matrix is (1 - 1/rho) I
 * at least, so that its condition is below 20 and the Cholesky solution is right to the slack that is kept
 * (Higham, thm 10.4). It pays where the free samples are not many more than the dimensions. */
bool rf_node_coupled(RfSearchWork *w, RfSearchLevel *v) {
  if (!w->gram) return false;
  rf_index wide = 0, r = w->r;
  double chords = 0, weight = 0, half = (1 - w->leak) / 2, target = w->search->target;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    double constant = rf_chord_constant(w, v, i);
    if (constant > rf_wide_share * half * w->lambda[i]) {
      w->wide_at[wide++] = i, weight += w->lambda[i];
      set_free(v, i, w->lambda[i] * (1 + w->leak) / 2);
    } else {
      chords += constant;
      set_free(v, i, rf_chord_slope(w, v, i));
    }
  }
  if (wide < 3 || chords >= target) return false;
  bool gram = wide < r;
  rf_index m = gram ? wide : r;
  double E = spectrum(w, wide), *L = w->matrix + m * m, *x = w->vector, *y = w->vector + m;
  rf_box_residual(&w->box);
  for (int turn = 0; turn < 3; turn++) rf_box_sweep(&w->box);
  double square = rf_short_dot(w->box.res, w->box.res, r), room = target - chords - rf_node_pad(w, v, chords);
  double base = half * half * weight * E;
  if (!(room > 0) || square + base > room * room) return false;
  for (rf_index a = 0; a < m; a++)
    x[a] = gram ? w->scale[a] * rf_short_dot(w->V + w->wide_at[a] * r, w->box.res, r) : w->box.res[a];
  for (double rho = 1.1; rho < 6; rho *= 1.6) {
    if (base * rho + square > room * room || !above_spectrum(w->matrix, rho * E, L, m)) break;
    double part = inverse_form(L, x, y, m);
    double all = base * rho + (gram ? square + part : rho * E * part);
    if (all * (1 + rf_coupled_slack) < room * room) return true;
  }
  return false;
}

/* Errors of |res| + C for res summed afresh: (count + r) u per unit of coefficient for the sum and its
 * length, 12 u per unit of weight for the slopes and constants of chords. */
double rf_node_pad(const RfSearchWork *w, const RfSearchLevel *v, double constant) {
  double sum = constant;
  for (rf_index i = 0; i < w->count; i++) sum += fmax(fabs(v->coef[i]), w->lambda[i]);
  return (double)(w->count + w->r + 16) * rf_unit_roundoff * rf_length_slack * sum;
}

/* |res| rounded up, with 113 bits. */
static double wide_size(RfSearchWork *w, const RfSearchLevel *v) {
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
double rf_node_bound(RfSearchWork *w, const RfSearchLevel *v, double constant, double *size) {
  rf_box_residual(&w->box);
  *size = sqrt(rf_short_dot(w->box.res, w->box.res, w->r));
  double target = w->search->target, error = rf_node_pad(w, v, constant), bound = *size + constant + error;
  if (bound <= target || *size + constant > target + error) return bound;
  double chords = constant > 0 ? constant + 16 * rf_unit_roundoff * (w->total + constant) : 0;
  return fmin(bound, rf_add_up(wide_size(w, v), chords));
}

/* Shrinks |res| while that promises to prune. Returns true when pruned; *size = |res|. */
bool rf_node_shrink(RfSearchWork *w, RfSearchLevel *v, double constant, double *size) {
  RfBox *box = &w->box;
  double before = INFINITY, target = w->search->target;
  for (int sweep = 0; sweep < 40; sweep++) {
    *size = sqrt(rf_box_sweep(box));
    if (*size + constant <= target && rf_node_bound(w, v, constant, size) <= target) return true;
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

static bool cap_of(Cap *cap, const RfSearchWork *w, const RfSearchLevel *v, double constant, double size) {
  double error = rf_node_pad(w, v, constant);
  cap->cosine = (w->search->target - constant - error) / (size + error) * (1 - 4 * DBL_EPSILON);
  if (!(cap->cosine > 0)) return false;
  cap->cosine = fmin(cap->cosine, 1);
  cap->sine = sqrt(1 - cap->cosine * cap->cosine + 8 * DBL_EPSILON) * (1 + DBL_EPSILON);
  cap->error = (double)(w->r + 8) * DBL_EPSILON + 2 * error / size + (w->edge - 1);
  return true;
}

/* Uses the cap to narrow the ranges of free samples; true when one was decided or the constant fell
 * noticeably. */
bool rf_node_narrow(RfSearchWork *w, RfSearchLevel *v, double constant, double size) {
  Cap cap;
  if (!cap_of(&cap, w, v, constant, size)) return false;
  double before = 0, after = 0;
  bool decided = false;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    double q = rf_short_dot(w->V + i * w->r, w->box.res, w->r) / size;
    if (fabs(q) > cap.sine + cap.error) {
      rf_node_set_side(w, v, i, q > 0 ? side_plus : side_minus);
      decided = true;
      continue;
    }
    before += rf_chord_constant(w, v, i);
    double near = fmax(0, fabs(q) - cap.error);
    double across = sqrt(fmax(0, 1 - near * near) + 8 * DBL_EPSILON) * cap.sine + cap.error + 4 * DBL_EPSILON;
    if (q + cap.error < cap.cosine) v->h[i] = fmin(v->h[i], q * cap.cosine + across);
    if (-q + cap.error < cap.cosine) v->l[i] = fmax(v->l[i], q * cap.cosine - across);
    if (v->l[i] >= 0 || v->h[i] <= 0) {
      rf_node_set_side(w, v, i, v->l[i] >= 0 ? side_plus : side_minus);
      decided = true;
    } else
      after += rf_chord_constant(w, v, i);
  }
  return decided || after < 0.9 * before;
}

/* max z_i over unit u of the node's cone is at most |x_i + sum_j c_j s_j x_j| for any c >= 0 over the known
 * samples (and likewise -z_i): a few coordinate steps on c. toward = +1 for the largest z, -1 for the largest
 * -z. */
static double reach(RfSearchWork *w, const RfSearchLevel *v, rf_index i, double toward) {
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
bool rf_node_narrow_by_cone(RfSearchWork *w, RfSearchLevel *v) {
  double before = 0, after = 0;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    before += rf_chord_constant(w, v, i);
    v->h[i] = fmin(v->h[i], reach(w, v, i, 1));
    v->l[i] = fmax(v->l[i], -reach(w, v, i, -1));
    after += rf_chord_constant(w, v, i);
  }
  return after < 0.9 * before;
}
