#!/usr/bin/env bash
# 5,000 mutated proof files through both checkers, with the table of kinds; the suite does 400. Ends with status 1 on a failure.
RF_MUTATION_TABLE=1 exec python3 tests/check/mutations.py "$RF_BUILD/rfcheck" python/reluflow/checker.py "${1:-5000}" 7
