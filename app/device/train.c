/* Training on a device, in the words of src/train: networks in, results out. */
#include "device/device.h"
#include "layers/layers.h"

#include <math.h>
#include <string.h>

static bool two_layers(const RfLayeredNet *net) {
  return net->n_layers == 2 && net->layers[0].kind == RF_LAYER_DENSE &&
         net->layers[1].kind == RF_LAYER_DENSE && net->layers[1].outputs == 1 && !net->layers[0].residual &&
         !net->layers[1].residual && !net->layers[0].fixed;
}

RfStatus device_check(RfContext *context, const RfLayeredNet *net, const RfTrainData *data,
                      const RfTrainSettings *s) {
  rf_index d = rf_layers_inputs(net), m = net->layers[0].outputs;
  if (s->optimizer != RF_TRAIN_GD)
    return rf_fail(context, RF_ERR_USAGE, "--device: gradient descent only (--optimizer gd)");
  if (!two_layers(net)) return rf_fail(context, RF_ERR_USAGE, "--device: two-layer networks only");
  if (data->test_n > 0) return rf_fail(context, RF_ERR_USAGE, "--device: no test data on a device");
  if (s->checkpoint || s->resume)
    return rf_fail(context, RF_ERR_USAGE,
                   "--device: no checkpoints on a device; sweeps resume by themselves");
  if (data->n > DEVICE_MOST_SAMPLES || d > DEVICE_MOST_INPUTS || m > DEVICE_MOST_NEURONS)
    return rf_fail(context, RF_ERR_USAGE,
                   "--device: at most %d samples, %d inputs and %d neurons, not %lld, %lld and %lld",
                   DEVICE_MOST_SAMPLES, DEVICE_MOST_INPUTS, DEVICE_MOST_NEURONS, (long long)data->n,
                   (long long)d, (long long)m);
  if (s->max_steps < 0 && s->max_epochs < 0 && !(s->stop_loss > 0) && !isfinite(s->stop_min_q))
    return rf_fail(context, RF_ERR_USAGE,
                   "nothing would stop this run: give steps, epochs, a loss or a margin");
  return RF_OK;
}

/* ---- arrays for the device -------------------------------------------------------------------- */

typedef struct Arrays {
  double *X, *y, *weights, *rate, *raise_rate, *records, *measure;
  int32_t *data_of, *record_count, *stop;
  int64_t *steps;
} Arrays;

static void arrays_free(Arrays *arrays) {
  rf_free(arrays->X), rf_free(arrays->y), rf_free(arrays->weights), rf_free(arrays->rate);
  rf_free(arrays->raise_rate), rf_free(arrays->records), rf_free(arrays->measure), rf_free(arrays->data_of);
  rf_free(arrays->record_count), rf_free(arrays->stop), rf_free(arrays->steps);
}

static bool asks_to_stop(void *user) { return rf_context_stop(user); }

static rf_index last_step(const RfTrainSettings *s) { /* an epoch of full batches is a step */
  rf_index steps = s->max_steps < 0 ? INT64_MAX / 4 : s->max_steps;
  return s->max_epochs >= 0 && s->max_epochs < steps ? s->max_epochs : steps;
}

static RfStatus fill(RfContext *context, Arrays *arrays, DeviceDescent *task, const DeviceMember *members,
                     rf_index count, const RfTrainSettings *s, bool with_records) {
  const RfLayeredNet *net = members[0].start;
  rf_index n = members[0].data->n, d = rf_layers_inputs(net), m = net->layers[0].outputs, P = m * d + m,
           sets = 0;
  for (rf_index k = 0; k < count; k++) sets += k == 0 || members[k].data != members[k - 1].data;
  rf_index end = last_step(s), every = s->record_every > 0 ? s->record_every : end > 100 ? end / 100 : 1;
  if (end >= INT64_MAX / 8 && s->record_every == 0) every = 100;
  rf_index room = with_records ? (end / every < 1000 ? end / every : 1000) + 1 : 0;
  *arrays = (Arrays){.X = RF_NEW_TABLE(double, sets, n *d),
                     .y = RF_NEW_TABLE(double, sets, n),
                     .weights = RF_NEW_TABLE(double, count, P),
                     .rate = RF_NEW(double, count),
                     .raise_rate = RF_NEW(double, count),
                     .records = RF_NEW_TABLE(double, count, room *DEVICE_MEASURES),
                     .measure = RF_NEW_TABLE(double, count, DEVICE_MEASURES),
                     .data_of = RF_NEW(int32_t, count),
                     .record_count = RF_NEW(int32_t, count),
                     .stop = RF_NEW(int32_t, count),
                     .steps = RF_NEW(int64_t, count)};
  if (!arrays->X || !arrays->y || !arrays->weights || !arrays->rate || !arrays->raise_rate ||
      !arrays->records || !arrays->measure || !arrays->data_of || !arrays->record_count || !arrays->stop ||
      !arrays->steps)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a population");
  for (rf_index k = 0, set = -1; k < count; k++) {
    const RfTrainData *data = members[k].data;
    if (k == 0 || data != members[k - 1].data) {
      set++;
      memcpy(arrays->X + set * n * d, data->X, (size_t)(n * d) * sizeof(double));
      memcpy(arrays->y + set * n, data->y, (size_t)n * sizeof(double));
    }
    arrays->data_of[k] = (int32_t)set, arrays->rate[k] = members[k].rate;
    arrays->raise_rate[k] = members[k].raise_rate;
    memcpy(arrays->weights + k * P, members[k].start->theta, (size_t)P * sizeof(double));
  }
  *task = (DeviceDescent){.n = (int)n,
                          .d = (int)d,
                          .m = (int)m,
                          .loss = (int)s->loss,
                          .mean = s->mean,
                          .freeze_second = net->layers[1].fixed,
                          .single = s->precision == RF_FLOAT,
                          .leak = net->leak,
                          .nets = count,
                          .data_sets = sets,
                          .X = arrays->X,
                          .y = arrays->y,
                          .data_of = sets > 1 ? arrays->data_of : NULL,
                          .weights = arrays->weights,
                          .rate = arrays->rate,
                          .raise_rate = arrays->raise_rate,
                          .max_steps = end,
                          .stop_loss = s->stop_loss,
                          .stop_min_q = s->stop_min_q,
                          .record_every = every,
                          .record_room = room,
                          .records = room > 0 ? arrays->records : NULL,
                          .record_count = arrays->record_count,
                          .steps = arrays->steps,
                          .stop = arrays->stop,
                          .measure = arrays->measure,
                          .stopped = asks_to_stop,
                          .user = context};
  return RF_OK;
}

/* ---- results ---------------------------------------------------------------------------------- */

static RfTrainRecord record_of(const double *row, const DeviceDescent *task, rf_index k) {
  RfTrainRecord record = {.step = (rf_index)row[DEVICE_STEP],
                          .epoch = (rf_index)row[DEVICE_STEP],
                          .log_loss = row[DEVICE_LOG_LOSS],
                          .loss = exp(row[DEVICE_LOG_LOSS]),
                          .min_q = row[DEVICE_MIN_Q],
                          .norm = row[DEVICE_NORM],
                          .train_error = row[DEVICE_WRONG] / task->n,
                          .test_error = NAN,
                          .rate = task->rate[k]};
  bool correct = row[DEVICE_WRONG] <= 0;
  record.margin = record.norm > 0 ? record.min_q / (record.norm * record.norm) : NAN;
  if (task->raise_rate[k] > 0 && correct) record.rate = task->raise_rate[k] / record.loss;
  if (isnan(row[DEVICE_WRONG])) record.loss = record.log_loss = record.margin = NAN;
  return record;
}

static RfStatus result_of(RfContext *context, RfTrainResult *result, const DeviceMember *member,
                          const DeviceDescent *task, rf_index k) {
  rf_index n_records = task->records ? task->record_count[k] : 0;
  const double *rows = task->records + k * task->record_room * DEVICE_MEASURES;
  RfStatus status = rf_layers_copy(context, &result->net, member->start);
  if (status) return status;
  rf_index P = result->net.n_parameters;
  memcpy(result->net.theta, task->weights + k * P, (size_t)P * sizeof(double));
  result->last = record_of(task->measure + k * DEVICE_MEASURES, task, k);
  result->last.step = result->last.epoch = result->steps = result->epochs = task->steps[k];
  result->stop = task->stop[k] < 0 ? RF_STOP_INTERRUPTED : (RfTrainStop)task->stop[k];
  result->records = RF_NEW(RfTrainRecord, n_records + 1);
  if (!result->records) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the records");
  for (rf_index r = 0; r < n_records; r++)
    result->records[r] = record_of(rows + r * DEVICE_MEASURES, task, k);
  result->n_records = n_records;
  if (n_records == 0 || result->records[n_records - 1].step != result->steps)
    result->records[result->n_records++] = result->last;
  result->seconds = task->seconds / (double)task->nets;
  result->steps_per_second = task->seconds > 0 ? (double)result->steps / task->seconds : 0;
  return RF_OK;
}

RfStatus device_train(RfContext *context, const Device *device, RfTrainResult *results,
                      const DeviceMember *members, rf_index count, const RfTrainSettings *settings,
                      bool with_records) {
  Arrays arrays = {0};
  DeviceDescent task;
  char error[DEVICE_ERROR_SIZE] = "";
  if (count < 1) return RF_OK;
  RfStatus status = fill(context, &arrays, &task, members, count, settings, with_records), outcome = RF_OK;
  if (!status) {
    DeviceStatus done = device->plugin->descend(&task, error);
    if (done == DEVICE_STOPPED)
      outcome = RF_INTERRUPTED;
    else if (done != DEVICE_OK)
      status = rf_fail(context, done == DEVICE_MEMORY ? RF_ERR_MEMORY : RF_ERR_NUMERIC, "%s: %s",
                       device->name, error);
  }
  for (rf_index k = 0; k < count && !status; k++)
    status = result_of(context, &results[k], &members[k], &task, k);
  arrays_free(&arrays);
  return status ? status : outcome;
}
