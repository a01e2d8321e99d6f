/* The judges: comparisons with a stated tolerance. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kit/claims_internal.h"
#include "core/core.h"

/* used: for a bound that holds, the share of it that was used; NaN otherwise. Shown is the check that came
 * closest to failing: the largest error / tolerance, among those without an error the tightest bound. */
static void judge(RfClaimRun *run, const char *what, double observed, double predicted, double error,
                  double tolerance, double used) {
  RfClaimResult *r = run->result;
  bool fails = !(error <= tolerance); /* NaN fails */
  double ratio = tolerance > 0 ? error / tolerance : (error > 0 ? INFINITY : 0);
  bool tighter = used > r->tightness || (used <= 1 && isnan(r->tightness));
  bool closer = r->checks == 0 || ratio > run->worst || (ratio >= run->worst && tighter);
  r->checks++;
  if (!fails && tighter) r->tightness = used;
  if (run->failed || (!fails && !closer)) return;
  run->worst = ratio;
  r->predicted = predicted, r->observed = observed, r->error = error, r->tolerance = tolerance;
  rf_format(r->compared, sizeof r->compared, "%.119s", what);
  if (!fails) return;
  run->failed = true;
  char old[sizeof r->note];
  memcpy(old, r->note, sizeof old);
  rf_format(r->note, sizeof r->note, "%.110s: observed %.12g, predicted %.12g%s%.200s", what, observed,
            predicted, old[0] ? ". " : "", old);
}

void rf_claim_close(RfClaimRun *run, const char *what, double observed, double predicted, double tolerance) {
  judge(run, what, observed, predicted, fabs(observed - predicted), tolerance, NAN);
}

void rf_claim_relative(RfClaimRun *run, const char *what, double observed, double predicted,
                       double tolerance) {
  judge(run, what, observed, predicted, fabs(observed - predicted) / fabs(predicted), tolerance, NAN);
}

/* smaller/larger for a bound on positive numbers that holds. */
static double share(double smaller, double larger) {
  return smaller > 0 && smaller <= larger && isfinite(larger) ? smaller / larger : NAN;
}

void rf_claim_at_most(RfClaimRun *run, const char *what, double value, double bound, double slack) {
  double excess = value - bound;
  judge(run, what, value, bound, isnan(excess) ? NAN : fmax(excess, 0), slack, share(value, bound));
}

void rf_claim_at_least(RfClaimRun *run, const char *what, double value, double bound, double slack) {
  double missing = bound - value;
  judge(run, what, value, bound, isnan(missing) ? NAN : fmax(missing, 0), slack, share(bound, value));
}

void rf_claim_true(RfClaimRun *run, const char *what, bool holds) {
  judge(run, what, holds, 1, !holds, 0, NAN);
}

/* Terms by their logarithms, so that no factorial overflows. */
double rf_claim_binomial_tail(rf_index k, rf_index N, double p) {
  if (k < 0) return 0;
  if (k >= N || p <= 0) return 1;
  if (p >= 1) return 0;
  double total = 0, n = (double)N;
  for (rf_index j = 0; j <= k; j++) {
    double i = (double)j;
    total += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) + (n - i) * log1p(-p));
  }
  return fmin(total, 1);
}

/* Level 0.01 for all tails of all runs that are judged together, shared equally. */
static double level(const RfClaimRun *run) {
  rf_index times = run->settings->times > 1 ? run->settings->times : 1;
  return 0.01 / (double)(RF_CLAIM_TAILS * times);
}

void rf_claim_probability(RfClaimRun *run, const char *what, rf_index k, rf_index N, double p, bool exactly) {
  char text[120];
  double low = rf_claim_binomial_tail(k, N, p), high = 1 - rf_claim_binomial_tail(k - 1, N, p);
  double tail = exactly ? fmin(1, 2 * fmin(low, high)) : low;
  run->tails++;
  rf_format(text, sizeof text, "%.70s: tail probability %.2g, level %.2g", what, tail, level(run));
  judge(run, text, (double)k / (double)N, p, fmax(0, level(run) - tail), 0, NAN);
}

void rf_claim_printed(RfClaimRun *run, bool holds) {
  RfClaimResult *r = run->result;
  if (r->printed != RF_PRINTED_FAIL) r->printed = holds ? RF_PRINTED_PASS : RF_PRINTED_FAIL;
}

void rf_claim_note(RfClaimRun *run, const char *format, ...) {
  RfClaimResult *r = run->result;
  size_t used = strlen(r->note);
  va_list arguments;
  if (used > 0 && used + 3 < sizeof r->note) memcpy(r->note + used, ". ", 3), used += 2;
  va_start(arguments, format);
  rf_format_list(r->note + used, sizeof r->note - used, format, arguments);
  va_end(arguments);
}

RfStatus rf_claim_skip(RfClaimRun *run, const char *format, ...) {
  va_list arguments;
  run->result->verdict = RF_CLAIM_SKIPPED;
  va_start(arguments, format);
  rf_format_list(run->result->note, sizeof run->result->note, format, arguments);
  va_end(arguments);
  return RF_OK;
}

rf_index rf_claim_repetitions(const RfClaimRun *run, rf_index usual) {
  rf_index count = usual * (run->settings->seeds > 1 ? run->settings->seeds : 1);
  if (run->settings->quick) count /= 10;
  return count < 1 ? 1 : count;
}
