/* A neuron on hyperplanes: which way it goes on, slides, and the record of branching points. */
#include "flow/align/align_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"
#include "flow/flow_tolerances.h"

/* Appends row i to the frame: x_i = sum_j corner[rank][j] frame[j]. False when it depends on the others. */
static bool extend_frame(RfAlignPath *path, rf_index i) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d;
  if (path->rank >= d) return false;
  double *e = path->frame + path->rank * d, *corner = path->corner + path->rank * d;
  memcpy(e, field->X + i * d, (size_t)d * sizeof(double));
  for (rf_index r = 0; r < path->rank; r++) corner[r] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (rf_index r = 0; r < path->rank; r++) {
      double part = rf_la_quick_dot(e, path->frame + r * d, d);
      rf_la_axpy(e, -part, path->frame + r * d, d);
      corner[r] += part;
    }
  double left = rf_la_norm(e, d);
  if (left <= RF_TOL_INDEPENDENT * path->data->norms[i]) return false;
  rf_la_scale(e, 1 / left, d);
  corner[path->rank++] = left;
  return true;
}

/* Takes from v its part in the span of the first frame rows from..rank. */
static void take_span(const RfAlignPath *path, double *v, rf_index from) {
  rf_index d = path->data->field->d;
  for (rf_index r = from; r < path->rank; r++) {
    const double *e = path->frame + r * d;
    rf_la_axpy(v, -rf_la_quick_dot(v, e, d), e, d);
  }
}

/* On a one-dimensional face w is put exactly on the ray. */
static void settle_on_ray(RfAlignPath *path) {
  rf_index d = path->data->field->d;
  if (path->rank != d - 1 || path->rank == 0 || !(path->G > 0)) return;
  double along = rf_la_quick_dot(path->w, path->g, d) / path->G;
  for (rf_index j = 0; j < d; j++) path->w[j] = along * path->g[j] / path->G;
}

/* Orthonormal frame of the rows slid on; w and g are put exactly on the face. */
static void settle_on_face(RfAlignPath *path) {
  path->rank = 0;
  for (rf_index k = 0; k < path->n_on; k++) extend_frame(path, path->on[k]);
  take_span(path, path->w, 0);
  take_span(path, path->g, 0);
  rf_align_set_field(path, path->g);
  settle_on_ray(path);
}

/* Keeps the first branching point with all its options. */
static RfStatus note_branch(RfContext *context, RfAlignPath *path, RfAlignNeuron *out) {
  const RfAlignField *field = path->data->field;
  const RfContinuations *options = &path->options;
  rf_index n = field->n, d = field->d;
  out->branched = true;
  if (!isnan(out->t_branch)) return RF_OK;
  out->t_branch = path->t;
  out->options = RF_NEW_TABLE(int8_t, options->count, n);
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
  RfContinuations *options = &path->options;
  RfStatus status = rf_continuations(context, options, field, path->base, path->data->slack, path->on,
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

/* One hyperplane, no slides. Ridge: it is crossed. Valley: crossed unless the field turns
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

/* Projects g = base, given in trial, on the face and finds the slopes of the slides, sum_k c_k s_k x_k =
 * -(part of base in the span). True when all lie inside (leak, 1): then g is the minimum-norm element. `last`
 * is the sample of the last frame row, the others are on[0], on[1], ... */
static bool slides_hold(const RfAlignPath *path, rf_index last) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d, rank = path->rank;
  double *g = path->trial, *share = path->trial + d;
  const double width = RF_TOL_SLOPE_END * (1 - field->leak);
  for (rf_index r = 0; r < rank; r++) share[r] = rf_la_quick_dot(path->frame + r * d, g, d);
  for (rf_index r = 0; r < rank; r++) rf_la_axpy(g, -share[r], path->frame + r * d, d);
  for (rf_index r = rank - 1; r >= 0; r--) {
    double sum = -share[r];
    for (rf_index k = r + 1; k < rank; k++) sum -= share[k] * path->corner[k * d + r];
    share[r] = sum / path->corner[r * d + r];
    double slope = share[r] / field->c[r == rank - 1 ? last : path->on[r]];
    if (!(slope > field->leak + width && slope < 1 - width)) return false;
  }
  return true;
}

/* One hyperplane is crossed while the same slides go on. The side it comes from cannot be consistent: the old
 * field points away from it. */
static bool cross_sliding(RfAlignPath *path, rf_index i, double from) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d;
  const double *x = field->X + i * d;
  double jump = -from * field->c[i] * (1 - field->leak);
  if (path->rank != path->n_on) return false; /* dependent rows: slopes are not unique */
  for (rf_index j = 0; j < d; j++) path->trial[j] = path->base[j] + jump * x[j];
  if (!slides_hold(path, path->on[path->n_on - 1])) return false;
  if (!(-from * path->sign * rf_la_quick_dot(path->trial, x, d) > path->data->slack[i])) return false;
  rf_align_set_side(path, i, -from);
  rf_la_axpy(path->base, jump, x, d);
  rf_align_set_field(path, path->trial);
  settle_on_ray(path);
  rf_align_window_refresh(path);
  return true;
}

/* A valley is reached and joins the slides. */
static bool begin_slide(RfAlignPath *path, rf_index i) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d, old = path->rank;
  const double *x = field->X + i * d;
  double leave = -field->c[i] * rf_align_slope(path, i);
  if (!(path->sign * field->c[i] * (1 - field->leak) < 0) || path->rank != path->n_on) return false;
  if (!extend_frame(path, i)) return false;
  for (rf_index j = 0; j < d; j++) path->trial[j] = path->base[j] + leave * x[j];
  if (!slides_hold(path, i)) {
    path->rank = old;
    return false;
  }
  rf_la_axpy(path->base, leave, x, d);
  rf_align_set_side(path, i, 0);
  path->on[path->n_on++] = i;
  take_span(path, path->w, old);
  rf_align_set_field(path, path->trial);
  settle_on_ray(path);
  rf_align_window_refresh(path);
  return true;
}

/* The cases of one hyperplane that need no least squares. */
static bool pass_single(RfAlignPath *path, RfAlignNeuron *out, rf_index i) {
  double from = path->side[i];
  if (path->n_on == 0) path->rank = 0;
  if (path->n_on == 0 ? cross_single(path, i, from) : cross_sliding(path, i, from)) return true;
  bool last_active = path->data->field->leak == 0 && path->n_active == (from > 0); /* it dies there */
  if (last_active || !begin_slide(path, i)) return false;
  out->n_slides++;
  return true;
}

RfStatus rf_align_pass_hits(RfContext *context, RfAlignPath *path, RfAlignNeuron *out) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d, add = path->n_hits;
  if (add == 1 && pass_single(path, out, path->hits[0])) return RF_OK;
  for (rf_index k = 0; k < add; k++) {
    rf_index i = path->hits[k];
    rf_la_axpy(path->base, -field->c[i] * rf_align_slope(path, i), field->X + i * d, d);
    rf_align_set_side(path, i, 0);
    path->on[path->n_on++] = i;
  }
  if (rf_align_blind(path)) return RF_OK; /* dead: rests on them */
  if (add >= 2) rf_align_fresh_base(path);
  RfStatus status = rf_align_turn(context, path, out);
  for (rf_index k = 0; k < path->n_on; k++) /* hits that stay begin a slide */
    for (rf_index q = 0; q < add; q++) out->n_slides += path->on[k] == path->hits[q];
  return status;
}
