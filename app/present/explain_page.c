/* The explanation as ten lines, and as one self-contained page. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "present/present_internal.h"
#include "core/core.h"

bool rf_explain_views(RfExplainViews *views, const RfExplanation *e) {
  views->count = e->n_parts ? e->n_parts : 1;
  views->flows = RF_NEW(const RfStudyFlow *, views->count);
  views->bests = RF_NEW(const RfStudyBest *, views->count);
  if (!views->flows || !views->bests) {
    rf_explain_views_free(views);
    return false;
  }
  for (rf_index k = 0; k < views->count; k++) {
    const RfExplanation *part = e->n_parts ? &e->parts[k] : e;
    views->flows[k] = &part->flow, views->bests[k] = &part->best;
  }
  return true;
}

void rf_explain_views_free(RfExplainViews *views) {
  rf_free(views->flows);
  rf_free(views->bests);
  *views = (RfExplainViews){0};
}

RfStatus rf_explanation_pictures(RfContext *context, RfPictureFn draw, void *user, const RfExplanation *e) {
  RfExplainViews views;
  if (!rf_explain_views(&views, e)) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  RfStatus status = rf_inspection_pictures(context, draw, user, &e->inspection);
  if (!status) status = rf_flow_pictures(context, draw, user, views.flows, views.count);
  if (!status) status = rf_best_pictures(context, draw, user, views.bests, views.count, &e->settings.best);
  rf_explain_views_free(&views);
  return status;
}

/* Good news, bad news, or neither: the colour of the verdict. */
static RfStyle mood(const RfExplanation *e) {
  RfStyle all = RF_GOOD;
  for (rf_index k = 0; k < e->n_parts; k++) {
    RfStyle one = mood(&e->parts[k]);
    if (one == RF_BAD || all == RF_GOOD) all = one;
  }
  if (e->n_parts) return all;
  if (e->flow.run.out_of_time) return RF_PLAIN;
  if (e->flow.run.result.limit.outcome != RF_FLOW_CONVERGED) return RF_BAD;
  if (!e->has_certificate || e->certificate.global == RF_VERDICT_UNKNOWN) return RF_PLAIN;
  return e->certificate.global == RF_VERDICT_OPTIMUM ? RF_GOOD : RF_BAD;
}

static void class_verdict(char *out, size_t size, const RfExplanation *e) {
  rf_index converged = 0, best = 0;
  for (rf_index k = 0; k < e->n_parts; k++) {
    converged += e->parts[k].flow.run.result.limit.outcome == RF_FLOW_CONVERGED;
    best += e->parts[k].has_certificate && e->parts[k].certificate.global == RF_VERDICT_OPTIMUM;
  }
  rf_format(out, size, "Gradient flow converges for %lld of %lld classes; for %lld it finds the best margin.",
            (long long)converged, (long long)e->n_parts, (long long)best);
}

/* The limit is not known: what is known of the best margin comes first. */
static void verdict_without_limit(char *out, size_t size, const RfExplanation *e) {
  const RfOptimum *o = &e->best.global;
  double best = 1 / (2 * o->objective), seconds = e->flow.run.seconds;
  if (e->best.has_global && o->status == RF_OPTIMUM_INFEASIBLE)
    rf_format(out, size, "No two-layer network of any width fits these data.");
  else if (!e->best.has_global || !isfinite(o->objective))
    rf_format(out, size, "%shere gradient flow goes from this start was not known after %.0f s.",
              e->seen->linear.status == RF_NOT_SEPARABLE
                  ? "No hyperplane through the origin separates the classes (proved); w"
                  : "W",
              seconds);
  else if (o->status == RF_OPTIMUM_PROVED)
    rf_format(out, size,
              "The best margin of any network is %.10g (proved); gradient flow was not at its limit after "
              "%.0f s.",
              best, seconds);
  else if (o->lower > 0)
    rf_format(out, size,
              "A network with margin %.8g exists, and none has more than %.8g; gradient flow was not at its "
              "limit after %.0f s.",
              best, 1 / (2 * o->lower), seconds);
  else
    rf_format(out, size,
              "A network with margin %.8g exists; gradient flow was not at its limit after %.0f s.", best,
              seconds);
}

/* Several continuations, or none that double precision decides: what is known of them, and the best margin.
 */
static void verdict_not_unique(char *out, size_t size, const RfExplanation *e) {
  const RfOptimum *o = &e->best.global;
  const RfExplainWays *w = &e->ways;
  char best[80] = "", goes[200];
  bool proved = e->best.has_global && o->status == RF_OPTIMUM_PROVED;
  if (e->best.has_global && isfinite(o->objective))
    rf_format(best, sizeof best, "; %s %.10g",
              proved ? "the best of any network is" : "there is a network with", 1 / (2 * o->objective));
  if (e->flow.run.result.limit.outcome != RF_FLOW_BRANCHED)
    rf_format(goes, sizeof goes, "Where gradient flow goes from this start could not be decided");
  else if (!e->has_ways)
    rf_format(goes, sizeof goes, "Gradient flow from this start has several continuations");
  else if (w->equal) {
    rf_format(goes, sizeof goes,
              "Gradient flow from this start is not unique; %s%.0lld continuations reach margin %.10g",
              w->followed == 2 ? "both" : "all ", w->followed == 2 ? 0LL : (long long)w->followed,
              w->highest);
    if (w->optimal) rf_format(best, sizeof best, ", the best there is");
  } else if (w->converged)
    rf_format(
        goes, sizeof goes,
        "Gradient flow from this start is not unique; %lld of %lld continuations followed %s margin %.10g",
        (long long)w->converged, (long long)w->followed,
        w->converged == 1 ? "converges, to" : "converge, at best to", w->highest);
  else if (w->not_separated == w->followed)
    rf_format(
        goes, sizeof goes,
        "Gradient flow from this start is not unique; none of %lld continuations followed separates the data",
        (long long)w->followed);
  else
    rf_format(goes, sizeof goes, "Gradient flow from this start has several continuations, none decided");
  rf_format(out, size, "%s%s.", goes, best);
}

static void verdict(char *out, size_t size, const RfExplanation *e) {
  const char *who = e->flow.run.result.branched ? "One continuation of gradient flow" : "Gradient flow";
  if (e->n_parts)
    class_verdict(out, size, e);
  else if (e->flow.run.out_of_time || e->flow.run.result.limit.outcome == RF_FLOW_INTERRUPTED)
    verdict_without_limit(out, size, e);
  else if (e->flow.run.result.limit.outcome == RF_FLOW_NOT_SEPARATED)
    rf_format(out, size, "Gradient flow from this start never separates the data%s.",
              e->best.has_global && e->best.global.status == RF_OPTIMUM_INFEASIBLE
                  ? ", and no network of this kind can"
              : e->best.has_global && isfinite(e->best.global.objective) ? "; a network that does exists"
                                                                         : "");
  else if (e->flow.run.result.limit.outcome != RF_FLOW_CONVERGED)
    verdict_not_unique(out, size, e);
  else if (e->has_certificate && e->certificate.global == RF_VERDICT_OPTIMUM)
    rf_format(out, size, "%s finds the best margin there is, %.10g.", who, e->flow.run.result.limit.margin);
  else if (e->has_certificate && e->certificate.global == RF_VERDICT_NOT_OPTIMUM)
    rf_format(out, size, "%s converges to margin %.10g; %s %.10g.", who, e->flow.run.result.limit.margin,
              e->best.has_global && e->best.global.status == RF_OPTIMUM_PROVED ? "the best is"
                                                                               : "there is one with",
              1 / (2 * e->certificate.best));
  else if (e->best.has_global && 2 * e->best.global.objective * e->flow.run.result.limit.margin < 1 - 1e-6)
    rf_format(out, size, "%s converges to margin %.10g; a wider network has %.10g.", who,
              e->flow.run.result.limit.margin, 1 / (2 * e->best.global.objective));
  else
    rf_format(out, size, "%s converges to margin %.10g; whether that is the best is not decided.", who,
              e->flow.run.result.limit.margin);
}

/* Which proof files there are, in one sentence; false without any. */
static bool proof_sentence(RfText *out, const RfExplanation *e) {
  rf_index count = 0;
  const char *first = NULL;
  for (rf_index p = 0; p <= e->n_parts; p++) {
    const RfExplanation *part = p < e->n_parts ? &e->parts[p] : e;
    for (rf_index k = 0; k < part->n_proofs; k++, count++) {
      if (!first) first = part->proofs[k].file;
      rf_text_addf(out, "%s%s (%s)", count ? ", " : "Proof files: ", part->proofs[k].file,
                   part->proofs[k].proof.claim);
    }
  }
  if (count)
    rf_text_addf(out, ". Check them without this program: rfcheck %s, or python -m reluflow.checker %s.",
                 first, first);
  return count > 0;
}

void rf_explanation_page(RfText *page, const RfExplanation *e, int width) {
  char line[RF_EXPLAIN_SENTENCE];
  verdict(line, sizeof line, e);
  rf_text_styled(page, RF_BOLD, e->data->name ? e->data->name : "data");
  rf_text_add(page, "  ");
  rf_text_styled(page, mood(e), line);
  rf_text_add(page, "\n");
  for (rf_index k = 0; k < e->n_sentences; k++) {
    rf_text_addf(page, "%2lld  ", (long long)k + 1);
    rf_text_wrap(page, e->sentences[k], 4, width);
  }
  RfText proofs = {0};
  if (proof_sentence(&proofs, e)) {
    rf_text_add(page, "    ");
    rf_text_wrap(page, rf_text_string(&proofs), 4, width);
  }
  rf_text_free(&proofs);
}

static void add_picture(RfText *page, const RfInspection *inspection,
                        void (*draw)(RfSvg *, const RfInspection *), const char *caption) {
  RfSvg svg;
  draw(&svg, inspection);
  rf_html_picture(page, &svg, caption);
  rf_svg_free(&svg);
}

static void theorems(RfText *page, const RfTheory *theory) {
  RfTable table;
  char name[96];
  rf_table_init(&table, "lll", "theorem|applies|why");
  for (rf_index k = 0; k < theory->n_theorems; k++) {
    const RfTheorem *theorem = &theory->theorems[k];
    rf_study_theorem_name(name, sizeof name, theorem->id);
    rf_table_cell(&table, "%s", name);
    rf_table_cell(&table, "%s",
                  theorem->applies == RF_YES  ? "yes"
                  : theorem->applies == RF_NO ? "no"
                                              : "not decided");
    rf_table_cell(&table, "%s", theorem->why);
  }
  rf_table_html(page, &table);
  rf_table_free(&table);
}

static void data_section(RfText *page, const RfExplanation *e) {
  const RfInspection *i = e->seen;
  rf_html_section(page, "What the data decide");
  if (e->n_parts == 0 && e->data->d == 2) {
    char caption[256]; /* what is drawn, as in the legend */
    bool both = !i->positive.empty && i->positive.exists && !i->negative.empty && i->negative.exists;
    rf_format(caption, sizeof caption,
              "The samples%s%s%s and the directions that neurons turn to while the network is small.",
              i->linear.status == RF_OK ? ", the max-margin separator w*" : "",
              both ? ", the class vectors w+ and w-" : "",
              i->cones[RF_CONE_POSITIVE].nonempty == RF_YES && i->cones[RF_CONE_NEGATIVE].nonempty == RF_YES
                  ? ", the cones S+ and S-"
                  : "");
    add_picture(page, i, rf_inspection_plane_svg, caption);
    add_picture(page, i, rf_inspection_potential_svg,
                "G on the circle: neurons climb it (a > 0) or descend it (a < 0).");
  } else if (e->n_parts == 0 && i->linear.status == RF_OK) {
    add_picture(page, i, rf_inspection_margins_svg, "Margins of the samples under the max-margin separator.");
  }
  rf_html_fold(page, "Which theorems apply, and why");
  theorems(page, &i->theory);
  rf_html_fold_end(page);
}

static void margin_rows(RfTable *table, const RfExplanation *e) {
  char theorem[96];
  if (e->prediction) {
    rf_study_theorem_name(theorem, sizeof theorem, e->prediction->theorem);
    if (e->positive_class) rf_table_cell(table, "%s", e->positive_class);
    rf_table_cell(table, "predicted");
    rf_table_cell(table, "%.12g", e->prediction->margin);
    rf_table_cell(table, "%s, from the data alone", theorem);
  }
  if (e->flow.run.result.limit.outcome == RF_FLOW_CONVERGED) {
    if (e->positive_class) rf_table_cell(table, "%s", e->positive_class);
    rf_table_cell(table, "limit of gradient flow");
    rf_table_cell(table, "%.12g", e->flow.run.result.limit.margin);
    rf_table_cell(table, "KKT residual %.1e, escape test passed", e->flow.run.result.limit.stationarity);
  }
  if (e->best.has_global && isfinite(e->best.global.objective)) {
    if (e->positive_class) rf_table_cell(table, "%s", e->positive_class);
    rf_table_cell(table, e->best.global.status == RF_OPTIMUM_PROVED ? "best network of any width"
                                                                    : "best network found");
    rf_table_cell(table, "%.12g", 1 / (2 * e->best.global.objective));
    rf_table_cell(table, "certified gap %.1e, %lld neurons", e->best.global.gap,
                  (long long)e->best.global.width_needed);
  }
}

static bool has_margins(const RfExplanation *e) {
  for (rf_index k = 0; k < e->n_parts; k++)
    if (has_margins(&e->parts[k])) return true;
  return e->prediction || e->flow.run.result.limit.outcome == RF_FLOW_CONVERGED ||
         (e->best.has_global && isfinite(e->best.global.objective));
}

static void margins_section(RfText *page, const RfExplanation *e) {
  RfTable table;
  if (!has_margins(e)) return;
  rf_html_section(page, "Margins compared");
  if (e->n_parts)
    rf_table_init(&table, "llrl", "class|network|normalised margin|how it is known");
  else
    rf_table_init(&table, "lrl", "network|normalised margin|how it is known");
  if (!e->n_parts) margin_rows(&table, e);
  for (rf_index k = 0; k < e->n_parts; k++) margin_rows(&table, &e->parts[k]);
  rf_table_html(page, &table);
  rf_table_free(&table);
}

RfStatus rf_explanation_html(RfContext *context, RfText *page, const RfExplanation *e) {
  char line[RF_EXPLAIN_SENTENCE];
  RfStatus status = RF_OK;
  verdict(line, sizeof line, e);
  rf_html_begin(page, "What gradient flow learns here", e->data->name);
  rf_html_verdict(page, mood(e), line);
  for (rf_index k = 0; k < e->n_sentences; k++) rf_html_paragraph(page, e->sentences[k]);
  margins_section(page, e);
  RfText proofs = {0};
  if (proof_sentence(&proofs, e)) {
    rf_html_section(page, "Proofs");
    rf_html_paragraph(page, rf_text_string(&proofs));
  }
  rf_text_free(&proofs);
  RfExplainViews views;
  if (!rf_explain_views(&views, e)) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  status = rf_html_flows(context, page, views.flows, views.count);
  rf_explain_views_free(&views);
  if (status < 0) return status;
  data_section(page, e);
  rf_html_end(page);
  return RF_OK;
}
