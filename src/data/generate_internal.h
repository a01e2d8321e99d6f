/* What the files of the generators share: the values of one call, and the draft that a generator fills. */
#ifndef RF_GENERATE_INTERNAL_H
#define RF_GENERATE_INTERNAL_H

#include "data/data.h"

enum { RF_GENERATOR_KEYS_MAX = 8 };

/* The values of one call in the order of generator->keys: defaults, overwritten by what the user gave,
 * checked against the range of each key. */
typedef struct RfValues {
  const RfGenerator *generator;
  bool given[RF_GENERATOR_KEYS_MAX];
  double number[RF_GENERATOR_KEYS_MAX];
  const char *text[RF_GENERATOR_KEYS_MAX];
  uint64_t seed;
} RfValues;

double rf_value_number(const RfValues *values, const char *key);
rf_index rf_value_count(const RfValues *values, const char *key);
bool rf_value_given(const RfValues *values, const char *key);
const char *rf_value_text(const RfValues *values, const char *key);

/* Samples with integer labels; generate.c turns it into a dataset. Streams of the random state are one per
 * family, so that equal seeds of two generators share no numbers. */
typedef struct RfDraft {
  rf_index n, d;
  double *X;      /* n rows of d */
  int32_t *label; /* n; two distinct values make a binary dataset, the larger one positive */
} RfDraft;

typedef RfStatus (*RfBuildFn)(RfContext *context, RfDraft *draft, const RfValues *values);

void rf_draft_free(RfDraft *draft);
RfStatus rf_draft_new(RfContext *context, RfDraft *draft, rf_index n, rf_index d);
RfStatus rf_draft_fill(RfContext *context, RfDraft *draft, const double *X, const int32_t *label, rf_index n,
                       rf_index d);
/* RF_OK, or RF_INTERRUPTED once the caller asks to stop; looks at the clock for one sample in 1024. */
RfStatus rf_draft_poll(RfContext *context, rf_index sample);

/* generate_exact.c: the small data sets of the papers, literal or by formula */
RfStatus rf_build_spiky_pair(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_spike_free_pair(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_pair_classes(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_axes_classes(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_planar(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_symmetric_six(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_kkt_left(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_hinted(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_stripes(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_vee(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_vee_down(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_point(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_diagonal_point(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_two_patch(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_cross(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_pair(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_boundary_negative(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_boundary_positive(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_orthogonal(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_xor(RfContext *context, RfDraft *draft, const RfValues *values);

/* generate_random.c: the random families */
RfStatus rf_build_separated(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_orthant(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_multiclass_orthant(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_gaussian(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_symmetric(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_shifted(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_teacher(RfContext *context, RfDraft *draft, const RfValues *values);
RfStatus rf_build_rings(RfContext *context, RfDraft *draft, const RfValues *values);

/* generate_digits.c: the one set that lives in files */
RfStatus rf_generate_digits(RfContext *context, RfDataset *dataset, const RfValues *values, double divisor,
                            const char *spec);

#endif
