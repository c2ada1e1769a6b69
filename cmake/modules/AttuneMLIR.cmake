# Finds MLIR 22 as Debian packages it. Its version file refuses `find_package(MLIR 22)`, so the version is checked here.
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_PACKAGE_VERSION MATCHES "^22\\.")
  message(FATAL_ERROR "expected MLIR 22, but got ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}; "
                      "set MLIR_DIR to an MLIR 22 installation")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# Only the shared libMLIR and libLLVM: the exported targets mix static archives with the shared library, which would
# register everything twice.
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(ATTUNE_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${ATTUNE_LLVM_DEFINITIONS})
if(ATTUNE_SANITIZE)
  # With assertions every file begins with the declarations whose layout they would change.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/StatisticsOfRelease.h>")
endif()
