# Library, headers, program, pkg-config file and CMake package.
install(TARGETS reluflow_static reluflow_shared EXPORT reluflow LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET reluflow_program)
  install(TARGETS reluflow_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/reluflow DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
