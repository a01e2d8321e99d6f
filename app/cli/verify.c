/* `reluflow verify [ID...]`: the claims of the papers, run. */
#include "cli/cli.h"
#include "kit/claims.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct VerifyFlags {
  bool list, quick, heavy;
  const char *kind;
  rf_index seeds, times, seeds_from;
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
    {"--times", CLI_INDEX, offsetof(VerifyFlags, times), "K", "1", 1, 1000,
     "run the claims from K seeds far from each other and show a table claim x seed"},
    {"--seeds-from", CLI_INDEX, offsetof(VerifyFlags, seeds_from), "N", NULL, 0, 0,
     "the first of these seeds, like --seed; the others follow from it"},
    {0},
};

typedef struct Selection {
  const RfClaim **claims;
  RfClaimResult *results; /* of `times` runs, one after the other */
  rf_index count, times;
} Selection;

static RfClaimRuns runs_of(const Selection *chosen) {
  return (RfClaimRuns){.results = chosen->results, .count = chosen->count, .times = chosen->times};
}

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
  const VerifyFlags *flags = run->settings;
  rf_index all = rf_claims_count();
  bool *matched = RF_NEW(bool, run->n_arguments);
  RfStatus status = check_kind(run);
  chosen->claims = RF_NEW(const RfClaim *, all);
  if (!matched || !chosen->claims) status = rf_fail(&run->context, RF_ERR_MEMORY, "out of memory");
  for (rf_index k = 0; k < all && !status; k++)
    if (wanted(run, rf_claim_at(k), matched)) chosen->claims[chosen->count++] = rf_claim_at(k);
  for (int k = 0; k < run->n_arguments && !status; k++)
    if (!matched[k])
      status = rf_fail(&run->context, RF_ERR_USAGE, "%s: no such claim; see reluflow verify --list",
                       run->arguments[k]);
  rf_free(matched);
  chosen->times = flags->list ? 1 : flags->times;
  if (!status) chosen->results = RF_NEW(RfClaimResult, chosen->count * chosen->times);
  if (!status && !chosen->results) status = rf_fail(&run->context, RF_ERR_MEMORY, "out of memory");
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

static void counts_json(RfJson *json, const RfClaimResult *result) {
  rf_json_array(json, "counts");
  for (rf_index k = 0; k < result->n_counts; k++) {
    rf_json_object(json, NULL);
    rf_json_string(json, "what", result->counts[k].what);
    rf_json_integer(json, "required", result->counts[k].required);
    rf_json_integer(json, "made", result->counts[k].made);
    rf_json_integer(json, "dropped", result->counts[k].dropped);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void seeds_json(RfJson *json, const Selection *chosen, rf_index k) {
  rf_json_array(json, "seeds");
  for (rf_index j = 0; j < chosen->times; j++) {
    const RfClaimResult *r = &chosen->results[j * chosen->count + k];
    rf_json_object(json, NULL);
    rf_json_integer(json, "seed", (rf_index)r->seed);
    rf_json_string(json, "verdict", rf_claim_verdict_name(r->verdict));
    rf_json_string(json, "note", r->verdict == RF_CLAIM_PASS ? "" : r->note);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void results_json(RfJson *json, const Selection *chosen, bool ran, const rf_index *counts) {
  RfClaimRuns runs = runs_of(chosen);
  rf_json_array(json, "claims");
  for (rf_index k = 0; k < chosen->count; k++) {
    const RfClaim *claim = chosen->claims[k];
    const RfClaimResult *r = rf_claim_worst(&runs, k);
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
    counts_json(json, r);
    if (ran) seeds_json(json, chosen, k);
    rf_json_string(json, "note", ran ? r->note : "not run: --list");
    rf_json_number(json, "seconds", r->seconds);
    rf_json_end(json);
  }
  rf_json_end(json);
  rf_json_integer(json, "passed", counts[RF_CLAIM_PASS]);
  rf_json_integer(json, "failed", counts[RF_CLAIM_FAIL]);
  rf_json_integer(json, "incomplete", counts[RF_CLAIM_INCOMPLETE]);
  rf_json_integer(json, "skipped", counts[RF_CLAIM_SKIPPED]);
}

static void number_cell(RfTable *table, double value, int digits) {
  if (isnan(value))
    rf_table_cell(table, "%s", "");
  else
    rf_table_cell(table, "%.*g", digits, value);
}

static void fill_table(RfTable *table, const Selection *chosen) {
  RfClaimRuns runs = runs_of(chosen);
  rf_table_init(table, "llrrrrll",
                "id|verdict|predicted|observed|error|allowed|printed form|what is claimed");
  for (rf_index k = 0; k < chosen->count; k++) {
    const RfClaimResult *r = rf_claim_worst(&runs, k);
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

/* Claim x seed: a dot for a pass, the verdict otherwise. */
static void seeds_page(RfText *page, const Selection *chosen) {
  RfTable table;
  char align[1024] = "l", header[16384] = "claim";
  size_t used = strlen(header);
  rf_index shown = chosen->times < 1000 ? chosen->times : 1000;
  for (rf_index j = 0; j < shown && used + 24 < sizeof header; j++) {
    align[j + 1] = 'c', align[j + 2] = 0;
    used += (size_t)rf_format(header + used, sizeof header - used, "|%llu",
                              (unsigned long long)chosen->results[j * chosen->count].seed);
  }
  rf_table_init(&table, align, header);
  for (rf_index k = 0; k < chosen->count; k++) {
    rf_table_cell(&table, "%s", chosen->claims[k]->id);
    for (rf_index j = 0; j < shown; j++) {
      RfClaimVerdict verdict = chosen->results[j * chosen->count + k].verdict;
      rf_table_cell(&table, "%s", verdict == RF_CLAIM_PASS ? "." : rf_claim_verdict_name(verdict));
    }
  }
  rf_table_print(page, &table, 0);
  rf_table_free(&table);
}

static void results_page(CliRun *run, const Selection *chosen, const rf_index *counts) {
  RfTable table;
  RfClaimRuns runs = runs_of(chosen);
  fill_table(&table, chosen);
  rf_table_print(&run->page, &table, 0);
  rf_table_free(&table);
  if (chosen->times > 1) seeds_page(&run->page, chosen);
  for (rf_index k = 0; k < chosen->count; k++) {
    const RfClaimResult *r = rf_claim_worst(&runs, k);
    if (r->verdict != RF_CLAIM_PASS) rf_text_addf(&run->page, "%s: %s\n", r->claim->id, r->note);
  }
  rf_text_addf(&run->page, "%lld passed, %lld failed, %lld incomplete, %lld skipped\n",
               (long long)counts[RF_CLAIM_PASS], (long long)counts[RF_CLAIM_FAIL],
               (long long)counts[RF_CLAIM_INCOMPLETE], (long long)counts[RF_CLAIM_SKIPPED]);
}

static void count_verdicts(rf_index *counts, const Selection *chosen) {
  RfClaimRuns runs = runs_of(chosen);
  memset(counts, 0, RF_CLAIM_VERDICTS * sizeof *counts);
  for (rf_index k = 0; k < chosen->count; k++) counts[rf_claim_worst(&runs, k)->verdict]++;
}

/* ---- what is known so far, on disk ------------------------------------------------------------------- */

/* The files asked for are renewed while the claims run, whole each time: nothing that has ended is lost,
 * however the program ends. */
typedef struct Snapshot {
  CliRun *run;
  const Selection *chosen;
  rf_index done; /* runs of all claims that have ended */
  double last;   /* clock of the last writing */
} Snapshot;

static RfStatus write_json(CliRun *run, const Selection *chosen) {
  RfContext *context = &run->context;
  RfJson *json = NULL;
  RfText object = {0};
  rf_index counts[RF_CLAIM_VERDICTS];
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
  Selection known = *snapshot->chosen;
  (void)results, (void)count;
  if (rf_clock_seconds() - snapshot->last < 2) return;
  snapshot->last = rf_clock_seconds(), known.times = snapshot->done + 1;
  RfClaimRuns runs = runs_of(&known);
  if (run->common.output && run->json) status = write_json(run, &known);
  if (run->common.report) {
    rf_claims_html(&page, &runs);
    if (!page.failed && !status)
      status = rf_file_write(&run->context, run->common.report, rf_text_string(&page), page.length);
    rf_text_free(&page);
  }
  if (status < 0) run->context.error[0] = '\0'; /* the final writing says what is wrong */
}

static RfStatus run_all(CliRun *run, Selection *chosen) {
  const VerifyFlags *flags = run->settings;
  uint64_t first = flags->seeds_from > 0 ? (uint64_t)flags->seeds_from : run->common.seed;
  RfClaimSettings settings = rf_claim_settings_default();
  Snapshot snapshot = {.run = run, .chosen = chosen, .last = rf_clock_seconds()};
  RfStatus status = RF_OK;
  settings.quick = flags->quick, settings.heavy = flags->heavy, settings.seeds = flags->seeds;
  settings.data_dir = run->context.data_dir, settings.times = chosen->times;
  settings.svg_dir = run->common.svg, settings.pictures = run->common.report != NULL;
  settings.on_result = on_result, settings.user = &snapshot;
  for (rf_index j = 0; j < chosen->times && status >= 0; j++) {
    settings.first_seed = rf_claim_distant_seed(first, j), snapshot.done = j;
    RfStatus one = rf_claims_run(&run->context, chosen->results + j * chosen->count, chosen->claims,
                                 chosen->count, &settings);
    if (one) status = one;
    settings.svg_dir = NULL; /* the figures are those of the first seed */
  }
  return status;
}

static int verify_run(CliRun *run) {
  const VerifyFlags *flags = run->settings;
  Selection chosen = {0};
  rf_index counts[RF_CLAIM_VERDICTS] = {0};
  RfStatus status = choose(run, &chosen);
  for (rf_index k = 0; !status && k < chosen.count; k++)
    chosen.results[k].claim = chosen.claims[k], chosen.results[k].verdict = RF_CLAIM_SKIPPED;
  if (!status && flags->list) counts[RF_CLAIM_SKIPPED] = chosen.count;
  if (!status && !flags->list) {
    status = run_all(run, &chosen);
    if (status >= 0) count_verdicts(counts, &chosen);
    if (status >= 0 && run->common.svg) {
      RfStatus indexed = rf_claims_index(&run->context, run->common.svg);
      if (indexed < 0) status = indexed;
    }
  }
  if (status >= 0) {
    RfClaimRuns runs = runs_of(&chosen);
    if (run->json) results_json(run->json, &chosen, !flags->list, counts);
    if (run->wants_page && flags->list) list_page(&run->page, &chosen);
    if (run->wants_page && !flags->list) results_page(run, &chosen, counts);
    if (run->common.report && !flags->list) rf_claims_html(&run->html, &runs);
  }
  for (rf_index k = 0; chosen.results && k < chosen.count * chosen.times; k++)
    rf_claim_result_free(&chosen.results[k]);
  rf_free(chosen.claims), rf_free(chosen.results);
  int exit_status = cli_finish(run, status);
  if (exit_status != CLI_DONE) return exit_status;
  return counts[RF_CLAIM_FAIL] ? CLI_DOES_NOT_HOLD : counts[RF_CLAIM_INCOMPLETE] ? CLI_UNDECIDED : CLI_DONE;
}

const CliCommand cli_verify = {
    .name = "verify",
    .arguments = "[ID...]",
    .summary = "run the papers' claims and compare",
    .description =
        "Runs claims of the papers: what is predicted, what is observed, and whether the form printed "
        "in the paper "
        "holds. Without an ID all of them; IDs may be a paper (VSS), an id (VSS-07) or a pattern (VSS-1*). "
        "A claim passes when every comparison it declares was made and held; incomplete when nothing failed "
        "but "
        "less was made. Exit status 1: a claim fails; 3: none fails, some are incomplete.",
    .options = options,
    .settings_size = sizeof(VerifyFlags),
    .min_arguments = 0,
    .max_arguments = 64,
    .examples = "reluflow verify --list # what there is\nreluflow verify VSS-0* --report ledger.html\n"
                "reluflow verify --report ledger.html --svg figures # everything, and every figure\n"
                "reluflow verify --quick --seeds-from 1071 --times 3 # claims x seeds",
    .has_report = true,
    .has_pictures = true,
    .run = verify_run,
};
