/* The catalogue's digit set: two classes of the handwritten-digit files, read in place from their folder,
 * pixels divided by 255 and centred by the overall mean of the two classes. */
#include "data/generate_internal.h"
#include "core/core.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 1024 };

/* dir/name.gz or dir/name, whichever exists. */
static bool find_file(char *path, const char *dir, const char *name) {
  static const char *endings[] = {".gz", ""};
  for (int k = 0; k < 2; k++) {
    int length = rf_format(path, PATH_SIZE, "%s/%s%s", dir, name, endings[k]);
    if (length > 0 && length < PATH_SIZE && access(path, R_OK) == 0) return true;
  }
  return false;
}

RfStatus rf_generate_digits(RfContext *context, RfDataset *dataset, const RfValues *values, double divisor,
                            const char *spec) {
  char images[PATH_SIZE], labels[PATH_SIZE], classes[16], dir[PATH_SIZE];
  const char *named = rf_value_text(values, "dir"), *folder = context->data_dir ? context->data_dir : ".";
  int length =
      *named ? rf_format(dir, sizeof dir, "%s", named) : rf_format(dir, sizeof dir, "%s/mnist", folder);
  if (length < 0 || length >= PATH_SIZE)
    return rf_fail(context, RF_ERR_USAGE, "gen:digits: the folder's name is too long");
  rf_index a = rf_value_count(values, "a"), b = rf_value_count(values, "b");
  if (a == b) return rf_fail(context, RF_ERR_USAGE, "gen:digits: a and b must differ");
  if (divisor < 0) return rf_fail(context, RF_ERR_USAGE, "gen:digits: the divisor after / must be a number");
  if (!find_file(images, dir, "train-images-idx3-ubyte") ||
      !find_file(labels, dir, "train-labels-idx1-ubyte"))
    return rf_fail(context, RF_ERR_IO,
                   "gen:digits: no train-images-idx3-ubyte and train-labels-idx1-ubyte (.gz or not) in "
                   "%.200s; name their "
                   "folder with dir=",
                   dir);
  rf_format(classes, sizeof classes, "%d,%d", (int)a, (int)b);
  RfDataSource source;
  rf_data_source_init(&source);
  source.path = images, source.labels_path = labels, source.classes = classes;
  source.divide = 255 * divisor, source.center = rf_value_count(values, "center") == 1;
  RfStatus status = rf_data_load(context, dataset, &source);
  if (status) return status;
  rf_free(dataset->name);
  dataset->name = rf_copy_text(spec);
  if (dataset->name) return RF_OK;
  rf_dataset_free(dataset);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a name");
}
