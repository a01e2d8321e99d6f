/* Misprints of Phuong and Lampert. */
#include "kit/claims_internal.h"

static const RfMisprint misprints[] = {
    {"MP-PL-01", "(58) and after", "no factor 2; e^{-+nBVt}", "factor 2; e^{-+2nBVt}"},
    {"MP-PL-02", "(80)", "y_i w_-.x_i > 0 for y_i = -1", "w_-.x_i > 0, as in (7)"},
    {"MP-PL-03", "A.1, A.2, C", "sigma-hat in S; reference (47); L_theta", "w-hat in S; (39); I_theta"},
    {"MP-PL-04", "Theorem 1, probability", "1 - 2^{-m} for the limit with both groups",
     "it guarantees one group that is not empty"},
    {"MP-PL-05", "(21), (22)", "limits nu+- left open", "nu+- = |w+-|: normalised margins 1/(2|w+-|)"},
    {"MP-PL-06", "section 5.1", "Gaussian samples with rejection",
     "accepted about once in 2^{21} in R^20: sample the orthant directly"},
};
const RfMisprintTable rf_misprints_pl = {misprints, sizeof misprints / sizeof misprints[0]};
