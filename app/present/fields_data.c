/* Fields of `data list`, `data make` (and `data convert`), `data info`. */
#include "present/present_internal.h"

static const RfField list[] = {
    RF_RUN_ROW,
    RF_OBJECT_ROW("generators[]", "every generator, in the order of the catalogue"),
    RF_STRING_ROW("generators[].name", "what follows gen:"),
    RF_STRING_ROW("generators[].alias", "its catalogue id DS-..., or null"),
    RF_STRING_ROW("generators[].paper", "where the set comes from"),
    RF_STRING_ROW("generators[].summary", "what it is"),
    RF_OBJECT_ROW("generators[].keys[]", "the arguments it takes"),
    RF_STRING_ROW("generators[].keys[].name", "key"),
    RF_STRING_ROW("generators[].keys[].default", "value when not given"),
    RF_STRING_ROW("generators[].keys[].meaning", "what it does"),
};
const RfFieldTable rf_fields_data_list = {"data list", false, "the generators", RF_ROWS(list)};

static const RfField make[] = {
    RF_RUN_ROW,
    RF_STRING_ROW("name", "the dataset as it was asked for"),
    RF_STRING_ROW("file", "the file written"),
    RF_INTEGER_ROW("n", "samples"),
    RF_INTEGER_ROW("d", "dimension"),
    RF_STRING_ROW("classes[]", "labels as they stood in the file, sorted"),
};
const RfFieldTable rf_fields_data_make = {"data make", false, "a dataset written to a file", RF_ROWS(make)};

static const RfField info[] = {
    RF_RUN_ROW,
    RF_STRING_ROW("name", "the dataset as it was asked for"),
    RF_INTEGER_ROW("n", "samples"),
    RF_INTEGER_ROW("d", "dimension, with the column of --bias"),
    RF_STRING_ROW("classes[]", "labels as they stood in the file, sorted; with two, the second is positive"),
    RF_INTEGER_ROW("class_sizes[]", "samples of each class"),
    RF_NUMBER_ROW("norm_min", "length", "smallest |x_i|"),
    RF_NUMBER_ROW("norm_max", "length", "largest |x_i|"),
    RF_NUMBER_ROW("low", "length", "smallest entry of X"),
    RF_NUMBER_ROW("high", "length", "largest entry of X"),
    RF_NUMBER_ROW("mean_norm", "length", "length of the mean of the samples"),
    RF_INTEGER_ROW("zeros", "samples that are the zero vector"),
    RF_NUMBER_ROW("filled", "", "share of entries of X that are not zero"),
};
const RfFieldTable rf_fields_data_info = {"data info", false, "what is in a dataset", RF_ROWS(info)};
