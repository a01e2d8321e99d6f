/* How an error falls on the way to infinity: J-LIM(rate) of the ledger, read where it is asymptotic. */
#ifndef RF_CLAIMS_DECAY_H
#define RF_CLAIMS_DECAY_H

#include "kit/claims_internal.h"

/* Marks at smoothed margins 200, 400, 800, ... The ledger reads the error at 200 and 400; how soon the power
 * law holds depends on the data (a sample that is tight but for a gap d keeps its weight until the margin is
 * several 1/d), so that random data are judged at the last marks that the flow passes, fixed ones at 400. */
enum { RF_CLAIM_MARKS = 11 };

typedef struct RfClaimDecay {
  double at[RF_CLAIM_MARKS]; /* the error at each mark, interpolated in logarithms */
  rf_index count;            /* marks passed */
  double smargin, error;     /* of the last state */
} RfClaimDecay;

/* One more state, in order of time. */
void rf_claim_decay_add(RfClaimDecay *decay, double smargin, double error);
/* The error falls at least like smargin^-rate: over the last two doublings (with 0.04 to spare in the ratio),
 * or from the first four marks to the last (an error that changes its sign on the way is no power of anything
 * in between), or is below what flows resolve; and it is at most `largest` at 400 (INFINITY: no band is
 * known). */
void rf_claim_decay_judge(RfClaimRun *run, const char *what, const RfClaimDecay *decay, double rate,
                          double largest);

#endif
