// A program of somebody else: builds a module of attention, asks what it would cost in which form, and runs a pipeline.
#include "attune/Attn/Attn.h"
#include "attune/Graph/Selection.h"
#include "attune/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

/// Causal attention of 8 heads of width 64 over 2048 tokens.
static mlir::OwningOpRef<mlir::ModuleOp> build(mlir::MLIRContext &context) {
  mlir::OpBuilder builder(&context);
  mlir::Location place = builder.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(place);
  builder.setInsertionPointToEnd(module->getBody());
  auto tensor = mlir::RankedTensorType::get({1, 8, 2048, 64}, builder.getF32Type());
  auto function =
      mlir::func::FuncOp::create(builder, place, "decoder", builder.getFunctionType({tensor, tensor, tensor}, tensor));
  mlir::Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  auto softmax = attune::attn::SoftmaxOp::create(builder, place, tensor, /*lse=*/mlir::Type(), body->getArgument(0),
                                                 body->getArgument(1), body->getArgument(2), /*lengths=*/mlir::Value(), /*slopes=*/mlir::Value(),
                                                 llvm::APFloat(0.125), /*causal=*/true, /*window=*/nullptr, /*last=*/nullptr,
                                                 /*softcap=*/nullptr, /*execution=*/nullptr);
  mlir::func::ReturnOp::create(builder, place, softmax.getOutput());
  return module;
}

static bool printPlan(mlir::ModuleOp module) {
  attune::graph::SelectOptions options;
  auto device = attune::cost::DeviceDescription::named("h100-sxm");
  if (!device)
    return llvm::errs() << llvm::toString(device.takeError()) << "\n", false;
  options.device = *device;
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  auto selection = attune::graph::selectRewrites(*copy, options);
  if (failed(selection))
    return false;
  for (const attune::graph::FunctionSelection &function : selection->functions)
    llvm::outs() << "plan of " << function.function << " on " << function.device << ", "
                 << (function.seconds > 0 ? "priced" : "not priced") << ", kernels: " << function.kernels.size() << "\n";
  return true;
}

int main() {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  attune::registerAllDialects(registry);
  attune::registerAllPasses();
  mlir::MLIRContext context(registry);
  context.loadDialect<attune::attn::AttnDialect, mlir::func::FuncDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = build(context);
  if (!printPlan(*module))
    return 1;
  mlir::PassManager manager(&context);
  if (failed(mlir::parsePassPipeline("attn-select-rewrites,attn-to-tile", manager)) || failed(manager.run(*module)))
    return 1;
  module->print(llvm::outs());
  llvm::outs() << "\n";
  return 0;
}
