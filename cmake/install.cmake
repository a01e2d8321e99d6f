# Library, headers, program, man page, pkg-config file and CMake package.
include(CMakePackageConfigHelpers)
install(TARGETS reluflow_shared EXPORT reluflow LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS reluflow_static EXPORT reluflow-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET reluflow_program)
  install(TARGETS reluflow_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS rfcheck RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET reluflow_mpi)
  install(TARGETS reluflow_mpi LIBRARY DESTINATION lib/reluflow)
endif()
if(TARGET reluflow_cuda)
  install(FILES ${RF_CUDA_PLUGIN} DESTINATION lib/reluflow OPTIONAL)
endif()
install(DIRECTORY include/reluflow DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES data/README.md data/iris.csv data/breast_cancer.csv data/digits8x8.csv
  DESTINATION ${CMAKE_INSTALL_DATADIR}/reluflow/data) # app/cli/data_folder.c looks there

# The explorer, when ./bootstrap web has built it: `reluflow explore` looks there.
install(FILES ${PROJECT_SOURCE_DIR}/build-web/reluflow.html DESTINATION ${CMAKE_INSTALL_DATADIR}/reluflow OPTIONAL)

file(RELATIVE_PATH RF_PC_UP /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x) # relocatable: from the .pc file back to the prefix
set(RF_PC_ARB "-lflint")
if(ARB_LIBRARY)
  get_filename_component(RF_PC_ARB ${ARB_LIBRARY} NAME_WE)
  string(REGEX REPLACE "^lib" "-l" RF_PC_ARB "${RF_PC_ARB} -lflint")
endif()
configure_file(cmake/reluflow.pc.in reluflow.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/reluflow.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(RF_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/reluflow)
install(EXPORT reluflow NAMESPACE reluflow:: FILE reluflow-targets.cmake DESTINATION ${RF_PACKAGE_DIR})
install(EXPORT reluflow-static NAMESPACE reluflow:: FILE reluflow-static-targets.cmake DESTINATION ${RF_PACKAGE_DIR})
install(FILES cmake/FindLAPACKE.cmake cmake/FindArb.cmake DESTINATION ${RF_PACKAGE_DIR})
configure_package_config_file(cmake/reluflow-config.cmake.in reluflow-config.cmake INSTALL_DESTINATION ${RF_PACKAGE_DIR})
write_basic_package_version_file(reluflow-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/reluflow-config.cmake ${PROJECT_BINARY_DIR}/reluflow-config-version.cmake
  DESTINATION ${RF_PACKAGE_DIR})

# The program writes its own man page from the tables of commands, options and fields. `docs` refreshes docs/fields.md.
if(TARGET reluflow_program)
  add_custom_command(TARGET reluflow_program POST_BUILD VERBATIM
    COMMAND sh -c "\"$1\" help --man >\"$2\"" sh $<TARGET_FILE:reluflow_program> ${PROJECT_BINARY_DIR}/reluflow.1)
  install(FILES ${PROJECT_BINARY_DIR}/reluflow.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  add_custom_target(docs VERBATIM
    COMMAND sh -c "\"$1\" help fields --markdown >\"$2\"" sh $<TARGET_FILE:reluflow_program>
      ${PROJECT_SOURCE_DIR}/docs/fields.md)
endif()
