/* The digest of the rows that were used, after every transform: for each sample the name of its class, a zero
 * byte, and its d coordinates as little-endian IEEE doubles. */
#include <string.h>

#include "core/core.h"
#include "study/study_internal.h"

static void add_row(RfSha256 *sha, const double *x, rf_index d) {
  unsigned char bytes[512];
  size_t used = 0;
  for (rf_index j = 0; j < d; j++) {
    uint64_t word;
    memcpy(&word, &x[j], sizeof word);
    for (int b = 0; b < 8; b++) bytes[used++] = (unsigned char)(word >> (8 * b));
    if (used == sizeof bytes || j + 1 == d) {
      rf_sha256_add(sha, bytes, used);
      used = 0;
    }
  }
}

void rf_study_digest(char out[RF_STUDY_DIGEST_SIZE], const RfDataset *data) {
  RfSha256 sha;
  rf_sha256_init(&sha);
  for (rf_index i = 0; i < data->n; i++) {
    const char *name = data->class_names[data->class_of[i]];
    rf_sha256_add(&sha, name, strlen(name) + 1);
    add_row(&sha, data->X + i * data->d, data->d);
  }
  rf_sha256_text(&sha, out);
}
