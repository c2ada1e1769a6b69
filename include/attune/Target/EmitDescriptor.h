//===- EmitDescriptor.h - Adds a library's descriptor and entry points to LLVM IR ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_EMITDESCRIPTOR_H
#define ATTUNE_TARGET_EMITDESCRIPTOR_H

#include "attune/Target/LibraryDescription.h"

namespace llvm {
class GlobalVariable;
class LLVMContext;
class Module;
class StructType;
} // namespace llvm

namespace attune::target {

/// The structs of attune-rt/Descriptor.h as LLVM types; a unit test holds their layouts against the C ones.
struct DescriptorTypes {
  llvm::StructType *tensor;     ///< attune_rt_tensor
  llvm::StructType *plan;       ///< attune_rt_plan
  llvm::StructType *kernel;     ///< attune_rt_device_kernel
  llvm::StructType *product;    ///< attune_rt_product
  llvm::StructType *variant;    ///< attune_rt_variant
  llvm::StructType *descriptor; ///< attune_rt_descriptor
  llvm::StructType *sizeRule;   ///< attune_rt_size_rule

  static DescriptorTypes get(llvm::LLVMContext &context);
};

/// The exported functions of a library, without the prefix `<name>_`.
llvm::ArrayRef<llvm::StringRef> entryPointNames();

/// Adds the constant descriptor. The plan and workspace functions that it names must be defined in the module.
llvm::Expected<llvm::GlobalVariable *> addDescriptor(llvm::Module &module, const LibraryDescription &description);

/// Adds the exported `<name>_create`, ... `<name>_message`, and makes every other definition internal, so that what no
/// plan reaches is dropped.
llvm::Error addEntryPoints(llvm::Module &module, const LibraryDescription &description,
                           llvm::GlobalVariable &descriptor);

} // namespace attune::target

#endif // ATTUNE_TARGET_EMITDESCRIPTOR_H
