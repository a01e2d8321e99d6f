/* The host's side of a population: padding, choosing lanes, launches, compaction of the networks that still
 * run. Included after a backend that defines
 *   bool back_alloc(void **memory, size_t bytes);  void back_free(void *memory);
 *   bool back_put(void *to, const void *from, size_t bytes);  bool back_get(void *to, const void *from,
 * size_t bytes); bool back_launch(const Descent *task, bool single, int dim, double *seconds); const char
 * *back_error(void);  size_t back_shared(void); where the memory is the device's. back_alloc alone may fail
 * without an error. */
#include <stdio.h>
#include <stdlib.h>

#include "device/plugin.h"

static const int shape_dims[] = {2, 4, 6, 10, 16, 20, 32, 64};

static int shape_dim(int d) {
  for (size_t k = 0; k < sizeof shape_dims / sizeof shape_dims[0]; k++)
    if (shape_dims[k] >= d) return shape_dims[k];
  return 0;
}

/* As ROW_X and ROW_W of descent_body.h. */
static size_t row_x(int dim, size_t real) {
  return (size_t)dim * real < 16 ? (size_t)dim : descent_up((size_t)dim * real, 16) / real;
}
static size_t row_w(int dim, size_t real) { return descent_up((size_t)(dim + 1) * real, 16) / real; }

static size_t x_bytes_of(const DeviceDescent *task, int dim, size_t real) {
  return descent_up((size_t)task->n * row_x(dim, real) * real, 16) + (size_t)task->n * real;
}

/* Bytes of shared memory of a block. */
static size_t block_bytes(const Descent *task, int dim, size_t real, bool own_data) {
  DescentPlan plan;
  const bool far = descent_far(dim, real);
  descent_plan(&plan, task, real, row_w(dim, real), own_data && !far);
  size_t nets = LANES_MOST / (size_t)task->lanes;
  return nets * plan.bytes + (own_data || far ? 0 : descent_up(task->x_bytes, 128));
}

/* Few lanes for small networks: then every word read from memory is used for many samples; more where a
 * multiprocessor would hold too few blocks to hide what they wait for. What is chosen depends on the shape
 * alone, so that a network gives the same bits in every population. False: no number of lanes lets a network
 * fit into a multiprocessor. */
static bool choose_lanes(Descent *task, const DeviceDescent *asked, int dim, size_t real) {
  static const struct {
    int lanes;
    size_t blocks; /* that a multiprocessor should hold */
  } choices[] = {{8, 2}, {32, 3}, {LANES_MOST, 1}};
  const int wanted = asked->lanes                       ? asked->lanes
                     : asked->n <= 64 && asked->m <= 64 ? 8
                     : asked->n <= 256                  ? 32
                                                        : 128;
  const int least = descent_matrix(dim, real) && wanted < LANES_TEAM ? LANES_TEAM : wanted;
  for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++) {
    task->lanes = choices[k].lanes;
    if (task->lanes >= least && block_bytes(task, dim, real, false) <= back_shared() / choices[k].blocks &&
        block_bytes(task, dim, real, true) <= back_shared())
      return true;
  }
  return false;
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* What a slice of the population holds on the device. */
typedef struct Slice {
  void *X, *y, *data_of, *weights, *wide, *rate, *raise_rate, *step, *stop, *active, *records, *record_count,
      *measure, *arena;
} Slice;

static void slice_free(Slice *slice) {
  void **parts = (void **)slice;
  for (size_t k = 0; k < sizeof *slice / sizeof *parts; k++)
    if (parts[k]) back_free(parts[k]);
  memset(slice, 0, sizeof *slice);
}

typedef struct Population {
  DeviceDescent *asked;
  Descent task;
  Slice slice;
  int dim;
  bool needs_arena, in_arena;
  int64_t first, count; /* networks of this slice */
  int64_t arena_room;   /* networks that the arena holds */
  int32_t *active, *stop;
  char *error;
} Population;

static DeviceStatus failed(Population *p, const char *what) {
  snprintf(p->error, DEVICE_ERROR_SIZE, "%s: %s", what, back_error());
  return DEVICE_FAILED;
}

static size_t real_of(const Population *p) { return p->asked->single ? sizeof(float) : sizeof(double); }

static void put_real(void *to, size_t at, double value, bool single) {
  if (single)
    ((float *)to)[at] = (float)value;
  else
    ((double *)to)[at] = value;
}

static double get_real(const void *from, size_t at, bool single) {
  return single ? (double)((const float *)from)[at] : ((const double *)from)[at];
}

/* The lanes for numbers of this size; false when the networks have to lie in the device's large memory. */
static bool fit(Population *p, size_t real) {
  p->task.x_bytes = x_bytes_of(p->asked, p->dim, real);
  p->in_arena = !choose_lanes(&p->task, p->asked, p->dim, real);
  p->task.arena = p->in_arena ? (char *)p->slice.arena : NULL;
  return !p->in_arena;
}

static bool reserve(Population *p) {
  const DeviceDescent *asked = p->asked;
  const size_t real = real_of(p), nets = (size_t)p->count, wide = row_w(p->dim, real);
  Slice *s = &p->slice;
  size_t sets = (size_t)asked->data_sets * (size_t)asked->n;
  bool fine = back_alloc(&s->X, sets * row_x(p->dim, sizeof(double)) * sizeof(double)) &&
              back_alloc(&s->y, sets * sizeof(double)) &&
              (!asked->data_of || back_alloc(&s->data_of, nets * sizeof(int32_t))) &&
              back_alloc(&s->weights, nets * (size_t)asked->m * wide * real) &&
              back_alloc(&s->rate, nets * sizeof(double)) &&
              back_alloc(&s->raise_rate, nets * sizeof(double)) &&
              back_alloc(&s->step, nets * sizeof(int64_t)) && back_alloc(&s->stop, nets * sizeof(int32_t)) &&
              back_alloc(&s->active, nets * sizeof(int32_t)) &&
              back_alloc(&s->measure, nets * MEASURE_COUNT * sizeof(double));
  if (fine && asked->records)
    fine = back_alloc(&s->records, nets * (size_t)asked->record_room * MEASURE_COUNT * sizeof(double)) &&
           back_alloc(&s->record_count, nets * sizeof(int32_t));
  if (fine && asked->single) /* the weights in double, for the last look */
    fine = back_alloc(&s->wide, nets * (size_t)asked->m * row_w(p->dim, sizeof(double)) * sizeof(double));
  if (fine && p->needs_arena) {
    DescentPlan plan;
    descent_plan(&plan, &p->task, sizeof(double), row_w(p->dim, sizeof(double)), 0);
    p->arena_room = p->count < 2048 ? p->count : 2048;
    fine = back_alloc(&s->arena, (size_t)p->arena_room * plan.bytes);
  }
  if (!fine) slice_free(s);
  return fine;
}

/* ---- in and out ------------------------------------------------------------------------------- */

/* Data in rows of the padded dimension. */
static DeviceStatus put_data(Population *p, bool single) {
  const DeviceDescent *asked = p->asked;
  const size_t real = single ? sizeof(float) : sizeof(double), wide = row_x(p->dim, real),
               rows = (size_t)asked->data_sets * (size_t)asked->n, d = (size_t)asked->d;
  char *X = (char *)calloc(rows * wide, real), *y = (char *)calloc(rows, real);
  DeviceStatus status = X && y ? DEVICE_OK : DEVICE_MEMORY;
  for (size_t i = 0; !status && i < rows; i++) {
    for (size_t j = 0; j < d; j++) put_real(X, i * wide + j, asked->X[i * d + j], single);
    put_real(y, i, asked->y[i], single);
  }
  if (!status && !(back_put(p->slice.X, X, rows * wide * real) && back_put(p->slice.y, y, rows * real)))
    status = failed(p, "copying the data");
  free(X), free(y);
  p->task.X = p->slice.X, p->task.y = p->slice.y;
  return status;
}

/* Weights of networks [first, first + count) of the slice, in pieces that need little memory here. */
static DeviceStatus move_weights(Population *p, bool in, bool single, void *device) {
  DeviceDescent *asked = p->asked;
  const size_t real = single ? sizeof(float) : sizeof(double), wide = row_w(p->dim, real),
               d = (size_t)asked->d, m = (size_t)asked->m, net = m * wide;
  const int64_t piece = 4096;
  char *rows = (char *)calloc((size_t)piece * net, real);
  DeviceStatus status = rows ? DEVICE_OK : DEVICE_MEMORY;
  for (int64_t from = 0; !status && from < p->count; from += piece) {
    const int64_t some = p->count - from < piece ? p->count - from : piece;
    char *there = (char *)device + (size_t)from * net * real;
    if (!in && !back_get(rows, there, (size_t)some * net * real)) status = failed(p, "copying weights");
    for (int64_t id = 0; !status && id < some; id++) {
      double *theta = asked->weights + (size_t)(p->first + from + id) * (m * d + m);
      for (size_t k = 0; k < m; k++) {
        size_t row = (size_t)id * net + k * wide;
        if (in) {
          for (size_t j = 0; j < d; j++) put_real(rows, row + j, theta[k * d + j], single);
          put_real(rows, row + (size_t)p->dim, theta[m * d + k], single);
        } else {
          for (size_t j = 0; j < d; j++) theta[k * d + j] = get_real(rows, row + j, single);
          theta[m * d + k] = get_real(rows, row + (size_t)p->dim, single);
        }
      }
    }
    if (in && !status && !back_put(there, rows, (size_t)some * net * real))
      status = failed(p, "copying weights");
  }
  free(rows);
  return status;
}

static DeviceStatus put_slice(Population *p) {
  const DeviceDescent *asked = p->asked;
  const size_t nets = (size_t)p->count;
  const int64_t f = p->first;
  Slice *s = &p->slice;
  int64_t *step = (int64_t *)calloc(nets, sizeof *step);
  DeviceStatus status = step ? put_data(p, asked->single) : DEVICE_MEMORY;
  for (int64_t k = 0; k < p->count; k++) p->active[k] = (int32_t)k, p->stop[k] = DESCENT_RUNS;
  bool fine = !status && back_put(s->rate, asked->rate + f, nets * sizeof(double)) &&
              back_put(s->raise_rate, asked->raise_rate + f, nets * sizeof(double)) &&
              back_put(s->step, step, nets * sizeof *step) &&
              back_put(s->stop, p->stop, nets * sizeof(int32_t)) &&
              back_put(s->active, p->active, nets * sizeof(int32_t)) &&
              (!s->data_of || back_put(s->data_of, asked->data_of + f, nets * sizeof(int32_t))) &&
              (!s->record_count || back_put(s->record_count, step, nets * sizeof(int32_t)));
  free(step);
  if (!status && !fine) status = failed(p, "copying the population");
  return status ? status : move_weights(p, true, asked->single, s->weights);
}

/* ---- running ---------------------------------------------------------------------------------- */

/* One launch over the active networks, in portions where the arena holds fewer. */
static DeviceStatus launch(Population *p, bool single, double *seconds) {
  Descent task = p->task;
  const int64_t all = task.n_active, room = p->in_arena ? p->arena_room : all;
  const int32_t *active = task.active;
  for (int64_t from = 0; from < all; from += room) {
    double took = 0;
    task.active = active + from, task.n_active = all - from < room ? all - from : room;
    if (!back_launch(&task, single, p->dim, &took)) return failed(p, "running the kernel");
    *seconds += took;
  }
  return DEVICE_OK;
}

/* Leaves the networks that have stopped out of the next launch. */
static DeviceStatus compact(Population *p) {
  int64_t left = 0;
  if (!back_get(p->stop, p->slice.stop, (size_t)p->count * sizeof(int32_t)))
    return failed(p, "reading the stops");
  for (int64_t k = 0; k < p->count; k++)
    if (p->stop[k] == DESCENT_RUNS) p->active[left++] = (int32_t)k;
  if (left < p->task.n_active && left > 0 &&
      !back_put(p->slice.active, p->active, (size_t)left * sizeof(int32_t)))
    return failed(p, "copying the population");
  p->task.n_active = left;
  return DEVICE_OK;
}

/* Steps in launches of about a quarter of a second, so that somebody who wants to stop is heard. */
static DeviceStatus run_steps(Population *p) {
  DeviceDescent *asked = p->asked;
  const double aim = 0.25;
  int64_t portion = 32;
  DeviceStatus status = DEVICE_OK;
  p->task.until = 0;
  while (!status && p->task.n_active > 0) {
    double took = 0;
    if (asked->stopped && asked->stopped(asked->user)) return DEVICE_STOPPED;
    p->task.until = asked->max_steps - p->task.until < portion ? asked->max_steps : p->task.until + portion;
    status = launch(p, asked->single, &took);
    asked->seconds += took, asked->launches += 1;
    if (!status) status = compact(p);
    if (took < aim / 2 && portion < ((int64_t)1 << 40)) portion *= took < aim / 16 ? 8 : 2;
    if (took > 2 * aim && portion > 1) portion /= 2;
  }
  return status;
}

/* The end of every network, looked at in double. */
static DeviceStatus last_look(Population *p) {
  const DeviceDescent *asked = p->asked;
  double took = 0;
  DeviceStatus status = move_weights(p, false, asked->single, p->slice.weights);
  if (!status && asked->single) {
    status = put_data(p, false);
    if (!status) status = move_weights(p, true, false, p->slice.wide);
    p->task.weights = p->slice.wide;
  }
  for (int64_t k = 0; k < p->count; k++) p->active[k] = (int32_t)k;
  p->task.n_active = p->count;
  p->task.measure = (double *)p->slice.measure;
  fit(p, sizeof(double));
  if (!status && !back_put(p->slice.active, p->active, (size_t)p->count * sizeof(int32_t)))
    status = failed(p, "copying the population");
  return status ? status : launch(p, false, &took);
}

static DeviceStatus get_slice(Population *p) {
  DeviceDescent *asked = p->asked;
  const size_t nets = (size_t)p->count, f = (size_t)p->first;
  const Slice *s = &p->slice;
  bool fine = back_get(asked->steps + f, s->step, nets * sizeof(int64_t)) &&
              back_get(asked->stop + f, s->stop, nets * sizeof(int32_t)) &&
              back_get(asked->measure + f * MEASURE_COUNT, s->measure, nets * MEASURE_COUNT * sizeof(double));
  if (fine && asked->records)
    fine = back_get(asked->records + f * (size_t)asked->record_room * MEASURE_COUNT, s->records,
                    nets * (size_t)asked->record_room * MEASURE_COUNT * sizeof(double)) &&
           back_get(asked->record_count + f, s->record_count, nets * sizeof(int32_t));
  for (size_t id = f; fine && asked->records && id < f + nets; id++) { /* rows that were not reached */
    size_t used = (size_t)asked->record_count[id], room = (size_t)asked->record_room;
    memset(asked->records + (id * room + used) * MEASURE_COUNT, 0,
           (room - used) * MEASURE_COUNT * sizeof(double));
  }
  return fine ? DEVICE_OK : failed(p, "reading results");
}

static void describe(Population *p) {
  const DeviceDescent *asked = p->asked;
  const Slice *s = &p->slice;
  Descent *t = &p->task;
  t->weights = s->weights, t->rate = (const double *)s->rate, t->raise_rate = (const double *)s->raise_rate;
  t->step = (int64_t *)s->step, t->stop = (int32_t *)s->stop, t->active = (const int32_t *)s->active;
  t->n_active = p->count, t->data_of = (const int32_t *)s->data_of;
  t->records = (double *)s->records, t->record_count = (int32_t *)s->record_count, t->measure = NULL;
  t->record_every = asked->records ? asked->record_every : 0, t->record_room = asked->record_room;
  fit(p, real_of(p));
}

static DeviceStatus run_slice(Population *p) {
  describe(p);
  DeviceStatus status = put_slice(p);
  if (!status) status = run_steps(p);
  DeviceStatus ended = status;
  if (!status || status == DEVICE_STOPPED) status = last_look(p);
  if (!status) status = get_slice(p);
  return status ? status : ended;
}

/* Networks [first, first + count): in halves where the device has too little memory for all of them. */
static DeviceStatus run_range(Population *p, int64_t first, int64_t count) {
  p->first = first, p->count = count;
  if (!reserve(p)) {
    if (count == 1) {
      snprintf(p->error, DEVICE_ERROR_SIZE, "the device has too little memory for one network and its data");
      return DEVICE_MEMORY;
    }
    DeviceStatus status = run_range(p, first, count / 2);
    return status ? status : run_range(p, first + count / 2, count - count / 2);
  }
  DeviceStatus status = run_slice(p);
  slice_free(&p->slice);
  return status;
}

static DeviceStatus population_descend(DeviceDescent *asked, char error[DEVICE_ERROR_SIZE]) {
  Population p = {0};
  DeviceStatus status = DEVICE_OK;
  p.asked = asked, p.dim = shape_dim(asked->d), p.error = error;
  error[0] = '\0', asked->seconds = asked->launches = 0;
  if (asked->nets < 1) return DEVICE_OK;
  if (!p.dim || asked->n < 1 || asked->n > DEVICE_MOST_SAMPLES || asked->m < 1 ||
      asked->m > DEVICE_MOST_NEURONS) {
    snprintf(error, DEVICE_ERROR_SIZE,
             "networks of %d samples, %d inputs and %d neurons: at most %d, %d and %d", asked->n, asked->d,
             asked->m, DEVICE_MOST_SAMPLES, DEVICE_MOST_INPUTS, DEVICE_MOST_NEURONS);
    return DEVICE_FAILED;
  }
  Descent *t = &p.task;
  t->n = asked->n, t->m = asked->m, t->loss = asked->loss, t->mean = asked->mean, t->leak = asked->leak;
  t->freeze_second = asked->freeze_second;
  t->groups = (asked->m + LANES_ABREAST - 1) / LANES_ABREAST, t->words = (t->groups + 7) / 8 * 2;
  t->max_steps = asked->max_steps, t->stop_loss = asked->stop_loss, t->stop_min_q = asked->stop_min_q;
  t->x_shared = asked->data_of == NULL;
  p.needs_arena = !fit(&p, sizeof(double)); /* the last look, in double, takes more than the steps */
  p.active = (int32_t *)malloc((size_t)asked->nets * sizeof(int32_t));
  p.stop = (int32_t *)malloc((size_t)asked->nets * sizeof(int32_t));
  if (!p.active || !p.stop) status = DEVICE_MEMORY, snprintf(error, DEVICE_ERROR_SIZE, "out of memory");
  if (!status) status = run_range(&p, 0, asked->nets);
  free(p.active), free(p.stop);
  return status;
}
