//===- LaunchedKernel.cpp - A kernel with its launches --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LaunchedKernel.h"

#include "KernelFrame.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static int64_t numberOf(Value size) {
  APInt number;
  return matchPattern(size, m_ConstantInt(&number)) ? number.getSExtValue() : ShapedType::kDynamic;
}

SmallVector<int64_t> LaunchedKernel::gridShape() const {
  SmallVector<int64_t> shape(tile::KernelOp(kernel).getGrid().size(), ShapedType::kDynamic);
  for (auto [axis, size] : llvm::enumerate(shape)) {
    auto sizeOf = [axis = axis](tile::LaunchOp launch) { return numberOf(launch.getGrid()[axis]); };
    SmallVector<int64_t> sizes = llvm::map_to_vector(launches, sizeOf);
    if (!sizes.empty() && llvm::all_equal(sizes))
      size = sizes.front();
  }
  return shape;
}

static void setArgumentTypes(tile::KernelOp kernel, ArrayRef<Type> types) {
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), types, {}));
}

Value LaunchedKernel::addArgument(MemRefType type, ValueRange values) {
  for (auto [launch, value] : llvm::zip_equal(launches, values))
    launch.getArgumentsMutable().append(value);
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.push_back(type);
  setArgumentTypes(kernel, types);
  return kernel.getBody().addArgument(type, kernel.getLoc());
}

LaunchedKernel LaunchedKernel::clone(StringRef name) {
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(kernel);
  std::string free = kernelName(kernel->getParentOp(), name);
  LaunchedKernel result{cast<tile::KernelOp>(builder.clone(*kernel)), {}};
  result.kernel.setSymName(free);
  for (tile::LaunchOp launch : launches) {
    builder.setInsertionPointAfter(launch);
    result.launches.push_back(cast<tile::LaunchOp>(builder.clone(*launch)));
    result.launches.back().setCallee(result.kernel.getSymName());
  }
  return result;
}

void LaunchedKernel::removeArgument(unsigned number) {
  kernel.getBody().eraseArgument(number);
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.erase(types.begin() + number);
  setArgumentTypes(kernel, types);
  for (tile::LaunchOp launch : launches)
    launch.getArgumentsMutable().erase(number);
}

void LaunchedKernel::removeUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (unsigned number = kernel.getBody().getNumArguments(); number-- > 0;)
    if (kernel.getBody().getArgument(number).use_empty())
      removeArgument(number);
}
