/* Every tolerance of the room, with a line of why. Those of the first group bound rounding errors and are
 * derived (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., ch. 3: a sum of n terms in any
 * order has an error of at most (n-1)u/(1-(n-1)u) times the sum of their sizes, u = 2^-53); the others only
 * steer: what they decide is judged again by a bound of the first kind. */
#ifndef RF_OPTIMUM_TOLERANCES_H
#define RF_OPTIMUM_TOLERANCES_H

#include <float.h>

/* ---- rounding --------------------------------------------------------------------------------- */

/* Unit roundoff u of double, a little above, so that terms of order u^2 are covered too. */
static const double rf_unit_roundoff = 0.5001 * DBL_EPSILON;
/* The same of RfWide (113 bits). */
static const double rf_wide_roundoff = 0x1.01p-113;
/* Factor on sums of lengths: rows are units up to a few u, lengths and sums are computed. */
static const double rf_length_slack = 1.0001;
/* Error of atan2, cos, sin and their arguments on an arc, in units of DBL_EPSILON; generous (they have 1
 * ulp).
 */
static const double rf_plane_ulps = 32;
/* The same as an angle, for the order of kinks; generous. */
static const double rf_plane_angle = 1e-14;

/* Products with 113 bits above which doubles are tried first: about a second of them. */
static const double rf_wide_work = 1e7;
/* What doubles may cost of the gap that counts as proved, where 113 bits would take long. */
static const double rf_lost_share = 0.01;

/* ---- the search ------------------------------------------------------------------------------- */

/* M(lambda) <= 1 + this is asked of the search: far below every gap, far above the rounding of leaves. */
static const double rf_norm_slack = 1e-12;
/* M(lambda) <= 1 + this is as good as asked: no pattern is missing. */
static const double rf_norm_enough = 1e-11;
/* A node whose chord constants sum to less is a leaf: splitting it cannot move the bound further. */
static const double rf_leaf_constant = 1e-13;
/* Local maxima above 1 + this are missing patterns. */
static const double rf_missing_pattern = 1e-9;
/* A scaled target at which values that are zero to rounding stop being searched, times sum(lambda). */
static const double rf_zero_value = 1e-14;
/* Rays from rows with a smaller singular value are too uncertain to be used, and ranges by cones that are
 * wider than this cosine say little. */
static const double rf_ray_singular = 1e-6, rf_ray_cosine = 0.3;
/* Ranges whose chord constant is more than this share of the largest possible are wide. */
static const double rf_wide_share = 0.3;
/* Kept below the target by the coupled bound, relatively: m^2 u times a condition of 20, for m up to 500. */
static const double rf_coupled_slack = 1e-9;
/* The share of target - 1 that the even structure may cost (search.c). */
static const double rf_even_share = 0.75;
/* Nodes per random climb with both signs before a longer search: a climb costs about 30 nodes, so that all of
 * them take a tenth of what was searched. */
static const long rf_climb_nodes = 100;
/* Growth of the value below which a climb stops. */
static const double rf_climb_growth = 1e-14;

/* ---- the reduction ---------------------------------------------------------------------------- */

/* Singular values below this times max(n,d) times the largest are rounding; what is dropped enters the bound.
 */
static const double rf_rank_roundoff = 4 * DBL_EPSILON;
/* Keys |x.probe| of rows on one line differ by less, times d + 1; candidates are compared exactly. */
static const double rf_line_key = 1e-13;

/* ---- reports ---------------------------------------------------------------------------------- */

/* Products of the master after which a run is long and shows bounds on the way: about half a second. Counted,
 * as a clock would let the same question end with other digits on a slow machine. */
static const double rf_long_work = 1e9;

/* Seconds between two records of one search: an eye sees no more. */
static const double rf_beat_seconds = 0.25;

/* ---- bounded least squares -------------------------------------------------------------------- */

/* A free row nearer to the span of the others, relative to its length, adds no direction. */
static const double rf_dependent_row = 1e-9;
/* Gradient entries below this times |res|, or below the noise, are zero. */
static const double rf_box_gradient = 2e-15;
/* Noise of res: this times the sum of what is added. */
static const double rf_box_noise = 4e-16;
/* |res| that falls by less than this, relatively, has stalled. */
static const double rf_box_stall = 1e-15;

/* ---- networks and polish ---------------------------------------------------------------------- */

/* Unit directions closer than this are one neuron. */
static const double rf_same_neuron = 1e-13;
/* The same while patterns are still those of an interior point. */
static const double rf_same_pattern = 1e-5;
/* Sizes below this share of their sum are zero. */
static const double rf_zero_size = 1e-15;
/* Pivots below this share of the first one: columns are dependent (Caratheodory reduction). */
static const double rf_null_pivot = 1e-10;
/* Margins below 1 + this are tight. */
static const double rf_tight_margin = 1e-9;
/* Rank of the least-squares problems for sizes, interpolations and Newton steps. */
static const double rf_refit_rank = 1e-13, rf_fit_rank = 1e-14, rf_newton_rank = 1e-12;
/* A multiplier or size below minus this share of the largest is negative, hence a wrong guess. */
static const double rf_negative = 1e-12;
/* Newton's residual: done, and believed (plus what the sizes of the terms allow). */
static const double rf_newton_done = 2e-16, rf_newton_believed = 1e-9, rf_newton_noise = 1e-16;
/* Gaps up to this may be rounding alone: the multipliers are tried on the caller's rows. */
static const double rf_rescue_gap = 1e-3;
/* Margins lost to rounding that are worth mending with extra neurons. */
static const double rf_mend_worth = 1e-10;
/* A polished network may be worse by this much: its multipliers are better. */
static const double rf_polish_worse = 1e-9;

/* ---- proof files ------------------------------------------------------------------------------ */

/* tau above what the search proved, tried in turn while a node cannot be closed: each costs that many digits
 * of the lower bound, nothing else. */
static const double rf_proof_slack[] = {2e-11, 1e-9, 4e-9, 1e-7, 1e-5, 1e-3};
/* A bracket of a linear margin wider than this is written again from the exact solution. */
static const double rf_proof_wide = 1e-12;
/* Room below tau that allows numbers of 12, 20 and 30 bits in a closing line. */
static const double rf_proof_room[] = {1e-3, 1e-5, 1e-8};
/* Sines of caps below this: the best multiplier is not resolved, any is valid. */
static const double rf_cap_sine = 1e-7;

/* A range that ends nearer to zero on one side (rows have length 1/2 to 1) is that side, which this much of a
 * cap shows exactly; a power of two. */
static const double rf_flat_range = 1e-9, rf_flat_share = 0x1p-24;

/* ---- the linear program ----------------------------------------------------------------------- */

/* Products of one loop from which on threads share it: about what waking them costs. */
static const double rf_wake_work = 1e4;

/* First bound of the multipliers (rows are units, the largest b is 1). */
static const double rf_first_bound = 0.05;
/* Pivots below this share of the largest entry are not taken; ratios may differ by the second. */
static const double rf_pivot_share = 1e-9, rf_ratio_slack = 1e-11;
/* Prices below this are zero; multipliers are not negative, and not above their bound, by more than the
 * second times that bound. */
static const double rf_price_slack = 1e-10, rf_multiplier_slack = 1e-13;
/* Rounding of a price, per unit of the largest multiplier and root of the number of terms. */
static const double rf_price_noise = 1e-16;
/* Local maxima above 1 + this are missing columns: the gap of the program is about that. */
static const double rf_missing_column = 2e-10;
/* Directions of one round that are closer are one column. */
static const double rf_same_column = 1e-9;
/* Artificials below this share of b are rounding. */
static const double rf_artificial_left = 1e-12;

/* ---- pattern generation ----------------------------------------------------------------------- */

/* Relative gaps of the master: polish below the first, prove without a polish below the second, and give up
 * below the third. */
static const double rf_goal_polish = 1e-5, rf_goal_final = 1e-9, rf_goal_last = 1e-11;
/* The search stops at this share of the gap that counts as proved, which leaves room for the rounding that is
 * counted at the end; aims above the second one shorten the proof itself. */
static const double rf_aim_share = 0.25, rf_loose_aim = 1e-7;
/* Margins of a part that are below 1 by more than this need their sample. */
static const double rf_margin_short = 1e-12;
/* Multipliers of this sum without a network: look whether none exists, letting them grow to the second, and
 * suspect it when the third is a lower bound of the objective. */
static const double rf_unbounded_sum = 1e4, rf_unbounded_most = 1e12, rf_unbounded_value = 1e6;
/* A sample this near to the cone of others, relative to its length, may lie in it: decided exactly. */
static const double rf_cone_residual = 1e-9;
/* Ridges tried in the normal equations, smallest and largest; the step is a descent direction with any. */
static const double rf_ridge_first = 1e-15, rf_ridge_last = 1e-6;
/* Multipliers are kept within this factor of the central path. */
static const double rf_central_factor = 1e4;
/* Noise of the barrier in Armijo's rule, and the shortest step. */
static const double rf_armijo_noise = 1e-10, rf_shortest_step = 1e-9;

#endif
