#!/usr/bin/env bash
# One version: the one of include/reluflow/core.h, everywhere it is shown or repeated.
set -u
cd "$RF_SOURCE"
part() { sed -nE "s/^#define RF_VERSION_$1 +([0-9]+)\$/\\1/p" include/reluflow/core.h; }
version=$(part MAJOR).$(part MINOR).$(part PATCH)
bad=0
same() { # WHERE WHAT
  if [ "$2" != "$version" ]; then echo "$1 says '$2', core.h $version"; bad=1; fi
}
same "reluflow --version" "$("$RELUFLOW" --version | sed 's/^reluflow //')"
same "python/reluflow/_version.py" "$(sed -nE 's/^__version__ = "(.*)"$/\1/p' python/reluflow/_version.py)"
same "the configured project" "$(sed -nE 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$RF_BUILD/CMakeCache.txt")"
same "reluflow.pc" "$(sed -nE 's/^Version: //p' "$RF_BUILD/reluflow.pc")"
if [ -e CITATION.cff ]; then same CITATION.cff "$(sed -nE 's/^version: *"?([0-9.]+)"?$/\1/p' CITATION.cff)"; fi
if [ -e CHANGELOG.md ] && ! grep -qE "^## \[?${version//./\\.}\b" CHANGELOG.md; then echo "CHANGELOG.md has no section $version"; bad=1; fi
soname=$(readelf -d "$RF_BUILD/libreluflow.so" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')
if [ "$soname" != "libreluflow.so.${version%.*}" ]; then echo "SONAME $soname"; bad=1; fi
[ "$bad" -eq 0 ] && echo "$version everywhere"
