//===- Apart.cpp - What a run writes shares memory with nothing else ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Apart.h"

using namespace attune::rt;

namespace {

/// The tensors of a run, which checkTensor has let pass.
struct Given {
  const attune_rt_descriptor &descriptor;
  const Place &place;
  const Arguments &arguments;

  const attune_rt_tensor &tensor(uint32_t i) const { return descriptor.tensors[i]; }
  /// Each is compared with many others.
  const Footprint &footprint(uint32_t i) const { return arguments.footprints[i]; }
  void findFootprints() const {
    for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
      arguments.footprints[i] = isGiven(tensor(i)) ? footprintOf(view(arguments, descriptor, i), tensor(i).dtype) : Footprint();
  }
};

attune_status checkItself(const Given &given, uint32_t output, const Footprint &footprint) {
  if (!overlapsItself(footprint))
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_ARGUMENT,
              "%s_%s: argument '%s': expected strides that keep its elements apart, but some share an address; give the "
              "output memory of its own",
              given.place.library, given.place.function, given.tensor(output).name);
}

/// Whether the output lies where this input does, element by element, and may.
bool inPlace(const Given &given, uint32_t output, uint32_t other) {
  if (given.tensor(output).in_place_of != other + 1)
    return false;
  SlotView a = view(given.arguments, given.descriptor, output), b = view(given.arguments, given.descriptor, other);
  bool same = a.data() == b.data();
  for (uint32_t dim = 0; dim < a.rank; ++dim)
    same &= a.size(dim) <= 1 || a.stride(dim) == b.stride(dim);
  return same;
}

attune_status checkOther(const Given &given, uint32_t output, const Footprint &footprint, uint32_t other) {
  if (inPlace(given, output, other) || !overlap(footprint, given.footprint(other)))
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_ARGUMENT,
              "%s_%s: argument '%s': expected memory of its own, but got memory of argument '%s', which is %s while the "
              "output is written",
              given.place.library, given.place.function, given.tensor(output).name, given.tensor(other).name,
              isOutput(given.tensor(other)) ? "written" : "read");
}

/// Pairs of outputs are looked at once.
attune_status checkOutput(const Given &given, uint32_t output) {
  const Footprint &footprint = given.footprint(output);
  if (attune_status status = checkItself(given, output, footprint))
    return status;
  for (uint32_t other = 0; other < given.descriptor.tensor_count; ++other)
    if (!isOutput(given.tensor(other)) || other > output)
      if (attune_status status = checkOther(given, output, footprint, other))
        return status;
  return ATTUNE_OK;
}

/// The workspace is written too, so inputs must keep out of it as well.
attune_status checkWorkspaceApart(const Given &given, const Footprint &workspace) {
  for (uint32_t i = 0; i < given.descriptor.tensor_count; ++i)
    if (overlap(workspace, given.footprint(i)))
      return fail(ATTUNE_ERROR_ARGUMENT,
                  "%s_%s: argument 'workspace': expected memory of its own, but got memory of argument '%s'",
                  given.place.library, given.place.function, given.tensor(i).name);
  return ATTUNE_OK;
}

} // namespace

attune_status attune::rt::checkApart(const attune_rt_descriptor &descriptor, const Place &place,
                                     const Arguments &arguments, const void *workspace, size_t bytes) {
  Given given{descriptor, place, arguments};
  given.findFootprints();
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
    if (isOutput(descriptor.tensors[i]))
      if (attune_status status = checkOutput(given, i))
        return status;
  return bytes ? checkWorkspaceApart(given, footprintOf(workspace, bytes)) : ATTUNE_OK;
}
