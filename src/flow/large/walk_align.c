/* From walkers to the alignment that callers read. */
#include "flow/large/walk.h"

#include <math.h>
#include <string.h>

#include "flow/align/align_internal.h"
#include "flow/flow_tolerances.h"
#include "la/la.h"

/* Active exactly on the samples with sign c > 0. */
static bool in_class_cone(const RfAlignField *field, const int8_t *sector, int sign) {
  for (rf_index i = 0; i < field->n; i++) {
    double c = sign * field->c[i];
    if (c > 0 ? !(sector[i] > 0) : c < 0 && sector[i] > 0) return false;
  }
  return true;
}

/* Samples that lie on the hyperplane of this one. */
static rf_index samples_of(const RfWalk *walk, rf_index sample) {
  rf_index count = 1;
  while (walk->lines && (sample = walk->lines->next[sample]) >= 0) count++;
  return count;
}

/* Hyperplanes reached; those left are not crossings of their own. */
static RfStatus copy_events(RfContext *context, RfAlignNeuron *out, const RfWalk *walk, const RfWalker *w) {
  rf_index count = 0, samples = 0, to = 0, at = 0;
  for (rf_index e = 0; e < w->n_events; e++) {
    if (w->events[e].kind == RF_EVENT_RELEASE) continue;
    count++, samples += samples_of(walk, w->events[e].sample);
  }
  out->crossings = RF_NEW(RfCrossing, count);
  out->crossed = RF_NEW(rf_index, samples);
  out->crossed_kinds = RF_NEW(int8_t, samples);
  if (!out->crossings || !out->crossed || !out->crossed_kinds)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for crossings");
  for (rf_index e = 0; e < w->n_events; e++) {
    const RfWalkEvent *event = &w->events[e];
    if (event->kind == RF_EVENT_RELEASE) continue;
    out->crossings[to++] = (RfCrossing){.t = event->t,
                                        .n_samples = samples_of(walk, event->sample),
                                        .samples = out->crossed + at,
                                        .kinds = out->crossed_kinds + at,
                                        .sliding = event->sliding};
    for (rf_index i = event->sample; i >= 0; i = walk->lines ? walk->lines->next[i] : -1)
      out->crossed[at] = i, out->crossed_kinds[at++] = (int8_t)event->kind;
  }
  out->n_crossings = count;
  out->t_last = count > 0 ? out->crossings[count - 1].t : 0;
  out->n_slides = w->n_slides;
  return RF_OK;
}

/* Growth of a neuron that meets no hyperplane any more. */
static void growth(const RfWalk *walk, const RfWalker *w, RfAlignNeuron *out) {
  rf_index d = walk->d;
  double dot = rf_la_quick_dot(w->w, w->g, d) / w->G, sum = 0;
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

static RfStatus write_neuron(RfContext *context, const RfAlignField *field, const RfWalk *walk,
                             const RfWalker *w, RfAlignNeuron *out) {
  rf_index n = walk->n, d = walk->d;
  bool sees = false;
  memset(out, 0, sizeof *out);
  out->n = n;
  out->t_branch = out->log_amplitude = NAN;
  out->sector = RF_NEW(int8_t, n);
  out->direction = RF_NEW(double, d + 1);
  out->velocity = RF_NEW(double, d);
  if (!out->sector || !out->direction || !out->velocity)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a neuron");
  for (rf_index i = 0; i < n; i++) {
    double side = w->side[walk->lines ? walk->lines->line[i] : i];
    out->sector[i] = (int8_t)(walk->lines && walk->lines->ratio[i] < 0 ? -side : side);
    sees = sees || out->sector[i] > 0;
  }
  bool moves = w->state != RF_WALK_DEAD && rf_walk_moves(walk, w);
  double norm = rf_la_norm(w->w, d);
  for (rf_index j = 0; j < d; j++) {
    out->direction[j] = sqrt(0.5) * w->w[j] / norm;
    if (moves) out->velocity[j] = w->g[j];
  }
  out->direction[d] = w->sign * sqrt(0.5);
  out->log_norm = w->log_norm + log(norm) + 0.5 * log(2);
  out->t_state = w->t;
  if (w->state == RF_WALK_DEAD || (!moves && walk->leak == 0 && !sees)) /* or rests on mirrored samples */
    out->destiny = RF_DESTINY_DEAD;
  else if (!moves)
    out->destiny = RF_DESTINY_STUCK;
  else if (w->state == RF_WALK_ENDS) {
    out->destiny = in_class_cone(field, out->sector, 1)    ? RF_DESTINY_S_PLUS
                   : in_class_cone(field, out->sector, -1) ? RF_DESTINY_S_MINUS
                                                           : RF_DESTINY_EXTREMAL;
    growth(walk, w, out);
  } else {
    out->destiny = RF_DESTINY_RUNNING;
    out->G = w->G;
  }
  return copy_events(context, out, walk, w);
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

static RfStatus write_all(RfContext *context, RfAlignNeuron *out, const RfAlignField *field, RfWalk *walk,
                          RfStatus status) {
  if (status == RF_INTERRUPTED) status = RF_OK; /* those on their way are told as running */
  for (rf_index k = 0; k < walk->m && !status; k++)
    status = write_neuron(context, field, walk, &walk->walker[k], out + k);
  rf_walk_free(walk);
  return status;
}

/* Walkers in the field, with the lines of its samples. */
static RfStatus walk_in(RfContext *context, RfWalk *walk, RfWalkLines *lines, const RfAlignField *field,
                        const RfGram *gram, rf_index m) {
  RfStatus status = rf_walk_lines_new(context, lines, field);
  if (!status) status = rf_walk_new(context, walk, field->X, gram, field->n, field->d, m, field->leak);
  if (status) {
    rf_walk_lines_free(lines);
    return status;
  }
  walk->logging = walk->telling = true;
  rf_walk_take_lines(walk, lines);
  return RF_OK;
}

RfStatus rf_walk_align(RfContext *context, RfAlignNeuron *out, const RfAlignField *field, const RfGram *gram,
                       const double *directions, const double *log_norms, rf_index m, double t_end,
                       RfWalkHalfway *halfway, double log_size) {
  RfWalk walk;
  RfWalkLines lines;
  rf_index d = field->d;
  RfStatus status = walk_in(context, &walk, &lines, field, gram, m);
  if (status) return status;
  for (rf_index k = 0; k < m && !status; k++) {
    const double *v = directions + k * (d + 1);
    double norm = rf_la_norm(v, d);
    status = rf_walk_put(&walk, k, v, log_norms[k], v[d] > 0 ? 1 : -1, NULL);
    rf_la_scale(walk.walker[k].w, fabs(v[d]) / norm, d); /* balanced exactly */
  }
  if (!status) status = rf_walk_refresh(&walk, lines.c ? lines.c : field->c, true);
  if (!status && halfway) status = walk_halfway(&walk, halfway, log_size);
  if (!status) status = rf_walk_to(&walk, t_end);
  status = write_all(context, out, field, &walk, status);
  rf_walk_lines_free(&lines);
  return status;
}

RfStatus rf_walk_align_on(RfContext *context, RfAlignNeuron *out, const RfAlignField *field,
                          const RfGram *gram, const RfWalkHalfway *halfway, const double *directions,
                          double scale, double log_scale, double t_end) {
  RfWalk walk;
  RfWalkLines lines;
  rf_index d = field->d, n = field->n;
  RfStatus status = walk_in(context, &walk, &lines, field, gram, halfway->m);
  if (status) return status;
  for (rf_index k = 0; k < walk.m && !status; k++) {
    RfWalker *w = &walk.walker[k];
    status = rf_walk_put(&walk, k, halfway->w + k * d, halfway->log_norms[k] + log_scale,
                         directions[k * (d + 1) + d] > 0 ? 1 : -1, halfway->sides + k * n);
    w->t = halfway->t / scale;
    if (halfway->dead[k]) w->state = RF_WALK_DEAD;
  }
  if (!status) status = rf_walk_refresh(&walk, lines.c ? lines.c : field->c, true);
  if (!status) status = rf_walk_to(&walk, t_end);
  status = write_all(context, out, field, &walk, status);
  rf_walk_lines_free(&lines);
  return status;
}

bool rf_walk_fits(const RfFlowProblem *problem) {
  const RfFlowStart *start = problem->start;
  rf_index d = problem->d;
  if (problem->leak == 1 || problem->freeze_second || !rf_gram_pays(problem->n, d, start->m)) return false;
  for (rf_index k = 0; k < start->m; k++) {
    const double *v = start->directions + k * (d + 1);
    double w2 = rf_la_quick_dot(v, v, d), a2 = v[d] * v[d];
    if (!(fabs(a2 - w2) < RF_TOL_BALANCED * a2) || !(start->log_norms[k] > -INFINITY)) return false;
  }
  return true;
}
