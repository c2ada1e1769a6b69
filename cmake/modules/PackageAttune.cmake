# Debian packages of the three components of the install tree: `cpack -G DEB` in the build folder.
#   attune          the compiler, its plugin, the C API's shared library
#   libattune-dev   what programs are built with that contain or extend the compiler
#   libattune-rt    what compiled libraries are linked from; no LLVM
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME attune)
set(CPACK_PACKAGE_VENDOR "Attune")
set(CPACK_PACKAGE_CONTACT "The Attune authors <attune@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL compiler dev runtime)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(release "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME attune)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libattune-dev)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libattune-rt)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libdevel)

set(CPACK_COMPONENT_COMPILER_DESCRIPTION "compiler for efficient attention
 attnc compiles attention, written as a few lines of YAML or in MLIR, to shared
 libraries for CPUs and NVIDIA GPUs. With drivers, a plugin and a language
 server for MLIR.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "compiler for efficient attention - development files
 Headers, static libraries, CMake and pkg-config files for programs that extend
 the compiler attune or call it.")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "compiler for efficient attention - runtime
 The archive that is linked into compiled attention, and its C header. It needs
 no LLVM.")

# The linker of compiled libraries is any of these. libLLVM is reached by a link that no package tells dependents of.
set(CPACK_DEBIAN_COMPILER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "libattune-rt (= ${release}), libllvm22, lld-22 | lld | gcc | clang")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "attune (= ${release}), libattune-rt (= ${release}), libmlir-22-dev, liblzma-dev, libyaml-dev")

file(WRITE "${CMAKE_BINARY_DIR}/packages/shlibs" "libattune-c ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} attune\n")
set(CPACK_DEBIAN_COMPILER_PACKAGE_CONTROL_EXTRA "${CMAKE_BINARY_DIR}/packages/shlibs")
include(CPack)
