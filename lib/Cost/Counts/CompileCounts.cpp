//===- CompileCounts.cpp - From the IR of a launch to its counts ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of a block are executed once a step of every loop around it. What an access touches depends on the steps,
// too: of a tile whose rows follow those of the last step the rows are counted at once, from the first step's first one
// to the last step's last one, and a loop that does so is no factor any more.
//
//===----------------------------------------------------------------------===//
#include "CompileIndices.h"
#include "Footprints.h"
#include "LiveTiles.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::cost;
using tile::Counted;

namespace {
/// A loop around an op.
struct Around {
  std::optional<unsigned> variable; ///< none where one program of so many runs it
  Register count;                   ///< of its steps, or of those programs
};

class CountCompiler {
public:
  CountCompiler(CountProgram &program, tile::LaunchOp launch, tile::KernelOp kernel, const Instructions &instructions)
      : program(program), sizes(program.sizes), indices(program, launch, kernel), instructions(instructions) {}

  LogicalResult compileGrid(tile::LaunchOp launch);
  LogicalResult compile(Block &block);

private:
  LogicalResult compileLoop(tile::LoopOp loop);
  LogicalResult compileOp(Operation &op, Issued &computed);
  LogicalResult compileAccess(const tile::MemoryAccess &access, const Requests &requests);
  FailureOr<Register> comesInPieces(const tile::MemoryAccess &access, const Requests &requests);
  FailureOr<Extent> rowsOf(const tile::MemoryAccess &access);
  FailureOr<Extent> columnsOf(const tile::MemoryAccess &access);
  FailureOr<Register> endOfFold(const tile::MemoryAccess &access, Register size);
  bool unroll(Extent &extent, const Around &loop);
  Register countOf(const Extent &extent);
  CountTerm termOf(ArrayRef<Around> around, ArrayRef<Register> extents);
  void addTerm(ArrayRef<Around> around, ArrayRef<Register> extents, const Issued &issued, double bytesInPieces = 0);
  SmallVector<Around> allLoops() const { return SmallVector<Around>(llvm::reverse(loops)); }
  unsigned sumOf(Variables variables, ArrayRef<Register> factors);
  Variables withCounts(Variables variables) const;

  CountProgram &program;
  SizeProgram &sizes;
  IndexCompiler indices;
  const Instructions &instructions;
  SmallVector<Around> loops;
};
} // namespace

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// The variables, and those that their counts depend on.
Variables CountCompiler::withCounts(Variables variables) const {
  for (unsigned i = program.counts.size(); i-- > 0;) // counts depend on earlier variables
    if (variables >> i & 1)
      variables |= sizes.variablesOf(program.counts[i]);
  return variables;
}

unsigned CountCompiler::sumOf(Variables variables, ArrayRef<Register> factors) {
  FactorSum sum;
  sum.factors.assign(factors.begin(), factors.end());
  for (unsigned i = 0; i < program.counts.size(); ++i)
    if (variables >> i & 1)
      sum.variables.push_back(i);
  for (unsigned i = 0; i < program.sums.size(); ++i)
    if (program.sums[i].variables == sum.variables && program.sums[i].factors == sum.factors)
      return i;
  std::vector<bool> needed(sizes.instructions().size());
  for (Register factor : factors)
    needed[factor] = true;
  for (size_t i = needed.size(); i-- > 0;) {
    const Instruction &made = sizes.instructions()[i];
    if (!needed[i] || !made.variables)
      continue;
    sum.needed.push_back(static_cast<Register>(i));
    if (made.step != Step::Variable)
      needed[made.a] = needed[made.b] = true;
  }
  std::reverse(sum.needed.begin(), sum.needed.end());
  program.sums.push_back(std::move(sum));
  return program.sums.size() - 1;
}

/// The factors in groups that share no variable. `around` has the innermost loop first.
CountTerm CountCompiler::termOf(ArrayRef<Around> around, ArrayRef<Register> extents) {
  CountTerm term;
  SmallVector<Register> factors(extents);
  Variables summed = 0;
  for (Register factor : factors)
    summed |= withCounts(sizes.variablesOf(factor));
  for (const Around &loop : around) // inner loops first: a loop whose step nothing depends on is a factor
    if (!loop.variable)
      term.divisors.push_back(loop.count);
    else if (!(summed >> *loop.variable & 1))
      factors.push_back(loop.count), summed |= withCounts(sizes.variablesOf(loop.count));
  llvm::sort(factors);
  SmallVector<std::pair<Variables, SmallVector<Register, 4>>> groups;
  Variables counted = 0;
  for (Register factor : factors) {
    Variables variables = withCounts(sizes.variablesOf(factor));
    if (sizes.constantOf(factor) == 1)
      continue;
    if (!variables) {
      term.factors.push_back(factor);
      continue;
    }
    SmallVector<Register, 4> group{factor};
    for (auto &[others, members] : groups)
      if (others & variables)
        variables |= others, group.append(members), others = 0;
    llvm::erase_if(groups, [](const auto &other) { return other.first == 0; });
    groups.push_back({variables, group});
    counted |= variables;
  }
  for (auto &[variables, group] : groups)
    llvm::sort(group), term.sums.push_back(sumOf(variables, group));
  for (unsigned axis = 0; axis < program.axes; ++axis)
    if (!(counted >> axis & 1))
      term.factors.push_back(program.counts[axis]);
  llvm::sort(term.sums), llvm::sort(term.factors);
  return term;
}

void CountCompiler::addTerm(ArrayRef<Around> around, ArrayRef<Register> extents, const Issued &issued, double bytesInPieces) {
  CountTerm term = termOf(around, extents);
  term.issued = issued, term.bytesInPieces = bytesInPieces;
  for (CountTerm &other : program.terms)
    if (other.sums == term.sums && other.factors == term.factors && other.divisors == term.divisors) {
      other.bytesInPieces += bytesInPieces;
      return other.issued.add(term.issued);
    }
  program.terms.push_back(std::move(term));
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The token of a window at which the rows of the memory end: row = first + ⌊w / C⌋ S + w mod C grows with w.
FailureOr<Register> CountCompiler::endOfFold(const tile::MemoryAccess &access, Register size) {
  FailureOr<Register> origin = indices.indexOf(access.indices[access.indices.size() - 2]);
  if (failed(origin))
    return failure();
  Register left = sizes.withConstant(Step::Max, sizes.binary(Step::Sub, size, *origin), 0);
  Register lines = sizes.withConstant(Step::FloorDiv, left, access.stride);
  Register rest = sizes.binary(Step::Sub, left, sizes.withConstant(Step::Mul, lines, access.stride));
  return sizes.binary(Step::Add, sizes.withConstant(Step::Mul, lines, access.columns),
                      sizes.withConstant(Step::Min, rest, access.columns));
}

FailureOr<Extent> CountCompiler::rowsOf(const tile::MemoryAccess &access) {
  auto dimension = static_cast<unsigned>(access.indices.size() - access.tile.getRank());
  FailureOr<Register> size = indices.sizeOf(access.memory, dimension);
  FailureOr<Register> first = indices.indexOf(access.fold ? access.fold : access.indices[dimension]);
  if (failed(size) || failed(first))
    return failure();
  FailureOr<Register> limit = access.fold ? endOfFold(access, *size) : size;
  if (failed(limit))
    return failure();
  Extent extent{*first, sizes.constant(access.tile.getDimSize(0)), std::nullopt, *limit};
  if (access.rows) {
    FailureOr<std::optional<Register>> rows = indices.lengthOf(access.rows);
    if (failed(rows))
      return failure();
    extent.limit = *rows ? sizes.binary(Step::Min, extent.limit, **rows) : extent.limit;
  }
  if (access.lower) {
    FailureOr<Register> lower = indices.indexOf(access.lower);
    if (failed(lower))
      return failure();
    extent.lower = sizes.withConstant(Step::Max, *lower, 0);
  }
  return extent;
}

FailureOr<Extent> CountCompiler::columnsOf(const tile::MemoryAccess &access) {
  auto dimension = static_cast<unsigned>(access.indices.size() - 1);
  FailureOr<Register> first = indices.indexOf(access.indices.back()), size = indices.sizeOf(access.memory, dimension);
  if (failed(first) || failed(size))
    return failure();
  return Extent{*first, sizes.constant(access.tile.getDimSize(1)), std::nullopt, *size};
}

/// Counts the extents of all steps of a loop as one, if each begins where the last one ended.
bool CountCompiler::unroll(Extent &extent, const Around &loop) {
  Variables variable = Variables(1) << *loop.variable;
  bool isBound = (sizes.variablesOf(extent.limit) | sizes.variablesOf(extent.length) |
                  (extent.lower ? sizes.variablesOf(*extent.lower) : 0)) & variable;
  std::optional<int64_t> slope = sizes.slopeOf(extent.first, *loop.variable);
  if (isBound || !slope || slope != sizes.constantOf(extent.length))
    return false;
  extent.first = sizes.atZero(extent.first, *loop.variable);
  extent.length = sizes.binary(Step::Mul, loop.count, extent.length);
  return true;
}

Register CountCompiler::countOf(const Extent &extent) {
  Register lower = extent.lower.value_or(sizes.constant(0)), limit = sizes.binary(Step::Max, extent.limit, lower);
  auto within = [&](Register place) {
    Register below = sizes.binary(Step::Min, place, limit);
    return extent.lower ? sizes.binary(Step::Max, below, lower) : below;
  };
  return sizes.binary(Step::Sub, within(sizes.binary(Step::Add, extent.first, extent.length)), within(extent.first));
}

/// 1 if rows are asked for in pieces, else 0: if they begin at multiples of a piece, in a memory that does and has no gaps, and, where that
/// matters, if what exists of them ends with one.
FailureOr<Register> CountCompiler::comesInPieces(const tile::MemoryAccess &access, const Requests &requests) {
  if (!requests.pieceBytes)
    return sizes.constant(0);
  FailureOr<Extent> columns = columnsOf(access);
  if (failed(columns))
    return failure();
  int64_t elements = requests.pieceBytes * 8 / access.tile.getElementTypeBitWidth();
  Register left = sizes.binary(Step::Sub, columns->limit, columns->first);
  Register ends = sizes.binary(Step::Min, left, columns->length), over = sizes.constant(0);
  for (Register number : {columns->limit, columns->first, requests.onlyWholePieces ? ends : columns->first})
    over = sizes.binary(Step::Add, over, sizes.withConstant(Step::Rem, number, elements));
  return sizes.binary(Step::Sub, sizes.constant(1), sizes.withConstant(Step::Min, over, 1));
}

LogicalResult CountCompiler::compileAccess(const tile::MemoryAccess &access, const Requests &requests) {
  SmallVector<Extent, 2> extents;
  FailureOr<Extent> rows = rowsOf(access);
  if (failed(rows))
    return failure();
  extents.push_back(*rows);
  if (access.tile.getRank() == 2) {
    FailureOr<Extent> columns = columnsOf(access);
    if (failed(columns))
      return failure();
    extents.push_back(*columns);
  }
  if (failed(compileTouch(program, indices, access, extents)))
    return failure();
  SmallVector<Around> around;
  for (const Around &loop : llvm::reverse(loops)) {
    auto moves = [&](const Extent &extent) {
      return loop.variable && sizes.variablesOf(extent.first) >> *loop.variable & 1;
    };
    Extent *moving = llvm::find_if(extents, moves);
    bool alone = moving != extents.end() && llvm::count_if(extents, moves) == 1;
    if (!alone || !unroll(*moving, loop))
      around.push_back(loop);
  }
  SmallVector<Register, 2> factors;
  for (const Extent &extent : extents)
    factors.push_back(countOf(extent));
  double bytes = requests.copies * access.tile.getElementTypeBitWidth() / 8.0;
  auto moved = tile::OpCount::of(access.stores ? Counted::BytesStored : Counted::BytesLoaded, bytes);
  FailureOr<Register> inPieces = comesInPieces(access, requests);
  if (failed(inPieces))
    return failure();
  bool always = sizes.constantOf(*inPieces) == 1, never = sizes.constantOf(*inPieces) == 0;
  addTerm(around, factors, {moved, 0}, always ? bytes : 0);
  if (!never && requests.shufflesInPieces > 0)
    addTerm(allLoops(), *inPieces, {{}, requests.shufflesInPieces});
  factors.push_back(*inPieces);
  if (!never && !always)
    addTerm(around, factors, {}, bytes);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool isTile(Type type) { return isa<RankedTensorType>(type); }

LogicalResult CountCompiler::compileOp(Operation &op, Issued &computed) {
  if (auto loop = dyn_cast<tile::LoopOp>(op))
    return compileLoop(loop);
  if (op.getNumRegions() > 0)
    return op.emitOpError() << "expected no regions but those of loops, which alone can be counted";
  if (op.hasTrait<OpTrait::ConstantLike>()) { // once, wherever it stands
    if (Issued issued = instructions.issuedFor(&op); issued != Issued())
      addTerm({}, {}, issued);
    return success();
  }
  if (op.hasTrait<OpTrait::IsTerminator>())
    return success();
  auto counted = dyn_cast<tile::CostOpInterface>(op);
  bool ofTiles = llvm::any_of(op.getOperandTypes(), isTile) || llvm::any_of(op.getResultTypes(), isTile);
  if (!counted && ofTiles && !instructions.knows(&op))
    return op.emitOpError() << "expected an op that says what it does (CostOpInterface)";
  computed.add(instructions.issuedFor(&op));
  std::optional<tile::MemoryAccess> access = counted ? counted.getAccess() : std::nullopt;
  return access ? compileAccess(*access, instructions.requestsFor(&op)) : success();
}

LogicalResult CountCompiler::compile(Block &block) {
  Issued computed;
  for (Operation &op : block)
    if (failed(compileOp(op, computed)))
      return failure();
  if (computed != Issued())
    addTerm(allLoops(), {}, computed);
  return success();
}

/// A loop from 0 to the result of `tile.arrive` is run by one of so many programs.
LogicalResult CountCompiler::compileLoop(tile::LoopOp loop) {
  if (auto arrive = loop.getUpper().getDefiningOp<tile::ArriveOp>()) {
    FailureOr<Register> programs = indices.indexOf(arrive.getCount());
    if (failed(programs))
      return failure();
    if (!matchPattern(loop.getLower(), m_Zero()) || sizes.variablesOf(*programs))
      return loop.emitOpError()
             << "expected a loop from 0 of the last one of a group whose size is the same for all programs";
    indices.define(loop.getInductionVar(), sizes.constant(0));
    loops.push_back({std::nullopt, *programs});
  } else {
    FailureOr<unsigned> variable = indices.enter(loop);
    if (failed(variable))
      return failure();
    loops.push_back({*variable, program.counts[*variable]});
  }
  LogicalResult result = compile(loop.getBody().front());
  if (double carried = carriedBytes(loop); carried > 0 && loops.back().variable)
    program.carries.push_back(
        {termOf(allLoops(), {}), carried, liveBytes(loop.getBody().front())});
  loops.pop_back();
  return result;
}

LogicalResult CountCompiler::compileGrid(tile::LaunchOp launch) {
  program.axes = launch.getGrid().size();
  for (Value size : launch.getGrid()) {
    FailureOr<Register> programs = indices.indexOf(size);
    if (failed(programs))
      return failure();
    program.counts.push_back(*programs);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

KernelCounts::KernelCounts(std::unique_ptr<CountProgram> program) : program(std::move(program)) {}
KernelCounts::KernelCounts(KernelCounts &&) = default;
KernelCounts &KernelCounts::operator=(KernelCounts &&) = default;
KernelCounts::~KernelCounts() = default;

FailureOr<KernelCounts> KernelCounts::compile(tile::LaunchOp launch, const Instructions &instructions) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(launch, launch.getCalleeAttr());
  auto program = std::make_unique<CountProgram>();
  CountCompiler compiler(*program, launch, kernel, instructions);
  if (failed(compiler.compileGrid(launch)) || failed(compiler.compile(kernel.getBody().front())))
    return failure();
  program->liveBytes = cost::liveBytes(kernel.getBody().front());
  return KernelCounts(std::move(program));
}

ArrayRef<SizeInput> KernelCounts::inputs() const { return program->inputs; }
double KernelCounts::liveBytes() const { return program->liveBytes; }
size_t KernelCounts::size() const { return program->sizes.instructions().size(); }

bool KernelCounts::hasSeveralAxes() const {
  return llvm::any_of(program->sums, [&](const FactorSum &sum) {
    return sum.variables.size() > 1 && sum.variables[1] < program->axes;
  });
}
