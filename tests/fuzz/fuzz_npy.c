/* libFuzzer target: npy bytes. */
#include "feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed_npy(data, size);
  return 0;
}
