/* Frames of a run: they start at the start, end at the end, go forward in time, and change nothing. */
#include "rf_test.h"

static RfDataset data;
static RfContext context;

static void run(RfStudyFlow *study, const char *source, rf_index frames, bool in_limit, rf_index width) {
  RfDataSource wanted;
  RfStudyFlowSettings settings;
  rf_context_init(&context);
  rf_data_source_init(&wanted);
  wanted.path = source;
  assert_ok(&context, rf_data_load(&context, &data, &wanted));
  rf_study_flow_settings_init(&settings);
  settings.frames = frames, settings.verdict_seconds = 0;
  settings.start.width = width, settings.start.in_limit = in_limit;
  assert_ok(&context, rf_study_flow(&context, study, &data, NULL, &settings));
}

static void test_same_result(void **state) {
  (void)state;
  RfStudyFlow with, without;
  run(&without, "gen:xor", 0, false, 12);
  assert_null(without.run.frames);
  double margin = without.run.result.limit.margin;
  double *W = rf_copy_doubles(without.run.result.limit.net.W, 24);
  assert_non_null(W);
  rf_study_flow_free(&without);
  rf_dataset_free(&data);
  run(&with, "gen:xor", 50, false, 12);
  assert_true(with.run.result.limit.margin == margin);
  assert_memory_equal(with.run.result.limit.net.W, W, 24 * sizeof(double));
  rf_free(W);
  rf_study_flow_free(&with);
  rf_dataset_free(&data);
}

static void test_way(void **state) {
  (void)state;
  RfStudyFlow study;
  run(&study, "gen:planar", 80, false, 10);
  const RfStudyRun *flow = &study.run;
  assert_in_range(flow->n_frames, 40, 80);
  const RfStudyFrame *first = &flow->frames[0], *last = &flow->frames[flow->n_frames - 1];
  assert_true(first->log_t == -INFINITY);
  for (rf_index k = 0; k < 10; k++) {
    assert_close(first->log_norms[k], study.start.log_norms[k] + study.problem.log_scale, 1e-12);
    for (rf_index j = 0; j < 3; j++)
      assert_close(first->directions[3 * k + j], study.start.directions[3 * k + j], 1e-12);
  }
  for (rf_index f = 1; f < flow->n_frames; f++) {
    assert_false(flow->frames[f].log_t < flow->frames[f - 1].log_t);
    assert_true(flow->frames[f].log_loss <= flow->frames[f - 1].log_loss + 1e-12);
  }
  /* where the integration ends the direction is that of the limit, up to the last of its turning */
  double worst = 0;
  for (rf_index k = 0; k < 10; k++) {
    const double *w = flow->result.limit.net.W + 2 * k;
    double share = exp(last->log_norms[k] - last->log_norm);
    for (rf_index j = 0; j < 2; j++) worst = fmax(worst, fabs(share * last->directions[3 * k + j] - w[j]));
  }
  assert_true(worst < 1e-4);
  rf_study_flow_free(&study);
  rf_dataset_free(&data);
}

static void test_limit_has_no_clock(void **state) {
  (void)state;
  RfStudyFlow study;
  run(&study, "gen:xor", 30, true, 16);
  assert_in_range(study.run.n_frames, 10, 30);
  assert_true(isnan(study.run.frames[5].log_t));
  rf_study_flow_free(&study);
  rf_dataset_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_result), cmocka_unit_test(test_way),
                                     cmocka_unit_test(test_limit_has_no_clock)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
