//===- LibraryDescription.h - What a compiled library will say of itself --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's side of runtime/include/attune-rt/Descriptor.h: which tensors a library takes, which plans it holds
// for which targets, and the symbols of their functions. The enumerations are the runtime's own.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_LIBRARYDESCRIPTION_H
#define ATTUNE_TARGET_LIBRARYDESCRIPTION_H

#include "attune-rt/Descriptor.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace attune::target {

/// A dimension that is a size known only at run: dynamicSize(ATTUNE_RT_KEYS).
constexpr int64_t dynamicSize(attune_rt_symbol symbol) { return -1 - static_cast<int64_t>(symbol); }

struct TensorDescription {
  std::string name;
  attune_rt_role role = ATTUNE_RT_INPUT;
  attune_rt_dtype dtype = ATTUNE_RT_F32;
  /// Sizes, or dynamicSize(...).
  llvm::SmallVector<int64_t, 4> dims;
  /// What the runtime checks of the elements: lengths in 0 .. keys; -1 or 1; indices below a bound (0: none).
  bool keyLengths = false;
  /// Where sequences begin among the tokens of queries, or of keys, and where the last one ends: [batch + 1].
  bool offsets = false, keyOffsets = false;
  bool signs = false;
  int64_t indexBound = 0;
  /// Of tokens before those of a run: with these there are at most so many; 0: it says no such thing.
  int64_t mostPosition = 0;
  /// The input whose memory an output may be; empty: none.
  std::string inPlaceOf = {};
  /// What an output holds if there are no keys.
  attune_rt_empty ifEmpty = ATTUNE_RT_EMPTY_ZERO;
  /// One line for the header, units included; empty: what standardMeaning says.
  std::string meaning = {};
};

/// A way of computing: the symbols of the host functions `void (launcher, args)` and `int64_t (args)` in the module.
struct PlanDescription {
  /// "quadratic", "state", "chunked" ...
  std::string form;
  /// The plan serves L = 2nN / (n + N) from here to the next plan's.
  int64_t fromLength = 0;
  std::string planFunction;
  /// Empty: no workspace.
  std::string workspaceFunction = {};
  int64_t scratchBytes = 0;
};

struct DeviceKernelDescription {
  /// In the device module.
  std::string name;
  std::array<int32_t, 3> block = {1, 1, 1};
  int32_t sharedBytes = 0;
  /// What a vendor's library may compute in its place; `kernel` is filled in where the table is made.
  std::optional<attune_rt_product> product = {};
};

/// Code for one instruction set or GPU architecture.
struct VariantDescription {
  attune_rt_target target = ATTUNE_RT_AVX2;
  /// At most ATTUNE_MAX_PLANS, fromLength ascending, the first 0.
  llvm::SmallVector<PlanDescription, 3> plans;
  /// Fills the prepared tensors.
  std::optional<PlanDescription> prepare = {};
  /// The prepared tensors, where they are not those of the library: other devices read weights in other orders.
  std::optional<llvm::SmallVector<TensorDescription, 2>> prepared = {};
  // GPU only.
  int32_t arch = 0;
  /// sm_90a and the like.
  bool archSpecific = false;
  /// Bytes of the images; empty: absent.
  std::string cubin = {};
  std::string ptx = {};
  llvm::SmallVector<DeviceKernelDescription, 4> kernels = {};
};

/// What the mechanism needs of a number of tokens that only a run knows.
struct SizeRule {
  attune_rt_size_rule_kind kind;
  attune_rt_symbol symbol;
  int64_t value;
};

struct LibraryDescription {
  /// A C identifier: names the library, its header and its functions.
  std::string name;
  /// The mechanism and its sizes in one line.
  std::string summary;
  /// In the order of the plans' argument slots; the prepared ones come last.
  llvm::SmallVector<TensorDescription, 8> tensors;
  /// Batch, queries, keys: the size, or -1 if known only at run.
  std::array<int64_t, ATTUNE_RT_SYMBOL_COUNT> sizes = {-1, -1, -1};
  /// The mechanism needs n = N.
  bool queriesEqualKeys = false;
  llvm::SmallVector<SizeRule, 2> sizeRules;
  int64_t heads = 0;
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  int64_t valueDim = 0;
  llvm::SmallVector<VariantDescription, 2> variants;
  /// That of the gradients, NAME_backward, whose code is in the same module; null: there are none.
  std::shared_ptr<const LibraryDescription> backward = nullptr;
};

/// Checks what the runtime and the header rely on: names, limits, order of the plans.
llvm::Error checkDescription(const LibraryDescription &description);

/// Its check of the library's name alone, for whoever makes paths of it.
llvm::Error checkLibraryName(llvm::StringRef name);

/// Name and version of this compiler.
llvm::StringRef compilerVersion();

/// "f32", "bf16" ...
llvm::StringRef dtypeName(attune_rt_dtype dtype);

/// What tensors of the usual names (q, k, v, key_lengths, o, lse ...) hold; empty for others.
llvm::StringRef standardMeaning(llvm::StringRef tensor);

} // namespace attune::target

#endif // ATTUNE_TARGET_LIBRARYDESCRIPTION_H
