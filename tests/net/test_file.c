/* Network files: round trips, every format, maps, biases, refusals. */
#include "rf_test.h"

#include <unistd.h>

static RfStatus parse(RfContext *context, RfNet *net, bool *stated, const char *text, const char *map) {
  rf_context_init(context);
  return rf_net_parse(context, net, stated, "n.json", map, text, strlen(text));
}

static RfStatus load_corpus(RfContext *context, RfNet *net, bool *stated, const char *file, const char *map) {
  char path[1024];
  rf_context_init(context);
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", RF_SOURCE_DIR, file);
  return rf_net_load(context, net, stated, path, map);
}

static void json_fields(void **state) {
  (void)state;
  RfContext context;
  RfNet net;
  bool stated;
  assert_ok(&context, parse(&context, &net, &stated,
                            "{\"W\": [[1, 2.5], [3, -4e-3]], \"a\": [1, -1], \"leak\": 0.1}", NULL));
  assert_true(stated && net.leak == 0.1 && net.m == 2 && net.d == 2);
  assert_true(net.W[1] == 2.5 && net.W[3] == -4e-3 && net.a[1] == -1);
  rf_net_free(&net);
  assert_ok(&context,
            parse(&context, &net, &stated, "{\"limit\": {\"W\": [[1, 2]], \"a\": [3]}, \"leak\": 1}", NULL));
  assert_true(net.leak == 1 && net.d == 2 && net.a[0] == 3);
  rf_net_free(&net);
  assert_ok(&context,
            parse(&context, &net, &stated, "{\"u\": [[1, 2]], \"v\": [3], \"x\": null}", "u=W,v=a"));
  assert_true(!stated && net.leak == 0);
  rf_net_free(&net);
}

static void bad_json(void **state) {
  (void)state;
  static const struct {
    const char *text, *map;
    RfStatus want;
  } bad[] = {
      {"", NULL, RF_ERR_INPUT},
      {"[]", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1]], \"a\": [1]", NULL, RF_ERR_INPUT},
      {"{\"a\": [1]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1]]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [], \"a\": []}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[]], \"a\": [1]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [1, 2], \"a\": [1, 2]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1, 2], [3]], \"a\": [1, 2]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1, null]], \"a\": [1]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1, \"2\"]], \"a\": [1]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1, 1e999]], \"a\": [1]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1, NaN]], \"a\": [1]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1]], \"a\": [1, 2]}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1]], \"a\": [1], \"leak\": -0.5}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1]], \"a\": [1], \"leak\": \"0\"}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1]], \"W\": [[1]], \"a\": [1]}", NULL, RF_ERR_INPUT},
      {"{\"layers\": []}", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1]], \"a\": [1]} x", NULL, RF_ERR_INPUT},
      {"{\"W\": [[1]], \"a\": [1]}", "W=W", RF_ERR_USAGE},
      {"{\"W\": [[1]], \"a\": [1]}", "", RF_ERR_USAGE},
      {"{\"W\": [[1]], \"a\": [1]}", "u=W,u=a", RF_ERR_USAGE},
      {"{\"W\": [[1]], \"a\": [1]}", "u=W,v=b", RF_ERR_USAGE},
      {"{\"W\": [[1]], \"a\": [1]}", "u=W,v=W", RF_ERR_USAGE},
      {"{\"W\": [[1]], \"a\": [1]}", "u=W,v=a", RF_ERR_INPUT},
  };
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    RfContext context;
    RfNet net;
    bool stated;
    RfStatus status = parse(&context, &net, &stated, bad[k].text, bad[k].map);
    if (status != bad[k].want) print_error("%s: status %d (%s)\n", bad[k].text, (int)status, context.error);
    assert_int_equal(status, bad[k].want);
    assert_true(context.error[0] != 0 && !strchr(context.error, '\n'));
    assert_null(net.W);
  }
}

static void npz_by_numpy(void **state) {
  (void)state;
  static const double want[6] = {1.5, -2, 3, 4, 5, 6.25};
  RfContext context;
  RfNet net;
  bool stated;
  assert_ok(&context, load_corpus(&context, &net, &stated, "npz/net", NULL));
  assert_true(stated && net.leak == 0.1 && net.m == 2 && net.d == 3 && net.a[1] == -1);
  assert_memory_equal(net.W, want, sizeof want);
  rf_net_free(&net);
  assert_ok(&context, load_corpus(&context, &net, &stated, "npz/net_f4", NULL));
  assert_true(!stated && net.leak == 0 && net.a[0] == 1);
  assert_memory_equal(net.W, want, sizeof want);
  rf_net_free(&net);
  assert_int_equal(load_corpus(&context, &net, &stated, "npz/stored", NULL), RF_ERR_INPUT);
}

static void safetensors(void **state) {
  (void)state;
  static const double want[6] = {1.5, -2, 3, 4, 5, 6.25};
  static const char *const good[] = {"f32", "f64", "f16", "zero_bias"};
  RfContext context;
  RfNet net;
  bool stated;
  for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) {
    char file[64];
    snprintf(file, sizeof file, "safetensors/%s", good[k]);
    assert_ok(&context, load_corpus(&context, &net, &stated, file, NULL));
    assert_true(net.m == 2 && net.d == 3 && net.a[0] == 1 && net.a[1] == -1);
    assert_memory_equal(net.W, want, sizeof want);
    assert_true(stated == (k == 1) && net.leak == (k == 1 ? 0.25 : 0));
    rf_net_free(&net);
  }
  assert_ok(&context, load_corpus(&context, &net, &stated, "safetensors/bf16", NULL));
  assert_true(net.W[0] == 1 && net.W[1] == -2 && net.a[0] == 2);
  rf_net_free(&net);
  assert_ok(&context, load_corpus(&context, &net, &stated, "safetensors/one_by_one", NULL));
  assert_true(net.W[0] == 2 && net.a[0] == 3);
  rf_net_free(&net);
  assert_ok(&context, load_corpus(&context, &net, &stated, "safetensors/one_by_one", "w2=W,w1=a"));
  assert_true(net.W[0] == 3 && net.a[0] == 2);
  rf_net_free(&net);
  assert_ok(&context, load_corpus(&context, &net, &stated, "safetensors/three", "fc1.weight=W,fc2.weight=a"));
  assert_true(net.m == 2);
  rf_net_free(&net);
}

static void bad_safetensors(void **state) {
  (void)state;
  static const struct {
    const char *file, *map, *says;
  } bad[] = {{"bias", NULL, "bias"},
             {"bias", "fc1.weight=W,fc2.weight=a", "bias"},
             {"three", NULL, "--map"},
             {"two_outputs", NULL, "1 x m"},
             {"integers", NULL, "dtype"},
             {"offsets", NULL, "data_offsets"},
             {"long_header", NULL, "header"},
             {"no_object", NULL, "object"},
             {"short", NULL, "header"},
             {"bad_json", NULL, "JSON"},
             {"f32", "x=W,fc2.weight=a", "--map"}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    RfContext context;
    RfNet net;
    bool stated;
    char file[64], path[1024];
    snprintf(file, sizeof file, "safetensors/%s", bad[k].file);
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", RF_SOURCE_DIR, file);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    char bytes[4096];
    size_t size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    rf_context_init(&context);
    RfStatus status = rf_net_parse(&context, &net, &stated, "x.safetensors", bad[k].map, bytes, size);
    if (status != RF_ERR_INPUT || !strstr(context.error, bad[k].says))
      print_error("%s: %s\n", file, context.error);
    assert_int_equal(status, RF_ERR_INPUT);
    assert_non_null(strstr(context.error, bad[k].says));
    assert_null(net.W);
  }
}

/* A network that PyTorch trained (make_reference.py), in both of its files: the same weights, and every
 * sample of gen:orthant,n=60,d=4 on its side. */
static void trained_by_pytorch(void **state) {
  (void)state;
  RfContext context;
  RfNet npz, tensors;
  RfDataset data;
  RfDataSource source;
  double margin;
  rf_context_init(&context);
  rf_data_source_init(&source);
  source.path = "gen:orthant,n=60,d=4";
  assert_ok(&context, rf_net_load(&context, &npz, NULL, RF_SOURCE_DIR "/tests/net/data/trained.npz", NULL));
  assert_ok(&context,
            rf_net_load(&context, &tensors, NULL, RF_SOURCE_DIR "/tests/net/data/trained.safetensors", NULL));
  assert_int_equal(npz.m, 8);
  assert_int_equal(npz.d, 4);
  assert_memory_equal(npz.W, tensors.W, 32 * sizeof(double));
  assert_memory_equal(npz.a, tensors.a, 8 * sizeof(double));
  assert_ok(&context, rf_data_load(&context, &data, &source));
  assert_ok(&context, rf_net_margin(&context, &margin, NULL, &npz, data.X, data.y, data.n));
  assert_true(margin > 0);
  rf_dataset_free(&data);
  rf_net_free(&npz), rf_net_free(&tensors);
}

/* Any finite bits, through both writers. */
static void round_trips(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 12, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(20); trial++) {
    RfContext context;
    RfNet net, back;
    rf_context_init(&context);
    rf_index m = 1 + rf_random_below(&random, 6), d = 1 + rf_random_below(&random, 6);
    assert_ok(&context, rf_net_new(&context, &net, m, d, rf_random_uniform(&random)));
    for (rf_index k = 0; k < m * d; k++) {
      uint64_t bits = rf_random_u64(&random);
      memcpy(net.W + k, &bits, sizeof bits);
      if (!isfinite(net.W[k])) net.W[k] = -0.0;
    }
    for (rf_index k = 0; k < m; k++) net.a[k] = rf_random_gaussian(&random);
    for (int json = 0; json < 2; json++) {
      char path[256];
      bool stated;
      snprintf(path, sizeof path, "/tmp/rf-net-%ld.%s", (long)getpid(), json ? "json" : "npz");
      assert_ok(&context, rf_net_save(&context, &net, path));
      assert_ok(&context, rf_net_load(&context, &back, &stated, path, NULL));
      assert_true(stated && back.leak == net.leak && back.m == m && back.d == d);
      assert_memory_equal(back.W, net.W, (size_t)(m * d) * sizeof(double));
      assert_memory_equal(back.a, net.a, (size_t)m * sizeof(double));
      rf_net_free(&back);
      unlink(path);
    }
    rf_net_free(&net);
  }
  RfContext context;
  RfNet net;
  rf_context_init(&context);
  assert_ok(&context, rf_net_new(&context, &net, 1, 1, 0));
  assert_int_equal(rf_net_save(&context, &net, "x.safetensors"), RF_ERR_USAGE);
  assert_int_equal(rf_net_save(&context, &net, "/nonexistent/x.json"), RF_ERR_IO);
  rf_net_free(&net);
  assert_int_equal(rf_net_load(&context, &net, NULL, "/nonexistent/x.json", NULL), RF_ERR_IO);
  assert_int_equal(rf_net_load(&context, &net, NULL, "", NULL), RF_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(json_fields),        cmocka_unit_test(bad_json),        cmocka_unit_test(npz_by_numpy),
      cmocka_unit_test(safetensors),        cmocka_unit_test(bad_safetensors), cmocka_unit_test(round_trips),
      cmocka_unit_test(trained_by_pytorch),
  };
  return cmocka_run_group_tests_name("net/file", tests, NULL, NULL);
}
