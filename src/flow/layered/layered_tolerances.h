/* Every tolerance of the layered flow, with one line of why. */
#ifndef RF_FLOW_LAYERED_TOLERANCES_H
#define RF_FLOW_LAYERED_TOLERANCES_H

/* ---- steps ---- */
#define RF_LAYERED_FIRST_STEP                                                                                \
  1e-3 /* first step: a thousandth of |theta| over the speed, far inside any radius */
#define RF_LAYERED_FIRST_FROZEN 1e-3  /* and with the scale frozen of kappa, whose natural unit is 1 */
#define RF_LAYERED_EVENT        1e-13 /* an event is located to this part of its step: a few roundings */
#define RF_LAYERED_LEAST_ERROR  1e-10 /* a step without error would grow without bound */
#define RF_LAYERED_MEMORY       1e-4  /* smallest error that the step control remembers */
#define RF_LAYERED_NO_NUMBER                                                                                 \
  1e6 /* error of a step that is not finite: the step shrinks by its full factor                             \
       */
#define RF_LAYERED_TRIAL                                                                                     \
  100.0 /* error over the allowed one of the part of a step up to its event: a stiff step damps what its     \
           parts show; beyond that it is no state of the flow */
#define RF_LAYERED_REST_WAIT                                                                                 \
  1000.0 /* times tau that a rest is looked ahead, where nothing says that nothing grows meanwhile */
#define RF_LAYERED_NOWHERE 1e-6 /* of the way gone: less than that, and the flow is where it was */
#define RF_LAYERED_REST    1e-9 /* ln L falls by less over a thousandfold tau: it has stopped falling */

#define RF_LAYERED_LATE                                                                                      \
  1e-6 /* large networks: error over |theta| of a step in which units change sides at its end */
#define RF_LAYERED_LARGE 1e-8 /* finest tolerance of steps there: below what the line before leaves */

/* ---- stiffness ---- */
#define RF_LAYERED_STIFF                                                                                     \
  2.5 /* h times an eigenvalue: the stable region ends at 3.3, and from three quarters of it on steps stay   \
       */
#define RF_LAYERED_STIFF_MOST                                                                                \
  200 /* parameters up to which a matrix a step costs less than the steps it saves */
#define RF_LAYERED_STIFF_MOST_FROZEN                                                                         \
  1500 /* the same with the scale frozen, where no growth rate is asked for and steps are a thousand times   \
          longer */
#define RF_LAYERED_STIFF_FROZEN 0.25 /* of kappa: what leaves a limit grows at rates of order one in it */

#define RF_LAYERED_STIFF_LOOSER                                                                              \
  100.0 /* tolerance of implicit steps: their estimate is of order 3, and stiff errors die out */
#define RF_LAYERED_STIFF_LOOSER_FROZEN                                                                       \
  1e4 /* with the scale frozen: the polish makes the limit exact, the way there only has to lead to it */
#define RF_LAYERED_ROUNDING 1e-16 /* of the terms of a margin; differences are its cube root apart */
#define RF_LAYERED_CANCELS  1e-6  /* |sum of pushes| over the sum of their sizes: they cancel */

/* ---- sides ---- */
#define RF_LAYERED_BEYOND 1e-11 /* of the unit's largest input: beyond its kink, not on it by rounding */
#define RF_LAYERED_UNIT   1e-2 /* of the largest input of its layer, at least: rounding of sums that cancel */
#define RF_LAYERED_WEIGHT                                                                                    \
  1e-3 /* and of |theta| times the longest input of its layer: theta at an event is known to 1e-13 of a step \
        */
#define RF_LAYERED_SLOPE 1e-9 /* a slope is outside [leak,1] by this, at least, not by rounding */
#define RF_LAYERED_AIM                                                                                       \
  1.5 /* events are aimed at this many times what counts as beyond, so that the next try is beyond */
#define RF_LAYERED_OVER          3.0   /* and found when none is farther beyond: on its kink, not across it */
#define RF_LAYERED_UNFELT_WEIGHT 1e-20 /* weight of a sample that adds less than rounding to the velocity */
#define RF_LAYERED_WALL                                                                                      \
  300.0 /* ln of the weight of a sample nobody sees over that of all others, at most: its square is a number \
         */
#define RF_LAYERED_HELD          1e-14 /* speed off the kinks over |velocity|: rounding of a sum */
#define RF_LAYERED_STALLS        1e-11 /* the same where it falls no more: no better is to be had */
#define RF_LAYERED_SLOPE_UNKNOWN 1.0   /* largest such slack: the width of [leak,1], and no slope is known */
#define RF_LAYERED_ROUNDINGS                                                                                 \
  16.0 /* times the rounding of a sum of so many terms, which are larger than what they add up to */
#define RF_LAYERED_ROW 1e-13 /* what slopes do to a unit, over what they do to others: not rounding */
#define RF_LAYERED_RELAX                                                                                     \
  1e-3 /* shortest step, of the width of [leak,1], in which slopes settle at a corner */
#define RF_LAYERED_SLOPE_STEP                                                                                \
  1e-3 /* difference quotient of a plane in a slope: planes as they are are affine in each */
#define RF_LAYERED_RANK 1e-10 /* planes nearer to dependent than this are dependent */
#define RF_LAYERED_PARALLEL                                                                                  \
  1e-8 /* planes are one: inputs at an event are zero to 1e-11 of their size, and turn planes by that */
#define RF_LAYERED_ANSWERS                                                                                   \
  1e8 /* of a margin in a step, at most, where theta is put back on kinks: that it stays to 1e-8 is enough   \
       */
#define RF_LAYERED_ASIDE                                                                                     \
  100.0 /* times the shortest way back on kinks: farther aside for the sake of margins it is not that state  \
         */

/* ---- the point next to the flow ---- */
#define RF_LAYERED_MARGIN                                                                                    \
  400.0 /* smoothed margin at which the scale is frozen: weights are softmax to e^-400 */
#define RF_LAYERED_MARGIN_OTHER 250.0 /* and in the second run, elsewhere on purpose */
#define RF_LAYERED_RAISE        10.0  /* and raised, where a kink is between the flow and its limit */
#define RF_LAYERED_MARGIN_MOST  1e6   /* up to that: where two-layer networks are frozen */
#define RF_LAYERED_NEWTON       1e-15 /* Newton has nothing left to do */
#define RF_LAYERED_SOLVED       1e-10 /* residual of a KKT point, beside 1e-8 that certify asks for */
#define RF_LAYERED_SYMMETRY     1e-9  /* singular values below this belong to symmetries of the network */
#define RF_LAYERED_BELOW        1e-9  /* a margin is below 1 by this, not by rounding */
#define RF_LAYERED_NEGATIVE     1e-12 /* a multiplier over |theta|^2 is negative by this, not by rounding */
#define RF_LAYERED_WEIGHS       1e-6  /* weight of a sample that may be a support */
#define RF_LAYERED_FEWER                                                                                     \
  100.0                       /* where that leads nowhere, the next try asks for so much more: three tries   \
                               */
#define RF_LAYERED_AGREE 1e-7 /* two polished points are the same */
#define RF_LAYERED_DARK                                                                                      \
  1e-9 /* of what its layer sees: so far below its kink the limit leaves a sample dark */
#define RF_LAYERED_EDGE  20.0 /* growth of the network, ln, in which all that dies out does: 1e-9 */
#define RF_LAYERED_NEAR  1e-2 /* the state is near the point, or comes nearer */
#define RF_LAYERED_REACH 0.1  /* a point farther from the state than this is another one */
#define RF_LAYERED_APART 1e-2 /* two runs that end farther apart decide nothing */

/* ---- escape ---- */
#define RF_LAYERED_VANISHED 1e-9 /* weight over |theta|: zero at the point */
#define RF_LAYERED_UNFELT   1e-7 /* |df_i/dweight| over the largest: no output feels it to first order */
#define RF_LAYERED_REPELS   1e-6 /* growth beyond that of the network by this is an escape */

#endif
