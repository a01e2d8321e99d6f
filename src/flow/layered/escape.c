/* The escape test of layered networks. At a KKT point theta = sum lambda_i y_i df_i the flow with its growth
 * taken out is dtheta/dkappa = sum lambda_i y_i df_i - theta. Let V be the weights that are zero there and
 * that no output feels to first order (df_i/dtheta_V = 0 on the support): small values of them change no
 * margin to first order, hence no lambda, and obey dtheta_V/dkappa = (H - I) theta_V,   H = sum lambda_i y_i
 * d2f_i / dtheta_V^2   (symmetric, by sides). The point repels when an eigenvalue of H exceeds 1, that is,
 * when (1 + slack) I - H has no Cholesky factor. For a unit (w,a) of a two-layer network the eigenvalues are
 * +-|sum lambda_i y_i s_i x_i|, the dual norm; units held on their kinks move along these only, H is taken on
 * what is left there; a path with three or more zero weights gives none. Between
 * kinks f is linear in each single weight, so that difference quotients of the gradient are exact for any
 * step. */
#include "flow/layered/escape.h"

#include <math.h>
#include <string.h>

#include "flow/layered/layered_tolerances.h"
#include "la/la.h"

typedef struct Escape {
  RfContext *context;
  RfSided *sided;
  const double *lambda, *y;
  rf_index n, P, count;
  rf_index *list;           /* count: V */
  double *theta, *weights;  /* P ; n */
  double *plus, *minus, *q; /* P ; P ; n */
  double *H;                /* count^2 */
} Escape;

static void escape_free(Escape *escape) { rf_free(escape->list), rf_free(escape->theta), rf_free(escape->H); }

static RfStatus escape_new(Escape *escape, const double *theta) {
  rf_index n = escape->n, P = escape->P;
  escape->list = RF_NEW(rf_index, P), escape->theta = RF_NEW(double, 3 * P + 2 * n);
  if (!escape->list || !escape->theta)
    return rf_fail(escape->context, RF_ERR_MEMORY, "out of memory for the escape test");
  escape->plus = escape->theta + P, escape->minus = escape->plus + P;
  escape->weights = escape->minus + P, escape->q = escape->weights + n;
  memcpy(escape->theta, theta, (size_t)P * sizeof(double));
  return RF_OK;
}

/* V: zero at the point, not in the state (a weight that is zero there stays so), and felt by no support. */
static void find_vanished(Escape *escape, const double *state) {
  rf_index n = escape->n, P = escape->P;
  double size = rf_la_norm(escape->theta, P), steepest = 0, *felt = escape->minus;
  memset(felt, 0, (size_t)P * sizeof(double));
  memset(escape->weights, 0, (size_t)n * sizeof(double));
  rf_sided_outputs(escape->sided, escape->q, NULL, escape->theta);
  for (rf_index i = 0; i < n; i++) {
    if (!(escape->lambda[i] > 0)) continue;
    escape->weights[i] = 1;
    rf_sided_gradient(escape->sided, escape->plus, escape->weights, escape->theta);
    escape->weights[i] = 0;
    for (rf_index p = 0; p < P; p++) felt[p] = fmax(felt[p], fabs(escape->plus[p]));
  }
  for (rf_index p = 0; p < P; p++) steepest = fmax(steepest, felt[p]);
  for (rf_index p = 0; p < P; p++)
    if (fabs(escape->theta[p]) <= RF_LAYERED_VANISHED * size && state[p] != 0 &&
        felt[p] <= RF_LAYERED_UNFELT * steepest)
      escape->list[escape->count++] = p;
}

/* sum lambda_i y_i df_i with parameter p moved by h. */
static void shifted(Escape *escape, double *out, rf_index p, double h) {
  double before = escape->theta[p];
  escape->theta[p] += h;
  rf_sided_outputs(escape->sided, escape->q, NULL, escape->theta);
  rf_sided_gradient(escape->sided, out, escape->weights, escape->theta);
  escape->theta[p] = before;
}

/* The planes of held units, within V, orthonormal, into rows (held x count); how many. */
static rf_index held_planes(Escape *escape, double *rows) {
  rf_index count = escape->count, kept = 0;
  for (rf_index k = 0; k < rf_sided_held(escape->sided); k++) {
    double *row = rows + kept * count;
    rf_sided_plane(escape->sided, escape->plus, k, escape->theta);
    for (rf_index c = 0; c < count; c++) row[c] = escape->plus[escape->list[c]];
    double size = rf_la_norm(row, count);
    for (rf_index b = 0; b < 2 * kept; b++) /* twice is enough */
      rf_la_axpy(row, -rf_la_quick_dot(row, rows + b % kept * count, count), rows + b % kept * count, count);
    double left = rf_la_norm(row, count);
    if (!(left > RF_LAYERED_RANK * size && size > 0)) continue;
    rf_la_scale(row, 1 / left, count);
    kept++;
  }
  return kept;
}

/* H = (1 - n n') H (1 - n n') for every row n. */
static RfStatus along_planes(Escape *escape) {
  rf_index count = escape->count, held = rf_sided_held(escape->sided);
  double *rows = RF_NEW(double, (held + 2) * count), *across = rows + held * count;
  if (!rows) return rf_fail(escape->context, RF_ERR_MEMORY, "out of memory for the escape test");
  rf_index kept = held_planes(escape, rows);
  for (rf_index k = 0; k < kept; k++) {
    const double *n = rows + k * count;
    rf_la_apply(across, escape->H, n, count, count, count);
    rf_la_combine(across + count, escape->H, n, count, count, count);
    double along = rf_la_quick_dot(across, n, count);
    for (rf_index r = 0; r < count; r++)
      for (rf_index c = 0; c < count; c++)
        escape->H[r * count + c] += along * n[r] * n[c] - across[r] * n[c] - n[r] * across[count + c];
  }
  rf_free(rows);
  return RF_OK;
}

/* (1 + slack) I - H. */
static RfStatus form(Escape *escape) {
  rf_index count = escape->count;
  double h = rf_la_norm(escape->theta, escape->P) / sqrt((double)escape->P);
  escape->H = RF_NEW(double, count *count);
  if (!escape->H) return rf_fail(escape->context, RF_ERR_MEMORY, "out of memory for the escape test");
  for (rf_index i = 0; i < escape->n; i++) escape->weights[i] = escape->lambda[i] * escape->y[i];
  for (rf_index c = 0; c < count; c++) {
    shifted(escape, escape->plus, escape->list[c], h);
    shifted(escape, escape->minus, escape->list[c], -h);
    for (rf_index r = 0; r < count; r++) {
      double second = (escape->plus[escape->list[r]] - escape->minus[escape->list[r]]) / (2 * h);
      escape->H[r * count + c] = second;
    }
  }
  RfStatus status = along_planes(escape);
  for (rf_index e = 0; e < count * count; e++)
    escape->H[e] = (e / count == e % count ? 1 + RF_LAYERED_REPELS : 0) - escape->H[e];
  return status;
}

RfStatus rf_layered_repels(RfContext *context, bool *repels, RfSided *sided, const double *theta,
                           const double *lambda, const double *state, const double *y, rf_index n,
                           rf_index P) {
  Escape escape = {.context = context, .sided = sided, .lambda = lambda, .y = y, .n = n, .P = P};
  RfStatus status = escape_new(&escape, theta);
  *repels = false;
  if (!status) find_vanished(&escape, state);
  if (!status && escape.count > 0) status = form(&escape);
  if (!status && escape.count > 0) {
    status = rf_la_cholesky(context, escape.H, escape.count);
    *repels = status == RF_ERR_NUMERIC;
    if (*repels) status = RF_OK;
  }
  escape_free(&escape);
  return status;
}
