/* Gradient descent of one two-layer network of padded input dimension DIM in the number type REAL by the
 * lanes of a Lanes; include with DIM, REAL, KIND (float or double), SAMPLES and GROUPS defined.
 *
 * A step has two phases without sums across lanes in their inner loops. Forward: a lane holds SAMPLES samples
 * in registers and reads neurons one after the other; what it leaves are f(x_i) and one bit of activity per
 * neuron. Backward: a lane holds the gradients of GROUPS neurons and reads samples with their weights and
 * bits. da = <w, g>, so the second layer needs no pass of its own. Neurons are kept as (-w, -a): the sign bit
 * of -w.x, computed from +0, is set exactly where w.x > 0. The leak costs nothing per pair:
 * phi(z) = leak z + (1-leak) max(z,0), and the first part is one vector for all neurons. */
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

/* Samples first, first + L, ... of one lane: f and activity. */
FN void NAME(forward)(const Descent *task, const NAME(Net) * net, int L, int first, const int count) {
  REAL x[SAMPLES][ROW_X], f[SAMPLES], row[ROW_W];
  uint32_t bits[SAMPLES];
  UNROLL for (int s = 0; s < count; s++) {
    int i = first + L * s;
    NAME(load)(x[s], net->X + (size_t)(i < task->n ? i : 0) * ROW_X, ROW_X);
    f[s] = 0;
  }
  for (int k = 0, word = 0; k < task->m; word++) {
    int end = k + LANES_WORD < task->m ? k + LANES_WORD : task->m, left = k + LANES_WORD - end;
    UNROLL for (int s = 0; s < count; s++) bits[s] = 0;
    HOT for (; k < end; k++) {
      NAME(load)(row, net->W + (size_t)k * ROW_W, ROW_W);
      UNROLL for (int s = 0; s < count; s++) {
        REAL z = 0;
        UNROLL for (int j = 0; j < DIM; j++) z = FMA(x[s][j], row[j], z);
        f[s] = add_below_zero(f[s], row[DIM], z);
        bits[s] = push_sign(bits[s], high_word(z));
      }
    }
    UNROLL for (int s = 0; s < count; s++) {
      int i = first + L * s;
      if (i < task->n) net->B[(size_t)i * (size_t)task->words + (size_t)word] = bits[s] << left;
    }
  }
  UNROLL for (int s = 0; s < count; s++) {
    int i = first + L * s;
    if (i < task->n) net->C[i] = f[s];
  }
}

/* The part of f that the leak makes linear, for all samples of one lane: f = (1-leak) f + leak <sum a w, x>.
 */
FN void NAME(add_linear)(const Descent *task, const NAME(Net) * net, int L, int lane) {
  REAL linear[DIM];
  const REAL leak = (REAL)task->leak, keep = (REAL)(1 - task->leak);
  UNROLL for (int j = 0; j < DIM; j++) linear[j] = 0;
  ROLLED for (int k = 0; k < task->m; k++) {
    const REAL *row = net->W + (size_t)k * ROW_W;
    UNROLL for (int j = 0; j < DIM; j++) linear[j] = FMA(row[DIM], row[j], linear[j]);
  }
  ROLLED for (int i = lane; i < task->n; i += L) {
    const REAL *x = net->X + (size_t)i * ROW_X;
    REAL z = 0;
    UNROLL for (int j = 0; j < DIM; j++) z = FMA(x[j], linear[j], z);
    net->C[i] = FMA(leak, z, keep * net->C[i]);
  }
}

/* All samples of one lane, a few at a time. The number at a time is a constant in every call, so that what is
 * held are registers, and the same for all lanes, so that none waits for another. */
FN void NAME(forward_all)(const Descent *task, const NAME(Net) * net, int L, int lane) {
  for (int base = 0; base < task->n; base += SAMPLES * L) {
    int count = (task->n - base + L - 1) / L;
    switch (count < SAMPLES ? count : SAMPLES) {
#define CASE(k)                                                                                              \
  case k:                                                                                                    \
    if (k <= SAMPLES) NAME(forward)(task, net, L, base + lane, k <= SAMPLES ? k : SAMPLES);                  \
    break;
      CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
    }
  }
  if (task->leak != 0) NAME(add_linear)(task, net, L, lane);
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

FN void NAME(gather)(NAME(Sums) * sums, const Descent *task, const NAME(Net) * net, int group, int abreast,
                     int split, int splits, const int count) {
  uint32_t mask[GROUPS], word[2] = {0, 0};
  REAL x[ROW_X];
  UNROLL for (int t = 0; t < count; t++) {
    mask[t] = 0x80000000u >> (LANES_ABREAST * ((group + t) % 4) + abreast);
    UNROLL for (int j = 0; j < DIM; j++) sums->g[t][j] = 0;
  }
  HOT for (int i = split; i < task->n; i += splits) {
    load_words(word, net->B + (size_t)i * (size_t)task->words + group / 4, count);
    REAL c = net->C[i];
    NAME(load)(x, net->X + (size_t)i * ROW_X, ROW_X);
    UNROLL for (int t = 0; t < count; t++) {
      if (DIM <= 4) { /* few operations: each under its condition; many: one choice of the weight */
        if (word[t / 4] & mask[t]) {
          UNROLL for (int j = 0; j < DIM; j++) sums->g[t][j] = FMA(c, x[j], sums->g[t][j]);
        }
      } else {
        REAL own = word[t / 4] & mask[t] ? c : 0;
        UNROLL for (int j = 0; j < DIM; j++) sums->g[t][j] = FMA(own, x[j], sums->g[t][j]);
      }
    }
  }
  if (task->leak == 0) return;
  UNROLL for (int j = 0; j < DIM; j++) sums->g[GROUPS][j] = 0;
  ROLLED for (int i = split; i < task->n; i += splits) {
    const REAL *row = net->X + (size_t)i * ROW_X;
    UNROLL for (int j = 0; j < DIM; j++) sums->g[GROUPS][j] = FMA(net->C[i], row[j], sums->g[GROUPS][j]);
  }
}

/* Adds row t of the lanes of a team that went through different samples for the same neurons. */
FN void NAME(add_splits)(const Lanes *lanes, NAME(Sums) * sums, const int t) {
#ifndef __CUDACC__
  REAL before[LANES_MOST];
#endif
  for (int step = LANES_ABREAST; step < lanes->team; step *= 2) {
    UNROLL for (int j = 0; j < DIM; j++) {
#ifdef __CUDACC__
      sums->g[t][j] += __shfl_xor_sync(lanes->mask, sums->g[t][j], step);
#else
      for (int lane = 0; lane < lanes->count; lane++) before[lane] = sums[lane].g[t][j];
      for (int lane = 0; lane < lanes->count; lane++) sums[lane].g[t][j] = before[lane] + before[lane ^ step];
#endif
    }
  }
}

/* (-w, -a) += step (-a g, <-w, g>). */
FN void NAME(update)(const NAME(Sums) * sums, const Descent *task, const NAME(Net) * net, int group,
                     int abreast, REAL step, const int count) {
  const REAL leak = (REAL)task->leak, keep = (REAL)(1 - task->leak);
  UNROLL for (int t = 0; t < count; t++) {
    int k = LANES_ABREAST * (group + t) + abreast;
    REAL *row = net->W + (size_t)k * ROW_W;
    if (k >= task->m) continue;
    REAL a = row[DIM], along = 0;
    UNROLL for (int j = 0; j < DIM; j++) {
      REAL w = row[j], g = sums->g[t][j];
      if (leak != 0) g = FMA(leak, sums->g[GROUPS][j], keep * g);
      along = FMA(w, g, along);
      row[j] = FMA(step * a, g, w);
    }
    if (!task->freeze_second) row[DIM] = FMA(step, along, a);
  }
}

/* The groups group, group + 1, ... that a team takes at one turn; on the card `most` of them, a constant. */
FN void NAME(turn)(const Descent *task, const Lanes *lanes, const NAME(Net) * net, int turn, REAL step,
                   NAME(Sums) * sums, const int most) {
  const int splits = lanes->team / LANES_ABREAST, teams = lanes->count / lanes->team;
#ifdef __CUDACC__
  const int lane = lanes->lane;
#endif
  EACH_LANE(lanes->count) {
    int in = lane % lanes->team, group = (turn * teams + lane / lanes->team) * GROUPS;
    NAME(gather)
    (OF(sums), task, net, group, in % LANES_ABREAST, in / LANES_ABREAST, splits, GROUPS_HERE(group, most));
  }
  UNROLL for (int t = 0; t < most; t++) NAME(add_splits)(lanes, sums, t);
  if (task->leak != 0) NAME(add_splits)(lanes, sums, GROUPS);
  EACH_LANE(lanes->count) {
    int in = lane % lanes->team, group = (turn * teams + lane / lanes->team) * GROUPS;
    if (in < LANES_ABREAST) NAME(update)(OF(sums), task, net, group, in, step, GROUPS_HERE(group, most));
  }
}

/* The gradient and the update of all neurons. */
FN void NAME(backward)(const Descent *task, const Lanes *lanes, const NAME(Net) * net, REAL step,
                       NAME(Sums) * sums) {
  const int teams = lanes->count / lanes->team;
  for (int turn = 0; turn * teams * GROUPS < task->groups; turn++) {
#ifdef __CUDACC__
    int left = task->groups - (turn * teams + lanes->lane / lanes->team) * GROUPS;
    switch (left < GROUPS ? left : GROUPS) {
#define CASE(k)                                                                                              \
  case k:                                                                                                    \
    if (k <= GROUPS) NAME(turn)(task, lanes, net, turn, step, sums, k <= GROUPS ? k : GROUPS);               \
    break;
      CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
    }
#else
    NAME(turn)(task, lanes, net, turn, step, sums, GROUPS);
#endif
  }
}

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
