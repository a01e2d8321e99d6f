/* Samples on one line share their hyperplane, so a neuron cannot take different sides of them. With x_i = r_i
 * v, |v| = 1, their field on the side sigma of the plane is v times sum_i c_i r_i s_i = K + c' s,   c' =
 * sum_i c_i |r_i|,   K = (1 + leak) sum_{r_i<0} c_i r_i, with s = 1 / leak by the side, s_i = s for r_i > 0
 * and 1 + leak - s for r_i < 0: one sample v of weight c'. Where samples of opposite labels cancel (symmetric
 * data), c' = 0 and the plane has no kink at all. */
#include "flow/flow_internal.h"
#include "flow/continuations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "la/la.h"
#include "flow/flow_tolerances.h"

typedef struct Planes {
  rf_index count;
  rf_index *of; /* n_on: the plane of a sample */
  double *r;    /* n_on: signed length along its normal */
  double *v;    /* count rows of d: normals */
  double *c;    /* count: weights of the merged samples */
  double *base; /* d */
  double *slack;
  rf_index *all;
} Planes;

static void planes_free(Planes *p) {
  rf_free(p->of), rf_free(p->all), rf_free(p->r), rf_free(p->v), rf_free(p->c), rf_free(p->base);
  rf_free(p->slack);
}

static RfStatus planes_new(RfContext *context, Planes *p, rf_index n_on, rf_index d) {
  *p = (Planes){.of = RF_NEW(rf_index, n_on),
                .r = RF_NEW(double, n_on),
                .v = RF_NEW(double, n_on *d),
                .c = RF_NEW(double, n_on),
                .base = RF_NEW(double, d),
                .slack = RF_NEW(double, n_on),
                .all = RF_NEW(rf_index, n_on)};
  if (p->of && p->r && p->v && p->c && p->base && p->slack && p->all) return RF_OK;
  planes_free(p);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory at a hyperplane");
}

/* Signed length of x along the unit vector v when x is parallel to it, 0 otherwise. */
static double along(const double *x, double size, const double *v, rf_index d) {
  double r = rf_la_quick_dot(x, v, d), away = 0;
  for (rf_index j = 0; j < d; j++) away = fmax(away, fabs(x[j] - r * v[j]));
  return away <= RF_TOL_LINE * size ? r : 0;
}

bool rf_flow_parallel(const double *x, const double *other, rf_index d) {
  double size = rf_la_norm(other, d), dot = rf_la_quick_dot(x, other, d), scale = rf_la_norm(x, d) * size;
  return scale > 0 && fabs(dot) >= scale * (1 - RF_TOL_LINE_COSINE) - RF_TOL_DIVISOR;
}

typedef struct Row { /* a sample and where its line cuts a fixed direction */
  double cut;
  rf_index sample;
} Row;

static int by_cut(const void *left, const void *right) {
  const Row *a = left, *b = right;
  if (a->cut != b->cut) return a->cut < b->cut ? -1 : 1;
  return a->sample < b->sample ? -1 : a->sample > b->sample;
}

/* |v.x|/|x| for a v that no data was made for: equal on one line, different on others but for accidents. */
static double cut_of(const double *x, double size, rf_index d) {
  double sum = 0, golden = 0.6180339887498949, at = 0;
  for (rf_index j = 0; j < d; j++) {
    at += golden;
    at -= floor(at);
    sum += (at + 0.5) * (x[j] / size);
  }
  return fabs(sum) / sqrt((double)d);
}

RfStatus rf_flow_lines(RfContext *context, rf_index *line, double *along, const double *X, rf_index n,
                       rf_index d) {
  Row *rows = RF_NEW(Row, n);
  rf_index count = 0;
  if (!rows) return rf_fail(context, RF_ERR_MEMORY, "out of memory for lines of samples");
  for (rf_index i = 0; i < n; i++) {
    line[i] = i, along[i] = rf_la_norm(X + i * d, d);
    if (along[i] > 0) rows[count++] = (Row){cut_of(X + i * d, along[i], d), i};
  }
  qsort(rows, (size_t)count, sizeof *rows, by_cut);
  for (rf_index k = 1; k < count; k++)
    for (rf_index j = k - 1; j >= 0 && rows[k].cut - rows[j].cut <= RF_TOL_LINE * (double)d; j--) {
      rf_index i = rows[k].sample, other = line[rows[j].sample];
      if (!rf_flow_parallel(X + i * d, X + other * d, d)) continue;
      line[i] = other;
      break;
    }
  for (rf_index i = 0; i < n; i++)
    if (along[i] > 0 && rf_la_quick_dot(X + i * d, X + line[i] * d, d) < 0) along[i] = -along[i];
  rf_free(rows);
  return RF_OK;
}

static void find_planes(Planes *p, const RfAlignField *field, const rf_index *on, rf_index n_on) {
  rf_index d = field->d;
  for (rf_index z = 0; z < n_on; z++) {
    const double *x = field->X + on[z] * d;
    double size = rf_la_norm(x, d);
    rf_index k = 0;
    while (k < p->count && (p->r[z] = along(x, size, p->v + k * d, d)) == 0) k++;
    p->of[z] = k;
    if (k < p->count) continue;
    p->r[z] = size, p->all[k] = k, p->count++;
    for (rf_index j = 0; j < d; j++) p->v[k * d + j] = x[j] / size;
  }
}

/* The slope of a valley is known to its last digit near leak 0, and near 1 it is not. Where one of its
 * samples is far heavier than all others (a wall), its own is near leak: the normal has its direction. */
static void face_heaviest(Planes *p, const RfAlignField *field, const rf_index *on, rf_index n_on,
                          int sign_a) {
  for (rf_index k = 0; k < p->count; k++) {
    double heaviest = 0, towards = 1, tilt = 0;
    for (rf_index z = 0; z < n_on; z++) {
      double force = field->c[on[z]] * fabs(p->r[z]);
      if (p->of[z] != k) continue;
      tilt += sign_a * force;
      if (fabs(force) > heaviest) heaviest = fabs(force), towards = p->r[z];
    }
    if (towards > 0 || !(tilt < 0)) continue;
    rf_la_scale(p->v + k * field->d, -1, field->d);
    for (rf_index z = 0; z < n_on; z++)
      if (p->of[z] == k) p->r[z] = -p->r[z];
  }
}

void rf_merged_add(RfMerged *merged, double c, double r, double leak) {
  merged->weight += c * fabs(r), merged->size += fabs(c * r);
  if (r < 0) merged->constant += (1 + leak) * c * r;
}

double rf_merged_weight(const RfMerged *merged) {
  return fabs(merged->weight) <= RF_TOL_CANCELLED * merged->size ? 0 : merged->weight;
}

/* Weights of the merged samples, and the constant part of their fields into base. */
static void merge(Planes *p, const RfAlignField *field, const double *base, const rf_index *on,
                  rf_index n_on) {
  rf_index d = field->d;
  memcpy(p->base, base, (size_t)d * sizeof *base);
  for (rf_index k = 0; k < p->count; k++) {
    RfMerged merged = {0};
    for (rf_index z = 0; z < n_on; z++)
      if (p->of[z] == k) rf_merged_add(&merged, field->c[on[z]], p->r[z], field->leak);
    p->c[k] = rf_merged_weight(&merged);
    rf_la_axpy(p->base, merged.constant, p->v + k * d, d);
  }
}

/* Every row of sides and slopes from hyperplanes to samples. */
static RfStatus expand(RfContext *context, RfContinuations *found, const Planes *p, rf_index n_on,
                       double leak) {
  int8_t *side = RF_NEW(int8_t, found->count * n_on + 1);
  double *slope = RF_NEW(double, found->count *n_on + 1);
  if (!side || !slope) {
    rf_free(side), rf_free(slope);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory at a branching point");
  }
  for (rf_index o = 0; o < found->count; o++)
    for (rf_index z = 0; z < n_on; z++) {
      rf_index from = o * p->count + p->of[z], to = o * n_on + z;
      bool same = p->r[z] > 0;
      side[to] = same ? found->side[from] : (int8_t)-found->side[from];
      slope[to] = same ? found->slope[from] : 1 + leak - found->slope[from];
    }
  rf_free(found->side), rf_free(found->slope);
  found->side = side, found->slope = slope;
  found->n_on = n_on, found->room = 0;
  return RF_OK;
}

RfStatus rf_continuations(RfContext *context, RfContinuations *found, const RfAlignField *field,
                          const double *base, const double *slack, const rf_index *on, rf_index n_on,
                          int sign_a) {
  Planes p;
  if (n_on < 2) return rf_continuations_distinct(context, found, field, base, slack, on, n_on, sign_a);
  RfStatus status = planes_new(context, &p, n_on, field->d);
  if (status) return status;
  find_planes(&p, field, on, n_on);
  if (p.count == n_on) {
    planes_free(&p);
    return rf_continuations_distinct(context, found, field, base, slack, on, n_on, sign_a);
  }
  face_heaviest(&p, field, on, n_on, sign_a);
  merge(&p, field, base, on, n_on);
  for (rf_index z = 0; z < n_on && slack; z++) p.slack[p.of[z]] = slack[on[z]] / fabs(p.r[z]);
  RfAlignField merged = {.X = p.v, .c = p.c, .n = p.count, .d = field->d, .leak = field->leak};
  status = rf_continuations_distinct(context, found, &merged, p.base, slack ? p.slack : NULL, p.all, p.count,
                                     sign_a);
  if (!status) status = expand(context, found, &p, n_on, field->leak);
  planes_free(&p);
  return status;
}
