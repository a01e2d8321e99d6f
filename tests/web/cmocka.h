/* The part of cmocka that the unit tests of the library use, for programs that node runs: the first failure
 * ends the program. */
#ifndef RF_WEB_CMOCKA_H
#define RF_WEB_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CMUnitTest {
  const char *name;
  void (*test)(void **state);
  int (*set_up)(void **state), (*tear_down)(void **state);
} CMUnitTest;

#define cmocka_unit_test(f)                                                                                  \
  { #f, f, NULL, NULL }
#define cmocka_unit_test_setup(f, s)                                                                         \
  { #f, f, s, NULL }
#define cmocka_unit_test_teardown(f, t)                                                                      \
  { #f, f, NULL, t }
#define cmocka_unit_test_setup_teardown(f, s, t)                                                             \
  { #f, f, s, t }
#define cmocka_run_group_tests(tests, s, t) rf_web_group(tests, sizeof(tests) / sizeof(tests)[0], s, t)
#define cmocka_run_group_tests_name(n, tests, s, t)                                                          \
  rf_web_group(tests, sizeof(tests) / sizeof(tests)[0], s, t)

#define print_message(...) fprintf(stderr, __VA_ARGS__)
#define print_error(...)   fprintf(stderr, __VA_ARGS__)

static int rf_web_skipped;

static inline void _fail(const char *file, int line) {
  fprintf(stderr, "%s:%d: failed\n", file, line);
  exit(1);
}

/* Ends the test that is skipped, not the program: what follows a skip in these tests is a return. */
#define skip()                        rf_web_skipped++
#define fail()                        _fail(__FILE__, __LINE__)
#define fail_msg(...)                 (fprintf(stderr, __VA_ARGS__), _fail(__FILE__, __LINE__))
#define RF_WEB_ASSERT(x)              ((x) ? (void)0 : (fprintf(stderr, "%s ", #x), _fail(__FILE__, __LINE__)))
#define assert_true(x)                RF_WEB_ASSERT(x)
#define assert_false(x)               RF_WEB_ASSERT(!(x))
#define assert_null(x)                RF_WEB_ASSERT(!(x))
#define assert_non_null(x)            RF_WEB_ASSERT((x) != NULL)
#define assert_ptr_equal(a, b)        RF_WEB_ASSERT((const void *)(a) == (const void *)(b))
#define assert_string_equal(a, b)     RF_WEB_ASSERT(strcmp((a), (b)) == 0)
#define assert_string_not_equal(a, b) RF_WEB_ASSERT(strcmp((a), (b)) != 0)
#define assert_memory_equal(a, b, n)  RF_WEB_ASSERT(memcmp((a), (b), (size_t)(n)) == 0)
#define assert_int_equal(a, b)        RF_WEB_ASSERT((long long)(a) == (long long)(b))
#define assert_int_not_equal(a, b)    RF_WEB_ASSERT((long long)(a) != (long long)(b))
#define assert_in_range(v, a, b)                                                                             \
  RF_WEB_ASSERT((long long)(v) >= (long long)(a) && (long long)(v) <= (long long)(b))

static inline int rf_web_group(const CMUnitTest *tests, size_t count, int (*set_up)(void **),
                               int (*tear_down)(void **)) {
  void *state = NULL;
  if (set_up && set_up(&state)) return 1;
  for (size_t k = 0; k < count; k++) {
    void *own = state;
    if (tests[k].set_up && tests[k].set_up(&own)) return 1;
    tests[k].test(&own);
    if (tests[k].tear_down && tests[k].tear_down(&own)) return 1;
  }
  if (tear_down) tear_down(&state);
  return 0;
}

#endif
