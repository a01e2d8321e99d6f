/* The JSON writer: output that another parser reads back bit for bit, and breaches of the table of fields
 * caught. */
#include "rf_test.h"

#include <jansson.h>
#include "present/present.h"

static json_t *finish(RfContext *context, RfJson *json) {
  RfText out = {0};
  assert_ok(context, rf_json_finish(context, &out, json));
  json_error_t error;
  json_t *root = json_loads(rf_text_string(&out), 0, &error);
  if (!root) print_error("%s at line %d in %s\n", error.text, error.line, rf_text_string(&out));
  assert_non_null(root);
  rf_text_free(&out);
  rf_json_free(json);
  return root;
}

static RfJson *begin(RfContext *context, const char *table) {
  RfJson *json = NULL;
  rf_context_init(context);
  assert_ok(context, rf_json_new(context, &json, table));
  return json;
}

static void numbers_survive(void **state) {
  (void)state;
  RfContext context;
  RfJson *json = begin(&context, "inspect");
  RfRandom random;
  rf_random_init(&random, 7, 0);
  enum { COUNT = 2000 };
  double values[COUNT];
  for (int i = 0; i < COUNT; i++) {
    uint64_t bits = rf_random_u64(&random);
    memcpy(&values[i], &bits, sizeof bits);
  }
  values[0] = NAN, values[1] = INFINITY, values[2] = -INFINITY, values[3] = 0.1, values[4] = 5e-324,
  values[5] = -0.0;
  rf_json_object(json, "linear");
  rf_json_numbers(json, "w", values, COUNT);
  rf_json_end(json);
  json_t *root = finish(&context, json), *w = json_object_get(json_object_get(root, "linear"), "w");
  assert_int_equal(json_array_size(w), COUNT);
  for (int i = 0; i < COUNT; i++) {
    json_t *got = json_array_get(w, (size_t)i);
    if (!isfinite(values[i]))
      assert_true(json_is_null(got));
    else
      assert_true(json_number_value(got) == values[i]); /* 17 digits: exactly the same double */
  }
  json_decref(root);
}

static void strings_are_valid_utf8(void **state) {
  (void)state;
  RfContext context;
  RfJson *json = begin(&context, "inspect");
  rf_json_string(json, "name",
                 "a\"b\\c\n\t\x01 \xC3\xA9 \xFF\xC0\xAF \xED\xA0\x80 \xF0\x9F\x98\x80 \xE2\x82");
  rf_json_array(json, "classes");
  rf_json_string(json, NULL, "");
  rf_json_string(json, NULL, NULL);
  rf_json_end(json);
  json_t *root = finish(&context, json);
  const char *name = json_string_value(json_object_get(root, "name"));
  assert_int_equal(strncmp(name, "a\"b\\c\n\t\x01 \xC3\xA9 \xEF\xBF\xBD", 14), 0);
  assert_non_null(strstr(name, "\xF0\x9F\x98\x80"));
  json_t *classes = json_object_get(root, "classes");
  assert_string_equal(json_string_value(json_array_get(classes, 0)), "");
  assert_true(json_is_null(json_array_get(classes, 1)));
  json_decref(root);
}

static void shapes_and_recursion(void **state) {
  (void)state;
  RfContext context;
  RfJson *json = begin(&context, "explain");
  rf_json_object(json, "inspect");
  rf_json_integer(json, "n", 3);
  rf_json_array(json, "per_class");
  for (int k = 0; k < 2; k++) {
    rf_json_object(json, NULL);
    rf_json_object(json, "cones");
    rf_json_object(json, "s_plus");
    rf_json_boolean(json, "nonempty", k == 1);
    rf_json_end(json);
    rf_json_end(json);
    rf_json_null(json, "per_class");
    rf_json_end(json);
  }
  rf_json_end(json);
  rf_json_end(json);
  rf_json_object(json, "flow");
  rf_json_object(json, "limit");
  double W[] = {1, 2, 3, 4, 5, 6};
  rf_json_matrix(json, "W", W, 3, 2);
  rf_json_end(json);
  rf_json_array(json, "events");
  rf_json_end(json);
  rf_json_end(json);
  json_t *root = finish(&context, json);
  json_t *class1 = json_array_get(json_object_get(json_object_get(root, "inspect"), "per_class"), 1);
  assert_true(
      json_is_true(json_object_get(json_object_get(json_object_get(class1, "cones"), "s_plus"), "nonempty")));
  json_t *matrix = json_object_get(json_object_get(json_object_get(root, "flow"), "limit"), "W");
  assert_close(json_number_value(json_array_get(json_array_get(matrix, 2), 1)), 6, 0);
  assert_int_equal(json_array_size(json_object_get(json_object_get(root, "flow"), "events")), 0);
  json_decref(root);
}

static void counts(void **state) {
  (void)state;
  RfContext context;
  RfJson *json = begin(&context, "inspect");
  rf_json_object(json, "arrangements");
  rf_json_count(json, "count", "9007199254740992");
  rf_json_count(json, "bound", "9007199254740993");
  rf_json_end(json);
  json_t *root = finish(&context, json), *object = json_object_get(root, "arrangements");
  assert_true(json_integer_value(json_object_get(object, "count")) == 9007199254740992LL);
  assert_string_equal(json_string_value(json_object_get(object, "bound")), "9007199254740993");
  json_decref(root);
}

typedef void (*Break)(RfJson *json);
static void unknown_key(RfJson *json) { rf_json_number(json, "margins", 1); }
static void wrong_type(RfJson *json) { rf_json_string(json, "n", "3"); }
static void fraction_for_integer(RfJson *json) { rf_json_number(json, "n", 3); }
static void array_for_scalar(RfJson *json) { rf_json_numbers(json, "sep", (double[]){1}, 1); }
static void scalar_for_array(RfJson *json) { rf_json_string(json, "classes", "a"); }
static void object_for_scalar(RfJson *json) { rf_json_object(json, "n"); }
static void member_of_other_object(RfJson *json) {
  rf_json_object(json, "cones");
  rf_json_boolean(json, "separable", true);
}
static void never_closed(RfJson *json) { rf_json_object(json, "linear"); }
static void closed_twice(RfJson *json) { rf_json_end(json); }
static void no_key(RfJson *json) { rf_json_integer(json, NULL, 1); }
static void key_in_array(RfJson *json) {
  rf_json_array(json, "classes");
  rf_json_string(json, "n", "x");
}
static void null_of_unknown(RfJson *json) { rf_json_null(json, "line"); }
static void prefix_of_a_key(RfJson *json) { rf_json_array(json, "class"); }
static void same_key_twice(RfJson *json) {
  rf_json_integer(json, "n", 1);
  rf_json_integer(json, "d", 1);
  rf_json_integer(json, "n", 1);
}

static void breaches_are_caught(void **state) {
  (void)state;
  static const Break breaks[] = {
      unknown_key,  wrong_type,      fraction_for_integer, array_for_scalar,       scalar_for_array,
      never_closed, closed_twice,    object_for_scalar,    member_of_other_object, no_key,
      key_in_array, null_of_unknown, prefix_of_a_key,      same_key_twice};
  for (size_t i = 0; i < sizeof breaks / sizeof breaks[0]; i++) {
    RfContext context;
    RfJson *json = begin(&context, "inspect");
    breaks[i](json);
    RfText out = {0};
    RfStatus status = rf_json_finish(&context, &out, json);
    if (status != RF_ERR_INTERNAL) print_error("breach %zu was not caught\n", i);
    assert_int_equal(status, RF_ERR_INTERNAL);
    assert_int_equal(out.length, 0);
    assert_true(strncmp(context.error, "JSON field", 10) == 0);
    rf_text_free(&out);
    rf_json_free(json);
  }
  RfContext context;
  rf_context_init(&context);
  RfJson *json = NULL;
  assert_int_equal(rf_json_new(&context, &json, "nothing"), RF_ERR_INTERNAL);
  assert_null(json);
}

/* The same values, once in the text and once beside it. */
static void arrays_set_aside(void **state) {
  (void)state;
  RfContext context;
  RfJson *json = begin(&context, "flow");
  RfJsonArrays arrays = {0};
  const double W[6] = {1, NAN, 3, 4, 5, 6};
  const rf_index support[2] = {4, 9};
  rf_json_set_aside(json, &arrays);
  rf_json_object(json, "limit");
  rf_json_matrix(json, "W", W, 3, 2);
  rf_json_numbers(json, "a", W, 0);
  rf_json_integers(json, "support", support, 2);
  rf_json_end(json);
  json_t *root = finish(&context, json), *limit = json_object_get(root, "limit");
  assert_int_equal(json_integer_value(json_object_get(json_object_get(limit, "W"), "array")), 0);
  assert_int_equal(json_integer_value(json_object_get(json_object_get(limit, "support"), "array")), 2);
  assert_int_equal(arrays.count, 3);
  assert_true(arrays.items[0].rows == 3 && arrays.items[0].cols == 2);
  assert_true(isnan(arrays.items[0].numbers[1]) && arrays.items[0].numbers[5] == 6);
  assert_true(arrays.items[1].rows == 0 && arrays.items[1].cols == -1);
  assert_true(arrays.items[2].rows == 2 && arrays.items[2].integers[1] == 9);
  json_decref(root);
  rf_json_arrays_free(&arrays);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_survive),      cmocka_unit_test(strings_are_valid_utf8),
      cmocka_unit_test(shapes_and_recursion), cmocka_unit_test(counts),
      cmocka_unit_test(breaches_are_caught),  cmocka_unit_test(arrays_set_aside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
