/* What a layered flow works with: shared by its steps (layered.c) and by what tells its rest (rest.c). */
#ifndef RF_FLOW_LAYERED_WORK_H
#define RF_FLOW_LAYERED_WORK_H

#include "flow/flow.h"
#include "flow/layered/sides.h"
#include "flow/layered/stiff.h"

typedef enum Clock { CLOCK_TIME, CLOCK_LATE, CLOCK_FROZEN } Clock;

enum { stages = 7 };

struct RfLayeredFlowWork {
  const double *X, *y;
  RfLossWork *loss;
  RfSided *sided; /* by sides, with events; NULL: too large for that, error control crosses kinks */
  bool smooth;    /* a linear network, or one without sides: the gradient of training is the velocity */
  bool large;     /* units change sides many to a step */
  double *q, *k[stages], *trial, *next, *layers0;
  double *weights;      /* n, zero between uses */
  double *some;         /* n: scratch, margins of the samples that are seen */
  double shift;         /* ln S at the last evaluation */
  double log_S[stages]; /* ln S at the stages of the last step: the quadrature of t */
  double h[3];          /* next step, per clock */
  double last_err;      /* of the step controller */
  double tried;         /* error of the last trial step */
  double log_dt;        /* ln of the time that the last step in the late clock took */
  RfStiff *stiff;       /* NULL: too many parameters for its matrices */
  int stiff_count;      /* explicit steps in a row that stability made */
  int implicit;         /* implicit steps still to be taken before the explicit ones are tried again */
  double still_from;    /* tau from which on a velocity that is rounding counts as a rest */
  double *from;         /* P: theta at from_tau, from which on tau has to double */
  double from_tau;
  double next_look;     /* tau from which on it is asked again whether anything grows at a rest */
  double growth, decay; /* largest rates of growth and of decay at the start of an implicit step */
  double log_mean;      /* ln of the mean of 1/S over an implicit step */
  double told;          /* clock of the last rf_progress */
  double gone[3];       /* sum of the steps, per clock */
  double mark;          /* where it was when events began to be counted */
  rf_index events;      /* since then */
  bool fresh;           /* k[0] holds the velocity at net.theta in the clock `clock` */
  Clock clock;
};

/* The velocity at theta in a clock; margins are left in work->q and ln S in work->shift. */
void rf_layered_velocity(const RfContext *context, RfLayeredFlow *flow, double *out, const double *theta,
                         Clock clock);
/* The matrix of implicit steps from the state, and the rates in it. */
RfStatus rf_layered_prepare_implicit(RfContext *context, RfLayeredFlow *flow, Clock clock);
/* At rest: at this velocity the loss would hardly fall in the time waited, and nothing grows meanwhile (where
 * that cannot be asked: in a thousand times that). L is that of the samples that are seen, dL/dtau = -S
 * |v|^2.
 */
RfStatus rf_layered_at_rest(RfContext *context, RfLayeredFlow *flow, double tau, bool *rests);
/* Is a sample seen through nothing but weights that have faded beside the scale? The sides of their units are
 * rounding there. */
bool rf_layered_barely_seen(RfLayeredFlow *flow);

#endif
