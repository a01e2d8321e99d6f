/* Slides that end outside the events of a step. */
#ifndef RF_FLOW_FIT_SLIDES_H
#define RF_FLOW_FIT_SLIDES_H

#include "flow/flow_internal.h"

/* Lets go, one by one, of the slides of unit u that the weights of the last rf_system_fields do not hold.
 * slopes: room for n. */
RfStatus rf_slides_check(RfRun *run, rf_index u, double *slopes, bool log);
/* A unit whose a has just passed 0 leaves hyperplanes: da = g.w, in which a wall makes 1e266 of an input that
 * is -1e-16 by rounding, and a would pass 0 again. It leaves from its side of
 * those that it slid on before (n sides). */
void rf_slides_step_off(RfSystem *system, const int8_t *before, rf_index k);

/* Valleys that the unit meets again and again in no time, since the weights turn it back as soon as it has
 * left them: their slope is at its end to rounding, where sliding and leaving are one, and it slides until
 * that is told. */
RfStatus rf_slides_at_end(RfRun *run, const int8_t *before, rf_index from, rf_index to);
/* A valley that was met and left to the side it was met from: the field that led there says otherwise only
 * within what it is known to. Where the slope that holds the unit is at its end to as much (the measure by
 * which a slide is let go), it slides. slopes: room for n. */
RfStatus rf_slides_within_known(RfRun *run, const int8_t *before, rf_index from, rf_index to, double *slopes);

#endif
