/* A claim must be able to fail: the engine is corrupted between its rooms (faults.h), one quantity at a time,
 * and every claim notices the fault of the quantity that it is about. The table claim x fault is written
 * beside this program, as faults.md: with RF_TEST_MULT > 1 all of it, otherwise the faults named below.
 * --wrap: rf_flow_align_neuron
 * --wrap: rf_flow_run rf_flow_start_from_net rf_layered_flow_to_smargin rf_layered_flow_to_time
 * --wrap: rf_layered_flow_far rf_flow_run_layered rf_sided_velocity rf_train_run rf_flow_align
 * --wrap: rf_layers_add_conv rf_layers_gradient rf_layers_evaluate rf_layers_loss_gradient
 * --wrap: rf_net_outputs rf_loss_value rf_loss_log_slope rf_loss_slope_at_zero rf_la_dot rf_la_norm
 * --wrap: rf_la_nnls pow log exp asinh rf_optimum_solve rf_optimum_dual_norm rf_margin_linear rf_margin_class
 * --wrap: rf_certify_net rf_certify_kkt rf_geometry_potential rf_geometry_count_sectors
 * --wrap: rf_geometry_sectors_next rf_geometry_spike_free rf_geometry_extremal rf_random_gaussian
 * --wrap: rf_random_uniform rf_random_direction rf_data_generate rf_data_load */
#include "faults.h"

/* What each claim must notice: faults of the quantity that it is about. */
static const struct {
  const char *claim;
  Fault notices[3];
} rows[] = {
#include "faults_rows.h"
};

/* Claims that take longer are run as quick ones, with a tenth of the repetitions. */
static RfClaimResult run_claim(const RfClaim *claim, Fault how, double seconds) {
  RfContext context;
  RfClaimResult result;
  RfClaimSettings settings = rf_claim_settings_default();
  RfClaim copy = *claim;
  const RfClaim *list[] = {&copy};
  rf_context_init(&context);
  rf_context_limit(&context, seconds);
  settings.quick = true, copy.cost = RF_CLAIM_QUICK;
  settings.data_dir = getenv("RELUFLOW_DATA"); /* the claims on digits cannot run without it */
  fault = how, fault_calls = 0;
  (void)rf_claims_run(&context, &result, list, 1, &settings);
  fault = SOUND;
  rf_claim_result_free(&result);
  return result;
}

/* A fault is noticed when the claim fails, or does not get what it needs; running out of time says nothing.
 */
static bool noticed(const RfClaimResult *result) {
  return result->verdict == RF_CLAIM_FAIL ||
         (result->verdict == RF_CLAIM_INCOMPLETE && !strstr(result->note, "interrupted"));
}

static const char *word(const RfClaimResult *result) {
  return strstr(result->note, "interrupted") && result->verdict != RF_CLAIM_FAIL
             ? "slow"
             : rf_claim_verdict_name(result->verdict);
}

static const Fault *must_notice(const RfClaim *claim) {
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
    if (strcmp(rows[r].claim, claim->id) == 0) return rows[r].notices;
  return NULL;
}

static bool named(const Fault *notices, Fault how) {
  for (int c = 0; notices && c < 3; c++)
    if (notices[c] == how) return true;
  return false;
}

static char table_path[1024] = "faults.md";

static FILE *open_table(void) {
  FILE *table = fopen(table_path, "w");
  assert_non_null(table);
  fprintf(table, "| claim |");
  for (int f = 0; f < FAULTS; f++) fprintf(table, " %s |", fault_names[f]);
  fprintf(table, "\n|---|");
  for (int f = 0; f < FAULTS; f++) fprintf(table, "---|");
  fprintf(table, "\n");
  fflush(table);
  return table;
}

/* One row: how many faults made the claim fail; -1 when it cannot run here, less when it does not notice one
 * that it must, be it by having less than it needs. */
static int write_row(FILE *table, const RfClaim *claim, bool all) {
  const Fault *notices = must_notice(claim);
  RfClaimResult sound = run_claim(claim, SOUND, 120);
  int count = 0;
  fprintf(table, "| %s | %s |", claim->id, rf_claim_verdict_name(sound.verdict));
  if (sound.verdict == RF_CLAIM_FAIL || sound.verdict == RF_CLAIM_INCOMPLETE)
    print_error("%s on the sound engine: %s\n", claim->id, sound.note);
  for (int f = SOUND + 1; f < FAULTS && sound.verdict == RF_CLAIM_PASS; f++) {
    bool asked = named(notices, (Fault)f);
    if (!asked && (!all || f == WRONG_MATHS)) { /* wrong maths keep engines busy: arithmetic only */
      fprintf(table, " |");
      continue;
    }
    RfClaimResult r = run_claim(claim, (Fault)f, asked ? 120 : 10);
    fprintf(table, " %s |", word(&r));
    count += r.verdict == RF_CLAIM_FAIL;
    if (asked && !noticed(&r)) {
      print_error("%s does not notice: %s\n", claim->id, fault_names[f]);
      count = -1000;
    }
  }
  fprintf(table, "\n");
  fflush(table);
  return sound.verdict == RF_CLAIM_SKIPPED ? -1 : count;
}

static void every_claim_can_fail(void **state) {
  (void)state;
  const char *mult = getenv("RF_TEST_MULT"), *only = getenv("RF_TEST_CLAIM");
  bool all = mult && atof(mult) > 1, few = mult && atof(mult) < 1; /* few: quick claims only */
  rf_index silent = 0, asked = 0, cannot = 0;
  FILE *table = open_table();
  for (rf_index k = 0; k < 2 * rf_claims_count(); k++) { /* the quick ones first */
    const RfClaim *claim = rf_claim_at(k % rf_claims_count());
    bool quick = claim->cost == RF_CLAIM_QUICK;
    if (quick != (k < rf_claims_count()) || (few && !quick) || (only && !rf_claim_matches(claim, only)))
      continue;
    int count = write_row(table, claim, all);
    asked++, cannot += count == -1;
    if (!must_notice(claim)) print_error("%s: no fault is named for it\n", claim->id), silent++;
    if (count == 0 || count < -1) print_error("%s never fails\n", claim->id), silent++;
  }
  fclose(table);
  print_message("%lld claims, %lld cannot run here, %lld silent; see %s\n", (long long)asked,
                (long long)cannot, (long long)silent, table_path);
  assert_int_equal(silent, 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_claim_can_fail)};
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  if (slash) (void)snprintf(table_path, sizeof table_path, "%.*s/faults.md", (int)(slash - argv[0]), argv[0]);
  return cmocka_run_group_tests_name("ledger/corruption", tests, NULL, NULL);
}
