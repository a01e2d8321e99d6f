/* Strict local maxima of a kink function through the kinks with kappa > 0 alone. Once it is known on which
 * side of these the maximum lies, the rest is concave: its gradient at the maximum is the shortest vector g
 * of linear + sum_{active} kappa_h u_h + { sum_{kappa<0} kappa_h s_h u_h, 0 <= s <= 1 }, one bounded least
 * squares problem. So: every cell of the arrangement of the kinks with kappa > 0 gives one candidate with G >
 * 0. Directions with G <= 0 can only be strict maxima where dim-1 kinks with kappa < 0 meet: all such rays
 * are tried.
 *
 * The same step, repeated with the sides of the last g, climbs to a local maximum from any start: where the
 * full search is out of reach it still finds some. */
#include "extremal_internal.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

static const double slack = 1e-9;

typedef struct Concave {
  RfContext *context;
  RfMaxima *maxima;
  const RfKinks *kinks;
  rf_index concave, convex; /* how many kinks of each sign */
  rf_index *convex_at;      /* their indices */
  double *columns;          /* -kappa_h u_h of the concave ones */
  double *s, *low, *high;   /* concave */
  double *least, *greatest; /* convex: what the concave kinks can add to u_k . g */
  double *start, *g;        /* dim */
  RfNormals convex_normals; /* for the arrangement */
  double *frame;            /* dim x dim: rays */
  rf_index *concave_at;
  uint64_t *active, *before; /* bitsets over the convex kinks */
  RfLeastSquaresWork *work;
} Concave;

static void concave_free(Concave *c) {
  rf_normals_free(&c->convex_normals);
  rf_free(c->convex_at);
  rf_free(c->concave_at);
  rf_free(c->columns);
  rf_free(c->s);
  rf_free(c->low);
  rf_free(c->high);
  rf_free(c->least);
  rf_free(c->greatest);
  rf_free(c->start);
  rf_free(c->g);
  rf_free(c->frame);
  rf_free(c->active);
  rf_free(c->before);
  rf_la_least_squares_work_free(c->work);
}

static RfStatus concave_new(RfContext *context, Concave *c, RfMaxima *maxima) {
  const RfKinks *kinks = maxima->kinks;
  rf_index count = kinks->normals.count, dim = kinks->normals.dim;
  *c = (Concave){.context = context,
                 .maxima = maxima,
                 .kinks = kinks,
                 .convex_at = RF_NEW(rf_index, count),
                 .concave_at = RF_NEW(rf_index, count),
                 .columns = RF_NEW(double, count *dim),
                 .s = RF_NEW(double, count),
                 .low = RF_NEW(double, count),
                 .high = RF_NEW(double, count),
                 .least = RF_NEW(double, count),
                 .greatest = RF_NEW(double, count),
                 .start = RF_NEW(double, dim),
                 .g = RF_NEW(double, dim),
                 .frame = RF_NEW(double, dim *dim),
                 .active = RF_NEW(uint64_t, rf_bits_words(count)),
                 .before = RF_NEW(uint64_t, rf_bits_words(count))};
  RfStatus status = rf_normals_new(context, &c->convex_normals, count, dim);
  if (!status && (!c->convex_at || !c->concave_at || !c->columns || !c->s || !c->low || !c->high ||
                  !c->least || !c->greatest || !c->start || !c->g || !c->frame || !c->active || !c->before))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld kinks", (long long)count);
  if (!status) status = rf_la_least_squares_work_new(context, &c->work, dim, count);
  if (status) return status;
  for (rf_index h = 0; h < count; h++) {
    const double *u = kinks->normals.normal + h * dim;
    if (kinks->kappa[h] > 0) {
      memcpy(c->convex_normals.normal + c->convex * dim, u, (size_t)dim * sizeof *u);
      c->convex_normals.noise[c->convex] = kinks->normals.noise[h];
      c->convex_at[c->convex++] = h;
    } else {
      for (rf_index k = 0; k < dim; k++) c->columns[c->concave * dim + k] = -kinks->kappa[h] * u[k];
      c->high[c->concave] = 1;
      c->concave_at[c->concave++] = h;
    }
  }
  c->convex_normals.count = c->convex;
  for (rf_index k = 0; k < c->convex; k++) {
    if (rf_context_stop(context)) return RF_INTERRUPTED; /* a row of products at a time */
    for (rf_index h = 0; h < c->concave; h++) {
      double term = -rf_la_dot(c->columns + h * dim, c->convex_normals.normal + k * dim, dim);
      c->least[k] += fmin(term, 0);
      c->greatest[k] += fmax(term, 0);
    }
  }
  return RF_OK;
}

/* c->start = the part of the gradient that does not depend on the concave kinks. */
static void start_gradient(Concave *c, const uint64_t *active, bool mirrored) {
  rf_index dim = c->kinks->normals.dim;
  memcpy(c->start, c->kinks->linear, (size_t)dim * sizeof(double));
  for (rf_index k = 0; k < c->convex; k++)
    if (rf_bits_get(active, k) != mirrored)
      rf_la_axpy(c->start, c->kinks->kappa[c->convex_at[k]], c->convex_normals.normal + k * dim, dim);
}

/* No choice of s can give every u_k . g the sign of its side. */
static bool hopeless(const Concave *c, const uint64_t *active, bool mirrored) {
  rf_index dim = c->kinks->normals.dim;
  double allowed = slack * c->kinks->scale;
  for (rf_index k = 0; k < c->convex; k++) {
    double value = rf_la_dot(c->start, c->convex_normals.normal + k * dim, dim);
    if (rf_bits_get(active, k) != mirrored ? value + c->greatest[k] < -allowed
                                           : value + c->least[k] > allowed)
      return true;
  }
  return false;
}

/* c->g = the gradient at the maximum of the concave function that agrees with G where the active convex kinks
 * are positive and the others are not; from c->start. */
static RfStatus concave_gradient(Concave *c) {
  rf_index dim = c->kinks->normals.dim;
  RfLeastSquaresInfo info;
  c->maxima->nodes++;
  if (c->concave == 0) {
    memcpy(c->g, c->start, (size_t)dim * sizeof(double));
    return RF_OK;
  }
  return rf_la_box_least_squares(c->context, c->s, c->g, &info, c->columns, c->start, c->low, c->high, dim,
                                 c->concave, dim, c->work);
}

/* ---- all cells of the convex kinks -------------------------------------------------------------- */

static RfStatus try_cell(Concave *c, const uint64_t *active, bool mirrored) {
  rf_index dim = c->kinks->normals.dim;
  start_gradient(c, active, mirrored);
  if (hopeless(c, active, mirrored)) return RF_OK;
  RfStatus status = concave_gradient(c);
  if (status) return status;
  double norm = rf_la_norm(c->g, dim);
  if (norm <= 1e-13 * c->kinks->scale) return RF_OK;
  for (rf_index k = 0; k < c->convex; k++) {
    double value = rf_la_dot(c->g, c->convex_normals.normal + k * dim, dim);
    if (rf_bits_get(active, k) != mirrored ? value < -slack * norm : value > slack * norm) return RF_OK;
  }
  return rf_maxima_offer(c->context, c->maxima, c->g);
}

static RfStatus all_cells(Concave *c, double limit) {
  RfCells cells = {0};
  bool exact = true;
  if (c->convex == 0) return try_cell(c, c->active, false);
  RfStatus status =
      rf_sweep_cells(c->context, &cells, &exact, &c->convex_normals, (rf_index)fmin(limit, 1e8));
  for (rf_index k = 0; k < cells.count && !status; k++) {
    if (rf_context_stop(c->context)) status = RF_INTERRUPTED;
    if (!status) status = try_cell(c, cells.bits + k * cells.words, false);
    if (!status) status = try_cell(c, cells.bits + k * cells.words, true);
  }
  rf_cells_free(&cells);
  return status;
}

/* ---- all rays of the concave kinks -------------------------------------------------------------- */

/* The line orthogonal to the frame; its two directions are offered where G <= 0. */
static RfStatus try_line(Concave *c) {
  rf_index dim = c->kinks->normals.dim, best = 0;
  double *w = c->start, room = -1;
  for (rf_index k = 0; k < dim; k++) {
    double covered = 0;
    for (rf_index j = 0; j < dim - 1; j++) covered += c->frame[j * dim + k] * c->frame[j * dim + k];
    if (1 - covered > room) room = 1 - covered, best = k;
  }
  memset(w, 0, (size_t)dim * sizeof *w);
  w[best] = 1;
  for (int pass = 0; pass < 2; pass++)
    for (rf_index j = 0; j < dim - 1; j++)
      rf_la_axpy(w, -rf_la_dot(w, c->frame + j * dim, dim), c->frame + j * dim, dim);
  RfStatus status = RF_OK;
  for (int side = 0; side < 2 && !status; side++) {
    if (rf_kinks_value(c->kinks, w) <= slack * c->kinks->scale)
      status = rf_maxima_offer(c->context, c->maxima, w);
    rf_la_scale(w, -1, dim);
  }
  c->maxima->nodes += 2;
  return status;
}

/* Extends the frame by concave kinks from `next` on. */
static RfStatus all_rays(Concave *c, rf_index taken, rf_index next) {
  rf_index dim = c->kinks->normals.dim;
  if (taken == dim - 1) return try_line(c);
  if (taken + 2 >= dim && rf_context_stop(c->context)) return RF_INTERRUPTED;
  RfStatus status = RF_OK;
  for (rf_index k = next; k < c->concave && !status; k++) {
    double *v = c->frame + taken * dim;
    memcpy(v, c->kinks->normals.normal + c->concave_at[k] * dim, (size_t)dim * sizeof *v);
    for (int pass = 0; pass < 2; pass++)
      for (rf_index j = 0; j < taken; j++)
        rf_la_axpy(v, -rf_la_dot(v, c->frame + j * dim, dim), c->frame + j * dim, dim);
    double norm = rf_la_norm(v, dim);
    if (norm <= c->context->tol.zero) continue;
    rf_la_scale(v, 1 / norm, dim);
    status = all_rays(c, taken + 1, k + 1);
  }
  return status;
}

/* ---- climbing ----------------------------------------------------------------------------------- */

enum { max_steps = 200 };

static RfStatus climb(Concave *c, const double *start) {
  rf_index dim = c->kinks->normals.dim, words = rf_bits_words(c->convex);
  RfStatus status = RF_OK;
  memcpy(c->g, start, (size_t)dim * sizeof(double));
  for (int step = 0; step < max_steps && !status; step++) {
    memset(c->active, 0, (size_t)words * sizeof(uint64_t));
    for (rf_index k = 0; k < c->convex; k++)
      if (rf_la_dot(c->g, c->convex_normals.normal + k * dim, dim) > 0) rf_bits_set(c->active, k);
    if (step > 0 && rf_bits_equal(c->active, c->before, c->convex))
      return rf_maxima_offer(c->context, c->maxima, c->g);
    memcpy(c->before, c->active, (size_t)words * sizeof(uint64_t));
    start_gradient(c, c->active, false);
    status = concave_gradient(c);
    if (rf_la_norm(c->g, dim) <= 1e-13 * c->kinks->scale) return status;
  }
  return status;
}

/* ---- entry points ------------------------------------------------------------------------------- */

static double binomial_sum(rf_index n, rf_index terms) { /* 2 sum_{k<terms} C(n-1,k) */
  double sum = 0, binomial = 1;
  for (rf_index k = 0; k < terms && binomial > 0; k++) {
    sum += 2 * binomial;
    binomial *= fmax(0, (double)(n - 1 - k)) / (double)(k + 1);
  }
  return sum;
}

double rf_extremal_cells_work(const RfKinks *kinks) {
  rf_index dim = kinks->normals.dim, convex = 0;
  for (rf_index h = 0; h < kinks->normals.count; h++) convex += kinks->kappa[h] > 0;
  double concave = (double)(kinks->normals.count - convex), rays = kinks->solid ? 2 : 0;
  for (rf_index k = 0; k < dim - 1; k++) rays *= fmax(0, concave - (double)k) / (double)(k + 1);
  double a_ray = (double)(kinks->normals.count * dim) / 20; /* a product instead of a least squares problem */
  return binomial_sum(convex, dim) * (concave + 10) * (double)dim + rays * a_ray;
}

RfStatus rf_extremal_cells(RfContext *context, RfMaxima *maxima, double work_limit) {
  Concave c;
  RfStatus status = concave_new(context, &c, maxima);
  if (!status && rf_extremal_cells_work(maxima->kinks) > work_limit) status = RF_LIMIT;
  if (!status) status = all_cells(&c, work_limit);
  if (!status && maxima->kinks->solid) status = all_rays(&c, 0, 0);
  if (status) maxima->complete = false;
  concave_free(&c);
  return status;
}

RfStatus rf_extremal_climb(RfContext *context, RfMaxima *maxima, rf_index starts) {
  Concave c;
  rf_index dim = maxima->kinks->normals.dim;
  RfStatus status = concave_new(context, &c, maxima);
  double *w = RF_NEW(double, dim);
  if (!status && !w) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a direction");
  RfRandom random;
  rf_random_init(&random, 0xc11b, 0);
  for (rf_index k = 0; k < starts && !status; k++) {
    rf_random_direction(&random, w, dim);
    status = rf_context_stop(context) ? RF_INTERRUPTED : climb(&c, w);
  }
  rf_free(w);
  concave_free(&c);
  return status;
}
