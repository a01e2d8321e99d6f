/* Label texts to classes. Texts are interned as they arrive; at the end they are sorted (numerically when all
 * are numbers, else bytewise), equal numbers written differently ("1", "+1", "1.0") become one class, and two
 * classes become -1 and +1. */
#include "data/data_internal.h"
#include "core/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(const char *text, size_t length) {
  uint64_t hash = rf_hash_bytes(RF_HASH_START, text, length);
  return hash ^ hash >> 29;
}

static bool same_text(const char *kept, const char *text, size_t length) {
  return strncmp(kept, text, length) == 0 && kept[length] == 0;
}

/* Slot of the text, or the empty slot where it belongs. n_slots is a power of two, at most half full. */
static int32_t *find_slot(const RfLabels *labels, const char *text, size_t length) {
  rf_index at = (rf_index)(hash_text(text, length) & (uint64_t)(labels->n_slots - 1));
  while (labels->slots[at] >= 0 && !same_text(labels->texts[labels->slots[at]], text, length)) {
    at = (at + 1) & (labels->n_slots - 1);
  }
  return labels->slots + at;
}

static bool grow_table(RfLabels *labels) {
  rf_index n_slots = labels->n_slots > 0 ? 4 * labels->n_slots : 64;
  int32_t *slots = RF_NEW(int32_t, n_slots);
  char **texts = (char **)rf_resize(labels->texts, n_slots / 2, sizeof *texts);
  if (texts) labels->texts = texts;
  if (!slots || !texts) {
    rf_free(slots);
    return false;
  }
  rf_free(labels->slots);
  labels->slots = slots, labels->n_slots = n_slots, labels->texts_capacity = n_slots / 2;
  for (rf_index k = 0; k < n_slots; k++) slots[k] = -1;
  for (rf_index k = 0; k < labels->n_texts; k++) {
    *find_slot(labels, texts[k], strlen(texts[k])) = (int32_t)k;
  }
  return true;
}

static RfStatus intern(RfContext *context, RfLabels *labels, const char *text, size_t length, int32_t *id) {
  if (labels->n_texts == labels->texts_capacity && !grow_table(labels)) goto memory;
  int32_t *slot = find_slot(labels, text, length);
  if (*slot < 0) {
    if (labels->n_texts == RF_LABELS_MAX) return RF_LIMIT;
    char *copy = (char *)rf_alloc((rf_index)length + 1, 1);
    if (!copy) goto memory;
    memcpy(copy, text, length);
    labels->texts[labels->n_texts] = copy;
    *slot = (int32_t)labels->n_texts++;
  }
  *id = *slot;
  return RF_OK;
memory:
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for labels");
}

RfStatus rf_labels_add(RfContext *context, RfLabels *labels, const char *text, size_t length) {
  if (labels->count == labels->capacity) {
    rf_index capacity = labels->capacity + labels->capacity / 2 + 64;
    int32_t *ids = (int32_t *)rf_resize(labels->ids, capacity, sizeof *ids);
    if (!ids) return rf_fail(context, RF_ERR_MEMORY, "out of memory for labels");
    labels->ids = ids, labels->capacity = capacity;
  }
  int32_t id =
      labels->count > 0 ? labels->ids[labels->count - 1] : -1; /* often the same as in the row above */
  if (id < 0 || !same_text(labels->texts[id], text, length)) {
    RfStatus status = intern(context, labels, text, length, &id);
    if (status) return status;
  }
  labels->ids[labels->count++] = id;
  return RF_OK;
}

bool rf_labels_all_numbers(char *const *texts, rf_index count) {
  double value;
  for (rf_index k = 0; k < count; k++) {
    if (rf_number_whole(&value, texts[k], strlen(texts[k])) != RF_NUMBER_FINITE) return false;
  }
  return true;
}

typedef struct LabelOrder {
  double value; /* 0 when labels are names */
  const char *text;
  int32_t id;
} LabelOrder;

static int compare_labels(const void *left, const void *right) {
  const LabelOrder *a = left, *b = right;
  if (a->value != b->value) return a->value < b->value ? -1 : 1;
  int order = strcmp(a->text, b->text);
  return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

/* class_names, n_classes, and in class_of_id the class of every interned text. */
static bool sort_classes(RfDataset *dataset, RfLabels *labels, int32_t *class_of_id) {
  rf_index count = labels->n_texts, classes = 0;
  bool numbers = rf_labels_all_numbers(labels->texts, count);
  LabelOrder *order = RF_NEW(LabelOrder, count);
  dataset->class_names = RF_NEW(char *, count);
  if (!order || !dataset->class_names) {
    rf_free(order);
    return false;
  }
  for (rf_index k = 0; k < count; k++) {
    order[k] = (LabelOrder){0, numbers ? "" : labels->texts[k], (int32_t)k};
    if (numbers) rf_number_whole(&order[k].value, labels->texts[k], strlen(labels->texts[k]));
  }
  qsort(order, (size_t)count, sizeof *order, compare_labels);
  for (rf_index k = 0; k < count; k++) {
    bool same = k > 0 && numbers && order[k].value == order[k - 1].value;
    if (!same) {
      dataset->class_names[classes++] = labels->texts[order[k].id];
      labels->texts[order[k].id] = NULL; /* moved */
    }
    class_of_id[order[k].id] = (int32_t)(classes - 1);
  }
  dataset->n_classes = classes;
  rf_free(order);
  return true;
}

RfStatus rf_labels_check(RfContext *context, const RfDataset *dataset) {
  rf_index count = dataset->n_classes;
  bool fractions = false;
  if (count <= 3 || (count <= RF_DATA_MOST_FRACTIONS && count <= dataset->n / 2)) return RF_OK;
  for (rf_index k = 0; k < count; k++) {
    double value;
    const char *name = dataset->class_names[k];
    if (rf_number_whole(&value, name, strlen(name)) != RF_NUMBER_FINITE) return RF_OK;
    fractions = fractions || value != floor(value);
  }
  if (!fractions) return RF_OK;
  return rf_fail(
      context, RF_ERR_INPUT,
      "%.200s: %lld different labels among %lld samples, not all integers: these are measurements, not "
      "classes; choose the label column with --label, or make two classes of the numbers first",
      dataset->name ? dataset->name : "data", (long long)count, (long long)dataset->n);
}

RfStatus rf_labels_finish(RfContext *context, RfDataset *dataset, RfLabels *labels) {
  int32_t *class_of_id = RF_NEW(int32_t, labels->n_texts);
  if (!class_of_id || !sort_classes(dataset, labels, class_of_id)) {
    rf_free(class_of_id);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for labels");
  }
  for (rf_index i = 0; i < labels->count; i++) labels->ids[i] = class_of_id[labels->ids[i]];
  rf_free(class_of_id);
  dataset->class_of = labels->ids;
  labels->ids = NULL;
  return rf_dataset_set_signs(context, dataset);
}

void rf_labels_free(RfLabels *labels) {
  for (rf_index k = 0; k < labels->n_texts; k++) rf_free(labels->texts[k]);
  rf_free(labels->texts);
  rf_free(labels->ids);
  rf_free(labels->slots);
  memset(labels, 0, sizeof *labels);
}
