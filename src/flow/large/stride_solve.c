/* The equations of a long step. Units are balanced, so their direction z and ln |a||w| obey
 *
 *   z' = u - (u.z) z,   (ln |a||w|)' = 2 (u.z - mu),   u = s sum_i p_i y_i s_i x_i on the hyperplanes held,
 *
 * and the step is implicit in both:  z = P(z0 + Delta u)/|..|,  ln growth = 2 Delta u.z - 2 h mu (backward
 * Euler; with the last step, BDF2: z0 and the growth are carried on from it and Delta is shorter). Every unit
 * is thus a function of u, u of the weights p, p of the margins q, and the margins are linear in growth z:
 * one equation q = Q(u(p(q))) in the margins of the samples that carry weight. Its Newton matrix is
 *
 *   1 + M V,   V = -dp/dq,   M = sum_k A_k Z_k' A_k^T,
 *   A Z' A^T = a e^growth [turn A A^T + (2 Delta - turn) A z (A z)^T + 2 Delta turn A z (A u_perp)^T],
 *
 * the first sum being (sum mask mask^T) o X X^T less what the frames of the held hyperplanes take away.
 * Samples of little weight are left out of the matrix: their part is a contraction. */
#include "flow/large/stride.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/flow_tolerances.h"
#include "flow/large/gram.h"

enum { MOST_NEWTON = 40, MOST_CORE = 4000, FEW_ROWS = 500, LARGE_CORE = 40 };

void rf_stride_project(const RfStride *stride, rf_index u, double *v) {
  const RfStrideUnit *unit = &stride->unit[u];
  rf_index d = stride->d;
  for (rf_index r = 0; r < unit->n_on; r++)
    rf_la_axpy(v, -rf_la_quick_dot(unit->frame + r * d, v, d), unit->frame + r * d, d);
}

/* Row k of the frame from sample on[k]; false: it depends on those before. */
static bool frame_row(RfStride *stride, const RfSystem *system, rf_index u, rf_index k) {
  RfStrideUnit *unit = &stride->unit[u];
  rf_index d = stride->d;
  double *e = unit->frame + k * d, *corner = unit->corner + k * unit->room;
  double size = system->x_norm[unit->on[k]];
  memcpy(e, system->problem->X + unit->on[k] * d, (size_t)d * sizeof(double));
  for (rf_index r = 0; r < k; r++) corner[r] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (rf_index r = 0; r < k; r++) {
      double along = rf_la_quick_dot(unit->frame + r * d, e, d);
      rf_la_axpy(e, -along, unit->frame + r * d, d);
      corner[r] += along;
    }
  corner[k] = rf_la_norm(e, d);
  if (!(corner[k] > RF_TOL_INDEPENDENT * size)) return false;
  rf_la_scale(e, 1 / corner[k], d);
  return true;
}

void rf_stride_frame(RfStride *stride, const RfSystem *system, rf_index u) {
  RfStrideUnit *unit = &stride->unit[u];
  rf_index kept = 0, count = unit->n_on;
  for (rf_index k = 0; k < count; k++) {
    unit->on[kept] = unit->on[k];
    if (kept < stride->d && frame_row(stride, system, u, kept)) kept++;
  }
  unit->n_on = kept;
}

bool rf_stride_hold(RfStride *stride, const RfSystem *system, rf_index u, rf_index i, RfStatus *status) {
  RfStrideUnit *unit = &stride->unit[u];
  rf_index d = stride->d;
  if (unit->n_on >= d) return false;
  if (unit->n_on == unit->room) {
    rf_index room = unit->room ? 2 * unit->room : 8, old = unit->room;
    rf_index *on = rf_resize(unit->on, room, sizeof *on);
    if (on) unit->on = on;
    double *frame = on ? rf_resize(unit->frame, room * d, sizeof *frame) : NULL;
    if (frame) unit->frame = frame;
    double *corner = frame ? RF_NEW(double, room *room) : NULL;
    if (!corner) {
      *status = rf_fail(stride->context, RF_ERR_MEMORY, "out of memory for a slide");
      return false;
    }
    for (rf_index r = 0; r < unit->n_on; r++)
      memcpy(corner + r * room, unit->corner + r * old, (size_t)old * sizeof(double));
    rf_free(unit->corner);
    unit->corner = corner, unit->room = room;
  }
  unit->on[unit->n_on] = i;
  if (!frame_row(stride, system, u, unit->n_on)) return false;
  unit->n_on++;
  return true;
}

/* ---- the working set ------------------------------------------------------------------------ */

static RfStatus make_rows(RfStride *stride, rf_index rows) {
  rf_index units = stride->units;
  if (rows <= stride->room) return RF_OK;
  rf_index room = rows + rows / 4 + 16;
  room = room < stride->n ? room : stride->n;
  rf_free(stride->X);
  rf_free(stride->pivot);
  stride->room = 0;
  stride->X = RF_NEW(double, room *(stride->d + 3 * units + 6));
  stride->pivot = RF_NEW(int32_t, room);
  if (!stride->X || !stride->pivot)
    return rf_fail(stride->context, RF_ERR_MEMORY, "out of memory for a long step");
  stride->room = room;
  stride->mask = stride->X + room * stride->d;
  stride->image = stride->mask + units * room;
  stride->speed = stride->image + units * room;
  stride->q = stride->speed + units * room;
  stride->p = stride->q + room, stride->bend = stride->p + room;
  stride->off = stride->bend + room, stride->step = stride->off + room, stride->weigh = stride->step + room;
  return RF_OK;
}

RfStatus rf_stride_rows(RfStride *stride, const RfSystem *system, const uint8_t *wanted) {
  rf_index n = stride->n, d = stride->d, count = 0;
  for (rf_index i = 0; i < n; i++) count += wanted[i] != 0;
  RfStatus status = make_rows(stride, count);
  if (status) return status;
  stride->rows = 0, stride->level = INFINITY;
  for (rf_index i = 0; i < n; i++) {
    stride->place[i] = -1;
    if (!wanted[i]) continue;
    memcpy(stride->X + stride->rows * d, system->problem->X + i * d, (size_t)d * sizeof(double));
    stride->q[stride->rows] = stride->q_full[i];
    if (wanted[i] != RF_STRIDE_NEW) stride->level = fmin(stride->level, stride->q_full[i]);
    stride->place[i] = stride->rows;
    stride->row[stride->rows++] = i;
  }
  if (!isfinite(stride->level)) stride->level = 0;
  for (rf_index r = 0; r < stride->rows; r++) stride->q[r] -= stride->level;
  for (rf_index r = 0; r < stride->rows; r++)
    if (wanted[stride->row[r]] == RF_STRIDE_NEW) stride->q[r] = fmax(stride->q[r], RF_TOL_STRIDE_ENTRY);
  stride->gram_known = false;
  stride->factored = 0;
  return RF_OK;
}

static void set_masks(RfStride *stride, const RfSystem *system) {
  double leak = system->problem->leak;
  for (rf_index u = 0; u < stride->units; u++)
    for (rf_index r = 0; r < stride->rows; r++) {
      rf_index i = stride->row[r];
      int8_t side = stride->side[u * stride->n + i];
      double slope = side > 0 ? 1 : side < 0 ? leak : 0, stay = (double)stride->stay[u * stride->n + i];
      if (stay < 1) slope = stay * slope + (1 - stay) * (side > 0 ? leak : 1);
      stride->mask[u * stride->rows + r] = slope * system->problem->y[i] * stride->unit[u].sign;
    }
}

/* ---- one evaluation ------------------------------------------------------------------------- */

/* ln of the slope of the loss at level + q, plus level. */
static double log_weight(RfLoss loss, double level, double q) {
  if (level + q > RF_TOL_TAIL) return rf_loss_log_slope(loss, RF_TOL_TAIL) + RF_TOL_TAIL - q;
  return rf_loss_log_slope(loss, level + q) + level;
}

static void set_weights(RfStride *stride, const RfSystem *system) {
  rf_index rows = stride->rows;
  RfLoss loss = system->problem->loss;
  double top = -INFINITY, sum = 0;
  for (rf_index r = 0; r < rows; r++) {
    stride->p[r] = log_weight(loss, stride->level, stride->q[r]);
    top = fmax(top, stride->p[r]);
  }
  for (rf_index r = 0; r < rows; r++) sum += stride->p[r] = exp(stride->p[r] - top);
  for (rf_index r = 0; r < rows; r++) {
    stride->p[r] /= sum;
    stride->bend[r] = -stride->p[r] * rf_loss_curvature(loss, stride->level + stride->q[r]);
  }
}

/* u of every unit under the weights, raw and on its hyperplanes. */
static void set_fields(RfStride *stride) {
  rf_index rows = stride->rows, d = stride->d, units = stride->units;
  double *weighed = stride->image;
  for (rf_index u = 0; u < units; u++)
    for (rf_index r = 0; r < rows; r++) weighed[u * rows + r] = stride->mask[u * rows + r] * stride->p[r];
  rf_la_product_nn(stride->raw, weighed, stride->X, units, d, rows);
  memcpy(stride->pushed, stride->raw, (size_t)(units * d) * sizeof(double));
  for (rf_index u = 0; u < units; u++) rf_stride_project(stride, u, stride->pushed + u * d);
}

/* Directions and growth that u gives; false: a direction vanishes. */
static bool set_units(RfStride *stride) {
  const double most = 40; /* ln of a growth that no step has, while Newton's method is on its way */
  rf_index d = stride->d;
  for (rf_index k = 0; k < stride->units; k++) {
    RfStrideUnit *unit = &stride->unit[k];
    double *z = stride->after + k * d;
    const double *u = stride->pushed + k * d;
    memcpy(z, stride->base + k * d, (size_t)d * sizeof(double));
    rf_stride_project(stride, k, z);
    rf_la_axpy(z, unit->delta, u, d);
    unit->length = rf_la_norm(z, d);
    if (!(unit->length > 0) || !isfinite(unit->length)) return false;
    rf_la_scale(z, 1 / unit->length, d);
    unit->turn = unit->delta / unit->length;
    unit->along = rf_la_quick_dot(u, z, d);
    unit->growth = fmax(-most, fmin(most, unit->gained + 2 * unit->delta * unit->along));
  }
  return true;
}

static double size_of(const RfStrideUnit *unit) { return unit->amplitude * exp(unit->growth); }

/* off = q - Q, the largest of them over samples of weight. */
static double residual(RfStride *stride, double *scale) {
  rf_index rows = stride->rows, units = stride->units;
  double worst = 0, largest = 0;
  rf_la_product_nt(stride->image, stride->after, stride->X, units, rows, stride->d);
  for (rf_index r = 0; r < rows; r++) stride->off[r] = stride->level;
  for (rf_index u = 0; u < units; u++) {
    double size = size_of(&stride->unit[u]);
    for (rf_index r = 0; r < rows; r++) {
      stride->image[u * rows + r] *= stride->mask[u * rows + r];
      stride->off[r] -= size * stride->image[u * rows + r];
    }
  }
  for (rf_index r = 0; r < rows; r++) {
    stride->off[r] += stride->q[r];
    largest = fmax(largest, fabs(stride->level + stride->q[r]));
    if (stride->p[r] > RF_TOL_STRIDE_MINOR) worst = fmax(worst, fabs(stride->off[r]));
  }
  *scale = largest;
  return worst / (1 + RF_TOL_STRIDE_ROUNDING * largest);
}

/* ---- Newton's step -------------------------------------------------------------------------- */

static int heavier(const void *left, const void *right) {
  const RfStrideRow *a = left, *b = right;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* The samples of the matrix: all but those whose part is a contraction by a fifth. */
static rf_index choose_core(RfStride *stride, const RfSystem *system) {
  rf_index rows = stride->rows, units = stride->units, count = rows;
  double rest = 0;
  for (rf_index r = 0; r < rows; r++) {
    double norm = system->x_norm[stride->row[r]], sum = 0;
    for (rf_index u = 0; u < units; u++) {
      const RfStrideUnit *unit = &stride->unit[u];
      double m = stride->mask[u * rows + r] * norm;
      sum += size_of(unit) * fmax(unit->turn, 2 * unit->delta) * m * m;
    }
    stride->order[r] = (RfStrideRow){stride->bend[r] * sum, r};
  }
  qsort(stride->order, (size_t)rows, sizeof *stride->order, heavier);
  while (count > 1 && rest + stride->order[count - 1].weight <= 0.2) rest += stride->order[--count].weight;
  return count < MOST_CORE ? count : MOST_CORE;
}

static RfStatus make_core(RfStride *stride, rf_index count) {
  rf_index wide = 2 * stride->units;
  for (rf_index u = 0; u < stride->units; u++) wide += stride->unit[u].n_on;
  if (stride->core_room < count * count) {
    rf_free(stride->core);
    stride->core = RF_NEW(double, count *count);
    stride->core_room = stride->core ? count * count : 0;
  }
  if (stride->wide_room < wide * count) {
    rf_free(stride->left);
    stride->left = RF_NEW(double, 2 * wide * count);
    stride->wide_room = stride->left ? wide * count : 0;
  }
  if (stride->picked_room < count * stride->d) {
    rf_free(stride->picked);
    stride->picked = RF_NEW(double, count * stride->d);
    stride->picked_room = stride->picked ? count * stride->d : 0;
  }
  stride->right = stride->left + stride->wide_room;
  if (!stride->core || !stride->left || !stride->picked)
    return rf_fail(stride->context, RF_ERR_MEMORY, "out of memory for a long step");
  return RF_OK;
}

/* Products of all samples in single precision do for Newton's matrix where many push; where few do, margins
 * are large, and what matters are small differences of large entries. */
static const RfGram *single_gram(const RfStride *stride, const RfSystem *system) {
  return stride->rows > FEW_ROWS ? system->problem->gram : NULL;
}

static RfStatus know_gram(RfStride *stride, const RfSystem *system) {
  rf_index rows = stride->rows;
  if (stride->gram_known || single_gram(stride, system)) return RF_OK;
  if (stride->gram_room < rows * rows) {
    rf_free(stride->gram);
    stride->gram = RF_NEW(double, rows *rows);
    stride->gram_room = stride->gram ? rows * rows : 0;
  }
  if (!stride->gram) return rf_fail(stride->context, RF_ERR_MEMORY, "out of memory for a long step");
  rf_la_gram(stride->gram, stride->X, rows, stride->d);
  stride->gram_known = true;
  return RF_OK;
}

/* core = M on the chosen rows. */
static void fill_core(RfStride *stride, const RfSystem *system, rf_index count) {
  rf_index rows = stride->rows, units = stride->units, d = stride->d, at = 0;
  double *left = stride->left, *right = stride->right;
  for (rf_index u = 0; u < units; u++) {
    double factor = size_of(&stride->unit[u]) * stride->unit[u].turn;
    for (rf_index j = 0; j < count; j++) {
      double m = stride->mask[u * rows + stride->order[j].row];
      left[u * count + j] = m, right[u * count + j] = factor * m;
    }
  }
  rf_la_product_tn(stride->core, left, right, count, count, units);
  const RfGram *all = single_gram(stride, system);
  for (rf_index i = 0; i < count; i++)
    for (rf_index j = 0; j < count; j++) {
      rf_index r = stride->order[i].row, t = stride->order[j].row;
      stride->core[i * count + j] *=
          all ? (double)all->rows[stride->row[r] * stride->n + stride->row[t]] : stride->gram[r * rows + t];
    }
  for (rf_index j = 0; j < count; j++)
    memcpy(stride->picked + j * d, stride->X + stride->order[j].row * d, (size_t)d * sizeof(double));
  for (rf_index u = 0; u < units; u++) {
    const RfStrideUnit *unit = &stride->unit[u];
    double size = size_of(unit), delta = unit->delta;
    for (rf_index j = 0; j < count; j++) {
      rf_index r = u * rows + stride->order[j].row;
      double z = stride->image[r], across = stride->mask[r] * stride->speed[r] - unit->along * z;
      left[at * count + j] = z;
      right[at * count + j] = size * ((2 * delta - unit->turn) * z + 2 * delta * unit->turn * across);
    }
    at++;
    if (unit->n_on > 0)
      rf_la_product_nt(left + at * count, unit->frame, stride->picked, unit->n_on, count, d);
    for (rf_index f = 0; f < unit->n_on; f++, at++)
      for (rf_index j = 0; j < count; j++) {
        double part = stride->mask[u * rows + stride->order[j].row] * left[at * count + j];
        left[at * count + j] = part, right[at * count + j] = -size * unit->turn * part;
      }
  }
  rf_la_add_product_tn(stride->core, left, right, count, count, at);
}

/* core = 1 + M V: column j of M V is bend_j (M_j - M p). */
static void weigh_core(RfStride *stride, rf_index count) {
  for (rf_index i = 0; i < count; i++) {
    double *row = stride->core + i * count, mean = 0;
    for (rf_index j = 0; j < count; j++) mean += row[j] * stride->p[stride->order[j].row];
    for (rf_index j = 0; j < count; j++) row[j] = stride->bend[stride->order[j].row] * (row[j] - mean);
    row[i] += 1;
  }
}

/* From the step of the chosen margins (right) to that of all of them, through weights and units. */
static void carry_step(RfStride *stride, const double *chosen, rf_index count) {
  rf_index rows = stride->rows, d = stride->d, units = stride->units;
  double mean = 0, *dp = stride->weigh;
  for (rf_index j = 0; j < count; j++) mean += stride->bend[stride->order[j].row] * chosen[j];
  memset(dp, 0, (size_t)rows * sizeof(double));
  for (rf_index j = 0; j < count; j++) {
    rf_index r = stride->order[j].row;
    dp[r] = -(stride->bend[r] * chosen[j] - stride->p[r] * mean);
  }
  double *weighed = stride->speed; /* no longer needed */
  for (rf_index u = 0; u < units; u++)
    for (rf_index r = 0; r < rows; r++) weighed[u * rows + r] = stride->mask[u * rows + r] * dp[r];
  rf_la_product_nn(stride->change, weighed, stride->X, units, d, rows);
  for (rf_index u = 0; u < units; u++) {
    const RfStrideUnit *unit = &stride->unit[u];
    double *du = stride->change + u * d;
    const double *z = stride->after + u * d, *push = stride->pushed + u * d;
    rf_stride_project(stride, u, du);
    double along = rf_la_quick_dot(du, z, d), across = rf_la_quick_dot(push, du, d) - unit->along * along;
    double grow = 2 * unit->delta * (along + unit->turn * across);
    for (rf_index j = 0; j < d; j++) du[j] = unit->turn * (du[j] - along * z[j]) + grow * z[j];
  }
  rf_la_product_nt(stride->speed, stride->change, stride->X, units, rows, d);
  for (rf_index r = 0; r < rows; r++) stride->step[r] = -stride->off[r];
  for (rf_index u = 0; u < units; u++) {
    double size = size_of(&stride->unit[u]);
    for (rf_index r = 0; r < rows; r++)
      stride->step[r] += size * stride->mask[u * rows + r] * stride->speed[u * rows + r];
  }
}

/* The matrix at the point at hand, and its factors; ok = false: it is singular. */
static RfStatus factor(RfStride *stride, const RfSystem *system, bool *ok) {
  rf_index count = choose_core(stride, system);
  stride->factored = 0;
  RfStatus status = make_core(stride, count);
  if (!status) status = know_gram(stride, system);
  if (status) return status;
  rf_la_product_nt(stride->speed, stride->pushed, stride->X, stride->units, stride->rows, stride->d);
  fill_core(stride, system, count);
  weigh_core(stride, count);
  *ok = rf_la_lu(stride->core, stride->pivot, count);
  stride->factored = *ok ? count : 0, stride->factored_h = stride->h;
  return RF_OK;
}

/* Factors of another point will do while they lead on: those of a large matrix are most of a step. */
static bool factors_serve(const RfStride *stride, double off, double before) {
  double change = stride->factored > 0 ? stride->h / stride->factored_h : 0;
  return stride->factored > LARGE_CORE && change > 0.8 && change < 1.25 && !(off > 0.25 * before);
}

/* Margins after part of the step. One of no weight that falls below all others would take all the weight:
 * it stops where it comes to have some, and the next steps see what it does. */
static void move_margins(RfStride *stride, double part, double mean) {
  double least = INFINITY;
  for (rf_index r = 0; r < stride->rows; r++) {
    stride->q[r] += part * (stride->step[r] - mean);
    if (stride->p[r] > RF_TOL_STRIDE_MINOR) least = fmin(least, stride->q[r]);
  }
  for (rf_index r = 0; r < stride->rows; r++)
    if (!(stride->p[r] > RF_TOL_STRIDE_MINOR)) stride->q[r] = fmax(stride->q[r], least + RF_TOL_STRIDE_ENTRY);
  stride->level += part * mean;
}

/* moved: the largest change of a margin of weight relative to the others. */
static RfStatus newton_step(RfStride *stride, const RfSystem *system, bool afresh, double *moved, bool *ok) {
  rf_index rows = stride->rows;
  *ok = true;
  RfStatus status = afresh ? factor(stride, system, ok) : RF_OK;
  if (status || !*ok) return status;
  rf_index count = stride->factored;
  double *right = stride->left;
  for (rf_index j = 0; j < count; j++) right[j] = -stride->off[stride->order[j].row];
  rf_la_lu_solve(stride->core, stride->pivot, right, count);
  carry_step(stride, right, count);
  for (rf_index j = 0; j < count; j++) stride->step[stride->order[j].row] = right[j];
  double mean = 0, spread = 0;
  *moved = INFINITY;
  for (rf_index r = 0; r < rows; r++) mean += stride->p[r] * stride->step[r];
  for (rf_index r = 0; r < rows; r++)
    if (stride->p[r] > RF_TOL_STRIDE_MINOR) spread = fmax(spread, fabs(stride->step[r] - mean));
  if (!isfinite(spread) || !isfinite(mean)) *ok = false;
  *moved = spread;
  move_margins(stride, spread > 5 ? 5 / spread : 1, mean); /* weights change by e^5 at most */
  return RF_OK;
}

RfStatus rf_stride_solve(RfStride *stride, const RfSystem *system, bool roughly, bool *solved) {
  RfStatus status = RF_OK;
  bool ok = true;
  double moved = INFINITY, last = INFINITY;
  *solved = false;
  set_masks(stride, system);
  for (int round = 0; round < MOST_NEWTON && ok && !status && !*solved; round++) {
    if (rf_context_stop(stride->context)) return RF_INTERRUPTED;
    set_weights(stride, system);
    set_fields(stride);
    ok = set_units(stride);
    if (!ok) break;
    /* Of long steps what is left is rounding: it hardly moves the margins that the equations ask for, but the
     * margins of the state are off by as much, and its weights with them. So it is made as small as it gets.
     */
    double scale, off = residual(stride, &scale);
    *solved = off <= RF_TOL_STRIDE_MARGIN ||
              (moved <= RF_TOL_STRIDE_MARGIN && off <= RF_TOL_STRIDE_FAR * scale && off > 0.5 * last);
    *solved = *solved || (roughly && (moved <= RF_TOL_STRIDE_ROUGH || off <= RF_TOL_STRIDE_ROUGH));
    bool afresh = !factors_serve(stride, off, last);
    last = off;
    if (!*solved) status = newton_step(stride, system, afresh, &moved, &ok);
    stride->newton++;
  }
  return status;
}
