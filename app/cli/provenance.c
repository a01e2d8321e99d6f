/* The member `run` of every JSON object: the program, the words, every flag with its value, the seed, the
 * digest of the data, the tolerances, the time. */
#include "cli/cli.h"
#include "core/core.h"

#include <string.h>
#include <time.h>

void cli_now(char *out, size_t size) {
  time_t now = time(NULL);
  struct tm utc;
  if (!gmtime_r(&now, &utc) || strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) out[0] = '\0';
}

/* A word for a POSIX shell: as it is where nothing in it is special, otherwise between single quotes. */
static void add_word(RfText *text, const char *word) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/@%";
  if (text->length) rf_text_add(text, " ");
  if (word[0] && strspn(word, plain) == strlen(word)) return rf_text_add(text, word);
  rf_text_add(text, "'");
  for (; *word; word++) {
    if (*word == '\'')
      rf_text_add(text, "'\\''");
    else
      rf_text_add_bytes(text, word, 1);
  }
  rf_text_add(text, "'");
}

static void words_json(RfJson *json, const CliRun *run) {
  RfText line = {0}, name = {0};
  rf_text_add(&name, run->command->name);
  char *first = name.data, *second = first ? strchr(first, ' ') : NULL;
  if (second) *second++ = '\0'; /* "data make" is two words */
  rf_text_add(&line, "reluflow");
  rf_text_addf(&line, " %s", run->command->name);
  for (int k = 0; k < run->n_words; k++) add_word(&line, run->words[k]);
  if (line.failed || name.failed) rf_json_fail(json);
  rf_json_string(json, "command", rf_text_string(&line));
  rf_json_array(json, "words");
  rf_json_string(json, NULL, first ? first : "");
  if (second) rf_json_string(json, NULL, second);
  for (int k = 0; k < run->n_words; k++) rf_json_string(json, NULL, run->words[k]);
  rf_json_end(json);
  rf_text_free(&line);
  rf_text_free(&name);
}

/* The choice at position k of "a|b|c". */
static void choice_json(RfJson *json, const char *name, const char *choices, int k) {
  RfText text = {0};
  for (; k > 0; k--) choices += strcspn(choices, "|") + 1;
  rf_text_add_bytes(&text, choices, strcspn(choices, "|"));
  rf_json_string(json, name, rf_text_string(&text));
  rf_text_free(&text);
}

typedef struct Flags {
  CliRun *run;
  RfJson *json;
} Flags;

static void flag_json(void *user, const CliOption *option, const void *base) {
  const Flags *flags = user;
  RfJson *json = flags->json;
  const char *name = option->name + strspn(option->name, "-");
  const void *field = (const char *)base + option->offset;
  bool set = option->fallback || cli_given(flags->run, option->name);
  char seed[RF_NUMBER_SIZE];
  switch (option->kind) {
  case CLI_FLAG: return rf_json_boolean(json, name, *(const bool *)field);
  case CLI_INDEX:
    return set ? rf_json_integer(json, name, *(const rf_index *)field) : rf_json_null(json, name);
  case CLI_BYTES:
    return set ? rf_json_integer(json, name, *(const int64_t *)field) : rf_json_null(json, name);
  case CLI_NUMBER: return set ? rf_json_number(json, name, *(const double *)field) : rf_json_null(json, name);
  case CLI_TEXT: return rf_json_string(json, name, *(const char *const *)field);
  case CLI_CHOICE: return choice_json(json, name, option->argument, *(const int *)field);
  case CLI_SEED:
    rf_format(seed, sizeof seed, "%llu", (unsigned long long)*(const uint64_t *)field);
    return set ? rf_json_count(json, name, seed) : rf_json_null(json, name);
  }
}

static void tolerances_json(RfJson *json, const RfTolerances *tol) {
  const struct {
    const char *name;
    double value;
  } all[] = {{"zero", tol->zero}, {"tight", tol->tight},   {"emptiness", tol->emptiness},
             {"rank", tol->rank}, {"kkt", tol->kkt},       {"kink", tol->kink},
             {"gap", tol->gap},   {"solver", tol->solver}, {"balanced", tol->balanced},
             {"ode", tol->ode}};
  rf_json_object(json, "tolerances");
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) rf_json_number(json, all[k].name, all[k].value);
  rf_json_end(json);
}

RfStatus cli_finish_json(CliRun *run, RfText *object) {
  RfJson *json = run->json;
  Flags flags = {run, json};
  char seed[RF_NUMBER_SIZE];
  rf_format(seed, sizeof seed, "%llu", (unsigned long long)run->common.seed);
  rf_json_object(json, "run");
  rf_json_string(json, "version", RF_VERSION);
  words_json(json, run);
  rf_json_object(json, "flags");
  cli_each_option(run, flag_json, &flags);
  rf_json_end(json);
  rf_json_count(json, "seed", seed);
  rf_json_string(json, "data_sha256", run->digest[0] ? run->digest : NULL);
  tolerances_json(json, &run->context.tol);
  rf_json_string(json, "started", run->started);
  rf_json_number(json, "seconds", rf_clock_seconds() - run->began);
  rf_json_end(json);
  return rf_json_finish(&run->context, object, json);
}
