/* The JSON of a certificate. */
#include "present/present.h"

#include <math.h>

static void proved_json(RfJson *json, const RfProvedPoint *p) {
  if (!p->asked) return rf_json_null(json, "proved");
  rf_json_object(json, "proved");
  rf_json_boolean(json, "holds", p->proved);
  rf_json_string(json, "why", p->why);
  rf_json_number(json, "distance", p->distance);
  rf_json_number(json, "radius", p->radius);
  rf_json_number(json, "margin_lower", p->margin_lower);
  rf_json_number(json, "margin_upper", p->margin_upper);
  rf_json_number(json, "slack", p->slack);
  rf_json_integer(json, "equations", p->equations);
  rf_json_integer(json, "tight", p->tight);
  rf_json_integer(json, "kinks", p->kinks);
  rf_json_integer(json, "bits", p->bits);
  rf_json_end(json);
}

/* Is there an exact KKT point, and within which distance of the network? */
static void exists_json(RfJson *json, const RfProvedPoint *p) {
  if (!p->asked) return rf_json_null(json, "exists");
  rf_json_object(json, "exists");
  rf_json_boolean(json, "proved", p->proved);
  rf_json_number(json, "radius", p->proved ? p->distance : NAN);
  rf_json_end(json);
}

static void kkt_json(RfJson *json, const RfKkt *kkt, const RfNearest *nearest, const RfProvedPoint *proved) {
  bool known = kkt->lambda != NULL;
  rf_json_object(json, "kkt");
  rf_json_boolean(json, "holds", kkt->holds);
  rf_json_number(json, "stationarity", kkt->stationarity);
  rf_json_number(json, "complementarity", kkt->complementarity);
  rf_json_numbers(json, "lambda", kkt->lambda, kkt->n);
  if (known)
    rf_json_array(json, "kinks");
  else
    rf_json_null(json, "kinks");
  for (rf_index k = 0; known && k < kkt->n_kinks; k++) {
    rf_json_object(json, NULL);
    rf_json_integer(json, "neuron", kkt->kinks[k].neuron);
    rf_json_integer(json, "sample", kkt->kinks[k].sample);
    rf_json_number(json, "value", kkt->kinks[k].slope);
    rf_json_number(json, "distance", kkt->kinks[k].distance);
    rf_json_end(json);
  }
  if (known) rf_json_end(json);
  if (nearest->found) {
    rf_json_object(json, "nearest");
    rf_json_number(json, "distance", nearest->distance);
    rf_json_number(json, "stationarity", nearest->stationarity);
    rf_json_end(json);
  } else {
    rf_json_null(json, "nearest");
  }
  exists_json(json, proved);
  proved_json(json, proved);
  rf_json_end(json);
}

static void tolerances_json(RfJson *json, const RfCertifyTolerances *t) {
  rf_json_object(json, "tolerances");
  rf_json_number(json, "kkt", t->kkt);
  rf_json_number(json, "kink", t->kink);
  rf_json_number(json, "tight", t->tight);
  rf_json_number(json, "zero_neuron", t->zero_neuron);
  rf_json_number(json, "gap", t->gap);
  rf_json_end(json);
}

static void local_json(RfJson *json, const RfCertificate *c) {
  rf_json_object(json, "local");
  rf_json_string(json, "verdict", rf_verdict_name(c->local));
  rf_json_string(json, "why", c->local_why);
  rf_json_integer(json, "own_kinks", c->own_kinks);
  if (c->witness.m > 0) {
    rf_json_object(json, "witness");
    rf_json_matrix(json, "W", c->witness.W, c->witness.m, c->witness.d);
    rf_json_numbers(json, "a", c->witness.a, c->witness.m);
    rf_json_number(json, "norm2_drop", c->norm2_drop);
    rf_json_end(json);
  } else {
    rf_json_null(json, "witness");
  }
  rf_json_end(json);
}

static void global_json(RfJson *json, const RfCertificate *c) {
  rf_json_object(json, "global");
  rf_json_string(json, "verdict", rf_verdict_name(c->global));
  rf_json_string(json, "why", c->global_why);
  rf_json_number(json, "objective", c->kkt.objective);
  rf_json_number(json, "lower", c->lower);
  rf_json_number(json, "gap", c->gap);
  rf_json_answer(json, "dual_feasible", c->dual_feasible);
  rf_json_number(json, "violation", c->violation);
  rf_json_numbers(json, "direction", c->direction, c->kkt.d);
  if (c->direction)
    rf_json_integer(json, "sign", c->direction_sign);
  else
    rf_json_null(json, "sign");
  rf_json_number(json, "best", c->best);
  if (c->width_needed > 0)
    rf_json_integer(json, "width_needed", c->width_needed);
  else
    rf_json_null(json, "width_needed");
  rf_json_end(json);
}

static void layers_json(RfJson *json, const RfCertificate *c) {
  if (!c->layers_known) return rf_json_null(json, "layers");
  rf_json_array(json, "layers");
  for (rf_index l = 0; l < 2; l++) {
    rf_json_object(json, NULL);
    rf_json_integer(json, "layer", l);
    rf_json_string(json, "verdict", rf_verdict_name(c->layer_verdicts[l]));
    rf_json_number(json, "gap", c->layers[l].gap);
    rf_json_end(json);
  }
  rf_json_end(json);
}

void rf_certificate_json(RfJson *json, const RfCertificate *c) {
  rf_json_number(json, "margin", c->kkt.margin);
  rf_json_numbers(json, "margins", c->kkt.margins, c->kkt.n);
  rf_json_number(json, "objective", c->kkt.objective);
  kkt_json(json, &c->kkt, &c->nearest, &c->proved);
  tolerances_json(json, &c->tolerances);
  rf_json_integer(json, "zero_neurons", c->kkt.n_zero);
  rf_json_number(json, "balance_error", c->kkt.lambda ? c->kkt.balance_error : NAN);
  local_json(json, c);
  global_json(json, c);
  layers_json(json, c);
}

void rf_robustness_json(RfJson *json, const RfRobustness *r) {
  if (!r || !r->distance) return rf_json_null(json, "robustness");
  rf_json_object(json, "robustness");
  rf_json_boolean(json, "exact", r->exact);
  rf_json_number(json, "smallest", rf_robustness_quantile(r, 0));
  rf_json_number(json, "median", rf_robustness_quantile(r, 0.5));
  rf_json_numbers(json, "radius", r->distance, r->n);
  rf_json_numbers(json, "distance", r->distance, r->n);
  rf_json_numbers(json, "lower", r->lower, r->n);
  rf_json_matrix(json, "nearest", r->nearest, r->n, r->d);
  rf_json_number(json, "universal", r->universal);
  rf_json_numbers(json, "direction", r->direction, r->d);
  rf_json_number(json, "nodes", r->nodes);
  rf_json_end(json);
}

void rf_frozen_json(RfJson *json, const RfFrozenVerdict *v) {
  if (!v || !v->local_why) return rf_json_null(json, "frozen");
  rf_json_object(json, "frozen");
  rf_json_boolean(json, "holds", v->kkt.holds);
  rf_json_number(json, "stationarity", v->kkt.stationarity);
  rf_json_number(json, "complementarity", v->kkt.complementarity);
  rf_json_number(json, "objective", v->kkt.objective);
  rf_json_number(json, "lower", v->lower);
  rf_json_number(json, "gap", v->gap);
  rf_json_string(json, "local", rf_verdict_name(v->local));
  rf_json_string(json, "local_why", v->local_why);
  rf_json_string(json, "global", rf_verdict_name(v->global));
  rf_json_string(json, "global_why", v->global_why);
  rf_json_end(json);
}
