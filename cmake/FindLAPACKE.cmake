# The C interface of LAPACK: target LAPACKE::LAPACKE. pkg-config where it knows the library, else the usual folders;
# LAPACKE_ROOT or CMAKE_PREFIX_PATH point elsewhere.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_LAPACKE QUIET lapacke)
endif()
find_path(LAPACKE_INCLUDE_DIR lapacke.h HINTS ${PC_LAPACKE_INCLUDE_DIRS} PATH_SUFFIXES lapacke openblas)
find_library(LAPACKE_LIBRARY NAMES lapacke HINTS ${PC_LAPACKE_LIBRARY_DIRS})
mark_as_advanced(LAPACKE_INCLUDE_DIR LAPACKE_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LAPACKE REQUIRED_VARS LAPACKE_LIBRARY LAPACKE_INCLUDE_DIR VERSION_VAR PC_LAPACKE_VERSION)
if(LAPACKE_FOUND AND NOT TARGET LAPACKE::LAPACKE)
  add_library(LAPACKE::LAPACKE UNKNOWN IMPORTED)
  set_target_properties(LAPACKE::LAPACKE PROPERTIES IMPORTED_LOCATION "${LAPACKE_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LAPACKE_INCLUDE_DIR}")
endif()
