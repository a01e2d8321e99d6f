/* The program's run of a command: signals, deadline, progress; then the finished texts go out, whole or not
 * at all. */
#include "cli/cli.h"
#include "core/core.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Set by SIGINT and SIGTERM; the library polls it. */
static volatile int cancelled;

static struct timespec asked; /* when */

/* The first signal asks politely, and ends the program at once when it comes again; within a second or two it
 * is the same one: `timeout` and shells send it to the process and to its group. */
static void on_signal(int number) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!cancelled) asked = now;
  cancelled = 1;
  if (now.tv_sec - asked.tv_sec < 2) return;
  signal(number, SIG_DFL);
  raise(number);
}

static void catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, NULL);
}

/* ---- terminal -------------------------------------------------------------------------------- */

bool cli_colour(int file) {
  const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (no_colour && *no_colour) return false;
  return isatty(file) && !(terminal && strcmp(terminal, "dumb") == 0);
}

int cli_width(void) {
  struct winsize size;
  int columns = 96;
  if (ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) columns = size.ws_col;
  return columns < 60 ? 60 : columns > 100 ? 100 : columns;
}

typedef struct Progress {
  double last; /* clock of the last drawing; at first of the start, so that quick work draws nothing */
  bool shown;
  char phase[32]; /* whose line is on the screen */
} Progress;

static void on_progress(void *user, const char *phase, double fraction, const char *detail) {
  Progress *progress = user;
  double now = rf_clock_seconds();
  bool fresh = progress->shown && strncmp(phase, progress->phase, sizeof progress->phase - 1) != 0;
  if (!fresh && now - progress->last < (progress->shown ? 0.1 : 0.5)) return;
  if (fresh) fputc('\n', stderr); /* the line of the phase before stays: a table with one row per phase */
  progress->last = now;
  progress->shown = true;
  rf_format(progress->phase, sizeof progress->phase, "%s", phase);
  char line[256];
  if (fraction < 0) {
    rf_format(line, sizeof line, "%-12s  %s", phase, detail);
  } else {
    int filled = (int)(24 * (fraction > 1 ? 1 : fraction));
    rf_format(line, sizeof line, "%-12s  [%.*s%*s] %3.0f%%  %s", phase, filled, "########################",
              24 - filled, "", 100 * fraction, detail);
  }
  fprintf(stderr, "\r\033[K%.*s", cli_width() - 1, line); /* a line that wraps could not be wiped */
  fflush(stderr);
}

static void on_message(void *user, RfLevel level, const char *text) {
  Progress *progress = user;
  if (level == RF_INFO) return;
  if (progress->shown) fputs("\r\033[K", stderr);
  fprintf(stderr, "reluflow: %s%s\n", level == RF_WARNING ? "warning: " : "", text);
}

/* ---- output ---------------------------------------------------------------------------------- */

int cli_usage(const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  rf_format_list(line, sizeof line, format, arguments);
  va_end(arguments);
  for (char *c = line; *c; c++) { /* one line, whatever a file name holds */
    if (*c == '\n' || *c == '\r') *c = ' ';
  }
  fprintf(stderr, "reluflow: %s\n", line);
  return CLI_BAD_USAGE;
}

static bool write_all(const char *data, size_t length) {
  while (length > 0) {
    ssize_t done = write(STDOUT_FILENO, data, length);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    data += done;
    length -= (size_t)done;
  }
  return true;
}

bool cli_print(const char *data, size_t length) {
  bool done = write_all(data, length);
  if (!done) cli_usage("standard output: cannot write: %s", strerror(errno));
  return done;
}

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && strcmp(text + length - tail, ending) == 0;
}

/* A name that promises something other than JSON or a page: before the work, not after it. */
static RfStatus check_output(CliRun *run) {
  static const char *const others[] = {".npz", ".npy", ".html", ".svg",
                                       ".pdf", ".png", ".db",   ".safetensors"};
  const char *name = run->common.output;
  if (!name || run->command->owns_output) return RF_OK;
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
    if (ends_with(name, others[k]))
      return rf_fail(
          &run->context, RF_ERR_USAGE,
          "-o %s: what is written is JSON (.json), or the page (.txt); networks in JSON results are read "
          "wherever a MODEL is",
          name);
  return RF_OK;
}

static bool output_is_page(const CliRun *run) {
  return run->common.output && ends_with(run->common.output, ".txt");
}

/* Files first, standard output last: what is printed is also on disk. */
static RfStatus deliver(CliRun *run) {
  RfContext *context = &run->context;
  RfText object = {0};
  RfStatus status = RF_OK;
  if (run->json) status = cli_finish_json(run, &object);
  if (status == RF_OK && (run->page.failed || run->html.failed))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory");
  if (status == RF_OK && run->common.output && !run->command->owns_output) {
    const RfText *product = output_is_page(run) ? &run->page : &object;
    status = rf_file_write(context, run->common.output, rf_text_string(product), product->length);
  }
  if (status == RF_OK && run->common.report && run->html.length)
    status = rf_file_write(context, run->common.report, rf_text_string(&run->html), run->html.length);
  const RfText *printed = run->common.json ? &object : &run->page;
  bool silent = run->common.quiet && !run->common.json;
  if (status == RF_OK && !silent && !write_all(rf_text_string(printed), printed->length))
    status = rf_fail(context, RF_ERR_IO, "standard output: cannot write: %s", strerror(errno));
  rf_text_free(&object);
  return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void set_context(CliRun *run, Progress *progress) {
  RfContext *context = &run->context;
  context->threads = run->common.threads > 1024 ? 1024 : (int)run->common.threads;
  context->cancel = &cancelled;
  context->user = progress;
  if (cli_given(run, "--time")) rf_context_limit(context, run->common.time);
  if (run->common.quiet) return;
  context->on_message = on_message;
  if (isatty(STDERR_FILENO)) context->on_progress = on_progress;
}

static int run_parsed(CliRun *run) {
  Progress progress = {.last = rf_clock_seconds()};
  set_context(run, &progress);
  catch_signals();
  const char *table = run->command->fields ? run->command->fields : run->command->name;
  bool wants_json =
      run->common.json || (run->common.output && !run->command->owns_output && !output_is_page(run));
  run->wants_page = (!run->common.json && !run->common.quiet) || output_is_page(run);
  run->page.colour = run->wants_page && !output_is_page(run) && cli_colour(STDOUT_FILENO);
  run->width = cli_width();
  RfStatus status = wants_json ? rf_json_new(&run->context, &run->json, table) : RF_OK;
  if (status != RF_OK) return cli_finish(run, status);
  int exit_status = run->command->run(run);
  if (progress.shown) fputs("\r\033[K", stderr);
  if (run->failed) return exit_status;
  RfStatus delivered = deliver(run);
  return delivered == RF_OK ? exit_status : cli_finish(run, delivered);
}

int cli_run(const CliCommand *command, int count, char **words) {
  CliRun run;
  RfStatus status = cli_open(&run, command, count, words);
  if (status == RF_OK) status = check_output(&run);
  int exit_status = status == RF_OK ? run_parsed(&run) : cli_finish(&run, status);
  if (run.failed) cli_usage("%s", run.context.error[0] ? run.context.error : rf_status_name(run.status));
  cli_close(&run);
  return exit_status;
}
