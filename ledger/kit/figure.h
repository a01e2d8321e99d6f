/* Figures of claims: a CSV of the series and a picture, written under settings->svg_dir. */
#ifndef RF_CLAIMS_FIGURE_H
#define RF_CLAIMS_FIGURE_H

#include "kit/claims_internal.h"
#include "present/present.h"

/* Pictures are wanted: for a folder, or for the front page of the ledger. */
bool rf_claim_draws(const RfClaimRun *run);
/* A text file; nothing without a folder. */
RfStatus rf_claim_text(RfClaimRun *run, const char *name, const char *text);
/* columns[j][i], with a header line; nothing without a folder. */
RfStatus rf_claim_series(RfClaimRun *run, const char *name, const char *header, const double *const *columns,
                         rf_index n_columns, rf_index rows);
/* Writes and frees the picture; call it only when rf_claim_draws. A name "front-..." also goes on the front
 * page of the ledger, and the first picture of a figure beside its claim. */
RfStatus rf_claim_picture(RfClaimRun *run, RfSvg *svg, const char *name);
/* One of several panels of a picture, 360 x 260 pixels each. */
RfPlot rf_claim_panel(RfSvg *svg, int row, int column, const char *x_label, const char *y_label);
/* Axes that fit, and a line. */
void rf_claim_curve(RfPlot *plot, const double *x, const double *y, rf_index count, RfColour colour);

#endif
