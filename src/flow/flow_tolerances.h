/* Every threshold of the two-layer flow, with the reason for its size. Lengths are relative to |w| <= 1 and
 * |x|, times to the natural unit of tau, fields to the largest one possible, sum p_i |x_i| (docs/math.md, F).
 */
#ifndef RELUFLOW_FLOW_TOLERANCES_H
#define RELUFLOW_FLOW_TOLERANCES_H

/* ---- on a hyperplane or not (events.c, corner.c) ---- */
#define RF_TOL_PLANE 1e-13 /* |w.x|/|x| within rounding of a step: some hundred ulps */
#define RF_TOL_SLOPE                                                                                         \
  1e-10 /* slopes of a slide beyond [leak,1]: 1e6 ulps, the fields are sums over samples                     \
         */
#define RF_TOL_SLOPE_STIFF                                                                                   \
  3e-6 /* the same at the end of an implicit step, where the weights are known to its error times q */
#define RF_TOL_SLOPE_BLUR                                                                                    \
  4.0 /* and with long rows this times the part of the push that is rounding of its margins, over the kink:  \
         a ratio of two weights, two roundings each */
#define RF_TOL_SLOPE_ORIGIN                                                                                  \
  3e-6 /* and at w = 0: what is let go late by e has missed a way of e^2, and w = 0 is known to 1e-9 */
#define RF_TOL_SLOPE_AT      1e-12 /* the same where the moment is looked for, so that it is found before that */
#define RF_TOL_GAP           1e-8  /* dependent slides: residual of a bounded least squares over sum p|x| */
#define RF_TOL_GAP_AT        1e-9  /* the same where the moment is looked for */
#define RF_TOL_BRACKET       4e-16 /* width of a bracket that cannot be halved any more */
#define RF_TOL_TIE           1e-11 /* events this close (fractions of a step) are one: dense output is no better */
#define RF_TOL_DIP           4.0 /* a turn inside a step is this times that of the cubic through its ends at most */
#define RF_TOL_CUT           1e-15 /* implicit steps are cut at an event to this part of their length, */
#define RF_TOL_CUT_BEYOND    1e-11 /* and at most this far behind the hyperplane, */
#define RF_TOL_CUT_MARGIN    1e-7  /* nor so far that the margins move by this, */
#define RF_TOL_CUT_LEAST     2e-15 /* but no nearer than rounding */
#define RF_TOL_CUT_SLOPE     0.1   /* slopes: this part of the slack beyond which one counts as outside, */
#define RF_TOL_CUT_LINE      1e-2 /* of the error of a step: the last bit of the way there is a straight line */
#define RF_TOL_CUT_MET       4.0 /* times what rounding leaves beyond a hyperplane, half of which is aimed at */
#define RF_TOL_CUT_STALL     0.25  /* and a bracket that three trials have not brought to this is halved */
#define RF_TOL_SETTLING      100.0 /* times 1/q: margins relax at rates of q times a length, */
#define RF_TOL_SETTLING_FROM 1e4   /* where that is much faster than anything else */
#define RF_TOL_APART         1e-12 /* ten times as far from a hyperplane as rounding: not there with another */
#define RF_TOL_LAYER         1e-4 /* most that neurons are put apart before a ridge: the network sees its square */
#define RF_TOL_LAYER_GROWTH  0.1  /* ln of the growth of margins meanwhile that is made up for */
#define RF_TOL_LAYER_LEAST   1e-3 /* part of that for which there has to be room before the ridge */
#define RF_TOL_ORIGIN                                                                                        \
  1e-9 /* |w| below counts as w = 0 when hyperplanes are met: sqrt of rounding, and some */
#define RF_TOL_ORIGIN_EXIT 2e-9 /* and units that leave it start here */
#define RF_TOL_SIGN        1e-20 /* |a| of a unit that has just changed its sign: far below what moves anything */
#define RF_TOL_TEAR        1e-3 /* cosine of the pull with x above which a dependent slide leaves x's hyperplane */
#define RF_TOL_WEIGHTLESS                                                                                    \
  1e-200 /* p of a sample that has no kink: its force is below every rounding error                          \
          */
#define RF_TOL_AVERAGED                                                                                      \
  1e-12 /* p above which a ridge crossed to and fro may be held: the Jacobian knows it */

/* ---- which continuations exist (sides.c) ---- */
#define RF_TOL_SIDE   1e-14 /* rounding of a slope or of a push relative to the terms it is summed from */
#define RF_TOL_ACROSS 1e-9  /* cosine of the field with a weightless sample that says where the unit goes */
#define RF_TOL_FASTER 1e-12 /* one field is faster than another by more than rounding */

/* ---- steps (run.c, explicit.c, implicit.c) ---- */
#define RF_EXPLICIT_STABLE      6.1   /* step times the largest rate at which the explicit method is stable */
#define RF_TOL_STEP_EXPLICIT    1e-16 /* no shorter step than this, in units of tau or of the fastest answer */
#define RF_TOL_STEP_IMPLICIT    1e-19 /* the same; frozen scales make stiffness of 1e6 and more */
#define RF_TOL_STILL_EXPLICIT   1e-13 /* events after shorter times than this came at the same moment */
#define RF_TOL_STILL_IMPLICIT   1e-15
#define RF_TOL_MARGIN           0.02  /* error of a margin that leaves its weight meaningful */
#define RF_TOL_MARGIN_CANCELLED 0.4   /* the same, were all errors to add up, */
#define RF_TOL_FROZEN_ROUNDING  1e-7  /* of a step at a frozen scale: what the usual tolerance allows */
#define RF_TOL_FINITE           0.03  /* of the tolerance, for weights at a finite time */
#define RF_TOL_CARE             1e-13 /* finest tolerance of implicit steps, some hundred ulps */
#define RF_TOL_TRIAL                                                                                         \
  100.0 /* error of a trial to the first event over the allowed one: a step damps the transient at its       \
           start, its parts show it (errors up to this are seen); what is nonsense is beyond 1e3 */
#define RF_TOL_SHRINKS                                                                                       \
  0.1 /* ln of its size that a unit loses in a step, after which a^2 - |w|^2 is put back */
#define RF_TOL_STEP_LONGEST 1e12 /* at rest the error is zero and the step would overflow */

/* ---- fit and rest (fit.c, system.c) ---- */
#define RF_TOL_WALL        650.0 /* ln p of an unseen sample at most: its square is still a number */
#define RF_TOL_SMALL       2e-9 /* units are small while all of them change no margin by more than half of this */
#define RF_TOL_SMALL_LARGE 2e-6 /* the same in large networks, for speed */
#define RF_TOL_TOGETHER    3e-5 /* directions merged: the network changes by the square, 1e-9 */
#define RF_TOL_TOGETHER_WIDE                                                                                 \
  3e-4 /* the same in networks of thousands of neurons: 1e-7, a tenth of what they are followed to */
#define RF_TOL_MOST_GROWTH 7.0 /* ln: a difference that grew by 1e3 is no small one any more */
#define RF_TOL_MERGED_PUSH                                                                                   \
  1e-7                         /* push of a sample over all times the difference merged: below, no matter    \
                                */
#define RF_TOL_REST_FALL  1e-8 /* fall of ln L that counts as one */
#define RF_TOL_REST_SMALL 1e-4 /* largest margin possible: below, growth by 1e-4 is no such fall, */
#define RF_TOL_REST_GROWS 1e-4 /* but motion all the same: change of ln |theta| */
#define RF_TOL_REST_TO_AND_FRO                                                                               \
  1e-6                            /* events without a fall: what L could still lose in all the time so far */
#define RF_TOL_REST_FALLING 1e-13 /* d ln L per unit of tau that is rounding */
#define RF_TOL_REST_LEFT    1e-7  /* what is left to fall, about rate times time waited */
#define RF_TOL_REST_SPEED   1e-6  /* fastest motion of a unit that matters */
#define RF_TOL_REST_FOLDS                                                                                    \
  60.0 /* growth of ln tau for which a drift is drawn on: directions relax like powers of ln tau, and that   \
          is at most 30 where rounding ends the run */
#define RF_TOL_REST_ROUNDING 1e-14 /* of the largest field: a motion that is rounding, some ten ulps */
#define RF_TOL_REST_APART    2.718 /* of tau: states that a drift is read off are apart by one in ln tau */
#define RF_TOL_LIFT_RESTS    1e-6  /* push over that of all, at least, of the samples that hold a drift, */
#define RF_TOL_LIFT_GROWS                                                                                    \
  1e-8 /* and at most of those that drive it: 1/tau, where a drift is lost in rounding */
#define RF_TOL_LIFT_CLOCK                                                                                    \
  1e8 /* tau of a lifted drift: slopes at their ends show it by 1e-8, and rounding by 1e-10, */
#define RF_TOL_LIFT_SLOWER 1e3 /* more where the lightest sample that rests is not this much faster, */
#define RF_TOL_LIFT_OTHER                                                                                    \
  10.0 /* and in a second run by this: what is left of a motion beside the drift shows */
#define RF_TOL_LIFT_LESS   0.1 /* push of the growing over that of the resting, at most */
#define RF_TOL_LIFT_STOPS  1e2 /* push times tau of a sample that ought to have grown long ago, */
#define RF_TOL_LIFT_STANDS 0.1 /* and growth per unit of ln tau, of 1, below which it has not */
#define RF_TOL_LIFT_RAMP                                                                                     \
  0.1 /* ln by which weights are lifted from step to step, and of tau for a look ahead */
#define RF_TOL_LIFT_THERE                                                                                    \
  0.7 /* ln of tau over the wanted one: lifted enough to tell slopes from their ends */
#define RF_TOL_LIFT_START 1e13 /* tau at which what rests does so to rounding */
#define RF_TOL_ESCAPE_REST                                                                                   \
  1e-11 /* of the largest field: growth of a small unit at rest, far above rounding, */
#define RF_TOL_ESCAPE_LEFT                                                                                   \
  100.0                         /* and this times the speed left in the others, which is on its way to zero */
#define RF_TOL_REST_FROZEN 1e-9 /* frozen second layer: what is left to fall */
#define RF_TOL_REST_MOVES  1e-2 /* frozen second layer: motion in the time waited */
#define RF_TOL_LOG_TAU     1e3  /* frozen second layer: growth of ln tau that it is followed for */

/* ---- to infinity (infinity.c, polish.c) ---- */
#define RF_TOL_Q_FROZEN     1e6 /* smallest margin at which the scale is frozen: weights follow within 1/q */
#define RF_TOL_GROWN_MOST   1e290  /* factor of the margins since then that is told: times Q_MOST a double */
#define RF_TOL_Q_SLOW       1e5    /* the same while the direction travels: steps grow like 1/sqrt(q) */
#define RF_TOL_Q_RAISED     10.0   /* times that where a state rests and its limit is not seen: 1/q of it */
#define RF_TOL_Q_MOST       1e9    /* possible margin up to which steps are made finer */
#define RF_TOL_Q_LOW        1e4    /* margin below which O(1/q) shows: compared at the margins of the state */
#define RF_TOL_CLIMB        2.0    /* growth of the network per step on the way there: not far past it */
#define RF_TOL_TINY         1e-300 /* instead of a division by zero */
#define RF_TOL_LONGEST      30.0   /* growth of the network per step: e^30 of an instability is seen */
#define RF_TOL_DRIFT_FROM   0.3    /* ln of the scale off its place from which it is moved, */
#define RF_TOL_DRIFT_TO     0.1    /* and to which */
#define RF_TOL_DRIFT_STEP   0.5    /* growth per step meanwhile: the weights follow */
#define RF_TOL_TRAVEL       1e-3   /* way of the direction over a stretch: more, and its end is not near */
#define RF_TOL_STALL        1e-3   /* relative change of the distance to the polished point that is none */
#define RF_TOL_ESCAPE       1e-7   /* rate over the network's own above which a vanishing unit comes back */
#define RF_TOL_NEAR         1e-6   /* distance of state and polished point at which that is the end */
#define RF_TOL_NEAR_STILL   1e-3   /* the same where it no longer falls (q^-1/2 at q = 1e6) */
#define RF_TOL_NEAR_AT_ALL  1e-2   /* farther away it is another point */
#define RF_TOL_SHARE        1e-9   /* of sum e^{2 rho}: smaller groups are not part of the limit */
#define RF_TOL_SHARE_KEPT   1e-12  /* unless they keep it for ever: RF_TOL_NEAR squared, it does not show */
#define RF_TOL_SHARE_DROP   0.03   /* a group of this share is not dropped to make the equations solvable */
#define RF_TOL_VANISHED     1e-9   /* of sum |beta|: a group that the solution makes vanish */
#define RF_TOL_ACTIVE       1e-5   /* p of the samples that the polish starts with */
#define RF_TOL_PIVOT        1e-9   /* ratio of pivots below which a system is solved by least squares */
#define RF_TOL_RANK         1e-13  /* singular values below are zero */
#define RF_TOL_NEWTON       1e-15  /* Newton's step that is rounding, */
#define RF_TOL_NEWTON_LATE  1e-13  /* after eight steps, */
#define RF_TOL_NEWTON_LOST  1e-2   /* and the one after fourteen that will not become it */
#define RF_TOL_OWN          1e-6   /* weight of the flow's own multipliers where others are as good */
#define RF_TOL_OWN_OFF      1e-9   /* stationarity they may cost */
#define RF_TOL_TIGHT        1e-9   /* margins over 1 that are tight */
#define RF_TOL_STATIONARY   1e-10  /* residual of the KKT equations that is accepted */
#define RF_TOL_VIOLATED     1e-11  /* margins under 1 and multipliers under 0 that are not */
#define RF_TOL_WALL_LIMIT   1e30   /* multiplier of an unseen sample: any unit that meets it is held */
#define RF_TOL_WALL_ESCAPE  1e3    /* in the escape test: its push over that of all seen samples together */
#define RF_TOL_DIRECTION    1e-4   /* two runs that end farther apart have not decided */
#define RF_TOL_SECOND       1e-2   /* tolerance of the second run: errors a hundredth of the first one's */
#define RF_TOL_SECOND_DRIFT 0.1    /* the same where a drift is confirmed: its clock is another one already */
#define RF_TOL_FINEST       1e-13  /* no run is asked for more */
#define RF_TOL_NOT_COARSER  1e-10  /* a first run that is coarser is not confirmed by one that is, too */
#define RF_TOL_SPLIT                                                                                         \
  1e-2 /* the same where both end at one network: how neurons share it, long steps follow to some 1e-3 */
#define RF_TOL_UNSEEN      1e-9 /* cosine by which the limit has to leave a sample unseen */
#define RF_TOL_EDGE        20.0 /* growth of the network, ln, in which all that dies out does: 1e-9 */
#define RF_TOL_STILL_FALLS 0.9  /* distance over that a growth time before: it has stopped falling */
#define RF_TOL_STILL_GROWTH                                                                                  \
  1.0 /* ln of the size gained in a growth time: what dies out falls by a tenth in much less */
#define RF_TOL_FADING_LOOK 1.15 /* growth of kappa from look to look at a share that falls like 1/kappa, */
#define RF_TOL_FADING      0.05 /* and of the power 1: e^-kappa/q has 1.15 times its last one at each look */
#define RF_TOL_SIDE_LIMIT  1e-7 /* cosine by which a group of the limit may be beyond a hyperplane */
#define RF_TOL_SLOPE_LIMIT 1e-6 /* slopes under the multipliers, which are known to sqrt of rounding */

/* ---- long steps (large/) ---------------------------------------------------------------------------- */

#define RF_TOL_STRIDE 6e-5 /* turn of a unit off the continuation of its last step */
#define RF_TOL_STRIDE_RIDGE                                                                                  \
  1e-5 /* a step ends at most this far behind its first ridge: a fifth of what a step may be off */
#define RF_TOL_STRIDE_MARGIN 1e-7 /* margins that solve the equations of a step: weights to as much */
#define RF_TOL_STRIDE_ROUGH                                                                                  \
  1e-4 /* the same while kinks are looked for: slopes to as much, then once more exactly */
#define RF_TOL_STRIDE_ROUNDING 1e-7 /* of the largest margin, in units of the line before: a hundred ulps */
#define RF_TOL_TAIL            40.0 /* margin from which every loss is exponential to rounding */
#define RF_TOL_STRIDE_ENTRY    14.0 /* margin over the least, ln 1e6, at which a sample comes to have weight */
#define RF_TOL_STRIDE_STAY     0.1  /* part of a step that a crossing may be misplaced by */
#define RF_TOL_STRIDE_FAR      1e-6 /* of the largest margin: what rounding leaves where steps are long */
#define RF_TOL_STRIDE_DRIFT                                                                                  \
  0.3                             /* change of ln p up to which the last step is continued for a first guess \
                                   */
#define RF_TOL_STRIDE_LONGEST 1.0 /* growth of the network per step: what is unstable still grows in BDF2 */
#define RF_TOL_STRIDE_LONGER                                                                                 \
  1.25 /* where nothing is unstable it grows by this per step, to RF_TOL_LONGEST, */
#define RF_TOL_STRIDE_SHORTER 0.25  /* and shrinks by this where a side changes */
#define RF_TOL_STRIDE_MINOR   1e-9  /* p of samples whose margins need not be solved for */
#define RF_TOL_STRIDE_WEIGHT  1e-15 /* push of a sample over that of all: below, it has no kink */
#define RF_TOL_STRIDE_SLOPE   1e-9  /* slopes beyond [leak,1], as RF_TOL_SLOPE: margins are solved to 1e-7 */
#define RF_TOL_STRIDE_SIDE    1e-13 /* as RF_TOL_PLANE */
#define RF_TOL_STRIDE_ON      1e-8  /* a unit this near to a hyperplane it was held on is still there */
#define RF_TOL_STRIDE_CROSSED                                                                                \
  300.0 /* crossings in long steps from which on some are in a wrong order: of ten random problems long      \
           steps decided all four with fewer, and one of the six with as many */
#define RF_TOL_STRIDE_SHARE 1e-4 /* of sum |a||w|: a unit that matters to the margins */

#define RF_TOL_WALK_RAY 1e-14 /* part of w across the field that is rounding */
#define RF_TOL_WALK     1e-3  /* weights of a step off the mean of its ends: second order, 1e-4 over a fit */
#define RF_TOL_WALK_AHEAD                                                                                    \
  2.5e-4 /* the same where the step is implicit: five times the error of the middle for the same distance */
#define RF_TOL_WALK_CLOCK 0.1 /* part of an error that only moves the clock: ln t to some 1e-3 */
#define RF_TOL_WALK_STIFF                                                                                    \
  0.5 /* step times the trace of K D (walk_ahead.c): continued weights are unstable where its norm is 1 */
#define RF_TOL_WALK_UNIT   1e-3 /* of the largest unit: a smaller one is not stiff before others are */
#define RF_TOL_WALK_NEWTON 3.0  /* margins in one step of Newton's method: weights change by e^3 at most */
#define RF_TOL_WALK_CHORD  0.3  /* below, the matrix of the step before will do */
#define RF_TOL_WALK_SOLVED 1e-4 /* margins after a step: weights to a tenth of their tolerance */
#define RF_TOL_WALK_CRAWL                                                                                    \
  2e-3 /* growth of the network in ten steps: a long step takes it on by ten times that */
#define RF_TOL_WALK_WEIGHT                                                                                   \
  1e-9 /* p of samples that are left out of the fit until they weigh more: thousands of them, 1e-5 */
#define RF_TOL_WALK_LEFT_OUT                                                                                 \
  1e-4 /* what they may weigh together before they are chosen anew, a tenth of a step */

/* ---- rows of different lengths (graded.c) ---- */

#define RF_TOL_ALIKE                                                                                         \
  1e3 /* longest row over the shortest: below, inputs w.x of 1e6 times the least margin keep seven digits */

#define RF_TOL_PLAIN 1e-2 /* margin that a unit can make, above which its coordinates are plain */
#define RF_TOL_CANCELS                                                                                       \
  10.0 /* largest margin possible over the least one, from which on coordinates are plain for rows that are  \
          alike, too: a step that turns units by delta moves a margin by this times delta^2 of itself */
#define RF_TOL_CANCELS_FROM 1e3 /* least margin for that: on the way there steps are short anyway */
#define RF_TOL_PLAIN_LEFT                                                                                    \
  0.25 /* of v along its start that a step leaves at least: it has not passed v = 0                          \
        */
#define RF_TOL_COLLAPSED     1e-6 /* ratio of a group to its state over that of others: on its way to nothing */
#define RF_TOL_MARGIN_STEP   1e3 /* of the tolerance, error of a margin in an implicit step: 1e-5 in a fit, */
#define RF_TOL_MARGIN_LARGE  1e4 /* the same with many unknowns: weights to 1e-4, */
#define RF_TOL_MARGIN_BLUR   20.0  /* or this times its rounding */
#define RF_TOL_MARGIN_FINE   1e-7  /* the same in an explicit step, coordinate by coordinate, */
#define RF_TOL_MARGIN_LEAST  1e-15 /* but not below rounding */
#define RF_TOL_PLAIN_BALANCE 1e-3  /* |a||w| of a unit far from w = 0 and from a = 0 */
#define RF_TOL_BLUR                                                                                          \
  1e-3 /* rounding of margins up to which the network may grow: weights follow to as much                    \
        */
#define RF_TOL_MARGIN_FAR 50.0  /* over the least margin, and times its rounding: a sample without weight */
#define RF_TOL_CARRIED    1e-9  /* rounding of margins by the weights from which on the state carries them */
#define RF_TOL_ROUNDING   1e-15 /* of the terms of a margin: some units in the last place */
#define RF_TOL_ANSWER                                                                                        \
  1e-6 /* a margin that answers slower than this, relative to the growth, is not stiff                       \
        */

/* ---- found while following ------------------------------------------------------------------------- */

#define RF_TOL_LINE        1e-14  /* a sample off the line of another by this of its length lies on it */
#define RF_TOL_LINE_COSINE 1e-15  /* cosines this close to 1 are those of one line: eight roundings */
#define RF_TOL_EXACT       1e-280 /* products whose rounding errors are numbers */
#define RF_TOL_DIVISOR     1e-300 /* divisors: smaller numbers have lost digits */
#define RF_TOL_CANCELLED   1e-14  /* of a sum, relative to its terms: what is left is rounding */
#define RF_TOL_IN_SPAN                                                                                       \
  1e-6 /* part of a sample across a span by which it is not in it: ten times sqrt(RF_TOL_CANCELLED) */
#define RF_TOL_INDEPENDENT     1e-10 /* part of a sample across others below which it depends on them */
#define RF_TOL_SLOPE_END       1e-12 /* distance of a slope from its ends at which it is there */
#define RF_TOL_LATER           1e-6 /* a moment later, in growth times: the side taken shows, nothing else does */
#define RF_TOL_LOG_NORM        1e-3 /* log-norms of 1e5 and more are known relatively, small ones absolutely */
#define RF_TOL_RATE            1e-12  /* least rate of the error's scale in an implicit step */
#define RF_TOL_RATE_FROZEN     1e-290 /* with a frozen layer steps grow like tau: no such rate */
#define RF_TOL_BEND            2e-2 /* turn of a unit up to which its field counts as one in a step of all */
#define RF_TOL_SETTLED         3e-7 /* weights, paths and states of a step agree: below the error of a step */
#define RF_TOL_WEIGHTLESS_STEP 1e-12  /* samples whose margins do not decide about a step */
#define RF_TOL_NO_RATE         1e-280 /* slower than this is not at all in double precision */
#define RF_TOL_MEAN_SERIES     1e-6   /* (e^x - 1)/x by its series: the next term is rounding */
#define RF_TOL_BRACKET_END     1e-3   /* a root finder stays this far from the ends of its bracket */
#define RF_TOL_BALANCED        1e-12  /* a^2 - |w|^2 relative to a^2: drawn starts are balanced to rounding */
#define RF_TOL_NEARLY_BALANCED 0.1    /* graded: a^2 - |w|^2 where a is known from it to the last digit */
#define RF_TOL_POWER           1e-13  /* two values of a power iteration agree */
#define RF_TOL_MONOTONE        1e-7 /* of the smoothed margin: larger falls are faults, smaller ones are error */
#define RF_TOL_ENERGY_PIECE    2.0 /* change of a margin on a piece of five Gauss points: right to some 1e-9 */
#define RF_TOL_ENERGY_PART                                                                                   \
  (-23.0) /* ln of the part in the loss, 1e-10, below which a sample brings nothing */
#define RF_TOL_ENERGY_SHORTEST 1e-3 /* of a step: no shorter piece */
#define RF_TOL_ENERGY_FLOOR    1e-3 /* drops of the loss below this are judged absolutely */

#endif
