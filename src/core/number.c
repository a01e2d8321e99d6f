/* Decimal text to double and back, exactly rounded (to nearest, ties to even) and independent of the locale.
 *
 * Reading: the digits become an integer w < 10^19 and a power of ten e. Small cases are one exact
 * multiplication or division (Clinger 1990). For |e| <= 27 the power 5^|e| fits 64 bits, so w 5^e is an exact
 * 128-bit product, or the quotient w/5^|e| is taken to 63 bits with its remainder as a sticky bit; both are
 * rounded once. A longer mantissa is cut to 19 digits and accepted when w and w+1 round to the same double.
 * What is left goes to strtod in the C locale. */
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

#define LARGEST_POWER 27
static const uint64_t power_of_five[LARGEST_POWER + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};
static const double power_of_ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* mantissa 2^exponent with the top bit of the mantissa set, plus a little when sticky; the result is normal.
 */
static double round_to_double(uint64_t mantissa, int exponent, bool sticky) {
  uint64_t kept = mantissa >> 11, rest = mantissa & 0x7ff, half = 0x400;
  if (rest > half || (rest == half && (sticky || (kept & 1)))) kept++;
  exponent += 11 + 52;
  if (kept >> 53) kept >>= 1, exponent++;
  uint64_t bits = (uint64_t)(exponent + 1023) << 52 | (kept & 0xfffffffffffffu);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* w 10^e for 0 < w < 2^64; false when this method does not reach. */
static bool scale_exactly(double *value, uint64_t w, int64_t e) {
  if (w <= (uint64_t)1 << 53 && e >= -22 && e <= 22) {
    *value = e < 0 ? (double)w / power_of_ten[-e] : (double)w * power_of_ten[e];
    return true;
  }
  if (e < -LARGEST_POWER || e > LARGEST_POWER) return false;
  if (e >= 0) {
    Wide product = (Wide)w * power_of_five[e];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    int shift = high ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
    product <<= shift;
    *value = round_to_double((uint64_t)(product >> 64), 64 - shift + (int)e, (uint64_t)product != 0);
    return true;
  }
  uint64_t divisor = power_of_five[-e];
  int lift_w = __builtin_clzll(w), lift_d = __builtin_clzll(divisor);
  Wide dividend = (Wide)(w << lift_w) << 63;
  divisor <<= lift_d;
  uint64_t quotient = (uint64_t)(dividend / divisor); /* 2^62 < quotient < 2^64 */
  bool sticky = (Wide)quotient * divisor != dividend;
  int exponent = lift_d - lift_w - 63 + (int)e;
  if (!(quotient >> 63)) quotient <<= 1, exponent--;
  *value = round_to_double(quotient, exponent, sticky);
  return true;
}

/* 0.d1d2d3... from the significant digits in [text, limit), a point somewhere among them, times 10^exponent.
 * At most 800 digits matter for rounding; one more digit stands for the rest. */
static double scale_slowly(const char *text, const char *limit, int64_t exponent) {
  char copy[880];
  size_t length = 0;
  bool rest = false;
  for (const char *p = text; p < limit; p++) {
    if (*p == '.') continue;
    if (length < 800)
      copy[length++] = *p;
    else if (*p != '0')
      rest = true;
  }
  int64_t digits = limit - text - (memchr(text, '.', (size_t)(limit - text)) != NULL);
  exponent += digits - (int64_t)length;
  if (rest) copy[length++] = '1', exponent--;
  snprintf(copy + length, sizeof copy - length, "e%lld", (long long)exponent);
  locale_t before = rf_locale_enter();
  double value = strtod(copy, NULL);
  rf_locale_leave(before);
  return value;
}

static inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* Eight digits at once: the bytes minus '0' are combined in pairs, fours, eight. */
static inline bool eight_digits(uint64_t *value, const char *text) {
  uint64_t chunk;
  memcpy(&chunk, text, sizeof chunk);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  chunk = __builtin_bswap64(chunk);
#endif
  uint64_t low = chunk - 0x3030303030303030u, high = chunk + 0x4646464646464646u;
  if ((low | high) & 0x8080808080808080u) return false;
  low = low * 10 + (low >> 8);
  *value = ((low & 0x000000ff000000ffu) * 0x000f424000000064u +
            ((low >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
           32;
  return true;
}

static inline const char *take_digits(uint64_t *w, const char *p, const char *limit) {
  uint64_t eight;
  while (limit - p >= 8 && eight_digits(&eight, p)) *w = *w * 100000000u + eight, p += 8;
  while (is_digit(*p)) *w = *w * 10 + (uint64_t)(*p++ - '0');
  return p;
}

static RfNumberKind parse_word(const char **end, const char *p, const char *limit) {
  static const char *const words[] = {"infinity", "inf", "nan"};
  for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
    size_t length = strlen(words[k]);
    if ((size_t)(limit - p) >= length && rf_letters_equal(p, words[k], length)) {
      *end = p + length;
      return RF_NUMBER_NONFINITE;
    }
  }
  return RF_NUMBER_NONE;
}

/* e[+-]digits at p, added to *exponent; stays at p when there is no such thing. */
static const char *take_exponent(int64_t *exponent, const char *p) {
  const char *q = p + 1;
  bool negative = *q == '-';
  if (*q == '-' || *q == '+') q++;
  if (!is_digit(*q)) return p;
  int64_t e = 0;
  for (; is_digit(*q); q++) {
    if (e < 100000000000) e = e * 10 + (*q - '0');
  }
  *exponent += negative ? -e : e;
  return q;
}

/* Mantissas of more than 19 characters: leading zeros do not count, digits behind the 19th are cut. */
static double long_mantissa(const char *digits, const char *behind, int64_t exponent) {
  while (digits < behind && (*digits == '0' || *digits == '.')) digits++; /* exponent counts from the right */
  if (digits == behind) return 0;
  uint64_t w = 0;
  int used = 0;
  int64_t cut = 0;
  for (const char *p = digits; p < behind; p++) {
    if (*p == '.') continue;
    if (used < 19)
      w = w * 10 + (uint64_t)(*p - '0'), used++;
    else
      cut++;
  }
  double low, high;
  if (scale_exactly(&low, w, exponent + cut)) {
    if (cut == 0) return low;
    if (scale_exactly(&high, w + 1, exponent + cut) && low == high) return low;
  }
  return scale_slowly(digits, behind, exponent);
}

RfNumberKind rf_number_parse(double *value, const char **end, const char *text, const char *limit) {
  const char *p = text;
  bool negative = *p == '-';
  if (*p == '-' || *p == '+') p++;
  const char *digits = p;
  uint64_t w = 0;
  int64_t exponent = 0, count;
  p = take_digits(&w, p, limit);
  count = p - digits;
  if (*p == '.') {
    const char *point = p++;
    p = take_digits(&w, p, limit);
    exponent = -(p - point - 1);
    count -= exponent;
  }
  *end = text;
  if (count == 0) return parse_word(end, digits, limit);
  const char *behind = p;
  if (*p == 'e' || *p == 'E') p = take_exponent(&exponent, p);
  *end = p;
  double size = 0;
  if (exponent == 0 && count <= 15)
    size = (double)w; /* whole numbers are exact */
  else if (count > 19)
    size = long_mantissa(digits, behind, exponent);
  else if (w != 0 && !scale_exactly(&size, w, exponent))
    size = scale_slowly(digits, behind, exponent);
  *value = negative ? -size : size;
  return isfinite(size) ? RF_NUMBER_FINITE : RF_NUMBER_OVERFLOW;
}

RfNumberKind rf_number_whole(double *value, const char *text, size_t length) {
  const char *limit = text + length, *end;
  while (text < limit && (*text == ' ' || *text == '\t')) text++;
  if (text == limit) return RF_NUMBER_NONE;
  RfNumberKind kind = rf_number_parse(value, &end, text, limit);
  while (end < limit && (*end == ' ' || *end == '\t')) end++;
  return end == limit ? kind : RF_NUMBER_NONE;
}

bool rf_number_read(double *value, const char *text) {
  const char *end;
  double read;
  if (rf_number_parse(&read, &end, text, text + strlen(text)) != RF_NUMBER_FINITE || *end) return false;
  *value = read;
  return true;
}

int rf_number_format(char out[RF_NUMBER_SIZE], double x) {
  if (x == floor(x) && fabs(x) < 1e15 && !(x == 0 && signbit(x))) {
    return snprintf(out, RF_NUMBER_SIZE, "%lld", (long long)x);
  }
  locale_t before = rf_locale_enter();
  int length = 0;
  for (int digits = 15; digits <= 17; digits++) {
    double back;
    length = snprintf(out, RF_NUMBER_SIZE, "%.*g", digits, x);
    if (rf_number_whole(&back, out, (size_t)length) == RF_NUMBER_FINITE && back == x) break;
  }
  rf_locale_leave(before);
  return length;
}
