# shellcheck shell=bash
# Sourced by utils/setup, utils/check and utils/demo: what a build from these scripts has in its environment.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
# The compiler's own list of headers says what a file depends on: without it ccache runs the preprocessor first, which takes
# longer than the compilation that follows.
export CCACHE_DEPEND=1
# A toolkit of the machine comes first; else the ptxas that utils/setup fetched.
if [ -z "${CUDA_ROOT:-}" ] && [ -z "${CUDA_HOME:-}" ] && [ -x "$PWD/build/cuda/bin/ptxas" ]; then
  export CUDA_HOME="$PWD/build/cuda"
fi
