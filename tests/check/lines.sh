#!/usr/bin/env bash
# What has to be trusted stays short: at most 600 lines of C, 400 of Python and 300 of the page's JavaScript, every line
# counted, comments and empty ones too, and none of them longer than 125 characters.
set -eu
lines() {
  count=$(wc -l <"$RF_SOURCE/$1")
  echo "$1: $count lines"
  [ "$count" -gt 200 ] && [ "$count" -le "$2" ] && ! grep -nE '^.{126}' "$RF_SOURCE/$1"
}
lines check/rfcheck.c 600
lines python/reluflow/checker.py 400
lines web/src/checker.js 300
