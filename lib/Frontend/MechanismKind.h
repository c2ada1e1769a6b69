//===- MechanismKind.h - All that is known of a kind of mechanism --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kind of mechanism, and each field that several kinds have, is a file of Mechanisms/: how it is written, what it forbids, which
// tensors it reads and which op it becomes. The rest of the frontend goes through their lists.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_MECHANISMKIND_H
#define ATTUNE_LIB_FRONTEND_MECHANISMKIND_H

#include "AttnBuilder.h"
#include "FieldIO.h"
#include "KindTable.h"
#include "PartTensors.h"
#include "SpecRules.h"

namespace attune {

/// What a kind of mechanism and a field of several kinds have in common.
class MechanismEntry {
public:
  const llvm::StringRef name;

  /// Reads or writes what a spec says of it, types and ranges only. The fields are those of the mechanism.
  virtual void visit(FieldIO &, Mechanism &) const {}
  /// The rules S… that need no size of the sequence.
  virtual void check(PartRules &) const {}
  virtual void checkSizes(PartSizes &) const {}
  /// Tensors of tokens beside q, k and v, and those that a library is given once.
  virtual void addInputs(PartTensors &) const {}
  virtual void addParameters(PartTensors &) const {}

protected:
  constexpr explicit MechanismEntry(llvm::StringRef name) : name(name) {}
  ~MechanismEntry() = default;
};

/// A field that several kinds of mechanism may have, or whose mistakes are worth reporting where the kind is not known.
class MechanismField : public MechanismEntry {
public:
  /// Reads what follows from other fields, this one there or not; of a kind that has it.
  virtual void conclude(Fields &, Mechanism &) const {}

protected:
  using MechanismEntry::MechanismEntry;
};

/// What a part's tokens leave to those after them.
struct PartState {
  const Spec &spec;
  const Part &part;
  const Mechanism &m;
  llvm::function_ref<void(llvm::StringRef name, PartTensors::Shape shape, Elements elements)> add;
};

/// A kind of mechanism, with fields that no other kind has.
class MechanismKind : public MechanismEntry {
public:
  const Names fields; ///< `kind` first

  bool has(llvm::StringRef field) const { return llvm::is_contained(fields, field); }
  /// Whether its logits have a scale.
  virtual bool isScaled(const Mechanism &) const { return true; }
  virtual double defaultScale(int64_t width) const { return 1.0 / std::sqrt(static_cast<double>(width)); }
  /// Whether a window may slide: the last keys of each query.
  virtual bool seesLastKeys() const { return false; }
  /// Whether a window is part of its formula, and all tokens meet beyond it; of other kinds it is a mask.
  virtual bool hasOwnWindow() const { return false; }
  /// At least as many parameters as one has.
  virtual int64_t parametersAtMost(const Mechanism &) const { return 8; }
  /// Whether it goes with sequences that lie end to end, and with a state of the tokens before.
  virtual bool hasPacked() const { return false; }
  virtual bool hasState() const { return false; }
  /// Tensors of a state, in f32, in the order of the op's results.
  virtual void addState(const PartState &) const {}
  /// The op.
  virtual mlir::Value build(PartBuilder &) const = 0;

protected:
  constexpr MechanismKind(llvm::StringRef name, Names fields) : MechanismEntry(name), fields(fields) {}
};

/// In the order in which messages list them.
llvm::ArrayRef<const MechanismKind *> mechanismKinds();
/// In the order in which they are written.
llvm::ArrayRef<const MechanismField *> mechanismFields();
/// The names of the kinds and of their fields.
const KindTable &mechanismTable();

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_MECHANISMKIND_H
