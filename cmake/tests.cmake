# tests/ROOM/test_NAME.c becomes the program and the ctest case ROOM/NAME; tests/ROOM/NAME.sh a shell case with
# RELUFLOW (the program), RF_SOURCE and RF_BUILD in its environment. A shell case exits 0 for pass, 77 for skipped.
# Nothing outside the project is needed; MNIST, when RELUFLOW_DATA names a folder that holds it, is used too.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# tests/flow/fit/test_events.c: target test_flow_fit_events, case flow/fit/events.
function(rf_test_name source target name)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/tests ${source})
  string(REGEX REPLACE "test_([^/]*)\\.c$" "\\1" path ${path})
  set(${name} ${path} PARENT_SCOPE)
  string(REPLACE "/" "_" path ${path})
  set(${target} test_${path} PARENT_SCOPE)
endfunction()

file(GLOB RF_TEST_SOURCES CONFIGURE_DEPENDS tests/*/test_*.c tests/*/*/test_*.c)
foreach(source ${RF_TEST_SOURCES})
  rf_test_name(${source} target name)
  add_executable(${target} ${source})
  string(REGEX MATCH "^[^/]+" room ${name})
  target_include_directories(${target} PRIVATE tests/support tests/${room} src)
  target_compile_definitions(${target} PRIVATE RF_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE reluflow_app PkgConfig::CMOCKA)
  add_test(NAME ${name} COMMAND ${target})
  set_tests_properties(${name} PROPERTIES LABELS "unit" TIMEOUT 600)
endforeach()

# Every claim under its faults: minutes, and the code it runs is that of the claims themselves.
set_property(TEST ledger/corruption APPEND PROPERTY LABELS noasan nocoverage)
set_tests_properties(ledger/corruption PROPERTIES TIMEOUT 1800)

# Tests of devices load the emulation.
foreach(source ${RF_TEST_SOURCES})
  file(STRINGS ${source} uses_device REGEX "#include \"device/")
  if(uses_device)
    rf_test_name(${source} target name)
    add_dependencies(${target} reluflow_emulated)
  endif()
endforeach()

# A test that puts itself between the library's rooms names the functions it stands in for in lines
# "--wrap: NAME NAME": calls of NAME then reach __wrap_NAME in the test, which may call __real_NAME.
foreach(source ${RF_TEST_SOURCES})
  file(STRINGS ${source} wrap_lines REGEX "--wrap: ")
  if(wrap_lines)
    rf_test_name(${source} target name)
    string(REGEX REPLACE "[^;]*--wrap: " "" wrap_names "${wrap_lines}")
    string(REGEX MATCHALL "[a-z][a-z0-9_]+" wrapped "${wrap_names}")
    foreach(symbol ${wrapped})
      target_link_options(${target} PRIVATE "-Wl,--wrap=${symbol}")
    endforeach()
  endif()
endforeach()

file(GLOB RF_SHELL_TESTS CONFIGURE_DEPENDS tests/*/*.sh)
foreach(script ${RF_SHELL_TESTS})
  get_filename_component(room ${script} DIRECTORY)
  get_filename_component(room ${room} NAME)
  get_filename_component(name ${script} NAME_WE)
  if(room STREQUAL "support")
    continue()
  endif()
  add_test(NAME ${room}/${name} COMMAND bash ${script})
  set(labels "shell")
  # A client of an instrumented library would need its runtime; MPI itself leaks; the whole ledger, the browser and the
  # comparison of explain with the commands run once, as shipped.
  if(name MATCHES "^(install|example|surface|mpi|agreement)$" OR name STREQUAL "everything" OR name STREQUAL "screenshots" OR room STREQUAL "python")
    set(labels "shell;noasan;nocoverage")
  endif()
  if(room STREQUAL "house" AND name MATCHES "install|bootstrap")
    set_tests_properties(${room}/${name} PROPERTIES RESOURCE_LOCK install_manifest)
  endif()
  set_tests_properties(${room}/${name} PROPERTIES LABELS "${labels}" TIMEOUT 1800 SKIP_RETURN_CODE 77
    ENVIRONMENT "RELUFLOW=$<TARGET_FILE_DIR:test_core_random>/reluflow;RF_SOURCE=${PROJECT_SOURCE_DIR};RF_BUILD=${PROJECT_BINARY_DIR}")
endforeach()

# Long cases first (tests/costs.txt), and those that use several cores by themselves counted as such.
get_property(cases DIRECTORY PROPERTY TESTS)
set_tests_properties(${cases} PROPERTIES COST 1)
file(STRINGS tests/costs.txt costs REGEX "^[0-9]")
foreach(line ${costs})
  string(REGEX MATCH "^([0-9.]+) (.*)$" line "${line}")
  set(cost ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  if(name IN_LIST cases)
    set_tests_properties(${name} PROPERTIES COST ${cost})
    if(cost GREATER_EQUAL 20)
      set_property(TEST ${name} APPEND PROPERTY LABELS slow)
    endif()
  endif()
endforeach()
foreach(name ledger/everything python/sdist)
  if(name IN_LIST cases)
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)
  endif()
endforeach()
