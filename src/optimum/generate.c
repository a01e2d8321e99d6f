/* Pattern generation: the restricted dual is followed along its central path (interior.c) while local climbs
 * add the patterns that it violates; when none is left a Newton polish lands on the optimum (polish.c), and
 * the exact search (search.c, plane.c) proves the lower bound or finds what is missing. Every bound kept is
 * valid on its own: an upper bound is a feasible network, a lower bound is sum(lambda)/M. */
#include "optimum/solve_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"
#include "la/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- state and bounds ------------------------------------------------------------------------- */

void rf_solve_free(RfSolve *s) {
  rf_master_free(s->master);
  rf_oracle_free(&s->oracle);
  rf_directions_free(&s->steep);
  rf_atoms_free(&s->best);
  rf_free(s->lambda), rf_free(s->trial), rf_free(s->u);
}

RfStatus rf_solve_new(RfSolve *s) {
  s->lambda = RF_NEW(double, s->p->n), s->trial = RF_NEW(double, s->p->n), s->u = RF_NEW(double, s->p->r);
  if (!s->lambda || !s->trial || !s->u)
    return rf_fail(s->context, RF_ERR_MEMORY, "out of memory for the optimum");
  s->steep.r = s->best.r = s->p->r;
  s->upper = INFINITY;
  /* one sample alone: M = 1 for a unit row */
  rf_index hardest = 0;
  for (rf_index i = 0; i < s->p->n; i++)
    if (s->p->b[i] > s->p->b[hardest]) hardest = i;
  s->lambda[hardest] = 1, s->lower = s->p->b[hardest];
  rf_random_init(&s->random, s->settings->seed, 7);
  return RF_OK;
}

static void record_search(RfSolve *s, double searched, rf_index nodes) {
  if (!s->settings->on_record || s->quiet) return;
  RfOptimumRecord now = {.seconds = rf_clock_seconds() - s->started,
                         .objective = s->upper * s->p->scale,
                         .lower = s->lower * s->p->scale,
                         .round = s->result->rounds,
                         .patterns = s->result->patterns_seen,
                         .nodes = s->result->nodes + nodes,
                         .searched = searched};
  s->recorded = now.seconds;
  s->settings->on_record(s->settings->user, &now);
}

static void record(RfSolve *s) { record_search(s, -1, 0); }

/* From a search that runs: a few times a second. */
static void beat(void *user, double share, rf_index nodes) {
  RfSolve *s = user;
  double since = rf_clock_seconds() - s->started - s->recorded;
  if (s->settings->every_record || since > rf_beat_seconds) record_search(s, share, nodes);
}

/* Keeps the network when it is better. */
void rf_solve_offer_network(RfSolve *s, RfAtoms *atoms) {
  double objective = rf_atoms_objective(s->p, atoms, NULL);
  if (!(objective < s->upper)) return;
  RfAtoms old = s->best;
  s->best = *atoms, *atoms = old;
  s->upper = objective;
  record(s);
}

/* Keeps multipliers whose dual norm is at most `norm`. */
void rf_solve_offer_multipliers(RfSolve *s, const double *lambda, double norm) {
  double value = rf_la_dot(s->p->b, lambda, s->p->n) / norm;
  if (!(value > s->lower) || !(norm > 0)) return;
  for (rf_index i = 0; i < s->p->n; i++) s->lambda[i] = lambda[i] / norm;
  s->lower = value;
  record(s);
}

bool rf_solve_close(const RfSolve *s, double gap) {
  return isfinite(s->upper) && s->upper - s->lower <= gap * s->upper;
}

/* The master's own network: neurons c r. */
static RfStatus master_network(RfSolve *s) {
  RfAtoms atoms = {.r = s->p->r};
  RfStatus status = RF_OK;
  for (rf_index j = 0; j < rf_master_count(s->master) && !status; j++) {
    const RfPattern *pattern = rf_master_pattern(s->master, j);
    double size = pattern->v;
    if (!(size > 0)) continue;
    for (rf_index k = 0; k < s->p->r; k++) s->u[k] = pattern->r[k] / size;
    status = rf_atoms_add(s->context, &atoms, s->u, pattern->c * size, pattern->sign);
  }
  if (!status) rf_solve_offer_network(s, &atoms);
  rf_atoms_free(&atoms);
  return status;
}

/* Proves an upper bound of M(lambda) with the exact search, starting from the target. Directions above the
 * target are left in s->steep. */
static RfStatus prove_norm(RfSolve *s, const double *lambda, double target, rf_index stop_after,
                           rf_index nodes, double *norm) {
  RfStatus status = RF_OK;
  s->steep.count = 0;
  *norm = target;
  for (int sign = 1; sign >= -1 && status >= 0; sign -= 2) { /* stopped or not, the bound is of both signs */
    rf_index limit = s->settings->search_nodes;
    if (nodes > 0 && (limit == 0 || nodes < limit)) limit = nodes;
    if (s->settings->signs * sign < 0) continue;
    RfSearch search = {.target = target,
                       .room = rf_even_share * (target - 1),
                       .stop_after = stop_after,
                       .node_limit = limit,
                       .beat = beat,
                       .user = s};
    RfStatus found =
        (s->p->r <= 2 ? rf_search_plane : rf_search_run)(s->context, &search, s->p, lambda, sign);
    status = rf_status_worse(status, found);
    s->result->nodes += search.nodes;
    *norm = fmax(*norm, search.upper);
    for (rf_index k = 0; k < search.found.count && status >= 0; k++) {
      RfStatus added =
          rf_directions_add(s->context, &s->steep, search.found.u + k * s->p->r, search.found.value[k], sign);
      if (added) status = added;
    }
    rf_directions_free(&search.found);
  }
  s->result->searches++;
  return status;
}

/* ---- pattern generation ----------------------------------------------------------------------- */

static RfStatus climb_from(RfSolve *s, const double *lambda, const double *start, int sign, double above) {
  double size = rf_la_norm(start, s->p->r);
  if (!(size > 0) || s->settings->signs * sign < 0) return RF_OK;
  for (rf_index k = 0; k < s->p->r; k++) s->u[k] = start[k] / size;
  double value = rf_oracle_climb(&s->oracle, lambda, s->u, sign);
  return value > above ? rf_directions_add(s->context, &s->steep, s->u, value, sign) : RF_OK;
}

/* Local maxima above `above` from random directions, with both signs. */
static RfStatus climb_random(RfSolve *s, const double *lambda, rf_index starts, double above) {
  RfStatus status = RF_OK;
  double *start = RF_NEW(double, s->p->r);
  if (!start) return rf_fail(s->context, RF_ERR_MEMORY, "out of memory for a direction");
  for (rf_index k = 0; k < starts && !status; k++) {
    rf_random_direction(&s->random, start, s->p->r);
    for (int sign = 1; sign >= -1 && !status; sign -= 2) status = climb_from(s, lambda, start, sign, above);
    if (!status && rf_context_stop(s->context)) status = RF_INTERRUPTED;
  }
  rf_free(start);
  return status;
}

/* Local maxima above 1 from every neuron, from random directions and from some samples. */
static RfStatus climb_all(RfSolve *s, const double *lambda, double above) {
  RfStatus status = RF_OK;
  const RfReduced *p = s->p;
  rf_index starts = 10 + 2 * p->r;
  s->steep.count = 0;
  if (p->r <= 2) {
    double norm;
    return prove_norm(s, lambda, above, 1, 0, &norm);
  }
  for (rf_index j = 0; j < rf_master_count(s->master) && !status; j++) {
    const RfPattern *pattern = rf_master_pattern(s->master, j);
    status = climb_from(s, lambda, pattern->r, pattern->sign, above);
  }
  return status ? status : climb_random(s, lambda, starts, above);
}

typedef struct Ranked {
  double value;
  rf_index at;
} Ranked;

static int by_value(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  return x->value > y->value ? -1 : x->value < y->value ? 1 : (x->at > y->at) - (x->at < y->at);
}

/* The steepest candidates become patterns; *added counts the new ones. */
static RfStatus add_steepest(RfSolve *s, rf_index most, rf_index *added) {
  RfStatus status = RF_OK;
  Ranked *ranked = RF_NEW(Ranked, s->steep.count);
  if (!ranked) return rf_fail(s->context, RF_ERR_MEMORY, "out of memory for directions");
  for (rf_index k = 0; k < s->steep.count; k++) ranked[k] = (Ranked){s->steep.value[k], k};
  qsort(ranked, (size_t)s->steep.count, sizeof *ranked, by_value);
  for (rf_index k = 0; k < s->steep.count && *added < most && !status; k++) {
    bool fresh = false;
    rf_index at = ranked[k].at;
    status = rf_master_add(s->context, s->master, s->steep.u + at * s->p->r, s->steep.sign[at], &fresh);
    *added += fresh, s->result->patterns_seen += fresh;
  }
  rf_free(ranked);
  return status;
}

/* First patterns: local maxima for equal weights, from every sample. */
static RfStatus first_patterns(RfSolve *s) {
  const RfReduced *p = s->p;
  RfStatus status = RF_OK;
  rf_index added = 0;
  for (rf_index i = 0; i < p->n; i++) s->trial[i] = 1;
  for (rf_index k = 0; s->hints && k < s->hints->count && !status; k++)
    status = rf_directions_add(s->context, &s->steep, s->hints->u + k * p->r, 1e3, s->hints->sign[k]);
  for (rf_index i = 0; i < p->n && !status; i++) {
    status = rf_directions_add(s->context, &s->steep, p->X + i * p->r, 0, p->y[i] > 0 ? 1 : -1);
    if (p->n <= 200 && !status)
      status = climb_from(s, s->trial, p->X + i * p->r, p->y[i] > 0 ? 1 : -1, -INFINITY);
  }
  for (rf_index k = s->steep.count; k-- > 0;) /* signs that are not allowed are not used */
    if (s->steep.sign[k] * s->settings->signs < 0) s->steep.value[k] = -INFINITY;
  if (s->settings->signs)
    for (rf_index k = 0; k < s->steep.count; k++) s->steep.sign[k] = s->settings->signs;
  if (!status) status = add_steepest(s, 3 * p->n, &added);
  rf_master_restore(s->master, 100);
  return status;
}

/* ---- the loop --------------------------------------------------------------------------------- */

/* The exact search on multipliers: first with a limit on its nodes; when that is not enough, looser targets
 * come first, so that a long proof leaves better and better lower bounds behind. Each costs a few times the
 * one before it, and none a large part of the last, as one at 1.2 would (a fifth of all nodes at 80 samples
 * in 10 dimensions); what would not raise the bound known is left out. Before each of them climbs look for
 * what is missing, for a small part of what the searches took so far: a search that finds it late is lost. */
RfStatus rf_solve_prove(RfSolve *s, const double *lambda, double slack, double *norm) {
  static const double targets[] = {10, 3, 2, 1.5, 1};
  enum { enough_found = 100, count = sizeof targets / sizeof *targets };
  rf_index first_nodes = s->p->r <= 6 ? 100000 : 20000; /* trees are small in few dimensions */
  double value = rf_la_dot(s->p->b, lambda, s->p->n);
  rf_index before = s->result->nodes, climbed = 0;
  RfStatus status = prove_norm(s, lambda, 1 + slack, enough_found, first_nodes, norm);
  if (status >= 0) rf_solve_offer_multipliers(s, lambda, *norm);
  if (status || *norm <= 1 + fmax(rf_norm_enough, slack) || s->steep.count > 0) return status;
  for (int k = 0; k < count && !status; k++) {
    double target = fmax(targets[k], 1 + slack);
    bool last = k + 1 == count;
    if (!last && (target <= 1 + 2 * slack || value / target <= s->lower)) continue;
    rf_index climbs = (s->result->nodes - before) / rf_climb_nodes;
    if (s->p->r > 2) status = climb_random(s, lambda, climbs - climbed, 1 + fmax(rf_missing_pattern, slack));
    climbed = climbs;
    if (status || s->steep.count > 0) return status;
    status = prove_norm(s, lambda, target, enough_found, 0, norm);
    if (status >= 0) rf_solve_offer_multipliers(s, lambda, *norm);
    if (s->steep.count > 0) return status;
  }
  return status;
}

RfStatus rf_solve_try(RfSolve *s, const double *lambda, double slack, rf_index nodes) {
  double norm;
  RfStatus status = prove_norm(s, lambda, 1 + slack, 1, nodes, &norm);
  if (status >= 0) rf_solve_offer_multipliers(s, lambda, norm);
  return status;
}

/* Whether a proof of the present multipliers could leave a gap that is small enough. */
static bool could_close(const RfSolve *s, double aim) {
  return s->upper - rf_la_dot(s->p->b, s->trial, s->p->n) <= aim * s->upper;
}

/* Polish, then prove. `final` proves also without a polish what can close the gap, `last` whatever there is.
 * *added counts patterns that were missing; *done: the point is polished and a proof was not asked for. */
static RfStatus finish(RfSolve *s, double aim, bool final, bool last, rf_index *added, bool *done) {
  const RfReduced *p = s->p;
  RfAtoms atoms = {.r = p->r};
  bool polished = false;
  double norm;
  memcpy(s->trial, rf_master_lambda(s->master), (size_t)p->n * sizeof(double));
  RfStatus status = rf_optimum_polish(s->context, &atoms, s->trial, &polished, p, s->master);
  if (!status && polished) {
    status = climb_all(s, s->trial, 1 + rf_missing_pattern);
    if (!status) status = add_steepest(s, 50, added);
    if (*added == 0) rf_solve_offer_network(s, &atoms);
    if (*added == 0 && s->steep.count > 0) polished = false; /* the patterns it left out do not hold */
  }
  if (!s->prove)
    *done = (polished && *added == 0) || final;
  else if (!status && *added == 0 && (polished || last || (final && could_close(s, aim)))) {
    double slack = aim > rf_loose_aim ? aim / 4 : rf_norm_slack; /* a loose aim makes a short proof */
    status = rf_solve_prove(s, s->trial, slack, &norm);
    if (!status && norm > 1 + fmax(rf_norm_enough, slack)) status = add_steepest(s, 50, added);
  }
  rf_atoms_free(&atoms);
  return status;
}

/* Most violated constraint of the last candidates. */
static double excess(const RfSolve *s) {
  double over = 0;
  for (rf_index k = 0; k < s->steep.count; k++) over = fmax(over, s->steep.value[k] - 1);
  return over;
}

/* Multipliers that grow without bound while no network is known (one sign only; reduce.c finds the other
 * cases). RF_INFEASIBLE, a suspicion which the caller proves or drops, with the direction in s->lambda. */
static RfStatus check_unbounded(RfSolve *s) {
  const RfReduced *p = s->p;
  const double *lambda = rf_master_lambda(s->master);
  double total = 0, norm = INFINITY;
  for (rf_index i = 0; i < p->n; i++) total += lambda[i];
  if (s->fits || isfinite(s->upper) || s->settings->signs == 0 || total < rf_unbounded_sum) return RF_OK;
  RfStatus status = RF_OK;
  for (int turn = 0; turn < 10 && !status && total < rf_unbounded_most; turn++) {
    status = rf_master_run(s->context, s->master, DBL_MIN, 10, &s->result->newton_steps);
    total = 0;
    for (rf_index i = 0; i < p->n; i++) total += lambda[i];
  }
  for (rf_index i = 0; i < p->n; i++) s->trial[i] = lambda[i] / total * rf_unbounded_value;
  if (!status) status = prove_norm(s, s->trial, 1, 1, 100000, &norm);
  if (status >= 0) rf_solve_offer_multipliers(s, s->trial, norm);
  return status || norm > 1 ? status : RF_INFEASIBLE;
}

/* The bound of given multipliers by a short search. */
static RfStatus quick_bound(RfSolve *s, const double *lambda, rf_index nodes) {
  double norm;
  RfStatus status = prove_norm(s, lambda, 1, 0, nodes, &norm);
  if (status >= 0) rf_solve_offer_multipliers(s, lambda, norm);
  return status;
}

/* Both bounds from the present iterate of the master. */
static RfStatus quick_bounds(RfSolve *s, rf_index nodes) {
  memcpy(s->trial, rf_master_lambda(s->master), (size_t)s->p->n * sizeof(double));
  RfStatus status = master_network(s);
  return status ? status : quick_bound(s, s->trial, nodes);
}

RfStatus rf_solve_last_bound(RfSolve *s, const double *lambda) {
  RfContext calm = *s->context, *caller = s->context;
  calm.deadline = rf_clock_seconds() + 0.2, calm.cancel = NULL;
  s->context = &calm;
  RfStatus status = quick_bound(s, lambda, 2000);
  s->context = caller;
  return status < 0 ? status : RF_INTERRUPTED;
}

/* What the interrupted master knows. */
static RfStatus last_bounds(RfSolve *s) {
  memcpy(s->trial, rf_master_lambda(s->master), (size_t)s->p->n * sizeof(double));
  RfStatus status = master_network(s);
  return status ? status : rf_solve_last_bound(s, s->trial);
}

/* Products of one step of the master: every pattern adds its block of r columns to a matrix of order n. */
static double newton_work(const RfSolve *s) {
  double n = (double)s->p->n;
  return n * n * (double)(s->p->r * rf_master_count(s->master));
}

RfStatus rf_solve_generate(RfSolve *s, double aim) {
  rf_oracle_free(&s->oracle);
  rf_master_free(s->master);
  s->master = NULL, s->steep.count = 0;
  RfStatus status = rf_oracle_new(s->context, &s->oracle, s->p);
  if (!status) status = rf_master_new(s->context, &s->master, s->p);
  if (!status) status = rf_solve_linear_network(s);
  if (!status) status = first_patterns(s);
  RfOptimum *result = s->result;
  double goal = 0.3, work = 0;
  for (result->rounds = 0; !status && result->rounds < 400; result->rounds++) {
    rf_index added = 0;
    rf_index before = result->newton_steps;
    status = rf_master_run(s->context, s->master, goal, 60, &result->newton_steps);
    work += (double)(result->newton_steps - before) * newton_work(s);
    if (!status) status = check_unbounded(s);
    if (!status) status = climb_all(s, rf_master_lambda(s->master), 1 + rf_missing_pattern);
    if (!status) status = add_steepest(s, 20 + s->p->n / 4, &added);
    if (!status && added == 0 && goal < rf_goal_polish) {
      status = master_network(s);
      bool done = false;
      if (!status) status = finish(s, aim, goal < rf_goal_final, goal < rf_goal_last, &added, &done);
      if (done || rf_solve_close(s, aim)) break;
      if (!status && added == 0 && goal < rf_goal_last) break;
    }
    bool slow = !s->quiet && work > rf_long_work; /* long runs show bounds on the way */
    if (!status && added == 0 && goal >= rf_goal_polish && goal < 0.05 && slow)
      status = quick_bounds(s, 1000);
    if (added > 0)
      rf_master_restore(s->master, fmin(100, fmax(goal, 10 * excess(s))));
    else
      goal *= 0.1;
  }
  if (status == RF_INTERRUPTED && s->master && rf_master_mu(s->master) > 0) status = last_bounds(s);
  return status;
}
