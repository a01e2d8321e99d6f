/* Options of benches from a table: `--name value`, or `--name` for a switch. Each row says where its value
 * goes; the usage is written from the rows. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum OptionKind {
  OPTION_SWITCH, /* bool */
  OPTION_COUNT,  /* long, >= 0 */
  OPTION_SEED,   /* uint64_t */
  OPTION_NUMBER, /* double */
  OPTION_WORD    /* int: the place of a word in `words`, then `more` */
} OptionKind;

typedef struct BenchOption {
  const char *name, *value; /* "--count", "N" */
  OptionKind kind;
  void *into;
  const char *const *words; /* n_words of them */
  int n_words;
  const char *more[2]; /* further words, NULL where there is none */
} BenchOption;

/* clang-format off */
#define OPTION(n, v, k, p) {.name = n, .value = v, .kind = k, .into = p}
/* One of `list`, or of the words behind it. */
#define OPTION_OF(n, v, p, list, ...) \
  {.name = n, .value = v, .kind = OPTION_WORD, .into = p, .words = list, .n_words = (int)(sizeof list / sizeof *list), .more = {__VA_ARGS__}}
/* clang-format on */

static bool option_word(const BenchOption *option, const char *text) {
  int *into = option->into;
  for (int k = 0; k < option->n_words + 2; k++) {
    const char *word = k < option->n_words ? option->words[k] : option->more[k - option->n_words];
    if (!word || strcmp(word, text) != 0) continue;
    *into = k;
    return true;
  }
  return false;
}

static bool option_value(const BenchOption *option, const char *text) {
  char *end = NULL;
  errno = 0;
  switch (option->kind) {
  case OPTION_SWITCH: break; /* has none */
  case OPTION_COUNT: *(long *)option->into = strtol(text, &end, 10); break;
  case OPTION_SEED: *(uint64_t *)option->into = strtoull(text, &end, 10); break;
  case OPTION_NUMBER: *(double *)option->into = strtod(text, &end); break;
  case OPTION_WORD: return option_word(option, text);
  }
  bool whole = end && end != text && *end == 0 && errno == 0;
  return whole && (option->kind != OPTION_COUNT || *(long *)option->into >= 0);
}

/* False, with the usage on stderr, when an argument is not one of the table or its value does not fit. */
static bool bench_options(const BenchOption *table, int count, int argc, char **argv) {
  bool good = true;
  for (int k = 1; k < argc && good; k++) {
    int at = 0;
    while (at < count && strcmp(argv[k], table[at].name) != 0) at++;
    good = at < count;
    if (good && table[at].kind == OPTION_SWITCH)
      *(bool *)table[at].into = true;
    else if (good)
      good = ++k < argc && option_value(&table[at], argv[k]);
  }
  if (good) return true;
  fprintf(stderr, "usage:");
  for (int at = 0; at < count; at++)
    fprintf(stderr, " [%s%s%s]", table[at].name, table[at].value ? " " : "",
            table[at].value ? table[at].value : "");
  fprintf(stderr, "\n");
  return false;
}

#endif
