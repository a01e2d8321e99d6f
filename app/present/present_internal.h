/* Shared by the files of present. */
#ifndef RF_PRESENT_INTERNAL_H
#define RF_PRESENT_INTERNAL_H

#include "present/present.h"

/* Bytes of the well-formed UTF-8 character at `text`, 0 when it is not one. */
size_t rf_utf8_length(const char *text);

/* The flows and best margins of an explanation, one or one per class, as the other pages take them. */
typedef struct RfExplainViews {
  rf_index count;
  const RfStudyFlow **flows;
  const RfStudyBest **bests;
} RfExplainViews;

bool rf_explain_views(RfExplainViews *views, const RfExplanation *e); /* false: out of memory */
void rf_explain_views_free(RfExplainViews *views);

/* The member "trace" of a flow. */
void rf_json_trace(RfJson *json, const RfFlowTrace *rows, rf_index count);

/* Rows of the table of fields: path, type, unit, meaning. */
#define RF_OBJECT_ROW(path, meaning)                                                                         \
  { path, RF_FIELD_OBJECT, "", meaning, NULL }
#define RF_BOOLEAN_ROW(path, meaning)                                                                        \
  { path, RF_FIELD_BOOLEAN, "", meaning, NULL }
#define RF_INTEGER_ROW(path, meaning)                                                                        \
  { path, RF_FIELD_INTEGER, "", meaning, NULL }
#define RF_COUNT_ROW(path, meaning)                                                                          \
  { path, RF_FIELD_COUNT, "", meaning, NULL }
#define RF_NUMBER_ROW(path, unit, meaning)                                                                   \
  { path, RF_FIELD_NUMBER, unit, meaning, NULL }
#define RF_STRING_ROW(path, meaning)                                                                         \
  { path, RF_FIELD_STRING, "", meaning, NULL }
#define RF_MAP_ROW(path, meaning)                                                                            \
  { path, RF_FIELD_MAP, "", meaning, NULL }
#define RF_SHAPE_ROW(path, shape, meaning)                                                                   \
  { path, RF_FIELD_SHAPE, "", meaning, shape }
#define RF_ROWS(rows) rows, (rf_index)(sizeof(rows) / sizeof((rows)[0]))

/* A layered network, as rf_json_layered_net writes it. */
#define RF_LAYERS_ROWS(prefix)                                                                               \
  RF_STRING_ROW(prefix "activation", "relu, leaky or linear; null unless the network was given in layers"),  \
      RF_INTEGER_ROW(prefix "residual[]", "layers that add their input"),                                    \
      RF_OBJECT_ROW(prefix "layers[]", "the layers, as network files have them"),                            \
      RF_STRING_ROW(prefix "layers[].kind", "dense, diagonal, conv or shared"),                              \
      RF_INTEGER_ROW(prefix "layers[].shape[]", "sizes: outputs and inputs, or those of the filters"),       \
      RF_INTEGER_ROW(prefix "layers[].pattern[][]", "shared: which weight stands where, -1 for none"),       \
      RF_INTEGER_ROW(prefix "layers[].input[]", "conv: channels, height and width of the input"),            \
      RF_INTEGER_ROW(prefix "layers[].stride", "conv: step of the filter"),                                  \
      RF_INTEGER_ROW(prefix "layers[].padding", "conv: zeros around the input"),                             \
      RF_BOOLEAN_ROW(prefix "layers[].fixed", "not trained"),                                                \
      RF_NUMBER_ROW(prefix "layers[].weights[]", "", "row by row")

/* How the result was made, in the table of every command. */
#define RF_RUN_ROW RF_SHAPE_ROW("run", "run", "how this result was made: enough to repeat it")

/* One per file fields_NAME.c. */
extern const RfFieldTable rf_fields_run, rf_fields_rerun;
extern const RfFieldTable rf_fields_separator, rf_fields_class_vector, rf_fields_witness, rf_fields_slack;
extern const RfFieldTable rf_fields_data_list, rf_fields_data_make, rf_fields_data_info;
extern const RfFieldTable rf_fields_sweep, rf_fields_sweep_export, rf_fields_sweep_show, rf_fields_sweep_plot,
    rf_fields_basins;
extern const RfFieldTable rf_fields_inspect, rf_fields_maxmargin, rf_fields_flow, rf_fields_certify,
    rf_fields_train, rf_fields_verify, rf_fields_explain, rf_fields_explore;

#endif
