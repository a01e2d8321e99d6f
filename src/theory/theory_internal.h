/* Shared by the files of theory. */
#ifndef RF_THEORY_INTERNAL_H
#define RF_THEORY_INTERNAL_H

#include "theory/theory.h"

/* slack > tolerance, = RF_UNKNOWN for NaN. */
RfAssumption rf_assumption(double slack, double tolerance);

/* principal.c */
RfStatus rf_theory_principal(RfContext *context, RfPrincipal *principal, const RfTheoryProblem *problem);
/* mu with the positive samples times `positive` and the negative ones times `negative`. */
void rf_theory_mean(double *mu, const RfDataset *data, double positive, double negative);

/* one_sided.c: wL+-, gL+- and the assumptions A.5, A.9 on their supports */
RfStatus rf_theory_one_sided(RfContext *context, RfPrincipal *principal, const RfTheoryProblem *problem);

/* fits.c: whether any network can classify all samples; why (256) names the samples that forbid it */
RfStatus rf_theory_fits(RfContext *context, RfAnswer *fits, char *why, const RfTheoryProblem *problem);

/* hints.c: RF_YES when three samples are hints for the separator of the others */
RfStatus rf_theory_hints(RfContext *context, RfAnswer *hinted, const RfTheoryProblem *problem);
/* x is a positive multiple of the unit vector w, up to tolerance |x|. */
bool rf_theory_parallel(const double *x, const double *w, rf_index d, double tolerance);

/* theorems.c, predict.c */
RfStatus rf_theory_theorems(RfContext *context, RfTheory *theory, const RfTheoryProblem *problem,
                            const char *misfit);
RfStatus rf_theory_predict(RfContext *context, RfTheory *theory, const RfTheoryProblem *problem);

#endif
