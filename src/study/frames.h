/* The states of a run at a number of moments. */
#ifndef RF_STUDY_FRAMES_H
#define RF_STUDY_FRAMES_H

#include "reluflow/study.h"

/* About `wanted` frames (at most so many, first and last state among them) of the run with these settings, at
 * moments that are even in how much moves and in the logarithm of time from t_align/20 on. RF_OK also for a
 * run that does not converge; fewer frames, or none, when it is stopped. */
RfStatus rf_study_frames(RfContext *context, RfStudyFrame **frames, rf_index *count,
                         const RfFlowProblem *problem, const RfFlowSettings *settings, rf_index wanted,
                         double t_align);
void rf_study_frames_free(RfStudyFrame *frames, rf_index count);

#endif
