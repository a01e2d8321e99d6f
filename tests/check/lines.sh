#!/usr/bin/env bash
# What has to be trusted stays short: at most 600 lines of C and 400 of Python, comments and empty lines not counted.
set -eu
c=$(gcc -fpreprocessed -dD -E -P "$RF_SOURCE/check/rfcheck.c" | grep -vc '^ *$')
python=$(python3 - "$RF_SOURCE/python/reluflow/checker.py" <<'PYTHON'
import ast, sys, tokenize
with open(sys.argv[1], "rb") as file:
    tree, lines, skip = ast.parse(file.read()), set(), set()
    file.seek(0)
    for token in tokenize.tokenize(file.readline):
        if token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING):
            lines.update(range(token.start[0], token.end[0] + 1))
for node in ast.walk(tree):
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
        skip.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
print(len(lines - skip))
PYTHON
)
echo "rfcheck.c: $c lines of code, checker.py: $python"
[ "$c" -gt 300 ] && [ "$c" -le 600 ] && [ "$python" -gt 200 ] && [ "$python" -le 400 ]
