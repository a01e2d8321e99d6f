#!/usr/bin/env bash
# Draws the pictures of docs/gallery.md again: docs/make_gallery.sh [PROGRAM]
set -eu
cd "$(dirname "$0")/.."
program=${1:-build/reluflow}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
draw() { # PREFIX COMMAND...: the pictures of a command, kept under PREFIX-NAME.svg when the gallery shows them
  local prefix=$1 file; shift
  "$program" "$@" --svg "$work/$prefix" --quiet
  for file in "$work/$prefix"/*.svg; do
    file=$(basename "$file")
    if grep -q "gallery/$prefix-$file" docs/gallery.md; then cp "$work/$prefix/$file" "docs/pictures/gallery/$prefix-$file"; fi
  done
}
mkdir -p docs/pictures/gallery
draw inspect inspect gen:DS-PL2
draw flow flow gen:orthant,n=60,d=5 --width 30 --scale 1e-2
mv "$work/flow" "$work/events"
draw flow flow gen:DS-PL2 --width 20
cp "$work/events/events.svg" docs/pictures/gallery/flow-events.svg
draw maxmargin maxmargin gen:DS-WP1
draw train train gen:DS-PL2
