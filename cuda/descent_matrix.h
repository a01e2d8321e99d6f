/* The two phases of a step on the matrix units, in double; part of descent_body.h. A matrix instruction of
 * the card adds a product of 16 x 4 and 4 x 8 numbers to 16 x 8 sums, every sum as a chain of fused products
 * in ascending order (tried on the card: 512,000 of 512,000 sums equal the chain), so that loops on the
 * processor give the same bits.
 *
 * Lane 4 g + t of a warp holds the factors (g, t), (g + 8, t) and (t, g) and the sums (g, 2t), (g, 2t + 1),
 * (g + 8, 2t), (g + 8, 2t + 1). Forward: rows are samples, columns neurons; a lane keeps the sum of f over
 * its columns, and four lanes add theirs at the end. Backward: rows are neurons, columns inputs, and the
 * chain goes over the samples, with the weight c where the neuron is active and leak c where it is not. */
enum {
  NAME(SAMPLE_TILES) = DIM <= 32 ? 2 : 1, /* of 16 samples, held in registers at once */
  NAME(INPUT_TILES) = (DIM + 7) / 8,      /* of 8 inputs */
};

/* f + a min(z, leak z) for the sign kept here: below zero is active. */
FN REAL NAME(add_active)(REAL f, REAL a, REAL z, REAL leak) {
  if (leak == 0) return add_below_zero(f, a, z);
  return FMA(a, (int32_t)high_word(z) < 0 ? z : leak * z, f);
}

#ifdef __CUDACC__

/* Samples first ... first + 16 tiles - 1 of one warp: f and activity. */
FN void NAME(forward)(const Descent *task, const NAME(Net) * net, int first, const int tiles) {
  const int in = (int)threadIdx.x % LANES_TEAM, g = in / 4, t = in % 4, rows = task->groups * LANES_ABREAST;
  const REAL leak = (REAL)task->leak;
  REAL x[NAME(SAMPLE_TILES)][DIM / 4][2], f[NAME(SAMPLE_TILES)][2];
  uint32_t bits[NAME(SAMPLE_TILES)][2];
  UNROLL for (int s = 0; s < tiles; s++) {
    UNROLL for (int h = 0; h < 2; h++) {
      int i = first + 16 * s + 8 * h + g;
      const REAL *row = net->X + (size_t)(i < task->n ? i : 0) * ROW_X + t;
      UNROLL for (int q = 0; q < DIM / 4; q++) x[s][q][h] = row[4 * q];
      f[s][h] = 0;
    }
  }
  for (int word = 0; word * LANES_WORD < rows; word++) {
    UNROLL for (int s = 0; s < tiles; s++) bits[s][0] = bits[s][1] = 0;
    UNROLL for (int half = 0; half < 2; half++) {
      const int k = word * LANES_WORD + 16 * half;
      if (k >= rows) break;
      const int second = k + 8 < rows; /* of the two tiles of 8 neurons */
      const REAL *row = net->W + (size_t)(k + g) * ROW_W + t, *next = row + (second ? 8 * ROW_W : 0);
      REAL z[NAME(SAMPLE_TILES)][2][4];
      UNROLL for (int s = 0; s < tiles; s++) {
        UNROLL for (int e = 0; e < 4; e++) z[s][0][e] = z[s][1][e] = 0;
      }
      UNROLL for (int q = 0; q < DIM / 4; q++) {
        REAL w = row[4 * q], v = next[4 * q];
        UNROLL for (int s = 0; s < tiles; s++) {
          matrix_product(z[s][0], x[s][q][0], x[s][q][1], w);
          matrix_product(z[s][1], x[s][q][0], x[s][q][1], v);
        }
      }
      UNROLL for (int tile = 0; tile < 2; tile++) {
        if (tile == 1 && !second) break;
        UNROLL for (int e = 0; e < 2; e++) {
          REAL a = net->W[(size_t)(k + 8 * tile + 2 * t + e) * ROW_W + DIM];
          UNROLL for (int s = 0; s < tiles; s++) {
            UNROLL for (int h = 0; h < 2; h++) {
              REAL at = z[s][tile][2 * h + e];
              f[s][h] = NAME(add_active)(f[s][h], a, at, leak);
              bits[s][h] |= (high_word(at) & 0x80000000u) >> (16 * half + 8 * tile + e);
            }
          }
        }
      }
    }
    UNROLL for (int s = 0; s < tiles; s++) {
      UNROLL for (int h = 0; h < 2; h++) {
        int i = first + 16 * s + 8 * h + g;
        uint32_t all = bits[s][h] >> (2 * t);
        all |= __shfl_xor_sync(0xffffffffu, all, 1);
        all |= __shfl_xor_sync(0xffffffffu, all, 2);
        if (t == 0 && i < task->n) net->B[(size_t)i * (size_t)task->words + (size_t)word] = all;
      }
    }
  }
  UNROLL for (int s = 0; s < tiles; s++) {
    UNROLL for (int h = 0; h < 2; h++) {
      int i = first + 16 * s + 8 * h + g;
      REAL sum = f[s][h];
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      if (t == 0 && i < task->n) net->C[i] = sum;
    }
  }
}

/* The warps of a network take the samples in turn. */
FN void NAME(forward_all)(const Descent *task, const NAME(Net) * net, int L, int lane) {
  const int most = 16 * NAME(SAMPLE_TILES);
  for (int first = lane / LANES_TEAM * most; first < task->n; first += L / LANES_TEAM * most) {
    if (NAME(SAMPLE_TILES) > 1 && task->n - first > 16)
      NAME(forward)(task, net, first, NAME(SAMPLE_TILES));
    else
      NAME(forward)(task, net, first, 1);
  }
}

/* (-w, -a) += step (-a g, <-w, g>) for the neurons k + g and k + g + 8 of one tile. */
FN void NAME(update)(const Descent *task, const NAME(Net) * net, const REAL sums[NAME(INPUT_TILES)][4], int k,
                     REAL step) {
  const int in = (int)threadIdx.x % LANES_TEAM, g = in / 4, t = in % 4;
  UNROLL for (int h = 0; h < 2; h++) {
    const int mine = k + 8 * h + g < task->m;
    REAL *row = net->W + (size_t)(mine ? k + 8 * h + g : 0) * ROW_W, a = row[DIM], along = 0;
    UNROLL for (int tile = 0; tile < NAME(INPUT_TILES); tile++) {
      UNROLL for (int e = 0; e < 2; e++) {
        const int j = 8 * tile + 2 * t + e;
        if (!mine || j >= DIM) continue;
        REAL w = row[j], slope = sums[tile][2 * h + e];
        along = FMA(w, slope, along);
        row[j] = FMA(step * a, slope, w);
      }
    }
    along += __shfl_xor_sync(0xffffffffu, along, 1);
    along += __shfl_xor_sync(0xffffffffu, along, 2);
    if (mine && t == 0 && !task->freeze_second) row[DIM] = FMA(step, along, a);
  }
}

/* The neurons of one word of activity, in `tiles` tiles of 16. */
FN void NAME(gather)(const Descent *task, const NAME(Net) * net, int word, REAL step, const int tiles) {
  const int in = (int)threadIdx.x % LANES_TEAM, g = in / 4, t = in % 4;
  const REAL leak = (REAL)task->leak;
  REAL sums[2][NAME(INPUT_TILES)][4], x[NAME(INPUT_TILES)];
  UNROLL for (int tile = 0; tile < tiles; tile++) {
    UNROLL for (int j = 0; j < NAME(INPUT_TILES); j++) {
      UNROLL for (int e = 0; e < 4; e++) sums[tile][j][e] = 0;
    }
  }
  HOT for (int first = 0; first < task->n; first += 4) {
    const int inside = first + t < task->n, i = inside ? first + t : 0;
    const REAL c = inside ? net->C[i] : 0, rest = leak * c;
    const uint32_t bits = net->B[(size_t)i * (size_t)task->words + (size_t)word] << g;
    UNROLL for (int j = 0; j < NAME(INPUT_TILES); j++) x[j] =
        8 * j + g < DIM ? net->X[(size_t)i * ROW_X + (size_t)(8 * j + g)] : 0;
    UNROLL for (int tile = 0; tile < tiles; tile++) {
      REAL top = bits & (0x80000000u >> (16 * tile)) ? c : rest,
           low = bits & (0x00800000u >> (16 * tile)) ? c : rest;
      UNROLL for (int j = 0; j < NAME(INPUT_TILES); j++) matrix_product(sums[tile][j], top, low, x[j]);
    }
  }
  UNROLL for (int tile = 0; tile < tiles; tile++)
      NAME(update)(task, net, sums[tile], word * LANES_WORD + 16 * tile, step);
}

/* The gradient and the update of all neurons: the warps of a network take words of activity in turn. */
FN void NAME(backward)(const Descent *task, const Lanes *lanes, const NAME(Net) * net, REAL step,
                       NAME(Sums) * sums) {
  (void)sums;
  for (int word = lanes->lane / LANES_TEAM; word * LANES_WORD < task->m; word += lanes->count / LANES_TEAM) {
    if (task->m - word * LANES_WORD > 16)
      NAME(gather)(task, net, word, step, 2);
    else
      NAME(gather)(task, net, word, step, 1);
  }
}

#else

/* The samples of one lane: f as four sums over the columns that a lane of the card holds, added in pairs. */
FN void NAME(forward_all)(const Descent *task, const NAME(Net) * net, int L, int lane) {
  for (int i = lane; i < task->n; i += L) {
    const REAL *x = net->X + (size_t)i * ROW_X;
    uint32_t *words = net->B + (size_t)i * (size_t)task->words;
    REAL part[4] = {0, 0, 0, 0};
    memset(words, 0, (size_t)task->words * sizeof *words);
    for (int k = 0; k < task->groups * LANES_ABREAST; k++) {
      const REAL *row = net->W + (size_t)k * ROW_W;
      REAL z = 0, *f = part + k % 8 / 2;
      for (int j = 0; j < DIM; j++) z = FMA(x[j], row[j], z);
      *f = NAME(add_active)(*f, row[DIM], z, (REAL)task->leak);
      words[k / LANES_WORD] |= (high_word(z) & 0x80000000u) >> (k % LANES_WORD);
    }
    net->C[i] = (part[0] + part[1]) + (part[2] + part[3]);
  }
}

/* The gradient and the update of all neurons. Chains end at a multiple of four samples, the last ones with
 * weight 0. */
FN void NAME(backward)(const Descent *task, const Lanes *lanes, const NAME(Net) * net, REAL step,
                       NAME(Sums) * sums) {
  REAL *g = sums->g[0];
  (void)lanes;
  for (int k = 0; k < task->m; k++) {
    REAL *row = net->W + (size_t)k * ROW_W, a = row[DIM], part[4] = {0, 0, 0, 0};
    for (int j = 0; j < DIM; j++) g[j] = 0;
    for (int at = 0; at < (task->n + 3) / 4 * 4; at++) {
      const int inside = at < task->n, i = inside ? at : 0;
      const REAL c = inside ? net->C[i] : 0, *x = net->X + (size_t)i * ROW_X;
      const uint32_t word = net->B[(size_t)i * (size_t)task->words + (size_t)(k / LANES_WORD)];
      const REAL own = word & (0x80000000u >> (k % LANES_WORD)) ? c : (REAL)task->leak * c;
      for (int j = 0; j < DIM; j++) g[j] = FMA(own, x[j], g[j]);
    }
    for (int j = 0; j < DIM; j++) {
      REAL w = row[j], *along = part + j % 8 / 2;
      *along = FMA(w, g[j], *along);
      row[j] = FMA(step * a, g[j], w);
    }
    if (!task->freeze_second) row[DIM] = FMA(step, (part[0] + part[1]) + (part[2] + part[3]), a);
  }
}

#endif
