/* Generators by name: the table for users, the parser of "NAME(values),key=value,...", the range of every
 * key, and the way from a draft (samples and integer labels) to a dataset. The data themselves are in
 * generate_exact.c and generate_random.c. */
#include "data/generate_internal.h"
#include "core/core.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ----------------------------------------------------------------------------- */

#define KEYS(...)                                                                                            \
  (const RfGeneratorKey[]){__VA_ARGS__},                                                                     \
      sizeof((const RfGeneratorKey[]){__VA_ARGS__}) / sizeof(RfGeneratorKey)
#define NO_KEYS NULL, 0
#define SEED                                                                                                 \
  { "seed", "0", "seed of the random numbers" }

static const RfGenerator generators[] = {
    {"orthant", "DS-PL", "PL sec. 5.1",
     "orthogonally separable: opposite orthants, in the half-space of (1,-1,1,...)",
     KEYS({"n", "500", "samples"}, {"d", "20", "dimension, at least 2"}, SEED)},
    {"separated", "DS-OS", "MMV ass. 1", "smallest cosine between signed samples is exactly sep",
     KEYS({"np", "5", "positive samples"}, {"nm", "5", "negative samples"},
          {"d", "3", "dimension, at least 2"}, {"sep", "0.2", "separability number in [-1,1]"}, SEED,
          {"n", "np+nm", "samples in all, instead of np and nm"})},
    {"planar", "DS-PL2", "PL thm 1", "five orthogonally separable points in the plane; both supports span it",
     NO_KEYS},
    {"pair", "DS-M2", "MMV app. A.2", "(1,0) and (sin t, cos t), both positive",
     KEYS({"t", "0.1", "angle in radians; 0 makes them orthogonal"},
          {"sep", "sin t", "instead of t, in [-1,1]"})},
    {"orthogonal", NULL, "MMV app. A.3", "unit vectors along the axes",
     KEYS({"n", "2", "samples"}, {"d", "n", "dimension, at least n"},
          {"np", "half", "how many, from the first, are positive"})},
    {"symmetric", "DS-SYM", "LLWA ass. 4.1", "random data closed under (x,y) -> (-x,-y), separator e1",
     KEYS({"h", "4", "positive samples, at least 2"}, {"d", "3", "dimension, at least 2"},
          {"g", "0.2", "margin before scaling"}, SEED)},
    {"symmetric-six", "DS-SYM6", "LLWA ass. 4.1", "six symmetric points in the plane", NO_KEYS},
    {"hinted", "DS-HINT", "LLWA def. 6.1", "a base with separator e1 and the hints (H,0), (eps,K), (eps,-K)",
     KEYS({"H", "20", "length of the long hint"}, {"K", "1", "height of the short hints"},
          {"eps", "0.1", "distance of the short hints from the boundary"},
          {"base", "square", "square: (+-0.5,+-0.5); six: symmetric-six"})},
    {"stripes", "DS-MID", "LLWA app. I.1.2", "two positive rows over two negatives in R^3",
     KEYS({"e", "0.05", "first coordinate of the nearest positives"},
          {"e2", "0.5", "of the nearest negative"}, {"c", "0.02", "constant third coordinate"})},
    {"kkt-left", "DS-LL1", "LLWA app. I.1.1", "symmetric data with a KKT point that is not optimal",
     KEYS({"leak", "0.5", "leak in [0,1)"})},
    {"shifted", "DS-T1", "LLWA table 1",
     "Gaussian data moved apart along the first axis, with a constant column",
     KEYS({"n", "50", "samples"}, SEED, {"d", "50", "dimension before the constant column"},
          {"shift", "0.45", "added to |first coordinate|"}, {"bias", "0.1", "value of the constant column"})},
    {"teacher", "DS-SEP", "VSS thm 3.1", "Gaussian data labelled by a random direction, a band removed",
     KEYS({"n", "20", "samples"}, {"d", "3", "dimension"}, SEED,
          {"margin", "0.3", "half width of the band, at most 4"})},
    {"gaussian", "DS-GEN", "WP thm 1", "Gaussian data with random labels",
     KEYS({"n", "10", "samples"}, {"d", "3", "dimension"}, SEED, {"classes", "2", "number of classes"})},
    {"vee", "DS-V1", "VSS thm 3.2", "(1,h) and (-1,h), both positive", KEYS({"h", "0.25", "height"})},
    {"vee-down", "DS-V4", "VSS thm 4.3", "(1,1/4), (-1,1/4), (0,-1), all positive", NO_KEYS},
    {"cross", "DS-V3", "VSS thm 4.2", "the four unit vectors of the axes, all positive", NO_KEYS},
    {"point", "DS-V2", "VSS thm 4.1", "the single positive sample (1,2)", NO_KEYS},
    {"diagonal-point", "DS-V6", "VSS thm 5.1", "the single positive sample (1,1)", NO_KEYS},
    {"two-patch", "DS-V5", "VSS thm 4.4", "the single positive sample (4,r,-4,r), r = sqrt(1/2)", NO_KEYS},
    {"spiky-pair", "DS-WP1", "WP app. F.1", "two samples, not spike-free, orthogonally separable", NO_KEYS},
    {"spike-free-pair", "DS-WP2", "WP app. F.2", "two positive samples, spike-free", NO_KEYS},
    {"pair-classes", "DS-MC2", "WP thm 2", "spiky-pair with the classes 1 and 2", NO_KEYS},
    {"axes-classes", "DS-MC3", "WP thm 2", "three unit vectors, three classes", NO_KEYS},
    {"multiclass-orthant", NULL, "WP thm 2",
     "orthogonally separable among K classes: one block of coordinates each",
     KEYS({"K", "3", "classes, at least 2"}, {"n", "30", "samples, classes by turns"},
          {"d", "6", "dimension, at least K"}, SEED)},
    {"boundary-negative", "DS-E3", "MMV app. E.3", "the single negative sample (1,0)", NO_KEYS},
    {"boundary-positive", "DS-E4", "MMV app. E.4", "the single positive sample (1,0)", NO_KEYS},
    {"xor", NULL, "-", "(+-1,+-1), label = product of the coordinates", NO_KEYS},
    {"rings", NULL, "-", "two circles around the origin, the inner one positive",
     KEYS({"n", "40", "samples, rings by turns"}, {"inner", "1", "radius of the positives"},
          {"outer", "2", "radius of the negatives"}, {"noise", "0", "standard deviation of the radius"},
          SEED)},
    {"digits", "DS-DIG", "MMV sec. 4", "two classes of the 28x28 digit files, pixels/255, centred",
     KEYS({"a", "0", "negative digit"}, {"b", "1", "positive digit"},
          {"dir", "",
           "folder of train-images-idx3-ubyte and train-labels-idx1-ubyte, .gz or not; empty: mnist in the "
           "data folder"},
          {"center", "1", "0 leaves the pixels in [0,1]"})},
};

static const struct {
  const char *name;
  RfBuildFn build;
} builders[] = {
    {"orthant", rf_build_orthant},
    {"separated", rf_build_separated},
    {"planar", rf_build_planar},
    {"pair", rf_build_pair},
    {"orthogonal", rf_build_orthogonal},
    {"symmetric", rf_build_symmetric},
    {"symmetric-six", rf_build_symmetric_six},
    {"hinted", rf_build_hinted},
    {"stripes", rf_build_stripes},
    {"kkt-left", rf_build_kkt_left},
    {"shifted", rf_build_shifted},
    {"teacher", rf_build_teacher},
    {"gaussian", rf_build_gaussian},
    {"vee", rf_build_vee},
    {"vee-down", rf_build_vee_down},
    {"cross", rf_build_cross},
    {"point", rf_build_point},
    {"diagonal-point", rf_build_diagonal_point},
    {"two-patch", rf_build_two_patch},
    {"spiky-pair", rf_build_spiky_pair},
    {"spike-free-pair", rf_build_spike_free_pair},
    {"pair-classes", rf_build_pair_classes},
    {"axes-classes", rf_build_axes_classes},
    {"multiclass-orthant", rf_build_multiclass_orthant},
    {"boundary-negative", rf_build_boundary_negative},
    {"boundary-positive", rf_build_boundary_positive},
    {"xor", rf_build_xor},
    {"rings", rf_build_rings},
};

/* What a key may be, everywhere or in one generator (the first match counts). */
typedef enum { COUNT, REAL, POSITIVE, TEXT, RANDOM_SEED } KeyKind;
static const struct {
  const char *generator, *name;
  KeyKind kind;
  double low, high;
} rules[] = {
    {"orthant", "d", COUNT, 2, 1e7},
    {"separated", "d", COUNT, 2, 1e7},
    {"symmetric", "d", COUNT, 2, 1e7},
    {"symmetric", "h", COUNT, 2, 1e9},
    {"multiclass-orthant", "K", COUNT, 2, 1e5},
    {NULL, "n", COUNT, 1, 2e9},
    {NULL, "d", COUNT, 1, 1e7},
    {NULL, "np", COUNT, 0, 1e9},
    {NULL, "nm", COUNT, 0, 1e9},
    {NULL, "classes", COUNT, 2, 1e5},
    {NULL, "a", COUNT, 0, 9},
    {NULL, "b", COUNT, 0, 9},
    {NULL, "sep", REAL, -1, 1},
    {NULL, "t", REAL, -1.5707963267948966, 1.5707963267948966},
    {NULL, "leak", REAL, 0, 0.999999},
    {NULL, "margin", REAL, 0, 4},
    {NULL, "noise", REAL, 0, 1e100},
    {NULL, "h", REAL, -1e100, 1e100},
    {NULL, "e", REAL, -1e100, 1e100},
    {NULL, "e2", REAL, -1e100, 1e100},
    {NULL, "c", REAL, -1e100, 1e100},
    {NULL, "shift", REAL, -1e100, 1e100},
    {NULL, "bias", REAL, -1e100, 1e100},
    {NULL, "g", POSITIVE, 0, 1e100},
    {NULL, "H", POSITIVE, 0, 1e100},
    {NULL, "K", POSITIVE, 0, 1e100},
    {NULL, "eps", POSITIVE, 0, 1e100},
    {NULL, "inner", POSITIVE, 0, 1e100},
    {NULL, "outer", POSITIVE, 0, 1e100},
    {NULL, "center", COUNT, 0, 1},
    {NULL, "base", TEXT, 0, 0},
    {NULL, "dir", TEXT, 0, 0},
    {NULL, "seed", RANDOM_SEED, 0, 0},
};

enum { N_GENERATORS = sizeof generators / sizeof *generators };

const RfGenerator *rf_data_generators(rf_index *count) {
  if (count) *count = N_GENERATORS;
  return generators;
}

/* ---- values of one call -------------------------------------------------------------------- */

static rf_index key_at(const RfGenerator *generator, const char *key) {
  for (rf_index k = 0; k < generator->n_keys; k++)
    if (strcmp(generator->keys[k].name, key) == 0) return k;
  return -1;
}

/* The accessors are called with names of the generator's own table only. */
double rf_value_number(const RfValues *values, const char *key) {
  return values->number[key_at(values->generator, key)];
}
rf_index rf_value_count(const RfValues *values, const char *key) {
  return (rf_index)rf_value_number(values, key);
}
bool rf_value_given(const RfValues *values, const char *key) {
  return values->given[key_at(values->generator, key)];
}
const char *rf_value_text(const RfValues *values, const char *key) {
  return values->text[key_at(values->generator, key)];
}

static RfStatus set_seed(RfContext *context, RfValues *values, const char *text) {
  char *end = NULL;
  errno = 0;
  unsigned long long seed = strtoull(text, &end, 10);
  if (!(*text >= '0' && *text <= '9') || *end || errno)
    return rf_fail(context, RF_ERR_USAGE, "gen:%s: seed must be a whole number from 0 to 2^64-1, got '%.40s'",
                   values->generator->name, text);
  values->seed = seed;
  return RF_OK;
}

static RfStatus set_value(RfContext *context, RfValues *values, rf_index k, const char *text) {
  const char *generator = values->generator->name, *key = values->generator->keys[k].name;
  size_t r = 0;
  while (strcmp(rules[r].name, key) != 0 ||
         (rules[r].generator && strcmp(rules[r].generator, generator) != 0))
    r++;
  values->text[k] = text;
  if (rules[r].kind == TEXT) return RF_OK;
  if (rules[r].kind == RANDOM_SEED) return set_seed(context, values, text);
  double number = NAN;
  bool whole = rules[r].kind == COUNT, positive = rules[r].kind == POSITIVE;
  if (!rf_number_read(&number, text) || (whole && number != floor(number)))
    return rf_fail(context, RF_ERR_USAGE, "gen:%s: %s must be a %s, got '%.40s'", generator, key,
                   whole ? "whole number" : "number", text);
  if (number < rules[r].low || number > rules[r].high || (positive && number <= 0))
    return rf_fail(context, RF_ERR_USAGE, "gen:%s: %s must lie in %c%.16g,%.16g], got %.40s", generator, key,
                   positive ? '(' : '[', rules[r].low, rules[r].high, text);
  values->number[k] = number;
  return RF_OK;
}

/* Defaults such as "np+nm" are words for what the generator derives itself: they stay 0 and not given. */
static RfStatus set_defaults(RfContext *context, RfValues *values) {
  for (rf_index k = 0; k < values->generator->n_keys; k++) {
    const RfGeneratorKey *key = &values->generator->keys[k];
    bool text = strcmp(key->name, "base") == 0 || strcmp(key->name, "dir") == 0;
    bool word = !text && !(*key->default_value >= '0' && *key->default_value <= '9');
    RfStatus status = word ? RF_OK : set_value(context, values, k, key->default_value);
    if (status) return status;
  }
  return RF_OK;
}

static RfStatus give_value(RfContext *context, RfValues *values, rf_index k, const char *text) {
  if (values->given[k])
    return rf_fail(context, RF_ERR_USAGE, "gen:%s: %s is given twice", values->generator->name,
                   values->generator->keys[k].name);
  values->given[k] = true;
  return set_value(context, values, k, text);
}

/* ---- parsing ----------------------------------------------------------------------------------------- */

static rf_index find_generator(const char *name) {
  for (rf_index g = 0; g < N_GENERATORS; g++)
    if (rf_letters_equal(generators[g].name, name, strlen(name) + 1) ||
        (generators[g].alias && rf_letters_equal(generators[g].alias, name, strlen(name) + 1)))
      return g;
  return -1;
}

/* Cuts text at the next comma; *rest is what follows, NULL at the end. */
static char *next_item(char **rest) {
  char *item = *rest, *comma = item ? strchr(item, ',') : NULL;
  if (comma) *comma = 0;
  *rest = comma ? comma + 1 : NULL;
  return item;
}

static RfStatus read_positional(RfContext *context, RfValues *values, char *list) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; list && !status; k++) {
    char *item = next_item(&list);
    if (k == 0 && *item == 0 && !list) break;
    if (k >= values->generator->n_keys)
      return rf_fail(context, RF_ERR_USAGE, "gen:%s takes at most %lld values in parentheses",
                     values->generator->name, (long long)values->generator->n_keys);
    status = give_value(context, values, k, item);
  }
  return status;
}

static RfStatus read_keys(RfContext *context, RfValues *values, char *list) {
  RfStatus status = RF_OK;
  while (list && !status) {
    char *item = next_item(&list), *equals = strchr(item, '=');
    if (!equals)
      return rf_fail(context, RF_ERR_USAGE, "gen:%s: expected key=value, got '%.40s'",
                     values->generator->name, item);
    *equals = 0;
    rf_index k = key_at(values->generator, item);
    if (k < 0)
      return rf_fail(context, RF_ERR_USAGE, "gen:%s has no key '%.40s' (reluflow data list shows the keys)",
                     values->generator->name, item);
    status = give_value(context, values, k, equals + 1);
  }
  return status;
}

/* "/C" after the name: *divisor = C, or -1 for "/max". */
static RfStatus read_divisor(RfContext *context, double *divisor, const char *text) {
  *divisor = -1;
  if (strcmp(text, "max") != 0 && (!rf_number_read(divisor, text) || *divisor <= 0))
    return rf_fail(context, RF_ERR_USAGE,
                   "gen: the divisor after / must be a positive number or max, got '%.40s'", text);
  return RF_OK;
}

/* text is NAME[(values)][/C][,key=value...]; it is cut into pieces, to which values->text points. */
static RfStatus read_spec(RfContext *context, RfValues *values, double *divisor, char *text) {
  size_t length = strcspn(text, ",(/");
  char *rest = text + length, mark = *rest, *inside = NULL;
  RfStatus status;
  if (mark) *rest++ = 0;
  rf_index g = find_generator(text);
  if (g < 0)
    return rf_fail(context, RF_ERR_USAGE, "unknown generator '%.60s' (reluflow data list shows all)", text);
  values->generator = &generators[g];
  if ((status = set_defaults(context, values))) return status;
  if (mark == '(') {
    inside = rest;
    rest = strchr(inside, ')');
    if (!rest)
      return rf_fail(context, RF_ERR_USAGE, "gen:%s: closing parenthesis missing", values->generator->name);
    *rest++ = 0;
    mark = *rest;
    if (mark) *rest++ = 0;
    if (mark && mark != ',' && mark != '/')
      return rf_fail(context, RF_ERR_USAGE, "gen:%s: expected a comma after the parentheses",
                     values->generator->name);
    if ((status = read_positional(context, values, inside))) return status;
  }
  if (mark == '/') {
    char *quotient = next_item(&rest);
    if ((status = read_divisor(context, divisor, quotient))) return status;
    mark = rest ? ',' : 0;
  }
  return mark == ',' ? read_keys(context, values, rest) : RF_OK;
}

/* ---- from draft to dataset ----------------------------------------------------------------- */

void rf_draft_free(RfDraft *draft) {
  rf_free(draft->X);
  rf_free(draft->label);
  memset(draft, 0, sizeof *draft);
}

RfStatus rf_draft_new(RfContext *context, RfDraft *draft, rf_index n, rf_index d) {
  rf_index entries;
  memset(draft, 0, sizeof *draft);
  if (!rf_multiply_sizes(&entries, n, d) || entries > 2000000000)
    return rf_fail(context, RF_ERR_USAGE, "gen: %lld samples of dimension %lld are more than 2e9 numbers",
                   (long long)n, (long long)d);
  draft->X = RF_NEW(double, entries);
  draft->label = RF_NEW(int32_t, n);
  if (!draft->X || !draft->label) {
    rf_draft_free(draft);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples of dimension %lld", (long long)n,
                   (long long)d);
  }
  draft->n = n, draft->d = d;
  return RF_OK;
}

RfStatus rf_draft_fill(RfContext *context, RfDraft *draft, const double *X, const int32_t *label, rf_index n,
                       rf_index d) {
  RfStatus status = rf_draft_new(context, draft, n, d);
  if (status) return status;
  memcpy(draft->X, X, (size_t)(n * d) * sizeof *X);
  memcpy(draft->label, label, (size_t)n * sizeof *label);
  return RF_OK;
}

RfStatus rf_draft_poll(RfContext *context, rf_index sample) {
  if (sample % 1024 != 1023 || !rf_context_stop(context)) return RF_OK;
  return rf_fail(context, RF_INTERRUPTED, "interrupted while generating data");
}

static void divide(RfDraft *draft, double divisor) {
  double largest = 0;
  for (rf_index i = 0; divisor < 0 && i < draft->n; i++) {
    double square = 0;
    for (rf_index j = 0; j < draft->d; j++) square += draft->X[i * draft->d + j] * draft->X[i * draft->d + j];
    largest = fmax(largest, square);
  }
  if (divisor < 0) divisor = largest > 0 ? sqrt(largest) : 1;
  for (rf_index k = 0; divisor != 1 && k < draft->n * draft->d; k++) draft->X[k] /= divisor;
}

static int compare_labels(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Sorted distinct labels in `distinct` (n entries of room), their number returned. */
static rf_index distinct_labels(int32_t *distinct, const int32_t *label, rf_index n) {
  rf_index count = 0;
  memcpy(distinct, label, (size_t)n * sizeof *label);
  qsort(distinct, (size_t)n, sizeof *distinct, compare_labels);
  for (rf_index i = 0; i < n; i++)
    if (i == 0 || distinct[i] != distinct[count - 1]) distinct[count++] = distinct[i];
  return count;
}

static bool name_classes(RfDataset *dataset, const int32_t *distinct) {
  for (rf_index k = 0; k < dataset->n_classes; k++) {
    char text[16];
    rf_format(text, sizeof text, "%d", (int)distinct[k]);
    if (!(dataset->class_names[k] = rf_copy_text(text))) return false;
  }
  return true;
}

/* Moves the samples of the draft into the dataset and codes the labels. */
static RfStatus finish(RfContext *context, RfDataset *dataset, RfDraft *draft, const char *spec) {
  rf_index n = draft->n;
  int32_t *distinct = RF_NEW(int32_t, n);
  bool complete = false;
  if (!distinct) goto done;
  dataset->n_classes = distinct_labels(distinct, draft->label, n);
  dataset->name = rf_copy_text(spec);
  dataset->class_of = RF_NEW(int32_t, n);
  dataset->class_names = RF_NEW(char *, dataset->n_classes);
  dataset->y = dataset->n_classes <= 2 ? RF_NEW(double, n) : NULL;
  if (!dataset->name || !dataset->class_of || !dataset->class_names ||
      (dataset->n_classes <= 2 && !dataset->y) || !name_classes(dataset, distinct))
    goto done;
  for (rf_index i = 0; i < n; i++) {
    int32_t *at =
        bsearch(&draft->label[i], distinct, (size_t)dataset->n_classes, sizeof *distinct, compare_labels);
    dataset->class_of[i] = (int32_t)(at - distinct);
    if (dataset->n_classes == 2) dataset->y[i] = dataset->class_of[i] ? 1 : -1;
    if (dataset->n_classes == 1) dataset->y[i] = draft->label[i] > 0 ? 1 : -1;
  }
  dataset->n = n, dataset->d = draft->d, dataset->X = draft->X;
  draft->X = NULL;
  complete = true;
done:
  rf_free(distinct);
  if (complete) return RF_OK;
  rf_dataset_free(dataset);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for the labels of %lld samples", (long long)n);
}

static RfStatus build(RfContext *context, RfDraft *draft, const RfValues *values) {
  for (size_t b = 0; b < sizeof builders / sizeof *builders; b++)
    if (strcmp(builders[b].name, values->generator->name) == 0)
      return builders[b].build(context, draft, values);
  return rf_fail(context, RF_ERR_INTERNAL, "generator %s has no builder", values->generator->name);
}

static RfStatus make(RfContext *context, RfDataset *dataset, const RfValues *values, double divisor,
                     const char *spec) {
  if (strcmp(values->generator->name, "digits") == 0)
    return rf_generate_digits(context, dataset, values, divisor, spec);
  RfDraft draft = {0};
  RfStatus status = build(context, &draft, values);
  if (!status) {
    divide(&draft, divisor);
    status = finish(context, dataset, &draft, spec);
  }
  rf_draft_free(&draft);
  return status;
}

RfStatus rf_data_generate(RfContext *context, RfDataset *dataset, const char *spec) {
  RfValues values = {0};
  double divisor = 1;
  memset(dataset, 0, sizeof *dataset);
  char *text = rf_copy_text(strncmp(spec, "gen:", 4) == 0 ? spec + 4 : spec);
  RfStatus status = text ? read_spec(context, &values, &divisor, text)
                         : rf_fail(context, RF_ERR_MEMORY, "out of memory for a generator's name");
  if (!status && values.generator) status = make(context, dataset, &values, divisor, spec);
  rf_free(text);
  return status;
}
