/* Small questions about samples that several claims ask. X is n rows of d. */
#ifndef RF_CLAIMS_SAMPLES_H
#define RF_CLAIMS_SAMPLES_H

#include "data/data.h"

enum { RF_CLAIM_MOST_D = 32 }; /* claims hold vectors of at most this dimension on the stack */

double rf_claim_cosine(const double *u, const double *v, rf_index d);
/* Sum of the samples with label `side`. */
void rf_claim_class_sum(double *sum, const RfDataset *data, int side);
/* w sees exactly the samples of `side` (S+ or S-); with side 0: none at all (dead). */
bool rf_claim_in_cone(const double *w, const RfDataset *data, int side);
/* By the sides of a neuron: 1 in S+, -1 in S-, 0 dead, 2 elsewhere. */
int rf_claim_cone_of(const int8_t *sides, const RfDataset *data);
/* A unit element of the cone of the z_i = y_i x_i; sparse weights reach its faces. */
void rf_claim_random_conic(double *out, const RfDataset *data, RfRandom *random);
/* Removes from v its part in the span of the samples whose sector is '0'. */
void rf_claim_off_span(double *v, const RfDataset *data, const char *sector);
/* Slope of the least-squares line. */
double rf_claim_slope(const double *x, const double *y, rf_index count);

#endif
