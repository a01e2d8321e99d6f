/* Checkpoint files of `reluflow flow`. */
#ifndef RF_CLI_FLOW_FILES_H
#define RF_CLI_FLOW_FILES_H

#include "reluflow/reluflow.h"

typedef struct FlowCheckpoints {
  RfContext *context;
  const char *path;        /* NULL = none are written */
  RfFlowCheckpoint resume; /* read from --resume */
  uint64_t stamp;          /* of the problem: a checkpoint continues only the run it came from */
  double last;             /* clock of the last write */
  RfStatus status;         /* of the writes so far */
} FlowCheckpoints;

/* Reads `resume` and arranges for `path` to be written now and then; either may be NULL. `checkpoints` must
 * stay where it is while the flow runs. */
RfStatus flow_checkpoints_open(RfContext *context, FlowCheckpoints *checkpoints, RfFlowSettings *settings,
                               const RfFlowProblem *problem, const char *path, const char *resume);
/* Writes the state of an interrupted run; reports a write that failed on the way. */
RfStatus flow_checkpoints_close(RfContext *context, FlowCheckpoints *checkpoints, const RfFlowResult *result);
void flow_checkpoints_free(FlowCheckpoints *checkpoints);

#endif
