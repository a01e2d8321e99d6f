/* The global max margin: patterns are generated around a barrier path of the restricted dual (master.c), a
 * Newton polish lands on the optimum (polish.c), and the exact search (search.c, plane.c) proves the lower
 * bound. Every bound kept here is valid on its own: an upper bound is a feasible network, a lower bound is
 * sum(lambda)/M. */
#include "optimum/optimum_internal.h"
#include "optimum/kernels.h"
#include "reluflow/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *rf_optimum_status_text(RfOptimumStatus status) {
  static const char *const text[] = {"optimal", "gap", "interrupted", "infeasible"};
  return (unsigned)status < 4 ? text[status] : "unknown";
}

void rf_optimum_settings_init(RfOptimumSettings *settings) { memset(settings, 0, sizeof *settings); }

void rf_optimum_free(RfOptimum *optimum) {
  if (!optimum) return;
  rf_free(optimum->U), rf_free(optimum->sign), rf_free(optimum->patterns), rf_free(optimum->lambda);
  rf_free(optimum->farkas);
  memset(optimum, 0, sizeof *optimum);
}

/* ---- state of a solve
 * --------------------------------------------------------------------------------------- */

typedef struct Solve {
  RfContext *context;
  const RfOptimumSettings *settings;
  RfOptimum *result;
  const RfReduced *p;
  RfMaster *master;
  RfOracle oracle;
  RfRandom random;
  RfDirections steep; /* candidate directions of a round */
  RfAtoms best;       /* best network so far */
  double *lambda;     /* best multipliers so far, M <= 1 proved */
  double *trial;      /* work */
  double *u;
  double upper, lower; /* of the reduced problem */
  double started;
} Solve;

static void solve_free(Solve *s) {
  rf_master_free(s->master);
  rf_oracle_free(&s->oracle);
  rf_directions_free(&s->steep);
  rf_atoms_free(&s->best);
  rf_free(s->lambda), rf_free(s->trial), rf_free(s->u);
}

static RfStatus solve_new(Solve *s) {
  s->lambda = RF_NEW(double, s->p->n), s->trial = RF_NEW(double, s->p->n), s->u = RF_NEW(double, s->p->r);
  if (!s->lambda || !s->trial || !s->u)
    return rf_fail(s->context, RF_ERR_MEMORY, "out of memory for the optimum");
  s->steep.r = s->best.r = s->p->r;
  s->upper = INFINITY;
  rf_random_init(&s->random, s->settings->seed, 7);
  RfStatus status = rf_oracle_new(s->context, &s->oracle, s->p);
  return status ? status : rf_master_new(s->context, &s->master, s->p);
}

static void record(Solve *s) {
  if (!s->settings->on_record) return;
  RfOptimumRecord now = {.seconds = rf_clock_seconds() - s->started,
                         .objective = s->upper * s->p->scale,
                         .lower = s->lower * s->p->scale,
                         .round = s->result->rounds,
                         .patterns = s->result->patterns_seen,
                         .nodes = s->result->nodes};
  s->settings->on_record(s->settings->user, &now);
}

/* ---- bounds
 * ------------------------------------------------------------------------------------------------- */

/* Keeps the network when it is better. */
static void offer_network(Solve *s, RfAtoms *atoms) {
  double objective = rf_atoms_objective(s->p, atoms, NULL);
  if (!(objective < s->upper)) return;
  RfAtoms old = s->best;
  s->best = *atoms, *atoms = old;
  s->upper = objective;
  record(s);
}

/* Keeps multipliers whose dual norm is at most `norm`. */
static void offer_multipliers(Solve *s, const double *lambda, double norm) {
  double value = rf_la_dot(s->p->b, lambda, s->p->n) / norm;
  if (!(value > s->lower) || !(norm > 0)) return;
  for (rf_index i = 0; i < s->p->n; i++) s->lambda[i] = lambda[i] / norm;
  s->lower = value;
  record(s);
}

static bool close_enough(const Solve *s, double gap) {
  return isfinite(s->upper) && s->upper - s->lower <= gap * s->upper;
}

/* The master's own network: neurons c r. */
static RfStatus master_network(Solve *s) {
  RfAtoms atoms = {.r = s->p->r};
  RfStatus status = RF_OK;
  for (rf_index j = 0; j < rf_master_count(s->master) && !status; j++) {
    const RfPattern *pattern = rf_master_pattern(s->master, j);
    double size = pattern->v;
    if (!(size > 0)) continue;
    for (rf_index k = 0; k < s->p->r; k++) s->u[k] = pattern->r[k] / size;
    status = rf_atoms_add(s->context, &atoms, s->u, pattern->c * size, pattern->sign);
  }
  if (!status) offer_network(s, &atoms);
  rf_atoms_free(&atoms);
  return status;
}

/* Proves an upper bound of M(lambda) with the exact search, starting from the target. Directions above the
 * target are left in s->steep. */
static RfStatus prove_norm(Solve *s, const double *lambda, double target, rf_index stop_after, double *norm) {
  RfStatus status = RF_OK;
  s->steep.count = 0;
  *norm = target;
  for (int sign = 1; sign >= -1 && !status; sign -= 2) {
    if (s->settings->signs * sign < 0) continue;
    RfSearch search = {.target = target, .stop_after = stop_after, .node_limit = s->settings->search_nodes};
    status = (s->p->r <= 2 ? rf_search_plane : rf_search_run)(s->context, &search, s->p, lambda, sign);
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

/* ---- pattern generation
 * ------------------------------------------------------------------------------------- */

static RfStatus climb_from(Solve *s, const double *lambda, const double *start, int sign, double above) {
  double size = rf_la_norm(start, s->p->r);
  if (!(size > 0) || s->settings->signs * sign < 0) return RF_OK;
  for (rf_index k = 0; k < s->p->r; k++) s->u[k] = start[k] / size;
  double value = rf_oracle_climb(&s->oracle, lambda, s->u, sign);
  return value > above ? rf_directions_add(s->context, &s->steep, s->u, value, sign) : RF_OK;
}

/* Local maxima above 1 from every neuron, from random directions and from some samples. */
static RfStatus climb_all(Solve *s, const double *lambda, double above) {
  RfStatus status = RF_OK;
  const RfReduced *p = s->p;
  rf_index starts = 10 + 2 * p->r;
  s->steep.count = 0;
  if (p->r <= 2) {
    double norm;
    return prove_norm(s, lambda, above, 1, &norm);
  }
  for (rf_index j = 0; j < rf_master_count(s->master) && !status; j++) {
    const RfPattern *pattern = rf_master_pattern(s->master, j);
    status = climb_from(s, lambda, pattern->r, pattern->sign, above);
  }
  double *start = RF_NEW(double, p->r);
  if (!start) return rf_fail(s->context, RF_ERR_MEMORY, "out of memory for a direction");
  for (rf_index k = 0; k < starts && !status; k++) {
    rf_random_direction(&s->random, start, p->r);
    for (int sign = 1; sign >= -1 && !status; sign -= 2) status = climb_from(s, lambda, start, sign, above);
    if (!status && rf_context_stop(s->context)) status = RF_INTERRUPTED;
  }
  rf_free(start);
  return status;
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
static RfStatus add_steepest(Solve *s, rf_index most, rf_index *added) {
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
static RfStatus first_patterns(Solve *s) {
  const RfReduced *p = s->p;
  RfStatus status = RF_OK;
  rf_index added = 0;
  for (rf_index i = 0; i < p->n; i++) s->trial[i] = 1;
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

/* ---- the loop
 * ----------------------------------------------------------------------------------------------- */

/* Polish, then prove. `final` proves also without a polish. *added counts patterns that were missing. */
static RfStatus finish(Solve *s, bool final, rf_index *added) {
  const RfReduced *p = s->p;
  RfAtoms atoms = {.r = p->r};
  bool polished = false;
  double norm;
  memcpy(s->trial, rf_master_lambda(s->master), (size_t)p->n * sizeof(double));
  RfStatus status = rf_optimum_polish(s->context, &atoms, s->trial, &polished, p, s->master);
  if (!status && polished) {
    status = climb_all(s, s->trial, 1 + 1e-9);
    if (!status) status = add_steepest(s, 50, added);
    if (*added == 0) offer_network(s, &atoms);
  }
  if (!status && *added == 0 && (polished || final)) {
    status = prove_norm(s, s->trial, 1 + 1e-12, 20, &norm);
    if (status >= 0) offer_multipliers(s, s->trial, norm);
    if (!status && norm > 1 + 1e-11) status = add_steepest(s, 50, added);
  }
  rf_atoms_free(&atoms);
  return status;
}

/* Most violated constraint of the last candidates. */
static double excess(const Solve *s) {
  double over = 0;
  for (rf_index k = 0; k < s->steep.count; k++) over = fmax(over, s->steep.value[k] - 1);
  return over;
}

static RfStatus generate(Solve *s, double aim) {
  RfStatus status = first_patterns(s);
  RfOptimum *result = s->result;
  double goal = 0.3;
  for (result->rounds = 0; !status && result->rounds < 400; result->rounds++) {
    rf_index added = 0;
    status = rf_master_run(s->context, s->master, goal, 60, &result->newton_steps);
    if (!status) status = climb_all(s, rf_master_lambda(s->master), 1 + 1e-9);
    if (!status) status = add_steepest(s, 20 + s->p->n / 4, &added);
    if (!status && added == 0 && goal < 1e-5) {
      status = master_network(s);
      if (!status) status = finish(s, goal < 1e-9, &added);
      if (close_enough(s, aim)) break;
      if (!status && added == 0 && goal < 1e-11) break;
    }
    if (added > 0)
      rf_master_restore(s->master, fmin(100, fmax(goal, 10 * excess(s))));
    else
      goal *= 0.1;
  }
  return status;
}

/* ---- leak 1: the linear hard margin
 * ------------------------------------------------------------------------- */

/* min |w|, y_i x_i.w >= b_i, as least squares (Lawson and Hanson): E = [Z^T; b^T], f = last unit vector. */
static RfStatus solve_linear(Solve *s) {
  const RfReduced *p = s->p;
  rf_index n = p->n, r = p->r;
  double *columns = RF_NEW(double, n *(r + 1)), *f = RF_NEW(double, 2 * (r + 1)), *w = RF_NEW(double, n + r);
  double *A = RF_NEW(double, n *r);
  RfStatus status = RF_OK;
  if (!columns || !f || !w || !A) {
    status = rf_fail(s->context, RF_ERR_MEMORY, "out of memory for the linear margin");
    goto done;
  }
  for (rf_index i = 0; i < n; i++) {
    for (rf_index k = 0; k < r; k++) columns[i * (r + 1) + k] = p->y[i] * p->X[i * r + k];
    columns[i * (r + 1) + r] = p->b[i];
  }
  f[r] = 1;
  status = rf_la_nnls(s->context, s->trial, f + r + 1, NULL, columns, f, r + 1, n, r + 1, NULL);
  if (status) goto done;
  rf_index count = 0, rank = 0;
  for (rf_index i = 0; i < n; i++) /* refine on the support: the shortest w with z_i.w = b_i */
    if (s->trial[i] > 0) {
      memcpy(A + count * r, columns + i * (r + 1), (size_t)r * sizeof *A);
      w[count++] = p->b[i];
    }
  status = rf_la_least_squares(s->context, A, w, count, r, 1e-13, &rank);
  if (status) goto done;
  double size = rf_la_norm(w, r), scale = f[2 * r + 1];
  int sign = s->settings->signs < 0 ? -1 : 1;
  for (rf_index k = 0; k < r; k++) s->u[k] = sign * w[k] / size;
  RfAtoms atoms = {.r = r};
  status = rf_atoms_add(s->context, &atoms, s->u, size, sign);
  if (!status) offer_network(s, &atoms);
  rf_atoms_free(&atoms);
  /* w = sum mu z with mu = nnls / residual; lambda = mu/|w| has |sum lambda z| = 1 */
  double norm = 0;
  memset(f, 0, (size_t)r * sizeof *f);
  for (rf_index i = 0; i < n; i++) {
    s->trial[i] /= scale * size;
    rf_short_axpy(f, s->trial[i], columns + i * (r + 1), r);
  }
  norm = rf_la_norm(f, r) * (1 + 1e-15);
  offer_multipliers(s, s->trial, norm);
done:
  rf_free(columns), rf_free(f), rf_free(w), rf_free(A);
  return status;
}

/* ---- results in the caller's coordinates
 * --------------------------------------------------------------------- */

static void fill_patterns(const RfContext *context, RfOptimum *o, const double *X) {
  for (rf_index k = 0; k < o->neurons; k++)
    for (rf_index i = 0; i < o->n; i++) {
      const double *x = X + i * o->d, *u = o->U + k * o->d;
      double z = rf_la_dot(x, u, o->d), edge = context->tol.kink * rf_la_norm(x, o->d) * rf_la_norm(u, o->d);
      o->patterns[k * o->n + i] = z > edge ? '+' : z < -edge ? '-' : '0';
    }
}

/* Objective from the network as it is returned: sizes divided by the smallest margin on the caller's rows. */
static void recompute_objective(RfOptimum *o, const double *X, const double *y) {
  double least = INFINITY, sum = 0;
  for (rf_index i = 0; i < o->n; i++) {
    double f = 0;
    for (rf_index k = 0; k < o->neurons; k++)
      f += o->sign[k] * rf_phi(rf_la_dot(o->U + k * o->d, X + i * o->d, o->d), o->leak);
    least = fmin(least, y[i] * f);
  }
  if (o->neurons > 0 && least > 0) rf_la_scale(o->U, 1 / least, o->neurons * o->d);
  for (rf_index k = 0; k < o->neurons; k++) sum += rf_la_norm(o->U + k * o->d, o->d);
  o->objective = o->neurons > 0 && least > 0 ? sum : INFINITY;
}

static RfStatus deliver(Solve *s, const double *X, const double *y) {
  RfOptimum *o = s->result;
  const RfReduced *p = s->p;
  RfStatus status = rf_atoms_reduce(s->context, &s->best, p, s->lambda);
  o->neurons = s->best.count;
  o->U = RF_NEW(double, o->neurons * o->d), o->sign = RF_NEW(double, o->neurons);
  o->patterns = RF_NEW(char, o->neurons * o->n);
  if (status || !o->U || !o->sign || !o->patterns)
    return status
               ? status
               : rf_fail(s->context, RF_ERR_MEMORY, "out of memory for %lld neurons", (long long)o->neurons);
  for (rf_index k = 0; k < o->neurons; k++) {
    rf_reduced_direction(o->U + k * o->d, p, s->best.u + k * p->r, s->best.c[k] * p->scale);
    o->sign[k] = s->best.sign[k];
  }
  recompute_objective(o, X, y);
  fill_patterns(s->context, o, X);
  o->lower = 0;
  for (rf_index i = 0; i < p->n; i++) {
    o->lambda[p->row[i]] = s->lambda[i] / p->norm[i];
    o->lower += o->lambda[p->row[i]];
  }
  o->width_needed = o->neurons;
  o->width_enough = s->settings->width == 0 || s->settings->width >= o->width_needed;
  o->gap = isfinite(o->objective) ? fmax(0, (o->objective - o->lower) / o->objective) : 1;
  return RF_OK;
}

/* ---- entry
 * ----------------------------------------------------------------------------------------------------- */

static RfStatus check(RfContext *context, const double *X, const double *y, rf_index n, rf_index d,
                      const RfOptimumSettings *settings) {
  if (n < 1 || d < 1)
    return rf_fail(context, RF_ERR_USAGE, "the optimum needs at least one sample and one column");
  if (!(settings->leak >= 0 && settings->leak <= 1))
    return rf_fail(context, RF_ERR_USAGE, "leak must be in [0,1]");
  if (settings->width < 0) return rf_fail(context, RF_ERR_USAGE, "width must not be negative");
  for (rf_index i = 0; i < n; i++)
    if (y[i] != 1 && y[i] != -1)
      return rf_fail(context, RF_ERR_USAGE, "label %lld is not -1 or +1", (long long)i);
  for (rf_index i = 0; i < n * d; i++)
    if (!isfinite(X[i])) return rf_fail(context, RF_ERR_USAGE, "row %lld is not finite", (long long)(i / d));
  return RF_OK;
}

static void infeasible(RfOptimum *o, double *farkas) {
  o->status = RF_OPTIMUM_INFEASIBLE;
  o->farkas = farkas;
  o->objective = o->lower = INFINITY;
  o->gap = 0;
  o->method = "none";
  o->width_enough = false;
}

static RfStatus solve_reduced(Solve *s, const double *X, const double *y) {
  RfOptimum *o = s->result;
  double aim = fmin(1e-9, s->context->tol.gap);
  RfStatus status = solve_new(s);
  if (!status) status = s->p->leak == 1 ? solve_linear(s) : generate(s, aim);
  if (status < 0) return status;
  RfStatus delivered = deliver(s, X, y);
  if (delivered) return delivered;
  o->method = s->p->leak == 1 ? "linear" : s->p->r <= 2 ? "plane" : "patterns";
  o->status = o->gap <= s->context->tol.gap ? RF_OPTIMUM_PROVED
              : status == RF_INTERRUPTED    ? RF_OPTIMUM_INTERRUPTED
                                            : RF_OPTIMUM_GAP;
  return o->status == RF_OPTIMUM_INTERRUPTED ? RF_INTERRUPTED : RF_OK;
}

RfStatus rf_optimum_solve(RfContext *context, RfOptimum *optimum, const double *X, const double *y,
                          rf_index n, rf_index d, const RfOptimumSettings *settings) {
  memset(optimum, 0, sizeof *optimum);
  RfStatus status = check(context, X, y, n, d, settings);
  if (status) return status;
  double started = rf_clock_seconds();
  RfContext inner = *context;
  if (settings->time_limit > 0) inner.deadline = fmin(inner.deadline, started + settings->time_limit);
  RfReduced reduced = {0};
  *optimum = (RfOptimum){.n = n, .d = d, .leak = settings->leak, .gap = 1};
  double *farkas = RF_NEW(double, n);
  optimum->lambda = RF_NEW(double, n);
  Solve s = {.context = &inner, .settings = settings, .result = optimum, .p = &reduced, .started = started};
  if (!farkas || !optimum->lambda)
    status = rf_fail(&inner, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)n);
  if (!status) status = rf_reduced_new(&inner, &reduced, farkas, X, y, n, d, settings->leak, settings->signs);
  if (status == RF_INFEASIBLE) {
    infeasible(optimum, farkas);
    farkas = NULL, status = RF_OK;
  } else if (!status)
    status = solve_reduced(&s, X, y);
  solve_free(&s);
  rf_reduced_free(&reduced);
  rf_free(farkas);
  optimum->seconds = rf_clock_seconds() - started;
  if (status < 0) {
    memcpy(context->error, inner.error, sizeof context->error);
    rf_optimum_free(optimum);
  }
  return status;
}

RfStatus rf_optimum_net(RfContext *context, RfNet *net, const RfOptimum *optimum) {
  RfStatus status = rf_net_new(context, net, optimum->neurons, optimum->d, optimum->leak);
  if (status) return status;
  for (rf_index k = 0; k < optimum->neurons; k++) {
    const double *u = optimum->U + k * optimum->d;
    double root = sqrt(rf_la_norm(u, optimum->d));
    net->a[k] = optimum->sign[k] * root;
    for (rf_index j = 0; j < optimum->d; j++) net->W[k * optimum->d + j] = root > 0 ? u[j] / root : 0;
  }
  return RF_OK;
}
