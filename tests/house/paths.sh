#!/usr/bin/env bash
# Every path of a source that the documents name is there. Words in capitals (NAME, ROOM, PAPER, ...) stand for any name.
set -u
cd "$RF_SOURCE"
bad=0 checked=0
while IFS=: read -r file path; do
  checked=$((checked + 1))
  pattern=$(sed -E 's/\b(NAME|ROOM|PAPER|TOPIC|FORMAT|COMMAND|KIND)\b/*/g; s/(_)(NAME|FORMAT|COMMAND|KIND)\b/\1*/g; s/(NAME|ROOM|COMMAND)_/*_/g; s/ROOM/*/g' <<<"$path")
  compgen -G "$pattern" >/dev/null || { echo "$file names $path, which is not there"; bad=1; }
done < <(grep -noE '`(src|app|ledger|include|tests|bench|python|cmake|cuda|data|docs|check)/[A-Za-z0-9_./*-]+' README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/commands/*.md include/*.md data/README.md 2>/dev/null |
  sed -E 's/:[0-9]+:`/:/; s/[.,]$//' | sed 's/\\//g' | sort -u)
# links between documents
while IFS=: read -r file link; do
  checked=$((checked + 1))
  [ -e "$(dirname "$file")/$link" ] || { echo "$file links to $link, which is not there"; bad=1; }
done < <(grep -noE '\]\([A-Za-z0-9_./-]+(\.md|\.svg|/)[^)]*\)' README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/commands/*.md 2>/dev/null |
  sed -E 's/:[0-9]+:\]\(/:/; s/[)#].*$//' | sort -u)
echo "$checked paths and links checked"
[ $bad -eq 0 ] && [ $checked -gt 40 ]
