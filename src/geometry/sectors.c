/* The open sectors of a dataset as an iterator and as a callback: hyperplane patterns of the methods (by
 * angle in the plane, sweep, search) turned into sample patterns and vectors of R^d, each followed by its
 * mirror image. */
#include "geometry_internal.h"
#include "la/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum Walk { WALK_TRIVIAL, WALK_PLANE, WALK_SWEEP, WALK_SEARCH } Walk;

typedef struct Line {
  double angle; /* where the half circle around normal 0 crosses the line */
  rf_index plane;
} Line;

struct RfSectors {
  RfPlanes planes;
  Walk walk;
  bool exact, mirror; /* mirror: the image of the last sector comes next */
  rf_index at;        /* next cell */
  rf_index words;
  uint64_t *positive, *mirrored, *nonzero; /* n bits */
  double *inner;                           /* rank */
  double *witness, *opposite;              /* d */
  RfCells cells;
  RfSearch *search;
  Line *lines;                /* plane: crossings in order */
  rf_index *first, *of_plane; /* samples of plane p: of_plane[first[p] .. first[p+1]-1] */
};

static const double quarter_turn = 1.5707963267948966;

void rf_geometry_sectors_free(RfSectors *sectors) {
  if (!sectors) return;
  rf_planes_free(&sectors->planes);
  rf_free(sectors->positive);
  rf_free(sectors->mirrored);
  rf_free(sectors->nonzero);
  rf_free(sectors->inner);
  rf_free(sectors->witness);
  rf_free(sectors->opposite);
  rf_cells_free(&sectors->cells);
  rf_search_free(sectors->search);
  rf_free(sectors->lines);
  rf_free(sectors->first);
  rf_free(sectors->of_plane);
  rf_free(sectors);
}

/* ---- by angle ----------------------------------------------------------------------------------- */

static int by_angle(const void *a, const void *b) {
  const Line *p = a, *q = b;
  if (p->angle != q->angle) return p->angle < q->angle ? -1 : 1;
  return p->plane < q->plane ? -1 : 1;
}

static void flip_plane(RfSectors *sectors, rf_index plane) {
  for (rf_index k = sectors->first[plane]; k < sectors->first[plane + 1]; k++)
    rf_bits_flip(sectors->positive, sectors->of_plane[k]);
}

static void list_samples(RfSectors *sectors) {
  const RfPlanes *planes = &sectors->planes;
  for (rf_index i = 0; i < planes->n; i++)
    if (planes->plane_of[i] >= 0) sectors->first[planes->plane_of[i] + 1]++;
  for (rf_index p = 0; p < planes->planes.count; p++) sectors->first[p + 1] += sectors->first[p];
  for (rf_index i = planes->n - 1; i >= 0;
       i--) { /* fill from the back: first[p+1] moves to the start of p+1 */
    rf_index p = planes->plane_of[i];
    if (p >= 0) sectors->of_plane[--sectors->first[p + 1]] = i;
  }
  for (rf_index p = 0; p < planes->planes.count; p++) sectors->first[p] = sectors->first[p + 1];
  sectors->first[planes->planes.count] = planes->rows;
}

/* Crossings of the half circle on the positive side of normal 0, and the signs at its beginning. */
static RfStatus start_plane(RfContext *context, RfSectors *sectors) {
  const RfPlanes *planes = &sectors->planes;
  const double *first = planes->planes.normal;
  rf_index count = planes->planes.count;
  sectors->lines = RF_NEW(Line, count);
  sectors->first = RF_NEW(rf_index, count + 1);
  sectors->of_plane = RF_NEW(rf_index, planes->n);
  if (!sectors->lines || !sectors->first || !sectors->of_plane)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld lines", (long long)count);
  list_samples(sectors);
  for (rf_index i = 0; i < planes->n; i++)
    if (planes->sign_of[i] < 0) rf_bits_set(sectors->positive, i); /* all planes negative ... */
  flip_plane(sectors, 0);
  for (rf_index p = 1; p < count; p++) {
    const double *u = planes->planes.normal + 2 * p;
    double cross = first[0] * u[1] - first[1] * u[0], dot = first[0] * u[0] + first[1] * u[1];
    double fold = dot < 0 ? -1 : 1, angle = atan2(fold * cross, fold * dot);
    sectors->lines[p - 1] = (Line){angle > 0 ? angle - quarter_turn : angle + quarter_turn, p};
    if ((angle <= 0) == (fold > 0)) flip_plane(sectors, p); /* ... but these */
  }
  qsort(sectors->lines, (size_t)(count - 1), sizeof *sectors->lines, by_angle);
  return RF_OK;
}

static bool next_in_plane(RfSectors *sectors) {
  const double *u = sectors->planes.planes.normal;
  rf_index last = sectors->planes.planes.count - 1, k = sectors->at++;
  if (k > last) return false;
  double low = k == 0 ? -quarter_turn : sectors->lines[k - 1].angle;
  double high = k == last ? quarter_turn : sectors->lines[k].angle;
  double angle = (low + high) / 2, c = cos(angle), s = sin(angle);
  if (k > 0) flip_plane(sectors, sectors->lines[k - 1].plane);
  sectors->inner[0] = c * u[0] - s * u[1];
  sectors->inner[1] = s * u[0] + c * u[1];
  return true;
}

/* ---- patterns of planes to patterns of samples -------------------------------------------------- */

static void expand(RfSectors *sectors, const uint64_t *bits, const double *point) {
  const RfPlanes *planes = &sectors->planes;
  memset(sectors->positive, 0, (size_t)sectors->words * sizeof(uint64_t));
  for (rf_index i = 0; i < planes->n; i++) {
    rf_index p = planes->plane_of[i];
    if (p < 0) continue;
    uint64_t bit = (uint64_t)rf_bits_get(bits, p) ^ (uint64_t)(planes->sign_of[i] < 0);
    sectors->positive[i >> 6] |= bit << (i & 63);
  }
  memcpy(sectors->inner, point, (size_t)planes->rank * sizeof(double));
}

/* One hyperplane or none. */
static bool next_trivial(RfSectors *sectors) {
  if (sectors->at++ > 0) return false;
  uint64_t bits = 1;
  double point = sectors->planes.rank == 1 ? sectors->planes.planes.normal[0] : 0;
  expand(sectors, &bits, &point);
  return true;
}

static RfStatus step(RfContext *context, RfSectors *sectors, bool *found) {
  const uint64_t *bits;
  const double *point;
  RfStatus status;
  switch (sectors->walk) {
  case WALK_TRIVIAL: *found = next_trivial(sectors); return RF_OK;
  case WALK_PLANE: *found = next_in_plane(sectors); return RF_OK;
  case WALK_SWEEP:
    *found = sectors->at < sectors->cells.count;
    if (*found)
      expand(sectors, sectors->cells.bits + sectors->at * sectors->cells.words,
             sectors->cells.point + sectors->at * sectors->cells.dim);
    sectors->at++;
    return RF_OK;
  case WALK_SEARCH:
    status = rf_search_next(context, sectors->search, found, &bits, &point);
    if (!status && *found) expand(sectors, bits, point);
    sectors->exact &= rf_search_exact(sectors->search);
    return status;
  }
  return rf_fail(context, RF_ERR_INTERNAL, "unknown way to walk an arrangement");
}

RfStatus rf_geometry_sectors_next(RfContext *context, RfSectors *sectors, bool *found,
                                  const uint64_t **positive, const double **witness) {
  const RfPlanes *planes = &sectors->planes;
  if (sectors->mirror) {
    sectors->mirror = false;
    for (rf_index k = 0; k < sectors->words; k++)
      sectors->mirrored[k] = sectors->nonzero[k] & ~sectors->positive[k];
    for (rf_index k = 0; k < planes->d; k++) sectors->opposite[k] = -sectors->witness[k];
    *positive = sectors->mirrored;
    *witness = sectors->opposite;
    *found = true;
    return RF_OK;
  }
  RfStatus status = step(context, sectors, found);
  if (status || !*found) return status;
  if (planes->rank > 0) {
    rf_planes_lift(sectors->witness, planes, sectors->inner);
    sectors->mirror = true;
  } else { /* the whole space: any vector */
    sectors->witness[0] = 1;
  }
  *positive = sectors->positive;
  *witness = sectors->witness;
  return RF_OK;
}

/* ---- set-up ------------------------------------------------------------------------------------- */

/* RF_LIMIT when there are more than `limit` sectors; counting is much cheaper than listing. */
static RfStatus check_size(RfContext *context, const RfPlanes *planes, rf_index limit) {
  RfDecimal bound = {0};
  double most = 0, count = 0;
  RfStatus status = rf_decimal_sector_bound(context, &bound, planes->planes.count, planes->rank);
  if (!status) most = rf_decimal_value(&bound);
  rf_decimal_free(&bound);
  if (!status && most > (double)limit) status = rf_planes_count(context, &count, planes);
  return !status && count > (double)limit ? RF_LIMIT : status;
}

static RfStatus choose_walk(RfContext *context, RfSectors *sectors, const RfSectorSettings *settings) {
  rf_index rank = sectors->planes.rank,
           limit = settings && settings->max_sectors > 0 ? settings->max_sectors : 20000000;
  RfSectorMethod method = settings ? settings->method : RF_SECTORS_AUTO;
  if (rank < 2) {
    sectors->walk = WALK_TRIVIAL;
    return RF_OK;
  }
  if (method == RF_SECTORS_SEARCH) {
    sectors->walk = WALK_SEARCH;
    return rf_search_new(context, &sectors->search, &sectors->planes.planes);
  }
  if (method == RF_SECTORS_AUTO && rank == 2) {
    sectors->walk = WALK_PLANE;
    return start_plane(context, sectors);
  }
  sectors->walk = WALK_SWEEP;
  RfStatus status = check_size(context, &sectors->planes, limit);
  if (status) return status;
  return rf_sweep_cells(context, &sectors->cells, &sectors->exact, &sectors->planes.planes, limit / 2 + 1);
}

static RfStatus sectors_fill(RfContext *context, RfSectors *sectors, const double *X, rf_index n, rf_index d,
                             const RfSectorSettings *settings) {
  RfStatus status = rf_planes_new(context, &sectors->planes, X, n, d);
  if (status) return status;
  sectors->words = rf_bits_words(n);
  sectors->exact = !sectors->planes.doubtful;
  sectors->positive = RF_NEW(uint64_t, sectors->words);
  sectors->mirrored = RF_NEW(uint64_t, sectors->words);
  sectors->nonzero = RF_NEW(uint64_t, sectors->words);
  sectors->inner = RF_NEW(double, sectors->planes.rank + 1);
  sectors->witness = RF_NEW(double, d);
  sectors->opposite = RF_NEW(double, d);
  if (!sectors->positive || !sectors->mirrored || !sectors->nonzero || !sectors->inner || !sectors->witness ||
      !sectors->opposite)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the sectors of %lld samples", (long long)n);
  for (rf_index i = 0; i < n; i++)
    if (sectors->planes.plane_of[i] >= 0) rf_bits_set(sectors->nonzero, i);
  return choose_walk(context, sectors, settings);
}

RfStatus rf_geometry_sectors_new(RfContext *context, RfSectors **out, const double *X, rf_index n, rf_index d,
                                 const RfSectorSettings *settings) {
  *out = NULL;
  RfSectors *sectors = RF_NEW(RfSectors, 1);
  if (!sectors) return rf_fail(context, RF_ERR_MEMORY, "out of memory for sectors");
  RfStatus status = sectors_fill(context, sectors, X, n, d, settings);
  if (status)
    rf_geometry_sectors_free(sectors);
  else
    *out = sectors;
  return status;
}

RfStatus rf_geometry_visit_sectors(RfContext *context, rf_index *visited, const double *X, rf_index n,
                                   rf_index d, const RfSectorSettings *settings, RfSectorFn visit,
                                   void *user) {
  RfSectors *sectors = NULL;
  const uint64_t *positive;
  const double *witness;
  rf_index count = 0;
  bool found = true;
  RfStatus status = rf_geometry_sectors_new(context, &sectors, X, n, d, settings);
  while (!status && found) {
    status = rf_geometry_sectors_next(context, sectors, &found, &positive, &witness);
    if (status || !found) break;
    count++;
    if (!visit(user, positive, witness)) break;
    if ((count & 4095) == 0 && rf_context_stop(context)) status = RF_INTERRUPTED;
  }
  rf_geometry_sectors_free(sectors);
  if (visited) *visited = count;
  return status;
}
