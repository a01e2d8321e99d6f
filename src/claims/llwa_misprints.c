/* Misprints of Lyu, Li, Wang and Arora. */
#include "claims_internal.h"

static const RfMisprint misprints[] = {
    {"MP-LLWA-01", "Theorem 5.5", "1/4 (w*, -w*, 1, -1)", "1/2: the vector has norm 2"},
};
const RfMisprintTable rf_misprints_llwa = {misprints, sizeof misprints / sizeof misprints[0]};
