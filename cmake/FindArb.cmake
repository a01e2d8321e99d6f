# Ball arithmetic: target Arb::Arb. Debian's libflint-arb beside libflint, or FLINT 3, which holds Arb itself and keeps its
# headers in flint/; CMAKE_PREFIX_PATH points elsewhere.
find_path(ARB_INCLUDE_DIR arb.h PATH_SUFFIXES flint)
find_library(FLINT_LIBRARY flint)
find_library(ARB_LIBRARY NAMES flint-arb arb)
mark_as_advanced(ARB_INCLUDE_DIR ARB_LIBRARY FLINT_LIBRARY)
set(ARB_LIBRARIES ${FLINT_LIBRARY})
if(ARB_LIBRARY)
  list(PREPEND ARB_LIBRARIES ${ARB_LIBRARY})
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Arb REQUIRED_VARS FLINT_LIBRARY ARB_INCLUDE_DIR)
if(Arb_FOUND AND NOT TARGET Arb::Arb)
  add_library(Arb::Arb INTERFACE IMPORTED)
  set_target_properties(Arb::Arb PROPERTIES INTERFACE_LINK_LIBRARIES "${ARB_LIBRARIES}"
    INTERFACE_INCLUDE_DIRECTORIES "${ARB_INCLUDE_DIR}") # of an imported target: system headers
endif()
