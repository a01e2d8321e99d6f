/* Lyu, Li, Wang, Arora: the assumptions on the data with their slack. LLWA-01 (all of them on the catalogue),
 * 31 (Lemmas G.1, G.2). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "llwa/llwa.h"
#include "core/core.h"

#include "kit/data.h"
#include "la/la.h"
#include "margin/margin.h"
#include "theory/theory.h"

/* ---- the assumptions of the paper, by the theory's code ------------------------------------------------ */

typedef struct Inspected {
  RfDataset data;
  RfLinearMargin linear;
  RfClassMargin positive, negative;
  RfPairFacts pairs;
  RfTheory theory;
} Inspected;

static void inspected_free(Inspected *all) {
  rf_theory_free(&all->theory);
  rf_class_margin_free(&all->positive), rf_class_margin_free(&all->negative);
  rf_linear_margin_free(&all->linear);
  rf_dataset_free(&all->data);
}

/* all->data is set, the rest is zero. */
static RfStatus inspect(RfClaimRun *run, Inspected *all, double leak) {
  RfContext *context = run->context;
  const double *X = all->data.X, *y = all->data.y;
  rf_index n = all->data.n, d = all->data.d;
  RfStatus status = rf_margin_linear(context, &all->linear, X, y, n, d);
  if (status >= 0) status = rf_margin_class(context, &all->positive, X, y, n, d, 1);
  if (status >= 0) status = rf_margin_class(context, &all->negative, X, y, n, d, -1);
  if (status >= 0) status = rf_geometry_pairs(context, &all->pairs, X, y, n, d);
  RfTheoryProblem problem = {.data = &all->data,
                             .leak = leak,
                             .loss = RF_LOSS_LOGISTIC,
                             .linear = &all->linear,
                             .positive = &all->positive,
                             .negative = &all->negative,
                             .pairs = &all->pairs};
  if (status >= 0) status = rf_theory_inspect(context, &all->theory, &problem);
  return status;
}

static RfStatus inspect_named(RfClaimRun *run, Inspected *all, const char *spec, double leak) {
  memset(all, 0, sizeof *all);
  RfStatus status = rf_claim_generate(run, &all->data, spec);
  return status ? status : inspect(run, all, leak);
}

/* min_i <mu,z_i> - ((1-leak)/leak)(1/n) sum_j max(0,-<z_i,z_j>), from the definition. */
double rf_llwa_second_slack(const RfDataset *data, double leak) {
  double least = INFINITY, n = (double)data->n;
  for (rf_index i = 0; i < data->n; i++) {
    double along = 0, against = 0;
    for (rf_index j = 0; j < data->n; j++) {
      double c = data->y[i] * data->y[j] * rf_la_dot(data->X + i * data->d, data->X + j * data->d, data->d);
      along += c, against += fmax(0, -c);
    }
    least = fmin(least, along / n - (1 - leak) / leak * against / n);
  }
  return least;
}

/* The separator is the combination of its support: |w/margin - sum mult_i z_i| over |w/margin|. */
static double separator_residual(const RfLinearMargin *linear, const RfDataset *data) {
  double r[64] = {0};
  for (rf_index i = 0; i < data->n; i++)
    rf_la_axpy(r, -linear->multipliers[i] * data->y[i], data->X + i * data->d, data->d);
  rf_la_axpy(r, 1 / linear->margin, linear->w, data->d);
  return rf_la_norm(r, data->d) * linear->margin;
}

/* Not negative, and zero on samples beyond the margin. */
static void judge_multipliers(RfClaimRun *run, const RfLinearMargin *linear, const RfDataset *data) {
  double largest = rf_la_max_abs(linear->multipliers, data->n), size = rf_la_norm(linear->w, data->d);
  for (rf_index i = 0; i < data->n; i++) {
    double q = data->y[i] * rf_la_dot(linear->w, data->X + i * data->d, data->d) / size;
    rf_claim_at_least(run, "a multiplier of the separator", linear->multipliers[i] / largest, 0, 1e-10);
    rf_claim_at_least(run, "margin of a sample over the margin", q / linear->margin, 1, 1e-9);
    rf_claim_at_most(run, "multiplier times distance from the margin",
                     linear->multipliers[i] / largest * (q / linear->margin - 1), 0, 1e-8);
  }
}

static RfStatus judge_catalogue(RfClaimRun *run, rf_index *separable, rf_index *entries) {
  static const char *const specs[] = {"DS-WP1",
                                      "DS-WP2",
                                      "DS-OS(5,5,3,0.2)",
                                      "DS-PL2",
                                      "DS-PL(20,5,0)",
                                      "DS-GEN(12,3,0)",
                                      "DS-SYM6",
                                      "DS-LL1(0.5)",
                                      "DS-HINT(80,1,0.1)",
                                      "DS-HINT(20,1,0.1)",
                                      "DS-HINT(10,1,0.1)",
                                      "DS-MID",
                                      "DS-T1(40,1)",
                                      "DS-V1",
                                      "DS-V2",
                                      "DS-V3",
                                      "DS-V4",
                                      "DS-V5",
                                      "DS-V6",
                                      "DS-SEP(10,3,0)",
                                      "DS-M2(0.1)",
                                      "DS-SYM(4,3,0.2,0)"};
  *entries = sizeof specs / sizeof specs[0];
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < *entries && status >= 0; k++) {
    Inspected all;
    status = inspect_named(run, &all, specs[k], 0.5);
    if (status >= 0 && all.linear.separable) {
      ++*separable;
      rf_claim_at_most(run, "separator as combination of its support",
                       separator_residual(&all.linear, &all.data), 0, 1e-10);
      judge_multipliers(run, &all.linear, &all.data);
      double slack = rf_llwa_second_slack(&all.data, 0.5), scale = all.pairs.norm_max * all.pairs.norm_max;
      rf_claim_close(run, "slack of A.2 over the largest squared norm", all.theory.principal.a2.slack / scale,
                     slack / scale, 1e-10);
      rf_claim_true(run, "A.2 holds where its slack is positive",
                    (slack > 1e-9 * scale) == (all.theory.principal.a2.holds == RF_YES) ||
                        fabs(slack) <= 1e-9 * scale);
      rf_claim_true(run, "A.1 implies A.2",
                    all.theory.principal.a1.holds != RF_YES || all.theory.principal.a2.holds == RF_YES);
    } else if (status >= 0) {
      rf_claim_at_most(run, "certificate that no separator exists", all.linear.farkas_residual, 0, 1e-10);
    }
    inspected_free(&all);
  }
  return status < 0 ? status : RF_OK;
}

RfStatus rf_llwa_01(RfClaimRun *run) {
  static const struct {
    const char *spec;
    double slack; /* of A.2, as the catalogue states it; NAN: A.2 fails */
  } sets[] = {{"DS-HINT(80,1,0.1)", 0.904286},
              {"DS-HINT(20,1,0.1)", 0.047143},
              {"DS-HINT(10,1,0.1)", NAN},
              {"DS-MID", 0.840508}};
  rf_index separable = 0, entries = 0;
  Inspected all;
  RfStatus status = judge_catalogue(run, &separable, &entries);
  for (int k = 0; k < 4 && status >= 0; k++) {
    status = inspect_named(run, &all, sets[k].spec, 0.5);
    const RfPrincipal *p = &all.theory.principal;
    if (status >= 0 && isnan(sets[k].slack)) {
      rf_claim_true(run, "A.2 fails for H = 10", p->a2.holds == RF_NO && p->a2.slack < 0);
    } else if (status >= 0) {
      rf_claim_close(run, "slack of A.2", p->a2.slack, sets[k].slack, 1e-5);
      rf_claim_true(run, "A.2, A.3 and A.5 hold, A.8 does not",
                    p->a2.holds == RF_YES && p->a3.holds == RF_YES && p->a5.holds == RF_YES &&
                        p->a8.holds == RF_NO);
      rf_claim_close(run, "slack of A.3", p->a3.slack, p->mu_plus_norm - p->mu_minus_norm, 1e-12);
    }
    inspected_free(&all);
  }
  if (status >= 0) status = inspect_named(run, &all, "DS-SYM6", 0.5);
  if (status >= 0) {
    rf_claim_true(run, "DS-SYM6: assumptions 4.1 and 4.5 hold",
                  all.theory.symmetric.holds == RF_YES && all.theory.off_mean.holds == RF_YES);
    rf_claim_close(run, "DS-SYM6: slack of 4.5", all.theory.off_mean.slack, 0.04, 1e-5);
    inspected_free(&all);
  }
  rf_claim_note(run, "%lld data sets, %lld of them linearly separable, the others with a certificate",
                (long long)entries, (long long)separable);
  return status < 0 ? status : RF_OK;
}

/* ---- LLWA-31: A.1 implies A.2, A.2 is a statement about all weights in [leak,1] ------------------------ */

/* min over vertices c in {leak,1}^n and over i of <z_i, sum_j c_j z_j>. */
static double vertex_minimum(const RfDataset *data, double leak) {
  double least = INFINITY;
  rf_index n = data->n, d = data->d;
  for (unsigned bits = 0; bits < 1u << n; bits++) {
    double v[RF_LLWA_D] = {0};
    for (rf_index j = 0; j < n; j++)
      rf_la_axpy(v, (bits >> j & 1 ? 1 : leak) * data->y[j], data->X + j * d, d);
    for (rf_index i = 0; i < n; i++) least = fmin(least, data->y[i] * rf_la_dot(v, data->X + i * d, d));
  }
  return least;
}

static RfStatus judge_vertices(RfClaimRun *run, Inspected *all, double leak, rf_index counts[3]) {
  RfStatus status = inspect(run, all, leak);
  if (status < 0) return status;
  const RfPrincipal *p = &all->theory.principal;
  double exact = vertex_minimum(&all->data, leak), n = (double)all->data.n;
  double scale = all->pairs.norm_max * all->pairs.norm_max;
  rf_claim_true(run, "A.2 iff every vertex separates", (exact > 0) == (p->a2.holds == RF_YES));
  rf_claim_close(run, "slack of A.2 against the vertex minimum / (n leak)", p->a2.slack / scale,
                 exact / (n * leak) / scale, 1e-10);
  rf_claim_true(run, "A.1 implies A.2", p->a1.holds != RF_YES || p->a2.holds == RF_YES);
  counts[0] += p->a1.holds == RF_YES, counts[1] += p->a2.holds == RF_YES, counts[2] += p->a2.holds != RF_YES;
  return RF_OK;
}

RfStatus rf_llwa_31(RfClaimRun *run) {
  const double leaks[] = {0.1, 0.3, 0.5, 0.7, 0.9};
  rf_index counts[3] = {0, 0, 0};
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = RF_OK;
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 200) && status >= 0; draw++) {
    Inspected all = {0};
    char spec[80];
    rf_index n = 3 + rf_random_below(&random, 8), d = 2 + rf_random_below(&random, 3);
    rf_format(spec, sizeof spec, "DS-SEP(%d,%d,%d)", (int)n, (int)d, (int)draw);
    status = rf_claim_generate(run, &all.data, spec);
    double stretch = pow(10, 2 * rf_random_uniform(&random));
    for (rf_index i = 0; i < n && status >= 0; i++)
      all.data.X[i * d] = all.data.y[i] * (0.2 + fabs(all.data.X[i * d])) * stretch;
    if (status >= 0) status = judge_vertices(run, &all, leaks[draw % 5], counts);
    inspected_free(&all);
  }
  for (int H = 1; H <= 100 && status >= 0; H += run->settings->quick ? 20 : 3) {
    Inspected all = {0};
    char spec[80];
    rf_format(spec, sizeof spec, "DS-HINT(%d,1,0.1)", H);
    status = rf_claim_generate(run, &all.data, spec);
    if (status >= 0) status = judge_vertices(run, &all, leaks[H % 5], counts);
    inspected_free(&all);
  }
  rf_claim_true(run, "A.1, A.2 without A.1 and neither were all met",
                counts[0] > 0 && counts[1] > counts[0] && counts[2] > 0);
  rf_claim_misprint(run, "MP-LLWA-07", "draws with A.2 and not A.1 (A.1 weaker: none)", 0, NAN,
                    (double)(counts[1] - counts[0]), counts[1] == counts[0]);
  rf_claim_note(run, "A.1 held %lld times, A.2 %lld times, A.2 failed %lld times", (long long)counts[0],
                (long long)counts[1], (long long)counts[2]);
  return status < 0 ? status : RF_OK;
}

/* ---- Theorem 6.2: conditions on the hints -------------------------------------------------- */

/* DS-HINT with H = 80: the long hint is the third from the end. The printed bound contains n|mu-|, which
 * grows with H; (1-leak) H > |sum_{j>1} y_j x_j^-| + |sum_{j>1} y_j x_j^+| does not. */
RfStatus rf_llwa_hint_conditions(RfClaimRun *run) {
  Inspected all;
  const double leak = 0.5, H = 80, e = 0.1;
  RfStatus status = inspect_named(run, &all, "DS-HINT(80,1,0.1)", leak);
  if (status >= 0) {
    const RfDataset *data = &all.data;
    double plus[2] = {0, 0}, minus[2] = {0, 0}, full[2] = {0, 0}, across = 0, widest = 0, least = INFINITY,
           along = 0;
    for (rf_index i = 0; i < data->n; i++) {
      const double *x = data->X + 2 * i;
      double y = data->y[i], off = fabs(x[1]); /* wstar is the first axis */
      across += off, widest = fmax(widest, off);
      rf_la_axpy(full, y * (y < 0 ? 1 : leak), x, 2);
      if (i == data->n - 3) continue;
      least = fmin(least, y * x[0]), along += y * x[0];
      rf_la_axpy(plus, y * (y > 0 ? 1 : leak), x, 2), rf_la_axpy(minus, y * (y < 0 ? 1 : leak), x, 2);
    }
    double H0 = widest * across / (leak * least) - along, others = rf_la_norm(plus, 2) + rf_la_norm(minus, 2);
    double printed = rf_la_norm(full, 2) + rf_la_norm(plus, 2), bound = others / (1 - leak);
    const RfPrincipal *p = &all.theory.principal;
    rf_claim_at_least(run, "H = 80 against max{e, H0, bound}", H, fmax(e, fmax(H0, bound)), 0);
    rf_claim_true(run, "then A.1, A.2, A.3 and A.5 hold",
                  p->a1.holds == RF_YES && p->a2.holds == RF_YES && p->a3.holds == RF_YES &&
                      p->a5.holds == RF_YES);
    rf_claim_misprint(run, "MP-LLWA-16", "bound on H = 80: with n|mu-| at this H, and without", printed,
                      bound, H, H > printed);
  }
  inspected_free(&all);
  return status < 0 ? status : RF_OK;
}
