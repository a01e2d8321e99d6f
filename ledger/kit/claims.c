/* The ledger as one list, the choice of claims by name, and running them side by side. */
#include "kit/claims.h"
#include "core/core.h"

#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <string.h>

#include "kit/board.h"
#include "kit/claims_internal.h"

static const RfClaimTable *const papers[] = {&rf_claims_wp,  &rf_claims_llwa, &rf_claims_vss,
                                             &rf_claims_mmv, &rf_claims_pl,   &rf_claims_nb};
enum { n_papers = sizeof papers / sizeof papers[0] };

RfClaimSettings rf_claim_settings_default(void) { return (RfClaimSettings){.seeds = 1}; }

const char *rf_claim_kind_name(RfClaimKind kind) {
  static const char *const names[] = {"identity",     "bound",           "limit",  "rate", "probability",
                                      "construction", "counter-example", "figure", "table"};
  return names[kind];
}

const char *rf_claim_verdict_name(RfClaimVerdict verdict) {
  static const char *const names[] = {"pass", "fail", "skipped", "incomplete"};
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

void rf_claim_result_free(RfClaimResult *result) {
  if (!result) return;
  rf_free(result->picture);
  result->picture = NULL;
}

static void blank(RfClaimResult *result, const RfClaim *claim) {
  memset(result, 0, sizeof *result);
  result->claim = claim, result->verdict = RF_CLAIM_SKIPPED;
  result->predicted = result->observed = result->error = result->tolerance = result->tightness = NAN;
}

/* A running claim reports its progress here, which keeps the line on the terminal alive. */
static void tick(void *user, const char *phase, double fraction, const char *detail) {
  (void)phase, (void)fraction, (void)detail;
#pragma omp critical(rf_claims_board)
  rf_board_show(user);
}

/* Skips what the settings leave out; true when the claim is to run. */
static bool admitted(RfClaimRun *run, const RfClaim *claim, const RfContext *context) {
  if (claim->cost == RF_CLAIM_HEAVY && !run->settings->heavy)
    rf_claim_skip(run, "takes long: run it with --heavy");
  else if (claim->cost == RF_CLAIM_NORMAL && run->settings->quick)
    rf_claim_skip(run, "left out by --quick");
  else if (rf_context_stop(context))
    rf_claim_skip(run, "interrupted before it began");
  else
    return true;
  return false;
}

static void run_one(const RfContext *context, RfClaimBoard *board, RfClaimResult *result,
                    const RfClaim *claim, const RfClaimSettings *settings, int threads) {
  RfContext own = *context;
  own.threads = threads, own.on_message = NULL;
  own.on_progress = context->on_progress ? tick : NULL, own.user = board;
  RfClaimRun run = {.context = &own, .settings = settings, .result = result};
  double start = rf_clock_seconds();
  blank(result, claim);
  result->seed = settings->first_seed;
  if (!admitted(&run, claim, context)) return;
  result->verdict = RF_CLAIM_PASS;
  rf_claim_require(&run, "comparisons", rf_claim_needs(claim, settings->quick));
  RfStatus status = claim->check(&run);
  result->seconds = rf_clock_seconds() - start;
  if (rf_context_stop(context)) {
    rf_claim_note(&run, "interrupted");
    result->verdict = run.failed ? RF_CLAIM_FAIL : RF_CLAIM_INCOMPLETE;
    return;
  }
  if (status < 0) rf_claim_note(&run, "%s: %s", rf_status_name(status), own.error);
  result->verdict = rf_claim_verdict(&run, status);
}

static int lane(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

RfStatus rf_claims_run(RfContext *context, RfClaimResult *results, const RfClaim *const *claims,
                       rf_index count, const RfClaimSettings *settings) {
  RfClaimBoard board;
  int threads = context->threads < 1 ? 1 : context->threads;
  int lanes = count < threads ? (int)(count < 1 ? 1 : count) : threads;
  rf_index *order = RF_NEW(rf_index, count);
  for (rf_index k = 0; k < count; k++) {
    blank(&results[k], claims[k]);
    rf_format(results[k].note, sizeof results[k].note, "not finished");
  }
  if (!order) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  rf_board_init(&board, order, context, claims, count, settings);
#pragma omp parallel for num_threads(lanes) schedule(dynamic, 1) if (lanes > 1)
  for (rf_index j = 0; j < count; j++) {
    rf_index k = order[j];
    RfClaimResult result;
#pragma omp critical(rf_claims_board)
    rf_board_begin(&board, lane(), claims[k]->id);
    run_one(context, &board, &result, claims[k], settings, lanes > 1 ? 1 : threads);
#pragma omp critical(rf_claims_board)
    {
      results[k] = result;
      rf_board_end(&board, lane(), rf_claim_expected(claims[k], settings));
      if (settings->on_result) settings->on_result(settings->user, results, count);
    }
  }
  rf_free(order);
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
