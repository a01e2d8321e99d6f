/* Every tolerance of certify, in one place. One number, X = tol.kkt (`certify --tol X`, default 1e-8), is the
 * relative size below which a difference counts as none; the others move with it. */
#ifndef RF_CERTIFY_TOLERANCES_H
#define RF_CERTIFY_TOLERANCES_H

/* |w.x| <= X |w||x| is a kink: a network known to X knows its inputs to X |w||x| and no better */
#define RF_CERTIFY_KINK 1.0
/* but an input that makes 1e4 X of the least margin is none: a row that long shows, by its margin, that the
 * network is known better than to X; unless it is what rounding of the weights leaves (below), however much
 * that makes */
#define RF_CERTIFY_KINK_SHARE 1e4
/* y f(x) <= 1 + X is tight: margins of such a network are known to X as well */
#define RF_CERTIFY_TIGHT 1.0
/* |w||a| <= 1e-4 X |theta|^2 is a zero neuron: it moves no margin by as much as X, even 10,000 of them
 * together */
#define RF_CERTIFY_ZERO 1e-4
/* a branch of slopes fails when its residual is above 4 X: the point itself passed at X, and the branch
 * differs by kinks of X */
#define RF_CERTIFY_FAILING 4.0
/* a layer is optimal when its gap is at most 10 X: both sides of the difference carry a rounding of X */
#define RF_CERTIFY_LAYER_GAP 10.0
/* of |a||w||x|, summed over neurons: what rounding of the weights leaves of a margin, some units in the last
 * place; and the part of the least margin from which that counts, far below every X in use */
#define RF_CERTIFY_ROUNDING 1e-15
#define RF_CERTIFY_ROUNDED  1e-10
/* a drop of |theta|^2 that rounding cannot fake: evaluated in extended precision, 100 times its error at 1000
 * terms */
#define RF_CERTIFY_DROP 1e-13
/* neurons whose unit vectors agree to this are proportional: a few units in the last place */
#define RF_CERTIFY_PROPORTIONAL 1e-15
/* a KKT point to be proved: neurons whose unit vectors agree to this after Newton's method are one group; a
 * wrong guess costs distance, never truth */
#define RF_CERTIFY_SAME_GROUP 1e-7
/* how nearly tight samples may count as tight when a witness is looked for, far from a KKT point: a ladder,
 * no decision */
#define RF_CERTIFY_NEARLY                                                                                    \
  { 0, 1e-6, 1e-3, 0.03, 0.3 }
/* nearest KKT point: a slope this far (of 1 - leak) inside (leak, 1) pins its input to 0; a slope at an end
 * does not */
#define RF_CERTIFY_PINNED 1e-6
/* nearest KKT point: residuals that Newton's method must reach, far above its rounding and far below any X in
 * use */
#define RF_CERTIFY_POLISHED 1e-10
/* nearest KKT point: a pattern guessed from what is within eta is believed when its residual and the point
 * are within 1000 eta
 */
#define RF_CERTIFY_STRAY 1e3
/* layered networks: slopes at kinks are looked for until the residual is below this share of X */
#define RF_CERTIFY_SLOPES 1e-2
/* layered networks: cosine of a column with the residual that is no rounding; where none is larger, the
 * square of the residual is that times the residual itself */
#define RF_CERTIFY_GAIN 1e-12
/* and duals that are rounding: a residual is the root of what they leave */
#define RF_CERTIFY_DUAL 1e-16
/* the search of the optimum gets at least this many seconds of the caller's time */
#define RF_CERTIFY_LEAST_TIME 1e-3
/* distance to the decision boundary: a line that differs from its unit by less than this share of the
 * network's size is the unit; rounding of some hundred terms */
#define RF_CERTIFY_LINES 1e-13
/* a least-distance problem without a point: its residual vanishes to rounding */
#define RF_CERTIFY_EMPTY 1e-13
/* a flip is looked at this share behind the root, where rounding cannot undo it */
#define RF_CERTIFY_PAST 1e-9
/* nodes that are looked at for one sample before its distance is only bracketed: about a second */
#define RF_CERTIFY_NODES 20000

#endif
