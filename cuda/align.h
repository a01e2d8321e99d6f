/* Exact alignment of many starts: what all dimensions share, and the host's side. */
#ifndef RF_CUDA_ALIGN_H
#define RF_CUDA_ALIGN_H

#include <stdbool.h>

#include "lanes.h"
#include "device/plugin.h"
#include "flow/flow_tolerances.h" /* both have to decide alike */

enum { ALIGN_SLIDES = 4, ALIGN_WORDS = DEVICE_MOST_SAMPLES / 32 };

/* As RfDestiny; the last two are about the walk. */
enum {
  ALIGN_S_PLUS = 0,
  ALIGN_S_MINUS = 1,
  ALIGN_DEAD = 2,
  ALIGN_EXTREMAL = 3,
  ALIGN_STUCK = 4,
  ALIGN_ASKS = DEVICE_ASK,
  ALIGN_GOES_ON = -2
};

#define ALIGN_ON_RAY 1e-30 /* square of a sine that is rounding, as in src/flow/align/path.c */

typedef struct AlignTask {
  int n, d, words, shared;
  double leak, weight; /* weight: the largest |g| */
  double zero, balanced, rounding;
  const double *X, *c, *norms, *slack; /* rows of the padded dimension */
  int64_t count;
  const double *starts;
  int8_t *destiny;
  uint32_t *plus, *still;
} AlignTask;

#define DIM 2
#include "align_body.h"
#define DIM 3
#include "align_body.h"
#define DIM 4
#include "align_body.h"
#define DIM 8
#include "align_body.h"
#define DIM 16
#include "align_body.h"
#define DIM 64
#include "align_body.h"

#define ALIGN_DIMS(X) X(2) X(3) X(4) X(8) X(16) X(64)

static inline int align_dim(int d) {
#define FITS(size)                                                                                           \
  if (d <= (size)) return size;
  ALIGN_DIMS(FITS)
#undef FITS
  return 0;
}

/* Rows, weights, norms and slacks one after the other, as RfAlignData computes them; false where a sample is
 * zero or the problem too large. */
static inline bool align_prepare(AlignTask *task, double *table, const DeviceAlign *asked) {
  const int n = asked->n, d = asked->d, dim = align_dim(d);
  double *norms = table + (size_t)n * (size_t)dim + n, *slack = norms + n;
  task->n = n, task->d = d, task->words = (n + 31) / 32, task->leak = asked->leak, task->weight = 0;
  task->zero = asked->zero, task->balanced = asked->balanced, task->rounding = 10 * asked->solver;
  for (int i = 0; i < n; i++) {
    double square = 0;
    for (int j = 0; j < dim; j++) {
      double x = j < d ? asked->X[(size_t)i * (size_t)d + (size_t)j] : 0;
      table[(size_t)i * (size_t)dim + (size_t)j] = x;
      square = fma(x, x, square);
    }
    table[(size_t)n * (size_t)dim + (size_t)i] = asked->c[i];
    norms[i] = sqrt(square);
    task->weight += fabs(asked->c[i]) * norms[i];
    if (!(norms[i] > 0)) return false;
  }
  for (int i = 0; i < n; i++) slack[i] = task->rounding * task->weight * norms[i];
  task->X = table, task->c = table + (size_t)n * (size_t)dim, task->norms = norms, task->slack = slack;
  return true;
}

static inline size_t align_table(const DeviceAlign *asked) {
  return (size_t)asked->n * (size_t)(align_dim(asked->d) + 3);
}

static inline bool align_fits(const DeviceAlign *asked) {
  return asked->n >= 1 && asked->n <= DEVICE_MOST_SAMPLES && asked->d >= 2 && align_dim(asked->d) > 0;
}

#endif
