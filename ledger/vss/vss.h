/* Checks of the claims VSS-01 ... VSS-23, in files: points (exact points and witnesses), limits (where flows
 * go). */
#ifndef RF_CLAIMS_VSS_H
#define RF_CLAIMS_VSS_H

#include "kit/claims_internal.h"

RfStatus rf_vss_01(RfClaimRun *run);
/* The part of VSS-01 about the loss at the start. */
RfStatus rf_vss_01_threshold(RfClaimRun *run);
/* min sum_l |u_l| s.t. y_i sum_l <u_l, x_i^l> >= 1 over groups of `size` coordinates: *upper and *lower
 * bracket it, *least is the smallest group over the largest. */
RfStatus rf_vss_group_program(RfContext *context, double *upper, double *lower, double *least,
                              const double *X, const double *y, rf_index n, rf_index d, rf_index size);
/* Figures, drawn when they are wanted. rows: table, network, activation, verdict. */
RfStatus rf_vss_draw_ratio(RfClaimRun *run);
RfStatus rf_vss_draw_witnesses(RfClaimRun *run);
RfStatus rf_vss_draw_table(RfClaimRun *run, const char *const (*rows)[4], const bool *holds, int count);
RfStatus rf_vss_03(RfClaimRun *run);
RfStatus rf_vss_10(RfClaimRun *run);
RfStatus rf_vss_12(RfClaimRun *run);
RfStatus rf_vss_15(RfClaimRun *run);
RfStatus rf_vss_21(RfClaimRun *run);
RfStatus rf_vss_22(RfClaimRun *run);
RfStatus rf_vss_23(RfClaimRun *run);
RfStatus rf_vss_05(RfClaimRun *run);
RfStatus rf_vss_06(RfClaimRun *run);
RfStatus rf_vss_07(RfClaimRun *run);
RfStatus rf_vss_09(RfClaimRun *run);
RfStatus rf_vss_11(RfClaimRun *run);
RfStatus rf_vss_13(RfClaimRun *run);
RfStatus rf_vss_14(RfClaimRun *run);
RfStatus rf_vss_16(RfClaimRun *run);
RfStatus rf_vss_17(RfClaimRun *run);
RfStatus rf_vss_18(RfClaimRun *run);
RfStatus rf_vss_19(RfClaimRun *run);
RfStatus rf_vss_20(RfClaimRun *run);

#endif
