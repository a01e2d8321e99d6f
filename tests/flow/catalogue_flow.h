/* A flow on a data set of the catalogue, from balanced neurons of seed 0. */
#ifndef RF_CATALOGUE_FLOW_H
#define RF_CATALOGUE_FLOW_H

#include "flow/flow_internal.h"
#include "rf_test.h"

typedef struct CatalogueFlow {
  RfContext context;
  RfDataset data;
  RfNet net;
  RfFlowStart start;
  RfFlowProblem problem;
  RfFlowSettings settings; /* the usual ones */
} CatalogueFlow;

static inline void catalogue_flow_new(CatalogueFlow *c, const char *spec, rf_index width, double scale) {
  memset(c, 0, sizeof *c);
  rf_context_init(&c->context);
  rf_flow_settings_init(&c->settings);
  assert_ok(&c->context, rf_data_generate(&c->context, &c->data, spec));
  assert_ok(&c->context, rf_net_init(&c->context, &c->net, RF_INIT_BALANCED, width, c->data.d, 0, 0, 1));
  assert_ok(&c->context, rf_flow_start_from_net(&c->context, &c->start, &c->net));
  c->problem = (RfFlowProblem){.X = c->data.X,
                               .y = c->data.y,
                               .n = c->data.n,
                               .d = c->data.d,
                               .start = &c->start,
                               .log_scale = log(scale)};
}

static inline void catalogue_flow_free(CatalogueFlow *c) {
  rf_flow_start_free(&c->start);
  rf_net_free(&c->net);
  rf_dataset_free(&c->data);
}

#endif
