/* Shared by the files of this room. */
#ifndef RF_TRAIN_INTERNAL_H
#define RF_TRAIN_INTERNAL_H

#include "reluflow/train.h"

/* What a checkpoint keeps besides the numbers. */
typedef struct RfTrainState {
  rf_index step, epoch,
      batch_start; /* of the next update: number, epoch, first position in the shuffled order */
  double seconds;
  bool interpolated; /* every sample was classified correctly at the last full look */
  double log_loss;   /* at that look */
  RfTrainRecord *records;
  rf_index n_records, record_room;
} RfTrainState;

/* What a run carries that does not depend on the number type. */
typedef struct RfTrainRun {
  RfContext *context;
  const RfTrainSettings *settings;
  const RfTrainData *data;
  RfLayeredNet *net; /* receives the weights */
  RfTrainState state;
  rf_index batch;  /* samples per update */
  rf_index *order; /* the shuffled samples of this epoch; NULL for full batches */
  double started, last_saved;
} RfTrainRun;

/* Runs until a stopping rule holds; the weights end up in run->net->theta. */
RfStatus rf_train_loop_double(RfTrainRun *run, RfTrainStop *stop);
RfStatus rf_train_loop_float(RfTrainRun *run, RfTrainStop *stop);

/* A record of the current state from the margins q of all samples; run->net is up to date. Also refreshes
 * state.interpolated and state.log_loss. */
RfStatus rf_train_measure(RfTrainRun *run, RfTrainRecord *record, const double *q, bool with_test);
RfStatus rf_train_add_record(RfTrainRun *run, const RfTrainRecord *record);
bool rf_train_record_due(const RfTrainRun *run);
bool rf_train_finished(const RfTrainRun *run);
/* The shuffled order of state.epoch. */
void rf_train_shuffle(RfTrainRun *run);
void rf_train_show_progress(const RfTrainRun *run);

/* Checkpoints: the state and `values` numbers of `size` bytes each (weights, then moments). Loading refuses a
 * file made with other data, shapes or settings. */
RfStatus rf_train_checkpoint_save(RfTrainRun *run, const void *numbers, rf_index values, size_t size);
RfStatus rf_train_checkpoint_load(RfTrainRun *run, void *numbers, rf_index values, size_t size);

#endif
