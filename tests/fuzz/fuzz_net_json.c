/* libFuzzer target: net json bytes. */
#include "feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed_net_json(data, size);
  return 0;
}
