/* A page that stands alone: one file, no scripts, no links to elsewhere. */
#include "present/present.h"

#include <string.h>

static const char style_sheet[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--page:#ffffff;--card:#f6f8fa;--line:#d8dee4;"
    "--good:#0b6e4f;--bad:#a8410b;--accent:#0072B2}"
    "@media "
    "(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa5b1;--page:#14181e;--card:#1c222a;--line:#"
    "313a45;"
    "--good:#4cc9a0;--bad:#f0935a;--accent:#56B4E9}}"
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 "
    "system-ui,-apple-system,'Segoe "
    "UI',sans-serif}"
    "a{color:var(--accent)}main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}"
    "h1,h2,p,.verdict,figcaption{overflow-wrap:anywhere}h1{font-size:1.6rem;line-height:1.2;margin:0 0 "
    ".2rem}h2{font-size:1.15rem;margin:2.2rem 0 "
    ".6rem;padding-top:.6rem;"
    "border-top:1px solid var(--line)}p{margin:.5rem 0}.sub{color:var(--soft);overflow-wrap:anywhere}"
    ".verdict{font-size:1.1rem;font-weight:600;padding:.8rem 1rem;margin:1rem 0;border-left:5px solid "
    "var(--accent);"
    "background:var(--card);border-radius:0 6px 6px 0}.verdict.good{border-color:var(--good)}"
    ".verdict.bad{border-color:var(--bad)}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-"
    "nums}"
    "th,td{padding:.28rem .9rem .28rem 0;text-align:left;vertical-align:top;border-bottom:1px solid "
    "var(--line)}"
    "th{color:var(--soft);font-weight:600}.r{text-align:right}"
    "figure{margin:1.2rem 0;overflow-x:auto}figure "
    "svg{max-width:100%;height:auto}figcaption{color:var(--soft);font-size:.9rem}"
    "pre{overflow-x:auto;background:var(--card);padding:.8rem;border-radius:6px;font-size:.85rem}";

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

void rf_html_paragraph(RfText *page, const char *prose) { element(page, "p", prose); }

void rf_html_preformatted(RfText *page, const char *prose) { element(page, "pre", prose); }

void rf_html_picture(RfText *page, const RfSvg *svg, const char *caption) {
  if (svg->text.failed) page->failed = true;
  const char *text = rf_text_string(&svg->text), *rest = strncmp(text, "<svg ", 5) == 0 ? text + 5 : NULL;
  rf_text_add(page, "<figure>\n");
  if (rest) /* on a phone as small as its letters allow, then it scrolls */
    rf_text_addf(page, "<svg style=\"min-width:%.0fpx\" ", 0.62 * svg->width);
  rf_text_add(page, rest ? rest : text);
  element(page, "figcaption", caption);
  rf_text_add(page, "</figure>\n");
}

void rf_html_end(RfText *page) {
  rf_text_add(page, "<p class=\"sub\">reluflow " RF_VERSION "</p>\n</main>\n</body>\n</html>\n");
}
