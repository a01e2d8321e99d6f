/* `reluflow basins`: which start goes where. */
#include "cli/cli.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct BasinsFlags {
  const char *grid, *axes;
  int shape, colour, sign, device;
  double leak, reach;
} BasinsFlags;

#define FIELD(name) offsetof(BasinsFlags, name)

static const CliOption options[] = {
    {"--grid", CLI_TEXT, FIELD(grid), "WxH", "400x400", 0, 0, "pixels"},
    {"--shape", CLI_CHOICE, FIELD(shape), "auto|circle|sphere|plane", "auto", 0, 0,
     "starts with |w| = |a| on the circle (d = 2) or the sphere (d = 3); or a plane of w at |a| = 1"},
    {"--color", CLI_CHOICE, FIELD(colour), "destiny|limit|margin", "destiny", 0, 0,
     "what becomes of the neuron; the sector in which it ends; the margin of the limit of the flow from it "
     "and its opposite"},
    {"--leak", CLI_NUMBER, FIELD(leak), "L", "0", 0, 1, "slope for non-positive inputs"},
    {"--sign", CLI_CHOICE, FIELD(sign), "+|-", "+", 0, 0, "sphere and plane: the sign of a"},
    {"--axes", CLI_TEXT, FIELD(axes), "I,J", "0,1", 0, 0, "plane: the two coordinates of w that vary"},
    {"--device", CLI_CHOICE, FIELD(device), DEVICE_CHOICES, "cpu", 0, 0,
     "where destinies and limits are followed; what a card leaves (several hyperplanes at once, branching "
     "points) the "
     "processor follows"},
    {"--reach", CLI_NUMBER, FIELD(reach), "R", "3", 1e-6, 1e6, "plane: w runs from -R to R"},
    {0},
};

static RfStatus read_pair(RfContext *context, const char *flag, const char *text, char between, rf_index low,
                          rf_index high, rf_index out[2]) {
  char *middle, *end = NULL;
  long long a = strtoll(text, &middle, 10), b = *middle == between ? strtoll(middle + 1, &end, 10) : 0;
  bool fine = middle != text && *middle == between && end != middle + 1 && *end == '\0';
  if (!fine || a < low || b < low || a > high || b > high)
    return rf_fail(context, RF_ERR_USAGE, "%s %s: expected two integers from %lld to %lld, A%cB", flag, text,
                   (long long)low, (long long)high, between);
  out[0] = a, out[1] = b;
  return RF_OK;
}

static RfStatus wish_of(RfContext *context, SweepBasinsWish *wish, const BasinsFlags *flags, rf_index d) {
  rf_index size[2] = {0}, axes[2] = {0};
  RfStatus status = read_pair(context, "--grid", flags->grid, 'x', 1, 20000, size);
  if (!status) status = read_pair(context, "--axes", flags->axes, ',', 0, d - 1, axes);
  if (status) return status;
  SweepBasinsShape shape = d == 2 ? SWEEP_BASINS_CIRCLE : d == 3 ? SWEEP_BASINS_SPHERE : SWEEP_BASINS_PLANE;
  if (flags->shape > 0) shape = (SweepBasinsShape)(flags->shape - 1);
  if (shape == SWEEP_BASINS_CIRCLE && d != 2)
    return rf_fail(context, RF_ERR_USAGE, "--shape circle: the data have dimension %lld, not 2",
                   (long long)d);
  if (shape == SWEEP_BASINS_SPHERE && d != 3)
    return rf_fail(context, RF_ERR_USAGE, "--shape sphere: the data have dimension %lld, not 3",
                   (long long)d);
  *wish = (SweepBasinsWish){shape,
                            (SweepBasinsColour)flags->colour,
                            size[0],
                            size[1],
                            axes[0],
                            axes[1],
                            flags->sign ? -1 : 1,
                            flags->reach,
                            (DeviceKind)flags->device};
  return RF_OK;
}

static const char *const shape_names[] = {"circle", "sphere", "plane"};
static const char *const colour_names[] = {"destiny", "limit", "margin"};

static void report(CliRun *run, const SweepBasins *basins, const SweepBasinsWish *wish,
                   const RfDataset *data) {
  rf_index inside = 0, unknown = 0;
  for (rf_index k = 0; k < wish->width * wish->height; k++) {
    inside += !(basins->pixels[k] == -1); /* NOLINT: an exact mark */
    unknown += isnan(basins->pixels[k]) || basins->pixels[k] < -1.5;
  }
  if (run->json) {
    rf_json_string(run->json, "name", data->name);
    rf_json_string(run->json, "shape", shape_names[wish->shape]);
    rf_json_string(run->json, "color", colour_names[wish->colour]);
    rf_json_integer(run->json, "width", wish->width);
    rf_json_integer(run->json, "height", wish->height);
    rf_json_integer(run->json, "starts", inside);
    rf_json_integer(run->json, "undecided", unknown);
    if (wish->device != DEVICE_CPU)
      rf_json_integer(run->json, "on_processor", basins->on_processor);
    else
      rf_json_null(run->json, "on_processor");
    if (wish->colour == SWEEP_BASINS_MARGIN)
      rf_json_number(run->json, "margin", sweep_basins_highest(basins, wish));
    if (wish->colour != SWEEP_BASINS_MARGIN) rf_json_null(run->json, "margin");
    rf_json_array(run->json, "places");
    for (rf_index k = 0; k < basins->n_places; k++) {
      rf_json_object(run->json, NULL);
      rf_json_string(run->json, "name", basins->places[k].name);
      rf_json_integer(run->json, "pixels", basins->places[k].pixels);
      rf_json_end(run->json);
    }
    rf_json_end(run->json);
  }
  if (!run->wants_page) return;
  rf_text_addf(&run->page, "%s: %lld starts on the %s, %lld undecided\n", data->name, (long long)inside,
               shape_names[wish->shape], (long long)unknown);
  for (rf_index k = 0; k < basins->n_places && k < 20; k++)
    rf_text_addf(&run->page, "  %6.2f %%  %s\n", 100 * (double)basins->places[k].pixels / (double)inside,
                 basins->places[k].name);
  if (wish->colour == SWEEP_BASINS_MARGIN)
    rf_text_addf(&run->page, "  largest margin %.12g\n", sweep_basins_highest(basins, wish));
}

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static RfStatus write_picture(RfContext *context, const char *path, const SweepBasins *basins,
                              const SweepBasinsWish *wish, const RfDataset *data) {
  char title[200];
  RfText png = {0};
  RfSvg svg = {0};
  RfStatus status;
  rf_format(title, sizeof title, "%.120s: %s over a %s of starts", data->name, colour_names[wish->colour],
            shape_names[wish->shape]);
  if (ends_with(path, ".svg")) {
    status = sweep_basins_svg(context, &svg, basins, wish, title);
    if (!status) status = rf_svg_write(context, &svg, path);
  } else {
    status = sweep_basins_png(context, &png, basins, wish);
    if (!status) status = rf_file_write(context, path, rf_text_string(&png), png.length);
  }
  rf_text_free(&png);
  rf_svg_free(&svg);
  return status;
}

static int basins_run(CliRun *run) {
  const BasinsFlags *flags = run->settings;
  RfContext *context = &run->context;
  const char *path = run->common.output;
  RfDataset data = {0};
  SweepBasins basins = {0};
  SweepBasinsWish wish;
  RfStatus status = RF_OK;
  if (path && !ends_with(path, ".png") && !ends_with(path, ".svg"))
    status = rf_fail(context, RF_ERR_USAGE, "-o %s: expected a name that ends in .png or .svg", path);
  if (!status) status = cli_load(run, &data);
  if (!status && !data.y)
    status = rf_fail(context, RF_ERR_USAGE, "%s: basins need two classes (--classes A,B)", data.name);
  if (!status) status = wish_of(context, &wish, flags, data.d);
  if (!status) status = sweep_basins(context, &basins, &wish, &data, flags->leak);
  if (status >= 0) {
    RfStatus written = path ? write_picture(context, path, &basins, &wish, &data) : RF_OK;
    if (written) status = written;
  }
  if (status >= 0) report(run, &basins, &wish, &data);
  sweep_basins_free(&basins);
  rf_dataset_free(&data);
  return cli_finish(run, status);
}

const CliCommand cli_basins = {
    .name = "basins",
    .arguments = "DATA",
    .summary = "which start goes where, as a picture",
    .description = "Every pixel is the start of a neuron; it is followed exactly to the end of alignment, "
                   "and coloured by what "
                   "becomes of it. On the circle the outer ring has a > 0 and the inner one a < 0; the "
                   "sphere is shown as two "
                   "discs of equal areas. -o FILE.png or FILE.svg.",
    .options = options,
    .settings_size = sizeof(BasinsFlags),
    .takes_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .owns_output = true,
    .examples = "reluflow basins gen:DS-PL2 --grid 1000x1000 --threads 2 -o basins.png\n"
                "reluflow basins gen:gaussian,n=12,d=3 --grid 1000x500 --color limit -o sphere.svg\n",
    .run = basins_run,
};
