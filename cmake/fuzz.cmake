# tests/fuzz/fuzz_NAME.c becomes a libFuzzer program (clang, with RF_SANITIZE=address,undefined). The library itself is
# instrumented too: without its coverage the fuzzer would be blind. tests/fuzz/run starts them.
target_compile_options(reluflow_objects PRIVATE -fsanitize=fuzzer-no-link)
file(GLOB RF_FUZZ_SOURCES CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source ${RF_FUZZ_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE tests/support src)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE reluflow_app)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
target_link_libraries(fuzz_rfcheck PRIVATE ${GMP_LIBRARY})
