/* Building the system from a problem; patterns, slides, death, and dropping what no longer moves. */
#include "flow/fit/apart.h"
#include "flow/graded.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

void rf_system_free(RfSystem *system) {
  rf_free(system->lift.of);
  rf_free(system->lift.grows);
  if (system->slide)
    for (rf_index k = 0; k < system->m; k++) {
      rf_free(system->slide[k].on);
      rf_free(system->slide[k].basis);
    }
  rf_free(system->y);
  rf_free(system->sigma);
  rf_free(system->slope);
  rf_free(system->balanced);
  rf_free(system->apart);
  rf_free(system->stretch);
  rf_free(system->dead);
  rf_free(system->slide);
  rf_free(system->unit_of);
  rf_free(system->only);
  rf_free(system->offset);
  rf_free(system->rest);
  rf_free(system->is_dead);
  rf_free(system->flip);
  rf_free(system->conserved);
  rf_free(system->hash);
  rf_free(system->class_of);
  rf_free(system->V);
  rf_free(system->clear);
  rf_free(system->H);
  rf_free(system->M);
  rf_free(system->g);
  rf_free(system->q);
  rf_free(system->seen);
  rf_free(system->line);
  rf_free(system->along);
  memset(system, 0, sizeof *system);
}

void rf_system_count_members(RfSystem *system) {
  for (rf_index u = 0; u < system->units; u++) system->only[u] = -2;
  for (rf_index k = 0; k < system->m; k++) {
    rf_index u = system->unit_of[k];
    if (u >= 0) system->only[u] = system->only[u] == -2 ? k : -1;
  }
}

static RfStatus allocate(RfContext *context, RfSystem *system) {
  rf_index n = system->n, d = system->d, m = system->m, mn, md;
  if (!rf_multiply_sizes(&mn, m, n) || !rf_multiply_sizes(&md, m, d + 2))
    return rf_fail(context, RF_ERR_MEMORY, "width %lld is too large", (long long)m);
  system->y = RF_NEW(double, md + 1 + n);
  system->sigma = RF_NEW(int8_t, mn);
  system->slope = RF_NEW(double, mn);
  system->balanced = RF_NEW(uint8_t, m);
  system->dead = RF_NEW(uint8_t, m);
  system->slide = RF_NEW(RfSlide, m);
  system->unit_of = RF_NEW(rf_index, m);
  system->only = RF_NEW(rf_index, m);
  system->offset = RF_NEW(double, m);
  system->stretch = RF_NEW(double, m);
  system->rest = RF_NEW(double, md);
  system->is_dead = RF_NEW(uint8_t, m);
  system->flip = RF_NEW(int8_t, m);
  system->conserved = RF_NEW(double, 2 * m);
  system->hash = RF_NEW(uint64_t, m);
  system->class_of = RF_NEW(rf_index, 6 * m);
  system->V = RF_NEW(double, m *d);
  system->clear = RF_NEW(double, m *(d + 1));
  system->H = RF_NEW(double, mn);
  system->M = RF_NEW(double, mn);
  system->g = RF_NEW(double, m *d);
  system->q = RF_NEW(double, 9 * n + 2 * d);
  system->seen = RF_NEW(uint8_t, n);
  system->line = RF_NEW(rf_index, n);
  system->along = RF_NEW(double, n);
  if (!system->only || !system->y || !system->sigma || !system->slope || !system->balanced || !system->dead ||
      !system->slide || !system->unit_of || !system->offset || !system->stretch || !system->rest ||
      !system->is_dead || !system->flip || !system->conserved || !system->H || !system->M || !system->g ||
      !system->q || !system->seen || !system->line || !system->along || !system->hash || !system->class_of ||
      !system->V || !system->clear)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld neurons and %lld samples", (long long)m,
                   (long long)n);
  system->clear_w = system->clear + m;
  system->leader = system->class_of + m;
  system->table = system->leader + m; /* 4 m: a power of two that is at least 2 m */
  system->p = system->q + n;
  system->c = system->p + n;
  system->curvature = system->c + n;
  system->x_norm = system->curvature + n;
  system->kept = system->x_norm + n;
  system->slide_factor = system->kept + 3 * n;
  return RF_OK;
}

/* One neuron of the start into unit u: signs for linear nets, exact balance, hyperplanes it lies on. */
static void load_unit(RfSystem *system, rf_index u, rf_index k) {
  const RfFlowProblem *problem = system->problem;
  rf_index d = system->d;
  const double *v = problem->start->directions + k * (d + 1);
  double *w = system->y + u * d, a = v[d], rho = problem->start->log_norms[k] + problem->log_scale;
  double w_norm = rf_la_norm(v, d);
  system->flip[k] = problem->leak == 1 && a < 0 && !problem->freeze_second ? -1 : 1;
  for (rf_index j = 0; j < d; j++) w[j] = system->flip[k] * v[j];
  a *= system->flip[k];
  system->balanced[u] = !problem->freeze_second && rf_start_balanced(a * a - w_norm * w_norm);
  if (problem->freeze_second) a *= exp(rho); /* the true second-layer weight */
  system->y[system->units * d + u] = a;
  system->y[system->units * (d + 1) + u] = rho;
  system->conserved[2 * k] = a * a - w_norm * w_norm;
  system->conserved[2 * k + 1] = rho;
}

/* The largest entry of each coordinate, where the rows differ much in length; the least of all where there is
 * none. */
static void find_grade(RfSystem *system) {
  rf_index n = system->n, d = system->d;
  const double *X = system->problem->X;
  double least = INFINITY;
  system->spread = rf_rows_spread(X, n, d);
  if (!system->spread) return;
  system->grade = system->slide_factor + n + d;
  system->residues = system->problem->freeze_second || rf_problem_large(system->problem) ? 0 : n;
  for (rf_index j = 0; j < d; j++) {
    system->grade[j] = 0;
    for (rf_index i = 0; i < n; i++) system->grade[j] = fmax(system->grade[j], fabs(X[i * d + j]));
    if (system->grade[j] > 0) least = fmin(least, system->grade[j]);
  }
  for (rf_index j = 0; j < d; j++) system->grade[j] = fmax(system->grade[j], least);
}

static void start_sides(RfSystem *system) {
  rf_index n = system->n, d = system->d;
  rf_flow_planes_of(system->H, system->y, system->problem, system->units);
  for (rf_index u = 0; u < system->units; u++) {
    double near = system->context->tol.zero * rf_la_norm(system->y + u * d, d);
    for (rf_index i = 0; i < n; i++) {
      double h = system->H[u * n + i], scale = near * system->x_norm[i];
      system->sigma[u * n + i] = system->problem->leak == 1 ? 1 : h > scale ? 1 : h < -scale ? -1 : 0;
    }
  }
}

static bool zero_neuron(const RfFlowProblem *problem, rf_index k) {
  const double *v = problem->start->directions + k * (problem->d + 1);
  if (!(problem->start->log_norms[k] > -INFINITY)) return true;
  if (problem->freeze_second)
    return v[problem->d] == 0 || (problem->leak == 0 && rf_la_norm(v, problem->d) == 0);
  return rf_la_norm(v, problem->d) == 0 && v[problem->d] == 0;
}

RfStatus rf_system_new(RfContext *context, RfSystem *system, const RfFlowProblem *problem) {
  memset(system, 0, sizeof *system);
  system->context = context;
  system->problem = problem;
  system->n = problem->n, system->d = problem->d, system->m = problem->start->m;
  RfStatus status = allocate(context, system);
  if (status) {
    rf_system_free(system);
    return status;
  }
  system->log_t = -INFINITY;
  for (rf_index i = 0; i < system->n; i++)
    system->x_norm[i] = rf_la_norm(problem->X + i * system->d, system->d);
  find_grade(system);
  status = rf_flow_lines(context, system->line, system->along, problem->X, system->n, system->d);
  if (status) {
    rf_system_free(system);
    return status;
  }
  for (rf_index k = 0; k < system->m; k++) {
    system->flip[k] = 1;
    system->unit_of[k] = zero_neuron(problem, k) ? -1 : system->units++;
    if (system->unit_of[k] < 0) system->rest[k * (system->d + 2) + system->d + 1] = -INFINITY;
  }
  for (rf_index k = 0; k < system->m; k++)
    if (system->unit_of[k] >= 0) load_unit(system, system->unit_of[k], k);
  start_sides(system);
  rf_system_count_members(system);
  rf_system_normalise(system, system->y);
  return RF_OK;
}

/* ---- patterns ------------------------------------------------------------------------------ */

/* Orthonormal basis of the span of the normals of the hyperplanes on which the unit slides (modified
 * Gram-Schmidt, twice). corner (n_planes x n_planes, lower): the normals in it, when they are independent;
 * false: they are not. */
static bool slide_basis(const RfSystem *system, RfSlide *slide, double *corner) {
  rf_index d = system->d, count = slide->n_planes;
  slide->rank = 0;
  for (rf_index k = 0; k < count; k++) {
    const double *x = system->problem->X + slide->first[k] * d;
    double *b = slide->basis + slide->rank * d, size = system->x_norm[slide->first[k]], along;
    if (slide->rank >= d) break;
    memcpy(b, x, (size_t)d * sizeof(double));
    for (rf_index r = 0; r < slide->rank; r++) corner[k * count + r] = 0;
    for (int pass = 0; pass < 2; pass++)
      for (rf_index r = 0; r < slide->rank; r++) {
        along = rf_la_quick_dot(slide->basis + r * d, b, d);
        rf_la_axpy(b, -along, slide->basis + r * d, d);
        corner[k * count + r] += along / size;
      }
    double norm = rf_la_norm(b, d);
    if (norm <= system->context->tol.rank * size || size == 0) continue;
    rf_la_scale(b, 1 / norm, d);
    corner[k * count + slide->rank++] = norm / size;
  }
  return slide->rank == count;
}

/* The same span in coordinates w_j grade_j, in which a normal is x_j/grade_j. */
static void slide_graded(const RfSystem *system, RfSlide *slide) {
  rf_index d = system->d, rank = 0;
  for (rf_index k = 0; k < slide->n_planes && rank < slide->rank; k++) {
    const double *x = system->problem->X + slide->first[k] * d;
    double *b = slide->graded + rank * d;
    for (rf_index j = 0; j < d; j++) b[j] = x[j] / system->grade[j];
    double size = rf_la_norm(b, d);
    for (int pass = 0; pass < 2; pass++)
      for (rf_index r = 0; r < rank; r++)
        rf_la_axpy(b, -rf_la_quick_dot(slide->graded + r * d, b, d), slide->graded + r * d, d);
    double norm = rf_la_norm(b, d);
    if (!(norm > system->context->tol.rank * size)) continue;
    rf_la_scale(b, 1 / norm, d);
    rank++;
  }
  if (rank < slide->rank)
    memset(slide->graded + rank * d, 0, (size_t)((slide->rank - rank) * d) * sizeof(double));
}

/* pinv: rows k with sum_k (pinv_k . v) normal_k = projection of v. Independent normals are sum_r corner_kr
 * b_r: corner^T pinv = basis, from the last row up. */
static void slide_inverse(const RfSystem *system, RfSlide *slide, const double *corner) {
  rf_index d = system->d, count = slide->n_planes;
  for (rf_index r = count - 1; r >= 0; r--) {
    double *row = slide->pinv + r * d;
    memcpy(row, slide->basis + r * d, (size_t)d * sizeof(double));
    for (rf_index k = r + 1; k < count; k++) rf_la_axpy(row, -corner[k * count + r], slide->pinv + k * d, d);
    rf_la_scale(row, 1 / corner[r * count + r], d);
  }
}

/* The same for dependent normals, whose coefficients of minimum norm are taken. */
static RfStatus slide_pinv(const RfSystem *system, RfSlide *slide) {
  rf_index d = system->d, count = slide->n_planes, longest = d > count ? d : count;
  double *A = RF_NEW(double, d *count + longest);
  if (!A) return rf_fail(system->context, RF_ERR_MEMORY, "out of memory for a slide");
  double *b = A + d * count;
  RfStatus status = RF_OK;
  for (rf_index j = 0; j < d && !status; j++) {
    for (rf_index k = 0; k < count; k++)
      for (rf_index r = 0; r < d; r++)
        A[r * count + k] = system->problem->X[slide->first[k] * d + r] / system->x_norm[slide->first[k]];
    memset(b, 0, (size_t)longest * sizeof(double));
    b[j] = 1;
    status = rf_la_least_squares(system->context, A, b, d, count, system->context->tol.rank, NULL);
    for (rf_index k = 0; k < count; k++) slide->pinv[k * d + j] = b[k];
  }
  rf_free(A);
  return status;
}

/* The hyperplanes of the samples slid on. */
static void slide_planes(const RfSystem *system, RfSlide *slide) {
  for (rf_index z = 0; z < slide->n_on; z++) {
    rf_index i = slide->on[z], k = 0;
    while (k < slide->n_planes && system->line[slide->first[k]] != system->line[i]) k++;
    slide->plane[z] = k;
    if (k == slide->n_planes) slide->first[slide->n_planes++] = i;
  }
}

enum { FEW = 2000 }; /* entries of the data up to which pulls are told sample by sample */

/* count: samples whose hyperplanes it is on. */
static RfStatus build_slide(RfSystem *system, rf_index unit, rf_index count) {
  RfSlide *slide = &system->slide[unit];
  rf_index n = system->n, d = system->d, most = count < d ? count : d;
  rf_free(slide->on);
  rf_free(slide->basis);
  memset(slide, 0, sizeof *slide);
  if (count == 0) return RF_OK;
  bool few = n * d <= FEW;
  double *corner = RF_NEW(double, count *count);
  slide->on = RF_NEW(rf_index, 3 * count);
  slide->basis = RF_NEW(double, (2 * most + count) * d + (few ? count * n : 0));
  if (!slide->on || !slide->basis || !corner) {
    rf_free(corner);
    return rf_fail(system->context, RF_ERR_MEMORY, "out of memory for a slide");
  }
  slide->plane = slide->on + count, slide->first = slide->plane + count;
  slide->pinv = slide->basis + most * d;
  slide->graded = slide->pinv + count * d;
  slide->pull = few ? slide->graded + most * d : NULL;
  for (rf_index i = 0; i < n; i++)
    if (system->sigma[unit * n + i] == 0 && system->x_norm[i] > 0) slide->on[slide->n_on++] = i;
  slide_planes(system, slide);
  RfStatus status = RF_OK;
  if (slide_basis(system, slide, corner))
    slide_inverse(system, slide, corner);
  else
    status = slide_pinv(system, slide);
  if (system->grade) slide_graded(system, slide);
  for (rf_index k = 0; k < slide->n_planes && few; k++)
    for (rf_index i = 0; i < n; i++)
      slide->pull[k * n + i] = rf_la_quick_dot(slide->pinv + k * d, system->problem->X + i * d, d);
  rf_free(corner);
  return status;
}

/* A slope in [leak,1] is known absolutely near 1 and to its last digit near leak 0, where that of a wall is.
 * So a hyperplane that a wall shares with others has the slope of the wall, whose direction is its normal. */
void rf_slide_face_walls(const RfSystem *system, RfSlide *slide) {
  for (rf_index k = 0; k < slide->n_planes && slide->n_planes < slide->n_on; k++) {
    rf_index face = -1;
    for (rf_index z = slide->n_on - 1; z >= 0; z--) {
      rf_index i = slide->on[z];
      if (slide->plane[z] == k && (face < 0 || !system->seen[i] || system->seen[face])) face = i;
    }
    if ((system->along[face] > 0) != (system->along[slide->first[k]] > 0)) {
      rf_la_scale(slide->pinv + k * system->d, -1, system->d);
      if (slide->pull) rf_la_scale(slide->pull + k * system->n, -1, system->n);
    }
    slide->first[k] = face;
  }
}

/* A vector across the span of the normals, of length 1, made of fixed signs; zero where they span all. */
static void across_slide(const RfSystem *system, const RfSlide *slide, double *v) {
  rf_index d = system->d;
  for (rf_index j = 0; j < d; j++) v[j] = (uint64_t)(j + 1) * 0x9e3779b97f4a7c15u >> 63 ? 1 : -1;
  for (int pass = 0; pass < 2; pass++)
    for (rf_index r = 0; r < slide->rank; r++)
      rf_la_axpy(v, -rf_la_quick_dot(slide->basis + r * d, v, d), slide->basis + r * d, d);
  double norm = rf_la_norm(v, d);
  rf_la_scale(v, norm > RF_TOL_RANK * sqrt((double)d) ? 1 / norm : 0, d);
}

/* Samples in the span of those it slides on have their hyperplanes there too: the unit slides on all of them.
 * A sample that one vector across the span sees is not in it, which costs one product instead of one with
 * each normal. */
static rf_index absorb_dependent(RfSystem *system, rf_index unit) {
  const RfSlide *slide = &system->slide[unit];
  rf_index n = system->n, d = system->d, absorbed = 0;
  double *across = system->slide_factor; /* scratch, of length n + d */
  across_slide(system, slide, across);
  for (rf_index i = 0; i < n; i++) {
    if (system->sigma[unit * n + i] == 0 || system->x_norm[i] == 0) continue;
    const double *x = system->problem->X + i * d;
    if (fabs(rf_la_quick_dot(across, x, d)) > RF_TOL_IN_SPAN * system->x_norm[i]) continue;
    double inside = 0, size2 = system->x_norm[i] * system->x_norm[i];
    for (rf_index r = 0; r < slide->rank; r++) {
      double along = rf_la_quick_dot(slide->basis + r * d, x, d);
      inside += along * along;
    }
    if (size2 - inside > RF_TOL_CANCELLED * size2) continue;
    system->sigma[unit * n + i] = 0;
    system->slope[unit * n + i] = 0;
    absorbed++;
  }
  return absorbed;
}

bool rf_system_unseen(const RfSystem *system, const int8_t *sigma) {
  rf_index n = system->n;
  if (system->problem->leak != 0) return false;
  for (rf_index i = 0; i < n; i++)
    if (sigma[i] > 0) return false;
  for (rf_index i = 0; i < n; i++)
    for (rf_index j = 0; j < i && sigma[i] == 0; j++)
      if (sigma[j] == 0 && system->line[j] == system->line[i] && system->along[j] * system->along[i] < 0)
        return false;
  return true;
}

RfStatus rf_system_refresh_unit(RfSystem *system, rf_index unit) {
  rf_index n = system->n, zeros = 0;
  const int8_t *sigma = system->sigma + unit * n;
  double *slope = system->slope + unit * n, leak = system->problem->leak;
  RfStatus status = RF_OK; /* what its neurons were apart across is gone, when it leaves, too */
  if (system->slide[unit].n_on > 0) status = rf_apart_slide(system, unit);
  if (status) return status;
  for (rf_index i = 0; i < n; i++) {
    zeros += sigma[i] == 0 && system->x_norm[i] > 0;
    slope[i] = sigma[i] > 0 ? 1 : sigma[i] < 0 ? leak : 0;
  }
  system->dead[unit] = rf_system_unseen(system, sigma);
  system->hash[unit] = rf_pattern_hash(sigma, n);
  system->classes_known = false;
  system->clear[unit] = 0;
  if (system->dead[unit]) {
    memset(slope, 0, (size_t)n * sizeof(double));
    return build_slide(system, unit, 0);
  }
  status = build_slide(system, unit, zeros);
  rf_index absorbed = !status && zeros > 0 ? absorb_dependent(system, unit) : 0;
  if (!status && absorbed > 0) status = build_slide(system, unit, zeros + absorbed);
  system->hash[unit] = rf_pattern_hash(sigma, n);
  return status;
}

static void rest_members(RfSystem *system, rf_index unit) {
  rf_index d = system->d, units = system->units;
  for (rf_index k = 0; k < system->m; k++) {
    if (system->unit_of[k] != unit) continue;
    double *rest = system->rest + k * (d + 2);
    memcpy(rest, system->y + unit * d, (size_t)d * sizeof(double));
    rest[d] = system->y[units * d + unit];
    rest[d + 1] = system->y[units * (d + 1) + unit] + system->offset[k];
    system->unit_of[k] = -1;
    system->is_dead[k] = 1;
  }
}

RfStatus rf_system_compress(RfSystem *system) {
  rf_index n = system->n, d = system->d, old = system->units, kept = 0;
  rf_index *moved = RF_NEW(rf_index, old);
  double *tail = RF_NEW(double, 2 * old + n);
  if (!moved || !tail) {
    rf_free(moved);
    rf_free(tail);
    return rf_fail(system->context, RF_ERR_MEMORY, "out of memory for units");
  }
  memcpy(tail, system->y + old * d, (size_t)(2 * old) * sizeof(double));
  memcpy(tail + 2 * old, system->y + old * (d + 2) + 1, (size_t)system->residues * sizeof(double));
  for (rf_index u = 0; u < old; u++) {
    moved[u] = system->dead[u] ? -1 : kept++;
    if (system->dead[u] == 1) rest_members(system, u);
  }
  for (rf_index u = 0; u < old; u++) {
    rf_index to = moved[u];
    if (to < 0) {
      rf_free(system->slide[u].on);
      rf_free(system->slide[u].basis);
      memset(&system->slide[u], 0, sizeof system->slide[u]);
      continue;
    }
    if (to == u) continue;
    memmove(system->y + to * d, system->y + u * d, (size_t)d * sizeof(double));
    memcpy(system->sigma + to * n, system->sigma + u * n, (size_t)n);
    memcpy(system->slope + to * n, system->slope + u * n, (size_t)n * sizeof(double));
    system->balanced[to] = system->balanced[u];
    system->hash[to] = system->hash[u];
    system->slide[to] = system->slide[u];
    memset(&system->slide[u], 0, sizeof system->slide[u]);
  }
  for (rf_index u = 0; u < old; u++) {
    if (moved[u] < 0) continue;
    system->y[kept * d + moved[u]] = tail[u];
    system->y[kept * (d + 1) + moved[u]] = tail[old + u];
  }
  for (rf_index k = 0; k < system->m; k++)
    if (system->unit_of[k] >= 0) system->unit_of[k] = moved[system->unit_of[k]];
  for (rf_index u = 0; u < old; u++) system->dead[u] = 0;
  system->units = kept;
  system->classes_known = false;
  for (rf_index u = 0; u < old; u++) system->clear[u] = 0;
  rf_system_count_members(system);
  system->y[kept * (d + 2)] = 0;
  memcpy(system->y + kept * (d + 2) + 1, tail + 2 * old, (size_t)system->residues * sizeof(double));
  rf_free(moved);
  rf_free(tail);
  return RF_OK;
}
