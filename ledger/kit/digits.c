/* The digit files, found under the folder of real data. */
#include "kit/digits.h"
#include "core/core.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { path_size = 1024 };

static bool find(char *path, const char *folder, const char *name) {
  static const char *const endings[] = {".gz", ""};
  for (int k = 0; k < 2; k++) {
    int length = rf_format(path, path_size, "%s/mnist/%s%s", folder, name, endings[k]);
    if (length > 0 && length < path_size && access(path, R_OK) == 0) return true;
  }
  return false;
}

RfStatus rf_claim_digits(RfClaimRun *run, RfDataset *data, bool *found, int a, int b, rf_index limit,
                         bool center) {
  char images[path_size], labels[path_size], classes[16];
  const char *folder = run->settings->data_dir ? run->settings->data_dir : ".";
  memset(data, 0, sizeof *data);
  *found = find(images, folder, "train-images-idx3-ubyte") && find(labels, folder, "train-labels-idx1-ubyte");
  if (!*found)
    return rf_claim_skip(
        run,
        "no MNIST: needs train-images-idx3-ubyte and train-labels-idx1-ubyte (.gz or not) in "
        "%.100s/mnist; name the folder with --data-dir or RELUFLOW_DATA",
        folder);
  RfDataSource source;
  rf_data_source_init(&source);
  rf_format(classes, sizeof classes, "%d,%d", a, b);
  source.path = images, source.labels_path = labels, source.classes = classes;
  source.divide = 255, source.center = center;
  if (limit > 0)
    source.shuffle = true, source.shuffle_seed = rf_claim_seed(run, "samples", 0), source.limit = limit;
  return rf_data_load(run->context, data, &source);
}
