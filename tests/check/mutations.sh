#!/usr/bin/env bash
# Proofs made by hand are accepted by both checkers, mutated ones are never accepted with a false claim, and the two
# checkers give the same verdict on every file.
set -eu
python3 "$RF_SOURCE/tests/check/mutations.py" "$(dirname "$RELUFLOW")/rfcheck" "$RF_SOURCE/python/reluflow/checker.py" 400 1
