/* Numbers: against strtod on random texts of every length and size, halfway cases, bounds, words, round
 * trips. */
#include "core/core.h"
#include "rf_test.h"

static double parse(const char *text, RfNumberKind want) {
  double value = -77;
  RfNumberKind kind = rf_number_whole(&value, text, strlen(text));
  if (kind != want) print_error("%s: kind %d, expected %d\n", text, (int)kind, (int)want);
  assert_int_equal(kind, want);
  return value;
}

static void assert_as_strtod(const char *text) {
  double want = strtod(text, NULL), got = parse(text, RF_NUMBER_FINITE);
  if (memcmp(&got, &want, sizeof got) != 0) print_error("%s: got %.17g, strtod %.17g\n", text, got, want);
  assert_memory_equal(&got, &want, sizeof got);
}

static void fixed_cases(void **state) {
  (void)state;
  static const char *const texts[] = {
      "0",
      "-0",
      "0.0",
      "-0e7",
      "1",
      "+1",
      "-1",
      ".5",
      "5.",
      "1e5",
      "1E+05",
      "1e-05",
      "123456789012345678",
      "9007199254740993",
      "9007199254740992.5",
      "9007199254740993.0000000000000000000001",
      "1e22",
      "1e23",
      "8.5e22",
      "1.7976931348623157e308",
      "1.7976931348623158e308",
      "2.2250738585072014e-308",
      "2.2250738585072011e-308",
      "4.9406564584124654e-324",
      "2.4703282292062327e-324",
      "2.4703282292062328e-324",
      "1e-400",
      "0.1000000000000000055511151231257827021181583404541015625",
      "179769313486231570000000000000000000000e270",
      "0.000000000000000000000000000000000000000000012345678901234567890123456789",
      "18446744073709551615",
      "18446744073709551616",
      "99999999999999999999",
      "6.02214076e23",
      "1.00000000000000011102230246251565404e0",
      "1.00000000000000011102230246251565405e0",
      "7450580596923828125e-27",
      "1e0000000000000000000001",
      "0e99999999999999999999",
      "0.3",
      "2.718281828459045",
      "3.14159265358979323846264338327950288"};
  for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) assert_as_strtod(texts[k]);
}

static void words_and_refusals(void **state) {
  (void)state;
  static const char *const words[] = {"nan", "NaN", "-nan", "inf", "Inf", "+INF", "-infinity", "Infinity"};
  for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) parse(words[k], RF_NUMBER_NONFINITE);
  static const char *const none[] = {"",    "-",   "+",   ".",   "e5",  "1e",   "1e+", "1.2.3", "0x10", "1,5",
                                     "1_0", "--1", "+-1", "1 2", "one", "nanx", "1f",  "1d5",   "in",   "½"};
  for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) parse(none[k], RF_NUMBER_NONE);
  static const char *const large[] = {"1e309", "-1e309", "1.7976931348623159e308", "1e99999999999999999999"};
  for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) parse(large[k], RF_NUMBER_OVERFLOW);
  assert_true(parse(" 2.5\t", RF_NUMBER_FINITE) == 2.5);
}

/* Random doubles printed with 1..20 digits, and random digit strings with random exponents. */
static void agrees_with_strtod(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 1, 0);
  char text[1200];
  for (rf_index k = 0; k < rf_test_iterations(300000); k++) {
    uint64_t bits = rf_random_u64(&random);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x)) continue;
    snprintf(text, sizeof text, "%.*e", (int)rf_random_below(&random, 20), x);
    if (isfinite(strtod(text, NULL))) assert_as_strtod(text);
    x = rf_random_gaussian(&random) * pow(10, (double)rf_random_below(&random, 30) - 15);
    snprintf(text, sizeof text, "%.*g", 1 + (int)rf_random_below(&random, 25), x);
    assert_as_strtod(text);
  }
}

/* Exact midpoints between neighbours, and the midpoint with one more digit far behind. */
static void halfway_cases(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 2, 0);
  char text[1200];
  for (rf_index k = 0; k < rf_test_iterations(20000); k++) {
    uint64_t mantissa = (rf_random_u64(&random) >> 11 | (uint64_t)1 << 52) * 2 + 1; /* 54 bits */
    int shift = (int)rf_random_below(&random, 60);
    long double middle = ldexpl((long double)mantissa, -shift);
    int length = snprintf(text, sizeof text, "%.*Lf", shift, middle);
    assert_as_strtod(text);
    snprintf(text + length, sizeof text - (size_t)length, "%s%0*d1", shift == 0 ? "." : "",
             (int)rf_random_below(&random, 900), 0);
    assert_as_strtod(text);
  }
}

static void long_mantissas(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 3, 0);
  char text[1300];
  for (rf_index k = 0; k < rf_test_iterations(20000); k++) {
    size_t length = (size_t)rf_random_below(&random, 1000) + 1,
           point = (size_t)rf_random_below(&random, 1000);
    size_t used = 0;
    for (size_t j = 0; j < length; j++) {
      if (j == point) text[used++] = '.';
      text[used++] = (char)('0' + (rf_random_below(&random, 4) ? 0 : rf_random_below(&random, 10)));
    }
    snprintf(text + used, sizeof text - used, "e%d", (int)rf_random_below(&random, 600) - 500);
    if (isfinite(strtod(text, NULL))) assert_as_strtod(text);
  }
}

static void formats_and_reads_back(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 4, 0);
  char text[RF_NUMBER_SIZE];
  for (rf_index k = 0; k < rf_test_iterations(100000); k++) {
    uint64_t bits = rf_random_u64(&random);
    double x, back;
    memcpy(&x, &bits, sizeof x);
    if (k % 2) x = rf_random_gaussian(&random);
    if (!isfinite(x)) continue;
    int length = rf_number_format(text, x);
    assert_int_equal(length, strlen(text));
    back = parse(text, RF_NUMBER_FINITE);
    assert_memory_equal(&back, &x, sizeof x);
  }
  static const struct {
    double x;
    const char *text;
  } fixed[] = {{0, "0"},
               {-1, "-1"},
               {0.1, "0.1"},
               {1e15, "1e+15"},
               {-0.0, "-0"},
               {1.0 / 3, "0.3333333333333333"},
               {255, "255"},
               {999999999999999, "999999999999999"},
               {5e-324, "4.94065645841247e-324"}};
  for (size_t k = 0; k < sizeof fixed / sizeof fixed[0]; k++) {
    rf_number_format(text, fixed[k].x);
    assert_string_equal(text, fixed[k].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixed_cases),        cmocka_unit_test(words_and_refusals),
      cmocka_unit_test(agrees_with_strtod), cmocka_unit_test(halfway_cases),
      cmocka_unit_test(long_mantissas),     cmocka_unit_test(formats_and_reads_back),
  };
  return cmocka_run_group_tests_name("data/number", tests, NULL, NULL);
}
