/* One neuron from its start to its last sector, exactly, under constant sample weights c (near the origin, or
 * around a limit point for the escape test). Inside a sector the path is the straight line w + tau g
 * (align_segment.c), so the next hyperplane is a ratio test on h = X w and b = X g; after a crossing g
 * changes by one row and b by one row of the Gram matrix: O(n) per crossing. On hyperplanes align_options.c
 * says where it goes. Weights are kept near norm 1 by powers of two, with a log-norm beside them. a^2-|w|^2
 * is conserved: a is computed from |w|. */
#include "align_internal.h"

#include <math.h>
#include <string.h>

#include "reluflow/la.h"

enum { RESYNC_EVERY = 64, GRAM_LIMIT = 2048 };

struct RfAlignPath {
  const RfAlignData *data;
  /* state */
  double *w, a, balance; /* d; a; a^2-|w|^2 */
  double log_norm, t;
  double *side;       /* n: -1, 0, +1 as numbers for the ratio test */
  rf_index n_active;  /* samples with side > 0 */
  rf_index *on, n_on; /* hyperplanes the neuron slides on, ascending */
  int sign;           /* of a, or of its growth where a = 0 */
  /* field */
  double *base;  /* d: contribution of the samples off `on` */
  double *g, G;  /* d */
  double *h, *b; /* n: X w, X g; h = 0 exactly on hyperplanes */
  /* bookkeeping */
  double *row;          /* n: scratch, one row of the Gram matrix */
  double *frame, *unit; /* d x d and d: orthonormal basis of the rows slid on */
  rf_index rank;        /* its size */
  rf_index *hits, n_hits;
  rf_index since_sync;
  double sync_G, sync_w; /* largest |g|, |w| since the last fresh computation */
  rf_index room_crossings, room_crossed, n_crossed;
  RfAlignOptions options;
};

/* ---- shared data
 * ----------------------------------------------------------------------------------------------- */

void rf_align_data_free(RfAlignData *data) {
  rf_free(data->norms);
  rf_free(data->slack);
  rf_free(data->gram);
  memset(data, 0, sizeof *data);
}

RfStatus rf_align_data_new(RfContext *context, RfAlignData *data, const RfAlignField *field, rf_index uses) {
  rf_index n = field->n, d = field->d;
  memset(data, 0, sizeof *data);
  data->field = field;
  data->norms = RF_NEW(double, n);
  data->slack = RF_NEW(double, n);
  bool gram = n <= GRAM_LIMIT && uses > n / 16;
  if (gram) data->gram = RF_NEW(double, n *n);
  if (!data->norms || !data->slack || (gram && !data->gram)) {
    rf_align_data_free(data);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for alignment");
  }
  for (rf_index i = 0; i < n; i++) {
    data->norms[i] = rf_la_norm(field->X + i * d, d);
    data->weight += fabs(field->c[i]) * data->norms[i];
  }
  for (rf_index i = 0; i < n; i++) data->slack[i] = 10 * context->tol.solver * data->weight * data->norms[i];
  if (gram && n > 0) rf_la_gram(data->gram, field->X, n, d);
  return RF_OK;
}

void rf_align_path_free(RfAlignPath *path) {
  if (!path) return;
  rf_free(path->w);
  rf_free(path->on);
  rf_align_options_free(&path->options);
  rf_free(path);
}

RfStatus rf_align_path_new(RfContext *context, RfAlignPath **out, const RfAlignData *data) {
  rf_index n = data->field->n, d = data->field->d;
  RfAlignPath *path = *out = RF_NEW(RfAlignPath, 1);
  if (!path) return rf_fail(context, RF_ERR_MEMORY, "out of memory for alignment");
  path->data = data;
  path->w = RF_NEW(double, 4 * d + d * d + 4 * n);
  path->on = RF_NEW(rf_index, 2 * n);
  if (!path->w || !path->on) {
    rf_align_path_free(path);
    *out = NULL;
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for alignment");
  }
  path->base = path->w + d, path->g = path->base + d, path->unit = path->g + d, path->frame = path->unit + d;
  path->side = path->frame + d * d, path->h = path->side + n, path->b = path->h + n, path->row = path->b + n;
  path->hits = path->on + n;
  return RF_OK;
}

/* ---- state
 * ------------------------------------------------------------------------------------------------------- */

static double slope_of(const RfAlignPath *path, rf_index i) {
  return path->side[i] > 0 ? 1 : path->data->field->leak;
}

static const double *gram_row(RfAlignPath *path, rf_index i) {
  const RfAlignField *field = path->data->field;
  if (path->data->gram) return path->data->gram + i * field->n;
  rf_la_apply(path->row, field->X, field->X + i * field->d, field->n, field->d, field->d);
  return path->row;
}

static void set_side(RfAlignPath *path, rf_index i, double side) {
  path->n_active += (side > 0) - (path->side[i] > 0);
  path->side[i] = side;
}

/* base afresh: samples on hyperplanes (side 0) have no fixed slope and do not count. */
static void fresh_base(RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  for (rf_index i = 0; i < field->n; i++)
    path->row[i] = path->side[i] == 0 ? 0 : field->c[i] * slope_of(path, i);
  rf_la_combine(path->base, field->X, path->row, field->n, field->d, field->d);
}

static void fresh_h(RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  rf_la_apply(path->h, field->X, path->w, field->n, field->d, field->d);
  for (rf_index i = 0; i < field->n; i++)
    if (path->side[i] == 0) path->h[i] = 0;
}

static void fresh_b(RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  rf_la_apply(path->b, field->X, path->g, field->n, field->d, field->d);
  for (rf_index k = 0; k < path->n_on; k++) path->b[path->on[k]] = 0;
}

static void set_field(RfAlignPath *path, const double *g) {
  if (g != path->g && path->data->field->d > 0)
    memcpy(path->g, g, (size_t)path->data->field->d * sizeof(double));
  path->G = rf_la_norm(path->g, path->data->field->d);
}

/* Brings the joint norm back to [1/4, 4] by a power of two. */
static void rescale(RfAlignPath *path) {
  rf_index n = path->data->field->n, d = path->data->field->d;
  double norm = hypot(rf_la_norm(path->w, d), path->a);
  if ((norm >= 0.25 && norm <= 4) || !(norm > 0)) return;
  int exponent;
  frexp(norm, &exponent);
  double factor = ldexp(1, -exponent);
  rf_la_scale(path->w, factor, d);
  rf_la_scale(path->h, factor, n);
  path->a *= factor;
  path->balance *= factor * factor;
  path->sync_w *= factor;
  path->log_norm += exponent * log(2);
}

/* ---- hyperplanes
 * --------------------------------------------------------------------------------------------------- */

/* Orthonormal frame of the rows slid on; w is put exactly on the face, and exactly on the ray when the face
 * is one. */
static void settle_on_face(RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d;
  path->rank = 0;
  for (rf_index k = 0; k < path->n_on && path->rank < d; k++) {
    rf_index i = path->on[k];
    double *e = path->frame + path->rank * d;
    memcpy(e, field->X + i * d, (size_t)d * sizeof(double));
    for (int pass = 0; pass < 2; pass++)
      for (rf_index r = 0; r < path->rank; r++)
        rf_la_axpy(e, -rf_la_dot(e, path->frame + r * d, d), path->frame + r * d, d);
    double left = rf_la_norm(e, d);
    if (left <= 1e-10 * path->data->norms[i]) continue;
    rf_la_scale(e, 1 / left, d);
    path->rank++;
  }
  for (rf_index r = 0; r < path->rank; r++) {
    const double *e = path->frame + r * d;
    rf_la_axpy(path->w, -rf_la_dot(path->w, e, d), e, d);
    rf_la_axpy(path->g, -rf_la_dot(path->g, e, d), e, d);
  }
  set_field(path, path->g);
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

/* Decides where the neuron goes from the hyperplanes in on[0..n_on) (sides 0, not in base). */
static RfStatus turn(RfContext *context, RfAlignPath *path, RfAlignNeuron *out) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d, stay = 0;
  RfAlignOptions *options = &path->options;
  RfStatus status = rf_align_options(context, options, field, path->base, path->data->slack, path->on,
                                     path->n_on, path->sign);
  if (!status && options->count > 1) status = note_branch(context, path, out);
  if (status) return status;
  set_field(path, options->g);
  for (rf_index z = 0; z < path->n_on; z++) {
    rf_index i = path->on[z];
    int8_t side = options->side[z];
    if (side == 0) {
      path->on[stay++] = i;
      continue;
    }
    set_side(path, i, side);
    rf_la_axpy(path->base, field->c[i] * slope_of(path, i), field->X + i * d, d);
  }
  path->n_on = stay;
  settle_on_face(path);
  fresh_h(path);
  fresh_b(path);
  return RF_OK;
}

/* The common case: one hyperplane, no slides. Ridge: it is crossed. Valley: crossed unless the field turns
 * round. */
static bool cross_single(RfAlignPath *path, rf_index i, double from) {
  const RfAlignField *field = path->data->field;
  double norm = path->data->norms[i], jump = -from * field->c[i] * (1 - field->leak);
  double after = path->b[i] + jump * norm * norm; /* g.x_i on the other side */
  bool leaves = -from * path->sign * after > path->data->slack[i];
  if (!leaves) return false;
  set_side(path, i, -from);
  rf_la_axpy(path->base, jump, field->X + i * field->d, field->d);
  set_field(path, path->base);
  rf_la_axpy(path->b, jump, gram_row(path, i), field->n);
  return true;
}

static RfStatus pass_hits(RfContext *context, RfAlignPath *path, RfAlignNeuron *out) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d;
  if (path->n_hits == 1 && path->n_on == 0 && cross_single(path, path->hits[0], path->side[path->hits[0]]))
    return RF_OK;
  rf_index old = path->n_on, add = path->n_hits;
  for (rf_index k = 0; k < add; k++) {
    rf_index i = path->hits[k];
    rf_la_axpy(path->base, -field->c[i] * slope_of(path, i), field->X + i * d, d);
    set_side(path, i, 0);
    path->h[i] = 0;
  }
  /* merge two ascending lists from the back */
  for (rf_index to = old + add - 1, p = old - 1, q = add - 1; q >= 0; to--)
    path->on[to] = p >= 0 && path->on[p] > path->hits[q] ? path->on[p--] : path->hits[q--];
  path->n_on += add;
  if (field->leak == 0 && path->n_active == 0) return RF_OK; /* dead: rests on them */
  if (add >= 2) fresh_base(path);
  RfStatus status = turn(context, path, out);
  for (rf_index k = 0; k < path->n_on; k++) /* hits that stay begin a slide */
    for (rf_index q = 0; q < add; q++) out->n_slides += path->on[k] == path->hits[q];
  return status;
}

/* ---- segments
 * -------------------------------------------------------------------------------------------------------- */

/* The unit field and phi, alpha, K at the start of a segment. */
static RfAlignSegment segment_here(RfAlignPath *path) {
  rf_index d = path->data->field->d;
  double along = 0, perp2 = 0, w2 = 0;
  for (rf_index j = 0; j < d; j++) {
    path->unit[j] = path->g[j] / path->G;
    along += path->w[j] * path->unit[j];
  }
  for (rf_index j = 0; j < d; j++) {
    double p = path->w[j] - along * path->unit[j];
    perp2 += p * p, w2 += path->w[j] * path->w[j];
  }
  if (perp2 <= 1e-30 * w2) perp2 = 0; /* aligned up to rounding */
  return (RfAlignSegment){
      .G = path->G, .phi = path->sign * along, .alpha = fabs(path->a), .K = path->balance + perp2};
}

/* Smallest tau >= 0 at which h + tau sign b vanishes for some sample moving towards its hyperplane; -1 for
 * none. */
static double next_hit(const RfAlignPath *path, rf_index *first) {
  rf_index n = path->data->field->n;
  const double *side = path->side, *h = path->h, *b = path->b, *slack = path->data->slack;
  double best_h = 1, best_speed = 0, sign = -path->sign;
  for (rf_index i = 0; i < n; i++) {
    double speed = sign * side[i] * b[i];
    if (speed <= slack[i]) continue;
    double distance = side[i] * h[i];
    if (distance * best_speed < best_h * speed) best_h = distance, best_speed = speed, *first = i;
  }
  return best_speed > 0 ? fmax(0, best_h / best_speed) : -1;
}

/* Moves along the field by tau; collects `first` (unless negative) and all that reach their hyperplanes with
 * it. */
static void move(RfContext *context, RfAlignPath *path, const RfAlignSegment *segment, double tau,
                 rf_index first) {
  const RfAlignField *field = path->data->field;
  double step = path->sign * tau, before = rf_la_norm(path->w, field->d);
  rf_la_axpy(path->w, step, path->g, field->d);
  double size = fmax(before, rf_la_norm(path->w, field->d));
  double zero = context->tol.zero * size, later = 1e-6 * size / segment->G;
  path->n_hits = 0;
  for (rf_index i = 0; i < field->n; i++) {
    double h = path->h[i] + step * path->b[i], left = path->side[i] * h;
    path->h[i] = h;
    if (first < 0 || (left > zero * path->data->norms[i] && i != first)) continue;
    double speed = -path->sign * path->side[i] * path->b[i];
    if (i == first || (speed > path->data->slack[i] && left <= later * speed)) path->hits[path->n_hits++] = i;
  }
  if (!field->freeze_second) {
    double phi = segment->phi + tau * segment->G;
    path->a = path->sign * rf_align_segment_alpha(segment, phi);
  }
  for (rf_index k = 0; k < path->n_hits; k++) path->h[path->hits[k]] = 0;
}

/* Fresh h, base and b now and then, and after g or w became small against what they were summed from. */
static void resync(RfAlignPath *path) {
  double size = rf_la_norm(path->w, path->data->field->d);
  path->sync_G = fmax(path->sync_G, path->G), path->sync_w = fmax(path->sync_w, size);
  if (path->n_on > 0) return; /* turn() computed everything afresh but base */
  if (++path->since_sync < RESYNC_EVERY && path->G > 0.1 * path->sync_G && size > 0.1 * path->sync_w) return;
  fresh_base(path);
  set_field(path, path->base);
  fresh_h(path);
  fresh_b(path);
  path->since_sync = 0, path->sync_G = path->G, path->sync_w = size;
}

static RfStatus note_crossing(RfContext *context, RfAlignPath *path, RfAlignNeuron *out) {
  if (out->n_crossings == path->room_crossings) {
    rf_index room = path->room_crossings ? 2 * path->room_crossings : 8;
    RfCrossing *crossings = rf_resize(out->crossings, room, sizeof *crossings);
    if (!crossings) return rf_fail(context, RF_ERR_MEMORY, "out of memory for crossings");
    out->crossings = crossings, path->room_crossings = room;
  }
  if (path->n_crossed + path->n_hits > path->room_crossed) {
    rf_index room = 2 * (path->n_crossed + path->n_hits) + 8;
    rf_index *crossed = rf_resize(out->crossed, room, sizeof *crossed);
    if (!crossed) return rf_fail(context, RF_ERR_MEMORY, "out of memory for crossings");
    out->crossed = crossed, path->room_crossed = room;
  }
  memcpy(out->crossed + path->n_crossed, path->hits, (size_t)path->n_hits * sizeof(rf_index));
  path->n_crossed += path->n_hits;
  out->crossings[out->n_crossings++] =
      (RfCrossing){.t = path->t, .n_samples = path->n_hits, .sliding = path->n_on};
  out->t_last = path->t;
  return RF_OK;
}

/* ---- the end of a path
 * ------------------------------------------------------------------------------------------------ */

/* S+ : active exactly on the samples with c > 0; S- : on those with c < 0. */
static bool in_class_cone(const RfAlignPath *path, double class_sign) {
  const RfAlignField *field = path->data->field;
  for (rf_index i = 0; i < field->n; i++) {
    double c = class_sign * field->c[i];
    if (c > 0 ? !(path->side[i] > 0) : c < 0 && path->side[i] > 0) return false;
  }
  return true;
}

static RfDestiny destiny_of(const RfAlignPath *path) {
  if (in_class_cone(path, 1)) return RF_DESTINY_S_PLUS;
  if (in_class_cone(path, -1)) return RF_DESTINY_S_MINUS;
  return RF_DESTINY_EXTREMAL;
}

/* Writes sector, direction and velocity of the state at hand. */
static RfStatus write_state(RfContext *context, const RfAlignPath *path, RfAlignNeuron *out) {
  rf_index n = path->data->field->n, d = path->data->field->d;
  bool moves = out->destiny != RF_DESTINY_DEAD && out->destiny != RF_DESTINY_STUCK;
  out->n = n;
  out->sector = RF_NEW(int8_t, n);
  out->direction = RF_NEW(double, d + 1);
  out->velocity = RF_NEW(double, d);
  if (!out->sector || !out->direction || !out->velocity)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a neuron");
  for (rf_index i = 0; i < n; i++) out->sector[i] = (int8_t)path->side[i];
  double norm = hypot(rf_la_norm(path->w, d), path->a);
  for (rf_index j = 0; j < d; j++) {
    out->direction[j] = norm > 0 ? path->w[j] / norm : 0;
    if (moves) out->velocity[j] = path->g[j];
  }
  out->direction[d] = norm > 0 ? path->a / norm : 0;
  out->log_norm = path->log_norm + log(norm);
  out->t_state = path->t;
  rf_index first = 0;
  for (rf_index k = 0; k < out->n_crossings; k++) {
    out->crossings[k].samples = out->crossed + first;
    first += out->crossings[k].n_samples;
  }
  return RF_OK;
}

/* Advances inside the last or current segment to t_end, without an event. */
static void advance(RfAlignPath *path, const RfAlignSegment *segment, double t_end) {
  const RfAlignField *field = path->data->field;
  double dt = t_end - path->t, phi, alpha, shift = 0;
  path->t = t_end;
  if (field->freeze_second) {
    rf_la_axpy(path->w, path->a * dt, path->g, field->d);
    return;
  }
  rf_align_segment_state(segment, dt, &phi, &alpha, &shift);
  double along = path->sign * segment->phi, keep = exp(-shift);
  for (rf_index j = 0; j < field->d; j++) {
    double perp = segment->K == path->balance ? 0 : path->w[j] - along * path->unit[j];
    path->w[j] = keep * perp + path->sign * phi * path->unit[j];
  }
  path->a = path->sign * alpha;
  path->log_norm += shift;
}

/* No event ahead: growth for ever (or decay on the stable manifold), and what it is. */
static void finish(RfAlignPath *path, RfAlignNeuron *out, const RfAlignSegment *segment) {
  const RfAlignField *field = path->data->field;
  out->destiny = destiny_of(path);
  out->G = segment->G;
  if (field->freeze_second) return;
  double rate, log_amplitude;
  rf_align_segment_growth(segment, &rate, &log_amplitude);
  if (rate < 0 && path->rank != field->d - 1) { /* an unstable direction, held only by exact alignment */
    out->destiny = RF_DESTINY_STUCK;
    out->G = 0;
    return;
  }
  out->G = rate;
  out->log_amplitude = path->log_norm + log_amplitude - rate * path->t;
}

/* ---- the walk
 * ------------------------------------------------------------------------------------------------------------
 */

/* Sides at the start: given ones, or signs of w.x with tolerance; zero samples and hyperplanes are 0. */
static void start_sides(RfContext *context, RfAlignPath *path, const int8_t *sector) {
  const RfAlignField *field = path->data->field;
  double size = rf_la_norm(path->w, field->d);
  rf_la_apply(path->h, field->X, path->w, field->n, field->d, field->d);
  path->n_active = 0, path->n_on = 0;
  for (rf_index i = 0; i < field->n; i++) {
    double near = context->tol.zero * size * path->data->norms[i], h = path->h[i];
    bool zero_sample = path->data->norms[i] == 0;
    path->side[i] = 0;
    if (zero_sample) continue;
    set_side(path, i, sector ? sector[i] : fabs(h) <= near ? 0 : h > 0 ? 1 : -1);
    if (fabs(h) <= near || path->side[i] * h <= 0) path->h[i] = 0;
    if (path->side[i] == 0) path->on[path->n_on++] = i;
  }
}

/* Sign of a; at a = 0 the sign it is about to take, that of sum c_i phi(h_i). */
static int sign_of_a(const RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  if (path->a != 0) return path->a > 0 ? 1 : -1;
  double rate = 0, size = 0;
  for (rf_index i = 0; i < field->n; i++) {
    double h = path->h[i], term = field->c[i] * (h > 0 ? h : field->leak * h);
    rate += term, size += fabs(term);
  }
  return fabs(rate) <= 1e-14 * size || field->freeze_second ? 0 : rate > 0 ? 1 : -1;
}

static RfStatus begin(RfContext *context, RfAlignPath *path, RfAlignNeuron *out, const double *direction,
                      double log_norm, const int8_t *sector) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d;
  if (d > 0) memcpy(path->w, direction, (size_t)d * sizeof(double));
  path->a = direction[d], path->log_norm = log_norm, path->t = 0;
  if (log_norm == -INFINITY) { /* a zero neuron */
    for (rf_index j = 0; j < d; j++) path->w[j] = 0;
    path->a = 0;
  }
  double size = rf_la_norm(path->w, d), imbalance = fabs(path->a) - size;
  path->balance = imbalance * (fabs(path->a) + size);
  if (fabs(imbalance) <= context->tol.balanced * size && !field->freeze_second) {
    path->balance = 0;
    path->a = copysign(size, path->a);
  }
  path->rank = 0, path->since_sync = 0, path->sync_G = path->sync_w = 0;
  path->room_crossings = path->room_crossed = path->n_crossed = 0;
  start_sides(context, path, sector);
  path->sign = sign_of_a(path);
  fresh_base(path);
  set_field(path, path->base);
  fresh_b(path);
  if (path->n_on == 0 || path->sign == 0 || (field->leak == 0 && path->n_active == 0)) return RF_OK;
  return turn(context, path, out);
}

/* Dead, or no velocity: the neuron stays for ever. */
static bool rests(const RfAlignPath *path, RfAlignNeuron *out, double rounding) {
  if (path->data->field->leak == 0 && path->n_active == 0)
    out->destiny = RF_DESTINY_DEAD;
  else if (path->sign == 0 || path->G <= rounding * path->data->weight)
    out->destiny = RF_DESTINY_STUCK;
  else
    return false;
  out->G = 0;
  return true;
}

/* One segment: to the next hyperplane, the turning point a = 0, or the end. */
static RfStatus step(RfContext *context, RfAlignPath *path, RfAlignNeuron *out, double t_end, bool *done) {
  const RfAlignField *field = path->data->field;
  RfAlignSegment segment = segment_here(path);
  rf_index first = -1;
  double tau = field->leak < 1 ? next_hit(path, &first) : -1, tau_turn = INFINITY, tau_stop = INFINITY;
  if (!field->freeze_second && segment.phi < 0) {
    if (segment.K < 0) tau_turn = fmax(0, -sqrt(-segment.K) - segment.phi) / segment.G;
    if (segment.K == 0) tau_stop = -segment.phi / segment.G; /* the origin, never reached */
  }
  bool turns = tau_turn < INFINITY && (tau < 0 || tau > tau_turn);
  bool ends = !turns && (tau < 0 || tau >= tau_stop * (1 - context->tol.zero));
  double length = turns ? tau_turn : tau, dt = INFINITY;
  if (!ends && field->freeze_second) dt = length / fabs(path->a);
  if (!ends && !field->freeze_second) dt = rf_align_segment_time(&segment, segment.phi + length * segment.G);
  if (path->t + dt >= t_end || ends) { /* t_end comes first, or nothing comes any more */
    if (ends)
      finish(path, out, &segment);
    else
      out->destiny = RF_DESTINY_RUNNING, out->G = segment.G;
    if (t_end < INFINITY) advance(path, &segment, t_end);
    *done = true;
    return RF_OK;
  }
  move(context, path, &segment, length, turns ? -1 : first);
  path->t += dt;
  RfStatus status = RF_OK;
  if (turns) {
    path->a = 0;
    path->sign = -path->sign;
    path->n_hits = 0;
    if (path->n_on > 0) status = turn(context, path, out); /* valleys have become ridges */
  } else {
    status = note_crossing(context, path, out);
    if (!status) status = pass_hits(context, path, out);
  }
  rescale(path);
  resync(path);
  return status;
}

RfStatus rf_align_path_follow(RfContext *context, RfAlignPath *path, RfAlignNeuron *out,
                              const double *direction, double log_norm, const int8_t *sector, double t_end) {
  memset(out, 0, sizeof *out);
  out->t_branch = out->log_amplitude = NAN;
  RfStatus status = begin(context, path, out, direction, log_norm, sector);
  rf_index limit = 1000 + 100 * path->data->field->n;
  bool done = false;
  for (rf_index events = 0; !status && !done; events++) {
    if (rests(path, out, 10 * context->tol.solver)) {
      if (t_end < INFINITY) path->t = t_end;
      done = true;
    } else if (events >= limit || ((events & 255) == 255 && rf_context_stop(context))) {
      out->destiny = RF_DESTINY_RUNNING, out->G = path->G;
      done = true;
    } else {
      status = step(context, path, out, t_end, &done);
    }
  }
  if (!status) status = write_state(context, path, out);
  if (status) rf_align_neuron_free(out);
  return status;
}
