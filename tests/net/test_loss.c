/* Losses against direct formulas where those are safe, and in the far tails against asymptotics. */
#include "rf_test.h"

static void agree_with_plain_formulas(void **state) {
  (void)state;
  for (int k = -200; k <= 200; k++) {
    double q = 0.1 * k, e = exp(-q), log_value = log(log1p(e));
    assert_relative(rf_loss_value(RF_LOSS_EXP, q), e, 1e-14);
    assert_relative(rf_loss_value(RF_LOSS_LOGISTIC, q), log1p(e), 1e-13);
    assert_relative(rf_loss_value(RF_LOSS_LOGISTIC2, q), 2 * log1p(e), 1e-13);
    assert_close(rf_loss_log_value(RF_LOSS_LOGISTIC, q), log_value, 1e-12);
    assert_close(exp(rf_loss_log_slope(RF_LOSS_LOGISTIC, q)), 1 / (1 + exp(q)), 1e-14);
    assert_close(exp(rf_loss_log_slope(RF_LOSS_LOGISTIC2, q)), 2 / (1 + exp(q)), 2e-14);
    double h = 1e-5;
    for (int loss = 0; loss < 3; loss++) {
      RfLoss kind = (RfLoss)loss;
      double slope = (rf_loss_value(kind, q + h) - rf_loss_value(kind, q - h)) / (2 * h);
      assert_relative(-exp(rf_loss_log_slope(kind, q)), slope, 1e-8);
      double curvature = (rf_loss_log_slope(kind, q + h) - rf_loss_log_slope(kind, q - h)) / (2 * h);
      assert_close(rf_loss_curvature(kind, q), curvature, 1e-8);
      assert_close(rf_loss_inverse_log(kind, rf_loss_log_value(kind, q)), q,
                   1e-11 * fmax(1, exp(fabs(q) - 20)));
    }
  }
}

static void tails(void **state) {
  (void)state;
  assert_relative(rf_loss_log_value(RF_LOSS_LOGISTIC, 1e6), -1e6, 1e-15);
  assert_relative(rf_loss_log_slope(RF_LOSS_LOGISTIC, 1e300), -1e300, 1e-15);
  assert_close(rf_loss_log_slope(RF_LOSS_LOGISTIC, -1e300), 0, 0);
  assert_relative(rf_loss_inverse_log(RF_LOSS_LOGISTIC, -1e9), 1e9, 1e-15);
  assert_relative(rf_loss_inverse_log(RF_LOSS_LOGISTIC2, log(2e9)), -1e9, 1e-13);
  assert_close(rf_loss_curvature(RF_LOSS_LOGISTIC, 800), -1, 0);
  assert_close(rf_loss_curvature(RF_LOSS_LOGISTIC, -800), 0, 1e-300);
  assert_close(rf_loss_slope_at_zero(RF_LOSS_LOGISTIC), 0.5, 0);
  assert_close(rf_loss_slope_at_zero(RF_LOSS_LOGISTIC2), 1, 0);
}

static void names(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  const char *given[] = {"logistic", "log", "logistic2", "log2", "exp"};
  const RfLoss want[] = {RF_LOSS_LOGISTIC, RF_LOSS_LOGISTIC, RF_LOSS_LOGISTIC2, RF_LOSS_LOGISTIC2,
                         RF_LOSS_EXP};
  for (int k = 0; k < 5; k++) {
    RfLoss loss;
    assert_ok(&context, rf_loss_from_name(&context, &loss, given[k]));
    assert_int_equal(loss, want[k]);
  }
  RfLoss loss;
  assert_int_equal(rf_loss_from_name(&context, &loss, "hinge"), RF_ERR_USAGE);
  assert_non_null(strstr(context.error, "hinge"));
  assert_string_equal(rf_loss_name(RF_LOSS_LOGISTIC2), "logistic2");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agree_with_plain_formulas), cmocka_unit_test(tails),
                                     cmocka_unit_test(names)};
  return cmocka_run_group_tests_name("net/loss", tests, NULL, NULL);
}
