/* Checkpoint files of a flow. */
#ifndef RF_STUDY_CHECKPOINTS_H
#define RF_STUDY_CHECKPOINTS_H

#include "data/data.h"
#include "flow/flow.h"

typedef struct RfStudyCheckpoints {
  RfContext *context;
  const char *path;        /* NULL = none are written */
  RfFlowCheckpoint resume; /* read from the file given */
  uint64_t stamp;          /* of the problem: a checkpoint continues only the run it came from */
  double last;             /* clock of the last write */
  RfStatus status;         /* of the writes so far */
} RfStudyCheckpoints;

/* Reads `resume` and arranges for `path` to be written now and then; either may be NULL. `checkpoints` must
 * stay where it is while the flow runs. */
RfStatus rf_study_checkpoints_open(RfContext *context, RfStudyCheckpoints *checkpoints,
                                   RfFlowSettings *settings, const RfFlowProblem *problem, const char *path,
                                   const char *resume);
/* Writes the state of an interrupted run; reports a write that failed on the way. */
RfStatus rf_study_checkpoints_close(RfContext *context, RfStudyCheckpoints *checkpoints,
                                    const RfFlowResult *result);
void rf_study_checkpoints_free(RfStudyCheckpoints *checkpoints);

#endif
