/* The ledger as one list, the choice of claims by name, and running them side by side. */
#include "reluflow/claims.h"

#include <math.h>
#include <string.h>

#include "claims_internal.h"

static const RfClaimTable *const papers[] = {&rf_claims_llwa, &rf_claims_vss, &rf_claims_mmv, &rf_claims_pl};
enum { n_papers = sizeof papers / sizeof papers[0] };

RfClaimSettings rf_claim_settings_default(void) { return (RfClaimSettings){.seeds = 1}; }

const char *rf_claim_kind_name(RfClaimKind kind) {
  static const char *const names[] = {"identity",     "bound",           "limit",  "rate", "probability",
                                      "construction", "counter-example", "figure", "table"};
  return names[kind];
}

const char *rf_claim_verdict_name(RfClaimVerdict verdict) {
  static const char *const names[] = {"pass", "fail", "skipped"};
  return names[verdict];
}

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

/* Glob with * and ?. */
static bool glob(const char *text, const char *pattern) {
  for (; *pattern; text++, pattern++) {
    if (*pattern == '*') {
      for (const char *rest = text;; rest++) {
        if (glob(rest, pattern + 1)) return true;
        if (!*rest) return false;
      }
    }
    if (!*text || (*pattern != '?' && lower(*pattern) != lower(*text))) return false;
  }
  return !*text;
}

bool rf_claim_matches(const RfClaim *claim, const char *pattern) {
  size_t length = strlen(pattern), k = 0;
  while (k < length && lower(claim->id[k]) == lower(pattern[k])) k++;
  if (k == length && claim->id[k] == '-') return true; /* a whole paper */
  return glob(claim->id, pattern);
}

static void run_one(const RfContext *context, RfClaimResult *result, const RfClaim *claim,
                    const RfClaimSettings *settings) {
  memset(result, 0, sizeof *result);
  result->claim = claim;
  result->predicted = result->observed = result->error = result->tolerance = NAN;
  RfContext own = *context;
  own.threads = 1, own.on_progress = NULL;
  RfClaimRun run = {.context = &own, .settings = settings, .result = result};
  double start = rf_clock_seconds();
  if (claim->cost == RF_CLAIM_HEAVY && !settings->heavy) {
    rf_claim_skip(&run, "takes long: run it with --heavy");
    return;
  }
  if (claim->cost == RF_CLAIM_NORMAL && settings->quick) {
    rf_claim_skip(&run, "left out by --quick");
    return;
  }
  if (rf_context_stop(context)) {
    rf_claim_skip(&run, "interrupted before it began");
    return;
  }
  RfStatus status = claim->check(&run);
  result->seconds = rf_clock_seconds() - start;
  if (rf_context_stop(context)) {
    rf_claim_skip(&run, "interrupted");
  } else if (status < 0) {
    result->verdict = RF_CLAIM_FAIL;
    rf_claim_note(&run, "%s: %s", rf_status_text(status), own.error);
  } else if (result->verdict != RF_CLAIM_SKIPPED) {
    result->verdict = run.failed || result->checks == 0 ? RF_CLAIM_FAIL : RF_CLAIM_PASS;
  }
}

RfStatus rf_claims_run(RfContext *context, RfClaimResult *results, const RfClaim *const *claims,
                       rf_index count, const RfClaimSettings *settings) {
  rf_index done = 0;
  int threads = context->threads < 1 ? 1 : context->threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
  for (rf_index k = 0; k < count; k++) {
    run_one(context, &results[k], claims[k], settings);
#pragma omp critical(rf_claims_progress)
    {
      done++;
      rf_progress(context, "claims", (double)done / (double)count, claims[k]->id);
    }
  }
  return rf_context_stop(context) ? RF_INTERRUPTED : RF_OK;
}

rf_index rf_claims_count(void) {
  rf_index total = 0;
  for (int p = 0; p < n_papers; p++) total += papers[p]->count;
  return total;
}

const RfClaim *rf_claim_at(rf_index k) {
  int p = 0;
  while (k >= papers[p]->count) k -= papers[p++]->count;
  return &papers[p]->claims[k];
}
