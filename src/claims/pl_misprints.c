/* Misprints of Phuong and Lampert. */
#include "claims_internal.h"

static const RfMisprint misprints[] = {
    {"MP-PL-01", "(58)", "no factor 2 in the exponent", "e^{-+2nBVt}"},
};
const RfMisprintTable rf_misprints_pl = {misprints, sizeof misprints / sizeof misprints[0]};
