/* Whether any two-layer network without bias, of this leak and enough width, classifies every sample
 * correctly.
 *
 * Linearly separable data always fit. For leak 1 nothing else does. For leak < 1, phi(s) is (1+leak)/2 s +
 * (1-leak)/2 |s|, so the networks are the linear functions plus everything spanned by |<w,x>|, and on
 * finitely many lines through 0 the latter take any values (equal at x and -x, linear along a ray). Hence
 * there are exactly three obstacles: a zero sample; two samples on one ray with different labels; and, among
 * opposite samples with different labels (where the even part cannot help), a subset that is not linearly
 * separable. */
#include "theory/theory_internal.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "la/la.h"

enum { WHY_SIZE = 256 };

typedef struct Ray {
  double key; /* |<r, x/|x|>| for a random unit r: rays through equal lines have equal keys */
  rf_index sample;
} Ray;

static int compare_rays(const void *a, const void *b) {
  const Ray *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return (p->sample > q->sample) - (p->sample < q->sample);
}

/* Unit rows, or the index of a zero row in *zero (-1 if none). */
static void unit_rows(double *U, rf_index *zero, const RfDataset *data) {
  *zero = -1;
  for (rf_index i = 0; i < data->n; i++) {
    double norm = rf_la_norm(data->X + i * data->d, data->d);
    if (norm == 0 && *zero < 0) *zero = i;
    for (rf_index j = 0; j < data->d; j++)
      U[i * data->d + j] = norm > 0 ? data->X[i * data->d + j] / norm : 0;
  }
}

/* |u - sign v| <= tolerance */
static bool same_ray(const double *u, const double *v, double sign, rf_index d, double tolerance) {
  double square = 0;
  for (rf_index j = 0; j < d; j++) square += (u[j] - sign * v[j]) * (u[j] - sign * v[j]);
  return sqrt(square) <= tolerance;
}

/* One pass over neighbours in key order. Finds two samples on one ray with different labels (returned in
 * pair), and marks samples that have an opposite one of the other label. */
static bool find_conflict(rf_index pair[2], bool *opposed, const Ray *rays, const double *U,
                          const RfDataset *data, double tolerance) {
  for (rf_index a = 0; a < data->n; a++)
    for (rf_index b = a + 1; b < data->n && rays[b].key - rays[a].key <= tolerance; b++) {
      rf_index i = rays[a].sample, j = rays[b].sample;
      if (data->y[i] == data->y[j]) continue;
      const double *u = U + i * data->d, *v = U + j * data->d;
      if (same_ray(u, v, 1, data->d, tolerance)) {
        pair[0] = i < j ? i : j, pair[1] = i < j ? j : i;
        return true;
      }
      if (same_ray(u, v, -1, data->d, tolerance)) opposed[i] = opposed[j] = true;
    }
  return false;
}

/* The opposed samples must be linearly separable on their own. */
static RfStatus separate_opposed(RfContext *context, bool *separable, const bool *opposed,
                                 const RfDataset *data) {
  rf_index count = 0, d = data->d;
  double *X = RF_NEW(double, data->n *d), *y = RF_NEW(double, data->n);
  RfLinearMargin margin;
  memset(&margin, 0, sizeof margin);
  RfStatus status = RF_OK;
  if (!X || !y) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for opposite samples");
    goto done;
  }
  for (rf_index i = 0; i < data->n; i++) {
    if (!opposed[i]) continue;
    memcpy(X + count * d, data->X + i * d, (size_t)d * sizeof *X);
    y[count++] = data->y[i];
  }
  *separable = true;
  if (count == 0) goto done;
  status = rf_margin_linear(context, &margin, X, y, count, d);
  *separable = margin.separable;
  if (status == RF_NOT_SEPARABLE) status = RF_OK;
done:
  rf_linear_margin_free(&margin);
  rf_free(X);
  rf_free(y);
  return status;
}

static void sort_rays(Ray *rays, double *direction, const double *U, const RfDataset *data) {
  RfRandom random;
  rf_random_init(&random, 1, 2);
  rf_random_direction(&random, direction, data->d);
  for (rf_index i = 0; i < data->n; i++) {
    rays[i].key = fabs(rf_la_dot(direction, U + i * data->d, data->d));
    rays[i].sample = i;
  }
  qsort(rays, (size_t)data->n, sizeof *rays, compare_rays);
}

static RfStatus nonlinear_fits(RfContext *context, RfAnswer *fits, char *why, const RfDataset *data) {
  double *U = RF_NEW_TABLE(double, data->n, data->d), *direction = RF_NEW(double, data->d);
  Ray *rays = RF_NEW(Ray, data->n);
  bool *opposed = RF_NEW(bool, data->n), separable = true;
  rf_index zero, pair[2];
  RfStatus status = RF_OK;
  if (!U || !direction || !rays || !opposed) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for unit samples");
    goto done;
  }
  unit_rows(U, &zero, data);
  *fits = RF_NO;
  if (zero >= 0) {
    rf_format(why, WHY_SIZE, "sample %lld is zero, where every network without bias is 0", (long long)zero);
    goto done;
  }
  sort_rays(rays, direction, U, data);
  if (find_conflict(pair, opposed, rays, U, data, context->tol.zero)) {
    rf_format(why, WHY_SIZE, "samples %lld and %lld lie on one ray but have different labels",
              (long long)pair[0], (long long)pair[1]);
    goto done;
  }
  status = separate_opposed(context, &separable, opposed, data);
  if (separable)
    *fits = RF_YES;
  else
    rf_format(why, WHY_SIZE,
              "the opposite samples with different labels are not linearly separable, so no network fits");
done:
  rf_free(U);
  rf_free(direction);
  rf_free(rays);
  rf_free(opposed);
  return status;
}

RfStatus rf_theory_fits(RfContext *context, RfAnswer *fits, char *why, const RfTheoryProblem *problem) {
  why[0] = 0;
  *fits = problem->linear->separable ? RF_YES : RF_NO;
  if (*fits == RF_YES) return RF_OK;
  if (problem->leak < 1) return nonlinear_fits(context, fits, why, problem->data);
  rf_format(why, WHY_SIZE, "the data are not linearly separable and the network is linear");
  return RF_OK;
}
