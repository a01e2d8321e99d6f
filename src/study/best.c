/* The best margin: the linear separator, the shortest vector of each class, and the best network of any
 * width. Networks that are already known (limits of flows, witnesses) are offered to its result, which is
 * therefore never worse than any of them. */
#include <math.h>
#include <string.h>

#include "la/la.h"
#include "optimum/optimum.h"
#include "study/study_internal.h"

void rf_study_best_settings_init(RfStudyBestSettings *settings) {
  *settings = (RfStudyBestSettings){0};
  rf_optimum_settings_init(&settings->optimum);
}

void rf_study_best_free(RfStudyBest *best) {
  if (!best) return;
  rf_linear_margin_free(&best->linear);
  rf_class_margin_free(&best->positive);
  rf_class_margin_free(&best->negative);
  rf_optimum_free(&best->global);
  memset(best, 0, sizeof *best);
}

/* Status: of the linear part; the class vectors fail only by failing. */
static RfStatus find_margins(RfContext *context, RfStudyBest *best, const RfStudyBestSettings *s) {
  const RfDataset *data = best->data;
  RfStatus status =
      s->intercept ? rf_margin_linear_intercept(context, &best->linear, data->X, data->y, data->n, data->d)
                   : rf_margin_linear(context, &best->linear, data->X, data->y, data->n, data->d);
  RfClassMargin *classes[] = {&best->positive, &best->negative};
  for (int k = 0; k < 2 && status >= 0; k++) {
    RfStatus found =
        rf_margin_class(context, classes[k], data->X, data->y, data->n, data->d, k == 0 ? 1 : -1);
    if (found != RF_NOT_SEPARABLE) status = rf_status_worse(status, found);
  }
  return status;
}

/* The linear separator is the network of w and -w: an answer when the time was too short for a better one. */
static RfStatus offer_linear(RfContext *context, RfStudyBest *best, const RfStudyBestSettings *s) {
  const RfLinearMargin *m = &best->linear;
  RfOptimum *o = &best->global;
  if (o->status == RF_OPTIMUM_PROVED || o->status == RF_OPTIMUM_INFEASIBLE) return RF_OK;
  if (s->intercept || !m->separable || !isfinite(m->margin)) return RF_OK;
  double *U = RF_NEW(double, 2 * m->d), sign[] = {1, -1}, size = 1 / (m->margin * (1 + o->leak));
  if (!U) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a separator");
  for (rf_index j = 0; j < m->d; j++) U[j] = size * m->w[j], U[m->d + j] = -U[j];
  RfStatus status = rf_optimum_offer(context, o, U, sign, 2, best->data->X, best->data->y, &s->optimum);
  rf_free(U);
  return status;
}

/* ---- networks from elsewhere ---------------------------------------------------------------------- */

/* A network as the sum of its groups: neurons with one sign of a and one pattern act as the sum of their
 * |a_k| w_k, which is no longer than the sum of their lengths. */
typedef struct Groups {
  rf_index count;
  double *U, *sign;
  char *patterns;
} Groups;

static void groups_free(Groups *groups) {
  rf_free(groups->U);
  rf_free(groups->sign);
  rf_free(groups->patterns);
}

/* The group with the pattern that stands behind the last one, which becomes a new one when there is none. */
static rf_index group_of(Groups *groups, double sign, rf_index n) {
  const char *wanted = groups->patterns + groups->count * n;
  for (rf_index g = 0; g < groups->count; g++)
    if (groups->sign[g] * sign > 0 && memcmp(groups->patterns + g * n, wanted, (size_t)n) == 0) return g;
  groups->sign[groups->count] = sign;
  return groups->count++;
}

static RfStatus group(RfContext *context, Groups *groups, const RfNet *net, const RfDataset *data) {
  rf_index n = data->n, d = data->d, cells, signs;
  *groups = (Groups){0};
  bool fits = rf_multiply_sizes(&cells, net->m, d) && rf_multiply_sizes(&signs, net->m, n);
  groups->U = fits ? RF_NEW(double, cells) : NULL;
  groups->sign = fits ? RF_NEW(double, net->m) : NULL;
  groups->patterns = fits ? RF_NEW(char, signs) : NULL;
  if (!groups->U || !groups->sign || !groups->patterns)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  for (rf_index k = 0; k < net->m; k++) {
    const double *w = net->W + k * d;
    if (!(fabs(net->a[k]) * rf_la_norm(w, d) > 0)) continue;
    for (rf_index i = 0; i < n; i++) {
      double z = rf_la_dot(w, data->X + i * d, d);
      groups->patterns[groups->count * n + i] = z > 0 ? '+' : z < 0 ? '-' : '0';
    }
    rf_index g = group_of(groups, net->a[k] > 0 ? 1 : -1, n);
    rf_la_axpy(groups->U + g * d, fabs(net->a[k]), w, d);
  }
  return RF_OK;
}

/* ---- the search ------------------------------------------------------------------------------------ */

/* The bounds so far and how much of a search is done, for who waits. */
static void report(void *user, const RfOptimumRecord *record) {
  char text[120];
  rf_format(text, sizeof text, "%.10g <= %.10g, %lld patterns, %lld nodes", record->lower, record->objective,
            (long long)record->patterns, (long long)record->nodes);
  rf_progress(user, "the best margin", record->searched, text);
}

static void groups_as_net(RfNet *net, const Groups *groups, const RfNet *of) {
  *net = (RfNet){.m = groups->count, .d = of->d, .leak = of->leak, .W = groups->U, .a = groups->sign};
}

/* The search with the first of the known networks as one to begin with. */
static RfStatus solve_from(RfContext *context, RfStudyBest *best, const RfNet *const *known, rf_index n_known,
                           RfOptimumSettings *optimum) {
  const RfDataset *data = best->data;
  Groups groups = {0};
  RfNet net;
  const RfNet *first[] = {&net};
  RfStatus status = n_known > 0 ? group(context, &groups, known[0], data) : RF_OK;
  if (!status && n_known > 0) {
    groups_as_net(&net, &groups, known[0]);
    optimum->incumbents = first, optimum->n_incumbents = 1;
  }
  if (!status) status = rf_optimum_solve(context, &best->global, data->X, data->y, data->n, data->d, optimum);
  groups_free(&groups);
  return status;
}

/* Not separable by a line is no failure here: the network is what was asked for. */
static RfStatus find_network(RfContext *context, RfStudyBest *best, RfStatus linear,
                             const RfNet *const *known, rf_index n_known, const RfStudyBestSettings *s) {
  /* The known networks are offered afterwards: the search is then the one that anybody gets who asks for the
   * best margin alone, to the bit, and what it proves does not depend on them. Not so where multipliers are
   * known that may spare it. */
  RfOptimumSettings optimum = s->optimum;
  if (!optimum.on_record) optimum.on_record = report, optimum.user = context;
  RfStatus status = solve_from(context, best, known, optimum.multipliers ? n_known : 0, &optimum);
  if (status < 0) return status;
  best->has_global = true;
  RfStatus linear_offered = offer_linear(context, best, s);
  if (linear_offered < 0) status = linear_offered;
  for (rf_index k = 0; k < n_known && status >= 0; k++) {
    RfStatus offered = rf_study_best_offer(context, best, known[k], s);
    if (offered < 0) status = offered;
  }
  if (status < 0) return status;
  if (best->global.status == RF_OPTIMUM_INFEASIBLE) status = RF_INFEASIBLE;
  if (best->global.status == RF_OPTIMUM_GAP) status = RF_UNDECIDED;
  return linear == RF_NOT_SEPARABLE ? status : rf_status_worse(status, linear);
}

RfStatus rf_study_best(RfContext *context, RfStudyBest *best, const RfDataset *data,
                       const char *positive_class, const RfNet *const *known, rf_index n_known,
                       const RfStudyBestSettings *settings) {
  *best = (RfStudyBest){.data = data, .positive_class = positive_class};
  RfStatus status = find_margins(context, best, settings);
  if (status >= 0 && !settings->linear_only)
    status = find_network(context, best, status, known, n_known, settings);
  if (status < 0) rf_study_best_free(best);
  return status;
}

RfStatus rf_study_bests(RfContext *context, RfStudyBest *bests, const RfStudySplit *split,
                        const RfStudyBestSettings *settings) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < split->count && status >= 0; k++)
    status = rf_status_worse(status, rf_study_best(context, &bests[k], rf_study_split_data(split, k),
                                                   rf_study_split_name(split, k), NULL, 0, settings));
  return status;
}

RfStatus rf_study_best_offer(RfContext *context, RfStudyBest *best, const RfNet *net,
                             const RfStudyBestSettings *settings) {
  RfOptimum *o = &best->global;
  Groups groups;
  /* a proved optimum is beaten by rounding only: its own network stays */
  if (!best->has_global || o->status == RF_OPTIMUM_PROVED || o->status == RF_OPTIMUM_INFEASIBLE) return RF_OK;
  if (net->leak != o->leak) return RF_OK; /* another kind of network */
  RfStatus status = group(context, &groups, net, best->data);
  if (!status)
    status = rf_optimum_offer(context, o, groups.U, groups.sign, groups.count, best->data->X, best->data->y,
                              &settings->optimum);
  groups_free(&groups);
  return status;
}

/* ---- multipliers from elsewhere ------------------------------------------------------------------- */

void rf_study_best_known(RfStudyBestSettings *settings, const RfFlowLimit *limit, rf_index n) {
  if (n >= RF_STUDY_KNOWN_FIRST) settings->optimum.multipliers = limit->lambda;
}

RfStatus rf_study_best_multipliers(RfContext *context, RfStudyBest *best, const RfCertificate *certificate) {
  RfOptimum *o = &best->global;
  if (!best->has_global || o->status == RF_OPTIMUM_PROVED || o->status == RF_OPTIMUM_INFEASIBLE) return RF_OK;
  if (!certificate->kkt.lambda) return RF_OK;
  return rf_optimum_offer_multipliers(context, o, certificate->kkt.lambda, certificate->dual_norm);
}
