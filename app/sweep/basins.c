/* Basins: every pixel is the start of a neuron. Alignment near zero is followed exactly, in closed form, so
 * that a boundary between two colours is a boundary of the flow and not of a step size. */
#include "sweep/basins_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sweep_basins_free(SweepBasins *basins) {
  rf_free(basins->pixels);
  for (rf_index k = 0; k < basins->n_places; k++) rf_free(basins->places[k].name);
  rf_free(basins->places);
  memset(basins, 0, sizeof *basins);
}

/* ---- from pixels to starts -------------------------------------------------------------------- */

/* The circle: an outer ring of starts with a > 0 and an inner one with a < 0, the angle being that of w. */
static bool circle_start(double u, double v, double *start) {
  double radius = hypot(u, v);
  bool outer = radius <= 1 && radius > 0.58, inner = radius < 0.52 && radius > 0.1;
  if (!outer && !inner) return false;
  start[0] = u / radius * sqrt(0.5), start[1] = v / radius * sqrt(0.5);
  start[2] = outer ? sqrt(0.5) : -sqrt(0.5);
  return true;
}

/* The sphere in two discs of equal areas (Lambert): the half with w_3 > 0 on the left, the other one on the
 * right. */
static bool sphere_start(double u, double v, double sign, double *start) {
  const double air = 1.06;
  bool front = u < 0;
  double x = air * (2 * u + (front ? 1 : -1)), y = air * v, r2 = x * x + y * y;
  if (r2 > 1) return false;
  double lift = sqrt(2 - r2), z = 1 - r2;
  start[0] = x * lift * sqrt(0.5), start[1] = y * lift * sqrt(0.5);
  start[2] = (front ? z : -z) * sqrt(0.5), start[3] = sign * sqrt(0.5);
  return true;
}

/* A plane: w = reach (u e_i + v e_j), a = sign; not balanced. */
static bool plane_start(const SweepBasinsWish *wish, double u, double v, rf_index d, double *start) {
  memset(start, 0, (size_t)(d + 1) * sizeof *start);
  start[wish->axis_x] = wish->reach * u;
  start[wish->axis_y] = wish->reach * v;
  start[d] = wish->sign;
  double norm =
      sqrt(start[wish->axis_x] * start[wish->axis_x] + start[wish->axis_y] * start[wish->axis_y] + 1);
  for (rf_index k = 0; k <= d; k++) start[k] /= norm;
  return true;
}

static bool start_of(const SweepBasinsWish *wish, rf_index i, rf_index j, rf_index d, double *start) {
  double u = 2 * ((double)j + 0.5) / (double)wish->width - 1,
         v = 1 - 2 * ((double)i + 0.5) / (double)wish->height;
  double stretch = (double)wish->width / (double)wish->height;
  switch (wish->shape) {
  case SWEEP_BASINS_CIRCLE: return circle_start(u * fmax(stretch, 1), v * fmax(1 / stretch, 1), start);
  case SWEEP_BASINS_SPHERE: return sphere_start(u, 2 * v / stretch, wish->sign, start);
  case SWEEP_BASINS_PLANE: return plane_start(wish, u, v, d, start);
  }
  return false;
}

/* ---- one pixel -------------------------------------------------------------------------------- */

enum { NOWHERE = -1, UNKNOWN = -2 };

typedef struct Work {
  RfContext context; /* own one per thread */
  double *start;     /* d + 1 */
  double *pair;      /* 2 d */
  char *sector;      /* n signs and a closing zero */
} Work;

/* Sectors as they come, behind a lock; sorted and renumbered at the end, so that threads do not matter. */
static rf_index place_named(SweepBasins *basins, const char *name) {
  rf_index found = UNKNOWN;
#pragma omp critical(sweep_basins_places)
  {
    for (rf_index k = 0; k < basins->n_places && found < 0; k++)
      if (strcmp(basins->places[k].name, name) == 0) found = k;
    if (found < 0) {
      SweepPlace *places = rf_resize(basins->places, basins->n_places + 1, sizeof *places);
      char *copy = rf_copy_text(name);
      if (places) basins->places = places;
      if (places && copy) {
        places[basins->n_places] = (SweepPlace){copy, 0};
        found = basins->n_places++;
      } else {
        rf_free(copy);
      }
    }
  }
  return found;
}

/* Where the neuron ends: its destiny, or its final sector and the sign of a. */
static double align_pixel(Work *work, SweepBasins *basins, const SweepBasinsWish *wish,
                          const RfAlignField *field) {
  RfAlignNeuron neuron = {0};
  rf_index place = UNKNOWN;
  RfStatus status = rf_flow_align_neuron(&work->context, &neuron, field, work->start, 0, NULL, INFINITY);
  if (status >= 0 && neuron.branched) {
    place = place_named(basins, "several continuations");
  } else if (status >= 0 && wish->colour == SWEEP_BASINS_DESTINY) {
    place = place_named(basins, rf_destiny_name(neuron.destiny));
  } else if (status >= 0) {
    for (rf_index k = 0; k < field->n; k++)
      work->sector[k + 1] = neuron.sector[k] > 0 ? '+' : neuron.sector[k] < 0 ? '-' : '0';
    work->sector[0] =
        work->start[field->d] > 0 ? 'p' : 'n'; /* sign of a, which never changes for balanced starts */
    place = place_named(basins, neuron.destiny == RF_DESTINY_DEAD ? "dead" : work->sector);
  }
  rf_align_neuron_free(&neuron);
  return (double)place;
}

/* The margin of the limit (scale 0) of the flow that starts from this neuron and its opposite. */
static double margin_pixel(Work *work, const RfAlignField *field, const double *y) {
  const rf_index d = field->d;
  RfFlowStart start = {0};
  RfFlowResult result = {0};
  RfFlowSettings settings;
  double margin = NAN, a[2] = {work->start[d], -work->start[d]};
  for (rf_index k = 0; k < d; k++) work->pair[k] = work->start[k], work->pair[d + k] = -work->start[k];
  RfNet net = {.m = 2, .d = d, .W = work->pair, .a = a, .leak = field->leak};
  if (rf_flow_start_from_net(&work->context, &start, &net) == RF_OK) {
    RfFlowProblem problem = {
        .X = field->X, .y = y, .n = field->n, .d = d, .leak = field->leak, .start = &start, .in_limit = true};
    rf_flow_settings_init(&settings);
    settings.check_direction = settings.with_alignment = false;
    settings.branches = RF_BRANCHES_FOLLOW;
    RfStatus status = rf_flow_run(&work->context, &result, &problem, &settings);
    if (status == RF_OK && result.limit.outcome == RF_FLOW_CONVERGED) margin = result.limit.margin;
    if (status == RF_NOT_SEPARABLE) margin = 0;
  }
  rf_flow_result_free(&result);
  rf_flow_start_free(&start);
  return margin;
}

/* ---- many pixels on a device ------------------------------------------------------------------ */

/* Rows of the picture that are followed together: about this many starts. */
enum { DEVICE_STARTS = 1 << 22 };

typedef struct Together {
  const Device *device;
  const SweepBasinsWish *wish;
  const RfAlignField *field;
  DeviceAlign task;
  double *starts;
  int8_t *destiny;
  uint32_t *plus, *still;
  rf_index words;
} Together;

/* The place of a start that the device has followed. Neighbours mostly end together: the last place is tried
 * first. */
typedef struct LastPlace {
  const uint32_t *plus, *still;
  bool positive;
  RfDestiny destiny;
  double place;
} LastPlace;

static double followed_pixel(const Together *t, SweepBasins *basins, Work *work, LastPlace *last,
                             rf_index k) {
  const rf_index d = t->field->d, words = t->words;
  const uint32_t *plus = t->plus + k * words, *still = t->still + k * words;
  const bool limit = t->wish->colour == SWEEP_BASINS_LIMIT, positive = t->starts[k * (d + 1) + d] > 0;
  const RfDestiny destiny = (RfDestiny)t->destiny[k];
  bool same = last->destiny == destiny;
  if (same && limit && destiny != RF_DESTINY_DEAD)
    same = last->positive == positive && memcmp(plus, last->plus, (size_t)words * sizeof *plus) == 0 &&
           memcmp(still, last->still, (size_t)words * sizeof *still) == 0;
  if (same) return last->place;
  const char *name = rf_destiny_name(destiny);
  if (limit && destiny != RF_DESTINY_DEAD) {
    work->sector[0] = positive ? 'p' : 'n';
    for (rf_index i = 0; i < t->field->n; i++) {
      uint32_t bit = 1u << (i % 32);
      work->sector[i + 1] = still[i / 32] & bit ? '0' : plus[i / 32] & bit ? '+' : '-';
    }
    name = work->sector;
  }
  *last = (LastPlace){plus, still, positive, destiny, (double)place_named(basins, name)};
  return last->place;
}

static bool work_new(Work *work, const RfContext *context, const RfAlignField *field) {
  *work = (Work){.context = *context,
                 .start = RF_NEW(double, field->d + 1),
                 .pair = RF_NEW(double, 2 * field->d),
                 .sector = RF_NEW(char, field->n + 2)};
  work->context.threads = 1, work->context.on_progress = NULL, work->context.on_message = NULL;
  return work->start && work->pair && work->sector;
}

static void work_free(Work *work) {
  rf_free(work->start);
  rf_free(work->pair);
  rf_free(work->sector);
}

/* Pixels [first, end): starts to the device, places from it; what it leaves is followed here. */
static RfStatus follow_together(RfContext *context, Together *t, SweepBasins *basins, rf_index first,
                                rf_index end) {
  const SweepBasinsWish *wish = t->wish;
  const rf_index d = t->field->d, count = end - first;
  rf_index here = 0;
  bool failed = false;
#pragma omp parallel for num_threads(context->threads)
  for (rf_index k = 0; k < count; k++) {
    double *start = t->starts + k * (d + 1);
    bool inside = start_of(wish, (first + k) / wish->width, (first + k) % wish->width, d, start);
    basins->pixels[first + k] = inside ? 0 : NOWHERE;
    if (!inside) memset(start, 0, (size_t)(d + 1) * sizeof *start);
  }
  t->task.count = count;
  RfStatus status = device_align(context, t->device, &t->task);
  if (status) return status;
#pragma omp parallel num_threads(context->threads) reduction(+ : here)
  {
    Work work;
    LastPlace last = {.destiny = RF_DESTINY_RUNNING}; /* no start ends so on a device */
    bool fine = work_new(&work, context, t->field);
#pragma omp for schedule(dynamic, 1024)
    for (rf_index k = 0; k < count; k++) {
      double *pixel = &basins->pixels[first + k];
      if (!fine || *pixel < 0) continue;
      if (t->destiny[k] != DEVICE_ASK) {
        *pixel = followed_pixel(t, basins, &work, &last, k);
      } else {
        memcpy(work.start, t->starts + k * (d + 1), (size_t)(d + 1) * sizeof(double));
        *pixel = align_pixel(&work, basins, wish, t->field);
        here++;
      }
    }
    if (!fine) {
#pragma omp atomic write
      failed = true;
    }
    work_free(&work);
  }
  basins->on_processor += here;
  return failed ? rf_fail(context, RF_ERR_MEMORY, "out of memory") : RF_OK;
}

static RfStatus fill_together(RfContext *context, SweepBasins *basins, const SweepBasinsWish *wish,
                              const RfAlignField *field) {
  const rf_index total = wish->width * wish->height, room = total < DEVICE_STARTS ? total : DEVICE_STARTS;
  Device device;
  Together t = {.device = &device, .wish = wish, .field = field, .words = (field->n + 31) / 32};
  RfStatus status = device_open(context, &device, wish->device);
  if (status) return status;
  t.starts = RF_NEW_TABLE(double, room, field->d + 1), t.destiny = RF_NEW(int8_t, room);
  t.plus = RF_NEW_TABLE(uint32_t, room, t.words), t.still = RF_NEW_TABLE(uint32_t, room, t.words);
  if (!t.starts || !t.destiny || !t.plus || !t.still)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory");
  t.task = (DeviceAlign){.n = (int)field->n,
                         .d = (int)field->d,
                         .leak = field->leak,
                         .X = field->X,
                         .c = field->c,
                         .zero = context->tol.zero,
                         .balanced = context->tol.balanced,
                         .solver = context->tol.solver,
                         .starts = t.starts,
                         .destiny = t.destiny,
                         .plus = wish->colour == SWEEP_BASINS_LIMIT ? t.plus : NULL,
                         .still = wish->colour == SWEEP_BASINS_LIMIT ? t.still : NULL};
  for (rf_index first = 0; first < total && !status; first += room) {
    rf_index end = first + room < total ? first + room : total;
    if (rf_context_stop(context))
      for (rf_index k = first; k < end; k++) basins->pixels[k] = UNKNOWN;
    else
      status = follow_together(context, &t, basins, first, end);
    rf_progress(context, "basins", (double)end / (double)total, "of the starts");
  }
  rf_free(t.starts), rf_free(t.destiny), rf_free(t.plus), rf_free(t.still);
  return status;
}

/* ---- the picture ------------------------------------------------------------------------------ */

static void fill_row(Work *work, SweepBasins *basins, const SweepBasinsWish *wish, const RfAlignField *field,
                     const double *y, rf_index i) {
  for (rf_index j = 0; j < wish->width; j++) {
    double *pixel = &basins->pixels[i * wish->width + j];
    if (!start_of(wish, i, j, field->d, work->start))
      *pixel = NOWHERE;
    else if (wish->colour == SWEEP_BASINS_MARGIN)
      *pixel = margin_pixel(work, field, y);
    else
      *pixel = align_pixel(work, basins, wish, field);
  }
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const SweepPlace *)a)->name, ((const SweepPlace *)b)->name);
}

/* Places in the order of their names, whatever order threads found them in; pixels are renumbered. */
static RfStatus sort_places(RfContext *context, SweepBasins *basins, rf_index n_pixels) {
  rf_index *place = RF_NEW(rf_index, basins->n_places + 1);
  char **before = RF_NEW(char *, basins->n_places + 1);
  bool fine = place && before;
  for (rf_index k = 0; fine && k < basins->n_places; k++) before[k] = basins->places[k].name;
  if (fine && basins->n_places > 1)
    qsort(basins->places, (size_t)basins->n_places, sizeof *basins->places, by_name);
  for (rf_index k = 0; fine && k < basins->n_places; k++)
    for (rf_index j = 0; j < basins->n_places; j++)
      if (basins->places[j].name == before[k]) place[k] = j;
  for (rf_index k = 0; fine && k < n_pixels; k++) {
    if (basins->pixels[k] < 0) continue;
    basins->pixels[k] = (double)place[(rf_index)basins->pixels[k]];
    basins->places[(rf_index)basins->pixels[k]].pixels++;
  }
  rf_free(place);
  rf_free(before);
  return fine ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory");
}

static RfStatus fill_rows(RfContext *context, SweepBasins *basins, const SweepBasinsWish *wish,
                          const RfAlignField *field, const double *y) {
  bool failed = false;
#pragma omp parallel num_threads(context->threads)
  {
    Work work;
    bool fine = work_new(&work, context, field);
    if (!fine) {
#pragma omp atomic write
      failed = true;
    }
#pragma omp for schedule(dynamic, 4)
    for (rf_index i = 0; i < wish->height; i++) {
      if (!fine) continue;
      if (rf_context_stop(context))
        for (rf_index j = 0; j < wish->width; j++) basins->pixels[i * wish->width + j] = UNKNOWN;
      else
        fill_row(&work, basins, wish, field, y, i);
    }
    work_free(&work);
  }
  return failed ? rf_fail(context, RF_ERR_MEMORY, "out of memory") : RF_OK;
}

RfStatus sweep_basins(RfContext *context, SweepBasins *basins, const SweepBasinsWish *wish,
                      const RfDataset *data, double leak) {
  memset(basins, 0, sizeof *basins);
  double *c = RF_NEW(double, data->n);
  basins->pixels = RF_NEW(double, wish->width * wish->height);
  if (!c || !basins->pixels) {
    rf_free(c);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  }
  for (rf_index k = 0; k < data->n; k++) c[k] = 0.5 * data->y[k];
  RfAlignField field = {.X = data->X, .c = c, .n = data->n, .d = data->d, .leak = leak};
  bool together = wish->device != DEVICE_CPU && wish->colour != SWEEP_BASINS_MARGIN;
  RfStatus status = together ? fill_together(context, basins, wish, &field)
                             : fill_rows(context, basins, wish, &field, data->y);
  rf_free(c);
  if (!status && wish->colour != SWEEP_BASINS_MARGIN)
    status = sort_places(context, basins, wish->width * wish->height);
  return status ? status : rf_context_stop(context) ? RF_INTERRUPTED : RF_OK;
}
