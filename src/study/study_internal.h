/* Shared by the files of this room. */
#ifndef RF_STUDY_INTERNAL_H
#define RF_STUDY_INTERNAL_H

#include "reluflow/study.h"

/* ---- tolerances of this room ---------------------------------------------------------------------- */

/* | |w|-|a| | relative to |w| below which a start counts as balanced for MMV's bound: drawn starts are so to
 * rounding, a file with eight digits is not */
#define RF_STUDY_BALANCED 1e-12
/* n^2 d products up to which all pairs of samples are looked at for that bound: half a second */
#define RF_STUDY_PAIRS_COST 4e8
/* relative difference of margins that counts as "what the theorem predicts": the limit is known to 1e-9 */
#define RF_STUDY_PREDICTED 1e-8
/* share of the best margin below which a flow is said to stop short of a network found: above the gap of a
 * proof */
#define RF_STUDY_SHORT 1e-6
/* samples from which on the limit's own multipliers are tried before a search of the best margin: below, the
 * search takes seconds and is the one of who asks for the best margin alone, to the bit */
#define RF_STUDY_KNOWN_FIRST 1000

/* ---- time ------------------------------------------------------------------------------------------ */

/* The same context with an earlier deadline. */
RfContext rf_study_limited(const RfContext *context, double seconds);
/* A failure inside a limited context is one of the caller's. */
RfStatus rf_study_hand_up(RfContext *context, const RfContext *own, RfStatus status);

/* ---- the best margin ------------------------------------------------------------------------------- */

/* On large data the limit's own multipliers, and the networks known, come before the search. */
void rf_study_best_known(RfStudyBestSettings *settings, const RfFlowLimit *limit, rf_index n);
/* The multipliers of a certificate prove a lower bound: taken when it is better than the one in the result.
 */
RfStatus rf_study_best_multipliers(RfContext *context, RfStudyBest *best, const RfCertificate *certificate);

/* ---- parts ----------------------------------------------------------------------------------------- */

/* Class k against the rest, the samples borrowed. */
RfStatus rf_study_part(RfContext *context, RfDataset *part, const RfDataset *whole, rf_index k);
/* Is the limit a KKT point, by the residuals of the flow itself? */
void rf_study_run_kkt(const RfContext *context, RfStudyRun *run);
/* The certificate of the limit becomes the verdict of the run. */
void rf_study_run_verdict(RfStudyRun *run, const RfCertificate *certificate);

/* Continuations of the flow, followed within `seconds` when it branched; and the best limit of them, NULL
 * without. */
RfStatus rf_study_ways(RfContext *context, RfExplanation *e, double seconds);
/* flow.c: the continuations of a flow that is known to branch; study->run is the first of them. */
RfStatus rf_study_continuations(RfContext *context, RfStudyFlow *study, const RfDataset *data,
                                const char *positive_class, const RfStudyFlowSettings *settings);
/* With the best margin: are they equal, and the best there is? */
void rf_study_ways_judge(RfExplanation *e);
const RfNet *rf_study_ways_best(const RfExplanation *e);

/* Theorems that come closest to predicting a limit on data where none does. */
enum { RF_STUDY_CANDIDATES = 3 };
extern const char *const rf_study_candidates[RF_STUDY_CANDIDATES];

/* Fill e->sentences from the results: two classes; several, from the parts. */
void rf_explain_sentences(RfExplanation *e);
void rf_explain_class_sentences(RfExplanation *e);

#endif
