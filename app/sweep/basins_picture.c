/* Basins as pixels: colours of places, or a scale for margins; and the same picture in an SVG with its
 * legend. */
#include "sweep/basins_internal.h"

#include <math.h>
#include <string.h>

/* Okabe and Ito for destinies; sectors walk around the colour wheel by the golden angle. */
static void place_colour(unsigned char rgb[3], const SweepBasinsWish *wish, const char *name, rf_index k) {
  static const struct {
    const char *name;
    unsigned char rgb[3];
  } known[] = {{"S+", {0, 114, 178}},       {"S-", {213, 94, 0}},      {"dead", {150, 150, 150}},
               {"extremal", {0, 158, 115}}, {"stuck", {240, 228, 66}}, {"several continuations", {0, 0, 0}}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strcmp(known[i].name, name) == 0) {
      memcpy(rgb, known[i].rgb, 3);
      return;
    }
  double hue = fmod(0.11 + 0.61803398875 * (double)k, 1) * 6, light = k % 2 ? 0.55 : 0.8;
  for (int c = 0; c < 3; c++) {
    double t = fabs(fmod(hue + 2 * (2 - c), 6) - 3) - 1;
    rgb[c] = (unsigned char)lround(255 * (0.15 + light * fmin(fmax(t, 0), 1)));
  }
  (void)wish;
}

/* Dark to light with the margin; not separated is grey, undecided is black. */
static void margin_colour(unsigned char rgb[3], double margin, double highest) {
  static const double map[4][3] = {{68, 1, 84}, {49, 104, 142}, {53, 183, 121}, {253, 231, 37}};
  double at = 3 * fmin(fmax(highest > 0 ? margin / highest : 0, 0), 1);
  int below = at >= 3 ? 2 : (int)at;
  for (int c = 0; c < 3; c++)
    rgb[c] = (unsigned char)lround(map[below][c] + (at - below) * (map[below + 1][c] - map[below][c]));
  if (!(margin > 0)) memset(rgb, 170, 3);
  if (isnan(margin)) memset(rgb, 0, 3);
}

double sweep_basins_highest(const SweepBasins *basins, const SweepBasinsWish *wish) {
  double highest = 0;
  for (rf_index k = 0; k < wish->width * wish->height; k++)
    if (basins->pixels[k] > highest) highest = basins->pixels[k];
  return highest;
}

RfStatus sweep_basins_png(RfContext *context, RfText *out, const SweepBasins *basins,
                          const SweepBasinsWish *wish) {
  rf_index count = wish->width * wish->height;
  unsigned char *rgb = rf_alloc(3 * count, 1);
  bool margin = wish->colour == SWEEP_BASINS_MARGIN;
  double highest = margin ? sweep_basins_highest(basins, wish) : 0;
  if (!rgb) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  for (rf_index k = 0; k < count; k++) {
    double value = basins->pixels[k];
    unsigned char *pixel = rgb + 3 * k;
    if (value < -0.5) /* outside, or not reached in time */
      memset(pixel, value < -1.5 ? 0 : 255, 3);
    else if (margin)
      margin_colour(pixel, value, highest);
    else
      place_colour(pixel, wish, basins->places[(rf_index)value].name, (rf_index)value);
  }
  RfStatus status = sweep_png(context, out, rgb, wish->width, wish->height);
  rf_free(rgb);
  return status;
}

static void add_base64(RfText *out, const unsigned char *data, size_t length) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t k = 0; k < length; k += 3) {
    size_t left = length - k;
    uint32_t word =
        (uint32_t)data[k] << 16 | (left > 1 ? (uint32_t)data[k + 1] << 8 : 0) | (left > 2 ? data[k + 2] : 0u);
    char group[4] = {digits[word >> 18], digits[word >> 12 & 63], left > 1 ? digits[word >> 6 & 63] : '=',
                     left > 2 ? digits[word & 63] : '='};
    rf_text_add_bytes(out, group, 4);
  }
}

RfStatus sweep_basins_svg(RfContext *context, RfSvg *svg, const SweepBasins *basins,
                          const SweepBasinsWish *wish, const char *title) {
  RfText png = {0};
  double wide = 640, high = wide * (double)wish->height / (double)wish->width;
  RfStatus status = sweep_basins_png(context, &png, basins, wish);
  if (status) return status;
  rf_index shown = basins->n_places < 24 ? basins->n_places : 24;
  rf_index lines = (shown + 1) / 2;
  rf_svg_begin(svg, wide + 40, high + 70 + 20 * (double)lines, title, "every pixel is a start");
  rf_svg_label(svg, 20, 24, RF_ANCHOR_START, 14, RF_COLOUR_INK, title);
  rf_text_addf(&svg->text,
               "<image x=\"20\" y=\"36\" width=\"%.2f\" height=\"%.2f\" href=\"data:image/png;base64,", wide,
               high);
  add_base64(&svg->text, (const unsigned char *)rf_text_string(&png), png.length);
  rf_text_add(&svg->text, "\"/>\n");
  for (rf_index k = 0; k < shown; k++) {
    unsigned char rgb[3];
    char label[64];
    rf_index line = k / 2;
    double x = 20 + (double)(k % 2) * 320, y = high + 52 + 20 * (double)line;
    place_colour(rgb, wish, basins->places[k].name, k);
    rf_text_addf(&svg->text,
                 "<rect x=\"%.2f\" y=\"%.2f\" width=\"14\" height=\"14\" fill=\"rgb(%d,%d,%d)\"/>\n", x, y,
                 rgb[0], rgb[1], rgb[2]);
    rf_format(label, sizeof label, "%.40s", basins->places[k].name);
    rf_svg_label(svg, x + 20, y + 12, RF_ANCHOR_START, 12, RF_COLOUR_INK, label);
  }
  rf_svg_end(svg);
  rf_text_free(&png);
  return RF_OK;
}
