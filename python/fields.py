"""Writes reluflow/_fields.py, the types of the results, from the table of fields (docs/fields.md).

Run while the package is built: ``python fields.py FIELDS.md RESULTS.py OUT.py``. A field whose name is a method of
`Result` in RESULTS.py is left to that method; ``result["name"]`` still reaches it.
"""
import ast
import keyword
import re
import sys
import textwrap

SCALARS = {"boolean": "bool", "integer": "int", "integer or string": "int | str", "number": "float", "string": "str", "map": "Record"}
ARRAYS = {"number": "Floats", "integer": "Integers"}
TAKEN = {"keys", "items", "values", "get", "to_dict"}
HEAD = '''"""The fields of the results, with types. Written by python/fields.py from docs/fields.md; do not edit.

Every field may be None: not computed, or not a number. `MaybeNone` says so without asking for a check at every use.
"""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._record import Record

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MaybeNone = Any
'''


def camel(path):
    return "".join(part.capitalize() for part in re.split(r"[ ._]+", path.replace("[]", "")))


class Node:
    """A field: its type in the table, and the fields below it."""

    def __init__(self, kind, unit, meaning):
        self.kind, self.unit, self.meaning, self.below = kind, unit, meaning, {}


def read_tables(text):
    """Name of a table -> (summary, its fields as a tree)."""
    tables = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        name = part.split("\n", 1)[0].replace(" (shape)", "").strip()
        summary = part.split("\n")[2].strip()
        top = {}
        for line in part.splitlines():
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) != 4 or not cells[0].startswith("`"):
                continue
            path, kind, unit, meaning = (cell.replace("\\|", "|") for cell in cells)
            *parents, last = path.strip("`").split(".")
            place = top
            for parent in parents:
                place = (place.get(parent) or place.get(parent + "[]") or place[parent.removesuffix("[]")]).below
            place[last] = Node(kind, unit, meaning)
        tables[name] = (summary, top)
    return tables


def annotation(node, name, owner, depth):
    """The Python type of a field, and the class of its objects."""
    below = None
    if node.below or node.kind == "object":
        below = owner + camel(name)
    elif node.kind.startswith("shape "):
        below = camel(node.kind[6:]) + "Fields"
    item = below or SCALARS.get(node.kind, "Any")
    if depth and node.kind in ARRAYS:
        return ARRAYS[node.kind], below
    for _ in range(depth):
        item = f"list[{item}]"
    return item, below


def write_class(out, name, summary, fields, base, methods):
    kinds = {}
    body = [f"class {name}({base}):", f'    """{sentence(summary)}"""', "", "    __slots__ = ()"]
    for path, node in fields.items():
        plain, depth = path.replace("[]", ""), path.count("[]")
        type_, below = annotation(node, plain, name.removesuffix("Fields"), depth)
        if node.below:
            write_class(out, below, node.meaning, node.below, "Record", methods)
        kinds[plain] = type_
        if plain in TAKEN or (plain in methods and name.endswith("Fields")):
            continue
        python = plain + "_" if keyword.iskeyword(plain) else plain
        unit = f" [{node.unit}]" if node.unit else ""
        doc = textwrap.fill(sentence(node.meaning, unit).replace("\\", "\\\\"), 110, subsequent_indent="        ")
        body += ["", "    @property", f"    def {python}(self) -> {type_} | MaybeNone:", f'        """{doc}"""',
                 f'        return self._fields.get("{plain}")']
    body += ["", f"    _kinds = {kinds!r}"]
    out.append("\n".join(body))


def sentence(text, unit=""):
    text = text.strip().rstrip(".")
    return text[:1].upper() + text[1:] + unit + "." if text else "A field."


def main(fields, results, target):
    tables = read_tables(open(fields, encoding="utf-8").read())
    tree = ast.parse(open(results, encoding="utf-8").read())
    general = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name in ("Result", "Provable")]
    methods = {node.name for kind in general for node in kind.body if isinstance(node, ast.FunctionDef)}
    out = []
    for name, (summary, top) in tables.items():
        if name.split()[0] in ("sweep", "basins", "data", "rerun"):  # no results of these
            continue
        write_class(out, camel(name) + "Fields", summary, top, "Record", methods)
    with open(target, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(f"\n\n{part}\n" for part in out))


if __name__ == "__main__":
    main(*sys.argv[1:])
