/* Cells of a sweep of `train --device` as populations. Every cell is read as it would be alone (words, data,
 * start); networks of one shape are trained together on the device; then every cell is run as it would be
 * alone, with its result already there: its row cannot differ from that of a run by itself. While the device
 * trains one batch, the processor's cores finish the one before, flows to t = infinity included. */
#include "cli/train.h"
#include "device/device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 65536 };

/* A cell on its way. */
typedef struct Member {
  rf_index cell;
  bool ready; /* read without a failure: it can be trained in company */
  RfDataset data;
  RfTrainData samples;
  const RfTrainData *shared; /* its own samples, or equal ones of another member */
  RfLayeredNet net;
  RfTrainSettings settings;
  RfTrainResult result;
  bool trained;
} Member;

typedef struct Batch {
  rf_index count;
  Member *members;
} Batch;

typedef struct Undertaking {
  RfContext *context;
  const SweepPlan *plan;
  const Device *device;
  SweepDeliver deliver;
  void *user;
  int threads;
  bool deaf; /* nobody listens any more */
} Undertaking;

static void batch_free(Batch *batch) {
  for (rf_index k = 0; batch->members && k < batch->count; k++) {
    Member *member = &batch->members[k];
    rf_dataset_free(&member->data);
    rf_layers_free(&member->net);
    rf_train_result_free(&member->result);
  }
  rf_free(batch->members);
  memset(batch, 0, sizeof *batch);
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* A cell that cannot be read is left as it is: run alone, it will say why. */
static void read_member(const Undertaking *all, Member *member) {
  RfContext context = *all->context;
  SweepTexts words = {0};
  CliRun run;
  bool layered = false;
  if (sweep_plan_words(&context, &words, all->plan, member->cell) != RF_OK) return;
  RfStatus status = cli_open(&run, all->plan->command->user, (int)words.count, words.items);
  if (!status) status = cli_load(&run, &member->data);
  if (!status && member->data.y) {
    status = cli_train_prepare(&run, &member->data, &member->net, &layered, &member->settings);
    member->samples = (RfTrainData){.X = member->data.X, .y = member->data.y, .n = member->data.n};
    member->shared = &member->samples;
    if (!status && cli_given(&run, "--test")) status = RF_ERR_USAGE;
    if (!status) status = device_check(&run.context, &member->net, &member->samples, &member->settings);
    member->ready = status == RF_OK && !layered;
  }
  cli_close(&run);
  sweep_texts_free(&words);
}

static bool same_data(const RfTrainData *a, const RfTrainData *b, rf_index d, rf_index other_d) {
  return a->n == b->n && d == other_d && memcmp(a->X, b->X, (size_t)(a->n * d) * sizeof(double)) == 0 &&
         memcmp(a->y, b->y, (size_t)a->n * sizeof(double)) == 0;
}

/* Members that follow each other with equal data use one copy. */
static void share_data(Batch *batch) {
  for (rf_index k = 1; k < batch->count; k++) {
    Member *member = &batch->members[k];
    const Member *before = &batch->members[k - 1];
    if (!member->ready || !before->ready) continue;
    if (!same_data(&member->samples, before->shared, member->net.layers[0].inputs,
                   before->net.layers[0].inputs))
      continue;
    member->shared = before->shared;
    rf_dataset_free(&member->data);
  }
}

static RfStatus batch_read(const Undertaking *all, Batch *batch, const rf_index *cells, rf_index count) {
  batch->count = count;
  batch->members = RF_NEW(Member, count);
  if (!batch->members) return rf_fail(all->context, RF_ERR_MEMORY, "out of memory for a population");
#pragma omp parallel for num_threads(all->threads) schedule(dynamic, 16)
  for (rf_index k = 0; k < count; k++) {
    batch->members[k].cell = cells[k];
    if (!rf_context_stop(all->context)) read_member(all, &batch->members[k]);
  }
  share_data(batch);
  return RF_OK;
}

/* ---- training --------------------------------------------------------------------------------- */

/* What networks of one population have in common. */
static bool same_kind(const Member *a, const Member *b) {
  const RfTrainSettings *s = &a->settings, *t = &b->settings;
  return a->shared->n == b->shared->n && a->net.layers[0].inputs == b->net.layers[0].inputs &&
         a->net.layers[0].outputs == b->net.layers[0].outputs && a->net.leak == b->net.leak &&
         a->net.layers[1].fixed == b->net.layers[1].fixed && s->loss == t->loss && s->mean == t->mean &&
         s->precision == t->precision && s->max_steps == t->max_steps && s->max_epochs == t->max_epochs &&
         s->stop_loss == t->stop_loss && s->stop_min_q == t->stop_min_q && s->record_every == t->record_every;
}

/* One population: the members of the kind of `first` that are not trained yet. */
static RfStatus train_kind(const Undertaking *all, Batch *batch, rf_index first) {
  rf_index count = 0, *who = RF_NEW(rf_index, batch->count);
  DeviceMember *members = RF_NEW(DeviceMember, batch->count);
  RfTrainResult *results = RF_NEW(RfTrainResult, batch->count);
  RfStatus status = RF_OK;
  if (!who || !members || !results)
    status = rf_fail(all->context, RF_ERR_MEMORY, "out of memory for a population");
  for (rf_index k = first; k < batch->count && !status; k++) {
    const Member *member = &batch->members[k];
    if (!member->ready || member->trained || !same_kind(&batch->members[first], member)) continue;
    members[count] =
        (DeviceMember){member->shared, &member->net, member->settings.rate, member->settings.raise_rate};
    who[count++] = k;
  }
  if (!status)
    status = device_train(all->context, all->device, results, members, count, &batch->members[first].settings,
                          true);
  for (rf_index k = 0; k < count && results; k++) {
    Member *member = &batch->members[who[k]];
    member->trained = status == RF_OK;
    member->result = results[k];
  }
  rf_free(who), rf_free(members), rf_free(results);
  return status;
}

static RfStatus batch_train(const Undertaking *all, Batch *batch) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < batch->count && !status; k++)
    if (batch->members[k].ready && !batch->members[k].trained) status = train_kind(all, batch, k);
  return status;
}

/* ---- finishing -------------------------------------------------------------------------------- */

/* The cell, run with its result already there. */
static void finish_member(Undertaking *all, Member *member) {
  RfContext context = *all->context;
  SweepTexts words = {0};
  SweepAnswer answer = {0};
  double began = rf_clock_seconds();
  if (sweep_plan_words(&context, &words, all->plan, member->cell) == RF_OK)
    cli_run_cell(all->plan->command->user, &answer, (int)words.count, words.items,
                 member->trained ? &member->result : NULL);
  else
    answer.failed = true, answer.exit_status = CLI_UNDECIDED;
  if (!all->deliver(all->user, member->cell, &answer, rf_clock_seconds() - began + member->result.seconds)) {
#pragma omp atomic write
    all->deaf = true;
  }
  rf_text_free(&answer.json);
  sweep_texts_free(&words);
}

static void batch_finish(Undertaking *all, Batch *batch) {
#pragma omp parallel for num_threads(all->threads) schedule(dynamic, 16)
  for (rf_index k = 0; k < batch->count; k++) {
    Member *member = &batch->members[k];
    bool deaf;
#pragma omp atomic read
    deaf = all->deaf;
    if (deaf || rf_context_stop(all->context)) continue;
    finish_member(all, member);
    rf_train_result_free(&member->result);
  }
  batch_free(batch);
}

/* ---- one batch on the device, the one before on the cores ------------------------------------- */

typedef struct Course {
  const Undertaking *all;
  Batch *batch;
  RfStatus status;
} Course;

static void *drive(void *argument) {
  Course *course = argument;
  course->status = batch_train(course->all, course->batch);
  return NULL;
}

RfStatus cli_train_together(RfContext *context, const SweepPlan *plan, const rf_index *cells, rf_index count,
                            rf_index threads, SweepDeliver deliver, void *user) {
  Device device;
  Undertaking all = {.context = context,
                     .plan = plan,
                     .device = &device,
                     .deliver = deliver,
                     .user = user,
                     .threads = threads < 1      ? 1
                                : threads > 1024 ? 1024
                                                 : (int)threads};
  Batch done = {0}, now = {0}, next = {0};
  rf_index axis = 0, taken = 0;
  while (axis < plan->n_axes && strcmp(plan->axes[axis].name, "device") != 0) axis++;
  if (axis == plan->n_axes || count < 1) return RF_OK;
  bool card = strcmp(sweep_plan_value(plan, cells[0], axis), "cuda") == 0;
  RfStatus status = device_open(context, &device, card ? DEVICE_CUDA : DEVICE_EMULATED);
  while (!status && (taken < count || next.count || now.count || done.count) && !all.deaf) {
    pthread_t thread;
    Course course = {&all, &now, RF_OK};
    bool driving = now.count > 0 && pthread_create(&thread, NULL, drive, &course) == 0;
    if (now.count > 0 && !driving) drive(&course);
    if (done.count) batch_finish(&all, &done);
    if (taken < count) {
      rf_index some = count - taken < BATCH ? count - taken : BATCH;
      if (taken == 0 && some > BATCH / 16)
        some = BATCH / 16; /* a short one first: the device need not wait */
      status = batch_read(&all, &next, cells + taken, some);
      taken += some;
    }
    if (driving) pthread_join(thread, NULL);
    if (!status) status = course.status;
    done = now, now = next, next = (Batch){0};
    if (!status && rf_context_stop(context)) status = RF_INTERRUPTED;
  }
  batch_free(&done), batch_free(&now), batch_free(&next);
  return status;
}
