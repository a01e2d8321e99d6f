/* The training loop for one number type: include with REAL and NAME(x) defined, inside loop.c. */

typedef struct NAME(Loop) {
  RfTrainRun *run;
  RfLossWork *work;
  REAL *numbers; /* theta, then (Adam) the first and second moments */
  REAL *theta, *first, *second, *gradient;
  REAL *X, *y, *q;         /* the data in this type, and the margins of the last gradient */
  REAL *batch_X, *batch_y; /* gathered rows of a mini-batch */
  double *q_double;        /* margins of all samples, for measuring */
  rf_index P, values;
} NAME(Loop);

static void NAME(loop_free)(NAME(Loop) * loop) {
  rf_layers_loss_work_free(loop->work);
  rf_free(loop->numbers), rf_free(loop->gradient), rf_free(loop->q), rf_free(loop->q_double);
  rf_free(loop->X), rf_free(loop->y), rf_free(loop->batch_X), rf_free(loop->batch_y);
}

static RfStatus NAME(loop_new)(NAME(Loop) * loop, RfTrainRun *run) {
  const RfTrainData *data = run->data;
  rf_index n = data->n, d = rf_layers_inputs(run->net);
  memset(loop, 0, sizeof *loop);
  loop->run = run, loop->P = run->net->n_parameters;
  loop->values = loop->P * (run->settings->optimizer == RF_TRAIN_ADAM ? 3 : 1);
  loop->numbers = RF_NEW(REAL, loop->values);
  loop->gradient = RF_NEW(REAL, loop->P);
  loop->X = RF_NEW(REAL, n * d), loop->y = RF_NEW(REAL, n), loop->q = RF_NEW(REAL, n);
  loop->q_double = RF_NEW(double, n);
  loop->batch_X = RF_NEW(REAL, run->order ? run->batch * d : 1), loop->batch_y = RF_NEW(REAL, run->batch);
  if (!loop->numbers || !loop->gradient || !loop->X || !loop->y || !loop->q || !loop->q_double ||
      !loop->batch_X || !loop->batch_y)
    return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for training");
  loop->theta = loop->numbers, loop->first = loop->numbers + loop->P,
  loop->second = loop->numbers + 2 * loop->P;
  for (rf_index k = 0; k < n * d; k++) loop->X[k] = (REAL)data->X[k];
  for (rf_index i = 0; i < n; i++) loop->y[i] = (REAL)data->y[i];
  for (rf_index p = 0; p < loop->P; p++) loop->theta[p] = (REAL)run->net->theta[p];
  return rf_layers_loss_work_new(run->context, &loop->work, run->net, NAME(precision), n);
}

/* Weights back into the network, in double. */
static void NAME(publish)(const NAME(Loop) * loop) {
  for (rf_index p = 0; p < loop->P; p++) loop->run->net->theta[p] = (double)loop->theta[p];
}

/* A look at all samples. Their margins are in loop->q after a full-batch gradient; otherwise they are
 * evaluated. */
static RfStatus NAME(look)(NAME(Loop) * loop, RfTrainRecord *record, bool have_q, bool with_test) {
  RfTrainRun *run = loop->run;
  const RfTrainData *data = run->data;
  NAME(publish)(loop);
  if (have_q) {
    for (rf_index i = 0; i < data->n; i++) loop->q_double[i] = (double)loop->q[i];
  } else {
    RfStatus status = rf_layers_evaluate(run->context, loop->q_double, NULL, run->net, data->X, data->n);
    if (status) return status;
    for (rf_index i = 0; i < data->n; i++) loop->q_double[i] *= data->y[i];
  }
  return rf_train_measure(run, record, loop->q_double, with_test);
}

static void NAME(gather)(NAME(Loop) * loop, rf_index rows) {
  rf_index d = rf_layers_inputs(loop->run->net);
  const rf_index *order = loop->run->order + loop->run->state.batch_start;
  for (rf_index i = 0; i < rows; i++) {
    memcpy(loop->batch_X + i * d, loop->X + order[i] * d, (size_t)d * sizeof(REAL));
    loop->batch_y[i] = loop->y[order[i]];
  }
}

/* Adam (Kingma and Ba 2015) with bias-corrected moments. */
static void NAME(update_adam)(NAME(Loop) * loop, double rate, double factor) {
  const RfTrainSettings *s = loop->run->settings;
  double t = (double)(loop->run->state.step + 1);
  REAL step = (REAL)(rate / (1 - pow(s->beta1, t))), scale = (REAL)(1 / sqrt(1 - pow(s->beta2, t)));
  REAL b1 = (REAL)s->beta1, b2 = (REAL)s->beta2, small = (REAL)s->epsilon;
  for (rf_index p = 0; p < loop->P; p++) {
    REAL g = (REAL)factor * loop->gradient[p];
    loop->first[p] = b1 * loop->first[p] + (1 - b1) * g;
    loop->second[p] = b2 * loop->second[p] + (1 - b2) * g * g;
    loop->theta[p] -= step * loop->first[p] / (NAME(square_root)(loop->second[p]) * scale + small);
  }
}

/* theta -= rate * factor * gradient; factor turns the sum that was computed into the gradient of the chosen
 * loss. */
static void NAME(update)(NAME(Loop) * loop, double rate, double factor) {
  if (loop->run->settings->optimizer == RF_TRAIN_ADAM) {
    NAME(update_adam)(loop, rate, factor);
    return;
  }
  REAL step = (REAL)(rate * factor);
  for (rf_index p = 0; p < loop->P; p++) loop->theta[p] -= step * loop->gradient[p];
}

/* Gradient on the next batch and, where rules or records ask for it, a look; *stop is set when a rule holds
 * before the update. With a raised rate c / loss the gradient is computed with shift = ln(loss) and the
 * update is c times the gradient of the logarithm of the loss: neither the small gradient nor the large rate
 * leaves the range of the number type. */
static RfStatus NAME(iterate)(NAME(Loop) * loop, bool *stopped, RfTrainStop *stop) {
  RfTrainRun *run = loop->run;
  RfTrainState *state = &run->state;
  const RfTrainSettings *s = run->settings;
  bool whole = run->order == NULL, epoch_start = whole || state->batch_start == 0;
  rf_index n = run->data->n, left = n - state->batch_start, rows = run->batch < left ? run->batch : left;
  double shift = s->raise_rate > 0 && state->interpolated ? state->log_loss : 0;
  if (!whole) NAME(gather)(loop, rows);
  NAME(loss_gradient)
  (run->context, loop->work, loop->gradient, loop->q, loop->theta, whole ? loop->X : loop->batch_X,
   whole ? loop->y : loop->batch_y, s->loss, shift, rows);

  bool rules = s->stop_loss > 0 || isfinite(s->stop_min_q) || s->raise_rate > 0,
       due = rf_train_record_due(run);
  if (epoch_start && (rules || due)) {
    RfTrainRecord record;
    RfStatus status = NAME(look)(loop, &record, whole, due);
    if (!status && due) status = rf_train_add_record(run, &record);
    if (status) return status;
    if (s->stop_loss > 0 && record.loss <= s->stop_loss) *stop = RF_STOP_LOSS, *stopped = true;
    if (record.min_q >= s->stop_min_q) *stop = RF_STOP_MIN_Q, *stopped = true;
    if (*stopped) return RF_OK;
  }
  bool raised = s->raise_rate > 0 && state->interpolated;
  double factor = s->mean ? 1 / (double)rows : 1;
  if (raised || shift != 0) factor *= exp(raised ? shift - state->log_loss : shift);
  NAME(update)(loop, raised ? s->raise_rate : s->rate, factor);
  state->step++;
  state->batch_start += rows;
  if (state->batch_start == n) {
    state->batch_start = 0, state->epoch++;
    rf_train_shuffle(run);
  }
  return RF_OK;
}

/* The weights are looked at from time to time: a number that is not finite never becomes finite again. */
static RfStatus NAME(check_finite)(const NAME(Loop) * loop) {
  for (rf_index p = 0; p < loop->P; p++)
    if (!isfinite(loop->theta[p]))
      return rf_fail(loop->run->context, RF_ERR_NUMERIC,
                     "the weights overflowed by step %lld: a smaller learning rate is needed",
                     (long long)loop->run->state.step);
  return RF_OK;
}

static RfStatus NAME(save)(NAME(Loop) * loop) {
  RfTrainRun *run = loop->run;
  double now = rf_clock_seconds();
  run->state.seconds += now - run->started;
  run->started = run->last_saved = now;
  if (!run->settings->checkpoint) return RF_OK;
  return rf_train_checkpoint_save(run, loop->numbers, loop->values, sizeof(REAL));
}

/* Looks at the clock, the cancel flag and the weights once in a while, not at every step of a small problem.
 */
static RfStatus NAME(housekeeping)(NAME(Loop) * loop, bool *stopped, RfTrainStop *stop) {
  RfTrainRun *run = loop->run;
  if (rf_context_stop(run->context)) *stop = RF_STOP_INTERRUPTED, *stopped = true;
  RfStatus status = NAME(check_finite)(loop);
  if (!status && run->settings->checkpoint &&
      rf_clock_seconds() - run->last_saved >= run->settings->checkpoint_seconds)
    status = NAME(save)(loop);
  rf_train_show_progress(run);
  return status;
}

RfStatus NAME(rf_train_loop)(RfTrainRun *run, RfTrainStop *stop) {
  NAME(Loop) loop;
  bool stopped = false;
  RfStatus status = NAME(loop_new)(&loop, run);
  if (!status && run->settings->resume)
    status = rf_train_checkpoint_load(run, loop.numbers, loop.values, sizeof(REAL));
  run->started = rf_clock_seconds();
  if (!status) status = NAME(save)(&loop);
  rf_train_shuffle(run);
  *stop = RF_STOP_STEPS;
  double work = (double)loop.P * (double)run->batch;
  rf_index pause = work > 1e7 ? 1 : (rf_index)(1e7 / (work + 1)) + 1;
  while (!status && !stopped && !rf_train_finished(run)) {
    status = NAME(iterate)(&loop, &stopped, stop);
    if (!status && !stopped && run->state.step % pause == 0)
      status = NAME(housekeeping)(&loop, &stopped, stop);
  }
  if (!status) status = NAME(check_finite)(&loop);
  if (!status) status = NAME(save)(&loop);
  if (!status) NAME(publish)(&loop);
  NAME(loop_free)(&loop);
  return status;
}
