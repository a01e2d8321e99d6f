/* From walkers to the alignment that callers read. */
#include "flow/large/walk.h"

#include <math.h>
#include <string.h>

#include "flow/align/align_internal.h"
#include "flow/flow_tolerances.h"
#include "la/la.h"

/* Active exactly on the samples with sign c > 0. */
static bool in_class_cone(const RfWalk *walk, const RfWalker *w, int sign) {
  for (rf_index i = 0; i < walk->n; i++) {
    double c = sign * walk->c[i];
    if (c > 0 ? !(w->side[i] > 0) : c < 0 && w->side[i] > 0) return false;
  }
  return true;
}

/* Hyperplanes reached; those left are not crossings of their own. */
static RfStatus copy_events(RfContext *context, RfAlignNeuron *out, const RfWalker *w) {
  rf_index count = 0, to = 0;
  for (rf_index e = 0; e < w->n_events; e++) count += w->events[e].kind != RF_EVENT_RELEASE;
  out->crossings = RF_NEW(RfCrossing, count);
  out->crossed = RF_NEW(rf_index, count);
  out->crossed_kinds = RF_NEW(int8_t, count);
  if (!out->crossings || !out->crossed || !out->crossed_kinds)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for crossings");
  for (rf_index e = 0; e < w->n_events; e++) {
    const RfWalkEvent *event = &w->events[e];
    if (event->kind == RF_EVENT_RELEASE) continue;
    out->crossed[to] = event->sample;
    out->crossed_kinds[to] = (int8_t)event->kind;
    out->crossings[to] = (RfCrossing){.t = event->t,
                                      .n_samples = 1,
                                      .samples = out->crossed + to,
                                      .kinds = out->crossed_kinds + to,
                                      .sliding = event->sliding};
    to++;
  }
  out->n_crossings = count;
  out->t_last = count > 0 ? out->crossings[count - 1].t : 0;
  out->n_slides = w->n_slides;
  return RF_OK;
}

/* Growth of a neuron that meets no hyperplane any more. */
static void growth(const RfWalk *walk, const RfWalker *w, RfAlignNeuron *out) {
  rf_index d = walk->d;
  double dot = rf_la_dot(w->w, w->g, d) / w->G, sum = 0;
  for (rf_index j = 0; j < d; j++) {
    double part = w->w[j] - dot * w->g[j] / w->G;
    sum += part * part;
  }
  RfAlignSegment segment = {.G = w->G, .phi = w->sign * dot, .alpha = sqrt(dot * dot + sum), .K = sum};
  double log_amplitude;
  if (sum <= RF_TOL_WALK_RAY * RF_TOL_WALK_RAY * dot * dot) segment.K = 0, segment.alpha = fabs(dot);
  rf_align_segment_growth(&segment, &out->G, &log_amplitude);
  if (out->G < 0 && w->n_on != d - 1) { /* an unstable direction, held only by exact alignment */
    out->destiny = RF_DESTINY_STUCK;
    out->G = 0;
    return;
  }
  out->log_amplitude = w->log_norm + log_amplitude - out->G * w->t;
}

static RfStatus write_neuron(RfContext *context, const RfWalk *walk, const RfWalker *w, RfAlignNeuron *out) {
  rf_index n = walk->n, d = walk->d;
  memset(out, 0, sizeof *out);
  out->n = n;
  out->t_branch = out->log_amplitude = NAN;
  out->sector = RF_NEW(int8_t, n);
  out->direction = RF_NEW(double, d + 1);
  out->velocity = RF_NEW(double, d);
  if (!out->sector || !out->direction || !out->velocity)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a neuron");
  for (rf_index i = 0; i < n; i++) out->sector[i] = (int8_t)w->side[i];
  bool moves = w->state != RF_WALK_DEAD && w->G > 10 * context->tol.solver * walk->weight;
  double norm = rf_la_norm(w->w, d);
  for (rf_index j = 0; j < d; j++) {
    out->direction[j] = sqrt(0.5) * w->w[j] / norm;
    if (moves) out->velocity[j] = w->g[j];
  }
  out->direction[d] = w->sign * sqrt(0.5);
  out->log_norm = w->log_norm + log(norm) + 0.5 * log(2);
  out->t_state = w->t;
  if (w->state == RF_WALK_DEAD)
    out->destiny = RF_DESTINY_DEAD;
  else if (!moves)
    out->destiny = RF_DESTINY_STUCK;
  else if (w->state == RF_WALK_ENDS) {
    out->destiny = in_class_cone(walk, w, 1)    ? RF_DESTINY_S_PLUS
                   : in_class_cone(walk, w, -1) ? RF_DESTINY_S_MINUS
                                                : RF_DESTINY_EXTREMAL;
    growth(walk, w, out);
  } else {
    out->destiny = RF_DESTINY_RUNNING;
    out->G = w->G;
  }
  return copy_events(context, out, w);
}

/* ---- halfway ---------------------------------------------------------------------------------- */

void rf_walk_halfway_free(RfWalkHalfway *halfway) {
  rf_free(halfway->w);
  rf_free(halfway->sides);
  rf_free(halfway->dead);
  memset(halfway, 0, sizeof *halfway);
}

static RfStatus keep(RfWalk *walk, RfWalkHalfway *halfway, double t) {
  rf_index m = walk->m, n = walk->n, d = walk->d;
  *halfway = (RfWalkHalfway){.m = m, .n = n, .d = d, .t = t};
  halfway->w = RF_NEW(double, m *(d + 1));
  halfway->sides = RF_NEW_TABLE(int8_t, m, n);
  halfway->dead = RF_NEW(uint8_t, m);
  if (!halfway->w || !halfway->sides || !halfway->dead) {
    rf_walk_halfway_free(halfway);
    return rf_fail(walk->context, RF_ERR_MEMORY, "out of memory for alignment");
  }
  halfway->log_norms = halfway->w + m * d;
  for (rf_index k = 0; k < m; k++) {
    const RfWalker *w = &walk->walker[k];
    memcpy(halfway->w + k * d, w->w, (size_t)d * sizeof(double));
    halfway->log_norms[k] = w->log_norm;
    halfway->dead[k] = w->state == RF_WALK_DEAD;
    for (rf_index i = 0; i < n; i++) halfway->sides[k * n + i] = (int8_t)w->side[i];
  }
  return RF_OK;
}

/* Stages towards the moment: sizes grow no faster than the fields, which change on the way. */
enum { STAGES = 5 };
static const double stage_part = 0.75, near_enough = 0.15; /* of what is left; ln of a size */

static RfStatus walk_halfway(RfWalk *walk, RfWalkHalfway *halfway, double log_size) {
  double t = 0;
  RfStatus status = RF_OK;
  for (int stage = 0; stage < STAGES && !status; stage++) {
    double largest = -INFINITY, fastest = 0;
    for (rf_index k = 0; k < walk->m; k++) {
      const RfWalker *w = &walk->walker[k];
      if (w->state == RF_WALK_DEAD) continue;
      largest = fmax(largest, w->log_norm + log(rf_la_norm(w->w, walk->d)) + 0.5 * log(2));
      fastest = fmax(fastest, w->G);
    }
    double left = log_size - near_enough - largest;
    if (!(left > near_enough) || !(fastest > 0)) break;
    t += stage_part * left / fastest;
    status = rf_walk_to(walk, t);
    if (!status) status = rf_walk_refresh(walk, walk->c, true);
  }
  return status ? status : keep(walk, halfway, t);
}

static RfStatus write_all(RfContext *context, RfAlignNeuron *out, RfWalk *walk, RfStatus status) {
  if (status == RF_INTERRUPTED) status = RF_OK; /* those on their way are told as running */
  for (rf_index k = 0; k < walk->m && !status; k++)
    status = write_neuron(context, walk, &walk->walker[k], out + k);
  rf_walk_free(walk);
  return status;
}

RfStatus rf_walk_align(RfContext *context, RfAlignNeuron *out, const RfAlignField *field, const RfGram *gram,
                       const double *directions, const double *log_norms, rf_index m, double t_end,
                       RfWalkHalfway *halfway, double log_size) {
  RfWalk walk;
  rf_index d = field->d;
  RfStatus status = rf_walk_new(context, &walk, field->X, gram, field->n, d, m, field->leak);
  if (status) return status;
  walk.logging = walk.telling = true;
  for (rf_index k = 0; k < m && !status; k++) {
    const double *v = directions + k * (d + 1);
    double norm = rf_la_norm(v, d);
    status = rf_walk_put(&walk, k, v, log_norms[k], v[d] > 0 ? 1 : -1, NULL);
    rf_la_scale(walk.walker[k].w, fabs(v[d]) / norm, d); /* balanced exactly */
  }
  if (!status) status = rf_walk_refresh(&walk, field->c, true);
  if (!status && halfway) status = walk_halfway(&walk, halfway, log_size);
  if (!status) status = rf_walk_to(&walk, t_end);
  return write_all(context, out, &walk, status);
}

RfStatus rf_walk_align_on(RfContext *context, RfAlignNeuron *out, const RfAlignField *field,
                          const RfGram *gram, const RfWalkHalfway *halfway, const double *directions,
                          double scale, double log_scale, double t_end) {
  RfWalk walk;
  rf_index d = field->d, n = field->n;
  RfStatus status = rf_walk_new(context, &walk, field->X, gram, n, d, halfway->m, field->leak);
  if (status) return status;
  walk.logging = walk.telling = true;
  for (rf_index k = 0; k < walk.m && !status; k++) {
    RfWalker *w = &walk.walker[k];
    status = rf_walk_put(&walk, k, halfway->w + k * d, halfway->log_norms[k] + log_scale,
                         directions[k * (d + 1) + d] > 0 ? 1 : -1, halfway->sides + k * n);
    w->t = halfway->t / scale;
    if (halfway->dead[k]) w->state = RF_WALK_DEAD;
  }
  if (!status) status = rf_walk_refresh(&walk, field->c, true);
  if (!status) status = rf_walk_to(&walk, t_end);
  return write_all(context, out, &walk, status);
}

bool rf_walk_fits(const RfFlowProblem *problem) {
  const RfFlowStart *start = problem->start;
  rf_index d = problem->d;
  if (problem->leak == 1 || problem->freeze_second || !rf_gram_pays(problem->n, d, start->m)) return false;
  for (rf_index k = 0; k < start->m; k++) {
    const double *v = start->directions + k * (d + 1);
    double w2 = rf_la_dot(v, v, d), a2 = v[d] * v[d];
    if (!(fabs(a2 - w2) < RF_TOL_BALANCED * a2) || !(start->log_norms[k] > -INFINITY)) return false;
  }
  return true;
}
