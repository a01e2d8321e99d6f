# bench/NAME.c becomes the program bench_NAME; bench/run (a script) prints the tables.
file(GLOB RF_BENCH_SOURCES CONFIGURE_DEPENDS bench/*.c)
foreach(source ${RF_BENCH_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} ${source})
  target_include_directories(bench_${name} PRIVATE bench src)
  target_link_libraries(bench_${name} PRIVATE reluflow_static)
endforeach()
