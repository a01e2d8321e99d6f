/* Coordinates for rows of very different lengths (graded.c). */
#ifndef RELUFLOW_GRADED_H
#define RELUFLOW_GRADED_H

#include "la/la.h"

typedef struct RfGraded {
  rf_index d, count;
  double *reflections; /* count rows of d, the first r entries of row r are 0 */
} RfGraded;

/* The lengths of the rows differ so much that parts of the network are judged by their margins, and that the
 * coordinates matter. */
bool rf_rows_spread(const double *X, rf_index n, rf_index d);
/* Finds the coordinates and turns X into them. */
RfStatus rf_graded_new(RfContext *context, RfGraded *graded, double *X, rf_index n, rf_index d);
void rf_graded_free(RfGraded *graded);
void rf_graded_turn(const RfGraded *graded, double *v);
void rf_graded_back(const RfGraded *graded, double *v);

#endif
