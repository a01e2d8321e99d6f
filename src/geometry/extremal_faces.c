/* Strict local maxima of a kink function on the sphere, face by face. A maximum lies inside a face of the
 * arrangement of kinks, and its flat (the intersection of the kinks through it) is cut out by kinks with
 * kappa < 0. So: take every such flat; there G is again a kink function, of one dimension less per kink;
 * inside a cell of the flat G is linear, and its only candidate is the gradient's direction when that lies in
 * the cell; on a flat of dimension one both rays are candidates. Every candidate is then tested in the full
 * space.
 *
 * Flats come by restriction, one kink at a time. A flat is taken along the path that uses, at every step, the
 * first kink (kappa < 0) that contains it; other paths are recognised by `first` and dropped. In the plane
 * the cells are walked by angle with an updated gradient. */
#include "extremal_internal.h"
#include "la/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Candidates may miss their cell or their sign condition by this much; the full test decides. */
static const double slack = 1e-9;

typedef struct Ray {
  double angle;
  rf_index kink;
  double turn; /* +1: the kink becomes active when passing counterclockwise */
} Ray;

typedef struct FaceLevel {
  RfKinks kinks;
  RfNormals others;          /* the kinks except the one restricted to */
  RfRestriction restriction; /* from this level to the one below */
  rf_index *index;           /* of others in kinks */
  rf_index *child;           /* restricted normal -> kink of the level below, -1 when it cancelled */
  double *group;             /* kappa of the restricted normals, and their sizes */
  double *group_size;
  rf_index chosen;  /* the kink restricted to */
  rf_index **first; /* first[s][h], s above this level: least kink with kappa < 0 of level s that became kink
                       h here */
  double *point;    /* dim */
  Ray *rays;
} FaceLevel;

typedef struct Faces {
  RfContext *context;
  RfMaxima *maxima;
  FaceLevel *levels; /* by dimension */
  rf_index top;
  double work, limit;
} Faces;

/* ---- candidates --------------------------------------------------------------------------------- */

/* Offers w of level dim, lifted to the top level. */
static RfStatus offer(Faces *faces, const double *w, rf_index dim) {
  const double *from = w;
  for (rf_index s = dim + 1; s <= faces->top; s++) {
    rf_restriction_lift(faces->levels[s].point, &faces->levels[s].restriction, from);
    from = faces->levels[s].point;
  }
  return rf_maxima_offer(faces->context, faces->maxima, from);
}

static RfStatus offer_line(Faces *faces) {
  double w[2] = {1, -1};
  RfStatus status = offer(faces, w, 1);
  return status ? status : offer(faces, w + 1, 1);
}

/* The gradient of the cell with these signs (mirrored: of its image), offered when it lies there. */
static RfStatus try_cell(Faces *faces, const RfKinks *kinks, const uint64_t *bits, bool mirrored, double *g) {
  rf_index dim = kinks->normals.dim, count = kinks->normals.count;
  memcpy(g, kinks->linear, (size_t)dim * sizeof *g);
  for (rf_index h = 0; h < count; h++)
    if (rf_bits_get(bits, h) != mirrored)
      rf_la_axpy(g, kinks->kappa[h], kinks->normals.normal + h * dim, dim);
  double allowed = slack * rf_la_norm(g, dim);
  for (rf_index h = 0; h < count; h++) {
    double value = rf_la_dot(g, kinks->normals.normal + h * dim, dim);
    if (rf_bits_get(bits, h) != mirrored ? value < -allowed : value > allowed) return RF_OK;
  }
  return offer(faces, g, dim);
}

static RfStatus try_cells(Faces *faces, FaceLevel *level) {
  const RfKinks *kinks = &level->kinks;
  rf_index dim = kinks->normals.dim;
  RfCells cells;
  bool exact = true;
  if (kinks->normals.count == 0) return offer(faces, kinks->linear, dim);
  double *g = RF_NEW(double, dim);
  if (!g) return rf_fail(faces->context, RF_ERR_MEMORY, "out of memory for a face");
  RfStatus status =
      rf_sweep_cells(faces->context, &cells, &exact, &kinks->normals, (rf_index)fmin(faces->limit, 1e9));
  for (rf_index c = 0; c < cells.count && !status; c++) {
    status = try_cell(faces, kinks, cells.bits + c * cells.words, false, g);
    if (!status) status = try_cell(faces, kinks, cells.bits + c * cells.words, true, g);
  }
  faces->maxima->nodes += 2 * cells.count;
  faces->work += 2 * (double)cells.count * (double)kinks->normals.count;
  rf_cells_free(&cells);
  rf_free(g);
  return status;
}

/* ---- the plane ---------------------------------------------------------------------------------- */

static int by_angle(const void *a, const void *b) {
  const Ray *p = a, *q = b;
  return p->angle < q->angle ? -1 : p->angle > q->angle;
}

static void sort_rays(Ray *rays, const RfKinks *kinks) {
  const double pi = 3.14159265358979323846;
  for (rf_index h = 0; h < kinks->normals.count; h++) {
    double angle = atan2(kinks->normals.normal[2 * h + 1], kinks->normals.normal[2 * h]);
    for (int k = 0; k < 2; k++) {
      double at = angle + (k ? 0.5 : -0.5) * pi;
      rays[2 * h + k] = (Ray){at >= pi ? at - 2 * pi : at < -pi ? at + 2 * pi : at, h, k ? -1 : 1};
    }
  }
  qsort(rays, (size_t)(2 * kinks->normals.count), sizeof *rays, by_angle);
}

/* Walks once around. In a cell: the gradient when its angle lies between the two rays. On a ray with kappa <
 * 0: the ray when G rises towards it from both sides. */
static RfStatus walk_plane(Faces *faces, FaceLevel *level) {
  const RfKinks *kinks = &level->kinks;
  const double pi = 3.14159265358979323846, allowed = slack * kinks->scale;
  rf_index count = 2 * kinks->normals.count;
  double g[2] = {kinks->linear[0], kinks->linear[1]};
  RfStatus status = RF_OK;
  if (count == 0) return offer(faces, g, 2);
  Ray *rays = level->rays;
  sort_rays(rays, kinks);
  double previous = rays[count - 1].angle - 2 * pi, start = (previous + rays[0].angle) / 2;
  double at[2] = {cos(start), sin(start)};
  for (rf_index h = 0; h < kinks->normals.count; h++)
    if (rf_la_dot(kinks->normals.normal + 2 * h, at, 2) > 0)
      rf_la_axpy(g, kinks->kappa[h], kinks->normals.normal + 2 * h, 2);
  for (rf_index r = 0; r < count && !status; r++) {
    double angle = rays[r].angle, along = remainder(atan2(g[1], g[0]) - (previous + angle) / 2, 2 * pi);
    if (fabs(along) <= (angle - previous) / 2 + slack) status = offer(faces, g, 2);
    double w[2] = {cos(angle), sin(angle)}, before = -g[0] * w[1] + g[1] * w[0],
           kappa = kinks->kappa[rays[r].kink];
    rf_la_axpy(g, rays[r].turn * kappa, kinks->normals.normal + 2 * rays[r].kink, 2);
    double after = -g[0] * w[1] + g[1] * w[0];
    if (!status && kappa < 0 && before >= -allowed && after <= allowed) status = offer(faces, w, 2);
    previous = angle;
  }
  faces->maxima->nodes += count;
  faces->work += (double)count;
  return status;
}

/* ---- restriction to a kink ---------------------------------------------------------------------- */

static void list_others(FaceLevel *level) {
  const RfNormals *all = &level->kinks.normals;
  rf_index dim = all->dim, kept = 0;
  for (rf_index pass = 0; pass < 2; pass++) /* the chosen one last */
    for (rf_index h = 0; h < all->count; h++) {
      if ((h == level->chosen) != (pass == 1)) continue;
      memcpy(level->others.normal + kept * dim, all->normal + h * dim, (size_t)dim * sizeof(double));
      level->others.noise[kept] = all->noise[h];
      level->index[kept++] = h;
    }
  level->others.count = kept;
}

/* The linear part and the merged kinks of the level below. */
static void restrict_function(FaceLevel *level, FaceLevel *below) {
  const RfRestriction *r = &level->restriction;
  rf_index dim = below->kinks.normals.dim, count = level->kinks.normals.count - 1, kept = 0;
  rf_restriction_lower(below->kinks.linear, r, level->kinks.linear);
  memset(level->group, 0, (size_t)(count + 1) * sizeof(double));
  memset(level->group_size, 0, (size_t)(count + 1) * sizeof(double));
  for (rf_index i = 0; i < count; i++) {
    double part = level->kinks.kappa[level->index[i]] * r->length[i];
    level->group[r->rep[i]] += part;
    level->group_size[r->rep[i]] += fabs(part);
    if (r->sign[i] < 0) rf_la_axpy(below->kinks.linear, -part, r->child.normal + r->rep[i] * dim, dim);
  }
  for (rf_index c = 0; c < r->child.count; c++) {
    bool cancels = fabs(level->group[c]) <= 1e-13 * level->group_size[c] + 1e-15 * level->kinks.scale;
    level->child[c] = cancels ? -1 : kept;
    if (cancels) continue;
    below->kinks.kappa[kept] = level->group[c];
    below->kinks.normals.noise[kept] = r->child.noise[c];
    memcpy(below->kinks.normals.normal + kept * dim, r->child.normal + c * dim, (size_t)dim * sizeof(double));
    kept++;
  }
  below->kinks.normals.count = kept;
}

static void keep_least(rf_index *slot, rf_index value) {
  if (value < *slot) *slot = value;
}

/* below->first[s][h] for this level and all levels above it. */
static void restrict_first(const Faces *faces, const FaceLevel *level, const FaceLevel *below) {
  rf_index dim = level->kinks.normals.dim, count = level->kinks.normals.count - 1;
  for (rf_index s = dim; s <= faces->top; s++)
    for (rf_index h = 0; h < below->kinks.normals.count; h++) below->first[s][h] = INT64_MAX;
  for (rf_index i = 0; i < count; i++) {
    rf_index from = level->index[i], to = level->child[level->restriction.rep[i]];
    if (to < 0) continue;
    if (level->kinks.kappa[from] < 0) keep_least(&below->first[dim][to], from);
    for (rf_index s = dim + 1; s <= faces->top; s++) keep_least(&below->first[s][to], level->first[s][from]);
  }
}

/* The path to this flat uses the first possible kink on every level above. */
static bool first_path(const Faces *faces, const FaceLevel *level, rf_index h) {
  for (rf_index s = level->kinks.normals.dim + 1; s <= faces->top; s++)
    if (level->first[s][h] < faces->levels[s].chosen) return false;
  return true;
}

static RfStatus visit_flat(Faces *faces, rf_index dim) {
  FaceLevel *level = faces->levels + dim;
  if (dim == 1) return offer_line(faces);
  if (rf_context_stop(faces->context)) return RF_INTERRUPTED;
  if (faces->work > faces->limit) return RF_LIMIT;
  if (dim == 2) return walk_plane(faces, level);
  RfStatus status = try_cells(faces, level);
  for (rf_index h = 0; h < level->kinks.normals.count && !status; h++) {
    if (level->kinks.kappa[h] >= 0 || !first_path(faces, level, h)) continue;
    level->chosen = h;
    list_others(level);
    rf_restrict(&level->restriction, &level->others, level->others.count - 1, level->others.count - 1,
                faces->context->tol.zero);
    restrict_function(level, level - 1);
    restrict_first(faces, level, level - 1);
    status = visit_flat(faces, dim - 1);
  }
  return status;
}

/* ---- set-up ------------------------------------------------------------------------------------- */

static RfStatus level_new(Faces *faces, rf_index dim, rf_index count) {
  FaceLevel *level = faces->levels + dim;
  RfStatus status = rf_kinks_new(faces->context, &level->kinks, count, dim);
  if (!status) status = rf_normals_new(faces->context, &level->others, count, dim);
  if (!status && dim > 1) status = rf_restriction_new(faces->context, &level->restriction, count, dim);
  if (status) return status;
  level->kinks.scale = faces->maxima->kinks->scale;
  level->index = RF_NEW(rf_index, count);
  level->child = RF_NEW(rf_index, count);
  level->group = RF_NEW(double, count);
  level->group_size = RF_NEW(double, count);
  level->first = RF_NEW(rf_index *, faces->top + 1);
  level->point = RF_NEW(double, dim);
  level->rays = dim == 2 ? RF_NEW(Ray, 2 * count) : NULL;
  bool fine = level->index && level->child && level->group && level->group_size && level->first &&
              level->point && (dim != 2 || level->rays);
  for (rf_index s = dim + 1; s <= faces->top && fine; s++)
    fine = (level->first[s] = RF_NEW(rf_index, count)) != NULL;
  return fine ? RF_OK
              : rf_fail(faces->context, RF_ERR_MEMORY, "out of memory for %lld kinks", (long long)count);
}

static void level_free(const Faces *faces, FaceLevel *level) {
  rf_kinks_free(&level->kinks);
  rf_normals_free(&level->others);
  rf_restriction_free(&level->restriction);
  rf_free(level->index);
  rf_free(level->child);
  rf_free(level->group);
  rf_free(level->group_size);
  for (rf_index s = 0; s <= faces->top && level->first; s++) rf_free(level->first[s]);
  rf_free(level->first);
  rf_free(level->point);
  rf_free(level->rays);
}

RfStatus rf_extremal_faces(RfContext *context, RfMaxima *maxima, double work_limit) {
  const RfKinks *kinks = maxima->kinks;
  rf_index top = kinks->normals.dim, count = kinks->normals.count;
  Faces faces = {.context = context, .maxima = maxima, .top = top, .limit = work_limit};
  RfStatus status = RF_OK;
  faces.levels = RF_NEW(FaceLevel, top + 1);
  if (!faces.levels) return rf_fail(context, RF_ERR_MEMORY, "out of memory for faces");
  for (rf_index s = top; s >= 1 && !status; s--) status = level_new(&faces, s, count);
  if (!status) {
    RfKinks *own = &faces.levels[top].kinks;
    memcpy(own->normals.normal, kinks->normals.normal, (size_t)(count * top) * sizeof(double));
    memcpy(own->normals.noise, kinks->normals.noise, (size_t)count * sizeof(double));
    memcpy(own->kappa, kinks->kappa, (size_t)count * sizeof(double));
    memcpy(own->linear, kinks->linear, (size_t)top * sizeof(double));
    status = visit_flat(&faces, top);
  }
  if (status) maxima->complete = false;
  for (rf_index s = 1; s <= top; s++) level_free(&faces, faces.levels + s);
  rf_free(faces.levels);
  return status;
}
