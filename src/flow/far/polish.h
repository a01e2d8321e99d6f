/* The KKT point near a state, exactly (polish.c); included by flow_internal.h, whose system it is about. */
#ifndef RELUFLOW_POLISH_H
#define RELUFLOW_POLISH_H

/* Units of one pattern and one sign of a, as the convex problem sees them. */
typedef struct RfPolishGroup {
  rf_index unit; /* one of its units: the pattern */
  int sign;
  double share;  /* of sum exp(2 rho), all groups adding up to 1 */
  double part;   /* the same, or for rows of very different lengths the largest part it has in a margin */
  double weight; /* frozen second layer: sqrt of the sum of a_k^2; 1 otherwise */
} RfPolishGroup;

typedef struct RfPolish {
  rf_index n_groups, n_units;
  RfPolishGroup *groups;
  rf_index *group_of; /* per unit: its group, -1 = not part of the limit */
  double *size;       /* per unit of a group: ln of what its size tends to, up to one constant for all */
  double late;        /* largest of these among units that have hyperplanes to cross before they join */
  double left_out;    /* the same of units that keep their share for ever and have no group to join */
  double heaviest;    /* frozen second layer: largest weight of a group, 1 otherwise */
  double *beta;       /* n_groups rows of d, at min margin 1 */
  double *lambda;     /* n */
  double *margins;    /* n, their minimum is 1 */
  bool ok;            /* residual and every margin checked */
  rf_index idle;      /* where not ok: a group that others take the place of at less cost, -1 = none */
  double residual;    /* largest entry of the stationarity equation */
  double objective;   /* sum of |beta|, or with a frozen second layer half the sum of |beta|^2 */
  double distance;    /* |theta/|theta| - limit|, theta the state it started from */
  double slips;       /* stationarity that slopes which hold it only beyond [leak,1] cost; NaN: no point */
} RfPolish;

void rf_polish_free(RfPolish *polish);
/* Groups with a share below share_min are left out at once; a group that vanishes in the solution is dropped
 * and the rest solved again. ok = false when Newton's method does not reach a feasible KKT point. */
RfStatus rf_polish(RfContext *context, RfPolish *polish, RfSystem *system, double share_min);

#endif
