//===- CompileIndices.cpp - Indices of kernels as arithmetic on sizes -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CompileIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::cost;

using Length = FailureOr<std::optional<Register>>;

IndexCompiler::IndexCompiler(CountProgram &program, tile::LaunchOp launch, tile::KernelOp kernel)
    : program(program), launch(launch), kernel(kernel) {}

Value IndexCompiler::passed(BlockArgument argument) { return launch.getArguments()[argument.getArgNumber()]; }

//===----------------------------------------------------------------------===//
// Sizes of memories
//===----------------------------------------------------------------------===//

Register IndexCompiler::inputOf(unsigned argument, unsigned dimension) {
  auto *place = llvm::find_if(program.inputs, [&](const SizeInput &input) {
    return input.argument == argument && input.dimension == dimension;
  });
  if (place == program.inputs.end()) {
    program.inputs.push_back({argument, dimension});
    place = &program.inputs.back();
  }
  return program.sizes.input(static_cast<unsigned>(place - program.inputs.begin()) + 1);
}

FailureOr<Register> IndexCompiler::sizeOf(Value memory, unsigned dimension) {
  int64_t size = cast<MemRefType>(memory.getType()).getDimSize(dimension);
  if (ShapedType::isStatic(size))
    return program.sizes.constant(size);
  if (auto collapse = memory.getDefiningOp<memref::CollapseShapeOp>()) {
    Register product = program.sizes.constant(1);
    for (int64_t source : collapse.getReassociationIndices()[dimension]) {
      FailureOr<Register> part = sizeOf(collapse.getSrc(), static_cast<unsigned>(source));
      if (failed(part))
        return failure();
      product = program.sizes.binary(Step::Mul, product, *part);
    }
    return product;
  }
  auto argument = dyn_cast<BlockArgument>(memory);
  if (argument && argument.getOwner() == &kernel.getBody().front())
    return sizeOf(passed(argument), dimension);
  return sizeOfHostMemory(memory, dimension);
}

FailureOr<Register> IndexCompiler::sizeOfHostMemory(Value memory, unsigned dimension) {
  if (auto either = memory.getDefiningOp<tile::EitherOp>()) // both have the same sizes where both are there
    memory = either.getOther();
  if (auto group = memory.getDefiningOp<tile::GroupHeadsOp>()) {
    FailureOr<Register> size = sizeOfHostMemory(group.getSource(), dimension);
    return failed(size) || dimension != 2 ? size : FailureOr<Register>(program.sizes.withConstant(Step::Mul, *size, group.getGroup()));
  }
  if (auto argument = dyn_cast<BlockArgument>(memory))
    return inputOf(argument.getArgNumber(), dimension);
  auto workspace = memory.getDefiningOp<tile::WorkspaceOp>();
  if (!workspace)
    return emitError(memory.getLoc()) << "expected a memory that is an argument or a workspace, to know its sizes";
  auto type = cast<MemRefType>(memory.getType());
  return indexOf(workspace.getSizes()[type.getDynamicDimIndex(dimension)]);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Length IndexCompiler::lengthOf(Value index) {
  auto place = known.find(index);
  if (place != known.end())
    return place->second;
  Length length = compile(index);
  if (succeeded(length))
    known[index] = *length;
  return length;
}

FailureOr<Register> IndexCompiler::indexOf(Value index) {
  Length length = lengthOf(index);
  if (failed(length))
    return failure();
  if (!*length)
    return emitError(index.getLoc())
           << "expected the length of a sequence to be the operand of a minimum, but got it as a bound or an index";
  return **length;
}

/// What an op on two integers is; none if it is another op.
static std::optional<Step> stepOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Step>>(op)
      .Case([](arith::AddIOp) { return Step::Add; })
      .Case([](arith::SubIOp) { return Step::Sub; })
      .Case([](arith::MulIOp) { return Step::Mul; })
      .Case<arith::DivUIOp, arith::FloorDivSIOp>([](Operation *) { return Step::FloorDiv; })
      .Case([](arith::RemUIOp) { return Step::Rem; })
      .Case<arith::MinSIOp, arith::MinUIOp>([](Operation *) { return Step::Min; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([](Operation *) { return Step::Max; })
      .Default([](Operation *) { return std::optional<Step>(); });
}

Length IndexCompiler::compile(Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index))
    return ofArgument(argument);
  Operation *op = index.getDefiningOp();
  if (std::optional<Step> step = stepOf(op))
    return ofBinary(op, *step);
  return llvm::TypeSwitch<Operation *, Length>(op)
      .Case([&](arith::ConstantIndexOp constant) { return std::optional(program.sizes.constant(constant.value())); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](auto division) -> Length {
        FailureOr<Register> a = indexOf(division.getLhs()), b = indexOf(division.getRhs());
        return failed(a) || failed(b) ? Length(failure()) : std::optional(program.sizes.ceilDiv(*a, *b));
      })
      .Case([&](arith::IndexCastOp cast) { return lengthOf(cast.getIn()); })
      .Case([&](memref::DimOp dim) { return ofDim(dim); })
      .Case([&](memref::LoadOp) { return std::optional<Register>(); })
      .Case([&](tile::AnyOp) { return std::optional(program.sizes.input(0)); })
      .Case([&](tile::ProgramIdOp id) {
        return std::optional(program.sizes.variable(*kernel.getGridPosition(id.getAxis())));
      })
      .Default([](Operation *op) -> Length {
        return op->emitOpError() << "expected an op on indices whose results can be counted";
      });
}

Length IndexCompiler::ofArgument(BlockArgument argument) {
  if (argument.getOwner() == &kernel.getBody().front())
    return lengthOf(passed(argument));
  return emitError(argument.getLoc())
         << "expected an index that sizes decide, but got argument " << argument.getArgNumber();
}

/// With a length as large as can be a minimum is its other operand, and everything else is as large.
Length IndexCompiler::ofBinary(Operation *op, Step step) {
  Length a = lengthOf(op->getOperand(0)), b = lengthOf(op->getOperand(1));
  if (failed(a) || failed(b))
    return failure();
  if (*a && *b)
    return std::optional(program.sizes.binary(step, **a, **b));
  if (step == Step::Min)
    return *a ? *a : *b;
  if (!*b && step != Step::Max && step != Step::Add)
    return op->emitOpError() << "expected an operand that sizes decide, but got the length of a sequence";
  return std::optional<Register>();
}

Length IndexCompiler::ofDim(Operation *op) {
  auto dim = cast<memref::DimOp>(op);
  std::optional<int64_t> dimension = dim.getConstantIndex();
  if (!dimension || !isa<MemRefType>(dim.getSource().getType()))
    return op->emitOpError() << "expected a constant dimension of a ranked memory";
  FailureOr<Register> size = sizeOf(dim.getSource(), static_cast<unsigned>(*dimension));
  return failed(size) ? Length(failure()) : Length(std::optional(*size));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

FailureOr<unsigned> IndexCompiler::enter(tile::LoopOp loop) {
  FailureOr<Register> lower = indexOf(loop.getLower()), upper = indexOf(loop.getUpper());
  if (failed(lower) || failed(upper))
    return failure();
  auto number = static_cast<unsigned>(program.counts.size());
  if (number >= mostVariables)
    return loop.emitOpError() << "expected at most " << mostVariables << " loops and axes of the grid";
  SizeProgram &sizes = program.sizes;
  auto step = static_cast<int64_t>(loop.getStep());
  Register distance = sizes.binary(Step::Sub, *upper, *lower);
  Register steps = sizes.ceilDiv(distance, sizes.constant(step));
  program.counts.push_back(sizes.withConstant(Step::Max, steps, 0));
  Register passed = sizes.withConstant(Step::Mul, sizes.variable(number), step);
  known[loop.getInductionVar()] = sizes.binary(Step::Add, *lower, passed);
  return number;
}
