/* A claim must be able to fail: each judge on values inside and outside its tolerance, a claim without a
 * check, a status, a skip. */
#include "rf_test.h"
#include "kit/claims_internal.h"
#include "kit/data.h"

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
static RfStatus early_claim(RfClaimRun *run) {
  rf_claim_close(run, "value", given, 2, 1e-3);
  return RF_UNDECIDED;
}
static RfStatus short_claim(RfClaimRun *run) {
  rf_claim_require(run, "sliding neurons", 3);
  rf_claim_true(run, "one comparison", true);
  rf_claim_made(run, "sliding neurons", (rf_index)given);
  rf_claim_dropped(run, "sliding neurons", 2);
  return RF_OK;
}
static RfStatus crowded_claim(RfClaimRun *run) {
  static const char *const what[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"};
  for (int k = 0; k <= RF_CLAIM_COUNTS; k++) rf_claim_made(run, what[k], 1);
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
  assert_int_equal(run_with(empty_claim, 0).verdict, RF_CLAIM_INCOMPLETE);
  r = run_with(broken_claim, 0);
  assert_int_equal(r.verdict, RF_CLAIM_FAIL);
  assert_non_null(strstr(r.note, "no luck"));
  assert_int_equal(run_with(skipped_claim, 0).verdict, RF_CLAIM_SKIPPED);
  assert_int_equal(run_with(printed_claim, 1).printed, RF_PRINTED_PASS);
  assert_int_equal(run_with(printed_claim, -1).printed, RF_PRINTED_FAIL);
}

/* Whatever is missing is not a pass, and a failure stays one. */
static void less_than_declared(void **state) {
  (void)state;
  RfClaimResult r = run_with(early_claim, 2);
  assert_int_equal(r.verdict, RF_CLAIM_INCOMPLETE);
  assert_non_null(strstr(r.note, "ended early"));
  assert_int_equal(run_with(early_claim, 3).verdict, RF_CLAIM_FAIL);
  r = run_with(short_claim, 2);
  assert_int_equal(r.verdict, RF_CLAIM_INCOMPLETE);
  assert_non_null(strstr(r.note, "sliding neurons: 2 of 3"));
  assert_string_equal(r.counts[0].what, "comparisons");
  assert_int_equal(r.counts[0].made, 1);
  assert_int_equal(r.counts[1].required, 3);
  assert_int_equal(r.counts[1].dropped, 2);
  assert_int_equal(run_with(short_claim, 3).verdict, RF_CLAIM_PASS);
  assert_int_equal(run_with(crowded_claim, 0).verdict, RF_CLAIM_FAIL);
}

/* One seed for one use: runs, claims, purposes and numbers all change it. */
static void seeds_are_hashed(void **state) {
  (void)state;
  RfClaim claims[] = {{.id = "T-01"}, {.id = "T-02"}};
  RfClaimSettings settings[] = {{.first_seed = 0}, {.first_seed = 1}};
  const char *const purposes[] = {"start", "data"};
  enum { most = 2 * 2 * 2 * 100 };
  uint64_t seen[most];
  rf_index count = 0;
  for (int c = 0; c < 2; c++)
    for (int s = 0; s < 2; s++)
      for (int p = 0; p < 2; p++)
        for (uint64_t k = 0; k < 100; k++) {
          RfClaimResult result = {.claim = &claims[c]};
          RfClaimRun run = {.settings = &settings[s], .result = &result};
          seen[count++] = rf_claim_seed(&run, purposes[p], k);
        }
  for (rf_index i = 0; i < count; i++)
    for (rf_index j = 0; j < i; j++) assert_true(seen[i] != seen[j]);
  assert_true(rf_claim_distant_seed(7, 0) == 7 && rf_claim_distant_seed(7, 1) != rf_claim_distant_seed(8, 1));
}

/* A generator with a seed gets one from the run, wherever the spec has it; one without stays as it is. */
static void data_follow_the_seed(void **state) {
  (void)state;
  static const char *const specs[][2] = {{"DS-OS(5,5,3,0.2,1)", "DS-OS(5,5,3,0.2,"},
                                         {"gen:DS-GEN(8,3)", "DS-GEN(8,3),seed="},
                                         {"DS-OS(3,3,3,0.3),seed=4", "DS-OS(3,3,3,0.3),seed="},
                                         {"gaussian,n=6,seed=2,d=2", "gaussian,n=6,seed="}};
  RfContext context;
  rf_context_init(&context);
  RfClaim claim = {.id = "T-01"};
  RfClaimResult result = {.claim = &claim};
  for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
    RfClaimSpec out[2];
    for (int s = 0; s < 2; s++) {
      RfClaimSettings settings = {.first_seed = (uint64_t)s};
      RfClaimRun run = {.context = &context, .settings = &settings, .result = &result};
      RfDataset data = {0};
      assert_ok(&context, rf_claim_spec(&run, &out[s], specs[k][0]));
      assert_ok(&context, rf_claim_generate(&run, &data, specs[k][0]));
      rf_dataset_free(&data);
      assert_int_equal(strncmp(out[s].text, specs[k][1], strlen(specs[k][1])), 0);
    }
    assert_string_not_equal(out[0].text, out[1].text);
  }
  RfClaimSettings settings = {.first_seed = 3};
  RfClaimRun run = {.context = &context, .settings = &settings, .result = &result};
  RfClaimSpec out;
  assert_ok(&context, rf_claim_spec(&run, &out, "DS-PL2/3"));
  assert_string_equal(out.text, "DS-PL2/3");
  assert_ok(&context, rf_claim_spec(&run, &out, "DS-M2(0.1)"));
  assert_string_equal(out.text, "DS-M2(0.1)");
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(judges_pass_and_fail), cmocka_unit_test(less_than_declared),
      cmocka_unit_test(seeds_are_hashed),     cmocka_unit_test(data_follow_the_seed),
      cmocka_unit_test(binomial_tails),       cmocka_unit_test(names_and_patterns)};
  return cmocka_run_group_tests_name("ledger/kit/judge", tests, NULL, NULL);
}
