/* `reluflow rerun FILE.json`: repeats a saved run and says whether the answer is the same. */
#include "cli/cli.h"
#include "core/core.h"
#include "data/data.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { SHOWN = 20, WORDS = 512, PATH = 512 };

/* ---- comparing --------------------------------------------------------------------------------------- */

typedef struct Difference {
  char path[PATH];
  char before[64], now[64];
} Difference;

typedef struct Comparison {
  double tol, largest;
  rf_index compared, different;
  Difference shown[SHOWN];
} Comparison;

/* Times differ from run to run, and so does how the result was made. */
static bool passed_over(const char *key) {
  static const char *const names[] = {"run", "seconds", "steps_per_second", "file", "python"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (strcmp(key, names[k]) == 0) return true;
  return false;
}

static void show_value(char *out, size_t size, const json_t *value) {
  char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  rf_format(out, size, "%s", text ? text : "nothing");
  free(text);
}

static void differ(Comparison *c, const char *path, const json_t *before, const json_t *now) {
  if (c->different < SHOWN) {
    Difference *d = &c->shown[c->different];
    rf_format(d->path, sizeof d->path, "%s", path);
    show_value(d->before, sizeof d->before, before);
    show_value(d->now, sizeof d->now, now);
  }
  c->different++;
}

static void compare(Comparison *c, const char *path, const json_t *before, const json_t *now);

static void compare_objects(Comparison *c, const char *path, const json_t *before, const json_t *now) {
  const char *key;
  json_t *value;
  char below[PATH];
  json_object_foreach((json_t *)before, key, value) {
    if (passed_over(key)) continue;
    rf_format(below, sizeof below, "%s%s%s", path, path[0] ? "." : "", key);
    compare(c, below, value, json_object_get(now, key));
  }
}

static void compare_arrays(Comparison *c, const char *path, const json_t *before, const json_t *now) {
  char below[PATH];
  if (json_array_size(before) != json_array_size(now)) return differ(c, path, before, now);
  for (size_t k = 0; k < json_array_size(before); k++) {
    rf_format(below, sizeof below, "%s[%lld]", path, (long long)k);
    compare(c, below, json_array_get(before, k), json_array_get(now, k));
  }
}

static void compare(Comparison *c, const char *path, const json_t *before, const json_t *now) {
  if (json_is_object(before) && json_is_object(now)) return compare_objects(c, path, before, now);
  if (json_is_array(before) && json_is_array(now)) return compare_arrays(c, path, before, now);
  c->compared++;
  if (json_is_number(before) && json_is_number(now)) {
    double a = json_number_value(before), b = json_number_value(now);
    double apart = fabs(a - b), size = fmax(fabs(a), fabs(b)), relative = size > 0 ? apart / size : 0;
    c->largest = fmax(c->largest, relative);
    if (relative > c->tol) differ(c, path, before, now);
  } else if (!now || !json_equal((json_t *)before, (json_t *)now)) {
    differ(c, path, before, now);
  }
}

/* ---- repeating ----------------------------------------------------------------------------------------- */

static bool is_output(const char *word) {
  static const char *const names[] = {"-o", "--report", "--svg", "--checkpoint"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (strcmp(word, names[k]) == 0) return true;
  return false;
}

/* The saved words without those that name files to write; *count of them. */
static RfStatus read_words(CliRun *run, char **words, int *count, const json_t *saved) {
  json_t *list = json_object_get(json_object_get(saved, "run"), "words");
  const char *path = run->arguments[0];
  *count = 0;
  if (!json_is_array(list))
    return rf_fail(&run->context, RF_ERR_INPUT, "%s: no member run.words: not a result of this program",
                   path);
  for (size_t k = 0; k < json_array_size(list) && *count < WORDS; k++) {
    const char *word = json_string_value(json_array_get(list, k));
    if (!word)
      return rf_fail(&run->context, RF_ERR_INPUT, "%s: run.words[%lld] is no text", path, (long long)k);
    if (strncmp(word, "memory:", 7) == 0)
      return rf_fail(&run->context, RF_ERR_INPUT,
                     "%s: the data were arrays in memory, which the file does not hold", path);
    if (is_output(word))
      k++;
    else if (strcmp(word, "--json") != 0)
      words[(*count)++] = (char *)word;
  }
  return RF_OK;
}

/* Runs the words as the program would, into an object. */
static RfStatus repeat(CliRun *run, json_t **now, char **words, int count) {
  int used = 1;
  const CliCommand *command = count > 0 ? cli_find_command(&used, count, words) : NULL;
  CliRun again;
  RfText object = {0};
  if (!command || command == &cli_rerun)
    return rf_fail(&run->context, RF_ERR_INPUT, "%s: run.words does not name a command", run->arguments[0]);
  RfStatus status = cli_open(&again, command, count - used, words + used);
  again.context.cancel = run->context.cancel, again.context.user = run->context.user;
  again.context.on_progress = run->context.on_progress;
  again.context.deadline = run->context.deadline;
  if (!status)
    status = rf_json_new(&again.context, &again.json, command->fields ? command->fields : command->name);
  if (!status) {
    if (cli_given(&again, "--time"))
      again.context.deadline = fmin(again.context.deadline, rf_clock_seconds() + again.common.time);
    again.common.quiet = true;
    command->run(&again);
    status = again.failed ? again.status : cli_finish_json(&again, &object);
  }
  json_error_t error;
  if (!status) *now = json_loads(rf_text_string(&object), 0, &error);
  if (!status && !*now) status = RF_ERR_MEMORY;
  if (status)
    rf_fail(&run->context, status, "%s", again.context.error[0] ? again.context.error : "no result");
  rf_text_free(&object);
  cli_close(&again);
  return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key) {
  return json_string_value(json_object_get(json_object_get(object, "run"), key));
}

static void show(CliRun *run, const Comparison *c, const json_t *before, const json_t *now) {
  const char *digest = text_of(before, "data_sha256"), *digest_now = text_of(now, "data_sha256");
  bool data_same = digest && digest_now && strcmp(digest, digest_now) == 0;
  rf_index shown = c->different < SHOWN ? c->different : SHOWN;
  if (run->json) {
    RfJson *json = run->json;
    rf_json_string(json, "file", run->arguments[0]);
    rf_json_boolean(json, "same", c->different == 0);
    digest ? rf_json_boolean(json, "data_same", data_same) : rf_json_null(json, "data_same");
    rf_json_string(json, "version_before", text_of(before, "version"));
    rf_json_integer(json, "compared", c->compared);
    rf_json_integer(json, "different", c->different);
    rf_json_number(json, "largest", c->largest);
    rf_json_array(json, "differences");
    for (rf_index k = 0; k < shown; k++) {
      rf_json_object(json, NULL);
      rf_json_string(json, "path", c->shown[k].path);
      rf_json_string(json, "before", c->shown[k].before);
      rf_json_string(json, "now", c->shown[k].now);
      rf_json_end(json);
    }
    rf_json_end(json);
  }
  if (!run->wants_page) return;
  RfText *page = &run->page;
  rf_text_addf(page, "%s\n", text_of(now, "command"));
  rf_text_styled(page, c->different ? RF_BAD : RF_GOOD, c->different ? "different" : "the same");
  rf_text_addf(page, ": %lld of %lld values differ", (long long)c->different, (long long)c->compared);
  if (c->largest > 0) rf_text_addf(page, ", numbers by at most %.1e relative", c->largest);
  rf_text_addf(page, "; %s\n",
               !digest     ? "no data"
               : data_same ? "the data are the same"
                           : "the data are not the same");
  const char *version = text_of(before, "version");
  if (version && strcmp(version, RF_VERSION) != 0)
    rf_text_addf(page, "  written by version %s, repeated by %s\n", version, RF_VERSION);
  for (rf_index k = 0; k < shown; k++)
    rf_text_addf(page, "  %s: %s before, %s now\n", c->shown[k].path, c->shown[k].before, c->shown[k].now);
}

static int rerun_run(CliRun *run) {
  unsigned char *bytes = NULL;
  size_t size = 0;
  json_error_t error;
  json_t *before = NULL, *now = NULL;
  char *words[WORDS];
  int count;
  Comparison *c = RF_NEW(Comparison, 1);
  RfStatus status = c ? rf_data_read_file(&run->context, &bytes, &size, run->arguments[0])
                      : rf_fail(&run->context, RF_ERR_MEMORY, "out of memory");
  if (!status) {
    locale_t host = rf_locale_enter();
    before = json_loadb((const char *)bytes, size, 0, &error);
    rf_locale_leave(host);
    if (!before)
      status = rf_fail(&run->context, RF_ERR_INPUT, "%s:%d:%d: %s", run->arguments[0], error.line,
                       error.column, error.text);
  }
  if (!status) status = read_words(run, words, &count, before);
  if (!status) status = repeat(run, &now, words, count);
  if (!status) {
    locale_t host = rf_locale_enter();
    c->tol = run->common.tol;
    compare(c, "", before, now);
    rf_locale_leave(host);
    show(run, c, before, now);
  }
  bool differs = !status && c->different > 0;
  json_decref(before);
  json_decref(now);
  rf_free(bytes);
  rf_free(c);
  int exit_status = cli_finish(run, status);
  return differs ? CLI_DOES_NOT_HOLD : exit_status;
}

const CliCommand cli_rerun = {
    .name = "rerun",
    .arguments = "FILE.json",
    .summary = "repeats a saved run and says whether the answer is the same",
    .description =
        "Reads how a result was made from the member `run` of its JSON file, runs the same command "
        "again with the same flags and seed, and compares every value but the times. --tol is the "
        "relative difference of two numbers that counts as the same, 0 unless given. Exit status 1 "
        "when something differs.",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  reluflow flow gen:DS-PL2 -o run.json && reluflow rerun run.json\n",
    .tol = "relative difference of two numbers that counts as the same; default 0",
    .run = rerun_run,
};
