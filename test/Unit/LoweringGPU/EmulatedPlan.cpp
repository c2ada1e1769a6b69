//===- EmulatedPlan.cpp - A plan in the emulator -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host function is small: sizes, index arithmetic, workspaces, launches. It is evaluated as it stands.
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "attune/Lowering/GPU/Passes.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <cstring>

using namespace mlir;
using namespace attune;
using namespace attune::test;

std::optional<DevicePlan> test::lowerPlan(OwningOpRef<ModuleOp> module, const std::string &chip,
                                          device::Products products) {
  PassManager fold(module->getContext());
  fold.addPass(device::createFoldGrids());
  if (failed(fold.run(*module)))
    return std::nullopt;
  DevicePlan plan{std::move(module), nullptr, chip};
  plan.host = plan.kernels->clone();
  for (auto host : llvm::make_early_inc_range(plan.kernels->getOps<func::FuncOp>()))
    host.erase();
  PassManager lower(plan.kernels->getContext());
  device::buildTileToGpuPipeline(lower, {chip, 0, products});
  return failed(lower.run(*plan.kernels)) ? std::nullopt : std::optional<DevicePlan>(std::move(plan));
}

EmulatedPlan::EmulatedPlan(const DevicePlan &plan, bool shuffled, uint64_t seed)
    : host(*plan.host), kernels(deviceKernels(*plan.kernels)) {
  auto ptx = emitPtx(*plan.kernels, plan.chip, /*threads=*/1);
  if (failed(ptx))
    llvm::report_fatal_error("the kernels do not translate");
  EmulatorOptions options;
  options.shuffleSchedule = shuffled, options.seed = seed, options.chip = plan.chip;
  auto created = DeviceEmulator::createFromPtx(*ptx, options);
  if (!created) // in a build without assertions cantFail would go on with no emulator
    llvm::report_fatal_error(created.takeError());
  emulator = std::move(*created);
}

namespace {
/// Evaluates the host function.
struct Host {
  DeviceEmulator &emulator;
  llvm::ArrayRef<DeviceKernel> kernels;
  llvm::DenseMap<Value, int64_t> numbers;
  llvm::DenseMap<Value, Tensor> memories;
  std::vector<std::vector<float>> workspaces;

  Host(DeviceEmulator &emulator, llvm::ArrayRef<DeviceKernel> kernels) : emulator(emulator), kernels(kernels) {}
  int64_t number(Value value) { return numbers.lookup(value); }
  void evaluate(Operation &op);
  void allocate(tile::WorkspaceOp op);
  void launch(tile::LaunchOp op);
};
} // namespace

void Host::allocate(tile::WorkspaceOp op) {
  Tensor tensor;
  auto dynamic = op.getSizes().begin();
  int64_t count = 1;
  for (int64_t size : cast<MemRefType>(op.getType()).getShape())
    tensor.sizes.push_back(ShapedType::isDynamic(size) ? number(*dynamic++) : size);
  for (int64_t size : llvm::reverse(tensor.sizes))
    tensor.strides.insert(tensor.strides.begin(), count), count *= size;
  workspaces.emplace_back(count + 64, NAN);
  auto address = llvm::alignTo(reinterpret_cast<uintptr_t>(workspaces.back().data()), 64);
  tensor.data = reinterpret_cast<void *>(address);
  emulator.addGlobal(tensor.data, count * 4, "workspace");
  memories[op.getResult()] = tensor;
}

void Host::launch(tile::LaunchOp op) {
  std::vector<uint64_t> slots;
  for (Value argument : op.getArguments()) {
    if (argument.getType().isIndex()) {
      slots.push_back(number(argument));
      continue;
    }
    const Tensor &tensor = memories.find(argument)->second;
    slots.push_back(reinterpret_cast<uint64_t>(tensor.data));
    slots.insert(slots.end(), tensor.sizes.begin(), tensor.sizes.end());
    slots.insert(slots.end(), tensor.strides.begin(), tensor.strides.end());
  }
  uint32_t grid[3] = {1, 1, 1};
  for (auto [axis, size] : llvm::enumerate(op.getGrid()))
    grid[axis] = number(size);
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return;
  for (const DeviceKernel &kernel : kernels)
    if (kernel.name == op.getCallee())
      llvm::cantFail(emulator.launch(kernel.name, {grid[0], grid[1], grid[2]}, {uint32_t(kernel.blockSize), 1, 1},
                                     kernel.sharedBytes, slots));
}

void Host::evaluate(Operation &op) {
  auto both = [&](auto function) { numbers[op.getResult(0)] = function(number(op.getOperand(0)), number(op.getOperand(1))); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    numbers[constant] = cast<IntegerAttr>(constant.getValue()).getInt();
  else if (auto dim = dyn_cast<memref::DimOp>(op))
    numbers[dim] = memories.find(dim.getSource())->second.sizes[number(dim.getIndex())];
  else if (isa<arith::CeilDivUIOp>(op))
    both([](int64_t a, int64_t b) { return (a + b - 1) / b; });
  else if (isa<arith::AddIOp>(op))
    both([](int64_t a, int64_t b) { return a + b; });
  else if (isa<arith::MulIOp>(op))
    both([](int64_t a, int64_t b) { return a * b; });
  else if (auto workspace = dyn_cast<tile::WorkspaceOp>(op))
    allocate(workspace);
  else if (auto launched = dyn_cast<tile::LaunchOp>(op))
    launch(launched);
  else if (!isa<func::ReturnOp>(op))
    llvm::report_fatal_error(llvm::Twine("host operation not known to the test: ") + op.getName().getStringRef());
}

void EmulatedPlan::run(const std::vector<Tensor> &arguments) {
  auto function = *host.getOps<func::FuncOp>().begin();
  emulator->clearGlobals();
  Host state(*emulator, kernels);
  for (auto [argument, tensor] : llvm::zip_equal(function.getArguments(), arguments)) {
    auto type = cast<MemRefType>(argument.getType());
    int64_t elements = 1;
    for (auto [size, stride] : llvm::zip(tensor.sizes, tensor.strides))
      elements += size == 0 ? 0 : (size - 1) * stride;
    if (llvm::is_contained(tensor.sizes, 0))
      elements = 0;
    emulator->addGlobal(tensor.data, elements * type.getElementTypeBitWidth() / 8, "argument");
    state.memories[argument] = tensor;
  }
  for (Operation &op : function.getBody().front())
    state.evaluate(op);
}
