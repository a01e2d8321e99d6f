/* What every test file includes: cmocka, the library, closeness checks that print what they compared, seeds
 * and RF_TEST_MULT, and the paths of reference results and real data. */
#ifndef RF_TEST_H
#define RF_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <time.h>
#include <cmocka.h>

#include "reluflow/reluflow.h"
#include "core/core.h"
#include "la/la.h"
#include "data/data.h"
#include "margin/margin.h"
#include "geometry/geometry.h"
#include "net/net.h"
#include "layers/layers.h"
#include "theory/theory.h"
#include "flow/flow.h"

/* iterations * RF_TEST_MULT (environment, default 1; may be a fraction), at least 1. */
static inline rf_index rf_test_iterations(rf_index iterations) {
  const char *text = getenv("RF_TEST_MULT");
  double factor = text ? atof(text) : 1;
  double scaled = (double)iterations * (factor > 0 ? factor : 1);
  return scaled < 1 ? 1 : (rf_index)scaled;
}

/* The seed of a draw: `usual`, the same in every run of the suite, unless the environment variable `name`
 * says another one, or `clock`. Printed, so that a failing draw can be repeated. */
static inline uint64_t rf_test_seed(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  uint64_t seed = !text                        ? usual
                  : strcmp(text, "clock") == 0 ? (uint64_t)time(NULL)
                                               : strtoull(text, NULL, 10);
  print_message("%s=%llu\n", name, (unsigned long long)seed);
  return seed;
}

static inline void rf_test_print_matrix(const char *name, const double *A, rf_index rows, rf_index cols) {
  fprintf(stderr, "%s (%lld x %lld):\n", name, (long long)rows, (long long)cols);
  for (rf_index i = 0; i < rows; i++) {
    for (rf_index j = 0; j < cols; j++) fprintf(stderr, " %.17g", A[i * cols + j]);
    fputc('\n', stderr);
  }
}

static inline void rf_test_close_at(double got, double want, double tolerance, const char *what,
                                    const char *file, int line) {
  double error = fabs(got - want);
  if (error <= tolerance) return; /* false for NaN, so NaN fails */
  print_error("%s:%d: %s: got %.17g, expected %.17g, error %.3g > %.3g\n", file, line, what, got, want, error,
              tolerance);
  _fail(file, line);
}

/* Absolute and relative closeness; NaN never passes. */
#define assert_close(got, want, tolerance)                                                                   \
  rf_test_close_at((got), (want), (tolerance), #got, __FILE__, __LINE__)
#define assert_relative(got, want, tolerance)                                                                \
  rf_test_close_at((got), (want), (tolerance)*fabs((double)(want)), #got, __FILE__, __LINE__)
/* RF_OK or print the context's error. */
#define assert_ok(context, call)                                                                             \
  do {                                                                                                       \
    RfStatus status_ = (call);                                                                               \
    if (status_ != RF_OK) {                                                                                  \
      print_error("%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, rf_status_name(status_),                \
                  (context)->error);                                                                         \
      _fail(__FILE__, __LINE__);                                                                             \
    }                                                                                                        \
  } while (0)

/* Reference results and small real data; both are part of the project. */
static inline const char *rf_test_golden(void) { return RF_SOURCE_DIR "/tests/golden"; }
static inline const char *rf_test_data(void) { return RF_SOURCE_DIR "/data"; }

/* The folder that holds mnist/: RELUFLOW_DATA, or data/ of the project. NULL, after saying so, when neither
 * does: the case is to be skipped. */
static inline const char *rf_test_mnist(void) {
  static char path[4096];
  const char *folders[] = {getenv("RELUFLOW_DATA"), rf_test_data()};
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "%s/mnist/train-images-idx3-ubyte.gz", folders[k] ? folders[k] : "");
    FILE *file = folders[k] ? fopen(path, "rb") : NULL;
    if (file) {
      fclose(file);
      return folders[k];
    }
  }
  print_message("skipped: no MNIST (mnist/train-images-idx3-ubyte.gz under RELUFLOW_DATA)\n");
  return NULL;
}

#endif
