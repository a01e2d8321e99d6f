/* The page in at most ten sentences, from the results and nothing else. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "study/study_internal.h"
#include "core/core.h"

static void say(RfExplanation *e, const char *format, ...) RF_PRINTF(2, 3);

static void say(RfExplanation *e, const char *format, ...) {
  va_list arguments;
  if (e->n_sentences == RF_EXPLAIN_SENTENCES) return;
  va_start(arguments, format);
  rf_format_list(e->sentences[e->n_sentences++], RF_EXPLAIN_SENTENCE, format, arguments);
  va_end(arguments);
}

static void add(char *out, size_t size, const char *format, ...) RF_PRINTF(3, 4);

/* Appends to a text that may be cut. */
static void add(char *out, size_t size, const char *format, ...) {
  size_t used = strlen(out);
  va_list arguments;
  va_start(arguments, format);
  rf_format_list(out + used, size - used, format, arguments);
  va_end(arguments);
}

void rf_study_theorem_name(char *out, size_t size, const char *id) {
  static const char *const papers[][2] = {{"PL-", "Phuong and Lampert"},
                                          {"LLWA-", "Lyu, Li, Wang and Arora"},
                                          {"MMV-", "Min, Mallada and Vidal"},
                                          {"VSS-", "Vardi, Shamir and Srebro"},
                                          {"WP-", "Wang and Pilanci"}};
  static const char *const kinds[][2] = {{"Thm", "Theorem"}, {"Cor", "Corollary"}, {"Prop", "Proposition"}};
  for (size_t p = 0; p < sizeof papers / sizeof papers[0]; p++) {
    size_t length = strlen(papers[p][0]);
    if (strncmp(id, papers[p][0], length) != 0) continue;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
      size_t word = strlen(kinds[k][0]);
      if (strncmp(id + length, kinds[k][0], word) != 0) continue;
      rf_format(out, size, "%s %s of %s", kinds[k][1], id + length + word, papers[p][1]);
      return;
    }
  }
  rf_format(out, size, "%s", id);
}

static const char *plural(rf_index count) { return count == 1 ? "" : "s"; }

static const char *plane_name(const RfDataset *data) { return data->d == 2 ? "line" : "hyperplane"; }

/* ---- two classes --------------------------------------------------------------------------------------- */

static rf_index zero_sample(const RfDataset *data) {
  for (rf_index i = 0; i < data->n; i++) {
    bool zero = true;
    for (rf_index j = 0; j < data->d && zero; j++) zero = data->X[i * data->d + j] == 0;
    if (zero) return i;
  }
  return -1;
}

/* The three obstacles of theory/fits.c, and the linear network. */
static void about_misfit(RfExplanation *e) {
  rf_index zero = zero_sample(e->data);
  if (zero >= 0)
    say(e,
        "Sample %lld is zero, and a network without bias gives 0 there: no network classifies every sample. "
        "--bias 1 adds a constant column.",
        (long long)zero);
  else if (e->seen->settings.leak >= 1)
    say(e, "With leak 1 the network is linear: none classifies every sample.");
  else
    say(e, "No network of this kind can classify every sample: samples on one line through the origin, with "
           "different labels, are in the way.");
}

static void about_data(RfExplanation *e) {
  const RfInspection *i = e->seen;
  const char *plane = plane_name(e->data);
  char size[96];
  rf_format(size, sizeof size, "%lld sample%s in %lld dimension%s", (long long)e->data->n, plural(e->data->n),
            (long long)e->data->d, plural(e->data->d));
  if (i->linear.status == RF_OK)
    say(e, "%s: a %s through the origin separates the classes, with margin %.6g.", size, plane,
        i->linear.margin);
  else if (i->linear.status == RF_NOT_SEPARABLE)
    say(e, "%s: no %s through the origin separates the classes (proved).", size, plane);
  else
    say(e, "%s: whether a %s through the origin separates the classes was not decided.", size, plane);
  if (i->theory.fits == RF_NO)
    about_misfit(e);
  else if (i->pairs_known && i->pairs.orthogonal_separable)
    say(e, "The data are orthogonally separable: equal labels point the same way, different labels do not.");
}

/* A theorem that would predict the limit, were its assumptions known to hold. */
static bool theory_open(const RfExplanation *e) {
  for (int k = 0; k < RF_STUDY_CANDIDATES; k++) {
    const RfTheorem *theorem = rf_theory_find(&e->seen->theory, rf_study_candidates[k]);
    if (theorem && theorem->applies == RF_UNKNOWN) return true;
  }
  return false;
}

static void about_theory(RfExplanation *e) {
  char theorem[96];
  if (e->prediction) {
    rf_study_theorem_name(theorem, sizeof theorem, e->prediction->theorem);
    say(e, "%s predicts where gradient flow goes: normalised margin %.10g. It asks for: %s.", theorem,
        e->prediction->margin, e->prediction->when);
  } else if (theory_open(e)) {
    say(e, "Whether a theorem of the five papers predicts the limit here was not decided. %s.", e->why);
  } else {
    say(e, "No theorem of the five papers predicts the limit here. %s.", e->why);
  }
}

static void scale_text(char *out, size_t size, const RfStudyStart *start) {
  if (start->in_limit)
    rf_format(out, size, "-> 0");
  else if (start->log_scale > -690)
    rf_format(out, size, "%.3g", exp(start->log_scale));
  else
    rf_format(out, size, "e^%.6g", start->log_scale);
}

/* Weights that were handed over have no name that says how they were drawn. */
static const char *start_text(const RfExplanation *e) {
  return e->settings.flow.start.weights ? "given" : e->flow.init;
}

static void about_convergence(RfExplanation *e) {
  const RfFlowLimit *limit = &e->flow.run.result.limit;
  char text[RF_EXPLAIN_SENTENCE] = "", scale[32];
  scale_text(scale, sizeof scale, &e->settings.flow.start);
  add(text, sizeof text,
      "From %lld neurons (%s start, scale %s) the flow converges in direction, to %lld group%s of equal "
      "neurons",
      (long long)e->flow.start.m, start_text(e), scale, (long long)limit->n_groups, plural(limit->n_groups));
  if (limit->n_dead) add(text, sizeof text, "; %lld stay dead", (long long)limit->n_dead);
  if (limit->n_vanishing) add(text, sizeof text, "; %lld vanish", (long long)limit->n_vanishing);
  if (e->flow.run.result.branched)
    add(text, sizeof text, "; it met a point with several continuations and followed the first");
  say(e, "%s.", text);
  text[0] = '\0';
  if (isfinite(limit->direction_error))
    add(text, sizeof text, "two runs agree to %.1e", limit->direction_error);
  else
    add(text, sizeof text, "no second run confirms it");
  say(e, "At t = infinity the normalised margin is %.12g, attained by %lld support sample%s; %s.",
      limit->margin, (long long)limit->n_support, plural(limit->n_support), text);
}

/* A flow that is not unique: where, and what becomes of its continuations. */
static void about_ways(RfExplanation *e) {
  const RfExplainWays *w = &e->ways;
  char text[RF_EXPLAIN_SENTENCE] = "";
  add(text, sizeof text, "From %lld neurons (%s start) the flow is not unique", (long long)e->flow.start.m,
      start_text(e));
  if (w->neuron >= 0)
    add(text, sizeof text, ": at %s = %.6g neuron %lld has %lld ways on", w->log_t < 300 ? "t" : "ln t",
        w->log_t < 300 ? exp(w->log_t) : w->log_t, (long long)w->neuron, (long long)w->options);
  add(text, sizeof text, ". Of %lld continuation%s followed to the end", (long long)w->followed,
      plural(w->followed));
  rf_index open = w->followed - w->converged - w->not_separated;
  if (w->converged && w->highest - w->lowest < RF_STUDY_SHORT * w->highest)
    add(text, sizeof text, ", %lld converge%s to normalised margin %.10g", (long long)w->converged,
        w->converged == 1 ? "s" : "", w->highest);
  else if (w->converged)
    add(text, sizeof text, ", %lld converge to normalised margins from %.10g to %.10g",
        (long long)w->converged, w->lowest, w->highest);
  if (w->not_separated)
    add(text, sizeof text, ", %lld never separate%s the data", (long long)w->not_separated,
        w->not_separated == 1 ? "s" : "");
  if (open) add(text, sizeof text, ", %lld %s undecided", (long long)open, open == 1 ? "is" : "are");
  if (w->left) add(text, sizeof text, "; at least %lld more were not followed", (long long)w->left);
  say(e, "%s.", text);
}

static void about_flow(RfExplanation *e) {
  const RfFlowLimit *limit = &e->flow.run.result.limit;
  const char *init = start_text(e);
  long long width = (long long)e->flow.start.m;
  char wrong[120] = "";
  if (e->n_wrong > 0 && isfinite(e->flow.run.result.log_loss_end))
    rf_format(wrong, sizeof wrong, " %lld sample%s not classified, at loss %.4g.", (long long)e->n_wrong,
              e->n_wrong == 1 ? " is" : "s are", exp(e->flow.run.result.log_loss_end));
  if (limit->outcome == RF_FLOW_CONVERGED) {
    about_convergence(e);
    if (e->has_ways) about_ways(e);
  } else if (e->flow.run.out_of_time && isfinite(e->flow.run.result.log_loss_end))
    say(e, "The flow from %lld neurons (%s start) was stopped after %.0f s, before its limit was known.%s",
        width, init, e->flow.run.seconds, wrong);
  else if (e->flow.run.out_of_time)
    say(e,
        "The flow from %lld neurons (%s start) was stopped after %.0f s, while the neurons were still "
        "aligning.",
        width, init, e->flow.run.seconds);
  else if (limit->outcome == RF_FLOW_NOT_SEPARATED)
    say(e, "From %lld neurons (%s start) the flow never separates the data: %s.%s", width, init, limit->why,
        wrong);
  else if (e->has_ways && limit->outcome == RF_FLOW_BRANCHED)
    about_ways(e);
  else
    say(e, "From %lld neurons (%s start) the flow ends %s: %s.%s", width, init,
        rf_flow_outcome_name(limit->outcome), limit->why, wrong);
  if (!e->prediction || limit->outcome != RF_FLOW_CONVERGED) return;
  double difference = fabs(limit->margin / e->prediction->margin - 1);
  if (difference < RF_STUDY_PREDICTED)
    say(e, "That is what the theorem predicts, to %.0e.", fmax(difference, 1e-16));
  else
    say(e, "The theorem predicts %.10g: its condition on the start does not hold for this one.",
        e->prediction->margin);
}

static void about_point(RfExplanation *e) {
  const RfCertificate *c = &e->certificate;
  if (!e->has_certificate) return;
  const char *local = c->local == RF_VERDICT_OPTIMUM ? "a local optimum"
                      : c->local == RF_VERDICT_NOT_OPTIMUM
                          ? "not a local optimum: a better network lies nearby"
                          : "possibly a local optimum (not decided)";
  if (c->interrupted || c->kkt.status != RF_OK) /* a residual that was not finished says nothing */
    say(e,
        "Whether the limit is a local optimum was not decided in the time given; its KKT residual in the "
        "flow is "
        "%.1e.",
        e->flow.run.result.limit.stationarity);
  else
    say(e, "The limit is %s of the max-margin problem (residual %.1e), and %s.",
        c->kkt.holds ? "a KKT point" : "not a KKT point to tolerance", c->kkt.stationarity, local);
}

static void about_optimum(RfExplanation *e) {
  const RfOptimum *o = &e->best.global;
  if (!e->best.has_global) return;
  if (o->status == RF_OPTIMUM_INFEASIBLE) {
    say(e, "No two-layer network of any width fits these data.");
    return;
  }
  if (!isfinite(o->objective)) {
    say(e, "The best margin was not found in the time given.");
    return;
  }
  double best = 1 / (2 * o->objective), most = 1 / (2 * o->lower);
  if (o->status == RF_OPTIMUM_PROVED)
    say(e,
        "The best normalised margin of any width is %.12g (proved to a relative gap of %.0e), reached by "
        "%lld "
        "neuron%s.",
        best, fmax(o->gap, 1e-16), (long long)o->width_needed, plural(o->width_needed));
  else if (o->lower > 0)
    say(e, "The best normalised margin lies between %.8g and %.8g (relative gap %.2g after %.1f s).", best,
        most, o->gap, o->seconds);
  else
    say(e, "The best normalised margin is at least %.8g; no upper bound was proved in %.1f s.", best,
        o->seconds);
  if (!e->has_certificate) return;
  double share = e->flow.run.result.limit.margin / best;
  if (e->certificate.global == RF_VERDICT_OPTIMUM)
    say(e, "So gradient flow finds the best margin there is.");
  else if (e->certificate.global == RF_VERDICT_NOT_OPTIMUM)
    say(e, "So gradient flow stops short: it reaches %.4g%% of the best margin.", 100 * share);
  else if (share < 1 - RF_STUDY_SHORT && o->status == RF_OPTIMUM_PROVED)
    say(e, "So gradient flow stops short of wider networks: it reaches %.4g%% of the best margin.",
        100 * share);
  else if (share < 1 - RF_STUDY_SHORT)
    say(e,
        "So gradient flow stops short of wider networks: it reaches between %.4g%% and %.4g%% of the best "
        "margin.",
        100 * e->flow.run.result.limit.margin / most, 100 * share);
  else if (o->lower > 0)
    say(e, "Gradient flow reaches at least %.4g%% of the best margin.",
        100 * e->flow.run.result.limit.margin / most);
}

/* Names what was cut short, of all parts, and the flag that gives it more time. */
static void about_time(RfExplanation *e) {
  bool flow = false, best = false, open = false, judged = false, flow_capped = false, best_capped = false;
  const RfExplanation *parts = e->n_parts ? e->parts : e;
  for (rf_index k = 0; k < (e->n_parts ? e->n_parts : 1); k++) {
    const RfExplanation *part = &parts[k];
    bool late = part->best.has_global && part->best.global.status == RF_OPTIMUM_INTERRUPTED;
    flow = flow || part->flow.run.out_of_time, best = best || late;
    flow_capped = flow_capped || (part->flow.run.out_of_time && part->flow_capped);
    best_capped = best_capped || (late && part->best_capped);
    open = open || (part->best.has_global && part->best.global.status == RF_OPTIMUM_GAP);
    judged = judged || (part->has_certificate && part->certificate.interrupted);
  }
  if (!flow && !best && !open && !judged && !e->seen->interrupted) return;
  char text[RF_EXPLAIN_SENTENCE] = "";
  if (e->seen->interrupted) add(text, sizeof text, "; what the data decide");
  if (flow) add(text, sizeof text, "; the flow%s", flow_capped ? " (--flow-time)" : "");
  if (best) add(text, sizeof text, "; the proof of the best margin%s", best_capped ? " (--best-time)" : "");
  if (open && !best) add(text, sizeof text, "; the proof of the best margin, which the solver left open");
  if (judged) add(text, sizeof text, "; the certificate of the limit");
  bool whole = e->seen->interrupted || (flow && !flow_capped) || (best && !best_capped) || judged;
  say(e, "Not finished: %s.%s", text + 2, whole ? " A longer --time goes further." : "");
}

void rf_explain_sentences(RfExplanation *e) {
  about_data(e);
  about_theory(e);
  about_flow(e);
  about_point(e);
  about_optimum(e);
  about_time(e);
}

/* ---- several classes ----------------------------------------------------------------------- */

/* "a line separates classes 0 and 1 from the rest, but not 2" */
static void about_separation(RfExplanation *e) {
  char yes[200] = "", no[200] = "";
  rf_index n_yes = 0, n_no = 0;
  for (rf_index k = 0; k < e->n_parts; k++) {
    RfStatus status = e->parts[k].seen->linear.status;
    if (status == RF_OK) add(yes, sizeof yes, "%s%s", n_yes++ ? ", " : "", e->parts[k].positive_class);
    if (status == RF_NOT_SEPARABLE)
      add(no, sizeof no, "%s%s", n_no++ ? ", " : "", e->parts[k].positive_class);
  }
  char text[RF_EXPLAIN_SENTENCE] = "";
  if (n_yes)
    add(text, sizeof text, "From the rest a %s through the origin separates: %s", plane_name(e->data), yes);
  if (n_no)
    add(text, sizeof text, "%s %s through the origin separates %s from the rest (proved)",
        n_yes ? "; no" : "No", plane_name(e->data), no);
  if (n_yes || n_no) say(e, "%s.", text);
  if (e->seen->pairs_known && e->seen->pairs.orthogonal_separable)
    say(e, "Class against class the data are orthogonally separable.");
}

static void about_class(RfExplanation *e, const RfExplanation *part) {
  const RfFlowLimit *limit = &part->flow.run.result.limit;
  char text[RF_EXPLAIN_SENTENCE] = "";
  if (limit->outcome == RF_FLOW_BRANCHED && part->has_ways && part->ways.converged) {
    add(text, sizeof text,
        "the flow is not unique, %lld of %lld continuations converge, at best to margin %.10g",
        (long long)part->ways.converged, (long long)part->ways.followed, part->ways.highest);
  } else if (limit->outcome != RF_FLOW_CONVERGED) {
    add(text, sizeof text, "the flow ends %s",
        part->flow.run.out_of_time ? "unfinished" : rf_flow_outcome_name(limit->outcome));
    if (part->n_wrong > 0)
      add(text, sizeof text, " with %lld samples not classified", (long long)part->n_wrong);
  } else {
    add(text, sizeof text, "margin %.10g", limit->margin);
    if (part->prediction) {
      bool met = fabs(limit->margin / part->prediction->margin - 1) < RF_STUDY_PREDICTED;
      add(text, sizeof text, ", %s by %s", met ? "as predicted" : "not as predicted",
          part->prediction->theorem);
    }
  }
  if (part->has_certificate && part->certificate.global == RF_VERDICT_OPTIMUM)
    add(text, sizeof text, ", the best there is (proved)");
  else if (part->best.has_global && isfinite(part->best.global.objective))
    add(text, sizeof text, "; %s %.10g is possible",
        part->best.global.status == RF_OPTIMUM_PROVED ? "exactly" : "at least",
        1 / (2 * part->best.global.objective));
  say(e, "Class %s against the rest: %s.", part->positive_class, text);
}

/* Too many classes for a sentence each. */
static void about_all(RfExplanation *e) {
  rf_index converged = 0, best = 0, predicted = 0;
  double least = INFINITY, most = 0;
  for (rf_index k = 0; k < e->n_parts; k++) {
    const RfExplanation *part = &e->parts[k];
    predicted += part->prediction != NULL;
    if (part->flow.run.result.limit.outcome != RF_FLOW_CONVERGED) continue;
    converged++, best += part->has_certificate && part->certificate.global == RF_VERDICT_OPTIMUM;
    least = fmin(least, part->flow.run.result.limit.margin),
    most = fmax(most, part->flow.run.result.limit.margin);
  }
  say(e, "A theorem predicts the limit for %lld of the %lld classes.", (long long)predicted,
      (long long)e->n_parts);
  say(e, "The flow converges for %lld of them%s.", (long long)converged,
      converged < e->n_parts ? ", not for the rest" : "");
  if (!converged) return;
  say(e, "Normalised margins of the limits: from %.8g to %.8g.", least, most);
  say(e, "Proved to be the best margin: %lld.", (long long)best);
}

void rf_explain_class_sentences(RfExplanation *e) {
  say(e,
      "%lld samples in %lld dimensions, %lld classes: one network per class against the rest, each on its "
      "own.",
      (long long)e->data->n, (long long)e->data->d, (long long)e->n_parts);
  about_separation(e);
  if (e->n_parts <= 6)
    for (rf_index k = 0; k < e->n_parts; k++) about_class(e, &e->parts[k]);
  else
    about_all(e);
  about_time(e);
}
