/* A page that stands alone: one file, no links to elsewhere, all of it there without its script. */
#include "present/present.h"

#include <stdlib.h>
#include <string.h>

/* Pictures up to this many pixels keep readable letters on a phone of 390. */
static const double fluid_width = 520;

static const char style_sheet[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--page:#ffffff;--card:#f6f8fa;--line:#d8dee4;"
    "--good:#0b6e4f;--bad:#a8410b;--accent:#0072B2}"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa5b1;--page:#14181e;--card:#1c222a;"
    "--line:#313a45;--good:#4cc9a0;--bad:#f0935a;--accent:#56B4E9}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',sans-serif}"
    "a{color:var(--accent)}main{max-width:46rem;margin:0 auto;padding:2rem 1rem 4rem}"
    "h1,h2,p,.verdict,figcaption{overflow-wrap:anywhere}"
    "h1{font-size:1.7rem;line-height:1.2;letter-spacing:-.01em;margin:0 0 .2rem}"
    "h2{font-size:1.2rem;margin:2.6rem 0 .6rem}p{margin:.5rem 0}.sub{color:var(--soft)}"
    ".verdict{font-size:1.15rem;font-weight:600;padding:.9rem 1.1rem;margin:1.1rem 0;border-left:5px solid "
    "var(--accent);background:var(--card);border-radius:0 8px 8px 0}.verdict.good{border-color:var(--good)}"
    ".verdict.bad{border-color:var(--bad)}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.92rem;"
    "font-variant-numeric:tabular-nums}"
    "th,td{padding:.32rem .9rem .32rem 0;text-align:left;vertical-align:top;border-bottom:1px solid "
    "var(--line)}th{color:var(--soft);font-weight:600}.r{text-align:right;white-space:nowrap}"
    "figure{margin:1.4rem 0;overflow-x:auto;padding:.6rem .6rem .8rem;border:1px solid "
    "var(--line);border-radius:10px}"
    "figure svg{display:block;width:100%;height:auto;max-width:40rem;margin:0 auto}"
    "figcaption{color:var(--soft);font-size:.9rem;margin:.4rem .4rem 0}"
    "details{margin:1rem 0;border:1px solid var(--line);border-radius:10px;padding:.5rem .9rem}"
    "summary{cursor:pointer;font-weight:600}details[open]>summary{margin-bottom:.6rem}"
    "pre{overflow-x:auto;background:var(--card);padding:.8rem;border-radius:6px;font-size:.82rem;margin:."
    "4rem "
    "0}"
    ".play{display:flex;gap:.7rem;align-items:center;margin:.5rem .4rem 0;font-size:.9rem;"
    "color:var(--soft)}.play input{flex:1;min-width:0;accent-color:var(--accent)}"
    ".play button{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);"
    "border-radius:6px;padding:.25rem .8rem;cursor:pointer}"
    "dfn{font-style:normal;border-bottom:1px dotted var(--soft);cursor:help}"
    "dfn:hover::after,dfn:focus::after{content:attr(data-says);position:fixed;left:1rem;right:1rem;"
    "bottom:1rem;max-width:44rem;margin:0 auto;padding:.7rem 1rem;background:var(--ink);color:var(--page);"
    "border-radius:8px;font-size:.92rem;font-weight:400;z-index:9}"
    /* a phone: figures from edge to edge with larger letters, narrow tables, remarks below their row */
    "@media (max-width:34rem){main{padding:1.3rem .8rem 3rem}figure{margin:1.2rem -.8rem;padding:.5rem 0 "
    ".8rem;border-width:1px 0;border-radius:0}figure svg.fluid text{font-size:14px}"
    "figcaption,.play{margin:.4rem .8rem "
    "0}table{font-size:.82rem}th,td{padding-right:.5rem}th.r{white-space:normal}"
    "table.remarks,.remarks tbody{display:block}.remarks tr{display:flex;flex-wrap:wrap;justify-content:"
    "space-between;border-bottom:1px solid var(--line)}.remarks th{display:none}.remarks td{border:0;"
    "padding-right:0}.remarks td:last-child{flex-basis:100%;color:var(--soft);padding-top:0}}";

/* Words that a newcomer may not know, and what they mean here. Longer ones first: the first that fits wins.
 */
static const struct {
  const char *word, *says;
} glossary[] = {
    {"normalised margin",
     "The smallest y f(x) of the samples divided by |theta| squared: what is left of the "
     "network when its size is divided out."},
    {"support sample", "A sample whose margin is the smallest; the others do not decide the limit."},
    {"orthogonally separable", "x.x' > 0 for equal labels and x.x' <= 0 for different ones."},
    {"max-margin problem", "The smallest |theta|^2 / 2 with y f(x) >= 1 on every sample."},
    {"KKT point",
     "A network at which the gradient of the max-margin problem balances; limits of gradient flow "
     "are such points."},
    {"KKT residual", "How far the network is from balancing the gradient of the max-margin problem, relative "
                     "to its size."},
    {"local optimum", "No network in a neighbourhood has a larger normalised margin."},
    {"relative gap", "Between the best network found and a bound that no network can pass, divided by the "
                     "former."},
    {"escape test", "A small neuron added in any direction does not grow: the limit does not repel."},
    {"stable rank", "|W|^2 / |W|_2^2: about how many directions the first layer uses."},
    {"smoothed margin", "log(1 / loss) divided by |theta|^2: it grows along the flow once the data are "
                        "separated."},
    {"balanced start", "Every neuron starts with |w| = |a|, and keeps it."},
    {"hyperplane", "The inputs with w.x = 0: where a neuron switches on."},
    {"certified", "Proved with bounds on every rounding error, not measured."},
};
enum { GLOSSARY_WORDS = (int)(sizeof glossary / sizeof glossary[0]) };

/* Time of the pictures of neurons: every way is drawn up to the same step. Without a script all of it shows.
 */
static const char player[] =
    "<script>\n"
    "document.querySelectorAll('g.ways').forEach(g=>{\n"
    "  const ways=[...g.querySelectorAll('polyline')].map(e=>[e,e.getAttribute('points').split(' ')]);\n"
    "  const ends=g.parentNode.querySelector('g.ends'),last=Math.max(...ways.map(w=>w[1].length))-1;\n"
    "  if(!(last>0))return;\n"
    "  const bar=document.createElement('div'),box=document.createElement('input'),\n"
    "    button=document.createElement('button'),say=document.createElement('span');\n"
    "  bar.className='play';box.type='range';box.min=0;box.max=last+1;box.value=last+1;\n"
    "  box.setAttribute('aria-label','time, from the start to the limit');\n"
    "  button.type='button';button.textContent='Play';\n"
    "  const heads=ways.map(([e])=>{const "
    "c=document.createElementNS('http://www.w3.org/2000/svg','circle');\n"
    "    c.setAttribute('r',4);c.setAttribute('class',e.getAttribute('class').replace('s ','f '));\n"
    "    g.appendChild(c);return c});\n"
    "  const show=()=>{const k=+box.value,over=k>last;\n"
    "    ends.style.display=over?'':'none';\n"
    "    say.textContent=k===0?'start':over?'limit':'aligning';\n"
    "    ways.forEach(([e,p],i)=>{const j=Math.min(k,p.length-1),[x,y]=p[j].split(',');\n"
    "      e.setAttribute('points',p.slice(0,j+1).join(' '));\n"
    "      heads[i].style.display=over?'none':'';\n"
    "      heads[i].setAttribute('cx',x);heads[i].setAttribute('cy',y)})};\n"
    "  let timer=0;\n"
    "  const stop=()=>{clearInterval(timer);timer=0;button.textContent='Play'};\n"
    "  button.onclick=()=>{if(timer)return "
    "stop();if(+box.value>last)box.value=0;button.textContent='Pause';\n"
    "    timer=setInterval(()=>{box.value=+box.value+1;show();if(+box.value>last)stop()},60)};\n"
    "  box.oninput=()=>{stop();show()};\n"
    "  bar.append(button,box,say);g.closest('figure').querySelector('.scroll').after(bar);show();\n"
    "});\n"
    "</script>\n";

void rf_html_begin(RfText *page, const char *title, const char *subtitle) {
  rf_text_add(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
  rf_text_add_escaped(page, title);
  rf_text_add(page, "</title>\n<style>");
  rf_text_add(page, style_sheet);
  rf_text_add(page, "</style>\n</head>\n<body>\n<main>\n<h1>");
  rf_text_add_escaped(page, title);
  rf_text_add(page, "</h1>\n<p class=\"sub\">");
  rf_text_add_escaped(page, subtitle);
  rf_text_add(page, "</p>\n");
}

void rf_html_verdict(RfText *page, RfStyle style, const char *verdict) {
  rf_text_addf(page, "<div class=\"verdict%s\">", style == RF_GOOD ? " good" : style == RF_BAD ? " bad" : "");
  rf_text_add_escaped(page, verdict);
  rf_text_add(page, "</div>\n");
}

static void element(RfText *page, const char *tag, const char *prose) {
  rf_text_addf(page, "<%s>", tag);
  rf_text_add_escaped(page, prose);
  rf_text_addf(page, "</%s>\n", tag);
}

void rf_html_section(RfText *page, const char *title) { element(page, "h2", title); }

/* The word of the glossary at the beginning of `text`, or -1. */
static int word_at(const char *text) {
  for (int k = 0; k < GLOSSARY_WORDS; k++)
    if (strncmp(text, glossary[k].word, strlen(glossary[k].word)) == 0) return k;
  return -1;
}

static void add_part(RfText *page, const char *from, size_t length) {
  RfText part = {0};
  rf_text_add_bytes(&part, from, length);
  rf_text_add_escaped(page, rf_text_string(&part));
  if (part.failed) page->failed = true;
  rf_text_free(&part);
}

void rf_html_paragraph(RfText *page, const char *prose) {
  bool told[GLOSSARY_WORDS] = {false};
  const char *from = prose;
  rf_text_add(page, "<p>");
  for (const char *at = prose; *at; at++) {
    int word = at == prose || at[-1] == ' ' || at[-1] == '(' ? word_at(at) : -1;
    if (word < 0 || told[word]) continue;
    size_t length = strlen(glossary[word].word);
    add_part(page, from, (size_t)(at - from));
    rf_text_add(page, "<dfn tabindex=\"0\" data-says=\"");
    rf_text_add_escaped(page, glossary[word].says);
    rf_text_add(page, "\">");
    add_part(page, at, length);
    rf_text_add(page, "</dfn>");
    told[word] = true;
    from = at + length;
    at = from - 1;
  }
  rf_text_add_escaped(page, from);
  rf_text_add(page, "</p>\n");
}

void rf_html_preformatted(RfText *page, const char *prose) { element(page, "pre", prose); }

void rf_html_fold(RfText *page, const char *summary) {
  rf_text_add(page, "<details>");
  element(page, "summary", summary);
}

void rf_html_fold_end(RfText *page) { rf_text_add(page, "</details>\n"); }

void rf_html_svg(RfText *page, const char *text) {
  const char *rest = strncmp(text, "<svg ", 5) == 0 ? text + 5 : NULL,
             *box = rest ? strstr(rest, "viewBox=\"0 0 ") : NULL;
  double width = box ? (double)strtol(box + strlen("viewBox=\"0 0 "), NULL, 10) : 0;
  if (rest && width > fluid_width) /* as small as its letters allow, then it scrolls in its frame */
    rf_text_addf(page, "<svg style=\"min-width:%.0fpx\" ", 0.74 * width);
  else if (rest)
    rf_text_add(page, "<svg class=\"fluid\" ");
  rf_text_add(page, rest ? rest : text);
}

void rf_html_picture(RfText *page, const RfSvg *svg, const char *caption) {
  if (svg->text.failed) page->failed = true;
  rf_text_add(page, "<figure>\n<div class=\"scroll\">");
  rf_html_svg(page, rf_text_string(&svg->text));
  rf_text_add(page, "</div>\n");
  element(page, "figcaption", caption);
  rf_text_add(page, "</figure>\n");
}

void rf_html_end(RfText *page) {
  rf_text_add(page, "<p class=\"sub\">reluflow " RF_VERSION "</p>\n</main>\n");
  if (page->data && strstr(page->data, "<g class=\"ways\">")) rf_text_add(page, player);
  rf_text_add(page, "</body>\n</html>\n");
}
