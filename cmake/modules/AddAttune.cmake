# attune_library(NAME sources... [LINK libs...] [DEPENDS targets...])
#   One stage of the compiler as a static, position-independent library. It does not link MLIR: the tools link the shared
#   libMLIR once, and the plugin takes it from the program that loads it.
function(attune_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  # Generated dialect headers are reached through other libraries' headers, so every library waits for all of them.
  add_dependencies(${name} AttuneGeneratedHeaders ${ARG_DEPENDS})
  if(NOT ARG_NO_PCH AND TARGET AttunePch)
    target_precompile_headers(${name} REUSE_FROM AttunePch)
  endif()
  set_property(GLOBAL APPEND PROPERTY ATTUNE_COMPILER_LIBRARIES ${name})
endfunction()

# attune_tool(NAME sources... [LINK libs...]): a main that links the shared MLIR and LLVM.
function(attune_tool name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  add_dependencies(${name} AttuneGeneratedHeaders ${ARG_DEPENDS})
  install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT compiler)
  # CMake would compile a program with -fPIE, and the precompiled header is of -fPIC.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF INSTALL_RPATH "${LLVM_LIBRARY_DIR}")
  target_compile_options(${name} PRIVATE -fPIC)
  if(TARGET AttunePch)
    target_precompile_headers(${name} REUSE_FROM AttunePch)
  endif()
endfunction()

# attune_tablegen(TD  FLAG output [FLAG output ...]): generated files of one .td, added to AttuneGeneratedHeaders.
function(attune_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args output)
    list(POP_FRONT args flags)
    separate_arguments(flags)
    mlir_tablegen(${output} ${flags} "-I${CMAKE_SOURCE_DIR}/dialects" "-I${CMAKE_SOURCE_DIR}/include")
  endwhile()
  string(MAKE_C_IDENTIFIER "${CMAKE_CURRENT_SOURCE_DIR}/${td}" id)
  string(SHA1 id "${id}")
  string(SUBSTRING "${id}" 0 10 id)
  add_public_tablegen_target(AttuneTablegen_${id})
  add_dependencies(AttuneGeneratedHeaders AttuneTablegen_${id})
endfunction()

add_custom_target(AttuneGeneratedHeaders)
