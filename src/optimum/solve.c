/* The global max margin: entry, working sets of samples, results in the caller's coordinates. */
#include "optimum/optimum_tolerances.h"
#include "optimum/solve_internal.h"
#include "optimum/optimum.h"
#include "margin/margin.h"
#include "la/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *rf_optimum_status_name(RfOptimumStatus status) {
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

/* ---- entry ------------------------------------------------------------------------------------ */

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

/* ---- working sets ----------------------------------------------------------------------------- */

/* Above this many samples, solve on a part and add the samples whose margins are too small. */
enum { largest_whole = 250, first_part = 120 };

/* Most samples of the linear program, whose basis has as many rows and columns (two of 128 MB). */
enum { largest_program = 4000 };

static void first_rows(rf_index *rows, rf_index *count, bool *used, const RfReduced *p, uint64_t seed) {
  RfRandom random;
  rf_random_init(&random, seed, 11);
  while (*count < first_part) {
    rf_index i = rf_random_below(&random, p->n);
    if (used[i]) continue;
    used[i] = true;
    rows[(*count)++] = i;
  }
}

/* Adds the samples with the smallest margins below 1; returns how many. */
static rf_index add_rows(rf_index *rows, rf_index *count, bool *used, const double *margins,
                         const RfReduced *p) {
  rf_index most = *count > 100 ? *count : 100, added = 0;
  while (added < most) {
    rf_index worst = -1;
    for (rf_index i = 0; i < p->n; i++)
      if (!used[i] && margins[i] < 1 - rf_margin_short && (worst < 0 || margins[i] < margins[worst]))
        worst = i;
    if (worst < 0) break;
    used[worst] = true;
    rows[(*count)++] = worst;
    added++;
  }
  return added;
}

/* One pass on the given rows; what it finds is offered to the whole problem. hints: in, directions to start
 * from; out, the network of this part. margins: of all samples, when the smallest one of the part is 1. */
static RfStatus solve_part(RfSolve *s, RfAtoms *hints, double *margins, const rf_index *rows, rf_index count,
                           bool prove, double aim) {
  RfReduced part;
  RfStatus status = rf_reduced_part(s->context, &part, s->p, rows, count);
  if (status) return status;
  RfSolve t = {.context = s->context,
               .settings = s->settings,
               .result = s->result,
               .p = &part,
               .hints = hints,
               .prove = prove,
               .quiet = true,
               .started = s->started};
  status = rf_solve_new(&t);
  if (!status) status = rf_solve_generate(&t, aim);
  if (status >= 0) {
    memset(s->trial, 0, (size_t)s->p->n * sizeof(double));
    for (rf_index k = 0; k < count; k++) s->trial[rows[k]] = t.lambda[k];
    if (t.lower > 0) rf_solve_offer_multipliers(s, s->trial, 1);
    double sum = 0;
    for (rf_index k = 0; k < t.best.count; k++) sum += t.best.c[k];
    for (rf_index k = 0; k < t.best.count; k++) t.best.c[k] *= t.upper / sum;
    rf_atoms_objective(s->p, &t.best, margins);
    RfAtoms copy = {.r = s->p->r};
    for (rf_index k = 0; k < t.best.count && status >= 0; k++)
      if (rf_atoms_add(s->context, &copy, t.best.u + k * s->p->r, t.best.c[k], t.best.sign[k]))
        status = RF_ERR_MEMORY;
    if (status >= 0) rf_solve_offer_network(s, &copy);
    rf_atoms_free(&copy);
    rf_atoms_free(hints);
    *hints = t.best;
    memset(&t.best, 0, sizeof t.best);
  }
  rf_solve_free(&t);
  rf_reduced_free(&part);
  return status;
}

static RfStatus solve_by_parts(RfSolve *s, double aim) {
  const RfReduced *p = s->p;
  rf_index *rows = RF_NEW(rf_index, p->n), count = 0;
  bool *used = RF_NEW(bool, p->n);
  RfAtoms hints = {.r = p->r};
  double *margins = RF_NEW(double, p->n);
  RfStatus status = RF_OK;
  if (!rows || !used || !margins)
    status = rf_fail(s->context, RF_ERR_MEMORY, "out of memory for working sets");
  if (!status) status = rf_solve_linear_network(s);
  if (!status) first_rows(rows, &count, used, p, s->settings->seed);
  while (!status) {
    status = solve_part(s, &hints, margins, rows, count, false, aim);
    if (!status && add_rows(rows, &count, used, margins, p) == 0) {
      status = solve_part(s, &hints, margins, rows, count, true, aim);
      if (status || add_rows(rows, &count, used, margins, p) == 0) break;
    }
  }
  rf_free(rows), rf_free(used), rf_free(margins);
  rf_atoms_free(&hints);
  return status;
}

static RfStatus solve_reduced(RfSolve *s, double *farkas, const double *X, const double *y) {
  RfOptimum *o = s->result;
  bool linear = s->p->leak == 1, whole = s->p->n <= largest_whole;
  bool flat = s->p->n >= 60 && s->p->n >= 8 * s->p->r && s->p->n <= largest_program; /* n large against r */
  double aim = rf_aim_share * s->context->tol.gap;
  s->prove = true;
  RfStatus status = rf_solve_new(s);
  if (!status) status = rf_solve_known(s, X, y, o->n);
  if (!status && !linear) status = rf_solve_known_multipliers(s, aim);
  bool known = s->settings->multipliers && rf_solve_close(s, aim);
  for (int turn = 0; turn < 2 && !status && !known; turn++) {
    status = flat && !linear && s->settings->signs == 0 ? rf_solve_columns(s, aim) : RF_UNDECIDED;
    if (status == RF_UNDECIDED)
      status = linear ? rf_solve_linear(s) : whole ? rf_solve_generate(s, aim) : solve_by_parts(s, aim);
    if (status != RF_INFEASIBLE) break;
    status = rf_solve_one_sign(s, farkas, X, y);
    s->fits = true; /* not proved: solve as usual, the multipliers found remain a bound */
  }
  if (status < 0 || status == RF_INFEASIBLE) return status;
  RfStatus delivered = rf_solve_fit(s);
  if (!delivered) delivered = rf_solve_deliver(s, X, y);
  if (delivered) return delivered;
  o->method = linear ? "linear" : s->p->r <= 2 ? "plane" : "patterns";
  o->status = o->gap <= s->context->tol.gap ? RF_OPTIMUM_PROVED
              : status == RF_INTERRUPTED    ? RF_OPTIMUM_INTERRUPTED
                                            : RF_OPTIMUM_GAP;
  return o->status == RF_OPTIMUM_INTERRUPTED ? RF_INTERRUPTED : RF_OK;
}

/* Rows that only exact arithmetic tells apart end without a network, as the coordinates of the search lose
 * what separates them: then w.x itself is one, by the neurons w and -w, when there is an exact separator. */
static RfStatus offer_separator(RfContext *context, RfOptimum *o, const double *X, const double *y,
                                const RfOptimumSettings *settings) {
  if (isfinite(o->objective) || o->status == RF_OPTIMUM_INFEASIBLE || settings->signs != 0) return RF_OK;
  RfLinearMargin margin = {0};
  RfStatus status = rf_margin_linear(context, &margin, X, y, o->n, o->d);
  double *U = RF_NEW(double, 2 * o->d), sign[] = {1, -1};
  if (status >= 0 && !U) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a separator");
  if (status == RF_OK && margin.w && isfinite(margin.margin)) {
    double size = 1 / (margin.margin * (1 + o->leak));
    for (rf_index j = 0; j < o->d; j++) U[j] = size * margin.w[j], U[o->d + j] = -U[j];
    status = rf_optimum_offer(context, o, U, sign, 2, X, y, settings);
  }
  rf_free(U);
  rf_linear_margin_free(&margin);
  return status < 0 && status != RF_ERR_NUMERIC ? status : RF_OK;
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
  RfSolve s = {.context = &inner, .settings = settings, .result = optimum, .p = &reduced, .started = started};
  if (!farkas || !optimum->lambda)
    status = rf_fail(&inner, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)n);
  if (!status) status = rf_reduced_new(&inner, &reduced, farkas, X, y, n, d, settings->leak, settings->signs);
  if (!status) status = solve_reduced(&s, farkas, X, y);
  if (status == RF_INFEASIBLE) {
    infeasible(optimum, farkas);
    farkas = NULL, status = RF_OK;
  }
  if (status == RF_OK) status = offer_separator(&inner, optimum, X, y, settings);
  /* limits do not move back: one that is not reached here has cut nothing short before */
  optimum->stopped = rf_context_stop(&inner);
  rf_solve_free(&s);
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
