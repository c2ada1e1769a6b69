# Puts the compiler into the package: attune/bin/attnc and the runtime's archive, where attnc looks for it.
#
# ATTUNE_COMPILER_BUILD  a build folder of Attune, whose attnc is taken as it is
# ATTUNE_COMPILER        OFF: no compiler inside; it is then found at run time
option(ATTUNE_COMPILER "Put the compiler into the package" ON)
set(ATTUNE_COMPILER_BUILD "" CACHE PATH
    "Build folder whose attnc is taken as it is; empty: build/ of the clone, brought up to date")

function(attune_install_compiler build)
  install(PROGRAMS "${build}/bin/attnc" DESTINATION attune/bin)
  install(FILES "${build}/lib/libattune_rt.a" DESTINATION attune/lib)
endfunction()

# Configures with the default preset, which is what a clone is built with by hand, unless that was done.
function(attune_build_compiler build)
  add_custom_target(AttuneCompiler ALL
    COMMAND "${CMAKE_COMMAND}" --build "${build}" --target attnc AttuneRuntime
    USES_TERMINAL VERBATIM COMMENT "Building the compiler")
  if(NOT EXISTS "${build}/CMakeCache.txt")
    execute_process(COMMAND "${CMAKE_COMMAND}" --preset default WORKING_DIRECTORY "${ATTUNE_SOURCE}"
                    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed)
      message(FATAL_ERROR "expected the compiler to configure, but got:\n${said}\n"
                          "run utils/setup for what it needs (MLIR 22, clang-22), or leave it out with "
                          "--config-settings=cmake.define.ATTUNE_COMPILER=OFF and name one by ATTUNE_ATTNC")
    endif()
  endif()
endfunction()

if(ATTUNE_COMPILER AND ATTUNE_COMPILER_BUILD)
  if(NOT EXISTS "${ATTUNE_COMPILER_BUILD}/bin/attnc")
    message(FATAL_ERROR
            "ATTUNE_COMPILER_BUILD: expected a folder with bin/attnc, but got '${ATTUNE_COMPILER_BUILD}'")
  endif()
  attune_install_compiler("${ATTUNE_COMPILER_BUILD}")
elseif(ATTUNE_COMPILER)
  attune_build_compiler("${ATTUNE_SOURCE}/build")
  attune_install_compiler("${ATTUNE_SOURCE}/build")
endif()
