/* Options from declarative tables: the common flags, the data flags, and the parser. */
#include "cli/cli.h"
#include "core/core.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(CliCommon, field)
const CliOption cli_common_options[] = {
    {"--json", CLI_FLAG, AT(json), NULL, NULL, 0, 0,
     "print one JSON object on standard output, and nothing else"},
    {"-o", CLI_TEXT, AT(output), "FILE", NULL, 0, 0,
     "write the JSON object to a file as well (the page, when FILE ends in .txt)"},
    {"--report", CLI_TEXT, AT(report), "FILE.html", NULL, 0, 0, "write a self-contained page with pictures"},
    {"--svg", CLI_TEXT, AT(svg), "DIR", NULL, 0, 0, "write the pictures into a folder"},
    {"--quiet", CLI_FLAG, AT(quiet), NULL, NULL, 0, 0, "print no page, no progress, no notes"},
    {"--detail", CLI_CHOICE, AT(detail), "summary|normal|full", "normal", 0, 0,
     "how much detail the results carry"},
    {"--seed", CLI_SEED, AT(seed), "N", "0", 0, 0, "seed of everything random; same seed, same result"},
    {"--threads", CLI_INDEX, AT(threads), "N", "1", 1, 0, "worker threads; results do not depend on it"},
    {"--tol", CLI_NUMBER, AT(tol), "X", NULL, 1e-300, 1,
     "relative tolerance of the command's main decision, as its help says"},
    {"--time", CLI_NUMBER, AT(time), "S", NULL, 0, 1e18,
     "stop after S seconds of work, reading not counted, with what is known by then"},
    {"--data-dir", CLI_TEXT, AT(data_dir), "DIR", NULL, 0, 0,
     "where data files are looked up that are not found as named; default: the folder in the environment "
     "variable RELUFLOW_DATA, then the data that came with the program"},
    {0},
};
#undef AT

#define AT(field) offsetof(RfDataSource, field)
const CliOption cli_data_options[] = {
    {"--label", CLI_TEXT, AT(label), "COLUMN", NULL, 0, 0,
     "label column, by name or 0-based index; default: the first when the header calls it label, class, "
     "target or y, else the last"},
    {"--labels", CLI_TEXT, AT(labels_path), "FILE", NULL, 0, 0, "labels for X.npy or idx images"},
    {"--classes", CLI_TEXT, AT(classes), "A,B", NULL, 0, 0, "keep two classes; B becomes +1"},
    {"--shuffle", CLI_SEED, AT(shuffle_seed), "SEED", NULL, 0, 0, "shuffle the rows"},
    {"--limit", CLI_INDEX, AT(limit), "N", NULL, 0, 0, "keep the first N rows"},
    {"--divide", CLI_NUMBER, AT(divide), "C", NULL, 0, 0, "divide every entry by C"},
    {"--center", CLI_FLAG, AT(center), NULL, NULL, 0, 0, "subtract the mean of all rows"},
    {"--standardize", CLI_FLAG, AT(standardize), NULL, NULL, 0, 0,
     "columns to mean 0 and deviation 1; constant columns become 0"},
    {"--unit", CLI_FLAG, AT(unit), NULL, NULL, 0, 0, "scale every row to length 1"},
    {"--scale-rows", CLI_FLAG, AT(unit), NULL, NULL, 0, 0, "the same as --unit"},
    {"--bias", CLI_NUMBER, AT(bias), "C", NULL, 0, 0, "append a constant column C"},
    {"--memory", CLI_BYTES, AT(memory_limit), "SIZE", NULL, 0, 0,
     "largest dense matrix to hold, e.g. 500M or 4G; default: half of the machine's memory"},
    {0},
};
#undef AT

/* ---- values ---------------------------------------------------------------------------------- */

static bool parse_integer(int64_t *out, const char *text) {
  char *end;
  errno = 0;
  if (*text == '\0' || strpbrk(text, " \t\n")) return false;
  long long value = strtoll(text, &end, 10);
  if (*end || errno) return false;
  *out = value;
  return true;
}

static bool parse_seed(uint64_t *out, const char *text) {
  char *end;
  errno = 0;
  if (*text < '0' || *text > '9') return false;
  unsigned long long value = strtoull(text, &end, 10);
  if (*end || errno) return false;
  *out = value;
  return true;
}

static bool parse_bytes(int64_t *out, const char *text) {
  const char *end;
  double value;
  if (*text < '0' || *text > '9') return false;
  if (rf_number_parse(&value, &end, text, text + strlen(text)) != RF_NUMBER_FINITE) return false;
  static const char suffixes[] = "KMGT";
  const char *suffix = *end ? strchr(suffixes, *end & ~0x20) : NULL;
  if (*end && (!suffix || (end[1] && strcmp(end + 1, "B") != 0))) return false;
  if (suffix) value *= pow(1024, (double)(suffix - suffixes + 1));
  if (!(value >= 1 && value < 9e18)) return false;
  *out = (int64_t)value;
  return true;
}

static bool parse_choice(int *out, const char *choices, const char *text) {
  size_t length = strlen(text);
  for (int k = 0;; k++) {
    size_t size = strcspn(choices, "|");
    if (size == length && strncmp(choices, text, size) == 0) {
      *out = k;
      return true;
    }
    if (!choices[size]) return false;
    choices += size + 1;
  }
}

static RfStatus refuse(RfContext *context, const CliOption *option, const char *text, const char *expected) {
  return rf_fail(context, RF_ERR_USAGE, "%s %s: expected %s", option->name, text, expected);
}

static RfStatus set_number(RfContext *context, const CliOption *option, double *field, const char *text) {
  char expected[96];
  bool any = option->low == 0 && option->high == 0; /* NOLINT: an exact mark, not a computed value */
  double value;
  if (!rf_number_read(&value, text)) return refuse(context, option, text, "a number");
  if (!any && !(value >= option->low && value <= option->high)) {
    rf_format(expected, sizeof expected, "a number from %g to %g", option->low, option->high);
    return refuse(context, option, text, expected);
  }
  *field = value;
  return RF_OK;
}

static RfStatus set_index(RfContext *context, const CliOption *option, rf_index *field, const char *text) {
  int64_t value;
  char expected[96];
  rf_format(expected, sizeof expected, "an integer of at least %g", option->low);
  if (!parse_integer(&value, text) || (double)value < option->low)
    return refuse(context, option, text, expected);
  *field = value;
  return RF_OK;
}

static RfStatus set_value(RfContext *context, const CliOption *option, void *base, const char *text) {
  void *field = (char *)base + option->offset;
  switch (option->kind) {
  case CLI_FLAG: *(bool *)field = true; return RF_OK;
  case CLI_TEXT: *(const char **)field = text; return RF_OK;
  case CLI_NUMBER: return set_number(context, option, field, text);
  case CLI_INDEX: return set_index(context, option, field, text);
  case CLI_SEED:
    return parse_seed(field, text) ? RF_OK : refuse(context, option, text, "an integer from 0 to 2^64-1");
  case CLI_BYTES:
    return parse_bytes(field, text) ? RF_OK : refuse(context, option, text, "a size such as 500M or 4G");
  case CLI_CHOICE:
    return parse_choice(field, option->argument, text) ? RF_OK
                                                       : refuse(context, option, text, option->argument);
  }
  return RF_ERR_INTERNAL;
}

/* ---- suggestions ----------------------------------------------------------------------------- */

/* How many letters were left out, added, changed or swapped with the next one; for words of up to 40 letters.
 */
static int distance(const char *a, const char *b) {
  int rows[3][42], m = (int)strlen(b), i = 1;
  int *before = rows[0], *last = rows[1], *row = rows[2];
  if (m > 40 || strlen(a) > 40) return 100;
  for (int j = 0; j <= m; j++) last[j] = j, before[j] = 100;
  for (; a[i - 1]; i++) {
    row[0] = i;
    for (int j = 1; j <= m; j++) {
      int best = last[j - 1] + (b[j - 1] != a[i - 1]);
      if (last[j] + 1 < best) best = last[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
      row[j] = best;
    }
    int *oldest = before;
    before = last, last = row, row = oldest;
  }
  return last[m];
}

const char *cli_suggest(const char *word, const char *const *names, int count) {
  const char *best = NULL;
  int least = strlen(word) < 5 ? 2 : 3;
  for (int i = 0; i < count; i++) {
    int d = distance(word, names[i]);
    if (d < least) {
      least = d;
      best = names[i];
    }
  }
  return best;
}

/* ---- the parser ------------------------------------------------------------------------------ */

typedef struct Group {
  const CliOption *options;
  void *base;
} Group;

/* The command's own options come first, so that they may redefine a common one. */
static int groups_of(Group groups[3], CliRun *run) {
  int count = 0;
  if (run->command->options) groups[count++] = (Group){run->command->options, run->settings};
  if (run->command->takes_data) groups[count++] = (Group){cli_data_options, &run->source};
  groups[count++] = (Group){cli_common_options, &run->common};
  return count;
}

static const CliOption *find_option(CliRun *run, const char *name, size_t length, void **base, int *number) {
  Group groups[3];
  int n_groups = groups_of(groups, run), index = 0;
  for (int g = 0; g < n_groups; g++) {
    for (const CliOption *option = groups[g].options; option->name; option++, index++) {
      if (strlen(option->name) != length || strncmp(option->name, name, length) != 0) continue;
      *base = groups[g].base;
      *number = index;
      return option;
    }
  }
  return NULL;
}

static RfStatus unknown_option(CliRun *run, const char *word) {
  const char *names[CLI_MAX_OPTIONS] = {"--help"};
  Group groups[3];
  int n_groups = groups_of(groups, run), count = 1;
  for (int g = 0; g < n_groups; g++) {
    for (const CliOption *option = groups[g].options; option->name && count < CLI_MAX_OPTIONS; option++)
      names[count++] = option->name;
  }
  char name[64];
  rf_format(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
  const char *close = cli_suggest(name, names, count);
  if (close)
    return rf_fail(&run->context, RF_ERR_USAGE, "%s: unknown flag for '%s'; did you mean %s?", name,
                   run->command->name, close);
  return rf_fail(&run->context, RF_ERR_USAGE, "%s: unknown flag for '%s'; see reluflow %s --help", name,
                 run->command->name, run->command->name);
}

static RfStatus set_defaults(CliRun *run) {
  Group groups[3];
  int n_groups = groups_of(groups, run);
  for (int g = 0; g < n_groups; g++) {
    for (const CliOption *option = groups[g].options; option->name; option++) {
      if (option->fallback && set_value(&run->context, option, groups[g].base, option->fallback) != RF_OK)
        return RF_ERR_INTERNAL;
    }
  }
  return RF_OK;
}

/* One option at words[*at]; moves *at past it. */
static RfStatus parse_option(CliRun *run, int count, char **words, int *at) {
  const char *word = words[*at];
  size_t length = word[1] == '-' ? strcspn(word, "=") : strlen(word);
  void *base;
  int number;
  const CliOption *option = find_option(run, word, length, &base, &number);
  if (!option) return unknown_option(run, word);
  const char *text = word[length] == '=' ? word + length + 1 : NULL;
  (*at)++;
  run->given[number] = true;
  if (option->kind == CLI_FLAG) {
    if (!text) return set_value(&run->context, option, base, NULL);
    return rf_fail(&run->context, RF_ERR_USAGE, "%s takes no value", option->name);
  }
  if (!text && *at < count) text = words[(*at)++];
  if (text) return set_value(&run->context, option, base, text);
  return rf_fail(&run->context, RF_ERR_USAGE, "%s needs a value: %s", option->name, option->argument);
}

/* Fields of the data source that say "given". */
static RfStatus finish_source(CliRun *run) {
  RfDataSource *source = &run->source;
  source->shuffle = cli_given(run, "--shuffle");
  source->has_bias = cli_given(run, "--bias");
  if (source->divide == 0) { /* NOLINT: an exact zero would be a division by zero */
    return rf_fail(&run->context, RF_ERR_USAGE, "--divide 0: expected a number other than 0");
  }
  source->path = run->n_arguments > 0 ? run->arguments[0] : NULL;
  return RF_OK;
}

bool cli_takes(const CliCommand *command, const CliOption *option) {
  if (strcmp(option->name, "--tol") == 0) return command->tol != NULL;
  if (strcmp(option->name, "--report") == 0) return command->has_report;
  return strcmp(option->name, "--svg") != 0 || command->has_pictures;
}

/* A common flag that this command would have to ignore. */
static RfStatus refuse_idle(CliRun *run) {
  for (const CliOption *option = cli_common_options; option->name; option++)
    if (cli_given(run, option->name) && !cli_takes(run->command, option))
      return rf_fail(&run->context, RF_ERR_USAGE, "%s: not for '%s', which has nothing it could change",
                     option->name, run->command->name);
  return RF_OK;
}

RfStatus cli_parse(CliRun *run, int count, char **words) {
  rf_data_source_init(&run->source);
  RfStatus status = set_defaults(run);
  bool only_arguments = false;
  for (int at = 0; at < count && status == RF_OK;) {
    const char *word = words[at];
    int foreign = run->command->foreign ? run->command->foreign(count, words, at) : 0;
    if (foreign > 0) {
      while (foreign-- > 0) run->rest[run->n_rest++] = words[at++];
    } else if (only_arguments || word[0] != '-' || word[1] == '\0') {
      run->arguments[run->n_arguments++] = word;
      at++;
    } else if (strcmp(word, "--") == 0) {
      only_arguments = true;
      at++;
    } else {
      status = parse_option(run, count, words, &at);
    }
  }
  if (status != RF_OK) return status;
  const CliCommand *command = run->command;
  if (run->n_arguments < command->min_arguments) {
    return rf_fail(&run->context, RF_ERR_USAGE, "%s needs %s; see reluflow %s --help", command->name,
                   command->arguments, command->name);
  }
  if (run->n_arguments > command->max_arguments) {
    return rf_fail(&run->context, RF_ERR_USAGE, "%s: one argument too many for '%s'",
                   run->arguments[command->max_arguments], command->name);
  }
  status = refuse_idle(run);
  return !status && command->takes_data ? finish_source(run) : status;
}

void cli_each_option(CliRun *run, CliOptionFn each, void *user) {
  Group groups[3];
  int n_groups = groups_of(groups, run);
  for (int g = 0; g < n_groups; g++)
    for (const CliOption *option = groups[g].options; option->name; option++)
      each(user, option, groups[g].base);
}

bool cli_given(const CliRun *run, const char *option) {
  void *base;
  int number;
  CliRun copy = *run;
  return find_option(&copy, option, strlen(option), &base, &number) && run->given[number];
}
