/* SVG pictures. Inks are CSS classes, so that one file reads well on light and dark pages; marks carry fixed
 * colours of the palette of Okabe and Ito, which hold on both. */
#include "present/present.h"

#include <math.h>
#include <string.h>

/* The class sets fill and stroke through `color`; renderers that do not know media queries show the light
 * inks. */
static const char style_sheet[] =
    "<style>.ink{color:#1b1f24}.faint{color:#c3cad3}.page{color:#ffffff}.blue{color:#0072B2}.orange{color:#"
    "E69F00}"
    ".green{color:#009E73}.vermilion{color:#D55E00}.sky{color:#56B4E9}.purple{color:#CC79A7}.yellow{color:#"
    "c9b800}"
    ".s{stroke:currentColor;fill:none;stroke-linecap:round;stroke-linejoin:round}.f{fill:currentColor;stroke:"
    "none}"
    "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:currentColor}"
    ".halo{stroke:#ffffff;stroke-width:3.5px;stroke-linejoin:round;fill:#ffffff}.bg{fill:#ffffff}"
    "@media (prefers-color-scheme:dark){.ink{color:#e6eaf0}.faint{color:#414a57}.page{color:#14181e}"
    ".halo{stroke:#14181e;fill:#14181e}.bg{fill:#14181e}.blue{color:#4aa8e0}.yellow{color:#F0E442}}</"
    "style>\n";

static const char *const colour_class[] = {"ink",       "faint", "blue",   "orange", "green",
                                           "vermilion", "sky",   "purple", "yellow", "page"};

void rf_svg_begin(RfSvg *svg, double width, double height, const char *title, const char *description) {
  memset(svg, 0, sizeof *svg);
  svg->width = width;
  svg->height = height;
  RfText *text = &svg->text;
  rf_text_addf(text,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" "
               "role=\"img\">\n",
               width, height, width, height);
  rf_text_add(text, "<title>");
  rf_text_add_escaped(text, title);
  rf_text_add(text, "</title>\n<desc>");
  rf_text_add_escaped(text, description);
  rf_text_add(text, "</desc>\n");
  rf_text_add(text, style_sheet);
  rf_text_addf(text, "<rect class=\"bg\" width=\"%g\" height=\"%g\"/>\n", width, height);
}

static void add_pen(RfText *text, RfPen pen) {
  rf_text_addf(text, " class=\"s %s\" stroke-width=\"%.3g\"", colour_class[pen.colour],
               pen.width > 0 ? pen.width : 1.5);
  if (pen.opacity > 0 && pen.opacity < 1) rf_text_addf(text, " opacity=\"%.3g\"", pen.opacity);
  if (pen.dashed) rf_text_add(text, " stroke-dasharray=\"5 4\"");
}

static void add_fill(RfText *text, RfColour fill, double opacity) {
  rf_text_addf(text, " class=\"f %s\"", colour_class[fill]);
  if (opacity > 0 && opacity < 1) rf_text_addf(text, " opacity=\"%.3g\"", opacity);
}

void rf_svg_line(RfSvg *svg, double x1, double y1, double x2, double y2, RfPen pen) {
  rf_text_addf(&svg->text, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"", x1, y1, x2, y2);
  add_pen(&svg->text, pen);
  rf_text_add(&svg->text, "/>\n");
}

static void add_points(RfText *text, const double *x, const double *y, rf_index count) {
  rf_text_add(text, " points=\"");
  for (rf_index i = 0; i < count; i++) rf_text_addf(text, "%s%.2f,%.2f", i ? " " : "", x[i], y[i]);
  rf_text_add(text, "\"");
}

void rf_svg_polyline(RfSvg *svg, const double *x, const double *y, rf_index count, RfPen pen) {
  rf_text_add(&svg->text, "<polyline");
  add_points(&svg->text, x, y, count);
  add_pen(&svg->text, pen);
  rf_text_add(&svg->text, "/>\n");
}

void rf_svg_polygon(RfSvg *svg, const double *x, const double *y, rf_index count, RfColour fill,
                    double opacity) {
  rf_text_add(&svg->text, "<polygon");
  add_points(&svg->text, x, y, count);
  add_fill(&svg->text, fill, opacity);
  rf_text_add(&svg->text, "/>\n");
}

void rf_svg_circle(RfSvg *svg, double x, double y, double radius, RfPen pen) {
  rf_text_addf(&svg->text, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"", x, y, radius);
  add_pen(&svg->text, pen);
  rf_text_add(&svg->text, "/>\n");
}

void rf_svg_arrow(RfSvg *svg, double x1, double y1, double x2, double y2, RfPen pen) {
  double length = hypot(x2 - x1, y2 - y1), width = pen.width > 0 ? pen.width : 1.5;
  if (!(length > 0)) return;
  double head = fmin(4 + 3 * width, length), ux = (x2 - x1) / length, uy = (y2 - y1) / length;
  double bx = x2 - head * ux, by = y2 - head * uy, half = 0.42 * head;
  rf_svg_line(svg, x1, y1, x2 - 0.7 * head * ux, y2 - 0.7 * head * uy, pen);
  double x[] = {x2, bx - half * uy, bx + half * uy}, y[] = {y2, by + half * ux, by - half * ux};
  rf_svg_polygon(svg, x, y, 3, pen.colour, pen.opacity);
}

/* Endpoints and flags of an SVG arc; SVG turns clockwise in its own frame, so sweep 0 is counter-clockwise
 * here. */
static void add_arc(RfText *text, double x, double y, double radius, double from, double to) {
  int large = to - from > 3.14159265358979;
  rf_text_addf(text, "%.2f %.2f A %.2f %.2f 0 %d 0 %.2f %.2f", x + radius * cos(from), y - radius * sin(from),
               radius, radius, large, x + radius * cos(to), y - radius * sin(to));
}

void rf_svg_sector(RfSvg *svg, double x, double y, double radius, double from, double to, RfColour fill,
                   double opacity) {
  RfText *text = &svg->text;
  if (to - from >= 6.2831853) {
    rf_text_addf(text, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"", x, y, radius);
  } else {
    rf_text_addf(text, "<path d=\"M %.2f %.2f L ", x, y);
    add_arc(text, x, y, radius, from, to);
    rf_text_add(text, " Z\"");
  }
  add_fill(text, fill, opacity);
  rf_text_add(text, "/>\n");
}

void rf_svg_arc(RfSvg *svg, double x, double y, double radius, double from, double to, RfPen pen) {
  if (to - from >= 6.2831853) return rf_svg_circle(svg, x, y, radius, pen);
  rf_text_add(&svg->text, "<path d=\"M ");
  add_arc(&svg->text, x, y, radius, from, to);
  rf_text_add(&svg->text, "\"");
  add_pen(&svg->text, pen);
  rf_text_add(&svg->text, "/>\n");
}

void rf_svg_mark(RfSvg *svg, double x, double y, double size, RfMark mark, RfColour colour) {
  RfPen pen = {.colour = colour, .width = fmax(1.4, size / 3)};
  switch (mark) {
  case RF_MARK_DISC:
    rf_text_addf(&svg->text, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"", x, y, size);
    add_fill(&svg->text, colour, 1);
    rf_text_add(&svg->text, "/>\n");
    break;
  case RF_MARK_CIRCLE: rf_svg_circle(svg, x, y, size, pen); break;
  case RF_MARK_SQUARE: {
    double h = 0.89 * size, px[] = {x - h, x + h, x + h, x - h}, py[] = {y - h, y - h, y + h, y + h};
    rf_svg_polygon(svg, px, py, 4, colour, 1);
    break;
  }
  case RF_MARK_TRIANGLE: {
    double px[] = {x, x + 1.05 * size, x - 1.05 * size},
           py[] = {y - 1.2 * size, y + 0.7 * size, y + 0.7 * size};
    rf_svg_polygon(svg, px, py, 3, colour, 1);
    break;
  }
  case RF_MARK_CROSS:
    rf_svg_line(svg, x - size, y - size, x + size, y + size, pen);
    rf_svg_line(svg, x - size, y + size, x + size, y - size, pen);
    break;
  }
}

void rf_svg_label(RfSvg *svg, double x, double y, RfAnchor anchor, double size, RfColour colour,
                  const char *label) {
  static const char *const anchors[] = {"start", "middle", "end"};
  const char *classes[] = {"halo", colour_class[colour]};
  for (int pass = 0; pass < 2; pass++) { /* the halo first, the letters on top */
    rf_text_addf(&svg->text,
                 "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" font-size=\"%.3g\" class=\"%s\"%s>", x, y,
                 anchors[anchor], size, classes[pass], pass == 0 ? " aria-hidden=\"true\"" : "");
    rf_text_add_escaped(&svg->text, label);
    rf_text_add(&svg->text, "</text>\n");
  }
}

void rf_svg_label_turned(RfSvg *svg, double x, double y, double degrees, double size, RfColour colour,
                         const char *label) {
  rf_text_addf(&svg->text,
               "<text transform=\"translate(%.2f %.2f) rotate(%.3g)\" text-anchor=\"middle\" "
               "font-size=\"%.3g\" class=\"%s\">",
               x, y, degrees, size, colour_class[colour]);
  rf_text_add_escaped(&svg->text, label);
  rf_text_add(&svg->text, "</text>\n");
}

double rf_svg_legend(RfSvg *svg, double x, double y, double width, const RfLegendEntry *entries,
                     rf_index count) {
  double at = x, line = y + 8;
  for (rf_index i = 0; i < count; i++) {
    const RfLegendEntry *entry = &entries[i];
    double wide = 24 + 7.9 * (double)rf_text_width(entry->label) + 16;
    if (at > x && at + wide > x + width) {
      at = x;
      line += 20;
    }
    RfPen pen = {.colour = entry->colour, .width = 2.2, .dashed = entry->mark == -2};
    if (entry->mark == -3) {
      double px[] = {at, at + 18, at + 18, at}, py[] = {line - 6, line - 6, line + 6, line + 6};
      rf_svg_polygon(svg, px, py, 4, entry->colour, 0.3);
    } else if (entry->mark < 0) {
      rf_svg_line(svg, at, line, at + 18, line, pen);
    } else {
      rf_svg_mark(svg, at + 9, line, 5, (RfMark)entry->mark, entry->colour);
    }
    rf_svg_label(svg, at + 24, line + 4.5, RF_ANCHOR_START, 13, RF_COLOUR_INK, entry->label);
    at += wide;
  }
  return count > 0 ? line + 12 - y : 0;
}

void rf_svg_group(RfSvg *svg, const char *name) { rf_text_addf(&svg->text, "<g class=\"%s\">\n", name); }

void rf_svg_group_end(RfSvg *svg) { rf_text_add(&svg->text, "</g>\n"); }

void rf_svg_end(RfSvg *svg) { rf_text_add(&svg->text, "</svg>\n"); }

void rf_svg_free(RfSvg *svg) {
  if (svg) rf_text_free(&svg->text);
}

RfStatus rf_svg_write(RfContext *context, const RfSvg *svg, const char *path) {
  if (svg->text.failed) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  RfText file = {0};
  rf_text_add(&file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  rf_text_add_bytes(&file, rf_text_string(&svg->text), svg->text.length);
  RfStatus status = file.failed ? rf_fail(context, RF_ERR_MEMORY, "out of memory")
                                : rf_file_write(context, path, file.data, file.length);
  rf_text_free(&file);
  return status;
}
