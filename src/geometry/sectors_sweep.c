/* All cells of an arrangement of hyperplanes through the origin, by deletion and restriction: hyperplane H_k
 * cuts exactly those cells of H_0..H_{k-1} whose traces are the cells of the arrangement restricted to H_k.
 * So the traces are enumerated one dimension lower (in the plane by angle), each trace names the cell it cuts
 * by its signs, and that cell is split. No feasibility problem is solved; work per cell is O(d (n + log)).
 *
 * A trace with an inner point F, at least e |.| away from the other hyperplanes, gives inner points F +- e u
 * of both halves that lose at most half of the distance. Only cells with a positive first sign are held; the
 * others mirror them. Degenerate rows: parallel normals of a restriction are one hyperplane there. */
#include "geometry_internal.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

typedef struct SweepLevel {
  RfRestriction restriction; /* from this dimension to the one below; unused in the plane */
  RfCells cells;
  rf_index *table; /* open addressing: 1 + index of a cell, 0 = free */
  rf_index table_size, table_room, values_size;
  double *values;   /* normal k . point, per cell */
  double *overlap;  /* 1 + |normal i . normal k|, or angles in the plane */
  rf_index *order;  /* plane: lines by angle */
  uint64_t *mapped; /* signs of a trace in terms of this level's normals */
  double *lifted;
} SweepLevel;

struct RfSweep {
  RfContext *context;
  SweepLevel *levels; /* by dimension */
  uint64_t *hash;     /* one random word per hyperplane; a pattern's key is their sum over its set bits */
  rf_index words, max_cells;
  bool exact;
};

/* ---- lists of cells ----------------------------------------------------------------------------- */

void rf_cells_free(RfCells *cells) {
  rf_free(cells->bits);
  rf_free(cells->key);
  rf_free(cells->point);
  rf_free(cells->depth);
  *cells = (RfCells){0};
}

static RfStatus reserve(RfSweep *sweep, RfCells *cells, rf_index count) {
  if (count > sweep->max_cells) return RF_LIMIT;
  if (count <= cells->capacity) return RF_OK;
  rf_index capacity = count + count / 2 + 16;
  if (!rf_grow((void **)&cells->bits, capacity * cells->words, sizeof *cells->bits) ||
      !rf_grow((void **)&cells->key, capacity, sizeof *cells->key) ||
      !rf_grow((void **)&cells->point, capacity * cells->dim, sizeof *cells->point) ||
      !rf_grow((void **)&cells->depth, capacity, sizeof *cells->depth))
    return rf_fail(sweep->context, RF_ERR_MEMORY, "out of memory for %lld sectors", (long long)capacity);
  cells->capacity = capacity;
  return RF_OK;
}

/* Appends a cell without a point. The caller has reserved room. */
static rf_index push_cell(RfCells *cells, const uint64_t *bits, uint64_t key, double depth) {
  rf_index at = cells->count++;
  memcpy(cells->bits + at * cells->words, bits, (size_t)cells->words * sizeof *bits);
  cells->key[at] = key;
  cells->depth[at] = depth;
  return at;
}

/* ---- the plane ---------------------------------------------------------------------------------- */

/* angle[i]: where the half circle around normal 0, measured from it in (-pi/2, pi/2), crosses line i. mapped
 * gets the signs at its beginning. */
static void line_angles(SweepLevel *level, const RfNormals *normals) {
  const double *first = normals->normal, half = 1.5707963267948966;
  for (rf_index i = 1; i < normals->count; i++) {
    const double *u = normals->normal + 2 * i;
    double cross = first[0] * u[1] - first[1] * u[0], dot = first[0] * u[0] + first[1] * u[1];
    double fold = dot < 0 ? -1 : 1, angle = atan2(fold * cross, fold * dot);
    level->overlap[i] = angle > 0 ? angle - half : angle + half;
    if ((angle <= 0) == (fold > 0)) rf_bits_set(level->mapped, i); /* still positive at the beginning */
    rf_index at = i - 1;
    for (; at > 0 && level->overlap[level->order[at - 1]] > level->overlap[i]; at--)
      level->order[at] = level->order[at - 1];
    level->order[at] = i;
  }
}

static RfStatus sweep_plane(RfSweep *sweep, const RfNormals *normals) {
  SweepLevel *level = sweep->levels + 2;
  RfCells *cells = &level->cells;
  const double *u = normals->normal, half = 1.5707963267948966;
  RfStatus status = reserve(sweep, cells, normals->count);
  if (status) return status;
  cells->count = 0;
  memset(level->mapped, 0, (size_t)sweep->words * sizeof(uint64_t));
  rf_bits_set(level->mapped, 0);
  line_angles(level, normals);
  for (rf_index k = 0; k < normals->count; k++) {
    double low = k == 0 ? -half : level->overlap[level->order[k - 1]];
    double high = k == normals->count - 1 ? half : level->overlap[level->order[k]];
    double angle = (low + high) / 2, c = cos(angle), s = sin(angle);
    if (k > 0) rf_bits_flip(level->mapped, level->order[k - 1]);
    double *point = cells->point + 2 * push_cell(cells, level->mapped, 0, sin((high - low) / 2));
    point[0] = c * u[0] - s * u[1];
    point[1] = s * u[0] + c * u[1];
  }
  return RF_OK;
}

/* ---- finding the cell that a trace cuts --------------------------------------------------------- */

static RfStatus build_table(RfSweep *sweep, SweepLevel *level) {
  rf_index size = 64; /* no more than this step needs: clearing costs */
  while (size < 2 * level->cells.count + 2) size *= 2;
  if (size > level->table_room) {
    if (!rf_grow((void **)&level->table, 2 * size, sizeof *level->table))
      return rf_fail(sweep->context, RF_ERR_MEMORY, "out of memory for %lld sectors", (long long)size);
    level->table_room = 2 * size;
  }
  level->table_size = size;
  memset(level->table, 0, (size_t)size * sizeof *level->table);
  for (rf_index c = 0; c < level->cells.count; c++) {
    uint64_t at = level->cells.key[c] & (uint64_t)(size - 1);
    while (level->table[at]) at = (at + 1) & (uint64_t)(size - 1);
    level->table[at] = c + 1;
  }
  return RF_OK;
}

static rf_index find_cell(const SweepLevel *level, uint64_t key) {
  const RfCells *cells = &level->cells;
  uint64_t mask = (uint64_t)(level->table_size - 1);
  for (uint64_t at = key & mask; level->table[at]; at = (at + 1) & mask) {
    rf_index c = level->table[at] - 1;
    if (cells->key[c] == key &&
        memcmp(cells->bits + c * cells->words, level->mapped, (size_t)cells->words * sizeof(uint64_t)) == 0)
      return c;
  }
  return -1;
}

/* The signs of child cell j for the first k normals of this level, in level->mapped; returns their key. */
static uint64_t map_trace(const RfSweep *sweep, SweepLevel *level, const uint64_t *child, rf_index k) {
  const RfRestriction *r = &level->restriction;
  uint64_t key = 0;
  memset(level->mapped, 0, (size_t)sweep->words * sizeof(uint64_t));
  for (rf_index i = 0; i < k; i++) {
    uint64_t bit = (uint64_t)rf_bits_get(child, r->rep[i]) ^ (uint64_t)(r->sign[i] < 0);
    level->mapped[i >> 6] |= bit << (i & 63);
    key += sweep->hash[i] & (0 - bit);
  }
  return key;
}

/* ---- splitting ---------------------------------------------------------------------------------- */

/* The largest e such that lifted +- e u stays e away from the first k hyperplanes. */
static double trace_depth(const SweepLevel *level, const RfNormals *normals, rf_index k) {
  rf_index dim = normals->dim;
  double depth = 1;
  for (rf_index i = 0; i < k; i++) {
    double dot = 0;
    for (rf_index j = 0; j < dim; j++) dot += normals->normal[i * dim + j] * level->lifted[j];
    depth = fmin(depth, fabs(dot) / level->overlap[i]);
  }
  return depth;
}

/* point = unit vector along lifted + step u; returns the length before. */
static double step_from_trace(double *point, const SweepLevel *level, const double *u, double step,
                              rf_index dim) {
  double square = 0;
  for (rf_index j = 0; j < dim; j++) {
    point[j] = level->lifted[j] + step * u[j];
    square += point[j] * point[j];
  }
  double norm = sqrt(square);
  for (rf_index j = 0; j < dim; j++) point[j] /= norm;
  return norm;
}

static void add_side(const RfSweep *sweep, SweepLevel *level, const double *u, uint64_t key, double step,
                     rf_index k) {
  RfCells *cells = &level->cells;
  rf_index at = push_cell(cells, level->mapped, key, 0);
  cells->depth[at] = fabs(step) / step_from_trace(cells->point + at * cells->dim, level, u, step, cells->dim);
  if (step > 0) {
    rf_bits_set(cells->bits + at * cells->words, k);
    cells->key[at] += sweep->hash[k];
  }
}

/* Splits the cells that hyperplane k cuts; level->values holds normal k . point for the old cells. */
static RfStatus split_cells(RfSweep *sweep, SweepLevel *level, const RfNormals *normals, rf_index k) {
  const RfCells *traces = &level[-1].cells;
  RfCells *cells = &level->cells;
  const double *u = normals->normal + k * normals->dim;
  RfStatus status = reserve(sweep, cells, cells->count + 2 * traces->count);
  for (rf_index j = 0; j < traces->count && !status; j++) {
    uint64_t key = map_trace(sweep, level, traces->bits + j * traces->words, k);
    rf_restriction_lift(level->lifted, &level->restriction, traces->point + j * traces->dim);
    double depth = trace_depth(level, normals, k);
    rf_index c = find_cell(level, key);
    if (c < 0) { /* rounding merged here what it kept apart before */
      sweep->exact = false;
      add_side(sweep, level, u, key, depth, k);
      add_side(sweep, level, u, key, -depth, k);
      continue;
    }
    double side = level->values[c] > 0 ? 1 : -1;
    add_side(sweep, level, u, key, -side * depth, k);
    if (depth > fmin(cells->depth[c], fabs(level->values[c]))) { /* the old half gets the better point */
      level->values[c] =
          side * depth / step_from_trace(cells->point + c * cells->dim, level, u, side * depth, cells->dim);
      cells->depth[c] = fabs(level->values[c]);
    }
  }
  return status;
}

static RfStatus evaluate(RfSweep *sweep, SweepLevel *level, const double *u) {
  RfCells *cells = &level->cells;
  if (level->values_size < cells->count) {
    rf_index size = 2 * cells->count + 16;
    if (!rf_grow((void **)&level->values, size, sizeof *level->values))
      return rf_fail(sweep->context, RF_ERR_MEMORY, "out of memory for %lld sectors", (long long)size);
    level->values_size = size;
  }
  for (rf_index c = 0; c < cells->count; c++) {
    const double *point = cells->point + c * cells->dim;
    double dot = 0;
    for (rf_index j = 0; j < cells->dim; j++) dot += u[j] * point[j];
    level->values[c] = dot;
  }
  return RF_OK;
}

/* Writes sign k into the cells that were there before hyperplane k. */
static void record_signs(RfSweep *sweep, SweepLevel *level, rf_index old, rf_index k) {
  RfCells *cells = &level->cells;
  for (rf_index c = 0; c < old; c++) {
    double value = level->values[c];
    if (value > 0) {
      rf_bits_set(cells->bits + c * cells->words, k);
      cells->key[c] += sweep->hash[k];
    }
    cells->depth[c] = fmin(cells->depth[c], fabs(value));
  }
}

static RfStatus sweep_level(RfSweep *sweep, const RfNormals *normals);

static RfStatus add_plane(RfSweep *sweep, const RfNormals *normals, rf_index k) {
  rf_index dim = normals->dim;
  SweepLevel *level = sweep->levels + dim;
  const double *u = normals->normal + k * dim;
  if (rf_context_stop(sweep->context)) return RF_INTERRUPTED;
  rf_restrict(&level->restriction, normals, k, k, sweep->context->tol.zero);
  RfStatus status = sweep_level(sweep, &level->restriction.child);
  if (!status) status = build_table(sweep, level);
  if (!status) status = evaluate(sweep, level, u);
  if (status) return status;
  rf_index old = level->cells.count;
  for (rf_index i = 0; i < k; i++) level->overlap[i] = 1 + fabs(rf_la_dot(normals->normal + i * dim, u, dim));
  status = split_cells(sweep, level, normals, k);
  if (!status) record_signs(sweep, level, old, k);
  return status;
}

/* Leaves the cells of the normals in sweep->levels[dim].cells. */
static RfStatus sweep_level(RfSweep *sweep, const RfNormals *normals) {
  SweepLevel *level = sweep->levels + normals->dim;
  if (normals->dim == 2) return sweep_plane(sweep, normals);
  RfStatus status = reserve(sweep, &level->cells, 1);
  if (status) return status;
  level->cells.count = 0;
  memset(level->mapped, 0, (size_t)sweep->words * sizeof(uint64_t));
  rf_bits_set(level->mapped, 0);
  push_cell(&level->cells, level->mapped, sweep->hash[0], 1);
  memcpy(level->cells.point, normals->normal, (size_t)normals->dim * sizeof(double));
  for (rf_index k = 1; k < normals->count && !status; k++) status = add_plane(sweep, normals, k);
  return status;
}

/* ---- set-up ------------------------------------------------------------------------------------- */

static RfStatus level_new(RfSweep *sweep, rf_index dim, rf_index count) {
  SweepLevel *level = sweep->levels + dim;
  level->cells = (RfCells){.words = sweep->words, .dim = dim};
  level->overlap = RF_NEW(double, count);
  level->order = RF_NEW(rf_index, count);
  level->mapped = RF_NEW(uint64_t, sweep->words);
  level->lifted = RF_NEW(double, dim);
  if (!level->overlap || !level->order || !level->mapped || !level->lifted)
    return rf_fail(sweep->context, RF_ERR_MEMORY, "out of memory for an arrangement");
  return dim > 2 ? rf_restriction_new(sweep->context, &level->restriction, count, dim) : RF_OK;
}

static void level_free(SweepLevel *level) {
  rf_restriction_free(&level->restriction);
  rf_cells_free(&level->cells);
  rf_free(level->table);
  rf_free(level->values);
  rf_free(level->overlap);
  rf_free(level->order);
  rf_free(level->mapped);
  rf_free(level->lifted);
}

RfStatus rf_sweep_cells(RfContext *context, RfCells *cells, bool *exact, const RfNormals *normals,
                        rf_index max_cells) {
  rf_index dim = normals->dim, count = normals->count;
  RfSweep sweep = {.context = context,
                   .levels = RF_NEW(SweepLevel, dim + 2),
                   .hash = RF_NEW(uint64_t, count),
                   .words = rf_bits_words(count),
                   .max_cells = max_cells,
                   .exact = true};
  RfStatus status = RF_OK;
  *cells = (RfCells){0};
  if (!sweep.levels || !sweep.hash) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for an arrangement");
    goto done;
  }
  RfRandom random;
  rf_random_init(&random, 0x5eed5, 0);
  for (rf_index i = 0; i < count; i++) sweep.hash[i] = rf_random_u64(&random);
  for (rf_index s = 2; s <= dim && !status; s++) status = level_new(&sweep, s, count);
  if (!status) status = sweep_level(&sweep, normals);
  if (status) goto done;
  for (rf_index s = 3; s <= dim; s++) sweep.exact &= !sweep.levels[s].restriction.doubtful;
  *cells = sweep.levels[dim].cells;
  sweep.levels[dim].cells = (RfCells){0};
  for (rf_index c = 0; c < cells->count; c++) sweep.exact &= cells->depth[c] > context->tol.zero;
  *exact &= sweep.exact;
done:
  for (rf_index s = 2; s <= dim && sweep.levels; s++) level_free(sweep.levels + s);
  rf_free(sweep.levels);
  rf_free(sweep.hash);
  return status;
}
