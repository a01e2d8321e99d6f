/* Checks of the claims MMV-01 ... MMV-33, in files by theme. */
#ifndef RF_CLAIMS_MMV_H
#define RF_CLAIMS_MMV_H

#include "kit/claims_internal.h"
#include "theory/theory.h"

/* The constants of the paper for a dataset; pairs receives what they stand on. */
RfStatus rf_mmv_bounds(RfContext *context, RfAlignmentBounds *bounds, RfPairFacts *pairs,
                       const RfDataset *data, RfLoss loss);

/* The sets of Theorem 1: the data of a set are number `seed`. */
enum { RF_MMV_SETS = 10, RF_MMV_SPEC = 40 };
void rf_mmv_set(char spec[RF_MMV_SPEC], int set, uint64_t seed);

RfStatus rf_mmv_01(RfClaimRun *run);
RfStatus rf_mmv_02(RfClaimRun *run);
RfStatus rf_mmv_03(RfClaimRun *run);
RfStatus rf_mmv_04(RfClaimRun *run);
RfStatus rf_mmv_05(RfClaimRun *run);
RfStatus rf_mmv_09(RfClaimRun *run);
RfStatus rf_mmv_12(RfClaimRun *run);
RfStatus rf_mmv_14(RfClaimRun *run);
RfStatus rf_mmv_22(RfClaimRun *run);
RfStatus rf_mmv_23(RfClaimRun *run);
RfStatus rf_mmv_24(RfClaimRun *run);
RfStatus rf_mmv_25(RfClaimRun *run);
RfStatus rf_mmv_26(RfClaimRun *run);
RfStatus rf_mmv_06(RfClaimRun *run);
RfStatus rf_mmv_07(RfClaimRun *run);
RfStatus rf_mmv_08(RfClaimRun *run);
RfStatus rf_mmv_10(RfClaimRun *run);
RfStatus rf_mmv_11(RfClaimRun *run);
RfStatus rf_mmv_13(RfClaimRun *run);
RfStatus rf_mmv_15(RfClaimRun *run);
RfStatus rf_mmv_16(RfClaimRun *run);
RfStatus rf_mmv_17(RfClaimRun *run);
RfStatus rf_mmv_18(RfClaimRun *run);
RfStatus rf_mmv_19(RfClaimRun *run);
RfStatus rf_mmv_20(RfClaimRun *run);
RfStatus rf_mmv_21(RfClaimRun *run);
RfStatus rf_mmv_33(RfClaimRun *run);
RfStatus rf_mmv_27(RfClaimRun *run);
RfStatus rf_mmv_28(RfClaimRun *run);
RfStatus rf_mmv_29(RfClaimRun *run);
RfStatus rf_mmv_30(RfClaimRun *run);
RfStatus rf_mmv_31(RfClaimRun *run);
RfStatus rf_mmv_32(RfClaimRun *run);

#endif
