/* Misprints of Wang and Pilanci. */
#include "claims_internal.h"

static const RfMisprint misprints[] = {
    {"MP-WP-04", "(24), (76), (79), Lemmas 2 and 3, Proposition 6", "residual at zero y/4",
     "y/2: the logistic slope at 0 is -1/2; y/4 is its Lipschitz constant"},
};
const RfMisprintTable rf_misprints_wp = {misprints, sizeof misprints / sizeof misprints[0]};
