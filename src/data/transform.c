/* What is done to a dataset between file and mathematics, always in this order: classes, shuffle, limit,
 * divide, center, standardize, unit, bias. All in place; the matrix is never held twice. */
#include "data/data_internal.h"
#include "core/core.h"

#include <math.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

static void move_row(RfDataset *dataset, rf_index to, rf_index from) {
  if (to == from) return;
  memmove(dataset->X + to * dataset->d, dataset->X + from * dataset->d, (size_t)dataset->d * sizeof(double));
  dataset->class_of[to] = dataset->class_of[from];
  if (dataset->y) dataset->y[to] = dataset->y[from];
}

static void shrink_rows(RfDataset *dataset, rf_index n) {
  dataset->n = n;
  double *smaller = rf_resize(dataset->X, n * dataset->d, sizeof(double));
  if (smaller) dataset->X = smaller;
}

/* Drops the names of classes without rows and renumbers. The signs stay when there were two classes (half of
 * a binary set keeps its meaning); a set of several classes that is left with two or one gets signs anew. */
static RfStatus drop_empty_classes(RfContext *context, RfDataset *dataset) {
  rf_index kept = 0, before = dataset->n_classes;
  int32_t *renumbered = RF_NEW(int32_t, before);
  if (!renumbered) return rf_fail(context, RF_ERR_MEMORY, "out of memory for classes");
  for (rf_index i = 0; i < dataset->n; i++) renumbered[dataset->class_of[i]] = 1;
  for (rf_index k = 0; k < before; k++) {
    char *name = dataset->class_names[k];
    dataset->class_names[k] = NULL;
    if (renumbered[k]) {
      dataset->class_names[kept] = name;
      renumbered[k] = (int32_t)kept++;
    } else {
      rf_free(name);
    }
  }
  for (rf_index i = 0; i < dataset->n; i++) dataset->class_of[i] = renumbered[dataset->class_of[i]];
  rf_free(renumbered);
  dataset->n_classes = kept;
  return before > 2 && kept <= 2 ? rf_dataset_set_signs(context, dataset) : RF_OK;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Class with this name: the same text, or the same number. -1 when there is none. */
static rf_index find_class(const RfDataset *dataset, const char *text, size_t length) {
  char copy[256];
  double wanted, value;
  for (rf_index k = 0; k < dataset->n_classes; k++) {
    const char *name = dataset->class_names[k];
    if (strlen(name) == length && memcmp(name, text, length) == 0) return k;
  }
  if (length >= sizeof copy) return -1;
  memcpy(copy, text, length);
  copy[length] = 0;
  if (rf_number_whole(&wanted, copy, length) != RF_NUMBER_FINITE) return -1;
  for (rf_index k = 0; k < dataset->n_classes; k++) {
    const char *name = dataset->class_names[k];
    if (rf_number_whole(&value, name, strlen(name)) == RF_NUMBER_FINITE && value == wanted) return k;
  }
  return -1;
}

/* "A,B" at the comma that makes both sides names of classes (names may contain commas). */
static RfStatus find_pair(RfContext *context, const RfDataset *dataset, const char *classes,
                          rf_index pair[2]) {
  const char *comma = strchr(classes, ',');
  if (!comma) return rf_fail(context, RF_ERR_USAGE, "--classes %.100s: expected two classes A,B", classes);
  for (const char *p = comma; p; p = strchr(p + 1, ',')) {
    pair[0] = find_class(dataset, classes, (size_t)(p - classes));
    pair[1] = find_class(dataset, p + 1, strlen(p + 1));
    if (pair[0] < 0 || pair[1] < 0) continue;
    if (pair[0] != pair[1]) return RF_OK;
    return rf_fail(context, RF_ERR_USAGE, "--classes %.100s: expected two different classes", classes);
  }
  bool first = find_class(dataset, classes, (size_t)(comma - classes)) >= 0;
  char shown[RF_SHOWN_SIZE];
  rf_shown(shown, first ? comma + 1 : classes, first ? strlen(comma + 1) : (size_t)(comma - classes));
  return rf_fail(context, RF_ERR_USAGE, "--classes: no class '%s' in %.200s", shown, dataset->name);
}

static RfStatus keep_classes(RfContext *context, RfDataset *dataset, const char *classes) {
  rf_index pair[2] = {-1, -1}, kept = 0;
  RfStatus status = find_pair(context, dataset, classes, pair);
  if (status) return status;
  for (rf_index i = 0; i < dataset->n; i++) {
    if (dataset->class_of[i] != pair[0] && dataset->class_of[i] != pair[1]) continue;
    move_row(dataset, kept, i);
    dataset->class_of[kept] = dataset->class_of[kept] == pair[1];
    kept++;
  }
  shrink_rows(dataset, kept);
  char *names[2] = {dataset->class_names[pair[0]], dataset->class_names[pair[1]]};
  for (rf_index k = 0; k < dataset->n_classes; k++) {
    if (k != pair[0] && k != pair[1]) rf_free(dataset->class_names[k]);
  }
  dataset->class_names[0] = names[0], dataset->class_names[1] = names[1];
  dataset->n_classes = 2;
  return rf_dataset_set_signs(context, dataset);
}

/* ---- order and number of rows ---------------------------------------------------------------- */

static void swap_rows(RfDataset *dataset, rf_index i, rf_index j) {
  double *a = dataset->X + i * dataset->d, *b = dataset->X + j * dataset->d;
  for (rf_index k = 0; k < dataset->d; k++) {
    double keep = a[k];
    a[k] = b[k], b[k] = keep;
  }
  int32_t class_keep = dataset->class_of[i];
  dataset->class_of[i] = dataset->class_of[j], dataset->class_of[j] = class_keep;
  if (!dataset->y) return;
  double label_keep = dataset->y[i];
  dataset->y[i] = dataset->y[j], dataset->y[j] = label_keep;
}

/* Fisher-Yates, the same draws as rf_random_permutation: row i of the result is row order[i] of the file. */
static void shuffle_rows(RfDataset *dataset, uint64_t seed) {
  RfRandom random;
  rf_random_init(&random, seed, 0);
  for (rf_index i = dataset->n - 1; i > 0; i--) {
    rf_index j = rf_random_below(&random, i + 1);
    if (i != j) swap_rows(dataset, i, j);
  }
}

static RfStatus limit_rows(RfContext *context, RfDataset *dataset, rf_index limit) {
  if (limit == 0) return rf_fail(context, RF_ERR_USAGE, "--limit 0 leaves no rows");
  if (limit < 0 || limit >= dataset->n) return RF_OK;
  shrink_rows(dataset, limit);
  return drop_empty_classes(context, dataset);
}

/* ---- values ---------------------------------------------------------------------------------- */

static RfStatus divide_values(RfContext *context, RfDataset *dataset, double divisor) {
  if (!isfinite(divisor) || divisor == 0) {
    return rf_fail(context, RF_ERR_USAGE, "--divide: expected a finite number other than 0");
  }
  if (divisor == 1) return RF_OK;
  for (rf_index k = 0; k < dataset->n * dataset->d; k++) {
    dataset->X[k] /= divisor;
    if (!isfinite(dataset->X[k]))
      return rf_fail(context, RF_ERR_USAGE, "--divide %g: a cell overflows", divisor);
  }
  return RF_OK;
}

/* x_i <- x_i - mean, the mean sample over all rows. Sums are compensated (Neumaier), column by column within
 * a row sweep, and scaled by 1/n first so that they cannot overflow; a second sweep removes the mean that
 * rounding left. */
static RfStatus center_values(RfContext *context, RfDataset *dataset) {
  rf_index n = dataset->n, d = dataset->d;
  double *sum = RF_NEW(double, 2 * d), *low = sum + d;
  if (!sum) return rf_fail(context, RF_ERR_MEMORY, "out of memory for --center");
  for (int sweep = 0; sweep < 2; sweep++) {
    memset(sum, 0, (size_t)(2 * d) * sizeof *sum);
    for (rf_index i = 0; i < n; i++) {
      for (rf_index j = 0; j < d; j++) {
        double term = dataset->X[i * d + j] / (double)n, total = sum[j] + term;
        low[j] += fabs(sum[j]) >= fabs(term) ? (sum[j] - total) + term : (term - total) + sum[j];
        sum[j] = total;
      }
    }
    for (rf_index i = 0; i < n; i++) {
      for (rf_index j = 0; j < d; j++) dataset->X[i * d + j] -= sum[j] + low[j];
    }
  }
  rf_free(sum);
  for (rf_index k = 0; k < n * d; k++) {
    if (!isfinite(dataset->X[k])) return rf_fail(context, RF_ERR_USAGE, "--center: a cell overflows");
  }
  return RF_OK;
}

/* Columns to mean 0 and deviation 1 over the n rows. The deviation is taken from entries scaled by the
 * largest, so that squares neither overflow nor vanish; a column whose entries are equal up to rounding
 * becomes 0. */
static RfStatus standardize_columns(RfContext *context, RfDataset *dataset) {
  rf_index n = dataset->n, d = dataset->d;
  double *before = RF_NEW(double, d);
  if (!before) return rf_fail(context, RF_ERR_MEMORY, "out of memory for --standardize");
  for (rf_index i = 0; i < n; i++)
    for (rf_index j = 0; j < d; j++) before[j] = fmax(before[j], fabs(dataset->X[i * d + j]));
  RfStatus status = center_values(context, dataset);
  for (rf_index j = 0; j < d && !status; j++) {
    double largest = 0, square = 0;
    for (rf_index i = 0; i < n; i++) largest = fmax(largest, fabs(dataset->X[i * d + j]));
    bool constant = !(largest > RF_DATA_CONSTANT * before[j]);
    for (rf_index i = 0; i < n && !constant; i++) {
      double part = dataset->X[i * d + j] / largest;
      square += part * part;
    }
    double deviation = sqrt(square / (double)n); /* in units of the largest entry */
    for (rf_index i = 0; i < n; i++)
      dataset->X[i * d + j] = constant ? 0 : dataset->X[i * d + j] / largest / deviation;
  }
  rf_free(before);
  return status;
}

/* Rows to norm 1; scaled by the largest entry first, so that squares neither overflow nor vanish. */
static void unit_rows(RfDataset *dataset) {
  for (rf_index i = 0; i < dataset->n; i++) {
    double *row = dataset->X + i * dataset->d, largest = 0, square = 0;
    for (rf_index j = 0; j < dataset->d; j++) largest = fmax(largest, fabs(row[j]));
    if (largest == 0) continue;
    int exponent;
    frexp(largest, &exponent); /* a power of two scales without rounding */
    for (rf_index j = 0; j < dataset->d; j++) {
      row[j] = ldexp(row[j], -exponent);
      square += row[j] * row[j];
    }
    double norm = sqrt(square);
    for (rf_index j = 0; j < dataset->d; j++) row[j] /= norm;
  }
}

static RfStatus append_bias(RfContext *context, RfDataset *dataset, double bias, int64_t memory_limit) {
  if (!isfinite(bias)) return rf_fail(context, RF_ERR_USAGE, "--bias: expected a finite number");
  RfMatrix matrix = {dataset->X, dataset->n, dataset->d, dataset->n, memory_limit};
  RfStatus status = rf_matrix_widen(context, &matrix, dataset->name ? dataset->name : "", dataset->d + 1);
  dataset->X = matrix.values;
  if (status) return status;
  dataset->d++;
  for (rf_index i = 0; i < dataset->n; i++) dataset->X[i * dataset->d + dataset->d - 1] = bias;
  return RF_OK;
}

RfStatus rf_data_transform(RfContext *context, RfDataset *dataset, const RfDataSource *source) {
  RfStatus status = RF_OK;
  if (source->classes) status = keep_classes(context, dataset, source->classes);
  if (!status && source->shuffle) shuffle_rows(dataset, source->shuffle_seed);
  if (!status) status = limit_rows(context, dataset, source->limit);
  if (!status) status = divide_values(context, dataset, source->divide);
  if (!status && source->center) status = center_values(context, dataset);
  if (!status && source->standardize) status = standardize_columns(context, dataset);
  if (!status && source->unit) unit_rows(dataset);
  if (!status && source->has_bias)
    status = append_bias(context, dataset, source->bias, rf_data_memory_limit(source));
  return status;
}
