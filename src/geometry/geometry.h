/* geometry's door to the other rooms: the sector of one vector, sectors one at a time. */
#ifndef RF_GEOMETRY_GEOMETRY_H
#define RF_GEOMETRY_GEOMETRY_H

#include "core/core.h"
#include "reluflow/geometry.h"

/* sector (n+1 characters, ends with 0): '+', '-' or '0' by the sign of <w,x_i>; within tol.zero |w||x_i| it
 * is '0'. */
void rf_geometry_sector(const RfContext *context, char *sector, const double *w, const double *X, rf_index n,
                        rf_index d);
/* Iterator over the open sectors, each once; a sector is followed by its mirror image where both come from
 * one computation. Opaque. */
typedef struct RfSectors RfSectors;
/* settings may be NULL. X is copied. No nonzero row: one sector, the whole space. */
RfStatus rf_geometry_sectors_new(RfContext *context, RfSectors **sectors, const double *X, rf_index n,
                                 rf_index d, const RfSectorSettings *settings);
void rf_geometry_sectors_free(RfSectors *sectors);
/* RF_OK and *found: positive is a bitset of n (bit i: <w,x_i> > 0), witness a unit vector of R^d well inside;
 * both belong to the iterator and change with the next call. !*found: all were given. */
RfStatus rf_geometry_sectors_next(RfContext *context, RfSectors *sectors, bool *found,
                                  const uint64_t **positive, const double **witness);

#endif
