/* RODAS5P (rodas.h) for the flow of units. With the analytic Jacobian J = B + U K,   B block diagonal (one
 * block of d+2 per unit),   U = df/dc,   K = dc/dy, of rank r = number of samples whose weight has not
 * underflowed, the systems (1/(h gamma) - J) k = rhs are solved densely while they are small, and by
 * implicit_blocks.c otherwise. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/core.h"
#include "flow/fit/implicit_internal.h"
#include "flow/flow_tolerances.h"
#include "flow/rodas.h"

/* Unknowns up to which systems are solved densely, and samples up to which in margins. */
enum { STAGES = RF_RODAS5_STAGES, DENSE_LIMIT = 120, MOST_MARGINS = 240 };

struct RfImplicit {
  RfContext *context;
  rf_index max_units, n, d;
  RfBlocks *large;   /* NULL: dense */
  rf_index rank;     /* samples that carry weight */
  rf_index *carrier; /* their indices */
  double *blocks;    /* units x b x b: B */
  double *U;         /* units x b x n: column per carrier */
  double *K;         /* n x (units b): dc_r/dy, carriers as rows */
  double *dense;     /* N x N */
  int32_t *pivot;
  double *stage[STAGES], *point, *right, *packed, *first;
  double *memory, *scratch;
  uint8_t *plain;    /* per unit, where margins are small differences (plain.c); NULL otherwise */
  uint8_t *is_plain; /* room for that */
  double *polar;     /* with plain: the state that stage points stand for */
  /* systems solved in margins (margins.c); NULL otherwise */
  RfMarginSolver *margins;
  bool in_margins;        /* from here */
  double *change[STAGES]; /* n: of the margins, by the plain units along each stage */
  double *start;          /* n: their part in the margins at the start, */
  double *given;          /* n: and the margins of a stage */
  double *z;              /* n: change of those of the carriers along the last stage */
};

void rf_implicit_free(RfImplicit *method) {
  if (!method) return;
  rf_blocks_free(method->large);
  rf_free(method->carrier);
  rf_free(method->memory);
  rf_free(method->pivot);
  rf_free(method->is_plain);
  rf_margin_solver_free(method->margins);
  rf_free(method->start);
  rf_free(method);
}

RfStatus rf_implicit_new(RfContext *context, RfImplicit **out, rf_index units, rf_index n, rf_index d) {
  rf_index b = d + 2, N = units * b;
  bool dense = N <= DENSE_LIMIT;
  rf_index bb = dense ? N * b : 0, bn = dense ? N * n : 0, NN = dense ? N * N : 0;
  RfImplicit *method = RF_NEW(RfImplicit, 1);
  *out = NULL;
  if (!method) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the implicit method");
  method->context = context;
  method->max_units = units, method->n = n, method->d = d;
  method->carrier = RF_NEW(rf_index, n);
  method->memory = RF_NEW(double, bb + 2 * bn + NN + (STAGES + 5) * (N + 1) + 3 * n + b * b);
  method->pivot = RF_NEW(int32_t, N);
  RfStatus status = dense ? RF_OK : rf_blocks_new(context, &method->large, units, n, d);
  if (status || !method->carrier || !method->memory || !method->pivot) {
    rf_implicit_free(method);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the implicit method");
  }
  double *next = method->memory;
  method->blocks = next, next += bb;
  method->U = next, next += bn;
  method->K = next, next += bn;
  method->dense = next, next += NN;
  for (int s = 0; s < STAGES; s++) method->stage[s] = next, next += N + 1;
  method->point = next, next += N + 1 + n; /* states and their derivatives have residues behind them */
  method->right = next, next += N + 1 + n;
  method->packed = next, next += N + 1;
  method->first = next, next += N + 1;
  method->polar = next, next += N + 1 + n;
  method->scratch = next;
  *out = method;
  return RF_OK;
}

/* ---- small dense LU, rows contiguous ------------------------------------------------------- */

RF_HOT static bool small_lu_hot(double *A, int32_t *pivot, rf_index n) {
  for (rf_index k = 0; k < n; k++) {
    rf_index best = k;
    double most = fabs(A[k * n + k]);
    for (rf_index r = k + 1; r < n; r++) {
      double size = fabs(A[r * n + k]);
      if (size > most) most = size, best = r;
    }
    pivot[k] = (int32_t)best;
    if (!(most > 0) || !isfinite(most)) return false;
    if (best != k)
      for (rf_index j = 0; j < n; j++) {
        double swap = A[k * n + j];
        A[k * n + j] = A[best * n + j], A[best * n + j] = swap;
      }
    const double *restrict top = A + k * n;
    double inverse = 1 / top[k];
    for (rf_index r = k + 1; r < n; r++) {
      double *restrict row = A + r * n, factor = row[k] * inverse;
      row[k] = factor;
      if (factor == 0) continue;
      for (rf_index j = k + 1; j < n; j++) row[j] -= factor * top[j];
    }
  }
  return true;
}

bool rf_small_lu(double *A, int32_t *pivot, rf_index n) { return small_lu_hot(A, pivot, n); }

/* Four sums beside each other, so that none waits for the last. */
static inline double dot_of_four(const double *restrict x, const double *restrict y, rf_index n) {
  double sum[4] = {0, 0, 0, 0};
  rf_index i = 0;
  for (; i + 4 <= n; i += 4)
    for (int j = 0; j < 4; j++) sum[j] += x[i + j] * y[i + j];
  for (; i < n; i++) sum[0] += x[i] * y[i];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

RF_HOT static void small_lu_solve_hot(const double *A, const int32_t *pivot, double *b, rf_index n) {
  for (rf_index k = 0; k < n; k++) {
    double swap = b[k];
    b[k] = b[pivot[k]], b[pivot[k]] = swap;
  }
  for (rf_index r = 1; r < n; r++) b[r] -= dot_of_four(A + r * n, b, r);
  for (rf_index r = n - 1; r >= 0; r--)
    b[r] = (b[r] - dot_of_four(A + r * n + r + 1, b + r + 1, n - 1 - r)) / A[r * n + r];
}

void rf_small_lu_solve(const double *A, const int32_t *pivot, double *b, rf_index n) {
  small_lu_solve_hot(A, pivot, b, n);
}

/* ---- Jacobian ------------------------------------------------------------------------------ */

/* B = df/dy at fixed c, and E = df/dg (b rows of d), of one unit. */
static void unit_block(const RfSystem *system, rf_index k, double *B, double *E) {
  rf_index d = system->d, b = d + 2, units = system->units;
  const double *w = system->y + k * d, *g = rf_system_g(system, k);
  double a = system->y[units * d + k], rho = system->y[units * (d + 1) + k];
  double gw = rf_la_quick_dot(g, w, d), ww = rf_la_quick_dot(w, w, d);
  memset(B, 0, (size_t)(b * b) * sizeof(double));
  memset(E, 0, (size_t)(b * d) * sizeof(double));
  for (rf_index i = 0; i < d && system->problem->freeze_second; i++) {
    E[i * d + i] = a * exp(-rho);
    B[i * b + d + 1] = -a * exp(-rho) * g[i];
  }
  if (system->problem->freeze_second) return;
  for (rf_index i = 0; i < d; i++) {
    for (rf_index j = 0; j < d; j++) {
      if (system->balanced[k]) {
        B[i * b + j] = -a * (w[i] * g[j] / ww - 2 * gw * w[i] * w[j] / (ww * ww));
        E[i * d + j] = -a * w[i] * w[j] / ww;
      } else {
        B[i * b + j] = -2 * a * w[i] * g[j];
        E[i * d + j] = -2 * a * w[i] * w[j];
      }
    }
    B[i * b + i] -= system->balanced[k] ? a * gw / ww : 2 * a * gw;
    E[i * d + i] += a;
    B[(d + 1) * b + i] = 2 * a * g[i];
    E[(d + 1) * d + i] = 2 * a * w[i];
    if (!system->balanced[k]) {
      B[i * b + d] = g[i] - 2 * gw * w[i];
      B[d * b + i] = (1 - 2 * a * a) * g[i];
      E[d * d + i] = (1 - 2 * a * a) * w[i];
    }
  }
  if (!system->balanced[k]) {
    B[d * b + d] = -4 * a * gw;
    B[(d + 1) * b + d] = 2 * gw;
  }
}

/* U block of a unit: column r = E P (slope_r x_r). */
static void unit_columns(const RfImplicit *method, const RfSystem *system, rf_index k, double *U,
                         const double *E, double *x) {
  rf_index d = system->d, b = d + 2, n = system->n, rank = method->rank;
  const RfSlide *slide = &system->slide[k];
  for (rf_index r = 0; r < rank; r++) {
    rf_index i = method->carrier[r];
    double s = system->slope[k * n + i];
    for (rf_index j = 0; j < d; j++) x[j] = s * system->problem->X[i * d + j];
    for (rf_index v = 0; v < slide->rank; v++)
      rf_la_axpy(x, -rf_la_quick_dot(slide->basis + v * d, x, d), slide->basis + v * d, d);
    for (rf_index j = 0; j < b; j++) U[j * rank + r] = rf_la_quick_dot(E + j * d, x, d);
  }
}

bool rf_implicit_plain(const RfImplicit *method) { return method->plain; }

/* Whether units cancel each other, so that a margin feels the square of a turn by its large terms. */
static bool cancels(const RfSystem *system) {
  if (system->problem->freeze_second) return false;
  if (system->grade) return system->units * (system->d + 2) <= DENSE_LIMIT;
  return system->q_least > RF_TOL_CANCELS_FROM &&
         rf_system_possible_margin(system) > RF_TOL_CANCELS * system->q_least;
}

/* Coordinates for the step from system->y. */
static RfStatus choose_coordinates(RfImplicit *method, const RfSystem *system) {
  method->plain = NULL;
  if (!cancels(system)) return RF_OK;
  if (!method->is_plain) method->is_plain = RF_NEW(uint8_t, method->max_units);
  method->plain = method->is_plain;
  if (!method->plain) return rf_fail(method->context, RF_ERR_MEMORY, "out of memory for the implicit method");
  rf_plain_choose(method->plain, system, method->carrier, method->rank);
  for (rf_index k = 0; k < system->units && method->large; k++)
    if (method->plain && method->plain[k] && !system->balanced[k]) method->plain = NULL; /* nor has anyone */
  if (method->start || system->residues == 0 || method->n > MOST_MARGINS) return RF_OK;
  rf_index n = method->n;
  method->start = RF_NEW(double, (STAGES + 3) * n);
  if (!method->start) return rf_fail(method->context, RF_ERR_MEMORY, "out of memory for the implicit method");
  method->given = method->start + n, method->z = method->given + n;
  for (int s = 0; s < STAGES; s++) method->change[s] = method->z + (s + 1) * n;
  return rf_margin_solver_new(method->context, &method->margins, method->max_units, n, method->d);
}

static bool is_plain(const RfImplicit *method, rf_index k) { return method->plain && method->plain[k]; }

/* K = dc/dy: row r is y_r p_r (curvature_r dq_r - sum_j p_j curvature_j dq_j), columns in block order. */
static void weight_rows(RfImplicit *method, const RfSystem *system, double *mean) {
  rf_index d = system->d, b = d + 2, n = system->n, units = system->units, N = units * b;
  bool frozen = system->problem->freeze_second;
  const double *X = system->problem->X, *label = system->problem->y;
  memset(mean, 0, (size_t)N * sizeof(double));
  for (rf_index r = 0; r < method->rank; r++) {
    rf_index i = method->carrier[r];
    double *row = method->K + r * N, bend = rf_loss_curvature(system->problem->loss, system->q[i]);
    for (rf_index k = 0; k < units; k++) {
      double a = system->y[units * d + k];
      double factor = bend * label[i] * system->slope[k * n + i] *
                      rf_system_amplitude(system, system->y[units * (d + 1) + k]);
      double h = system->H[k * n + i];
      if (is_plain(method, k)) {
        for (rf_index j = 0; j < d; j++) row[k * b + j] = (a > 0 ? factor : -factor) * X[i * d + j];
        row[k * b + d] = row[k * b + d + 1] = 0;
        continue;
      }
      for (rf_index j = 0; j < d; j++) row[k * b + j] = factor * a * X[i * d + j];
      row[k * b + d] = frozen ? 0 : factor * h;
      row[k * b + d + 1] = (frozen ? 1 : 2) * factor * a * h;
    }
    rf_la_axpy(mean, system->p[i], row, N);
  }
  for (rf_index r = 0; r < method->rank; r++) {
    double *row = method->K + r * N, c = system->c[method->carrier[r]];
    for (rf_index j = 0; j < N; j++) row[j] = c * (row[j] - mean[j]);
  }
}

rf_index rf_carriers(const RfSystem *system, rf_index *carrier) {
  double least = system->problem->freeze_second ? RF_TOL_RATE_FROZEN
                                                : RF_TOL_RATE; /* steps of a frozen layer grow like tau */
  rf_index count = 0;
  double answer = system->grade && !system->problem->freeze_second ? rf_system_answer(system) : 0;
  for (rf_index i = 0; i < system->n; i++) {
    double x2 = system->x_norm[i] * system->x_norm[i];
    if (system->seen[i] && (system->p[i] > least || system->p[i] * x2 * answer > RF_TOL_ANSWER))
      carrier[count++] = i;
  }
  return count;
}

RfStatus rf_implicit_prepare(RfImplicit *method, RfSystem *system, double *f) {
  rf_index d = system->d, b = d + 2, units = system->units;
  /* the weights alone know margins of small terms, and their sums do not drift apart */
  bool carried = rf_system_blur(system) > RF_TOL_CARRIED;
  if (!carried) memset(system->y + rf_system_clock(system) + 1, 0, (size_t)system->residues * sizeof(double));
  rf_system_rhs(system, system->y, f);
  memcpy(method->first, f, (size_t)(units * b) * sizeof(double));
  method->rank = rf_carriers(system, method->carrier);
  RfStatus status = choose_coordinates(method, system);
  if (status) return status;
  if (method->plain) rf_plain_rate(method->plain, system, system->y, method->first);
  if (method->large) return rf_blocks_prepare(method->context, method->large, system, method->plain);
  rf_system_planes(system, system->y);
  double *E = method->scratch, *x = method->right;
  for (rf_index k = 0; k < units; k++) {
    double *block = method->blocks + k * b * b, *U = method->U + k * b * method->rank;
    if (system->dead[k]) {
      memset(block, 0, (size_t)(b * b) * sizeof(double));
      memset(U, 0, (size_t)(b * method->rank) * sizeof(double));
      continue;
    }
    if (is_plain(method, k))
      rf_plain_block(system, k, block, E);
    else
      unit_block(system, k, block, E);
    unit_columns(method, system, k, U, E, x);
  }
  system->by_margins = method->in_margins = carried && method->margins;
  if (!method->in_margins) {
    weight_rows(method, system, method->point);
    return RF_OK;
  }
  rf_margin_solver_prepare(method->margins, system, method->plain, method->carrier, method->rank);
  rf_margin_others(system, method->plain, system->y, method->given);
  for (rf_index i = 0; i < system->n; i++) method->start[i] = system->q[i] - method->given[i];
  return RF_OK;
}

/* ---- linear systems ------------------------------------------------------------------------ */

static bool factor_dense(RfImplicit *method, const RfSystem *system, double shift) {
  rf_index b = system->d + 2, units = system->units, N = units * b, rank = method->rank;
  double *A = method->dense;
  memset(A, 0, (size_t)(N * N) * sizeof(double));
  for (rf_index k = 0; k < units; k++)
    for (rf_index i = 0; i < b; i++) {
      double *row = A + (k * b + i) * N;
      for (rf_index r = 0; r < rank; r++) {
        double factor = -method->U[(k * b + i) * rank + r];
        if (factor == 0) continue;
        const double *K = method->K + r * N;
        for (rf_index j = 0; j < N; j++) row[j] += factor * K[j];
      }
      for (rf_index j = 0; j < b; j++) row[k * b + j] -= method->blocks[(k * b + i) * b + j];
      row[k * b + i] += shift;
    }
  return rf_small_lu(A, method->pivot, N);
}

/* x (block order) overwritten by the solution. */
static void solve(const RfImplicit *method, const RfSystem *system, double *x) {
  if (method->large)
    rf_blocks_solve(method->large, system, x);
  else if (method->in_margins)
    rf_margin_solver_solve(method->margins, system, x, method->z);
  else
    rf_small_lu_solve(method->dense, method->pivot, x, system->units * (system->d + 2));
}

static void pack(const RfSystem *system, double *blocks, const double *flat) {
  rf_index d = system->d, b = d + 2, units = system->units;
  for (rf_index k = 0; k < units; k++) {
    memcpy(blocks + k * b, flat + k * d, (size_t)d * sizeof(double));
    blocks[k * b + d] = flat[units * d + k];
    blocks[k * b + d + 1] = flat[units * (d + 1) + k];
  }
}

static void unpack(const RfSystem *system, double *flat, const double *blocks) {
  rf_index d = system->d, b = d + 2, units = system->units;
  for (rf_index k = 0; k < units; k++) {
    memcpy(flat + k * d, blocks + k * b, (size_t)d * sizeof(double));
    flat[units * d + k] = blocks[k * b + d];
    flat[units * (d + 1) + k] = blocks[k * b + d + 1];
  }
}

/* ---- the step ------------------------------------------------------------------------------ */

/* What an error of the state does to the margins of the carriers, in units of what leaves their weights
 * meaningful. Where rows are alike the tolerance of the state sees to it. */
static double margin_error(const RfImplicit *method, const RfSystem *system, const double *error,
                           double tol) {
  rf_index d = system->d, n = system->n, units = system->units;
  double blur = system->grade ? rf_system_blur(system) : DBL_EPSILON * rf_system_possible_margin(system);
  double worst = 0, allowed = fmax((method->large ? RF_TOL_MARGIN_LARGE : RF_TOL_MARGIN_STEP) * tol,
                                   RF_TOL_MARGIN_BLUR * blur);
  for (rf_index r = 0; r < method->rank && method->in_margins; r++) /* that of the last stage is the error */
    worst = fmax(worst, fabs(method->z[r]) / allowed);
  for (rf_index r = 0; r < method->rank && !method->in_margins; r++) {
    rf_index i = method->carrier[r];
    double sum = 0;
    for (rf_index k = 0; k < units; k++) {
      const double *x = system->problem->X + i * d;
      double a = system->y[units * d + k];
      if (system->dead[k] || system->slope[k * n + i] == 0) continue;
      double moved = rf_la_quick_dot(error + k * d, x, d);
      if (is_plain(method, k))
        moved *= a > 0 ? 1 : -1;
      else
        moved = a * moved + (error[units * d + k] + 2 * a * error[units * (d + 1) + k]) *
                                rf_la_quick_dot(system->y + k * d, x, d);
      sum += system->slope[k * n + i] * rf_system_amplitude(system, system->y[units * (d + 1) + k]) * moved;
    }
    worst = fmax(worst, fabs(sum) / allowed);
  }
  return worst;
}

static double scaled_error(const RfImplicit *method, const RfSystem *system, const double *error,
                           double tol) {
  rf_index d = system->d, units = system->units;
  double worst = method->plain ? margin_error(method, system, error, tol) : 0;
  for (rf_index i = 0; i < units * (d + 2); i++) {
    double y = fabs(system->y[i]), scale = tol;
    if (i >= units * (d + 1))
      scale *= fmax(1, RF_TOL_LOG_NORM * y);
    else if (system->problem->freeze_second)
      scale *= fmax(1, y);
    double e = fabs(error[i]) / scale;
    if (!(e <= 1e300)) return INFINITY;
    worst = fmax(worst, e);
  }
  return worst;
}

/* method->given = margins at the polar state y of the point that the stages before s lead to. */
static void stage_margins(RfImplicit *method, RfSystem *system, const double *y, int s, bool last) {
  rf_margin_others(system, method->plain, y, method->given);
  for (rf_index i = 0; i < system->n; i++) {
    double sum = method->start[i] + (last ? method->change[s][i] : 0);
    for (int j = 0; j < s; j++) sum += rf_rodas5_a[s][j] * method->change[j][i];
    method->given[i] += sum;
  }
}

/* method->right = derivative at method->point of stage s. */
static void stage_rate(RfImplicit *method, RfSystem *system, int s) {
  double *polar = method->polar;
  if (!method->plain) {
    rf_system_rhs(system, method->point, method->right);
    return;
  }
  memcpy(polar, method->point, (size_t)(rf_system_clock(system) + 1) * sizeof(double));
  memcpy(polar + rf_system_clock(system) + 1, system->y + rf_system_clock(system) + 1,
         (size_t)system->residues * sizeof(double));
  rf_plain_to_polar(method->plain, system, polar);
  if (method->in_margins) stage_margins(method, system, polar, s, false), system->given = method->given;
  rf_system_rhs(system, polar, method->right);
  system->given = NULL;
  rf_plain_rate(method->plain, system, polar, method->right);
}

static bool factor(RfImplicit *method, const RfSystem *system, double shift) {
  if (method->large) return rf_blocks_factor(method->large, system, shift);
  if (!method->in_margins) return factor_dense(method, system, shift);
  return rf_margin_solver_factor(method->margins, system, method->blocks, method->U, shift, method->scratch);
}

/* x += the stages before s, each times its coefficient and the factor. */
RF_HOT static void add_stages(const RfImplicit *method, double *restrict x, const double *coefficient,
                              double factor, int s, rf_index N) {
  for (int j = 0; j < s; j++) {
    const double *restrict stage = method->stage[j];
    double c = coefficient[j] * factor;
    if (c == 0) continue;
    for (rf_index i = 0; i < N; i++) x[i] += c * stage[i];
  }
}

RfStatus rf_implicit_try(RfImplicit *method, RfSystem *system, double *y_end, double *error, double h,
                         double tol) {
  rf_index N = system->units * (system->d + 2);
  double shift = 1 / (h * rf_rodas5_gamma);
  *error = INFINITY;
  if (!factor(method, system, shift)) return RF_OK;
  for (int s = 0; s < STAGES; s++) {
    const double *f = method->first;
    if (rf_context_stop(method->context)) return RF_INTERRUPTED;
    if (s > 0) {
      memcpy(method->point, system->y, (size_t)(N + 1) * sizeof(double));
      if (method->plain) rf_plain_from_polar(method->plain, system, method->point);
      add_stages(method, method->point, rf_rodas5_a[s], 1, s, N);
      for (rf_index i = 0; i < N; i++)
        if (!isfinite(method->point[i])) return RF_OK;
      stage_rate(method, system, s);
      f = method->right;
    }
    double *sum = method->stage[s];
    memcpy(sum, f, (size_t)N * sizeof(double));
    add_stages(method, sum, rf_rodas5_c[s], 1 / h, s, N);
    pack(system, method->packed, sum);
    solve(method, system, method->packed);
    unpack(system, sum, method->packed);
    if (method->in_margins)
      rf_margin_change(method->margins, system, method->plain, sum, method->z, method->change[s]);
  }
  memcpy(y_end, method->point, (size_t)(N + 1) * sizeof(double));
  memcpy(y_end + N + 1, system->y + N + 1, (size_t)system->residues * sizeof(double));
  rf_la_axpy(y_end, 1, method->stage[STAGES - 1], N);
  bool turned = method->plain && rf_plain_turned(method->plain, system, y_end);
  if (method->plain) rf_plain_to_polar(method->plain, system, y_end);
  *error = turned ? INFINITY : scaled_error(method, system, method->stage[STAGES - 1], tol);
  if (!method->in_margins || !isfinite(*error)) return RF_OK;
  stage_margins(method, system, y_end, STAGES - 1, true);
  rf_system_keep(system, y_end, method->given);
  return RF_OK;
}
