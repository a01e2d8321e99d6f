/* The engine of the explorer: commands of the command line inside a page. The page hands over the words of a
 * command and gets its JSON, in which whole arrays are set aside and read from memory as they are. One
 * command at a time; files are those that the page has put into its own memory. */
#include "cli/cli.h"
#include "core/core.h"

#include <emscripten.h>
#include <string.h>

enum { most_words = 128 };

static struct Engine {
  RfText answer, error, warnings;
  RfJsonArrays arrays;
  RfNet start; /* what CLI_MEMORY_MODEL names; no neurons = nothing */
} engine;

/* clang-format off: JavaScript */
EM_JS(void, tell_progress, (const char *phase, double fraction, const char *detail), {
  if (Module.onProgress) Module.onProgress(UTF8ToString(phase), fraction, UTF8ToString(detail));
});
/* clang-format on */

static void on_progress(void *user, const char *phase, double fraction, const char *detail) {
  (void)user;
  tell_progress(phase, fraction, detail);
}

static void on_message(void *user, RfLevel level, const char *text) {
  (void)user;
  if (level == RF_WARNING) rf_text_addf(&engine.warnings, "%s\n", text);
}

/* A start of `m` neurons that `flow --weights "(network)"` takes: m rows of d, then m numbers a. */
EMSCRIPTEN_KEEPALIVE int engine_start(int m, int d, double leak, const double *weights) {
  RfContext context;
  rf_context_init(&context);
  rf_net_free(&engine.start);
  if (m <= 0) return 0;
  RfStatus status = rf_net_new(&context, &engine.start, m, d, leak);
  if (status) return (int)status;
  memcpy(engine.start.W, weights, (size_t)m * (size_t)d * sizeof *weights);
  memcpy(engine.start.a, weights + (size_t)m * (size_t)d, (size_t)m * sizeof *weights);
  return 0;
}

static void forget(void) {
  rf_text_free(&engine.answer), rf_text_free(&engine.error), rf_text_free(&engine.warnings);
  rf_json_arrays_free(&engine.arrays);
}

static int run_opened(CliRun *run) {
  CliMemory memory = {.net = engine.start.m > 0 ? &engine.start : NULL};
  const char *table = run->command->fields ? run->command->fields : run->command->name;
  run->memory = &memory;
  run->width = 80;
  run->context.on_message = on_message, run->context.on_progress = on_progress;
  if (cli_given(run, "--time")) rf_context_limit(&run->context, run->common.time);
  RfStatus status = rf_json_new(&run->context, &run->json, table);
  if (status) return cli_finish(run, status);
  if (!run->common.json) rf_json_set_aside(run->json, &engine.arrays);
  int exit_status = run->command->run(run);
  if (run->failed) return exit_status;
  status = cli_finish_json(run, &engine.answer);
  if (!status && run->common.report)
    status = rf_file_write(&run->context, run->common.report, rf_text_string(&run->html), run->html.length);
  return status ? cli_finish(run, status) : exit_status;
}

/* Runs a command whose words are separated by newlines; its exit status. With --json the answer holds every
 * array as text, as the program prints it; without, arrays are set aside. */
EMSCRIPTEN_KEEPALIVE int engine_run(char *line) {
  char *words[most_words], *rest = line;
  int count = 0, used = 0;
  forget();
  while (rest && count < most_words) {
    words[count++] = rest;
    rest = strchr(rest, '\n');
    if (rest) *rest++ = '\0';
  }
  const CliCommand *command = rest ? NULL : cli_find_command(&used, count, words);
  if (!command) {
    rf_text_addf(&engine.error, "the page has no command %s", words[0]);
    return CLI_BAD_USAGE;
  }
  CliRun run;
  RfStatus status = cli_open(&run, command, count - used, words + used);
  int exit_status = status ? cli_finish(&run, status) : run_opened(&run);
  if (run.failed)
    rf_text_add(&engine.error, run.context.error[0] ? run.context.error : rf_status_name(run.status));
  cli_close(&run);
  return exit_status;
}

EMSCRIPTEN_KEEPALIVE const char *engine_answer(void) { return rf_text_string(&engine.answer); }
EMSCRIPTEN_KEEPALIVE const char *engine_error(void) { return rf_text_string(&engine.error); }
EMSCRIPTEN_KEEPALIVE const char *engine_warnings(void) { return rf_text_string(&engine.warnings); }

/* Array k of the answer: rows, columns (-1: one-dimensional), and where its numbers are; integers are given
 * as doubles would be, 64 bits each, and marked. */
EMSCRIPTEN_KEEPALIVE int engine_arrays(void) { return (int)engine.arrays.count; }
EMSCRIPTEN_KEEPALIVE int engine_rows(int k) { return (int)engine.arrays.items[k].rows; }
EMSCRIPTEN_KEEPALIVE int engine_cols(int k) { return (int)engine.arrays.items[k].cols; }
EMSCRIPTEN_KEEPALIVE const double *engine_numbers(int k) { return engine.arrays.items[k].numbers; }
EMSCRIPTEN_KEEPALIVE const rf_index *engine_integers(int k) { return engine.arrays.items[k].integers; }

/* ---- what the frame asks its host for ------------------------------------------------------------- */

static const CliCommand *const commands[] = {&cli_explain,   &cli_inspect,   &cli_maxmargin,
                                             &cli_flow,      &cli_certify,   &cli_data_list,
                                             &cli_data_make, &cli_data_info, &cli_data_convert};

const CliCommand *const *cli_commands(int *count) {
  *count = (int)(sizeof commands / sizeof commands[0]);
  return commands;
}
