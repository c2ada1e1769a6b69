//===- HostBuilder.h - From a graph of attn ops to launches of kernels -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the results of an attn function in their order. Each is an output of a region (Planner/): the terms that it is made of up to
// its reduction of keys, what follows that, and the other results that are made of the same reduction. What a region cannot
// compute where it reads it is computed before by kernels of its own, once: states, tokens that are projected or compressed, attention
// that another op reads.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_HOSTBUILDER_H
#define ATTUNE_LIB_KERNEL_HOSTBUILDER_H

#include "Planner/FeatureGroups.h"
#include "Planner/StateRules.h"
#include "Prepare.h"
#include "Regions/CompressionRegion.h"
#include "Regions/StateMemory.h"
#include "Together.h"

#include "attune/Attn/Backward.h"
#include "attune/Attn/Packed.h"

#include "mlir/IR/IRMapping.h"

#include <map>
#include <tuple>

namespace attune::kernel {

struct DecayShares;
struct EvaShape;
struct EvaSummaries;
struct LepeGradient;
struct PolysketchOptions;
struct QuotientRows;

class HostBuilder {
public:
  /// `regions`: where those of kernels are printed, if anywhere. `memories`: from values of the attn function (arguments, results) to
  /// memories of the host function.
  HostBuilder(BuildSite &site, mlir::func::FuncOp function, const mlir::IRMapping &memories, const PreparedTensors &prepared,
              std::string name, tile::ScheduleAttr schedule, llvm::raw_ostream *regions = nullptr)
      : site(site), memories(memories), prepared(prepared), name(std::move(name)), schedule(scheduleOf(function, schedule)), stateColumns(schedule.getFeatureTile()), regions(regions),
        featureGroups(function, this->schedule), packed(attn::isPacked(function)), ofGradients(attn::isBackward(function)) {}

  /// Computes all its results; an error at the op that no kernel computes.
  mlir::LogicalResult build(mlir::func::FuncOp function);

  // For rules of terms (Planner/TermRules.h).

  /// The memory of a state, or of its numbers: the result's, or a workspace for as many entries as `like` has.
  mlir::Value stateMemory(mlir::Value value, mlir::Value like);
  mlir::FailureOr<mlir::Value> batchLike(mlir::Operation *op) const;

  const FeatureGroups &groups() const { return featureGroups; }
  /// The memory of an argument, or of a result or value that is computed already; null if there is none.
  mlir::Value memoryOf(mlir::Value value) const;
  /// Where tokens are read, and what is done to them in the load; null if that is not known.
  const Tokens *placeOf(mlir::Value value) const;
  /// The tokens that the rows of a value follow.
  const Tokens &rowsOf(mlir::Value value) const;
  fusion::Extent extentOf(mlir::Value rows, mlir::Value lengths) const;
  /// Features that a kernel of their own has written; null if they are made where they are read.
  const Tokens *featuresOf(attn::MapOp op) const;
  /// Has tokens where they can be read.
  mlir::LogicalResult bringTokens(mlir::Value value) { return mlir::LogicalResult(read(value)); }
  /// The weights of a softmax, where a tile that makes them has all keys of its rows, and nobody else wants its results; null: they need those.
  attn::SoftmaxWeightsOp weightsInTile(attn::SoftmaxOp softmax) const;
  /// Whether a term makes what it reads of a softmax of the weights in a tile.
  bool isMadeInTile(mlir::Operation *reader, mlir::Value value) const;
  void placeFeatures(attn::MapOp op, Tokens tokens) { features[op] = std::move(tokens); }
  /// A state in memory, of features in blocks of these widths.
  fusion::Source stateOf(mlir::Value matrix, mlir::Value sum, llvm::ArrayRef<int64_t> widths, const Place &at,
                         mlir::Value unit = {}, const RegionDraft *slices = nullptr, mlir::Value features = {}) const;

  /// The schedule of what may have slices of features and values. Others have whole rows (`startProblem`).
  tile::ScheduleAttr slices() const { return schedule; }
  bool makesGradients() const { return ofGradients; }
  /// So many columns of a row are multiplied with a state at a time; 0: all.
  int64_t columnsOfStates() const { return stateColumns; }
  /// Σ_part of the sums over keys that a region of keys has made, where a region reads them; none of other values.
  std::optional<Tiles> sumOfParts(mlir::Value value, const RegionDraft &draft, const Place &at) const;
  bool isInParts(mlir::Value value) const { return ofParts.contains(value); }
  bool isResult(mlir::Value value) const { return static_cast<bool>(memory(value)); }
  /// Whether a value may lie in a run's tensor, which has no slices.
  bool isStoredAsGiven(mlir::Value value) const { return isResult(value) || kept.contains(value); }

  /// The first kernels are named after the function alone.
  Problem startProblem();
  /// The problem of a kernel that streams keys alone, of so many heads.
  Problem keyProblem(const Problem &named, mlir::Value keys, mlir::Value lengths, int64_t heads) const;
  /// The problem of a kernel of blocks of the rows of `first`, which see such keys.
  Problem rowsProblem(const Problem &named, const WrittenValue &first, const SeenKeys &seen) const;
  /// Where a value that is no tokens is to be computed: the memory of a result, or a workspace for the batch of `like`.
  mlir::Value resultMemory(mlir::Value value, mlir::Value like);
  /// A workspace for features of tokens, as many as `source` has.
  Tokens allocateRows(mlir::Value source, int64_t heads, int64_t columns);
  StateMemory allocateState(const KeySums &sums, const RegionDraft *slices = nullptr);
  /// What queries read of EFFATT: its result, where it has that, or else a workspace.
  mlir::Value allocateMeans(attn::EffattOp op, llvm::ArrayRef<int64_t> shape, mlir::Value like);
  /// Numbers of the rows of `rows` and so many heads, which an op is the sum of.
  mlir::Value allocateSums(mlir::Operation *op, mlir::Value rows, int64_t heads, attn::WindowAttr window);
  /// What each entry and head adds to the gradient of a map's parameter, of as many heads as `rows` has.
  mlir::Value allocateParts(mlir::Operation *gradient, const Tokens &rows);
  /// Where the tokens of a rotation backwards begin; null: at 0.
  mlir::Value offsetOf(attn::RopeGradientOp op) const { return offsets.lookup(op); }
  mlir::Value meansOf(mlir::Operation *op) const { return means.lookup(op); }
  /// Adds states that query heads have of their own up over those that share one.
  mlir::LogicalResult writeStateSums(const Problem &problem, const StateMemory &ofHeads, const StateMemory &result);
  /// Builds the kernel of a region, and its launch.
  mlir::FailureOr<tile::KernelOp> buildKernel(const fusion::KernelRegion &region);

private:
  /// Computes `value` into `output`.
  mlir::LogicalResult write(mlir::Value value, const Output &output);
  /// Builds the kernel of a projection into `result`.
  mlir::LogicalResult buildProjection(mlir::Value x, const TokenProjection &projection, const Tokens &result);
  /// The memory of an argument or result, whether computed or not; null for others.
  mlir::Value memory(mlir::Value value) const { return value ? memories.lookupOrNull(value) : mlir::Value(); }

  // Regions of terms (Planner/TermRegions.cpp, of readouts ReadoutRegions.cpp).
  mlir::LogicalResult writeTerms(mlir::Value value, const Output &output);
  llvm::SmallVector<WrittenValue, 2> resultsOf(mlir::Value value, const Output &output, mlir::Operation *reduction) const;
  // What is made of the same tokens (Planner/SameTokens.cpp).
  bool isOfTokens(mlir::Value value, mlir::Value lengths) const;
  llvm::SmallVector<WrittenValue, 2> resultsOfSameTokens(mlir::Value value, const Output &output) const;
  attn::ContractOp stateOfSameTokens(llvm::ArrayRef<WrittenValue> outputs) const;
  mlir::LogicalResult writeWithState(attn::ContractOp state, llvm::ArrayRef<WrittenValue> outputs);
  /// Brings to memory what the terms of these values read that no region computes, and says which terms those are. What is made
  /// of tokens is left for `later`.
  mlir::LogicalResult prepare(llvm::ArrayRef<WrittenValue> outputs, OpSet &reads, OpSet &later);
  mlir::LogicalResult prepareOp(mlir::Operation *op, OpSet &reads, OpSet &later);
  mlir::LogicalResult prepareOperand(mlir::Operation *reader, mlir::Value value, Side side, OpSet &reads, OpSet &later);
  mlir::LogicalResult prepareNumbers(mlir::Value value);
  // Numbers of rows that are made before their readers (Planner/RowNumbers.cpp).
  /// A workspace for numbers of the rows of `rows` and so many heads. Of rows that see blocks of an image they are columns of one number each:
  /// such rows are folded in tiles of rank 2 alone.
  mlir::Value allocateNumbers(int64_t heads, mlir::Value rows, attn::WindowAttr window = {});
  /// Has numbers of rows written into a workspace by a kernel.
  mlir::LogicalResult writeNumbers(mlir::Value value, attn::WindowAttr window);
  /// The same for as many rows as these tokens have.
  mlir::LogicalResult writeNumbersOfRows(mlir::Value value, mlir::Value rows, attn::WindowAttr window);
  /// Has those in memory that are products of rows which the region of a sum over queries would make again for every tile of keys.
  mlir::LogicalResult bringRowProducts(mlir::Operation *reduction);
  mlir::LogicalResult materialize(mlir::Operation *op, const Problem &named);
  mlir::LogicalResult materializeAll(const OpSet &ops, const Problem &named);
  void setMaterialized(llvm::ArrayRef<mlir::Operation *> together);
  mlir::LogicalResult writeExistingRows(const Problem &named, llvm::ArrayRef<WrittenValue> outputs, mlir::Value lengths, OpSet reads);
  mlir::LogicalResult writeRows(const Problem &named, mlir::Operation *reduction, llvm::ArrayRef<WrittenValue> outputs, OpSet reads);
  mlir::LogicalResult writeKeys(const Problem &named, mlir::Operation *reduction, llvm::ArrayRef<WrittenValue> outputs, OpSet reads);
  mlir::LogicalResult writeReadoutGradient(const Problem &named, attn::CausalReadoutGradientOp op, llvm::ArrayRef<WrittenValue> outputs,
                                           const OpSet &reads);
  /// Spans of the pieces of a sequence that both passes cut into parts.
  StateMemory allocateSpans(const Problem &problem, attn::CausalReadoutGradientOp op, int64_t heads);
  mlir::LogicalResult writeKeyGradients(const Problem &problem, attn::CausalReadoutGradientOp op, llvm::ArrayRef<WrittenValue> outputs,
                                        const QuotientRows &quotient, const DecayShares &shares, const StateMemory &before, const OpSet &reads);
  QuotientRows allocateQuotient(int64_t heads, attn::CausalReadoutGradientOp op);
  /// The same of features and values in memory, of which a program has some (Planner/SlicedGradients.cpp).
  mlir::LogicalResult writeSlicedGradient(const Problem &problem, tile::ScheduleAttr ofRows, attn::CausalReadoutGradientOp op,
                                          llvm::ArrayRef<WrittenValue> ofQueries, llvm::ArrayRef<WrittenValue> ofKeys, const DecayShares &shares,
                                          const OpSet &reads);
  DecayShares allocateShares(attn::CausalReadoutGradientOp op);
  /// Where the cotangent of the state before the first token goes; no matrix: nobody asks for it.
  StateMemory stateGradients(attn::CausalReadoutGradientOp op, llvm::ArrayRef<WrittenValue> outputs);
  mlir::LogicalResult writeErasingGradient(const Problem &problem, attn::CausalReadoutGradientOp op, llvm::ArrayRef<WrittenValue> outputs,
                                           const DecayShares &shares, const StateMemory &before, const OpSet &reads);
  /// What is made of result `number`, summed up over heads that share one.
  mlir::LogicalResult writeSumsOfHeads(const Problem &problem, attn::CausalReadoutGradientOp op, unsigned number, llvm::ArrayRef<WrittenValue> outputs,
                                       const Tokens &ofHeads, const OpSet &reads);
  mlir::LogicalResult writeHeadSums(const Problem &named, attn::SumHeadsOp op, llvm::ArrayRef<WrittenValue> outputs, OpSet reads);
  mlir::LogicalResult writeStates(const Problem &named, attn::ReadoutOp op, llvm::ArrayRef<WrittenValue> outputs, OpSet reads);
  /// Where chunks are to leave their last state: nowhere, where no result is made of it. What others still read is not
  /// overwritten: then it is a workspace.
  std::pair<StateMemory, StateMemory> finalStates(const KeySums &sums, const Problem &chunks);
  mlir::LogicalResult writeAdvance(attn::AdvanceOp op);
  mlir::LogicalResult writeChunks(const Problem &named, attn::CausalReadoutOp op, llvm::ArrayRef<WrittenValue> outputs, OpSet reads);
  /// Folded tokens can be read through omega alone.
  mlir::LogicalResult checkFolded(mlir::func::FuncOp function) const;

  /// Where a result goes, or a part of one.
  Output outputOf(mlir::Value value) const;
  /// Parts of heads that are results side by side are results each.
  void placeParts(mlir::ValueRange results);
  mlir::LogicalResult writeConcat(attn::ConcatHeadsOp op, const Output &output);
  mlir::LogicalResult writeLepe(attn::LepeOp op, Output output);
  mlir::LogicalResult writeProjection(attn::ProjectOutputOp op, const Output &output);

  // Layers, and the gradients of their parameters (Planner/LayerGradients.cpp).

  /// Whether a value is a model's rows that output projections make: of one, or sums of several.
  static bool areModelRows(mlir::Value value);
  mlir::LogicalResult writeModelRows(mlir::Value value, const Output &output);
  /// The memory of a model's rows, an argument, whatever type they are converted to; null for others.
  mlir::Value modelMemory(mlir::Value rows) const;
  /// Where the weight of a projection lies, and how.
  mlir::FailureOr<OutputProjection> projectionOf(attn::ProjectOutputOp op);
  mlir::FailureOr<TokenProjection> projectionOf(attn::ProjectOp op);
  template <typename Projection, typename Op> mlir::FailureOr<Projection> projectionIn(Op op);
  mlir::LogicalResult writeWeightGradient(attn::WeightGradientOp op);
  mlir::LogicalResult writeTokenSum(attn::TokenSumOp op);

  // Gradients of low-rank compression (Planner/CompressionGradients.cpp).

  /// Eᵀ ȳ of tokens that exist.
  struct Transposed {
    mutable attn::ContractOp op; ///< accessors of ops are not const
    mlir::Value lengths;         ///< null: all exist
  };
  /// What makes a value, if that is all.
  static std::optional<Transposed> transposedCompression(mlir::Value value);
  /// As tokens, into an output or, if that has no memory, a workspace.
  mlir::FailureOr<Tokens> computeTransposed(const Transposed &value, Output into);
  /// Whether a value is the cotangent of E: a product, or the sum of several.
  static bool isCompressionWeight(mlir::Value value);
  mlir::LogicalResult writeCompressionWeight(mlir::Value value, const Output &output);

  // Sketches beside what reads them (Planner/SketchGradients.cpp).

  mlir::FailureOr<Tokens> computeSketch(attn::SketchOp op);
  mlir::FailureOr<Tokens> computeSketchGradient(attn::SketchGradientOp op);
  mlir::FailureOr<Tokens> computeSquare(attn::MapOp op);
  mlir::FailureOr<Tokens> computeSquareGradient(attn::MapGradientOp op);

  // Tokens in blocks that runs share (Planner/BlockRules.cpp).

  mlir::FailureOr<Tokens> computeTaken(attn::TakeFromBlocksOp op);
  mlir::FailureOr<Tokens> computePlaced(attn::PlaceInBlocksOp op);
  mlir::Value positionOf(mlir::Value position, mlir::Value like);

  // Gradients of positional encodings (Planner/LepeGradients.cpp).

  mlir::FailureOr<LepeGradient> readLepe(attn::LepeGradientOp op);
  mlir::LogicalResult writeLepeValues(attn::LepeGradientOp op, const Tokens &result, bool adds = false);
  /// A sum whose one term is v̄ of an encoding, which is added where the other one lies.
  struct LepeSum {
    attn::LepeGradientOp lepe;
    mlir::Value other;
  };
  /// That a result, or a part of one, is on a CPU; none: it is something else, or its memory has other numbers.
  std::optional<LepeSum> lepeSum(mlir::Value value) const;
  mlir::LogicalResult writeLepeSum(const LepeSum &sum, const Output &output);
  mlir::LogicalResult writeLepeGradient(mlir::Value result, const Output &output);

  // Gradients of the parameters of maps and masks (Planner/ParameterGradients.cpp).

  /// Whether a value is such a gradient: of one map, or the sum of several.
  static bool isMapParameter(mlir::Value value);
  mlir::LogicalResult writeMapParameter(mlir::Value value, const Output &output);
  /// Whether a value is the gradient of slopes: sums of distances, maybe scaled.
  static bool areDistanceSums(mlir::Value value);
  mlir::LogicalResult writeDistanceSums(mlir::Value value, const Output &output);
  mlir::LogicalResult writePolysketch(attn::PolysketchOp op, const Output &output);
  /// The memories that it goes on from and leaves.
  mlir::LogicalResult readStates(attn::PolysketchOp op, PolysketchOptions &options);
  mlir::LogicalResult buildAll(llvm::ArrayRef<fusion::KernelRegion> regions);

  // EVA, its terms and their gradients (Planner/EvaGradients.cpp).

  mlir::LogicalResult writeEva(attn::EvaOp op, const Output &output);
  mlir::Value placeSums(mlir::Value lse, mlir::Value query);
  mlir::Value allocateSummaries(const Problem &problem, const EvaShape &shape, int64_t width);
  EvaSummaries allocateSummaries(const Problem &problem, const EvaShape &shape);
  Tokens allocateTokens(mlir::Value result, const Tokens &like);
  mlir::Value sumInResult(mlir::Value term) const;
  /// Where a term goes: the first one of such a sum to the sum's memory, to which the second one `adds`; others to workspaces.
  Tokens placeTerm(mlir::Value term, const Tokens &like, bool &adds);
  template <typename Op> mlir::FailureOr<EvaSummaries> readSummaries(Op op);
  mlir::LogicalResult writeMix(attn::EvaMixOp op, const Output &output);
  /// All results of a term of EVA, or of the gradient of one; none: it is another op.
  std::optional<mlir::LogicalResult> computeEva(mlir::Operation *op);
  mlir::LogicalResult computeSummaries(attn::EvaSummariesOp op);
  mlir::LogicalResult computeMixGradient(attn::EvaMixGradientOp op);
  mlir::LogicalResult computeSummaryGradient(attn::EvaSummariesGradientOp op);
  // All sums of the same weights in one kernel (Planner/JointGradients.cpp).
  /// The sum over queries whose region also makes this sum over keys; null: there is none.
  attn::ContractOp partnerOf(mlir::Operation *reduction) const;
  /// Has a value computed that is made of this sum, if any is needed.
  mlir::LogicalResult writePartner(attn::ContractOp sum);
  /// Whether a sum lies in parts, or does so now that its partner is written. Null does not.
  mlir::FailureOr<bool> bringParts(mlir::Operation *reduction);
  llvm::SmallVector<attn::ContractOp> sumsBeside(const OpSet &reads, const void *stream) const;
  mlir::LogicalResult writeJointly(RegionDraft &draft, mlir::Operation *reduction, llvm::ArrayRef<WrittenValue> outputs, const Place &at,
                                   llvm::ArrayRef<attn::ContractOp> joint);
  /// The same with parts of the queries in place of the keys.
  mlir::LogicalResult writeJointlyByQueries(RegionDraft &draft, mlir::Operation *reduction, llvm::ArrayRef<WrittenValue> outputs, const Place &at,
                                            llvm::ArrayRef<attn::ContractOp> joint);
  bool cutsQueries(attn::ContractOp rows) const;
  /// Whether kernels may add to what lies in the memory of an output: f32 numbers, with nothing behind them, on a CPU (elsewhere that has not been measured).
  bool addsUpIn(const Output &output) const;
  /// The result that a sum of one part is, be it scaled, where it may be added up in the result's memory; it counts as written then.
  std::optional<RegionDraft::PartSum> placeInResult(attn::ContractOp sum);
  mlir::LogicalResult bringSum(mlir::Value sum, llvm::ArrayRef<WrittenValue> outputs, mlir::Value keys);
  /// What a run may give, or else is computed here (SavedTensors.cpp).
  mlir::LogicalResult placeSaved(mlir::func::FuncOp function);
  mlir::LogicalResult placeSaved(llvm::ArrayRef<attn::SavedOp> saved);
  bool isStoredFor(mlir::Value value, mlir::Value result) const;
  mlir::LogicalResult bringState(mlir::Operation *op);
  /// What a run leaves for its gradients, where it is asked for that (SavedTensors.cpp).
  mlir::LogicalResult writeLeft(mlir::func::FuncOp function);
  /// The memory of a value: that of the result that keeps it, where a run has it, else its own.
  mlir::Value orKept(mlir::Value value, mlir::Value own);
  mlir::LogicalResult writeAgent(attn::AgentOp op, const Output &output);
  /// Fills in what every mechanism has: q, k, v, key lengths, output.
  template <typename Op> mlir::LogicalResult readMechanism(Op op, Problem &problem, const Output &output) {
    problem.output = output;
    problem.lengths = memory(op.getLengths());
    return readAll({{op.getQuery(), &problem.query}, {op.getKey(), &problem.key}, {op.getValue(), &problem.value}});
  }
  /// Where tokens can be read.
  mlir::FailureOr<Tokens> read(mlir::Value value);
  mlir::FailureOr<Tokens> readOnce(mlir::Value value);
  static mlir::Value rowsBehind(mlir::Value value);
  mlir::FailureOr<Tokens> compute(mlir::Value value);
  mlir::FailureOr<Tokens> computeTokens(mlir::Value value);
  mlir::FailureOr<Tokens> computePooled(mlir::Operation *op);
  mlir::FailureOr<Tokens> computeProjection(attn::ProjectOp op);
  mlir::FailureOr<Tokens> computeFolded(attn::ProjectOp op, mlir::Value source);
  mlir::FailureOr<Tokens> computeCompression(attn::CompressOp op);
  mlir::FailureOr<Tokens> computeSlots(attn::CompressOp op, attn::ProjectOp project);
  mlir::FailureOr<Tokens> readRope(attn::RopeOp op);
  /// The position of token 0, as TokenStep has it.
  mlir::FailureOr<mlir::Value> offsetOf(mlir::Operation *rotation, mlir::Value aligned, const Tokens &tokens);
  mlir::LogicalResult prepareRotation(attn::RopeGradientOp op);
  /// What is done to tokens in the load, or by a kernel of its own where slices of them are read.
  mlir::FailureOr<Tokens> withStep(mlir::FailureOr<Tokens> tokens, TokenStep step, bool isWhole = false);
  /// Whether what reads features or tokens reads whole rows of them, also where tiles have slices.
  static bool isReadWhole(mlir::Value tokens);
  /// Has features stored of which readers have slices.
  void storeFeatures(mlir::func::FuncOp function);
  /// Features of gradients in units of their own, which keep them in range, have no slices.
  static tile::ScheduleAttr scheduleOf(mlir::func::FuncOp function, tile::ScheduleAttr schedule);
  mlir::LogicalResult readAll(llvm::ArrayRef<std::pair<mlir::Value, Tokens *>> values);

  mlir::Value weightOf(attn::CompressOp op) const;
  mlir::Value packedOr(const std::optional<PreparedWeight> &packing, mlir::Value weight) const;
  /// A workspace for tokens of the type of `value`; a dynamic size is that of `like`, a memory [batch, heads, tokens, …].
  Tokens workspaceFor(mlir::Value value, mlir::Value like);
  /// Where a result of the function, or of a part, lies that is still to be written, with nothing behind it; else such a workspace.
  Tokens placeFor(mlir::Value value, mlir::Value like);

  BuildSite &site;
  const mlir::IRMapping &memories;
  const PreparedTensors &prepared;
  std::string name;
  tile::ScheduleAttr schedule;
  int64_t stateColumns;
  llvm::raw_ostream *regions;
  FeatureGroups featureGroups;
  bool packed; ///< sequences lie end to end
  const bool ofGradients; ///< the function makes gradients
  llvm::DenseMap<mlir::Value, Tokens> computed;
  llvm::DenseMap<mlir::Value, mlir::Value> kept; ///< results that a run may leave out, by the values that they keep
  llvm::DenseMap<mlir::Operation *, Tokens> features;
  llvm::DenseMap<mlir::Operation *, mlir::Value> means;
  llvm::DenseMap<mlir::Operation *, mlir::Value> offsets; ///< of rotations backwards
  llvm::DenseMap<mlir::Value, mlir::Value> positions;     ///< of runs, in workspaces
  llvm::DenseMap<mlir::Value, mlir::Value> workspaces; ///< of values that are no tokens
  llvm::DenseMap<mlir::Value, mlir::Value> ofParts;    ///< sums of parts of the keys, [part, batch, heads, rows, columns]
  llvm::DenseMap<mlir::Value, mlir::Value> units;      ///< of the states whose S this is
  OpSet materialized;                                  ///< by kernels of their own
  llvm::SetVector<mlir::Value> missing;                ///< results that are to be computed
  llvm::DenseMap<mlir::Value, Output> parts;           ///< where parts of results go
  /// E x of a source, a weight and lengths: the heads of keys and values share it.
  std::map<std::tuple<void *, void *, void *>, CompressedInput> inputs;
  /// Launches that compute tokens: they come before those of every part that may read them.
  llvm::SmallPtrSet<mlir::Operation *, 8> ofTokens;
  unsigned problems = 0;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_HOSTBUILDER_H
