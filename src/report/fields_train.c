/* Fields of `train`: gd, sgd, adam. */
#include "report/report_internal.h"

static const RfField train[] = {
    RF_STRING_ROW("name", "the dataset as it was asked for"),
    RF_INTEGER_ROW("steps", "steps taken"),
    RF_NUMBER_ROW("epochs", "", "passes over the data"),
    RF_NUMBER_ROW("loss", "", "loss at the end"),
    RF_NUMBER_ROW("log_loss", "", "ln of the loss"),
    RF_NUMBER_ROW("margin", "length", "min_i y_i f(x_i) / |theta|^D"),
    RF_NUMBER_ROW("train_error", "", "share of training samples with the wrong sign"),
    RF_NUMBER_ROW("test_error", "", "share of test samples with the wrong sign; null without test data"),
    RF_NUMBER_ROW("W[][]", "", "first layer"),
    RF_NUMBER_ROW("a[]", "", "second layer"),
    RF_NUMBER_ROW("seconds", "s", "time of the training loop"),
    RF_NUMBER_ROW("steps_per_second", "1/s", "steps / seconds"),
    RF_OBJECT_ROW("records[]", "what was recorded along the way"),
    RF_INTEGER_ROW("records[].step", "after this many steps"),
    RF_NUMBER_ROW("records[].loss", "", "loss"),
    RF_NUMBER_ROW("records[].log_loss", "", "ln of the loss"),
    RF_NUMBER_ROW("records[].margin", "length", "normalised margin"),
};
const RfFieldTable rf_fields_train = {"train", false, "training by gd, sgd or adam", RF_ROWS(train)};
