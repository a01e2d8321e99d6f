/* The JSON and the page of the global max margin. */
#include "present/present_internal.h"

#include <math.h>
#include <string.h>

/* Above this many numbers the lists of neurons are left out, unless everything was asked for. */
static const rf_index normal_numbers = 500000;

static void neurons_json(RfJson *json, const RfOptimum *o, int detail) {
  if (detail == 0 || (detail == 1 && o->neurons * (o->d + o->n) > normal_numbers))
    return rf_json_null(json, "neurons");
  RfText pattern = {0};
  rf_json_array(json, "neurons");
  for (rf_index k = 0; k < o->neurons; k++) {
    rf_text_free(&pattern);
    rf_text_add_bytes(&pattern, o->patterns + k * o->n, (size_t)o->n);
    if (pattern.failed) rf_json_fail(json);
    rf_json_object(json, NULL);
    rf_json_numbers(json, "u", o->U + k * o->d, o->d);
    rf_json_integer(json, "sign", o->sign[k] > 0 ? 1 : -1);
    rf_json_string(json, "pattern", rf_text_string(&pattern));
    rf_json_end(json);
  }
  rf_json_end(json);
  rf_text_free(&pattern);
}

static const char *signs_text(int signs) { return signs == 0 ? "both" : signs > 0 ? "+" : "-"; }

void rf_json_optimum(RfJson *json, const char *key, const RfOptimum *o, const RfOptimumSettings *settings,
                     int detail) {
  if (!o) return rf_json_null(json, key);
  bool infeasible = o->status == RF_OPTIMUM_INFEASIBLE;
  rf_json_object(json, key);
  rf_json_number(json, "objective", o->objective);
  rf_json_number(json, "lower", o->lower);
  rf_json_number(json, "gap", infeasible ? NAN : o->gap);
  rf_json_number(json, "margin", isfinite(o->objective) ? 0.5 / o->objective : NAN);
  rf_json_string(json, "status", rf_optimum_status_name(o->status));
  rf_json_boolean(json, "stopped", o->stopped);
  if (infeasible)
    rf_json_null(json, "neurons");
  else
    neurons_json(json, o, detail);
  rf_json_numbers(json, "lambda", infeasible ? NULL : o->lambda, o->n);
  rf_json_numbers(json, "farkas", o->farkas, o->n);
  if (infeasible || !isfinite(o->objective))
    rf_json_null(json, "width_needed");
  else
    rf_json_integer(json, "width_needed", o->width_needed);
  if (settings->width > 0) {
    rf_json_integer(json, "width", settings->width);
    rf_json_boolean(json, "attained", o->width_enough);
  } else {
    rf_json_null(json, "width");
    rf_json_null(json, "attained");
  }
  rf_json_string(json, "signs", signs_text(settings->signs));
  rf_json_number(json, "leak", o->leak);
  rf_json_string(json, "method", o->method);
  rf_json_integer(json, "patterns_seen", o->patterns_seen);
  rf_json_integer(json, "nodes", o->nodes);
  rf_json_number(json, "seconds", o->seconds);
  rf_json_end(json);
}

void rf_json_optimum_sum(RfJson *json, const char *key, const RfOptimum *const *parts, rf_index count) {
  double objective = 0, lower = 0, seconds = 0;
  rf_index seen = 0, nodes = 0;
  RfOptimumStatus worst = RF_OPTIMUM_PROVED;
  bool stopped = false;
  static const char *const absent[] = {"neurons", "lambda", "farkas", "width_needed", "width", "attained"};
  for (rf_index k = 0; k < count; k++) {
    objective += parts[k]->objective, lower += parts[k]->lower, seconds += parts[k]->seconds;
    seen += parts[k]->patterns_seen, nodes += parts[k]->nodes;
    if (parts[k]->status > worst) worst = parts[k]->status;
    stopped = stopped || parts[k]->stopped;
  }
  rf_json_object(json, key);
  rf_json_number(json, "objective", objective);
  rf_json_number(json, "lower", lower);
  rf_json_number(json, "gap", isfinite(objective) ? fmax(0, (objective - lower) / objective) : NAN);
  rf_json_number(json, "margin", NAN);
  rf_json_string(json, "status", rf_optimum_status_name(worst));
  rf_json_boolean(json, "stopped", stopped);
  for (size_t k = 0; k < sizeof absent / sizeof absent[0]; k++) rf_json_null(json, absent[k]);
  rf_json_string(json, "signs", NULL);
  rf_json_number(json, "leak", count > 0 ? parts[0]->leak : NAN);
  rf_json_string(json, "method", "sum over classes");
  rf_json_integer(json, "patterns_seen", seen);
  rf_json_integer(json, "nodes", nodes);
  rf_json_number(json, "seconds", seconds);
  rf_json_end(json);
}

/* ---- page ---------------------------------------------------------------------------------- */

static void certificate_line(RfText *page, const RfOptimum *o) {
  rf_index support = 0;
  for (rf_index i = 0; i < o->n; i++) support += o->lambda[i] > 0;
  rf_text_addf(page, "  proof      no network is below %.15g: %lld multipliers, %lld patterns, %lld nodes\n",
               o->lower, (long long)support, (long long)o->patterns_seen, (long long)o->nodes);
}

static void neuron_lines(RfText *page, const RfOptimum *o) {
  enum { most = 8 };
  for (rf_index k = 0; k < o->neurons && k < most; k++) {
    rf_text_addf(page, "  neuron     %c ", o->sign[k] > 0 ? '+' : '-');
    rf_text_vector(page, o->U + k * o->d, o->d, 6);
    rf_text_add(page, "\n");
  }
  if (o->neurons > most)
    rf_text_addf(page, "             and %lld more (--json)\n", (long long)(o->neurons - most));
}

void rf_text_optimum(RfText *page, const RfOptimum *o, const RfOptimumSettings *settings) {
  rf_text_styled(page, RF_BOLD, "Best network of any width");
  rf_text_addf(page, ", leak %g%s", o->leak,
               settings->signs == 0  ? ""
               : settings->signs > 0 ? ", only a >= 0"
                                     : ", only a <= 0");
  if (o->status == RF_OPTIMUM_INFEASIBLE) {
    rf_text_styled(page, RF_BAD, "  no network fits these labels");
    rf_text_add(page, "\n  proof      the weights `farkas` of --json cancel for every neuron\n");
    return;
  }
  bool proved = o->status == RF_OPTIMUM_PROVED;
  rf_text_add(page, "  ");
  rf_text_styled(page, proved ? RF_GOOD : RF_BAD, rf_optimum_status_name(o->status));
  rf_text_add(page, "\n");
  if (isfinite(o->objective)) {
    rf_text_addf(page, "  margin     %.15g, normalised; |theta|^2/2 = %.15g at margin 1\n",
                 0.5 / o->objective, o->objective);
    rf_text_addf(page, "  width      %lld neurons\n", (long long)o->width_needed);
  } else
    rf_text_add(page, "  margin     no feasible network was found yet\n");
  if (settings->width > 0 && !o->width_enough)
    rf_text_addf(page,
                 "             more than the %lld asked for: the objective is then only a lower bound\n",
                 (long long)settings->width);
  neuron_lines(page, o);
  certificate_line(page, o);
  rf_text_addf(page, "  gap        %.1e, %.3g s%s\n", o->gap, o->seconds,
               proved && o->stopped ? "; the time was over before the last digits" : "");
}
