/* The fit on thousands of samples. Over a short step the weights of the samples are taken as those at its
 * middle, where the margins are continued from the step before; under constant weights every unit is followed
 * exactly (walk.c), with its crossings and slides. The step is good when the weights at its middle agree with
 * the mean of those at its ends: second order, at one product with the data per pattern and step. */
#include "flow/large/walk_fit.h"

#include <math.h>
#include <string.h>

#include "flow/flow_tolerances.h"

enum { STEPS = 10, REFRESH = 40 };

typedef struct Saved {
  double *w, *h, *side, log_norm, t;
  rf_index *on, n_on, active, room;
  RfWalkState state;
} Saved;

struct RfWalkFit {
  RfWalk walk;
  Saved *saved;
  double *numbers;               /* holds the next four */
  double *q, *q_old, *q_new, *c; /* n each */
  double h_old;                  /* 0: there is no step before */
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

static RfStatus fit_new(RfRun *run, RfWalkFit **out) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, units = system->units;
  RfWalkFit *fit = *out = RF_NEW(RfWalkFit, 1);
  if (!fit) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the fit");
  RfStatus status = rf_walk_new(run->context, &fit->walk, run->problem->X, run->problem->gram, n, d, units,
                                run->problem->leak);
  fit->saved = RF_NEW(Saved, units);
  fit->numbers = fit->q = RF_NEW(double, 4 * n);
  bool room = fit->saved && fit->q;
  for (rf_index k = 0; k < units && room && !status; k++) {
    fit->saved[k].w = RF_NEW(double, d + 2 * n);
    room = fit->saved[k].w != NULL;
    if (room) fit->saved[k].h = fit->saved[k].w + d, fit->saved[k].side = fit->saved[k].h + n;
  }
  if (!status && !room) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the fit");
  if (status) {
    rf_walk_fit_free(fit);
    *out = NULL;
    return status;
  }
  fit->q_old = fit->q + n, fit->q_new = fit->q_old + n, fit->c = fit->q_new + n;
  fit->walk.logging = true;
  return RF_OK;
}

/* ---- between system and walkers -------------------------------------------------------------- */

static RfStatus load(const RfRun *run, RfWalkFit *fit) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, units = system->units;
  RfStatus status = RF_OK;
  for (rf_index u = 0; u < units && !status; u++) {
    double rho = system->y[units * (d + 1) + u];
    int sign = system->y[units * d + u] > 0 ? 1 : -1;
    status = rf_walk_put(&fit->walk, u, system->y + u * d, rho, sign, system->sigma + u * n);
    if (system->dead[u]) fit->walk.walker[u].state = RF_WALK_DEAD;
  }
  for (rf_index i = 0; i < n; i++) fit->c[i] = system->c[i];
  memcpy(fit->q, system->q, (size_t)n * sizeof(double));
  fit->h_old = 0;
  return status ? status : rf_walk_refresh(&fit->walk, fit->c, true);
}

static RfStatus store(RfRun *run, RfWalkFit *fit) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, units = system->units;
  RfStatus status = RF_OK;
  for (rf_index u = 0; u < units && !status; u++) {
    const RfWalker *w = &fit->walk.walker[u];
    double norm = rf_la_norm(w->w, d);
    bool changed = false;
    if (system->dead[u]) continue;
    for (rf_index j = 0; j < d; j++) system->y[u * d + j] = sqrt(0.5) * w->w[j] / norm;
    system->y[units * (d + 1) + u] = w->log_norm + log(norm) + 0.5 * log(2);
    for (rf_index i = 0; i < n; i++) {
      int8_t side = (int8_t)w->side[i];
      changed = changed || side != system->sigma[u * n + i];
      system->sigma[u * n + i] = side;
    }
    if (changed) status = rf_system_refresh_unit(system, u);
  }
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
  for (rf_index i = 0; i < n; i++) q[i] *= system->problem->y[i];
}

/* c at the middle of a step of length h, over e^log_S. */
static void middle_weights(RfWalkFit *fit, const RfSystem *system, double h, double log_S) {
  RfLoss loss = system->problem->loss;
  double ahead = fit->h_old > 0 ? 0.5 * h / fit->h_old : 0;
  for (rf_index i = 0; i < fit->walk.n; i++) {
    double q = fit->q[i] + (ahead > 0 ? ahead * (fit->q[i] - fit->q_old[i]) : 0);
    fit->c[i] = system->problem->y[i] * exp(rf_loss_log_slope(loss, q) - log_S);
  }
}

/* Relative distance of the weights used from the mean of those at the ends. */
static double disagreement(const RfWalkFit *fit, const RfSystem *system, double log_S) {
  RfLoss loss = system->problem->loss;
  double off = 0, sum = 0;
  for (rf_index i = 0; i < fit->walk.n; i++) {
    double mean = 0.5 * (exp(rf_loss_log_slope(loss, fit->q[i]) - log_S) +
                         exp(rf_loss_log_slope(loss, fit->q_new[i]) - log_S));
    off += fabs(mean - fabs(fit->c[i])), sum += mean;
  }
  return off / sum;
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
      status = rf_events_log(run, k, w->events[e].sample, w->events[e].kind);
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
  double tolerance = RF_TOL_WALK * run->stride_tolerance, log_S, sum = 0, top = -INFINITY, t = 0;
  for (rf_index i = 0; i < system->n; i++) top = fmax(top, rf_loss_log_slope(run->problem->loss, fit->q[i]));
  for (rf_index i = 0; i < system->n; i++) sum += exp(rf_loss_log_slope(run->problem->loss, fit->q[i]) - top);
  log_S = top + log(sum);
  while (!status) {
    middle_weights(fit, system, *h, log_S);
    t = 0;
    for (rf_index k = 0; k < fit->walk.m; k++) fit->walk.walker[k].t = 0, fit->walk.walker[k].n_events = 0;
    status = rf_walk_refresh(&fit->walk, fit->c, fit->steps % REFRESH == 0);
    if (!status) status = rf_walk_to(&fit->walk, *h);
    if (status) break;
    margins(fit, system, fit->q_new);
    double off = disagreement(fit, system, log_S), factor = 0.9 * sqrt(tolerance / fmax(off, RF_TOL_TINY));
    if (off <= 2 * tolerance) {
      status = log_step(run, fit, t, log_S);
      system->log_t = rf_run_log_add(system->log_t, log(*h) - log_S);
      system->tau += *h;
      double *oldest = fit->q_old;
      fit->q_old = fit->q, fit->q = fit->q_new, fit->q_new = oldest;
      fit->h_old = *h;
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
  RfStatus status = RF_OK;
  rf_system_fields(system, system->y);
  if (!run->walk_fit) status = fit_new(run, &run->walk_fit);
  if (status) return status;
  RfWalkFit *fit = run->walk_fit;
  if (fit->steps == 0) status = load(run, fit);
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
  if (!status) rf_system_normalise(system, system->y);
  return status;
}
