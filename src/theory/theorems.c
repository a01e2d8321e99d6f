/* The main theorems of the five papers: which apply to a data set, and the first reason why not.
 *
 * A theorem is a list of requirements, tested in order; each either passes or writes one sentence. What a
 * theorem asks of the start (balance, small scale, random draw) is not tested here. Corrections to the
 * printed statements:
 *   - MMV Theorem 1 holds for the losses exp and 2 ln(1+e^-q); with ln(1+e^-q) it is the same curve at half
 * the speed;
 *   - WP Theorem 1 fails as printed where a neuron's limit lies on a hyperplane: there the sum of its active
 * samples must be projected first, and with that it holds for all data;
 *   - WP Theorem 2 needs every one-versus-rest problem to be orthogonally separable, which three classes
 * never are;
 *   - WP Theorem 4 needs an aligned neuron of each sign at the start;
 *   - LLWA Theorem H.2 is about phi<w+,x> - phi<w-,x>, and A.9 about a >= 0. */
#include "theory/theory_internal.h"
#include "core/core.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "la/la.h"

typedef struct Case {
  RfContext *context;
  const RfTheoryProblem *problem;
  const RfTheory *theory;
  const char *misfit;  /* why no network fits */
  RfAnswer orthogonal; /* orthogonally separable among its classes */
  char orthogonal_why[128];
  RfAnswer hinted; /* LLWA definition 6.1 */
} Case;

static bool say(RfTheorem *theorem, RfAnswer applies, const char *format, ...) RF_PRINTF(3, 4);
/* Records the verdict; true for RF_YES, so that requirements chain with &&. */
static bool say(RfTheorem *theorem, RfAnswer applies, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  rf_format_list(theorem->why, sizeof theorem->why, format, arguments);
  va_end(arguments);
  theorem->applies = applies;
  return applies == RF_YES;
}

/* ---- requirements ------------------------------------------------------------------------------------ */

static bool binary(const Case *c, RfTheorem *t) {
  if (c->problem->data->y) return true;
  return say(t, RF_NO, "it is about two classes, these data have %lld",
             (long long)c->problem->data->n_classes);
}

static bool both_classes(const Case *c, RfTheorem *t) {
  const RfPairFacts *pairs = c->problem->pairs;
  if (pairs->n_pos > 0 && pairs->n_neg > 0) return true;
  return say(t, RF_NO, "there is no %s sample", pairs->n_pos > 0 ? "negative" : "positive");
}

static bool relu(const Case *c, RfTheorem *t) {
  if (c->problem->leak == 0) return true;
  return say(t, RF_NO, "it is about ReLU networks, leak is %.6g", c->problem->leak);
}

static bool leaky(const Case *c, RfTheorem *t) {
  if (c->problem->leak > 0 && c->problem->leak < 1) return true;
  return say(t, RF_NO, "it needs a leak strictly between 0 and 1, leak is %.6g", c->problem->leak);
}

static bool linear_network(const Case *c, RfTheorem *t) {
  if (c->problem->leak == 1) return true;
  return say(t, RF_NO, "it is about linear networks (leak 1), leak is %.6g", c->problem->leak);
}

static bool logistic(const Case *c, RfTheorem *t) {
  if (c->problem->loss != RF_LOSS_EXP) return true;
  return say(t, RF_NO,
             "it is stated for the logistic loss, whose derivative is bounded; the loss here is exp");
}

static bool separable(const Case *c, RfTheorem *t) {
  if (c->problem->linear->separable) return true;
  if (c->problem->linear->status == RF_NOT_SEPARABLE)
    return say(t, RF_NO, "the data are not linearly separable through the origin");
  return say(t, RF_UNKNOWN, "linear separability could not be decided");
}

static bool orthogonal(const Case *c, RfTheorem *t) {
  if (c->orthogonal == RF_YES) return true;
  if (c->orthogonal == RF_UNKNOWN)
    return say(t, RF_UNKNOWN,
               "whether the data are orthogonally separable was not decided in the time given");
  return say(t, RF_NO, "not orthogonally separable: %s", c->orthogonal_why);
}

static bool spans(const Case *c, RfTheorem *t) {
  const RfClassMargin *sides[2] = {c->problem->positive, c->problem->negative};
  for (int k = 0; k < 2; k++)
    if (!sides[k]->spans)
      return say(t, RF_NO, "the %lld support samples of the %s class do not span R^%lld",
                 (long long)sides[k]->n_support, k ? "negative" : "positive", (long long)c->problem->data->d);
  return true;
}

static bool symmetric(const Case *c, RfTheorem *t) {
  if (c->theory->symmetric.holds == RF_YES) return true;
  return say(t, RF_NO, "the data are not symmetric: some (x,y) has no partner (-x,-y)");
}

static bool holds(const RfAssumption *assumption, RfTheorem *t, const char *name, const char *meaning) {
  if (assumption->holds == RF_YES) return true;
  if (assumption->holds == RF_UNKNOWN)
    return say(t, RF_UNKNOWN, "assumption %s (%s) could not be decided", name, meaning);
  return say(t, RF_NO, "assumption %s (%s) fails, slack %.6g", name, meaning, assumption->slack);
}

static bool fits(const Case *c, RfTheorem *t) {
  if (c->theory->fits == RF_YES) return true;
  if (c->theory->fits == RF_UNKNOWN) return say(t, RF_UNKNOWN, "whether a network fits could not be decided");
  return say(t, RF_NO, "%s", c->misfit);
}

/* LLWA: one group of neurons wins. */
static bool principal(const Case *c, RfTheorem *t) {
  return binary(c, t) && leaky(c, t) && logistic(c, t) && separable(c, t) &&
         holds(&c->theory->principal.a2, t, "A.2", "all early velocities separate the data");
}

/* ---- facts computed once ----------------------------------------------------------------------------- */

/* The first zero sample or the first pair that breaks orthogonal separability among classes. The first rows,
 * where most data show one, are looked at however late it is. */
static RfAnswer search_pair(RfContext *context, char *why, size_t size, const RfDataset *data) {
  enum { first_rows = 64 };
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + i * data->d;
    double norm = rf_la_norm(x, data->d);
    if (norm == 0) return (void)rf_format(why, size, "sample %lld is zero", (long long)i), RF_NO;
    for (rf_index j = 0; j < i; j++) {
      const double *other = data->X + j * data->d;
      double product = rf_la_dot(x, other, data->d),
             small = context->tol.zero * norm * rf_la_norm(other, data->d);
      bool equal = data->class_of[i] == data->class_of[j];
      if (fabs(product) <= small) product = 0;
      if (equal ? product > 0 : product <= 0) continue;
      rf_format(why, size, "samples %lld and %lld of %s label%s have inner product %.6g", (long long)j,
                (long long)i, equal ? "equal" : "different", equal ? "" : "s", product);
      return RF_NO;
    }
    if (i >= first_rows && rf_context_stop(context)) return RF_UNKNOWN;
  }
  return RF_YES;
}

/* ---- Phuong & Lampert; Min, Mallada, Vidal ----------------------------------------------------------- */

static void pl_theorem_1(const Case *c, RfTheorem *t) {
  if (binary(c, t) && relu(c, t) && logistic(c, t) && orthogonal(c, t) && both_classes(c, t) && spans(c, t))
    say(t, RF_YES, "orthogonally separable, and the support samples of both classes span R^%lld",
        (long long)c->problem->data->d);
}

static void mmv_theorem_1(const Case *c, RfTheorem *t) {
  if (!(binary(c, t) && relu(c, t))) return;
  const RfAlignmentBounds *bounds = &c->theory->alignment;
  if (c->problem->pairs->zeros > 0)
    say(t, RF_NO, "assumption 1 fails: a sample is zero");
  else if (c->problem->data->n < 2)
    say(t, RF_NO, "its time bound needs at least two samples");
  else if (bounds->separated.holds == RF_UNKNOWN)
    say(t, RF_UNKNOWN, "assumption 1 could not be decided");
  else if (bounds->separated.holds == RF_NO)
    say(t, RF_NO, "assumption 1 fails: the smallest cosine between signed samples is %.6g, not positive",
        bounds->separated.slack);
  else
    say(t, RF_YES, "all signed samples are positively correlated, sep = %.6g; aligned by t1 <= %.6g",
        bounds->separated.slack, bounds->t1);
}

/* ---- Lyu, Li, Wang, Arora ---------------------------------------------------------------------------- */

static void llwa_theorem_3_1(const Case *c, RfTheorem *t) {
  if (binary(c, t) && fits(c, t))
    say(t, RF_YES,
        "networks that fit exist; from a summed loss below %.6g the flow converges to a KKT direction",
        rf_loss_value(c->problem->loss, 0));
}

static void llwa_theorem_4_2(const Case *c, RfTheorem *t) {
  if (binary(c, t) && leaky(c, t) && separable(c, t) && symmetric(c, t))
    say(t, RF_YES, "separable and symmetric: the best network is linear, margin (1+leak)/4 of %.6g",
        c->problem->linear->margin);
}

static void llwa_theorem_4_3(const Case *c, RfTheorem *t) {
  if (binary(c, t) && leaky(c, t) && logistic(c, t) && separable(c, t) && symmetric(c, t) &&
      holds(&c->theory->off_mean, t, "4.5", "no sample is orthogonal to the mean of the signed samples"))
    say(t, RF_YES,
        "separable and symmetric, no sample orthogonal to the mean (%.6g away); branching is not tested",
        c->theory->off_mean.slack);
}

static bool plus_wins(const Case *c, RfTheorem *t) {
  return principal(c, t) && holds(&c->theory->principal.a3, t, "A.3", "|mu+| > |mu-|") &&
         holds(&c->theory->principal.a5, t, "A.5",
               "negative neurons alone cannot reach the margin of wL+ on its support");
}

static void llwa_theorem_6_2(const Case *c, RfTheorem *t) {
  if (!(binary(c, t) && leaky(c, t) && logistic(c, t) && separable(c, t))) return;
  const RfPrincipal *p = &c->theory->principal;
  if (c->hinted != RF_YES)
    say(t, RF_NO,
        "no hints H w, eps w + K v, eps w - K v among the positive samples, w the separator of the others");
  else if (plus_wins(c, t)) {
    if (rf_theory_parallel(p->w_plus, c->problem->linear->w, c->problem->data->d, 1e-7))
      say(t, RF_YES,
          "a hinted data set: A.2, A.3 and A.5 hold, and one positive neuron along the separator wins");
    else
      say(t, RF_NO,
          "hinted, but eps is too large: the one-neuron separator is not the separator of the data");
  }
}

static void llwa_theorem_a_7(const Case *c, RfTheorem *t) {
  if (plus_wins(c, t))
    say(t, RF_YES, "A.2, A.3 and A.5 hold: positive neurons win, margin %.6g; branching is not tested",
        c->theory->principal.margin_plus / 2);
}

static void llwa_theorem_a_10(const Case *c, RfTheorem *t) {
  const RfPrincipal *p = &c->theory->principal;
  if (principal(c, t) && holds(&p->a8, t, "A.8", "|mu-| > |mu+|") &&
      holds(&p->a9, t, "A.9", "positive neurons alone cannot reach the margin of wL- on its support"))
    say(t, RF_YES, "A.2, A.8 and A.9 hold: negative neurons win, margin %.6g; branching is not tested",
        p->margin_minus / 2);
}

static void llwa_theorem_h_2(const Case *c, RfTheorem *t) {
  if (binary(c, t) && relu(c, t) && orthogonal(c, t))
    say(t, RF_YES, "orthogonally separable: all KKT directions give one function, the best one");
}

/* ---- Wang & Pilanci ---------------------------------------------------------------------------------- */

static void wp_proposition_4(const Case *c, RfTheorem *t) {
  if (binary(c, t) && relu(c, t) && orthogonal(c, t))
    say(t, RF_YES, "orthogonally separable: a KKT point whose neurons cover both classes is dual feasible");
}

static void wp_proposition_5(const Case *c, RfTheorem *t) {
  const RfSpikeFree *spike = c->problem->spike;
  if (!(binary(c, t) && relu(c, t))) return;
  if (!spike || spike->holds == RF_UNKNOWN)
    say(t, RF_UNKNOWN, "whether X is spike-free was not decided");
  else if (spike->holds == RF_YES)
    say(t, RF_YES, "spike-free: a KKT point whose neurons cover both classes is dual feasible");
  else if (isfinite(spike->number))
    say(t, RF_NO, "X is not spike-free: spike number %.6g > 1", spike->number);
  else
    say(t, RF_NO, "X is not spike-free");
}

/* cos(u, +-sum of y_i x_i over active samples) at an extremal direction; below 1 the neuron slides on a
 * hyperplane. */
static double alignment_cosine(const Case *c, const RfExtremalDirection *extremal, double sign, double *sum) {
  const RfDataset *data = c->problem->data;
  memset(sum, 0, (size_t)data->d * sizeof *sum);
  for (rf_index i = 0; i < data->n; i++)
    if (extremal->sector[i] == '+') rf_la_axpy(sum, sign * data->y[i], data->X + i * data->d, data->d);
  double norm = rf_la_norm(sum, data->d);
  return norm > 0 ? rf_la_dot(sum, extremal->direction, data->d) / norm
                  : 1; /* no active sample: nothing moves */
}

static void wp_theorem_1(const Case *c, RfTheorem *t) {
  const RfExtremal *extremal = c->problem->extremal;
  if (!(relu(c, t) && logistic(c, t))) return;
  say(t, RF_YES, "any data: neurons of suitable sign align with the sum of their active samples");
  if (!extremal || !c->problem->data->y) return;
  double *sum = RF_NEW(double, c->problem->data->d);
  if (!sum) return;
  for (rf_index k = 0, found = 0; k < extremal->n_positive + extremal->n_negative && !found; k++) {
    bool positive = k < extremal->n_positive;
    const RfExtremalDirection *e =
        positive ? &extremal->positive[k] : &extremal->negative[k - extremal->n_positive];
    double cosine = alignment_cosine(c, e, positive ? 1 : -1, sum);
    const char *zero = strchr(e->sector, '0');
    if (!(cosine < 1 - 1e-9 && zero)) continue;
    found =
        say(t, RF_YES,
            "any data, after projection: %s neurons can end on the hyperplane of sample %lld, at cosine %.6g",
            positive ? "positive" : "negative", (long long)(zero - e->sector), cosine);
  }
  rf_free(sum);
}

static void wp_theorem_2(const Case *c, RfTheorem *t) {
  if (!(relu(c, t) && logistic(c, t))) return;
  if (c->problem->data->n_classes < 2)
    say(t, RF_NO, "there is only one class");
  else if (!orthogonal(c, t))
    return;
  else if (c->problem->data->n_classes > 2)
    say(t, RF_NO,
        "orthogonally separable among %lld classes, but class against rest is not: samples of two other "
        "classes have no positive inner product",
        (long long)c->problem->data->n_classes);
  else
    say(t, RF_YES, "orthogonally separable, two classes");
}

static void wp_theorem_4(const Case *c, RfTheorem *t) {
  if (binary(c, t) && relu(c, t) && logistic(c, t) && orthogonal(c, t) && both_classes(c, t))
    say(t, RF_YES, "orthogonally separable; needs an aligned neuron of each sign at the start");
}

/* ---- Vardi, Shamir, Srebro --------------------------------------------------------------------------- */

static void vss_theorem_3_1(const Case *c, RfTheorem *t) {
  if (binary(c, t) && linear_network(c, t) && separable(c, t))
    say(t, RF_YES, "a linear network on separable data: the limit is the best margin, %.6g",
        c->problem->linear->margin / 2);
}

/* Two samples of one label, both support samples of w+-, where a neuron of its own for one of them pays: at
 * the KKT point of one neuron the multiplier of sample i is alpha_i/|w|, and alpha_i |x_i|/|w| > 1 breaks
 * dual feasibility. */
static void vss_theorem_3_2(const Case *c, RfTheorem *t) {
  const RfDataset *data = c->problem->data;
  if (!(binary(c, t) && relu(c, t))) return;
  if (data->n != 2 || data->d != 2 || data->y[0] != data->y[1]) {
    say(t, RF_NO, "it is about two samples of one label in the plane");
    return;
  }
  const RfClassMargin *side = data->y[0] > 0 ? c->problem->positive : c->problem->negative;
  if (!side->exists) {
    say(t, RF_NO, "no neuron is active on both samples");
    return;
  }
  double dual = 0;
  for (rf_index i = 0; i < 2; i++)
    dual = fmax(dual, side->multipliers[i] * rf_la_norm(data->X + 2 * i, 2) / side->norm);
  if (side->multipliers[0] > 0 && side->multipliers[1] > 0 && dual > 1 + 1e-9)
    say(t, RF_YES, "one neuron for both samples is a KKT point but no local optimum: dual norm %.6g > 1",
        dual);
  else
    say(t, RF_NO, "one neuron for both samples is dual feasible here: dual norm %.6g <= 1", dual);
}

/* Part 2 of Theorem 4.2: four samples of one label, two opposite pairs of equal norm at right angles. */
static bool is_cross(const RfDataset *data, double tolerance) {
  if (data->n != 4 || data->d != 2 || data->n_classes != 1) return false;
  double scale = rf_la_dot(data->X, data->X, 2);
  for (rf_index i = 0; i < 4; i++) {
    int opposite = 0, orthogonal_count = 0;
    for (rf_index j = 0; j < 4; j++) {
      double product = rf_la_dot(data->X + 2 * i, data->X + 2 * j, 2);
      opposite += fabs(product + scale) <= tolerance * scale;
      orthogonal_count += fabs(product) <= tolerance * scale;
    }
    if (opposite != 1 || orthogonal_count != 2) return false;
  }
  return true;
}

static void vss_theorem_4_2(const Case *c, RfTheorem *t) {
  if (!binary(c, t)) return;
  if (c->problem->leak == 0 && is_cross(c->problem->data, 1e-12))
    say(t, RF_YES,
        "part 2: on this cross four neurons along the samples are a KKT point but no local optimum");
  else if (linear_network(c, t) && separable(c, t))
    say(t, RF_YES,
        "part 1: a linear network on separable data; limits without zero neurons are global optima");
}

static void vss_theorem_4_3(const Case *c, RfTheorem *t) {
  if (binary(c, t) && relu(c, t) && fits(c, t))
    say(t, RF_YES, "networks that fit exist; a limit with no zero input to any neuron is a local optimum");
}

/* ---- all ----------------------------------------------------------------------------------- */

static const struct {
  const char *id;
  void (*check)(const Case *c, RfTheorem *theorem);
} table[] = {
    {"PL-Thm1", pl_theorem_1},         {"PL-Cor1", pl_theorem_1},         {"MMV-Thm1", mmv_theorem_1},
    {"LLWA-Thm3.1", llwa_theorem_3_1}, {"LLWA-Thm4.2", llwa_theorem_4_2}, {"LLWA-Thm4.3", llwa_theorem_4_3},
    {"LLWA-Thm6.2", llwa_theorem_6_2}, {"LLWA-ThmA.7", llwa_theorem_a_7}, {"LLWA-ThmA.10", llwa_theorem_a_10},
    {"LLWA-ThmH.2", llwa_theorem_h_2}, {"WP-Prop4", wp_proposition_4},    {"WP-Prop5", wp_proposition_5},
    {"WP-Thm1", wp_theorem_1},         {"WP-Thm2", wp_theorem_2},         {"WP-Thm4", wp_theorem_4},
    {"VSS-Thm3.1", vss_theorem_3_1},   {"VSS-Thm3.2", vss_theorem_3_2},   {"VSS-Thm4.2", vss_theorem_4_2},
    {"VSS-Thm4.3", vss_theorem_4_3},
};

RfStatus rf_theory_theorems(RfContext *context, RfTheory *theory, const RfTheoryProblem *problem,
                            const char *misfit) {
  enum { COUNT = sizeof table / sizeof *table };
  Case c = {context, problem, theory, misfit, RF_UNKNOWN, "", RF_NO};
  RfStatus status = RF_OK;
  theory->theorems = RF_NEW(RfTheorem, COUNT);
  if (!theory->theorems) return rf_fail(context, RF_ERR_MEMORY, "out of memory for theorems");
  theory->n_theorems = COUNT;
  if (problem->data->y && problem->pairs->orthogonal_separable)
    c.orthogonal = RF_YES;
  else
    c.orthogonal = search_pair(context, c.orthogonal_why, sizeof c.orthogonal_why, problem->data);
  if (problem->data->y && problem->leak > 0 && problem->leak < 1)
    status = rf_theory_hints(context, &c.hinted, problem);
  if (status < 0) return status;
  for (rf_index k = 0; k < COUNT; k++) {
    theory->theorems[k].id = table[k].id;
    table[k].check(&c, &theory->theorems[k]);
  }
  return status;
}
