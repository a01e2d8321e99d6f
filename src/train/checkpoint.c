/* Checkpoints of a training run: a small binary file, written beside and renamed, so that a crash leaves the
 * last good one. "RFTRAIN1", fingerprint, sizes, state, records, numbers; all in the byte order of the
 * machine that wrote it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "train_internal.h"
#include "data/data.h"
#include "layers/layers.h"
#include "core/core.h"

typedef struct CheckpointHead {
  char magic[8];
  uint64_t fingerprint;
  int64_t values, size, step, epoch, batch_start, n_records, interpolated;
  double seconds, log_loss;
} CheckpointHead;

/* Everything that decides the trajectory; not the stopping rules, so that a finished run can be continued. */
static uint64_t fingerprint(const RfTrainRun *run) {
  const RfTrainSettings *s = run->settings;
  const RfTrainData *data = run->data;
  uint64_t hash = RF_HASH_START;
  const double numbers[] = {s->rate, s->beta1, s->beta2, s->epsilon, s->raise_rate, run->net->leak};
  const int64_t integers[] = {
      s->optimizer,    s->loss, s->mean,      (int64_t)s->seed,   s->precision,          run->batch,
      s->record_every, data->n, data->test_n, run->net->n_layers, run->net->n_parameters};
  hash = rf_hash_bytes(hash, numbers, sizeof numbers);
  hash = rf_hash_bytes(hash, integers, sizeof integers);
  for (rf_index l = 0; l < run->net->n_layers; l++) {
    const RfLayer *layer = &run->net->layers[l];
    const int64_t shape[] = {
        layer->kind,         layer->inputs,           layer->outputs,       layer->residual,
        layer->fixed,        layer->conv.kernel_h,    layer->conv.kernel_w, layer->conv.stride,
        layer->conv.padding, layer->conv.channels_in, layer->conv.height,   layer->conv.width};
    hash = rf_hash_bytes(hash, shape, sizeof shape);
    if (layer->pattern)
      hash = rf_hash_bytes(hash, layer->pattern, (size_t)(layer->inputs * layer->outputs) * sizeof(int32_t));
  }
  hash = rf_hash_bytes(hash, data->X, (size_t)(data->n * rf_layers_inputs(run->net)) * sizeof(double));
  return rf_hash_bytes(hash, data->y, (size_t)data->n * sizeof(double));
}

RfStatus rf_train_checkpoint_save(RfTrainRun *run, const void *numbers, rf_index values, size_t size) {
  const RfTrainState *state = &run->state;
  const char *path = run->settings->checkpoint;
  CheckpointHead head = {.magic = "RFTRAIN1",
                         .fingerprint = fingerprint(run),
                         .values = values,
                         .size = (int64_t)size,
                         .step = state->step,
                         .epoch = state->epoch,
                         .batch_start = state->batch_start,
                         .n_records = state->n_records,
                         .interpolated = state->interpolated,
                         .seconds = state->seconds,
                         .log_loss = state->log_loss};
  RfSink sink;
  RfStatus status = rf_sink_open(run->context, &sink, path);
  if (status) return status;
  rf_sink_write(&sink, &head, sizeof head);
  rf_sink_write(&sink, state->records, (size_t)state->n_records * sizeof *state->records);
  rf_sink_write(&sink, numbers, (size_t)values * size);
  return rf_sink_close(run->context, &sink, RF_OK);
}

static RfStatus read_body(RfTrainRun *run, FILE *file, const CheckpointHead *head, void *numbers,
                          rf_index values, size_t size) {
  const char *path = run->settings->resume;
  RfTrainState *state = &run->state;
  if (memcmp(head->magic, "RFTRAIN1", 8) != 0)
    return rf_fail(run->context, RF_ERR_INPUT, "%s: not a training checkpoint", path);
  if (head->fingerprint != fingerprint(run) || head->values != values || head->size != (int64_t)size)
    return rf_fail(run->context, RF_ERR_INPUT, "%s: made with other data, network or settings", path);
  if (head->n_records < 0 || head->n_records > (int64_t)1 << 32 || head->step < 0 || head->batch_start < 0 ||
      head->batch_start >= run->data->n || head->epoch < 0)
    return rf_fail(run->context, RF_ERR_INPUT, "%s: damaged checkpoint", path);
  state->records = RF_NEW(RfTrainRecord, head->n_records);
  if (!state->records) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the records");
  state->record_room = head->n_records;
  if (fread(state->records, sizeof *state->records, (size_t)head->n_records, file) !=
          (size_t)head->n_records ||
      fread(numbers, size, (size_t)values, file) != (size_t)values)
    return rf_fail(run->context, RF_ERR_INPUT, "%s: the checkpoint ends early", path);
  state->n_records = head->n_records, state->step = head->step, state->epoch = head->epoch;
  state->batch_start = head->batch_start, state->interpolated = head->interpolated != 0;
  state->seconds = head->seconds, state->log_loss = head->log_loss;
  return RF_OK;
}

RfStatus rf_train_checkpoint_load(RfTrainRun *run, void *numbers, rf_index values, size_t size) {
  const char *path = run->settings->resume;
  CheckpointHead head;
  FILE *file = fopen(path, "rb");
  if (!file) return rf_fail(run->context, RF_ERR_IO, "%s: %s", path, strerror(errno));
  RfStatus status = fread(&head, sizeof head, 1, file) == 1
                        ? read_body(run, file, &head, numbers, values, size)
                        : rf_fail(run->context, RF_ERR_INPUT, "%s: not a training checkpoint", path);
  fclose(file);
  return status;
}
