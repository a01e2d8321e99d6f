/* Cells of an arrangement by depth-first search over sign patterns: a node fixes the signs of the first k
 * normals and carries a point inside. A child is free when the point lies on its side; otherwise one
 * nonnegative least squares problem decides (columns (s_i u_i; 1), right side (0;1); residual (r;t): t = 0
 * means empty, else -r is the point of largest margin). Emptiness is judged by the residual norm, not its
 * square: thin cells have small norms. Memory O(nd); an independent check of the sweep. */
#include "geometry_internal.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

struct RfSearch {
  RfNormals normals; /* own copy */
  double *columns;   /* count columns of dim+1: s_i u_i and 1 */
  double *point;     /* count+1 points of dim, one per depth */
  double *target, *residual, *weights;
  int8_t *next;   /* side to try next at each depth: 1, -1, 0 = both done */
  uint64_t *bits; /* signs of the node */
  rf_index depth; /* number of fixed signs; -1 before the start */
  bool exact, done;
  RfLeastSquaresWork *work;
};

/* A point this far on its side serves the child as it is. */
static const double comfortable = 1e-6;

/* Points of cells thinner than this are refined. */
static const double thin = 1e-3;

void rf_search_free(RfSearch *search) {
  if (!search) return;
  rf_normals_free(&search->normals);
  rf_free(search->columns);
  rf_free(search->point);
  rf_free(search->target);
  rf_free(search->residual);
  rf_free(search->weights);
  rf_free(search->next);
  rf_free(search->bits);
  rf_la_least_squares_work_free(search->work);
  rf_free(search);
}

RfStatus rf_search_new(RfContext *context, RfSearch **out, const RfNormals *normals) {
  rf_index count = normals->count, dim = normals->dim;
  RfSearch *search = RF_NEW(RfSearch, 1);
  *out = NULL;
  if (!search) return rf_fail(context, RF_ERR_MEMORY, "out of memory for an arrangement");
  RfStatus status = rf_normals_new(context, &search->normals, count, dim);
  search->columns = RF_NEW(double, count *(dim + 1));
  search->point = RF_NEW(double, (count + 1) * dim);
  search->target = RF_NEW(double, dim + 1);
  search->residual = RF_NEW(double, dim + 1);
  search->weights = RF_NEW(double, count);
  search->next = RF_NEW(int8_t, count + 1);
  search->bits = RF_NEW(uint64_t, rf_bits_words(count));
  if (!status && (!search->columns || !search->point || !search->target || !search->residual ||
                  !search->weights || !search->next || !search->bits))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for an arrangement");
  if (!status) status = rf_la_least_squares_work_new(context, &search->work, dim + 1, count);
  if (status) {
    rf_search_free(search);
    return status;
  }
  memcpy(search->normals.normal, normals->normal, (size_t)(count * dim) * sizeof(double));
  memcpy(search->normals.noise, normals->noise, (size_t)count * sizeof(double));
  search->target[dim] = 1;
  search->depth = -1;
  search->exact = true;
  *out = search;
  return RF_OK;
}

bool rf_search_exact(const RfSearch *search) { return search->exact; }

/* Is the cell of the first depth signs plus `side` for the next one non-empty? Its point goes to depth + 1.
 */
static RfStatus try_side(RfContext *context, RfSearch *search, double side, bool *open) {
  rf_index dim = search->normals.dim, k = search->depth;
  const double *u = search->normals.normal + k * dim, *from = search->point + k * dim;
  double *column = search->columns + k * (dim + 1), *to = search->point + (k + 1) * dim;
  for (rf_index j = 0; j < dim; j++) column[j] = side * u[j];
  column[dim] = 1;
  *open = side * rf_la_dot(u, from, dim) > comfortable;
  if (*open) {
    memcpy(to, from, (size_t)dim * sizeof *to);
    return RF_OK;
  }
  RfLeastSquaresInfo info;
  RfStatus status = rf_la_nnls(context, search->weights, search->residual, &info, search->columns,
                               search->target, dim + 1, k + 1, dim + 1, search->work);
  if (status) return status;
  double limit = context->tol.emptiness;
  *open = info.residual > limit;
  if (info.residual > limit / 30 && info.residual < limit * 30) search->exact = false;
  if (!*open) return RF_OK;
  double norm = rf_la_norm(search->residual, dim);
  for (rf_index j = 0; j < dim; j++) to[j] = -search->residual[j] / norm;
  if (info.residual < thin)
    status = rf_separator_refine(context, to, search->columns, search->weights, k + 1, dim);
  return status;
}

/* One step: down along the next open side, or back. */
static RfStatus advance(RfContext *context, RfSearch *search) {
  rf_index k = search->depth;
  int8_t side = search->next[k];
  bool open = false;
  if (side == 0) {
    search->done = --search->depth < 1; /* depth 1 holds the positive side of normal 0 only */
    return RF_OK;
  }
  search->next[k] = side > 0 ? -1 : 0;
  RfStatus status = try_side(context, search, side, &open);
  if (status || !open) return status;
  if (side > 0)
    rf_bits_set(search->bits, k);
  else
    rf_bits_clear(search->bits, k);
  search->next[++search->depth] = 1;
  return RF_OK;
}

RfStatus rf_search_next(RfContext *context, RfSearch *search, bool *found, const uint64_t **bits,
                        const double **point) {
  rf_index count = search->normals.count, dim = search->normals.dim;
  *found = false;
  if (search->depth < 0) { /* depth 1: normal 0 itself is inside its positive side */
    memcpy(search->point + dim, search->normals.normal, (size_t)dim * sizeof(double));
    memcpy(search->columns, search->normals.normal, (size_t)dim * sizeof(double));
    search->columns[dim] = 1;
    rf_bits_set(search->bits, 0);
    search->depth = 1;
    search->next[1] = 1;
  } else if (!search->done) {
    search->done = --search->depth < 1; /* leave the leaf that was given last */
  }
  while (!search->done) {
    if (search->depth == count) {
      *found = true;
      *bits = search->bits;
      *point = search->point + count * dim;
      return RF_OK;
    }
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    RfStatus status = advance(context, search);
    if (status) return status;
  }
  return RF_OK;
}
