/* The master: the dual restricted to the own-class patterns seen so far (docs/math.md (G.11)),
 *
 *     maximise b.lambda   over lambda >= 0 with v_j(lambda) <= 1 for every pattern j,
 *     v_j(lambda) = min { |r| : r = sum_own h_ji lambda_i x_i - sum_other m_i x_i,  leak lambda <= m <=
 * lambda }.
 *
 * v_j is convex, v_j^2 is once differentiable and piecewise quadratic; its gradient is v_j times the outputs
 * of the unit neuron r/|r|. This file holds the patterns and evaluates v_j; interior.c takes the steps. */
#include "optimum/master_internal.h"
#include "optimum/kernels.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------- */

static void pattern_free(RfPattern *j) { rf_free(j->active), rf_free(j->m), rf_free(j->r); }

void rf_master_free(RfMaster *master) {
  if (!master) return;
  for (rf_index j = 0; j < master->count; j++) pattern_free(&master->list[j]);
  for (int k = 0; k < 2; k++) {
    rf_free(master->side[k].at), rf_free(master->side[k].V);
    rf_box_free(&master->side[k].box);
  }
  rf_free(master->list), rf_free(master->lambda), rf_free(master->z), rf_free(master->H), rf_free(master->G);
  rf_free(master->dl), rf_free(master->dz), rf_free(master->scale), rf_free(master->start);
  rf_free(master->C), rf_free(master->q), rf_free(master->dc), rf_free(master->value);
  rf_free(master);
}

static RfStatus side_new(RfContext *context, RfSide *side, const RfReduced *p, int sign) {
  side->at = RF_NEW(rf_index, p->n), side->V = RF_NEW(double, (p->n + 1) * p->r);
  if (!side->at || !side->V) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the master problem");
  for (rf_index i = 0; i < p->n; i++) {
    if (p->y[i] * sign > 0) continue;
    side->at[side->count++] = i;
    for (rf_index k = 0; k < p->r; k++) side->V[side->count * p->r + k] = -p->X[i * p->r + k];
  }
  RfStatus status = rf_box_new(context, &side->box, side->count + 1, p->r);
  side->box.V = side->V;
  return status;
}

RfStatus rf_master_new(RfContext *context, RfMaster **out, const RfReduced *p) {
  *out = NULL;
  rf_index n = p->n;
  RfMaster *m = RF_NEW(RfMaster, 1);
  if (!m) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the master problem");
  m->p = p;
  m->lambda = RF_NEW(double, n), m->z = RF_NEW(double, n), m->H = RF_NEW(double, 2 * n * n);
  m->G = RF_NEW(double, n), m->dl = RF_NEW(double, n), m->dz = RF_NEW(double, n),
  m->scale = RF_NEW(double, n);
  m->start = RF_NEW(double, n);
  RfStatus status = RF_OK;
  if (!m->lambda || !m->z || !m->H || !m->G || !m->dl || !m->dz || !m->scale || !m->start)
    status =
        rf_fail(context, RF_ERR_MEMORY, "out of memory for a master problem with %lld samples", (long long)n);
  for (int k = 0; k < 2 && !status; k++) status = side_new(context, &m->side[k], p, k == 0 ? 1 : -1);
  if (status) {
    rf_master_free(m);
    return status;
  }
  for (rf_index i = 0; i < n; i++) m->lambda[i] = 1;
  *out = m;
  return RF_OK;
}

rf_index rf_master_count(const RfMaster *master) { return master->count; }
const RfPattern *rf_master_pattern(const RfMaster *master, rf_index j) { return &master->list[j]; }
const double *rf_master_lambda(const RfMaster *master) { return master->lambda; }
double rf_master_mu(const RfMaster *master) { return master->mu; }

/* ---- patterns --------------------------------------------------------------------------------- */

double rf_pattern_solve(RfMaster *master, RfPattern *j, const double *lambda) {
  const RfReduced *p = master->p;
  RfSide *side = &master->side[j->sign > 0 ? 0 : 1];
  RfBox *box = &side->box;
  memset(side->V, 0, (size_t)p->r * sizeof(double));
  for (rf_index i = 0; i < p->n; i++)
    if (rf_pattern_owns(p, j, i))
      rf_short_axpy(side->V, rf_pattern_slope(p, j, i) * lambda[i], p->X + i * p->r, p->r);
  box->coef[0] = box->low[0] = box->high[0] = 1;
  for (rf_index k = 0; k < side->count; k++) {
    rf_index i = side->at[k];
    box->low[k + 1] = p->leak * lambda[i], box->high[k + 1] = lambda[i];
    box->coef[k + 1] = lambda[i] * fmin(fmax(j->m[i], p->leak), 1);
  }
  j->v = rf_box_solve(box);
  memcpy(j->r, box->res, (size_t)p->r * sizeof(double));
  for (rf_index k = 0; k < side->count; k++) {
    rf_index i = side->at[k];
    double m = box->coef[k + 1];
    j->m[i] = m <= box->low[k + 1] ? p->leak : m >= box->high[k + 1] ? 1 : m / lambda[i];
  }
  return j->v;
}

/* Columns of C off the span of the rows q (kinks x r, orthonormal). */
static void project_columns(double *C, const double *q, rf_index kinks, rf_index n, rf_index r) {
  double *part = C + r * n; /* one more row of the block, free at this time */
  for (rf_index l = 0; l < kinks; l++) {
    memset(part, 0, (size_t)n * sizeof *part);
    for (rf_index k = 0; k < r; k++) rf_short_axpy(part, q[l * r + k], C + k * n, n);
    for (rf_index k = 0; k < r; k++) rf_short_axpy(C + k * n, -q[l * r + k], part, n);
  }
}

void rf_pattern_map(RfMaster *master, const RfPattern *j, double *C) {
  const RfReduced *p = master->p;
  RfBox *box = &master->side[j->sign > 0 ? 0 : 1].box;
  rf_index n = p->n, r = p->r;
  for (rf_index i = 0; i < n; i++) {
    bool kink = !rf_pattern_owns(p, j, i) && j->m[i] > p->leak && j->m[i] < 1;
    double factor = rf_pattern_owns(p, j, i) ? rf_pattern_slope(p, j, i) : kink ? 0 : -j->m[i];
    for (rf_index k = 0; k < r; k++) C[k * n + i] = factor * p->X[i * r + k];
  }
  project_columns(C, box->qr, rf_box_face(box), n, r);
}

static bool known(const RfMaster *master, const RfPattern *pattern) {
  for (rf_index j = 0; j < master->count; j++)
    if (master->list[j].sign == pattern->sign &&
        rf_bits_equal(master->list[j].active, pattern->active, master->p->n))
      return true;
  return false;
}

RfStatus rf_master_add(RfContext *context, RfMaster *master, const double *u, int sign, bool *added) {
  const RfReduced *p = master->p;
  *added = false;
  if (master->count == master->capacity) {
    rf_index capacity = master->capacity ? 2 * master->capacity : 64;
    RfPattern *list = rf_resize(master->list, capacity, sizeof *list);
    if (!list) return rf_fail(context, RF_ERR_MEMORY, "out of memory for patterns");
    master->list = list, master->capacity = capacity;
  }
  RfPattern fresh = {.sign = sign,
                     .active = RF_NEW(uint64_t, rf_bits_words(p->n)),
                     .m = RF_NEW(double, p->n),
                     .r = RF_NEW(double, p->r)};
  if (!fresh.active || !fresh.m || !fresh.r) {
    pattern_free(&fresh);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for patterns");
  }
  for (rf_index i = 0; i < p->n; i++) {
    bool positive = rf_short_dot(p->X + i * p->r, u, p->r) > 0;
    fresh.m[i] = positive ? 1 : p->leak;
    if (positive && rf_pattern_owns(p, &fresh, i)) rf_bits_set(fresh.active, i);
  }
  if (known(master, &fresh)) {
    pattern_free(&fresh);
    return RF_OK;
  }
  master->list[master->count++] = fresh;
  *added = true;
  return RF_OK;
}
