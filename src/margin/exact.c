/* Weights that balance exactly: integers f >= 0, not all 0, with sum_i f_i factor_i x_i = 0 (docs/math.md,
 * "Rounding"). Doubles name the support and the order of the columns; the rest is integer arithmetic: every
 * double is an integer times a power of two, and the null space comes from fraction-free Gauss-Jordan
 * elimination (Bareiss, Math. Comp. 22, 1968), after which all pivots equal the same determinant D and D
 * x_pivot = - sum_free a_pivot,free x_free needs no division. Free entries are the guess, rounded to 53 bits.
 */
#include "margin/margin.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger supports are not tried: their determinants have thousands of digits. */
enum { largest_support = 160 };

typedef struct Exact {
  RfContext *context;
  rf_index d, s;      /* rows, columns */
  const rf_index *at; /* s: sample of a column, guesses descending */
  mpz_t *A;           /* d rows of s */
  rf_index *pivot;    /* d: column of the pivot in this row, -1 = none */
  mpz_t previous, t;  /* the last pivot; work */
} Exact;

void rf_balance_free(RfBalance *balance) {
  for (rf_index i = 0; balance->weight && i < balance->n; i++) rf_free(balance->weight[i]);
  rf_free(balance->weight), rf_free(balance->value);
  memset(balance, 0, sizeof *balance);
}

/* x = mantissa * 2^exponent with an odd or zero mantissa. */
static void split(mpz_t mantissa, long *exponent, double x) {
  int power = 0;
  mpz_set_d(mantissa, ldexp(frexp(x, &power), 53));
  *exponent = power - 53;
}

/* The columns as integers: entry times 2^-least of its row, which does not change the null space. */
static void load(Exact *e, const double *X, const double *factor) {
  for (rf_index j = 0; j < e->d; j++) {
    long least = 0, exponent;
    for (int pass = 0; pass < 2; pass++)
      for (rf_index k = 0; k < e->s; k++) {
        double x = X[e->at[k] * e->d + j];
        if (x == 0) continue;
        split(e->t, &exponent, x);
        if (pass == 0) {
          least = exponent < least ? exponent : least;
          continue;
        }
        mpz_t *a = &e->A[j * e->s + k];
        mpz_mul_2exp(*a, e->t, (mp_bitcnt_t)(exponent - least));
        if (factor && factor[e->at[k]] < 0) mpz_neg(*a, *a);
      }
  }
}

/* Fraction-free Gauss-Jordan step with the pivot in row i, column k. */
static void eliminate(Exact *e, rf_index i, rf_index k) {
  mpz_t *A = e->A, *row = A + i * e->s;
  for (rf_index l = 0; l < e->d; l++) {
    mpz_t *other = A + l * e->s;
    if (l == i) continue;
    for (rf_index c = 0; c < e->s; c++) {
      if (c == k) continue;
      mpz_mul(e->t, row[k], other[c]);
      mpz_submul(e->t, other[k], row[c]);
      mpz_divexact(other[c], e->t, e->previous);
    }
    mpz_set_ui(other[k], 0);
  }
  mpz_set(e->previous, row[k]);
}

/* Columns in the order given become pivots while they are independent. */
static RfStatus reduce(Exact *e, bool *bound) {
  mpz_set_ui(e->previous, 1);
  for (rf_index i = 0; i < e->d; i++) e->pivot[i] = -1;
  for (rf_index k = 0; k < e->s; k++) {
    rf_index row = -1;
    for (rf_index i = 0; i < e->d && row < 0; i++)
      if (e->pivot[i] < 0 && mpz_sgn(e->A[i * e->s + k]) != 0) row = i;
    bound[k] = row >= 0;
    if (row < 0) continue;
    e->pivot[row] = k;
    eliminate(e, row, k);
    if (rf_context_stop(e->context)) return RF_INTERRUPTED;
  }
  return RF_OK;
}

/* x (s integers) from the guess on the free columns; false when an entry is negative or all are zero. */
static bool solve(Exact *e, mpz_t *x, const bool *bound, const double *guess) {
  double largest = guess[e->at[0]];
  bool any = false;
  for (rf_index k = 0; k < e->s; k++) {
    mpz_set_ui(x[k], 0);
    if (!bound[k]) mpz_set_d(x[k], rint(ldexp(guess[e->at[k]] / largest, 53)));
    any = any || mpz_sgn(x[k]) != 0;
  }
  if (!any) return false;
  for (rf_index i = 0; i < e->d; i++) {
    if (e->pivot[i] < 0) continue;
    mpz_t *sum = &x[e->pivot[i]];
    for (rf_index k = 0; k < e->s; k++)
      if (!bound[k]) mpz_submul(*sum, e->A[i * e->s + k], x[k]);
  }
  for (rf_index k = 0; k < e->s; k++)
    if (!bound[k]) mpz_mul(x[k], x[k], e->previous);
  for (rf_index k = 0; k < e->s; k++) {
    if (mpz_sgn(e->previous) < 0) mpz_neg(x[k], x[k]);
    if (mpz_sgn(x[k]) < 0) return false;
  }
  return true;
}

/* Divides by the common factor and writes the numbers out. */
static RfStatus take(RfContext *context, RfBalance *out, const Exact *e, mpz_t *x, rf_index n) {
  mpz_t common, total;
  mpz_init(common), mpz_init(total);
  for (rf_index k = 0; k < e->s; k++) mpz_gcd(common, common, x[k]);
  for (rf_index k = 0; k < e->s; k++) mpz_divexact(x[k], x[k], common), mpz_add(total, total, x[k]);
  out->n = n, out->weight = RF_NEW(char *, n), out->value = RF_NEW(double, n);
  bool memory = out->weight && out->value;
  long size, part;
  double sum = mpz_get_d_2exp(&size, total);
  for (rf_index k = 0; k < e->s && memory; k++) {
    rf_index i = e->at[k];
    double value = mpz_get_d_2exp(&part, x[k]) / sum;
    out->value[i] = part - size < -1000 ? 0 : ldexp(value, (int)(part - size));
    if (mpz_sgn(x[k]) == 0) continue;
    memory = (out->weight[i] = RF_NEW(char, (rf_index)mpz_sizeinbase(x[k], 10) + 2)) != NULL;
    if (memory) mpz_get_str(out->weight[i], 10, x[k]);
  }
  mpz_clear(common), mpz_clear(total);
  if (memory) return RF_OK;
  rf_balance_free(out);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for exact weights");
}

static void exact_free(Exact *e, mpz_t *x) {
  for (rf_index k = 0; e->A && k < e->d * e->s; k++) mpz_clear(e->A[k]);
  for (rf_index k = 0; x && k < e->s; k++) mpz_clear(x[k]);
  mpz_clear(e->previous), mpz_clear(e->t);
  rf_free(e->A), rf_free(e->pivot), rf_free(x);
}

/* One attempt on the columns at[0..s). */
static RfStatus attempt(RfContext *context, RfBalance *out, const rf_index *at, rf_index s, const double *X,
                        const double *factor, rf_index n, rf_index d, const double *guess) {
  Exact e = {.context = context, .d = d, .s = s, .at = at};
  e.A = RF_NEW_TABLE(mpz_t, d, s), e.pivot = RF_NEW(rf_index, d);
  mpz_t *x = RF_NEW(mpz_t, s);
  bool *bound = RF_NEW(bool, s);
  mpz_init(e.previous), mpz_init(e.t);
  for (rf_index k = 0; e.A && k < d * s; k++) mpz_init(e.A[k]);
  for (rf_index k = 0; x && k < s; k++) mpz_init(x[k]);
  RfStatus status = RF_OK;
  if (!e.A || !e.pivot || !x || !bound)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for an exact elimination");
  if (!status) load(&e, X, factor);
  if (!status) status = reduce(&e, bound);
  if (!status) status = solve(&e, x, bound, guess) ? take(context, out, &e, x, n) : RF_UNDECIDED;
  exact_free(&e, x);
  rf_free(bound);
  return status;
}

typedef struct Ranked {
  double guess;
  rf_index at;
} Ranked;

static int by_guess(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  return x->guess > y->guess ? -1 : x->guess < y->guess ? 1 : (x->at > y->at) - (x->at < y->at);
}

RfStatus rf_margin_balance(RfContext *context, RfBalance *balance, const double *X, const double *factor,
                           rf_index n, rf_index d, const double *guess) {
  static const double shares[] = {1e-14, 1e-10, 1e-6, 1e-3}; /* smaller guesses may be noise */
  memset(balance, 0, sizeof *balance);
  Ranked *ranked = RF_NEW(Ranked, n);
  rf_index *at = RF_NEW(rf_index, n), count = 0, last = -1;
  RfStatus status = RF_UNDECIDED;
  if (!ranked || !at) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for exact weights");
  for (rf_index i = 0; i < n && status == RF_UNDECIDED; i++)
    if (guess[i] > 0) ranked[count++] = (Ranked){guess[i], i};
  if (status == RF_UNDECIDED) qsort(ranked, (size_t)count, sizeof *ranked, by_guess);
  for (size_t turn = 0; turn < sizeof shares / sizeof *shares && status == RF_UNDECIDED; turn++) {
    rf_index s = 0;
    for (; s < count && ranked[s].guess > shares[turn] * ranked[0].guess; s++) at[s] = ranked[s].at;
    if (s > 0 && s <= largest_support && d <= 2 * largest_support && s != last)
      status = attempt(context, balance, at, s, X, factor, n, d, guess);
    last = s;
  }
  rf_free(ranked), rf_free(at);
  return status;
}

RfStatus rf_balance_times(RfContext *context, char **text, const char *value, double numerator,
                          double denominator) {
  mpq_t product, factor;
  mpq_init(product), mpq_init(factor);
  mpq_set_str(product, value, 10);
  mpq_set_d(factor, numerator);
  mpq_mul(product, product, factor);
  mpq_set_d(factor, denominator);
  mpq_div(product, product, factor);
  size_t size = mpz_sizeinbase(mpq_numref(product), 10) + mpz_sizeinbase(mpq_denref(product), 10) + 3;
  *text = RF_NEW(char, (rf_index)size);
  if (*text) mpq_get_str(*text, 10, product);
  mpq_clear(product), mpq_clear(factor);
  return *text ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory for exact weights");
}
