/* Every file of every fuzz corpus through every reader, whole, and cut short at every length of small files.
 */
#include "data_test.h"
#include "../fuzz/feed.h"

#include <dirent.h>

typedef void (*Feed)(const uint8_t *bytes, size_t size);

static const struct {
  const char *name;
  Feed feed;
} readers[] = {{"csv", feed_csv},       {"libsvm", feed_libsvm},
               {"npy", feed_npy},       {"npz", feed_npz},
               {"idx", feed_idx},       {"net_json", feed_net_json},
               {"layers", feed_layers}, {"safetensors", feed_safetensors}};
#define N_READERS (sizeof readers / sizeof readers[0])

/* An exact copy on the heap, so that tools see a read behind the end. */
static void feed_part(Feed feed, const uint8_t *bytes, size_t size) {
  uint8_t *copy = malloc(size > 0 ? size : 1);
  if (size > 0) memcpy(copy, bytes, size);
  feed(copy, size);
  free(copy);
}

static size_t run_file(const char *folder, const char *name, Feed own) {
  char path[1500];
  static uint8_t bytes[1 << 16];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  for (size_t k = 0; k < N_READERS; k++) feed_part(readers[k].feed, bytes, size);
  for (size_t cut = 0; cut < size && size <= 1024; cut++) feed_part(own, bytes, cut);
  return size;
}

static void corpora(void **state) {
  (void)state;
  for (size_t k = 0; k < N_READERS; k++) {
    char folder[1024];
    int files = 0;
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", RF_SOURCE_DIR, readers[k].name);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
      if (entry->d_name[0] == '.') continue;
      run_file(folder, entry->d_name, readers[k].feed);
      files++;
    }
    closedir(directory);
    assert_true(files >= 8);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(corpora)};
  return cmocka_run_group_tests_name("data/corpus", tests, NULL, NULL);
}
