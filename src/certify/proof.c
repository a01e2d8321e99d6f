/* The proof file of a KKT point (docs/proof.md, claim kkt): the network at margins >= 1, multipliers and
 * slopes, and bounds of stationarity and complementarity that hold in exact arithmetic. They are evaluated in
 * extended precision; what its rounding can hide is bounded by the usual (operations) x (unit) x (sum of
 * sizes) [Higham, Accuracy and Stability, 3.1] and added. */
#include "certify_internal.h"

#include "optimum/optimum.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct Claim {
  rf_index n, m, d;
  const double *X, *y, *lambda;
  double leak, kink;
  double *W, *a, *slopes; /* slopes: m rows of n */
  double epsilon, delta;
} Claim;

/* What `operations` roundings can do to a sum whose terms have this total size. */
static long double rounding(long double size, rf_index operations) {
  return 2 * (long double)(operations + 4) * LDBL_EPSILON * size;
}

static long double input(const Claim *c, rf_index i, rf_index k, long double *size) {
  long double z = 0;
  for (rf_index j = 0; j < c->d; j++) {
    long double term = (long double)c->W[k * c->d + j] * (long double)c->X[i * c->d + j];
    z += term;
    *size += fabsl(term);
  }
  return z;
}

/* y_i f(x_i), and what rounding can hide. */
static long double margin(const Claim *c, rf_index i, long double *error) {
  long double sum = 0, total = 0;
  for (rf_index k = 0; k < c->m; k++) {
    long double size = 0, z = input(c, i, k, &size);
    sum += (long double)c->a[k] * (z > 0 ? z : (long double)c->leak * z);
    total += fabsl((long double)c->a[k]) * size;
  }
  *error = rounding(total, c->d + c->m);
  return sum * (long double)c->y[i];
}

/* Scales the network until every margin is >= 1 without doubt. */
static bool reach_margin(Claim *c) {
  for (int step = 0; step < 4; step++) {
    long double least = INFINITY, error;
    for (rf_index i = 0; i < c->n; i++) {
      long double q = margin(c, i, &error);
      least = fminl(least, q - error);
    }
    if (least >= 1) return true;
    if (!(least > 0)) return false;
    double factor = (double)(1 / sqrtl(least)) * (1 + 4 * DBL_EPSILON);
    for (rf_index r = 0; r < c->m * c->d; r++) c->W[r] *= factor;
    for (rf_index k = 0; k < c->m; k++) c->a[k] *= factor;
  }
  return false;
}

/* The residual blocks of neuron k: adds to the square of the residual and to the size of what was summed. */
static void add_residual(const Claim *c, rf_index k, long double *square, long double *size) {
  long double rest = (long double)c->a[k];
  const double *h = c->slopes + k * c->n;
  for (rf_index j = 0; j < c->d; j++) {
    long double r = (long double)c->W[k * c->d + j];
    *size += fabsl(r);
    for (rf_index i = 0; i < c->n; i++) {
      long double term = (long double)c->lambda[i] * (long double)c->y[i] * (long double)c->a[k] *
                         (long double)h[i] * (long double)c->X[i * c->d + j];
      r -= term;
      *size += fabsl(term);
    }
    *square += r * r;
  }
  *size += fabsl(rest);
  for (rf_index i = 0; i < c->n; i++) {
    long double own = 0, z = input(c, i, k, &own), weight = (long double)c->lambda[i] * (long double)c->y[i];
    rest -= weight * (z > 0 ? z : (long double)c->leak * z);
    *size += fabsl(weight) * own;
  }
  *square += rest * rest;
}

/* epsilon and delta, rounded up. */
static void bound(Claim *c) {
  long double theta = 0, square = 0, size = 0, slack = 0, error = 0;
  for (rf_index r = 0; r < c->m * c->d; r++) theta += (long double)c->W[r] * (long double)c->W[r];
  for (rf_index k = 0; k < c->m; k++) theta += (long double)c->a[k] * (long double)c->a[k];
  for (rf_index k = 0; k < c->m; k++) add_residual(c, k, &square, &size);
  for (rf_index i = 0; i < c->n; i++) {
    long double hidden, q = margin(c, i, &hidden);
    slack += (long double)c->lambda[i] * (q - 1);
    error += (long double)c->lambda[i] * (hidden + rounding(fabsl(q) + 1, 4));
  }
  long double up = 1 + rounding(1, 8 * c->m * (c->d + 1));
  c->epsilon =
      (double)((sqrtl(square) + rounding(size, c->n + c->d + 8)) / sqrtl(theta) * up) * (1 + DBL_EPSILON);
  c->delta = (double)(2 * (fmaxl(slack, 0) + error + rounding(slack, c->n)) / theta * up) * (1 + DBL_EPSILON);
}

/* Slopes: those that the projection chose at the kinks, leak at the others, the sign elsewhere. */
static void fill_slopes(Claim *c, const RfKkt *kkt, const RfPoint *p) {
  for (rf_index k = 0; k < c->m; k++)
    for (rf_index i = 0; i < c->n; i++) {
      double z = p->z[i * c->m + k];
      bool kink = fabs(z) <= c->kink * p->neuron_norm[k] * p->row_norm[i];
      c->slopes[k * c->n + i] = z > 0 && !kink ? 1 : c->leak;
    }
  for (rf_index e = 0; e < kkt->n_kinks; e++) {
    const RfKink *kink = &kkt->kinks[e];
    c->slopes[kink->neuron * c->n + kink->sample] = fmin(1, fmax(c->leak, kink->slope));
  }
}

static void numbers(RfProofText *text, const char *word, const double *values, rf_index count) {
  rf_proof_word(text, word);
  for (rf_index i = 0; i < count; i++) {
    rf_proof_word(text, " ");
    rf_proof_number(text, values[i]);
  }
  rf_proof_word(text, "\n");
}

static void counts(RfProofText *text, const char *word, rf_index first, rf_index second) {
  rf_proof_word(text, word);
  rf_proof_integer(text, first);
  if (second) rf_proof_word(text, " "), rf_proof_integer(text, second);
  rf_proof_word(text, "\n");
}

static void write_claim(RfProofText *text, const Claim *c) {
  double wide = c->kink * (1 + 4 * DBL_EPSILON * (double)(c->d + 4)); /* what counted as a kink, rounded up */
  rf_proof_word(text, "reluflow-proof 1\nclaim kkt\n");
  numbers(text, "leak", &c->leak, 1);
  counts(text, "data ", c->n, c->d);
  for (rf_index i = 0; i < c->n; i++) numbers(text, c->y[i] > 0 ? "x +1" : "x -1", c->X + i * c->d, c->d);
  counts(text, "network ", c->m, 0);
  for (rf_index k = 0; k < c->m; k++) {
    rf_proof_word(text, "n ");
    rf_proof_number(text, c->a[k]);
    numbers(text, "", c->W + k * c->d, c->d);
  }
  numbers(text, "epsilon", &c->epsilon, 1);
  numbers(text, "delta", &c->delta, 1);
  numbers(text, "kink", &wide, 1);
  numbers(text, "lambda", c->lambda, c->n);
  rf_proof_word(text, "slopes\n");
  for (rf_index k = 0; k < c->m; k++) numbers(text, "h", c->slopes + k * c->n, c->n);
  rf_proof_word(text, "qed\n");
}

RfStatus rf_certify_proof(RfContext *context, RfProof *proof, const char *path, const RfKkt *kkt,
                          const RfNet *net, const double *X, const double *y, rf_index n) {
  RfPoint p;
  RfStatus status = rf_point_new(context, &p, net, X, y, n);
  if (status < 0) return status;
  if (status || !kkt->lambda) {
    rf_point_free(&p);
    return RF_UNDECIDED;
  }
  double start = rf_clock_seconds();
  Claim c = {.n = n, .m = p.m, .d = p.d, .X = X, .y = y, .lambda = kkt->lambda, .leak = p.leak};
  c.kink = rf_certify_tolerances(context).kink;
  c.W = p.W, c.a = p.a;
  c.slopes = RF_NEW(double, p.m *n);
  RfProofText text = {0};
  if (!c.slopes)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a proof");
  else if (fill_slopes(&c, kkt, &p), !reach_margin(&c))
    status = RF_UNDECIDED;
  if (!status) status = rf_proof_open(context, &text, path);
  if (!status) {
    bound(&c);
    write_claim(&text, &c);
    status = rf_proof_close(context, &text, path, RF_OK);
  }
  *proof = (RfProof){.claim = "kkt",
                     .lower = 0,
                     .upper = c.epsilon,
                     .bytes = text.bytes,
                     .seconds = rf_clock_seconds() - start};
  rf_free(c.slopes);
  rf_point_free(&p);
  return status;
}

/* The network as rows u_k = |a_k| w_k with signs, zero neurons left out. Returns how many. */
static rf_index as_rows(double *U, double *sign, const RfPoint *p) {
  rf_index count = 0;
  for (rf_index k = 0; k < p->m; k++) {
    if (p->a[k] == 0) continue;
    for (rf_index j = 0; j < p->d; j++) U[count * p->d + j] = fabs(p->a[k]) * p->W[k * p->d + j];
    sign[count++] = p->a[k] > 0 ? 1 : -1;
  }
  return count;
}

RfStatus rf_certify_proof_optimum(RfContext *context, RfProof *proof, const char *path,
                                  const RfCertificate *certificate, const RfNet *net, const double *X,
                                  const double *y, rf_index n) {
  if (certificate->global != RF_VERDICT_OPTIMUM || !certificate->optimum.lambda) return RF_UNDECIDED;
  RfPoint p;
  RfStatus status = rf_point_new(context, &p, net, X, y, n);
  if (status < 0) return status;
  RfOptimum own = certificate->optimum; /* its multipliers, with this network instead of its own */
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  own.U = own.sign = NULL, own.patterns = NULL, own.neurons = 0, own.objective = INFINITY;
  double *U = RF_NEW(double, p.m *p.d), *sign = RF_NEW(double, p.m);
  if (!U || !sign) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a proof");
  if (!status) status = rf_optimum_offer(context, &own, U, sign, as_rows(U, sign, &p), X, y, &settings);
  if (!status && !isfinite(own.objective)) status = RF_UNDECIDED;
  if (!status) status = rf_optimum_proof(context, proof, path, &own, X, y, 0);
  rf_free(U), rf_free(sign);
  rf_free(own.U), rf_free(own.sign), rf_free(own.patterns);
  rf_point_free(&p);
  return status;
}
