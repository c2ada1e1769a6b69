# Compiler flags that every target shares.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-exceptions
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Without times in it a precompiled header is cacheable by ccache.
  add_compile_options("SHELL:$<$<COMPILE_LANGUAGE:CXX>:-Xclang -fno-pch-timestamp>")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-pass-failed>)
endif()
if(ATTUNE_SANITIZE)
  # With assertions, whatever the build type.
  add_compile_options(-UNDEBUG)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
                      -fno-sanitize=vptr,function)
  add_link_options(-fsanitize=address,undefined)
endif()
if(ATTUNE_FUZZ)
  if(NOT ATTUNE_SANITIZE)
    message(FATAL_ERROR "expected ATTUNE_SANITIZE with ATTUNE_FUZZ, but it is off; the preset `sanitize` sets both")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(ATTUNE_SANITIZE_THREADS)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
