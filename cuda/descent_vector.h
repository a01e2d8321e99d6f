/* The two phases of a step lane by lane; part of descent_body.h. Forward: a lane holds SAMPLES samples in
 * registers and reads neurons one after the other. Backward: a lane holds the gradients of GROUPS neurons and
 * reads samples with their weights and bits. The leak costs nothing per pair: phi(z) = leak z + (1-leak)
 * max(z,0), and the first part is one vector for all neurons. */

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
