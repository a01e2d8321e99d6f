/* The device that is not there: the kernels compiled as C, lane by lane, behind the same door. For tests. */
#include "descent.h"
#include "descent_shapes.h"
#include "align.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A multiprocessor of a Hopper card, so that lanes are chosen as there. */
enum { SHARED_MEMORY = 232448 };

/* Bytes that the emulated card has; RELUFLOW_EMULATED_MEMORY sets it, to see it run out. */
static size_t memory_left = (size_t)1 << 40;

/* Every piece knows its size, so that it can be given back. */
static bool back_alloc(void **memory, size_t bytes) {
  size_t *piece = bytes <= memory_left ? malloc(bytes + 16) : NULL;
  if (!piece) return false;
  memory_left -= bytes;
  piece[0] = bytes;
  *memory = piece + 2;
  return true;
}
static void back_free(void *memory) {
  size_t *piece = (size_t *)memory - 2;
  memory_left += piece[0];
  free(piece);
}
static bool back_put(void *to, const void *from, size_t bytes) {
  if (bytes) memcpy(to, from, bytes);
  return true;
}
static bool back_get(void *to, const void *from, size_t bytes) { return back_put(to, from, bytes); }
static const char *back_error(void) { return "the emulation failed"; }
static size_t back_shared(void) { return SHARED_MEMORY; }
static bool back_launch(const Descent *task, bool single, int dim, double *seconds);

#include "population.h"

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool back_launch(const Descent *task, bool single, int dim, double *seconds) {
  DescentPlan plan;
  const size_t real = single ? sizeof(float) : sizeof(double);
  const double began = seconds_now();
  descent_plan(&plan, task, real, row_w(dim, real), 0);
  char *memory = malloc(plan.bytes);
  if (!memory) return false;
#define RUN(kind, size)                                                                                      \
  if (dim == (size) && single == (sizeof(kind) == sizeof(float))) emulate_##kind##_##size(task, memory);
  DESCENT_SHAPES(RUN)
#undef RUN
  free(memory);
  *seconds = seconds_now() - began;
  return true;
}

static DeviceStatus open_device(char name[DEVICE_NAME_SIZE], char error[DEVICE_ERROR_SIZE]) {
  const char *limit = getenv("RELUFLOW_EMULATED_MEMORY");
  if (limit) memory_left = (size_t)strtoull(limit, NULL, 10);
  snprintf(name, DEVICE_NAME_SIZE, "emulation on the processor");
  error[0] = '\0';
  return DEVICE_OK;
}

static DeviceStatus align_all(DeviceAlign *asked, char error[DEVICE_ERROR_SIZE]) {
  const double began = seconds_now();
  AlignTask task = {0};
  double *table = align_fits(asked) ? malloc(align_table(asked) * sizeof *table) : NULL;
  const bool fits = table && align_prepare(&task, table, asked);
  error[0] = '\0';
  for (int64_t id = 0; id < asked->count; id++) {
    const double *start = asked->starts + id * (asked->d + 1);
    uint32_t *plus = asked->plus ? asked->plus + id * task.words : NULL,
             *still = asked->plus ? asked->still + id * task.words : NULL;
    asked->destiny[id] = ALIGN_ASKS;
#define FOLLOW(size)                                                                                         \
  if (fits && align_dim(asked->d) == (size))                                                                 \
    asked->destiny[id] = (int8_t)follow_##size(&task, start, plus, still);
    ALIGN_DIMS(FOLLOW)
#undef FOLLOW
  }
  free(table);
  asked->seconds = seconds_now() - began;
  return DEVICE_OK;
}

__attribute__((visibility("default")))
const DevicePlugin reluflow_device = {DEVICE_PLUGIN_VERSION, open_device, population_descend, align_all};
