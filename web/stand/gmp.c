/* Exact integers and fractions for src/margin, from the BigInt of JavaScript: a number here is a place in a
 * table there. Rationals are kept in lowest terms with a positive denominator. */
#include <gmp.h>

#include <emscripten.h>
#include <math.h>
#include <string.h>

/* clang-format off: JavaScript */
EM_JS(int, big_new, (void), {
  if (!Module.big) Module.big = {at : [null], free : []};
  var b = Module.big, k = b.free.length ? b.free.pop() : b.at.length;
  b.at[k] = BigInt(0);
  return k;
});
EM_JS(void, big_drop, (int k), {
  Module.big.at[k] = null;
  Module.big.free.push(k);
});
EM_JS(void, big_set, (int k, double x), { Module.big.at[k] = BigInt(x); });
EM_JS(void, big_do, (int what, int k, int i, int j), {
  var n = Module.big.at, a = n[i], b = n[j], t;
  if (what == 0)
    n[k] = a;
  else if (what == 1)
    n[k] = a + b;
  else if (what == 2)
    n[k] = a * b;
  else if (what == 3)
    n[k] = n[k] - a * b;
  else if (what == 4)
    n[k] = a / b;
  else if (what == 5)
    n[k] = -a;
  else {
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b) {
      t = a % b;
      a = b;
      b = t;
    }
    n[k] = a;
  }
});
EM_JS(void, big_shift, (int k, int i, int bits), { Module.big.at[k] = Module.big.at[i] << BigInt(bits); });
EM_JS(int, big_sign, (int k), {
  var a = Module.big.at[k];
  return a > 0 ? 1 : a < 0 ? -1 : 0;
});
/* How many bits to drop so that about 64 are left, and what is left then. */
EM_JS(int, big_extra, (int k), {
  var digits = Module.big.at[k].toString(16).length;
  return digits > 16 ? 4 * (digits - 16) : 0;
});
EM_JS(double, big_top, (int k, int bits), { return Number(Module.big.at[k] >> BigInt(bits)); });
/* |n| / |d| as 53 bits, rounded towards zero, times 2^what big_ratio_power says. */
EM_JS(int, big_ratio_power, (int n, int d), {
  var size = function(x) { return (x < 0 ? -x : x).toString(2).length; };
  var a = Module.big.at[n], b = Module.big.at[d], power = size(a) - size(b) - 53;
  var over = a < 0 ? -a : a, under = b < 0 ? -b : b;
  var q = power < 0 ? (over << BigInt(-power)) / under : over / (under << BigInt(power));
  var extra = q.toString(2).length - 53;
  if (extra > 0) {
    q = q >> BigInt(extra);
    power += extra;
  }
  Module.bigRatio = Number(q);
  return power;
});
EM_JS(double, big_ratio, (void), { return Module.bigRatio; });
EM_JS(int, big_length, (int k), { return Module.big.at[k].toString().length; });
EM_JS(void, big_write, (char *out, int k), {
  var text = Module.big.at[k].toString();
  for (var i = 0; i < text.length; i++) HEAP8[out + i] = text.charCodeAt(i);
  HEAP8[out + text.length] = 0;
});
EM_JS(void, big_read, (int k, const char *text), {
  var s = "";
  while (HEAPU8[text]) s += String.fromCharCode(HEAPU8[text++]);
  Module.big.at[k] = BigInt(s);
});
/* clang-format on */

enum { big_copy, big_add, big_times, big_less, big_over, big_minus, big_common };

void mpz_init(mpz_ptr x) { x->at = big_new(); }
void mpz_clear(mpz_ptr x) {
  if (x->at) big_drop(x->at);
  x->at = 0;
}
void mpz_set(mpz_ptr x, mpz_srcptr a) { big_do(big_copy, x->at, a->at, a->at); }
void mpz_set_ui(mpz_ptr x, unsigned long a) { big_set(x->at, (double)a); }
void mpz_set_d(mpz_ptr x, double a) { big_set(x->at, a); }
void mpz_add(mpz_ptr x, mpz_srcptr a, mpz_srcptr b) { big_do(big_add, x->at, a->at, b->at); }
void mpz_mul(mpz_ptr x, mpz_srcptr a, mpz_srcptr b) { big_do(big_times, x->at, a->at, b->at); }
void mpz_submul(mpz_ptr x, mpz_srcptr a, mpz_srcptr b) { big_do(big_less, x->at, a->at, b->at); }
void mpz_mul_2exp(mpz_ptr x, mpz_srcptr a, mp_bitcnt_t bits) { big_shift(x->at, a->at, (int)bits); }
void mpz_divexact(mpz_ptr x, mpz_srcptr a, mpz_srcptr b) { big_do(big_over, x->at, a->at, b->at); }
void mpz_gcd(mpz_ptr x, mpz_srcptr a, mpz_srcptr b) { big_do(big_common, x->at, a->at, b->at); }
void mpz_neg(mpz_ptr x, mpz_srcptr a) { big_do(big_minus, x->at, a->at, a->at); }
int mpz_sgn(mpz_srcptr a) { return big_sign(a->at); }
size_t mpz_sizeinbase(mpz_srcptr a, int base) {
  (void)base;
  return (size_t)big_length(a->at);
}
char *mpz_get_str(char *out, int base, mpz_srcptr a) {
  (void)base;
  big_write(out, a->at);
  return out;
}

double mpz_get_d_2exp(long *exponent, mpz_srcptr a) {
  int extra = big_extra(a->at), power = 0;
  double top = frexp(big_top(a->at, extra), &power);
  *exponent = top == 0 ? 0 : power + extra;
  return top;
}

void mpq_init(struct StandRational *x) {
  mpz_init(x->over), mpz_init(x->under);
  mpz_set_ui(x->under, 1);
}

void mpq_clear(struct StandRational *x) { mpz_clear(x->over), mpz_clear(x->under); }

int mpq_set_str(struct StandRational *x, const char *text, int base) {
  (void)base;
  big_read(x->over->at, text);
  mpz_set_ui(x->under, 1);
  return 0;
}

void mpq_set_d(struct StandRational *x, double a) {
  int power = 0;
  double mantissa = ldexp(frexp(a, &power), 53);
  for (power -= 53; mantissa != 0 && power < 0 && fmod(mantissa, 2) == 0; power++) mantissa /= 2;
  mpz_set_d(x->over, mantissa), mpz_set_ui(x->under, 1);
  if (mantissa == 0) return;
  struct StandInteger *larger = power < 0 ? x->under : x->over;
  mpz_mul_2exp(larger, larger, (mp_bitcnt_t)(power < 0 ? -power : power));
}

static void shorten(struct StandRational *x) {
  mpz_t common;
  mpz_init(common);
  mpz_gcd(common, x->over, x->under);
  mpz_divexact(x->over, x->over, common), mpz_divexact(x->under, x->under, common);
  if (mpz_sgn(x->under) < 0) mpz_neg(x->over, x->over), mpz_neg(x->under, x->under);
  mpz_clear(common);
}

void mpq_mul(struct StandRational *x, const struct StandRational *a, const struct StandRational *b) {
  mpz_mul(x->over, a->over, b->over), mpz_mul(x->under, a->under, b->under);
  shorten(x);
}

void mpq_div(struct StandRational *x, const struct StandRational *a, const struct StandRational *b) {
  mpz_t over; /* x may be a */
  mpz_init(over);
  mpz_mul(over, a->over, b->under), mpz_mul(x->under, a->under, b->over);
  mpz_set(x->over, over), mpz_clear(over);
  shorten(x);
}

char *mpq_get_str(char *out, int base, const struct StandRational *a) {
  mpz_get_str(out, base, a->over);
  if (a->under->at && big_length(a->under->at) == 1) {
    char digit[4];
    big_write(digit, a->under->at);
    if (digit[0] == '1') return out;
  }
  size_t length = strlen(out);
  out[length] = '/';
  mpz_get_str(out + length + 1, base, a->under);
  return out;
}

void mpq_set(struct StandRational *x, const struct StandRational *a) {
  mpz_set(x->over, a->over), mpz_set(x->under, a->under);
}

void mpq_set_ui(struct StandRational *x, unsigned long over, unsigned long under) {
  mpz_set_ui(x->over, over), mpz_set_ui(x->under, under);
}

void mpq_neg(struct StandRational *x, const struct StandRational *a) {
  mpz_neg(x->over, a->over), mpz_set(x->under, a->under);
}

/* x = a + b, or a - b; x may be either. */
static void combine(struct StandRational *x, const struct StandRational *a, const struct StandRational *b,
                    int minus) {
  mpz_t left, right;
  mpz_init(left), mpz_init(right);
  mpz_mul(left, a->over, b->under), mpz_mul(right, b->over, a->under);
  if (minus) mpz_neg(right, right);
  mpz_mul(x->under, a->under, b->under);
  mpz_add(x->over, left, right);
  mpz_clear(left), mpz_clear(right);
  shorten(x);
}

void mpq_add(struct StandRational *x, const struct StandRational *a, const struct StandRational *b) {
  combine(x, a, b, 0);
}

void mpq_sub(struct StandRational *x, const struct StandRational *a, const struct StandRational *b) {
  combine(x, a, b, 1);
}

int mpq_sgn(const struct StandRational *a) { return mpz_sgn(a->over); }

int mpq_cmp(const struct StandRational *a, const struct StandRational *b) {
  mpq_t rest;
  mpq_init(rest);
  mpq_sub(rest, a, b);
  int sign = mpq_sgn(rest);
  mpq_clear(rest);
  return sign;
}

int mpq_cmp_ui(const struct StandRational *a, unsigned long over, unsigned long under) {
  mpq_t other;
  mpq_init(other);
  mpq_set_ui(other, over, under);
  int sign = mpq_cmp(a, other);
  mpq_clear(other);
  return sign;
}

double mpq_get_d(const struct StandRational *a) {
  int sign = mpq_sgn(a);
  if (sign == 0) return 0;
  int power = big_ratio_power(a->over->at, a->under->at);
  return sign * ldexp(big_ratio(), power);
}
