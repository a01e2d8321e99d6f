/* The ladder of local verdicts.
 *
 * 1. Not a KKT point: the residual of the projection is a descent direction (theta itself raises all margins,
 * so KKT is necessary); the witness lies along it.
 * 2. The network attains the certified global optimum: local.
 * 3. Near theta, a neuron with a_k y_i > 0 at a kink adds the convex term |a_k| phi(w_k.x_i) to the margin of
 * a tight sample: the better of two branches, slope leak or 1. theta is locally optimal among networks
 * without zero neurons iff it is optimal in every branch; and in one branch, with u_k = |a_k| w_k, the
 * problem min sum |u_k| is convex (opposite-class kinks only add concave terms), so the first-order test
 * decides. A branch that fails gives a descent direction, hence a witness.
 * 4. A zero neuron can grow in any direction u with either sign s: that helps iff sum lambda_i y_i s
 * phi(u.x_i) > 1 for every multiplier that passes. Violating directions are collected and projected upon
 * together until a multiplier passes all of them (then it is dual feasible and theta is even global), or none
 * exists (then the residual says how to grow). */
#include "certify_internal.h"

#include <math.h>
#include <string.h>

enum { most_atoms = 24 };

static bool is_tight(const RfContext *context, const RfPoint *p, rf_index i) {
  return p->q[i] <= 1 + rf_certify_tolerances(context).tight;
}

/* Residuals above this fail a test; the point itself passed at tol.kkt. */
static double failing(const RfContext *context) { return RF_CERTIFY_FAILING * context->tol.kkt; }

static void set_verdict(RfCertificate *c, RfVerdict verdict, const char *why) {
  c->local = verdict;
  c->local_why = why;
}

/* ---- not a KKT point -------------------------------------------------------------------------------- */

static RfStatus try_residual(RfContext *context, RfCertificate *c, const RfPoint *p, const double *residual) {
  RfMove move = {.residual = residual};
  return rf_witness_try(context, &c->witness, &c->norm2_drop, p, &move);
}

/* Residuals of the whole projection, and of those over the samples that are tight to several tolerances: far
 * from a KKT point the best direction counts samples that are nearly tight as tight. */
static RfStatus refute_first_order(RfContext *context, RfCertificate *c, const RfPoint *p) {
  static const double nearly[] = RF_CERTIFY_NEARLY;
  rf_index height = p->m * (p->d + 1);
  double *blocks = RF_NEW(double, height);
  if (!blocks) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a witness");
  for (rf_index k = 0; k < p->m; k++) {
    memcpy(blocks + k * (p->d + 1), c->kkt.residual_W + k * p->d, (size_t)p->d * sizeof *blocks);
    blocks[k * (p->d + 1) + p->d] = c->kkt.residual_a[k];
  }
  RfStatus status = try_residual(context, c, p, blocks);
  rf_free(blocks);
  for (size_t t = 0; t < sizeof nearly / sizeof *nearly && !status; t++) {
    RfProjection projection;
    RfProjectionSettings settings = {.tight_only = true, .tight = nearly[t]};
    status = rf_project(context, &projection, p, &settings);
    if (status == RF_LIMIT) status = RF_OK;
    if (!status) status = try_residual(context, c, p, projection.residual);
    rf_projection_free(&projection);
  }
  if (status) return status;
  if (c->witness.m > 0)
    set_verdict(c, RF_VERDICT_NOT_OPTIMUM,
                "not a KKT point: moving along the residual keeps the margins and shortens the "
                "weights");
  else
    set_verdict(c, RF_VERDICT_UNKNOWN,
                "not a KKT point to the tolerance, but too close to one to show a better network");
  return RF_OK;
}

/* ---- own-class kinks -------------------------------------------------------------------------------- */

typedef struct OwnKinks {
  rf_index count;
  rf_index *at;   /* positions i*m + k */
  double *slopes; /* n rows of m: -1 free, set at the own-class kinks */
} OwnKinks;

static void own_kinks_free(OwnKinks *own) {
  rf_free(own->at);
  rf_free(own->slopes);
}

static RfStatus find_own_kinks(RfContext *context, OwnKinks *own, const RfPoint *p) {
  *own = (OwnKinks){0};
  own->slopes = RF_NEW_TABLE(double, p->n, p->m);
  own->at = RF_NEW_TABLE(rf_index, p->n, p->m);
  if (!own->slopes || !own->at) {
    own_kinks_free(own);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the kinks");
  }
  for (rf_index i = 0; i < p->n; i++)
    for (rf_index k = 0; k < p->m; k++) {
      own->slopes[i * p->m + k] = -1;
      if (p->leak < 1 && !p->zero[k] && is_tight(context, p, i) && p->y[i] * p->a[k] > 0 &&
          rf_point_is_kink(context, p, i, k))
        own->at[own->count++] = i * p->m + k;
    }
  return RF_OK;
}

/* Choice number c: bit b says whether kink b has slope 1. Beyond 62 kinks only the first bits vary, the rest
 * follow bit 0. */
static void choose(OwnKinks *own, double leak, uint64_t choice) {
  for (rf_index b = 0; b < own->count; b++)
    own->slopes[own->at[b]] = choice >> (b < 62 ? b : 0) & 1 ? 1 : leak;
}

/* First-order test of one branch; a failing one is turned into a witness. *passed is false when it fails. */
static RfStatus test_branch(RfContext *context, RfCertificate *c, const RfPoint *p, const OwnKinks *own,
                            bool *passed) {
  RfProjection projection;
  RfProjectionSettings settings = {.tight_only = true, .slopes = own->slopes};
  RfStatus status = rf_project(context, &projection, p, &settings);
  if (status == RF_LIMIT) status = RF_OK;
  *passed = false;
  if (!status) {
    *passed = projection.stationarity <= failing(context);
    if (!*passed) status = try_residual(context, c, p, projection.residual);
  }
  rf_projection_free(&projection);
  return status;
}

/* Every branch, or a sample of them when there are too many. *all_passed: every branch was tried and passed.
 */
static RfStatus test_branches(RfContext *context, RfCertificate *c, const RfPoint *p, OwnKinks *own,
                              const RfCertifySettings *settings, bool *all_passed) {
  bool complete = own->count <= settings->most_kinks && own->count < 40;
  uint64_t choices = complete ? (uint64_t)1 << own->count : 512;
  RfRandom random;
  rf_random_init(&random, settings->seed, 7);
  *all_passed = complete;
  for (uint64_t choice = 0; choice < choices; choice++) {
    /* all leak, all 1, then in order or at random */
    uint64_t bits = choice == 1 ? ~(uint64_t)0 : complete || choice == 0 ? choice : rf_random_u64(&random);
    if (complete && choice > 1) bits = choice - 1;
    bool passed;
    choose(own, p->leak, bits);
    RfStatus status = test_branch(context, c, p, own, &passed);
    if (status) return status;
    c->choices++;
    if (!passed) {
      *all_passed = false;
      if (c->witness.m > 0) return RF_OK;
    }
    if (rf_context_stop(context)) return RF_INTERRUPTED;
  }
  return RF_OK;
}

/* ---- zero neurons ----------------------------------------------------------------------------------- */

typedef struct Atoms {
  RfAtom list[most_atoms];
  double *directions; /* most_atoms rows of d */
  rf_index count;
} Atoms;

/* Grows the zero neurons as the residual of the projection says; at most as many as there are. */
static RfStatus try_growth(RfContext *context, RfCertificate *c, const RfPoint *p,
                           const RfProjection *projection, const RfAtom *atoms, rf_index n_atoms) {
  RfAtom used[most_atoms];
  double growth[most_atoms];
  rf_index neurons[most_atoms], count = 0, next = 0;
  for (rf_index e = 0; e < n_atoms; e++) {
    if (projection->atom_rest[e] >= 0) continue;
    while (next < p->m && !p->zero[next]) next++;
    if (next == p->m) return RF_OK; /* more directions than zero neurons */
    used[count] = atoms[e];
    growth[count] = -projection->atom_rest[e];
    neurons[count++] = next++;
  }
  RfMove move = {projection->residual, used, neurons, growth, count};
  return rf_witness_try(context, &c->witness, &c->norm2_drop, p, &move);
}

/* Projection with the given atoms; *lambda is replaced by its multipliers when it passes. */
static RfStatus project_atoms(RfContext *context, RfCertificate *c, const RfPoint *p, const double *slopes,
                              const RfAtom *atoms, rf_index n_atoms, double *lambda, bool *passed) {
  RfProjection projection;
  RfProjectionSettings settings = {.tight_only = true, .slopes = slopes, .atoms = atoms, .n_atoms = n_atoms};
  RfStatus status = rf_project(context, &projection, p, &settings);
  if (status == RF_LIMIT) status = RF_OK;
  *passed = false;
  if (!status) {
    *passed = projection.distance <= failing(context);
    if (*passed && lambda) memcpy(lambda, projection.lambda, (size_t)p->n * sizeof *lambda);
    if (!*passed) status = try_growth(context, c, p, &projection, atoms, n_atoms);
  }
  rf_projection_free(&projection);
  return status;
}

/* Adds the direction that violates dual feasibility of lambda most; *feasible when there is none. */
static RfStatus add_violating(RfContext *context, Atoms *atoms, const RfPoint *p, const double *lambda,
                              bool *feasible) {
  RfDualNorm norm = {0};
  RfStatus status = rf_optimum_dual_norm(context, &norm, p->X, p->y, lambda, p->n, p->d, p->leak, 0);
  *feasible = false;
  if (status == RF_OK) {
    *feasible = norm.upper <= 1 + failing(context);
    if (!*feasible) {
      double *direction = atoms->directions + atoms->count * p->d;
      memcpy(direction, norm.u, (size_t)p->d * sizeof *direction);
      atoms->list[atoms->count++] = (RfAtom){direction, norm.sign};
    }
  }
  rf_dual_norm_free(&norm);
  return status;
}

/* One round: new direction, all directions together, and the new one alone in the extreme branches. */
static RfStatus grow_round(RfContext *context, RfCertificate *c, const RfPoint *p, OwnKinks *own,
                           Atoms *atoms, double *lambda, bool *feasible, bool *stuck) {
  bool passed;
  RfStatus status = add_violating(context, atoms, p, lambda, feasible);
  if (status || *feasible) return status;
  const RfAtom *newest = &atoms->list[atoms->count - 1];
  status = project_atoms(context, c, p, NULL, atoms->list, atoms->count, lambda, &passed);
  *stuck = !passed;
  for (int branch = 0; branch < 3 && !status && c->witness.m == 0; branch++) {
    if (branch < 2) choose(own, p->leak, branch ? ~(uint64_t)0 : 0);
    bool alone;
    if (branch < 2 && own->count == 0) continue;
    status = project_atoms(context, c, p, branch < 2 ? own->slopes : NULL, newest, 1, NULL, &alone);
  }
  return status;
}

static RfStatus test_zero_neurons(RfContext *context, RfCertificate *c, const RfPoint *p, OwnKinks *own) {
  Atoms atoms = {.directions = RF_NEW_TABLE(double, most_atoms, p->d)};
  double *lambda = rf_copy_doubles(c->kkt.lambda, p->n);
  RfStatus status = RF_OK;
  if (!atoms.directions || !lambda) {
    rf_fail(context, RF_ERR_MEMORY, "out of memory for zero neurons");
    status = RF_ERR_MEMORY;
  }
  bool feasible = false, stuck = false;
  while (!status && !feasible && !stuck && c->witness.m == 0 && atoms.count < most_atoms)
    status = grow_round(context, c, p, own, &atoms, lambda, &feasible, &stuck);
  if (!status && c->witness.m > 0)
    set_verdict(c, RF_VERDICT_NOT_OPTIMUM,
                "a neuron that is zero can grow in a direction that pays for itself");
  else if (!status && feasible)
    set_verdict(c, RF_VERDICT_OPTIMUM,
                "its multipliers are dual feasible, so no network of any width is better");
  else if (!status)
    set_verdict(c, RF_VERDICT_UNKNOWN,
                "a KKT point with a zero neuron: directions in which it could grow exist, but each "
                "is blocked by other multipliers");
  rf_free(atoms.directions);
  rf_free(lambda);
  return status;
}

/* ---- the ladder ---------------------------------------------------------------------------- */

static RfStatus climb(RfContext *context, RfCertificate *c, const RfPoint *p, OwnKinks *own,
                      const RfCertifySettings *settings) {
  bool all_passed;
  RfStatus status = test_branches(context, c, p, own, settings, &all_passed);
  if (status) return status;
  if (c->witness.m > 0) {
    set_verdict(
        c, RF_VERDICT_NOT_OPTIMUM,
        "a KKT point, but turning a neuron to one side of a sample of its own class shortens the weights");
  } else if (!all_passed) {
    set_verdict(c, RF_VERDICT_UNKNOWN,
                own->count > settings->most_kinks
                    ? "a KKT point with more own-class kinks than can be tried one by one"
                    : "a KKT point, but not sharp enough to decide on which side of its kinks");
  } else if (c->kkt.n_zero > 0) {
    return test_zero_neurons(context, c, p, own);
  } else {
    set_verdict(c, RF_VERDICT_OPTIMUM,
                own->count > 0 ? "a KKT point on every side of its own-class kinks, and convex on each side"
                               : "a KKT point without own-class kinks or zero neurons: convex nearby");
  }
  return RF_OK;
}

RfStatus rf_certify_local(RfContext *context, RfCertificate *c, const RfPoint *p, bool is_global,
                          const RfCertifySettings *settings) {
  OwnKinks own;
  RfStatus status = find_own_kinks(context, &own, p);
  if (status) return status;
  c->own_kinks = own.count;
  if (!c->kkt.holds)
    status = refute_first_order(context, c, p);
  else if (is_global)
    set_verdict(c, RF_VERDICT_OPTIMUM, "it attains the certified global optimum");
  else
    status = climb(context, c, p, &own, settings);
  own_kinks_free(&own);
  return status;
}
