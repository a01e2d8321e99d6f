/* See decay.h. */
#include <math.h>

#include "kit/decay.h"

static const double resolved = 1e-5; /* below it long implicit steps are seen; the ledger waives 1e-4 */
static const double spared = 0.04;   /* in a ratio over one doubling, as in the ledger */
static const double spread = 1.5;    /* of a power law over all marks: errors of two kinds add up */

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

/* Largest ratio over the last two doublings, over the one allowed. */
static double last_doublings(const RfClaimDecay *decay, double rate) {
  double most = 0;
  for (rf_index k = decay->count - 2; k < decay->count; k++)
    most = fmax(most, decay->at[k] / decay->at[k - 1] / (pow(2, -rate) + spared));
  return most;
}

/* The last error over what the power law leaves of the largest of the first four. */
static double whole_way(const RfClaimDecay *decay, double rate) {
  double left = 0, last = (double)decay->count - 1;
  for (rf_index k = 0; k < 4; k++) left = fmax(left, decay->at[k] * pow(2, -rate * (last - (double)k)));
  return decay->at[decay->count - 1] / (spread * left);
}

void rf_claim_decay_judge(RfClaimRun *run, const char *what, const RfClaimDecay *decay, double rate,
                          double largest) {
  rf_claim_require(run, "decays read", 1);
  if (decay->count < 6) {
    rf_claim_dropped(run, "decays read", 1);
    return;
  }
  rf_claim_made(run, "decays read", 1);
  if (isfinite(largest)) rf_claim_at_most(run, what, decay->at[1], largest, 0);
  if (!(decay->at[decay->count - 1] <= resolved))
    rf_claim_at_most(run, what, fmin(last_doublings(decay, rate), whole_way(decay, rate)), 1, 0);
}
