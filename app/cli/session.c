/* A run of a command without a terminal: the program and other hosts in the same process stand on it. Nothing
 * here prints; what went wrong is in run->status and run->context.error. */
#include "cli/cli.h"
#include "layers/layers.h"
#include "core/core.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const CliCommand *cli_find_command(int *used, int count, char **words) {
  int n_commands;
  const CliCommand *const *commands = cli_commands(&n_commands);
  for (int i = 0; i < n_commands; i++) {
    const char *name = commands[i]->name, *space = strchr(name, ' ');
    size_t first = space ? (size_t)(space - name) : strlen(name);
    if (strlen(words[0]) != first || strncmp(name, words[0], first) != 0) continue;
    *used = space ? 2 : 1;
    if (!space || (count > 1 && strcmp(space + 1, words[1]) == 0)) return commands[i];
  }
  return NULL;
}

RfStatus cli_open(CliRun *run, const CliCommand *command, int count, char **words) {
  memset(run, 0, sizeof *run);
  run->command = command, run->words = (const char *const *)words, run->n_words = count;
  rf_context_init(&run->context);
  run->began = rf_clock_seconds();
  cli_now(run->started, sizeof run->started);
  run->settings = rf_alloc(1, command->settings_size ? command->settings_size : 1);
  run->arguments = RF_NEW(const char *, count + 1);
  run->given = RF_NEW(bool, CLI_MAX_OPTIONS);
  run->rest = RF_NEW(char *, count + 1);
  if (!run->settings || !run->arguments || !run->given || !run->rest)
    return rf_fail(&run->context, RF_ERR_MEMORY, "out of memory");
  RfStatus status = cli_parse(run, count, words);
  cli_data_folder(run, run->data_dir, "mnist");
  if (run->data_dir[0]) run->context.data_dir = run->data_dir;
  return status;
}

void cli_close(CliRun *run) {
  rf_json_free(run->json);
  rf_text_free(&run->page);
  rf_text_free(&run->html);
  rf_free(run->settings);
  rf_free(run->arguments);
  rf_free(run->given);
  rf_free(run->rest);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

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
  run->status = status;
  run->failed = run->failed || status < 0;
  return run->stopped_reading ? CLI_INTERRUPTED : cli_exit_status(status);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The samples of the host that go by this name, NULL when it is the name of a file. */
static const CliSamples *samples_named(const CliRun *run, const char *path) {
  if (!run->memory || !path) return NULL;
  if (strcmp(path, CLI_MEMORY_DATA) == 0) return &run->memory->data;
  return strcmp(path, CLI_MEMORY_TEST) == 0 ? &run->memory->test : NULL;
}

/* A file that is not there as named is looked up in the data folders. The result is `path` or lives in
 * *found.
 */
static const char *look_up(const CliRun *run, const char *path, RfText *found) {
  if (!path || path[0] == '/' || strcmp(path, "-") == 0 || strncmp(path, "gen:", 4) == 0) return path;
  char folder[CLI_PATH_SIZE];
  if (access(path, F_OK) == 0 || !cli_data_folder(run, folder, path)) return path;
  rf_text_addf(found, "%s/%s", folder, path);
  return found->failed ? path : found->data;
}

RfStatus cli_load_source(CliRun *run, RfDataset *dataset, const RfDataSource *wanted) {
  RfText data = {0}, labels = {0};
  RfDataSource source = *wanted;
  bool timed = wanted == &run->source && cli_given(run, "--time");
  if (timed)
    run->context.deadline = INFINITY; /* --time is for the work, which begins with the data at hand */
  const CliSamples *samples = samples_named(run, source.path);
  RfStatus status;
  if (samples) {
    source.path = "arrays";
    status = rf_data_adopt(&run->context, dataset, &source, samples->X, samples->class_of,
                           samples->class_names, samples->n, samples->d, samples->n_classes);
  } else {
    source.path = look_up(run, source.path, &data);
    source.labels_path = look_up(run, source.labels_path, &labels);
    status = rf_data_load(&run->context, dataset, &source);
  }
  if (status == RF_OK && run->json && wanted == &run->source) rf_study_digest(run->digest, dataset);
  if (timed) rf_context_limit(&run->context, run->common.time);
  if (status > 0) { /* interrupted: without data there is no partial result */
    run->stopped_reading = true;
    status = rf_fail(&run->context, RF_ERR_IO, "%s: interrupted while reading", wanted->path);
  }
  if (status == RF_OK && !samples && dataset->n_classes > 20 && dataset->n_classes > dataset->n / 10)
    rf_message(&run->context, RF_WARNING,
               "%lld classes among %lld samples: is the label column right? (--label)",
               (long long)dataset->n_classes, (long long)dataset->n);
  rf_text_free(&data);
  rf_text_free(&labels);
  return status;
}

RfStatus cli_load(CliRun *run, RfDataset *dataset) { return cli_load_source(run, dataset, &run->source); }

static bool is_memory_model(const CliRun *run, const char *path) {
  return run->memory && run->memory->net && strcmp(path, CLI_MEMORY_MODEL) == 0;
}

RfStatus cli_load_net(CliRun *run, RfNet *net, bool *leak_stated, const char *path, const char *map) {
  *leak_stated = true;
  return is_memory_model(run, path) ? rf_net_copy(&run->context, net, run->memory->net)
                                    : rf_net_load(&run->context, net, leak_stated, path, map);
}

RfStatus cli_load_layers(CliRun *run, RfLayeredNet *net, bool *layered, bool *weighted, const char *path) {
  *layered = false;
  return is_memory_model(run, path) ? RF_OK : rf_layers_load(&run->context, net, layered, weighted, path);
}

RfStatus cli_load_start(CliRun *run, RfNet *net, const char *path, const char *map, double leak) {
  bool stated = false;
  RfStatus status = cli_load_net(run, net, &stated, path, map);
  if (status || !cli_given(run, "--leak")) return status;
  if (stated && net->leak != leak)
    return rf_fail(&run->context, RF_ERR_USAGE, "--leak %g: %s has leak %g", leak, path, net->leak);
  net->leak = leak;
  return RF_OK;
}

RfStatus cli_load_layered_start(CliRun *run, RfLayeredNet *net, bool *layered, const char *path) {
  bool weighted = true;
  RfStatus status = cli_load_layers(run, net, layered, &weighted, path);
  if (status || !*layered || weighted) return status;
  RfRandom random;
  rf_random_init(&random, run->common.seed, 0);
  rf_layers_init_uniform(net, &random, 1);
  return RF_OK;
}

RfStatus cli_read_scale(CliRun *run, RfStudyStart *start, const char *scale, double log_scale) {
  bool by_log = cli_given(run, "--log-scale");
  double value;
  if (by_log && scale)
    return rf_fail(&run->context, RF_ERR_USAGE, "--scale and --log-scale exclude each other");
  if (by_log) start->log_scale = log_scale;
  if (!scale) return RF_OK;
  if (strcmp(scale, "limit") == 0) {
    start->in_limit = true, start->log_scale = 0;
    return RF_OK;
  }
  if (!rf_number_read(&value, scale) || !(value > 0))
    return rf_fail(&run->context, RF_ERR_USAGE, "--scale %s: expected a positive number or 'limit'", scale);
  start->log_scale = log(value);
  return RF_OK;
}

RfContext cli_drawing_context(const CliRun *run) {
  RfContext context = run->context;
  context.cancel = NULL;
  rf_context_limit(&context, RF_PICTURE_SECONDS);
  return context;
}

/* ---- outputs --------------------------------------------------------------------------------- */

RfStatus cli_folder(CliRun *run, const char *folder) {
  if (mkdir(folder, 0777) == 0 || errno == EEXIST) return RF_OK;
  return rf_fail(&run->context, RF_ERR_IO, "%s: cannot make the folder: %s", folder, strerror(errno));
}

RfStatus cli_picture(void *user, const RfSvg *svg, const char *name) {
  CliRun *run = user;
  const char *folder = run->common.svg;
  RfStatus made = cli_folder(run, folder);
  if (made) return made;
  RfText path = {0};
  rf_text_addf(&path, "%s/%s", folder, name);
  RfStatus status = path.failed ? rf_fail(&run->context, RF_ERR_MEMORY, "out of memory")
                                : rf_svg_write(&run->context, svg, path.data);
  rf_text_free(&path);
  return status;
}
