/* The statements of a proof (rules N and E of docs/proof.md): numbers are chosen in doubles, the inequality
 * is evaluated with 113 bits and an error bound for the numbers as they will stand in the file, and the free
 * one (rho, a bound, e) is rounded outward, so that exact arithmetic agrees. */
#include "optimum/proof_internal.h"

#include <string.h>

/* ---- stacks ----------------------------------------------------------------------------------- */

/* Makes room for `more` entries; false without memory. */
static bool reserve(RfProofTree *tree, void **list, rf_index used, rf_index *room, rf_index more,
                    size_t size) {
  if (used + more <= *room) return true;
  rf_index want = 2 * (used + more) + 64;
  void *wider = rf_resize(*list, want, size);
  if (wider)
    *list = wider, *room = want;
  else if (!tree->status)
    tree->status = rf_fail(tree->context, RF_ERR_MEMORY, "out of memory for a proof");
  return wider != NULL;
}
#define RESERVE(tree, name, more)                                                                            \
  reserve(tree, (void **)&(tree)->name, (tree)->n_##name, &(tree)->room_##name, more, sizeof *(tree)->name)

RfProofMark rf_line_mark(const RfProofTree *tree) {
  return (RfProofMark){tree->n_records, tree->n_terms, tree->n_numbers, tree->n_refs,
                       tree->n_log,     tree->n_wides, tree->caps};
}

void rf_line_back(RfProofTree *tree, RfProofMark mark) {
  while (tree->n_log > mark.log) tree->records[tree->log[--tree->n_log]].written = false;
  tree->n_records = mark.records, tree->n_terms = mark.terms, tree->n_numbers = mark.numbers;
  tree->n_refs = mark.refs, tree->n_wides = mark.wides, tree->caps = mark.caps;
}

/* ---- exact sums ------------------------------------------------------------------------------- */

static double round_bits(double x, int bits) {
  int exponent;
  double mantissa = frexp(x, &exponent);
  return ldexp(rint(ldexp(mantissa, bits)), exponent - bits);
}

static double round_bits_up(double x, int bits) {
  int exponent;
  double mantissa = frexp(x, &exponent);
  return ldexp(ceil(ldexp(mantissa, bits)), exponent - bits);
}

/* A vector being summed: components, and the sum of the sizes of its terms. */
typedef struct Sum {
  RfWide *v;
  double size;
  rf_index terms;
} Sum;

static Sum sum_begin(RfProofTree *tree) {
  for (rf_index k = 0; k < tree->d; k++) tree->wide[k] = 0;
  return (Sum){.v = tree->wide};
}

static void sum_add(const RfProofTree *tree, Sum *sum, RfWide factor, rf_index i) {
  const double *x = tree->V + i * tree->d;
  for (rf_index k = 0; k < tree->d; k++) sum->v[k] += factor * (RfWide)x[k];
  sum->size += fabs((double)factor) * tree->length[i] * rf_length_slack;
  sum->terms++;
}

/* rho with rho^2 >= |sum|^2 in exact arithmetic. */
static double sum_rho(const RfProofTree *tree, const Sum *sum) {
  RfWide square = 0;
  for (rf_index k = 0; k < tree->d; k++) square += sum->v[k] * sum->v[k];
  square += square * (RfWide)((double)(tree->d + 4) * rf_wide_roundoff);
  double error = sum->size * (double)(sum->terms + 4) * 2 * rf_wide_roundoff;
  double root = rf_wide_root_up(square);
  return error > 0 ? rf_add_up(root, error) : root;
}

/* ---- rule E ----------------------------------------------------------------------------------- */

static RfWide small_slope(const RfProofTree *tree, rf_index i) {
  return (RfWide)tree->leak * (RfWide)tree->lambda[i];
}

/* gamma (own + other, NAN = not named) and e (own) from the box, g into the sum; returns C rounded up. */
static double envelope(RfProofTree *tree, const RfProofNode *node, double *gamma, double *e, Sum *sum,
                       int bits) {
  RfWide constant = 0;
  for (rf_index i = 0; i < tree->count; i++) {
    gamma[i] = NAN;
    if (i < tree->own && node->side[i] == 0) {
      gamma[i] = round_bits(node->coef[i], bits);
      e[i] = round_bits_up(rf_proof_chord(tree, node, i, gamma[i]), bits);
      constant += (RfWide)e[i];
    } else if (i >= tree->own && node->coef[i] > node->low[i]) {
      double value = fmin(round_bits(node->coef[i], bits), tree->lambda[i]);
      if ((RfWide)value >= small_slope(tree, i)) gamma[i] = value;
    }
    RfWide factor = !isnan(gamma[i])                     ? (RfWide)gamma[i]
                    : i < tree->own && node->side[i] > 0 ? (RfWide)tree->lambda[i]
                                                         : small_slope(tree, i);
    if (factor != 0) sum_add(tree, sum, factor, i);
  }
  return rf_wide_up(constant + constant * (RfWide)((double)(tree->own + 2) * rf_wide_roundoff));
}

/* What the coefficient of a known sample is beyond its slope: the multiplier of its side. */
static double beyond(const RfProofTree *tree, const RfProofNode *node, rf_index j, int bits) {
  double slope = node->side[j] > 0 ? tree->lambda[j] : tree->leak * tree->lambda[j];
  double c = node->side[j] > 0 ? node->coef[j] - slope : slope - node->coef[j];
  return c > 0 ? round_bits(c, bits) : 0;
}

/* Adds c_j sigma_j x_j of all known samples and lists them; the number listed. */
static rf_index add_sides(RfProofTree *tree, const RfProofNode *node, Sum *sum, int bits) {
  rf_index count = 0;
  if (!RESERVE(tree, terms, tree->own)) return 0;
  for (rf_index j = 0; j < tree->own; j++) {
    double c = node->side[j] ? beyond(tree, node, j, bits) : 0;
    if (c == 0) continue;
    sum_add(tree, sum, (RfWide)(node->side[j] * c), j);
    tree->terms[tree->n_terms + count++] = (RfProofTerm){j, c};
  }
  tree->n_terms += count;
  return count;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void write_index(RfProofTree *tree, rf_index i, const char *before) {
  rf_proof_word(tree->text, before);
  rf_proof_integer(tree->text, tree->at[i]);
}

/* A number that belongs to scaled rows, times 2^power. */
static void write_scaled(RfProofTree *tree, const char *before, double value, int power) {
  rf_proof_word(tree->text, before);
  double out = ldexp(value, power);
  if (ldexp(out, -power) != value) tree->text->failed = true; /* out of the range of doubles */
  rf_proof_number(tree->text, out);
}

static void write_gammas(RfProofTree *tree, const double *gamma, const double *e) {
  for (rf_index i = 0; i < tree->count; i++) {
    if (isnan(gamma[i])) continue;
    write_index(tree, i, " ");
    write_scaled(tree, ":", gamma[i], -tree->power[i]);
    if (i < tree->own) write_scaled(tree, ":", e[i], 0);
  }
}

static void write_terms(RfProofTree *tree, rf_index first, rf_index terms, double factor, int power) {
  for (rf_index k = first; k < first + terms; k++) {
    const RfProofTerm *term = &tree->terms[k];
    write_index(tree, term->j, " ");
    write_scaled(tree, ":", factor * term->c, power - tree->power[term->j]);
  }
}

static void mark_written(RfProofTree *tree, int record) {
  tree->records[record].written = true;
  if (RESERVE(tree, log, 1)) tree->log[tree->n_log++] = record;
}

static void write_cap(RfProofTree *tree, int at) {
  const RfProofRecord *cap = &tree->records[at];
  for (rf_index i = 0; i < tree->own; i++)
    for (int k = 0; k < 2; k++) {
      int need = tree->refs[cap->bounds + 2 * i + k];
      if (need >= 0) rf_line_write(tree, need);
    }
  cap = &tree->records[at];
  rf_proof_word(tree->text, "c");
  write_gammas(tree, tree->numbers + cap->gammas, tree->numbers + cap->gammas + tree->count);
  rf_proof_word(tree->text, "\n");
  tree->records[at].number = tree->caps++;
}

static void write_bound(RfProofTree *tree, int at) {
  if (tree->records[at].cap >= 0) rf_line_write(tree, tree->records[at].cap);
  const RfProofRecord *b = &tree->records[at];
  int power = tree->power[b->sample];
  rf_proof_word(tree->text, b->kind == 'h' ? "h " : "l ");
  rf_proof_integer(tree->text, tree->at[b->sample]);
  write_scaled(tree, " ", b->kind == 'h' ? b->bound : -b->bound, power);
  write_scaled(tree, " ", b->rho, power);
  const RfProofRecord *cap = b->cap >= 0 ? &tree->records[b->cap] : NULL;
  write_terms(tree, b->first, b->terms, cap && !b->own_terms ? b->mu : 1, power);
  if (cap) {
    rf_proof_word(tree->text, " @");
    rf_proof_integer(tree->text, cap->number);
    write_scaled(tree, ":", b->mu, power);
  }
  rf_proof_word(tree->text, "\n");
}

void rf_line_write(RfProofTree *tree, int record) {
  if (tree->records[record].written || tree->status) return;
  if (tree->records[record].kind == 'c')
    write_cap(tree, record);
  else
    write_bound(tree, record);
  mark_written(tree, record);
}

void rf_line_split(RfProofTree *tree, rf_index i) {
  write_index(tree, i, "s ");
  rf_proof_word(tree->text, "\n");
}

/* ---- closing ---------------------------------------------------------------------------------- */

static void write_close(RfProofTree *tree, const RfProofNode *node, double rho, const double *gamma,
                        const double *e, rf_index first, rf_index terms) {
  for (rf_index i = 0; i < tree->own; i++) {
    if (node->side[i]) continue;
    if (node->lower[i] >= 0) rf_line_write(tree, node->lower[i]);
    if (node->upper[i] >= 0) rf_line_write(tree, node->upper[i]);
  }
  rf_proof_word(tree->text, "e ");
  rf_proof_number(tree->text, rho);
  write_gammas(tree, gamma, e);
  rf_proof_word(tree->text, " /");
  write_terms(tree, first, terms, 1, 0);
  rf_proof_word(tree->text, "\n");
}

bool rf_line_close(RfProofTree *tree, const RfProofNode *node, int bits) {
  if (!RESERVE(tree, numbers, tree->count + tree->own)) return false;
  double *gamma = tree->numbers + tree->n_numbers, *e = gamma + tree->count;
  Sum sum = sum_begin(tree);
  rf_index first = tree->n_terms;
  double constant = envelope(tree, node, gamma, e, &sum, bits);
  rf_index terms = add_sides(tree, node, &sum, bits);
  double rho = sum_rho(tree, &sum);
  bool holds = !tree->status && (RfWide)rho + (RfWide)constant <= (RfWide)tree->tau;
  if (holds) {
    tree->n_numbers += tree->count + tree->own; /* writing may use the stack */
    write_close(tree, node, rho, tree->numbers + tree->n_numbers - tree->count - tree->own,
                tree->numbers + tree->n_numbers - tree->own, first, terms);
    tree->n_numbers -= tree->count + tree->own;
  }
  tree->n_terms = first;
  return holds;
}

/* ---- caps and bounds -------------------------------------------------------------------------- */

enum { cap_bits = 36, mu_bits = 12, side_bits = 30 }; /* a product of the first two is exact */

int rf_line_cap(RfProofTree *tree, const RfProofNode *node) {
  rf_index d = tree->d;
  if (!RESERVE(tree, records, 1) || !RESERVE(tree, numbers, tree->count + tree->own) ||
      !RESERVE(tree, refs, 2 * tree->own) || !RESERVE(tree, wides, d + 2))
    return -1;
  RfProofRecord cap = {.kind = 'c', .gammas = tree->n_numbers, .bounds = tree->n_refs, .cap = -1};
  cap.vector = tree->n_wides, cap.first = tree->n_terms;
  double *gamma = tree->numbers + cap.gammas;
  Sum sum = sum_begin(tree);
  double constant = envelope(tree, node, gamma, gamma + tree->count, &sum, cap_bits);
  cap.terms = add_sides(tree, node, &sum, cap_bits);
  for (rf_index i = 0; i < tree->own; i++) {
    tree->refs[cap.bounds + 2 * i] = node->side[i] ? -1 : node->lower[i];
    tree->refs[cap.bounds + 2 * i + 1] = node->side[i] ? -1 : node->upper[i];
  }
  RfWide *store = tree->wides + cap.vector;
  memcpy(store, sum.v, (size_t)d * sizeof *store);
  store[d] = (RfWide)tree->tau - (RfWide)constant;
  store[d + 1] = (RfWide)(sum.size * (double)(sum.terms + 4));
  tree->n_numbers += tree->count + tree->own, tree->n_refs += 2 * tree->own, tree->n_wides += d + 2;
  tree->records[tree->n_records] = cap;
  return tree->status ? -1 : (int)tree->n_records++;
}

int rf_line_bound_by_cap(RfProofTree *tree, int at, rf_index i, int toward, double mu, double *bound) {
  if (!RESERVE(tree, records, 1)) return -1;
  const RfProofRecord *cap = &tree->records[at];
  const RfWide *G = tree->wides + cap->vector;
  mu = round_bits(mu, mu_bits);
  Sum sum = sum_begin(tree);
  sum_add(tree, &sum, (RfWide)toward, i);
  for (rf_index k = 0; k < tree->d; k++) sum.v[k] += (RfWide)mu * G[k];
  sum.size += mu * (double)G[tree->d + 1] * rf_length_slack; /* its terms are counted in already */
  double rho = sum_rho(tree, &sum);
  RfWide value = (RfWide)rho - (RfWide)mu * G[tree->d];
  *bound = rf_wide_up(value + (value < 0 ? -value : value) * (RfWide)0x1p-100);
  tree->records[tree->n_records] = (RfProofRecord){.kind = toward > 0 ? 'h' : 'l',
                                                   .sample = i,
                                                   .bound = *bound,
                                                   .rho = rho,
                                                   .mu = mu,
                                                   .cap = at,
                                                   .first = cap->first,
                                                   .terms = cap->terms};
  return (int)tree->n_records++;
}

int rf_line_side(RfProofTree *tree, const RfProofNode *node, int at, rf_index i, int toward, double mu,
                 const double *c) {
  if (!RESERVE(tree, records, 1) || !RESERVE(tree, terms, tree->own)) return -1;
  const RfProofRecord *cap = &tree->records[at];
  const RfWide *G = tree->wides + cap->vector;
  rf_index first = tree->n_terms;
  double *counted = tree->counted; /* multipliers that mu G counts already */
  memset(counted, 0, (size_t)(tree->own + 1) * sizeof *counted);
  for (rf_index k = cap->first; k < cap->first + cap->terms; k++)
    counted[tree->terms[k].j] = mu * tree->terms[k].c; /* exact: mu is a power of two */
  Sum sum = sum_begin(tree);
  sum_add(tree, &sum, (RfWide)toward, i);
  for (rf_index k = 0; k < tree->d; k++) sum.v[k] += (RfWide)mu * G[k];
  sum.size += mu * (double)G[tree->d + 1] * rf_length_slack;
  for (rf_index j = 0; j < tree->own; j++) {
    double value = node->side[j] ? counted[j] + fmax(c[j], 0) : 0;
    if (value == 0) continue;
    if (value != counted[j])
      sum_add(tree, &sum, (RfWide)node->side[j] * ((RfWide)value - (RfWide)counted[j]), j);
    tree->terms[tree->n_terms++] = (RfProofTerm){j, value};
  }
  double rho = sum_rho(tree, &sum);
  if (!((RfWide)rho <= (RfWide)mu * G[tree->d])) {
    tree->n_terms = first;
    return -1;
  }
  tree->records[tree->n_records] = (RfProofRecord){.kind = toward > 0 ? 'h' : 'l',
                                                   .sample = i,
                                                   .rho = rho,
                                                   .mu = mu,
                                                   .cap = at,
                                                   .own_terms = true,
                                                   .first = first,
                                                   .terms = tree->n_terms - first};
  return (int)tree->n_records++;
}

const RfWide *rf_line_cap_vector(const RfProofTree *tree, int cap) {
  return tree->wides + tree->records[cap].vector;
}

int rf_line_bound_by_sides(RfProofTree *tree, const RfProofNode *node, rf_index i, int toward,
                           const double *c, double *bound) {
  if (!RESERVE(tree, records, 1) || !RESERVE(tree, terms, tree->own)) return -1;
  Sum sum = sum_begin(tree);
  rf_index first = tree->n_terms;
  sum_add(tree, &sum, (RfWide)toward, i);
  for (rf_index j = 0; j < tree->own; j++) {
    double value = node->side[j] && c[j] > 0 ? round_bits(c[j], side_bits) : 0;
    if (value == 0) continue;
    sum_add(tree, &sum, (RfWide)(node->side[j] * value), j);
    tree->terms[tree->n_terms++] = (RfProofTerm){j, value};
  }
  *bound = sum_rho(tree, &sum);
  tree->records[tree->n_records] = (RfProofRecord){.kind = toward > 0 ? 'h' : 'l',
                                                   .sample = i,
                                                   .bound = *bound,
                                                   .rho = *bound,
                                                   .cap = -1,
                                                   .first = first,
                                                   .terms = tree->n_terms - first};
  return (int)tree->n_records++;
}

/* ---- the root --------------------------------------------------------------------------------- */

void rf_line_root(RfProofTree *tree, RfProofNode *node, rf_index i) {
  double bound;
  for (int toward = 1; toward >= -1; toward -= 2) {
    int record = rf_line_bound_by_sides(tree, node, i, toward, tree->ray, &bound);
    if (record < 0) return;
    if (toward > 0)
      node->h[i] = bound, node->upper[i] = record;
    else
      node->l[i] = -bound, node->lower[i] = record;
  }
}

bool rf_line_monotone(RfProofTree *tree, const RfProofNode *node, rf_index i, int *side) {
  RfWide least = 0, most = 0;
  double size = 0;
  for (rf_index j = 0; j < tree->count; j++) {
    RfWide g = rf_wide_dot(tree->V + i * tree->d, tree->V + j * tree->d, tree->d, NULL);
    size += tree->lambda[j] * tree->length[i] * tree->length[j] * rf_length_slack;
    RfWide low = small_slope(tree, j) * g, high = (RfWide)tree->lambda[j] * g;
    if (j < tree->own && node->side[j]) low = high = node->side[j] > 0 ? high : low;
    least += low < high ? low : high, most += low < high ? high : low;
  }
  RfWide error = (RfWide)(size * (double)(tree->count + tree->d + 8) * 2 * rf_wide_roundoff);
  *side = least - error >= 0 ? 1 : most + error <= 0 ? -1 : 0;
  if (*side == 0) return false;
  write_index(tree, i, "m ");
  rf_proof_word(tree->text, *side > 0 ? " +\n" : " -\n");
  return true;
}
