/* Proof files (docs/proof.md): the claims. Numbers are rounded outward, so that a checker in exact arithmetic
 * finds what is said here. */
#include "optimum/enclose.h"
#include "optimum/proof_internal.h"
#include "la/la.h"
#include "margin/margin.h"

#include <stdio.h>
#include <string.h>

/* ---- parts of all files ----------------------------------------------------------------------- */

typedef struct Claim {
  RfContext *context;
  RfProofText text;
  const double *X, *y;
  rf_index n, d;
  double leak;
  int signs;
} Claim;

static void numbers(RfProofText *text, const double *values, rf_index n) {
  for (rf_index k = 0; k < n; k++) {
    rf_proof_word(text, " ");
    rf_proof_number(text, values[k]);
  }
}

static void line(RfProofText *text, const char *word, const double *values, rf_index n) {
  rf_proof_word(text, word);
  numbers(text, values, n);
  rf_proof_word(text, "\n");
}

static void head(Claim *c, const char *claim, bool signs) {
  static const char *const names[] = {"signs -\n", "signs both\n", "signs +\n"};
  RfProofText *text = &c->text;
  rf_proof_word(text, "reluflow-proof 1\nclaim ");
  rf_proof_word(text, claim);
  rf_proof_word(text, "\n");
  line(text, "leak", &c->leak, 1);
  if (signs) rf_proof_word(text, names[c->signs + 1]);
  rf_proof_word(text, "data ");
  rf_proof_integer(text, c->n);
  rf_proof_word(text, " ");
  rf_proof_integer(text, c->d);
  rf_proof_word(text, "\n");
  for (rf_index i = 0; i < c->n; i++) line(text, c->y[i] > 0 ? "x +1" : "x -1", c->X + i * c->d, c->d);
}

/* Closes the file; without a proof there is none. */
static RfStatus finish(Claim *c, RfStatus status, const char *path) {
  if (!status) rf_proof_word(&c->text, "qed\n");
  return rf_proof_close(c->context, &c->text, path, status);
}

/* ---- optimum ---------------------------------------------------------------------------------- */

static void network(Claim *c, const RfOptimum *o) {
  RfProofText *text = &c->text;
  line(text, "upper", &o->objective, 1);
  rf_proof_word(text, "neurons ");
  rf_proof_integer(text, o->neurons);
  rf_proof_word(text, "\n");
  for (rf_index k = 0; k < o->neurons; k++) {
    const double *u = o->U + k * o->d;
    double rho = rf_enclose_length(u, o->d);
    rf_proof_word(text, o->sign[k] > 0 ? "u +1" : "u -1");
    numbers(text, u, o->d);
    numbers(text, &rho, 1);
    rf_proof_word(text, "\n");
  }
}

/* The whole file for one tau. */
static RfStatus write_optimum(Claim *c, RfProof *proof, const RfOptimum *o, double tau) {
  head(c, "optimum", true);
  if (isfinite(o->objective)) network(c, o);
  double lower = rf_enclose_quotient(o->lambda, o->n, tau);
  line(&c->text, "lower", &lower, 1);
  line(&c->text, "tau", &tau, 1);
  line(&c->text, "lambda", o->lambda, o->n);
  RfStatus status = RF_OK;
  for (int sign = 1; sign >= -1 && !status; sign -= 2)
    if (c->signs * sign >= 0)
      status = rf_proof_tree(c->context, &c->text, &proof->nodes, c->X, c->y, o->lambda, c->n, c->d, c->leak,
                             sign, tau);
  proof->lower = lower, proof->upper = o->objective;
  return status;
}

/* Looser targets are tried while a node cannot be closed: they cost digits of the lower bound, nothing else.
 */
static RfStatus prove_optimum(Claim *c, RfProof *proof, const RfOptimum *o, const char *path) {
  double norm =
      o->lower > 0 ? rf_enclose_sum(o->lambda, o->n) / o->lower : 1; /* what the search has proved */
  RfStatus status = RF_UNDECIDED;
  for (size_t k = 0; k < sizeof rf_proof_slack / sizeof *rf_proof_slack && status == RF_UNDECIDED; k++) {
    status = rf_proof_open(c->context, &c->text, path);
    if (status) return status;
    proof->nodes = 0;
    status = finish(c, write_optimum(c, proof, o, norm * (1 + rf_proof_slack[k])), path);
  }
  return status;
}

/* ---- infeasible ------------------------------------------------------------------------------- */

/* Weights as text, one per sample; NULL = 0. */
typedef struct Weights {
  rf_index n;
  char **word;
} Weights;

static void weights_free(Weights *w) {
  for (rf_index i = 0; w->word && i < w->n; i++) rf_free(w->word[i]);
  rf_free(w->word);
}

static rf_index largest_entry(const double *x, rf_index d) {
  rf_index at = 0;
  for (rf_index k = 1; k < d; k++)
    if (fabs(x[k]) > fabs(x[at])) at = k;
  return at;
}

/* Antipodal pairs: the weight of i is an integer that balances the rows of the pairs' first members, that of
 * its mate is it times the ratio of their lengths, which is the ratio of two entries. */
static RfStatus pair_weights(Claim *c, Weights *w, const double *farkas) {
  double *guess = RF_NEW(double, c->n);
  rf_index *mate = RF_NEW(rf_index, c->n);
  RfStatus status = RF_OK;
  if (!guess || !mate) status = rf_fail(c->context, RF_ERR_MEMORY, "out of memory for a proof");
  for (rf_index i = 0; i < c->n && !status; i++) {
    mate[i] = -1;
    if (!(farkas[i] > 0)) continue;
    for (rf_index j = 0; j < i && mate[i] < 0; j++)
      if (farkas[j] > 0 && rf_rows_on_line(c->X + i * c->d, c->X + j * c->d, c->d)) mate[i] = j;
    if (mate[i] < 0) guess[i] = farkas[i];
  }
  RfBalance balance = {0};
  if (!status) status = rf_margin_balance(c->context, &balance, c->X, c->y, c->n, c->d, guess);
  for (rf_index i = 0; i < c->n && !status; i++) {
    rf_index j = guess[i] > 0 ? i : mate[i], at = largest_entry(c->X + i * c->d, c->d);
    if (j < 0 || !balance.weight[j]) continue;
    double own = fabs(c->X[i * c->d + at]), other = fabs(c->X[j * c->d + at]);
    status = rf_balance_times(c->context, &w->word[i], balance.weight[j], other, own);
  }
  rf_balance_free(&balance);
  rf_free(guess), rf_free(mate);
  return status;
}

static RfStatus balance_weights(Claim *c, Weights *w, const double *farkas) {
  RfBalance balance = {0};
  RfStatus status = rf_margin_balance(c->context, &balance, c->X, c->y, c->n, c->d, farkas);
  for (rf_index i = 0; i < c->n && !status; i++) w->word[i] = balance.weight[i], balance.weight[i] = NULL;
  rf_balance_free(&balance);
  return status;
}

/* f of one sample alone, or of two on one ray (the ratio of their lengths), or of pairs, or of all. */
static RfStatus exact_weights(Claim *c, Weights *w, const double *farkas, bool *sublinear) {
  rf_index count = 0, own = 0, last[2] = {-1, -1};
  for (rf_index i = 0; i < c->n; i++) {
    if (!(farkas[i] > 0)) continue;
    own += c->y[i] * c->signs > 0, last[1] = last[0], last[0] = i, count++;
  }
  *sublinear = c->signs != 0 && own <= 1;
  if (count == 1) return rf_balance_times(c->context, &w->word[last[0]], "1", 1, 1);
  if (count == 2 && c->leak < 1 && rf_rows_on_line(c->X + last[0] * c->d, c->X + last[1] * c->d, c->d) > 0) {
    rf_index at = largest_entry(c->X + last[0] * c->d, c->d);
    double a = fabs(c->X[last[0] * c->d + at]), b = fabs(c->X[last[1] * c->d + at]);
    RfStatus status = rf_balance_times(c->context, &w->word[last[0]], "1", b, a);
    return status ? status : rf_balance_times(c->context, &w->word[last[1]], "1", 1, 1);
  }
  if (*sublinear || c->leak == 1) return balance_weights(c, w, farkas);
  return pair_weights(c, w, farkas);
}

/* One sign, at most one own sample: on either side of it everything cancels (sublinearity of phi). */
static void write_sublinear(Claim *c, const Weights *w) {
  RfProofText *text = &c->text;
  rf_index own = -1;
  for (rf_index i = 0; i < c->n; i++)
    if (w->word[i] && c->y[i] * c->signs > 0) own = i;
  rf_proof_word(text, c->signs > 0 ? "tree +1\n" : "tree -1\n");
  if (own >= 0) {
    rf_proof_word(text, "s ");
    rf_proof_integer(text, own);
    rf_proof_word(text, "\ne 0");
    for (rf_index i = 0; i < c->n; i++) {
      if (!w->word[i] || i == own) continue;
      rf_proof_word(text, " ");
      rf_proof_integer(text, i);
      rf_proof_word(text, ":");
      rf_proof_word(text, w->word[i]);
    }
    rf_proof_word(text, " /\n");
  }
  rf_proof_word(text, "e 0 /\n");
}

static RfStatus prove_infeasible(Claim *c, const double *farkas, const char *path) {
  Weights w = {.n = c->n, .word = RF_NEW(char *, c->n)};
  bool sublinear = false;
  RfStatus status = RF_OK;
  if (!w.word) status = rf_fail(c->context, RF_ERR_MEMORY, "out of memory for a proof");
  if (!status) status = exact_weights(c, &w, farkas, &sublinear);
  if (!status) status = rf_proof_open(c->context, &c->text, path);
  if (!status) {
    if (!sublinear) c->signs = 0; /* no network of both signs: none of one */
    head(c, "infeasible", true);
    rf_proof_word(&c->text, "farkas");
    for (rf_index i = 0; i < c->n; i++) {
      rf_proof_word(&c->text, " ");
      rf_proof_word(&c->text, w.word[i] ? w.word[i] : "0");
    }
    rf_proof_word(&c->text, "\n");
    if (sublinear) write_sublinear(c, &w);
    status = finish(c, RF_OK, path);
  }
  weights_free(&w);
  return status;
}

RfStatus rf_optimum_proof(RfContext *context, RfProof *proof, const char *path, const RfOptimum *optimum,
                          const double *X, const double *y, int signs) {
  double started = rf_clock_seconds();
  memset(proof, 0, sizeof *proof);
  Claim c = {.context = context, .X = X, .y = y, .n = optimum->n, .d = optimum->d, .leak = optimum->leak};
  c.signs = signs;
  bool none = optimum->status == RF_OPTIMUM_INFEASIBLE;
  RfStatus status =
      none ? prove_infeasible(&c, optimum->farkas, path) : prove_optimum(&c, proof, optimum, path);
  if (none) proof->lower = proof->upper = INFINITY;
  proof->claim = none ? "infeasible" : "optimum";
  proof->bytes = c.text.bytes, proof->seconds = rf_clock_seconds() - started;
  return status;
}

/* ---- linear ----------------------------------------------------------------------------------- */

static void fractions(RfProofText *text, const RfBalance *values) {
  for (rf_index i = 0; i < values->n; i++) {
    rf_proof_word(text, " ");
    rf_proof_word(text, values->weight[i] ? values->weight[i] : "0");
  }
}

/* With the exact v and multipliers: the bracket is two roundings wide. RF_UNDECIDED where they are not known.
 */
static RfStatus write_exact_separable(Claim *c, RfProof *proof) {
  RfExactMargin exact;
  RfStatus status = rf_margin_exact(c->context, &exact, c->X, c->y, c->n, c->d);
  if (status) return status > 0 ? RF_UNDECIDED : status;
  proof->lower = exact.lower, proof->upper = exact.upper;
  head(c, "separable", false);
  rf_proof_word(&c->text, "w");
  fractions(&c->text, &exact.v);
  line(&c->text, "", &exact.length, 1);
  line(&c->text, "lower", &proof->lower, 1);
  line(&c->text, "upper", &proof->upper, 1);
  rf_proof_word(&c->text, "alpha");
  fractions(&c->text, &exact.multipliers);
  line(&c->text, "", &exact.length, 1);
  rf_exact_margin_free(&exact);
  return RF_OK;
}

static RfStatus write_separable(Claim *c, RfProof *proof, const RfLinearMargin *m) {
  double plus = 1, rho = rf_enclose_length(m->w, c->d), norm;
  double least = rf_enclose_margin(m->w, &plus, 1, c->X, c->y, c->n, c->d, 1);
  double total = rf_enclose_sum(m->multipliers, c->n);
  RfStatus status = rf_enclose_linear_norm(c->context, &norm, m->multipliers, c->X, c->y, c->n, c->d);
  bool holds = !status && least > 0 && total > 0;
  proof->lower = holds ? nextafter(least / rho, 0) : 0;
  proof->upper = holds ? nextafter(norm / total, INFINITY) : INFINITY;
  if (!status && !(proof->upper - proof->lower <= rf_proof_wide * proof->upper)) {
    RfProof better = *proof;
    RfStatus exact = write_exact_separable(c, &better);
    if (exact == RF_OK) *proof = better;
    if (exact <= 0) return exact;
  }
  if (status || !holds) return status ? status : RF_UNDECIDED;
  head(c, "separable", false);
  rf_proof_word(&c->text, "w");
  numbers(&c->text, m->w, c->d);
  numbers(&c->text, &rho, 1);
  rf_proof_word(&c->text, "\n");
  line(&c->text, "lower", &proof->lower, 1);
  line(&c->text, "upper", &proof->upper, 1);
  rf_proof_word(&c->text, "alpha");
  numbers(&c->text, m->multipliers, c->n);
  numbers(&c->text, &norm, 1);
  rf_proof_word(&c->text, "\n");
  return RF_OK;
}

static RfStatus write_inseparable(Claim *c, const RfLinearMargin *m) {
  RfBalance balance = {0};
  RfStatus status = rf_margin_balance(c->context, &balance, c->X, c->y, c->n, c->d, m->farkas);
  if (status) return status;
  head(c, "inseparable", false);
  rf_proof_word(&c->text, "alpha");
  for (rf_index i = 0; i < c->n; i++) {
    rf_proof_word(&c->text, " ");
    rf_proof_word(&c->text, balance.weight[i] ? balance.weight[i] : "0");
  }
  rf_proof_word(&c->text, "\n");
  rf_balance_free(&balance);
  return RF_OK;
}

RfStatus rf_proof_linear(RfContext *context, RfProof *proof, const char *path, const RfLinearMargin *margin,
                         const double *X, const double *y) {
  double started = rf_clock_seconds();
  memset(proof, 0, sizeof *proof);
  proof->claim = margin->separable ? "separable" : "inseparable";
  if (margin->status != RF_OK && margin->status != RF_NOT_SEPARABLE) return RF_UNDECIDED;
  Claim c = {.context = context, .X = X, .y = y, .n = margin->n, .d = margin->d, .leak = 1};
  RfStatus status = rf_proof_open(context, &c.text, path);
  if (status) return status;
  status = margin->separable ? write_separable(&c, proof, margin) : write_inseparable(&c, margin);
  status = finish(&c, status, path);
  proof->bytes = c.text.bytes, proof->seconds = rf_clock_seconds() - started;
  return status;
}
