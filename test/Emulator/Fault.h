//===- Fault.h - A fault that is planted in a generated kernel --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fault is one wrong step of a compiler: something removed, or an operand or attribute that is another one. It is
// planted in the kernels of a spec, as `tile` ops, as the code of a thread, or in the text of PTX, and says what it
// changed; whoever plants it compares that with what did change. Then the emulator must report it, or refuse the
// kernels, or the output must differ from the interpreter's.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_FAULT_H
#define ATTUNE_TEST_EMULATOR_FAULT_H

#include "PtxEdit.h"

#include "attune/Emulator/EmulatorReport.h"
#include "attune/Pipeline/DeviceCode.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace attune::test {

/// Operations that are gone, new, or have other operands, attributes or successors.
struct Change {
  unsigned removed = 0, added = 0, changed = 0;
  bool operator==(const Change &) const = default;
};

/// All that a change is measured by.
class Snapshot {
public:
  explicit Snapshot(mlir::ModuleOp module);
  Change since(mlir::ModuleOp module) const;

private:
  llvm::DenseMap<mlir::Operation *, std::pair<mlir::OperationName, llvm::hash_code>> operations;
};

/// What tells a fault.
struct Symptom {
  enum Kind { Reported, WrongValues, BankConflict, Refused } kind;
  FindingKind finding = FindingKind::Race; // of `Reported`
  llvm::StringRef said = "";               // of `Refused`: a part of the reason
};
inline Symptom reported(FindingKind finding) { return {Symptom::Reported, finding}; }
inline constexpr Symptom wrongValues{Symptom::WrongValues};
/// Values are right, but an instruction in a loop takes more than one wave a phase.
inline constexpr Symptom bankConflict{Symptom::BankConflict};
/// The kernels are not accepted, or not launched.
inline Symptom refused(llvm::StringRef said) { return {Symptom::Refused, FindingKind::Race, said}; }

struct Fault {
  llvm::StringRef spec; ///< name of the spec whose kernels have the place
  llvm::StringRef name;
  llvm::StringRef what;
  Symptom symptom;
  // One of the three. They give what they changed, nothing if the place is not there.
  std::optional<Change> (*inTiles)(mlir::ModuleOp kernels) = nullptr;
  std::optional<Change> (*inDevice)(DeviceCode &code) = nullptr;
  std::optional<PtxEdit> inPtx = std::nullopt;
};
inline Fault inPtx(llvm::StringRef spec, llvm::StringRef name, llvm::StringRef what, Symptom symptom, PtxEdit edit) {
  return {spec, name, what, symptom, nullptr, nullptr, std::move(edit)};
}

llvm::ArrayRef<Fault> tileFaults();     ///< TileFaults.cpp: masks, bounds, carries, scales
llvm::ArrayRef<Fault> orderFaults();    ///< OrderFaults.cpp: barriers, waits, stages
llvm::ArrayRef<Fault> placeFaults();    ///< PlaceFaults.cpp: swizzles, bounds, alignment, sizes
llvm::ArrayRef<Fault> fragmentFaults(); ///< FragmentFaults.cpp: matrix operands, shuffles
llvm::ArrayRef<Fault> warpgroupFaults(); ///< WarpgroupFaults.cpp: order and operands of wgmma
llvm::ArrayRef<Fault> ptxOperandFaults();   ///< PtxOperandFaults.cpp: operands in another order
llvm::ArrayRef<Fault> ptxImmediateFaults(); ///< PtxImmediateFaults.cpp: other constants, and another parameter
llvm::ArrayRef<Fault> ptxOrderFaults();     ///< PtxOrderFaults.cpp: waits, barriers and fences that are missing or weaker
llvm::ArrayRef<Fault> ptxTypeFaults();      ///< PtxTypeFaults.cpp: types, roundings, widths, predicates, directives

} // namespace attune::test

#endif // ATTUNE_TEST_EMULATOR_FAULT_H
