/* The least-distance problem in rational numbers, for small rows on which doubles could not decide: minimise
 * |v| s.t. g_i.v >= 1, as v = sum mu_i g_i with mu >= 0 maximising sum mu - |v|^2/2. The active set of Lawson
 * and Hanson (Solving Least Squares Problems, ch. 23): add the row that is violated most, solve the equations
 * of the passive rows, step back while a multiplier would turn negative. In exact arithmetic the objective
 * grows at every step, so it ends: with v, or with a combination z >= 0 of rows that vanishes, which no v
 * survives.
 */
#include "margin/margin_internal.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

enum { most_entries = 4000, most_dimension = 16, most_steps = 2000 };

typedef struct Rational {
  rf_index n, d, p; /* rows, columns, passive rows */
  mpq_t *G;         /* n rows of d */
  mpq_t *v;         /* d */
  mpq_t *mu;        /* n */
  rf_index *at;     /* passive rows */
  mpq_t *K;         /* (d+1) x (d+2): the equations of the passive rows, and their right side */
  mpq_t *s;         /* d+1: their solution, or a null vector */
  mpq_t t, best;
} Rational;

static mpq_t *numbers(rf_index count) {
  mpq_t *out = RF_NEW(mpq_t, count);
  for (rf_index i = 0; out && i < count; i++) mpq_init(out[i]);
  return out;
}

static void numbers_free(mpq_t *values, rf_index count) {
  for (rf_index i = 0; values && i < count; i++) mpq_clear(values[i]);
  rf_free(values);
}

static void rational_free(Rational *r) {
  numbers_free(r->G, r->n * r->d), numbers_free(r->v, r->d), numbers_free(r->mu, r->n);
  numbers_free(r->K, (r->d + 1) * (r->d + 2)), numbers_free(r->s, r->d + 1);
  rf_free(r->at);
  mpq_clear(r->t), mpq_clear(r->best);
}

static RfStatus rational_new(RfContext *context, Rational *r, const RfRows *rows) {
  *r = (Rational){.n = rows->count, .d = rows->d};
  mpq_init(r->t), mpq_init(r->best);
  r->G = numbers(r->n * r->d), r->v = numbers(r->d), r->mu = numbers(r->n);
  r->K = numbers((r->d + 1) * (r->d + 2)), r->s = numbers(r->d + 1), r->at = RF_NEW(rf_index, r->d + 1);
  if (!r->G || !r->v || !r->mu || !r->K || !r->s || !r->at)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for exact margins");
  for (rf_index i = 0; i < r->n; i++)
    for (rf_index j = 0; j < r->d; j++) {
      mpq_set_d(r->G[i * r->d + j], rf_row(rows, i)[j]);
      if (rf_row_factor(rows, i) < 0) mpq_neg(r->G[i * r->d + j], r->G[i * r->d + j]);
    }
  return RF_OK;
}

static void dot(Rational *r, mpq_t out, mpq_t *a, mpq_t *b) {
  mpq_set_ui(out, 0, 1);
  for (rf_index j = 0; j < r->d; j++) mpq_mul(r->t, a[j], b[j]), mpq_add(out, out, r->t);
}

static void set_v(Rational *r) {
  for (rf_index j = 0; j < r->d; j++) {
    mpq_set_ui(r->v[j], 0, 1);
    for (rf_index k = 0; k < r->p; k++) {
      mpq_mul(r->t, r->mu[r->at[k]], r->G[r->at[k] * r->d + j]);
      mpq_add(r->v[j], r->v[j], r->t);
    }
  }
}

/* The row with the smallest g.v / |g| among those with g.v < 1; -1 when none is violated. */
static rf_index most_violated(Rational *r, const RfRows *rows) {
  rf_index worst = -1;
  double least = INFINITY;
  for (rf_index i = 0; i < r->n; i++) {
    dot(r, r->best, r->v, r->G + i * r->d);
    if (mpq_cmp_ui(r->best, 1, 1) >= 0) continue;
    mpq_set_ui(r->t, 1, 1);
    mpq_sub(r->best, r->best, r->t);
    double violation = mpq_get_d(r->best) / rf_la_norm(rf_row(rows, i), r->d);
    if (violation < least || worst < 0) least = violation, worst = i;
  }
  return worst;
}

/* Gauss-Jordan on the Gram matrix of the passive rows with right side 1. True: s solves it. False: the last
 * row depends on the others, and s is the null vector with s_last = 1. */
static bool solve_passive(Rational *r) {
  rf_index p = r->p, width = p + 1;
  for (rf_index a = 0; a < p; a++) {
    for (rf_index b = 0; b < p; b++)
      dot(r, r->K[a * width + b], r->G + r->at[a] * r->d, r->G + r->at[b] * r->d);
    mpq_set_ui(r->K[a * width + p], 1, 1);
  }
  rf_index rank = 0; /* the first p - 1 rows are independent: pivots on the diagonal are positive */
  for (; rank < p && mpq_sgn(r->K[rank * width + rank]) != 0; rank++)
    for (rf_index a = 0; a < p; a++) {
      if (a == rank) continue;
      mpq_div(r->best, r->K[a * width + rank], r->K[rank * width + rank]);
      for (rf_index b = rank; b < width; b++) {
        mpq_mul(r->t, r->best, r->K[rank * width + b]);
        mpq_sub(r->K[a * width + b], r->K[a * width + b], r->t);
      }
    }
  bool regular = rank == p;
  for (rf_index a = 0; a < p; a++) {
    rf_index from = regular ? p : p - 1;
    if (!regular && a == p - 1) {
      mpq_set_ui(r->s[a], 1, 1);
      continue;
    }
    mpq_div(r->s[a], r->K[a * width + from], r->K[a * width + a]);
    if (!regular) mpq_neg(r->s[a], r->s[a]);
  }
  return regular;
}

static void drop_zeros(Rational *r) {
  rf_index kept = 0;
  for (rf_index k = 0; k < r->p; k++)
    if (mpq_sgn(r->mu[r->at[k]]) > 0) r->at[kept++] = r->at[k];
  r->p = kept;
}

/* mu += share (target - mu), or mu += share s along a null vector; share as long as mu stays >= 0. */
static void step(Rational *r, bool towards) {
  bool any = false;
  for (rf_index k = 0; k < r->p; k++) { /* the shortest way to a zero */
    mpq_t *mu = &r->mu[r->at[k]];
    if (mpq_sgn(r->s[k]) > 0 || (towards && mpq_sgn(r->s[k]) == 0 && mpq_sgn(*mu) == 0)) continue;
    if (!towards && mpq_sgn(r->s[k]) == 0) continue;
    if (towards)
      mpq_sub(r->t, *mu, r->s[k]);
    else
      mpq_neg(r->t, r->s[k]);
    mpq_div(r->t, *mu, r->t);
    if (!any || mpq_cmp(r->t, r->best) < 0) mpq_set(r->best, r->t);
    any = true;
  }
  for (rf_index k = 0; k < r->p; k++) {
    mpq_t *mu = &r->mu[r->at[k]];
    if (towards)
      mpq_sub(r->t, r->s[k], *mu);
    else
      mpq_set(r->t, r->s[k]);
    mpq_mul(r->t, r->t, r->best);
    mpq_add(*mu, *mu, r->t);
  }
  drop_zeros(r);
}

static bool none_negative(const Rational *r, bool strictly) {
  for (rf_index k = 0; k < r->p; k++)
    if (strictly ? mpq_sgn(r->s[k]) <= 0 : mpq_sgn(r->s[k]) < 0) return false;
  return true;
}

/* One row more. True: infeasible, s >= 0 vanishes on the passive rows. */
static bool add_row(Rational *r, rf_index row) {
  r->at[r->p++] = row;
  mpq_set_ui(r->mu[row], 0, 1);
  while (r->p > 0) {
    bool regular = solve_passive(r);
    if (!regular && none_negative(r, false)) return true;
    if (regular && none_negative(r, true)) break;
    step(r, regular);
  }
  for (rf_index k = 0; k < r->p; k++) mpq_set(r->mu[r->at[k]], r->s[k]);
  return false;
}

static long double extended(Rational *r, const mpq_t value) {
  double high = mpq_get_d(value);
  mpq_set_d(r->t, high);
  mpq_sub(r->t, value, r->t);
  return (long double)high + (long double)mpq_get_d(r->t);
}

static RfStatus take_farkas(RfContext *context, RfLeastDistance *out, Rational *r) {
  out->farkas = RF_NEW(double, r->n);
  if (!out->farkas) return rf_fail(context, RF_ERR_MEMORY, "out of memory for exact margins");
  mpq_set_ui(r->best, 0, 1);
  for (rf_index k = 0; k < r->p; k++) mpq_add(r->best, r->best, r->s[k]);
  for (rf_index k = 0; k < r->p; k++) {
    mpq_div(r->t, r->s[k], r->best);
    out->farkas[r->at[k]] = mpq_get_d(r->t);
  }
  return RF_INFEASIBLE;
}

static RfStatus take_v(RfContext *context, RfLeastDistance *out, Rational *r) {
  out->dimension = r->d, out->n_active = r->p;
  out->v = RF_NEW(long double, r->d);
  out->active = RF_NEW(rf_index, r->p);
  out->weights = RF_NEW(long double, r->p);
  if (!out->v || !out->active || !out->weights)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for exact margins");
  long double square = 0;
  for (rf_index j = 0; j < r->d; j++) out->v[j] = extended(r, r->v[j]), square += out->v[j] * out->v[j];
  for (rf_index k = 0; k < r->p; k++)
    out->active[k] = r->at[k], out->weights[k] = extended(r, r->mu[r->at[k]]);
  out->length = sqrtl(square), out->length_lower = nextafter((double)out->length, 0);
  return RF_OK;
}

/* Rows that are worth rational numbers. */
static bool is_small(const RfRows *rows) {
  if (rows->lift > 0 || rows->shift || rows->offset != 0) return false;
  if (rows->d > most_dimension || rows->count * rows->d > most_entries) return false;
  for (rf_index i = 0; i < rows->count; i++)
    if (fabs(rf_row_factor(rows, i)) != 1) return false;
  return true;
}

/* RF_OK: v and mu are set. RF_INFEASIBLE: s vanishes on the passive rows. */
static RfStatus maximise(RfContext *context, Rational *r, const RfRows *rows, rf_index *steps) {
  for (*steps = 0; *steps <= most_steps; ++*steps) {
    set_v(r);
    rf_index row = most_violated(r, rows);
    if (row < 0) return RF_OK;
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    if (add_row(r, row)) return RF_INFEASIBLE;
  }
  return RF_UNDECIDED;
}

RfStatus rf_exact_distance(RfContext *context, RfLeastDistance *out, const RfRows *rows) {
  if (!is_small(rows)) return RF_UNDECIDED;
  Rational r;
  RfStatus status = rational_new(context, &r, rows);
  if (!status) {
    status = maximise(context, &r, rows, &out->iterations);
    if (status == RF_INFEASIBLE) status = take_farkas(context, out, &r);
    if (status == RF_OK) status = take_v(context, out, &r);
  }
  rational_free(&r);
  return status;
}

/* ---- as text ----------------------------------------------------------------------------------- */

void rf_exact_margin_free(RfExactMargin *margin) {
  rf_balance_free(&margin->v);
  rf_balance_free(&margin->multipliers);
}

static bool write_fractions(RfBalance *out, mpq_t *values, rf_index n) {
  out->n = n, out->weight = RF_NEW(char *, n), out->value = RF_NEW(double, n);
  if (!out->weight || !out->value) return false;
  for (rf_index i = 0; i < n; i++) {
    out->value[i] = mpq_get_d(values[i]);
    if (mpq_sgn(values[i]) == 0) continue;
    size_t room = mpz_sizeinbase(mpq_numref(values[i]), 10) + mpz_sizeinbase(mpq_denref(values[i]), 10) + 3;
    out->weight[i] = RF_NEW(char, (rf_index)room);
    if (!out->weight[i]) return false;
    mpq_get_str(out->weight[i], 10, values[i]);
  }
  return true;
}

/* Doubles around 1/|v| and |v|, moved until they hold: |v|^2 = A, the sum of the multipliers. */
static void enclose(RfExactMargin *out, Rational *r) {
  mpq_t A, bound;
  mpq_init(A), mpq_init(bound);
  for (rf_index i = 0; i < r->n; i++) mpq_add(A, A, r->mu[i]);
  for (out->length = sqrt(mpq_get_d(A));; out->length = nextafter(out->length, INFINITY)) {
    mpq_set_d(bound, out->length);
    mpq_mul(r->t, bound, bound);
    if (mpq_cmp(r->t, A) >= 0) break;
  }
  mpq_set_d(bound, out->length);
  for (out->lower = nextafter(1 / out->length, INFINITY);; out->lower = nextafter(out->lower, 0)) {
    mpq_set_d(r->t, out->lower);
    mpq_mul(r->t, r->t, bound);
    if (mpq_cmp_ui(r->t, 1, 1) <= 0) break;
  }
  for (out->upper = nextafter(1 / out->length, 0);; out->upper = nextafter(out->upper, INFINITY)) {
    mpq_set_d(r->t, out->upper);
    mpq_mul(r->t, r->t, A);
    if (mpq_cmp(r->t, bound) >= 0) break;
  }
  mpq_clear(A), mpq_clear(bound);
}

RfStatus rf_margin_exact(RfContext *context, RfExactMargin *out, const double *X, const double *y, rf_index n,
                         rf_index d) {
  RfRows rows = {.X = X, .count = n, .d = d, .factor = y};
  rf_index steps;
  memset(out, 0, sizeof *out);
  if (!is_small(&rows)) return RF_UNDECIDED;
  for (rf_index i = 0; i < n; i++)
    if (!(rf_la_norm(X + i * d, d) > 0)) return RF_UNDECIDED;
  Rational r;
  RfStatus status = rational_new(context, &r, &rows);
  if (!status) status = maximise(context, &r, &rows, &steps);
  if (!status && !isfinite(mpq_get_d(r.v[0]))) status = RF_UNDECIDED;
  if (!status) enclose(out, &r);
  if (!status && (!write_fractions(&out->v, r.v, d) || !write_fractions(&out->multipliers, r.mu, n)))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for exact margins");
  rational_free(&r);
  if (status) rf_exact_margin_free(out);
  return status == RF_INFEASIBLE ? RF_NOT_SEPARABLE : status;
}
