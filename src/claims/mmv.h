/* Checks of the claims MMV-01 ... MMV-33, in files by theme. */
#ifndef RF_CLAIMS_MMV_H
#define RF_CLAIMS_MMV_H

#include "claims_internal.h"

RfStatus rf_mmv_27(RfClaimRun *run);
RfStatus rf_mmv_28(RfClaimRun *run);
RfStatus rf_mmv_29(RfClaimRun *run);

#endif
