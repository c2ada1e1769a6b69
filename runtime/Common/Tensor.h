//===- Tensor.h - Checks DLPack tensors and turns them into argument slots ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_TENSOR_H
#define ATTUNE_RT_COMMON_TENSOR_H

#include "Status.h"

namespace attune::rt {

/// The most bytes of a tensor, from its first element to its last and all elements together, and of a workspace: more than
/// any processor addresses. Sums and products of a few such numbers stay far below 2^63.
constexpr int64_t mostBytes = int64_t(1) << 56;
#define ATTUNE_RT_MOST_BYTES "2^56 bytes"

/// What the sizes '?' are bound to: the first tensor to show one binds it, the others must agree.
struct Binding {
  int64_t sizes[ATTUNE_RT_SYMBOL_COUNT];
  /// The tensor that bound each size, for messages; null if the size is static or still open (-1).
  const attune_rt_tensor *boundBy[ATTUNE_RT_SYMBOL_COUNT];

  int64_t batch() const { return sizes[ATTUNE_RT_BATCH]; }
  int64_t queries() const { return sizes[ATTUNE_RT_QUERIES]; }
  int64_t keys() const { return sizes[ATTUNE_RT_KEYS]; }
};

struct Footprint;

/// The slots of a plan, in memory that create made, and the sizes of one run.
struct Arguments {
  uint64_t *slots;
  /// First slot of each tensor of the table.
  const uint32_t *firstSlot;
  /// The last slot: the workspace.
  uint32_t workspaceSlot;
  Binding binding;
  /// Room for that of each tensor of the table; null where none is asked for.
  Footprint *footprints = nullptr;
};

/// What a check is asked for.
struct TensorChecks {
  Place place;
  DLDevice device;
  /// False when only sizes are asked about: null data is then welcome.
  bool data = true;
  /// Host tensors are welcome to a handle of a GPU too: it copies them.
  bool copied = false;
};

/// Memory that belongs to the host, pinned or not.
bool isHostMemory(DLDevice device);

/// Bytes of one element.
int64_t elementBytes(uint32_t dtype);

/// An attune_rt_dtype as DLPack writes it.
DLDataType toDLDataType(uint32_t dtype);

/// The slots of one tensor as kernels see them.
struct SlotView {
  uint64_t *slots;
  uint32_t rank;
  char *data() const { return reinterpret_cast<char *>(slots[0]); }
  int64_t size(uint32_t dim) const { return static_cast<int64_t>(slots[1 + dim]); }
  int64_t stride(uint32_t dim) const { return static_cast<int64_t>(slots[1 + rank + dim]); }
  bool present() const { return slots[0] != 0; }
  bool empty() const;
};

inline SlotView view(const Arguments &arguments, const attune_rt_descriptor &descriptor, uint32_t tensor) {
  return {arguments.slots + arguments.firstSlot[tensor], descriptor.tensors[tensor].rank};
}

/// Every size at its static value, or open.
Binding startBinding(const attune_rt_descriptor &descriptor);

/// Checks one tensor against its description, binds the sizes '?' that it is the first to show, and writes its slots.
/// A null `tensor` is an absent optional one.
attune_status checkTensor(const TensorChecks &checks, const attune_rt_tensor &expected, const DLTensor *tensor,
                          Binding &binding, uint64_t *slots);

inline uint32_t slotCount(const attune_rt_tensor &tensor) { return 1 + 2 * tensor.rank; }

inline bool isParameter(const attune_rt_tensor &tensor) { return tensor.role == ATTUNE_RT_PARAMETER; }
inline bool isPrepared(const attune_rt_tensor &tensor) { return tensor.role == ATTUNE_RT_PREPARED; }
inline bool isOutput(const attune_rt_tensor &tensor) {
  return tensor.role == ATTUNE_RT_OUTPUT || tensor.role == ATTUNE_RT_OPTIONAL_OUTPUT;
}
/// Whether run is given the tensor.
inline bool isGiven(const attune_rt_tensor &tensor) { return !isParameter(tensor) && !isPrepared(tensor); }

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_TENSOR_H
