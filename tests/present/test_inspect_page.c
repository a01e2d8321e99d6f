/* Inspections as pages and pictures: whatever the data, whole markup, a verdict, and no number that is not
 * one. */
#include "rf_markup.h"
#include "rf_test.h"
#include "present/present.h"

static const char *const sets[] = {
    "DS-PL2",
    "DS-WP1",
    "DS-SYM6",
    "DS-V1",
    "DS-V2",
    "DS-V3",
    "DS-E3",
    "xor",
    "rings",
    "DS-MC3",
    "hinted",
    "gaussian,n=30,d=2,seed=1",
    "gaussian,n=6,d=1,seed=1",
    "gaussian,n=20,d=4,seed=3",
    "orthant,n=60,d=5",
    "multiclass-orthant,K=3",
};

static void inspect(RfInspection *inspection, RfDataset *data, const char *set, double leak) {
  RfContext context;
  rf_context_init(&context);
  RfInspectionSettings settings = {.leak = leak, .loss = RF_LOSS_LOGISTIC};
  assert_ok(&context, rf_data_generate(&context, data, set));
  assert_ok(&context, rf_study_inspect(&context, inspection, data, &settings));
}

static void check_text(const char *what, const char *set, const char *text) {
  bool odd = strstr(text, "nan") || strstr(text, "-inf") || strstr(text, " inf") || strstr(text, "(null)");
  if (odd) print_error("%s of %s: %s\n", what, set, text);
  assert_false(odd);
}

typedef void (*Draw)(RfSvg *svg, const RfInspection *inspection);

static void check_picture(const RfInspection *inspection, const char *set, Draw draw) {
  RfSvg svg;
  draw(&svg, inspection);
  assert_false(svg.text.failed);
  assert_true(well_formed(svg.text.data));
  check_text("picture", set, svg.text.data);
  rf_svg_free(&svg);
}

static void pages_and_pictures(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
    RfDataset data = {0};
    RfInspection inspection;
    inspect(&inspection, &data, sets[i], i % 2 ? 0.5 : 0);
    RfText page = {0}, html = {0}, verdict = {0};
    rf_inspection_page(&page, &inspection, 80);
    rf_inspection_html(&html, &inspection);
    rf_inspection_verdict(&verdict, &inspection);
    check_text("page", sets[i], page.data);
    check_text("verdict", sets[i], verdict.data);
    assert_true(well_formed(html.data));
    assert_int_equal(verdict.data[verdict.length - 1], '.');
    if (data.y && data.d == 2) {
      check_picture(&inspection, sets[i], rf_inspection_plane_svg);
      check_picture(&inspection, sets[i], rf_inspection_potential_svg);
    }
    if (data.y && inspection.linear.status == RF_OK)
      check_picture(&inspection, sets[i], rf_inspection_margins_svg);
    rf_text_free(&page);
    rf_text_free(&html);
    rf_text_free(&verdict);
    rf_inspection_free(&inspection);
    rf_dataset_free(&data);
  }
}

/* Zero rows, repeated rows, one class, one sample: in the plane, where pictures are drawn. */
static void degenerate_planes(void **state) {
  (void)state;
  static const double X[][8] = {
      {0, 0}, {1, 2}, {1, 2, 1, 2}, {0, 0, 1, 1}, {1, 0, -1, 0, 2, 0, 0, 0}, {1e-160, 0, 0, 1e-160}};
  static const double y[][4] = {{1}, {-1}, {1, -1}, {1, -1}, {1, -1, 1, -1}, {1, -1}};
  static const rf_index n[] = {1, 1, 2, 2, 4, 2};
  for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
    RfContext context;
    RfDataset data = {0};
    RfInspection inspection;
    RfInspectionSettings settings = {.leak = 0.25, .loss = RF_LOSS_EXP};
    rf_context_init(&context);
    assert_ok(&context, rf_dataset_from_arrays(&context, &data, X[i], y[i], n[i], 2, "<degenerate>"));
    assert_ok(&context, rf_study_inspect(&context, &inspection, &data, &settings));
    check_picture(&inspection, "degenerate", rf_inspection_plane_svg);
    check_picture(&inspection, "degenerate", rf_inspection_potential_svg);
    RfText html = {0};
    rf_inspection_html(&html, &inspection);
    assert_true(well_formed(html.data));
    assert_null(strstr(html.data, "<degenerate>"));
    rf_text_free(&html);
    rf_inspection_free(&inspection);
    rf_dataset_free(&data);
  }
}

/* A deadline in the past: everything is unknown, nothing is wrong. */
static void interrupted(void **state) {
  (void)state;
  RfContext context;
  RfDataset data = {0};
  RfInspection inspection;
  RfInspectionSettings settings = {.leak = 0};
  rf_context_init(&context);
  assert_ok(&context, rf_data_generate(&context, &data, "gaussian,n=40,d=5,seed=1"));
  rf_context_limit(&context, -1);
  assert_int_equal(rf_study_inspect(&context, &inspection, &data, &settings), RF_INTERRUPTED);
  assert_true(inspection.interrupted);
  RfText page = {0};
  rf_inspection_page(&page, &inspection, 80);
  assert_non_null(strstr(page.data, "Interrupted"));
  check_text("page", "interrupted", page.data);
  rf_text_free(&page);
  rf_inspection_free(&inspection);
  rf_inspection_free(&inspection); /* a zeroed struct is fine */
  rf_dataset_free(&data);
}

/* More than two classes: what is lent to the parts is freed once, and class against class is what brute force
 * says. */
static void classes(void **state) {
  (void)state;
  RfDataset data = {0};
  RfInspection inspection;
  inspect(&inspection, &data, "DS-MC3", 0);
  assert_int_equal(inspection.n_parts, 3);
  assert_true(inspection.pairs.orthogonal_separable); /* orthogonally separable among classes ... */
  assert_close(inspection.pairs.max_cross, 0, 0);
  assert_true(isnan(inspection.pairs.min_same));
  for (int k = 0; k < 3; k++) /* ... but no class against the rest */
    assert_false(inspection.parts[k].pairs.orthogonal_separable);
  rf_inspection_free(&inspection);
  rf_dataset_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pages_and_pictures),
                                     cmocka_unit_test(degenerate_planes), cmocka_unit_test(interrupted),
                                     cmocka_unit_test(classes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
