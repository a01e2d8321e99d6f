/* Cones of the search by their rays, for few dimensions (docs/math.md (G.17)). A closed cell of the
 * arrangement of own samples is spanned by rays, each on d - 1 of the planes, and the cone of a node is a
 * union of cells: it is spanned by the rays whose signs agree with the known sides. Thus
 *     a sample on whose one side they all lie is decided,
 *     no ray left: the node is empty,
 *     z_i <= max z_i(g) / min c.g  for unit u of the cone and any unit c,
 * the last because u = sum a_g g gives 1 >= c.u >= (sum a_g) min c.g.
 *
 * A ray is computed by Gram-Schmidt from its d - 1 rows S. With residuals e = S g and the smallest singular
 * value s of S the true ray is within |e|/s (the part of g in the span of the rows is that long at most);
 * signs nearer to zero than that count for both sides. Data with nearly dependent rows are left to the
 * sweeps of search_bound.c. */
#include "optimum/search_internal.h"
#include "optimum/kernels.h"

#include <math.h>
#include <string.h>

enum { most_dimensions = 6, most_rays = 2000000, most_words = 8, most_in_bundle = 1500 };
/* Rays that one thread sifts at a time, where there are more. */
enum { rays_in_block = 1 << 15, most_blocks = most_rays / rays_in_block + 1 };

void rf_rays_free(RfRays *rays) {
  if (!rays) return;
  rf_free(rays->g), rf_free(rays->mask), rf_free(rays);
}

/* ---- the list --------------------------------------------------------------------------------- */

typedef struct Maker {
  RfRays *rays;
  const RfSearchWork *w;
  rf_index set[most_dimensions];
  double Q[most_dimensions * most_dimensions]; /* orthonormal rows */
  double T[most_dimensions * most_dimensions]; /* row k of S = sum_l T[k][l] Q_l, l <= k */
  const double *columns;                       /* the own samples, coordinate by coordinate */
  double *z;                                   /* work */
  rf_index at;                                 /* where the next ray goes */
  double error;
  bool degenerate, spans; /* spans: some sample is off some ray, so that the samples span the space */
} Maker;

static double dot(const double *x, const double *y, rf_index d) {
  double sum = 0;
  for (rf_index k = 0; k < d; k++) sum += x[k] * y[k];
  return sum;
}

/* Subtracts the parts of x along the first `rows` of Q, twice; adds them to part when that is given. */
static void project(double *x, const double *Q, rf_index rows, rf_index d, double *part) {
  for (int pass = 0; pass < 2; pass++)
    for (rf_index l = 0; l < rows; l++) {
      double along = dot(Q + l * d, x, d);
      for (rf_index k = 0; k < d; k++) x[k] -= along * Q[l * d + k];
      if (part) part[l] += along;
    }
}

/* Lower bound of the smallest singular value of S = T Q: 1 / |T^-1|_F, T lower triangular. */
static double smallest_singular(const Maker *m) {
  rf_index d = m->rays->d, k = d - 1;
  double inverse[most_dimensions * most_dimensions] = {0}, square = 0;
  for (rf_index j = 0; j < k; j++)
    for (rf_index i = j; i < k; i++) {
      double sum = i == j;
      for (rf_index l = j; l < i; l++) sum -= m->T[i * d + l] * inverse[l * d + j];
      inverse[i * d + j] = sum / m->T[i * d + i];
      square += inverse[i * d + j] * inverse[i * d + j];
    }
  return 1 / sqrt(square);
}

/* The unit vector orthogonal to Q, from the axis that is furthest from its span. */
static void orthogonal(double *g, const Maker *m) {
  rf_index d = m->rays->d;
  double longest = 0;
  for (rf_index axis = 0; axis < d; axis++) {
    double v[most_dimensions] = {0};
    v[axis] = 1;
    project(v, m->Q, d - 1, d, NULL);
    double size = sqrt(dot(v, v, d));
    if (size <= longest) continue;
    longest = size;
    for (rf_index k = 0; k < d; k++) g[k] = v[k] / size;
    if (size * size * (double)d > 1) break; /* some axis is at least that far */
  }
}

/* Signs of a ray on all samples; those nearer to zero than `error` are both. */
static void write_masks(uint64_t *plus, uint64_t *minus, Maker *m, const double *g, double error) {
  rf_index own = m->w->own, d = m->rays->d;
  double *z = m->z;
  memset(z, 0, (size_t)own * sizeof *z);
  for (rf_index a = 0; a < d; a++) rf_short_axpy(z, g[a], m->columns + a * own, own);
  for (rf_index j = 0; j < own; j++) {
    plus[j / 64] |= (uint64_t)(z[j] > -error) << (j % 64);
    minus[j / 64] |= (uint64_t)(z[j] < error) << (j % 64);
  }
  for (rf_index a = 0; a < m->rays->words && !m->spans; a++) m->spans = plus[a] != minus[a];
  for (rf_index k = 0; k + 1 < d; k++) { /* on its own planes, whatever rounding says */
    plus[m->set[k] / 64] |= (uint64_t)1 << (m->set[k] % 64);
    minus[m->set[k] / 64] |= (uint64_t)1 << (m->set[k] % 64);
  }
}

/* The two rays of the chosen rows. */
static void emit(Maker *m) {
  RfRays *rays = m->rays;
  rf_index d = rays->d, r = m->w->r, words = rays->words;
  double *g = rays->g + m->at * d, left = 0, unit = (double)(d + 4) * DBL_EPSILON;
  uint64_t *mask = rays->mask + m->at * 2 * words;
  orthogonal(g, m);
  for (rf_index k = 0; k + 1 < d; k++) {
    double e = fabs(dot(m->w->V + m->set[k] * r, g, d)) + unit;
    left += e * e;
  }
  /* twice: for the rounding of T and of the bound itself, which is relatively small */
  double singular = smallest_singular(m), error = 2 * sqrt(left) / singular + unit;
  if (!(singular > rf_ray_singular)) m->degenerate = true;
  m->error = fmax(m->error, error);
  write_masks(mask, mask + words, m, g, error);
  for (rf_index k = 0; k < d; k++) g[d + k] = -g[k];
  memcpy(mask + 2 * words, mask + words, (size_t)words * sizeof *mask);
  memcpy(mask + 3 * words, mask, (size_t)words * sizeof *mask);
  m->at += 2;
}

static void choose_rows(Maker *m, rf_index k);

/* Row k of the set is sample i. */
static void take_row(Maker *m, rf_index k, rf_index i) {
  rf_index d = m->rays->d, r = m->w->r;
  double *q = m->Q + k * d, *part = m->T + k * d;
  memcpy(q, m->w->V + i * r, (size_t)d * sizeof *q);
  memset(part, 0, (size_t)d * sizeof *part);
  project(q, m->Q, k, d, part);
  double size = sqrt(dot(q, q, d));
  if (!(size > rf_ray_singular)) m->degenerate = true;
  for (rf_index c = 0; c < d; c++) q[c] /= size;
  part[k] = size, m->set[k] = i;
  choose_rows(m, k + 1);
}

static void choose_rows(Maker *m, rf_index k) {
  if (k + 1 == m->rays->d)
    emit(m);
  else
    for (rf_index i = m->set[k - 1] + 1; i < m->w->own && !m->degenerate; i++) take_row(m, k, i);
}

/* Rays on `rows` of `samples` planes: two for every choice. */
static double rays_of(rf_index samples, rf_index rows) {
  double total = 2;
  for (rf_index k = 0; k < rows; k++) total *= (double)(samples - k) / (double)(k + 1);
  return total;
}

/* All rays, those whose first row is sample i by one thread, after those of the samples before it. False:
 * too near to degenerate. */
static bool make_rays(RfRays *list, const RfSearchWork *w, const double *columns, int threads) {
  bool degenerate = false, spans = false;
  double error = 0;
  rf_index d = list->d, own = w->own;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(||                              \
                                                                             : degenerate, spans)            \
    reduction(max                                                                                            \
              : error) if (threads > 1)
  for (rf_index i = 0; i <= own - (d - 1); i++) {
    double before = rays_of(own, d - 1) - rays_of(own - i, d - 1);
    double z[64 * most_words];
    Maker m = {.rays = list, .w = w, .columns = columns, .z = z, .at = (rf_index)llround(before)};
    take_row(&m, 0, i);
    degenerate = degenerate || m.degenerate, spans = spans || m.spans, error = fmax(error, m.error);
  }
  list->count = (rf_index)llround(rays_of(own, d - 1)), list->error = error;
  return !degenerate && spans;
}

RfStatus rf_rays_new(RfContext *context, RfRays **rays, const RfSearchWork *w) {
  rf_index d = w->r;
  double padded = 0;
  for (rf_index i = 0; i < w->count; i++) padded += fabs(w->V[i * w->r + w->r - 1]);
  if (padded == 0) d--;
  *rays = NULL;
  if (d < 3 || d > most_dimensions || w->own <= d || w->own > 64 * most_words ||
      rays_of(w->own, d - 1) > most_rays)
    return RF_OK;
  rf_index total = (rf_index)llround(rays_of(w->own, d - 1));
  RfRays *list = RF_NEW(RfRays, 1);
  if (list) {
    list->d = d, list->words = (w->own + 63) / 64;
    list->g = RF_NEW(double, total *d);
    list->mask = RF_NEW(uint64_t, total * 2 * list->words);
  }
  double *columns = RF_NEW(double, w->own *d);
  bool memory = list && list->g && list->mask && columns, good = false;
  for (rf_index i = 0; i < w->own && memory; i++)
    for (rf_index k = 0; k < d; k++) columns[k * w->own + i] = w->V[i * w->r + k];
  if (memory) good = make_rays(list, w, columns, w->threads);
  rf_free(columns);
  if (good)
    *rays = list;
  else
    rf_rays_free(list);
  return memory ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory for the rays of the search");
}

RfStatus rf_rays_worker(RfSearchWork *w) {
  if (!w->rays) return RF_OK;
  w->bundle = RF_NEW(double, most_dimensions *most_in_bundle), w->reach = RF_NEW(double, most_in_bundle);
  if (w->bundle && w->reach) return RF_OK;
  return rf_fail(w->context, RF_ERR_MEMORY, "out of memory for the rays of the search");
}

/* ---- a node ----------------------------------------------------------------------------------- */

typedef struct Sieve { /* one block of a node's rays */
  rf_index kept;
  uint64_t any[2 * most_words]; /* the union of the masks that are kept */
} Sieve;

/* Moves the rays that agree with the known sides to the beginning of the block. Up to 64 and 128 samples the
 * compiler knows the number of words. */
static inline void sift_words(Sieve *sieve, const RfRays *rays, int *list, rf_index count,
                              const uint64_t *plus, const uint64_t *minus, rf_index words) {
  rf_index kept = 0;
  memset(sieve->any, 0, sizeof sieve->any);
  for (rf_index k = 0; k < count; k++) {
    const uint64_t *mask = rays->mask + (rf_index)list[k] * 2 * words;
    uint64_t wrong = 0;
    for (rf_index a = 0; a < words; a++) wrong |= (plus[a] & ~mask[a]) | (minus[a] & ~mask[words + a]);
    if (wrong) continue;
    for (rf_index a = 0; a < 2 * words; a++) sieve->any[a] |= mask[a];
    list[kept++] = list[k];
  }
  sieve->kept = kept;
}

static void sift(Sieve *sieve, const RfRays *rays, int *list, rf_index count, const uint64_t *plus,
                 const uint64_t *minus) {
  if (rays->words == 1)
    sift_words(sieve, rays, list, count, plus, minus, 1);
  else if (rays->words == 2)
    sift_words(sieve, rays, list, count, plus, minus, 2);
  else
    sift_words(sieve, rays, list, count, plus, minus, rays->words);
}

/* The same in blocks, by all threads, before the subtrees are shared out: the first nodes have most rays. */
static void sift_blocks(Sieve *all, RfSearchWork *w, int *list, rf_index count, const uint64_t *plus,
                        const uint64_t *minus) {
  Sieve block[most_blocks];
  rf_index blocks = (count + rays_in_block - 1) / rays_in_block;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 1) if (w->threads > 1)
  for (rf_index k = 0; k < blocks; k++) {
    rf_index first = k * rays_in_block, left = count - first;
    sift(&block[k], w->rays, list + first, left < rays_in_block ? left : rays_in_block, plus, minus);
  }
  *all = block[0];
  for (rf_index k = 1; k < blocks; k++) {
    memmove(list + all->kept, list + k * rays_in_block, (size_t)block[k].kept * sizeof *list);
    all->kept += block[k].kept;
    for (rf_index a = 0; a < 2 * most_words; a++) all->any[a] |= block[k].any[a];
  }
}

/* Keeps the rays that agree with the sides; the union of their masks in any. False: none is left. */
static bool keep_rays(RfSearchWork *w, RfSearchLevel *v, uint64_t *any) {
  uint64_t plus[most_words] = {0}, minus[most_words] = {0};
  Sieve sieve;
  for (rf_index i = 0; i < w->own; i++) {
    uint64_t bit = (uint64_t)1 << (i % 64);
    if (v->side[i] == side_plus) plus[i / 64] |= bit;
    if (v->side[i] == side_minus) minus[i / 64] |= bit;
  }
  rf_index count = v->end - v->first;
  if (count > rays_in_block)
    sift_blocks(&sieve, w, w->list + v->first, count, plus, minus);
  else
    sift(&sieve, w->rays, w->list + v->first, count, plus, minus);
  memcpy(any, sieve.any, sizeof sieve.any);
  v->end = v->first + sieve.kept;
  return sieve.kept > 0;
}

static bool decide(RfSearchWork *w, RfSearchLevel *v, const uint64_t *any) {
  bool decided = false;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    bool plus = any[i / 64] >> (i % 64) & 1, minus = any[w->rays->words + i / 64] >> (i % 64) & 1;
    if (plus && minus) continue;
    rf_node_set_side(w, v, i, plus ? side_plus : side_minus);
    decided = true;
  }
  return decided;
}

/* The rays of the node column by column in w->bundle; min c.g for the direction c of their sum. */
static double bundle(RfSearchWork *w, const RfSearchLevel *v, double *c) {
  const RfRays *rays = w->rays;
  rf_index d = rays->d, count = v->end - v->first;
  double size = 0, least = INFINITY;
  memset(c, 0, most_dimensions * sizeof *c);
  for (rf_index k = 0; k < count; k++) {
    const double *g = rays->g + (rf_index)w->list[v->first + k] * d;
    for (rf_index a = 0; a < d; a++) w->bundle[a * most_in_bundle + k] = g[a], c[a] += g[a];
  }
  size = sqrt(dot(c, c, d));
  if (!(size > 0)) return -1;
  for (rf_index a = 0; a < d; a++) c[a] /= size;
  memset(w->reach, 0, (size_t)count * sizeof(double));
  for (rf_index a = 0; a < d; a++) rf_short_axpy(w->reach, c[a], w->bundle + a * most_in_bundle, count);
  for (rf_index k = 0; k < count; k++) least = w->reach[k] < least ? w->reach[k] : least;
  return (least - rays->error - (double)(d + 8) * DBL_EPSILON) / (1 + 8 * DBL_EPSILON);
}

static bool narrow_ranges(RfSearchWork *w, RfSearchLevel *v) {
  const RfRays *rays = w->rays;
  rf_index d = rays->d, count = v->end - v->first;
  double c[most_dimensions], before = 0, after = 0;
  if (count > most_in_bundle) return false;
  double cosine = bundle(w, v, c);
  if (!(cosine > rf_ray_cosine)) return false;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    const double *x = w->V + i * w->r;
    double high = 0, low = 0;
    memset(w->reach, 0, (size_t)count * sizeof(double));
    for (rf_index a = 0; a < d; a++) rf_short_axpy(w->reach, x[a], w->bundle + a * most_in_bundle, count);
    for (rf_index k = 0; k < count; k++) {
      high = w->reach[k] > high ? w->reach[k] : high;
      low = w->reach[k] < low ? w->reach[k] : low;
    }
    double error = rays->error + (double)(d + 8) * DBL_EPSILON;
    before += rf_chord_constant(w, v, i);
    v->h[i] = fmin(v->h[i], (high + error) / cosine * (1 + 4 * DBL_EPSILON));
    v->l[i] = fmax(v->l[i], (low - error) / cosine * (1 + 4 * DBL_EPSILON));
    after += rf_chord_constant(w, v, i);
  }
  return after < 0.9 * before;
}

int rf_rays_narrow(RfSearchWork *w, RfSearchLevel *v) {
  uint64_t any[2 * most_words];
  bool decided = false;
  for (int turn = 0; turn < 4; turn++) {
    if (!keep_rays(w, v, any)) return -1;
    if (!decide(w, v, any)) break;
    decided = true;
  }
  return narrow_ranges(w, v) || decided;
}
