//===- JointGradients.cpp - All sums of the same weights in one kernel ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   a program has a part of the keys:
//     for each key tile:  for each query tile that sees it:  w = …;  v̄ += w₁ᵀ ō,  k̄ += w₂ᵀ q,  Q[part] += w₂ k
//   rows:  q̄ = Σ_part Q[part], where it is read
//
// Weights are made once, for five products of pairs in place of seven. A part adds to rows of its own memory, one tile of keys after another, so
// sums have an order that sizes alone decide. There are at most eight parts: memory grows by that many times q̄, and no further. On a GPU a program
// would have too much to do. Where the keys are few, for instance compressed ones, it is queries that are cut: a part has rows of Q of its own, and
// k̄ = Σ_part K[part], v̄ = Σ_part V[part]. In windows a program has the keys and queries of one, and
// Q has one part, of which each window has its rows: q̄ itself where that has this type and at most a factor more, which the keys get.
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include "HostBuilder.h"
#include "Regions/KeyStage.h"
#include "Terms.h"
#include "attune/Attn/Packed.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static constexpr SequenceCuts cutsOfTokens{/*parts=*/partsOfGradients, /*perPart=*/1, /*chunk=*/512};

static bool hasParts(Value memory) { return cast<MemRefType>(memory.getType()).getRank() == 5; }

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The sum over queries of the weights that this is the sum over keys of; null if there is none.
static attn::ContractOp sumOfSameWeights(attn::ContractOp rows) {
  for (Operation *user : rows.getLhs().getUsers())
    if (auto sum = dyn_cast<attn::ContractOp>(user); sum && sum.getLhs() == rows.getLhs() && sumsQueries(sum))
      return sum;
  return nullptr;
}

/// Whether a kernel of rows reads these weights in any case, as those that are divided by their sum.
static bool haveOtherSums(Value weights) {
  return llvm::any_of(weights.getUsers(), [](Operation *user) {
    const TermRule *rule = ruleOf(user);
    return rule && rule->frame == Frame::Rows && !isa<attn::ContractOp>(user);
  });
}

/// Whether what streams the queries of `sum` is made of what `rows` sums up.
static bool readsSumsOf(attn::ContractOp sum, Operation *rows) {
  llvm::SmallPtrSet<Operation *, 32> made{rows};
  for (Operation *op = rows->getNextNode(); op; op = op->getNextNode()) {
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return made.contains(operand.getDefiningOp()); }))
      continue;
    made.insert(op);
    auto other = dyn_cast<attn::ContractOp>(op);
    if (other && sumsQueries(other) && streamOf(other) == streamOf(sum))
      return true;
  }
  return false;
}

/// Whether there are known to be few keys, for more queries than that: then the programs of queries are worth more than what they save.
static bool areFew(Value keys, Value queries) {
  int64_t count = shapeOf(keys)[2], rows = shapeOf(queries)[2];
  return !ShapedType::isDynamic(count) && count < cutsOfTokens.chunk && (ShapedType::isDynamic(rows) || rows > count);
}

/// Whether query heads map the keys that they share each in a way of its own: then what is summed over those heads is a stream of queries for
/// each sum, and each would add to the same rows.
static bool areMappedApart(Value keys) {
  auto map = keys.getDefiningOp<attn::MapOp>();
  return map && shapeOf(map.getResult())[1] != shapeOf(map.getSource())[1];
}

attn::ContractOp HostBuilder::partnerOf(Operation *reduction) const {
  auto rows = dyn_cast_or_null<attn::ContractOp>(reduction);
  if (!rows || !sumsKeys(rows) || schedule.getTarget() != tile::TargetKind::CPU || schedule.isSliced())
    return nullptr;
  attn::ContractOp sum = sumOfSameWeights(rows);
  if (!sum || attn::isPacked(rows->getParentOfType<func::FuncOp>()) || !sumsAsWritten(rows) || haveOtherSums(rows.getLhs()))
    return nullptr;
  if (areMappedApart(rows.getRhs()) || readsSumsOf(sum, rows))
    return nullptr;
  SeenKeys seen = keysOfSum(rows);
  bool few = !seen.window && areFew(seen.keys, rowsOfPairs(rows.getLhs()));
  return few && !cutsQueries(rows) ? attn::ContractOp() : sum;
}

FailureOr<bool> HostBuilder::bringParts(Operation *reduction) {
  if (!reduction)
    return false;
  attn::ContractOp partner = isInParts(reduction->getResult(0)) ? attn::ContractOp() : partnerOf(reduction);
  if (partner && failed(writePartner(partner)))
    return failure();
  return isInParts(reduction->getResult(0));
}

/// Few keys, which all queries of a program's part see, and of which each query head has its own.
bool HostBuilder::cutsQueries(attn::ContractOp rows) const {
  SeenKeys seen = keysOfSum(rows);
  int64_t heads = shapeOf(rows.getResult())[1];
  auto isOwn = [&](Operation *user) {
    auto sum = dyn_cast<attn::ContractOp>(user);
    return !sum || !sumsQueries(sum) || (shapeOf(sum.getResult())[1] == heads && llvm::none_of(sum->getUsers(), llvm::IsaPred<attn::SumHeadsOp>));
  };
  return !seen.window && areFew(seen.keys, rowsOfPairs(rows.getLhs())) && !seen.causal && !seen.last && !seen.lengths && shapeOf(seen.keys)[1] == heads &&
         llvm::all_of(rows.getLhs().getUsers(), isOwn);
}

LogicalResult HostBuilder::writePartner(attn::ContractOp sum) {
  auto isBehind = [&](Value value) {
    Operation *reduction = isState(value) ? nullptr : reductionOf(value);
    return reduction && frameOf(reduction) == Frame::Keys && streamOf(reduction) == streamOf(sum);
  };
  for (Value value : missing)
    if (isBehind(value))
      return write(value, outputOf(value));
  for (Operation &op : *sum->getBlock())
    for (Value value : op.getResults())
      if (shapeOf(value).size() == 4 && !arePairs(value) && isBehind(value) &&
          llvm::any_of(value.getUsers(), [&](Operation *user) { return llvm::none_of(user->getResults(), isBehind); }))
        return LogicalResult(read(value));
  return success();
}

SmallVector<attn::ContractOp> HostBuilder::sumsBeside(const OpSet &reads, const void *stream) const {
  SmallVector<attn::ContractOp> joint;
  for (Operation *op : reads) {
    auto sum = dyn_cast<attn::ContractOp>(op);
    if (!sum || !sumsQueries(sum) || streamOf(sum) != stream)
      continue;
    for (Operation *user : sum.getLhs().getUsers())
      if (auto rows = dyn_cast<attn::ContractOp>(user); rows && rows.getLhs() == sum.getLhs() && !isInParts(rows.getResult()) && partnerOf(rows) &&
                                                        !llvm::is_contained(joint, rows))
        joint.push_back(rows);
  }
  return joint;
}

/// Where rows of a part's sums lie, [part, batch, head, rows, columns]; in windows, which see no others' keys, without parts.
static SmallVector<Dimension, 4> placeInPart(Value memory, const Dimension &columns, Axis head, Axis rows = Axis::Query, int64_t firstHead = 0) {
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), {head, 1, firstHead}, rowsOf(rows), columns};
  if (hasParts(memory))
    place.insert(place.begin(), entryOf(Axis::Part));
  return place;
}

Source kernel::scaledKeys(Value keys, double factor, RegionDraft &draft, const Place &at) {
  auto scales = [&](const RegionDraft::PartSum &joint) { return joint.factor != 1 && joint.factor == factor && attn::ContractOp(joint.sum).getRhs() == keys; };
  SmallVector<Source> blocks = llvm::any_of(draft.partSums, scales) ? draft.blocks(keys, at) : SmallVector<Source>();
  if (blocks.size() != 1)
    return nullptr;
  Source &scaled = draft.shared(blocks.front().get());
  if (!scaled)
    scaled = term(terms::scale(factor), {blocks.front()});
  return scaled;
}

/// The products with a tile of keys, added to what lies there.
static void appendSums(SmallVectorImpl<RegionOutput> &outputs, const RegionDraft::PartSum &joint, RegionDraft &draft, const Place &at) {
  attn::ContractOp rows = joint.sum;
  Source w = visibleWeights(rows.getLhs(), draft, {Axis::Query, at.head, at.heads});
  for (auto [x, columns] : llvm::zip_equal(draft.blocks(rows.getRhs(), at), blockColumns(featureWidths(rows.getRhs())))) {
    SmallVector<Dimension, 4> place = placeInPart(joint.memory, columns, at.head, Axis::Query, joint.firstHead);
    if (Source scaled = scaledKeys(rows.getRhs(), joint.factor, draft, at))
      x = scaled;
    else if (joint.factor != 1)
      x = term(terms::scale(joint.factor), {x});
    Source before = joint.once ? term(terms::zeros(setOf({Axis::Key, Axis::Query}), Axis::Query, columns.count), {})
                               : fusion::memory(joint.memory, place, setOf({Axis::Key, Axis::Query}));
    outputs.push_back({term(terms::pairSums(draft.wide(), /*transposed=*/false), {before, w, x}), joint.memory, place});
  }
}

SmallVector<RegionOutput, 1> kernel::sumsOfParts(RegionDraft &draft, const Place &at) {
  SmallVector<RegionOutput, 1> outputs;
  for (const RegionDraft::PartSum &joint : draft.partSums)
    appendSums(outputs, joint, draft, at);
  return outputs;
}

/// Zeros for all rows of the program's part.
static Source clearParts(const RegionDraft &draft, const Place &at) {
  Stage queries{Axis::Query, draft.problem.queryTile(), {{"all", Border::Begin, Border::End, false}}, draft.plan.extents};
  SmallVector<RegionOutput, 1> outputs;
  for (const RegionDraft::PartSum &joint : draft.partSums) {
    if (joint.once)
      continue;
    for (const Dimension &columns : blockColumns(featureWidths(attn::ContractOp(joint.sum).getRhs()))) {
      AxisSet places = setOf({Axis::Batch, Axis::Head, Axis::Query}) | (hasParts(joint.memory) ? setOf(Axis::Part) : AxisSet());
      outputs.push_back({term(terms::zeros(places, Axis::Query, columns.count), {}), joint.memory, placeInPart(joint.memory, columns, Axis::Head, Axis::Query, joint.firstHead)});
    }
  }
  Source clear = stream(queries, {terms::nothing(), {}, outputs});
  if (at.head == Axis::Head)
    return clear;
  return stream(membersOf(draft.plan, at.head, draft.problem.heads() / at.heads), {terms::nothing(), {}, {}, {clear}});
}

bool HostBuilder::addsUpIn(const Output &output) const {
  return schedule.getTarget() == tile::TargetKind::CPU && output.memory && !output.lepe && !output.projection &&
         cast<MemRefType>(output.memory.getType()).getElementType().isF32();
}

std::optional<RegionDraft::PartSum> HostBuilder::placeInResult(attn::ContractOp sum) {
  Value value = sum.getResult();
  double factor = 1;
  auto scale = value.hasOneUse() ? dyn_cast<attn::ScaleOp>(*value.user_begin()) : attn::ScaleOp();
  if (scale)
    value = scale.getResult(), factor = scale.getFactor().convertToDouble();
  if (!missing.contains(value) || !value.hasOneUse())
    return std::nullopt;
  Output output = outputOf(value);
  if (!addsUpIn(output))
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(value);
  computed[value] = Tokens{output.memory, output.firstHead, shape[1], shape[3], {}};
  missing.remove(value);
  return RegionDraft::PartSum{sum, output.memory, output.firstHead, factor};
}

LogicalResult HostBuilder::writeJointly(RegionDraft &draft, Operation *reduction, ArrayRef<WrittenValue> outputs, const Place &at,
                                        ArrayRef<attn::ContractOp> joint) {
  bool inParts = !draft.problem.window;
  auto extents = std::make_shared<Extents>(*draft.plan.extents);
  Extent &keys = (*extents)[Axis::Key], &part = (*extents)[Axis::Part];
  if (inParts)
    part.memory = keys.memory, part.dimension = keys.dimension, part.cuts = cutsOfTokens, keys.ofPart = true;
  else
    keys.causal.reset(), keys.pastLengths = true; // all keys of the window: no query is chosen yet, and each has a gradient
  draft.plan.extents = extents;
  TileBuilder host(site.host, site.loc);
  Value all = host.dim(keys.memory, keys.dimension), rows = draft.problem.query.memory;
  Value batch = host.dim(rows, 0), count = tokenCount(host, rows);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  for (attn::ContractOp sum : joint) {
    if (std::optional<RegionDraft::PartSum> placed = inParts ? std::nullopt : placeInResult(sum)) {
      SeenKeys seen = keysOfSum(sum);
      placed->once = areOneTile(seen, schedule) && !seen.causal && !seen.last;
      draft.partSums.push_back(*placed);
      continue;
    }
    ArrayRef<int64_t> shape = shapeOf(sum.getResult());
    Value memory = inParts ? site.workspace({dynamic, dynamic, shape[1], dynamic, shape[3]}, {cutsOfTokens.partCount(host, all), batch, count})
                           : workspaceFor(sum.getResult(), rows).memory;
    draft.partSums.push_back({sum, memory}), ofParts[sum.getResult()] = memory;
  }
  Stage stage{Axis::Key, draft.problem.keyTile(), {{"keys", Border::Begin, Border::End, /*masked=*/true}}, extents};
  SmallVector<RegionOutput, 1> stored;
  for (const WrittenValue &each : outputs)
    llvm::append_range(stored, everyRowOf(draft, each, at));
  KernelRegion region = stateKernel(draft.plan, ruleOf(reduction)->kernel, at.head);
  if (inParts)
    region.grid.push_back({Axis::Part, tile::Axis::KeyPiece});
  region.effects = {stream(stage, {terms::nothing(), {}, stored})};
  if (!llvm::all_of(draft.partSums, [](const RegionDraft::PartSum &each) { return each.once; }))
    region.effects.insert(region.effects.begin(), clearParts(draft, at));
  return buildKernel(region);
}

LogicalResult HostBuilder::writeJointlyByQueries(RegionDraft &draft, Operation *reduction, ArrayRef<WrittenValue> outputs, const Place &at,
                                                 ArrayRef<attn::ContractOp> joint) {
  auto extents = std::make_shared<Extents>(*draft.plan.extents);
  Extent &queries = (*extents)[Axis::Query], &part = (*extents)[Axis::Part];
  part.memory = queries.memory, part.dimension = queries.dimension, part.cuts = cutsOfTokens;
  queries.ofPart = true;
  draft.plan.extents = extents;
  TileBuilder host(site.host, site.loc);
  Value rows = draft.problem.query.memory, keys = draft.problem.key.memory;
  Value batch = host.dim(rows, 0), parts = cutsOfTokens.partCount(host, host.dim(queries.memory, queries.dimension));
  constexpr int64_t dynamic = ShapedType::kDynamic;
  for (attn::ContractOp sum : joint) {
    Value memory = workspaceFor(sum.getResult(), rows).memory;
    draft.partSums.push_back({sum, memory}), ofParts[sum.getResult()] = memory;
  }
  SmallVector<RegionOutput, 1> stored;
  SmallVector<RegionDraft::PartSum, 2> keySums;
  for (attn::ContractOp sum : sumsOverQueries(draft, streamOf(reduction))) {
    ArrayRef<int64_t> shape = shapeOf(sum.getResult());
    Value memory = site.workspace({dynamic, dynamic, shape[1], dynamic, shape[3]}, {parts, batch, tokenCount(host, keys)});
    Tiles tiles = draft.tiles(sum.getResult(), at);
    for (auto [which, columns] : llvm::zip_equal(tiles.which, blockColumns(featureWidths(sum.getRhs()))))
      stored.push_back({tiles.source, memory, placeInPart(memory, columns, at.head, Axis::Key), which});
    keySums.push_back({sum, memory});
  }
  Stage stage{Axis::Key, draft.problem.keyTile(), {{"keys", Border::Begin, Border::End, /*masked=*/true}}, extents};
  KernelRegion region = stateKernel(draft.plan, ruleOf(reduction)->kernel, at.head);
  region.grid.push_back({Axis::Part, tile::Axis::KeyPiece});
  region.effects = {clearParts(draft, at), stream(stage, {terms::nothing(), {}, stored})};
  if (failed(buildKernel(region)))
    return failure();
  for (const RegionDraft::PartSum &each : keySums)
    ofParts[attn::ContractOp(each.sum).getResult()] = each.memory;
  for (const WrittenValue &each : outputs)
    if (failed(writeTerms(each.value, each.output)))
      return failure();
  for (const RegionDraft::PartSum &each : keySums)
    if (failed(bringSum(attn::ContractOp(each.sum).getResult(), outputs, keys)))
      return failure();
  return success();
}

/// Has a sum of parts where tokens are, if others read it: a kernel that cuts tokens itself has no axis to sum up others' parts.
LogicalResult HostBuilder::bringSum(Value sum, ArrayRef<WrittenValue> outputs, Value keys) {
  auto isWritten = [&](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() || llvm::any_of(outputs, [&](const WrittenValue &each) { return each.value.getDefiningOp() == user; });
  };
  if (llvm::all_of(sum.getUsers(), isWritten))
    return success();
  Tokens tokens = workspaceFor(sum, keys);
  if (failed(writeTerms(sum, Output{tokens.memory, 0, std::nullopt})))
    return failure();
  computed[sum] = tokens;
  ofParts.erase(sum);
  return success();
}

std::optional<Tiles> HostBuilder::sumOfParts(Value value, const RegionDraft &draft, const Place &at) const {
  Value memory = ofParts.lookup(value);
  if (!memory)
    return std::nullopt;
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<Source> loads;
  int64_t tile = at.tokens == Axis::Key ? draft.problem.keyTile() : draft.problem.queryTile();
  for (const Dimension &columns : blockColumns(featureWidths(value))) {
    shapes.push_back({tile, columns.count});
    loads.push_back(fusion::memory(memory, placeInPart(memory, columns, at.head, at.tokens)));
  }
  unsigned tiles = loads.size();
  Source each = tiles == 1 ? loads.front() : term(terms::blocks(), loads);
  if (!hasParts(memory))
    return Tiles{each, llvm::to_vector<2>(llvm::seq<unsigned>(0, tiles)), tiles};
  auto extents = std::make_shared<Extents>(*draft.plan.extents);
  (*extents)[Axis::Part].memory = memory;
  Stage parts{Axis::Part, 1, {{"parts", Border::Begin, Border::End, false}}, extents};
  Source sum = stream(parts, {terms::compose(Representation::Plain, shapes), {each}});
  return Tiles{sum, llvm::to_vector<2>(llvm::seq<unsigned>(0, tiles)), tiles};
}
