/* Feeds bytes to a reader and checks what every caller may rely on: a usable result, or a failure with one
 * line. Used by the fuzz targets and by the test that runs the corpora. */
#ifndef RF_FEED_H
#define RF_FEED_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data_internal.h"
#include "layers/layers.h"
#include "net/net.h"

#define FEED_LIMIT ((int64_t)1 << 24)

static inline void feed_check(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "feed: %s\n", what);
  abort();
}

static inline void feed_check_failure(const RfContext *context, RfStatus status) {
  feed_check(status == RF_ERR_INPUT || status == RF_ERR_USAGE || status == RF_ERR_MEMORY,
             "unexpected status");
  feed_check(context->error[0] != 0 && !strpbrk(context->error, "\r\n"), "a failure needs one line");
}

static inline void feed_check_dataset(const RfDataset *dataset) {
  feed_check(dataset->n >= 1 && dataset->d >= 1 && dataset->n_classes >= 1, "sizes");
  for (rf_index k = 0; k < dataset->n * dataset->d; k++) feed_check(isfinite(dataset->X[k]), "finite cells");
  feed_check((dataset->y == NULL) == (dataset->n_classes > 2), "y exactly for one or two classes");
  for (rf_index i = 0; i < dataset->n; i++) {
    feed_check(dataset->class_of[i] >= 0 && dataset->class_of[i] < dataset->n_classes, "classes");
    feed_check(!dataset->y || dataset->y[i] == 1 || dataset->y[i] == -1, "signs");
  }
  for (rf_index k = 0; k < dataset->n_classes; k++) feed_check(dataset->class_names[k][0] != 0, "names");
}

static inline void feed_dataset(RfDataFormat format, const char *name, const char *label,
                                const uint8_t *bytes, size_t size) {
  RfContext context;
  RfDataset dataset;
  RfDataSource source;
  rf_context_init(&context);
  rf_data_source_init(&source);
  source.path = name, source.label = label, source.memory_limit = FEED_LIMIT;
  RfStatus status = rf_data_parse(&context, &dataset, &source, format, bytes, size);
  if (status)
    feed_check_failure(&context, status);
  else
    feed_check_dataset(&dataset);
  rf_dataset_free(&dataset);
}

static inline void feed_net(const char *name, const char *map, const uint8_t *bytes, size_t size) {
  RfContext context;
  RfNet net;
  bool stated;
  rf_context_init(&context);
  RfStatus status = rf_net_parse(&context, &net, &stated, name, map, bytes, size);
  if (status) {
    feed_check_failure(&context, status);
  } else {
    feed_check(net.m >= 1 && net.d >= 1 && net.leak >= 0 && net.leak <= 1, "network");
    for (rf_index k = 0; k < net.m * net.d; k++) feed_check(isfinite(net.W[k]), "finite weights");
  }
  rf_net_free(&net);
}

static inline void feed_layers(const uint8_t *bytes, size_t size) {
  RfContext context;
  RfLayeredNet net;
  bool weighted;
  rf_context_init(&context);
  RfStatus status = rf_layers_parse(&context, &net, &weighted, "x.json", bytes, size);
  if (status) {
    feed_check_failure(&context, status);
    feed_check(net.n_layers == 0 && !net.theta, "nothing left behind");
  } else {
    feed_check(net.n_layers >= 1 && net.leak >= 0 && net.leak <= 1, "layered network");
    for (rf_index p = 0; p < net.n_parameters; p++) feed_check(isfinite(net.theta[p]), "finite weights");
  }
  rf_layers_free(&net);
}

typedef RfStatus (*FeedArray)(RfContext *, RfArray *, RfStream *, int64_t);

static inline void feed_array(FeedArray read, const uint8_t *bytes, size_t size) {
  RfContext context;
  RfStream stream;
  RfArray array = {0};
  rf_context_init(&context);
  RfStatus status = rf_stream_open_memory(&context, &stream, "array", bytes, size);
  if (!status) status = read(&context, &array, &stream, FEED_LIMIT);
  if (status)
    feed_check_failure(&context, status);
  else
    feed_check((array.values != NULL) != (array.texts != NULL), "numbers or texts");
  rf_array_free(&array);
  rf_stream_close(&stream);
}

static inline void feed_csv(const uint8_t *bytes, size_t size) {
  feed_dataset(RF_FORMAT_CSV, "x.csv", NULL, bytes, size);
  feed_dataset(RF_FORMAT_CSV, "x.tsv", "0", bytes, size);
  feed_dataset(RF_FORMAT_AUTO, "x", "label", bytes, size);
}
static inline void feed_libsvm(const uint8_t *bytes, size_t size) {
  feed_dataset(RF_FORMAT_LIBSVM, "x.svm", NULL, bytes, size);
}
static inline void feed_npy(const uint8_t *bytes, size_t size) { feed_array(rf_npy_read, bytes, size); }
static inline void feed_idx(const uint8_t *bytes, size_t size) { feed_array(rf_idx_read, bytes, size); }
static inline void feed_npz(const uint8_t *bytes, size_t size) {
  feed_dataset(RF_FORMAT_NPZ, "x.npz", NULL, bytes, size);
  feed_net("x.npz", NULL, bytes, size);
}
static inline void feed_net_json(const uint8_t *bytes, size_t size) {
  feed_net("x.json", NULL, bytes, size);
  feed_net("x.json", "fc1.weight=W,fc2.weight=a", bytes, size);
}
static inline void feed_safetensors(const uint8_t *bytes, size_t size) {
  feed_net("x.safetensors", NULL, bytes, size);
  feed_net("x.safetensors", "fc1.weight=W,fc2.weight=a", bytes, size);
}

#endif
