/* Two classes of the handwritten-digit files, for claims that train on them. */
#ifndef RF_CLAIMS_DIGITS_H
#define RF_CLAIMS_DIGITS_H

#include "kit/claims_internal.h"
#include "data/data.h"

enum { RF_DIGIT_SIDE = 28, RF_DIGIT_PIXELS = 784 };

/* Pixels / 255 of the digits a (label -1) and b (+1) from data_dir/mnist; limit > 0 keeps that many, drawn by
 * the seed. Where the files are absent *found is false and the claim is marked as skipped. */
RfStatus rf_claim_digits(RfClaimRun *run, RfDataset *data, bool *found, int a, int b, rf_index limit,
                         bool center);

#endif
