/* Layered network files: the same bits after writing and reading, and refusals that name the member. */
#include <unistd.h>

#include "rf_test.h"

static RfStatus parse(RfContext *context, RfLayeredNet *net, bool *weighted, const char *text) {
  rf_context_init(context);
  return rf_layers_parse(context, net, weighted, "x.json", text, strlen(text));
}

static void build(RfContext *c, RfLayeredNet *net) {
  const int32_t pattern[] = {0, 1, -1, -1, -1, -1, 0, 1, 2, -1, -1, 0};
  RfConvShape shape = {.channels_in = 1,
                       .height = 4,
                       .width = 3,
                       .channels_out = 2,
                       .kernel_h = 3,
                       .kernel_w = 2,
                       .stride = 2,
                       .padding = 1};
  assert_ok(c, rf_layers_new(c, net, 0.25));
  assert_ok(c, rf_layers_add_diagonal(c, net, 12));
  assert_ok(c, rf_layers_add_conv(c, net, shape));
  assert_ok(c, rf_layers_add_dense(c, net, net->layers[1].outputs, 4));
  assert_ok(c, rf_layers_add_shared(c, net, pattern, 4, 3));
  assert_ok(c, rf_layers_add_dense(c, net, 3, 3));
  assert_ok(c, rf_layers_set_residual(c, net));
  assert_ok(c, rf_layers_add_dense(c, net, 3, 1));
  net->layers[2].fixed = true;
}

static void round_trip(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net, back;
  RfRandom random;
  bool layered, weighted;
  char path[128];
  rf_context_init(&context);
  rf_random_init(&random, 31, 0);
  snprintf(path, sizeof path, "/tmp/rf-layers-%ld.json", (long)getpid());
  build(&context, &net);
  for (rf_index trial = 0; trial < rf_test_iterations(20); trial++) {
    rf_layers_init_uniform(&net, &random, exp(20 * rf_random_gaussian(&random)));
    net.leak = trial == 0 ? 0 : trial == 1 ? 1 : rf_random_uniform(&random);
    assert_ok(&context, rf_layers_save(&context, &net, path));
    assert_ok(&context, rf_layers_load(&context, &back, &layered, &weighted, path));
    assert_true(layered && weighted && back.leak == net.leak);
    assert_int_equal(back.n_layers, net.n_layers);
    assert_int_equal(back.n_parameters, net.n_parameters);
    assert_memory_equal(back.theta, net.theta, (size_t)net.n_parameters * sizeof(double));
    for (rf_index l = 0; l < net.n_layers; l++) {
      const RfLayer *a = &net.layers[l], *b = &back.layers[l];
      assert_true(a->kind == b->kind && a->fixed == b->fixed && a->residual == b->residual);
      for (rf_index o = 0; o < a->outputs; o++)
        for (rf_index i = 0; i < a->inputs; i++)
          assert_int_equal(rf_layers_entry(&net, l, o, i), rf_layers_entry(&back, l, o, i));
    }
    rf_layers_free(&back);
  }
  unlink(path);
  rf_layers_free(&net);
  assert_int_equal(rf_layers_load(&context, &net, &layered, &weighted, path), RF_ERR_IO);
  assert_int_equal(rf_layers_load(&context, &net, &layered, &weighted, ""), RF_ERR_USAGE);
}

static void shapes_without_weights(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  bool weighted;
  assert_ok(&context,
            parse(&context, &net, &weighted,
                  "{\"residual\": true, \"layers\": [{\"kind\": \"dense\", \"shape\": [3, 2]},"
                  "{\"kind\": \"dense\", \"shape\": [3, 3]}, {\"kind\": \"dense\", \"shape\": [1, 3]}]}"));
  assert_false(weighted);
  assert_true(!net.layers[0].residual && net.layers[1].residual && !net.layers[2].residual);
  rf_layers_free(&net);
}

#define LAYER(rest) "{\"layers\": [{\"kind\": \"dense\", \"shape\": [2, 1], \"weights\": [1, 2]}, " rest "]}"

static void refusals(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"[]", "x.json:1:1: expected a JSON object"},
      {"{\"layers\": [}", "x.json:1:"},
      {"{}", "x.json: layers: expected a list"},
      {"{\"layers\": 3}", "x.json: layers: expected a list"},
      {"{\"layers\": []}", "x.json: layers: expected a list"},
      {"{\"layers\": [3]}", "x.json: layers[0]: expected an object"},
      {LAYER("{\"shape\": [1, 2]}"), "layers[1].kind: expected dense"},
      {LAYER("{\"kind\": \"pool\"}"), "layers[1].kind: expected dense"},
      {LAYER("{\"kind\": \"dense\"}"), "layers[1].shape: expected [outputs, inputs]"},
      {LAYER("{\"kind\": \"dense\", \"shape\": [1, 0]}"), "layers[1].shape"},
      {LAYER("{\"kind\": \"dense\", \"shape\": [1, 2.5]}"), "layers[1].shape"},
      {LAYER("{\"kind\": \"dense\", \"shape\": [1, 3], \"weights\": [1, 2, 3]}"),
       "layers[1]: layer 1 takes 3 inputs"},
      {LAYER("{\"kind\": \"dense\", \"shape\": [1, 2], \"weights\": [1]}"),
       "layers[1].weights: expected 2 finite"},
      {LAYER("{\"kind\": \"dense\", \"shape\": [1, 2], \"weights\": [1, 2, 3]}"), "layers[1].weights"},
      {LAYER("{\"kind\": \"dense\", \"shape\": [1, 2], \"weights\": [1, null]}"), "layers[1].weights"},
      {LAYER("{\"kind\": \"dense\", \"shape\": [1, 2]}"),
       "layers[1].weights: expected weights for every layer"},
      {LAYER("{\"kind\": \"shared\", \"shape\": [1, 2], \"pattern\": [[0]], \"weights\": [1]}"),
       "layers[1].pattern"},
      {LAYER("{\"kind\": \"shared\", \"shape\": [1, 2], \"pattern\": [[0, 5]], \"weights\": [1]}"),
       "layers[1]: sharing"},
      {LAYER("{\"kind\": \"shared\", \"shape\": [1, 2], \"pattern\": [[0, -2]], \"weights\": [1]}"),
       "layers[1].pattern"},
      {LAYER("{\"kind\": \"conv\", \"shape\": [1, 1, 2, 2], \"input\": [1, 1, 1], \"weights\": [1,2,3,4]}"),
       "layers[1]: convolution: the kernel"},
      {LAYER("{\"kind\": \"conv\", \"shape\": [1, 1, 2, 2], \"input\": [2, 1, 1], \"weights\": [1,2,3,4]}"),
       "layers[1].input: expected as many channels"},
      {LAYER("{\"kind\": \"conv\", \"shape\": [1, 1, 1, 1], \"input\": [1, 1, 2], \"stride\": 0}"),
       "layers[1].stride"},
      {"{\"leak\": 2, \"layers\": [{\"kind\": \"dense\", \"shape\": [1, 1]}]}", "x.json: leak: expected"},
      {"{\"activation\": \"tanh\", \"layers\": [{\"kind\": \"dense\", \"shape\": [1, 1]}]}",
       "x.json: activation"},
      {"{\"activation\": \"linear\", \"leak\": 0.5, \"layers\": [{\"kind\": \"dense\", \"shape\": [1, 1]}]}",
       "x.json: leak: expected 1"},
      {"{\"residual\": [0], \"layers\": [{\"kind\": \"dense\", \"shape\": [1, 1]}]}", "x.json: residual"},
      {"{\"residual\": 7, \"layers\": [{\"kind\": \"dense\", \"shape\": [1, 1]}]}", "x.json: residual"},
      {"{\"layers\": [{\"kind\": \"dense\", \"shape\": [1000000, 1000000]}]}",
       "layers[0].shape: expected a smaller"},
      {"{\"layers\": [{\"kind\": \"dense\", \"shape\": [1000000, 1000000], \"weights\": [1]}]}",
       "layers[0].shape: expected a shape that fits"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    RfContext context;
    RfLayeredNet net;
    bool weighted;
    RfStatus status = parse(&context, &net, &weighted, bad[k].text);
    if (status >= 0 || !strstr(context.error, bad[k].says))
      print_error("%s\n  says: %s\n  not:  %s\n", bad[k].text, context.error, bad[k].says);
    assert_true(status == RF_ERR_INPUT || (!bad[k].says[0] && status == RF_ERR_MEMORY));
    assert_non_null(strstr(context.error, bad[k].says));
    assert_null(net.theta);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trip),
      cmocka_unit_test(shapes_without_weights),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests_name("layers/file", tests, NULL, NULL);
}
