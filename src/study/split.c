/* The binary questions of a dataset: itself for two classes, otherwise each class against the rest. The
 * samples are those of the whole, never copied. */
#include "study/study_internal.h"
#include "core/core.h"

#include <string.h>

void rf_study_split_free(RfStudySplit *split) {
  if (!split) return;
  for (rf_index k = 0; split->parts && k < split->count; k++) rf_dataset_free(&split->parts[k]);
  rf_free(split->parts);
  memset(split, 0, sizeof *split);
}

RfStatus rf_study_part(RfContext *context, RfDataset *part, const RfDataset *whole, rf_index k) {
  RfStatus status = rf_dataset_one_versus_rest(context, part, whole, k);
  if (status) return status;
  rf_free(part->X);
  part->X = whole->X, part->borrows_X = true;
  return RF_OK;
}

RfStatus rf_study_split(RfContext *context, RfStudySplit *split, const RfDataset *data) {
  *split = (RfStudySplit){.whole = data, .count = data->y ? 1 : data->n_classes};
  if (data->y) return RF_OK;
  split->parts = RF_NEW(RfDataset, split->count);
  RfStatus status = split->parts ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory");
  for (rf_index k = 0; k < split->count && !status; k++)
    status = rf_study_part(context, &split->parts[k], data, k);
  if (status) rf_study_split_free(split);
  return status;
}

const RfDataset *rf_study_split_data(const RfStudySplit *split, rf_index k) {
  return split->parts ? &split->parts[k] : split->whole;
}

const char *rf_study_split_name(const RfStudySplit *split, rf_index k) {
  return split->parts ? split->whole->class_names[k] : NULL;
}
