/* The equations of gradient flow in the normalised clock dtau = S dt, S = sum_i |loss'(q_i)|: weights p_i =
 * |loss'|/S are kept by their logarithms, directions and log-norms per unit (design: polar state), so that no
 * size over- or underflows. */
#include "core/core.h"
#include "flow/fit/short_rows.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"
#include "flow/large/gram.h"

#include <float.h>
#include <math.h>
#include <string.h>

double rf_system_amplitude(const RfSystem *system, double rho) {
  return exp(system->problem->freeze_second ? rho : 2 * rho);
}

double rf_system_q_min(const RfSystem *system) { return system->q_least; }

/* Loops over columns are written once and called with d = 2, which most pictures have, as a constant: the
 * same sums in the same order, without a loop around two products. */
static inline void planes_of(double *restrict H, const double *restrict W, const double *restrict X,
                             rf_index rows, rf_index n, rf_index d) {
  for (rf_index k = 0; k < rows; k++)
    for (rf_index i = 0; i < n; i++) {
      double sum = 0;
      for (rf_index j = 0; j < d; j++) sum += W[k * d + j] * X[i * d + j];
      H[k * n + i] = sum;
    }
}

/* Products up to this size by hand, since a BLAS call costs more than they do. */
enum { BY_HAND = 4000 };

RF_HOT static void flow_planes_of_hot(double *H, const double *W, const RfFlowProblem *problem,
                                      rf_index rows) {
  rf_index n = problem->n, d = problem->d;
  const double *X = problem->X;
  if (problem->gram)
    rf_rows_images(H, W, &problem->gram->data, rows, problem->gram->threads);
  else if (rows * n * d > BY_HAND)
    rf_la_product_nt(H, W, X, rows, n, d);
  else
    OF_LENGTH(d, planes_of(H, W, X, rows, n, D));
}

void rf_flow_planes_of(double *H, const double *W, const RfFlowProblem *problem, rf_index rows) {
  flow_planes_of_hot(H, W, problem, rows);
}

/* The same products, added up to outputs on the way. */
static inline void planes_and_outputs(double *restrict q, double *restrict h, double factor,
                                      const double *restrict s, const double *restrict w,
                                      const double *restrict X, rf_index n, rf_index d) {
  for (rf_index i = 0; i < n; i++) {
    double sum = 0;
    for (rf_index j = 0; j < d; j++) sum += w[j] * X[i * d + j];
    h[i] = sum;
    q[i] += factor * s[i] * sum;
  }
}

static inline void add_outputs(double *restrict q, double factor, const double *restrict s,
                               const double *restrict h, rf_index n) {
  for (rf_index i = 0; i < n; i++) q[i] += factor * s[i] * h[i];
}

/* q = sum over units of a e^{2 rho} s (w.x). */
RF_HOT static void unit_outputs(RfSystem *system, const double *y) {
  rf_index n = system->n, d = system->d, units = system->units;
  const double *a = y + units * d, *rho = a + units, *X = system->problem->X;
  bool by_hand = !system->problem->gram && units * n * d <= BY_HAND;
  if (!by_hand) rf_flow_planes_of(system->H, y, system->problem, units);
  for (rf_index k = 0; k < units; k++) {
    double factor = a[k] * rf_system_amplitude(system, rho[k]), *h = system->H + k * n;
    const double *s = system->slope + k * n, *w = y + k * d;
    bool silent = factor == 0 || system->dead[k] || (system->muted && system->muted[k]);
    if (silent && by_hand)
      planes_of(h, w, X, 1, n, d);
    else if (by_hand)
      OF_LENGTH(d, planes_and_outputs(system->q, h, factor, s, w, X, n, D));
    else if (!silent)
      add_outputs(system->q, factor, s, h, n);
  }
}

/* The same by classes: q = sum over classes of s (V.x). */
static void class_outputs(RfSystem *system, const double *y) {
  rf_index n = system->n, d = system->d, units = system->units;
  const double *a = y + units * d, *rho = a + units;
  memset(system->V, 0, (size_t)(system->classes * d) * sizeof(double));
  for (rf_index k = 0; k < units; k++) {
    double factor = a[k] * rf_system_amplitude(system, rho[k]), *v = system->V + system->class_of[k] * d;
    const double *w = y + k * d;
    if (factor == 0 || system->dead[k] || (system->muted && system->muted[k])) continue;
    for (rf_index j = 0; j < d; j++) v[j] += factor * w[j];
  }
  rf_flow_planes_of(system->M, system->V, system->problem, system->classes);
  for (rf_index k = 0; k < system->classes; k++) {
    if (system->dead[system->leader[k]]) continue;
    add_outputs(system->q, 1, system->slope + system->leader[k] * n, system->M + k * n, n);
  }
}

static void margins(RfSystem *system, const double *y) {
  rf_index n = system->n;
  const double *residue = system->residues > 0 ? y + rf_system_clock(system) + 1 : NULL;
  for (rf_index i = 0; i < n; i++) system->q[i] = system->extra ? system->extra[i] : 0;
  /* residues are beside a sum in this order, whatever the patterns */
  system->planes_known = (system->classes == system->units || residue) && !system->given;
  if (system->planes_known)
    unit_outputs(system, y);
  else if (!system->given)
    class_outputs(system, y);
  system->q_least = INFINITY;
  for (rf_index i = 0; i < n; i++) {
    system->q[i] = system->given ? system->given[i] : system->q[i] * system->problem->y[i];
    if (residue && !system->given) system->q[i] += residue[i];
    if (system->seen[i] && system->q[i] < system->q_least) system->q_least = system->q[i];
  }
}

/* p_i = |loss'(q_i)|/S and ln S, by logarithms; S is the sum over the samples that push (F.2). */
static void weights(RfSystem *system) {
  rf_index n = system->n;
  double top = -INFINITY, sum = 0;
  double weightless = system->problem->freeze_second ? 0 : RF_TOL_WEIGHTLESS; /* its steps grow like tau */
  for (rf_index i = 0; i < n; i++) {
    system->p[i] = rf_loss_log_slope(system->problem->loss, system->q[i]) + rf_lift_of(&system->lift, i);
    if (system->seen[i]) top = fmax(top, system->p[i]);
  }
  for (rf_index i = 0; i < n;
       i++) { /* an unseen sample pushes nobody, but may hold someone on its hyperplane */
    double relative =
        system->p[i] - top; /* a NaN of margins past overflow stays one, and the step is refused */
    system->p[i] = exp(relative > RF_TOL_WALL ? RF_TOL_WALL : relative);
    if (system->seen[i]) sum += system->p[i];
  }
  system->log_S = top + log(sum) - system->lift.by; /* true times */
  for (rf_index i = 0; i < n; i++) {
    system->p[i] /= sum;
    system->c[i] = system->p[i] > weightless ? system->p[i] * system->problem->y[i] : 0;
  }
}

static inline void project(const RfSlide *slide, double *restrict g, rf_index d) {
  for (rf_index r = 0; r < slide->rank; r++) {
    const double *restrict b = slide->basis + r * d;
    double along = rf_la_quick_dot(b, g, d);
    for (rf_index j = 0; j < d; j++) g[j] -= along * b[j];
  }
}

void rf_system_project(const RfSystem *system, rf_index unit, double *g) {
  if (system->slide[unit].n_on > 0) project(&system->slide[unit], g, system->d);
}

void rf_system_put_on(const RfSystem *system, rf_index unit, double *w) {
  const RfSlide *slide = &system->slide[unit];
  const double *grade = system->grade;
  rf_index d = system->d;
  if (slide->n_on == 0) return;
  if (!grade) {
    project(slide, w, d);
    return;
  }
  for (rf_index r = 0; r < slide->rank; r++) {
    const double *b = slide->graded + r * d;
    double along = 0;
    for (rf_index j = 0; j < d; j++) along += b[j] * (w[j] * grade[j]);
    for (rf_index j = 0; j < d; j++) w[j] -= along * b[j] / grade[j];
  }
}

void rf_system_meet(const RfSystem *system, rf_index i, double *w) {
  rf_index d = system->d;
  const double *x = system->problem->X + i * d, *grade = system->grade;
  double size = 0, input = rf_la_quick_dot(w, x, d);
  if (!grade) {
    rf_la_axpy(w, -input / (system->x_norm[i] * system->x_norm[i]), x, d);
    return;
  }
  for (rf_index j = 0; j < d; j++) size += (x[j] / grade[j]) * (x[j] / grade[j]);
  for (rf_index j = 0; j < d; j++) w[j] -= input / size * (x[j] / grade[j] / grade[j]);
}

static inline void fields_of(double *restrict g, const double *restrict slope, const double *restrict c,
                             const double *restrict X, rf_index n, rf_index d) {
  for (rf_index j = 0; j < d; j++) g[j] = 0;
  for (rf_index i = 0; i < n; i++) {
    double factor = slope[i] * c[i];
    for (rf_index j = 0; j < d; j++) g[j] += factor * X[i * d + j];
  }
}

RF_HOT static void class_fields(RfSystem *system) {
  rf_index n = system->n, d = system->d, classes = system->classes;
  const double *X = system->problem->X;
  if (system->problem->gram || classes * n * d > BY_HAND) {
    for (rf_index k = 0; k < classes; k++) {
      const double *slope = system->slope + system->leader[k] * n;
      for (rf_index i = 0; i < n; i++) system->M[k * n + i] = slope[i] * system->c[i];
    }
    const RfGram *gram = system->problem->gram;
    if (gram)
      rf_rows_combine(system->g, system->M, &gram->data, classes, gram->threads);
    else
      rf_la_product_nn(system->g, system->M, X, classes, d, n);
    return;
  }
  for (rf_index k = 0; k < classes; k++) {
    const double *slope = system->slope + system->leader[k] * n;
    OF_LENGTH(d, fields_of(system->g + k * d, slope, system->c, X, n, D));
  }
}

void rf_system_planes(RfSystem *system, const double *y) {
  if (!system->planes_known) rf_flow_planes_of(system->H, y, system->problem, system->units);
  system->planes_known = true;
}

/* With leak 0 a sample on the inactive side of every live unit exerts no force, and its weight, which does
 * not fall, must not set the clock of the others. With leak > 0, or when nobody is left, all count. */
static void look_at_samples(RfSystem *system) {
  rf_index n = system->n, count = 0;
  memset(system->seen, system->problem->leak > 0 || system->problem->freeze_second, (size_t)n);
  for (rf_index u = 0; u < system->units; u++)
    for (rf_index i = 0; i < n && !system->dead[u]; i++) system->seen[i] |= system->sigma[u * n + i] > 0;
  for (rf_index i = 0; i < n; i++) count += system->seen[i];
  if (count == 0) memset(system->seen, 1, (size_t)n), count = n;
  system->n_seen = count;
  for (rf_index u = 0; u < system->units; u++) rf_slide_face_walls(system, &system->slide[u]);
}

/* No field is longer than this: the unit of every threshold on fields and speeds. */
double rf_system_reach(const RfSystem *system) {
  double reach = 0;
  for (rf_index i = 0; i < system->n; i++)
    if (system->seen[i]) reach += system->p[i] * system->x_norm[i];
  return fmax(reach, RF_TOL_TINY);
}

double rf_system_possible_margin(const RfSystem *system) {
  double longest = 0, sum = 0;
  const double *a = system->y + system->units * system->d, *rho = a + system->units;
  for (rf_index i = 0; i < system->n; i++)
    if (system->seen[i]) longest = fmax(longest, system->x_norm[i]);
  for (rf_index u = 0; u < system->units; u++)
    if (!system->dead[u]) sum += rf_system_amplitude(system, rho[u]) * fabs(a[u]);
  return longest * sum;
}

double rf_system_answer(const RfSystem *system) {
  double size = 0, q = fmax(1, system->q_least);
  for (rf_index u = 0; u < system->units; u++)
    if (!system->dead[u]) size += rf_system_amplitude(system, system->y[system->units * (system->d + 1) + u]);
  return size / q * size;
}

void rf_system_fields(RfSystem *system, const double *y) {
  if (!system->classes_known) {
    rf_system_classes(system);
    look_at_samples(system);
  }
  margins(system, y);
  weights(system);
  class_fields(system);
  system->evaluations++;
}

/* Where unit k goes in its field. */
static inline void unit_rhs(const RfSystem *system, rf_index k, const double *y, double *f, rf_index d) {
  rf_index units = system->units;
  const double *restrict w = y + k * d, *restrict g = rf_system_g(system, k);
  double a = y[units * d + k], rho = y[units * (d + 1) + k];
  double *restrict fw = f + k * d, *fa = f + units * d + k, *frho = f + units * (d + 1) + k;
  double gw = 0, ww = 0;
  for (rf_index j = 0; j < d; j++) gw += g[j] * w[j], ww += w[j] * w[j];
  double along, growth;
  if (system->problem->freeze_second) {
    a *= exp(-rho);
    along = growth = *fa = 0;
  } else if (system->balanced[k]) {
    along = gw / ww, growth = 2 * a * gw;
    *fa = 0;
  } else {
    along = 2 * gw, growth = 2 * a * gw;
    *fa = gw * (1 - 2 * a * a);
  }
  for (rf_index j = 0; j < d; j++) fw[j] = a * (g[j] - along * w[j]);
  *frho = growth - system->mu;
  if (system->slide[k].n_on > 0) project(&system->slide[k], fw, d); /* or rounding off the hyperplane grows */
}

RF_HOT static void system_rhs_hot(RfSystem *system, const double *y, double *f) {
  rf_index d = system->d, units = system->units;
  rf_system_fields(system, y);
  for (rf_index c = 0; c < system->classes; c++) {
    const RfSlide *slide = &system->slide[system->leader[c]];
    if (slide->n_on > 0) OF_LENGTH(d, project(slide, system->g + c * d, D));
  }
  for (rf_index k = 0; k < units; k++) {
    if (system->dead[k]) {
      memset(f + k * d, 0, (size_t)d * sizeof(double));
      f[units * d + k] = 0;
      f[units * (d + 1) + k] = -system->mu;
      continue;
    }
    OF_LENGTH(d, unit_rhs(system, k, y, f, D));
  }
  f[units * (d + 2)] = exp(fmin(system->log_S_step - system->log_S, 700));
  memset(f + units * (d + 2) + 1, 0, (size_t)system->residues * sizeof(double));
}

void rf_system_rhs(RfSystem *system, const double *y, double *f) { system_rhs_hot(system, y, f); }

/* All rho equal, the longest w of length 1. */
static void restore_gauge(const RfSystem *system, double *y) {
  rf_index d = system->d, units = system->units;
  double *rho = y + units * (d + 1), top = -INFINITY;
  for (rf_index k = 0; k < units; k++)
    if (!system->dead[k]) top = fmax(top, rho[k] + log(rf_la_norm(y + k * d, d)));
  for (rf_index k = 0; k < units && isfinite(top); k++) {
    if (rho[k] != top) rf_la_scale(y + k * d, exp(rho[k] - top), d);
    rho[k] = top;
  }
}

double rf_system_gauge_rate(const RfSystem *system) {
  rf_index d = system->d, units = system->units;
  double rate = 0;
  for (rf_index k = 0; k < units; k++)
    if (!system->dead[k])
      rate = fmax(rate, fabs(system->y[units * d + k]) * exp(-system->y[units * (d + 1) + k]));
  return rate;
}

/* (a^2 - |w|^2) e^{2 rho} is what it was at the start. A unit that has grown by 1e6 keeps four digits of it
 * in (w, a), and when it shrinks again they decide where a passes 0; over a long rest steps lose it bit by
 * bit. It is put back from the start, at the same a w e^{2 rho}: no margin moves. Steps of graded systems
 * carry it themselves (plain.c) and need its digits only where a and |w| are near to each other. */
static void restore_balance(const RfSystem *system, rf_index u, double *w, double *a, double *rho) {
  rf_index k = system->only[u];
  if (k < 0 || *a == 0 || rf_la_norm(w, system->d) == 0) return;
  double b = system->conserved[2 * k] *
             exp(2 * (system->conserved[2 * k + 1] - *rho - system->offset[k] - system->kappa));
  double off = b - (*a * *a - rf_la_quick_dot(w, w, system->d));
  if (system->grade && !(fabs(b) < RF_TOL_NEARLY_BALANCED) && fabs(off) <= RF_TOL_BALANCED) return;
  rf_la_scale(w, fabs(*a), system->d);
  rf_plain_split(w, a, rho, b, system->d);
}

void rf_system_normalise(RfSystem *system, double *y) {
  rf_index d = system->d, units = system->units;
  double *a = y + units * d, *rho = a + units;
  const double *q = rf_system_hold(system, y);
  for (rf_index k = 0; k < units; k++) {
    double *w = y + k * d, norm = rf_la_norm(w, d);
    if (system->slide[k].n_on > 0 && !system->dead[k]) {
      rf_system_put_on(system, k, w);
      norm = rf_la_norm(w, d);
    }
    if (system->problem->freeze_second) continue;
    if (system->balanced[k]) {
      /* a w e^{2 rho} stays as it is: at margins of 1e6 an error of 1e-8 in it is one of 1e-2 in them */
      if (norm > 0) {
        rf_la_scale(w, sqrt(0.5) / norm, d);
        rho[k] += 0.5 * log(norm * fabs(a[k]) / 0.5);
      }
      a[k] = copysign(sqrt(0.5), a[k]);
    } else {
      double joint = hypot(norm, a[k]);
      if (joint > 0) {
        rf_la_scale(w, 1 / joint, d);
        a[k] /= joint;
        rho[k] += log(joint);
        restore_balance(system, k, w, &a[k], &rho[k]);
      }
    }
  }
  if (system->problem->freeze_second) restore_gauge(system, y);
  rf_system_keep(system, y, q);
}

/* On the plus side of hyperplane k, where the samples in the direction of its normal are active, the force of
 * its samples along the normal is constant + kink, on the minus side constant + leak kink. */
static void plane_weights(const RfSystem *system, const RfSlide *slide, rf_index k, double *constant,
                          double *kink, double *terms) {
  double size = 0, leak = system->problem->leak;
  *constant = *kink = *terms = 0;
  for (rf_index z = 0; z < slide->n_on; z++) {
    if (slide->plane[z] != k) continue;
    rf_index i = slide->on[z];
    bool same = (system->along[i] > 0) == (system->along[slide->first[k]] > 0);
    double push = system->c[i] * system->x_norm[i];
    *kink += push, size += fabs(push);
    if (same) continue;
    *constant -= (1 + leak) * push;
    *terms += (1 + leak) * fabs(push);
  }
  if (fabs(*kink) <= RF_TOL_CANCELLED * size) *kink = 0;
  *terms += leak * size;
}

/* A row of pinv times the field, term by term: weights that differ by hundreds of orders do not drown each
 * other; and the sizes of the terms. pull (n): the row times the samples. */
static double plane_pull(const RfSystem *system, rf_index unit, const double *pull, double *terms) {
  rf_index n = system->n;
  double sum = 0;
  for (rf_index i = 0; i < n; i++) {
    double factor = system->slope[unit * n + i] * system->c[i];
    if (factor == 0) continue;
    double term = factor * pull[i];
    sum += term, *terms += fabs(term);
  }
  return sum;
}

/* A slope beyond [leak,1] by no more than what the terms it is made of are known to is at that end: a unit at
 * rest beside others at rest is pushed by nothing else. A wall's own push is no such term at the lower end.
 */
static double within_known(const RfSystem *system, double slope, double kink, double terms) {
  double leak = system->problem->leak, low = system->known * terms / fabs(kink), high = low + system->known;
  if (slope < leak && slope >= leak - low) return leak;
  return slope > 1 && slope <= 1 + high ? 1 : slope;
}

void rf_system_slide_slopes(const RfSystem *system, rf_index unit, double *slopes) {
  rf_index n = system->n, d = system->d;
  const RfSlide *slide = &system->slide[unit];
  double a = system->y[system->units * d + unit], *factor = system->slide_factor, *field = factor + n;
  /* sum over hyperplanes of their forces = -(projection of the unprojected field): the field is formed
   * afresh, g may be projected */
  bool few = slide->pull;
  for (rf_index i = 0; i < n && !few; i++) factor[i] = system->slope[unit * n + i] * system->c[i];
  const RfGram *gram = system->problem->gram;
  if (!few && gram)
    rf_rows_combine(field, factor, &gram->data, 1, gram->threads);
  else if (!few)
    rf_la_combine(field, system->problem->X, factor, n, d, d);
  for (rf_index k = 0; k < slide->n_planes; k++) {
    double sum, kink, terms;
    plane_weights(system, slide, k, &sum, &kink, &terms);
    sum += few ? plane_pull(system, unit, slide->pull + k * n, &terms)
               : rf_la_quick_dot(slide->pinv + k * d, field, d);
    slopes[k] = kink != 0               ? within_known(system, -sum / kink, kink, terms)
                : (a >= 0) == (sum > 0) ? INFINITY
                                        : -INFINITY;
  }
}

/* A slide on dependent hyperplanes as a bounded least squares in their slopes. */
typedef struct Gap {
  rf_index count;
  double *columns, *low, *high, *s, *f, *part, *residual; /* count x d; count each; d each */
  double *kink;                                           /* count */
} Gap;

/* The smallest field that is left, into gap->residual, its length returned; *status: of the solver. */
static double gap_left(const RfSystem *system, const RfSlide *slide, Gap *gap, RfStatus *status) {
  rf_index d = system->d;
  memset(gap->f, 0, (size_t)d * sizeof(double)); /* minus the component in the span */
  for (rf_index r = 0; r < slide->rank; r++)
    rf_la_axpy(gap->f, -rf_la_quick_dot(slide->basis + r * d, gap->part, d), slide->basis + r * d, d);
  *status = rf_la_box_least_squares(system->context, gap->s, gap->residual, NULL, gap->columns, gap->f,
                                    gap->low, gap->high, d, gap->count, d, NULL);
  for (rf_index j = 0; j < d; j++) gap->residual[j] = -gap->residual[j]; /* sum c s x - f */
  return *status ? 0 : rf_la_norm(gap->residual, d);
}

enum { GAP_RIDGES = 4 }; /* so many are tried on both sides */

/* Hyperplanes that are ridges hold nobody: a side of each is taken, and the unit leaves when the field that
 * is left points into all of them. */
static double gap_ridges(const RfSystem *system, const RfSlide *slide, Gap *gap, double sign_a, double *best,
                         RfStatus *status) {
  rf_index d = system->d, ridge[GAP_RIDGES], n_ridge = 0;
  double widest = 0, leak = system->problem->leak;
  for (rf_index k = 0; k < gap->count && n_ridge <= GAP_RIDGES; k++) {
    if (!(sign_a * gap->kink[k] > 0)) continue;
    if (n_ridge < GAP_RIDGES) ridge[n_ridge] = k;
    n_ridge++;
  }
  if (n_ridge == 0 || n_ridge > GAP_RIDGES) {
    widest = gap_left(system, slide, gap, status);
    memcpy(best, gap->residual, (size_t)d * sizeof(double));
    return widest;
  }
  memset(best, 0, (size_t)d * sizeof(double));
  for (unsigned mask = 0; mask < 1u << n_ridge && !*status; mask++) {
    for (rf_index r = 0; r < n_ridge; r++)
      gap->low[ridge[r]] = gap->high[ridge[r]] = mask >> r & 1u ? 1 : leak;
    double left = gap_left(system, slide, gap, status);
    bool leaves = left > widest;
    for (rf_index r = 0; r < n_ridge && leaves; r++) {
      double along =
          sign_a * rf_la_quick_dot(gap->residual, system->problem->X + slide->first[ridge[r]] * d, d);
      leaves = mask >> r & 1u ? along > 0 : along < 0;
    }
    if (!leaves) continue;
    widest = left;
    memcpy(best, gap->residual, (size_t)d * sizeof(double));
  }
  return widest;
}

RfStatus rf_system_slide_gap(const RfSystem *system, rf_index unit, bool averaged, double *gap,
                             double *residual) {
  rf_index n = system->n, d = system->d;
  const RfSlide *slide = &system->slide[unit];
  rf_index count = slide->n_planes;
  double *columns = RF_NEW(double, count *d + 4 * count + 3 * d), scale = 0;
  if (!columns) return rf_fail(system->context, RF_ERR_MEMORY, "out of memory for a slide");
  Gap work = {.count = count, .columns = columns, .low = columns + count * d};
  work.high = work.low + count, work.s = work.high + count, work.kink = work.s + count;
  work.f = work.kink + count, work.part = work.f + d, work.residual = work.part + d;
  memset(work.part, 0, (size_t)d * sizeof(double));
  for (rf_index i = 0; i < n; i++) {
    double factor = system->slope[unit * n + i] * system->c[i];
    if (factor != 0) rf_la_axpy(work.part, factor, system->problem->X + i * d, d);
    if (system->seen[i]) scale += fabs(system->c[i]) * system->x_norm[i];
  }
  for (rf_index k = 0; k < count; k++) {
    double constant, terms, *column = columns + k * d, size = system->x_norm[slide->first[k]];
    plane_weights(system, slide, k, &constant, &work.kink[k], &terms);
    rf_la_axpy(work.part, constant / size, system->problem->X + slide->first[k] * d, d);
    for (rf_index j = 0; j < d; j++)
      column[j] = work.kink[k] * (system->problem->X[slide->first[k] * d + j] / size);
    work.low[k] = system->problem->leak, work.high[k] = 1;
    if (averaged) work.kink[k] = 0; /* any slope in between may be that of a ridge */
  }
  RfStatus status = RF_OK;
  double sign_a = system->y[system->units * d + unit] >= 0 ? 1 : -1;
  double left = gap_ridges(system, slide, &work, sign_a, residual, &status);
  *gap = status ? 0 : left / (scale > 0 ? scale : 1);
  rf_free(columns);
  return status == RF_ERR_NUMERIC ? RF_OK : status;
}

void rf_system_neuron(const RfSystem *system, rf_index k, double *w, double *a, double *rho) {
  rf_index d = system->d, units = system->units, u = system->unit_of[k];
  if (u < 0) {
    const double *rest = system->rest + k * (d + 2);
    memcpy(w, rest, (size_t)d * sizeof(double));
    *a = rest[d];
    *rho = rest[d + 1];
  } else {
    memcpy(w, system->y + u * d, (size_t)d * sizeof(double));
    *a = system->y[units * d + u];
    *rho = system->y[units * (d + 1) + u] + system->offset[k];
  }
  if (system->flip[k] < 0) {
    rf_la_scale(w, -1, d);
    *a = -*a;
  }
}

double rf_system_log_size(const RfSystem *system) {
  const double *rho = system->y + system->units * (system->d + 1);
  double top = -INFINITY, sum = 0;
  for (rf_index u = 0; u < system->units; u++)
    if (!system->dead[u]) top = fmax(top, rho[u]);
  for (rf_index u = 0; u < system->units; u++)
    if (!system->dead[u]) sum += exp(2 * (rho[u] - top));
  return top + 0.5 * log(sum);
}
