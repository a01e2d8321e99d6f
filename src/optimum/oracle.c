/* The oracle's local part: values, and climbing by linearising the own-class terms (they are convex) and
 * maximising the concave rest exactly, which is a distance to a zonotope (docs/math.md (G.6)). */
#include "optimum/optimum_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"

#include <math.h>
#include <string.h>

void rf_directions_free(RfDirections *list) {
  rf_free(list->u), rf_free(list->value), rf_free(list->sign);
  memset(list, 0, sizeof *list);
}

RfStatus rf_directions_add(RfContext *context, RfDirections *list, const double *u, double value, int sign) {
  if (list->count == list->capacity) {
    rf_index capacity = list->capacity ? 2 * list->capacity : 16;
    double *us = rf_resize(list->u, capacity * list->r, sizeof *us);
    if (us) list->u = us;
    double *values = rf_resize(list->value, capacity, sizeof *values);
    if (values) list->value = values;
    int *signs = rf_resize(list->sign, capacity, sizeof *signs);
    if (signs) list->sign = signs;
    if (!us || !values || !signs) return rf_fail(context, RF_ERR_MEMORY, "out of memory for directions");
    list->capacity = capacity;
  }
  memcpy(list->u + list->count * list->r, u, (size_t)list->r * sizeof *u);
  list->value[list->count] = value;
  list->sign[list->count++] = sign;
  return RF_OK;
}

double rf_oracle_value(const RfReduced *p, const double *lambda, const double *u, int sign) {
  double sum = 0;
  for (rf_index i = 0; i < p->n; i++)
    if (lambda[i] > 0) sum += lambda[i] * p->y[i] * rf_phi(rf_short_dot(p->X + i * p->r, u, p->r), p->leak);
  return sign * sum;
}

RfStatus rf_oracle_new(RfContext *context, RfOracle *oracle, const RfReduced *p) {
  memset(oracle, 0, sizeof *oracle);
  oracle->p = p;
  RfStatus status = rf_box_new(context, &oracle->box, p->n + 1, p->r);
  oracle->own = RF_NEW(rf_index, p->n), oracle->other = RF_NEW(rf_index, p->n);
  oracle->slope = RF_NEW(double, p->n), oracle->z = RF_NEW(double, p->n), oracle->work = RF_NEW(double, p->r);
  oracle->V = RF_NEW(double, (p->n + 1) * p->r);
  if (!status && oracle->own && oracle->other && oracle->slope && oracle->z && oracle->work && oracle->V)
    return RF_OK;
  rf_oracle_free(oracle);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for the oracle");
}

void rf_oracle_free(RfOracle *oracle) {
  rf_box_free(&oracle->box);
  rf_free(oracle->own), rf_free(oracle->other), rf_free(oracle->slope), rf_free(oracle->z);
  rf_free(oracle->work), rf_free(oracle->V);
  memset(oracle, 0, sizeof *oracle);
}

/* Row 0 of V is g = sum over own samples of lambda slope x (coefficient fixed to 1), the others are -x of the
 * opposite class with weights in [leak lambda, lambda], started on the side that u shows. */
static void load_box(RfOracle *oracle, const double *lambda, const double *u, int sign) {
  const RfReduced *p = oracle->p;
  RfBox *box = &oracle->box;
  double *g = oracle->V;
  rf_index r = p->r, count = 1;
  memset(g, 0, (size_t)r * sizeof *g);
  for (rf_index i = 0; i < p->n; i++) {
    if (lambda[i] <= 0) continue;
    const double *x = p->X + i * r;
    double z = rf_short_dot(x, u, r);
    if (p->y[i] * sign > 0) {
      rf_short_axpy(g, lambda[i] * (z > 0 ? 1 : p->leak), x, r);
      continue;
    }
    double *v = oracle->V + count * r;
    for (rf_index k = 0; k < r; k++) v[k] = -x[k];
    box->low[count] = p->leak * lambda[i], box->high[count] = lambda[i];
    box->coef[count] = z > 0 ? lambda[i] : p->leak * lambda[i];
    count++;
  }
  box->V = oracle->V, box->n = count, box->r = r;
  box->coef[0] = box->low[0] = box->high[0] = 1;
}

double rf_oracle_climb(RfOracle *oracle, const double *lambda, double *u, int sign) {
  const RfReduced *p = oracle->p;
  double value = rf_oracle_value(p, lambda, u, sign);
  for (int round = 0; round < 100; round++) {
    load_box(oracle, lambda, u, sign);
    double size = rf_box_solve(&oracle->box);
    if (size <= 0) break;
    for (rf_index k = 0; k < p->r; k++) oracle->work[k] = oracle->box.res[k] / size;
    double now = rf_oracle_value(p, lambda, oracle->work, sign);
    if (!(now > value * (1 + rf_climb_growth) + DBL_MIN)) break;
    memcpy(u, oracle->work, (size_t)p->r * sizeof *u);
    value = now;
  }
  return value;
}
