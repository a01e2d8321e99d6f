/* The shapes that are compiled: padded input dimensions, how many samples and groups of neurons a lane holds
 * at once, and how many blocks a multiprocessor is to hold. These are what registers allow; groups are powers
 * of two, so that their bits lie in whole words. On the matrix units (MATRIX) neither is asked for. */

#define KIND float
#define REAL float

#define DIM     2
#define MATRIX  0
#define SAMPLES 8
#define GROUPS  8
#define BLOCKS  7
#define HOT     TWICE
#include "descent_body.h"

#define DIM     4
#define MATRIX  0
#define SAMPLES 8
#define GROUPS  8
#define BLOCKS  6
#define HOT     TWICE
#include "descent_body.h"

#define DIM     6
#define MATRIX  0
#define SAMPLES 8
#define GROUPS  8
#define BLOCKS  5
#define HOT     TWICE
#include "descent_body.h"

#define DIM     10
#define MATRIX  0
#define SAMPLES 8
#define GROUPS  8
#define BLOCKS  3
#define HOT     TWICE
#include "descent_body.h"

#define DIM     16
#define MATRIX  0
#define SAMPLES 4
#define GROUPS  4
#define BLOCKS  4
#define HOT     TWICE
#include "descent_body.h"

#define DIM     20
#define MATRIX  0
#define SAMPLES 4
#define GROUPS  4
#define BLOCKS  3
#define HOT     TWICE
#include "descent_body.h"

#define DIM     32
#define MATRIX  0
#define SAMPLES 2
#define GROUPS  2
#define BLOCKS  3
#define HOT     ROLLED
#include "descent_body.h"

#define DIM     64
#define MATRIX  0
#define SAMPLES 1
#define GROUPS  1
#define BLOCKS  2
#define HOT     ROLLED
#include "descent_body.h"

#undef KIND
#undef REAL

#define KIND double
#define REAL double

#define DIM     2
#define MATRIX  0
#define SAMPLES 8
#define GROUPS  8
#define BLOCKS  5
#define HOT     TWICE
#include "descent_body.h"

#define DIM     4
#define MATRIX  0
#define SAMPLES 8
#define GROUPS  8
#define BLOCKS  4
#define HOT     TWICE
#include "descent_body.h"

#define DIM     6
#define MATRIX  0
#define SAMPLES 4
#define GROUPS  4
#define BLOCKS  4
#define HOT     TWICE
#include "descent_body.h"

#define DIM     10
#define MATRIX  0
#define SAMPLES 8
#define GROUPS  8
#define BLOCKS  2
#define HOT     ROLLED
#include "descent_body.h"

#define DIM     16
#define MATRIX  1
#define SAMPLES 1
#define GROUPS  1
#define BLOCKS  4
#define HOT     TWICE
#include "descent_body.h"

#define DIM     20
#define MATRIX  1
#define SAMPLES 1
#define GROUPS  1
#define BLOCKS  4
#define HOT     TWICE
#include "descent_body.h"

#define DIM     32
#define MATRIX  1
#define SAMPLES 1
#define GROUPS  1
#define BLOCKS  3
#define HOT     TWICE
#include "descent_body.h"

#define DIM     64
#define MATRIX  1
#define SAMPLES 1
#define GROUPS  1
#define BLOCKS  2
#define HOT     TWICE
#include "descent_body.h"

#undef KIND
#undef REAL

/* clang-format off */
/* X(kind, dimension) for each of them. */
#define DESCENT_SHAPES(X) \
  X(float, 2) X(float, 4) X(float, 6) X(float, 10) X(float, 16) X(float, 20) X(float, 32) X(float, 64) \
  X(double, 2) X(double, 4) X(double, 6) X(double, 10) X(double, 16) X(double, 20) X(double, 32) X(double, 64)
/* clang-format on */
