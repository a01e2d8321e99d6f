/* Shared by the two searches for extremal directions: the potential in terms of kinks, and a list of maxima.
 */
#ifndef RF_GEOMETRY_EXTREMAL_INTERNAL_H
#define RF_GEOMETRY_EXTREMAL_INTERNAL_H

#include "geometry_internal.h"

/* G(w) = linear . w + sum_h kappa_h max(u_h . w, 0): one kink per hyperplane, kappa_h != 0. Rows that share a
 * hyperplane are added up, so that only the kinks that G really has remain. */
typedef struct RfKinks {
  RfNormals normals;
  double *kappa;  /* normals.count */
  double *linear; /* normals.dim */
  double scale;   /* |linear| + sum |kappa| of the full problem: what rounding is measured against */
  bool solid;     /* the rows span R^d, d >= 2: directions with G <= 0 can be strict maxima */
} RfKinks;

RfStatus rf_kinks_new(RfContext *context, RfKinks *kinks, rf_index count, rf_index dim);
void rf_kinks_free(RfKinks *kinks);
/* linear . w + sum kappa_h (u_h . w)_+ */
double rf_kinks_value(const RfKinks *kinks, const double *w);

/* Strict local maxima found so far, each once. */
typedef struct RfMaxima {
  const RfKinks *kinks; /* of the full problem */
  rf_index count, capacity;
  double *direction; /* count unit vectors of dim */
  bool complete;     /* cleared by whoever gives up on something */
  rf_index nodes;
} RfMaxima;

/* Adds w (dim, any positive length) when it is a strict local maximum of G on the sphere. */
RfStatus rf_maxima_offer(RfContext *context, RfMaxima *maxima, const double *w);

/* Each fills maxima with every strict local maximum, or clears maxima->complete. cells needs dim >= 2. */
RfStatus rf_extremal_faces(RfContext *context, RfMaxima *maxima, double work_limit);
RfStatus rf_extremal_cells(RfContext *context, RfMaxima *maxima, double work_limit);
RfStatus rf_extremal_bounds(RfContext *context, RfMaxima *maxima, rf_index node_limit);
/* What the second would need, in cells times kinks (times dimension). */
double rf_extremal_cells_work(const RfKinks *kinks);
/* Adds the maxima that climbing from some starts reaches; says nothing about completeness. */
RfStatus rf_extremal_climb(RfContext *context, RfMaxima *maxima, rf_index starts);

#endif
