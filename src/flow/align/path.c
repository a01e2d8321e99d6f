/* One neuron from its start to its last sector, exactly, under constant sample weights c (near the origin, or
 * around a limit point for the escape test). Inside a sector the path is the straight line w + tau g
 * (align_segment.c), so the next hyperplane is a ratio test on h = X w and b = X g; after a crossing g
 * changes by one row and b by one row of the Gram matrix: O(n) per crossing. On hyperplanes continuations.c
 * says where it goes. Weights are kept near norm 1 by powers of two, with a log-norm beside them. a^2-|w|^2
 * is conserved: a is computed from |w|. */
#include "flow/align/align_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"
#include "flow/flow_tolerances.h"

/* The unit field and phi, alpha, K at the start of a segment; on_ray: w is parallel to the field. */
static RfAlignSegment segment_here(RfAlignPath *path, bool *on_ray) {
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
  *on_ray = perp2 <= 1e-30 * w2;
  if (*on_ray) perp2 = 0; /* aligned up to rounding */
  double phi = path->sign * along, alpha = fabs(path->a), K = path->balance + perp2;
  if (alpha < 0.5 * fabs(phi))
    K = (alpha - phi) * (alpha + phi); /* near a = 0, where the other form cancels */
  return (RfAlignSegment){.G = path->G, .phi = phi, .alpha = alpha, .K = K};
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
    out->crossed = crossed;
    int8_t *kinds = rf_resize(out->crossed_kinds, room, sizeof *kinds);
    if (!kinds) return rf_fail(context, RF_ERR_MEMORY, "out of memory for crossings");
    out->crossed_kinds = kinds, path->room_crossed = room;
  }
  memcpy(out->crossed + path->n_crossed, path->hits, (size_t)path->n_hits * sizeof(rf_index));
  for (rf_index j = 0; j < path->n_hits; j++) /* whether it slides: kinds are told after the turn */
    out->crossed_kinds[path->n_crossed + j] = path->side[path->hits[j]] == 0;
  path->n_crossed += path->n_hits;
  out->crossings[out->n_crossings++] =
      (RfCrossing){.t = path->t, .n_samples = path->n_hits, .sliding = path->n_on};
  out->t_last = path->t;
  return RF_OK;
}

/* What became of the hyperplanes of the last crossing. */
static void tell_kinds(const RfAlignPath *path, RfAlignNeuron *out) {
  bool dead = path->data->field->leak == 0 && path->n_active == 0;
  const RfCrossing *last = &out->crossings[out->n_crossings - 1];
  for (rf_index j = path->n_crossed - last->n_samples; j < path->n_crossed; j++) {
    bool slid = out->crossed_kinds[j] != 0, slides = path->side[out->crossed[j]] == 0;
    out->crossed_kinds[j] = dead     ? RF_EVENT_DIE
                            : slides ? RF_EVENT_SLIDE
                            : slid   ? RF_EVENT_RELEASE
                                     : RF_EVENT_CROSS;
  }
}

/* ---- the end of a path --------------------------------------------------------------------- */

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
    out->crossings[k].kinds = out->crossed_kinds + first;
    first += out->crossings[k].n_samples;
  }
  return RF_OK;
}

/* |a| from the closed form, or, balanced, from |w|, so that rounding cannot unbalance it. */
static void set_a(RfAlignPath *path, double alpha) {
  if (path->balance == 0) alpha = rf_la_norm(path->w, path->data->field->d);
  path->a = path->sign * alpha;
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
  if (shift < 0 && segment->K != path->balance) { /* what stays constant outlives what decays */
    phi *= exp(shift), alpha *= exp(shift), shift = 0;
  }
  double along = path->sign * segment->phi, keep = exp(-shift);
  for (rf_index j = 0; j < field->d; j++) {
    double perp = segment->K == path->balance ? 0 : path->w[j] - along * path->unit[j];
    path->w[j] = (perp != 0 ? keep * perp : 0) + path->sign * phi * path->unit[j];
  }
  set_a(path, alpha);
  path->log_norm += shift;
}

/* At leak 1 nothing happens at a hyperplane, and sides are those of the direction that is left: sign g. */
static void linear_sides(RfContext *context, RfAlignPath *path, double sign) {
  const RfAlignField *field = path->data->field;
  for (rf_index i = 0; i < field->n; i++) {
    double b = sign * rf_la_quick_dot(field->X + i * field->d, path->g, field->d);
    double near = context->tol.zero * path->G * path->data->norms[i];
    rf_align_set_side(path, i, b > near ? 1 : b < -near ? -1 : 0);
  }
}

/* No event ahead: growth for ever (or decay on the stable manifold), and what it is. */
static void finish(RfContext *context, RfAlignPath *path, RfAlignNeuron *out, const RfAlignSegment *segment) {
  const RfAlignField *field = path->data->field;
  double rate = segment->G, log_amplitude = NAN;
  if (!field->freeze_second) rf_align_segment_growth(segment, &rate, &log_amplitude);
  if (field->leak == 1) linear_sides(context, path, rate < 0 ? -path->sign : path->sign);
  out->destiny = destiny_of(path);
  out->G = segment->G;
  if (field->freeze_second) return;
  if (rate < 0 && path->rank != field->d - 1) { /* an unstable direction, held only by exact alignment */
    out->destiny = RF_DESTINY_STUCK;
    out->G = 0;
    return;
  }
  out->G = rate;
  out->log_amplitude = path->log_norm + log_amplitude - rate * path->t;
}

/* ---- the walk ------------------------------------------------------------------------------ */

/* Sides at the start: given ones, or signs of w.x with tolerance; zero samples and hyperplanes are 0. */
static void start_sides(RfContext *context, RfAlignPath *path, const int8_t *sector) {
  const RfAlignField *field = path->data->field;
  double size = rf_la_norm(path->w, field->d);
  rf_la_apply(path->full_h, field->X, path->w, field->n, field->d, field->d);
  path->n_active = 0, path->n_on = 0;
  for (rf_index i = 0; i < field->n; i++) {
    double near = context->tol.zero * size * path->data->norms[i], h = path->full_h[i];
    bool zero_sample = path->data->norms[i] == 0;
    path->side[i] = 0, path->window.place[i] = -1;
    if (zero_sample) continue;
    rf_align_set_side(path, i, sector ? sector[i] : fabs(h) <= near ? 0 : h > 0 ? 1 : -1);
    if (field->leak == 1) continue; /* no kinks: sides say nothing, inputs keep their signs */
    if (fabs(h) <= near || path->side[i] * h <= 0) path->full_h[i] = 0;
    if (path->side[i] == 0) path->on[path->n_on++] = i;
  }
}

/* Sign of a; at a = 0 the sign it is about to take, that of sum c_i phi(h_i). */
static int sign_of_a(const RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  if (path->a != 0) return path->a > 0 ? 1 : -1;
  double rate = 0, size = 0;
  for (rf_index i = 0; i < field->n; i++) {
    double h = path->full_h[i], term = field->c[i] * (h > 0 ? h : field->leak * h);
    rate += term, size += fabs(term);
  }
  return fabs(rate) <= RF_TOL_CANCELLED * size || field->freeze_second ? 0 : rate > 0 ? 1 : -1;
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
  path->rank = 0;
  path->window.count = -1, path->window.events = 0; /* none yet */
  path->window.next_reach = 0.02, path->window.bend = 0.25;
  path->room_crossings = path->room_crossed = path->n_crossed = 0;
  start_sides(context, path, sector);
  path->sign = sign_of_a(path);
  rf_align_fresh_base(path);
  rf_align_set_field(path, path->base);
  if (path->n_on == 0 || path->sign == 0 || rf_align_blind(path)) return RF_OK;
  return rf_align_turn(context, path, out);
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

/* The hyperplanes met are met at w = 0, where all of them meet: its inputs are rounding of those it had
 * before, and one that were left out would not be met any more. Without a second layer that moves w has no
 * scale. */
static void meet_origin(RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  rf_index n = field->n, d = field->d;
  if (field->freeze_second || rf_la_norm(path->w, d) > RF_TOL_PLANE * fabs(path->a)) return;
  memset(path->w, 0, (size_t)d * sizeof(double));
  path->n_hits = 0;
  path->window.count = -1; /* to be opened anew */
  for (rf_index i = 0; i < n; i++)
    if (path->side[i] != 0) path->hits[path->n_hits++] = i;
}

/* One segment: to the next hyperplane, the turning point a = 0, or the end. */
static RfStatus step(RfContext *context, RfAlignPath *path, RfAlignNeuron *out, double t_end, bool *done) {
  const RfAlignField *field = path->data->field;
  rf_index first = -1;
  double tau = field->leak < 1 ? rf_align_next_hit(context, path, &first) : -1;
  bool on_ray;
  RfAlignSegment segment = segment_here(path, &on_ray);
  double tau_turn = INFINITY, tau_stop = INFINITY;
  if (on_ray && tau >= 0)
    tau = segment.phi < 0 ? -segment.phi / segment.G : -1; /* all hyperplanes, at the origin */
  if (!field->freeze_second && segment.phi < 0) {
    if (segment.K < 0) tau_turn = fmax(0, -sqrt(-segment.K) - segment.phi) / segment.G;
    if (segment.K == 0) tau_stop = -segment.phi / segment.G; /* the origin, never reached */
  }
  bool turns = tau_turn < INFINITY && (tau < 0 || tau > tau_turn);
  bool ends = !turns && (tau < 0 || tau >= tau_stop * (1 - context->tol.zero));
  double length = turns ? tau_turn : tau, dt = INFINITY;
  if (!ends && field->freeze_second) dt = length / fabs(path->a);
  if (!ends && !field->freeze_second) dt = rf_align_segment_time(&segment, segment.phi + length * segment.G);
  if (turns) dt = rf_align_segment_turn_time(&segment);
  if (path->t + dt >= t_end || ends) { /* t_end comes first, or nothing comes any more */
    if (ends)
      finish(context, path, out, &segment);
    else
      out->destiny = RF_DESTINY_RUNNING, out->G = segment.G;
    if (t_end < INFINITY) advance(path, &segment, t_end);
    *done = true;
    return RF_OK;
  }
  rf_align_move(path, length, turns ? -1 : first);
  if (!field->freeze_second) set_a(path, rf_align_segment_alpha(&segment, segment.phi + length * segment.G));
  path->t += dt;
  RfStatus status = RF_OK;
  if (turns) {
    path->a = 0;
    path->balance = -rf_la_quick_dot(path->w, path->w, field->d);
    path->sign = -path->sign;
    path->n_hits = 0;
    if (path->n_on > 0) status = rf_align_turn(context, path, out); /* valleys have become ridges */
  } else {
    meet_origin(path);
    status = note_crossing(context, path, out);
    if (!status) status = rf_align_pass_hits(context, path, out);
    if (!status) tell_kinds(path, out);
  }
  rf_align_rescale(path);
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
    } else if (events >= limit || ((events & 7) == 7 && rf_context_stop(context))) {
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
