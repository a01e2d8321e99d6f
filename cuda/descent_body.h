/* Gradient descent of one two-layer network of padded input dimension DIM in the number type REAL by the
 * lanes of a Lanes; include with DIM, REAL, KIND (float or double), MATRIX, SAMPLES and GROUPS defined.
 *
 * A step has two phases. Forward: f(x_i) and one bit of activity per sample and neuron. Backward: the
 * gradients from samples, their weights and their bits; da = <w, g>, so the second layer needs no pass of its
 * own. Neurons are kept as
 * (-w, -a): the sign bit of -w.x, computed from +0, is set exactly where w.x > 0. Both phases are written
 * twice: lane by lane (descent_vector.h) and on the matrix units for double precision (descent_matrix.h,
 * where MATRIX is 1). */
#define GLUE_(a, b)             a##_##b
#define GLUE(a, b)              GLUE_(a, b)
#define NAME(x)                 GLUE(GLUE(x, KIND), DIM)
#define high_word(x)            GLUE(high_word, KIND)(x)
#define add_below_zero(f, a, z) GLUE(add_below_zero, KIND)(f, a, z)
#define exponential(x)          GLUE(exp, KIND)(x)
#define FMA(a, b, c)            GLUE(fma, KIND)(a, b, c)
#define REALS_OF_16             ((int)(16 / sizeof(REAL)))
#define ROW_X                   (DIM * sizeof(REAL) < 16 ? DIM : (DIM + REALS_OF_16 - 1) / REALS_OF_16 * REALS_OF_16)
#define ROW_W                   ((DIM + 1 + REALS_OF_16 - 1) / REALS_OF_16 * REALS_OF_16)

/* One network in its memory. */
typedef struct NAME(Net) {
  const REAL *X, *y;
  REAL *W, *C;
  uint32_t *B;
} NAME(Net);

/* A row of `count` numbers, whole vectors of 16 bytes where they fit. */
FN void NAME(load)(REAL *out, const REAL *row, const int count) {
#ifdef __CUDACC__
  if (count % REALS_OF_16 == 0) {
    UNROLL for (int v = 0; v < count / REALS_OF_16; v++) {
      int4 four = reinterpret_cast<const int4 *>(row)[v];
      REAL part[REALS_OF_16];
      memcpy(part, &four, sizeof part);
      UNROLL for (int k = 0; k < REALS_OF_16; k++) out[v * REALS_OF_16 + k] = part[k];
    }
  } else if (sizeof(REAL) == 4 && count == 2) {
    float2 two = *reinterpret_cast<const float2 *>(row);
    out[0] = (REAL)two.x, out[1] = (REAL)two.y;
  } else {
    UNROLL for (int k = 0; k < count; k++) out[k] = row[k];
  }
#else
  memcpy(out, row, (size_t)count * sizeof *out);
#endif
}

/* From f to the weight of the sample in the gradient: y |loss'(q)|, over the loss where the rate is raised.
 */
FN void NAME(weigh)(const Descent *task, const NAME(Net) * net, int L, int lane, int raised,
                    double log_loss) {
  for (int i = lane; i < task->n; i += L) {
    REAL y = net->y[i], q = y * net->C[i];
    if (raised)
      net->C[i] = y * (REAL)exp_double(loss_log_slope(task->loss, (double)q) - log_loss);
    else if (task->loss == LANES_EXP)
      net->C[i] = y * exponential(-q);
    else
      net->C[i] = (task->loss == LANES_LOGISTIC2 ? 2 * y : y) / (1 + exponential(q));
  }
}

/* What a lane gathers for its neurons: rows 0 .. count-1, and with a leak the sum over all samples in the
 * last row. */
typedef struct NAME(Sums) {
  REAL g[GROUPS + 1][DIM];
} NAME(Sums);

#if MATRIX
#include "descent_matrix.h"
#else
#include "descent_vector.h"
#endif

/* ---- looking ---------------------------------------------------------------------------------- */

FN double NAME(lowest)(const Descent *task, const NAME(Net) * net, int L, int lane) {
  double low = INFINITY;
  for (int i = lane; i < task->n; i += L) low = fmin(low, (double)(net->y[i] * net->C[i]));
  return low;
}

FN double NAME(relative_loss)(const Descent *task, const NAME(Net) * net, int L, int lane, double top) {
  double sum = 0;
  for (int i = lane; i < task->n; i += L)
    sum += exp_double(loss_log_value(task->loss, (double)(net->y[i] * net->C[i])) - top);
  return sum;
}

FN double NAME(square)(const Descent *task, const NAME(Net) * net, int L, int lane) {
  double sum = 0;
  for (int k = lane; k < task->m; k += L) {
    const REAL *row = net->W + (size_t)k * ROW_W;
    for (int j = 0; j <= DIM; j++) sum = fma((double)row[j], (double)row[j], sum);
  }
  return sum;
}

/* Samples on the wrong side; NaN when an output is not a number, so that an overflow is seen. */
FN double NAME(errors)(const Descent *task, const NAME(Net) * net, int L, int lane) {
  double wrong = 0;
  for (int i = lane; i < task->n; i += L) {
    REAL q = net->y[i] * net->C[i];
    wrong += (q > 0 ? 0 : 1) + (double)(q - q);
  }
  return wrong;
}

/* A sum or a minimum over the lanes. */
FN double NAME(over_lanes)(const Descent *task, const Lanes *lanes, const NAME(Net) * net, int what,
                           double top) {
#ifdef __CUDACC__
  const int lane = lanes->lane;
  double value;
#else
  double value[LANES_MOST];
#endif
  EACH_LANE(lanes->count) {
    switch (what) {
    case MEASURE_MIN_Q: AT(value) = NAME(lowest)(task, net, lanes->count, lane); break;
    case MEASURE_LOG_LOSS: AT(value) = NAME(relative_loss)(task, net, lanes->count, lane, top); break;
    case MEASURE_NORM: AT(value) = NAME(square)(task, net, lanes->count, lane); break;
    default: AT(value) = NAME(errors)(task, net, lanes->count, lane); break;
    }
  }
  return what == MEASURE_MIN_Q ? lanes_min(lanes, value) : lanes_sum(lanes, value);
}

/* ln of the summed loss, given the smallest margin. */
FN double NAME(log_loss)(const Descent *task, const Lanes *lanes, const NAME(Net) * net, double low) {
  double top = loss_log_value(task->loss, low);
  return top + log_double(NAME(over_lanes)(task, lanes, net, MEASURE_LOG_LOSS, top));
}

/* ---- a network -------------------------------------------------------------------------------- */

FN void NAME(fetch)(const Descent *task, const NAME(Net) * net, const REAL *weights, int L, int lane) {
  for (int k = lane; k < task->groups * LANES_ABREAST; k += L)
    for (int j = 0; j < ROW_W; j++)
      net->W[(size_t)k * ROW_W + (size_t)j] = k < task->m ? -weights[(size_t)k * ROW_W + (size_t)j] : 0;
}

FN void NAME(store)(const Descent *task, const NAME(Net) * net, REAL *weights, int L, int lane) {
  for (int k = lane; k < task->m; k += L)
    for (int j = 0; j < ROW_W; j++)
      weights[(size_t)k * ROW_W + (size_t)j] = -net->W[(size_t)k * ROW_W + (size_t)j];
}

/* Looks at a network whose outputs are known: records or measures it (`row`, where not NULL), and applies the
 * rules that stand before every update, as in src/train/loop_body.h. The loss is at least that of the
 * smallest margin: only where that is small enough are logarithms summed. */
FN int32_t NAME(look)(const Descent *task, const Lanes *lanes, const NAME(Net) * net, double *row,
                      int64_t step, double raise_rate, int *raised, double *log_loss) {
  double low = NAME(over_lanes)(task, lanes, net, MEASURE_MIN_Q, 0);
  double mean = task->mean ? log_double((double)task->n) : 0;
  double goal = task->stop_loss > 0 ? log_double(task->stop_loss) : -INFINITY;
  int32_t stop = DESCENT_RUNS;
  *raised = raise_rate > 0 && low > 0;
  int near = task->stop_loss > 0 && loss_log_value(task->loss, low) - mean <= goal;
  if (*raised || near || row) *log_loss = NAME(log_loss)(task, lanes, net, low);
  if (row) {
    double square = NAME(over_lanes)(task, lanes, net, MEASURE_NORM, 0);
    double wrong = NAME(over_lanes)(task, lanes, net, MEASURE_WRONG, 0);
    ONE_LANE(lanes) {
      row[MEASURE_STEP] = (double)step, row[MEASURE_LOG_LOSS] = *log_loss - mean;
      row[MEASURE_MIN_Q] = low, row[MEASURE_NORM] = sqrt(square), row[MEASURE_WRONG] = wrong;
    }
  }
  if (near && *log_loss - mean <= goal) stop = DESCENT_LOSS;
  if (low >= task->stop_min_q) stop = DESCENT_MIN_Q;
  return stop;
}

/* Network `id` in its memory, from the step at which it stands to task->until or to a rule. */
FN void NAME(descend)(const Descent *task, const Lanes *lanes, const NAME(Net) * net, int64_t id,
                      NAME(Sums) * sums) {
#ifdef __CUDACC__
  const int lane = lanes->lane;
#endif
  const int L = lanes->count, measures = task->measure != NULL;
  REAL *weights = (REAL *)task->weights + (size_t)id * (size_t)task->m * ROW_W;
  int64_t step = task->step[id], records = task->record_every > 0 ? task->record_count[id] : 0;
  int32_t stop = task->stop[id];
  const double rate = task->rate[id] / (task->mean ? task->n : 1), raise_rate = task->raise_rate[id];
  const int rules = task->stop_loss > 0 || task->stop_min_q < INFINITY || raise_rate > 0;
  EACH_LANE(L) NAME(fetch)(task, net, weights, L, lane);
  BARRIER(lanes);
  while (measures || (stop == DESCENT_RUNS && step < task->until)) {
    int raised = 0, due = task->record_every > 0 && step % task->record_every == 0;
    double log_loss = 0, *row = NULL;
    EACH_LANE(L) NAME(forward_all)(task, net, L, lane);
    if (MATRIX) BARRIER(lanes); /* a lane's samples have come from others */
    if (due && records < task->record_room)
      row = task->records + (id * task->record_room + records++) * MEASURE_COUNT;
    if (measures) row = task->measure + id * MEASURE_COUNT;
    if (rules || row) stop = NAME(look)(task, lanes, net, row, step, raise_rate, &raised, &log_loss);
    if (measures) return;
    if (!rules) stop = DESCENT_RUNS;
    if (stop != DESCENT_RUNS) break;
    EACH_LANE(L) NAME(weigh)(task, net, L, lane, raised, log_loss);
    BARRIER(lanes);
    NAME(backward)(task, lanes, net, (REAL)(raised ? raise_rate : rate), sums);
    BARRIER(lanes);
    step++;
  }
  if (stop == DESCENT_RUNS && step >= task->max_steps) stop = DESCENT_STEPS;
  EACH_LANE(L) NAME(store)(task, net, weights, L, lane);
  ONE_LANE(lanes) {
    task->step[id] = step;
    task->stop[id] = stop;
    if (task->record_every > 0) task->record_count[id] = (int32_t)records;
  }
}

/* ---- where it runs ---------------------------------------------------------------------------- */

FN void NAME(lay)(NAME(Net) * net, const DescentPlan *plan, char *memory, const char *rows,
                  const char *labels) {
  net->W = (REAL *)(memory + plan->w), net->C = (REAL *)(memory + plan->c);
  net->B = (uint32_t *)(memory + plan->bits);
  net->X = (const REAL *)rows, net->y = (const REAL *)labels;
}

/* Rows and labels of a data set where the population keeps them. */
FN const char *NAME(rows_of)(const Descent *task, int64_t set) {
  return (const char *)((const REAL *)task->X + (size_t)set * (size_t)task->n * ROW_X);
}
FN const char *NAME(labels_of)(const Descent *task, int64_t set) {
  return (const char *)((const REAL *)task->y + (size_t)set * (size_t)task->n);
}

#ifdef __CUDACC__

/* A block copies the data next to its networks. */
FN void NAME(copy_data)(char *to, const Descent *task, int64_t set, int lane, int lanes) {
  const REAL *X = (const REAL *)task->X + (size_t)set * (size_t)task->n * ROW_X,
             *y = (const REAL *)task->y + (size_t)set * (size_t)task->n;
  REAL *rows = (REAL *)to, *labels = (REAL *)(to + descent_up((size_t)task->n * ROW_X * sizeof(REAL), 16));
  for (int i = lane; i < task->n * ROW_X; i += lanes) rows[i] = X[i];
  for (int i = lane; i < task->n; i += lanes) labels[i] = y[i];
}

FN void NAME(run)(const Descent *task, char *shared, const int in_arena) {
  const int L = task->lanes, slot = (int)threadIdx.x / L, lane = (int)threadIdx.x % L;
  const int64_t place = (int64_t)blockIdx.x * (blockDim.x / (unsigned)L) + slot;
  DescentPlan plan;
  NAME(Net) net;
  NAME(Sums) sums;
  Lanes lanes = {L, L < LANES_TEAM ? L : LANES_TEAM, lane, 0, NULL};
  lanes.mask = L >= LANES_TEAM ? 0xffffffffu : ((1u << L) - 1) << ((threadIdx.x % LANES_TEAM) / L * L);
  const int far = in_arena || descent_far(DIM, sizeof(REAL)), together = task->x_shared && !far;
  descent_plan(&plan, task, sizeof(REAL), ROW_W, !task->x_shared && !far);
  size_t first = together ? descent_up(task->x_bytes, 128) : 0;
  size_t labels = descent_up((size_t)task->n * ROW_X * sizeof(REAL), 16);
  char *memory = in_arena ? task->arena + (size_t)place * plan.bytes : shared + first + slot * plan.bytes;
  if (together) {
    NAME(copy_data)(shared, task, 0, (int)threadIdx.x, (int)blockDim.x);
    __syncthreads();
  }
  if (place >= task->n_active) return;
  const int64_t id = task->active[place], set = task->data_of ? task->data_of[id] : 0;
  if (far) {
    NAME(lay)(&net, &plan, memory, NAME(rows_of)(task, set), NAME(labels_of)(task, set));
  } else {
    char *data = shared + (task->x_shared ? 0 : first + slot * plan.bytes + plan.x);
    if (!task->x_shared) NAME(copy_data)(data, task, set, lane, L);
    NAME(lay)(&net, &plan, memory, data, data + labels);
  }
  lanes.slots = (double *)(memory + plan.slots);
  NAME(descend)(task, &lanes, &net, id, &sums);
}

static __global__ void __launch_bounds__(LANES_MOST, BLOCKS) NAME(descent_shared)(const Descent task) {
  extern __shared__ int4 descent_memory[];
  NAME(run)(&task, (char *)descent_memory, 0);
}

static __global__ void __launch_bounds__(LANES_MOST) NAME(descent_arena)(const Descent task) {
  NAME(run)(&task, NULL, 1);
}

#else

/* The same on the processor: one network after the other. */
static void NAME(emulate)(const Descent *task, char *memory) {
  DescentPlan plan;
  NAME(Net) net;
  Lanes lanes = {task->lanes, task->lanes < LANES_TEAM ? task->lanes : LANES_TEAM, NULL};
  NAME(Sums) sums[LANES_MOST];
  descent_plan(&plan, task, sizeof(REAL), ROW_W, 0);
  for (int64_t place = 0; place < task->n_active; place++) {
    int64_t id = task->active[place], set = task->data_of ? task->data_of[id] : 0;
    NAME(lay)(&net, &plan, memory, NAME(rows_of)(task, set), NAME(labels_of)(task, set));
    NAME(descend)(task, &lanes, &net, id, sums);
  }
}

#endif

#undef DIM
#undef MATRIX
#undef SAMPLES
#undef GROUPS
#undef BLOCKS
#undef HOT
#undef NAME
#undef GLUE
#undef GLUE_
#undef high_word
#undef add_below_zero
#undef exponential
#undef FMA
#undef REALS_OF_16
#undef ROW_X
#undef ROW_W
