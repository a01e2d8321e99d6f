/* Fields of `train`: gd, sgd, adam. */
#include "present/present_internal.h"

/* What one trained network reports: at the top level, and for each class of a multi-class problem. */
#define TRAIN_ROWS(prefix)                                                                                   \
  RF_INTEGER_ROW(prefix "steps", "updates taken"), RF_INTEGER_ROW(prefix "epochs", "passes over the data"),  \
      RF_STRING_ROW(prefix "stop", "what ended the run: steps, loss, margin or interrupted"),                \
      RF_NUMBER_ROW(prefix "loss", "", "loss at the end"),                                                   \
      RF_NUMBER_ROW(prefix "log_loss", "", "ln of the loss"),                                                \
      RF_NUMBER_ROW(prefix "margin", "length", "min_i y_i f(x_i) / |theta|^D"),                              \
      RF_NUMBER_ROW(prefix "min_q", "", "min_i y_i f(x_i)"), RF_NUMBER_ROW(prefix "norm", "", "|theta|"),    \
      RF_NUMBER_ROW(prefix "train_error", "", "share of training samples with the wrong sign"),              \
      RF_NUMBER_ROW(prefix "test_error", "",                                                                 \
                    "share of test samples with the wrong sign; null without test data"),                    \
      RF_NUMBER_ROW(prefix "leak", "", "slope for non-positive inputs"),                                     \
      RF_NUMBER_ROW(prefix "W[][]", "", "first layer, one neuron a row; null for a layered network"),        \
      RF_NUMBER_ROW(prefix "a[]", "", "second layer; null for a layered network"), RF_LAYERS_ROWS(prefix),   \
      RF_NUMBER_ROW(prefix "seconds", "s", "time of the training loop, resumed parts together"),             \
      RF_NUMBER_ROW(prefix "steps_per_second", "1/s", "steps / seconds"),                                    \
      RF_OBJECT_ROW(prefix "records[]", "what was recorded along the way"),                                  \
      RF_INTEGER_ROW(prefix "records[].step", "after this many updates"),                                    \
      RF_INTEGER_ROW(prefix "records[].epoch", "after this many passes"),                                    \
      RF_NUMBER_ROW(prefix "records[].loss", "", "loss"),                                                    \
      RF_NUMBER_ROW(prefix "records[].log_loss", "", "ln of the loss"),                                      \
      RF_NUMBER_ROW(prefix "records[].margin", "length", "normalised margin"),                               \
      RF_NUMBER_ROW(prefix "records[].min_q", "", "min_i y_i f(x_i)"),                                       \
      RF_NUMBER_ROW(prefix "records[].norm", "", "|theta|"),                                                 \
      RF_NUMBER_ROW(prefix "records[].rate", "", "learning rate in force"),                                  \
      RF_NUMBER_ROW(prefix "records[].train_error", "", "share of wrong training samples"),                  \
      RF_NUMBER_ROW(prefix "records[].test_error", "",                                                       \
                    "share of wrong test samples; null without test data"),                                  \
      RF_OBJECT_ROW(prefix "then", "gradient flow from the trained network; null without --then flow"),      \
      RF_STRING_ROW(prefix "then.status",                                                                    \
                    "as limit.status of flow; not-reached: the loss asked for was not"),                     \
      RF_NUMBER_ROW(prefix "then.margin", "length", "margin of the limit at t = infinity"),                  \
      RF_NUMBER_ROW(prefix "then.stationarity", "", "distance of the limit from a KKT point, as in flow"),   \
      RF_NUMBER_ROW(prefix "then.complementarity", "", "the same, complementarity")

static const RfField train[] = {
    RF_RUN_ROW,
    RF_STRING_ROW("name", "the dataset as it was asked for"),
    TRAIN_ROWS(""),
    RF_OBJECT_ROW("per_class[]", "several classes: one network against the rest for each"),
    RF_STRING_ROW("per_class[].class", "the class that is +1"),
    TRAIN_ROWS("per_class[]."),
};
const RfFieldTable rf_fields_train = {"train", false, "training by gd, sgd or adam", RF_ROWS(train)};
