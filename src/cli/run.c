/* One run of a command: context, signals, deadline, progress; then the finished texts go out, whole or not at
 * all. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Set by SIGINT and SIGTERM; the library polls it. */
static volatile int cancelled;

static void on_signal(int number) {
  (void)number;
  cancelled = 1;
}

/* The first signal asks politely; SA_RESETHAND lets a second one end the program at once. */
static void catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  action.sa_handler = SIG_IGN;
  action.sa_flags = 0;
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
} Progress;

static void on_progress(void *user, const char *phase, double fraction, const char *detail) {
  Progress *progress = user;
  double now = rf_clock_seconds();
  if (now - progress->last < (progress->shown ? 0.1 : 0.5)) return;
  progress->last = now;
  progress->shown = true;
  char line[256];
  if (fraction < 0) {
    snprintf(line, sizeof line, "%s  %s", phase, detail);
  } else {
    int filled = (int)(24 * (fraction > 1 ? 1 : fraction));
    snprintf(line, sizeof line, "%-8s [%.*s%*s] %3.0f%%  %s", phase, filled, "########################",
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

bool cli_print(const char *data, size_t length) {
  while (length > 0) {
    ssize_t done = write(STDOUT_FILENO, data, length);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      cli_usage("standard output: cannot write: %s", done < 0 ? strerror(errno) : "no progress");
      return false;
    }
    data += done;
    length -= (size_t)done;
  }
  return true;
}

RfStatus cli_worse(RfStatus a, RfStatus b) {
  static const RfStatus order[] = {RF_INTERRUPTED, RF_UNDECIDED,  RF_LIMIT,
                                   RF_BRANCHED,    RF_INFEASIBLE, RF_NOT_SEPARABLE};
  if (a < 0 || b < 0) return a < 0 ? a : b;
  for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
    if (a == order[k] || b == order[k]) return order[k];
  return RF_OK;
}

int cli_exit_status(RfStatus status) {
  switch (status) {
  case RF_OK: return CLI_DONE;
  case RF_NOT_SEPARABLE:
  case RF_BRANCHED:
  case RF_INFEASIBLE: return CLI_DOES_NOT_HOLD;
  case RF_INTERRUPTED: return CLI_INTERRUPTED;
  case RF_ERR_USAGE:
  case RF_ERR_INPUT:
  case RF_ERR_IO: return CLI_BAD_USAGE;
  default: return CLI_UNDECIDED;
  }
}

int cli_finish(CliRun *run, RfStatus status) {
  run->failed = run->failed || status < 0;
  if (status < 0) cli_usage("%s", run->context.error[0] ? run->context.error : rf_status_text(status));
  return run->stopped_reading ? CLI_INTERRUPTED : cli_exit_status(status);
}

RfStatus cli_write_svg(CliRun *run, const RfSvg *svg, const char *name) {
  const char *folder = run->common.svg;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return rf_fail(&run->context, RF_ERR_IO, "%s: cannot make the folder: %s", folder, strerror(errno));
  RfText path = {0};
  rf_text_addf(&path, "%s/%s", folder, name);
  RfStatus status = path.failed ? rf_fail(&run->context, RF_ERR_MEMORY, "out of memory")
                                : rf_svg_write(&run->context, svg, path.data);
  rf_text_free(&path);
  return status;
}

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static bool output_is_page(const CliRun *run) {
  return run->common.output && ends_with(run->common.output, ".txt");
}

/* Files first, standard output last: what is printed is also on disk. */
static RfStatus deliver(CliRun *run) {
  RfContext *context = &run->context;
  RfText object = {0};
  RfStatus status = RF_OK;
  if (run->json) status = rf_json_finish(context, &object, run->json);
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
  if (status == RF_OK && !silent && !cli_print(rf_text_string(printed), printed->length))
    status = RF_ERR_IO;
  else if (status < 0)
    cli_usage("%s", context->error);
  rf_text_free(&object);
  return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* A file that is not there as named is looked up in the data folder. The result is `path` or lives in *found.
 */
static const char *look_up(const CliRun *run, const char *path, RfText *found) {
  if (!path || path[0] == '/' || strcmp(path, "-") == 0 || strncmp(path, "gen:", 4) == 0) return path;
  if (access(path, F_OK) == 0 || !run->common.data_dir) return path;
  rf_text_addf(found, "%s/%s", run->common.data_dir, path);
  return !found->failed && access(found->data, F_OK) == 0 ? found->data : path;
}

RfStatus cli_load(CliRun *run, RfDataset *dataset) {
  RfText data = {0}, labels = {0};
  RfDataSource source = run->source;
  source.path = look_up(run, source.path, &data);
  source.labels_path = look_up(run, source.labels_path, &labels);
  RfStatus status = rf_data_load(&run->context, dataset, &source);
  if (status > 0) { /* interrupted: without data there is no partial result */
    run->stopped_reading = true;
    status = rf_fail(&run->context, RF_ERR_IO, "%s: interrupted while reading", run->source.path);
  }
  if (status == RF_OK && dataset->n_classes > 20 && dataset->n_classes > dataset->n / 10)
    rf_message(&run->context, RF_WARNING,
               "%lld classes among %lld samples: is the label column right? (--label)",
               (long long)dataset->n_classes, (long long)dataset->n);
  rf_text_free(&data);
  rf_text_free(&labels);
  return status;
}

static void set_context(CliRun *run, Progress *progress) {
  RfContext *context = &run->context;
  context->threads = run->common.threads > 1024 ? 1024 : (int)run->common.threads;
  context->cancel = &cancelled;
  context->user = progress;
  if (cli_given(run, "--time")) context->deadline = rf_clock_seconds() + run->common.time;
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
  return delivered == RF_OK ? exit_status : cli_exit_status(delivered);
}

int cli_run(const CliCommand *command, int count, char **words) {
  bool given[CLI_MAX_OPTIONS] = {false};
  CliRun run = {.command = command};
  rf_context_init(&run.context);
  run.settings = rf_alloc(1, command->settings_size ? command->settings_size : 1);
  run.arguments = RF_NEW(const char *, count + 1);
  int exit_status;
  if (!run.settings || !run.arguments) {
    cli_usage("out of memory");
    exit_status = CLI_UNDECIDED;
  } else if (cli_parse(&run, given, count, words) != RF_OK) {
    exit_status = CLI_BAD_USAGE;
  } else {
    exit_status = run_parsed(&run);
  }
  rf_json_free(run.json);
  rf_text_free(&run.page);
  rf_text_free(&run.html);
  rf_free(run.settings);
  rf_free(run.arguments);
  return exit_status;
}
