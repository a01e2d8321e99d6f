#!/usr/bin/env bash
# The project stands alone: no file names a path beside or above it, and the data it needs are inside.
set -u
cd "$RF_SOURCE"
bad=0
found=$(grep -rnIE '\.\./shared|RF_SHARED(_DIR)?\b|(^|[^.A-Za-z0-9_])/(work|home|root)/' \
  src app ledger cuda check web include tests python bench cmake docs examples data CMakeLists.txt README.md bootstrap .ci \
  --include='*' --exclude-dir=__pycache__ --exclude-dir=csrc --exclude-dir=.venv --exclude=alone.sh 2>/dev/null)
[ -z "$found" ] || { echo "paths outside the project:"; echo "$found" | cut -c1-160; bad=1; }
for file in data/README.md data/iris.csv data/breast_cancer.csv data/digits8x8.csv tests/golden/README.md; do
  [ -s "$file" ] || { echo "$file is missing"; bad=1; }
done
[ "$(find tests/golden -name '*.json' | wc -l)" -ge 27 ] || { echo "reference results are missing"; bad=1; }
exit $bad
