/* Classes of units with one pattern. Such units share their field g = sum_i c_i s_i x_i, and the margins see
 * only the sum of a w e^{2 rho} over them, so an evaluation costs one product with the data per class instead
 * of one per unit: after alignment a network of 10,000 neurons has a handful of classes. */
#include "flow/flow_internal.h"

#include <string.h>

static uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

uint64_t rf_pattern_hash(const int8_t *sigma, rf_index n) {
  uint64_t h = 0x243f6a8885a308d3u, word = 0;
  rf_index i = 0;
  for (; i + 8 <= n; i += 8) {
    memcpy(&word, sigma + i, 8);
    h = mix(h, word);
  }
  word = 0;
  if (i < n) memcpy(&word, sigma + i, (size_t)(n - i));
  return mix(mix(h, word), (uint64_t)n);
}

/* Small systems are evaluated unit by unit: there the bookkeeping costs more than it saves. */
static bool worth_while(const RfSystem *system) { return system->units * system->n * system->d > 4000; }

void rf_system_classes(RfSystem *system) {
  rf_index n = system->n, units = system->units, size = 1;
  system->classes_known = true;
  if (!worth_while(system)) {
    system->classes = units;
    for (rf_index u = 0; u < units; u++) system->class_of[u] = system->leader[u] = u;
    return;
  }
  while (size < 2 * units) size *= 2;
  for (rf_index s = 0; s < size; s++) system->table[s] = -1;
  system->classes = 0;
  for (rf_index u = 0; u < units; u++) {
    rf_index s = (rf_index)(system->hash[u] & (uint64_t)(size - 1));
    for (;; s = (s + 1) & (size - 1)) {
      rf_index k = system->table[s];
      if (k < 0) break;
      rf_index first = system->leader[k];
      if (system->hash[first] == system->hash[u] && system->dead[first] == system->dead[u] &&
          memcmp(system->sigma + first * n, system->sigma + u * n, (size_t)n) == 0)
        break;
    }
    if (system->table[s] < 0) {
      system->leader[system->classes] = u;
      system->table[s] = system->classes++;
    }
    system->class_of[u] = system->table[s];
  }
}
