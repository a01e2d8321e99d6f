/* `reluflow sweep`: populations of runs, and what is done with their store. */
#include "cli/sweep_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct SweepFlags {
  const char *store, *zip, *where, *status, *csv, *npz;
  rf_index workers, sample;
  bool dry_run, keep_json;
} SweepFlags;

#define FIELD(name) offsetof(SweepFlags, name)
#define WORKERS_OPTION                                                                                       \
  { "--workers", CLI_INDEX, FIELD(workers), "N", NULL, 1, 0, "worker processes; default: one per core" }

static const CliOption make_options[] = {
    {"--store", CLI_TEXT, FIELD(store), "FILE.db", NULL, 0, 0,
     "the SQLite file that the results go to; a store of the same sweep is resumed"},
    WORKERS_OPTION,
    {"--zip", CLI_TEXT, FIELD(zip), "NAMES", NULL, 0, 0,
     "parameters that advance together instead of being multiplied: scale,width; several such groups: "
     "a,b+c,d"},
    {"--where", CLI_TEXT, FIELD(where), "EXPRESSION", NULL, 0, 0,
     "keep the cells for which this SQL expression of the parameters holds: n>d and scale<>'limit'"},
    {"--dry-run", CLI_FLAG, FIELD(dry_run), NULL, NULL, 0, 0,
     "list the cells and estimate the time from a few of them; nothing is stored"},
    {"--keep-json", CLI_FLAG, FIELD(keep_json), NULL, NULL, 0, 0,
     "keep the whole JSON object of every cell, compressed, in the column json"},
    {0},
};

static const CliOption resume_options[] = {WORKERS_OPTION, {0}};

static const CliOption retry_options[] = {
    {"--status", CLI_TEXT, FIELD(status), "STATUS", NULL, 0, 0,
     "cells to run again: undecided, timeout, crashed, killed, refused, does-not-hold or holds"},
    WORKERS_OPTION,
    {0},
};

static const CliOption export_options[] = {
    {"--csv", CLI_TEXT, FIELD(csv), "FILE", NULL, 0, 0, "all columns but json as comma-separated values"},
    {"--npz", CLI_TEXT, FIELD(npz), "FILE", NULL, 0, 0, "all columns but json as NumPy arrays"},
    {0},
};

static rf_index workers_of(const SweepFlags *flags) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return flags->workers > 0 ? flags->workers : cores > 0 ? cores : 1;
}

/* ---- what the pages say ----------------------------------------------------------------------- */

static const char *const status_names[] = {"holds",   "does-not-hold", "undecided", "timeout",
                                           "refused", "crashed",       "killed",    "pending"};

static void counts_of(rf_index out[8], const SweepCounts *counts) {
  const rf_index all[8] = {counts->holds,   counts->does_not_hold, counts->undecided, counts->timeout,
                           counts->refused, counts->crashed,       counts->killed,    counts->pending};
  memcpy(out, all, sizeof all);
}

static void counts_json(RfJson *json, const char *path, const char *command, const SweepCounts *counts) {
  rf_index all[8];
  counts_of(all, counts);
  rf_json_string(json, "store", path);
  rf_json_string(json, "command", command);
  rf_json_integer(json, "cells", counts->total);
  rf_json_object(json, "status");
  for (int k = 0; k < 8; k++) /* members of an object are names: no dashes */
    rf_json_integer(json, k == 1 ? "does_not_hold" : status_names[k], all[k]);
  rf_json_end(json);
  rf_json_integer(json, "incidents", counts->incidents);
  rf_json_number(json, "cell_seconds", counts->seconds);
}

static void counts_page(RfText *page, const char *path, const SweepCounts *counts) {
  rf_index all[8];
  counts_of(all, counts);
  rf_text_styled(page, RF_BOLD, path);
  rf_text_addf(page, "  %lld cells", (long long)counts->total);
  for (int k = 0; k < 8; k++)
    if (all[k]) rf_text_addf(page, ", %lld %s", (long long)all[k], status_names[k]);
  rf_text_add(page, "\n");
  rf_index ended = counts->total - counts->pending;
  if (ended > 0)
    rf_text_addf(page, "  %.4g s of work, %.4g s a cell\n", counts->seconds, counts->seconds / (double)ended);
  if (counts->incidents)
    rf_text_addf(page, "  %lld workers lost on the way (table incidents)\n", (long long)counts->incidents);
  if (counts->pending + counts->killed > 0)
    rf_text_addf(page, "  reluflow sweep resume %s runs what is left\n", path);
}

/* ---- running ---------------------------------------------------------------------------------- */

/* Runs what is open and reports. RF_INFEASIBLE (exit 1) when cells are left without an answer. */
static RfStatus run_store(CliRun *run, SweepStore *store, const SweepPlan *plan, const char *path,
                          const SweepSpec *spec, const SweepRanks *ranks) {
  RfContext *context = &run->context;
  SweepCounts counts = {0};
  rf_index workers = ranks ? sweep_ranks_size(ranks) - 1 : workers_of(run->settings);
  double started = rf_clock_seconds();
  RfStatus status = ranks ? sweep_ranks_run(context, ranks, store, plan, spec)
                          : sweep_run(context, store, plan, workers, spec->keep_json);
  if (status < 0) return status;
  RfStatus counted = sweep_store_counts(context, store, &counts);
  if (counted) return counted;
  if (run->json) {
    counts_json(run->json, path, plan->command->name, &counts);
    rf_json_integer(run->json, "workers", workers);
    rf_json_number(run->json, "seconds", rf_clock_seconds() - started);
  }
  if (run->wants_page) counts_page(&run->page, path, &counts);
  bool left = counts.crashed + counts.killed + counts.refused > 0;
  return status == RF_OK && left ? RF_INFEASIBLE : status;
}

static RfStatus copy_spec(RfContext *context, SweepSpec *spec, const CliRun *run) {
  const SweepFlags *flags = run->settings;
  bool fine = true;
  spec->command = rf_copy_text(run->rest[0]);
  spec->zip = flags->zip ? rf_copy_text(flags->zip) : NULL;
  spec->where = flags->where ? rf_copy_text(flags->where) : NULL;
  spec->keep_json = flags->keep_json;
  for (int k = 1; k < run->n_rest && fine; k++) {
    rf_index count = spec->words.count;
    char **items = rf_resize(spec->words.items, count + 1, sizeof *items);
    if (items) spec->words.items = items, spec->words.capacity = count + 1;
    fine = items && (items[count] = rf_copy_text(run->rest[k]));
    spec->words.count += fine;
  }
  return fine && spec->command ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory");
}

static void dry_run(CliRun *run, const SweepPlan *plan) {
  const rf_index most = run->json ? 1000 : 20, workers = workers_of(run->settings);
  double seconds = sweep_plan_seconds(&run->context, plan, 10);
  RfText line = {0};
  if (run->json) {
    rf_json_string(run->json, "command", plan->command->name);
    rf_json_integer(run->json, "cells", plan->n_cells);
    rf_json_integer(run->json, "workers", workers);
    rf_json_number(run->json, "estimate", seconds / (double)workers);
    rf_json_array(run->json, "plan");
  }
  for (rf_index cell = 0; cell < plan->n_cells && cell < most; cell++) {
    line.length = 0;
    sweep_plan_line(&line, plan, cell);
    if (run->json) {
      rf_json_object(run->json, NULL);
      rf_json_integer(run->json, "id", cell);
      rf_json_string(run->json, "command", rf_text_string(&line));
      rf_json_end(run->json);
    }
    if (run->wants_page) rf_text_addf(&run->page, "%6lld  %s\n", (long long)cell, rf_text_string(&line));
  }
  if (run->json) rf_json_end(run->json);
  if (run->wants_page && plan->n_cells > most)
    rf_text_addf(&run->page, "        and %lld more\n", (long long)(plan->n_cells - most));
  if (run->wants_page && !(seconds >= 0))
    rf_text_addf(&run->page, "%lld cells; those that were tried had no result\n", (long long)plan->n_cells);
  else if (run->wants_page)
    rf_text_addf(&run->page, "%lld cells, about %.3g s of work: %.3g s on %lld workers\n",
                 (long long)plan->n_cells, seconds, seconds / (double)workers, (long long)workers);
  if (line.failed) run->page.failed = true;
  rf_text_free(&line);
}

static RfStatus make_store(CliRun *run, const SweepRanks *ranks) {
  const SweepFlags *flags = run->settings;
  RfContext *context = &run->context;
  SweepCommand command;
  SweepPlan plan = {0};
  SweepSpec spec = {0};
  SweepStore *store = NULL;
  RfStatus status = sweep_command_named(context, &command, run->n_rest ? run->rest[0] : NULL);
  if (!status && !flags->store && !flags->dry_run)
    status = rf_fail(context, RF_ERR_USAGE, "sweep needs --store FILE.db (or --dry-run)");
  if (!status)
    status =
        sweep_plan_new(context, &plan, &command, run->n_rest - 1, run->rest + 1, flags->zip, flags->where);
  if (!status && flags->dry_run) {
    dry_run(run, &plan);
  } else if (!status) {
    status = copy_spec(context, &spec, run);
    if (!status) status = sweep_store_create(context, &store, flags->store, &plan, &spec);
    if (!status) status = run_store(run, store, &plan, flags->store, &spec, ranks);
    RfStatus closed = sweep_store_close(context, store);
    if (status >= 0 && closed) status = closed;
  }
  sweep_spec_free(&spec);
  sweep_plan_free(&plan);
  return status;
}

/* Rank 0, or the only process, does the work of the command; the other ranks serve it and say nothing. */
static int among_ranks(CliRun *run, RfStatus (*work)(CliRun *run, const SweepRanks *ranks)) {
  SweepRanks *ranks = NULL;
  RfStatus status = sweep_ranks_open(&run->context, &ranks);
  if (!status && ranks && sweep_ranks_rank(ranks) > 0) {
    run->common.json = false, run->common.quiet = true, run->common.output = NULL;
    status = sweep_ranks_serve(&run->context, ranks, sweep_command_named);
  } else if (!status) {
    status = work(run, ranks);
  }
  sweep_ranks_close(ranks);
  return cli_finish(run, status);
}

static int make_run(CliRun *run) { return among_ranks(run, make_store); }

const CliCommand cli_sweep = {
    .name = "sweep",
    .arguments = "COMMAND DATA ...",
    .summary = "a population of runs into one store",
    .description = "Runs a command for every combination of values: lists a,b,c (in DATA and inside a value "
                   "{a,b,c}), ranges a..b and "
                   "a..b..step, log(a..b..k) for k values in equal ratios. Parameters and scalar results "
                   "become the columns of one "
                   "SQLite file; --seed, --time and the like belong to the cells. Worker processes share the "
                   "work; one that is killed "
                   "costs its cell one retry. Ctrl-C leaves a store that can be resumed.",
    .options = make_options,
    .settings_size = sizeof(SweepFlags),
    .examples =
        "reluflow sweep flow gen:orthant,n={20,40},d=4 --scale 1e-2,1e-4,limit --seed 0..99 --store r.db\n"
        "reluflow sweep maxmargin gen:gaussian,n=20,d=3,seed=0..49 --store best.db --dry-run\n",
    .foreign = sweep_foreign_words,
    .run = make_run,
};

/* The sweep of an existing store, opened for writing. */
typedef struct Opened {
  SweepCommand command;
  SweepSpec spec;
  SweepPlan plan;
  SweepStore *store;
} Opened;

static RfStatus open_store(CliRun *run, Opened *opened, bool read_only) {
  RfContext *context = &run->context;
  RfStatus status = sweep_store_open(context, &opened->store, &opened->spec, run->arguments[0], read_only);
  SweepSpec *spec = &opened->spec;
  if (!status) status = sweep_command_named(context, &opened->command, spec->command);
  if (!status)
    status = sweep_plan_new(context, &opened->plan, &opened->command, (int)spec->words.count,
                            spec->words.items, spec->zip, spec->where);
  if (!status && !read_only) status = sweep_store_adapt(context, opened->store, &opened->plan);
  return status;
}

static RfStatus close_store(CliRun *run, Opened *opened, RfStatus status) {
  RfStatus closed = sweep_store_close(&run->context, opened->store);
  sweep_plan_free(&opened->plan);
  sweep_spec_free(&opened->spec);
  return status >= 0 && closed ? closed : status;
}

static RfStatus resume_store(CliRun *run, const SweepRanks *ranks) {
  Opened opened = {0};
  RfStatus status = open_store(run, &opened, false);
  if (!status) status = run_store(run, opened.store, &opened.plan, run->arguments[0], &opened.spec, ranks);
  return close_store(run, &opened, status);
}

static int resume_run(CliRun *run) { return among_ranks(run, resume_store); }

static RfStatus retry_store(CliRun *run, const SweepRanks *ranks) {
  const SweepFlags *flags = run->settings;
  Opened opened = {0};
  rf_index count = 0;
  if (!flags->status || !sweep_status_is_known(flags->status))
    return rf_fail(
        &run->context, RF_ERR_USAGE,
        "--status %s: expected undecided, timeout, crashed, killed, refused, does-not-hold or holds",
        flags->status ? flags->status : "");
  RfStatus status = open_store(run, &opened, false);
  if (!status) status = sweep_store_reopen(&run->context, opened.store, flags->status, &count);
  if (!status) status = run_store(run, opened.store, &opened.plan, run->arguments[0], &opened.spec, ranks);
  return close_store(run, &opened, status);
}

static int retry_run(CliRun *run) { return among_ranks(run, retry_store); }

static int status_run(CliRun *run) {
  SweepSpec spec = {0};
  SweepStore *store = NULL;
  SweepCounts counts;
  RfStatus status = sweep_store_open(&run->context, &store, &spec, run->arguments[0], true);
  if (!status) status = sweep_store_counts(&run->context, store, &counts);
  if (!status && run->json) counts_json(run->json, run->arguments[0], spec.command, &counts);
  if (!status && run->wants_page) counts_page(&run->page, run->arguments[0], &counts);
  sweep_spec_free(&spec);
  sweep_store_close(&run->context, store);
  return cli_finish(run, status);
}

const CliCommand cli_sweep_status = {
    .name = "sweep status",
    .arguments = "FILE.db",
    .summary = "how far a sweep is",
    .description = "Counts the cells of a store by status; while it runs, too.",
    .min_arguments = 1,
    .max_arguments = 1,
    .fields = "sweep",
    .run = status_run,
};

const CliCommand cli_sweep_resume = {
    .name = "sweep resume",
    .arguments = "FILE.db",
    .summary = "run the cells that have no result yet",
    .description =
        "Runs the cells of a store that are pending, or whose workers were killed twice. The store says what "
        "was asked for.",
    .options = resume_options,
    .settings_size = sizeof(SweepFlags),
    .min_arguments = 1,
    .max_arguments = 1,
    .fields = "sweep",
    .run = resume_run,
};

const CliCommand cli_sweep_retry = {
    .name = "sweep retry",
    .arguments = "FILE.db",
    .summary = "run the cells of one status again",
    .description =
        "Forgets the results of all cells of a status and runs them again, with whatever else is open.",
    .options = retry_options,
    .settings_size = sizeof(SweepFlags),
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "reluflow sweep retry runs.db --status undecided\n",
    .fields = "sweep",
    .run = retry_run,
};

/* ---- export ----------------------------------------------------------------------------------- */

static int export_run(CliRun *run) {
  const SweepFlags *flags = run->settings;
  RfContext *context = &run->context;
  SweepSpec spec = {0};
  SweepStore *store = NULL;
  SweepCounts counts;
  if (!flags->csv && !flags->npz)
    return cli_finish(run, rf_fail(context, RF_ERR_USAGE, "sweep export needs --csv FILE or --npz FILE"));
  RfStatus status = sweep_store_open(context, &store, &spec, run->arguments[0], true);
  if (!status) status = sweep_store_counts(context, store, &counts);
  if (!status && flags->csv) status = sweep_store_export_csv(context, store, flags->csv);
  if (!status && flags->npz) status = sweep_store_export_npz(context, store, flags->npz);
  if (!status && run->json) {
    rf_json_string(run->json, "store", run->arguments[0]);
    rf_json_integer(run->json, "cells", counts.total);
    rf_json_string(run->json, "csv", flags->csv);
    rf_json_string(run->json, "npz", flags->npz);
  }
  sweep_spec_free(&spec);
  sweep_store_close(context, store);
  return cli_finish(run, status);
}

const CliCommand cli_sweep_export = {
    .name = "sweep export",
    .arguments = "FILE.db",
    .summary = "a store as CSV or NumPy arrays",
    .description =
        "Writes the table of cells, one row per cell in the order of their numbers, whatever their status.",
    .options = export_options,
    .settings_size = sizeof(SweepFlags),
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "reluflow sweep export runs.db --csv runs.csv --npz runs.npz\n",
    .run = export_run,
};

/* ---- show ------------------------------------------------------------------------------------- */

static const char *output_of(const CliRun *run) { return run->common.report; }

/* Repeats the cell; its page becomes ours. */
static RfStatus repeat_cell(CliRun *run, const Opened *opened, rf_index cell, char digest[72], RfText *line) {
  RfContext *context = &run->context;
  SweepTexts words = {0};
  CliRun inner;
  RfText json = {0};
  RfStatus status = sweep_plan_words(context, &words, &opened->plan, cell);
  if (status) return status;
  sweep_plan_line(line, &opened->plan, cell);
  status = cli_open(&inner, opened->command.user, (int)words.count, words.items);
  inner.common.report = output_of(run);
  inner.width = run->width, inner.wants_page = run->wants_page, inner.page.colour = run->page.colour;
  inner.context.threads = (int)inner.common.threads;
  inner.context.cancel = context->cancel;
  if (cli_given(&inner, "--time")) inner.context.deadline = rf_clock_seconds() + inner.common.time;
  if (!status) status = rf_json_new(&inner.context, &inner.json, opened->command.table);
  if (!status) inner.command->run(&inner);
  if (!status) status = inner.failed ? inner.status : cli_finish_json(&inner, &json);
  if (status) rf_fail(context, status, "%s", inner.context.error);
  if (!status) status = sweep_digest(context, digest, rf_text_string(&json), json.length);
  if (!status) {
    rf_text_add_bytes(&run->page, rf_text_string(&inner.page), inner.page.length);
    rf_text_add_bytes(&run->html, rf_text_string(&inner.html), inner.html.length);
  }
  rf_text_free(&json);
  cli_close(&inner);
  sweep_texts_free(&words);
  return status;
}

static int show_run(CliRun *run) {
  Opened opened = {0};
  char name[32], stored[72], digest[72] = "";
  RfText line = {0};
  char *end;
  long long cell = strtoll(run->arguments[1], &end, 10);
  if (*end || cell < 0 || end == run->arguments[1])
    return cli_finish(
        run, rf_fail(&run->context, RF_ERR_USAGE, "%s: expected the number of a cell", run->arguments[1]));
  RfStatus status = open_store(run, &opened, true);
  if (!status) status = sweep_store_cell(&run->context, opened.store, cell, name, stored);
  if (!status) status = repeat_cell(run, &opened, cell, digest, &line);
  bool same = strcmp(stored, digest) == 0;
  if (!status && run->json) {
    rf_json_integer(run->json, "id", cell);
    rf_json_string(run->json, "command", rf_text_string(&line));
    rf_json_string(run->json, "status", name);
    rf_json_string(run->json, "stored", stored[0] ? stored : NULL);
    rf_json_string(run->json, "digest", digest);
    if (stored[0]) rf_json_boolean(run->json, "same", same);
    if (!stored[0]) rf_json_null(run->json, "same");
  }
  if (!status && run->wants_page) {
    const char *told = !stored[0] ? "the store has no result to compare with"
                       : same     ? "the same result as in the store"
                                  : "NOT the same result as in the store";
    rf_text_addf(&run->page, "\ncell %lld (%s): %s\n  reluflow %s\n", cell, name, told,
                 rf_text_string(&line));
  }
  rf_text_free(&line);
  status = close_store(run, &opened, status);
  return cli_finish(run, !status && stored[0] && !same ? RF_INFEASIBLE : status);
}

const CliCommand cli_sweep_show = {
    .name = "sweep show",
    .arguments = "FILE.db ID",
    .summary = "repeat one cell and show its page",
    .description = "Runs the cell again as its command would, with its page on the terminal and, with "
                   "--report, its HTML "
                   "page; then says whether the answer is the one in the store, to the bit.",
    .min_arguments = 2,
    .max_arguments = 2,
    .examples = "reluflow sweep show runs.db 17 --report cell17.html\n",
    .has_report = true,
    .run = show_run,
};
