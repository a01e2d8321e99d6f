/* The ledger as one page that stands alone: three corrections of the literature in front, then every claim
 * with what is predicted, what was observed and how much of the allowed error (or of the bound) was used,
 * grouped by paper. A few lines of script filter the list; without it everything is shown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/claims_internal.h"
#include "core/core.h"
#include "present/present.h"

static const char style[] =
    "<style>:root{--warn:#855f00}@media(prefers-color-scheme:dark){:root{--warn:#dfb14b}}main{max-width:"
    "72rem}.card,.claim{background:var(--card);border-radius:8px;padding:.8rem 1rem;"
    "margin:.7rem 0;border-left:5px solid var(--line)}.card{border-color:var(--bad)}"
    ".card h3{margin:.1rem 0 .3rem;font-size:1.05rem}.claim.fail{border-color:var(--bad)}"
    ".claim.incomplete{border-color:var(--warn)}.tag.incomplete{color:var(--warn);border-color:var(--warn)}"
    ".claim.pass{border-color:var(--good)}.claim.misprint{border-color:var(--warn)}"
    ".claim{display:grid;grid-template-columns:minmax(0,9rem) minmax(0,1fr) minmax(0,19rem);gap:.2rem 1.2rem}"
    ".claim p{margin:.15rem 0}.id{font-weight:700;color:var(--ink);text-decoration:none}"
    ".tag{display:inline-block;font-size:.78rem;border-radius:4px;padding:0 .45rem;margin:.15rem .3rem "
    ".15rem "
    "0;border:1px solid var(--line);color:var(--soft)}.tag.pass{color:var(--good);border-color:var(--good)}"
    ".tag.fail{color:var(--bad);border-color:var(--bad)}.tag.misprint{color:var(--warn);border-color:var(--"
    "warn)}"
    ".title{font-weight:600}.small{font-size:.85rem;color:var(--soft)}.claim,.card,.mp{overflow-wrap:"
    "anywhere}"
    ".numbers{display:grid;grid-template-columns:auto 1fr;gap:0 .8rem;margin:0;font-size:.88rem;"
    "font-variant-numeric:tabular-nums}.numbers dt{color:var(--soft)}.numbers dd{margin:0}"
    ".bar{height:.5rem;border-radius:3px;background:var(--line);margin:.35rem 0;overflow:hidden}"
    ".bar i{display:block;height:100%;background:var(--accent)}.fail .bar i{background:var(--bad)}"
    ".filters{display:flex;flex-wrap:wrap;gap:.5rem .8rem;align-items:center;margin:1rem 0;padding:.6rem 0;"
    "position:sticky;top:0;background:var(--page);border-bottom:1px solid var(--line);z-index:1}"
    ".filters select,.filters input[type=search]{font:inherit;font-size:.9rem;padding:.2rem .4rem;"
    "color:inherit;background:var(--card);border:1px solid var(--line);border-radius:4px;max-width:100%}"
    ".filters label{font-size:.9rem}[hidden]{display:none!important}"
    ".mp{display:grid;grid-template-columns:minmax(0,8rem) minmax(0,1fr) minmax(0,1fr);gap:.2rem 1.2rem;"
    "border-bottom:1px solid var(--line);padding:.5rem 0}.mp p{margin:.1rem 0}"
    ".claim figure{grid-column:1/-1;margin:.4rem 0;overflow-x:auto}.claim figure svg{display:block;"
    "width:auto;min-width:0;max-width:100%;height:auto;margin:0 auto .6rem}.grid{overflow-x:auto}"
    ".grid table{font-size:.85rem}details summary{cursor:pointer;padding:.5rem 0}"
    /* phones: one column; pictures keep letters that can be read, and are pushed sideways */
    "@media(max-width:46rem){.claim,.mp{grid-template-columns:minmax(0,1fr)}.filters{position:static}"
    ".claim figure svg:not(.fluid){width:40rem;max-width:none}.grid th,.grid td{padding:.3rem "
    ".3rem}}</style>\n";

static const char script[] =
    "<script>\n"
    "(function () {\n"
    "  var form = document.querySelector('.filters');\n"
    "  if (!form) return;\n"
    "  function show() {\n"
    "    var words = form.search.value.toLowerCase(), shown = 0;\n"
    "    document.querySelectorAll('.claim').forEach(function (claim) {\n"
    "      var data = claim.dataset, fits = (!form.paper.value || data.paper === form.paper.value) &&\n"
    "        (!form.kind.value || data.kind === form.kind.value) &&\n"
    "        (!form.verdict.value || data.verdict === form.verdict.value) &&\n"
    "        (!form.printed.checked || data.printed === 'fail') &&\n"
    "        (!words || claim.textContent.toLowerCase().indexOf(words) >= 0);\n"
    "      claim.hidden = !fits;\n"
    "      shown += fits;\n"
    "    });\n"
    "    document.querySelectorAll('section.paper').forEach(function (paper) {\n"
    "      paper.hidden = !paper.querySelector('.claim:not([hidden])');\n"
    "    });\n"
    "    document.getElementById('shown').textContent = shown + ' shown';\n"
    "  }\n"
    "  form.addEventListener('input', show);\n"
    "  form.addEventListener('submit', function (event) { event.preventDefault(); });\n"
    "  form.hidden = false;\n"
    "  show();\n"
    "})();\n"
    "</script>\n";

/* ---- the front page ---------------------------------------------------------------------------------- */

/* What the papers state and these runs refute. */
static const struct {
  const char *claim, *heading, *text;
} fronts[] = {
    {"WP-18", "Wang and Pilanci, Theorem 1: a neuron may slide, and then never points along its own gradient",
     "The theorem says that every neuron that starts with a positive inner product reaches any cosine below "
     "1 "
     "with the gradient X'D(w)y of its own activation pattern. Take x1 = (1,0), positive, and x2 = (1,1)/√2, "
     "negative: neurons with a > 0 arrive at the hyperplane of x2 and slide on it, and the cosine stops at "
     "1/√2 = 0.7071. The statement becomes true again with the gradient projected onto the hyperplanes that "
     "the neuron slides on."},
    {"WP-24", "Wang and Pilanci, Theorem 2: false for three classes",
     "For orthogonally separable data with K classes the flow is said to reach the global optimum of every "
     "one-against-the-rest problem. For K = 3 those problems are not orthogonally separable themselves. From "
     "an "
     "open set of starts the flow ends with margin 1/6, while 1/(2(1+√2)) = 0.2071 is possible."},
    {"VSS-01", "Vardi, Shamir, Srebro, Theorem 2.1: the loss threshold is wrong for the logistic loss",
     "The theorem asks for a start with loss below 1. For the exponential loss that means that every sample "
     "is "
     "classified; for the logistic loss it does not: a single sample has loss ln 2 = 0.693 at output 0, and "
     "loss 0.854 at output -0.3. From such a start the flow ends at the origin, which is stationary, and the "
     "loss never falls below ln 2. The threshold is ln 2."},
};

/* The result with a picture of that claim, of the run that is shown or of another one. */
static const RfClaimResult *find(const RfClaimRuns *runs, const char *id) {
  for (rf_index k = 0; k < runs->count * runs->times; k++)
    if (strcmp(runs->results[k].claim->id, id) == 0 && runs->results[k].picture) return &runs->results[k];
  return NULL;
}

static void element(RfText *page, const char *open, const char *text, const char *close) {
  rf_text_add(page, open);
  rf_text_add_escaped(page, text);
  rf_text_add(page, close);
}

static bool on_front(const RfClaim *claim) {
  for (size_t k = 0; k < sizeof fronts / sizeof fronts[0]; k++)
    if (strcmp(claim->id, fronts[k].claim) == 0) return true;
  return false;
}

/* As many as this run has computed: --quick leaves some out. */
static void front(RfText *page, const RfClaimRuns *runs) {
  static const char *const headings[] = {"", "A statement that does not hold as printed",
                                         "Two statements that do not hold as printed",
                                         "Three statements that do not hold as printed"};
  size_t shown = 0;
  for (size_t k = 0; k < sizeof fronts / sizeof fronts[0]; k++) shown += find(runs, fronts[k].claim) != NULL;
  if (shown == 0) return;
  rf_html_section(page, headings[shown]);
  for (size_t k = 0; k < sizeof fronts / sizeof fronts[0]; k++) {
    const RfClaimResult *r = find(runs, fronts[k].claim);
    if (!r) continue;
    rf_text_add(page, "<div class=\"card\">");
    element(page, "<h3>", fronts[k].heading, "</h3>\n");
    element(page, "<p>", fronts[k].text, "</p>\n");
    rf_text_add(page, "<figure>");
    rf_html_svg(page, r->picture);
    rf_text_add(page, "</figure>\n");
    rf_text_addf(page, "<p class=\"small\">Computed by claim <a href=\"#%s\">%s</a>.</p></div>\n",
                 r->claim->id, r->claim->id);
  }
}

/* ---- one claim --------------------------------------------------------------------------------------- */

static const char *printed_name(RfPrintedForm printed) {
  return printed == RF_PRINTED_PASS ? "pass" : printed == RF_PRINTED_FAIL ? "fail" : "same";
}

static void add_number(RfText *page, const char *name, double value, int digits) {
  if (isnan(value)) return;
  rf_text_addf(page, "<dt>%s</dt><dd>%.*g</dd>", name, digits, value);
}

/* The share of what is allowed: of the error on a logarithmic scale over eight decades, of a bound as it is.
 */
static void add_bar(RfText *page, const RfClaimResult *r) {
  double ratio = r->tolerance > 0 ? r->error / r->tolerance : r->error > 0 ? INFINITY : 0;
  bool bound = !(ratio > 0) && r->tightness > 0;
  double width = bound ? 100 * r->tightness : ratio > 0 ? 100 * (1 + log10(ratio) / 8) : 0;
  rf_text_addf(page, "<div class=\"bar\"><i style=\"width:%.1f%%\"></i></div>", fmin(100, fmax(width, 0)));
  if (bound)
    rf_text_addf(page, "<p class=\"small\">holds; the value reaches %.3g%% of the bound</p>",
                 100 * r->tightness);
  else if (r->tolerance > 0)
    rf_text_addf(page, "<p class=\"small\">error %.2g, allowed %.2g</p>", r->error, r->tolerance);
  else if (r->claim->kind == RF_CLAIM_PROBABILITY && !(r->error > 0))
    rf_text_add(page, "<p class=\"small\">within the binomial interval</p>");
  else
    rf_text_add(page, r->error > 0 ? "<p class=\"small\">does not hold</p>" : "<p class=\"small\">holds</p>");
}

/* What was needed, made and left out, where that says more than the number of comparisons. */
static void add_counts(RfText *page, const RfClaimResult *r) {
  for (rf_index k = 0; k < r->n_counts; k++) {
    const RfClaimCount *at = &r->counts[k];
    rf_text_addf(page, "<p class=\"small\">%s: %lld", at->what, (long long)at->made);
    if (at->required > 0) rf_text_addf(page, ", needed %lld", (long long)at->required);
    if (at->dropped > 0) rf_text_addf(page, ", <b>left out %lld</b>", (long long)at->dropped);
    rf_text_add(page, "</p>");
  }
}

static void add_claim(RfText *page, const RfClaimResult *r) {
  const RfClaim *claim = r->claim;
  const char *kind = rf_claim_kind_name(claim->kind), *verdict = rf_claim_verdict_name(r->verdict);
  bool misprint = r->printed == RF_PRINTED_FAIL;
  rf_text_addf(page,
               "<article class=\"claim %s%s\" id=\"%s\" data-paper=\"%.*s\" data-kind=\"%s\" "
               "data-verdict=\"%s\" data-printed=\"%s\">\n",
               verdict, misprint ? " misprint" : "", claim->id, (int)strcspn(claim->id, "-"), claim->id, kind,
               verdict, printed_name(r->printed));
  rf_text_addf(page, "<div><a class=\"id\" href=\"#%s\">%s</a><br><span class=\"tag %s\">%s</span>",
               claim->id, claim->id, verdict, verdict);
  rf_text_addf(page, "<span class=\"tag\">%s</span>", kind);
  if (misprint) rf_text_add(page, "<span class=\"tag misprint\">printed form fails</span>");
  rf_text_add(page, "</div>\n<div>");
  element(page, "<p class=\"title\">", claim->title, "</p>");
  element(page, "<p class=\"small\">", claim->where, "</p>");
  if (r->note[0]) element(page, "<p class=\"small\">", r->note, "</p>");
  rf_text_add(page, "</div>\n<div>");
  if (r->verdict != RF_CLAIM_SKIPPED) {
    rf_text_add(page, "<dl class=\"numbers\">");
    add_number(page, "predicted", r->predicted, 9);
    add_number(page, "observed", r->observed, 9);
    rf_text_add(page, "</dl>");
    add_bar(page, r);
    element(page, "<p class=\"small\">", r->compared, "");
    rf_text_addf(page, " (%.2g s)</p>", r->seconds);
    add_counts(page, r);
  }
  rf_text_add(page, "</div>\n");
  if (r->picture && !on_front(claim)) {
    rf_text_add(page, "<figure>");
    rf_html_svg(page, r->picture);
    rf_text_add(page, "</figure>\n");
  }
  rf_text_add(page, "</article>\n");
}

/* ---- misprints --------------------------------------------------------------------------------------- */

static void add_evidence(RfText *page, const RfClaimResult *r, const RfMisprintEvidence *evidence) {
  element(page, "<p class=\"small\">", evidence->what, ", ");
  rf_text_addf(page, "<a href=\"#%s\">%s</a>:</p><dl class=\"numbers\">", r->claim->id, r->claim->id);
  add_number(page, "printed form", evidence->printed, 9);
  add_number(page, "corrected form", evidence->corrected, 9);
  add_number(page, "computed", evidence->observed, 9);
  rf_text_add(page, "</dl>");
}

/* Every number that a claim of this run has on a misprint; how many there are. */
static rf_index collect(RfText *evidence, bool *fails, const RfMisprint *misprint, const RfClaimRuns *runs) {
  rf_index found = 0;
  *fails = false;
  for (rf_index k = 0; k < runs->count; k++) {
    const RfClaimResult *r = rf_claim_worst(runs, k);
    for (rf_index e = 0; e < r->n_misprints; e++)
      if (r->misprints[e].misprint == misprint) {
        found++, *fails = *fails || !r->misprints[e].printed_holds;
        if (evidence) add_evidence(evidence, r, &r->misprints[e]);
      }
  }
  return found;
}

/* One row: where, the two forms, and the numbers. */
static void add_misprint(RfText *page, const RfMisprint *misprint, const RfClaimRuns *runs) {
  bool fails;
  RfText evidence = {0};
  rf_index found = collect(&evidence, &fails, misprint, runs);
  rf_text_addf(page, "<div class=\"mp\"><div><span class=\"id\">%s</span>", misprint->id);
  element(page, "<p class=\"small\">", misprint->where, "</p>");
  if (fails) rf_text_add(page, "<span class=\"tag misprint\">printed form fails</span>");
  element(page, "</div>\n<div><p><span class=\"small\">printed: </span>", misprint->printed, "</p>");
  element(page, "<p><span class=\"small\">right: </span>", misprint->corrected, "</p></div>\n<div>");
  if (evidence.failed) page->failed = true;
  rf_text_add(page,
              found ? rf_text_string(&evidence)
                    : "<p class=\"small\">no number in this run: wording, notation or an open choice</p>");
  rf_text_add(page, "</div></div>\n");
  rf_text_free(&evidence);
}

static void misprints_section(RfText *page, const RfClaimRuns *runs) {
  rf_index without = 0;
  bool fails;
  rf_html_section(page, "Misprints");
  rf_html_paragraph(page,
                    "What is printed, what it should be, and the numbers that the claims above computed for "
                    "both forms.");
  for (rf_index k = 0; k < rf_misprints_count(); k++)
    if (collect(NULL, &fails, rf_misprint_at(k), runs))
      add_misprint(page, rf_misprint_at(k), runs);
    else
      without++;
  if (without == 0) return;
  rf_text_addf(page, "<details><summary>%lld without a number in this run</summary>\n", (long long)without);
  for (rf_index k = 0; k < rf_misprints_count(); k++)
    if (!collect(NULL, &fails, rf_misprint_at(k), runs)) add_misprint(page, rf_misprint_at(k), runs);
  rf_text_add(page, "</details>\n");
}

/* ---- the page ---------------------------------------------------------------------------------------- */

static bool same_paper(const RfClaimRuns *runs, rf_index a, rf_index b) {
  return strcmp(runs->results[a].claim->paper, runs->results[b].claim->paper) == 0;
}

/* The index after the last claim of the paper that begins at `from`. */
static rf_index paper_end(const RfClaimRuns *runs, rf_index from) {
  rf_index to = from;
  while (to < runs->count && same_paper(runs, from, to)) to++;
  return to;
}

typedef struct Tally {
  rf_index verdicts[RF_CLAIM_VERDICTS], misprints;
} Tally;

static Tally tally(const RfClaimRuns *runs, rf_index from, rf_index to) {
  Tally t = {{0}, 0};
  for (rf_index k = from; k < to; k++) {
    const RfClaimResult *r = rf_claim_worst(runs, k);
    t.verdicts[r->verdict]++, t.misprints += r->printed == RF_PRINTED_FAIL;
  }
  return t;
}

/* The order in which verdicts are counted. */
static const RfClaimVerdict order[RF_CLAIM_VERDICTS] = {RF_CLAIM_PASS, RF_CLAIM_FAIL, RF_CLAIM_INCOMPLETE,
                                                        RF_CLAIM_SKIPPED};

static void summary(RfText *page, const RfClaimRuns *runs) {
  RfTable table;
  rf_html_section(page, "Papers");
  rf_table_init(&table, "lrrrrrr", "paper|claims|pass|fail|incomplete|skipped|misprinted");
  for (rf_index from = 0, to; from < runs->count; from = to) {
    to = paper_end(runs, from);
    Tally t = tally(runs, from, to);
    rf_table_cell(&table, "%s", runs->results[from].claim->paper);
    rf_table_cell(&table, "%lld", (long long)(to - from));
    for (int v = 0; v < RF_CLAIM_VERDICTS; v++)
      rf_table_cell(&table, "%lld", (long long)t.verdicts[order[v]]);
    rf_table_cell(&table, "%lld", (long long)t.misprints);
  }
  rf_text_add(page, "<div class=\"grid\">");
  rf_table_html(page, &table);
  rf_text_add(page, "</div>\n");
  rf_table_free(&table);
}

/* Claim x seed; claims that were skipped everywhere are left out. */
static void seeds_section(RfText *page, const RfClaimRuns *runs) {
  if (runs->times < 2) return;
  rf_html_section(page, "Seeds");
  rf_html_paragraph(page,
                    "One run of the ledger for every seed. Below, each claim is shown as in its worst run.");
  rf_text_add(page, "<div class=\"grid\"><table><thead><tr><th>claim</th>");
  for (rf_index j = 0; j < runs->times; j++)
    rf_text_addf(page, "<th>%llu</th>", (unsigned long long)runs->results[j * runs->count].seed);
  rf_text_add(page, "</tr></thead><tbody>\n");
  for (rf_index k = 0; k < runs->count; k++) {
    if (rf_claim_worst(runs, k)->verdict == RF_CLAIM_SKIPPED) continue;
    const char *id = runs->results[k].claim->id;
    rf_text_addf(page, "<tr><td><a href=\"#%s\">%s</a></td>", id, id);
    for (rf_index j = 0; j < runs->times; j++) {
      const char *verdict = rf_claim_verdict_name(runs->results[j * runs->count + k].verdict);
      rf_text_addf(page, "<td><span class=\"tag %s\">%s</span></td>", verdict, verdict);
    }
    rf_text_add(page, "</tr>\n");
  }
  rf_text_add(page, "</tbody></table></div>\n");
}

static void options_of(RfText *page, const char *name, const char *all) {
  rf_text_addf(page, "<select name=\"%s\" aria-label=\"%s\"><option value=\"\">%s</option>", name, name, all);
}

static void filters(RfText *page, const RfClaimRuns *runs) {
  rf_text_add(page, "<form class=\"filters\" hidden>");
  options_of(page, "paper", "all papers");
  for (rf_index from = 0; from < runs->count; from = paper_end(runs, from)) {
    const RfClaim *claim = runs->results[from].claim;
    rf_text_addf(page, "<option value=\"%.*s\">", (int)strcspn(claim->id, "-"), claim->id);
    element(page, "", claim->paper, "</option>");
  }
  rf_text_add(page, "</select>");
  options_of(page, "kind", "all kinds");
  for (int k = RF_CLAIM_IDENTITY; k <= RF_CLAIM_TABLE; k++)
    rf_text_addf(page, "<option>%s</option>", rf_claim_kind_name((RfClaimKind)k));
  rf_text_add(page, "</select>");
  options_of(page, "verdict", "all verdicts");
  for (int v = 0; v < RF_CLAIM_VERDICTS; v++)
    rf_text_addf(page, "<option>%s</option>", rf_claim_verdict_name(order[v]));
  rf_text_add(page, "</select><label><input type=\"checkbox\" name=\"printed\"> printed form fails</label>"
                    "<input type=\"search\" name=\"search\" placeholder=\"search\" aria-label=\"search\">"
                    "<span class=\"small\" id=\"shown\"></span></form>\n");
}

static void headline(RfText *page, const RfClaimRuns *runs) {
  char line[240];
  Tally t = tally(runs, 0, runs->count);
  int used = rf_format(line, sizeof line,
                       "%lld passed, %lld failed, %lld incomplete, %lld skipped; %lld "
                       "statement%s in the printed form",
                       (long long)t.verdicts[RF_CLAIM_PASS], (long long)t.verdicts[RF_CLAIM_FAIL],
                       (long long)t.verdicts[RF_CLAIM_INCOMPLETE], (long long)t.verdicts[RF_CLAIM_SKIPPED],
                       (long long)t.misprints, t.misprints == 1 ? " fails" : "s fail");
  if (runs->times > 1)
    rf_format(line + used, sizeof line - (size_t)used, "; the worst of %lld seeds each",
              (long long)runs->times);
  rf_html_verdict(page,
                  t.verdicts[RF_CLAIM_FAIL]         ? RF_BAD
                  : t.verdicts[RF_CLAIM_INCOMPLETE] ? RF_ACCENT
                                                    : RF_GOOD,
                  line);
}

void rf_claims_html(RfText *page, const RfClaimRuns *runs) {
  rf_html_begin(page, "The ledger", "claims of papers on what gradient flow learns, run by this library");
  rf_text_add(page, style);
  headline(page, runs);
  front(page, runs);
  summary(page, runs);
  seeds_section(page, runs);
  rf_html_section(page, "Claims");
  rf_html_paragraph(
      page,
      "Predicted values come from theory, observed ones from the flow engine and the solvers. The "
      "bar shows how much of the allowed error was used (logarithmic, eight decades), or how "
      "much of a bound. Where a formula is misprinted, the corrected form is judged. Incomplete: nothing "
      "failed, but less was compared than the claim needs.");
  filters(page, runs);
  for (rf_index from = 0, to; from < runs->count; from = to) {
    to = paper_end(runs, from);
    rf_text_add(page, "<section class=\"paper\">");
    rf_html_section(page, runs->results[from].claim->paper);
    for (rf_index k = from; k < to; k++) add_claim(page, rf_claim_worst(runs, k));
    rf_text_add(page, "</section>\n");
  }
  misprints_section(page, runs);
  rf_text_add(page, script);
  rf_html_end(page);
}
