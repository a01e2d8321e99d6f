/* Checkpoint files of a flow: "RFCHECK1", the stamp of the problem, the number of values, the values
 * (all eight bytes, little-endian order of this machine), and a hash of everything before it. */
#include "study/checkpoints.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WRITE_EVERY = 10, HEAD = 24 }; /* seconds between writes; bytes before the values */

static const char magic[] = "RFCHECK1";

static uint64_t stamp_of(const RfFlowProblem *problem) {
  const RfFlowStart *start = problem->start;
  int flags[] = {(int)problem->loss, problem->mean, problem->in_limit, problem->freeze_second};
  uint64_t hash = RF_HASH_START;
  hash = rf_hash_bytes(hash, problem->X, (size_t)(problem->n * problem->d) * sizeof(double));
  hash = rf_hash_bytes(hash, problem->y, (size_t)problem->n * sizeof(double));
  hash = rf_hash_bytes(hash, &problem->leak, sizeof(double));
  hash = rf_hash_bytes(hash, &problem->log_scale, sizeof(double));
  hash = rf_hash_bytes(hash, flags, sizeof flags);
  hash = rf_hash_bytes(hash, start->directions, (size_t)(start->m * (start->d + 1)) * sizeof(double));
  return rf_hash_bytes(hash, start->log_norms, (size_t)start->m * sizeof(double));
}

static RfStatus write_checkpoint(RfStudyCheckpoints *checkpoints, const RfFlowCheckpoint *state) {
  size_t values = (size_t)state->count * sizeof(double), size = HEAD + values + 8;
  char *bytes = rf_alloc((rf_index)size, 1);
  if (!bytes) return rf_fail(checkpoints->context, RF_ERR_MEMORY, "out of memory for a checkpoint");
  memcpy(bytes, magic, 8); /* eight bytes, no text: NOLINT(bugprone-not-null-terminated-result) */
  memcpy(bytes + 8, &checkpoints->stamp, 8);
  memcpy(bytes + 16, &state->count, 8);
  if (values) memcpy(bytes + HEAD, state->values, values);
  uint64_t hash = rf_hash_bytes(RF_HASH_START, bytes, size - 8);
  memcpy(bytes + size - 8, &hash, 8);
  RfStatus status = rf_data_write_file(checkpoints->context, checkpoints->path, bytes, size);
  rf_free(bytes);
  return status;
}

static RfStatus read_whole(RfContext *context, char **bytes, size_t *size, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return rf_fail(context, RF_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
  size_t room = 1 << 16;
  *bytes = rf_alloc((rf_index)room, 1);
  *size = 0;
  while (*bytes) {
    *size += fread(*bytes + *size, 1, room - *size, file);
    if (*size < room) break;
    char *larger = rf_resize(*bytes, (rf_index)(2 * room), 1);
    if (!larger) rf_free(*bytes);
    *bytes = larger;
    room *= 2;
  }
  bool failed = ferror(file) != 0;
  fclose(file);
  if (!*bytes) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %s", path);
  return failed ? rf_fail(context, RF_ERR_IO, "%s: cannot read", path) : RF_OK;
}

static RfStatus read_checkpoint(RfStudyCheckpoints *checkpoints, const char *path) {
  RfContext *context = checkpoints->context;
  char *bytes = NULL;
  size_t size = 0;
  RfStatus status = read_whole(context, &bytes, &size, path);
  uint64_t stamp = 0, hash = 0;
  int64_t count = 0;
  bool whole = !status && size >= HEAD + 8 && memcmp(bytes, magic, 8) == 0;
  if (whole) {
    memcpy(&stamp, bytes + 8, 8);
    memcpy(&count, bytes + 16, 8);
    memcpy(&hash, bytes + size - 8, 8);
    whole = count >= 0 && (uint64_t)count == (size - HEAD - 8) / 8 && (size - HEAD) % 8 == 0 &&
            hash == rf_hash_bytes(RF_HASH_START, bytes, size - 8);
  }
  if (!status && !whole) status = rf_fail(context, RF_ERR_INPUT, "%s: not a whole checkpoint file", path);
  if (!status && stamp != checkpoints->stamp)
    status =
        rf_fail(context, RF_ERR_INPUT, "%s: the checkpoint belongs to other data, flags or weights", path);
  if (!status) {
    checkpoints->resume.count = count;
    checkpoints->resume.values = RF_NEW(double, count);
    if (!checkpoints->resume.values)
      status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %s", path);
    else if (count > 0)
      memcpy(checkpoints->resume.values, bytes + HEAD, (size_t)count * sizeof(double));
  }
  rf_free(bytes);
  return status;
}

static bool due(void *user) {
  const RfStudyCheckpoints *checkpoints = user;
  return rf_clock_seconds() - checkpoints->last >= WRITE_EVERY;
}

static void save(void *user, const RfFlowCheckpoint *state) {
  RfStudyCheckpoints *checkpoints = user;
  RfStatus status = write_checkpoint(checkpoints, state);
  if (status) checkpoints->status = status;
  checkpoints->last = rf_clock_seconds();
}

RfStatus rf_study_checkpoints_open(RfContext *context, RfStudyCheckpoints *checkpoints,
                                   RfFlowSettings *settings, const RfFlowProblem *problem, const char *path,
                                   const char *resume) {
  *checkpoints = (RfStudyCheckpoints){.context = context, .path = path, .last = rf_clock_seconds()};
  if (!path && !resume) return RF_OK;
  checkpoints->stamp = stamp_of(problem);
  if (path) {
    settings->want_checkpoint = due;
    settings->save = save;
    settings->user = checkpoints;
  }
  RfStatus status = resume ? read_checkpoint(checkpoints, resume) : RF_OK;
  if (!status && resume) settings->resume = &checkpoints->resume;
  return status;
}

RfStatus rf_study_checkpoints_close(RfContext *context, RfStudyCheckpoints *checkpoints,
                                    const RfFlowResult *result) {
  (void)context;
  if (checkpoints->path && result->checkpoint.count > 0) save(checkpoints, &result->checkpoint);
  return checkpoints->status;
}

void rf_study_checkpoints_free(RfStudyCheckpoints *checkpoints) {
  rf_flow_checkpoint_free(&checkpoints->resume);
  checkpoints->path = NULL;
}
