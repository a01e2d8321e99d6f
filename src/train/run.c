/* A training run from settings to result: checks, the loop of the chosen precision, and a last look in
 * double. */
#include <math.h>
#include <string.h>

#include "train_internal.h"
#include "layers/layers.h"
#include "core/core.h"

void rf_train_settings_init(RfTrainSettings *settings) {
  *settings = (RfTrainSettings){.optimizer = RF_TRAIN_GD,
                                .rate = 0.01,
                                .max_steps = 1000,
                                .max_epochs = -1,
                                .loss = RF_LOSS_LOGISTIC,
                                .beta1 = 0.9,
                                .beta2 = 0.999,
                                .epsilon = 1e-8,
                                .stop_min_q = INFINITY,
                                .checkpoint_seconds = 10};
}

RfStatus rf_train_optimizer_from_name(RfContext *context, RfOptimizer *optimizer, const char *name) {
  const char *names[] = {"gd", "sgd", "adam"};
  for (int k = 0; k < 3; k++)
    if (strcmp(name, names[k]) == 0) {
      *optimizer = (RfOptimizer)k;
      return RF_OK;
    }
  return rf_fail(context, RF_ERR_USAGE, "unknown optimizer '%s': use gd, sgd or adam", name);
}

void rf_train_result_free(RfTrainResult *result) {
  if (!result) return;
  rf_layers_free(&result->net);
  rf_free(result->records);
  memset(result, 0, sizeof *result);
}

static RfStatus check(RfContext *context, const RfLayeredNet *net, const RfTrainData *data,
                      const RfTrainSettings *s) {
  if (net->n_layers < 1 || rf_layers_outputs_count(net) != 1)
    return rf_fail(context, RF_ERR_USAGE, "training needs a network with one output");
  if (data->n < 1) return rf_fail(context, RF_ERR_USAGE, "training needs at least one sample");
  if (!(s->rate > 0) || !isfinite(s->rate))
    return rf_fail(context, RF_ERR_USAGE, "the learning rate must be positive");
  if (s->batch < 0) return rf_fail(context, RF_ERR_USAGE, "the batch size must be 0 (all) or positive");
  if (s->max_steps < 0 && s->max_epochs < 0 && !(s->stop_loss > 0) && !isfinite(s->stop_min_q))
    return rf_fail(context, RF_ERR_USAGE,
                   "nothing would stop this run: give steps, epochs, a loss or a margin");
  if (s->raise_rate > 0 && s->optimizer == RF_TRAIN_ADAM)
    return rf_fail(context, RF_ERR_USAGE, "a rate raised after interpolation is for gd and sgd, not adam");
  return RF_OK;
}

/* The final state, evaluated in double whatever the precision of the run. */
static RfStatus last_look(RfTrainRun *run, RfTrainResult *result) {
  const RfTrainData *data = run->data;
  double *q = RF_NEW(double, data->n);
  if (!q) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for margins");
  RfStatus status = rf_layers_evaluate(run->context, q, NULL, run->net, data->X, data->n);
  for (rf_index i = 0; i < data->n; i++) q[i] *= data->y[i];
  if (!status) status = rf_train_measure(run, &result->last, q, true);
  if (!status &&
      (run->state.n_records == 0 || run->state.records[run->state.n_records - 1].step != run->state.step))
    status = rf_train_add_record(run, &result->last);
  rf_free(q);
  return status;
}

RfStatus rf_train_run(RfContext *context, RfTrainResult *result, const RfLayeredNet *net,
                      const RfTrainData *data, const RfTrainSettings *settings) {
  memset(result, 0, sizeof *result);
  RfStatus status = check(context, net, data, settings);
  if (!status) status = rf_layers_copy(context, &result->net, net);
  if (status) return status;
  RfTrainRun run = {.context = context, .settings = settings, .data = data, .net = &result->net};
  bool whole = settings->optimizer == RF_TRAIN_GD || settings->batch == 0 || settings->batch >= data->n;
  run.batch = whole ? data->n : settings->batch;
  if (!whole) run.order = RF_NEW(rf_index, data->n);
  if (!whole && !run.order) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for training");
  if (!status)
    status = settings->precision == RF_FLOAT ? rf_train_loop_float(&run, &result->stop)
                                             : rf_train_loop_double(&run, &result->stop);
  if (!status) status = last_look(&run, result);
  result->records = run.state.records, result->n_records = run.state.n_records;
  result->steps = run.state.step, result->epochs = run.state.epoch, result->seconds = run.state.seconds;
  result->steps_per_second = run.state.seconds > 0 ? (double)run.state.step / run.state.seconds : 0;
  rf_free(run.order);
  if (!status && result->stop == RF_STOP_INTERRUPTED) return RF_INTERRUPTED;
  if (status) rf_train_result_free(result);
  return status;
}
