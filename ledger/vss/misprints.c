/* Misprints of Vardi, Shamir and Srebro. */
#include "kit/claims_internal.h"

static const RfMisprint misprints[] = {
    {"MP-VSS-01", "C.3, definition of w2'", "(sqrt(2e), 0)", "(-sqrt(2e), 0), as used in the computation"},
    {"MP-VSS-02", "Theorem 2.1 and every L(t0) < 1", "threshold 1 for both losses",
     "ln 2 for the logistic loss (sum): one sample at theta = 0 has loss ln 2 < 1 and never moves"},
    {"MP-VSS-03", "C.7", "gradient in v1 twice; the ReLU line uses the linear formula",
     "gradient in v2; where the second patch is inactive the output is larger, the conclusion unchanged"},
    {"MP-VSS-04", "Lemma C.3; Problem (4)", "x_i^j inside the sum over l", "x_i^l"},
    {"MP-VSS-05", "Remark 3.2", "robust to perturbed inputs for Theorems 4.1, 4.3, 5.1, 5.4",
     "for 4.3 and 5.4 only 'not global' is robust; for 5.1 the start must follow the inputs"},
};
const RfMisprintTable rf_misprints_vss = {misprints, sizeof misprints / sizeof misprints[0]};
