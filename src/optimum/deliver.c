/* The result in the caller's coordinates. Both bounds are enclosed there (enclose.c): the objective is that
 * of the network as returned, the lower bound that of the multipliers as returned, and what the change of
 * coordinates has dropped is put back. */
#include "optimum/enclose.h"
#include "optimum/optimum.h"
#include "optimum/optimum_tolerances.h"
#include "optimum/proof_internal.h"
#include "optimum/solve_internal.h"
#include "la/la.h"
#include "margin/margin.h"

#include <math.h>
#include <string.h>

/* ---- networks --------------------------------------------------------------------------------- */

typedef struct Draft { /* a network in the caller's coordinates */
  rf_index count;
  double *U, *sign;
  double objective; /* enclosed */
} Draft;

static void draft_free(Draft *draft) {
  rf_free(draft->U), rf_free(draft->sign);
  memset(draft, 0, sizeof *draft);
}

static RfStatus draft_new(RfContext *context, Draft *draft, rf_index room, rf_index d) {
  *draft = (Draft){.U = RF_NEW(double, room *d), .sign = RF_NEW(double, room), .objective = INFINITY};
  if (draft->U && draft->sign) return RF_OK;
  draft_free(draft);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld neurons", (long long)room);
}

/* Divides by the smallest margin, so that it is 1 to rounding, and encloses what then stands there. Where
 * margins cancel so much that the division costs, a power of two has to do: the smallest margin is in [1,2).
 */
static void judge(Draft *draft, const RfOptimum *o, const double *X, const double *y) {
  rf_index K = draft->count, size = K * o->d;
  int power = 0;
  double least = rf_enclose_margin(draft->U, draft->sign, K, X, y, o->n, o->d, o->leak);
  if (K == 0 || !(least > 0) || !isfinite(least)) return;
  frexp(least, &power);
  for (rf_index k = 0; k < size; k++) draft->U[k] = ldexp(draft->U[k], 1 - power);
  least = ldexp(least, 1 - power);
  draft->objective = rf_enclose_objective(draft->U, draft->sign, K, X, y, o->n, o->d, o->leak);
  double *exact = rf_copy_doubles(draft->U, size);
  if (!exact) return; /* the power of two will do */
  rf_la_scale(draft->U, 1 / least, size);
  double divided = rf_enclose_objective(draft->U, draft->sign, K, X, y, o->n, o->d, o->leak);
  if (divided <= draft->objective * (1 + rf_mend_worth))
    draft->objective = divided;
  else
    memcpy(draft->U, exact, (size_t)size * sizeof *exact);
  rf_free(exact);
}

static void keep_better(Draft *best, Draft *draft) {
  if (!(draft->objective < best->objective)) return;
  Draft old = *best;
  *best = *draft, *draft = old;
}

/* The best network of the search. */
static RfStatus draft_atoms(RfSolve *s, Draft *draft) {
  const RfReduced *p = s->p;
  RfStatus status = rf_atoms_reduce(s->context, &s->best, p, s->lambda);
  if (!status) status = draft_new(s->context, draft, s->best.count, p->d);
  for (rf_index k = 0; !status && k < s->best.count; k++) {
    rf_reduced_direction(draft->U + k * p->d, p, s->best.u + k * p->r, s->best.c[k] * p->scale);
    draft->sign[draft->count++] = s->best.sign[k];
  }
  return status;
}

/* A network of the caller, neurons |a| w. */
static RfStatus draft_net(RfSolve *s, Draft *draft, const RfNet *net) {
  rf_index d = s->p->d;
  RfStatus status = draft_new(s->context, draft, net->m, d);
  for (rf_index k = 0; !status && k < net->m; k++) {
    if (net->a[k] == 0 || net->a[k] * s->settings->signs < 0) continue;
    for (rf_index j = 0; j < d; j++) draft->U[draft->count * d + j] = fabs(net->a[k]) * net->W[k * d + j];
    draft->sign[draft->count++] = net->a[k] > 0 ? 1 : -1;
  }
  return status;
}

/* Leak 1: the linear separator as one neuron. */
static RfStatus draft_linear(RfSolve *s, Draft *draft, double *lambda, const double *X, const double *y) {
  const RfOptimum *o = s->result;
  RfLinearMargin margin = {0};
  RfStatus status = draft_new(s->context, draft, 1, o->d);
  if (status) return status;
  RfStatus found = rf_margin_linear(s->context, &margin, X, y, o->n, o->d);
  if (found == RF_OK && isfinite(margin.margin)) {
    double sign = s->settings->signs < 0 ? -1 : 1;
    for (rf_index j = 0; j < o->d; j++) draft->U[j] = sign * margin.w[j];
    draft->sign[draft->count++] = sign;
    memcpy(lambda, margin.multipliers, (size_t)o->n * sizeof *lambda);
  }
  rf_linear_margin_free(&margin);
  return found < 0 && found != RF_ERR_NUMERIC ? found : RF_OK;
}

/* Contribution of the unit vector along v to the margin of sample i. */
static double pull(const double *v, double length, double sign, const double *x, double y, rf_index d,
                   double leak) {
  return length > 0 ? y * sign * rf_phi(rf_la_dot(v, x, d) / length, leak) : 0;
}

/* Sizes of small neurons, along those of the network and along the samples, that bring every margin listed to
 * `aim`: least norm, a negative size being a neuron of the other sign. */
static RfStatus mend_once(RfSolve *s, Draft *draft, rf_index K, const rf_index *rows, const double *margins,
                          rf_index count, double aim, const double *X, const double *y) {
  const RfOptimum *o = s->result;
  rf_index d = o->d, m = K + count;
  double *A = RF_NEW(double, count *m), *size = RF_NEW(double, m);
  RfStatus status = A && size ? RF_OK : rf_fail(s->context, RF_ERR_MEMORY, "out of memory to mend a network");
  for (rf_index a = 0; a < count && !status; a++) {
    size[a] = aim - margins[rows[a]];
    for (rf_index k = 0; k < m; k++) {
      const double *v = k < K ? draft->U + k * d : X + rows[k - K] * d;
      double sign = k < K ? draft->sign[k] : y[rows[k - K]];
      A[a * m + k] = pull(v, rf_la_norm(v, d), sign, X + rows[a] * d, y[rows[a]], d, o->leak);
    }
  }
  for (rf_index a = 0; a < count && !status; a++) { /* rows of one size, so that no short one is lost */
    double scale = 1 / rf_la_norm(X + rows[a] * d, d);
    rf_la_scale(A + a * m, scale, m), size[a] *= scale;
  }
  if (!status) status = rf_la_least_squares(s->context, A, size, count, m, rf_refit_rank, NULL);
  for (rf_index k = 0; k < m && !status; k++) {
    const double *v = k < K ? draft->U + k * d : X + rows[k - K] * d;
    double sign = k < K ? draft->sign[k] : y[rows[k - K]], length = rf_la_norm(v, d);
    if (size[k] == 0 || !(length > 0)) continue;
    for (rf_index j = 0; j < d; j++) draft->U[draft->count * d + j] = fabs(size[k]) * (v[j] / length);
    draft->sign[draft->count++] = size[k] > 0 ? sign : -sign;
  }
  rf_free(A), rf_free(size);
  return status == RF_ERR_NUMERIC ? RF_OK : status;
}

/* Rounding of long neurons leaves long rows short of their margin, though they could be met at almost no
 * cost: small neurons pay what is missing. Kept when it pays. Up to one neuron per sample and all margins
 * with 113 bits: not for large data, nor when the time is over. */
static RfStatus mend(RfSolve *s, Draft *best, const double *X, const double *y) {
  const RfOptimum *o = s->result;
  rf_index K = best->count, n = o->n, d = o->d, count = 0;
  if (!isfinite(best->objective) || s->settings->signs != 0) return RF_OK;
  if ((double)n * (double)(K + n) * (double)d > rf_wide_work || rf_context_stop(s->context)) return RF_OK;
  rf_index *rows = RF_NEW(rf_index, n);
  double *margins = RF_NEW(double, n), aim = 0, weight = 0, least = INFINITY;
  Draft draft = {0};
  RfStatus status = rows && margins ? draft_new(s->context, &draft, 2 * K + n, d)
                                    : rf_fail(s->context, RF_ERR_MEMORY, "out of memory to mend a network");
  if (status) goto done;
  for (rf_index i = 0; i < n; i++) { /* the supports that matter most say what the margin should be */
    margins[i] = rf_enclose_margin(best->U, best->sign, K, X + i * d, y + i, 1, d, o->leak);
    aim += o->lambda[i] * margins[i], weight += o->lambda[i], least = fmin(least, margins[i]);
  }
  aim = weight > 0 ? aim / weight : 1;
  if (!(aim > least * (1 + rf_mend_worth))) goto done;
  for (rf_index i = 0; i < n; i++)
    if (o->lambda[i] > 0 || margins[i] < aim) rows[count++] = i;
  memcpy(draft.U, best->U, (size_t)(K * d) * sizeof(double));
  memcpy(draft.sign, best->sign, (size_t)K * sizeof(double));
  draft.count = K;
  status = mend_once(s, &draft, K, rows, margins, count, aim, X, y);
  if (!status) judge(&draft, o, X, y);
  if (!status) keep_better(best, &draft);
done:
  draft_free(&draft);
  rf_free(rows), rf_free(margins);
  return status;
}

static void fill_patterns(const RfContext *context, RfOptimum *o, const double *X) {
  for (rf_index k = 0; k < o->neurons; k++)
    for (rf_index i = 0; i < o->n; i++) {
      const double *x = X + i * o->d, *u = o->U + k * o->d;
      double z = rf_la_dot(x, u, o->d), edge = context->tol.kink * rf_la_norm(x, o->d) * rf_la_norm(u, o->d);
      o->patterns[k * o->n + i] = z > edge ? '+' : z < -edge ? '-' : '0';
    }
}

static RfStatus take_network(RfSolve *s, Draft *best, const double *X) {
  RfOptimum *o = s->result;
  o->neurons = best->count;
  o->U = best->U, o->sign = best->sign, o->objective = best->objective;
  best->U = best->sign = NULL;
  o->patterns = RF_NEW_TABLE(char, o->neurons, o->n);
  if (!o->patterns)
    return rf_fail(s->context, RF_ERR_MEMORY, "out of memory for %lld neurons", (long long)o->neurons);
  fill_patterns(s->context, o, X);
  o->width_needed = o->neurons;
  o->width_enough = s->settings->width == 0 || s->settings->width >= o->width_needed;
  return RF_OK;
}

/* ---- multipliers ------------------------------------------------------------------------------ */

/* lambda / M(lambda), with the sum that they then have. */
static void take_multipliers(RfOptimum *o, const double *lambda, double norm) {
  for (rf_index i = 0; i < o->n; i++) o->lambda[i] = lambda[i] / norm;
  o->lower = rf_enclose_sum(o->lambda, o->n);
}

/* What the search has proved, for the caller's rows. */
static RfStatus deliver_multipliers(RfSolve *s, double *lambda, const double *X) {
  const RfReduced *p = s->p;
  double norm;
  for (rf_index i = 0; i < p->n; i++) s->trial[i] = s->lambda[i] / p->norm[i];
  RfStatus status = rf_enclose_norm(s->context, &norm, p, s->trial, X, 1);
  memset(lambda, 0, (size_t)s->result->n * sizeof *lambda);
  for (rf_index i = 0; i < p->n; i++) lambda[p->row[i]] = s->trial[i];
  if (!status) take_multipliers(s->result, lambda, norm);
  return status;
}

/* Leak 1: M(lambda) = |sum lambda y x| at once. */
static RfStatus deliver_linear(RfSolve *s, const double *lambda, const double *X, const double *y) {
  RfOptimum *o = s->result;
  double norm, known = o->lower;
  RfStatus status = rf_enclose_linear_norm(s->context, &norm, lambda, X, y, o->n, o->d);
  if (status || !(norm > 0) || !(rf_enclose_sum(lambda, o->n) / norm > known)) return status;
  take_multipliers(o, lambda, norm);
  status = rf_enclose_linear_norm(s->context, &norm, o->lambda, X, y, o->n, o->d); /* of what is returned */
  if (norm > 1) o->lower = nextafter(o->lower / norm, 0);
  return status;
}

/* The search counts what coordinates and rounding may cost at worst. Where that spoils an optimum, the same
 * multipliers are tried on the caller's own rows, with the statements of a proof file that nobody reads. */
static RfStatus try_exactly(RfSolve *s, double objective, const double *X, const double *y) {
  RfOptimum *o = s->result;
  double tol = s->context->tol.gap, gap = (objective - o->lower) / objective, nodes = 0;
  if (!(gap > tol) || gap > rf_rescue_gap || s->settings->search_nodes > 0) return RF_OK;
  double tau = rf_enclose_sum(o->lambda, o->n) / objective * (1 + tol / 2);
  RfProofText text;
  RfStatus status = rf_proof_open(s->context, &text, NULL);
  for (int sign = 1; sign >= -1 && !status; sign -= 2)
    if (s->settings->signs * sign >= 0)
      status = rf_proof_tree(s->context, &text, &nodes, X, y, o->lambda, o->n, o->d, o->leak, sign, tau);
  status = rf_proof_close(s->context, &text, NULL, status);
  if (!status) o->lower = rf_enclose_quotient(o->lambda, o->n, tau);
  o->nodes += (rf_index)nodes;
  return status < 0 ? status : RF_OK;
}

/* ---- both ------------------------------------------------------------------------------------- */

static RfStatus best_network(RfSolve *s, Draft *best, double *lambda, const double *X, const double *y) {
  const RfOptimum *o = s->result;
  RfStatus status = draft_atoms(s, best);
  if (!status) judge(best, o, X, y);
  for (rf_index k = -1; k < s->settings->n_incumbents && !status; k++) {
    Draft draft = {0};
    const RfNet *net = k < 0 ? NULL : s->settings->incumbents[k];
    if (k < 0 && o->leak == 1)
      status = draft_linear(s, &draft, lambda, X, y);
    else if (net && net->d == o->d && net->leak == o->leak)
      status = draft_net(s, &draft, net);
    else
      continue;
    if (!status) judge(&draft, o, X, y);
    if (!status) keep_better(best, &draft);
    draft_free(&draft);
  }
  return status;
}

RfStatus rf_solve_deliver(RfSolve *s, const double *X, const double *y) {
  RfOptimum *o = s->result;
  Draft best = {.objective = INFINITY};
  double *lambda = RF_NEW(double, o->n), *linear = RF_NEW(double, o->n);
  RfStatus status = RF_OK;
  if (!lambda || !linear)
    status = rf_fail(s->context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)o->n);
  if (!status) status = best_network(s, &best, linear, X, y);
  if (!status) status = deliver_multipliers(s, lambda, X);
  if (!status && o->leak == 1) status = deliver_linear(s, linear, X, y);
  if (!status && best.objective * (1 - rf_mend_worth) > o->lower) status = mend(s, &best, X, y);
  if (!status) status = try_exactly(s, best.objective, X, y);
  if (!status) status = take_network(s, &best, X);
  if (!status) o->gap = isfinite(o->objective) ? (o->objective - o->lower) / o->objective : 1;
  if (!status && o->lower > o->objective)
    status = rf_fail(s->context, RF_ERR_NUMERIC, "the lower bound %.17g is above the network's %.17g",
                     o->lower, o->objective);
  draft_free(&best);
  rf_free(lambda), rf_free(linear);
  return status;
}

RfStatus rf_optimum_offer(RfContext *context, RfOptimum *o, const double *U, const double *sign, rf_index K,
                          const double *X, const double *y, const RfOptimumSettings *settings) {
  Draft draft;
  if (o->status == RF_OPTIMUM_INFEASIBLE) return RF_OK;
  for (rf_index k = 0; k < K; k++)
    if (sign[k] * settings->signs < 0) return RF_OK;
  RfStatus status = draft_new(context, &draft, K, o->d);
  char *patterns = RF_NEW(char, K * o->n);
  if (!status && !patterns)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld neurons", (long long)K);
  if (!status) {
    memcpy(draft.U, U, (size_t)(K * o->d) * sizeof *U);
    memcpy(draft.sign, sign, (size_t)K * sizeof *sign);
    draft.count = K;
    judge(&draft, o, X, y);
  }
  if (!status && draft.objective < o->objective) {
    rf_free(o->U), rf_free(o->sign), rf_free(o->patterns);
    o->U = draft.U, o->sign = draft.sign, o->patterns = patterns, o->objective = draft.objective;
    draft.U = draft.sign = NULL, patterns = NULL;
    o->neurons = o->width_needed = K;
    o->width_enough = settings->width == 0 || settings->width >= K;
    fill_patterns(context, o, X);
    o->gap = (o->objective - o->lower) / o->objective;
    if (o->gap <= context->tol.gap) o->status = RF_OPTIMUM_PROVED;
  }
  draft_free(&draft);
  rf_free(patterns);
  return status;
}

RfStatus rf_optimum_offer_multipliers(RfContext *context, RfOptimum *o, const double *lambda, double norm) {
  if (o->status == RF_OPTIMUM_INFEASIBLE || !(norm > 0 && isfinite(norm))) return RF_OK;
  double over = norm * (1 + 4 * DBL_EPSILON); /* the quotients are rounded, and M is at most 1 all the same */
  if (!(rf_enclose_quotient(lambda, o->n, over) > o->lower)) return RF_OK;
  take_multipliers(o, lambda, over);
  if (!isfinite(o->objective)) return RF_OK;
  o->gap = (o->objective - o->lower) / o->objective;
  if (o->gap <= context->tol.gap) o->status = RF_OPTIMUM_PROVED;
  if (o->lower <= o->objective) return RF_OK;
  return rf_fail(context, RF_ERR_NUMERIC, "the lower bound %.17g is above the network's %.17g", o->lower,
                 o->objective);
}
