//===- RegionsPass.cpp - Functions of attention as kernels of regions ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RegionsPass.h"

#include "HostBuilder.h"
#include "RegionOfProblem.h"
#include "Signature.h"
#include "attune/Kernel/Passes.h"
#include "attune/Kernel/Schedule.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attune;

namespace {
/// Builds regions also of what attn-to-tile does not build from regions yet.
class RegionHost : public kernel::HostBuilder {
public:
  RegionHost(kernel::BuildSite &site, const IRMapping &memories, const kernel::PreparedTensors &prepared,
             std::string name, tile::ScheduleAttr schedule, test::BuiltRegions &regions)
      : HostBuilder(site, memories, prepared, std::move(name), schedule), regions(regions) {}

protected:
  LogicalResult buildForm(const kernel::Partition &partition, const kernel::Problem &problem,
                          const kernel::FeatureMap &map) override {
    if (std::optional<fusion::KernelRegion> region = test::regionOfForm(partition, problem, map))
      return onTrial(*region);
    return HostBuilder::buildForm(partition, problem, map);
  }
  LogicalResult buildExponents(const kernel::Partition &partition, const kernel::Problem &problem,
                               const kernel::FeatureMap &map) override {
    if (std::optional<fusion::KernelRegion> region = test::regionOfExponents(partition, problem, map))
      return onTrial(*region);
    return HostBuilder::buildExponents(partition, problem, map);
  }
  LogicalResult buildKernel(const fusion::KernelRegion &region) override {
    llvm::raw_string_ostream os(regions.printed.emplace_back());
    region.print(os);
    return HostBuilder::buildKernel(region);
  }

private:
  LogicalResult onTrial(const fusion::KernelRegion &region) {
    ++regions.onTrial;
    return buildKernel(region);
  }

  test::BuiltRegions &regions;
};
} // namespace

/// `prepares`: whether the function that fills the prepared tensors is still to be made.
static LogicalResult lower(ModuleOp module, func::FuncOp source, ArrayRef<kernel::PreparedWeight> weights,
                           tile::TargetKind target, bool prepares, test::BuiltRegions &regions) {
  IRMapping memories;
  func::FuncOp host = kernel::makeHost(source, memories);
  kernel::PreparedTensors tensors = kernel::addPreparedArguments(host, source, weights);
  auto schedule = source->getAttrOfType<tile::ScheduleAttr>("tile.schedule");
  if (!schedule)
    schedule = kernel::defaultSchedule(target, cast<ShapedType>(source.getResultTypes().front()).getElementType());
  if (prepares)
    kernel::buildPrepareFunction(module, host, source, weights, schedule);
  OpBuilder builder = OpBuilder::atBlockEnd(&host.getBody().front());
  kernel::BuildSite site{module, builder, source.getLoc()};
  RegionHost hostBuilder(site, memories, tensors, host.getName().str(), schedule, regions);
  Value output = source.getBody().front().getTerminator()->getOperand(0);
  if (failed(hostBuilder.write(output, kernel::Output{memories.lookup(output), 0, std::nullopt})))
    return failure();
  func::ReturnOp::create(builder, source.getLoc());
  source.erase();
  return success();
}

/// The plans of a library share one set of prepared tensors; any other function has its own.
static LogicalResult lowerAll(ModuleOp module, tile::TargetKind target, test::BuiltRegions &regions) {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  auto isPlan = [](func::FuncOp function) { return function->hasAttr("attn.plan"); };
  auto ofPlans = kernel::preparedWeights(llvm::filter_to_vector(functions, isPlan), target);
  bool prepared = false;
  for (func::FuncOp function : functions) {
    bool plan = isPlan(function);
    auto weights = plan ? ofPlans : kernel::preparedWeights(function, target);
    if (failed(weights) || failed(lower(module, function, *weights, target, !prepared || !plan, regions)))
      return failure();
    prepared |= plan;
  }
  return success();
}

OwningOpRef<ModuleOp> test::toTile(ModuleOp source, tile::TargetKind target, BuiltRegions *regions) {
  OwningOpRef<ModuleOp> module = source.clone();
  PassManager manager(module->getContext());
  if (!regions)
    manager.addPass(kernel::createAttnToTile({target}));
  else if (failed(lowerAll(*module, target, *regions)))
    return {};
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  return succeeded(manager.run(*module)) ? std::move(module) : OwningOpRef<ModuleOp>();
}
