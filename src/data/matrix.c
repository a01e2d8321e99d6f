/* Rows of doubles that arrive one by one. Blocks are grown with rf_resize: large blocks move by remapping
 * pages, and pages reserved but never written cost nothing, so the peak stays near the size of the final
 * matrix. */
#include "data/data_internal.h"

#include <string.h>
#include <unistd.h>

int64_t rf_data_memory_limit(const RfDataSource *source) {
  if (source->memory_limit > 0) return source->memory_limit;
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (int64_t)pages / 2 * page : (int64_t)1 << 32;
}

RfStatus rf_matrix_check(RfContext *context, const RfMatrix *matrix, const char *name, rf_index rows,
                         rf_index columns) {
  rf_index cells, bytes;
  if (rf_multiply_sizes(&cells, rows, columns) &&
      rf_multiply_sizes(&bytes, cells, (rf_index)sizeof(double)) && bytes <= matrix->memory_limit) {
    return RF_OK;
  }
  return rf_fail(context, RF_ERR_USAGE,
                 "%.200s: a dense %lld x %lld matrix exceeds the memory limit of %lld bytes (--memory)", name,
                 (long long)rows, (long long)columns, (long long)matrix->memory_limit);
}

static RfStatus resize(RfContext *context, RfMatrix *matrix, const char *name, rf_index rows,
                       rf_index columns) {
  rf_index cells = 0;
  double *larger =
      rf_multiply_sizes(&cells, rows, columns) ? rf_resize(matrix->values, cells, sizeof(double)) : NULL;
  if (!larger) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", name);
  matrix->values = larger, matrix->capacity = rows;
  return RF_OK;
}

RfStatus rf_matrix_make_room(RfContext *context, RfMatrix *matrix, const char *name, rf_index expected) {
  if (matrix->rows < matrix->capacity) return RF_OK;
  RfStatus status = rf_matrix_check(context, matrix, name, matrix->rows + 1, matrix->columns);
  if (status) return status;
  rf_index rows = matrix->rows + matrix->rows / 2 + 16;
  if (expected > matrix->rows) rows = expected + expected / 64 + 16;
  rf_index most =
      matrix->memory_limit / ((rf_index)sizeof(double) * (matrix->columns > 0 ? matrix->columns : 1));
  return resize(context, matrix, name, rows < most ? rows : most, matrix->columns);
}

/* Rows are moved from the last to the first, each to a place at or behind its old one. */
RfStatus rf_matrix_widen(RfContext *context, RfMatrix *matrix, const char *name, rf_index columns) {
  rf_index old = matrix->columns;
  if (columns <= old) return RF_OK;
  RfStatus status = rf_matrix_check(context, matrix, name, matrix->rows > 0 ? matrix->rows : 1, columns);
  if (!status) status = resize(context, matrix, name, matrix->rows, columns);
  if (status) return status;
  for (rf_index i = matrix->rows - 1; i >= 0; i--) {
    double *row = matrix->values + i * columns;
    memmove(row, matrix->values + i * old, (size_t)old * sizeof(double));
    memset(row + old, 0, (size_t)(columns - old) * sizeof(double));
  }
  matrix->columns = columns;
  return RF_OK;
}

void rf_matrix_trim(RfMatrix *matrix) {
  double *smaller = rf_resize(matrix->values, matrix->rows * matrix->columns, sizeof(double));
  if (smaller) matrix->values = smaller, matrix->capacity = matrix->rows;
}
