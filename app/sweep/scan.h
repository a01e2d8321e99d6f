/* The scalars of an answer, read in one pass over its text. */
#ifndef RF_SWEEP_SCAN_H
#define RF_SWEEP_SCAN_H

#include "sweep/sweep_internal.h"

typedef struct SweepScalar {
  SweepKind kind; /* SWEEP_NULL until it is found */
  int64_t integer;
  double number;
  size_t start, length; /* of a string, in `texts` */
} SweepScalar;

/* plain: the object without blanks and times, appended. scalars: one per column, zeroed before; or NULL.
 * False when the text is not JSON, or memory is out. */
bool sweep_scan(RfText *plain, SweepScalar *scalars, RfText *texts, const SweepColumns *columns,
                const char *json, size_t length);

#endif
