/* See decay.h. */
#include <math.h>

#include "kit/decay.h"

static const double resolved =
    1e-5; /* below it the long steps of the implicit method are seen; the ledger waives 1e-4 */

void rf_claim_decay_add(RfClaimDecay *decay, double smargin, double error) {
  double mark = 200 * pow(2, (double)decay->count);
  while (decay->count < RF_CLAIM_MARKS && smargin >= mark) {
    double share = decay->smargin > 0 && smargin > decay->smargin
                       ? log(mark / decay->smargin) / log(smargin / decay->smargin)
                       : 1;
    double low = fmax(decay->error, 1e-300), high = fmax(error, 1e-300);
    decay->at[decay->count++] = exp((1 - share) * log(low) + share * log(high));
    mark *= 2;
  }
  decay->smargin = smargin, decay->error = error;
}

void rf_claim_decay_judge(RfClaimRun *run, const char *what, const RfClaimDecay *decay, double rate,
                          double largest) {
  rf_claim_require(run, "decays read", 1);
  if (decay->count < 4) {
    rf_claim_dropped(run, "decays read", 1);
    return;
  }
  rf_claim_made(run, "decays read", 1);
  if (isfinite(largest)) rf_claim_at_most(run, what, decay->at[1], largest, 0);
  for (rf_index k = decay->count - 2; k < decay->count; k++)
    if (!(decay->at[k] <= resolved))
      rf_claim_at_most(run, what, decay->at[k] / decay->at[k - 1], pow(2, -rate) + 0.04, 0);
}
