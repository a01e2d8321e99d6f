/* Allocation with checked sizes. Every block of the library comes from here. */
#include "core/core.h"

#include <stdlib.h>
#include <string.h>

bool rf_multiply_sizes(rf_index *out, rf_index a, rf_index b) {
  if (a < 0 || b < 0) return false;
  return !__builtin_mul_overflow(a, b, out);
}

bool rf_add_sizes(rf_index *out, rf_index a, rf_index b) {
  if (a < 0 || b < 0) return false;
  return !__builtin_add_overflow(a, b, out);
}

/* The builtin multiplies without bounds and asks whether the product fits: no cast to a size_t of 32 bits. */
static bool byte_count(size_t *bytes, rf_index count, size_t size) {
  if (count < 0 || __builtin_mul_overflow(count, size, bytes)) return false;
  if (*bytes > (size_t)PTRDIFF_MAX) return false;
  if (*bytes == 0) *bytes = 1;
  return true;
}

void *rf_alloc(rf_index count, size_t size) {
  size_t bytes;
  return byte_count(&bytes, count, size) ? calloc(1, bytes) : NULL;
}

void *rf_resize(void *block, rf_index count, size_t size) {
  size_t bytes;
  return byte_count(&bytes, count, size) ? realloc(block, bytes) : NULL;
}

void *rf_alloc_table(rf_index rows, rf_index columns, size_t size) {
  rf_index count;
  return rf_multiply_sizes(&count, rows, columns) ? rf_alloc(count, size) : NULL;
}

bool rf_grow(void **block, rf_index count, size_t size) {
  void *bigger = rf_resize(*block, count, size);
  if (bigger) *block = bigger;
  return bigger != NULL;
}

void rf_free(void *block) { free(block); }

char *rf_copy_text(const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = rf_alloc((rf_index)bytes, 1);
  if (copy) memcpy(copy, text, bytes);
  return copy;
}

double *rf_copy_doubles(const double *from, rf_index count) {
  double *copy = RF_NEW(double, count); /* whatever was allocated fits a size_t: the cast below cannot cut */
  if (copy && count > 0) memcpy(copy, from, (size_t)count * sizeof *copy);
  return copy;
}
