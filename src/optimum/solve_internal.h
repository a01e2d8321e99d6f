/* The state of a solve, shared by solve.c (entry, working sets, results), generate.c (pattern generation) and
 * linear.c (leak 1). */
#ifndef RF_OPTIMUM_SOLVE_INTERNAL_H
#define RF_OPTIMUM_SOLVE_INTERNAL_H

#include "optimum/optimum_internal.h"
#include "core/core.h"

typedef struct RfSolve {
  RfContext *context;
  const RfOptimumSettings *settings;
  RfOptimum *result; /* counters */
  const RfReduced *p;
  const RfAtoms *hints; /* directions whose patterns are tried first; may be NULL */
  bool fits;            /* infeasibility was suspected and not proved: do not ask again */
  bool prove;           /* false: stop at a polished point, without the exact search */
  bool quiet;           /* bounds are of a part of the samples: do not report them */
  RfMaster *master;
  RfOracle oracle;
  RfRandom random;
  RfDirections steep;  /* candidate directions of a round */
  RfAtoms best;        /* best network so far */
  double *lambda;      /* best multipliers so far, M <= 1 proved */
  double *trial;       /* work, n */
  double *u;           /* work, r */
  double upper, lower; /* of the reduced problem */
  double started;
  double recorded; /* seconds after that of the last record */
} RfSolve;

RfStatus rf_solve_new(RfSolve *s);
void rf_solve_free(RfSolve *s);
/* Keep the network, or the multipliers with dual norm at most `norm`, when they are better than what is
 * known. */
void rf_solve_offer_network(RfSolve *s, RfAtoms *atoms);
void rf_solve_offer_multipliers(RfSolve *s, const double *lambda, double norm);
bool rf_solve_close(const RfSolve *s, double gap);

RfStatus rf_solve_generate(RfSolve *s, double aim);
/* The same by linear programs, for many samples in few dimensions (columns.c). RF_UNDECIDED when the
 * arithmetic gives out: the bounds kept so far hold. */
RfStatus rf_solve_columns(RfSolve *s, double aim);
/* The exact search on multipliers, aiming at M <= 1 + slack; *norm is what was proved, s->steep what exceeds
 * it. */
RfStatus rf_solve_prove(RfSolve *s, const double *lambda, double slack, double *norm);
/* The same with at most this many nodes; nothing is searched further once something exceeds it. */
RfStatus rf_solve_try(RfSolve *s, const double *lambda, double slack, rf_index nodes);
/* The bound of multipliers by a search of a fraction of a second, after an interruption: RF_INTERRUPTED or a
 * failure. */
RfStatus rf_solve_last_bound(RfSolve *s, const double *lambda);
RfStatus rf_solve_linear(RfSolve *s);
/* Offers the linear separator as a network, when there is one. */
RfStatus rf_solve_linear_network(RfSolve *s);

/* Offers the caller's networks and those of the two classes (known.c); X, y are the caller's n samples. */
RfStatus rf_solve_known(RfSolve *s, const double *X, const double *y, rf_index n);
/* Tries the caller's multipliers at the size of the best network known. */
RfStatus rf_solve_known_multipliers(RfSolve *s, double aim);
/* One sign only: a sample of the own class that is exactly a combination of opposite ones with weights >= 0
 * (one_sign.c). RF_INFEASIBLE with farkas (n, sums to 1), RF_OK when there is none, or a failure. */
RfStatus rf_solve_one_sign(RfSolve *s, double *farkas, const double *X, const double *y);
/* The result in the caller's coordinates, with bounds that hold there (deliver.c). RF_ERR_NUMERIC when they
 * cross, which would be an error of this library. */
RfStatus rf_solve_deliver(RfSolve *s, const double *X, const double *y);
/* When no network is known: fits every label with random neurons. */
RfStatus rf_solve_fit(RfSolve *s);

#endif
