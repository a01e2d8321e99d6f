/* Shared by the files of this room: distinct hyperplanes in the row space, their restriction to one of them,
 * and decimal counts. */
#ifndef RF_GEOMETRY_INTERNAL_H
#define RF_GEOMETRY_INTERNAL_H

#include "geometry/geometry.h"

/* ---- hyperplanes -------------------------------------------------------------------------------- */

/* A set of unit normals in R^dim, no two parallel, each with the size of its rounding error. */
typedef struct RfNormals {
  rf_index count, dim;
  double *normal; /* count rows of dim */
  double *noise;  /* count */
} RfNormals;

/* The hyperplanes of a dataset: rows reduced to unit length, to the row space, and to one row per hyperplane.
 */
typedef struct RfPlanes {
  rf_index n, d, rank, rows; /* rows: nonzero ones */
  double *basis;             /* rank rows of d, orthonormal; NULL when rank = d and no change was needed */
  RfNormals planes;          /* dim = rank */
  rf_index *plane_of;        /* n; -1 for a zero row */
  int8_t *sign_of;           /* n: +1 along the plane's normal, -1 opposite */
  bool doubtful;             /* two rows were nearly, but not clearly, parallel */
} RfPlanes;

RfStatus rf_planes_new(RfContext *context, RfPlanes *planes, const double *X, rf_index n, rf_index d);
void rf_planes_free(RfPlanes *planes);
/* out (d) = the vector of R^d with coordinates w (rank) in the row space. */
void rf_planes_lift(double *out, const RfPlanes *planes, const double *w);
/* out (rank) = coordinates of w (d) in the row space. */
void rf_planes_lower(double *out, const RfPlanes *planes, const double *w);

/* The number of open sectors; infinity when counting itself is out of reach. */
RfStatus rf_planes_count(RfContext *context, double *count, const RfPlanes *planes);

RfStatus rf_normals_new(RfContext *context, RfNormals *normals, rf_index count, rf_index dim);
void rf_normals_free(RfNormals *normals);

/* Memory for restrictions of up to `count` normals. */
typedef struct RfRestriction {
  RfNormals child;   /* dim - 1; the normals of the restricted arrangement */
  rf_index *rep;     /* parent normal i becomes child normal rep[i] ... */
  int8_t *sign;      /* ... times this sign */
  double *length;    /* of parent normal i after projection, before it is made a unit vector */
  double *reflector; /* dim: Householder vector that takes the parent's normal to a multiple of e_0 */
  double *project;   /* one double per normal, for sorting */
  rf_index *order;
  bool doubtful; /* stays set once a merge was close to its tolerance */
  bool merged;   /* stays set once any two normals became parallel */
} RfRestriction;

RfStatus rf_restriction_new(RfContext *context, RfRestriction *work, rf_index count, rf_index dim);
void rf_restriction_free(RfRestriction *work);
/* Restricts the first `count` normals of parent to the hyperplane of normal `onto` (>= count, or any other
 * that is not among them). Child normal 0 is parent normal 0 with sign +1. */
void rf_restrict(RfRestriction *work, const RfNormals *parent, rf_index count, rf_index onto, double zero);
/* out (dim) = the vector of the hyperplane with child coordinates w (dim-1). */
void rf_restriction_lift(double *out, const RfRestriction *work, const double *w);
/* out (dim-1) = child coordinates of the projection of w (dim). */
void rf_restriction_lower(double *out, const RfRestriction *work, const double *w);

/* ---- separators --------------------------------------------------------------------------------- */

/* w (dim) with column . w >= 0 for all of the count columns (dim+1 entries each, the last one 1 or 0 for
 * strict or not), from a nonnegative least squares solution with these weights: solved again on the tight
 * rows, normalised. */
RfStatus rf_separator_refine(RfContext *context, double *w, const double *columns, const double *weights,
                             rf_index count, rf_index dim);

/* ---- lists of cells ----------------------------------------------------------------------------- */

/* Half of the cells of an arrangement: those on the positive side of normal 0. */
typedef struct RfCells {
  rf_index count, capacity;
  rf_index words, dim; /* words of bits per cell */
  uint64_t *bits;      /* bit i: on the positive side of normal i */
  uint64_t *key;       /* hash of the bits */
  double *point;       /* dim each: a unit vector inside */
  double *depth;       /* least |normal . point| */
} RfCells;

typedef struct RfSweep RfSweep;
/* All cells by deletion and restriction. *exact is cleared when a decision was close to its tolerance.
 * RF_LIMIT when more than max_cells would be held. */
RfStatus rf_sweep_cells(RfContext *context, RfCells *cells, bool *exact, const RfNormals *normals,
                        rf_index max_cells);
void rf_cells_free(RfCells *cells);

/* ---- depth-first search ------------------------------------------------------------------------- */

typedef struct RfSearch RfSearch;
RfStatus rf_search_new(RfContext *context, RfSearch **search, const RfNormals *normals);
void rf_search_free(RfSearch *search);
/* The next cell with normal 0 positive: bits and a unit vector inside, or *found = false. */
RfStatus rf_search_next(RfContext *context, RfSearch *search, bool *found, const uint64_t **bits,
                        const double **point);
bool rf_search_exact(const RfSearch *search);

/* ---- decimals ----------------------------------------------------------------------------------- */

/* A non-negative integer of any size, base 1e9, least limb first. */
typedef struct RfDecimal {
  rf_index count, capacity;
  uint32_t *limb;
} RfDecimal;

RfStatus rf_decimal_set(RfContext *context, RfDecimal *a, uint64_t value);
RfStatus rf_decimal_add(RfContext *context, RfDecimal *a, const RfDecimal *b);
RfStatus rf_decimal_multiply(RfContext *context, RfDecimal *a, uint64_t factor);
void rf_decimal_divide(RfDecimal *a, uint32_t divisor); /* exact division expected */
double rf_decimal_value(const RfDecimal *a);
char *rf_decimal_text(const RfDecimal *a); /* NULL when out of memory */
void rf_decimal_free(RfDecimal *a);
/* a = 2 sum_{k < rank} C(rows-1, k); 1 when rank is 0. */
RfStatus rf_decimal_sector_bound(RfContext *context, RfDecimal *a, rf_index rows, rf_index rank);

#endif
