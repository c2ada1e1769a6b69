//===- VersionedBytecode.h - A dialect's version in bytecode ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytecode of a dialect carries the number of its form. A change of an op, attribute or type that makes old files
// unreadable, or mean something else, adds an upgrade to the end of the dialect's list, which makes the number larger by
// one, and a golden file to test/Bytecode. Files of all earlier numbers are then brought up step by step; a file of a later
// number is refused.
//
// Upgrades see ops that were read. How they are read follows the change: attributes of types of ours are stored as text,
// so the dialect's parser reads the old text. The attributes of an op are stored one after another without names: an op
// that gains, loses or renames one sets `useCustomPropertiesEncoding`, and its `readProperties` asks `versionRead` what
// is there. test/Unit/Bytecode/ReleasesTest.cpp does both.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_VERSIONEDBYTECODE_H
#define ATTUNE_VERSIONEDBYTECODE_H

#include "mlir/Bytecode/BytecodeImplementation.h"

namespace attune {

struct BytecodeVersion : mlir::DialectVersion {
  explicit BytecodeVersion(uint64_t number) : number(number) {}
  uint64_t number;
};

/// The version of the dialect in the file that is read; 0 if the file does not say.
inline uint64_t versionRead(const mlir::DialectBytecodeReader &reader, mlir::StringRef dialect) {
  mlir::FailureOr<const mlir::DialectVersion *> version = reader.getDialectVersion(dialect);
  return succeeded(version) && *version ? static_cast<const BytecodeVersion *>(*version)->number : 0;
}

/// Brings all of a dialect under `root` from one version to the next; errors are emitted.
using BytecodeUpgrade = mlir::LogicalResult (*)(mlir::Operation *root);

class VersionedBytecode : public mlir::BytecodeDialectInterface {
public:
  /// upgrades[i] leads from version i + 1 to version i + 2; the list outlives the dialect.
  VersionedBytecode(mlir::Dialect *dialect, mlir::ArrayRef<BytecodeUpgrade> upgrades = {})
      : BytecodeDialectInterface(dialect), upgrades(upgrades) {}

  uint64_t current() const { return upgrades.size() + 1; }

  void writeVersion(mlir::DialectBytecodeWriter &writer) const override { writer.writeVarInt(current()); }

  std::unique_ptr<mlir::DialectVersion> readVersion(mlir::DialectBytecodeReader &reader) const override {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number >= 1 && number <= current())
      return std::make_unique<BytecodeVersion>(number);
    reader.emitError() << "expected bytecode of " << getDialect()->getNamespace() << " of version 1 to " << current()
                       << ", but got version " << number << "; read it with the Attune that wrote it, or a later one";
    return nullptr;
  }

  mlir::LogicalResult upgradeFromVersion(mlir::Operation *root, const mlir::DialectVersion &version) const override {
    for (BytecodeUpgrade upgrade : upgrades.drop_front(static_cast<const BytecodeVersion &>(version).number - 1))
      if (failed(upgrade(root)))
        return mlir::failure();
    return mlir::success();
  }

private:
  mlir::ArrayRef<BytecodeUpgrade> upgrades;
};

} // namespace attune

#endif // ATTUNE_VERSIONEDBYTECODE_H
