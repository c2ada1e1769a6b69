//===- DeviceDescription.h - The numbers of a machine that prices need -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_DEVICEDESCRIPTION_H
#define ATTUNE_COST_DEVICEDESCRIPTION_H

#include "attune/Tile/Tile.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace attune::cost {

/// A number and where it comes from.
struct Fact {
  double value = 0;
  std::string source;

  operator double() const { return value; }
};

/// A machine, as far as prices need it. All rates are of one core (on a GPU: one streaming multiprocessor) unless their
/// name says otherwise; `load` and `named` return only descriptions for which `check` finds nothing.
///
/// The descriptions are data (lib/Cost/devices/*.yaml), embedded when Attune is built; a file of the same form is read
/// where a name ends in `.yaml`. A device is one machine; its target is the code that it runs, as others may.
class DeviceDescription {
public:
  std::string name, summary;
  std::string target;     ///< "cpu", or a GPU architecture such as "sm_80"
  bool isDefault = false; ///< of the devices of its target the one that plans are priced for where none is named
  tile::TargetKind kind = tile::TargetKind::CPU; ///< of the target

  Fact cores;                ///< that run grid points at the same time
  Fact productsPerSecond;    ///< multiply-adds in tile products
  Fact f32ProductPasses;     ///< how much longer a product of f32 operands takes than that rate says, ≥ 1
  /// How long a product of bf16 operands takes on a CPU, as a part of one of f32.
  Fact bf16ProductPasses{1, "not told: as long as one of f32"};
  Fact productEfficiency;    ///< the part of that rate that tile kernels reach, 0 … 1
  Fact elementwisePerSecond; ///< other operations on f32 elements of tiles
  Fact exp2PerSecond;
  /// Instructions by which the lanes of a warp exchange a word each; a CPU has none, and 0 says so.
  Fact shufflesPerSecond{0, "kernels of a CPU have no lanes that exchange words"};
  Fact nearBytesPerSecond;    ///< from the level that feeds a core: L2, or the GPU's L2
  Fact mainBytesPerSecond;    ///< from main memory, of the whole device
  Fact launchSeconds;         ///< from the end of one kernel to the start of the next
  Fact fastBytes;             ///< what the tiles of one grid point should fit into; on a GPU they must
  Fact accumulatorsPerThread; ///< f32 accumulators that a GPU thread can hold in registers; 0 on a CPU

  /// Prices are for so many threads of a CPU from now on; 0: for all cores, and a GPU keeps its own.
  void runOn(int64_t threads);

  /// Whether tiles that do not fit cannot run at all (GPU), or only run slower (CPU).
  bool mustFit() const { return kind == tile::TargetKind::GPU; }

  /// The description in YAML; `file` is named in messages.
  static llvm::Expected<DeviceDescription> load(llvm::StringRef yaml, llvm::StringRef file);
  /// An embedded description by its name, the default one of a target, or one read from a path that ends in `.yaml`.
  /// Of `cpu` that is the one with AVX-512: a library for CPUs has code for several instruction sets but one set of plans.
  static llvm::Expected<DeviceDescription> named(llvm::StringRef nameOrPath);
  /// The names of the embedded descriptions, sorted.
  static std::vector<std::string> names();
  /// The embedded descriptions in the order of their names.
  static std::vector<DeviceDescription> embedded();
  /// What code can be made for: "cpu" and the GPU architectures. Each has one default device.
  static llvm::ArrayRef<llvm::StringLiteral> targets();

  /// The description as `load` reads it.
  void print(llvm::raw_ostream &out) const;

  /// What is wrong with the description; empty if nothing is.
  std::string check() const;
};

} // namespace attune::cost

#endif // ATTUNE_COST_DEVICEDESCRIPTION_H
