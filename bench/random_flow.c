/* Random flow problems by the family, each in a process of its own, so many at a time.
 *
 *   bench_random_flow [--family F|all] [--count N] [--first J] [--seed S] [--threads K] [--seconds T]
 *                     [--limit T] [--ode TOL] [--list]
 *
 * Without --seed the clock gives it, and it is printed; the families are those of tests/flow/families.h, and
 * `layered`: networks of depth 2 to 4, dense, diagonal or with shared weights.
 * Every run must end in a status within --limit seconds of processor time, its checks included; what is
 * called converged is put through the KKT projection and the escape test outside the flow, and run again at a
 * finer tolerance. Runs at fault are printed as commands, with --list the undecided, too; after --seconds no
 * more are begun. Exit status 1 when something is wrong. bench/statuses.c asks another integrator. */
#include <time.h>

#include "../tests/flow/families.h"
#include "../tests/flow/layered_families.h"
#include "jobs.h"
#include "flow/flow_internal.h"
#include "options.h"

enum { RUN_SECONDS = 60 };

typedef struct Options {
  int family; /* FAMILY_COUNT: layered; FAMILY_COUNT + 1: all */
  long count, first, threads;
  uint64_t seed;
  double seconds, limit, ode;
  bool list;
} Options;

/* What a child tells. */
typedef struct Report {
  RfStatus status;
  RfFlowOutcome outcome;
  bool by_kkt, by_escape, by_rerun, audit_failed;
  RfFlowAudit audit;
  double seconds, direction_error, rerun;
  char text[256];
} Report;

typedef struct Tally {
  rf_index count, outcomes[6], kkt, escape, rerun, audit, failures, crashes, hangs, wrong;
  double total, slowest;
} Tally;

typedef struct Bench {
  Options options;
  double until;
  Tally tally[FAMILY_COUNT + 1];
} Bench;

/* Does a vanishing neuron grow faster than the limit under c = lambda y, at the limit's own multipliers? Only
 * where these are unique: supports independent, no kinks. */
static bool escapes(RfContext *context, const FamilyProblem *p, const RfFlowResult *result) {
  const RfFlowLimit *limit = &result->limit;
  rf_index d = p->d, width = limit->n_support, rank = 0;
  bool found = false, unique = width > 0;
  double *A = calloc((size_t)(p->m * (d + 1) * (width + 1)), sizeof(double));
  double *b = calloc((size_t)(p->m * (d + 1) + width), sizeof(double)), c[FAMILY_SAMPLES];
  for (rf_index s = 0; s < width && unique; s++)
    for (rf_index k = 0; k < p->m; k++) {
      const double *x = p->X + limit->support[s] * d, *w = limit->net.W + k * d;
      double h = rf_la_dot(w, x, d), slope = h > 0 ? 1 : p->flow.leak;
      if (limit->net.a[k] != 0 && fabs(h) <= 1e-9 * rf_la_norm(w, d) * rf_la_norm(x, d)) unique = false;
      for (rf_index j = 0; j < d; j++) A[(k * (d + 1) + j) * width + s] = limit->net.a[k] * slope * x[j];
      A[(k * (d + 1) + d) * width + s] = slope * h;
    }
  unique = unique && !rf_la_least_squares(context, A, b, p->m * (d + 1), width, 1e-9, &rank) && rank == width;
  for (rf_index i = 0; i < p->n; i++) c[i] = limit->lambda[i] * p->y[i];
  RfAlignField field = {.X = p->X, .c = c, .n = p->n, .d = d, .leak = p->flow.leak};
  for (rf_index v = 0; v < limit->n_vanishing && unique; v++) {
    rf_index k = limit->vanishing[v];
    double neuron[FAMILY_INPUTS + 1], *w = result->net_end.W + k * d;
    double norm = hypot(rf_la_norm(w, d), result->net_end.a[k]);
    RfAlignNeuron way;
    if (!(norm > 1e-200)) continue;
    for (rf_index j = 0; j < d; j++) neuron[j] = w[j] / norm;
    neuron[d] = result->net_end.a[k] / norm;
    if (rf_flow_align_neuron(context, &way, &field, neuron, 0, NULL, INFINITY)) continue;
    found = found || way.G > 1 + 1e-5;
    rf_align_neuron_free(&way);
  }
  free(A), free(b);
  return found;
}

/* The same run at a thousandth of the tolerance. located: with every event located, also where long steps
 * would go past them, which leaves the shares of neurons in a group open by some 1e-4. known (not NULL): what
 * the rerun tells of its own error, which takes its second run. NaN: no opinion. */
static double run_again(const FamilyProblem *p, const RfFlowLimit *limit, bool located, double *known) {
  RfContext context;
  RfFlowSettings settings;
  RfFlowResult other;
  RfFlowProblem flow = p->flow;
  double distance = NAN;
  flow.located = located;
  rf_context_init(&context);
  context.tol.ode *= 0.001;
  context.deadline = rf_clock_seconds() + RUN_SECONDS / (located ? 6.0 : 3.0);
  rf_flow_settings_init(&settings);
  settings.check_direction = known != NULL;
  settings.with_alignment = settings.audit = false;
  if (rf_flow_run(&context, &other, &flow, &settings) < 0) return NAN;
  if (known) *known = other.limit.direction_error;
  if (other.limit.outcome == RF_FLOW_CONVERGED) {
    distance = 0;
    for (rf_index k = 0; k < p->m * p->d; k++) distance += pow(other.limit.net.W[k] - limit->net.W[k], 2);
    for (rf_index k = 0; k < p->m; k++) distance += pow(other.limit.net.a[k] - limit->net.a[k], 2);
    distance = sqrt(distance);
  } else if (other.limit.outcome == RF_FLOW_NOT_SEPARATED)
    distance = 2;
  rf_flow_result_free(&other);
  return distance;
}

static void check_converged(RfContext *context, Report *report, const FamilyProblem *p,
                            const RfFlowResult *result) {
  RfKkt kkt = {0};
  RfStatus status = rf_certify_kkt(context, &kkt, &result->limit.net, p->X, p->y, p->n);
  report->by_kkt = status || !kkt.holds || !(fabs(kkt.margin - result->limit.margin) <= 1e-9 * kkt.margin);
  rf_kkt_free(&kkt);
  report->by_escape = escapes(context, p, result);
  report->direction_error = result->limit.direction_error;
  bool large = rf_problem_large(&p->flow);
  report->rerun = run_again(p, &result->limit, large, NULL);
  if (large && isnan(report->rerun)) report->rerun = run_again(p, &result->limit, false, NULL);
  report->by_rerun = report->rerun > fmax(1e-6, 10 * result->limit.direction_error);
  if (report->by_rerun) { /* both runs again: do the limits, with what each tells, exclude each other? */
    double known = NAN, whole = run_again(p, &result->limit, false, &known);
    if (!isnan(whole) && !isnan(known)) report->rerun = whole;
    report->by_rerun = !(report->rerun <= fmax(1e-6, 1.1 * (known + result->limit.direction_error)));
  }
  if (report->by_kkt || report->by_escape || report->by_rerun)
    snprintf(report->text, sizeof report->text, "%s%s%s distance %.2g, direction_error %.2g",
             report->by_kkt ? "KKT " : "", report->by_escape ? "escape " : "",
             report->by_rerun ? "rerun" : "", report->rerun, report->direction_error);
}

/* ---- layered networks ------------------------------------------------------------------------ */

static double layered_distance(const RfLayeredNet *a, const RfLayeredNet *b) {
  double sum = 0;
  for (rf_index j = 0; j < a->n_parameters; j++) sum += pow(a->theta[j] - b->theta[j], 2);
  return sqrt(sum);
}

/* The KKT residual outside the flow, and the same run at a tenth of the tolerance. */
static void check_layered(RfContext *context, Report *report, const LayeredProblem *p,
                          const RfLayeredLimit *limit) {
  RfLayeredKkt kkt = {0};
  RfLayeredLimit other = {0};
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.check_direction = false;
  RfStatus status = rf_certify_layered_kkt(context, &kkt, &limit->net, p->X, p->y, p->n);
  report->by_kkt = status || !(kkt.stationarity < 1e-8 && kkt.complementarity < 1e-8);
  rf_layered_kkt_free(&kkt);
  report->direction_error = limit->direction_error;
  context->tol.ode *= 0.1;
  context->deadline = rf_clock_seconds() + RUN_SECONDS / 3.0;
  report->rerun = NAN;
  if (rf_flow_run_layered(context, &other, &p->net, p->X, p->y, p->n, p->loss, false, &settings) < 0) return;
  if (other.outcome == RF_FLOW_CONVERGED) report->rerun = layered_distance(&other.net, &limit->net);
  if (other.outcome == RF_FLOW_NOT_SEPARATED) report->rerun = 2;
  report->by_rerun = report->rerun > fmax(1e-6, 10 * limit->direction_error);
  rf_layered_limit_free(&other);
  if (report->by_kkt || report->by_rerun)
    snprintf(report->text, sizeof report->text, "%s%s distance %.2g, direction_error %.2g",
             report->by_kkt ? "KKT " : "", report->by_rerun ? "rerun" : "", report->rerun,
             report->direction_error);
}

static void run_layered(Report *report, const LayeredProblem *p) {
  RfContext context;
  RfFlowSettings settings;
  RfLayeredLimit limit = {0};
  rf_context_init(&context);
  rf_flow_settings_init(&settings);
  report->status =
      rf_flow_run_layered(&context, &limit, &p->net, p->X, p->y, p->n, p->loss, false, &settings);
  report->seconds = jobs_own_seconds();
  if (report->status < 0) {
    snprintf(report->text, sizeof report->text, "failure: %.200s", context.error);
    return;
  }
  report->outcome = limit.outcome;
  snprintf(report->text, sizeof report->text, "%s", limit.why);
  if (limit.outcome == RF_FLOW_CONVERGED) check_layered(&context, report, p, &limit);
  rf_layered_limit_free(&limit);
}

static void run_one(Report *report, const FamilyProblem *p, const Options *options) {
  RfContext context;
  RfFlowSettings settings;
  RfFlowResult result = {0};
  rf_context_init(&context);
  rf_flow_settings_init(&settings);
  if (options->ode > 0) context.tol.ode = options->ode;
  report->status = rf_flow_run(&context, &result, &p->flow, &settings);
  report->seconds = jobs_own_seconds();
  if (report->status < 0) {
    snprintf(report->text, sizeof report->text, "failure: %.200s", context.error);
    return;
  }
  report->outcome = result.limit.outcome;
  report->audit_failed = result.audit.points > 0 && !result.audit.passed;
  report->audit = result.audit;
  snprintf(report->text, sizeof report->text, "%s", result.limit.why);
  if (report->outcome == RF_FLOW_CONVERGED) check_converged(&context, report, p, &result);
  rf_flow_result_free(&result);
}

/* Job j is problem first + j % count of the (j / count)-th family asked for. */
static int family_of(const Options *options, long job) {
  return options->family <= FAMILY_COUNT ? options->family : (int)(job / options->count);
}

static rf_index number_of(const Options *options, long job) { return options->first + job % options->count; }

static void work(void *user, long job, void *into) {
  const Options *options = &((const Bench *)user)->options;
  int family = family_of(options, job);
  RfContext context;
  rf_context_init(&context);
  if (family == FAMILY_COUNT) {
    LayeredProblem p;
    if (layered_problem_new(&context, &p, options->seed, number_of(options, job))) exit(2);
    run_layered(into, &p);
  } else {
    FamilyProblem p;
    if (family_problem_new(&context, &p, (Family)family, options->seed, number_of(options, job), false))
      exit(2);
    run_one(into, &p, options);
  }
}

static bool count_run(Tally *tally, const Report *report, JobEnd end) {
  bool lost = end != JOB_DONE, failed = !lost && report->status < 0;
  tally->count++;
  tally->total += report->seconds, tally->slowest = fmax(tally->slowest, report->seconds);
  tally->hangs += end == JOB_LATE, tally->crashes += end == JOB_CRASHED, tally->failures += failed;
  if (!lost && !failed) tally->outcomes[report->outcome]++;
  tally->kkt += report->by_kkt, tally->escape += report->by_escape, tally->rerun += report->by_rerun;
  tally->audit += report->audit_failed;
  bool wrong =
      lost || failed || report->by_kkt || report->by_escape || report->by_rerun || report->audit_failed;
  tally->wrong += wrong;
  return wrong;
}

static void tell(const Options *options, long job, const Report *report, const char *what) {
  static const char *const kinds[] = {"dense", "diagonal", "shared"};
  int family = family_of(options, job);
  rf_index number = number_of(options, job);
  RfContext context;
  rf_context_init(&context);
  if (family == FAMILY_COUNT) {
    LayeredProblem p;
    if (layered_problem_new(&context, &p, options->seed, number)) exit(2);
    printf("# layered %lld (%s, depth %d, leak %g, %lld x %lld): %s: %s\n", (long long)number, kinds[p.kind],
           p.depth, p.leak, (long long)p.n, (long long)p.d, what, report->text);
    rf_layers_free(&p.net);
    return;
  }
  FamilyProblem p;
  if (family_problem_new(&context, &p, (Family)family, options->seed, number, false)) exit(2);
  printf("# %s %lld: %s: %s\n", family_names[family], (long long)number, what, report->text);
  if (report->audit_failed)
    printf("# audit: velocity %.2g energy %.2g balance %.2g sides %.2g events %.2g\n", report->audit.velocity,
           report->audit.energy, report->audit.balance, report->audit.sides, report->audit.events);
  family_problem_print(stdout, &p, NULL);
  family_problem_free(&p);
}

static bool done(void *user, long job, const void *from, JobEnd end) {
  Bench *bench = user;
  const Report *report = from;
  bool wrong = count_run(&bench->tally[family_of(&bench->options, job)], report, end);
  bool undecided = end == JOB_DONE && report->outcome == RF_FLOW_UNDECIDED;
  if (wrong || (undecided && bench->options.list))
    tell(&bench->options, job, report,
         end == JOB_LATE      ? "NO END"
         : end == JOB_CRASHED ? "CRASH"
         : wrong              ? "WRONG"
                              : "undecided");
  return rf_clock_seconds() < bench->until;
}

static void print_row(const char *name, const Tally *t) {
  double count = t->count > 0 ? (double)t->count : 1;
  printf("%-12s %6lld %9lld %8lld %8lld %9lld (%5.2f %%) %5lld %6lld %5lld %5lld %7lld %5lld %5lld %8.1f "
         "%7.2f\n",
         name, (long long)t->count, (long long)t->outcomes[RF_FLOW_CONVERGED],
         (long long)t->outcomes[RF_FLOW_NOT_SEPARATED], (long long)t->outcomes[RF_FLOW_BRANCHED],
         (long long)t->outcomes[RF_FLOW_UNDECIDED], 100 * (double)t->outcomes[RF_FLOW_UNDECIDED] / count,
         (long long)t->kkt, (long long)t->escape, (long long)t->rerun, (long long)t->audit,
         (long long)t->failures, (long long)t->crashes, (long long)t->hangs, 1e3 * t->total / count,
         t->slowest);
}

static void add(Tally *sum, const Tally *t) {
  sum->count += t->count, sum->wrong += t->wrong;
  for (int k = 0; k < 6; k++) sum->outcomes[k] += t->outcomes[k];
  sum->kkt += t->kkt, sum->escape += t->escape, sum->rerun += t->rerun, sum->audit += t->audit;
  sum->failures += t->failures, sum->crashes += t->crashes, sum->hangs += t->hangs;
  sum->total += t->total, sum->slowest = fmax(sum->slowest, t->slowest);
}

static bool read_options(Options *o, int argc, char **argv) {
  *o = (Options){.family = FAMILY_COUNT + 1,
                 .count = 2000,
                 .seed = (uint64_t)time(NULL),
                 .seconds = 1e9,
                 .limit = RUN_SECONDS,
                 .threads = 1};
  const BenchOption table[] = {OPTION_OF("--family", "F|all", &o->family, family_names, "layered", "all"),
                               OPTION("--count", "N", OPTION_COUNT, &o->count),
                               OPTION("--first", "J", OPTION_COUNT, &o->first),
                               OPTION("--seed", "S", OPTION_SEED, &o->seed),
                               OPTION("--threads", "K", OPTION_COUNT, &o->threads),
                               OPTION("--seconds", "T", OPTION_NUMBER, &o->seconds),
                               OPTION("--limit", "T", OPTION_NUMBER, &o->limit),
                               OPTION("--ode", "TOL", OPTION_NUMBER, &o->ode),
                               OPTION("--list", NULL, OPTION_SWITCH, &o->list)};
  return bench_options(table, (int)(sizeof table / sizeof *table), argc, argv);
}

int main(int argc, char **argv) {
  static Bench bench;
  Tally all = {0};
  if (!read_options(&bench.options, argc, argv)) return 2;
  Jobs jobs = {.workers = (int)bench.options.threads,
               .seconds = bench.options.limit,
               .size = sizeof(Report),
               .user = &bench,
               .work = work,
               .done = done};
  bool every = bench.options.family == FAMILY_COUNT + 1;
  printf("seed %llu\n", (unsigned long long)bench.options.seed);
  bench.until = rf_clock_seconds() + bench.options.seconds;
  jobs_run(&jobs, 0, bench.options.count * (every ? FAMILY_COUNT + 1 : 1));
  printf("\n%-12s %6s %9s %8s %8s %19s %5s %6s %5s %5s %7s %5s %5s %8s %7s\n", "family", "runs", "converged",
         "not-sep.", "branched", "undecided", "KKT", "escape", "rerun", "audit", "failure", "crash", "hang",
         "mean ms", "worst s");
  for (int f = 0; f <= FAMILY_COUNT; f++) {
    add(&all, &bench.tally[f]);
    if (bench.tally[f].count > 0) print_row(f < FAMILY_COUNT ? family_names[f] : "layered", &bench.tally[f]);
  }
  print_row("all", &all);
  return all.wrong > 0;
}
