/* libFuzzer target: csv bytes. */
#include "feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed_csv(data, size);
  return 0;
}
