//===- attn-opt.cpp - Runs passes of Attune and MLIR over a file ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/InitAll.h"
#include "attune/Laws/LawList.h"
#include "attune/Laws/LawTests.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace {
enum class LawFormat { None, Text, Table, Tests };
} // namespace

static llvm::cl::opt<LawFormat> listLaws(
    "attn-list-laws", llvm::cl::desc("Print every algebraic law, its condition and who applies it, and do nothing else"),
    llvm::cl::ValueOptional, llvm::cl::init(LawFormat::None),
    llvm::cl::values(clEnumValN(LawFormat::Text, "", "a paragraph a law"),
                     clEnumValN(LawFormat::Text, "text", "a paragraph a law"),
                     clEnumValN(LawFormat::Table, "markdown", "the tables of docs/Laws.md"),
                     clEnumValN(LawFormat::Tests, "tests", "where each is tested, the last table of docs/Laws.md")));

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  attune::registerAllDialects(registry);
  mlir::registerAllPasses();
  attune::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "Attune pass driver\n", registry);
  if (listLaws == LawFormat::None)
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  if (listLaws == LawFormat::Tests)
    return attune::printLawTests(llvm::outs()), 0;
  listLaws == LawFormat::Text ? attune::printLaws(llvm::outs()) : attune::printLawTable(llvm::outs());
  return 0;
}
