//===- HostBuilder.h - From a graph of attn ops to launches of kernels -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks from the output of an attn function to its arguments. What a family writes goes straight to where it is wanted (a
// part's heads of the output); what a family reads is folded into its loads as far as it acts on single tokens; anything
// else is computed once by a kernel of its own into a workspace.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_HOSTBUILDER_H
#define ATTUNE_LIB_KERNEL_HOSTBUILDER_H

#include "Families.h"
#include "Partition.h"
#include "Prepare.h"
#include "Regions/CompressionRegion.h"
#include "Region.h"
#include "Together.h"

#include "mlir/IR/IRMapping.h"

#include <map>
#include <tuple>

namespace attune::kernel {

class KeyState;

class HostBuilder {
public:
  /// `regions`: where those of kernels are printed, if anywhere. `memories`: from values of the attn function (arguments, optional results) to memories of the host function.
  HostBuilder(BuildSite &site, const mlir::IRMapping &memories, const PreparedTensors &prepared, std::string name,
              tile::ScheduleAttr schedule, llvm::raw_ostream *regions = nullptr)
      : site(site), memories(memories), prepared(prepared), name(std::move(name)), schedule(schedule),
        regions(regions) {}

  /// Computes `value` into `output`; an error at the op that no kernel computes.
  mlir::LogicalResult write(mlir::Value value, const Output &output);

private:
  /// Builds the kernels of one attention whose tokens, output and feature map are found, in the form that it has.
  mlir::LogicalResult buildForm(const Partition &partition, const Problem &problem, const FeatureMap &map);
  /// The same of maps whose features are carried as exponents, FAVOR's first of all.
  mlir::LogicalResult buildExponents(const Partition &partition, const Problem &problem, const FeatureMap &map);
  /// Builds the kernel of a region, and its launch.
  mlir::FailureOr<tile::KernelOp> buildKernel(const fusion::KernelRegion &region);
  /// Builds the kernel of a projection into `result`.
  mlir::LogicalResult buildProjection(mlir::Value x, const TokenProjection &projection, const Tokens &result);
  /// The memory of an argument or optional result; null for a null value and for others.
  mlir::Value memory(mlir::Value value) const { return value ? memories.lookupOrNull(value) : mlir::Value(); }

  mlir::LogicalResult mapKeys(Problem &problem, FeatureMap &map, bool exponents);
  mlir::LogicalResult buildState(const Problem &problem, const KeyState &state, attn::DenominatorAttr guard);
  mlir::LogicalResult buildChunks(const Problem &problem, const FeatureMap &map, bool exponents, attn::DenominatorAttr guard);
  mlir::LogicalResult buildFamily(const Partition &partition, Problem &problem);
  mlir::LogicalResult writeAttention(mlir::Operation *root, const Output &output);
  mlir::LogicalResult writeConcat(attn::ConcatHeadsOp op, const Output &output);
  mlir::LogicalResult writeLepe(attn::LepeOp op, Output output);
  mlir::LogicalResult writeProjection(attn::ProjectOutputOp op, const Output &output);
  mlir::LogicalResult writePolynomial(attn::PolynomialOp op, const Output &output);
  mlir::LogicalResult writePolysketch(attn::PolysketchOp op, const Output &output);
  mlir::LogicalResult writeEva(attn::EvaOp op, const Output &output);
  mlir::LogicalResult writeAgent(attn::AgentOp op, const Output &output);
  /// Fills in what every mechanism has: q, k, v, key lengths, output.
  template <typename Op> mlir::LogicalResult readMechanism(Op op, Problem &problem, const Output &output) {
    problem.output = output;
    problem.lengths = memory(op.getLengths());
    return readAll({{op.getQuery(), &problem.query}, {op.getKey(), &problem.key}, {op.getValue(), &problem.value}});
  }
  mlir::LogicalResult writeEffatt(attn::EffattOp op, const Output &output);
  mlir::LogicalResult writeCompressedKernel(attn::NormalizeOp op, const Output &output);
  mlir::FailureOr<mlir::Value> computeKeyMaximum(attn::KeyMaximumOp op);

  /// Where tokens can be read.
  mlir::FailureOr<Tokens> read(mlir::Value value);
  mlir::FailureOr<Tokens> compute(mlir::Value value);
  mlir::FailureOr<Tokens> computeTokens(mlir::Value value);
  mlir::FailureOr<Tokens> computeProjection(attn::ProjectOp op);
  mlir::FailureOr<Tokens> computeFolded(attn::ProjectOp op, mlir::Value source);
  mlir::FailureOr<Tokens> computeCompression(attn::CompressOp op);
  mlir::FailureOr<Tokens> computeSlots(attn::CompressOp op, attn::ProjectOp project);
  mlir::FailureOr<Tokens> readRope(attn::RopeOp op);
  mlir::LogicalResult readAll(llvm::ArrayRef<std::pair<mlir::Value, Tokens *>> values);

  mlir::Value weightOf(attn::ProjectOp op) const;
  mlir::Value weightOf(attn::CompressOp op) const;
  /// A workspace for tokens of the type of `value`; a dynamic size is that of `like`, a memory [batch, heads, tokens, …].
  Tokens workspaceFor(mlir::Value value, mlir::Value like);
  Problem startProblem();

  BuildSite &site;
  const mlir::IRMapping &memories;
  const PreparedTensors &prepared;
  std::string name;
  tile::ScheduleAttr schedule;
  llvm::raw_ostream *regions;
  llvm::DenseMap<mlir::Value, Tokens> computed;
  /// E x of a source, a weight and lengths: the heads of keys and values share it.
  std::map<std::tuple<void *, void *, void *>, CompressedInput> inputs;
  /// Launches that compute tokens: they come before those of every part that may read them.
  llvm::SmallPtrSet<mlir::Operation *, 8> ofTokens;
  unsigned problems = 0;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_HOSTBUILDER_H
