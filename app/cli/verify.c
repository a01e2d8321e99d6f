/* `reluflow verify [ID...]`: the claims of the papers, run. */
#include "cli/cli.h"
#include "kit/claims.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct VerifyFlags {
  bool list, quick, heavy;
  const char *kind;
  rf_index seeds;
} VerifyFlags;

static const CliOption options[] = {
    {"--list", CLI_FLAG, offsetof(VerifyFlags, list), NULL, NULL, 0, 0, "name the claims, do not run them"},
    {"--kind", CLI_TEXT, offsetof(VerifyFlags, kind), "KIND", NULL, 0, 0,
     "only identity, bound, limit, rate, probability, construction, counter-example, figure or table"},
    {"--quick", CLI_FLAG, offsetof(VerifyFlags, quick), NULL, NULL, 0, 0,
     "only claims of about a second, with a tenth of the repetitions"},
    {"--heavy", CLI_FLAG, offsetof(VerifyFlags, heavy), NULL, NULL, 0, 0,
     "also claims that take many minutes"},
    {"--seeds", CLI_INDEX, offsetof(VerifyFlags, seeds), "N", "1", 1, 0,
     "N times the usual number of random draws"},
    {0},
};

typedef struct Selection {
  const RfClaim **claims;
  RfClaimResult *results;
  rf_index count;
} Selection;

static bool wanted(const CliRun *run, const RfClaim *claim, bool *matched) {
  const VerifyFlags *flags = run->settings;
  bool named = run->n_arguments == 0;
  for (int k = 0; k < run->n_arguments; k++)
    if (rf_claim_matches(claim, run->arguments[k])) named = matched[k] = true;
  return named && (!flags->kind || strcmp(flags->kind, rf_claim_kind_name(claim->kind)) == 0);
}

static RfStatus check_kind(CliRun *run) {
  const VerifyFlags *flags = run->settings;
  for (int k = RF_CLAIM_IDENTITY; flags->kind && k <= RF_CLAIM_TABLE; k++)
    if (strcmp(flags->kind, rf_claim_kind_name((RfClaimKind)k)) == 0) return RF_OK;
  return flags->kind ? rf_fail(&run->context, RF_ERR_USAGE, "--kind %s: no such kind of claim", flags->kind)
                     : RF_OK;
}

static RfStatus choose(CliRun *run, Selection *chosen) {
  rf_index all = rf_claims_count();
  bool *matched = RF_NEW(bool, run->n_arguments);
  RfStatus status = check_kind(run);
  chosen->claims = RF_NEW(const RfClaim *, all);
  chosen->results = RF_NEW(RfClaimResult, all);
  if (!matched || !chosen->claims || !chosen->results)
    status = rf_fail(&run->context, RF_ERR_MEMORY, "out of memory");
  for (rf_index k = 0; k < all && !status; k++)
    if (wanted(run, rf_claim_at(k), matched)) chosen->claims[chosen->count++] = rf_claim_at(k);
  for (int k = 0; k < run->n_arguments && !status; k++)
    if (!matched[k])
      status = rf_fail(&run->context, RF_ERR_USAGE, "%s: no such claim; see reluflow verify --list",
                       run->arguments[k]);
  rf_free(matched);
  return status;
}

static void list_page(RfText *page, const Selection *chosen) {
  RfTable table;
  rf_table_init(&table, "llll", "id|kind|where|what is claimed");
  for (rf_index k = 0; k < chosen->count; k++) {
    rf_table_cell(&table, "%s", chosen->claims[k]->id);
    rf_table_cell(&table, "%s", rf_claim_kind_name(chosen->claims[k]->kind));
    rf_table_cell(&table, "%s", chosen->claims[k]->where);
    rf_table_cell(&table, "%s", chosen->claims[k]->title);
  }
  rf_table_print(page, &table, 0);
  rf_table_free(&table);
}

static const char *printed_text(RfPrintedForm printed) {
  return printed == RF_PRINTED_PASS ? "pass" : printed == RF_PRINTED_FAIL ? "fail" : NULL;
}

static void misprints_json(RfJson *json, const RfClaimResult *result) {
  rf_json_array(json, "misprints");
  for (rf_index k = 0; k < result->n_misprints; k++) {
    const RfMisprintEvidence *evidence = &result->misprints[k];
    rf_json_object(json, NULL);
    rf_json_string(json, "id", evidence->misprint->id);
    rf_json_string(json, "where", evidence->misprint->where);
    rf_json_string(json, "printed", evidence->misprint->printed);
    rf_json_string(json, "corrected", evidence->misprint->corrected);
    rf_json_string(json, "what", evidence->what);
    rf_json_number(json, "printed_value", evidence->printed);
    rf_json_number(json, "corrected_value", evidence->corrected);
    rf_json_number(json, "observed", evidence->observed);
    rf_json_boolean(json, "printed_holds", evidence->printed_holds);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void results_json(RfJson *json, const Selection *chosen, bool ran, const rf_index *counts) {
  rf_json_array(json, "claims");
  for (rf_index k = 0; k < chosen->count; k++) {
    const RfClaim *claim = chosen->claims[k];
    const RfClaimResult *r = &chosen->results[k];
    rf_json_object(json, NULL);
    rf_json_string(json, "id", claim->id);
    rf_json_string(json, "paper", claim->paper);
    rf_json_string(json, "title", claim->title);
    rf_json_string(json, "kind", rf_claim_kind_name(claim->kind));
    rf_json_number(json, "predicted", ran ? r->predicted : NAN);
    rf_json_number(json, "observed", ran ? r->observed : NAN);
    rf_json_number(json, "error", ran ? r->error : NAN);
    rf_json_number(json, "tolerance", ran ? r->tolerance : NAN);
    rf_json_string(json, "compared", ran && r->checks ? r->compared : NULL);
    rf_json_integer(json, "checks", r->checks);
    rf_json_number(json, "tightness", ran ? r->tightness : NAN);
    rf_json_string(json, "verdict", ran ? rf_claim_verdict_name(r->verdict) : "skipped");
    rf_json_string(json, "printed_form", printed_text(r->printed));
    misprints_json(json, r);
    rf_json_string(json, "note", ran ? r->note : "not run: --list");
    rf_json_number(json, "seconds", r->seconds);
    rf_json_end(json);
  }
  rf_json_end(json);
  rf_json_integer(json, "passed", counts[RF_CLAIM_PASS]);
  rf_json_integer(json, "failed", counts[RF_CLAIM_FAIL]);
  rf_json_integer(json, "skipped", counts[RF_CLAIM_SKIPPED]);
}

static void number_cell(RfTable *table, double value, int digits) {
  if (isnan(value))
    rf_table_cell(table, "%s", "");
  else
    rf_table_cell(table, "%.*g", digits, value);
}

static void fill_table(RfTable *table, const Selection *chosen) {
  rf_table_init(table, "llrrrrll",
                "id|verdict|predicted|observed|error|allowed|printed form|what is claimed");
  for (rf_index k = 0; k < chosen->count; k++) {
    const RfClaimResult *r = &chosen->results[k];
    const char *printed = printed_text(r->printed);
    rf_table_cell(table, "%s", chosen->claims[k]->id);
    rf_table_cell(table, "%s", rf_claim_verdict_name(r->verdict));
    number_cell(table, r->predicted, 7);
    number_cell(table, r->observed, 7);
    number_cell(table, r->error, 2);
    number_cell(table, r->tolerance, 2);
    rf_table_cell(table, "%s", printed ? printed : "");
    rf_table_cell(table, "%s", chosen->claims[k]->title);
  }
}

static void results_page(CliRun *run, const Selection *chosen, const rf_index *counts) {
  RfTable table;
  fill_table(&table, chosen);
  rf_table_print(&run->page, &table, 0);
  rf_table_free(&table);
  for (rf_index k = 0; k < chosen->count; k++)
    if (chosen->results[k].verdict != RF_CLAIM_PASS)
      rf_text_addf(&run->page, "%s: %s\n", chosen->claims[k]->id, chosen->results[k].note);
  rf_text_addf(&run->page, "%lld passed, %lld failed, %lld skipped\n", (long long)counts[RF_CLAIM_PASS],
               (long long)counts[RF_CLAIM_FAIL], (long long)counts[RF_CLAIM_SKIPPED]);
}

static void count_verdicts(rf_index *counts, const Selection *chosen) {
  counts[0] = counts[1] = counts[2] = 0;
  for (rf_index k = 0; k < chosen->count; k++) counts[chosen->results[k].verdict]++;
}

/* ---- what is known so far, on disk ------------------------------------------------------------------- */

/* The files asked for are renewed while the claims run, whole each time: nothing that has ended is lost,
 * however the program ends. */
typedef struct Snapshot {
  CliRun *run;
  const Selection *chosen;
  double last; /* clock of the last writing */
} Snapshot;

static RfStatus write_json(CliRun *run, const Selection *chosen) {
  RfContext *context = &run->context;
  RfJson *json = NULL;
  RfText object = {0};
  rf_index counts[3];
  count_verdicts(counts, chosen);
  RfStatus status = rf_json_new(context, &json, "verify");
  if (!status) {
    results_json(json, chosen, true, counts);
    status = rf_json_finish(context, &object, json);
  }
  if (!status) status = rf_file_write(context, run->common.output, rf_text_string(&object), object.length);
  rf_json_free(json);
  rf_text_free(&object);
  return status;
}

static void on_result(void *user, const RfClaimResult *results, rf_index count) {
  Snapshot *snapshot = user;
  CliRun *run = snapshot->run;
  RfText page = {0};
  RfStatus status = RF_OK;
  if (rf_clock_seconds() - snapshot->last < 2) return;
  snapshot->last = rf_clock_seconds();
  if (run->common.output && run->json) status = write_json(run, snapshot->chosen);
  if (run->common.report) {
    rf_claims_html(&page, results, count);
    if (!page.failed && !status)
      status = rf_file_write(&run->context, run->common.report, rf_text_string(&page), page.length);
    rf_text_free(&page);
  }
  if (status < 0) run->context.error[0] = '\0'; /* the final writing says what is wrong */
}

static int verify_run(CliRun *run) {
  const VerifyFlags *flags = run->settings;
  Selection chosen = {0};
  rf_index counts[3] = {0};
  RfClaimSettings settings = rf_claim_settings_default();
  settings.quick = flags->quick, settings.heavy = flags->heavy, settings.seeds = flags->seeds;
  settings.first_seed = run->common.seed, settings.data_dir = run->context.data_dir;
  settings.svg_dir = run->common.svg, settings.pictures = run->common.report != NULL;
  Snapshot snapshot = {.run = run, .chosen = &chosen, .last = rf_clock_seconds()};
  settings.on_result = on_result, settings.user = &snapshot;
  RfStatus status = choose(run, &chosen);
  if (!status && flags->list) counts[RF_CLAIM_SKIPPED] = chosen.count;
  if (!status && !flags->list) {
    status = rf_claims_run(&run->context, chosen.results, chosen.claims, chosen.count, &settings);
    count_verdicts(counts, &chosen);
    if (status >= 0 && run->common.svg) {
      RfStatus indexed = rf_claims_index(&run->context, run->common.svg);
      if (indexed < 0) status = indexed;
    }
  }
  if (status >= 0) {
    if (run->json) results_json(run->json, &chosen, !flags->list, counts);
    if (run->wants_page && flags->list) list_page(&run->page, &chosen);
    if (run->wants_page && !flags->list) results_page(run, &chosen, counts);
    if (run->common.report && !flags->list) rf_claims_html(&run->html, chosen.results, chosen.count);
  }
  for (rf_index k = 0; chosen.results && k < chosen.count; k++) rf_claim_result_free(&chosen.results[k]);
  rf_free(chosen.claims), rf_free(chosen.results);
  int exit_status = cli_finish(run, status);
  return exit_status == CLI_DONE && counts[RF_CLAIM_FAIL] ? CLI_DOES_NOT_HOLD : exit_status;
}

const CliCommand cli_verify = {
    .name = "verify",
    .arguments = "[ID...]",
    .summary = "run the papers' claims and compare",
    .description =
        "Runs claims of the five papers: what is predicted, what is observed, and whether the form printed "
        "in the paper "
        "holds. Without an ID all of them; IDs may be a paper (VSS), an id (VSS-07) or a pattern (VSS-1*).",
    .options = options,
    .settings_size = sizeof(VerifyFlags),
    .min_arguments = 0,
    .max_arguments = 64,
    .examples = "reluflow verify --list # what there is\nreluflow verify VSS-0* --report ledger.html\n"
                "reluflow verify --report ledger.html --svg figures # everything, and every figure",
    .run = verify_run,
};
