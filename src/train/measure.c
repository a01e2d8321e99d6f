/* What is recorded along a run, when, and when a run ends by itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "la/la.h"
#include "net/net.h"
#include "core/core.h"
#include "train_internal.h"

static RfStatus test_error(RfTrainRun *run, double *error) {
  const RfTrainData *data = run->data;
  *error = NAN;
  if (data->test_n < 1) return RF_OK;
  double *f = RF_NEW(double, data->test_n);
  if (!f) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the test set");
  RfStatus status = rf_layers_evaluate(run->context, f, NULL, run->net, data->test_X, data->test_n);
  rf_index wrong = 0;
  for (rf_index i = 0; i < data->test_n; i++) wrong += !(f[i] * data->test_y[i] > 0);
  *error = (double)wrong / (double)data->test_n;
  rf_free(f);
  return status;
}

RfStatus rf_train_measure(RfTrainRun *run, RfTrainRecord *record, const double *q, bool with_test) {
  const RfTrainSettings *s = run->settings;
  RfTrainState *state = &run->state;
  rf_index n = run->data->n, wrong = 0, degree = rf_layers_homogeneity(run->net);
  memset(record, 0, sizeof *record);
  record->step = state->step, record->epoch = state->epoch;
  record->min_q = INFINITY;
  for (rf_index i = 0; i < n; i++) {
    if (!isfinite(q[i]))
      return rf_fail(run->context, RF_ERR_NUMERIC,
                     "the outputs overflowed by step %lld: a smaller learning rate is needed",
                     (long long)state->step);
    record->min_q = fmin(record->min_q, q[i]);
    wrong += !(q[i] > 0);
  }
  record->log_loss = rf_loss_log_sum(q, n, s->loss, rf_loss_log_value) - (s->mean ? log((double)n) : 0);
  record->loss = exp(record->log_loss);
  record->norm = rf_la_norm(run->net->theta, run->net->n_parameters);
  record->margin = degree > 0 && record->norm > 0 ? record->min_q / pow(record->norm, (double)degree) : NAN;
  record->train_error = (double)wrong / (double)n;
  state->interpolated = wrong == 0, state->log_loss = record->log_loss;
  record->rate = s->raise_rate > 0 && state->interpolated ? s->raise_rate / record->loss : s->rate;
  record->test_error = NAN;
  return with_test ? test_error(run, &record->test_error) : RF_OK;
}

RfStatus rf_train_add_record(RfTrainRun *run, const RfTrainRecord *record) {
  RfTrainState *state = &run->state;
  if (state->n_records == state->record_room) {
    rf_index room = 2 * state->record_room + 64;
    RfTrainRecord *records = rf_resize(state->records, room, sizeof *records);
    if (!records) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the records");
    state->records = records, state->record_room = room;
  }
  state->records[state->n_records++] = *record;
  return RF_OK;
}

/* Updates per epoch. */
static rf_index epoch_steps(const RfTrainRun *run) { return (run->data->n + run->batch - 1) / run->batch; }

/* The number of updates after which the run ends; -1 without a limit. */
static rf_index last_step(const RfTrainRun *run) {
  const RfTrainSettings *s = run->settings;
  rf_index steps = s->max_steps, by_epochs;
  if (s->max_epochs >= 0 && rf_multiply_sizes(&by_epochs, s->max_epochs, epoch_steps(run)) &&
      (steps < 0 || by_epochs < steps))
    steps = by_epochs;
  return steps;
}

bool rf_train_finished(const RfTrainRun *run) {
  rf_index end = last_step(run);
  return end >= 0 && run->state.step >= end;
}

bool rf_train_record_due(const RfTrainRun *run) {
  const RfTrainState *state = &run->state;
  rf_index unit = run->order ? state->epoch : state->step, every = run->settings->record_every;
  if (run->order && state->batch_start != 0) return false;
  if (every == 0) {
    rf_index end = last_step(run) / (run->order ? epoch_steps(run) : 1);
    every = end > 100 ? end / 100 : 1;
    if (end < 0) every = 100;
  }
  return unit % every == 0;
}

void rf_train_shuffle(RfTrainRun *run) {
  if (!run->order) return;
  RfRandom random;
  rf_random_init(&random, run->settings->seed, (uint64_t)run->state.epoch);
  rf_random_permutation(&random, run->order, run->data->n);
}

void rf_train_show_progress(const RfTrainRun *run) {
  rf_index end = last_step(run);
  char detail[64];
  double seconds = run->state.seconds + rf_clock_seconds() - run->started;
  rf_format(detail, sizeof detail, "step %lld, %.0f steps/s", (long long)run->state.step,
            seconds > 0 ? (double)run->state.step / seconds : 0.0);
  rf_progress(run->context, "training", end > 0 ? (double)run->state.step / (double)end : -1, detail);
}
