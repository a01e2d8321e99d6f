/* From words with lists in them to cells. Every parameter is an axis; axes that are zipped share a dial; the
 * cells are all positions of the dials, the last one turning fastest. */
#include "sweep/sweep_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 64 };
static const rf_index most_cells = 10000000;

void sweep_plan_free(SweepPlan *plan) {
  for (rf_index k = 0; k < plan->n_axes; k++) {
    rf_free(plan->axes[k].name);
    sweep_texts_free(&plan->axes[k].values);
  }
  rf_free(plan->axes);
  rf_free(plan->dial_sizes);
  rf_free(plan->kept);
  memset(plan, 0, sizeof *plan);
}

/* ---- axes ------------------------------------------------------------------------------------- */

static SweepType type_of(const SweepTexts *values) {
  rf_index integers = 0, numbers = 0;
  for (rf_index i = 0; i < values->count; i++) {
    int64_t whole;
    double number;
    integers += sweep_is_integer(values->items[i], &whole);
    numbers += sweep_is_number(values->items[i], &number);
  }
  if (integers == values->count) return SWEEP_INTEGER;
  if (numbers == values->count) return SWEEP_REAL;
  return numbers > 0 ? SWEEP_NUMERIC : SWEEP_TEXT;
}

static rf_index axis_named(const SweepPlan *plan, const char *name, size_t length) {
  for (rf_index k = 0; k < plan->n_axes; k++)
    if (strlen(plan->axes[k].name) == length && strncmp(plan->axes[k].name, name, length) == 0) return k;
  return -1;
}

/* Adds an axis and takes the values over. A generator's key that is also a flag is called gen.KEY. */
static RfStatus add_axis(RfContext *context, SweepPlan *plan, const char *name, size_t length, SweepForm form,
                         SweepTexts *values) {
  char full[80];
  bool taken = axis_named(plan, name, length) >= 0;
  rf_format(full, sizeof full, "%.*s", (int)(length > 60 ? 60 : length), name);
  if (sweep_is_own_column(full) || (taken && form == SWEEP_OPTION))
    rf_format(full, sizeof full, "flag.%.*s", (int)(length > 60 ? 60 : length), name);
  if (plan->n_axes == MOST_AXES) {
    sweep_texts_free(values);
    return rf_fail(context, RF_ERR_USAGE, "more than %d parameters", MOST_AXES);
  }
  SweepAxis *axis = &plan->axes[plan->n_axes];
  axis->name = rf_copy_text(full);
  axis->form = form, axis->values = *values, axis->joined = -1;
  memset(values, 0, sizeof *values);
  axis->type = form == SWEEP_ARGUMENT || form == SWEEP_GENERATOR ? SWEEP_TEXT : type_of(&axis->values);
  plan->n_axes++;
  return axis->name ? RF_OK : sweep_out_of_memory(context);
}

/* "gen:NAME,key=value,...": the name is an axis, and every key. */
static RfStatus read_generator(RfContext *context, SweepPlan *plan, const char *text) {
  const char *at = text + 4;
  SweepTexts values = {0};
  RfStatus status = sweep_expand_element(context, &values, "", text, &at, ",");
  if (!status) status = add_axis(context, plan, "generator", 9, SWEEP_GENERATOR, &values);
  while (!status && *at == ',') {
    const char *key = ++at;
    size_t length = strcspn(key, "=,{}");
    if (length == 0 || key[length] != '=') {
      status = sweep_wrong(context, "", text, key, "expected key=value");
    } else if (axis_named(plan, key, length) >= 0) {
      status = sweep_wrong(context, "", text, key, "this key was given before");
    } else {
      at = key + length + 1;
      status = sweep_expand_element(context, &values, "", text, &at, ",");
      if (!status) status = add_axis(context, plan, key, length, SWEEP_KEY, &values);
    }
  }
  sweep_texts_free(&values);
  return status;
}

static RfStatus read_argument(RfContext *context, SweepPlan *plan, const char *text, int position) {
  const char *names = plan->command->arguments;
  SweepTexts values = {0};
  for (int k = 0; k < position && *names; k++) {
    names += strcspn(names, " ");
    names += strspn(names, " ");
  }
  if (!*names)
    return rf_fail(context, RF_ERR_USAGE, "%s: one argument too many for '%s'", text, plan->command->name);
  if (strcmp(text, "-") == 0)
    return rf_fail(context, RF_ERR_USAGE,
                   "-: every cell reads its data anew, so they must be a file or a generator");
  if (position == 0 && strncmp(text, "gen:", 4) == 0) return read_generator(context, plan, text);
  RfStatus status = sweep_expand(context, &values, "", text, false, false);
  if (!status) status = add_axis(context, plan, names, strcspn(names, " "), SWEEP_ARGUMENT, &values);
  sweep_texts_free(&values);
  return status;
}

static bool same_texts(const SweepTexts *a, const SweepTexts *b) {
  bool same = a->count == b->count;
  for (rf_index k = 0; same && k < a->count; k++) same = strcmp(a->items[k], b->items[k]) == 0;
  return same;
}

/* One more word for an argument that is there, as shells make of braces that were not quoted: gen:x,n=5
 * gen:x,n=6. What has one value in every word becomes a list, in step with the others of its kind; what has
 * several must be the same in every word. */
static RfStatus read_alternative(RfContext *context, SweepPlan *plan, const char *text) {
  SweepPlan other = {.command = plan->command, .axes = RF_NEW(SweepAxis, MOST_AXES)};
  RfStatus status = other.axes ? read_argument(context, &other, text, 0) : sweep_out_of_memory(context);
  bool fits = other.n_axes == plan->n_axes;
  for (rf_index k = 0; !status && fits && k < plan->n_axes; k++) {
    SweepAxis *have = &plan->axes[k], *more = &other.axes[k];
    bool list = have->values.count > 1 && have->joined < 0;
    fits = strcmp(have->name, more->name) == 0 && have->form == more->form &&
           (list ? same_texts(&have->values, &more->values) : more->values.count == 1);
    if (!fits || list) continue;
    have->joined = k; /* resolved to one leader by join_alternatives */
    if (!sweep_texts_add(&have->values, rf_copy_text(more->values.items[0])))
      status = sweep_out_of_memory(context);
  }
  if (!status && !fits)
    status = rf_fail(
        context, RF_ERR_USAGE,
        "%s: one argument too many for '%s', or another kind of data than before (quote braces that a "
        "shell would expand)",
        text, plan->command->name);
  sweep_plan_free(&other);
  return status;
}

/* The lists of read_alternative share the first one's dial; one that never changes is no list. */
static void join_alternatives(SweepPlan *plan) {
  rf_index leader = -1;
  for (rf_index k = 0; k < plan->n_axes; k++) {
    SweepAxis *axis = &plan->axes[k];
    if (axis->joined < 0) continue;
    bool constant = true;
    for (rf_index i = 1; i < axis->values.count; i++)
      constant = constant && strcmp(axis->values.items[i], axis->values.items[0]) == 0;
    if (constant) {
      while (axis->values.count > 1) rf_free(axis->values.items[--axis->values.count]);
      axis->joined = -1;
    } else {
      if (leader < 0) leader = k;
      axis->joined = leader;
    }
    if (axis->form == SWEEP_KEY) axis->type = type_of(&axis->values);
  }
}

static void flag_of(char flag[64], const char *word) {
  size_t length = strcspn(word, "=");
  rf_format(flag, 64, "%.*s", (int)(length > 60 ? 60 : length), word);
}

/* A flag at words[*at]; moves past it and its value. */
static RfStatus read_flag(RfContext *context, SweepPlan *plan, int count, char **words, int *at) {
  char flag[64];
  const SweepCommand *command = plan->command;
  const char *word = words[(*at)++];
  size_t length = strcspn(word, "=");
  SweepTexts values = {0};
  flag_of(flag, word);
  SweepFlagKind kind = command->kind_of(command->user, flag);
  const char *value = word[length] == '=' ? word + length + 1 : NULL;
  if (kind == SWEEP_FLAG_UNKNOWN)
    return rf_fail(context, RF_ERR_USAGE, "%s: unknown flag for 'sweep' and for '%s'", flag, command->name);
  if (kind == SWEEP_FLAG_REFUSED)
    return rf_fail(context, RF_ERR_USAGE, "%s: not in a sweep, where every cell would write the same file",
                   flag);
  for (rf_index k = 0; k < plan->n_axes; k++) {
    bool option = plan->axes[k].form == SWEEP_OPTION || plan->axes[k].form == SWEEP_PLAIN_FLAG;
    const char *name = strncmp(plan->axes[k].name, "flag.", 5) ? plan->axes[k].name : plan->axes[k].name + 5;
    if (option && strcmp(name, flag + 2) == 0)
      return rf_fail(context, RF_ERR_USAGE, "%s: given twice; lists are written %s a,b", flag, flag);
  }
  if (kind == SWEEP_FLAG_PLAIN && value) return rf_fail(context, RF_ERR_USAGE, "%s takes no value", flag);
  if (kind != SWEEP_FLAG_PLAIN && !value) {
    if (*at == count) return rf_fail(context, RF_ERR_USAGE, "%s needs a value", flag);
    value = words[(*at)++];
  }
  RfStatus status = RF_OK;
  if (kind == SWEEP_FLAG_PLAIN) {
    if (!sweep_texts_add(&values, rf_copy_text("1"))) status = sweep_out_of_memory(context);
  } else {
    status =
        sweep_expand(context, &values, flag, value, kind != SWEEP_FLAG_COMMAS, kind == SWEEP_FLAG_NUMBER);
  }
  if (!status)
    status =
        add_axis(context, plan, flag + 2, strlen(flag + 2), value ? SWEEP_OPTION : SWEEP_PLAIN_FLAG, &values);
  sweep_texts_free(&values);
  return status;
}

/* Arguments first: their names come before those of the flags. */
static RfStatus read_words(RfContext *context, SweepPlan *plan, int count, char **words) {
  const SweepCommand *command = plan->command;
  RfStatus status = RF_OK;
  for (int pass = 0; pass < 2; pass++) {
    int position = 0;
    for (int at = 0; at < count && !status;) {
      if (words[at][0] != '-' || words[at][1] == '\0') {
        bool more = position > 0 && !strchr(command->arguments, ' ');
        if (pass == 0)
          status = more ? read_alternative(context, plan, words[at])
                        : read_argument(context, plan, words[at], position);
        position++, at++;
      } else {
        char flag[64];
        flag_of(flag, words[at]);
        SweepFlagKind kind = command->kind_of(command->user, flag);
        if (pass == 1 || kind <= SWEEP_FLAG_REFUSED)
          status = read_flag(context, plan, count, words, &at);
        else /* past the flag and, when it has one, its value */
          at += kind == SWEEP_FLAG_PLAIN || strchr(words[at], '=') ? 1 : 2;
      }
    }
  }
  join_alternatives(plan);
  return status;
}

/* ---- dials ------------------------------------------------------------------------------------ */

/* "a,b+c,d": a and b advance together, and c and d. */
static RfStatus join_dials(RfContext *context, SweepPlan *plan, const char *zip) {
  const char *at = zip;
  rf_index first = -1;
  for (;;) {
    size_t length = strcspn(at, ",+");
    rf_index axis = axis_named(plan, at, length);
    if (length == 0) return sweep_wrong(context, "--zip", zip, at, "expected the name of a parameter");
    if (axis < 0) return sweep_wrong(context, "--zip", zip, at, "there is no parameter of this name");
    if (plan->axes[axis].dial != axis || first == axis)
      return sweep_wrong(context, "--zip", zip, at, "this parameter was named before");
    if (first >= 0 && plan->axes[axis].values.count != plan->axes[first].values.count)
      return sweep_wrong(context, "--zip", zip, at, "it has another number of values than the one before");
    if (first < 0) first = axis;
    plan->axes[axis].dial = first;
    at += length;
    if (*at == '+' || *at == '\0') {
      bool alone = true;
      for (rf_index k = 0; k < plan->n_axes; k++)
        alone = alone && (k == first || plan->axes[k].dial != first);
      if (alone)
        return sweep_wrong(context, "--zip", zip, at - length, "one parameter alone cannot be zipped");
      first = -1;
    }
    if (*at == '\0') return RF_OK;
    at++;
  }
}

static RfStatus set_dials(RfContext *context, SweepPlan *plan, const char *zip) {
  rf_index number[MOST_AXES], leaders[MOST_AXES], total = 1;
  for (rf_index k = 0; k < plan->n_axes; k++)
    plan->axes[k].dial = plan->axes[k].joined < 0 ? k : plan->axes[k].joined;
  RfStatus status = zip ? join_dials(context, plan, zip) : RF_OK;
  plan->dial_sizes = RF_NEW(rf_index, plan->n_axes);
  if (status) return status;
  if (!plan->dial_sizes) return sweep_out_of_memory(context);
  /* the leader of a zip need not be its first axis: dials are numbered in the order in which they appear */
  for (rf_index k = 0; k < plan->n_axes; k++) number[k] = -1, leaders[k] = plan->axes[k].dial;
  for (rf_index k = 0; k < plan->n_axes; k++) {
    rf_index leader = plan->axes[k].dial;
    if (plan->axes[k].joined >= 0) leader = leaders[plan->axes[k].joined];
    if (number[leader] < 0) {
      number[leader] = plan->n_dials++;
      plan->dial_sizes[number[leader]] = plan->axes[leader].values.count;
    }
    plan->axes[k].dial = number[leader];
  }
  for (rf_index k = 0; k < plan->n_dials; k++)
    if (!rf_multiply_sizes(&total, total, plan->dial_sizes[k]) || total > most_cells)
      return rf_fail(context, RF_ERR_USAGE, "more than %lld cells", (long long)most_cells);
  plan->n_cells = total;
  return RF_OK;
}

const char *sweep_plan_value(const SweepPlan *plan, rf_index cell, rf_index axis) {
  rf_index rest = plan->kept ? plan->kept[cell] : cell;
  for (rf_index k = plan->n_dials - 1; k > plan->axes[axis].dial; k--) rest /= plan->dial_sizes[k];
  return plan->axes[axis].values.items[rest % plan->dial_sizes[plan->axes[axis].dial]];
}

/* ---- cells ------------------------------------------------------------------------------------ */

static void add_data(RfText *out, const SweepPlan *plan, rf_index cell) {
  for (rf_index k = 0; k < plan->n_axes; k++) {
    const SweepAxis *axis = &plan->axes[k];
    const char *value = sweep_plan_value(plan, cell, k);
    if (axis->form == SWEEP_GENERATOR) rf_text_addf(out, "gen:%s", value);
    if (axis->form == SWEEP_KEY) rf_text_addf(out, ",%s=%s", axis->name, value);
  }
}

RfStatus sweep_plan_words(RfContext *context, SweepTexts *words, const SweepPlan *plan, rf_index cell) {
  bool fine = true;
  for (rf_index k = 0; fine && k < plan->n_axes; k++) {
    const SweepAxis *axis = &plan->axes[k];
    const char *value = sweep_plan_value(plan, cell, k);
    const char *name = strncmp(axis->name, "flag.", 5) ? axis->name : axis->name + 5;
    RfText word = {0};
    if (axis->form == SWEEP_KEY) continue;
    if (axis->form == SWEEP_GENERATOR) add_data(&word, plan, cell);
    if (axis->form == SWEEP_ARGUMENT) rf_text_add(&word, value);
    if (axis->form == SWEEP_OPTION) rf_text_addf(&word, "--%s=%s", name, value);
    if (axis->form == SWEEP_PLAIN_FLAG) rf_text_addf(&word, "--%s", name);
    fine = !word.failed && sweep_texts_add(words, rf_copy_text(rf_text_string(&word)));
    rf_text_free(&word);
  }
  return fine ? RF_OK : sweep_out_of_memory(context);
}

/* A word as a shell reads it. */
static void add_shell_word(RfText *out, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (*word && strspn(word, plain) == strlen(word)) return rf_text_add(out, word);
  rf_text_add(out, "'");
  for (; *word; word++) {
    if (*word == '\'')
      rf_text_add(out, "'\\''");
    else
      rf_text_add_bytes(out, word, 1);
  }
  rf_text_add(out, "'");
}

void sweep_plan_line(RfText *out, const SweepPlan *plan, rf_index cell) {
  RfContext quiet;
  SweepTexts words = {0};
  rf_context_init(&quiet);
  if (sweep_plan_words(&quiet, &words, plan, cell)) out->failed = true;
  rf_text_add(out, plan->command->name);
  for (rf_index k = 0; k < words.count; k++) {
    rf_text_add(out, " ");
    add_shell_word(out, words.items[k]);
  }
  sweep_texts_free(&words);
}

/* True when the cell has a value that no cell before it had; marks its values. */
static bool has_news(const SweepPlan *plan, rf_index cell, uint64_t *const *seen) {
  bool news = false;
  rf_index rest = plan->kept ? plan->kept[cell] : cell;
  for (rf_index k = plan->n_dials - 1; k >= 0; k--) {
    rf_index place = rest % plan->dial_sizes[k];
    rest /= plan->dial_sizes[k];
    news = news || !rf_bits_get(seen[k], place);
    rf_bits_set(seen[k], place);
  }
  return news;
}

static RfStatus check_cell(RfContext *context, const SweepPlan *plan, rf_index cell) {
  SweepTexts words = {0};
  RfStatus status = sweep_plan_words(context, &words, plan, cell);
  if (!status) status = plan->command->check(plan->command->user, context, (int)words.count, words.items);
  sweep_texts_free(&words);
  return status;
}

/* Every value in some cell: one that the command refuses is found before anything runs. */
static RfStatus check_cells(RfContext *context, const SweepPlan *plan) {
  uint64_t *seen[MOST_AXES] = {0};
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < plan->n_dials && !status; k++) {
    seen[k] = RF_NEW(uint64_t, rf_bits_words(plan->dial_sizes[k]));
    if (!seen[k]) status = sweep_out_of_memory(context);
  }
  if (!status && plan->n_cells > 0 && plan->n_dials == 0) status = check_cell(context, plan, 0);
  for (rf_index cell = 0; cell < plan->n_cells && plan->n_dials > 0 && !status; cell++)
    if (has_news(plan, cell, seen)) status = check_cell(context, plan, cell);
  for (rf_index k = 0; k < plan->n_dials; k++) rf_free(seen[k]);
  return status;
}

static double time_limit(const SweepPlan *plan) {
  double longest = 0, value;
  for (rf_index k = 0; k < plan->n_axes; k++) {
    if (plan->axes[k].form != SWEEP_OPTION || strcmp(plan->axes[k].name, "time") != 0) continue;
    for (rf_index i = 0; i < plan->axes[k].values.count; i++)
      if (sweep_is_number(plan->axes[k].values.items[i], &value)) longest = fmax(longest, value);
    return 2 * longest + 10; /* a command that honours --time ends well before this */
  }
  return 0;
}

RfStatus sweep_plan_new(RfContext *context, SweepPlan *plan, const SweepCommand *command, int count,
                        char **words, const char *zip, const char *where) {
  memset(plan, 0, sizeof *plan);
  plan->command = command;
  plan->axes = RF_NEW(SweepAxis, MOST_AXES);
  if (!plan->axes) return sweep_out_of_memory(context);
  RfStatus status = read_words(context, plan, count, words);
  if (!status) status = set_dials(context, plan, zip);
  if (!status && where) status = sweep_where(context, plan, where);
  if (!status) status = check_cells(context, plan);
  if (!status) plan->cell_limit = time_limit(plan);
  if (status) sweep_plan_free(plan);
  return status;
}
