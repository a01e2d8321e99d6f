/* The page in at most ten sentences, from the results and nothing else. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "explain_internal.h"

static void say(RfExplanation *e, const char *format, ...) RF_PRINTF(2, 3);

static void say(RfExplanation *e, const char *format, ...) {
  va_list arguments;
  if (e->n_sentences == RF_EXPLAIN_SENTENCES) return;
  va_start(arguments, format);
  vsnprintf(e->sentences[e->n_sentences++], RF_EXPLAIN_SENTENCE, format, arguments);
  va_end(arguments);
}

static void about_data(RfExplanation *e) {
  const RfInspection *i = &e->inspection;
  say(e, "%lld samples in %lld dimensions: %s.", (long long)e->data->n, (long long)e->data->d,
      i->linear.status == RF_OK              ? "a line through the origin separates the classes"
      : i->linear.status == RF_NOT_SEPARABLE ? "no line through the origin separates the classes (proved)"
                                             : "whether a line separates them was not decided");
  if (i->pairs_known && i->pairs.orthogonal_separable)
    say(e, "The data are orthogonally separable: equal labels point the same way, different labels do not.");
  else if (i->theory.fits == RF_NO)
    say(e, "No network of this kind can classify every sample: two of them conflict.");
}

static void about_theory(RfExplanation *e) {
  if (e->prediction)
    say(e, "%s tells where gradient flow goes, normalised margin %.10g; it asks for: %s.",
        e->prediction->theorem, e->prediction->margin, e->prediction->when);
  else
    say(e, "No theorem of the five papers predicts the limit here. %s.", e->why);
}

static void about_flow(RfExplanation *e) {
  const RfFlowLimit *limit = &e->flow.limit;
  long long width = (long long)e->settings.width;
  switch (limit->outcome) {
  case RF_FLOW_CONVERGED:
    say(e,
        "From %lld %s neurons at scale e^%.3g the flow converges in direction: %s by %lld group%s of "
        "neurons; %lld neurons are dead, %lld vanish.",
        width, rf_init_name(e->settings.init), e->settings.log_scale, "the limit is carried",
        (long long)limit->n_groups, limit->n_groups == 1 ? "" : "s", (long long)limit->n_dead,
        (long long)limit->n_vanishing);
    if (isfinite(limit->direction_error))
      say(e,
          "At t = infinity the normalised margin is %.12g, with %lld support samples; two runs agree to "
          "%.1e.",
          limit->margin, (long long)limit->n_support, limit->direction_error);
    else
      say(e,
          "At t = infinity the normalised margin is %.12g, with %lld support samples; no second run confirms "
          "it.",
          limit->margin, (long long)limit->n_support);
    break;
  case RF_FLOW_NOT_SEPARATED:
    say(e, "From %lld %s neurons the flow never separates the data: %s.", width,
        rf_init_name(e->settings.init), limit->why);
    break;
  default:
    say(e, "From %lld %s neurons the flow ends %s: %s.", width, rf_init_name(e->settings.init),
        rf_flow_outcome_name(limit->outcome), limit->why);
  }
  if (e->flow.branched)
    say(e, "On the way the flow met a point with several continuations; the first was followed.");
  if (e->prediction && limit->outcome == RF_FLOW_CONVERGED) {
    double difference = fabs(limit->margin / e->prediction->margin - 1);
    if (difference < 1e-8)
      say(e, "That is what the theorem predicts, to %.0e.", fmax(difference, 1e-16));
    else
      say(e, "The theorem predicts %.10g: its condition on the start does not hold for this one.",
          e->prediction->margin);
  }
}

static void about_point(RfExplanation *e) {
  const RfCertificate *c = &e->certificate;
  if (!e->has_certificate) return;
  const char *local = c->local == RF_VERDICT_OPTIMUM ? "a local optimum"
                      : c->local == RF_VERDICT_NOT_OPTIMUM
                          ? "not a local optimum: a better network lies nearby"
                          : "possibly a local optimum (not decided)";
  if (c->interrupted || c->kkt.status != RF_OK) { /* a residual that was not finished says nothing */
    say(e,
        "Whether the limit is a local optimum was not decided in the time given; its KKT residual in the "
        "flow is %.1e.",
        e->flow.limit.stationarity);
    return;
  }
  say(e, "The limit is %s of the max-margin problem (residual %.1e), and %s.",
      c->kkt.holds ? "a KKT point" : "not a KKT point to tolerance", c->kkt.stationarity, local);
}

static void about_optimum(RfExplanation *e) {
  const RfOptimum *o = &e->optimum;
  if (!e->has_optimum) return;
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
        "%lld neurons.",
        best, fmax(o->gap, 1e-16), (long long)o->width_needed);
  else
    say(e, "The best normalised margin lies between %.8g and %.8g (gap %.1e after %.1f s).", best, most,
        o->gap, o->seconds);
  if (!e->has_certificate) return;
  double share = e->flow.limit.margin / best;
  if (e->certificate.global == RF_VERDICT_OPTIMUM)
    say(e, "So gradient flow finds the best margin there is.");
  else if (e->certificate.global == RF_VERDICT_NOT_OPTIMUM)
    say(e, "So gradient flow stops short: it reaches %.4g%% of the best margin.", 100 * share);
  else
    say(e, "Gradient flow reaches at least %.4g%% of the best margin.", 100 * e->flow.limit.margin / most);
}

void rf_explain_sentences(RfExplanation *e) {
  about_data(e);
  about_theory(e);
  about_flow(e);
  about_point(e);
  about_optimum(e);
}
