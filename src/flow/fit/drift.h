/* Units that go on drifting like ln tau beside samples at rest. */
#ifndef RELUFLOW_FLOW_DRIFT_H
#define RELUFLOW_FLOW_DRIFT_H

#include "reluflow/core.h"

/* Weights of samples that grow, lifted (lift.c). */
typedef struct RfLift {
  bool on, there; /* there: by as much as is wanted, so that slopes tell the drift from rounding */
  double by;      /* ln of the factor; the clock of the state is e^by times slower than that of the flow */
  double drive;   /* largest push of the growing samples times the clock; 0: there has been no drift */
  double
      *of; /* n: that of each sample: by while it grows, what it was at the end where it has come to rest, */
  uint8_t *grows; /* n: which they are; NULL: never lifted */
} RfLift;

static inline double rf_lift_of(const RfLift *lift, rf_index i) { return lift->on ? lift->of[i] : 0; }

/* The state that a drift is measured from. */
typedef struct RfWay {
  double tau;     /* when it was left; 0: none */
  double arrives; /* ln t at which a unit whose motion is lost in rounding would meet a hyperplane; 0: none */
  bool settled;   /* followed under lifted weights to where it leads across nothing, and no event since */
  rf_index units; /* of it */
  double *y;      /* units x (d + 2): w, a and rho as in RfSystem.y */
} RfWay;

typedef enum RfDrift {
  RF_DRIFT_NONE,  /* every unit keeps its sides, as far as its drift tells */
  RF_DRIFT_SEEN,  /* one comes to a hyperplane, or it is too early to say */
  RF_DRIFT_BEYOND /* one comes to a hyperplane (way.arrives), but by now its motion is lost in rounding */
} RfDrift;

struct RfRun;

/* Asked again and again while the run looks like rest; run->f is current. */
RfStatus rf_run_drift(struct RfRun *run, RfDrift *found);

/* lift.c: the drift at rest is followed under lifted weights from here on (RF_DRIFT_SEEN); RF_DRIFT_NONE: no
 * sample grows; RF_DRIFT_BEYOND: pushes do not part into those of samples that rest and of samples that grow.
 */
RfStatus rf_run_lift(struct RfRun *run, RfDrift *found);
/* After every step under them; lost: pushes no longer part, or it has been followed for too long. */
RfStatus rf_run_lifted(struct RfRun *run, bool *lost);
/* The weights are those of the flow again. */
void rf_run_drop(struct RfRun *run);
/* fit.c: fastest motion (direction or log-norm) of the units that matter; run->f must be current. */
double rf_run_restlessness(const struct RfRun *run);

#endif
