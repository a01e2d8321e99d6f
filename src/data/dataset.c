/* Datasets as structs: from arrays, one class against the rest, signs from classes, release. */
#include "data/data_internal.h"
#include "core/core.h"

#include <math.h>
#include <string.h>

void rf_dataset_free(RfDataset *dataset) {
  if (!dataset) return;
  for (rf_index k = 0; dataset->class_names && k < dataset->n_classes; k++) rf_free(dataset->class_names[k]);
  rf_free(dataset->class_names);
  rf_free(dataset->class_of);
  rf_free(dataset->name);
  if (!dataset->borrows_X) rf_free(dataset->X);
  rf_free(dataset->y);
  memset(dataset, 0, sizeof *dataset);
}

/* A lone class is negative only when its name is a number <= 0. */
static bool lone_class_is_negative(const char *name) {
  double value;
  return rf_number_whole(&value, name, strlen(name)) == RF_NUMBER_FINITE && value <= 0;
}

RfStatus rf_dataset_set_signs(RfContext *context, RfDataset *dataset) {
  rf_free(dataset->y);
  dataset->y = NULL;
  if (dataset->n_classes < 1 || dataset->n_classes > 2) return RF_OK;
  dataset->y = RF_NEW(double, dataset->n);
  if (!dataset->y) return rf_fail(context, RF_ERR_MEMORY, "out of memory for labels");
  double first = dataset->n_classes == 2 || lone_class_is_negative(dataset->class_names[0]) ? -1 : 1;
  for (rf_index i = 0; i < dataset->n; i++) dataset->y[i] = dataset->class_of[i] == 0 ? first : 1;
  return RF_OK;
}

/* class_of and class_names from y in {-1,+1}; names[0] goes with -1, names[1] with +1. */
static bool classes_from_signs(RfDataset *dataset, const char *const names[2]) {
  bool seen[2] = {false, false};
  for (rf_index i = 0; i < dataset->n; i++) seen[dataset->y[i] > 0] = true;
  dataset->class_of = RF_NEW(int32_t, dataset->n);
  dataset->class_names = RF_NEW(char *, 2);
  if (!dataset->class_of || !dataset->class_names) return false;
  for (int sign = 0; sign < 2; sign++) {
    if (!seen[sign]) continue;
    char *name = rf_copy_text(names[sign]);
    if (!name) return false;
    dataset->class_names[dataset->n_classes++] = name;
  }
  for (rf_index i = 0; i < dataset->n; i++) {
    dataset->class_of[i] = dataset->n_classes == 2 && dataset->y[i] > 0 ? 1 : 0;
  }
  return true;
}

/* *cells = n d, when X may be the samples of a dataset. */
static RfStatus check_samples(RfContext *context, rf_index *cells, const double *X, rf_index n, rf_index d) {
  if (n < 1 || d < 1)
    return rf_fail(context, RF_ERR_USAGE, "a dataset needs at least one row and one column");
  if (!rf_multiply_sizes(cells, n, d)) return rf_fail(context, RF_ERR_MEMORY, "dataset too large");
  for (rf_index k = 0; k < *cells; k++) {
    if (isfinite(X[k])) continue;
    return rf_fail(context, RF_ERR_USAGE, "row %lld, column %lld of X is not finite", (long long)(k / d),
                   (long long)(k % d));
  }
  return RF_OK;
}

/* Copies of the classes; every one of them has a sample. */
static RfStatus adopt_classes(RfContext *context, RfDataset *dataset, const int32_t *class_of,
                              const char *const *names, rf_index n_classes) {
  dataset->class_of = RF_NEW(int32_t, dataset->n);
  dataset->class_names = RF_NEW(char *, n_classes);
  bool enough = dataset->class_of && dataset->class_names, inside = true;
  for (rf_index k = 0; enough && k < n_classes; k++) {
    dataset->class_names[k] = rf_copy_text(names[k]);
    enough = dataset->class_names[k] != NULL;
    dataset->n_classes = k + 1;
  }
  for (rf_index i = 0; enough && i < dataset->n; i++) {
    dataset->class_of[i] = class_of[i];
    inside = inside && class_of[i] >= 0 && class_of[i] < n_classes;
  }
  if (!enough) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a dataset");
  return inside ? rf_dataset_set_signs(context, dataset)
                : rf_fail(context, RF_ERR_USAGE, "a class number is not below %lld", (long long)n_classes);
}

static bool changes_samples(const RfDataSource *source) {
  return source->classes || source->shuffle || source->limit >= 0 || source->divide != 1 || source->center ||
         source->standardize || source->unit || source->has_bias;
}

RfStatus rf_data_adopt(RfContext *context, RfDataset *dataset, const RfDataSource *source, const double *X,
                       const int32_t *class_of, const char *const *class_names, rf_index n, rf_index d,
                       rf_index n_classes) {
  rf_index cells;
  memset(dataset, 0, sizeof *dataset);
  RfStatus status = check_samples(context, &cells, X, n, d);
  if (status) return status;
  bool copy = changes_samples(source);
  dataset->n = n, dataset->d = d;
  dataset->borrows_X = !copy;
  dataset->X = copy ? rf_copy_doubles(X, cells) : (double *)X;
  dataset->name = rf_copy_text(source->path ? source->path : "");
  if (!dataset->X || !dataset->name) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a dataset");
  if (!status) status = adopt_classes(context, dataset, class_of, class_names, n_classes);
  if (!status) status = rf_labels_check(context, dataset);
  if (!status && copy) status = rf_data_transform(context, dataset, source);
  if (status) rf_dataset_free(dataset);
  return status;
}

RfStatus rf_dataset_from_arrays(RfContext *context, RfDataset *dataset, const double *X, const double *y,
                                rf_index n, rf_index d, const char *name) {
  static const char *const names[2] = {"-1", "1"};
  rf_index cells;
  memset(dataset, 0, sizeof *dataset);
  RfStatus status = check_samples(context, &cells, X, n, d);
  if (status) return status;
  for (rf_index i = 0; i < n; i++) {
    if (y[i] == 1 || y[i] == -1) continue;
    return rf_fail(context, RF_ERR_USAGE, "label %lld is neither -1 nor +1", (long long)i);
  }
  dataset->n = n, dataset->d = d;
  dataset->name = rf_copy_text(name ? name : "");
  dataset->X = rf_copy_doubles(X, cells);
  dataset->y = rf_copy_doubles(y, n);
  if (dataset->name && dataset->X && dataset->y && classes_from_signs(dataset, names)) return RF_OK;
  rf_dataset_free(dataset);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a dataset");
}

RfStatus rf_dataset_one_versus_rest(RfContext *context, RfDataset *out, const RfDataset *dataset,
                                    rf_index k) {
  memset(out, 0, sizeof *out);
  if (k < 0 || k >= dataset->n_classes) {
    return rf_fail(context, RF_ERR_USAGE, "class %lld of %lld does not exist", (long long)k,
                   (long long)dataset->n_classes);
  }
  const char *names[2] = {"rest", dataset->class_names[k]};
  out->n = dataset->n, out->d = dataset->d;
  out->name = rf_copy_text(dataset->name ? dataset->name : "");
  out->X = rf_copy_doubles(dataset->X, dataset->n * dataset->d);
  out->y = RF_NEW(double, dataset->n);
  for (rf_index i = 0; out->y && i < dataset->n; i++) out->y[i] = dataset->class_of[i] == k ? 1 : -1;
  if (out->name && out->X && out->y && classes_from_signs(out, names)) return RF_OK;
  rf_dataset_free(out);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a dataset");
}
