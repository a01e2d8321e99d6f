"""Hook of the site (mkdocs.yml): mathematics as MathML, equations with numbers that can be linked to, citations as links.

- A display is LaTeX between lines of $$; ``\\tag{G.1}`` numbers it. It becomes MathML while the site is built: nothing is
  fetched and nothing runs in the browser.
- A paragraph of math.md that ends with three spaces and (G.2), or begins with **F.1 ...**, has that number.
- (G.1), F.7 and their like in any page lead to math.md; math.md ends with the source files that cite them.
- In the prose of math.md, x_i and 2^n are set with indices and exponents.
"""
import pathlib
import re

from latex2mathml.converter import convert
from mkdocs.utils import get_relative_url

NUMBER = r"[FGN]\.\d+[a-z]?"
HOME = "math.md"
FOLDERS = ("include", "src", "app", "ledger", "check", "cuda", "web")


def numbers_of(markdown):
    """Every number that math.md gives."""
    return (set(re.findall(r"\\tag\{(%s)\}" % NUMBER, markdown)) | set(re.findall(r" {3,}\((%s)\)$" % NUMBER, markdown, re.M)) |
            set(re.findall(r"^\*\*(%s) " % NUMBER, markdown, re.M)))


def expanded(text):
    """Numbers cited in a text, with what lies between the ends of (G.7)-(G.10)."""
    found = set(re.findall(r"\((%s)\)" % NUMBER, text)) | set(re.findall(r"math\.md,? \(?(%s)" % NUMBER, text))
    for letter, low, high in re.findall(r"\(([FGN])\.(\d+)\)[-–]\([FGN]\.(\d+)\)", text):
        found |= {f"{letter}.{k}" for k in range(int(low), int(high) + 1)}
    return found


def citations(root):
    """Number -> the source files that cite it."""
    cited = {}
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.[ch]")):
            for number in expanded(file.read_text(encoding="utf-8", errors="replace")):
                cited.setdefault(number, []).append(file.relative_to(root).as_posix())
    return cited


def order(number):
    letter, digits, tail = re.fullmatch(r"([FGN])\.(\d+)([a-z]?)", number).groups()
    return letter, int(digits), tail


def display(match):
    """A display as MathML."""
    tex = match.group(1).strip()
    tag = re.search(r"\s*\\tag\{(%s)\}" % NUMBER, tex)
    if tag:
        tex = tex.replace(tag.group(0), "")
    number = f'<a class="number" href="#{tag.group(1)}">({tag.group(1)})</a>' if tag else ""
    place = f' id="{tag.group(1)}"' if tag else ""
    formula = convert(" ".join(tex.split()), display="block")
    formula = re.sub(r"<mo[^>]*>&#x0007C;</mo>", '<mo lspace="0" rspace="0" stretchy="false">|</mo>', formula)  # |x| without gaps
    return f'\n<div class="equation"{place}>{formula}{number}</div>\n'


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri != HOME:
        return markdown
    config["equations"] = numbers_of(markdown)
    markdown = re.sub(r"^\$\$\n(.*?)\n\$\$$", display, markdown, flags=re.M | re.S)
    markdown = re.sub(r" {3,}\((%s)\)$" % NUMBER, r' <a class="number end" id="\1" href="#\1">(\1)</a>\n', markdown, flags=re.M)
    markdown = re.sub(r"^\*\*(%s) " % NUMBER, r'**<a id="\1" href="#\1">\1</a> ', markdown, flags=re.M)
    cited = citations(pathlib.Path(config["config_file_path"]).parent)
    rows = [f"| ({number}) | {' '.join(f'`{name}`' for name in cited[number])} |" for number in sorted(cited, key=order)]
    return markdown + "\n| equation | cited by |\n|---|---|\n" + "\n".join(rows) + "\n"


WORDS = "max|min|sup|sign|sgn|norm|margin|[ΣΠ∫]"
INDEX = r"(\{(?:[^{}]|\{[^{}]*\})*\}|[A-Za-z0-9]+(?![A-Za-z0-9_])|[α-ωΑ-Ω]|[+\-±*])"


def typeset(text):
    """Indices and exponents of a text outside code and MathML."""
    def index(match):
        below = match.group(2)[1:-1] if match.group(2).startswith("{") else match.group(2)
        return f"{match.group(1)}<sub>{below}</sub>" if re.fullmatch(WORDS, match.group(1)) else f"<i>{match.group(1)}</i><sub>{below}</sub>"

    for _ in range(2):  # in b_iλ_i the second letter follows an index
        text = re.sub(rf"(?<![A-Za-z&_])({WORDS}|[^\W\d_]̂?)_" + INDEX, index, text)
    return re.sub(r"\^(\{[^{}]*\}|[−-]?[A-Za-z0-9½+α-ω/]+|\|[A-Z]\|)", lambda m: f"<sup>{m.group(1).strip('{}')}</sup>", text)


def outside(page, change):
    """The texts of a page outside code, links, mathematics and headings, changed."""
    closed, parts = 0, re.split(r"(<[^>]+>)", page)
    for k, part in enumerate(parts):
        name = re.match(r"<(/?)(code|pre|a|math|h[1-6]|script|style|svg)\b", part) if part.startswith("<") else None
        if name:
            closed += -1 if name.group(1) else 1
        elif not part.startswith("<") and not closed:
            parts[k] = change(part)
    return "".join(parts)


def on_post_page(output, page, config):
    """After all pages are read, so that every number is known."""
    numbers = config.get("equations", set())
    home = get_relative_url("math.html", page.url)

    def link(text):
        text = re.sub(r"\((%s)\)" % NUMBER, lambda m: f'(<a href="{home}#{m.group(1)}">{m.group(1)}</a>)' if m.group(1) in numbers else m.group(0), text)
        return re.sub(r"(?<![\w.>#])(F\.\d+)(?![\w<])", lambda m: f'<a href="{home}#{m.group(1)}">{m.group(1)}</a>' if m.group(1) in numbers else m.group(0), text)

    begin, end = output.find("<article"), output.find("</article>")
    if begin < 0 or end < 0:
        return output
    body = output[begin:end]
    if page.file.src_uri == HOME:
        body = outside(body, typeset)
    return output[:begin] + outside(body, link) + output[end:]
