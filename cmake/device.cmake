# Devices are libraries of their own beside the program, loaded when asked for (app/device): the program links none.
# libreluflow_emulated.so holds the kernels of cuda/ compiled as C, for tests; libreluflow_cuda.so those of a card. nvcc
# takes minutes over it, so it is built by `cmake --build build --target reluflow_cuda`, or always with RF_CUDA=ON.
set(RF_DEVICE_INCLUDES cuda app src include)
add_library(reluflow_emulated MODULE cuda/emulate.c)
target_include_directories(reluflow_emulated PRIVATE ${RF_DEVICE_INCLUDES})
target_link_libraries(reluflow_emulated PRIVATE m)
set_target_properties(reluflow_emulated PROPERTIES C_VISIBILITY_PRESET hidden)

find_program(RF_NVCC nvcc HINTS /usr/local/cuda/bin)
set(RF_CUDA_ARCHITECTURES "80;90" CACHE STRING "compute capabilities of the plugin for CUDA cards")
if(RF_NVCC AND NOT RF_CUDA STREQUAL "OFF")
  set(flags -std=c++17 -O3 -fmad=false -shared -cudart static -Xcompiler -fPIC,-fvisibility=hidden)
  foreach(capability ${RF_CUDA_ARCHITECTURES})
    list(APPEND flags -gencode arch=compute_${capability},code=sm_${capability})
  endforeach()
  list(GET RF_CUDA_ARCHITECTURES -1 capability) # newer cards compile it when it is loaded
  list(APPEND flags -gencode arch=compute_${capability},code=compute_${capability})
  foreach(folder ${RF_DEVICE_INCLUDES})
    list(APPEND flags -I${PROJECT_SOURCE_DIR}/${folder})
  endforeach()
  file(GLOB RF_CUDA_HEADERS CONFIGURE_DEPENDS cuda/*.h)
  set(RF_CUDA_PLUGIN ${PROJECT_BINARY_DIR}/libreluflow_cuda.so)
  add_custom_command(OUTPUT ${RF_CUDA_PLUGIN} VERBATIM COMMENT "Compiling the kernels with nvcc"
    COMMAND ${RF_NVCC} ${flags} -o ${RF_CUDA_PLUGIN} ${PROJECT_SOURCE_DIR}/cuda/plugin.cu
    DEPENDS cuda/plugin.cu ${RF_CUDA_HEADERS} app/device/plugin.h src/flow/flow_tolerances.h)
  if(RF_CUDA STREQUAL "ON")
    add_custom_target(reluflow_cuda ALL DEPENDS ${RF_CUDA_PLUGIN})
  else()
    add_custom_target(reluflow_cuda DEPENDS ${RF_CUDA_PLUGIN})
  endif()
elseif(RF_CUDA STREQUAL "ON")
  message(FATAL_ERROR "RF_CUDA is ON, but there is no nvcc")
endif()
