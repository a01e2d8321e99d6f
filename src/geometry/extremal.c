/* Extremal directions (Phuong & Lampert, Definition 2): strict local maxima and minima on the unit sphere of
 * G(w) = b0 sum_i y_i phi(w.x_i). G is written as linear + kinks, one per hyperplane; a minimum of G is a
 * maximum of -G.
 *
 * When is w a strict local maximum? With Z the kinks on which w lies and b the gradient of the rest, G
 * changes along v (orthogonal to w) at the rate b.v + sum_Z kappa_z (u_z.v)_+. For G(w) > 0 the sphere bends
 * away, so rate <= 0 for all v is enough; for G(w) <= 0 the rate must be < 0. With all kappa_z < 0 the rate
 * is concave and <= 0 iff b + sum kappa_z s_z u_z is a multiple of w for some 0 <= s_z <= 1: one bounded
 * least squares problem; < 0 iff the s_z can be taken inside (0,1) and the u_z span the orthogonal complement
 * of w. A kink with kappa_z > 0 is the maximum over s_z in {0,1}: each choice must pass. */
#include "extremal_internal.h"
#include "la/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to kinks->scale or to unit vectors. */
static const double on_kink = 1e-11, same_direction = 1e-8, stationary = 1e-11, strictly_inside = 1e-9;
enum { max_convex = 12 }; /* kinks with kappa > 0 on one direction: 2^12 choices */

RfStatus rf_kinks_new(RfContext *context, RfKinks *kinks, rf_index count, rf_index dim) {
  *kinks = (RfKinks){.kappa = RF_NEW(double, count), .linear = RF_NEW(double, dim)};
  RfStatus status = rf_normals_new(context, &kinks->normals, count, dim);
  if (!status && (!kinks->kappa || !kinks->linear))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld kinks", (long long)count);
  if (status) rf_kinks_free(kinks);
  return status;
}

void rf_kinks_free(RfKinks *kinks) {
  rf_normals_free(&kinks->normals);
  rf_free(kinks->kappa);
  rf_free(kinks->linear);
  *kinks = (RfKinks){0};
}

double rf_kinks_value(const RfKinks *kinks, const double *w) {
  rf_index dim = kinks->normals.dim;
  double sum = rf_la_dot(kinks->linear, w, dim);
  for (rf_index h = 0; h < kinks->normals.count; h++) {
    double value = rf_la_dot(kinks->normals.normal + h * dim, w, dim);
    if (value > 0) sum += kinks->kappa[h] * value;
  }
  return sum;
}

/* ---- the test ----------------------------------------------------------------------------------- */

typedef struct Local {
  rf_index concave, convex; /* kinks through w with kappa < 0 and > 0 */
  double *columns;          /* kappa_z u_z of the concave ones */
  double *convex_columns;
  double *gradient; /* b, then minus its part orthogonal to w */
  double *target, *s, *low, *high;
  double G;
} Local;

static void local_free(Local *local) {
  rf_free(local->columns);
  rf_free(local->convex_columns);
  rf_free(local->gradient);
  rf_free(local->target);
  rf_free(local->s);
  rf_free(local->low);
  rf_free(local->high);
}

static RfStatus local_new(RfContext *context, Local *local, const RfKinks *kinks, const double *w) {
  rf_index dim = kinks->normals.dim, on = 0;
  for (rf_index h = 0; h < kinks->normals.count; h++)
    on += fabs(rf_la_dot(kinks->normals.normal + h * dim, w, dim)) <= on_kink;
  *local = (Local){.columns = RF_NEW(double, on *dim),
                   .convex_columns = RF_NEW(double, on *dim),
                   .gradient = rf_copy_doubles(kinks->linear, dim),
                   .target = RF_NEW(double, dim),
                   .s = RF_NEW(double, on),
                   .low = RF_NEW(double, on),
                   .high = RF_NEW(double, on)};
  if (!local->columns || !local->convex_columns || !local->gradient || !local->target || !local->s ||
      !local->low || !local->high)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for an extremal direction");
  for (rf_index h = 0; h < kinks->normals.count; h++) {
    const double *u = kinks->normals.normal + h * dim;
    double value = rf_la_dot(u, w, dim), kappa = kinks->kappa[h];
    if (fabs(value) <= on_kink) {
      double *column =
          kappa < 0 ? local->columns + local->concave++ * dim : local->convex_columns + local->convex++ * dim;
      for (rf_index k = 0; k < dim; k++) column[k] = kappa * u[k];
    } else if (value > 0) {
      rf_la_axpy(local->gradient, kappa, u, dim);
    }
  }
  local->G = rf_la_dot(local->gradient, w, dim);
  return RF_OK;
}

/* Is b + sum of the chosen convex columns + sum s_z columns a multiple of w for some s in [inside, 1-inside]?
 */
static RfStatus balanced(RfContext *context, bool *yes, const Local *local, const RfKinks *kinks,
                         const double *w, unsigned choice, double inside) {
  rf_index dim = kinks->normals.dim;
  RfLeastSquaresInfo info;
  memcpy(local->target, local->gradient, (size_t)dim * sizeof(double));
  for (rf_index z = 0; z < local->convex; z++)
    if (choice >> z & 1) rf_la_axpy(local->target, 1, local->convex_columns + z * dim, dim);
  rf_la_axpy(local->target, -rf_la_dot(local->target, w, dim), w, dim);
  rf_la_scale(local->target, -1, dim);
  for (rf_index z = 0; z < local->concave; z++) {
    local->low[z] = inside;
    local->high[z] = 1 - inside;
  }
  *yes = rf_la_norm(local->target, dim) <= stationary * kinks->scale;
  if (local->concave == 0 || (*yes && inside == 0)) return RF_OK;
  RfStatus status = rf_la_box_least_squares(context, local->s, NULL, &info, local->columns, local->target,
                                            local->low, local->high, dim, local->concave, dim, NULL);
  *yes = info.residual <= stationary * kinks->scale;
  return status;
}

/* The concave kinks span the orthogonal complement of w. */
static RfStatus spans(RfContext *context, bool *yes, const Local *local, rf_index dim) {
  rf_index rank = 0;
  *yes = local->concave >= dim - 1;
  if (!*yes) return RF_OK;
  RfStatus status = rf_la_rank(context, &rank, NULL, local->columns, local->concave, dim, context->tol.rank);
  *yes = rank >= dim - 1;
  return status;
}

static RfStatus is_strict_maximum(RfContext *context, bool *yes, RfMaxima *maxima, const double *w) {
  const RfKinks *kinks = maxima->kinks;
  Local local;
  RfStatus status = local_new(context, &local, kinks, w);
  *yes = false;
  if (status) goto done;
  bool positive = local.G > stationary * kinks->scale;
  if (!positive && !kinks->solid) goto done;
  if (local.convex > max_convex) {
    maxima->complete = false;
    goto done;
  }
  *yes = true;
  if (!positive) status = spans(context, yes, &local, kinks->normals.dim);
  for (unsigned choice = 0; choice < 1u << local.convex && *yes && !status; choice++)
    status = balanced(context, yes, &local, kinks, w, choice, positive ? 0 : strictly_inside);
done:
  local_free(&local);
  return status;
}

static bool known_direction(const RfMaxima *maxima, const double *w) {
  rf_index dim = maxima->kinks->normals.dim;
  for (rf_index j = 0; j < maxima->count; j++) {
    double square = 0;
    for (rf_index k = 0; k < dim; k++) {
      double difference = maxima->direction[j * dim + k] - w[k];
      square += difference * difference;
    }
    if (square < same_direction * same_direction) return true;
  }
  return false;
}

RfStatus rf_maxima_offer(RfContext *context, RfMaxima *maxima, const double *w) {
  rf_index dim = maxima->kinks->normals.dim;
  double norm = rf_la_norm(w, dim);
  if (!(norm > 0)) return RF_OK;
  if (maxima->count == maxima->capacity) {
    rf_index capacity = 2 * maxima->capacity + 4;
    double *bigger = rf_resize(maxima->direction, capacity * dim, sizeof *bigger);
    if (!bigger) return rf_fail(context, RF_ERR_MEMORY, "out of memory for extremal directions");
    maxima->direction = bigger;
    maxima->capacity = capacity;
  }
  double *unit = maxima->direction + maxima->count * dim;
  for (rf_index k = 0; k < dim; k++) unit[k] = w[k] / norm;
  if (known_direction(maxima, unit)) return RF_OK;
  bool yes;
  RfStatus status = is_strict_maximum(context, &yes, maxima, unit);
  if (!status && yes) maxima->count++;
  return status;
}

/* ---- from samples to kinks ---------------------------------------------------------------------- */

/* c phi(x.w) with x = t u: leak c x.w + (1-leak) c |t| (u.w)_+, and for t < 0 also (1-leak) c x.w. */
static void add_sample(double *linear, double *kappa, const double *x, double c, double leak, int8_t sign,
                       rf_index d) {
  double norm = rf_la_norm(x, d);
  rf_la_axpy(linear, sign > 0 ? leak * c : c, x, d);
  *kappa += (1 - leak) * c * norm;
}

/* Drops hyperplanes whose kinks cancel. */
static void keep_real_kinks(RfKinks *kinks, const double *kappa, const double *size, const RfPlanes *planes) {
  rf_index dim = planes->rank, kept = 0;
  for (rf_index p = 0; p < planes->planes.count; p++) {
    if (fabs(kappa[p]) <= 1e-14 * size[p]) continue;
    kinks->kappa[kept] = kappa[p];
    kinks->normals.noise[kept] = planes->planes.noise[p];
    memcpy(kinks->normals.normal + kept * dim, planes->planes.normal + p * dim, (size_t)dim * sizeof(double));
    kinks->scale += fabs(kappa[p]);
    kept++;
  }
  kinks->normals.count = kept;
}

static RfStatus build_kinks(RfContext *context, RfKinks *kinks, const RfPlanes *planes, const double *X,
                            const double *y, const RfExtremalSettings *settings) {
  rf_index d = planes->d, count = planes->planes.count;
  double *kappa = RF_NEW(double, count), *size = RF_NEW(double, count), *linear = RF_NEW(double, d);
  RfStatus status = rf_kinks_new(context, kinks, count, planes->rank);
  if (!status && (!kappa || !size || !linear))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld kinks", (long long)count);
  if (status) goto done;
  for (rf_index i = 0; i < planes->n; i++) {
    rf_index p = planes->plane_of[i];
    if (p < 0) continue;
    add_sample(linear, kappa + p, X + i * d, settings->slope * y[i], settings->leak, planes->sign_of[i], d);
    size[p] += settings->slope * rf_la_norm(X + i * d, d);
  }
  rf_planes_lower(kinks->linear, planes, linear);
  keep_real_kinks(kinks, kappa, size, planes);
  kinks->scale += rf_la_norm(kinks->linear, planes->rank);
  kinks->solid = planes->rank == d && d > 1;
done:
  rf_free(kappa);
  rf_free(size);
  rf_free(linear);
  return status;
}

/* ---- the search --------------------------------------------------------------------------------- */

/* A node of branch and bound costs up to kinks^2, times the dimension when inner products are not kept. */
static double node_work(const RfKinks *kinks) {
  double count = (double)kinks->normals.count;
  return 1 + count * count * (count > 3000 ? (double)kinks->normals.dim : 1);
}

static rf_index default_nodes(const RfKinks *kinks) { return (rf_index)fmin(5000, 5e7 / node_work(kinks)); }

/* Enough for structured data; few on large sets, where even one node is slow; none beyond that. */
static rf_index first_nodes(const RfKinks *kinks) {
  double work = node_work(kinks);
  return work > 3e9 ? 0 : (rf_index)fmax(1, fmin(40, 1e8 / work));
}

/* A climb takes some ten bounded least squares problems of about kinks dim^2 each. */
static rf_index climb_starts(const RfKinks *kinks) {
  double dim = (double)kinks->normals.dim, work = (double)kinks->normals.count * dim * dim;
  return work > 5e8 ? 0 : (rf_index)fmax(1, fmin(200, 2e7 / work));
}

/* The direction in which all kinks with kappa > 0 are active: on orthogonally separable data the only
 * maximum. */
static RfStatus offer_class_sum(RfContext *context, RfMaxima *maxima) {
  const RfKinks *kinks = maxima->kinks;
  rf_index dim = kinks->normals.dim;
  double *w = rf_copy_doubles(kinks->linear, dim);
  if (!w) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a direction");
  for (rf_index h = 0; h < kinks->normals.count; h++)
    if (kinks->kappa[h] > 0) rf_la_axpy(w, kinks->kappa[h], kinks->normals.normal + h * dim, dim);
  RfStatus status = rf_maxima_offer(context, maxima, w);
  rf_free(w);
  return status;
}

/* Structured data fall to a few nodes of branch and bound; then all cells, if there are not too many; then
 * more nodes, and what climbing finds. */
static RfStatus choose_method(RfContext *context, RfMaxima *maxima, double limit, rf_index nodes,
                              RfExtremalMethod *used) {
  const RfKinks *kinks = maxima->kinks;
  RfStatus status = RF_OK;
  *used = RF_EXTREMAL_FACES;
  if (kinks->normals.dim <= 2) return rf_extremal_faces(context, maxima, INFINITY);
  *used = RF_EXTREMAL_BOUNDS;
  rf_index first = first_nodes(kinks);
  if (first > 0) status = rf_extremal_bounds(context, maxima, first);
  if (status || (first > 0 && maxima->complete)) return status;
  if (rf_extremal_cells_work(kinks) <= limit) {
    *used = RF_EXTREMAL_CELLS;
    maxima->complete = true;
    return rf_extremal_cells(context, maxima, limit);
  }
  maxima->complete = nodes > first;
  if (nodes > first) status = rf_extremal_bounds(context, maxima, nodes);
  if (!status && !maxima->complete) status = offer_class_sum(context, maxima);
  if (!status && !maxima->complete) status = rf_extremal_climb(context, maxima, climb_starts(kinks));
  return status;
}

static RfStatus search(RfContext *context, RfMaxima *maxima, const RfExtremalSettings *settings,
                       RfExtremalMethod *used) {
  double limit = settings->work_limit > 0 ? settings->work_limit : 2e7;
  rf_index nodes = settings->node_limit > 0 ? settings->node_limit : default_nodes(maxima->kinks);
  bool low = maxima->kinks->normals.dim < 2;
  *used = settings->method;
  switch (settings->method) {
  case RF_EXTREMAL_FACES: return rf_extremal_faces(context, maxima, limit);
  case RF_EXTREMAL_CELLS:
    return low ? rf_extremal_faces(context, maxima, limit) : rf_extremal_cells(context, maxima, limit);
  case RF_EXTREMAL_BOUNDS: return rf_extremal_bounds(context, maxima, nodes);
  case RF_EXTREMAL_AUTO: break;
  }
  return choose_method(context, maxima, limit, nodes, used);
}

/* ---- results ------------------------------------------------------------------------------------ */

static void directions_free(RfExtremalDirection *directions, rf_index count) {
  for (rf_index k = 0; k < count && directions; k++) {
    rf_free(directions[k].direction);
    rf_free(directions[k].sector);
  }
  rf_free(directions);
}

void rf_extremal_free(RfExtremal *extremal) {
  if (!extremal) return;
  directions_free(extremal->positive, extremal->n_positive);
  directions_free(extremal->negative, extremal->n_negative);
  *extremal = (RfExtremal){0};
}

static int by_size_of_G(const void *a,
                        const void *b) { /* all of one sign of search: positive falls, negative rises */
  const RfExtremalDirection *p = a, *q = b;
  if (p->G == q->G) return 0;
  return (p->G > q->G) ? -1 : 1;
}

typedef struct Samples {
  const RfPlanes *planes;
  const double *X, *y;
  const RfExtremalSettings *settings;
} Samples;

static RfStatus describe(RfContext *context, RfExtremalDirection *out, const Samples *samples,
                         const double *inner) {
  rf_index n = samples->planes->n, d = samples->planes->d;
  out->direction = RF_NEW(double, d);
  out->sector = RF_NEW(char, n + 1);
  if (!out->direction || !out->sector)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a direction");
  rf_planes_lift(out->direction, samples->planes, inner);
  rf_la_scale(out->direction, 1 / rf_la_norm(out->direction, d), d);
  rf_geometry_sector(context, out->sector, out->direction, samples->X, n, d);
  out->G = rf_geometry_potential(out->direction, samples->X, samples->y, n, d, samples->settings->leak,
                                 samples->settings->slope);
  return RF_OK;
}

/* Maxima of the kinks (already negated for the negative side) into a list of directions. */
static RfStatus one_side(RfContext *context, RfExtremal *extremal, bool positive, const RfKinks *kinks,
                         const Samples *samples) {
  RfMaxima maxima = {.kinks = kinks, .complete = true};
  RfExtremalMethod used;
  RfStatus status = search(context, &maxima, samples->settings, &used), outcome = RF_OK;
  if (status > 0) outcome = status, maxima.complete = false;
  if (status < 0) goto done;
  RfExtremalDirection *list = RF_NEW(RfExtremalDirection, maxima.count);
  if (!list) {
    outcome = rf_fail(context, RF_ERR_MEMORY, "out of memory for extremal directions");
    goto done;
  }
  *(positive ? &extremal->positive : &extremal->negative) = list;
  *(positive ? &extremal->n_positive : &extremal->n_negative) = maxima.count;
  status = RF_OK;
  for (rf_index k = 0; k < maxima.count && !status; k++)
    status = describe(context, list + k, samples, maxima.direction + k * kinks->normals.dim);
  if (!status) qsort(list, (size_t)maxima.count, sizeof *list, by_size_of_G);
  for (rf_index k = 0; k < maxima.count / 2 && !positive && !status; k++) {
    RfExtremalDirection swapped = list[k];
    list[k] = list[maxima.count - 1 - k];
    list[maxima.count - 1 - k] = swapped;
  }
  extremal->complete &= maxima.complete;
  extremal->nodes += maxima.nodes;
  extremal->method = used;
done:
  rf_free(maxima.direction);
  if (status < 0) return status;
  return outcome ? outcome : maxima.complete ? RF_OK : RF_LIMIT;
}

RfStatus rf_geometry_extremal(RfContext *context, RfExtremal *extremal, const double *X, const double *y,
                              rf_index n, rf_index d, const RfExtremalSettings *settings) {
  *extremal = (RfExtremal){.complete = true};
  if (!(settings->leak >= 0 && settings->leak <= 1) || !(settings->slope > 0))
    return rf_fail(context, RF_ERR_USAGE, "extremal directions need 0 <= leak <= 1 and a positive slope");
  RfPlanes planes;
  RfKinks kinks = {0};
  RfStatus status = rf_planes_new(context, &planes, X, n, d), other;
  if (status) return status;
  Samples samples = {&planes, X, y, settings};
  status = build_kinks(context, &kinks, &planes, X, y, settings);
  if (status || planes.rank == 0) goto done;
  status = one_side(context, extremal, true, &kinks, &samples);
  if (status < 0 || status == RF_INTERRUPTED) goto done;
  rf_la_scale(kinks.kappa, -1, kinks.normals.count);
  rf_la_scale(kinks.linear, -1, kinks.normals.dim);
  other = one_side(context, extremal, false, &kinks, &samples);
  if (other) status = other;
done:
  rf_kinks_free(&kinks);
  rf_planes_free(&planes);
  if (status) extremal->complete = false;
  if (status < 0) rf_extremal_free(extremal);
  return status;
}
