/* How a claim is written: a function that calls the judges below, and a row in the table of its paper.
 * To add one: write `static RfStatus check_xx(RfClaimRun *run)` in the paper's file and add its row. */
#ifndef RF_CLAIMS_INTERNAL_H
#define RF_CLAIMS_INTERNAL_H

#include "kit/claims.h"

struct RfClaimRun {
  RfContext *context;
  const RfClaimSettings *settings;
  RfClaimResult *result;
  double worst;   /* largest error / tolerance so far */
  rf_index tails; /* comparisons with a binomial tail */
  bool failed;
};

typedef struct RfClaimTable {
  const RfClaim *claims;
  rf_index count;
} RfClaimTable;

extern const RfClaimTable rf_claims_wp, rf_claims_llwa, rf_claims_vss, rf_claims_mmv, rf_claims_pl,
    rf_claims_nb;

typedef struct RfMisprintTable {
  const RfMisprint *misprints;
  rf_index count;
} RfMisprintTable;

extern const RfMisprintTable rf_misprints_wp, rf_misprints_llwa, rf_misprints_vss, rf_misprints_mmv,
    rf_misprints_pl;

/* ---- judges: each records the comparison; the first one that fails decides ---------------------------- */

/* |observed - predicted| <= tolerance. */
void rf_claim_close(RfClaimRun *run, const char *what, double observed, double predicted, double tolerance);
/* |observed - predicted| <= tolerance |predicted|. */
void rf_claim_relative(RfClaimRun *run, const char *what, double observed, double predicted,
                       double tolerance);
/* value <= bound + slack. */
void rf_claim_at_most(RfClaimRun *run, const char *what, double value, double bound, double slack);
void rf_claim_at_least(RfClaimRun *run, const char *what, double value, double bound, double slack);
void rf_claim_true(RfClaimRun *run, const char *what, bool holds);
/* Of N runs, k succeeded; "at least p" fails when P(Bin(N,p) <= k) is below the level, "exactly p" also on
 * the other side. All such comparisons of all runs judged together share the level 0.01 (Bonferroni). */
void rf_claim_probability(RfClaimRun *run, const char *what, rf_index k, rf_index N, double p, bool exactly);
/* The printed form, where it differs from the judged one. */
void rf_claim_printed(RfClaimRun *run, bool holds);
void rf_claim_note(RfClaimRun *run, const char *format, ...) RF_PRINTF(2, 3);
/* Evidence on a misprint of the papers' tables (PAPER_misprints.c): the value by the printed form, by the
 * corrected one, and the one observed (NaN where there is none). Sets the printed form to fail, unless
 * printed_holds. An id that no table has, or more than RF_CLAIM_MISPRINTS of them, fails the claim. */
void rf_claim_misprint(RfClaimRun *run, const char *id, const char *what, double printed, double corrected,
                       double observed, bool printed_holds);
/* Marks the claim as skipped, with the reason; for missing files. */
RfStatus rf_claim_skip(RfClaimRun *run, const char *format, ...) RF_PRINTF(2, 3);

/* Repetitions: `usual` scaled by --seeds, a tenth with --quick, at least 1. */
rf_index rf_claim_repetitions(const RfClaimRun *run, rf_index usual);
/* One hash of the run's seed, the claim, what the seed is for, and a number: all that is random comes from
 * it, and no two uses share a seed. */
uint64_t rf_claim_seed(const RfClaimRun *run, const char *purpose, uint64_t k);
/* A generator for draw `draw` of this claim. */
RfRandom rf_claim_random(const RfClaimRun *run, uint64_t draw);

/* ---- what a claim needs: fewer is incomplete --------------------------------------------------------- */

/* At least `count` of `what` (a constant text) must be made. */
void rf_claim_require(RfClaimRun *run, const char *what, rf_index count);
/* So many more of `what` were made, or left out (undecided, drawn again, outside of the premise). */
void rf_claim_made(RfClaimRun *run, const char *what, rf_index count);
void rf_claim_dropped(RfClaimRun *run, const char *what, rf_index count);
/* One more run that must have been looked at in at least `least` states. */
void rf_claim_states(RfClaimRun *run, rf_index states, rf_index least);
/* Comparisons that a claim must make, with --quick or in full (needs.c); 1 for one that is not listed. */
rf_index rf_claim_needs(const RfClaim *claim, bool quick);
/* The verdict of a check that ended with this status. */
RfClaimVerdict rf_claim_verdict(RfClaimRun *run, RfStatus status);

/* Comparisons with a binomial tail that a run of the whole ledger makes, at most. */
enum { RF_CLAIM_TAILS = 96 };
/* P(Bin(N,p) <= k), exactly summed. */
double rf_claim_binomial_tail(rf_index k, rf_index N, double p);

#endif
