/* Inside the flow room: what its files share. */
#ifndef RELUFLOW_FLOW_INTERNAL_H
#define RELUFLOW_FLOW_INTERNAL_H

#include "flow/fit/drift.h"
#include "flow/flow.h"
#include "la/la.h"

/* ---- sides.c: which way a neuron leaves a point on hyperplanes ----------------------------- */

enum { RF_MOST_OPTIONS = 16 };

/* What the fit needs of the continuations of a neuron on n_on hyperplanes; the caller's room. */
typedef struct RfSides {
  int count;     /* how many were found; >1 is a branching point, 0 does not happen for finite input */
  int8_t *sign;  /* n_on: the side it goes to in the one taken, 0 = it slides */
  double *slope; /* n_on: s_i of that one */
  double *g;     /* d: its field; the neuron moves with dw = a g */
  int8_t *found; /* RF_MOST_OPTIONS rows of n_on: the continuations as they were found */
} RfSides;

/* Finds them under any weights (continuations.c) and takes the one with the faster field, among equally fast
 * ones the first. base (d) = sum over the other samples of c_i s_i x_i; sign_a = +1 or -1. */
RfStatus rf_flow_sides(RfContext *context, RfSides *sides, const RfAlignField *field, const double *base,
                       const rf_index *on, rf_index n_on, int sign_a);

/* ---- parallel.c: samples on one line ------------------------------------------------------- */

/* x and other lie on one line. */
bool rf_flow_parallel(const double *x, const double *other, rf_index d);
/* line (n) = one sample of its line, the same for all of them; along (n): its signed length in the direction
 * of that one. */
RfStatus rf_flow_lines(RfContext *context, rf_index *line, double *along, const double *X, rf_index n,
                       rf_index d);
/* Samples r v of weights c on one line as one sample v, see parallel.c. */
typedef struct RfMerged {
  double weight, size; /* sum c |r|, and of the sizes of its terms */
  double constant;     /* what they push along v on either side, beside the merged sample */
} RfMerged;

void rf_merged_add(RfMerged *merged, double c, double r, double leak);
/* Its weight, 0 where only rounding is left of it. */
double rf_merged_weight(const RfMerged *merged);

/* ---- system.c: the equations in the clock dtau = S dt -------------------------------------- */

/* A unit is one neuron, or several that move together. Its state: w (d), a with |w|^2+a^2 = 1, and rho = ln
 * of its norm; a balanced unit keeps a = +-1/sqrt(2). With g = sum_i p_i y_i s_i x_i (projected on the
 * hyperplanes it slides on) dw = a g - 2a(g.w) w,  da = (g.w)(1 - 2a^2),  drho = 2a(g.w) - mu. With a frozen
 * second layer a is the true weight, e^rho w the true vector and rho one and the same gauge for all units, in
 * which the longest w has length about 1: dw = a e^-rho g,  da = 0,  drho = -mu. These are no polar
 * coordinates, so a unit may pass through w = 0. */
typedef struct RfSlide {
  rf_index n_on;     /* samples on whose hyperplanes the unit slides; 0 = none */
  rf_index *on;      /* those samples; the ones on one line share their hyperplane, and its slope */
  rf_index *plane;   /* n_on: the hyperplane of each */
  rf_index n_planes; /* hyperplanes */
  rf_index *first;   /* n_planes: one of its samples, whose direction is the normal */
  rf_index rank;
  double *basis; /* rank rows of d, orthonormal, span of the normals */
  double *pinv;  /* n_planes rows of d: coefficients of the projection on the span, in terms of the normals */
  double *pull;  /* n_planes rows of n: those times the samples; NULL where there are many */
  double *graded; /* with RfSystem.grade: rank rows of d, orthonormal, span of the normals over the grade */
} RfSlide;

typedef struct RfSystem {
  RfContext *context;
  const RfFlowProblem *problem;
  rf_index n, d, m;
  rf_index units;      /* live units */
  double *y;           /* units*(d+2)+1: W (units x d) | a | rho | time since the start of the step times
                          exp(log_S_step); then the residues */
  rf_index residues;   /* n for rows of very different lengths, 0 otherwise: margins beside what the weights
                          give, which know them to rounding of huge terms (margins.c) */
  const double *given; /* n: margins of the next rf_system_fields instead of those at y, NULL = none */
  double *kept;        /* 3 n: scratch of those who keep margins */
  bool by_margins;     /* implicit steps are solved in margins */
  int8_t *sigma;       /* units x n */
  double *slope;       /* units x n: phi' by sigma, 0 where it slides, 0 for the dead */
  uint8_t *balanced;   /* per unit */
  uint8_t *dead;       /* per unit: moves no more (removed from the arrays now and then) */
  RfSlide *slide;      /* per unit */
  double *clear; /* per unit: no hyperplane within this of clear_w (d each), which has its pattern; <= 0:
                    unknown */
  double *clear_w;
  /* classes.c: units of one pattern */
  rf_index classes;
  bool classes_known;          /* the four arrays belong to the patterns as they are */
  uint64_t *hash;              /* per unit, of its pattern */
  rf_index *class_of, *leader; /* per unit: its class; per class: its first unit */
  rf_index *table;             /* scratch */
  /* neurons */
  rf_index *unit_of; /* m: unit, or -1 when it rests */
  rf_index *only;    /* per unit: its neuron when it has just one, -1 otherwise */
  double *offset;    /* m: rho of the neuron minus rho of its unit */
  double *apart;     /* apart.c: m rows of 2d+1, NULL = not kept: w of the neuron minus that of its unit, the
                        unit's w and the neuron's log-norm when that was so */
  double *stretch;   /* layer.c: m: distances across a ridge are this many times what they are, 0 = not */
  double *rest;      /* m rows of d+2: w, a, rho of a resting (dead or zero) neuron */
  uint8_t *is_dead;  /* m: dead (leak 0, no active sample) */
  int8_t *flip;      /* m: -1 where (w,a) was replaced by (-w,-a), linear nets only */
  double known;      /* relative: what steps leave the weights known to, rounding at least */
  double *conserved; /* m: (a^2-|w|^2)/|(w,a)|^2 at the start, for the monitor; and rho at the start */
  /* clocks */
  double tau, log_t, log_S_step; /* log_t of the summed loss */
  double mu, kappa;              /* drift taken from every rho, and its integral */
  RfLift lift;                   /* drift.h */
  /* work, valid after an evaluation */
  double *H, *M, *g; /* units x n: w.x (after rf_system_planes) ; classes x n ; classes x d */
  double *V;         /* classes x d: sum of a w e^{2 rho} over the class */
  uint8_t *seen;     /* n: some live unit has it on its active side; the others exert no force */
  rf_index n_seen;
  const uint8_t *muted;          /* units left out of the margins, NULL = none; see local.c */
  const double *extra;           /* n: outputs that take their place */
  bool planes_known;             /* H belongs to the last rf_system_fields */
  double *q, *p, *c, *curvature; /* n */
  double *x_norm;                /* n */
  bool spread;   /* rows of very different lengths: groups and sides of a limit are judged by margins */
  double *grade; /* d, for rows of very different lengths (graded.c): the largest entry of each
                    coordinate; NULL otherwise */
  double *slide_factor;  /* n + d: scratch of rf_system_slide_slopes */
  rf_index *line;        /* n: a sample that stands for its line (parallel.c), */
  double *along;         /* n: and its signed length in the direction of that one */
  double log_S, q_least; /* ln S, smallest margin */
  rf_index evaluations;
} RfSystem;

RfStatus rf_system_new(RfContext *context, RfSystem *system, const RfFlowProblem *problem);
void rf_system_free(RfSystem *system);
/* Place of the clock in y, and of the residues behind it. */
static inline rf_index rf_system_clock(const RfSystem *system) { return system->units * (system->d + 2); }
static inline rf_index rf_system_size(const RfSystem *system) {
  return rf_system_clock(system) + 1 + system->residues;
}
static inline double *rf_system_a(const RfSystem *system, double *y) { return y + system->units * system->d; }
static inline double *rf_system_rho(const RfSystem *system, double *y) {
  return y + system->units * (system->d + 1);
}
/* Margins, weights and fields at y: fills q, p, c, log_S, g. */
void rf_system_fields(RfSystem *system, const double *y);
/* H (rows x n) = W X^T. */
void rf_flow_planes_of(double *H, const double *W, const RfFlowProblem *problem, rf_index rows);
/* H at the y of the last rf_system_fields. */
void rf_system_planes(RfSystem *system, const double *y);
/* Leak 0 and nothing is seen on these sides, nor lies the unit on the hyperplane of two mirrored samples, one
 * of which is seen from either side: it stays for ever. */
bool rf_system_unseen(const RfSystem *system, const int8_t *sigma);
/* Field of a unit: that of its class. */
static inline double *rf_system_g(const RfSystem *system, rf_index unit) {
  return system->g + system->class_of[unit] * system->d;
}
/* Sorts the units into classes; called by rf_system_fields after patterns have changed. */
void rf_system_classes(RfSystem *system);
uint64_t rf_pattern_hash(const int8_t *sigma, rf_index n);
/* f = dy/dtau at y. */
void rf_system_rhs(RfSystem *system, const double *y, double *f);
/* Factor e^{..} that multiplies a phi(w.x) in the output: e^{2 rho}, e^{rho} with a frozen second layer. */
double rf_system_amplitude(const RfSystem *system, double rho);
/* Frozen second layer: how fast the fastest unit moves in the gauge per unit of field, the natural unit of
 * 1/tau. */
double rf_system_gauge_rate(const RfSystem *system);
/* margins.c: the residues at y become those with which the margins there are q (n); the margins of the last
 * fields are noted, and the residues those with which they are these, where they moved by rounding of their
 * terms; reads margins at y (NULL: nobody keeps them) before a move that leaves them; samples far from having
 * weight have none; terms that a margin is the sum of. */
void rf_system_keep(RfSystem *system, double *y, const double *q);
void rf_system_note(RfSystem *system);
void rf_system_keep_rounding(RfSystem *system, double *y);
const double *rf_system_hold(RfSystem *system, const double *y);
void rf_system_forget(RfSystem *system);
double rf_system_terms(const RfSystem *system, rf_index i);
/* Restores |(w,a)| = 1 (and a = +-1/sqrt 2 of the balanced) in y; with a frozen second layer the gauge. */
void rf_system_normalise(RfSystem *system, double *y);
/* Rebuilds slope and slide of a unit from sigma; marks it dead when leak = 0 and no sample is active. */
RfStatus rf_system_refresh_unit(RfSystem *system, rf_index unit);
/* The slopes of the hyperplanes a unit slides on (n_planes), at the last rf_system_fields: that of the
 * samples in the direction of the normal; infinite, by the side the unit is driven to, where there is no
 * kink. */
void rf_system_slide_slopes(const RfSystem *system, rf_index unit, double *slopes);
/* When the normals it slides on are dependent their slopes are not unique: gap = 0 when some slopes in
 * [leak,1] hold the unit there; otherwise gap > 0 (relative) and residual (d) = the smallest field that pulls
 * it off. averaged: those of ridges, too, as at large margins, where the weights answer (corner.c). */
static inline bool rf_slide_dependent(const RfSlide *slide) { return slide->n_planes > slide->rank; }
RfStatus rf_system_slide_gap(const RfSystem *system, rf_index unit, bool averaged, double *gap,
                             double *residual);
void rf_slide_face_walls(const RfSystem *system, RfSlide *slide); /* when others are seen */
/* Projects a field on the hyperplanes the unit slides on. */
void rf_system_project(const RfSystem *system, rf_index unit, double *g);
/* Puts w, which is there to rounding, on these hyperplanes; and on that of sample i. With graded coordinates
 * the correction is one of the coordinates in which the data are short, so that no input of a long row moves.
 */
void rf_system_put_on(const RfSystem *system, rf_index unit, double *w);
void rf_system_meet(const RfSystem *system, rf_index i, double *w);
/* Drops dead units from the arrays; their neurons rest. */
RfStatus rf_system_compress(RfSystem *system);
/* apart.c: what merging leaves out, so that units may be parted again. Asks for it to be kept; brings it, and
 * the shares, up to date; neuron k, of a unit with direction w, by itself (d); the largest of a unit's. */
RfStatus rf_apart_keep(RfSystem *system);
RfStatus rf_apart_carry(RfSystem *system);
void rf_apart_of(const RfSystem *system, rf_index k, double log_norm, const double *w, double *apart);
double rf_apart_spread(const RfSystem *system, rf_index unit);
/* The unit has come to hyperplanes that hold it: what its neurons were apart across them is gone, since each
 * is held there, sooner or later, and what pushes them across it has no other part. */
RfStatus rf_apart_slide(RfSystem *system, rf_index unit);
/* Every neuron of the unit is a unit again. */
RfStatus rf_system_part(RfSystem *system, rf_index unit);
/* merge.c: joins units that move together (fields of the system at y must be current). */
RfStatus rf_system_merge(RfSystem *system, rf_index *merged, double together);
/* After unit_of changed. */
void rf_system_count_members(RfSystem *system);
/* w, a (joint norm 1; frozen second layer: true a, w in the gauge) and rho of neuron k. */
void rf_system_neuron(const RfSystem *system, rf_index k, double *w, double *a, double *rho);
double rf_system_q_min(const RfSystem *system);    /* of the seen samples, at the last rf_system_fields */
double rf_system_log_size(const RfSystem *system); /* ln of the size of the network, without the dead */
double rf_system_reach(const RfSystem *system);    /* sum p_i |x_i| of the seen samples */
/* Rows of very different lengths: rounding of the largest margin that carries weight, by the terms that it is
 * the sum of; 0 for rows that are alike. */
double rf_system_blur(const RfSystem *system);
/* How fast the margin of a sample that pushes with weight p answers, relative to the growth of the network: p
 * |x|^2 times this. */
double rf_system_answer(const RfSystem *system);
/* The largest margin that units of these sizes could give: they may cancel each other. */
double rf_system_possible_margin(const RfSystem *system);

/* ---- explicit.c: order 8, dense output of order 7 ------------------------------------------ */

enum { RF_EXPLICIT_STAGES = 16, RF_DENSE_TERMS = 8 };

typedef struct RfExplicit {
  rf_index size;
  bool low;                          /* the caller's: the step is of order 5 instead of 8 */
  double *stage[RF_EXPLICIT_STAGES]; /* stage[0] = f at the start of the step, stage[12] = f at its end */
  double *point, *end, *memory;      /* end: y at the end of the step */
  double *dense[RF_DENSE_TERMS];
} RfExplicit;

RfStatus rf_explicit_new(RfContext *context, RfExplicit *method, rf_index size);
void rf_explicit_free(RfExplicit *method);
/* One step of length h from system->y with stage[0] set; returns the error divided by the tolerance, NaN when
 * the caller wants to stop. Fills `end`. */
double rf_explicit_try(RfExplicit *method, RfSystem *system, double h, double tol);
/* f at the end of an accepted step, into stage[12]; leaves the fields of the system there. */
void rf_explicit_end(RfExplicit *method, RfSystem *system);
/* After rf_explicit_end: does stability, not accuracy, limit the step? */
bool rf_explicit_stiff(const RfExplicit *method, const RfSystem *system, double h);
/* Prepares dense output on the step just taken; then y at the fraction s of the step. */
void rf_explicit_dense(RfExplicit *method, RfSystem *system, double h);
void rf_explicit_at(const RfExplicit *method, double *y, double s, rf_index size);
/* The interpolant of one component (or of a fixed linear combination of them) from its eight terms. */
double rf_dense_value(const double *terms, double s);

/* ---- implicit.c: linearly implicit method of order 4, for stiff stretches and huge margins ---- */

typedef struct RfImplicit RfImplicit;

RfStatus rf_implicit_new(RfContext *context, RfImplicit **method, rf_index units, rf_index n, rf_index d);
void rf_implicit_free(RfImplicit *method);
/* Linearises at system->y (its fields stay there), f = dy/dtau; in plain coordinates (plain.c)? */
RfStatus rf_implicit_prepare(RfImplicit *method, RfSystem *system, double *f);
bool rf_implicit_plain(const RfImplicit *method);
/* One step of length h from the prepared point: y_end, and the error divided by the tolerance (infinite when
 * the linear system is singular or something is not finite). */
RfStatus rf_implicit_try(RfImplicit *method, RfSystem *system, double *y_end, double *error, double h,
                         double tol);

/* ---- run.c, events.c: stepping with events ------------------------------------------------- */

typedef enum RfHitKind { RF_HIT_PLANE = 0, RF_HIT_SLOPE = 1, RF_HIT_SIGN = 2, RF_HIT_UNTIL = 3 } RfHitKind;

/* Something that must not pass unnoticed inside a step: w.x changes sign, the slope of a slide leaves
 * [leak,1], or a changes sign while sliding. */
typedef struct RfHit {
  rf_index unit, sample;
  RfHitKind kind;
  double at; /* fraction of the step; of a hit not located: 1, or where the way there looks lowest */
} RfHit;

/* Where the drivers are, so that a run can be taken up again. */
enum { RF_MARKS = 8 };
typedef struct RfPhase {
  int part;         /* 0 not started, 1 fit, 2 climbing to large margins, 3 scale frozen */
  rf_index steps;   /* of the part */
  double tau_event; /* tau of the last event */
  double best;      /* fit: ln L when it was last seen to fall by 1e-8; frozen: a distance before `last` */
  rf_index best_at; /* fit: step of that */
  double size;      /* ln of the size of the network; fit: last seen to change; frozen: at `best` */
  int round;        /* frozen: stretch */
  rf_index left;    /* frozen: steps left in it; 0 = to begin, -1 = only the polish */
  double last;      /* frozen: distance of the last polish */
  double growth;    /* frozen: of the network, at the start of the stretch */
  double reach;     /* frozen: growth that a long step may bring (large/) */
  int drifting;     /* frozen: steps of the stretch that moved the scale */
  int stalled;      /* frozen: polishes in a row at the same distance */
  int crawling;     /* fit: batches of steps in a row in which the network hardly grew */
  int high;         /* frozen: the larger scale, for good; above 1: ten times larger each */
  rf_index crossed; /* units that have changed a side in long steps, each time they did */
  double edge;      /* frozen: kappa up to which samples on the edge of sight are waited for, 0 = none */
  double fading[6]; /* frozen: units without a group: ln of their share, kappa then, looks; with ln q */
  double marks[RF_MARKS]; /* frozen: of the direction at the start of the stretch */
  double point[RF_MARKS]; /* frozen: of the last polished point */
} RfPhase;

/* How often a unit met a hyperplane lately, for the last few pairs. */
enum { RF_REPEATS = 32 };
typedef struct RfRepeats {
  rf_index unit[RF_REPEATS], sample[RF_REPEATS];
  int count[RF_REPEATS], used, next;
} RfRepeats;

/* A unit held on a ridge (corner.c): steps left for the weight of the sample to settle. */
typedef struct RfHeld {
  rf_index unit, sample;
  int steps;
} RfHeld;

typedef struct RfRun {
  RfContext *context;
  const RfFlowProblem *problem;
  const RfFlowSettings *settings;
  RfSystem system;
  RfExplicit explicit_method;
  RfImplicit *implicit_method;
  const RfAlignment *aligned;          /* of the start, where it is known: jump.c */
  const struct RfWalkHalfway *halfway; /* neurons of it shortly before the fit begins; NULL without */
  struct RfWalkFit *walk_fit;          /* large/walk_fit.c: explicit steps on thousands of samples */
  struct RfStride *stride;             /* large/stride.c: takes its place in large networks */
  double stride_tolerance;             /* relative to its own */
  int stride_rest;                     /* steps to be taken without it */
  bool implicit;                       /* which of the two steps */
  bool fresh;                          /* f belongs to system.y */
  double h, tol, h_low, gap, tau_cut;  /* next step, tolerance; of order 5; time between events, the last */
  double tol_implicit;
  bool by_steps;           /* events by steps that end there, not by dense output */
  double together;         /* largest difference of directions that are merged */
  double q_frozen, q_slow; /* margins where the scale is frozen: at first and in the end, in between */
  double *f, *y_end;
  /* planes.c: of the units looked at on this step, w.x at its end and its derivative at both ends */
  rf_index n_rows, *row_unit;
  double *H1, *Hd0, *Hd1;
  double *chosen; /* units x d: scratch */
  RfHit *hits;
  rf_index n_hits, cap_hits;
  double plane_slack; /* |w.x|/|x| that is rounding on the step at hand */
  bool ends_only;     /* only the end of the step is looked at, not the way there */
  bool recording;     /* events are logged */
  RfFlowEvent *events;
  rf_index n_events, cap_events;
  bool branched;          /* a branching point was met */
  RfFlowBranch *branches; /* with settings.choices */
  rf_index n_branches, cap_branches;
  int stuck;         /* events in a row without progress */
  bool may_give_up;  /* long steps with many crossings inside: the flow is followed event by event then */
  bool still;        /* the event at hand is one, */
  double *c_ahead;   /* n: and these are the weights a moment later */
  RfRepeats repeats; /* of the same event in short succession */
  int care;          /* implicit steps are finer by this many powers of ten: events repeat themselves */
  RfHeld held;
  bool at_infinity; /* the implicit method stays */
  rf_index steps_explicit, steps_implicit, since_event, stiff_count;
  rf_index stiff_steps; /* explicit steps that stability limited, events in between or not */
  double h_stiff;       /* length of the last of them; 0: none */
  double step_taken;    /* length of the last step in tau */
  double escape_within; /* an escape after a longer time is none: the field is not known for so long */
  double wait_within;   /* nor is a longer time waited, where others still move */
  double escape_slack;  /* growth must exceed the network's by this to count as an escape */
  rf_index escapes;
  double seconds_fit, seconds_infinity;
  rf_index evaluations_fit; /* of the fit, where its end was kept */
  rf_index step_events;     /* events applied since the caller last looked */
  RfPhase phase;
  RfWay way;    /* drift.c */
  bool reached; /* settings->until holds */
  bool woken;   /* on the way to infinity a sample that nobody saw is seen again */
  int wakes;
  double told;        /* clock of the last rf_progress */
  int told_part;      /* and its part of the run */
  RfFlowTrace *trace; /* trace.c */
  rf_index n_trace, trace_stride, trace_count;
  double log_t_class[2]; /* first time that an output of the class (0: -1, 1: +1) exceeds 1/4, or NaN */
  double last_smoothed;  /* ln of the normalised smoothed margin at the last look, NaN before separation */
  RfFlowMonitors monitors;
  struct RfAudit *audit; /* audit/; NULL without */
  RfFlowMoment moment;   /* observe.c: arrays for those who watch; empty without */
} RfRun;

RfStatus rf_run_new(RfContext *context, RfRun *run, const RfFlowProblem *problem,
                    const RfFlowSettings *settings);
void rf_run_free(RfRun *run);
/* Sides of units that start on hyperplanes. */
RfStatus rf_run_start(RfRun *run);
/* One accepted step, possibly cut at an event, which is applied. RF_ERR_NUMERIC when no step length works. */
RfStatus rf_run_step(RfRun *run);
/* After units were changed from outside: forget what is known at y. */
void rf_run_reset(RfRun *run);
/* shorten.c: run->y_end is that of an implicit step of length *h with hits; shorter, so that it ends at the
 * first of them. Every trial is one of the next. */
RfStatus rf_run_shorten(RfRun *run, double *h);
RfStatus rf_run_try_implicit(RfRun *run, double h, double *error);
RfStatus rf_run_try_shorter(RfRun *run, double h); /* and its events; RF_LIMIT: not within its error */
/* The natural unit of steps in tau: 1, except with a frozen second layer, whose clock has none. */
double rf_run_tau_unit(const RfRun *run);
/* Refills the arrays whose size depends on the number of units. */
RfStatus rf_run_resize(RfRun *run);
/* In large networks a relative error of 1e-6 on the way (never at the end) is accepted for speed. */
enum { RF_LARGE = 2000 }; /* neurons times samples */
static inline bool rf_problem_large(const RfFlowProblem *problem) {
  return !problem->located && problem->start->m * problem->n >= RF_LARGE;
}
static inline bool rf_run_large(const RfRun *run) { return rf_problem_large(run->problem); }
/* So many neurons that a single one changes the network by less than merging does. */
bool rf_problem_wide(const RfFlowProblem *problem);
/* Largest difference of directions that such a run merges. */
double rf_run_together(const RfFlowProblem *problem);
/* Adds the time of a step of length h to log_t: b = -ln S from b0 to b1, slopes s0 and s1 over the step. */
void rf_run_book_time(RfSystem *system, double b0, double b1, double s0, double s1, double h);
/* What margins have grown by while the scale and the clock stood, and ln t with that: to 1e-3 of itself. */
double rf_run_grown(const RfRun *run);
double rf_run_log_t(const RfRun *run);
double rf_run_log_loss_true(const RfRun *run);
/* ln(e^a + e^b). */
double rf_run_log_add(double a, double b);

/* Chooses the units to look at on the step from system.y (derivative: stage[0]) to y_end (derivative f1), and
 * fills their rows. */
void rf_planes_watch(RfRun *run, const double *f1, double h);
/* Around the w of unit k in y_end there is no hyperplane nearer than this. */
void rf_planes_clear(RfRun *run, rf_index k, double nearest);
/* Terms that w.x_i of unit k is the sum of, on the step from system.y to y_end. */
double rf_run_input_size(const RfRun *run, rf_index k, rf_index i);
/* Events inside the step from system.y to y_end (fields of the system there) on the rows watched: fills
 * run->hits with their `at` unset. */
RfStatus rf_events_find(RfRun *run, double h);
RfStatus rf_events_add(RfRun *run, rf_index unit, rf_index sample, RfHitKind kind, double at);
/* Explicit step: locates the hits by dense output, and slides that have ended before the first of them; keeps
 * the earliest. *where: its fraction, 2 when none is real. */
RfStatus rf_events_locate(RfRun *run, double h, double *where);
/* Slides that the weights of the last rf_system_fields do not hold at system.y. */
RfStatus rf_events_find_slides(RfRun *run);
/* corner.c: finds them, and decides anew where their units go on. */
RfStatus rf_slides_resolve(RfRun *run);
/* corner.c: applies run->hits at system.y. */
RfStatus rf_events_apply(RfRun *run);
/* The units are numbered anew, or time has passed: no event is a repetition. */
void rf_run_forget_repeats(RfRun *run);
RfStatus rf_events_log(RfRun *run, rf_index unit, rf_index sample, RfEventKind kind);

/* apart.c: parts the units that the located hits concern, and those of which a neuron may have met a
 * hyperplane before the others by y_end, at the start of the step; parted: there were some, and the step is
 * to be taken again. */
RfStatus rf_run_part_hits(RfRun *run, bool *parted);
/* The same for units that have come so near to a hyperplane that their neurons may meet it apart. */
RfStatus rf_run_part_near(RfRun *run);
/* Long steps: the unit comes to a ridge. With the scale frozen true margins are e^{2 kappa} times those of
 * the state, and weights answer a crossing as much sooner: differences are stretched by that, as far as the
 * weights need it to settle in between. parted: it had several neurons, and the step is to be taken again. */
RfStatus rf_run_part_at_ridge(RfRun *run, rf_index unit, bool *parted);

/* Does it matter that the neurons of a unit meet the hyperplane of sample i one after the other? On a ridge
 * it may; in a valley all of them are driven there, and only the turn of their difference counts. */
bool rf_apart_matters(const RfSystem *system, rf_index u, rf_index i, double spread);
/* layer.c: unit u comes to a ridge, that of sample i, while the scale is frozen: */
bool rf_layer_takes(const RfRun *run, rf_index u, rf_index i);
/* parts it before that into its neurons, as far from each other as the weights feel them; parted: it was; */
RfStatus rf_layer_part(RfRun *run, rf_index u, rf_index i, bool *parted);
/* ends the implicit step of length *h to y_end where merged units are near enough to be parted so; */
RfStatus rf_layer_approach(RfRun *run, double *h);
/* parts those that are; changed: units did; */
RfStatus rf_layer_near(RfRun *run, bool *changed);
/* u is one of these neurons; */
bool rf_layer_inside(const RfSystem *system, rf_index u);
/* and merges those that have stayed together again: the outgrown are farther apart by now than their places
 * say. */
typedef enum RfFold { RF_FOLD_OUTGROWN = 0, RF_FOLD_SAFE = 1, RF_FOLD_ALL = 2 } RfFold;
RfStatus rf_layer_fold(RfRun *run, RfFold which, bool *changed);

/* ---- local.c: crossings of single small units inside a step -------------------------------- */

/* By how much the units in run->hits bend the margins inside the explicit step just computed, in units of
 * what is allowed: up to 1 they may be followed alone. Infinite when that is out of the question. */
double rf_local_bend(const RfRun *run, double h);
/* Does it: explicit_method.end, patterns and events are those with the crossings. ok = false, and nothing
 * done but scratch spoilt: the step is too long for that. */
RfStatus rf_local_step(RfRun *run, double h, bool *ok);

/* plain.c: w, a and rho from v (in the place of w) and c, both in units of e^{2 rho}; a keeps its sign. */
void rf_plain_split(double *v, double *a, double *rho, double c, rf_index d);

#include "flow/far/polish.h"

/* With the scale frozen, a unit whose log-norm is below this changes no margin by more than 1e-8: that
 * changes how fast it arrives, not where. */
#define RF_SMALL_RHO_FROZEN (-9.0)
/* Before that: units below the log-norm rf_run_small_rho change no margin by more than 1e-9, all together. */
double rf_run_small_rho(const RfRun *run);
/* The same for m units and samples of at most that length. */
double rf_small_rho(const RfFlowProblem *problem, rf_index m, double longest);
/* rf_flow_align that keeps thousands of samples' neurons halfway (large/walk.h). */
RfStatus rf_flow_align_halfway(RfContext *context, RfAlignment *out, const RfFlowProblem *problem,
                               struct RfWalkHalfway *halfway, double log_size);

/* ---- jump.c: waiting, computed ------------------------------------------------------------- */

/* (w, a) of a unit at joint norm 1, balanced units exactly so. */
void rf_unit_direction(const RfSystem *system, rf_index u, double *v);
/* Units so small that they do not influence the margins move alone under constant weights c, exactly. Moves
 * all of them (small[u] != 0) to the first moment at which one of them, growing faster than main_rate, is
 * about to matter; the others are at rest, or grow at main_rate with the scale frozen. escaped: whether there
 * is such a unit; nothing moves otherwise. margin_of_escape: largest rate minus main_rate. Time is booked as
 * dt = dclock / exp(log_S) unless log_S is NaN. */
RfStatus rf_run_jump(RfRun *run, bool *escaped, double *rate_excess, const double *c, double main_rate,
                     const uint8_t *small, double log_S, double rho_matters);

/* Small units (small[u] != 0) that, under the multipliers of the polished point, come to the direction of one
 * of its groups and grow with it for ever, join that group at the size they tend to. */
RfStatus rf_run_join(RfRun *run, RfPolish *polish, const double *c, const uint8_t *small);

/* ---- fit.c, infinity.c, driver ------------------------------------------------------------- */

/* From the start to margins of 15 (RF_FLOW_CONVERGED here means just that), or to a reason not to. */
RfStatus rf_fit(RfRun *run, RfFlowOutcome *outcome, char *why);
/* Merges units that have come together by now. */
RfStatus rf_run_gather(RfRun *run);
/* Between two steps: hands a checkpoint to the caller who wants one. */
RfStatus rf_run_checkpoint(RfRun *run);
/* A reason to stop from outside (until, branch, caller, step limit); false: go on. */
bool rf_run_stops(RfRun *run, RfFlowOutcome *outcome, char *why);
/* Turns RF_ERR_NUMERIC and RF_INTERRUPTED from a step into an outcome and RF_OK. */
RfStatus rf_run_ended(const RfRun *run, RfStatus status, RfFlowOutcome *outcome, char *why);
/* One step, with the choice between the two methods, and tidying up after deaths. */
RfStatus rf_fit_advance(RfRun *run);
/* ln of the summed loss at the last rf_system_fields; and without the samples that nobody sees. */
double rf_run_log_loss(const RfRun *run);
double rf_run_log_loss_seen(const RfRun *run);
RfStatus rf_infinity(RfRun *run, RfPolish *polish, RfFlowOutcome *outcome, char *why);

enum { RF_WHY_SIZE = 160 };
#define RF_WHY_STEPS "step limit"

/* ---- result.c ------------------------------------------------------------------------------ */

RfStatus rf_run_net(const RfRun *run, RfNet *net, double *log_norm);
/* limit->outcome and why are set; fills the rest. */
RfStatus rf_fill_limit(const RfRun *run, const RfPolish *polish, RfFlowLimit *limit);
double rf_net_distance(const RfNet *a, const RfNet *b);
/* Whether two limits have the same groups, whoever of their neurons carries how much of them. */
bool rf_limits_same_network(const RfFlowLimit *a, const RfFlowLimit *b);

/* ---- trace.c: quantities along the way ----------------------------------------------------- */

/* After every accepted step: a row of the trace now and then, monitors, t2. */
RfStatus rf_trace_step(RfRun *run);
/* One row for the state as it is. */
RfStatus rf_trace_row(RfRun *run, RfFlowTrace *row);
/* Energy identity on the explicit step just computed (dense output is prepared here). */
RfStatus rf_trace_energy(RfRun *run, double h);
/* What ln L falls by over the part `fraction` of that step, `fall_at` giving -d ln L / dtau at a state; y:
 * room for one. Leaves the fields of the system anywhere. */
typedef RfStatus (*RfFallAt)(void *who, RfRun *run, const double *y, double *fall);
RfStatus rf_run_spent(RfRun *run, double h, double fraction, double *y, RfFallAt fall_at, void *who,
                      double *spent);
/* -d ln L / dtau = |velocity|^2 / (S L) >= 0 at y. */
double rf_run_dissipation(RfRun *run, const double *y);
/* Distance to settings->until: positive before it is reached; at the last fields, log_t that of the moment.
 * Infinite without. */
double rf_run_until(const RfRun *run, double log_t);
/* The time to stop at, in the clock of the summed loss. */
double rf_run_until_log_t(const RfRun *run);

/* ---- observe.c ----------------------------------------------------------------------------- */

/* Someone watches: every neuron is followed for itself. */
static inline bool rf_run_watched(const RfRun *run) { return run->recording && run->settings->observe; }
/* Watched, or told where to go at branching points: no merging, no jumps. */
static inline bool rf_run_alone(const RfRun *run) { return rf_run_watched(run) || run->settings->choices; }
/* The state at system.y. */
RfStatus rf_observe(RfRun *run);
/* Points inside the part `fraction` of the explicit step of length h just computed, before system.y moves;
 * leaves the fields of the system anywhere. */
RfStatus rf_observe_inside(RfRun *run, double h, double fraction);
void rf_moment_free(RfFlowMoment *moment);

/* ---- checkpoint.c -------------------------------------------------------------------------- */

RfStatus rf_run_save(const RfRun *run, RfFlowCheckpoint *checkpoint);
/* run is fresh from rf_run_new for the same problem. */
RfStatus rf_run_load(RfRun *run, const RfFlowCheckpoint *checkpoint);

/* problem.c: RF_ERR_USAGE with a reason, or RF_OK. */
RfStatus rf_flow_check_problem(RfContext *context, const RfFlowProblem *problem,
                               const RfFlowSettings *settings);

/* ---- flow.c -------------------------------------------------------------------------------- */

/* What a run with this outcome returns. */
RfStatus rf_flow_outcome_status(RfFlowOutcome outcome);
/* rf_flow_run for data of ordinary size; units.c brings other data to it. */
RfStatus rf_flow_run_scaled(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                            const RfFlowSettings *settings);

#endif
