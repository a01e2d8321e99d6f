# The explorer in Chromium: size and times. Builds the page where there is none yet.
set -eu
folder=build-web
[ -e "$folder/reluflow.html" ] || web/build.sh "$folder"
[ -x "$folder/venv/bin/playwright" ] || { python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" install -q --disable-pip-version-check playwright; }
"$folder/venv/bin/python" bench/web.py "$folder/reluflow.html"
