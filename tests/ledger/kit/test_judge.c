/* A claim must be able to fail: each judge on values inside and outside its tolerance, a claim without a
 * check, a status, a skip. */
#include "rf_test.h"
#include "kit/claims_internal.h"

static double given;
static RfStatus close_claim(RfClaimRun *run) {
  rf_claim_close(run, "an easy one", 1, 1, 1e-9);
  rf_claim_close(run, "value", given, 2, 1e-3);
  return RF_OK;
}
static RfStatus bound_claim(RfClaimRun *run) {
  rf_claim_at_most(run, "value", given, 2, 1e-9);
  rf_claim_at_least(run, "value", given, 1, 1e-9);
  return RF_OK;
}
static RfStatus relative_claim(RfClaimRun *run) {
  rf_claim_relative(run, "value", given, 2e6, 1e-3);
  return RF_OK;
}
static RfStatus probability_claim(RfClaimRun *run) {
  rf_claim_probability(run, "share", (rf_index)given, 1000, 0.5, true);
  return RF_OK;
}
static RfStatus empty_claim(RfClaimRun *run) {
  (void)run;
  return RF_OK;
}
static RfStatus broken_claim(RfClaimRun *run) { return rf_fail(run->context, RF_ERR_NUMERIC, "no luck"); }
static RfStatus skipped_claim(RfClaimRun *run) { return rf_claim_skip(run, "no file"); }
static RfStatus printed_claim(RfClaimRun *run) {
  rf_claim_true(run, "corrected form", true);
  rf_claim_printed(run, true);
  rf_claim_printed(run, given > 0);
  return RF_OK;
}

static RfClaimResult run_with(RfStatus (*check)(RfClaimRun *), double value) {
  RfContext context;
  RfClaimResult result;
  RfClaimSettings settings = rf_claim_settings_default();
  RfClaim claim = {"T-01", "test", "", "title", RF_CLAIM_BOUND, RF_CLAIM_QUICK, check};
  const RfClaim *list[] = {&claim};
  rf_context_init(&context);
  given = value;
  assert_ok(&context, rf_claims_run(&context, &result, list, 1, &settings));
  return result;
}

static void judges_pass_and_fail(void **state) {
  (void)state;
  assert_int_equal(run_with(close_claim, 2.0005).verdict, RF_CLAIM_PASS);
  RfClaimResult r = run_with(close_claim, 2.01);
  assert_int_equal(r.verdict, RF_CLAIM_FAIL);
  assert_non_null(strstr(r.note, "value"));
  assert_close(r.predicted, 2, 0);
  assert_int_equal(run_with(close_claim, NAN).verdict, RF_CLAIM_FAIL);
  assert_int_equal(run_with(bound_claim, 1.5).verdict, RF_CLAIM_PASS);
  assert_int_equal(run_with(bound_claim, 2.1).verdict, RF_CLAIM_FAIL);
  assert_int_equal(run_with(bound_claim, 0.9).verdict, RF_CLAIM_FAIL);
  assert_int_equal(run_with(bound_claim, NAN).verdict, RF_CLAIM_FAIL);
  assert_int_equal(run_with(relative_claim, 2.001e6).verdict, RF_CLAIM_PASS);
  assert_int_equal(run_with(relative_claim, 2.1e6).verdict, RF_CLAIM_FAIL);
  assert_int_equal(run_with(probability_claim, 510).verdict, RF_CLAIM_PASS);
  assert_int_equal(run_with(probability_claim, 400).verdict, RF_CLAIM_FAIL);
  assert_int_equal(run_with(probability_claim, 600).verdict, RF_CLAIM_FAIL);
  assert_int_equal(run_with(empty_claim, 0).verdict, RF_CLAIM_FAIL);
  r = run_with(broken_claim, 0);
  assert_int_equal(r.verdict, RF_CLAIM_FAIL);
  assert_non_null(strstr(r.note, "no luck"));
  assert_int_equal(run_with(skipped_claim, 0).verdict, RF_CLAIM_SKIPPED);
  assert_int_equal(run_with(printed_claim, 1).printed, RF_PRINTED_PASS);
  assert_int_equal(run_with(printed_claim, -1).printed, RF_PRINTED_FAIL);
}

static void binomial_tails(void **state) {
  (void)state;
  assert_close(rf_claim_binomial_tail(0, 3, 0.5), 0.125, 1e-12);
  assert_close(rf_claim_binomial_tail(1, 3, 0.5), 0.5, 1e-12);
  assert_close(rf_claim_binomial_tail(3, 3, 0.5), 1, 0);
  assert_close(rf_claim_binomial_tail(-1, 3, 0.5), 0, 0);
  assert_close(rf_claim_binomial_tail(2, 3, 1), 0, 0);
  assert_close(rf_claim_binomial_tail(500, 1000, 0.5), 0.5126125, 1e-6);
}

static void names_and_patterns(void **state) {
  (void)state;
  RfClaim claim = {.id = "VSS-07"};
  const char *yes[] = {"VSS-07", "vss-07", "VSS", "VSS-*", "VSS-0?", "*07", "*"},
             *no[] = {"VSS-0", "VS", "VSS-08", "PL", "", "VSS-07x", "?"};
  for (int k = 0; k < 7; k++) assert_true(rf_claim_matches(&claim, yes[k]));
  for (int k = 0; k < 7; k++) assert_false(rf_claim_matches(&claim, no[k]));
  for (rf_index k = 0; k < rf_claims_count(); k++)
    for (rf_index j = 0; j < k; j++) assert_string_not_equal(rf_claim_at(k)->id, rf_claim_at(j)->id);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(judges_pass_and_fail), cmocka_unit_test(binomial_tails),
                                     cmocka_unit_test(names_and_patterns)};
  return cmocka_run_group_tests_name("ledger/kit/judge", tests, NULL, NULL);
}
