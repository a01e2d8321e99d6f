/* Units that go on drifting like ln tau beside samples at rest. */
#ifndef RELUFLOW_FLOW_DRIFT_H
#define RELUFLOW_FLOW_DRIFT_H

#include "reluflow/core.h"

/* The state that a drift is measured from. */
typedef struct RfWay {
  double tau;     /* when it was left; 0: none */
  double arrives; /* ln t at which a unit whose motion is lost in rounding would meet a hyperplane; 0: none */
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

#endif
