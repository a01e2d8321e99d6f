/* libFuzzer target: layered networks in json bytes. */
#include "feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed_layers(data, size);
  return 0;
}
