//===- Compile.h - From a spec to a library, for C ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_C_COMPILE_H
#define ATTUNE_C_COMPILE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A spec, the text of a YAML file (docs/Spec.md), as a module of one function of attn ops. `name` stands for the file in
/// locations and messages. The dialects are loaded into the context if they are not. The module is null, and
/// `attuneGetMessage` says why, if the spec is wrong.
MLIR_CAPI_EXPORTED MlirModule attuneModuleFromSpec(MlirContext context, MlirStringRef yaml, MlirStringRef name);

/// Start from ATTUNE_COMPILE_OPTIONS_INIT, so that fields of later versions get their defaults.
typedef struct AttuneCompileOptions {
  size_t size;         ///< sizeof(AttuneCompileOptions)
  const char *targets; ///< "cpu", "sm_80" …, or several with commas for one library
  const char *device;  ///< to price plans for: a name, or a path that ends in .yaml; NULL: the target's usual one
  int64_t threads;     ///< of a CPU, to price plans for; 0: the cores of the device
  /// Code of a CPU for this instruction set only: "avx2", "avx512", "avx512_bf16", "amx", or "native", the best that this machine has; NULL: for
  /// all of them.
  const char *isa;
} AttuneCompileOptions;

#define ATTUNE_COMPILE_OPTIONS_INIT {sizeof(AttuneCompileOptions), "cpu", NULL, 0, NULL}

/// Compiles a spec to a shared library at the path `library`, with its header at the path `header` unless that is empty.
/// `options` may be NULL: the defaults. `attuneGetMessage` says why if it fails. A linker (ld.lld or a compiler) is looked
/// for on PATH, and the runtime's archive beside this library.
MLIR_CAPI_EXPORTED MlirLogicalResult attuneCompileSpec(MlirStringRef yaml, MlirStringRef name,
                                                       const AttuneCompileOptions *options, MlirStringRef library,
                                                       MlirStringRef header);

/// The same for a module that holds one function of attn ops, of `attuneModuleFromSpec` or any other. It is not changed.
MLIR_CAPI_EXPORTED MlirLogicalResult attuneCompileModule(MlirModule module, const AttuneCompileOptions *options,
                                                         MlirStringRef library, MlirStringRef header);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_COMPILE_H
