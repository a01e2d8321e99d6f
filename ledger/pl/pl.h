/* Checks of the claims PL-01 ... PL-22, in files by theme. */
#ifndef RF_CLAIMS_PL_H
#define RF_CLAIMS_PL_H

#include "kit/claims_internal.h"
#include "layers/layers.h"

RfStatus rf_pl_01(RfClaimRun *run);
RfStatus rf_pl_02(RfClaimRun *run);
RfStatus rf_pl_03(RfClaimRun *run);
RfStatus rf_pl_04(RfClaimRun *run);
RfStatus rf_pl_08(RfClaimRun *run);
RfStatus rf_pl_15(RfClaimRun *run);
RfStatus rf_pl_17(RfClaimRun *run);
RfStatus rf_pl_05(RfClaimRun *run);
RfStatus rf_pl_06(RfClaimRun *run);
RfStatus rf_pl_07(RfClaimRun *run);
RfStatus rf_pl_09(RfClaimRun *run);
RfStatus rf_pl_10(RfClaimRun *run);
RfStatus rf_pl_11(RfClaimRun *run);
RfStatus rf_pl_12(RfClaimRun *run);
RfStatus rf_pl_13(RfClaimRun *run);
RfStatus rf_pl_14(RfClaimRun *run);
RfStatus rf_pl_16(RfClaimRun *run);
RfStatus rf_pl_18(RfClaimRun *run);
RfStatus rf_pl_19(RfClaimRun *run);
RfStatus rf_pl_20(RfClaimRun *run);
RfStatus rf_pl_21(RfClaimRun *run);
RfStatus rf_pl_22(RfClaimRun *run);

/* The network of Table 1, weights zero; judged: its shapes are compared with the table. */
RfStatus rf_pl_table_net(RfClaimRun *run, RfLayeredNet *net, bool judged);

#endif
