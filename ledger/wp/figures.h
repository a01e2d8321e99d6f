/* Pieces that the figures of Wang and Pilanci share. */
#ifndef RF_CLAIMS_WP_FIGURES_H
#define RF_CLAIMS_WP_FIGURES_H

#include "kit/claims_internal.h"
#include "present/present.h"

/* Axes [-reach, reach]^2 of equal scale. */
RfPlot rf_wp_square(RfSvg *svg, double left, double top, double size, double reach, const char *x_label,
                    const char *y_label);
/* A five-pointed star at a point of the plot; size in pixels. */
void rf_wp_star(const RfPlot *plot, double x, double y, double size, RfColour colour);
/* The ellipse {Xu} and the rectified one for two samples in the plane. */
void rf_wp_outline(const RfPlot *plot, const double *X);
/* E-WP-7, when a folder for figures was given. */
RfStatus rf_wp_draw_numbers(RfClaimRun *run);

#endif
