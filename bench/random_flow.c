/* Random flow problems by the family, each in a process of its own.
 *
 *   bench_random_flow [--family F|all] [--count N] [--first J] [--seed S] [--seconds T] [--ode TOL]
 *                     [--finite] [--second-opinion] [--list]
 *
 * Without --seed the clock gives it, and it is printed; the families are those of tests/flow/families.h, and
 * `layered`: networks of depth 2 to 4, dense, diagonal or with shared weights.
 * Every run must end in a status within its time; what is called converged is put through the KKT projection
 * and the escape test outside the flow, and run again at a finer tolerance. --finite compares weights at
 * finite times with the Cartesian integrator; --second-opinion carries that integrator to margin 400 or to a
 * plateau for runs called converged or not separated (up to six neurons). Runs at fault are printed as
 * commands, with --list the undecided, too. Exit status 1 when something is wrong. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tests/flow/opinion.h"

/* Seconds of work that a run may take; WAITING times as long on the clock, since others may use the machine.
 */
enum { RUN_SECONDS = 60, WAITING = 8 };

typedef struct Options {
  int family; /* FAMILY_COUNT: layered; FAMILY_COUNT + 1: all */
  rf_index count, first;
  uint64_t seed;
  double seconds, ode;
  bool finite, second, list;
} Options;

/* What a child tells. */
typedef struct Report {
  RfStatus status;
  RfFlowOutcome outcome;
  bool by_kkt, by_escape, by_rerun, by_opinion, opinion, audit_failed;
  RfFlowAudit audit;
  double seconds, direction_error, rerun, distance;
  char text[256];
} Report;

typedef struct Tally {
  rf_index count, outcomes[6], kkt, escape, rerun, opinion, opinions, audit, failures, crashes, hangs;
  double total, slowest, farthest;
} Tally;

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

/* The same run at a hundredth of the tolerance. */
static double run_again(const FamilyProblem *p, const RfFlowLimit *limit) {
  RfContext context;
  RfFlowSettings settings;
  RfFlowResult other;
  double distance = NAN;
  rf_context_init(&context);
  context.tol.ode *= 0.01;
  context.deadline = rf_clock_seconds() + WAITING * RUN_SECONDS / 3.0;
  rf_flow_settings_init(&settings);
  settings.check_direction = settings.with_alignment = settings.audit = false;
  if (rf_flow_run(&context, &other, &p->flow, &settings) < 0) return NAN;
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
  report->rerun = run_again(p, &result->limit);
  report->by_rerun = report->rerun > fmax(1e-6, 10 * result->limit.direction_error);
  if (report->by_kkt || report->by_escape || report->by_rerun)
    snprintf(report->text, sizeof report->text, "%s%s%s distance %.2g, direction_error %.2g",
             report->by_kkt ? "KKT " : "", report->by_escape ? "escape " : "",
             report->by_rerun ? "rerun" : "", report->rerun, report->direction_error);
}

/* ---- layered networks ------------------------------------------------------------------------ */

enum { LAYERED_SAMPLES = 8, LAYERED_INPUTS = 4 };

typedef struct LayeredProblem {
  rf_index n, d;
  int depth, kind; /* 0 dense, 1 diagonal and a dense last layer, 2 shared and a dense last layer */
  double X[LAYERED_SAMPLES * LAYERED_INPUTS], y[LAYERED_SAMPLES], leak;
  RfLoss loss;
  RfLayeredNet net;
} LayeredProblem;

/* A layer of `inputs` outputs in which weight j of `inputs` is used on every diagonal: a circulant matrix. */
static RfStatus add_circulant(RfContext *context, RfLayeredNet *net, rf_index inputs) {
  int32_t pattern[LAYERED_INPUTS * LAYERED_INPUTS];
  for (rf_index r = 0; r < inputs; r++)
    for (rf_index c = 0; c < inputs; c++) pattern[r * inputs + c] = (int32_t)((c - r + inputs) % inputs);
  return rf_layers_add_shared(context, net, pattern, inputs, inputs);
}

static RfStatus layered_problem_new(RfContext *context, LayeredProblem *p, uint64_t seed, rf_index number) {
  RfRandom random;
  double leaks[] = {0, 0.1, 0.5, 1}, spreads[] = {1, 0.5, 0.1};
  rf_random_init(&random, seed, (uint64_t)number);
  memset(p, 0, sizeof *p);
  p->n = family_between(&random, 2, LAYERED_SAMPLES), p->d = family_between(&random, 2, LAYERED_INPUTS);
  p->depth = (int)family_between(&random, 2, 4), p->kind = (int)rf_random_below(&random, 3);
  p->leak = leaks[rf_random_below(&random, 4)];
  p->loss = rf_random_below(&random, 2) ? RF_LOSS_EXP : RF_LOSS_LOGISTIC;
  bool aside = rf_random_below(&random, 2);
  for (rf_index k = 0; k < p->n * p->d; k++) p->X[k] = rf_random_gaussian(&random);
  for (rf_index i = 0; i < p->n; i++) {
    p->y[i] = i == 0 ? 1 : i == 1 ? -1 : rf_random_sign(&random);
    if (aside) p->X[i * p->d] = p->y[i] * (0.2 + fabs(p->X[i * p->d]));
  }
  RfStatus status = rf_layers_new(context, &p->net, p->leak);
  rf_index inputs = p->d;
  for (int l = 0; l < p->depth && !status; l++) {
    rf_index outputs = l + 1 == p->depth ? 1 : p->kind == 0 ? family_between(&random, 1, 4) : inputs;
    if (l + 1 == p->depth || p->kind == 0)
      status = rf_layers_add_dense(context, &p->net, inputs, outputs);
    else
      status = p->kind == 1 ? rf_layers_add_diagonal(context, &p->net, inputs)
                            : add_circulant(context, &p->net, inputs);
    inputs = outputs;
  }
  double spread = spreads[rf_random_below(&random, 3)];
  for (rf_index j = 0; j < p->net.n_parameters && !status; j++)
    p->net.theta[j] = spread * rf_random_gaussian(&random);
  return status;
}

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
  if (limit->held == 0) { /* at kinks the projection knows one slope only, and is no refutation */
    RfStatus status = rf_certify_layered_kkt(context, &kkt, &limit->net, p->X, p->y, p->n);
    report->by_kkt = status || !(kkt.stationarity < 1e-8 && kkt.complementarity < 1e-8);
    rf_layered_kkt_free(&kkt);
  }
  report->direction_error = limit->direction_error;
  context->tol.ode *= 0.1;
  context->deadline = rf_clock_seconds() + WAITING * RUN_SECONDS / 3.0;
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
  context.deadline = rf_clock_seconds() + WAITING * RUN_SECONDS / 2.0;
  clock_t began = clock();
  report->status =
      rf_flow_run_layered(&context, &limit, &p->net, p->X, p->y, p->n, p->loss, false, &settings);
  report->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  if (report->status < 0) {
    snprintf(report->text, sizeof report->text, "failure: %.200s", context.error);
    return;
  }
  report->outcome = limit.outcome;
  snprintf(report->text, sizeof report->text, "%s", limit.why);
  if (limit.outcome == RF_FLOW_CONVERGED) check_layered(&context, report, p, &limit);
  rf_layered_limit_free(&limit);
}

static void take_opinion(Report *report, Opinion opinion) {
  report->opinion = opinion.given, report->by_opinion = opinion.contradicts,
  report->distance = opinion.distance;
  if (opinion.contradicts) memcpy(report->text, opinion.text, sizeof opinion.text);
}

static void run_one(Report *report, const FamilyProblem *p, const Options *options, double time) {
  RfContext context;
  RfFlowSettings settings;
  RfFlowResult result = {0};
  rf_context_init(&context);
  rf_flow_settings_init(&settings);
  if (options->ode > 0) context.tol.ode = options->ode;
  if (options->finite) settings.until = RF_UNTIL_TIME, settings.until_value = time;
  clock_t began = clock(); /* of this process: the machine may be busy with others */
  context.deadline = rf_clock_seconds() + WAITING * RUN_SECONDS / 2.0;
  report->status = rf_flow_run(&context, &result, &p->flow, &settings);
  report->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  context.deadline = INFINITY;
  if (report->status < 0) {
    snprintf(report->text, sizeof report->text, "failure: %.200s", context.error);
    return;
  }
  report->outcome = result.limit.outcome;
  report->audit_failed = result.audit.points > 0 && !result.audit.passed;
  report->audit = result.audit;
  snprintf(report->text, sizeof report->text, "%s", result.limit.why);
  bool decided = report->outcome == RF_FLOW_CONVERGED || report->outcome == RF_FLOW_NOT_SEPARATED;
  if (report->outcome == RF_FLOW_CONVERGED) check_converged(&context, report, p, &result);
  if (options->finite && report->outcome == RF_FLOW_STOPPED)
    take_opinion(report, opinion_at_time(p, &result, time));
  if (options->second && decided) take_opinion(report, opinion_on_status(p, &result));
  rf_flow_result_free(&result);
}

/* In a process of its own: crashes and endless loops are counted, not shared. */
static void run_apart(Tally *tally, Report *report, const FamilyProblem *p, const LayeredProblem *layered,
                      const Options *options, double time) {
  int ends[2], state = 0;
  memset(report, 0, sizeof *report);
  if (pipe(ends)) exit(2);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    rlim_t most = options->second || options->finite ? 10 * RUN_SECONDS : RUN_SECONDS;
    setrlimit(RLIMIT_CPU, &(struct rlimit){most, most + 1});
    alarm((unsigned)(WAITING * most));
    if (layered)
      run_layered(report, layered);
    else
      run_one(report, p, options, time);
    _exit(write(ends[1], report, sizeof *report) != (ssize_t)sizeof *report);
  }
  close(ends[1]);
  bool whole = read(ends[0], report, sizeof *report) == (ssize_t)sizeof *report;
  close(ends[0]);
  waitpid(child, &state, 0);
  if (whole) return;
  bool late = WIFSIGNALED(state) && (WTERMSIG(state) == SIGALRM || WTERMSIG(state) == SIGXCPU);
  tally->hangs += late, tally->crashes += !late;
  report->status = RF_ERR_NUMERIC;
  snprintf(report->text, sizeof report->text, late ? "no end" : "crash %d", state);
}

static bool count_run(Tally *tally, const Report *report, rf_index lost) {
  tally->count++;
  tally->total += report->seconds, tally->slowest = fmax(tally->slowest, report->seconds);
  bool late = report->status == RF_INTERRUPTED;
  tally->hangs += late;
  if (report->status < 0) tally->failures += lost == 0;
  if (report->status >= 0 && !late) tally->outcomes[report->outcome]++;
  tally->kkt += report->by_kkt, tally->escape += report->by_escape, tally->rerun += report->by_rerun;
  tally->opinion += report->by_opinion, tally->opinions += report->opinion;
  tally->audit += report->audit_failed;
  if (report->opinion) tally->farthest = fmax(tally->farthest, report->distance);
  return report->status < 0 || late || report->by_kkt || report->by_escape || report->by_rerun ||
         report->by_opinion || report->audit_failed;
}

static rf_index run_family(Tally *tally, Family family, const Options *options, double until) {
  rf_index wrong = 0;
  for (rf_index j = options->first; j < options->first + options->count && rf_clock_seconds() < until; j++) {
    RfContext context;
    FamilyProblem p;
    Report report;
    char flags[64] = "";
    rf_context_init(&context);
    if (family_problem_new(&context, &p, family, options->seed, j, options->finite || options->second))
      exit(2);
    double time = exp(-1 + 5 * (double)(j % 17) / 16);
    if (options->finite) { /* order-one starts: the integrator's clock is plain time */
      p.scale = 1, p.flow.log_scale = 0;
      snprintf(flags, sizeof flags, " --until time=%.17g", time);
    }
    rf_index lost = tally->hangs + tally->crashes;
    run_apart(tally, &report, &p, NULL, options, time);
    bool bad = count_run(tally, &report, tally->hangs + tally->crashes - lost);
    wrong += bad;
    if (bad || (options->list && report.outcome == RF_FLOW_UNDECIDED)) {
      printf("# %s %lld: %s: %s\n", family_names[family], (long long)j,
             bad ? "WRONG" : rf_flow_outcome_name(report.outcome), report.text);
      if (report.audit_failed)
        printf("# audit: velocity %.2g energy %.2g balance %.2g sides %.2g events %.2g\n",
               report.audit.velocity, report.audit.energy, report.audit.balance, report.audit.sides,
               report.audit.events);
      family_problem_print(stdout, &p, flags);
    }
    family_problem_free(&p);
  }
  return wrong;
}

static rf_index run_layered_family(Tally *tally, const Options *options, double until) {
  static const char *const kinds[] = {"dense", "diagonal", "shared"};
  rf_index wrong = 0;
  for (rf_index j = options->first; j < options->first + options->count && rf_clock_seconds() < until; j++) {
    RfContext context;
    LayeredProblem p;
    Report report;
    rf_context_init(&context);
    if (layered_problem_new(&context, &p, options->seed, j)) exit(2);
    rf_index lost = tally->hangs + tally->crashes;
    run_apart(tally, &report, NULL, &p, options, 0);
    bool bad = count_run(tally, &report, tally->hangs + tally->crashes - lost);
    wrong += bad;
    if (bad || (options->list && report.outcome == RF_FLOW_UNDECIDED))
      printf("# layered %lld (%s, depth %d, leak %g, %lld x %lld): %s: %s\n", (long long)j, kinds[p.kind],
             p.depth, p.leak, (long long)p.n, (long long)p.d,
             bad ? "WRONG" : rf_flow_outcome_name(report.outcome), report.text);
    rf_layers_free(&p.net);
  }
  return wrong;
}

static void print_row(const char *name, const Tally *t) {
  double count = t->count > 0 ? (double)t->count : 1;
  printf("%-12s %6lld %9lld %9lld %8lld %8lld (%5.2f %%) %5lld %6lld %5lld %5lld/%-5lld %5lld %7lld %5lld "
         "%5lld %8.1f "
         "%7.2f %8.1e\n",
         name, (long long)t->count, (long long)t->outcomes[RF_FLOW_CONVERGED],
         (long long)t->outcomes[RF_FLOW_NOT_SEPARATED], (long long)t->outcomes[RF_FLOW_BRANCHED],
         (long long)t->outcomes[RF_FLOW_UNDECIDED], 100 * (double)t->outcomes[RF_FLOW_UNDECIDED] / count,
         (long long)t->kkt, (long long)t->escape, (long long)t->rerun, (long long)t->opinion,
         (long long)t->opinions, (long long)t->audit, (long long)t->failures, (long long)t->crashes,
         (long long)t->hangs, 1e3 * t->total / count, t->slowest, t->farthest);
}

static void add(Tally *sum, const Tally *t) {
  sum->count += t->count;
  for (int k = 0; k < 6; k++) sum->outcomes[k] += t->outcomes[k];
  sum->kkt += t->kkt, sum->escape += t->escape, sum->rerun += t->rerun, sum->audit += t->audit;
  sum->opinion += t->opinion, sum->opinions += t->opinions;
  sum->failures += t->failures, sum->crashes += t->crashes, sum->hangs += t->hangs;
  sum->total += t->total, sum->slowest = fmax(sum->slowest, t->slowest);
  sum->farthest = fmax(sum->farthest, t->farthest);
}

static bool read_options(Options *options, int argc, char **argv) {
  *options =
      (Options){.family = FAMILY_COUNT + 1, .count = 2000, .seed = (uint64_t)time(NULL), .seconds = 1e9};
  for (int k = 1; k < argc; k++) {
    const char *name = argv[k], *value = k + 1 < argc ? argv[k + 1] : "";
    if (strcmp(name, "--finite") == 0)
      options->finite = true;
    else if (strcmp(name, "--second-opinion") == 0)
      options->second = true;
    else if (strcmp(name, "--list") == 0)
      options->list = true;
    else if (strcmp(name, "--count") == 0)
      options->count = atol(value), k++;
    else if (strcmp(name, "--first") == 0)
      options->first = atol(value), k++;
    else if (strcmp(name, "--seed") == 0)
      options->seed = strtoull(value, NULL, 10), k++;
    else if (strcmp(name, "--ode") == 0)
      options->ode = atof(value), k++;
    else if (strcmp(name, "--seconds") == 0)
      options->seconds = atof(value), k++;
    else if (strcmp(name, "--family") == 0) {
      options->family = -1;
      for (int f = 0; f < FAMILY_COUNT; f++)
        if (strcmp(value, family_names[f]) == 0) options->family = f;
      if (strcmp(value, "layered") == 0) options->family = FAMILY_COUNT;
      if (strcmp(value, "all") == 0) options->family = FAMILY_COUNT + 1;
      k++;
    } else
      return false;
  }
  return options->family >= 0;
}

int main(int argc, char **argv) {
  Options options;
  Tally all = {0}, tally[FAMILY_COUNT + 1] = {{0}};
  rf_index wrong = 0;
  if (!read_options(&options, argc, argv)) {
    fprintf(
        stderr,
        "usage: --family F|all --count N --first J --seed S --seconds T --finite --second-opinion --list\n");
    return 2;
  }
  printf("seed %llu\n", (unsigned long long)options.seed);
  double until = rf_clock_seconds() + options.seconds;
  for (int f = 0; f < FAMILY_COUNT; f++)
    if (options.family == FAMILY_COUNT + 1 || options.family == f)
      wrong += run_family(&tally[f], (Family)f, &options, until);
  if (options.family >= FAMILY_COUNT && !options.finite && !options.second)
    wrong += run_layered_family(&tally[FAMILY_COUNT], &options, until);
  printf("\n%-12s %6s %9s %9s %8s %19s %5s %6s %5s %11s %5s %7s %5s %5s %8s %7s %8s\n", "family", "runs",
         "converged", "not-sep.", "branched", "undecided", "KKT", "escape", "rerun", "opinion", "audit",
         "failure", "crash", "hang", "mean ms", "worst s", "farthest");
  for (int f = 0; f <= FAMILY_COUNT; f++) {
    add(&all, &tally[f]);
    if (tally[f].count > 0) print_row(f < FAMILY_COUNT ? family_names[f] : "layered", &tally[f]);
  }
  print_row("all", &all);
  return wrong > 0;
}
