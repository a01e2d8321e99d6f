/* Misprints of Min, Mallada and Vidal. */
#include "kit/claims_internal.h"

static const RfMisprint misprints[] = {
    {"MP-MMV-01", "(2)", "dW/dt in +dL", "minus: (12) has the right sign"},
    {"MP-MMV-02", "main text against appendix B", "ln(1+e^-q)",
     "2 ln(1+e^-q): Lemma 2 fails by 1/2 for the plain loss"},
    {"MP-MMV-03", "definition of Sdead", "1(<x,z> > 0) = 1(y < 0)", "= 0 for all samples"},
    {"MP-MMV-04", "after (26)", "zeta = max(zeta1, zeta2)",
     "min: the cone must lie in S- and exclude the start"},
    {"MP-MMV-05", "(28) against (29)", "4 in both denominators", "8 in (28): Lemma 3 has a factor 2"},
    {"MP-MMV-06", "t1", "16 ln n/(...)",
     "zero for n = 1: needs n >= 2; 2 H_n + 1/2 <= 4 ln n fails at n = 2, the claim holds"},
    {"MP-MMV-07", "definition of a path, item 2; Figure 4", "k+ decreasing or k- increasing",
     "reversed: k+ increasing, k- decreasing"},
    {"MP-MMV-08", "proof of Lemma 8", "x_+ = -x_-", "not in general; true for centred data"},
    {"MP-MMV-09", "(30)", "right sides without square", "squares"},
    {"MP-MMV-10", "D.2", "f_- over Vt+; (36) t2; cos >= 1/2; t1 + 1; (14) without 2; M_x",
     "Vt-; t2+; 1/3; t1 + 6/(...); factor 2; X_max"},
    {"MP-MMV-11", "D.3", "|A-B| <= |A|-|B|; dead bound 4 eps; 4 sqrt(h) eps/sqrt(h)",
     "plus; 2 eps; 4 sqrt(h) eps"},
    {"MP-MMV-12", "Assumption 2; section 4", "V+ against x_+; V_+ defined twice; [n] for rows",
     "V+ against x_-; V_-; [d]"},
    {"MP-MMV-13", "end of D.3", "limsup of the stable rank = 2", "<= 2; 1 for collinear classes"},
    {"MP-MMV-14", "E.2, E.5", "F = grad L; (46) with +grad L; Theta_2 for Theta_1", "F = -grad L; minus"},
    {"MP-MMV-15", "section 4", "almost cos(x_+,x_-) = -1", "exactly -1 after centring"},
    {"MP-MMV-16", "section 4, training loss", "summed loss",
     "mean loss with -loss'(0) = 1: the printed iteration marks follow from it"},
    {"MP-MMV-17", "abstract, Theorem 1", "t1 = O(ln n/sqrt(sep))",
     "hides xi = sep^2: the proved bound is of order ln n sep^{-5/2}"},
    {"MP-MMV-18", "Lemma 10; A.5", "x_r in S^{n-1}; sums over i", "S^{d-1}; over neurons"},
};
const RfMisprintTable rf_misprints_mmv = {misprints, sizeof misprints / sizeof misprints[0]};
