/* claims: the ledger. Every computable statement of the five papers as a small record with a function that
 * runs it: the setting, the predicted value computed from theory, the observed one, and a judge with a stated
 * tolerance. Where a formula is misprinted, the corrected form decides the verdict and the printed form is
 * evaluated beside it. */
#ifndef RELUFLOW_CLAIMS_H
#define RELUFLOW_CLAIMS_H

#include "core/core.h"
#include "present/present.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RfClaimKind {
  RF_CLAIM_IDENTITY = 0,
  RF_CLAIM_BOUND,
  RF_CLAIM_LIMIT,
  RF_CLAIM_RATE,
  RF_CLAIM_PROBABILITY,
  RF_CLAIM_CONSTRUCTION,
  RF_CLAIM_COUNTER_EXAMPLE,
  RF_CLAIM_FIGURE,
  RF_CLAIM_TABLE
} RfClaimKind;

/* How long a claim takes on one core: below a second, below a minute, longer. */
typedef enum RfClaimCost { RF_CLAIM_QUICK = 0, RF_CLAIM_NORMAL = 1, RF_CLAIM_HEAVY = 2 } RfClaimCost;

typedef struct RfClaimRun RfClaimRun;

typedef struct RfClaim {
  const char *id;    /* "VSS-07" */
  const char *paper; /* "Vardi, Shamir, Srebro" */
  const char *where; /* theorem and equation numbers */
  const char *title; /* the statement in words */
  RfClaimKind kind;
  RfClaimCost cost;
  RfStatus (*check)(RfClaimRun *run);
} RfClaim;

/* Pass: every comparison that the claim declares was made, and held. Incomplete: nothing failed, but fewer
 * comparisons or runs were made than the claim needs, or its check ended before its end. */
typedef enum RfClaimVerdict {
  RF_CLAIM_PASS = 0,
  RF_CLAIM_FAIL = 1,
  RF_CLAIM_SKIPPED = 2,
  RF_CLAIM_INCOMPLETE = 3
} RfClaimVerdict;
enum { RF_CLAIM_VERDICTS = 4 };
typedef enum RfPrintedForm { RF_PRINTED_SAME = 0, RF_PRINTED_PASS = 1, RF_PRINTED_FAIL = 2 } RfPrintedForm;

/* A formula or number that is wrong as printed, and what it should be. */
typedef struct RfMisprint {
  const char *id;        /* "MP-WP-01" */
  const char *where;     /* equation or section */
  const char *printed;   /* as printed */
  const char *corrected; /* as it should be, or what is wrong with it */
} RfMisprint;

/* A misprint put to the test by a claim. */
typedef struct RfMisprintEvidence {
  const RfMisprint *misprint;
  const char *what;                    /* what was compared */
  double printed, corrected, observed; /* value by the printed form, by the corrected one, and as computed */
  bool printed_holds;
} RfMisprintEvidence;

enum { RF_CLAIM_MISPRINTS = 8, RF_CLAIM_COUNTS = 12 };

/* How many of something (comparisons, flows, sliding neurons) a claim needs, made, and left out. */
typedef struct RfClaimCount {
  const char *what;
  rf_index required, made, dropped;
} RfClaimCount;

typedef struct RfClaimResult {
  const RfClaim *claim;
  RfClaimVerdict verdict;
  double predicted, observed; /* of the check that came closest to failing (or failed first) */
  double error, tolerance;    /* error <= tolerance passes */
  rf_index checks;            /* comparisons made */
  rf_index n_counts;          /* the first are the comparisons */
  RfClaimCount counts[RF_CLAIM_COUNTS];
  uint64_t seed;         /* of the run */
  char compared[120];    /* what that check compared */
  double tightness;      /* of the bounds: the largest share of a bound that was used; NaN = none */
  RfPrintedForm printed; /* RF_PRINTED_SAME: the printed form is the one that was judged */
  rf_index n_misprints;
  RfMisprintEvidence misprints[RF_CLAIM_MISPRINTS];
  char note[400]; /* what was compared, what failed, what else is worth knowing */
  double seconds;
  char *picture; /* SVG for the page of the ledger: of the front, or all of a figure; owned */
} RfClaimResult;

typedef struct RfClaimSettings {
  bool quick;           /* only claims of cost quick, with fewer repetitions */
  bool heavy;           /* also claims of cost heavy */
  rf_index seeds;       /* multiplies the number of seeds; 1 = as the ledger says */
  uint64_t first_seed;  /* everything random follows it; 0 = the ledger's own */
  rf_index times;       /* runs of the ledger that are judged together; 0 counts as 1 */
  const char *data_dir; /* real data; NULL = none */
  const char *svg_dir;  /* folder for the figures, SVG and CSV; NULL = none are written */
  bool pictures;        /* keep the pictures of the front page in the results */
  /* Called after each claim, one at a time; claims that have not ended yet are marked as skipped. */
  void (*on_result)(void *user, const RfClaimResult *results, rf_index count);
  void *user;
} RfClaimSettings;

RF_API RfClaimSettings rf_claim_settings_default(void);
/* The ledger, in the order of the papers. */
RF_API rf_index rf_claims_count(void);
RF_API const RfClaim *rf_claim_at(rf_index k); /* 0 <= k < rf_claims_count() */
/* All misprints, in the order of the papers. */
RF_API rf_index rf_misprints_count(void);
RF_API const RfMisprint *rf_misprint_at(rf_index k); /* 0 <= k < rf_misprints_count() */
RF_API const char *rf_claim_kind_name(RfClaimKind kind);
RF_API const char *rf_claim_verdict_name(RfClaimVerdict verdict);
/* True when the id matches a pattern with * and ?, or is "PL" for all PL-... (case does not matter). */
RF_API bool rf_claim_matches(const RfClaim *claim, const char *pattern);
/* Runs `count` claims, context->threads at a time and the long ones first (a single one has all threads);
 * results[k] belongs to claims[k]: free each. RF_OK when all ran (whatever their verdicts), RF_INTERRUPTED
 * when stopped (the rest is skipped and says so), or a failure. */
RF_API RfStatus rf_claims_run(RfContext *context, RfClaimResult *results, const RfClaim *const *claims,
                              rf_index count, const RfClaimSettings *settings);
RF_API void rf_claim_result_free(RfClaimResult *result);
/* A table claim x seed: the verdicts of several runs of the same claims, results[run * count + k]. */
typedef struct RfClaimRuns {
  const RfClaimResult *results;
  rf_index count, times;
} RfClaimRuns;

/* The seed of run j >= 0 of several that begin at `first`: first itself, then ones far from it. */
RF_API uint64_t rf_claim_distant_seed(uint64_t first, rf_index j);
/* The run of claim k that is shown: the first that failed, else incomplete, else passed. */
RF_API const RfClaimResult *rf_claim_worst(const RfClaimRuns *runs, rf_index k);
/* The results as a self-contained page; with several runs, the worst of each claim and the table of all. */
RF_API void rf_claims_html(RfText *page, const RfClaimRuns *runs);

/* A figure of the papers, or one that shows their theory. Files ID.svg, ID-....svg and ID.csv, ID-....csv
 * belong to it. */
typedef struct RfRecipe {
  const char *id;      /* "E-WP-1" */
  const char *figure;  /* its number in the paper */
  const char *caption; /* what is drawn */
  const char *claims;  /* the claims that draw it, as arguments of verify */
} RfRecipe;

RF_API rf_index rf_recipes_count(void);
/* Writes FOLDER/index.html: every recipe with the pictures and series of it that lie in the folder. */
RF_API RfStatus rf_claims_index(RfContext *context, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
