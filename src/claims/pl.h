/* Checks of the training claims of Phuong and Lampert. */
#ifndef RF_CLAIMS_PL_H
#define RF_CLAIMS_PL_H

#include "claims_internal.h"

RfStatus rf_pl_18(RfClaimRun *run);
RfStatus rf_pl_19(RfClaimRun *run);
RfStatus rf_pl_20(RfClaimRun *run);

#endif
