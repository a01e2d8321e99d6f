/* What a claim needs and what it did, its verdict, and the seeds of everything random. */
#include <stdio.h>
#include <string.h>

#include "kit/claims_internal.h"

/* ---- counts ------------------------------------------------------------------------------------------ */

static RfClaimCount *counter(RfClaimRun *run, const char *what) {
  RfClaimResult *r = run->result;
  for (rf_index k = 0; k < r->n_counts; k++)
    if (strcmp(r->counts[k].what, what) == 0) return &r->counts[k];
  if (r->n_counts == RF_CLAIM_COUNTS) {
    rf_claim_true(run, "room for what is counted", false);
    return &r->counts[RF_CLAIM_COUNTS - 1];
  }
  r->counts[r->n_counts] = (RfClaimCount){.what = what};
  return &r->counts[r->n_counts++];
}

void rf_claim_require(RfClaimRun *run, const char *what, rf_index count) {
  RfClaimCount *at = counter(run, what);
  if (at->required < count) at->required = count;
}

void rf_claim_made(RfClaimRun *run, const char *what, rf_index count) { counter(run, what)->made += count; }

void rf_claim_dropped(RfClaimRun *run, const char *what, rf_index count) {
  counter(run, what)->dropped += count;
}

void rf_claim_states(RfClaimRun *run, rf_index states, rf_index least) {
  RfClaimCount *at = counter(run, "runs seen in enough states");
  at->required++;
  at->made += states >= least, at->dropped += states < least;
}

/* ---- the verdict ------------------------------------------------------------------------------------- */

/* True when enough was made of everything; what is missing goes into the note. */
static bool complete(RfClaimRun *run) {
  RfClaimResult *r = run->result;
  bool all = true;
  counter(run, "comparisons")->made = r->checks;
  for (rf_index k = 0; k < r->n_counts; k++) {
    const RfClaimCount *at = &r->counts[k];
    if (at->made >= at->required) continue;
    all = false;
    rf_claim_note(run, "%s: %lld of %lld needed", at->what, (long long)at->made, (long long)at->required);
  }
  return all;
}

RfClaimVerdict rf_claim_verdict(RfClaimRun *run, RfStatus status) {
  bool enough = complete(run);
  if (status < 0) return RF_CLAIM_FAIL;
  if (run->result->verdict == RF_CLAIM_SKIPPED) return RF_CLAIM_SKIPPED;
  if (run->failed) return RF_CLAIM_FAIL;
  if (status > 0) rf_claim_note(run, "ended early: %s", rf_status_name(status));
  return status > 0 || !enough ? RF_CLAIM_INCOMPLETE : RF_CLAIM_PASS;
}

/* ---- seeds ------------------------------------------------------------------------------------------- */

/* A bijection of 64 bits in which every bit of the argument reaches every bit of the value (Stafford's mix 13
 * of the finaliser of MurmurHash3). */
static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t mix_text(uint64_t hash, const char *text) {
  return mix(rf_hash_bytes(hash, text, strlen(text)));
}

uint64_t rf_claim_seed(const RfClaimRun *run, const char *purpose, uint64_t k) {
  uint64_t hash = mix(run->settings->first_seed + 0x9e3779b97f4a7c15u);
  hash = mix_text(hash, run->result->claim->id);
  hash = mix_text(hash, purpose);
  return mix(hash ^ mix(k + 0x9e3779b97f4a7c15u));
}

RfRandom rf_claim_random(const RfClaimRun *run, uint64_t draw) {
  RfRandom random;
  rf_random_init(&random, rf_claim_seed(run, "draws", draw), 0);
  return random;
}

/* Nine digits, so that a seed can be read and typed. */
uint64_t rf_claim_distant_seed(uint64_t first, rf_index j) {
  return j == 0 ? first : mix(first + 0x9e3779b97f4a7c15u * (uint64_t)j) % 1000000000u;
}

/* ---- several runs ------------------------------------------------------------------------------------ */

const RfClaimResult *rf_claim_worst(const RfClaimRuns *runs, rf_index k) {
  static const int badness[RF_CLAIM_VERDICTS] = {
      [RF_CLAIM_FAIL] = 3, [RF_CLAIM_INCOMPLETE] = 2, [RF_CLAIM_PASS] = 1, [RF_CLAIM_SKIPPED] = 0};
  const RfClaimResult *worst = &runs->results[k];
  for (rf_index j = 1; j < runs->times; j++) {
    const RfClaimResult *r = &runs->results[j * runs->count + k];
    if (badness[r->verdict] > badness[worst->verdict]) worst = r;
  }
  return worst;
}
