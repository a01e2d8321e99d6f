/* Commands as the cells of a sweep: how their flags read, and one run of them without a terminal. */
#include "cli/sweep_cells.h"
#include "cli/train.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const CliCommand *command;
  const char *arguments; /* names of the parameters that its arguments are */
} sweepable[] = {
    {&cli_flow, "data"},  {&cli_maxmargin, "data"}, {&cli_certify, "data model"}, {&cli_inspect, "data"},
    {&cli_train, "data"}, {&cli_explain, "data"},   {&cli_verify, "claim"},
};

static const CliCommand *command_named(const char *name) {
  for (size_t k = 0; k < sizeof sweepable / sizeof sweepable[0]; k++)
    if (strcmp(sweepable[k].command->name, name) == 0) return sweepable[k].command;
  return NULL;
}

static const CliOption *option_in(const CliOption *options, const char *flag) {
  for (; options && options->name; options++)
    if (strcmp(options->name, flag) == 0) return options;
  return NULL;
}

static SweepFlagKind kind_of(const void *user, const char *flag) {
  static const char *const refused[] = {"-o",    "--json",   "--quiet",      "--report",
                                        "--svg", "--resume", "--checkpoint", "--proof"};
  const CliCommand *command = user;
  const CliOption *option = option_in(command->options, flag);
  if (!option && command->takes_data) option = option_in(cli_data_options, flag);
  if (!option) option = option_in(cli_common_options, flag);
  if (!option || flag[1] != '-') return SWEEP_FLAG_UNKNOWN;
  for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++)
    if (strcmp(flag, refused[k]) == 0) return SWEEP_FLAG_REFUSED;
  if (option->kind == CLI_FLAG) return SWEEP_FLAG_PLAIN;
  if (option->kind != CLI_TEXT)
    return option->kind == CLI_CHOICE || option->kind == CLI_BYTES ? SWEEP_FLAG_TEXT : SWEEP_FLAG_NUMBER;
  bool commas = strchr(option->argument, ',') || strcmp(flag, "--map") == 0;
  return commas ? SWEEP_FLAG_COMMAS : SWEEP_FLAG_TEXT;
}

static RfStatus check(const void *user, RfContext *context, int count, char **words) {
  CliRun run;
  RfStatus status = cli_open(&run, user, count, words);
  if (status) rf_fail(context, status, "%s", run.context.error);
  cli_close(&run);
  return status;
}

/* Fills the answer from an opened run. */
static RfStatus answer_from(CliRun *run, SweepAnswer *answer) {
  RfContext *context = &run->context;
  const char *table = run->command->fields ? run->command->fields : run->command->name;
  run->width = 96;
  context->threads = run->common.threads > 1024 ? 1024 : (int)run->common.threads;
  if (cli_given(run, "--time")) context->deadline = rf_clock_seconds() + run->common.time;
  RfStatus status = rf_json_new(context, &run->json, table);
  if (status) return status;
  answer->exit_status = run->command->run(run);
  return run->failed ? run->status : rf_json_finish(context, &answer->json, run->json);
}

void cli_run_cell(const CliCommand *command, SweepAnswer *answer, int count, char **words,
                  const RfTrainResult *trained) {
  CliRun run;
  RfStatus status = cli_open(&run, command, count, words);
  run.trained = trained;
  if (!status) status = answer_from(&run, answer);
  if (status < 0) {
    const char *error = run.context.error[0] ? run.context.error : rf_status_name(status);
    answer->failed = true;
    answer->exit_status = run.stopped_reading ? CLI_INTERRUPTED : cli_exit_status(status);
    rf_format(answer->error, sizeof answer->error, "%s", error);
  }
  cli_close(&run);
}

static void run_cell(const void *user, SweepAnswer *answer, int count, char **words) {
  cli_run_cell(user, answer, count, words, NULL);
}

RfStatus sweep_command_named(RfContext *context, SweepCommand *out, const char *name) {
  for (size_t k = 0; name && k < sizeof sweepable / sizeof sweepable[0]; k++) {
    const CliCommand *command = sweepable[k].command;
    if (strcmp(command->name, name) != 0) continue;
    *out = (SweepCommand){command->name,
                          command->fields ? command->fields : command->name,
                          sweepable[k].arguments,
                          kind_of,
                          check,
                          run_cell,
                          command,
                          NULL,
                          NULL,
                          NULL};
    if (command == &cli_train)
      out->together = "device", out->apart = "cpu", out->run_together = cli_train_together;
    return RF_OK;
  }
  return rf_fail(
      context, RF_ERR_USAGE,
      "sweep %s: expected flow, maxmargin, certify, inspect, train, explain or verify, then its words",
      name ? name : "");
}

int sweep_foreign_words(int count, char **words, int at) {
  static const char *const own[] = {"--json", "-o", "--quiet"};
  const CliCommand *command = command_named(words[0]);
  const char *word = words[at];
  char flag[64];
  if (at == 0 || word[0] != '-' || word[1] == '\0') return at > 0 || word[0] != '-';
  rf_format(flag, sizeof flag, "%.*s", (int)(strcspn(word, "=") > 60 ? 60 : strcspn(word, "=")), word);
  for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
    if (strcmp(flag, own[k]) == 0) return 0;
  if (option_in(cli_sweep.options, flag)) return 0;
  if (!command) return 1;
  bool takes_value = kind_of(command, flag) > SWEEP_FLAG_PLAIN || strcmp(flag, "--report") == 0 ||
                     strcmp(flag, "--svg") == 0;
  return takes_value && !strchr(word, '=') && at + 1 < count ? 2 : 1;
}
