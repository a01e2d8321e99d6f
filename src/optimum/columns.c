/* Column generation by a linear program over unit neurons, the master for many samples in few dimensions:
 * most neurons of an optimum are then pinned on r - 1 kinks, so that directions found once stay right, and
 * the program
 *
 *     minimise  sum_k c_k + Lambda sum_i t_i   subject to   sum_k c_k y_i s_k phi(u_k.x_i) + t_i >= b_i,
 *
 * whose multipliers are lambda with lambda_i <= Lambda, needs no second-order step. Lambda grows while an
 * artificial t_i remains. Primal simplex on a dense inverse with Devex prices (Harris 1973); every local
 * maximum of the oracle above 1 joins; the exact search speaks only when climbs find nothing. What comes out
 * is judged as everything else is: a network by its margins, multipliers by the search. */
#include "optimum/solve_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"
#include "optimum/team.h"
#include "la/la.h"

#include <math.h>
#include <omp.h>
#include <string.h>

typedef struct Columns {
  RfSolve *s;
  const RfReduced *p;
  rf_index n, r;
  /* the pool of neurons */
  rf_index count, room;
  double *A, *U, *value, *weight,
      *alpha; /* outputs times y (n), directions (r); A.lambda; Devex; pivot row */
  int *sign, *age;
  bool *in;
  /* the basis: k >= 0 neuron, -1-i surplus of row i, -1-n-i artificial of row i */
  rf_index *basis, pivots;
  double *inverse, *x, *lambda, *column, *surplus_weight, *artificial_weight, *work;
  int32_t *swaps;
  double big; /* Lambda */
  int threads;
  RfTeam team;                   /* for the loops of a pivot */
  const double *entering, *row;  /* of these loops: a column of A, a row of the inverse, */
  double price, entering_weight; /* the price of the entering column and its weight */
  rf_index leaves;
  RfOracle *oracles; /* one per thread */
  double *starts;    /* directions to climb from, and where the climbs ended: room for `most` rows of r */
  double *heights;
  int *start_sign;
  rf_index n_starts, most;
  RfStatus status;
} Columns;

/* ---- memory ----------------------------------------------------------------------------------- */

static void columns_free(Columns *c) {
  rf_free(c->A), rf_free(c->U), rf_free(c->value), rf_free(c->weight), rf_free(c->alpha), rf_free(c->sign);
  rf_free(c->age), rf_free(c->in), rf_free(c->basis), rf_free(c->inverse), rf_free(c->x), rf_free(c->lambda);
  rf_free(c->column), rf_free(c->surplus_weight), rf_free(c->artificial_weight), rf_free(c->work);
  rf_free(c->swaps), rf_free(c->starts), rf_free(c->heights), rf_free(c->start_sign);
  for (int t = 0; c->oracles && t < c->threads; t++) rf_oracle_free(&c->oracles[t]);
  rf_free(c->oracles);
}

/* Rows of a matrix, and coordinates, that one thread does at a time. The blocks do not depend on the number
 * of threads, so that BLAS rounds in the same way. */
enum { block = 64 };

static rf_index blocks(rf_index count, rf_index size) { return (count + size - 1) / size; }
static rf_index block_end(rf_index at, rf_index count, rf_index size) {
  return (at + 1) * size < count ? (at + 1) * size : count;
}
/* Threads for this many products: below, waking them costs more. */
static int workers(const Columns *c, double products) { return products > rf_wake_work ? c->threads : 1; }

static RfStatus columns_new(Columns *c) {
  rf_index n = c->n;
  c->basis = RF_NEW(rf_index, n), c->inverse = RF_NEW(double, n *n), c->x = RF_NEW(double, n);
  c->lambda = RF_NEW(double, n), c->column = RF_NEW(double, n), c->surplus_weight = RF_NEW(double, n);
  c->artificial_weight = RF_NEW(double, n), c->work = RF_NEW(double, n *n + n), c->swaps = RF_NEW(int32_t, n);
  c->most = n + 20 + 4 * c->r, c->starts = RF_NEW_TABLE(double, c->most, c->r);
  c->heights = RF_NEW(double, c->most), c->start_sign = RF_NEW(int, c->most);
  c->oracles = RF_NEW(RfOracle, c->threads);
  if (!c->starts || !c->heights || !c->start_sign || !c->oracles)
    return rf_fail(c->s->context, RF_ERR_MEMORY, "out of memory for neurons");
  for (int t = 0; t < c->threads; t++) {
    RfStatus status = rf_oracle_new(c->s->context, &c->oracles[t], c->p);
    if (status) return status;
  }
  if (!c->basis || !c->inverse || !c->x || !c->lambda || !c->column || !c->surplus_weight ||
      !c->artificial_weight || !c->work || !c->swaps)
    return rf_fail(c->s->context, RF_ERR_MEMORY, "out of memory for a linear program");
  for (rf_index i = 0; i < n; i++) {
    c->inverse[i * n + i] = 1, c->basis[i] = -1 - n - i, c->x[i] = c->p->b[i];
    c->lambda[i] = c->big;
  }
  return RF_OK;
}

static bool grow(void **list, rf_index room, size_t size) {
  void *wider = rf_resize(*list, room, size);
  if (wider) *list = wider;
  return wider != NULL;
}

static void add_column(Columns *c, const double *u, int sign) {
  const RfReduced *p = c->p;
  if (c->count == c->room) {
    rf_index room = c->room ? 2 * c->room : 1024;
    bool fine =
        grow((void **)&c->A, room * c->n, sizeof(double)) &&
        grow((void **)&c->U, room * c->r, sizeof(double)) && grow((void **)&c->value, room, sizeof(double)) &&
        grow((void **)&c->weight, room, sizeof(double)) && grow((void **)&c->alpha, room, sizeof(double)) &&
        grow((void **)&c->sign, room, sizeof(int)) && grow((void **)&c->age, room, sizeof(int)) &&
        grow((void **)&c->in, room, sizeof(bool));
    if (!fine) c->status = rf_fail(c->s->context, RF_ERR_MEMORY, "out of memory for neurons");
    if (!fine) return;
    c->room = room;
  }
  double *a = c->A + c->count * c->n;
  for (rf_index i = 0; i < c->n; i++)
    a[i] = p->y[i] * sign * rf_phi(rf_short_dot(p->X + i * c->r, u, c->r), p->leak);
  memcpy(c->U + c->count * c->r, u, (size_t)c->r * sizeof *u);
  c->sign[c->count] = sign, c->in[c->count] = false, c->age[c->count] = 0;
  c->count++;
  c->s->result->patterns_seen++;
}

/* ---- the simplex method ----------------------------------------------------------------------- */

static double cost(const Columns *c, rf_index b) { return b >= 0 ? 1 : b < -c->n ? c->big : 0; }

static void set_multipliers(Columns *c) {
  memset(c->lambda, 0, (size_t)c->n * sizeof(double));
  for (rf_index k = 0; k < c->n; k++) {
    double price = cost(c, c->basis[k]);
    if (price != 0) rf_la_axpy(c->lambda, price, c->inverse + k * c->n, c->n);
  }
}

/* price of a basis column minus its value under the multipliers; the entries are those of A. */
static double price_left(const Columns *c, rf_index b) {
  long double left = cost(c, b);
  if (b >= 0)
    for (rf_index i = 0; i < c->n; i++) left -= (long double)c->lambda[i] * (long double)c->A[b * c->n + i];
  else
    left += b >= -c->n ? (long double)c->lambda[-1 - b] : -(long double)c->lambda[-1 - c->n - b];
  return (double)left;
}

/* The inverse is right to rounding times the condition of the basis: two corrections with residuals in long
 * double make the multipliers right. */
static void refine_multipliers(Columns *c) {
  double *left = c->work + c->n * c->n;
  int threads = workers(c, (double)c->n * (double)c->n);
  for (int turn = 0; turn < 2; turn++) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (rf_index k = 0; k < c->n; k++) left[k] = price_left(c, c->basis[k]);
    for (rf_index k = 0; k < c->n; k++) rf_la_axpy(c->lambda, left[k], c->inverse + k * c->n, c->n);
  }
}

/* b minus what the basis gives, for the rows of one block. */
static void sizes_left(const Columns *c, double *left, rf_index at) {
  rf_index n = c->n, first = at * block, end = block_end(at, n, block);
  long double sum[block];
  for (rf_index i = first; i < end; i++) sum[i - first] = c->p->b[i];
  for (rf_index k = 0; k < n; k++) {
    rf_index b = c->basis[k], row = b >= -n ? -1 - b : -1 - n - b;
    if (b >= 0)
      for (rf_index i = first; i < end; i++)
        sum[i - first] -= (long double)c->x[k] * (long double)c->A[b * n + i];
    else if (row >= first && row < end)
      sum[row - first] += b >= -n ? c->x[k] : -c->x[k];
  }
  for (rf_index i = first; i < end; i++) left[i] = (double)sum[i - first];
}

/* The same for the sizes. */
static void refine_sizes(Columns *c) {
  rf_index n = c->n;
  double *left = c->work + n * n, *change = c->column;
  int threads = workers(c, (double)n * (double)n);
  for (int turn = 0; turn < 2; turn++) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (rf_index at = 0; at < blocks(n, block); at++) sizes_left(c, left, at);
    rf_la_apply(change, c->inverse, left, n, n, n);
    for (rf_index k = 0; k < n; k++) c->x[k] += change[k];
  }
}

/* The inverse afresh; false when the basis is singular. */
static bool refactor(Columns *c) {
  rf_index n = c->n;
  double *B = c->work;
  int threads = workers(c, (double)n * (double)n);
  memset(B, 0, (size_t)(n * n) * sizeof *B);
  for (rf_index j = 0; j < n; j++) {
    rf_index b = c->basis[j];
    if (b >= 0)
      for (rf_index i = 0; i < n; i++) B[i * n + j] = c->A[b * n + i];
    else
      B[(b >= -n ? -1 - b : -1 - n - b) * n + j] = b >= -n ? -1 : 1;
  }
  if (!rf_la_lu(B, c->swaps, n)) return false;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (rf_index at = 0; at < blocks(n, block); at++)
    rf_la_lu_inverse_rows(B, c->swaps, c->inverse + at * block * n, at * block,
                          block_end(at, n, block) - at * block, n);
  rf_la_apply(c->x, c->inverse, c->p->b, n, n, n);
  refine_sizes(c);
  for (rf_index i = 0; i < n; i++) c->x[i] = fmax(c->x[i], 0);
  set_multipliers(c);
  refine_multipliers(c);
  return true;
}

/* The loops of a pivot, by blocks of rows or of neurons. */
enum { part_enter, part_pivot, part_update, part_values };

/* column = inverse times the entering column. */
static void enter_block(void *user, rf_index at) {
  Columns *c = user;
  rf_index n = c->n, first = at * block;
  rf_la_apply(c->column + first, c->inverse + first * n, c->entering, block_end(at, n, block) - first, n, n);
}

static void enter(Columns *c, rf_index b) {
  rf_index n = c->n, i = b >= -n ? -1 - b : -1 - n - b;
  if (b >= 0) {
    c->entering = c->A + b * n;
    rf_team_do(&c->team, part_enter, blocks(n, block));
  } else
    for (rf_index k = 0; k < n; k++) c->column[k] = (b >= -n ? -1 : 1) * c->inverse[k * n + i];
}

/* The row that leaves: smallest ratio, among ties to rounding the largest pivot; -1 = none. */
static rf_index leaving(const Columns *c) {
  double largest = 0, best = INFINITY, pivot = 0;
  rf_index at = -1;
  for (rf_index k = 0; k < c->n; k++) largest = fmax(largest, fabs(c->column[k]));
  double least = rf_pivot_share * largest;
  for (rf_index k = 0; k < c->n; k++)
    if (c->column[k] > least) best = fmin(best, (c->x[k] + rf_ratio_slack) / c->column[k]);
  for (rf_index k = 0; k < c->n; k++)
    if (c->column[k] > least && c->x[k] / c->column[k] <= best && c->column[k] > pivot)
      pivot = c->column[k], at = k;
  return at;
}

/* Reduced cost of a column, from the multipliers. */
static double reduced_cost(const Columns *c, rf_index b) {
  if (b >= 0) return 1 - rf_la_dot(c->lambda, c->A + b * c->n, c->n);
  return b >= -c->n ? c->lambda[-1 - b] : c->big - c->lambda[-1 - c->n - b];
}

/* The other rows of the inverse lose their part of the row that leaves. */
static void pivot_block(void *user, rf_index at) {
  Columns *c = user;
  for (rf_index k = at * block; k < block_end(at, c->n, block); k++)
    if (k != c->leaves && c->column[k] != 0) rf_la_axpy(c->inverse + k * c->n, -c->column[k], c->row, c->n);
}

static rf_index pivot_in(Columns *c, rf_index b) {
  rf_index n = c->n;
  enter(c, b);
  rf_index at = leaving(c);
  if (at < 0) return -1;
  double step = fmax(0, c->x[at] / c->column[at]), price = reduced_cost(c, b), *row = c->inverse + at * n;
  for (rf_index k = 0; k < n; k++) c->x[k] = fmax(0, c->x[k] - step * c->column[k]);
  c->x[at] = step;
  rf_la_scale(row, 1 / c->column[at], n);
  c->row = row, c->leaves = at;
  rf_team_do(&c->team, part_pivot, blocks(n, block));
  rf_la_axpy(c->lambda, price, row, n);
  if (c->basis[at] >= 0) c->in[c->basis[at]] = false;
  c->basis[at] = b;
  if (b >= 0) c->in[b] = true;
  c->pivots++;
  return at;
}

static void reset_weights(Columns *c) {
  for (rf_index k = 0; k < c->count; k++) c->weight[k] = 1;
  for (rf_index i = 0; i < c->n; i++) c->surplus_weight[i] = c->artificial_weight[i] = 1;
}

/* Prices are sums of n products with multipliers up to Lambda: below their rounding nothing is a price. */
static double price_slack(const Columns *c) {
  return fmax(rf_price_slack, rf_price_noise * sqrt((double)c->n) * c->big);
}

/* The column with the best price, its code in *b and its weight; false at the optimum. */
static bool choose(const Columns *c, rf_index *b, double *weight) {
  double best = 0, slack = rf_multiplier_slack * fmax(1, c->big), least = price_slack(c);
  for (rf_index k = 0; k < c->count; k++) {
    double over = c->value[k] - 1;
    if (!c->in[k] && over > least && over * over / c->weight[k] > best)
      best = over * over / c->weight[k], *b = k, *weight = c->weight[k];
  }
  for (rf_index i = 0; i < c->n; i++) {
    double low = -c->lambda[i], high = c->lambda[i] - c->big;
    if (low > slack && low * low / c->surplus_weight[i] > best)
      best = low * low / c->surplus_weight[i], *b = -1 - i, *weight = c->surplus_weight[i];
    if (high > slack && high * high / c->artificial_weight[i] > best)
      best = high * high / c->artificial_weight[i], *b = -1 - c->n - i, *weight = c->artificial_weight[i];
  }
  return best > 0;
}

/* The pool is longer than the basis, and so are its blocks. */
enum { pool_block = 4 * block };

/* Values under the multipliers afresh. */
static void value_block(void *user, rf_index at) {
  Columns *c = user;
  rf_index first = at * pool_block;
  rf_la_apply(c->value + first, c->A + first * c->n, c->lambda, block_end(at, c->count, pool_block) - first,
              c->n, c->n);
}

/* Values and Devex weights after a pivot. */
static void update_block(void *user, rf_index at) {
  Columns *c = user;
  rf_index first = at * pool_block, end = block_end(at, c->count, pool_block);
  rf_la_apply(c->alpha + first, c->A + first * c->n, c->row, end - first, c->n, c->n);
  for (rf_index k = first; k < end; k++) {
    c->value[k] += c->price * c->alpha[k];
    c->weight[k] = fmax(c->weight[k], c->alpha[k] * c->alpha[k] * c->entering_weight);
  }
}

static void update(Columns *c, rf_index at, double price, double weight) {
  const double *row = c->inverse + at * c->n;
  c->row = row, c->price = price, c->entering_weight = weight;
  rf_team_do(&c->team, part_update, blocks(c->count, pool_block));
  for (rf_index i = 0; i < c->n; i++) {
    double size = row[i] * row[i] * weight;
    c->surplus_weight[i] = fmax(c->surplus_weight[i], size);
    c->artificial_weight[i] = fmax(c->artificial_weight[i], size);
  }
}

static const RfTeamPart parts[] = {[part_enter] = enter_block,
                                   [part_pivot] = pivot_block,
                                   [part_update] = update_block,
                                   [part_values] = value_block};

/* How a row of pivots ends. */
typedef enum Ending { ending_optimal, ending_stopped, ending_afresh, ending_unbounded } Ending;

/* Pivots until the optimum of the pool, or until the inverse is due to be made afresh; `most` of them at
 * most. The column that nothing left for is in *b. */
static Ending pivots(Columns *c, rf_index most, rf_index *b) {
  rf_index every = c->n > 500 ? 600 : 150;
  bool fresh = false, exact = false;
  reset_weights(c);
  for (rf_index k = 0; k < most;) {
    double weight = 1;
    if (rf_context_stop(c->s->context)) return ending_stopped;
    if (!fresh) rf_team_do(&c->team, part_values, blocks(c->count, pool_block));
    exact = !fresh, fresh = true;
    if (!choose(c, b, &weight)) {
      if (exact) return ending_optimal;
      fresh = false;
      continue;
    }
    double price = reduced_cost(c, *b);
    rf_index at = pivot_in(c, *b);
    if (at < 0) return ending_unbounded;
    if (c->pivots % every == 0) return ending_afresh;
    update(c, at, price, weight);
    k++;
  }
  return ending_optimal; /* enough: what is known so far is priced again */
}

/* The same by a team: all others help. */
static Ending pivots_by_all(Columns *c, rf_index most, rf_index *b) {
  Ending ending = ending_optimal;
  int threads = workers(c, (double)c->n * (double)(c->n + c->count));
  rf_team_begin(&c->team, parts, c, threads == 1);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    if (omp_get_thread_num() == 0) {
      ending = pivots(c, most, b);
      rf_team_end(&c->team);
    } else
      rf_team_help(&c->team);
  }
  return ending;
}

/* Simplex steps to the optimum of the present pool. */
static RfStatus optimise(Columns *c) {
  enum { most_pivots = 20000 };
  rf_index start = c->pivots, b = 0;
  while (c->pivots - start < most_pivots) {
    Ending ending = pivots_by_all(c, most_pivots - (c->pivots - start), &b);
    if (ending == ending_stopped) return RF_INTERRUPTED;
    if (ending == ending_optimal) return RF_OK;
    if (!refactor(c)) return RF_UNDECIDED;
    rf_team_begin(&c->team, parts, c, true);
    if (ending == ending_unbounded && pivot_in(c, b) < 0) return RF_UNDECIDED;
  }
  return RF_OK;
}

/* ---- pricing ---------------------------------------------------------------------------------- */

static bool known_since(const Columns *c, rf_index first, const double *u, int sign) {
  for (rf_index k = first; k < c->count; k++) {
    double apart = 0;
    for (rf_index j = 0; j < c->r; j++) apart = fmax(apart, fabs(c->U[k * c->r + j] - u[j]));
    if (c->sign[k] == sign && apart < rf_same_column) return true;
  }
  return false;
}

static void offer(Columns *c, rf_index first, const double *u, double value, int sign, double *top) {
  *top = fmax(*top, value);
  if (value > 1 + fmax(rf_missing_column, 2 * price_slack(c)) && !known_since(c, first, u, sign))
    add_column(c, u, sign);
}

/* The plane: every local maximum of the sorted arcs. */
static RfStatus price_plane(Columns *c, double *top) {
  rf_index first = c->count;
  double norm = 0;
  RfStatus status = RF_OK;
  for (int sign = 1; sign >= -1 && !status; sign -= 2) {
    if (c->s->settings->signs * sign < 0) continue;
    RfSearch search = {.target = 1 + rf_missing_column};
    status = rf_search_plane(c->s->context, &search, c->p, c->s->trial, sign);
    const double *value = search.found.value;
    rf_index count = search.found.count;
    for (rf_index k = 0; k < count && !status; k++)
      if ((k == 0 || value[k] >= value[k - 1]) && (k + 1 == count || value[k] >= value[k + 1]))
        offer(c, first, search.found.u + k * c->r, value[k], sign, top);
    *top = fmax(*top, search.best), norm = fmax(norm, search.upper);
    rf_directions_free(&search.found);
  }
  if (!status) rf_solve_offer_multipliers(c->s, c->s->trial, norm); /* a bound at every round */
  return status;
}

static void climb_from(Columns *c, const double *u, double side, int sign) {
  if (c->s->settings->signs * sign < 0 || c->n_starts == c->most) return;
  double *start = c->starts + c->n_starts * c->r;
  for (rf_index j = 0; j < c->r; j++) start[j] = side * u[j];
  c->start_sign[c->n_starts++] = sign;
}

/* Climbs from the starts in the list, which are then none, and offers where they end, in their order. */
static RfStatus climb_and_offer(Columns *c, rf_index first, double *top) {
  RfSolve *s = c->s;
  bool stopped = false;
  int threads = c->n_starts > 1 ? c->threads : 1;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) if (threads > 1) reduction(|| : stopped)
  for (rf_index k = 0; k < c->n_starts; k++) {
    stopped = stopped || rf_context_stop(s->context);
    if (stopped) continue;
    RfOracle *oracle = &c->oracles[omp_get_thread_num()];
    c->heights[k] = rf_oracle_climb(oracle, s->trial, c->starts + k * c->r, c->start_sign[k]);
  }
  for (rf_index k = 0; k < c->n_starts && !stopped; k++)
    offer(c, first, c->starts + k * c->r, c->heights[k], c->start_sign[k], top);
  c->n_starts = 0;
  return stopped ? RF_INTERRUPTED : c->status;
}

/* Starts at the neurons of the basis; `side` = -1: at their antipodes, of which many are optimal as well
 * where sum lambda y x vanishes. */
static void start_from_basis(Columns *c, double side) {
  for (rf_index k = 0; k < c->n; k++)
    if (c->basis[k] >= 0) climb_from(c, c->U + c->basis[k] * c->r, side, c->sign[c->basis[k]]);
}

/* Climbs from the neurons of the basis and from random directions, and from antipodes when those say nothing.
 */
static RfStatus price_climbs(Columns *c, double *top) {
  rf_index first = c->count, random = 20 + 4 * c->r;
  start_from_basis(c, 1);
  for (rf_index k = 0; k < random; k++) {
    rf_random_direction(&c->s->random, c->s->u, c->r);
    climb_from(c, c->s->u, 1, k % 2 ? 1 : -1);
  }
  RfStatus status = climb_and_offer(c, first, top);
  if (status || c->count > first) return status;
  start_from_basis(c, -1);
  return climb_and_offer(c, first, top);
}

/* Forgets columns that have long been far from the basis. */
static void purge(Columns *c) {
  rf_index kept = 0, n = c->n, r = c->r;
  rf_la_apply(c->value, c->A, c->lambda, c->count, n, n);
  for (rf_index k = 0; k < c->count; k++) {
    c->age[k] = c->in[k] || c->value[k] > 0.9 ? 0 : c->age[k] + 1;
    if (c->age[k] > 8) continue;
    if (kept != k) {
      memcpy(c->A + kept * n, c->A + k * n, (size_t)n * sizeof(double));
      memcpy(c->U + kept * r, c->U + k * r, (size_t)r * sizeof(double));
      c->sign[kept] = c->sign[k], c->in[kept] = c->in[k], c->age[kept] = c->age[k];
      for (rf_index i = 0; c->in[k] && i < n; i++)
        if (c->basis[i] == k) c->basis[i] = kept;
    }
    kept++;
  }
  c->count = kept;
}

/* ---- the loop --------------------------------------------------------------------------------- */

/* The network of the basis, when no artificial is left; refitted, its margins are right to the last digits.
 */
static RfStatus offer_basis(Columns *c, bool refit, bool *artificial) {
  RfAtoms atoms = {.r = c->r};
  RfStatus status = RF_OK;
  *artificial = false;
  for (rf_index k = 0; k < c->n && !status; k++) {
    rf_index b = c->basis[k];
    if (b < -c->n && c->x[k] > rf_artificial_left * c->p->b[0]) *artificial = true;
    if (b >= 0 && c->x[k] > 0)
      status = rf_atoms_add(c->s->context, &atoms, c->U + b * c->r, c->x[k], c->sign[b]);
  }
  if (!status && !*artificial && refit) status = rf_atoms_refit(c->s->context, &atoms, c->p, c->s->trial);
  if (!status && !*artificial) rf_solve_offer_network(c->s, &atoms);
  rf_atoms_free(&atoms);
  return status;
}

/* Proves what the multipliers give, or adds what the search found. */
static RfStatus prove(Columns *c, double aim, bool *done) {
  RfSolve *s = c->s;
  rf_index before = c->count;
  double norm;
  RfStatus status = rf_solve_prove(s, s->trial, fmax(rf_norm_slack, aim / 4), &norm);
  for (rf_index k = 0; k < s->steep.count && !status; k++) {
    const double *u = s->steep.u + k * c->r;
    double top = 0;
    if (c->r == 2) offer(c, before, u, s->steep.value[k], s->steep.sign[k], &top);
    if (c->r == 2) continue;
    climb_from(c, u, 1, s->steep.sign[k]);
    climb_from(c, u, -1, s->steep.sign[k]);
    status = climb_and_offer(c, before, &top);
  }
  *done = c->count == before || rf_solve_close(s, aim);
  return status ? status : c->status;
}

static RfStatus generate(Columns *c, double aim) {
  RfSolve *s = c->s;
  RfStatus status = RF_OK;
  for (s->result->rounds = 0; s->result->rounds < 2000 && !status; s->result->rounds++) {
    double top = 0;
    bool artificial = false, done = false;
    for (rf_index i = 0; i < c->n; i++) s->trial[i] = fmax(0, c->lambda[i]);
    status = c->r == 2 ? price_plane(c, &top) : price_climbs(c, &top);
    if (!status) status = offer_basis(c, false, &artificial);
    bool enough = top <= 1 + (artificial ? 0.3 : fmax(rf_missing_column, 2 * price_slack(c)));
    if (!status && enough && artificial) {
      c->big *= 4; /* multipliers at their bound: let them grow */
      if (!(c->big < rf_unbounded_most)) return RF_UNDECIDED;
      set_multipliers(c);
    } else if (!status && enough) {
      if (!refactor(c)) return RF_UNDECIDED;
      for (rf_index i = 0; i < c->n; i++) s->trial[i] = fmax(0, c->lambda[i]);
      status = offer_basis(c, true, &artificial);
      if (!status) status = prove(c, aim, &done);
      if (done) break;
    }
    if (!status) status = optimise(c);
    if (s->result->rounds % 5 == 4) purge(c);
  }
  return status;
}

RfStatus rf_solve_columns(RfSolve *s, double aim) {
  Columns c = {.s = s, .p = s->p, .n = s->p->n, .r = s->p->r, .big = rf_first_bound};
  c.threads = s->context->threads > 1 ? s->context->threads : 1;
  rf_oracle_free(&s->oracle);
  RfStatus status = rf_oracle_new(s->context, &s->oracle, s->p);
  if (!status) status = columns_new(&c);
  if (!status) status = rf_solve_linear_network(s);
  if (!status) status = generate(&c, aim);
  if (status == RF_INTERRUPTED && c.lambda) {
    for (rf_index i = 0; i < c.n; i++) s->trial[i] = fmax(0, c.lambda[i]);
    status = rf_solve_last_bound(s, s->trial);
  }
  s->result->newton_steps += c.pivots;
  columns_free(&c);
  return status;
}
