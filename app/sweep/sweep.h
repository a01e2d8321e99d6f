/* sweep: populations of runs. A command line with lists and ranges in it is a plan of cells; the cells run in
 * worker processes (or MPI ranks) and their scalar results go, typed and named as documented, into one SQLite
 * file.
 *
 * This room does not know the commands: whoever opens it hands over a SweepCommand, which says how the words
 * of the command read and runs one cell. */
#ifndef RF_SWEEP_H
#define RF_SWEEP_H

#include "device/device.h"
#include "present/present.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the command that is repeated ------------------------------------------------------------- */

typedef enum SweepFlagKind {
  SWEEP_FLAG_UNKNOWN = 0,
  SWEEP_FLAG_REFUSED, /* makes no sense for a cell: it names a file that every cell would overwrite */
  SWEEP_FLAG_PLAIN,   /* takes no value */
  SWEEP_FLAG_NUMBER,  /* takes a number */
  SWEEP_FLAG_TEXT,    /* takes a text */
  SWEEP_FLAG_COMMAS   /* takes a text in which commas are ordinary: lists need braces */
} SweepFlagKind;

/* What one cell gave. */
typedef struct SweepAnswer {
  int exit_status;           /* of the program */
  bool failed;               /* no JSON: `error` says why */
  char error[RF_ERROR_SIZE]; /* one line */
  RfText json;               /* the object that the command prints with --json */
} SweepAnswer;

typedef struct SweepPlan SweepPlan;
/* Takes the answer to a cell; may be called from several threads. False: nobody listens any more. */
typedef bool (*SweepDeliver)(void *user, rf_index cell, const SweepAnswer *answer, double seconds);

typedef struct SweepCommand {
  const char *name;      /* "flow" */
  const char *table;     /* its table of fields */
  const char *arguments; /* names of its arguments, separated by spaces: "data model" */
  SweepFlagKind (*kind_of)(const void *user, const char *flag);
  /* RF_OK when the words of a cell parse; otherwise a failure with the context's error set. */
  RfStatus (*check)(const void *user, RfContext *context, int count, char **words);
  /* Runs a cell; never prints. */
  void (*run)(const void *user, SweepAnswer *answer, int count, char **words);
  const void *user;
  /* Not NULL: cells whose parameter of this name is not `apart` are run together, on `threads` threads beside
   * the device. A failure is one of the whole undertaking: the device is not there, or has too little memory.
   */
  const char *together, *apart;
  RfStatus (*run_together)(RfContext *context, const SweepPlan *plan, const rf_index *cells, rf_index count,
                           rf_index threads, SweepDeliver deliver, void *user);
} SweepCommand;

/* ---- lists and ranges ------------------------------------------------------------------------- */

typedef struct SweepTexts {
  rf_index count, capacity;
  char **items; /* owned */
} SweepTexts;

void sweep_texts_free(SweepTexts *texts);
/* Every value that `text` stands for: {a,b} anywhere, a..b, a..b..step and log(a..b..k) as whole elements,
 * `commas`: a list at the top level too; a backslash makes the next character ordinary. `numeric`: the value
 * is a number, so anything with ".." must be a range. What is wrong is reported as "LABEL TEXT: column C:
 * ...". */
RfStatus sweep_expand(RfContext *context, SweepTexts *out, const char *label, const char *text, bool commas,
                      bool numeric);

/* ---- plans ------------------------------------------------------------------------------------ */

typedef enum SweepForm {
  SWEEP_ARGUMENT,
  SWEEP_GENERATOR,
  SWEEP_KEY,
  SWEEP_OPTION,
  SWEEP_PLAIN_FLAG
} SweepForm;
typedef enum SweepType { SWEEP_INTEGER, SWEEP_REAL, SWEEP_TEXT, SWEEP_NUMERIC } SweepType;

/* One parameter with its values; parameters with one value are parameters too. */
typedef struct SweepAxis {
  char *name; /* "scale", "n", "data": its column in the store */
  SweepForm form;
  SweepType type; /* NUMERIC: numbers and texts mixed, such as 1e-4 and limit */
  SweepTexts values;
  rf_index joined; /* axis whose steps it follows because their values came as one list of words; -1 = none */
  rf_index dial;   /* axes of one dial advance together */
} SweepAxis;

struct SweepPlan {
  const SweepCommand *command;
  rf_index n_axes;
  SweepAxis *axes;
  rf_index n_dials, *dial_sizes;
  rf_index n_cells;  /* after `where` */
  rf_index *kept;    /* n_cells positions in the full product; NULL = all of it */
  double cell_limit; /* seconds after which a cell that does not stop by itself is killed; 0 = never */
};

/* words: those of the command, with lists in them. zip: "a,b" or "a,b+c,d" or NULL; where: an SQL expression
 * over the parameters or NULL. The command is borrowed. */
RfStatus sweep_plan_new(RfContext *context, SweepPlan *plan, const SweepCommand *command, int count,
                        char **words, const char *zip, const char *where);
void sweep_plan_free(SweepPlan *plan);
/* The value of an axis in a cell. */
const char *sweep_plan_value(const SweepPlan *plan, rf_index cell, rf_index axis);
/* The words of a cell, without the command's name. */
RfStatus sweep_plan_words(RfContext *context, SweepTexts *words, const SweepPlan *plan, rf_index cell);
/* One line that a shell would understand, with the command's name. */
void sweep_plan_line(RfText *out, const SweepPlan *plan, rf_index cell);
/* A number that grows with the work of a cell: the product of n, d, width and the like. */
double sweep_plan_cost(const SweepPlan *plan, rf_index cell);
/* The order in which the cells are handed out: by falling cost. `cells` is sorted in place. */
RfStatus sweep_plan_order(RfContext *context, const SweepPlan *plan, rf_index *cells, rf_index count);
/* Seconds that all cells would take on one core, from a few of them, run here; NaN when they could not be
 * run. */
double sweep_plan_seconds(RfContext *context, const SweepPlan *plan, double budget);

/* ---- the store -------------------------------------------------------------------------------- */

typedef struct SweepStore SweepStore;

/* The words of the command that a store was made for. */
typedef struct SweepSpec {
  char *command;
  SweepTexts words;
  char *zip, *where; /* NULL = none */
  bool keep_json;
} SweepSpec;

void sweep_spec_free(SweepSpec *spec);

/* Makes the store with one row per cell, all pending; a store of the very same sweep is opened as it is. */
RfStatus sweep_store_create(RfContext *context, SweepStore **store, const char *path, const SweepPlan *plan,
                            const SweepSpec *spec);
/* Opens an existing store; read_only for status, export, plot. */
RfStatus sweep_store_open(RfContext *context, SweepStore **store, SweepSpec *spec, const char *path,
                          bool read_only);
/* Columns of fields that this version has and the store does not; a no-op in general. */
RfStatus sweep_store_adapt(RfContext *context, SweepStore *store, const SweepPlan *plan);
RfStatus sweep_store_close(RfContext *context, SweepStore *store);

typedef struct SweepCounts {
  rf_index total, holds, does_not_hold, undecided, refused, timeout, crashed, killed, pending, incidents;
  double seconds; /* of all cells together */
} SweepCounts;

RfStatus sweep_store_counts(RfContext *context, const SweepStore *store, SweepCounts *counts);
/* Cells that `resume` runs: pending and killed. */
RfStatus sweep_store_open_cells(RfContext *context, const SweepStore *store, rf_index **cells,
                                rf_index *count);
/* Makes cells of a status pending; *count says how many. */
RfStatus sweep_store_reopen(RfContext *context, SweepStore *store, const char *status, rf_index *count);
bool sweep_status_is_known(const char *status);
/* Status and digest of a cell; RF_ERR_USAGE when there is none of that number. */
RfStatus sweep_store_cell(RfContext *context, const SweepStore *store, rf_index cell, char status[32],
                          char digest[72]);
RfStatus sweep_store_export_csv(RfContext *context, const SweepStore *store, const char *path);
RfStatus sweep_store_export_npz(RfContext *context, const SweepStore *store, const char *path);
/* The digest of a cell's answer: SHA-256 of its JSON without times. */
RfStatus sweep_digest(RfContext *context, char digest[72], const char *json, size_t length);

/* ---- running ---------------------------------------------------------------------------------- */

/* Runs the open cells of a store on `workers` processes. RF_OK when all have ended, RF_INTERRUPTED when asked
 * to stop, a failure when the store cannot be written. Whatever happens the store can be resumed. */
RfStatus sweep_run(RfContext *context, SweepStore *store, const SweepPlan *plan, rf_index workers,
                   bool keep_json);

/* ---- pictures of a store ---------------------------------------------------------------------- */

typedef enum SweepPlotKind {
  SWEEP_PLOT_LINE,
  SWEEP_PLOT_HEAT,
  SWEEP_PLOT_VIOLIN,
  SWEEP_PLOT_SURVIVAL
} SweepPlotKind;

/* Columns or SQL expressions of columns, NULL = not wished. Heat maps: x and y are the axes and colour is
 * what is shown. */
typedef struct SweepPlotWish {
  const char *x, *y, *colour, *facet, *where;
  SweepPlotKind kind;
} SweepPlotWish;

/* Draws; page and json (members of table "sweep plot") may be NULL. */
RfStatus sweep_plot(RfContext *context, RfSvg *svg, RfText *page, RfJson *json, const SweepStore *store,
                    const SweepPlotWish *wish, const char *subtitle);

/* ---- basins: which start goes where ----------------------------------------------------------- */

typedef enum SweepBasinsShape {
  SWEEP_BASINS_CIRCLE,
  SWEEP_BASINS_SPHERE,
  SWEEP_BASINS_PLANE
} SweepBasinsShape;
typedef enum SweepBasinsColour {
  SWEEP_BASINS_DESTINY,
  SWEEP_BASINS_LIMIT,
  SWEEP_BASINS_MARGIN
} SweepBasinsColour;

typedef struct SweepBasinsWish {
  SweepBasinsShape shape;
  SweepBasinsColour colour;
  rf_index width, height;
  rf_index axis_x, axis_y; /* plane: coordinates of w that vary */
  double sign;             /* sphere and plane: of a */
  double reach;            /* plane: w from -reach to reach, at |a| = 1 */
  DeviceKind device;       /* where starts are followed; margins always on the processor */
} SweepBasinsWish;

typedef struct SweepPlace {
  char *name;
  rf_index pixels;
} SweepPlace;

/* Per pixel, row by row from the top: the number of a place, or a margin (NaN undecided); -1 = no start
 * there, -2 = not decided. */
typedef struct SweepBasins {
  double *pixels;
  rf_index n_places;
  SweepPlace *places;    /* sorted by name */
  rf_index on_processor; /* starts that a device left to the processor */
} SweepBasins;

/* The data have two classes. RF_INTERRUPTED leaves the remaining rows undecided. */
RfStatus sweep_basins(RfContext *context, SweepBasins *basins, const SweepBasinsWish *wish,
                      const RfDataset *data, double leak);
void sweep_basins_free(SweepBasins *basins);
double sweep_basins_highest(const SweepBasins *basins, const SweepBasinsWish *wish);
RfStatus sweep_basins_png(RfContext *context, RfText *out, const SweepBasins *basins,
                          const SweepBasinsWish *wish);
RfStatus sweep_basins_svg(RfContext *context, RfSvg *svg, const SweepBasins *basins,
                          const SweepBasinsWish *wish, const char *title);

/* ---- many machines ---------------------------------------------------------------------------- */

/* Under mpirun (and where libreluflow_mpi.so lies beside the program): the ranks of the job. NULL otherwise.
 */
typedef struct SweepRanks SweepRanks;
typedef RfStatus (*SweepFindCommand)(RfContext *context, SweepCommand *command, const char *name);

RfStatus sweep_ranks_open(RfContext *context, SweepRanks **ranks);
/* Rank 0 tells the others to leave, too. */
void sweep_ranks_close(SweepRanks *ranks);
int sweep_ranks_rank(const SweepRanks *ranks);
int sweep_ranks_size(const SweepRanks *ranks);
/* On rank 0, as sweep_run: the other ranks do the cells. */
RfStatus sweep_ranks_run(RfContext *context, const SweepRanks *ranks, SweepStore *store,
                         const SweepPlan *plan, const SweepSpec *spec);
/* On the other ranks, until rank 0 has had enough. They touch no store. */
RfStatus sweep_ranks_serve(RfContext *context, const SweepRanks *ranks, SweepFindCommand find);

#ifdef __cplusplus
}
#endif
#endif
