/* A neuron on hyperplanes: which way it goes on, slides, and the record of branching points. */
#include "align_internal.h"

#include <math.h>
#include <string.h>

#include "reluflow/la.h"

/* Orthonormal frame of the rows slid on, x_on[k] = sum_j corner[k][j] frame[j] where they are independent; w
 * is put exactly on the face, and exactly on the ray when the face is one. */
static void settle_on_face(RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d;
  path->rank = 0;
  for (rf_index k = 0; k < path->n_on && path->rank < d; k++) {
    rf_index i = path->on[k];
    double *e = path->frame + path->rank * d;
    double *corner = path->corner + path->rank * d;
    memcpy(e, field->X + i * d, (size_t)d * sizeof(double));
    for (rf_index r = 0; r < path->rank; r++) corner[r] = 0;
    for (int pass = 0; pass < 2; pass++)
      for (rf_index r = 0; r < path->rank; r++) {
        double part = rf_la_dot(e, path->frame + r * d, d);
        rf_la_axpy(e, -part, path->frame + r * d, d);
        corner[r] += part;
      }
    double left = rf_la_norm(e, d);
    if (left <= 1e-10 * path->data->norms[i]) continue;
    rf_la_scale(e, 1 / left, d);
    corner[path->rank++] = left;
  }
  for (rf_index r = 0; r < path->rank; r++) {
    const double *e = path->frame + r * d;
    rf_la_axpy(path->w, -rf_la_dot(path->w, e, d), e, d);
    rf_la_axpy(path->g, -rf_la_dot(path->g, e, d), e, d);
  }
  rf_align_set_field(path, path->g);
  if (path->rank == d - 1 && path->rank > 0 && path->G > 0) {
    double along = rf_la_dot(path->w, path->g, d) / path->G;
    for (rf_index j = 0; j < d; j++) path->w[j] = along * path->g[j] / path->G;
  }
}

/* Keeps the first branching point with all its options. */
static RfStatus note_branch(RfContext *context, RfAlignPath *path, RfAlignNeuron *out) {
  const RfAlignField *field = path->data->field;
  const RfAlignOptions *options = &path->options;
  rf_index n = field->n, d = field->d;
  out->branched = true;
  if (!isnan(out->t_branch)) return RF_OK;
  out->t_branch = path->t;
  out->options = RF_NEW(int8_t, options->count * n);
  out->branch_direction = RF_NEW(double, d + 1);
  if (!out->options || !out->branch_direction)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a branching point");
  out->n_options = options->count;
  out->options_complete = options->complete;
  for (rf_index o = 0; o < options->count; o++) {
    int8_t *row = out->options + o * n;
    for (rf_index i = 0; i < n; i++) row[i] = (int8_t)path->side[i];
    for (rf_index z = 0; z < options->n_on; z++) row[path->on[z]] = options->side[o * options->n_on + z];
  }
  double norm = hypot(rf_la_norm(path->w, d), path->a);
  for (rf_index j = 0; j < d; j++) out->branch_direction[j] = path->w[j] / norm;
  out->branch_direction[d] = path->a / norm;
  out->branch_log_norm = path->log_norm + log(norm);
  return RF_OK;
}

RfStatus rf_align_turn(RfContext *context, RfAlignPath *path, RfAlignNeuron *out) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d, stay = 0;
  RfAlignOptions *options = &path->options;
  RfStatus status = rf_align_options(context, options, field, path->base, path->data->slack, path->on,
                                     path->n_on, path->sign);
  if (!status && options->count > 1) status = note_branch(context, path, out);
  if (status) return status;
  rf_align_set_field(path, options->g);
  for (rf_index z = 0; z < path->n_on; z++) {
    rf_index i = path->on[z];
    int8_t side = options->side[z];
    if (side == 0) {
      path->on[stay++] = i;
      continue;
    }
    rf_align_set_side(path, i, side);
    rf_la_axpy(path->base, field->c[i] * rf_align_slope(path, i), field->X + i * d, d);
  }
  path->n_on = stay;
  settle_on_face(path);
  rf_align_window_refresh(path);
  return RF_OK;
}

/* The common case: one hyperplane, no slides. Ridge: it is crossed. Valley: crossed unless the field turns
 * round. */
static bool cross_single(RfAlignPath *path, rf_index i, double from) {
  const RfAlignField *field = path->data->field;
  double norm = path->data->norms[i], jump = -from * field->c[i] * (1 - field->leak);
  double after = path->window.b[path->window.place[i]] + jump * norm * norm; /* g.x_i on the other side */
  bool leaves = -from * path->sign * after > path->data->slack[i];
  if (!leaves) return false;
  rf_align_set_side(path, i, -from);
  rf_la_axpy(path->base, jump, field->X + i * field->d, field->d);
  rf_align_set_field(path, path->base);
  rf_align_window_kick(path, i, jump);
  return true;
}

/* The next common case: one hyperplane is crossed while the same slides go on. They do when the field on the
 * other side, projected on the face, belongs to slopes inside (leak, 1): then it is the minimum-norm element.
 * The side it comes from cannot be consistent, the old field points away from it. */
static bool cross_sliding(RfAlignPath *path, rf_index i, double from) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d, rank = path->rank;
  const double *x = field->X + i * d;
  double jump = -from * field->c[i] * (1 - field->leak), *g = path->trial, *share = path->trial + d;
  const double width = 1e-12 * (1 - field->leak);
  if (rank != path->n_on) return false; /* dependent rows: slopes are not unique */
  for (rf_index j = 0; j < d; j++) g[j] = path->base[j] + jump * x[j];
  for (rf_index r = 0; r < rank; r++) share[r] = rf_la_dot(path->frame + r * d, g, d);
  for (rf_index r = 0; r < rank; r++) rf_la_axpy(g, -share[r], path->frame + r * d, d);
  if (!(-from * path->sign * rf_la_dot(g, x, d) > path->data->slack[i])) return false;
  for (rf_index r = rank - 1; r >= 0; r--) { /* sum_k c_k s_k x_k = -(projection of base on the span) */
    double sum = -share[r];
    for (rf_index k = r + 1; k < rank; k++) sum -= share[k] * path->corner[k * d + r];
    share[r] = sum / path->corner[r * d + r];
    double slope = share[r] / field->c[path->on[r]];
    if (!(slope > field->leak + width && slope < 1 - width)) return false;
  }
  rf_align_set_side(path, i, -from);
  rf_la_axpy(path->base, jump, x, d);
  rf_align_set_field(path, g);
  if (rank == d - 1) settle_on_face(path);
  rf_align_window_refresh(path);
  return true;
}

RfStatus rf_align_pass_hits(RfContext *context, RfAlignPath *path, RfAlignNeuron *out) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d;
  if (path->n_hits == 1 && path->n_on == 0 && cross_single(path, path->hits[0], path->side[path->hits[0]]))
    return RF_OK;
  if (path->n_hits == 1 && path->n_on > 0 && cross_sliding(path, path->hits[0], path->side[path->hits[0]]))
    return RF_OK;
  rf_index old = path->n_on, add = path->n_hits;
  for (rf_index k = 0; k < add; k++) {
    rf_index i = path->hits[k];
    rf_la_axpy(path->base, -field->c[i] * rf_align_slope(path, i), field->X + i * d, d);
    rf_align_set_side(path, i, 0);
  }
  /* merge two ascending lists from the back */
  for (rf_index to = old + add - 1, p = old - 1, q = add - 1; q >= 0; to--)
    path->on[to] = p >= 0 && path->on[p] > path->hits[q] ? path->on[p--] : path->hits[q--];
  path->n_on += add;
  if (field->leak == 0 && path->n_active == 0) return RF_OK; /* dead: rests on them */
  if (add >= 2) rf_align_fresh_base(path);
  RfStatus status = rf_align_turn(context, path, out);
  for (rf_index k = 0; k < path->n_on; k++) /* hits that stay begin a slide */
    for (rf_index q = 0; q < add; q++) out->n_slides += path->on[k] == path->hits[q];
  return status;
}
