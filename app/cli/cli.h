/* The frame of the command line. A command is a row of tables: its options (which are also its help page and
 * its part of the man page) and one function, arguments -> library -> report. The frame parses, sets up the
 * context (signals, deadline, progress), and hands the finished texts to standard output and to files at the
 * very end, whole or not at all.
 *
 * To add a command NAME: write app/cli/NAME.c with `const CliCommand cli_NAME`, declare it below, add it to
 * the list in commands.c, and describe its JSON in app/present/fields_NAME.c. */
#ifndef RF_CLI_H
#define RF_CLI_H

#include "present/present.h"
#include "core/core.h"
#include "reluflow/reluflow.h"

/* Exit statuses of the program. */
enum { CLI_DONE = 0, CLI_DOES_NOT_HOLD = 1, CLI_BAD_USAGE = 2, CLI_UNDECIDED = 3, CLI_INTERRUPTED = 130 };

/* ---- options --------------------------------------------------------------------------------- */

typedef enum CliKind {
  CLI_FLAG,   /* bool, no argument */
  CLI_INDEX,  /* rf_index, at least `low` */
  CLI_SEED,   /* uint64_t */
  CLI_NUMBER, /* double, in [low, high] */
  CLI_TEXT,   /* const char * */
  CLI_CHOICE, /* int: position in `argument`, a list "a|b|c" */
  CLI_BYTES   /* int64_t: 1000, 64K, 10M, 4G */
} CliKind;

typedef struct CliOption {
  const char *name;     /* "--leak" or "-o"; NULL ends a table */
  CliKind kind;         /* type of the field at `offset` */
  size_t offset;        /* in the struct that the table describes */
  const char *argument; /* shown in the help; for CLI_CHOICE the choices; NULL for a flag */
  const char *fallback; /* default, in the words a user would type; NULL = zero, not given */
  double low, high;     /* allowed range of CLI_INDEX (low only) and CLI_NUMBER; both 0 = any */
  const char *help;     /* one or two sentences */
} CliOption;

/* ---- what a command finds -------------------------------------------------------------------- */

typedef enum CliDetail { CLI_SUMMARY = 0, CLI_NORMAL = 1, CLI_FULL = 2 } CliDetail;

/* Flags that every command takes. */
typedef struct CliCommon {
  bool json, quiet;
  const char *output; /* -o */
  uint64_t seed;
  rf_index threads;
  double tol;  /* 0 = the defaults of the library */
  double time; /* seconds; 0 = no limit */
  const char *report, *svg;
  int detail; /* CliDetail */
  const char *data_dir;
} CliCommon;

typedef struct CliCommand CliCommand;

/* Arrays that a host in the same process hands over; the words of the command name them instead of files. */
#define CLI_MEMORY_DATA  "memory:data"
#define CLI_MEMORY_TEST  "memory:test"
#define CLI_MEMORY_MODEL "(network)"

typedef struct CliSamples {
  const double *X; /* n rows of d, used in place */
  const int32_t *class_of;
  const char *const *class_names;
  rf_index n, d, n_classes;
} CliSamples;

typedef struct CliMemory {
  CliSamples data, test;
  const RfNet *net; /* NULL = none */
} CliMemory;

enum { CLI_PATH_SIZE = 4096 };

typedef struct CliRun {
  const CliCommand *command;
  RfContext context;
  CliCommon common;
  RfDataSource source; /* from the data flags; path is the first argument */
  void *settings;      /* the command's own struct, filled from its options */
  const char **arguments;
  int n_arguments;
  bool *given; /* see cli_given */
  char **rest; /* words that belong to another command: see CliCommand.foreign */
  int n_rest;
  const RfTrainResult
      *trained;            /* train: the result of a population this run was a member of; NULL = train here */
  const CliMemory *memory; /* arrays of a host that go by the CLI_MEMORY names; NULL in the program */
  char data_dir[CLI_PATH_SIZE]; /* of the context: the folder that holds mnist/, or the first one looked at */
  RfStatus status;              /* set by cli_finish */
  RfJson *json;                 /* not NULL when JSON is wanted: write the members here */
  RfText page;                  /* the page for the terminal; filled unless only JSON is wanted */
  bool wants_page;
  RfText html;              /* fill when common.report is set: the frame writes the file */
  int width;                /* columns of the terminal, 60..100 */
  bool failed;              /* set by cli_finish: there is no result to hand out */
  bool stopped_reading;     /* set by cli_load: interrupted before there were data */
  const char *const *words; /* the words behind the command's name, borrowed; for the member `run` */
  int n_words;
  double began;                      /* rf_clock_seconds() */
  char started[32];                  /* date and time, UTC */
  char digest[RF_STUDY_DIGEST_SIZE]; /* of the data; "" without */
} CliRun;

struct CliCommand {
  const char *name;        /* "inspect", or two words: "data make" */
  const char *arguments;   /* "DATA MODEL"; words in brackets are optional */
  const char *summary;     /* one line for the list of commands */
  const char *description; /* a paragraph for --help */
  const CliOption *options;
  size_t settings_size;
  bool takes_data; /* the data flags apply, and the first argument is DATA */
  int min_arguments, max_arguments;
  const char *examples; /* lines "command # what it does", or NULL */
  const char *fields;   /* name of its table of fields; NULL = name */
  bool owns_output;     /* -o names the product itself: the frame does not write it */
  const char *tol;      /* what --tol means here; NULL = the command has no such decision and refuses it */
  bool has_report, has_pictures; /* --report and --svg; refused otherwise */
  /* Not NULL: how many words at words[at] are not this command's own; they are collected in run->rest. */
  int (*foreign)(int count, char **words, int at);
  int (*run)(CliRun *run);
};

extern const CliCommand cli_rerun, cli_explore;
extern const CliCommand cli_sweep, cli_sweep_status, cli_sweep_resume, cli_sweep_retry, cli_sweep_export,
    cli_sweep_show, cli_sweep_plot, cli_basins;
extern const CliCommand cli_explain, cli_certify, cli_flow, cli_train, cli_verify, cli_inspect, cli_maxmargin,
    cli_data_list, cli_data_make, cli_data_convert, cli_data_info;

/* All commands, in the order of the help page. */
const CliCommand *const *cli_commands(int *count);

/* ---- help for the functions that run commands ------------------------------------------------ */

/* Reads or generates the data of the first argument; missing files are looked up in --data-dir too. RF_OK or
 * a failure: when reading is interrupted that is one, with exit status 130. */
RfStatus cli_load(CliRun *run, RfDataset *dataset);
/* The same for another source. */
RfStatus cli_load_source(CliRun *run, RfDataset *dataset, const RfDataSource *wanted);
/* A network by its path, as rf_net_load and rf_layers_load. */
RfStatus cli_load_net(CliRun *run, RfNet *net, bool *leak_stated, const char *path, const char *map);
RfStatus cli_load_layers(CliRun *run, RfLayeredNet *net, bool *layered, bool *weighted, const char *path);
/* The first folder of data that holds `file`, in folder[CLI_PATH_SIZE]; false when none does, with the first
 * one that was looked at, "" for none. */
bool cli_data_folder(const CliRun *run, char *folder, const char *file);
/* The page of the explorer that came with the program, or that was built beside it; false when there is none.
 */
bool cli_page_file(char path[CLI_PATH_SIZE]);
/* True when the user gave the option (for example "--scale"). */
bool cli_given(const CliRun *run, const char *option);
/* Exit status for a library status. After a failure (< 0) the frame prints "reluflow: " and the context's
 * error, and nothing else goes out. */
int cli_finish(CliRun *run, RfStatus status);
/* Exit status for a library status, without printing. */
int cli_exit_status(RfStatus status);
/* One line on standard error, "reluflow: ...", with the exit status for bad usage. */
int cli_usage(const char *format, ...) RF_PRINTF(1, 2);
/* Makes the folder unless it is there. */
RfStatus cli_folder(CliRun *run, const char *folder);
/* Writes a picture to DIR/NAME of --svg DIR, making the folder if needed; user is the CliRun. */
RfStatus cli_picture(void *user, const RfSvg *svg, const char *name);
/* A context for drawing, also after an interruption: no cancellation, a deadline of its own. */
RfContext cli_drawing_context(const CliRun *run);
/* The network of --weights: two-layer, with --leak agreeing with what the file says; or in layers, drawn with
 * --seed when the file has no weights. */
RfStatus cli_load_start(CliRun *run, RfNet *net, const char *path, const char *map, double leak);
RfStatus cli_load_layered_start(CliRun *run, RfLayeredNet *net, bool *layered, const char *path);
/* The scale of a start from the words of --scale and --log-scale; neither given: as it is. */
/* A proof file and the verdict of the checker (proof.c). file is NULL when none was asked for. */
typedef struct CliProof {
  const char *file;
  RfProof written;
  bool checked, accepted;
  char verdict[256];
} CliProof;

/* Runs rfcheck on the file. A failure when it does not run or does not accept. */
RfStatus cli_check_proof(CliRun *run, CliProof *proof);
void cli_proof_json(RfJson *json, const char *name, const CliProof *proof);
void cli_proof_page(RfText *page, const CliProof *proof);

RfStatus cli_read_scale(CliRun *run, RfStudyStart *start, const char *scale, double log_scale);

/* ---- inside the frame ------------------------------------------------------------------------ */

extern const CliOption cli_common_options[], cli_data_options[];
enum { CLI_MAX_OPTIONS = 96 };

/* A run of a command whose flags are in `words`; after a failure too it is to be closed. */
RfStatus cli_open(CliRun *run, const CliCommand *command, int count, char **words);
void cli_close(CliRun *run);
/* Date and time, UTC, as 2024-02-29T12:00:00Z. */
void cli_now(char *out, size_t size);
/* Writes the member `run` and ends the JSON; call it once, after the command. */
RfStatus cli_finish_json(CliRun *run, RfText *object);
/* The command whose name is the first word, or the first two; *used says which. */
const CliCommand *cli_find_command(int *used, int count, char **words);
/* Every option of the run in the order of the help page; `value` is the struct it lies in. */
typedef void (*CliOptionFn)(void *user, const CliOption *option, const void *base);
void cli_each_option(CliRun *run, CliOptionFn each, void *user);
/* False for a common flag that the command would have to ignore. */
bool cli_takes(const CliCommand *command, const CliOption *option);
/* Fills run from the words after the command's name. */
RfStatus cli_parse(CliRun *run, int count, char **words);
/* The name in `names` closest to `word`, NULL when nothing is close. */
const char *cli_suggest(const char *word, const char *const *names, int count);
void cli_help_overview(RfText *out);
void cli_help_group(RfText *out, const char *group);
void cli_help_command(RfText *out, const CliCommand *command, int width);
int cli_help(int count, char **words);
/* `reluflow completion bash|zsh|fish`, and the words that their scripts ask for. */
int cli_completion(int count, char **words);
/* Runs a command whose flags are in `words`; returns the exit status. */
int cli_run(const CliCommand *command, int count, char **words);
/* Writes everything to standard output; false when the reader is gone or the disk is full. */
bool cli_print(const char *data, size_t length);
bool cli_colour(int file);
int cli_width(void);

#endif
