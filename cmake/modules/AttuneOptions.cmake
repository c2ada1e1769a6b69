# Compiler flags that every target shares.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-exceptions
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # A precompiled header without times in it, and named by options whose paths ccache can make relative: what one folder
  # has compiled, another need not compile again.
  add_compile_options("SHELL:$<$<COMPILE_LANGUAGE:CXX>:-Xclang -fno-pch-timestamp>")
  set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Xclang -emit-pch -include <PCH_HEADER> -x c++-header)
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-pass-failed>)
endif()
if(ATTUNE_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
                      -fno-sanitize=vptr,function)
  add_link_options(-fsanitize=address,undefined)
endif()
