/* The fit on thousands of samples. Over a short step the weights of the samples are taken as those at its
 * middle, where the margins are continued from the step before; under constant weights every unit is followed
 * exactly (walk.c), with its crossings and slides. The step is good when the weights at its middle agree with
 * the mean of those at its ends: second order, at one product with the data per pattern and step. */
#include "flow/large/walk_fit.h"

#include <math.h>
#include <string.h>

#include "flow/fit/slides.h"
#include "flow/flow_tolerances.h"
#include "flow/large/walk_ahead.h"

enum { STEPS = 10, REFRESH = 40, CHOOSE = 60 };

typedef struct Saved {
  double *w, *h, *side, log_norm, t;
  rf_index *on, n_on, active, room;
  RfWalkState state;
} Saved;

struct RfWalkFit {
  RfWalk walk;    /* on the samples that push, or hold somebody */
  rf_index *row;  /* walk.n: which they are */
  uint8_t *taken; /* n of the system */
  double *X;      /* NULL, or these samples alone, */
  RfGram part;    /* and their products */
  Saved *saved;
  RfWalkAhead ahead;
  double *numbers;               /* holds the next nine */
  double *q, *q_old, *q_new, *c; /* walk.n each */
  double *push, *push_new;       /* |loss'| at q and q_new, over e^log_S */
  double *before, *y, *bend;     /* |c| of the step before; labels; -d|c|/dq where it was asked for */
  double log_S, h_old;           /* h_old: between q_old and q */
  double fall, age;              /* of S over the last step; of its weights */
  rf_index steps;
};

void rf_walk_fit_free(RfWalkFit *fit) {
  if (!fit) return;
  for (rf_index k = 0; fit->saved && k < fit->walk.m; k++) {
    rf_free(fit->saved[k].w);
    rf_free(fit->saved[k].on);
  }
  rf_free(fit->saved);
  rf_free(fit->numbers);
  rf_free(fit->row);
  rf_free(fit->taken);
  rf_free(fit->X);
  rf_gram_free(&fit->part);
  rf_walk_ahead_free(&fit->ahead);
  rf_walk_free(&fit->walk);
  rf_free(fit);
}

bool rf_walk_fit_fits(const RfRun *run) {
  const RfSystem *system = &run->system;
  if (!run->problem->gram || rf_run_alone(run) || run->settings->until != RF_UNTIL_INFINITY) return false;
  for (rf_index u = 0; u < system->units; u++)
    if (!system->balanced[u] && !system->dead[u]) return false;
  for (rf_index i = 0; i < system->n; i++)
    if (system->line[i] != i) return false;
  return true;
}

/* ---- which samples --------------------------------------------------------------------------- */

/* Marks the samples that push at the last fields of the system, or hold somebody; how many. The others do not
 * even have a kink. */
static rf_index choose(const RfSystem *system, uint8_t *taken) {
  rf_index n = system->n, count = 0;
  for (rf_index i = 0; i < n; i++) taken[i] = system->p[i] > RF_TOL_WALK_WEIGHT || !system->seen[i];
  for (rf_index u = 0; u < system->units; u++)
    for (rf_index z = 0; z < system->slide[u].n_on; z++) taken[system->slide[u].on[z]] = 1;
  for (rf_index i = 0; i < n; i++) count += taken[i];
  if ((double)count <= 0.85 * (double)n) return count;
  memset(taken, 1, (size_t)n);
  return n;
}

/* Part of the weights, at the last fields of the system, on samples left out. */
static double left_out(const RfWalkFit *fit, const RfSystem *system) {
  double sum = 0;
  for (rf_index i = 0; i < system->n && fit->walk.n < system->n; i++)
    if (!fit->taken[i]) sum += system->p[i];
  return sum;
}

static RfStatus take_rows(RfRun *run, RfWalkFit *fit, rf_index count) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, r = 0;
  for (rf_index i = 0; i < n; i++)
    if (fit->taken[i]) fit->row[r++] = i;
  const double *X = run->problem->X;
  const RfGram *gram = run->problem->gram;
  if (count < n) {
    fit->X = RF_NEW(double, count *d);
    if (!fit->X) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the fit");
    for (r = 0; r < count; r++)
      memcpy(fit->X + r * d, run->problem->X + fit->row[r] * d, (size_t)d * sizeof(double));
    RfStatus status = rf_gram_part(run->context, &fit->part, gram, fit->row, count, fit->X, d);
    if (status) return status;
    X = fit->X, gram = &fit->part;
  }
  return rf_walk_new(run->context, &fit->walk, X, gram, count, d, system->units, run->problem->leak);
}

/* ---- between system and walkers -------------------------------------------------------------- */

/* dq/dtau into q_dot (n), at system.y. */
static void margin_speed(RfRun *run, double *q_dot) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, units = system->units;
  rf_system_rhs(system, system->y, run->f);
  memset(system->V, 0, (size_t)(system->classes * d) * sizeof(double));
  for (rf_index u = 0; u < units; u++) {
    const double *w = system->y + u * d, *speed = run->f + u * d;
    double factor = system->y[units * d + u] * rf_system_amplitude(system, system->y[units * (d + 1) + u]);
    double growth = 2 * run->f[units * (d + 1) + u], *v = system->V + system->class_of[u] * d;
    if (factor == 0 || system->dead[u]) continue;
    for (rf_index j = 0; j < d; j++) v[j] += factor * (speed[j] + growth * w[j]);
  }
  rf_flow_planes_of(system->M, system->V, system->problem, system->classes);
  memset(q_dot, 0, (size_t)n * sizeof(double));
  for (rf_index k = 0; k < system->classes; k++) {
    const double *slope = system->slope + system->leader[k] * n;
    for (rf_index i = 0; i < n && !system->dead[system->leader[k]]; i++)
      q_dot[i] += slope[i] * system->M[k * n + i];
  }
  for (rf_index i = 0; i < n; i++) q_dot[i] *= system->problem->y[i];
}

static void load_margins(RfRun *run, RfWalkFit *fit) {
  const RfSystem *system = &run->system;
  double *q_dot = system->curvature; /* of the next fields */
  margin_speed(run, q_dot);
  fit->h_old = fit->fall = 1, fit->age = 0, fit->log_S = system->log_S;
  for (rf_index r = 0; r < fit->walk.n; r++) {
    rf_index i = fit->row[r];
    fit->q[r] = system->q[i], fit->q_old[r] = system->q[i] - q_dot[i];
    fit->push[r] = fit->before[r] = fabs(system->c[i]);
    fit->y[r] = system->problem->y[i];
    fit->bend[r] = -fit->push[r] * rf_loss_curvature(system->problem->loss, system->q[i]);
    fit->c[r] = system->c[i];
  }
}

static RfStatus load(RfRun *run, RfWalkFit *fit) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, units = system->units;
  RfStatus status = RF_OK;
  int8_t *sides = RF_NEW(int8_t, fit->walk.n);
  if (!sides) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the fit");
  for (rf_index u = 0; u < units && !status; u++) {
    const int8_t *sigma = system->sigma + u * n;
    int sign = system->y[units * d + u] > 0 ? 1 : -1;
    for (rf_index r = 0; r < fit->walk.n; r++) sides[r] = sigma[fit->row[r]];
    status = rf_walk_put(&fit->walk, u, system->y + u * d, system->y[units * (d + 1) + u], sign, sides);
    RfWalker *w = &fit->walk.walker[u];
    w->active = 0; /* of all samples: a unit is not dead while one of those left out is active */
    for (rf_index i = 0; i < n; i++) w->active += sigma[i] > 0;
    if (system->dead[u]) w->state = RF_WALK_DEAD;
  }
  rf_free(sides);
  load_margins(run, fit);
  return status ? status : rf_walk_refresh(&fit->walk, fit->c, true);
}

/* before: of the one until now. */
static RfStatus fit_new(RfRun *run, RfWalkFit **out, const RfWalkAhead *before) {
  const RfSystem *system = &run->system;
  rf_index d = system->d, units = system->units, count;
  RfWalkFit *fit = *out = RF_NEW(RfWalkFit, 1);
  if (!fit) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the fit");
  fit->taken = RF_NEW(uint8_t, system->n);
  fit->row = RF_NEW(rf_index, system->n);
  bool room = fit->taken && fit->row;
  count = room ? choose(system, fit->taken) : 0;
  RfStatus status = room ? take_rows(run, fit, count) : RF_OK;
  fit->saved = RF_NEW(Saved, units);
  fit->numbers = fit->q = RF_NEW(double, 9 * count);
  room = room && fit->saved && fit->q;
  for (rf_index k = 0; k < units && room && !status; k++) {
    fit->saved[k].w = RF_NEW(double, d + 2 * count);
    room = fit->saved[k].w != NULL;
    if (room) fit->saved[k].h = fit->saved[k].w + d, fit->saved[k].side = fit->saved[k].h + count;
  }
  if (!status && !room) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the fit");
  if (!status) {
    fit->q_old = fit->q + count, fit->q_new = fit->q_old + count, fit->c = fit->q_new + count;
    fit->push = fit->c + count, fit->push_new = fit->push + count;
    fit->before = fit->push_new + count, fit->y = fit->before + count, fit->bend = fit->y + count;
    fit->walk.logging = true;
    status = load(run, fit);
  }
  if (!status && run->h > 0)
    status = rf_walk_ahead_new(run->context, &fit->ahead, &fit->walk, system, fit->bend, run->h, before);
  if (status) {
    rf_walk_fit_free(fit);
    *out = NULL;
  }
  return status;
}

/* Sides of unit u on the samples left out: where it is. */
static RfStatus look_at_far(RfRun *run, const RfWalkFit *fit, rf_index u, bool *changed) {
  RfSystem *system = &run->system;
  rf_index n = system->n;
  RfStatus status = RF_OK;
  for (rf_index i = 0; i < n && !status; i++) {
    if (fit->taken[i]) continue;
    int8_t *sigma = system->sigma + u * n + i;
    if (*sigma * system->H[u * n + i] >= 0) continue;
    *sigma = (int8_t) - *sigma;
    *changed = true;
    status = rf_events_log(run, u, i, RF_EVENT_CROSS);
  }
  return status;
}

static RfStatus store(RfRun *run, RfWalkFit *fit) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, units = system->units;
  RfStatus status = RF_OK;
  bool far = fit->walk.n < n;
  for (rf_index u = 0; u < units; u++) {
    const RfWalker *w = &fit->walk.walker[u];
    double norm = rf_la_norm(w->w, d);
    if (system->dead[u]) continue;
    for (rf_index j = 0; j < d; j++) system->y[u * d + j] = sqrt(0.5) * w->w[j] / norm;
    system->y[units * (d + 1) + u] = w->log_norm + log(norm) + 0.5 * log(2);
  }
  system->planes_known = false;
  if (far) rf_system_planes(system, system->y);
  for (rf_index u = 0; u < units && !status; u++) {
    RfWalker *w = &fit->walk.walker[u];
    bool changed = false;
    if (system->dead[u]) continue;
    for (rf_index r = 0; r < fit->walk.n; r++) {
      int8_t side = (int8_t)w->side[r], *sigma = system->sigma + u * n + fit->row[r];
      changed = changed || side != *sigma;
      *sigma = side;
    }
    if (far) status = look_at_far(run, fit, u, &changed);
    if (changed && !status) status = rf_system_refresh_unit(system, u);
    w->active = 0;
    for (rf_index i = 0; i < n; i++) w->active += system->sigma[u * n + i] > 0;
  }
  return status;
}

/* Walker u takes the sides that the system has, all samples counted. */
static RfStatus take_sides(const RfSystem *system, RfWalkFit *fit, rf_index u) {
  RfWalker *w = &fit->walk.walker[u];
  const int8_t *sigma = system->sigma + u * system->n;
  RfStatus status = RF_OK;
  w->n_on = w->active = 0;
  for (rf_index r = 0; r < fit->walk.n && !status; r++) {
    w->side[r] = sigma[fit->row[r]];
    if (w->side[r] == 0 && fit->walk.norm[r] > 0) status = rf_walk_hold(&fit->walk, w, r, 0);
  }
  for (rf_index i = 0; i < system->n; i++) w->active += sigma[i] > 0;
  return status;
}

/* Slides were decided under the weights at the middle of a step, and a slope is a small difference of what
 * thousands of samples push, over the push of one: those that do not hold under the weights here are let go.
 */
static RfStatus check_slides(RfRun *run, RfWalkFit *fit) {
  RfSystem *system = &run->system;
  double *slopes = RF_NEW(double, system->n + system->d);
  RfStatus status = slopes ? RF_OK : rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a slide");
  for (rf_index u = 0; u < system->units && !status; u++) {
    rf_index before = system->slide[u].n_on;
    if (system->dead[u] || before == 0) continue;
    status = rf_slides_check(run, u, slopes, true);
    if (!status && system->slide[u].n_on != before) status = take_sides(system, fit, u);
  }
  rf_free(slopes);
  return status;
}

/* ---- one step -------------------------------------------------------------------------------- */

static RfStatus save(RfWalkFit *fit) {
  rf_index n = fit->walk.n, d = fit->walk.d;
  for (rf_index k = 0; k < fit->walk.m; k++) {
    const RfWalker *w = &fit->walk.walker[k];
    Saved *s = &fit->saved[k];
    if (s->room < w->n_on) {
      rf_index *on = rf_resize(s->on, 2 * w->n_on, sizeof *on);
      if (!on) return rf_fail(fit->walk.context, RF_ERR_MEMORY, "out of memory for a slide");
      s->on = on, s->room = 2 * w->n_on;
    }
    memcpy(s->w, w->w, (size_t)d * sizeof(double));
    memcpy(s->h, w->h, (size_t)n * sizeof(double));
    memcpy(s->side, w->side, (size_t)n * sizeof(double));
    if (w->n_on > 0) memcpy(s->on, w->on, (size_t)w->n_on * sizeof *s->on);
    s->log_norm = w->log_norm, s->t = w->t, s->n_on = w->n_on, s->active = w->active, s->state = w->state;
  }
  return RF_OK;
}

static void restore(RfWalkFit *fit) {
  rf_index n = fit->walk.n, d = fit->walk.d;
  for (rf_index k = 0; k < fit->walk.m; k++) {
    RfWalker *w = &fit->walk.walker[k];
    const Saved *s = &fit->saved[k];
    memcpy(w->w, s->w, (size_t)d * sizeof(double));
    memcpy(w->h, s->h, (size_t)n * sizeof(double));
    memcpy(w->side, s->side, (size_t)n * sizeof(double));
    if (s->n_on > 0) memcpy(w->on, s->on, (size_t)s->n_on * sizeof *s->on);
    w->log_norm = s->log_norm, w->t = s->t, w->n_on = s->n_on, w->active = s->active, w->state = s->state;
  }
}

static void margins(const RfWalkFit *fit, const RfSystem *system, double *q) {
  rf_index n = fit->walk.n;
  double leak = fit->walk.leak;
  memset(q, 0, (size_t)n * sizeof(double));
  for (rf_index k = 0; k < fit->walk.m; k++) {
    const RfWalker *w = &fit->walk.walker[k];
    if (w->state == RF_WALK_DEAD) continue;
    double size = w->sign * rf_la_norm(w->w, fit->walk.d) * exp(2 * w->log_norm);
    for (rf_index i = 0; i < n; i++) q[i] += size * (w->side[i] > 0 ? w->h[i] : leak * w->h[i]);
  }
  for (rf_index r = 0; r < n; r++) q[r] *= system->problem->y[fit->row[r]];
}

/* c of a step of length h, over e^log_S: those at its middle, or, where they would fall faster than the step
 * is long, as walk_ahead.c finds them. Returns what the step may be off. */
static double step_weights(RfWalkFit *fit, const RfSystem *system, double h) {
  RfLoss loss = system->problem->loss;
  double ahead = 0.5 * h / fit->h_old;
  RfWalkPast past = {.q = fit->q,
                     .q_old = fit->q_old,
                     .h_old = fit->h_old,
                     .push = fit->before,
                     .fall = fit->fall,
                     .age = fit->age,
                     .log_S = fit->log_S,
                     .y = fit->y,
                     .loss = loss};
  bool stiff = rf_walk_ahead_weights(system->context, &fit->ahead, &fit->walk, &past, h, fit->c);
  for (rf_index r = 0; r < fit->walk.n; r++) {
    double q = fit->q[r] + ahead * (fit->q[r] - fit->q_old[r]);
    if (!stiff) fit->c[r] = rf_walk_push(loss, q, fit->log_S);
    fit->c[r] *= fit->y[r];
  }
  return stiff ? RF_TOL_WALK_AHEAD : RF_TOL_WALK;
}

/* Relative distance of the weights used from the mean of those at the ends. A factor that all of them have in
 * common only moves the clock: *clock is time over that of the weights used, and counts for a tenth. */
static double disagreement(const RfWalkFit *fit, const RfSystem *system, double *clock) {
  RfLoss loss = system->problem->loss;
  double off = 0, used = 0, sum = 0;
  for (rf_index r = 0; r < fit->walk.n; r++) {
    fit->push_new[r] = rf_walk_push(loss, fit->q_new[r], fit->log_S);
    if (!fit->walk.seen[r]) continue; /* its weight does not fall, and pushes nobody */
    used += fabs(fit->c[r]), sum += 0.5 * (fit->push[r] + fit->push_new[r]);
  }
  *clock = used / sum;
  for (rf_index r = 0; r < fit->walk.n; r++)
    if (fit->walk.seen[r]) off += fabs(0.5 * (fit->push[r] + fit->push_new[r]) * *clock - fabs(fit->c[r]));
  return fmax(off / used, RF_TOL_WALK_CLOCK * fabs(*clock - 1));
}

/* Weights at q_new become those at q, in their own sum; so do those of the step, which was h long. */
static void next_weights(RfWalkFit *fit, double h) {
  double sum = 0, *push = fit->push;
  for (rf_index r = 0; r < fit->walk.n; r++)
    if (fit->walk.seen[r]) sum += fit->push_new[r];
  fit->push = fit->push_new, fit->push_new = push;
  for (rf_index r = 0; r < fit->walk.n; r++) {
    fit->push[r] /= sum;
    fit->before[r] = fabs(fit->c[r]);
  }
  fit->log_S += log(sum);
  fit->h_old = h, fit->fall = sum, fit->age = 0.5 * h * sum;
}

/* Events of a step that began at the clock t, at their times. */
static RfStatus log_step(RfRun *run, RfWalkFit *fit, double t, double log_S) {
  RfSystem *system = &run->system;
  double before = system->log_t;
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < fit->walk.m; k++) {
    RfWalker *w = &fit->walk.walker[k];
    for (rf_index e = 0; e < w->n_events && !status; e++) {
      double dt = w->events[e].t - t;
      system->log_t = dt > 0 ? rf_run_log_add(before, log(dt) - log_S) : before;
      status = rf_events_log(run, k, fit->row[w->events[e].sample], w->events[e].kind);
    }
    if (w->n_events > 0) run->since_event = -1, run->step_events++;
    w->n_events = 0;
  }
  system->log_t = before;
  return status;
}

static RfStatus one_step(RfRun *run, RfWalkFit *fit, double *h) {
  RfSystem *system = &run->system;
  RfStatus status = save(fit);
  while (!status) {
    double tolerance = run->stride_tolerance * step_weights(fit, system, *h);
    for (rf_index k = 0; k < fit->walk.m; k++) fit->walk.walker[k].t = 0, fit->walk.walker[k].n_events = 0;
    status = rf_walk_refresh(&fit->walk, fit->c, fit->steps % REFRESH == REFRESH - 1);
    if (!status) status = rf_walk_to(&fit->walk, *h);
    if (status) break;
    margins(fit, system, fit->q_new);
    double clock, off = disagreement(fit, system, &clock);
    double factor = 0.9 * sqrt(tolerance / fmax(off, RF_TOL_TINY));
    if (off <= 2 * tolerance) {
      status = log_step(run, fit, 0, fit->log_S);
      system->log_t = rf_run_log_add(system->log_t, log(*h * clock) - fit->log_S);
      system->tau += *h;
      next_weights(fit, *h);
      double *oldest = fit->q_old;
      fit->q_old = fit->q, fit->q = fit->q_new, fit->q_new = oldest;
      run->step_taken = *h;
      *h *= fmin(1.5, fmax(0.5, factor));
      return status;
    }
    restore(fit);
    *h *= fmax(0.3, fmin(0.9, factor));
    if (!(*h > RF_TOL_STEP_EXPLICIT)) status = RF_UNDECIDED;
  }
  if (status == RF_INTERRUPTED) restore(fit);
  return status;
}

RfStatus rf_walk_fit_step(RfRun *run) {
  RfSystem *system = &run->system;
  double size = rf_system_log_size(system);
  RfStatus status = RF_OK;
  bool stale = run->walk_fit &&
               (run->walk_fit->steps >= CHOOSE || left_out(run->walk_fit, system) > RF_TOL_WALK_LEFT_OUT);
  if (stale || !run->walk_fit) {
    RfWalkAhead before = {0};
    if (stale) before = run->walk_fit->ahead, run->walk_fit->ahead = (RfWalkAhead){0};
    rf_walk_fit_free(run->walk_fit);
    rf_system_fields(system, system->y);
    status = fit_new(run, &run->walk_fit, &before);
    rf_walk_ahead_free(&before);
  }
  if (status) return status;
  RfWalkFit *fit = run->walk_fit;
  double h = run->h > 0 ? run->h : RF_TOL_WALK / rf_system_reach(system);
  for (int step = 0; step < STEPS && !status; step++, fit->steps++) status = one_step(run, fit, &h);
  run->h = h;
  run->fresh = false;
  run->steps_explicit++;
  run->since_event++;
  run->stuck = 0;
  if (!status || status == RF_INTERRUPTED) {
    RfStatus stored = store(run, fit);
    if (stored) status = stored;
  }
  if (!status) {
    rf_system_normalise(system, system->y);
    rf_system_fields(system, system->y);
    status = check_slides(run, fit);
    if (!status && !system->classes_known) rf_system_fields(system, system->y);
    bool crawls = system->q_least > 1 && rf_system_log_size(system) - size < RF_TOL_WALK_CRAWL;
    run->phase.crawling = crawls ? run->phase.crawling + 1 : 0;
  }
  return status;
}
