/* rfcheck FILE: checks a proof file of reluflow (docs/proof.md) in exact arithmetic. It shares no code with
 * the program that wrote the file. One line on standard output:
 *   accepted optimum 1.3416407864998735 <= V <= 1.3416407864998740     status 0: proved, decimals outward
 *   rejected line 812: why                                             status 1: a check fails
 *   malformed line 7: why                                              status 2: not a proof file
 * The first line with a problem decides; on one line, syntax comes before checks. Memory: the data, the
 * multipliers, one line and one path of the tree. There is no rounding and no tolerance anywhere. */
#include <gmp.h>
#include <stdarg.h>
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

typedef struct Term { /* i:a, i:a:b or @i:a, of kind 'i', 'e' or '@' */
  char kind;
  long i;
  mpq_t a, b;
} Term;

typedef struct Fact { /* sample i got a side or a bound here; a split has a second child to come */
  bool split;
  int end;
  long i, before, caps; /* before: the fact that told this bound earlier on the path */
  mpq_t bound;
} Fact;

static struct {
  FILE *in;
  char *line, *at, digits[NUMBER_CHARACTERS + 1];
  size_t line_size;
  long line_number, n, d;
  int only;                           /* the only sign that a may have; 0: both */
  mpq_t one, leak, tau, lower, upper; /* 1, alpha, T, L, U */
  Vec *x, *w, *caps;                  /* rows; neurons of claim kkt; caps of the present path */
  int *y, *side;             /* labels; z_i = u.x_i >= 0 (+1), <= 0 (-1), not known (0) on the path */
  mpq_t *lambda, *small, *q; /* lambda_i, alpha lambda_i, y_i f(x_i) */
  long *last[2];             /* the facts z_i <= bound and -z_i <= bound on the path, -1: none */
  bool *named;
  Fact *facts;
  Term *terms;
  long n_caps, n_facts, n_terms, middle, caps_size, facts_size, terms_size;
  Vec g, r; /* work: vectors, rule E's C, rho, rule N's bound, sums */
  mpq_t constant, rho, beta, sum, ring[TEMPORARIES];
  mpz_t k, f, h; /* work of vec_add and print_decimal */
  unsigned used;
} c;

static _Noreturn void leave(const char *word, const char *why) {
  printf("%s line %ld: %s\n", word, c.line_number, why);
  exit(*word == 'r' ? 1 : 2);
}

static _Noreturn void malformed(const char *why) { leave("malformed", why); }

static void require(bool holds, const char *why) {
  if (!holds) leave("rejected", why);
}

/* Element `count` of an array that grows by halves; new elements are zero bytes. */
static void *next(void *array, long *capacity, long count, size_t size) {
  char **block = array;
  if (count >= *capacity) {
    long wanted = count + count / 2 + 8;
    char *larger = realloc(*block, (size_t)wanted * size);
    if (!larger) malformed("out of memory");
    memset(larger + (size_t)*capacity * size, 0, (size_t)(wanted - *capacity) * size);
    *block = larger, *capacity = wanted;
  }
  return *block + (size_t)count * size;
}

static void *room(long count, size_t size) {
  void *block = NULL;
  next(&block, &(long){0}, count, size);
  return block;
}

static mpq_t *numbers(long count) {
  mpq_t *array = room(count, sizeof *array);
  for (long i = 0; i < count; i++) mpq_init(array[i]);
  return array;
}

/* ---- exact arithmetic: results live in a ring of temporaries until 32 more were made ------- */

static Q temporary(void) { return c.ring[c.used++ % TEMPORARIES]; }
static int sgn(const mpq_t a) { return mpq_sgn(a); }
static bool at_most(const mpq_t a, const mpq_t b) { return mpq_cmp(a, b) <= 0; }

static Q result(void (*operation)(mpq_ptr, mpq_srcptr, mpq_srcptr), const mpq_t a, const mpq_t b) {
  Q r = temporary();
  operation(r, a, b);
  return r;
}

static Q add(const mpq_t a, const mpq_t b) { return result(mpq_add, a, b); }
static Q sub(const mpq_t a, const mpq_t b) { return result(mpq_sub, a, b); }
static Q mul(const mpq_t a, const mpq_t b) { return result(mpq_mul, a, b); }

static void vec_zero(Vec *v) {
  if (!v->m) v->m = room(c.d, sizeof *v->m), mpz_init(v->q), mpq_init(v->b);
  for (long j = 0; j < c.d; j++) mpz_set_ui(v->m[j], 0);
  mpz_set_ui(v->q, 1);
}

/* v takes the denominator lcm(v.q, f), and k/f becomes k/lcm. */
static void common_denominator(Vec *v) {
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
  mpz_mul_si(c.k, mpq_numref(a), sign);
  mpz_mul(c.f, mpq_denref(a), x->q);
  common_denominator(v);
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

/* rho >= |v|, without a square root. */
static bool bounds_norm(const mpq_t rho, const Vec *v) {
  return sgn(rho) >= 0 && at_most(dot(v, v), mul(rho, rho));
}

/* sign phi(w.x), phi(z) = z for z > 0 and alpha z otherwise */
static Q neuron(int sign, const Vec *w, const Vec *x) {
  Q z = dot(w, x);
  if (sgn(z) < 0) mpq_mul(z, z, c.leak);
  if (sign < 0) mpq_neg(z, z);
  return z;
}

/* ---- numbers as text ----------------------------------------------------------------------- */

static size_t decimals(const char *s) { return strspn(s, "0123456789"); }

/* H+(.H+)?p[+-]?D+, what %a prints after 0x, with an exponent of at most 20000. */
static bool parse_hexadecimal(mpq_t r, const char *s) {
  const char *hex = "0123456789abcdef";
  size_t whole = strspn(s, hex), point = s[whole] == '.', part = point ? strspn(s + whole + 1, hex) : 0;
  snprintf(c.digits, sizeof c.digits, "%.*s%.*s", (int)whole, s, (int)part, s + whole + point);
  s += whole + point + part;
  if (!whole || part < point || *s++ != 'p') return false;
  bool minus = *s == '-';
  if (*s == '-' || *s == '+') s++;
  size_t length = decimals(s);
  long exponent = length < 1 || length > 9 || s[length] ? LARGEST_EXPONENT + 1 : strtol(s, NULL, 10);
  if (exponent > LARGEST_EXPONENT || mpz_set_str(mpq_numref(r), c.digits, 16)) return false;
  exponent = (minus ? -exponent : exponent) - 4 * (long)part;
  (exponent < 0 ? mpq_div_2exp : mpq_mul_2exp)(r, r, (mp_bitcnt_t)labs(exponent));
  return true;
}

/* A hexadecimal float, or D+, or D+/D+ with a positive denominator; a minus sign may precede. */
static void number_text(mpq_t r, const char *s) {
  bool minus = *s == '-', hexadecimal = s[minus] == '0' && s[minus + 1] == 'x';
  size_t size = strlen(s), slash = strcspn(s += minus, "/"), digits = decimals(s);
  mpq_set_ui(r, 0, 1);
  bool right = size <= NUMBER_CHARACTERS && digits > 0 && (hexadecimal || digits == slash);
  if (right && !hexadecimal && s[slash]) right = s[slash + 1] && !s[slash + 1 + decimals(s + slash + 1)];
  if (right) right = hexadecimal ? parse_hexadecimal(r, s + 2) : !mpq_set_str(r, s, 10);
  if (!right || !mpz_sgn(mpq_denref(r))) malformed("not a number");
  mpq_canonicalize(r);
  if (minus) mpq_neg(r, r);
}

/* 17 digits of r, rounded down (up = -1) or up (+1); positional for 1e-5 <= |r| < 1e17. */
static void print_decimal(const char *before, const mpq_t r, int up) {
  long k = (long)mpz_sizeinbase(mpq_numref(r), 10) - (long)mpz_sizeinbase(mpq_denref(r), 10) + 2;
  mpz_ui_pow_ui(c.h, 10, DIGITS - 1);
  do { /* k falls to the decimal exponent: r 10^(16 - k) has 17 digits before the point */
    Q s = mul(c.one, c.one);
    k--;
    mpz_ui_pow_ui(k < DIGITS ? mpq_numref(s) : mpq_denref(s), 10, (unsigned long)labs(DIGITS - 1 - k));
    s = mul(s, r);
    (up > 0 ? mpz_cdiv_q : mpz_fdiv_q)(c.k, mpq_numref(s), mpq_denref(s));
  } while (mpz_cmpabs(c.k, c.h) < 0 && sgn(r));
  if (!sgn(r)) k = 0;
  bool scientific = k < -5 || k >= DIGITS;
  long zeros = k < 0 && !scientific ? -k : 0, whole = scientific || zeros ? 1 : k + 1;
  char digits[DIGITS + 8] = "00000";
  mpz_abs(c.k, c.k);
  mpz_get_str(digits + zeros, 10, c.k);
  printf("%s%s%.*s%s%s", before, sgn(r) < 0 ? "-" : "", (int)whole, digits, digits[whole] ? "." : "",
         digits + whole);
  if (scientific) printf("e%+03ld", k);
}

/* ---- lines and tokens ------------------------------------------------------------------------------- */

/* The next line that is no comment: printable ASCII, tokens separated by one space. */
static void read_line(void) {
  ssize_t length;
  do {
    c.line_number++;
    length = getline(&c.line, &c.line_size, c.in);
    if (length < 0) malformed("the file ends before qed");
  } while (c.line[0] == '#');
  if (c.line[length - 1] == '\n') c.line[--length] = 0;
  for (ssize_t k = 0; k < length; k++)
    if (c.line[k] < ' ' || c.line[k] > '~') malformed("a character that is not printable ASCII");
  if (!length || c.line[0] == ' ' || c.line[length - 1] == ' ' || strstr(c.line, "  "))
    malformed("tokens are separated by one space");
  c.at = c.line;
}

static char *token(void) {
  if (!*c.at) malformed("the line is too short");
  char *start = c.at;
  c.at += strcspn(c.at, " ");
  if (*c.at) *c.at++ = 0;
  return start;
}

/* Reads the next line, which begins with `word` (true) or with `other`. */
static bool expect_either(const char *word, const char *other) {
  read_line();
  const char *text = token();
  if (strcmp(text, word) != 0 && strcmp(text, other) != 0) malformed("not the statement that belongs here");
  return strcmp(text, word) == 0;
}

static void expect(const char *word) { expect_either(word, word); }

static long index_text(const char *text) {
  size_t length = decimals(text);
  if (length < 1 || length > 9 || text[length]) malformed("not an index");
  return strtol(text, NULL, 10);
}

static int sign(const char *plus, const char *minus) {
  const char *text = token();
  if (strcmp(text, plus) != 0 && strcmp(text, minus) != 0) malformed("not a sign");
  return strcmp(text, plus) == 0 ? 1 : -1;
}

/* The next D tokens. */
static void vector(Vec *v) {
  long tokens = *c.at != 0; /* counted before there is room for D entries: D may be a billion */
  for (const char *s = c.at; *s; s++) tokens += *s == ' ';
  if (tokens < c.d) malformed("the line is too short");
  vec_zero(v);
  for (long j = 0; j < c.d; j++) {
    Q r = temporary();
    number_text(r, token());
    mpz_set(c.k, mpq_numref(r));
    mpz_set(c.f, mpq_denref(r));
    common_denominator(v);
    mpz_set(v->m[j], c.k);
  }
}

/* The terms up to the end of the line, or up to the `/` that must then be there. */
static void read_terms(bool slash) {
  while (*c.at || slash) {
    char *text = token();
    if (slash && strcmp(text, "/") == 0) return;
    Term *term = next(&c.terms, &c.terms_size, c.n_terms++, sizeof *term);
    if (!term->kind) mpq_inits(term->a, term->b, NULL);
    term->kind = *text == '@' ? '@' : 'i';
    if (*text == '@') text++;
    char *first = strchr(text, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    if (!first || (second && term->kind == '@')) malformed("not a term");
    if (second) term->kind = 'e', *second++ = 0;
    *first++ = 0;
    term->i = index_text(text);
    number_text(term->a, first);
    if (second) number_text(term->b, second);
  }
}

/* One line: `word` (NULL: already read), then what the letters of `format` say, in order. s, m: a sign, +1 -1
 * or
 * + -; i: an index; n: a number; v: a vector; w: N numbers; /: terms up to a slash; t: terms to the end. */
static void statement(const char *word, const char *format, ...) {
  va_list to;
  va_start(to, format);
  if (word) expect(word);
  for (c.n_terms = c.middle = 0; *format; format++) switch (*format) {
    case 's': *va_arg(to, int *) = sign("+1", "-1"); break;
    case 'm': *va_arg(to, int *) = sign("+", "-"); break;
    case 'i': *va_arg(to, long *) = index_text(token()); break;
    case 'n': number_text(va_arg(to, Q), token()); break;
    case 'v': vector(va_arg(to, Vec *)); break;
    case '/': read_terms(true), c.middle = c.n_terms; break;
    case 't': read_terms(false); break;
    default:
      for (mpq_t *out = va_arg(to, mpq_t *), *end = out + c.n; out < end; out++) number_text(*out, token());
    }
  va_end(to);
  if (*c.at) malformed("the line is too long");
}

/* N multipliers >= 0 into lambda, their sum into c.sum; rho behind them where the format has it. */
static void weights(const char *word, const char *format) {
  statement(word, format, c.lambda, c.rho);
  mpq_set_ui(c.sum, 0, 1);
  for (long i = 0; i < c.n; i++) {
    require(sgn(c.lambda[i]) >= 0, "a multiplier is negative");
    mpq_add(c.sum, c.sum, c.lambda[i]);
  }
}

/* The last line is qed, and nothing follows it. */
static void finish(void) {
  statement("qed", "");
  c.line_number++;
  if (getc(c.in) != EOF) malformed("something follows qed");
}

/* ---- the rules of a tree ------------------------------------------------------------------- */

/* Rule N on the terms from `from` on. With |u| <= 1, sigma_j z_j >= 0, a_k.u >= b_k, multipliers c, mu >= 0
 * and r = v + sum c_j sigma_j x_j + sum mu_k a_k: v.u <= r.u - sum mu_k b_k <= |r| - sum mu_k b_k.
 * On entry c.r = v; on return v.u <= c.beta = rho - sum mu_k b_k. */
static void rule_norm(long from) {
  mpq_set(c.beta, c.rho);
  for (long t = from; t < c.n_terms; t++) {
    const Term *term = &c.terms[t];
    bool cap = term->kind == '@';
    require(term->kind != 'e' && sgn(term->a) >= 0, "a multiplier is one number >= 0");
    require(term->i < (cap ? c.n_caps : c.n), "no such sample, or no such cap on this path");
    require(cap || c.side[term->i] != 0, "the side of a sample is not known here");
    vec_add(&c.r, cap ? 1 : c.side[term->i], term->a, cap ? &c.caps[term->i] : &c.x[term->i]);
    if (cap) mpq_sub(c.beta, c.beta, mul(term->a, c.caps[term->i].b));
  }
  require(bounds_norm(c.rho, &c.r), "rho is less than the norm");
}

/* One term of rule E. Own: lambda phi(z) <= gamma z + e at both ends of the range, so between them, as phi is
 * convex. Opposite: -lambda phi(z) <= -gamma z for every gamma in [alpha lambda, lambda]. */
static void check_slope(const Term *term, bool own) {
  long i = term->i;
  require(own ? term->kind == 'e' : term->kind == 'i', "own: i:gamma:e, opposite: i:gamma");
  if (!own) {
    require(at_most(c.small[i], term->a) && at_most(term->a, c.lambda[i]),
            "gamma not in [alpha lambda, lambda]");
    return;
  }
  require(c.side[i] == 0 && c.last[0][i] >= 0 && c.last[1][i] >= 0, "named: own, no side, both bounds known");
  Q high = c.facts[c.last[0][i]].bound, low = c.facts[c.last[1][i]].bound; /* z <= high, -z <= low */
  require(sgn(add(mul(sub(term->a, c.lambda[i]), high), term->b)) >= 0, "the chord is too low at h");
  require(sgn(sub(term->b, mul(sub(term->a, c.small[i]), low))) >= 0, "the chord is too low at l");
}

/* Rule E on the terms before `to`, in the tree of sign s: F(u) <= g.u + C on this node. */
static void rule_envelope(Vec *g, int s, long to) {
  vec_zero(g);
  mpq_set_ui(c.constant, 0, 1);
  memset(c.named, 0, (size_t)c.n * sizeof *c.named);
  for (long t = 0; t < to; t++) {
    const Term *term = &c.terms[t];
    require(term->kind != '@' && term->i < c.n, "no such sample");
    require(sgn(c.lambda[term->i]) > 0 && !c.named[term->i], "named twice, or without weight");
    c.named[term->i] = true;
    bool own = c.y[term->i] == s;
    check_slope(term, own);
    vec_add(g, own ? 1 : -1, term->a, &c.x[term->i]);
    if (own) mpq_add(c.constant, c.constant, term->b);
  }
  for (long i = 0; i < c.n; i++) {
    if (c.named[i] || !sgn(c.lambda[i])) continue;
    bool own = c.y[i] == s;
    require(!own || c.side[i] != 0, "an own sample without a side is not named");
    vec_add(g, own ? 1 : -1, own && c.side[i] > 0 ? c.lambda[i] : c.small[i], &c.x[i]);
  }
}

/* A new fact about sample i: z_i <= bound (end 0), -z_i <= bound (end 1), or its side only (end 2). */
static Fact *learn(long i, int end) {
  require(i < c.n && c.side[i] == 0, "no such sample, or it already has a side");
  Fact *fact = next(&c.facts, &c.facts_size, c.n_facts, sizeof *fact);
  if (!mpz_sgn(mpq_denref(fact->bound))) mpq_init(fact->bound);
  fact->split = false, fact->end = end, fact->i = i, fact->caps = c.n_caps;
  if (end < 2) fact->before = c.last[end][i], c.last[end][i] = c.n_facts;
  c.n_facts++;
  return fact;
}

/* h i H rho ... : z_i <= H (sigma = 1);  l i L rho ... : -z_i <= -L (sigma = -1). Rule N, v = sigma x_i. */
static void lemma_bound(int sigma) {
  long i;
  statement(NULL, "innt", &i, c.sum, c.rho);
  require(i < c.n, "no such sample");
  if (sigma < 0) mpq_neg(c.sum, c.sum);
  vec_zero(&c.r);
  vec_add(&c.r, sigma, c.one, &c.x[i]);
  rule_norm(0);
  require(at_most(c.beta, c.sum), "the bound is not proved");
  mpq_set(learn(i, sigma < 0)->bound, c.sum);
  if (sgn(c.sum) <= 0) c.side[i] = -sigma;
}

/* m i + : a maximiser with F > 0 is u = r/|r|, r = sum coefficient_j (own: x_j, opposite: -x_j). F is the
 * largest of the concave functions got by fixing own slopes, so own slopes are fixed by their sides; opposite
 * ones may be anything in [alpha lambda, lambda]. If x_i.r >= 0 for all of these, z_i >= 0. */
static void lemma_maximiser(int s) {
  long i;
  int side;
  statement(NULL, "im", &i, &side);
  learn(i, 2);
  mpq_set_ui(c.sum, 0, 1); /* the least of side x_i.r */
  for (long j = 0; j < c.n; j++) {
    if (!sgn(c.lambda[j])) continue;
    Q z = dot(&c.x[i], &c.x[j]);
    if ((c.y[j] == s) != (side > 0)) mpq_neg(z, z);
    int known = c.y[j] == s ? c.side[j] : 0;
    bool large = known ? known > 0 : sgn(z) < 0;
    mpq_add(c.sum, c.sum, mul(z, large ? c.lambda[j] : c.small[j]));
  }
  require(sgn(c.sum) >= 0, "the side is not proved");
  c.side[i] = side;
}

/* c ... : T < F(u) <= g.u + C, so g.u >= T - C. */
static void lemma_cap(int s) {
  statement(NULL, "t");
  Vec *cap = next(&c.caps, &c.caps_size, c.n_caps++, sizeof *cap);
  rule_envelope(cap, s, c.n_terms);
  mpq_sub(cap->b, c.tau, c.constant);
}

/* s i: the present node is z_i >= 0, z_i <= 0 comes when that is done. */
static void split(void) {
  long i;
  statement(NULL, "i", &i);
  learn(i, 2)->split = true;
  c.side[i] = 1;
}

/* Back to the last split whose second child is still to come; false: the tree is done. */
static bool second_child(void) {
  while (c.n_facts > 0) {
    const Fact *fact = &c.facts[--c.n_facts];
    c.side[fact->i] = 0;
    if (fact->end < 2) c.last[fact->end][fact->i] = fact->before;
    if (!fact->split) continue;
    c.n_caps = fact->caps;
    c.side[learn(fact->i, 2)->i] = -1;
    return true;
  }
  return false;
}

/* e rho ... / ... : F(u) <= g.u + C <= T.  n rho ... : 0 = 0.u < 0. Either way no u is left in this node. */
static bool close_node(int s, bool envelope) {
  statement(NULL, envelope ? "n/t" : "nt", c.rho);
  vec_zero(&c.r);
  if (envelope) rule_envelope(&c.r, s, c.middle);
  rule_norm(c.middle);
  bool closed = envelope ? at_most(add(c.beta, c.constant), c.tau) : sgn(c.beta) < 0;
  require(closed, "the node is not closed");
  return second_child();
}

/* tree s: no u with |u| <= 1 has F(u) > T, where F(u) = s sum lambda_i y_i phi(u.x_i). */
static void check_tree(int s) {
  int stated;
  statement("tree", "s", &stated);
  if (stated != s) malformed("the tree of the other sign");
  for (long i = 0; i < c.n; i++) c.side[i] = 0, c.last[0][i] = c.last[1][i] = -1;
  c.n_caps = c.n_facts = 0;
  bool open = true;
  while (open) {
    read_line();
    const char *word = token();
    switch (word[1] ? 0 : word[0]) {
    case 'h': lemma_bound(1); break;
    case 'l': lemma_bound(-1); break;
    case 'm': lemma_maximiser(s); break;
    case 'c': lemma_cap(s); break;
    case 's': split(); break;
    case 'e': open = close_node(s, true); break;
    case 'n': open = close_node(s, false); break;
    default: malformed("not a statement of a tree");
    }
  }
}

static void check_trees(void) {
  for (long i = 0; i < c.n; i++) mpq_mul(c.small[i], c.leak, c.lambda[i]);
  if (c.only >= 0) check_tree(1);
  if (c.only <= 0) check_tree(-1);
}

/* ---- claims -------------------------------------------------------------------------------- */

/* upper U, neurons K, u s v rho: with mu the least margin > 0, sum |u_k| / mu <= sum rho_k / mu <= U. */
static void check_network(void) {
  long count;
  int s;
  statement(NULL, "n", c.upper);
  statement("neurons", "i", &count);
  mpq_set_ui(c.sum, 0, 1);
  for (long k = 0; k < count; k++) {
    statement("u", "svn", &s, &c.g, c.rho);
    require(!c.only || s == c.only, "a neuron of a sign that is not allowed");
    require(bounds_norm(c.rho, &c.g), "rho is less than the norm");
    mpq_add(c.sum, c.sum, c.rho);
    for (long i = 0; i < c.n; i++) mpq_add(c.q[i], c.q[i], neuron(s * c.y[i], &c.g, &c.x[i]));
  }
  for (long i = 0; i < c.n; i++) {
    require(sgn(c.q[i]) > 0, "the network does not separate the data");
    require(at_most(c.sum, mul(c.upper, c.q[i])), "the network is longer than U");
  }
}

/* For a network with margins >= 1: sum lambda <= sum_i lambda_i y_i f(x_i) = sum_k F_k(u_k) <= T sum |u_k|.
 */
static void claim_optimum(void) {
  bool upper = expect_either("upper", "lower");
  if (upper) check_network(), expect("lower");
  statement(NULL, "n", c.lower);
  statement("tau", "n", c.tau);
  require(sgn(c.tau) > 0, "tau is not positive");
  weights("lambda", "w");
  require(at_most(mul(c.lower, c.tau), c.sum), "the sum of lambda is less than L T");
  check_trees();
  finish();
  print_decimal("accepted optimum ", c.lower, -1);
  printf(" <= V");
  if (upper) print_decimal(" <= ", c.upper, 1);
}

/* N multipliers, not all 0, and c.r = sum lambda_i y_i x_i. */
static void weigh_rows(const char *word, const char *format) {
  weights(word, format);
  require(sgn(c.sum) > 0, "all multipliers are 0");
  vec_zero(&c.r);
  for (long i = 0; i < c.n; i++) vec_add(&c.r, c.y[i], c.lambda[i], &c.x[i]);
}

static void vanishing_rows(void) {
  for (long j = 0; j < c.d; j++) require(!mpz_sgn(c.r.m[j]), "the weighted sum of the rows is not 0");
}

/* Every unit w has min_i y_i w.x_i <= w.(sum alpha_i y_i x_i)/A <= rho2/A; the one given reaches L. */
static void claim_separable(void) {
  statement("w", "vn", &c.g, c.rho);
  require(sgn(c.rho) > 0 && bounds_norm(c.rho, &c.g), "rho is not positive or less than the norm");
  statement("lower", "n", c.lower);
  require(sgn(c.lower) > 0, "L is not positive");
  for (long i = 0; i < c.n; i++) {
    Q z = dot(&c.g, &c.x[i]);
    if (c.y[i] < 0) mpq_neg(z, z);
    require(at_most(mul(c.lower, c.rho), z), "w has a smaller margin than L");
  }
  statement("upper", "n", c.upper);
  weigh_rows("alpha", "wn");
  require(bounds_norm(c.rho, &c.r), "rho is less than the norm");
  require(at_most(c.rho, mul(c.upper, c.sum)), "U is not proved");
  finish();
  print_decimal("accepted separable ", c.lower, -1);
  print_decimal(" <= margin <= ", c.upper, 1);
}

/* sum alpha_i y_i x_i = 0, alpha >= 0 not all 0: no w has every y_i w.x_i > 0. */
static void claim_inseparable(void) {
  weigh_rows("alpha", "w");
  vanishing_rows();
  finish();
  printf("accepted inseparable");
}

/* sum_i f_i y_i phi(u.x_i) = 0 for every u. phi(z) = (1 + alpha)/2 z + (1 - alpha)/2 |z|, and the functions
 * |u.v| of different lines v are independent: the sum of f_j y_j |x_j| vanishes on every line. Row j lies on
 * the line of row i when (x_i.x_j)^2 = |x_i|^2 |x_j|^2, and |x_i.x_j| is |x_j| times a constant there. For
 * one sign s of a: s sum_i f_i y_i phi(u.x_i) <= 0 for every u is enough, by a tree with T = 0. */
static void claim_infeasible(void) {
  weigh_rows("farkas", "w");
  if (!c.only) vanishing_rows();
  for (long i = 0; i < c.n && !c.only && mpq_cmp(c.leak, c.one) < 0; i++) {
    mpq_set_ui(c.sum, 0, 1);
    bool line = !c.named[i] && sgn(c.lambda[i]) && sgn(dot(&c.x[i], &c.x[i])); /* a row 0 lies on none */
    for (long j = i; j < c.n && line; j++) {
      Q z = dot(&c.x[i], &c.x[j]);
      if (!mpq_equal(mul(z, z), mul(dot(&c.x[i], &c.x[i]), dot(&c.x[j], &c.x[j])))) continue;
      c.named[j] = j > i; /* its line is this one */
      mpq_abs(z, z);
      (c.y[j] > 0 ? mpq_add : mpq_sub)(c.sum, c.sum, mul(z, c.lambda[j]));
    }
    require(!sgn(c.sum), "the sum over a line is not 0");
  }
  if (c.only) check_trees();
  finish();
  printf("accepted infeasible");
}

/* The line of slopes h of a neuron: 1 where z > 0, alpha where z < 0, and anything in [alpha, 1] where
 * z^2 <= H^2 |w|^2 |x|^2. Adds the squares of w - sum lambda y a h x and a - sum lambda y phi(w.x) to sum. */
static void check_slopes(const Vec *w) {
  statement("h", "w", c.small);
  vec_zero(&c.r);
  vec_add(&c.r, 1, c.one, w);
  mpq_set(c.constant, w->b);
  for (long i = 0; i < c.n; i++) {
    Q z = dot(w, &c.x[i]), h = c.small[i];
    require(mpq_equal(h, sgn(z) > 0 ? c.one : c.leak) ||
                at_most(mul(z, z), mul(mul(c.tau, c.tau), mul(dot(w, w), dot(&c.x[i], &c.x[i])))),
            "a slope is wrong away from a kink");
    require(at_most(c.leak, h) && at_most(h, c.one), "a slope outside [alpha, 1]");
    vec_add(&c.r, -c.y[i], mul(mul(h, w->b), c.lambda[i]), &c.x[i]);
    mpq_sub(c.constant, c.constant, mul(c.lambda[i], neuron(c.y[i], w, &c.x[i])));
  }
  mpq_add(c.sum, c.sum, add(dot(&c.r, &c.r), mul(c.constant, c.constant)));
}

/* network K, n a w ..., epsilon E, delta D, kink H, lambda, slopes: |residual|^2 <= E^2 |theta|^2, all
 * q_i = y_i f(x_i) >= 1 and 2 sum lambda_i (q_i - 1) <= D |theta|^2. */
static void claim_kkt(void) {
  long count, size = 0;
  statement("network", "i", &count);
  mpq_set_ui(c.beta, 0, 1); /* |theta|^2 */
  for (long k = 0; k < count; k++) {
    Vec *w = next(&c.w, &size, k, sizeof *w);
    vec_zero(w);
    statement("n", "nv", w->b, w);
    mpq_add(c.beta, c.beta, add(dot(w, w), mul(w->b, w->b)));
    for (long i = 0; i < c.n; i++) mpq_add(c.q[i], c.q[i], mul(w->b, neuron(c.y[i], w, &c.x[i])));
  }
  for (long i = 0; i < c.n; i++) require(at_most(c.one, c.q[i]), "a margin is less than 1");
  statement("epsilon", "n", c.lower);
  statement("delta", "n", c.upper);
  bool kink = expect_either("kink", "lambda");
  if (kink) statement(NULL, "n", c.tau);
  weights(kink ? "lambda" : NULL, "w");
  require(sgn(c.lower) >= 0 && sgn(c.upper) >= 0 && sgn(c.tau) >= 0, "a bound is negative");
  mpq_set_ui(c.sum, 0, 1);
  for (long i = 0; i < c.n; i++) mpq_add(c.sum, c.sum, mul(c.lambda[i], sub(c.q[i], c.one)));
  require(at_most(add(c.sum, c.sum), mul(c.upper, c.beta)), "complementarity is above delta");
  mpq_set_ui(c.sum, 0, 1);
  statement("slopes", "");
  for (long k = 0; k < count; k++) check_slopes(&c.w[k]);
  require(at_most(c.sum, mul(mul(c.lower, c.lower), c.beta)), "stationarity is above epsilon");
  finish();
  print_decimal("accepted kkt stationarity <= ", c.lower, 1);
  print_decimal(", complementarity <= ", c.upper, 1);
  if (kink) print_decimal(", kinks within ", c.tau, 1);
}

/* data N D and its rows; then room for everything of that size. */
static void read_data(void) {
  statement("data", "ii", &c.n, &c.d);
  if (c.n < 1 || c.d < 1) malformed("no data");
  long x_size = 0, y_size = 0;
  for (long i = 0; i < c.n; i++) {
    next(&c.y, &y_size, i, sizeof *c.y);
    statement("x", "sv", &c.y[i], next(&c.x, &x_size, i, sizeof *c.x));
  }
  c.lambda = numbers(c.n), c.small = numbers(c.n), c.q = numbers(c.n);
  c.side = room(c.n, sizeof *c.side), c.named = room(c.n, sizeof *c.named);
  for (int end = 0; end < 2; end++) c.last[end] = room(c.n, sizeof *c.last[end]);
}

static void check_file(FILE *in) {
  static const char *const names[] = {"optimum", "infeasible", "separable", "inseparable", "kkt"};
  static void (*const claims[])(void) = {claim_optimum, claim_infeasible, claim_separable, claim_inseparable,
                                         claim_kkt};
  c.in = in;
  mpq_inits(c.one, c.leak, c.tau, c.lower, c.upper, c.constant, c.rho, c.beta, c.sum, NULL);
  mpz_inits(c.k, c.f, c.h, NULL);
  mpq_set_ui(c.one, 1, 1);
  for (int k = 0; k < TEMPORARIES; k++) mpq_init(c.ring[k]);
  expect("reluflow-proof");
  if (strcmp(c.at, "1") != 0) malformed("not version 1");
  expect("claim");
  int claim = 0;
  while (claim < 5 && strcmp(c.at, names[claim]) != 0) claim++;
  if (claim == 5) malformed("no such claim");
  statement("leak", "n", c.leak);
  require(sgn(c.leak) >= 0 && at_most(c.leak, c.one), "the leak is not in [0, 1]");
  if (claim < 2) {
    expect("signs");
    if (strcmp(c.at, "both") != 0) statement(NULL, "m", &c.only);
  }
  read_data();
  claims[claim]();
  putchar('\n');
}

int main(int count, char **arguments) {
  FILE *in = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (!in) malformed(count == 2 ? "the file cannot be read" : "usage: rfcheck FILE");
  check_file(in);
  fclose(in);
  return 0;
}
