/* Claims of papers beside the five: NB-01 ..., each re-derived for data on which its constants are exact. */
#ifndef RF_CLAIMS_NEIGHBOURS_H
#define RF_CLAIMS_NEIGHBOURS_H

#include "kit/claims_internal.h"

RfStatus rf_nb_01(RfClaimRun *run);
RfStatus rf_nb_02(RfClaimRun *run);
RfStatus rf_nb_03(RfClaimRun *run);
RfStatus rf_nb_04(RfClaimRun *run);
RfStatus rf_nb_05(RfClaimRun *run);
RfStatus rf_nb_06(RfClaimRun *run);
RfStatus rf_nb_07(RfClaimRun *run);
RfStatus rf_nb_08(RfClaimRun *run);
RfStatus rf_nb_09(RfClaimRun *run);
RfStatus rf_nb_10(RfClaimRun *run);

#endif
