/* The page of `certify`, for the terminal and as HTML, in words that need no convex analysis. */
#include "present/present_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sentence ----------------------------------------------------------------------------------- */

static bool is_separating(const RfCertificate *c) { return c->kkt.lambda != NULL; }

/* Margin of the network as a share of the best possible: objectives are 1/(2 margin). */
static double share_of_best(const RfCertificate *c) { return c->best / c->kkt.objective; }

void rf_certificate_verdict(RfText *out, const RfCertificate *c) {
  if (!is_separating(c)) {
    rf_text_add(out, "The network does not separate these data: some y f(x) is not positive.");
    return;
  }
  if (c->global == RF_VERDICT_OPTIMUM) {
    rf_text_add(out, "The best network there is: no network of any width has a larger margin.");
    return;
  }
  if (!c->kkt.holds)
    rf_text_addf(out, "Not a stationary point (KKT to %.1e)",
                 fmax(c->kkt.stationarity, fabs(c->kkt.complementarity)));
  else if (c->local == RF_VERDICT_OPTIMUM)
    rf_text_add(out, "A local optimum");
  else if (c->local == RF_VERDICT_NOT_OPTIMUM)
    rf_text_add(out, "A stationary (KKT) point, but not a local optimum");
  else
    rf_text_add(out, "A stationary (KKT) point");
  if (isfinite(c->best) && c->best < c->kkt.objective)
    rf_text_addf(out, "; its margin is %.4g%% of the best possible", 100 * share_of_best(c));
  rf_text_add(out, ".");
}

static RfStyle verdict_style(const RfCertificate *c) {
  if (!is_separating(c)) return RF_BAD;
  return c->local == RF_VERDICT_OPTIMUM ? RF_GOOD : c->kkt.holds ? RF_ACCENT : RF_BAD;
}

/* ---- sections: each fills one table ----------------------------------------------------------------- */

static void value(RfTable *table, const char *format, double number) {
  if (isfinite(number))
    rf_table_cell(table, format, number);
  else
    rf_table_cell(table, "-");
}

static void first_order(RfTable *table, const RfCertificate *c) {
  const RfKkt *kkt = &c->kkt;
  rf_index carriers = 0, tight = 0;
  for (rf_index i = 0; i < kkt->n; i++) {
    carriers += kkt->lambda[i] > 0;
    tight += kkt->margins[i] <= 1 + 1e-9;
  }
  rf_table_cell(table, "margin");
  value(table, "%.10g", kkt->margin);
  rf_table_cell(table, "smallest y f(x), divided by |weights|^2");
  rf_table_cell(table, "size");
  value(table, "%.10g", kkt->objective);
  rf_table_cell(table, "|weights|^2 / 2 when the smallest y f(x) is scaled to 1");
  rf_table_cell(table, "stationarity");
  value(table, "%.2e", kkt->stationarity);
  rf_table_cell(table, "share of the weights that no sample accounts for; 0 = stationary");
  rf_table_cell(table, "complementarity");
  value(table, "%.2e", kkt->complementarity);
  rf_table_cell(table, "weight put on samples that are not closest; 0 = none");
  rf_table_cell(table, "closest samples");
  rf_table_cell(table, "%lld", (long long)tight);
  rf_table_cell(table, "of %lld have the smallest y f(x); %lld carry multipliers", (long long)kkt->n,
                (long long)carriers);
  rf_table_cell(table, "kinks");
  rf_table_cell(table, "%lld", (long long)kkt->n_kinks);
  rf_table_cell(table, "samples on the hyperplane of a neuron; %lld count for the local verdict",
                (long long)c->own_kinks);
  rf_table_cell(table, "zero neurons");
  rf_table_cell(table, "%lld", (long long)kkt->n_zero);
  rf_table_cell(table, "of %lld", (long long)kkt->m);
  rf_table_cell(table, "balance error");
  value(table, "%.2e", kkt->balance_error);
  rf_table_cell(table, "largest | |w_k| - |a_k| |, divided by |weights|");
}

static void bounds(RfTable *table, const RfCertificate *c) {
  rf_table_cell(table, "this network");
  value(table, "%.10g", c->kkt.objective);
  rf_table_cell(table, "its size");
  rf_table_cell(table, "best known");
  value(table, "%.10g", c->best);
  rf_table_cell(table, "size of a network with %lld neurons", (long long)c->width_needed);
  rf_table_cell(table, "proved bound");
  value(table, "%.10g", c->lower);
  rf_table_cell(table, "no network of any width is smaller");
  rf_table_cell(table, "gap");
  value(table, "%.2e", c->gap);
  rf_table_cell(table, "(this - bound) / this");
  rf_table_cell(table, "multipliers");
  rf_table_cell(table, "%s",
                c->dual_feasible == RF_YES  ? "feasible"
                : c->dual_feasible == RF_NO ? "not feasible"
                                            : "-");
  if (c->dual_feasible == RF_NO)
    rf_table_cell(table, "a new neuron would gain %.4g per unit of cost; others may be feasible",
                  1 + c->violation);
  else
    rf_table_cell(table, c->kkt.holds ? "feasible ones prove the global optimum"
                                      : "feasible ones bound every network");
}

static void verdict_line(RfText *page, const char *name, RfVerdict verdict, const char *why, int width) {
  rf_text_styled(page, RF_BOLD, name);
  rf_text_add(page, ": ");
  rf_text_styled(page,
                 verdict == RF_VERDICT_OPTIMUM   ? RF_GOOD
                 : verdict == RF_VERDICT_UNKNOWN ? RF_ACCENT
                                                 : RF_BAD,
                 rf_verdict_name(verdict));
  rf_text_add(page, "\n  ");
  rf_text_wrap(page, why, 2, width);
}

static void witness_sentence(RfText *out, const RfCertificate *c) {
  rf_text_addf(
      out,
      "Witness: a network of the same width with every y f(x) >= 1 whose |weights|^2 is %.4g%% smaller; "
      "--json has its weights.",
      100 * c->norm2_drop);
}

static void proved_sentence(RfText *out, const RfProvedPoint *p) {
  if (p->proved)
    rf_text_addf(out,
                 "an exact one exists within %.3g of this network, relative to its weights; its margin is in "
                 "[%.17g, %.17g]. Enclosed in balls of %lld bits: %lld equations, every inequality strict "
                 "by %.2g or more.",
                 p->distance, p->margin_lower, p->margin_upper, (long long)p->bits, (long long)p->equations,
                 p->slack);
  else
    rf_text_addf(out, "%s.", p->why);
}

/* ---- pages ------------------------------------------------------------------------------------------ */

static void section(RfText *page, const char *title, const char *align,
                    void (*fill)(RfTable *table, const RfCertificate *c), const RfCertificate *c) {
  RfTable table;
  rf_table_init(&table, align, NULL);
  fill(&table, c);
  rf_text_add(page, "\n");
  rf_text_styled(page, RF_BOLD, title);
  rf_text_add(page, "\n");
  rf_table_print(page, &table, 2);
  rf_table_free(&table);
}

void rf_certificate_page(RfText *page, const RfCertificate *c, int width) {
  RfText sentence = {0};
  rf_certificate_verdict(&sentence, c);
  rf_text_add(page, "\n  ");
  rf_text_style(page, verdict_style(c));
  rf_text_wrap(page, rf_text_string(&sentence), 2, width);
  rf_text_style(page, RF_PLAIN);
  rf_text_free(&sentence);
  if (is_separating(c)) section(page, "This network", "lrl", first_order, c);
  if (c->proved.asked) {
    rf_text_add(page, "\n");
    rf_text_styled(page, RF_BOLD, "KKT point");
    rf_text_add(page, ": ");
    rf_text_styled(page, c->proved.proved ? RF_GOOD : RF_ACCENT, c->proved.proved ? "proved" : "not proved");
    rf_text_add(page, "\n  ");
    proved_sentence(&sentence, &c->proved);
    rf_text_wrap(page, rf_text_string(&sentence), 2, width);
    rf_text_free(&sentence);
  }
  rf_text_add(page, "\n");
  verdict_line(page, "Local optimum", c->local, c->local_why, width);
  if (c->witness.m > 0) {
    rf_text_add(page, "  ");
    witness_sentence(&sentence, c);
    rf_text_wrap(page, rf_text_string(&sentence), 2, width);
    rf_text_free(&sentence);
  }
  rf_text_add(page, "\n");
  verdict_line(page, "Global optimum", c->global, c->global_why, width);
  if (isfinite(c->lower)) {
    RfTable table;
    rf_table_init(&table, "lrl", NULL);
    bounds(&table, c);
    rf_table_print(page, &table, 2);
    rf_table_free(&table);
  }
}

static void section_html(RfText *page, const char *title,
                         void (*fill)(RfTable *table, const RfCertificate *c), const RfCertificate *c) {
  RfTable table;
  rf_table_init(&table, "lrl", NULL);
  fill(&table, c);
  rf_html_section(page, title);
  rf_table_html(page, &table);
  rf_table_free(&table);
}

static void verdict_html(RfText *page, const char *title, RfVerdict verdict, const char *why) {
  RfText sentence = {0};
  rf_text_addf(&sentence, "%s: %s.", rf_verdict_name(verdict), why);
  rf_html_section(page, title);
  rf_html_paragraph(page, rf_text_string(&sentence));
  rf_text_free(&sentence);
}

void rf_certificate_html(RfText *page, const RfCertificate *c) {
  RfText sentence = {0};
  rf_certificate_verdict(&sentence, c);
  rf_html_verdict(page, verdict_style(c), rf_text_string(&sentence));
  rf_text_free(&sentence);
  if (is_separating(c)) section_html(page, "This network", first_order, c);
  if (c->proved.asked) {
    rf_html_section(page, c->proved.proved ? "KKT point: proved" : "KKT point: not proved");
    proved_sentence(&sentence, &c->proved);
    rf_html_paragraph(page, rf_text_string(&sentence));
    rf_text_free(&sentence);
  }
  verdict_html(page, "Local optimum", c->local, c->local_why);
  if (c->witness.m > 0) {
    witness_sentence(&sentence, c);
    rf_html_paragraph(page, rf_text_string(&sentence));
    rf_text_free(&sentence);
  }
  verdict_html(page, "Global optimum", c->global, c->global_why);
  if (isfinite(c->lower)) section_html(page, "Against the best possible", bounds, c);
}

static int by_value(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return p < q ? -1 : p > q;
}

double rf_robustness_quantile(const RfRobustness *r, double share) {
  double *sorted = r->n > 0 ? RF_NEW(double, r->n) : NULL, value = NAN;
  if (sorted) {
    memcpy(sorted, r->distance, (size_t)r->n * sizeof *sorted);
    qsort(sorted, (size_t)r->n, sizeof *sorted, by_value);
    value = sorted[(rf_index)(share * (double)(r->n - 1))];
  }
  rf_free(sorted);
  return value;
}

void rf_robustness_page(RfText *page, const RfRobustness *r) {
  rf_text_addf(page, "distance to the decision boundary: %.6g at least, median %.6g, %s\n",
               rf_robustness_quantile(r, 0), rf_robustness_quantile(r, 0.5),
               r->exact ? "exact" : "bracketed (a limit on the pieces was met)");
  if (isfinite(r->universal))
    rf_text_addf(page, "one perturbation flips all samples: x - y c u with c = %.6g\n", r->universal);
  else
    rf_text_add(page, "no perturbation along the mean gradient or the class sums flips all samples\n");
}

void rf_frozen_page(RfText *page, const RfFrozenVerdict *v) {
  rf_text_addf(page, "second layer frozen: %s KKT point; local %s (%s), global %s (%s)\n",
               v->kkt.holds ? "a" : "no", rf_verdict_name(v->local), v->local_why, rf_verdict_name(v->global),
               v->global_why);
}
