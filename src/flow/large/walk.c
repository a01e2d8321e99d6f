/* Exact alignment of many neurons on thousands of samples. As in align/path.c a neuron moves on a straight
 * line to its next hyperplane, which a ratio test over h = X w and b = X g finds; here h, b of all samples
 * are kept and changed by one row of the Gram matrix per crossing, in single precision, in one pass that also
 * finds the next hyperplane. What decides is computed afresh in double precision: where the hyperplane is
 * met, and which way the field points behind it. All neurons are brought back to double precision together,
 * by three products with the data every RESYNC crossings.
 *
 * Neurons are balanced, so a = +-|w| keeps its sign. Of parallel samples one is met (walk_lines.c). */
#include "flow/large/walk.h"

#include <math.h>
#include <string.h>

#include "flow/align/align_internal.h"
#include "flow/flow_tolerances.h"
#include "la/la.h"

enum { RESYNC = 2048, BLOCK = 512, MOST_SETTLING = 400 };

/* ---- events and places ----------------------------------------------------------------------- */

/* What was said of the sample at this very moment is forgotten: slides settle one by one, and may be left and
 * taken up again. true: so it is as if nothing had happened. */
static bool taken_back(RfWalker *w, rf_index sample, RfEventKind kind) {
  for (rf_index e = w->n_events - 1; e >= 0 && w->events[e].t == w->t; e--) {
    if (w->events[e].sample != sample) continue;
    RfEventKind before = w->events[e].kind;
    memmove(w->events + e, w->events + e + 1, (size_t)(w->n_events - e - 1) * sizeof *w->events);
    w->n_events--;
    return before == RF_EVENT_RELEASE && kind == RF_EVENT_SLIDE;
  }
  return false;
}

static RfStatus log_event(RfWalk *walk, RfWalker *w, rf_index sample, RfEventKind kind, rf_index sliding) {
  if (!walk->logging || taken_back(w, sample, kind)) return RF_OK;
  if (w->n_events == w->room_events) {
    rf_index room = w->room_events ? 2 * w->room_events : 256;
    RfWalkEvent *events = rf_resize(w->events, room, sizeof *events);
    if (!events) return rf_fail(walk->context, RF_ERR_MEMORY, "out of memory for crossings");
    w->events = events, w->room_events = room;
  }
  w->events[w->n_events++] = (RfWalkEvent){w->t, sample, kind, sliding};
  return RF_OK;
}

RfStatus rf_walk_hold(RfWalk *walk, RfWalker *w, rf_index i, double coef) {
  if (w->n_on == w->room_on) {
    rf_index room = w->room_on ? 2 * w->room_on : 8;
    rf_index *on = rf_resize(w->on, room, sizeof *on);
    if (on) w->on = on;
    double *coefs = on ? rf_resize(w->coef, room, sizeof *coefs) : NULL;
    if (!coefs) return rf_fail(walk->context, RF_ERR_MEMORY, "out of memory for a slide");
    w->coef = coefs, w->room_on = room;
  }
  w->on[w->n_on] = i, w->coef[w->n_on++] = coef;
  return RF_OK;
}

RfStatus rf_walk_put(RfWalk *walk, rf_index k, const double *direction, double log_norm, int sign,
                     const int8_t *sides) {
  RfWalker *w = &walk->walker[k];
  rf_index n = walk->n, d = walk->d;
  RfStatus status = RF_OK;
  memcpy(w->w, direction, (size_t)d * sizeof(double));
  w->log_norm = log_norm, w->sign = sign, w->t = 0, w->state = RF_WALK_RUNS;
  w->n_on = w->active = w->n_events = w->n_slides = 0;
  if (!sides) rf_la_apply(w->h, walk->X, w->w, n, d, d);
  for (rf_index i = 0; i < n && !status; i++) {
    w->side[i] = walk->norm[i] == 0 ? 0 : sides ? sides[i] : w->h[i] > 0 ? 1 : -1;
    w->active += w->side[i] > 0;
    if (w->side[i] == 0 && walk->norm[i] > 0) status = rf_walk_hold(walk, w, i, 0);
  }
  return status;
}

/* ---- the pass over all samples -------------------------------------------------------------- */

static double ratio(double side, double h, double b, double slack, double sign) {
  double speed = sign * side * b;
  return speed > slack ? side * h / speed : INFINITY;
}

/* h += step b, b += jump row, and the smallest ratio with its sample (-1: none). */
RF_HOT static double sweep(double *restrict h, double *restrict b, const double *restrict side,
                           const double *restrict slack, const float *restrict row, double step, double jump,
                           double sign, rf_index n, rf_index *first) {
  double best = INFINITY;
  rf_index at = -1;
  for (rf_index from = 0; from < n; from += BLOCK) {
    rf_index end = from + BLOCK < n ? from + BLOCK : n;
    double least = INFINITY;
#ifndef __clang__ /* which does not turn this minimum into vectors, and warns that it does not */
#pragma omp simd reduction(min : least)
#endif
    for (rf_index i = from; i < end; i++) {
      double hi = h[i] + step * b[i], bi = b[i] + jump * (double)row[i];
      h[i] = hi, b[i] = bi;
      double speed = sign * side[i] * bi;
      double t = speed > slack[i] ? side[i] * hi / speed : INFINITY;
      least = t < least ? t : least;
    }
    if (least < best) best = least, at = from;
  }
  *first = -1;
  for (rf_index i = at; at >= 0 && i < at + BLOCK && i < n && *first < 0; i++)
    if (ratio(side[i], h[i], b[i], slack[i], sign) == best) *first = i;
  return best;
}

static double look(const RfWalk *walk, RfWalker *w, rf_index *first) {
  return sweep(w->h, w->b, w->side, walk->slack, walk->nothing, 0, 0, -w->sign, walk->n, first);
}

RF_HOT static void add_row(double *restrict b, double factor, const float *restrict row, rf_index n) {
#pragma omp simd
  for (rf_index i = 0; i < n; i++) b[i] += factor * (double)row[i];
}

static void kick(const RfWalk *walk, RfWalker *w, rf_index i, double factor) {
  if (factor != 0) add_row(w->b, factor, walk->gram->rows + i * walk->n, walk->n);
}

/* ---- slides --------------------------------------------------------------------------------- */

static void set_field(const RfWalk *walk, RfWalker *w) {
  rf_index d = walk->d;
  memcpy(w->g, w->base, (size_t)d * sizeof(double));
  for (rf_index k = 0; k < w->n_on; k++) rf_la_axpy(w->g, w->coef[k], walk->X + w->on[k] * d, d);
  w->G = rf_la_norm(w->g, d);
}

/* On a one-dimensional face w is put exactly on the ray. */
static void settle_on_ray(const RfWalk *walk, RfWalker *w) {
  rf_index d = walk->d;
  if (w->n_on != d - 1 || w->n_on == 0 || !rf_walk_moves(walk, w)) return;
  double along = rf_la_quick_dot(w->w, w->g, d) / w->G;
  for (rf_index j = 0; j < d; j++) w->w[j] = along * w->g[j] / w->G;
}

static RfStatus make_small(const RfWalk *walk, RfWalker *w, rf_index count) {
  if (w->room_small >= count) return RF_OK;
  rf_index room = 2 * count + 8;
  rf_free(w->small);
  w->small = RF_NEW(double, room *(room + 1));
  w->room_small = w->small ? room : 0;
  w->slopes = w->small ? w->small + room * room : NULL;
  return w->small ? RF_OK : rf_fail(walk->context, RF_ERR_MEMORY, "out of memory for a slide");
}

/* c s of the slides that keep w on them, into w->slopes; false: they are dependent. */
static bool slide_forces(const RfWalk *walk, const RfWalker *w) {
  rf_index d = walk->d, count = w->n_on;
  double *A = w->small, *r = w->slopes;
  for (rf_index i = 0; i < count; i++) {
    const double *x = walk->X + w->on[i] * d;
    r[i] = -rf_la_quick_dot(x, w->base, d);
    for (rf_index j = 0; j <= i; j++) {
      double sum = rf_la_quick_dot(x, walk->X + w->on[j] * d, d);
      for (rf_index k = 0; k < j; k++) sum -= A[i * count + k] * A[j * count + k];
      if (i != j) {
        A[i * count + j] = sum / A[j * count + j];
        continue;
      }
      if (!(sum > RF_TOL_INDEPENDENT * walk->gram->square[w->on[i]])) return false;
      A[i * count + i] = sqrt(sum);
    }
    for (rf_index k = 0; k < i; k++) r[i] -= A[i * count + k] * r[k];
    r[i] /= A[i * count + i];
  }
  for (rf_index i = count - 1; i >= 0; i--) {
    for (rf_index k = i + 1; k < count; k++) r[i] -= A[k * count + i] * r[k];
    r[i] /= A[i * count + i];
  }
  return true;
}

/* Slide k is left to a side. */
static RfStatus leave_slide(RfWalk *walk, RfWalker *w, rf_index k, bool up) {
  rf_index i = w->on[k], sliding = w->n_on;
  double force = walk->c[i] * (up ? 1 : walk->leak);
  kick(walk, w, i, force - w->coef[k]);
  rf_la_axpy(w->base, force, walk->X + i * walk->d, walk->d);
  w->side[i] = up ? 1 : -1;
  w->active += up;
  w->h[i] = 0;
  w->n_on--;
  w->on[k] = w->on[w->n_on], w->coef[k] = w->coef[w->n_on];
  return log_event(walk, w, i, RF_EVENT_RELEASE, sliding);
}

/* Forces of the slides; those out of range are left, the worst first. b follows. */
static RfStatus settle(RfWalk *walk, RfWalker *w) {
  RfStatus status = make_small(walk, w, w->n_on + 1);
  for (int round = 0; round < MOST_SETTLING && !status; round++) {
    rf_index worst = -1;
    double far = RF_TOL_STRIDE_SLOPE;
    bool up = false;
    bool regular = slide_forces(walk, w);
    for (rf_index k = 0; k < w->n_on && regular; k++) {
      double slope = w->slopes[k] / walk->c[w->on[k]], off = fmax(slope - 1, walk->leak - slope);
      if (off > far) far = off, worst = k, up = slope > 0.5 * (1 + walk->leak);
    }
    if (!regular) worst = w->n_on - 1, up = walk->c[w->on[worst]] * w->sign > 0; /* the last to come */
    if (worst < 0) {
      for (rf_index k = 0; k < w->n_on; k++) {
        kick(walk, w, w->on[k], w->slopes[k] - w->coef[k]);
        w->coef[k] = w->slopes[k];
      }
      for (rf_index k = 0; k < w->n_on; k++) w->b[w->on[k]] = w->h[w->on[k]] = 0;
      set_field(walk, w);
      settle_on_ray(walk, w);
      return RF_OK;
    }
    status = leave_slide(walk, w, worst, up);
  }
  return status ? status : rf_fail(walk->context, RF_ERR_NUMERIC, "slides do not settle in alignment");
}

/* ---- crossings ------------------------------------------------------------------------------ */

/* The sample's side flips; its force changes. */
static double flip(RfWalk *walk, RfWalker *w, rf_index i) {
  double jump = -w->side[i] * walk->c[i] * (1 - walk->leak);
  w->side[i] = -w->side[i];
  w->active += w->side[i] > 0 ? 1 : -1;
  rf_la_axpy(w->base, jump, walk->X + i * walk->d, walk->d);
  return jump;
}

/* Sample i, just reached, while others are slid on, or a valley that holds. */
static RfStatus meet_slide(RfWalk *walk, RfWalker *w, rf_index i) {
  double c = walk->c[i], slope = w->side[i] > 0 ? 1 : walk->leak;
  rf_index sliding = w->n_on;
  w->h[i] = 0;
  if (w->sign * c >= 0) { /* a ridge is crossed, and what has no kink */
    double jump = flip(walk, w, i);
    kick(walk, w, i, jump);
    RfStatus status = log_event(walk, w, i, RF_EVENT_CROSS, sliding);
    return status ? status : settle(walk, w);
  }
  rf_la_axpy(w->base, -c * slope, walk->X + i * walk->d, walk->d);
  w->active -= w->side[i] > 0;
  double from = w->side[i];
  w->side[i] = 0;
  RfStatus status = rf_walk_hold(walk, w, i, c * slope);
  if (!status) status = log_event(walk, w, i, RF_EVENT_SLIDE, sliding);
  if (!status) status = settle(walk, w);
  if (status || w->side[i] == 0) {
    w->n_slides++;
    return status;
  }
  if (w->side[i] != from) return log_event(walk, w, i, RF_EVENT_CROSS, sliding); /* it went through at once */
  taken_back(w, i, RF_EVENT_CROSS);
  return RF_OK;
}

/* phi = s w.g/G and |w - (w.u)u| now. */
static void along_field(const RfWalk *walk, const RfWalker *w, double *phi, double *across) {
  rf_index d = walk->d;
  double dot = rf_la_quick_dot(w->w, w->g, d) / w->G, sum = 0;
  for (rf_index j = 0; j < d; j++) {
    double part = w->w[j] - dot * w->g[j] / w->G;
    sum += part * part;
  }
  *phi = w->sign * dot;
  *across = sqrt(sum);
}

/* Time for the way tau g, a = |w| along it: a^2 = across^2 + phi^2. */
static double time_of(const RfWalk *walk, const RfWalker *w, double tau) {
  double phi, across;
  along_field(walk, w, &phi, &across);
  RfAlignSegment segment = {.G = w->G, .phi = phi, .alpha = hypot(phi, across), .K = across * across};
  return rf_align_segment_time(&segment, phi + tau * w->G);
}

/* Keeps |w| near 1. */
static void rescale(const RfWalk *walk, RfWalker *w) {
  double norm = rf_la_norm(w->w, walk->d);
  if ((norm >= 0.125 && norm <= 8) || !(norm > 0)) return;
  int exponent;
  frexp(norm, &exponent);
  rf_la_scale(w->w, ldexp(1, -exponent), walk->d);
  rf_la_scale(w->h, ldexp(1, -exponent), walk->n);
  w->log_norm += exponent * log(2);
}

/* Inside its segment to t_end. */
static void arrive(const RfWalk *walk, RfWalker *w, double t_end) {
  double phi, across, phi1, alpha1, shift;
  along_field(walk, w, &phi, &across);
  RfAlignSegment segment = {.G = w->G, .phi = phi, .alpha = hypot(phi, across), .K = across * across};
  rf_align_segment_state(&segment, t_end - w->t, &phi1, &alpha1, &shift);
  double keep = exp(-shift), dot = w->sign * phi;
  for (rf_index j = 0; j < walk->d; j++) {
    double unit = w->g[j] / w->G;
    w->w[j] = keep * (w->w[j] - dot * unit) + w->sign * phi1 * unit;
  }
  double tau = (phi1 * exp(shift) - phi) / w->G; /* h follows the straight line, in the new scale */
  if (isfinite(tau))
    for (rf_index i = 0; i < walk->n; i++) w->h[i] = keep * (w->h[i] + w->sign * tau * w->b[i]);
  w->log_norm += shift;
  w->t = t_end;
}

/* tau to sample i in double precision; -1: it is not on the way. */
static double confirm(const RfWalk *walk, RfWalker *w, rf_index i) {
  const double *x = walk->X + i * walk->d;
  double b = rf_la_quick_dot(w->g, x, walk->d), h = rf_la_quick_dot(w->w, x, walk->d);
  w->b[i] = b, w->h[i] = w->side[i] * h < 0 ? 0 : h;
  double tau = ratio(w->side[i], w->h[i], b, walk->slack[i], -w->sign);
  return isfinite(tau) ? fmax(0, tau) : -1;
}

/* w parallel to the field meets hyperplanes at the origin only, which it never reaches. */
static bool on_ray(const RfWalk *walk, const RfWalker *w) {
  double phi, across;
  along_field(walk, w, &phi, &across);
  return across <= RF_TOL_WALK_RAY * fabs(phi);
}

/* Nothing is seen by a neuron with so many active samples: it stays for ever. */
static bool blind(const RfWalk *walk, const RfWalker *w, rf_index active) {
  return walk->leak == 0 && active == 0 && w->n_on == 0 && !(walk->lines && walk->lines->mirrored);
}

/* At most `most` crossings of one neuron. */
static RfStatus run(RfWalk *walk, RfWalker *w, double t_end, rf_index most) {
  rf_index first;
  RfStatus status = RF_OK;
  double found = look(walk, w, &first);
  for (rf_index events = 0; events < most && !status; events++) {
    bool dies = blind(walk, w, w->active);
    if (dies || !rf_walk_moves(walk, w)) {
      w->state = dies ? RF_WALK_DEAD : RF_WALK_ENDS;
      return RF_OK;
    }
    bool meets = first >= 0 && isfinite(found) && !on_ray(walk, w);
    double tau = meets ? confirm(walk, w, first) : INFINITY;
    if (tau < 0) {
      found = look(walk, w, &first);
      continue;
    }
    double dt = isfinite(tau) ? time_of(walk, w, tau) : INFINITY;
    if (w->t + dt >= t_end || !isfinite(tau) || !isfinite(dt)) {
      w->state = isfinite(tau) && isfinite(dt) ? RF_WALK_ARRIVED : RF_WALK_ENDS;
      if (isfinite(t_end)) arrive(walk, w, t_end);
      return RF_OK;
    }
    w->t += dt;
    rf_la_axpy(w->w, w->sign * tau, w->g, walk->d);
    double jump = -w->side[first] * walk->c[first] * (1 - walk->leak);
    double behind = w->b[first] + jump * walk->gram->square[first], from = w->side[first];
    bool last = from > 0 && blind(walk, w, w->active - 1);
    if (w->n_on == 0 && (last || -from * w->sign * behind > walk->slack[first])) {
      rf_index i = first;
      flip(walk, w, i);
      memcpy(w->g, w->base, (size_t)walk->d * sizeof(double));
      w->G = rf_la_norm(w->g, walk->d);
      found = sweep(w->h, w->b, w->side, walk->slack, walk->gram->rows + i * walk->n, w->sign * tau, jump,
                    -w->sign, walk->n, &first);
      w->h[i] = -from * fabs(w->h[i]);
      status = log_event(walk, w, i, last ? RF_EVENT_DIE : RF_EVENT_CROSS, 0);
      if (first == i) found = look(walk, w, &first);
      continue;
    }
    rf_index i = first;
    sweep(w->h, w->b, w->side, walk->slack, walk->nothing, w->sign * tau, 0, -w->sign, walk->n, &first);
    status = meet_slide(walk, w, i);
    if (!status) found = look(walk, w, &first);
  }
  return status;
}

/* ---- all together --------------------------------------------------------------------------- */

/* Running neurons of one pattern share their field: leader[k] is the first of those of neuron k. */
static void find_classes(RfWalk *walk) {
  rf_index n = walk->n;
  for (rf_index k = 0; k < walk->m; k++) {
    const RfWalker *w = &walk->walker[k];
    walk->leader[k] = -1;
    if (w->state != RF_WALK_RUNS) continue;
    uint64_t hash = 0x243f6a8885a308d3u;
    for (rf_index i = 0; i < n; i++) hash = hash * 0x9e3779b97f4a7c15u + (uint64_t)(int64_t)(w->side[i] + 2);
    walk->hash[k] = hash;
    for (rf_index j = 0; j < k && walk->leader[k] < 0; j++)
      if (walk->leader[j] == j && walk->hash[j] == hash &&
          memcmp(walk->walker[j].side, w->side, (size_t)n * sizeof(double)) == 0)
        walk->leader[k] = j;
    if (walk->leader[k] < 0) walk->leader[k] = k;
  }
}

static bool leads(const RfWalk *walk, rf_index k) { return walk->leader[k] == k; }

/* Neuron k takes the field of its leader. */
static RfStatus follow_leader(RfWalk *walk, rf_index k) {
  RfWalker *w = &walk->walker[k];
  const RfWalker *first = &walk->walker[walk->leader[k]];
  RfStatus status = RF_OK;
  memcpy(w->base, first->base, (size_t)walk->d * sizeof(double));
  memcpy(w->g, first->g, (size_t)walk->d * sizeof(double));
  memcpy(w->side, first->side, (size_t)walk->n * sizeof(double));
  w->G = first->G, w->active = first->active, w->n_on = 0;
  for (rf_index z = 0; z < first->n_on && !status; z++)
    status = rf_walk_hold(walk, w, first->on[z], first->coef[z]);
  return status;
}

/* Fields of the leaders from their sides. */
static RfStatus set_fields(RfWalk *walk) {
  rf_index n = walk->n, d = walk->d, count = 0;
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < walk->m; k++) {
    const RfWalker *w = &walk->walker[k];
    if (!leads(walk, k)) continue;
    for (rf_index i = 0; i < n; i++)
      walk->weighed[count * n + i] = w->side[i] > 0   ? walk->c[i]
                                     : w->side[i] < 0 ? walk->leak * walk->c[i]
                                                      : 0;
    count++;
  }
  if (count == 0) return RF_OK;
  rf_rows_combine(walk->rows, walk->weighed, &walk->gram->data, count, walk->gram->threads);
  count = 0;
  for (rf_index k = 0; k < walk->m && !status; k++) {
    RfWalker *w = &walk->walker[k];
    if (!leads(walk, k)) continue;
    memcpy(w->base, walk->rows + count++ * d, (size_t)d * sizeof(double));
    if (walk->lines) rf_la_axpy(w->base, 1, walk->lines->constant, d);
    if (w->n_on > 0)
      status = settle(walk, w);
    else
      set_field(walk, w);
  }
  count = 0;
  for (rf_index k = 0; k < walk->m && !status; k++)
    if (leads(walk, k)) memcpy(walk->rows + count++ * d, walk->walker[k].g, (size_t)d * sizeof(double));
  rf_rows_images(walk->weighed, walk->rows, &walk->gram->data, count, walk->gram->threads);
  count = 0;
  for (rf_index k = 0; k < walk->m && !status; k++) {
    RfWalker *w = &walk->walker[k];
    if (!leads(walk, k)) continue;
    for (rf_index i = 0; i < n; i++) w->b[i] = w->side[i] == 0 ? 0 : walk->weighed[count * n + i];
    count++;
  }
  for (rf_index k = 0; k < walk->m && !status; k++) {
    if (walk->leader[k] < 0 || leads(walk, k)) continue;
    status = follow_leader(walk, k);
    memcpy(walk->walker[k].b, walk->walker[walk->leader[k]].b, (size_t)n * sizeof(double));
  }
  return status;
}

/* w.x of the running neurons. */
static void set_planes(RfWalk *walk) {
  rf_index n = walk->n, d = walk->d, count = 0;
  for (rf_index k = 0; k < walk->m; k++)
    if (walk->leader[k] >= 0) memcpy(walk->rows + count++ * d, walk->walker[k].w, (size_t)d * sizeof(double));
  rf_rows_images(walk->planes, walk->rows, &walk->gram->data, count, walk->gram->threads);
  count = 0;
  for (rf_index k = 0; k < walk->m; k++) {
    RfWalker *w = &walk->walker[k];
    if (walk->leader[k] < 0) continue;
    for (rf_index i = 0; i < n; i++) {
      double h = walk->planes[count * n + i];
      w->h[i] = w->side[i] * h > 0 ? h : 0;
    }
    count++;
  }
}

static RfStatus resync(RfWalk *walk, bool planes) {
  find_classes(walk);
  RfStatus status = set_fields(walk);
  if (status) return status;
  if (planes) set_planes(walk);
  for (rf_index k = 0; k < walk->m; k++) {
    RfWalker *w = &walk->walker[k];
    for (rf_index z = 0; z < w->n_on && walk->leader[k] >= 0; z++) w->h[w->on[z]] = 0;
    if (walk->leader[k] >= 0) rescale(walk, w);
  }
  return RF_OK;
}

static void look_at_samples(RfWalk *walk) {
  rf_index n = walk->n, count = 0;
  memset(walk->seen, walk->leak > 0, (size_t)n);
  for (rf_index k = 0; k < walk->m; k++) {
    const double *side = walk->walker[k].side;
    for (rf_index i = 0; i < n && walk->walker[k].state != RF_WALK_DEAD; i++) walk->seen[i] |= side[i] > 0;
  }
  for (rf_index i = 0; i < n; i++) count += walk->seen[i] |= walk->lines && walk->lines->both[i];
  if (count == 0) memset(walk->seen, 1, (size_t)n);
}

RfStatus rf_walk_refresh(RfWalk *walk, const double *c, bool planes) {
  walk->c = c;
  walk->weight = 0;
  look_at_samples(walk);
  for (rf_index i = 0; i < walk->n; i++)
    if (walk->seen[i]) walk->weight += (walk->lines ? walk->lines->size[i] : fabs(c[i])) * walk->norm[i];
  for (rf_index i = 0; i < walk->n; i++)
    walk->slack[i] = 10 * walk->context->tol.solver * walk->weight * walk->norm[i];
  for (rf_index k = 0; k < walk->m; k++)
    if (walk->walker[k].state != RF_WALK_DEAD) walk->walker[k].state = RF_WALK_RUNS;
  return resync(walk, planes);
}

static void tell(const RfWalk *walk) {
  rf_index left = 0, events = 0;
  char detail[80];
  for (rf_index k = 0; k < walk->m; k++) {
    left += walk->walker[k].state == RF_WALK_RUNS;
    events += walk->walker[k].n_events;
  }
  rf_format(detail, sizeof detail, "of the neurons  crossings %lld", (long long)events);
  rf_progress(walk->context, "alignment", 1 - (double)left / (double)walk->m, detail);
}

/* Every running neuron by at most RESYNC crossings; each by itself, so threads change nothing. */
static RfStatus run_all(RfWalk *walk, double t_end) {
  RfStatus status = RF_OK;
  bool many =
      walk->telling && walk->gram->threads > 1; /* few crossings of a fit take less than waking them */
#pragma omp parallel for num_threads(walk->gram->threads) schedule(dynamic, 1) if (many)
  for (rf_index k = 0; k < walk->m; k++) {
    if (walk->walker[k].state != RF_WALK_RUNS) continue;
    RfContext context = *walk->context;
    RfWalk own = *walk;
    own.context = &context;
    RfStatus one =
        rf_context_stop(walk->context) ? RF_INTERRUPTED : run(&own, &walk->walker[k], t_end, RESYNC);
    if (one) {
#pragma omp critical(rf_walk_status)
      {
        if (!status || one < status)
          status = one < 0 ? rf_fail(walk->context, one, "%s", context.error) : one;
      }
    }
  }
  return status;
}

RfStatus rf_walk_to(RfWalk *walk, double t_end) {
  RfStatus status = RF_OK;
  bool going = true;
  while (going && !status) {
    status = run_all(walk, t_end);
    going = false;
    for (rf_index k = 0; k < walk->m; k++) going = going || walk->walker[k].state == RF_WALK_RUNS;
    if (walk->telling) tell(walk);
    if (going && !status) status = resync(walk, true);
  }
  return status;
}
