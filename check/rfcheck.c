/* rfcheck FILE: checks a proof file (docs/proof.md) in exact arithmetic, by no code of its writer. It prints
 *   accepted optimum 1.3416407864998735 <= V <= 1.3416407864998740     status 0: proved, decimals outward
 *   rejected line 812: why                                             status 1: a check fails
 *   malformed line 7: why                                              status 2: not a proof file
 * The first line with a problem decides; on one line, syntax comes before checks. Memory: the data, the
 * multipliers, one line and one path of the tree. There is no rounding and no tolerance anywhere. */
#include <gmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_CHARACTERS = 20000, LARGEST_EXPONENT = 20000, DIGITS = 17, TEMPORARIES = 32 };
typedef mpq_ptr Q; /* an exact rational number */

typedef struct Vec { /* m_k / q, k < d: a row, a gradient, a neuron with its a = b, a cap m/q . u >= b */
  mpz_t *m, q;
  mpq_t b;
} Vec;

typedef struct Sample {
  Vec x;
  int y, side;            /* label; z = u.x >= 0 (+1), <= 0 (-1), not known (0) on the path */
  mpq_t lambda, small, q; /* lambda, alpha lambda (kkt: a slope), y f(x) */
  long last[2], named;    /* facts z <= bound, -z <= bound on the path, and the term of the line; 0: none */
} Sample;

typedef struct Part { /* a term of the line: i:a, i:a:b or @i:a, of kind 'i', 'e' or '@'; or a fact about */
  char kind; /* sample i on the path: 'h' z_i <= a, 'l' -z_i <= a, 'm' its side, 's' that in a first child */
  long i, before, caps; /* the fact that told this bound before; how many caps there were */
  mpq_t a, b;
} Part;

static struct {
  FILE *in;
  char *line, *at;
  size_t line_size;
  long line_number, n, d, spaces, i, i_before, middle; /* of the line: its indices, the terms before `/` */
  int only, tree, sign; /* the only sign that a may have, 0: both; of the present tree; of the line */
  Sample *samples;
  Vec *neurons, *caps, g, r; /* of claim kkt; of the present path; the vector of the line; work */
  Part *facts, *terms;       /* of the present path, from 1 on; of the line */
  long n_caps, n_facts, n_terms, neurons_size, samples_size, caps_size, facts_size, terms_size, used;
  mpq_t leak, tau, lower, upper, bound, rho;         /* numbers of the line */
  mpq_t constant, beta, sum, one, ring[TEMPORARIES]; /* rule E's C, rule N's bound; work */
  mpz_t k, f, h;
} c;
#define EACH(s) for (Sample *s = c.samples; s < c.samples + c.n; s++)

static void demand(bool holds, const char *word, const char *why) {
  if (holds) return;
  printf("%s line %ld: %s\n", word, c.line_number, why);
  exit(*word == 'r' ? 1 : 2);
}

static void require(bool holds, const char *why) { demand(holds, "rejected", why); }   /* of the proof */
static void expected(bool holds, const char *why) { demand(holds, "malformed", why); } /* of the text */

/* Element `count` of an array that grows by halves; new elements are zero bytes. */
static void *next(void *array, long *capacity, long count, size_t size) {
  char **block = array;
  if (count >= *capacity) {
    long wanted = count + count / 2 + 8;
    *block = realloc(*block, (size_t)wanted * size);
    expected(*block, "out of memory");
    memset(*block + (size_t)*capacity * size, 0, (size_t)(wanted - *capacity) * size);
    *capacity = wanted;
  }
  return *block + (size_t)count * size;
}

/* ---- exact arithmetic: results live in a ring of temporaries until 32 more were made ------- */

static Q latest(void) { return c.ring[c.used % TEMPORARIES]; }
static Q temporary(void) { return c.used++, latest(); }
static Q add(const mpq_t a, const mpq_t b) { return mpq_add(temporary(), a, b), latest(); }
static Q sub(const mpq_t a, const mpq_t b) { return mpq_sub(temporary(), a, b), latest(); }
static Q mul(const mpq_t a, const mpq_t b) { return mpq_mul(temporary(), a, b), latest(); }
static int sgn(const mpq_t a) { return mpq_sgn(a); }
static bool at_most(const mpq_t a, const mpq_t b) { return mpq_cmp(a, b) <= 0; }
static void zero(mpq_t a) { mpq_set_ui(a, 0, 1); }
static void add_to(mpq_t a, const mpq_t b) { mpq_add(a, a, b); }
static Q signed_by(int sign, Q a) { return sign < 0 ? mpq_neg(a, a), a : a; } /* changes a */
static Q phi(Q z) { return sgn(z) < 0 ? mul(z, c.leak) : z; } /* z for z > 0, alpha z otherwise */

static void vec_zero(Vec *v) {
  if (!v->m) next(&v->m, &(long){0}, c.d, sizeof *v->m), mpz_init(v->q), mpq_init(v->b);
  for (long j = 0; j < c.d; j++) mpz_set_ui(v->m[j], 0);
  mpz_set_ui(v->q, 1);
}

/* The denominator of v becomes a common one with sign a/q, which then is k over it. */
static void common_denominator(Vec *v, int sign, const mpq_t a, const mpz_t q) {
  mpz_mul_si(c.k, mpq_numref(a), sign);
  mpz_mul(c.f, mpq_denref(a), q);
  if (mpz_cmp(v->q, c.f) == 0) return;
  mpz_lcm(c.h, v->q, c.f);
  mpz_divexact(c.f, c.h, c.f);
  mpz_mul(c.k, c.k, c.f);
  if (mpz_cmp(v->q, c.h) == 0) return;
  mpz_divexact(c.f, c.h, v->q);
  for (long j = 0; j < c.d; j++) mpz_mul(v->m[j], v->m[j], c.f);
  mpz_set(v->q, c.h);
}

/* v += sign a x */
static void vec_add(Vec *v, int sign, const mpq_t a, const Vec *x) {
  if (!sgn(a)) return;
  common_denominator(v, sign, a, x->q);
  for (long j = 0; j < c.d; j++) mpz_addmul(v->m[j], c.k, x->m[j]);
}

static Q dot(const Vec *a, const Vec *b) {
  Q r = temporary();
  mpz_set_ui(mpq_numref(r), 0);
  for (long j = 0; j < c.d; j++) mpz_addmul(mpq_numref(r), a->m[j], b->m[j]);
  mpz_mul(mpq_denref(r), a->q, b->q);
  mpq_canonicalize(r);
  return r;
}

/* rho >= |v|, without a square root */
static void bounds_norm(const Vec *v) {
  require(sgn(c.rho) >= 0 && at_most(dot(v, v), mul(c.rho, c.rho)), "rho is less than the norm");
}

/* ---- text: numbers, lines, tokens ---------------------------------------------------------- */

/* The integer of one to nine digits that the text is. */
static long natural(const char *s, const char *why) {
  size_t length = strspn(s, "0123456789");
  expected(length && length <= 9 && !s[length], why);
  return strtol(s, NULL, 10);
}

/* D+, or D+/D+ with a positive denominator, or 0xH+(.H+)?p[+-]?D+, what %a prints, with an exponent of at
 * most 20000; a minus sign may precede. */
static void number_text(mpq_t r, char *s) {
  const char *why = "not a number";
  long minus = *s == '-', hex = s[minus] == '0' && s[minus + 1] == 'x', shift = 0;
  expected(strlen(s) <= NUMBER_CHARACTERS, why);
  s += minus + 2 * hex;
  const char *digits = hex ? "0123456789abcdef" : "0123456789";
  size_t whole = strspn(s, digits), mark = s[whole] == (hex ? '.' : '/');
  size_t part = mark ? strspn(s + whole + 1, digits) : 0;
  char *end = s + whole + mark + part;
  expected(whole && part >= mark && *end == (hex ? 'p' : 0), why);
  if (hex) {
    shift = natural(end + 1 + (end[1] == '-' || end[1] == '+'), why);
    expected(shift <= LARGEST_EXPONENT, why);
    shift = (end[1] == '-' ? -shift : shift) - 4 * (long)part;
    memmove(s + whole, s + whole + mark, part), s[whole + part] = 0;
  }
  expected(!mpq_set_str(r, s, hex ? 16 : 10) && mpz_sgn(mpq_denref(r)), why);
  mpq_canonicalize(r);
  (shift < 0 ? mpq_div_2exp : mpq_mul_2exp)(r, r, (mp_bitcnt_t)labs(shift));
  if (minus) mpq_neg(r, r);
}

/* 17 digits of L, rounded down, or of E, U, T (lower, upper, tau), rounded up; positional from 1e-5 to 1e17.
 */
static void print_decimal(char letter) {
  Q r = letter == 'U' ? c.upper : letter == 'T' ? c.tau : c.lower;
  long k = (long)mpz_sizeinbase(mpq_numref(r), 10) - (long)mpz_sizeinbase(mpq_denref(r), 10) + 2;
  mpz_ui_pow_ui(c.h, 10, DIGITS - 1);
  do { /* k falls to the decimal exponent: r 10^(16 - k) has 17 digits before the point */
    Q s = mul(c.one, c.one);
    k--;
    mpz_ui_pow_ui(k < DIGITS ? mpq_numref(s) : mpq_denref(s), 10, (unsigned long)labs(DIGITS - 1 - k));
    s = mul(s, r);
    (letter == 'L' ? mpz_fdiv_q : mpz_cdiv_q)(c.k, mpq_numref(s), mpq_denref(s));
  } while (mpz_cmpabs(c.k, c.h) < 0 && sgn(r));
  if (!sgn(r)) k = 0;
  bool scientific = k < -5 || k >= DIGITS;
  long zeros = k < 0 && !scientific ? -k : 0, whole = scientific || zeros ? 1 : k + 1;
  char digits[DIGITS + 8] = "00000";
  mpz_abs(c.k, c.k);
  mpz_get_str(digits + zeros, 10, c.k);
  printf("%s%.*s%s", sgn(r) < 0 ? "-" : "", (int)whole, digits, digits[whole] ? "." : "");
  printf(scientific ? "%se%+03ld" : "%s", digits + whole, k);
}

/* The next line that is no comment: printable ASCII, tokens separated by one space. */
static void read_line(void) {
  ssize_t length;
  do {
    c.line_number++;
    length = getline(&c.line, &c.line_size, c.in);
    expected(length > 0, "the file ends before qed");
  } while (c.line[0] == '#');
  if (c.line[length - 1] == '\n') c.line[--length] = 0;
  c.at = c.line, c.spaces = 0;
  for (const char *s = c.line; s < c.line + length; s++) {
    expected(*s >= ' ' && *s <= '~', "a character that is not printable ASCII");
    expected(*s != ' ' || (s > c.line && s[1] > ' '), "tokens are separated by one space");
    c.spaces += *s == ' ';
  }
}

static char *token(void) {
  char *start = c.at;
  expected(*start, "the line is too short");
  c.at += strcspn(c.at, " ");
  if (*c.at) *c.at++ = 0;
  return start;
}

/* The next token is the first of two words (1) or the second (-1). */
static int either(const char *word, const char *other, const char *why) {
  const char *text = token();
  bool first = strcmp(text, word) == 0;
  expected(first || strcmp(text, other) == 0, why);
  return first ? 1 : -1;
}

/* Reads the next line, which begins with `word` (true) or with `other`. */
static bool begins(const char *word, const char *other) {
  read_line();
  return either(word, other, "not the statement that belongs here") > 0;
}

/* The next D tokens. There are as many before there is room for D entries: D may be a billion. */
static void vector(Vec *v) {
  expected(c.spaces >= c.d, "the line is too short");
  vec_zero(v);
  for (long j = 0; j < c.d; j++) {
    Q r = temporary();
    number_text(r, token());
    common_denominator(v, 1, r, mpq_denref(c.one));
    mpz_set(v->m[j], c.k);
  }
}

/* The terms up to the end of the line, or up to the `/` that must then be there. */
static void read_terms(bool slash) {
  while (*c.at || slash) {
    char *text = token(), *first = strchr(text, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    if (slash && strcmp(text, "/") == 0) return;
    Part *term = next(&c.terms, &c.terms_size, c.n_terms++, sizeof *term);
    if (!term->kind) mpq_inits(term->a, term->b, NULL);
    term->kind = *text == '@' ? '@' : second ? 'e' : 'i';
    expected(first && !(second && term->kind == '@'), "not a term");
    *first++ = 0;
    if (second) *second++ = 0;
    term->i = natural(text + (term->kind == '@'), "not an index");
    number_text(term->a, first);
    if (second) number_text(term->b, second);
  }
}

/* One line: `word` (NULL: already read), then what the letters of `format` say, in order. i: an index; s, m:
 * a sign, +1 -1 or + -; v: a vector, into g; w: N multipliers; h: N slopes; /: terms up to a slash; t: terms
 * to the end; a, T, L, U, b, r: a number, into leak, tau, lower, upper, bound, rho. */
static void statement(const char *word, const char *format) {
  static const char letters[] = "aTLUbr";
  static const Q slots[] = {c.leak, c.tau, c.lower, c.upper, c.bound, c.rho};
  if (word) begins(word, word);
  for (c.n_terms = c.middle = 0; *format; format++) switch (*format) {
    case 'i': c.i_before = c.i, c.i = natural(token(), "not an index"); break;
    case 's': c.sign = either("+1", "-1", "not a sign"); break;
    case 'm': c.sign = either("+", "-", "not a sign"); break;
    case 'v': vector(&c.g); break;
    case '/': read_terms(true), c.middle = c.n_terms; break;
    case 't': read_terms(false); break;
    case 'w':
    case 'h': EACH(s) number_text(*format == 'w' ? s->lambda : s->small, token()); break;
    default: number_text(slots[strchr(letters, *format) - letters], token());
    }
  expected(!*c.at, "the line is too long");
}

/* N multipliers >= 0, `some` of them > 0; their sum into c.sum and the sum of lambda_i y_i x_i into c.r,
 * which must `vanish`. Where the format has it, rho follows. */
static void weights(const char *word, const char *format, bool some, bool vanish) {
  statement(word, format);
  zero(c.sum);
  vec_zero(&c.r);
  EACH(s) {
    require(sgn(s->lambda) >= 0, "a multiplier is negative");
    add_to(c.sum, s->lambda);
    vec_add(&c.r, s->y, s->lambda, &s->x);
  }
  require(!some || sgn(c.sum) > 0, "all multipliers are 0");
  require(!vanish || !sgn(dot(&c.r, &c.r)), "the weighted sum of the rows is not 0");
}

/* The last line is qed, and nothing follows it. Numbers of the text: see print_decimal. */
static void accept(const char *text) {
  statement("qed", "");
  c.line_number++;
  expected(getc(c.in) == EOF, "something follows qed");
  for (printf("accepted "); *text; text++)
    strchr("LEUT", *text) ? print_decimal(*text) : (void)putchar(*text);
  putchar('\n');
}

/* ---- the rules of a tree ------------------------------------------------------------------- */

/* Rule N on the terms from `middle` on. With |u| <= 1, sigma_j z_j >= 0, a_k.u >= b_k, multipliers c, mu >= 0
 * and r = v + sum c_j sigma_j x_j + sum mu_k a_k: v.u <= r.u - sum mu_k b_k <= |r| - sum mu_k b_k.
 * On entry c.r = v; on return v.u <= c.beta = rho - sum mu_k b_k. */
static void rule_norm(void) {
  mpq_set(c.beta, c.rho);
  for (long k = c.middle; k < c.n_terms; k++) {
    const Part *t = &c.terms[k];
    bool cap = t->kind == '@';
    require(t->kind != 'e' && sgn(t->a) >= 0, "a multiplier is one number >= 0");
    require(t->i < (cap ? c.n_caps : c.n), "no such sample, or no such cap on this path");
    require(cap || c.samples[t->i].side, "the side of a sample is not known here");
    vec_add(&c.r, cap ? 1 : c.samples[t->i].side, t->a, cap ? &c.caps[t->i] : &c.samples[t->i].x);
    if (cap) mpq_sub(c.beta, c.beta, mul(t->a, c.caps[t->i].b));
  }
  bounds_norm(&c.r);
}

/* The gamma of rule E. Own, named: lambda phi(z) <= gamma z + e at both ends of the range, so between them,
 * as phi is convex. Opposite: -lambda phi(z) <= -gamma z for every gamma in [alpha lambda, lambda]. */
static Q slope(Sample *s, bool own) {
  Part *t = s->named ? &c.terms[s->named - 1] : NULL;
  require(t || !own || s->side || !sgn(s->lambda), "an own sample without a side is not named");
  if (!t) return own && s->side > 0 ? s->lambda : s->small;
  require(t->kind == (own ? 'e' : 'i'), "own: i:gamma:e, opposite: i:gamma");
  bool between = own || (at_most(s->small, t->a) && at_most(t->a, s->lambda));
  require(between, "gamma not in [alpha lambda, lambda]");
  if (!own) return t->a;
  require(!s->side && s->last[0] && s->last[1], "named: own, no side, both bounds known");
  Q high = c.facts[s->last[0]].a, low = c.facts[s->last[1]].a; /* z <= high, -z <= low */
  require(sgn(add(mul(sub(t->a, s->lambda), high), t->b)) >= 0, "the chord is too low at h");
  require(sgn(sub(t->b, mul(sub(t->a, s->small), low))) >= 0, "the chord is too low at l");
  add_to(c.constant, t->b);
  return t->a;
}

/* Rule E on the terms before `to`: F(u) <= g.u + C on this node. */
static void rule_envelope(Vec *g, long to) {
  vec_zero(g);
  zero(c.constant);
  EACH(s) s->named = 0;
  for (long t = 0; t < to; t++) {
    require(c.terms[t].kind != '@' && c.terms[t].i < c.n, "no such sample");
    Sample *s = &c.samples[c.terms[t].i];
    require(sgn(s->lambda) > 0 && !s->named, "named twice, or without weight");
    s->named = t + 1;
  }
  EACH(s) vec_add(g, s->y * c.tree, slope(s, s->y == c.tree), &s->x);
}

/* A new fact about sample i, which has no side yet: a bound (h, l) or only the side (m, s); 0: no side. */
static void learn(long i, char kind, const mpq_t bound, int side) {
  require(i < c.n && !c.samples[i].side, "no such sample, or it already has a side");
  Part *fact = next(&c.facts, &c.facts_size, ++c.n_facts, sizeof *fact);
  if (!fact->kind) mpq_inits(fact->a, fact->b, NULL);
  fact->kind = kind, fact->i = i, fact->caps = c.n_caps, c.samples[i].side = side;
  mpq_set(fact->a, bound);
  long *last = kind == 'h' || kind == 'l' ? &c.samples[i].last[kind == 'l'] : NULL;
  if (last) fact->before = *last, *last = c.n_facts;
}

/* h i H rho ... : z_i <= H (sigma = 1);  l i L rho ... : -z_i <= -L (sigma = -1). Rule N, v = sigma x_i. */
static void lemma_bound(char kind, int sigma) {
  statement(NULL, "ibrt");
  require(c.i < c.n, "no such sample");
  signed_by(sigma, c.bound);
  vec_zero(&c.r);
  vec_add(&c.r, sigma, c.one, &c.samples[c.i].x);
  rule_norm();
  require(at_most(c.beta, c.bound), "the bound is not proved");
  learn(c.i, kind, c.bound, sgn(c.bound) <= 0 ? -sigma : 0);
}

/* m i + : a maximiser with F > 0 is u = r/|r|, r = sum coefficient_j (own: x_j, opposite: -x_j). F is the
 * largest of the concave functions got by fixing own slopes, so own slopes are fixed by their sides; opposite
 * ones may be anything in [alpha lambda, lambda]. If x_i.r >= 0 for all of these, z_i >= 0. */
static void lemma_maximiser(void) {
  statement(NULL, "im");
  require(c.i < c.n, "no such sample");
  zero(c.sum); /* the least of side x_i.r */
  EACH(s) {
    Q z = signed_by(c.sign * c.tree * s->y, dot(&c.samples[c.i].x, &s->x));
    bool large = s->y == c.tree && s->side ? s->side > 0 : sgn(z) < 0;
    add_to(c.sum, mul(z, large ? s->lambda : s->small));
  }
  require(sgn(c.sum) >= 0, "the side is not proved");
  learn(c.i, 'm', c.one, c.sign);
}

/* c ... : T < F(u) <= g.u + C, so g.u >= T - C. */
static void lemma_cap(void) {
  statement(NULL, "t");
  Vec *cap = next(&c.caps, &c.caps_size, c.n_caps++, sizeof *cap);
  rule_envelope(cap, c.n_terms);
  mpq_sub(cap->b, c.tau, c.constant);
}

/* e rho ... / ... : F(u) <= g.u + C <= T.  n rho ... : 0 = 0.u < 0. Either way no u is left in this node.
 * Then back to the last split whose second child z_i <= 0 is still to come; false: the tree is done. */
static bool close_node(bool envelope) {
  statement(NULL, envelope ? "r/t" : "rt");
  vec_zero(&c.r);
  if (envelope) rule_envelope(&c.r, c.middle);
  rule_norm();
  require(envelope ? at_most(add(c.beta, c.constant), c.tau) : sgn(c.beta) < 0, "the node is not closed");
  while (c.n_facts > 0) {
    const Part *fact = &c.facts[c.n_facts--];
    c.samples[fact->i].side = 0;
    if (fact->kind == 'h' || fact->kind == 'l') c.samples[fact->i].last[fact->kind == 'l'] = fact->before;
    if (fact->kind != 's') continue;
    c.n_caps = fact->caps;
    learn(fact->i, 'm', c.one, -1);
    return true;
  }
  return false;
}

/* tree s: no u with |u| <= 1 has F(u) > T, where F(u) = s sum lambda_i y_i phi(u.x_i). */
static void check_tree(int s) {
  statement("tree", "s");
  expected(c.sign == s, "the tree of the other sign");
  c.tree = s, c.n_caps = 0;
  for (bool open = true; open;) {
    read_line();
    const char *word = token();
    switch (word[1] ? 0 : word[0]) {
    case 'h': lemma_bound('h', 1); break;
    case 'l': lemma_bound('l', -1); break;
    case 'm': lemma_maximiser(); break;
    case 'c': lemma_cap(); break;
    case 's': statement(NULL, "i"), learn(c.i, 's', c.one, 1); break; /* this node is z_i >= 0 */
    case 'e': open = close_node(true); break;
    case 'n': open = close_node(false); break;
    default: expected(false, "not a statement of a tree");
    }
  }
}

static void check_trees(void) {
  EACH(s) mpq_mul(s->small, c.leak, s->lambda);
  if (c.only >= 0) check_tree(1);
  if (c.only <= 0) check_tree(-1);
}

/* ---- claims -------------------------------------------------------------------------------- */

/* upper U, neurons K, u s v rho: with mu the least margin > 0, sum |u_k| / mu <= sum rho_k / mu <= U. */
static void check_network(void) {
  statement(NULL, "U");
  statement("neurons", "i");
  zero(c.sum);
  while (c.i-- > 0) {
    statement("u", "svr");
    require(!c.only || c.sign == c.only, "a neuron of a sign that is not allowed");
    bounds_norm(&c.g);
    add_to(c.sum, c.rho);
    EACH(s) add_to(s->q, signed_by(c.sign * s->y, phi(dot(&c.g, &s->x))));
  }
  EACH(s) {
    require(sgn(s->q) > 0, "the network does not separate the data");
    require(at_most(c.sum, mul(c.upper, s->q)), "the network is longer than U");
  }
}

/* For margins >= 1: sum lambda <= sum_i lambda_i y_i f(x_i) = sum_k F_k(u_k) <= T sum |u_k|. */
static void claim_optimum(void) {
  bool upper = begins("upper", "lower");
  if (upper) check_network();
  statement(upper ? "lower" : NULL, "L");
  statement("tau", "T");
  require(sgn(c.tau) > 0, "tau is not positive");
  weights("lambda", "w", false, false);
  require(at_most(mul(c.lower, c.tau), c.sum), "the sum of lambda is less than L T");
  check_trees();
  accept(upper ? "optimum L <= V <= U" : "optimum L <= V");
}

/* Every unit w has min_i y_i w.x_i <= w.(sum alpha_i y_i x_i)/A <= rho2/A; the one given reaches L. */
static void claim_separable(void) {
  statement("w", "vr");
  bounds_norm(&c.g);
  require(sgn(c.rho) > 0, "rho is not positive");
  statement("lower", "L");
  require(sgn(c.lower) > 0, "L is not positive");
  EACH(s) {
    Q z = signed_by(s->y, dot(&c.g, &s->x));
    require(at_most(mul(c.lower, c.rho), z), "w has a smaller margin than L");
  }
  statement("upper", "U");
  weights("alpha", "wr", true, false);
  bounds_norm(&c.r);
  require(at_most(c.rho, mul(c.upper, c.sum)), "U is not proved");
  accept("separable L <= margin <= U");
}

/* alpha >= 0, not all 0, and sum alpha_i y_i x_i = 0: no w has every y_i w.x_i > 0. */
static void claim_inseparable(void) { weights("alpha", "w", true, true), accept("inseparable"); }

/* sum_i f_i y_i phi(u.x_i) = 0 for every u. phi(z) = (1 + alpha)/2 z + (1 - alpha)/2 |z|, and the functions
 * |u.v| of different lines v are independent: the sum of f_j y_j |x_j| vanishes on every line. Row j lies on
 * the line of row i when (x_i.x_j)^2 = |x_i|^2 |x_j|^2, and |x_i.x_j| is |x_j| times a constant there. For
 * one sign s of a: s sum_i f_i y_i phi(u.x_i) <= 0 for every u is enough, by a tree with T = 0. */
static void claim_infeasible(void) {
  weights("farkas", "w", true, !c.only);
  if (c.only) check_trees();
  EACH(s) {
    if (c.only || !sgn(s->lambda) || mpq_equal(c.leak, c.one)) continue;
    zero(c.sum); /* over the line of s; a row that is 0 lies on none, and adds 0 */
    EACH(t) {
      Q z = dot(&s->x, &t->x), size = mul(dot(&s->x, &s->x), dot(&t->x, &t->x));
      if (mpq_equal(mul(z, z), size)) mpq_abs(z, z), add_to(c.sum, signed_by(t->y, mul(z, t->lambda)));
    }
    require(!sgn(c.sum), "the sum over a line is not 0");
  }
  accept("infeasible");
}

/* The line of slopes h of a neuron: 1 where z > 0, alpha where z < 0, and anything in [alpha, 1] where
 * z^2 <= H^2 |w|^2 |x|^2. Adds the squares of w - sum lambda y a h x and a - sum lambda y phi(w.x) to sum. */
static void check_slopes(const Vec *w) {
  statement("h", "h");
  vec_zero(&c.r);
  vec_add(&c.r, 1, c.one, w);
  mpq_set(c.constant, w->b);
  EACH(s) {
    Q z = dot(w, &s->x), width = mul(mul(c.tau, c.tau), mul(dot(w, w), dot(&s->x, &s->x)));
    bool exact = mpq_equal(s->small, sgn(z) > 0 ? c.one : c.leak);
    require(exact || at_most(mul(z, z), width), "a slope is wrong away from a kink");
    require(at_most(c.leak, s->small) && at_most(s->small, c.one), "a slope outside [alpha, 1]");
    vec_add(&c.r, -s->y, mul(mul(s->small, w->b), s->lambda), &s->x);
    mpq_sub(c.constant, c.constant, mul(s->lambda, signed_by(s->y, phi(z))));
  }
  add_to(c.sum, add(dot(&c.r, &c.r), mul(c.constant, c.constant)));
}

/* network K, n a w ..., epsilon E, delta D, kink H, lambda, slopes: |residual|^2 <= E^2 |theta|^2, all
 * q_i = y_i f(x_i) >= 1 and 2 sum lambda_i (q_i - 1) <= D |theta|^2. Here lower is E, upper D and tau H. */
static void claim_kkt(void) {
  statement("network", "i");
  zero(c.bound); /* |theta|^2 */
  for (long k = 0; k < c.i; k++) {
    statement("n", "rv");
    mpq_set(c.g.b, c.rho);
    add_to(c.bound, add(dot(&c.g, &c.g), mul(c.rho, c.rho)));
    EACH(s) add_to(s->q, mul(c.rho, signed_by(s->y, phi(dot(&c.g, &s->x)))));
    *(Vec *)next(&c.neurons, &c.neurons_size, k, sizeof c.g) = c.g, c.g.m = NULL;
  }
  EACH(s) require(at_most(c.one, s->q), "a margin is less than 1");
  statement("epsilon", "L");
  statement("delta", "U");
  bool kink = begins("kink", "lambda");
  if (kink) statement(NULL, "T");
  weights(kink ? "lambda" : NULL, "w", false, false);
  require(sgn(c.lower) >= 0 && sgn(c.upper) >= 0 && sgn(c.tau) >= 0, "a bound is negative");
  zero(c.sum);
  EACH(s) add_to(c.sum, mul(s->lambda, sub(s->q, c.one)));
  require(at_most(add(c.sum, c.sum), mul(c.upper, c.bound)), "complementarity is above delta");
  statement("slopes", "");
  zero(c.sum);
  for (long k = 0; k < c.i; k++) check_slopes(&c.neurons[k]);
  require(at_most(c.sum, mul(mul(c.lower, c.lower), c.bound)), "stationarity is above epsilon");
  accept(kink ? "kkt stationarity <= E, complementarity <= U, kinks within T"
              : "kkt stationarity <= E, complementarity <= U");
}

static void check_file(FILE *in) {
  static const char *const names[] = {"optimum", "infeasible", "separable", "inseparable", "kkt"};
  static void (*const claims[])(void) = {claim_optimum, claim_infeasible, claim_separable, claim_inseparable,
                                         claim_kkt};
  c.in = in;
  mpq_inits(c.leak, c.tau, c.lower, c.upper, c.bound, c.rho, c.constant, c.beta, c.sum, c.one, NULL);
  mpz_inits(c.k, c.f, c.h, NULL);
  mpq_set_ui(c.one, 1, 1);
  for (int k = 0; k < TEMPORARIES; k++) mpq_init(c.ring[k]);
  begins("reluflow-proof", "reluflow-proof");
  expected(strcmp(c.at, "1") == 0, "not version 1");
  begins("claim", "claim");
  int claim = 0;
  while (claim < 5 && strcmp(c.at, names[claim]) != 0) claim++;
  expected(claim < 5, "no such claim");
  statement("leak", "a");
  require(sgn(c.leak) >= 0 && at_most(c.leak, c.one), "the leak is not in [0, 1]");
  if (claim < 2) begins("signs", "signs");
  if (claim < 2 && strcmp(c.at, "both") != 0) statement(NULL, "m"), c.only = c.sign;
  statement("data", "ii");
  c.n = c.i_before, c.d = c.i;
  expected(c.n >= 1 && c.d >= 1, "no data");
  for (long i = 0; i < c.n; i++) {
    statement("x", "sv");
    Sample *s = next(&c.samples, &c.samples_size, i, sizeof *s);
    mpq_inits(s->lambda, s->small, s->q, NULL);
    s->y = c.sign, s->x = c.g, c.g.m = NULL;
  }
  claims[claim]();
}

int main(int count, char **arguments) {
  FILE *in = count == 2 ? fopen(arguments[1], "rb") : NULL;
  expected(in, count == 2 ? "the file cannot be read" : "usage: rfcheck FILE");
  check_file(in);
  fclose(in);
  return 0;
}
