/* Proof files: every one of random problems of many families is accepted by the checker, which shares nothing
 * with the writer, with brackets of 1e-8; files of deliberately unsound writers are not.
 *
 * --wrap: rf_proof_chord rf_line_close */
#include "rf_test.h"
#include "reluflow/optimum.h"
#include "optimum/proof_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double chord_factor = 1;
static int skip_close = -1; /* this closing line is left out */

double __real_rf_proof_chord(const RfProofTree *, const RfProofNode *, rf_index, double);
double __wrap_rf_proof_chord(const RfProofTree *, const RfProofNode *, rf_index, double);
double __wrap_rf_proof_chord(const RfProofTree *tree, const RfProofNode *node, rf_index i, double gamma) {
  return chord_factor * __real_rf_proof_chord(tree, node, i, gamma);
}

bool __real_rf_line_close(RfProofTree *, const RfProofNode *, int);
bool __wrap_rf_line_close(RfProofTree *, const RfProofNode *, int);
bool __wrap_rf_line_close(RfProofTree *tree, const RfProofNode *node, int bits) {
  if (skip_close >= 0 && skip_close-- == 0) return true;
  return __real_rf_line_close(tree, node, bits);
}

/* The checker's line and exit status. */
static int check(const char *path, char *line, size_t size) {
  const char *build = getenv("RF_BUILD");
  char command[2048];
  snprintf(command, sizeof command, "'%s/rfcheck' '%s'", build ? build : ".", path);
  FILE *in = popen(command, "r");
  assert_non_null(in);
  if (!fgets(line, (int)size, in)) line[0] = '\0';
  int state = pclose(in);
  return state == -1 ? -1 : state >> 8;
}

typedef struct Problem {
  rf_index n, d;
  double X[14 * 6], y[14], leak;
  int signs;
} Problem;

enum { families = 9 };

static void make(Problem *p, uint64_t seed) {
  static const double leaks[] = {0, 0, 0.1, 0.5, 0.9, 0.01, 1};
  RfRandom random;
  rf_random_init(&random, seed, 21);
  p->n = 1 + rf_random_below(&random, 12), p->d = 1 + rf_random_below(&random, 5);
  p->leak = leaks[rf_random_below(&random, 7)];
  p->signs = rf_random_below(&random, 5) == 0 ? (int)rf_random_sign(&random) : 0;
  int kind = (int)(seed % families);
  for (rf_index i = 0; i < p->n; i++) {
    double scale = kind == 6 ? pow(10, (double)rf_random_below(&random, 13) - 6) : 1;
    p->y[i] = kind == 4 ? 1 : rf_random_sign(&random);
    for (rf_index k = 0; k < p->d; k++) {
      double g = rf_random_gaussian(&random);
      p->X[i * p->d + k] = scale * (kind == 1   ? (double)rf_random_below(&random, 3) - 1
                                    : kind == 2 ? round(2 * g) / 2
                                    : kind == 3 ? fabs(g)
                                    : kind == 7 ? 1 + 1e-4 * g
                                                : g);
    }
  }
  for (rf_index i = 0; kind == 5 && i + 1 < p->n; i += 2) {
    for (rf_index k = 0; k < p->d; k++) p->X[(i + 1) * p->d + k] = -2 * p->X[i * p->d + k];
    p->y[i + 1] = rf_random_below(&random, 2) ? -p->y[i] : p->y[i];
  }
  for (rf_index i = 0; kind == 8 && i < p->n && p->d > 2; i++) /* rows of rank 2 */
    for (rf_index k = 2; k < p->d; k++) p->X[i * p->d + k] = p->X[i * p->d] - p->X[i * p->d + 1];
}

static RfOptimum solve(RfContext *context, const Problem *p) {
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = p->leak, settings.signs = p->signs;
  RfOptimum o;
  assert_ok(context, rf_optimum_solve(context, &o, p->X, p->y, p->n, p->d, &settings));
  return o;
}

static void show(const Problem *p, const RfOptimum *o, const char *line) {
  fprintf(stderr, "leak %.17g, signs %d, status %s, gap %.3g: %s\n", p->leak, p->signs,
          rf_optimum_status_name(o->status), o->gap, line);
  rf_test_print_matrix("X", p->X, p->n, p->d);
  rf_test_print_matrix("y", p->y, 1, p->n);
}

/* A file of our own, removed at the end. */
static const char *scratch(void) {
  static char path[64];
  snprintf(path, sizeof path, "/tmp/rf_proof_%ld", (long)getpid());
  return path;
}

static void test_accepted(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  rf_index optimal = 0, infeasible = 0;
  for (rf_index k = 0; k < rf_test_iterations(300); k++) {
    Problem p;
    make(&p, (uint64_t)k);
    RfOptimum o = solve(&context, &p);
    RfProof proof;
    char line[512] = "no proof written";
    RfStatus status = rf_optimum_proof(&context, &proof, scratch(), &o, p.X, p.y, p.signs);
    if (status == RF_UNDECIDED && o.status == RF_OPTIMUM_GAP) { /* bounds without digits: said, not proved */
      rf_optimum_free(&o);
      continue;
    }
    if (status || check(scratch(), line, sizeof line) != 0) show(&p, &o, line);
    assert_int_equal(status, RF_OK);
    assert_memory_equal(line, "accepted", 8);
    if (o.status == RF_OPTIMUM_PROVED) {
      optimal++;
      assert_true(proof.upper - proof.lower <= 1.1e-8 * proof.upper);
    }
    if (o.status == RF_OPTIMUM_INFEASIBLE) infeasible++, assert_memory_equal(line, "accepted infeasible", 19);
    rf_optimum_free(&o);
  }
  fprintf(stderr, "%lld optimal, %lld infeasible\n", (long long)optimal, (long long)infeasible);
  assert_true(optimal > 0 && infeasible > 0);
}

static void test_linear(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  rf_index counts[2] = {0, 0};
  for (rf_index k = 0; k < rf_test_iterations(200); k++) {
    Problem p;
    make(&p, (uint64_t)k + 5000);
    RfLinearMargin margin;
    RfStatus status = rf_margin_linear(&context, &margin, p.X, p.y, p.n, p.d);
    assert_true(status >= 0);
    RfProof proof;
    if (status == RF_OK || status == RF_NOT_SEPARABLE) {
      char line[512] = "";
      assert_ok(&context, rf_proof_linear(&context, &proof, scratch(), &margin, p.X, p.y));
      assert_int_equal(check(scratch(), line, sizeof line), 0);
      counts[status == RF_OK]++;
      if (status == RF_OK && (k + 5000) % families < 6) /* not the ill-conditioned ones */
        assert_true(proof.upper - proof.lower <= 1e-9 * proof.upper);
    }
    rf_linear_margin_free(&margin);
  }
  assert_true(counts[0] > 0 && counts[1] > 0);
}

enum { text_size = 1 << 22 };

static size_t read_text(char *text, const char *path) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t size = fread(text, 1, text_size - 1, file);
  text[size] = '\0';
  fclose(file);
  return size;
}

/* Replaces the numbers of the line that begins with `word` by factor times them. */
static void scale_line(const char *path, const char *word, double factor) {
  static char text[text_size];
  size_t length = strlen(word);
  read_text(text, path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (strncmp(line, word, length) != 0 || line[length] != ' ') {
      fprintf(file, "%s\n", line);
      continue;
    }
    fputs(word, file);
    for (char *at = line + length; *at;) fprintf(file, " %a", factor * strtod(at, &at));
    fputs("\n", file);
  }
  fclose(file);
}

/* Does some statement stand on a chord i:gamma:e? */
static bool has_chord(const char *text) {
  int colons = 0;
  for (; *text && colons < 2; text++)
    colons = *text == ':' ? colons + 1 : *text == ' ' || *text == '\n' ? 0 : colons;
  return colons == 2;
}

enum { chord_short, multipliers_long, leaf_skipped };

/* A file of an unsound writer; false when the fault changes nothing in this problem. */
static bool unsound(RfContext *context, const Problem *p, const RfOptimum *o, int fault) {
  static char sound[text_size], text[text_size];
  RfProof proof;
  assert_ok(context, rf_optimum_proof(context, &proof, scratch(), o, p->X, p->y, p->signs));
  read_text(sound, scratch());
  chord_factor = fault == chord_short ? 0.999 : 1;
  skip_close = fault == leaf_skipped ? 0 : -1;
  RfStatus status = rf_optimum_proof(context, &proof, scratch(), o, p->X, p->y, p->signs);
  chord_factor = 1, skip_close = -1;
  if (status) return false;
  if (fault == multipliers_long)
    scale_line(scratch(), "lambda", 1.001), scale_line(scratch(), "lower", 1.001);
  read_text(text, scratch());
  return fault == chord_short ? has_chord(text) : strcmp(sound, text) != 0;
}

static void test_unsound(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  rf_index tried[3] = {0, 0, 0}, wrong[3] = {0, 0, 0};
  for (rf_index k = 0; k < rf_test_iterations(60); k++) {
    Problem p;
    make(&p, (uint64_t)(families * k)); /* Gaussian */
    if (p.leak == 1) p.leak = 0;
    RfOptimum o = solve(&context, &p);
    for (int fault = 0; fault < 3 && o.status == RF_OPTIMUM_PROVED; fault++) {
      char line[512] = "";
      if (!unsound(&context, &p, &o, fault)) continue;
      tried[fault]++;
      if (check(scratch(), line, sizeof line) == 0) wrong[fault]++, show(&p, &o, line);
    }
    rf_optimum_free(&o);
  }
  fprintf(stderr, "accepted %lld of %lld, %lld of %lld, %lld of %lld\n", (long long)wrong[0],
          (long long)tried[0], (long long)wrong[1], (long long)tried[1], (long long)wrong[2],
          (long long)tried[2]);
  for (int fault = 0; fault < 3; fault++) {
    assert_true(tried[fault] > 0);
    assert_int_equal(wrong[fault], 0);
  }
}

static int tear_down(void **state) {
  (void)state;
  unlink(scratch());
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_accepted), cmocka_unit_test(test_linear),
                                     cmocka_unit_test(test_unsound)};
  return cmocka_run_group_tests(tests, NULL, tear_down);
}
