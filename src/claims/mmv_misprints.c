/* Misprints of Min, Mallada and Vidal. */
#include "claims_internal.h"

static const RfMisprint misprints[] = {
    {"MP-MMV-01", "(2)", "dW/dt in +dL", "minus"},
};
const RfMisprintTable rf_misprints_mmv = {misprints, sizeof misprints / sizeof misprints[0]};
