/* Status texts, tolerances, errors, messages, progress, cancellation and deadlines. */
#include "rf_test.h"

static void every_status_has_its_own_text(void **state) {
  (void)state;
  const RfStatus all[] = {RF_OK,          RF_NOT_SEPARABLE, RF_BRANCHED,    RF_UNDECIDED, RF_LIMIT,
                          RF_INTERRUPTED, RF_INFEASIBLE,    RF_ERR_MEMORY,  RF_ERR_USAGE, RF_ERR_INPUT,
                          RF_ERR_IO,      RF_ERR_NUMERIC,   RF_ERR_INTERNAL};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    assert_string_not_equal(rf_status_name(all[i]), "unknown status");
    for (size_t j = 0; j < i; j++) assert_string_not_equal(rf_status_name(all[i]), rf_status_name(all[j]));
  }
  assert_string_equal(rf_status_name((RfStatus)99), "unknown status");
}

static void failures_record_one_line(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  assert_int_equal(rf_fail(&context, RF_ERR_USAGE, "width %d", -3), RF_ERR_USAGE);
  assert_string_equal(context.error, "width -3");
  char longer[2 * RF_ERROR_SIZE];
  memset(longer, 'x', sizeof longer);
  longer[sizeof longer - 1] = 0;
  rf_fail(&context, RF_ERR_INPUT, "%s", longer);
  assert_int_equal(strlen(context.error), RF_ERROR_SIZE - 1);
}

struct heard {
  int messages, progress;
  RfLevel level;
  char text[64];
  double fraction;
};

static void hear_message(void *user, RfLevel level, const char *text) {
  struct heard *heard = user;
  heard->messages++, heard->level = level;
  snprintf(heard->text, sizeof heard->text, "%s", text);
}

static void hear_progress(void *user, const char *phase, double fraction, const char *detail) {
  struct heard *heard = user;
  (void)phase, (void)detail;
  heard->progress++, heard->fraction = fraction;
}

static void callbacks_are_called_and_optional(void **state) {
  (void)state;
  RfContext context;
  struct heard heard = {0};
  rf_context_init(&context);
  rf_message(&context, RF_NOTE, "nobody listens");
  rf_progress(&context, "phase", 0.5, "");
  context.on_message = hear_message, context.on_progress = hear_progress, context.user = &heard;
  rf_message(&context, RF_WARNING, "n = %d", 7);
  rf_progress(&context, "phase", 0.25, "");
  assert_int_equal(heard.messages, 1);
  assert_int_equal(heard.level, RF_WARNING);
  assert_string_equal(heard.text, "n = 7");
  assert_int_equal(heard.progress, 1);
  assert_true(heard.fraction == 0.25);
}

static void cancel_and_deadline_stop(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  assert_false(rf_context_stop(&context));
  volatile int cancel = 0;
  context.cancel = &cancel;
  assert_false(rf_context_stop(&context));
  cancel = 1;
  assert_true(rf_context_stop(&context));
  context.cancel = NULL;
  rf_context_limit(&context, -1);
  assert_true(rf_context_stop(&context));
  rf_context_limit(&context, 100);
  assert_false(rf_context_stop(&context));
  assert_true(context.tol.zero > 0 && context.tol.gap > 0 && context.tol.kkt > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_status_has_its_own_text),
      cmocka_unit_test(failures_record_one_line),
      cmocka_unit_test(callbacks_are_called_and_optional),
      cmocka_unit_test(cancel_and_deadline_stop),
  };
  return cmocka_run_group_tests_name("core/context", tests, NULL, NULL);
}
