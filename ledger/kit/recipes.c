/* The figures: one row per recipe, and the page that shows all of them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/claims_internal.h"
#include "present/present.h"

static const RfRecipe recipes[] = {
    {"E-WP-1", "Wang and Pilanci, Figures 6 and 8",
     "The outputs Xu of a unit neuron on two samples, before and after the ReLU: with spikes (F.1), without "
     "(F.2)",
     "WP-08 WP-28"},
    {"E-WP-2", "Wang and Pilanci, Figures 1 and 9",
     "Extreme points of the rectified ellipsoid per activation pattern, and the neurons of the best network",
     "WP-28"},
    {"E-WP-3", "Wang and Pilanci, Figure 2",
     "The polar set of multipliers, and the region cut out by the two spikes", "WP-28"},
    {"E-WP-4", "Wang and Pilanci, Figures 3, 4 and 5",
     "Gradient descent from a small start: outputs and directions of the neurons at iterations 1 to 10,000",
     "WP-29"},
    {"E-WP-5", "Wang and Pilanci, Figure 7", "The same from other seeds", "WP-29"},
    {"E-WP-6", "Wang and Pilanci, Figure 10", "The same on data without spikes", "WP-30"},
    {"E-WP-7", "Wang and Pilanci, numbers of Appendix F", "Best neurons, multipliers, optimum and gap",
     "WP-26 WP-27"},
    {"E-WP-8", "not in the paper",
     "Three classes: the margin of the flow ends at 1/6, while 0.2071 is possible", "WP-24"},
    {"E-LL-1", "Lyu, Li, Wang, Arora, Figure 1 left",
     "A KKT point that is not the max margin, and the global optimum", "LLWA-34 LLWA-37"},
    {"E-LL-2", "Lyu, Li, Wang, Arora, Figure 1 middle", "One-neuron solution and a better network",
     "LLWA-29 LLWA-37"},
    {"E-LL-3", "Lyu, Li, Wang, Arora, Figure 1 right", "Hinted data: the linear limit and the optimum",
     "LLWA-27 LLWA-37"},
    {"E-LL-4", "Lyu, Li, Wang, Arora, Figure 2", "Outputs of trained networks on the three sets", "LLWA-38"},
    {"E-LL-5", "Lyu, Li, Wang, Arora, Figure 3", "Ridge, valley and refraction of a flow at a kink",
     "LLWA-39"},
    {"E-LL-6", "Lyu, Li, Wang, Arora, Table 1", "Test errors of networks and of the linear separator",
     "LLWA-40"},
    {"E-LL-7", "Lyu, Li, Wang, Arora, Figure 4", "Outputs of the same networks on a plane", "LLWA-41"},
    {"E-LL-8", "not in the paper", "Alignment with the two predicted directions, then the angle to w*",
     "LLWA-14 LLWA-18 LLWA-22 LLWA-25"},
    {"E-LL-9", "not in the paper", "Limit margin and best margin over the length of the hint", "LLWA-27"},
    {"E-VS-1", "Vardi, Shamir, Srebro, Figure 1",
     "The two neurons on the way to a KKT point that is not a local optimum", "VSS-06 VSS-23"},
    {"E-VS-2", "Vardi, Shamir, Srebro, Tables 1 and 2", "Which networks reach local and global optima",
     "VSS-22"},
    {"E-VS-3", "Vardi, Shamir, Srebro, Remark 3.1", "How far the KKT point is from the optimum", "VSS-09"},
    {"E-VS-4", "Vardi, Shamir, Srebro, proofs",
     "The squared norm that the witnesses save, over their distance",
     "VSS-07 VSS-11 VSS-14 VSS-16 VSS-17 VSS-18"},
    {"E-MM-1", "Min, Mallada, Vidal, Figures 1 to 4", "The field on the circle, its cones, and a crossing",
     "MMV-33"},
    {"E-MM-2", "Min, Mallada, Vidal, Figure 5",
     "Digits 0 and 1: Gram matrix, alignment, loss and stable rank, neurons", "MMV-30"},
    {"E-MM-3", "Min, Mallada, Vidal, Figure 6", "Neurons at the start, after alignment and at the end",
     "MMV-27"},
    {"E-MM-4", "Min, Mallada, Vidal, Figures 7, 8 and 9", "The same where the classes come close",
     "MMV-28 MMV-29"},
    {"E-MM-5", "Min, Mallada, Vidal, Figures 10 and 11", "Digits 3 and 8, 1 and 7", "MMV-31"},
    {"E-MM-6", "Min, Mallada, Vidal, Figures 12 and 13", "Change of norms and of directions per epoch",
     "MMV-32"},
    {"E-MM-7", "Min, Mallada, Vidal, Figures 14 to 17", "Paths of activation counts", "MMV-12"},
    {"E-MM-8", "Min, Mallada, Vidal, Figures 18 to 21", "Solutions at the boundary of the dead cone",
     "MMV-23 MMV-24"},
    {"E-MM-9", "not in the paper", "Arrival times, fitting times and losses against their bounds",
     "MMV-13 MMV-14 MMV-19 MMV-20 MMV-21"},
    {"E-PL-1", "Phuong and Lampert, Figure 1",
     "Trained two-layer network: singular values, rows, correlations", "PL-18"},
    {"E-PL-2", "Phuong and Lampert, Figure 2",
     "Trained residual network: singular values, rows, correlations", "PL-19"},
    {"E-PL-3", "Phuong and Lampert, Table 1 and Figure 3",
     "Convolutional network: inner products of features", "PL-20 PL-21"},
    {"E-PL-4", "Phuong and Lampert, Figure 4", "Convolutional network: the last dense layer", "PL-22"},
    {"E-PL-5", "not in the paper", "Sectors over time, angles, norms over the logarithm of the loss",
     "PL-07 PL-08 PL-09 PL-10 PL-11 PL-12 PL-13 PL-14 PL-15 PL-16"},
    {"E-X-1", "across papers", "What the five papers say about one trajectory", "PL-14"},
    {"E-X-2", "across papers", "The KKT point that is not local is where dual feasibility fails", "PL-17"},
    {"E-X-3", "across papers", "Margins of limits and optima over the leak", "LLWA-03"},
    {"E-X-4", "across papers", "All datasets, classified", "PL-01"},
};

rf_index rf_recipes_count(void) { return (rf_index)(sizeof recipes / sizeof recipes[0]); }

/* ---- the folder -------------------------------------------------------------------------------------- */

typedef struct Names {
  char **at;
  rf_index count, capacity;
} Names;

static void names_free(Names *names) {
  for (rf_index k = 0; k < names->count; k++) rf_free(names->at[k]);
  rf_free(names->at);
}

static bool ends_with(const char *name, const char *ending) {
  size_t length = strlen(name), tail = strlen(ending);
  return length > tail && strcmp(name + length - tail, ending) == 0;
}

static bool keep(Names *names, const char *name) {
  if (names->count == names->capacity) {
    rf_index capacity = names->capacity ? 2 * names->capacity : 64;
    char **at = rf_resize(names->at, capacity, sizeof *at);
    if (!at) return false;
    names->at = at, names->capacity = capacity;
  }
  char *copy = rf_copy_text(name);
  if (copy) names->at[names->count++] = copy;
  return copy != NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The pictures and series in the folder, sorted. */
static RfStatus read_folder(RfContext *context, Names *names, const char *folder) {
  DIR *stream = opendir(folder);
  bool good = true;
  if (!stream) return rf_fail(context, RF_ERR_IO, "%s: %s", folder, strerror(errno));
  for (struct dirent *entry; good && (entry = readdir(stream));)
    if (ends_with(entry->d_name, ".svg") || ends_with(entry->d_name, ".csv"))
      good = keep(names, entry->d_name);
  closedir(stream);
  if (!good) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  if (names->count > 1) qsort(names->at, (size_t)names->count, sizeof *names->at, by_name);
  return RF_OK;
}

/* ID.svg, ID-a.csv and so on, but not those of ID0. */
static bool belongs(const char *name, const char *id) {
  size_t length = strlen(id);
  return strncmp(name, id, length) == 0 && (name[length] == '.' || name[length] == '-');
}

/* ---- the page ---------------------------------------------------------------------------------------- */

static const char style[] =
    "<style>main{max-width:72rem}figure img{max-width:100%;height:auto;background:#fff}figure{margin:.6rem 0}"
    "h2{overflow-wrap:anywhere}.list{columns:16rem;font-size:.9rem}.list a{display:block}</style>\n";

static void add_picture(RfText *page, const char *name) {
  rf_text_add(page, "<figure><a href=\"");
  rf_text_add_escaped(page, name);
  rf_text_add(page, "\"><img alt=\"");
  rf_text_add_escaped(page, name);
  rf_text_add(page, "\" src=\"");
  rf_text_add_escaped(page, name);
  rf_text_add(page, "\"></a></figure>\n");
}

static void add_link(RfText *page, const char *name) {
  rf_text_add(page, " <a href=\"");
  rf_text_add_escaped(page, name);
  rf_text_add(page, "\">");
  rf_text_add_escaped(page, name);
  rf_text_add(page, "</a>");
}

static void add_files(RfText *page, const Names *names, const char *id) {
  rf_index series = 0, all = 0;
  for (rf_index k = 0; k < names->count; k++) {
    if (!belongs(names->at[k], id)) continue;
    all++;
    if (ends_with(names->at[k], ".svg")) add_picture(page, names->at[k]);
    series += ends_with(names->at[k], ".csv");
  }
  if (series) {
    rf_text_add(page, "<p class=\"sub\">Series:");
    for (rf_index k = 0; k < names->count; k++)
      if (belongs(names->at[k], id) && ends_with(names->at[k], ".csv")) add_link(page, names->at[k]);
    rf_text_add(page, "</p>\n");
  }
  if (!all) rf_text_add(page, "<p class=\"sub\">Not drawn in this folder yet.</p>\n");
}

static void add_recipe(RfText *page, const Names *names, const RfRecipe *recipe) {
  rf_text_addf(page, "<h2 id=\"%s\">%s: ", recipe->id, recipe->id);
  rf_text_add_escaped(page, recipe->figure);
  rf_text_add(page, "</h2>\n<p>");
  rf_text_add_escaped(page, recipe->caption);
  rf_text_addf(page, ".</p>\n<p class=\"sub\">Drawn by: reluflow verify %s --svg DIR</p>\n", recipe->claims);
  add_files(page, names, recipe->id);
}

RfStatus rf_claims_index(RfContext *context, const char *folder) {
  Names names = {0};
  RfText page = {0}, path = {0};
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return rf_fail(context, RF_ERR_IO, "%s: %s", folder, strerror(errno));
  RfStatus status = read_folder(context, &names, folder);
  if (status) goto done;
  rf_html_begin(&page, "Figures",
                "every figure of the five papers, with the predicted curves, and its series");
  rf_text_add(&page, style);
  rf_text_add(&page, "<p class=\"list\">");
  for (rf_index k = 0; k < rf_recipes_count(); k++) {
    rf_text_addf(&page, "<a href=\"#%s\">%s ", recipes[k].id, recipes[k].id);
    rf_text_add_escaped(&page, recipes[k].figure);
    rf_text_add(&page, "</a>");
  }
  rf_text_add(&page, "</p>\n");
  for (rf_index k = 0; k < rf_recipes_count(); k++) add_recipe(&page, &names, &recipes[k]);
  rf_html_end(&page);
  rf_text_addf(&path, "%s/index.html", folder);
  if (page.failed || path.failed)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory");
  else
    status = rf_file_write(context, rf_text_string(&path), rf_text_string(&page), page.length);
done:
  names_free(&names);
  rf_text_free(&page), rf_text_free(&path);
  return status;
}
