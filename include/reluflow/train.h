/* train: gradient descent, stochastic gradient descent and Adam on layered networks with one output, in
 * double or float. Two-layer networks are layered networks of two dense layers. Same settings and seed, same
 * bits, for any number of threads, and also when a run is stopped and resumed from its checkpoint.
 *
 * Ownership: a result owns its network and records (rf_train_result_free); data and settings are read during
 * the call only.
 *
 * Threads: calls with different contexts may run at the same time, unless they write one checkpoint. */
#ifndef RELUFLOW_TRAIN_H
#define RELUFLOW_TRAIN_H

#include "reluflow/core.h"
#include "reluflow/layers.h"
#include "reluflow/net.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RfOptimizer { RF_TRAIN_GD = 0, RF_TRAIN_SGD = 1, RF_TRAIN_ADAM = 2 } RfOptimizer;

typedef struct RfTrainSettings {
  RfOptimizer optimizer;
  double rate;         /* learning rate                                                             0.01 */
  rf_index max_steps;  /* updates; < 0 = no limit (then epochs limit it)                            1000 */
  rf_index max_epochs; /* passes over the data; < 0 = no limit                                        -1 */
  rf_index batch;      /* samples per update; 0 = all (always all for gd)                              0 */
  RfLoss loss;         /*                                                                       logistic */
  bool mean;           /* mean over the batch instead of the sum                                   false */
  uint64_t seed;       /* of the shuffling: epoch e uses stream e, so a resumed run shuffles alike     0 */
  RfPrecision precision;
  double beta1, beta2, epsilon; /* Adam                                                  0.9, 0.999, 1e-8 */
  double raise_rate; /* > 0: once every sample is classified correctly, the rate is raise_rate / loss  0 */
  double stop_loss;  /* stop when the loss is at most this; 0 = never                                  0 */
  double stop_min_q; /* stop when the smallest y f(x) is at least this; infinity = never        infinity */
  rf_index record_every; /* steps (full batch) or epochs (mini-batches) between records; 0 = about 100 in all.
                            The first and the last state are always recorded */
  const char *checkpoint;    /* file to write while running and at the end; NULL = none */
  double checkpoint_seconds; /* seconds between checkpoints                                           10 */
  const char *resume;        /* checkpoint to continue from; NULL = start at net->theta */
} RfTrainSettings;

typedef struct RfTrainRecord {
  rf_index step, epoch;
  double loss, log_loss; /* on all samples, sum or mean as chosen; log_loss is right where loss underflows */
  double min_q;          /* smallest y_i f(x_i) */
  double margin;         /* min_q / |theta|^D; NaN for networks that are not homogeneous */
  double train_error;    /* share of samples with y f(x) <= 0 */
  double test_error;     /* the same on the test set; NaN without one */
  double norm;           /* |theta| */
  double rate;           /* learning rate in force */
} RfTrainRecord;

typedef enum RfTrainStop {
  RF_STOP_STEPS = 0, /* max_steps or max_epochs reached */
  RF_STOP_LOSS = 1,
  RF_STOP_MIN_Q = 2,
  RF_STOP_INTERRUPTED = 3
} RfTrainStop;

typedef struct RfTrainResult {
  RfLayeredNet net; /* the trained weights */
  rf_index steps, epochs;
  RfTrainStop stop;
  RfTrainRecord last; /* the final state, evaluated in double */
  RfTrainRecord *records;
  rf_index n_records;
  double seconds; /* spent in updates, all resumed parts together */
  double steps_per_second;
} RfTrainResult;

typedef struct RfTrainData {
  const double *X, *y; /* n rows of d, labels -1/+1 */
  rf_index n;
  const double *test_X, *test_y; /* may be NULL */
  rf_index test_n;
} RfTrainData;

RF_API void rf_train_settings_init(RfTrainSettings *settings);
/* Trains a copy of net. RF_OK; RF_INTERRUPTED with the state so far; RF_ERR_NUMERIC when the weights
 * overflow. */
RF_API RfStatus rf_train_run(RfContext *context, RfTrainResult *result, const RfLayeredNet *net,
                             const RfTrainData *data, const RfTrainSettings *settings);
RF_API void rf_train_result_free(RfTrainResult *result);
RF_API RfStatus rf_train_optimizer_from_name(RfContext *context, RfOptimizer *optimizer, const char *name);

/* Two-layer networks as layered ones, and back (for two dense layers with one output). */
RF_API RfStatus rf_train_from_net(RfContext *context, RfLayeredNet *out, const RfNet *net);
RF_API RfStatus rf_train_to_net(RfContext *context, RfNet *out, const RfLayeredNet *net);

#ifdef __cplusplus
}
#endif
#endif
