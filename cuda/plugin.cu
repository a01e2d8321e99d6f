/* The card: kernels, launches, and the door (app/device/plugin.h). The runtime is linked in statically and finds
 * the driver when it is opened, so this object loads on machines without a card, too, and says so. */
#include "descent.h"
#include "descent_shapes.h"
#include "align.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static cudaError_t last_error = cudaSuccess;
static size_t shared_memory = 0;

static bool fine(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error == cudaSuccess;
}

static bool back_alloc(void **memory, size_t bytes) {
  cudaError_t error = cudaMalloc(memory, bytes ? bytes : 1);
  if (error == cudaSuccess) return true;
  *memory = NULL;
  last_error = error;
  cudaGetLastError(); /* too little memory is no lasting fault */
  return false;
}
static void back_free(void *memory) { cudaFree(memory); }
static bool back_put(void *to, const void *from, size_t bytes) {
  return fine(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
}
static bool back_get(void *to, const void *from, size_t bytes) {
  return fine(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}
static const char *back_error(void) { return cudaGetErrorString(last_error); }
static size_t back_shared(void) { return shared_memory; }
static bool back_launch(const Descent *task, bool single, int dim, double *seconds);

#include "population.h"

/* Between two events, so that what is timed is the card. */
typedef struct Watch {
  cudaEvent_t from, to;
} Watch;

static bool watch_start(Watch *watch) {
  return fine(cudaEventCreate(&watch->from)) && fine(cudaEventCreate(&watch->to)) && fine(cudaEventRecord(watch->from));
}

static bool watch_stop(Watch *watch, double *seconds) {
  float ms = 0;
  bool good = fine(cudaGetLastError()) && fine(cudaEventRecord(watch->to)) &&
              fine(cudaEventSynchronize(watch->to)) && fine(cudaEventElapsedTime(&ms, watch->from, watch->to));
  cudaEventDestroy(watch->from), cudaEventDestroy(watch->to);
  *seconds = 1e-3 * (double)ms;
  return good;
}

static bool back_launch(const Descent *task, bool single, int dim, double *seconds) {
  const size_t real = single ? sizeof(float) : sizeof(double);
  const unsigned nets = LANES_MOST / (unsigned)task->lanes;
  const unsigned blocks = (unsigned)((task->n_active + nets - 1) / nets);
  const size_t bytes = task->arena ? 0 : block_bytes(task, dim, real, !task->x_shared);
  Watch watch;
  if (!watch_start(&watch)) return false;
#define RUN(kind, size)                                                                                      \
  if (dim == (size) && single == (sizeof(kind) == sizeof(float))) {                                          \
    if (task->arena) {                                                                                       \
      descent_arena_##kind##_##size<<<blocks, LANES_MOST>>>(*task);                                          \
    } else {                                                                                                 \
      if (!fine(cudaFuncSetAttribute(descent_shared_##kind##_##size,                                         \
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes)))              \
        return false;                                                                                        \
      descent_shared_##kind##_##size<<<blocks, LANES_MOST, bytes>>>(*task);                                  \
    }                                                                                                        \
  }
  DESCENT_SHAPES(RUN)
#undef RUN
  return watch_stop(&watch, seconds);
}

static DeviceStatus open_device(char name[DEVICE_NAME_SIZE], char error[DEVICE_ERROR_SIZE]) {
  cudaDeviceProp about;
  int count = 0;
  error[0] = '\0';
  if (!fine(cudaGetDeviceCount(&count)) || count < 1) {
    snprintf(error, DEVICE_ERROR_SIZE, "no CUDA card can be used: %s",
             last_error != cudaSuccess ? back_error() : "none is there");
    return DEVICE_NONE;
  }
  if (!fine(cudaSetDevice(0)) || !fine(cudaGetDeviceProperties(&about, 0))) {
    snprintf(error, DEVICE_ERROR_SIZE, "the CUDA card cannot be used: %s", back_error());
    return DEVICE_NONE;
  }
  shared_memory = about.sharedMemPerBlockOptin;
  snprintf(name, DEVICE_NAME_SIZE, "%s", about.name);
  return DEVICE_OK;
}

/* ---- alignment -------------------------------------------------------------------------------- */

/* What one portion of starts holds on the card. */
typedef struct Starts {
  void *table, *starts, *destiny, *plus, *still;
} Starts;

static void starts_free(Starts *s) {
  void *parts[] = {s->table, s->starts, s->destiny, s->plus, s->still};
  for (void *part : parts)
    if (part) back_free(part);
}

static bool align_launch(const AlignTask *task, int dim, double *seconds) {
  const unsigned threads = 128, blocks = (unsigned)((task->count + threads - 1) / threads);
  const size_t bytes = task->shared ? (size_t)task->n * (size_t)(dim + 3) * sizeof(double) : 0;
  Watch watch;
  if (!watch_start(&watch)) return false;
#define RUN(size)                                                                                            \
  if (dim == (size)) {                                                                                       \
    if (!fine(cudaFuncSetAttribute(align_kernel_##size, cudaFuncAttributeMaxDynamicSharedMemorySize,         \
                                   (int)bytes)))                                                             \
      return false;                                                                                          \
    align_kernel_##size<<<blocks, threads, bytes>>>(*task);                                                  \
  }
  ALIGN_DIMS(RUN)
#undef RUN
  return watch_stop(&watch, seconds);
}

static bool align_portion(DeviceAlign *asked, AlignTask task, const Starts *s, int64_t from, int64_t count) {
  const size_t row = (size_t)asked->d + 1, words = (size_t)task.words;
  double took = 0;
  task.count = count;
  bool good = back_put(s->starts, asked->starts + (size_t)from * row, (size_t)count * row * sizeof(double)) &&
              align_launch(&task, align_dim(asked->d), &took) &&
              back_get(asked->destiny + from, s->destiny, (size_t)count);
  asked->seconds += took;
  if (!good || !asked->plus) return good;
  return back_get(asked->plus + (size_t)from * words, s->plus, (size_t)count * words * 4) &&
         back_get(asked->still + (size_t)from * words, s->still, (size_t)count * words * 4);
}

static DeviceStatus align_all(DeviceAlign *asked, char error[DEVICE_ERROR_SIZE]) {
  AlignTask task = {};
  Starts s = {};
  error[0] = '\0', asked->seconds = 0;
  double *table = align_fits(asked) ? (double *)malloc(align_table(asked) * sizeof *table) : NULL;
  if (!table || !align_prepare(&task, table, asked)) { /* the processor does all of it */
    for (int64_t id = 0; id < asked->count; id++) asked->destiny[id] = ALIGN_ASKS;
    free(table);
    return DEVICE_OK;
  }
  const size_t n = (size_t)asked->n, dim = (size_t)align_dim(asked->d), bytes = align_table(asked) * sizeof *table;
  int64_t portion = asked->count < ((int64_t)1 << 24) ? asked->count : (int64_t)1 << 24;
  bool good = back_alloc(&s.table, bytes) && back_put(s.table, table, bytes);
  free(table);
  for (bool room = false; good && !room; portion = room ? portion : portion / 2) {
    if (portion < 1) break;
    room = back_alloc(&s.starts, (size_t)portion * (size_t)(asked->d + 1) * sizeof(double)) &&
           back_alloc(&s.destiny, (size_t)portion) &&
           (!asked->plus || (back_alloc(&s.plus, (size_t)portion * (size_t)task.words * 4) &&
                             back_alloc(&s.still, (size_t)portion * (size_t)task.words * 4)));
    if (room) break;
    Starts rest = s;
    rest.table = NULL, starts_free(&rest);
    s.starts = s.destiny = s.plus = s.still = NULL;
  }
  if (!good || portion < 1) {
    snprintf(error, DEVICE_ERROR_SIZE, "the card has too little memory: %s", back_error());
    starts_free(&s);
    return DEVICE_MEMORY;
  }
  task.X = (const double *)s.table, task.c = task.X + n * dim, task.norms = task.c + n, task.slack = task.norms + n;
  task.starts = (const double *)s.starts, task.destiny = (int8_t *)s.destiny;
  task.plus = (uint32_t *)s.plus, task.still = (uint32_t *)s.still;
  task.shared = bytes <= shared_memory / 2;
  for (int64_t from = 0; good && from < asked->count; from += portion)
    good = align_portion(asked, task, &s, from, asked->count - from < portion ? asked->count - from : portion);
  if (!good) snprintf(error, DEVICE_ERROR_SIZE, "following starts on the card: %s", back_error());
  starts_free(&s);
  return good ? DEVICE_OK : DEVICE_FAILED;
}

extern "C" __attribute__((visibility("default"))) const DevicePlugin reluflow_device = {
    DEVICE_PLUGIN_VERSION, open_device, population_descend, align_all};
