/* Generated data of claims. */
#ifndef RF_CLAIMS_DATA_H
#define RF_CLAIMS_DATA_H

#include "kit/claims_internal.h"
#include "data/data.h"

typedef struct RfClaimSpec {
  char text[200];
} RfClaimSpec;

/* A spec of `reluflow data list` as the claim sees it: a seed in it, or none, only tells the data sets of one
 * claim apart; the one in `out` is a hash of it and of the run's seed. */
RfStatus rf_claim_spec(const RfClaimRun *run, RfClaimSpec *out, const char *spec);
/* rf_data_generate of that. */
RfStatus rf_claim_generate(RfClaimRun *run, RfDataset *data, const char *spec);

#endif
