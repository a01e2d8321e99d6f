/* data: datasets. Readers and writers for every format of the command line, transforms, and the generators.
 * A dataset is plain data; all readers give the same struct.
 *
 * Ownership: a dataset owns its arrays (rf_dataset_free) except X after rf_data_adopt, which stays the
 * caller's. The table of generators is constant.
 *
 * Threads: calls with different contexts may run at the same time; a dataset may be read by several. */
#ifndef RELUFLOW_DATA_H
#define RELUFLOW_DATA_H

#include "reluflow/core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RfDataset {
  char *name;         /* as the user wrote it: a path or gen:... */
  rf_index n, d;      /* samples, dimension (with the constant column of --bias) */
  double *X;          /* n rows of d */
  bool borrows_X;     /* X belongs to the caller of rf_data_adopt and is not freed */
  double *y;          /* n labels -1 or +1; for more than two classes NULL */
  rf_index n_classes; /* distinct labels: 1, 2, or K */
  int32_t *class_of;  /* n entries 0..n_classes-1; with two classes 1 is the positive one */
  char **class_names; /* n_classes texts, as they stood in the file, in sorted order */
  /* A single class is positive (y = +1) unless its label is a number <= 0. */
} RfDataset;

RF_API void rf_dataset_free(RfDataset *dataset); /* frees the contents and zeroes the struct */
/* A dataset from arrays (copied). y in {-1,+1}. name may be NULL. */
RF_API RfStatus rf_dataset_from_arrays(RfContext *context, RfDataset *dataset, const double *X,
                                       const double *y, rf_index n, rf_index d, const char *name);
/* A fresh binary dataset "class k against the rest" of a multi-class one: y=+1 on class k. X is copied. */
RF_API RfStatus rf_dataset_one_versus_rest(RfContext *context, RfDataset *out, const RfDataset *dataset,
                                           rf_index k);

/* Where data come from and what is done to them, in the order of the fields of `transform`.
 * Zeroed struct = defaults (use rf_data_source_init). */
typedef struct RfDataSource {
  const char *path;        /* file, "-" for standard input, or "gen:NAME,key=value,..." */
  const char *labels_path; /* second file for X.npy and idx images; NULL otherwise */
  const char *label;       /* label column, by name or 0-based index;  NULL = the first when the header calls
     it label, class, target or y, else the last */
  const char *classes;     /* "A,B": keep two classes, B is +1 */
  bool shuffle;
  uint64_t shuffle_seed;
  rf_index limit;   /* keep the first rows; < 0 = all */
  double divide;    /* divide X by this; 1 = no */
  bool center;      /* subtract the overall mean */
  bool standardize; /* columns to mean 0 and deviation 1 (over n); constant columns become 0 */
  bool unit;        /* scale rows to norm 1 (zero rows stay) */
  bool has_bias;
  double bias;          /* append this constant column */
  int64_t memory_limit; /* bytes for the matrix; 0 = half of RAM */
} RfDataSource;

RF_API void rf_data_source_init(RfDataSource *source);
/* Reads or generates, then transforms. */
RF_API RfStatus rf_data_load(RfContext *context, RfDataset *dataset, const RfDataSource *source);

/* As rf_data_load, from arrays: X (n rows of d), class_of (n entries below n_classes) and the names of the
 * classes in sorted order. X is used in place, and must outlive the dataset, unless a transform changes it.
 */
RF_API RfStatus rf_data_adopt(RfContext *context, RfDataset *dataset, const RfDataSource *source,
                              const double *X, const int32_t *class_of, const char *const *class_names,
                              rf_index n, rf_index d, rf_index n_classes);

typedef enum RfDataFormat {
  RF_FORMAT_AUTO = 0, /* by the first bytes */
  RF_FORMAT_CSV,      /* comma, tab, semicolon or blank separated */
  RF_FORMAT_LIBSVM,
  RF_FORMAT_NPY,
  RF_FORMAT_NPZ,
  RF_FORMAT_IDX
} RfDataFormat;

/* As rf_data_load, from bytes in memory (gzip or not); source->path only names them in messages. */
RF_API RfStatus rf_data_parse(RfContext *context, RfDataset *dataset, const RfDataSource *source,
                              RfDataFormat format, const void *bytes, size_t size);
/* Writes .csv, .tsv, .libsvm/.svm/.svmlight or .npz by ending; beside, then renamed. */
RF_API RfStatus rf_data_save(RfContext *context, const RfDataset *dataset, const char *path);

/* ---- generators ------------------------------------------------------------------------------ */

typedef struct RfGeneratorKey {
  const char *name, *default_value, *meaning;
} RfGeneratorKey;

typedef struct RfGenerator {
  const char *name, *alias; /* alias: the catalogue id DS-..., or NULL */
  const char *paper, *summary;
  const RfGeneratorKey *keys;
  rf_index n_keys;
} RfGenerator;

/* The table of generators, for `reluflow data list`. */
RF_API const RfGenerator *rf_data_generators(rf_index *count);
/* spec is "NAME,key=value,..." with or without "gen:"; ids may carry arguments, DS-OS(5,5,3,0.2). */
RF_API RfStatus rf_data_generate(RfContext *context, RfDataset *dataset, const char *spec);

#ifdef __cplusplus
}
#endif
#endif
