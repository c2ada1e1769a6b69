//===- attune-eval.cpp - The interpreters on the command line ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attune-eval FILE.mlir [options] ARGUMENT...
//
// Runs a function of attn ops, a host function of tile ops, or with --grid a kernel. An argument is
//
//   PATH.npy             a tensor or memory, rounded to the element type of the function's argument
//   PATH.npy=2x4x64      a memory of that shape that the function writes; written to PATH.npy afterwards
//   new:2x4x64           the same, not written to a file
//   7  or  0.5           an index or integer, or a float
//
// and the results of a function of attn ops go to the files of -o, in order. Files are f64, with --faithful f32.
//
//===----------------------------------------------------------------------===//
#include "attune/InitAll.h"
#include "attune/Reference/EvalAttn.h"
#include "attune/Reference/EvalTile.h"
#include "attune/Reference/HostArrays.h"
#include "attune/Support/TensorFiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

#include <limits>

using namespace attune;
using namespace attune::reference;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required, cl::desc("FILE.mlir"));
static cl::list<std::string> argumentTexts(cl::Positional, cl::desc("ARGUMENT..."));
static cl::opt<std::string> functionName("function", cl::desc("The function or kernel to run (default: the first)"));
static cl::list<std::string> outputs("o", cl::desc("A file for the next result"));
static cl::list<int64_t> grid("grid", cl::CommaSeparated, cl::desc("Run a kernel over this grid"));
static cl::list<int64_t> rows("rows", cl::CommaSeparated, cl::desc("Compute these queries only"));
static cl::opt<bool> faithful("faithful", cl::desc("Round every value to its element type"));
static cl::opt<uint64_t> seed("seed", cl::desc("Order of the programs"));
static cl::opt<bool> noRaces("allow-races", cl::desc("Do not check that programs stay apart"));

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 2;
}

/// `2x4x64`; nullopt if it is not a shape.
static std::optional<llvm::SmallVector<int64_t>> parseShape(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, 'x');
  llvm::SmallVector<int64_t> shape;
  for (llvm::StringRef part : parts)
    if (part.getAsInteger(10, shape.emplace_back()))
      return std::nullopt;
  return elementCount(shape) ? std::optional(shape) : std::nullopt;
}

static std::optional<Argument> parseNumber(llvm::StringRef text, mlir::Type type) {
  int64_t integer;
  double number;
  if (mlir::isa<mlir::FloatType>(type))
    return text.getAsDouble(number) ? std::nullopt : std::optional<Argument>(number);
  return text.getAsInteger(10, integer) ? std::nullopt : std::optional<Argument>(integer);
}

/// An argument from its text; the error is printed. Memories to be written are NaN before.
static std::optional<Argument> parseArgument(llvm::StringRef text, mlir::Type type) {
  auto [path, shapeText] = text.split('=');
  bool isNew = path.consume_front("new:");
  if (isNew || !shapeText.empty()) {
    if (auto shape = parseShape(isNew ? path : shapeText))
      return Array(*shape, std::numeric_limits<double>::quiet_NaN());
  } else if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type)) {
    llvm::Expected<HostTensor> tensor = readNpy(path);
    if (tensor)
      return toArray(*tensor, shaped.getElementType());
    llvm::errs() << llvm::toString(tensor.takeError()) << "\n";
    return std::nullopt;
  } else if (std::optional<Argument> number = parseNumber(text, type)) {
    return number;
  }
  llvm::errs() << "error: expected an argument of type " << type << ", but got '" << text << "'\n";
  return std::nullopt;
}

static bool write(llvm::StringRef path, const Array &array) {
  llvm::Error error = writeNpy(path, toHostTensor(array, faithful ? ElementType::F32 : ElementType::F64));
  if (!error)
    return true;
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  return false;
}

static Precision precision() { return faithful ? Precision::Faithful : Precision::Ideal; }

static int runAttn(mlir::func::FuncOp function, llvm::ArrayRef<Argument> arguments) {
  std::vector<Array> arrays;
  for (const Argument &argument : arguments) {
    if (!std::holds_alternative<Array>(argument))
      return fail("expected tensors as arguments");
    arrays.push_back(std::get<Array>(argument));
  }
  EvalAttnOptions options{precision(), std::nullopt};
  if (!rows.empty())
    options.rows = std::vector<int64_t>(rows.begin(), rows.end());
  mlir::FailureOr<std::vector<Array>> results = evalAttn(function, arrays, options);
  if (mlir::failed(results))
    return 1;
  if (results->size() != outputs.size())
    return fail("expected -o for each of " + llvm::Twine(results->size()) + " results");
  for (auto [path, array] : llvm::zip_equal(outputs, *results))
    if (!write(path, array))
      return 1;
  return 0;
}

static int runTile(mlir::FunctionOpInterface function, llvm::ArrayRef<Argument> arguments) {
  EvalTileOptions options{precision(), seed, !noRaces};
  auto kernel = mlir::dyn_cast<tile::KernelOp>(function.getOperation());
  auto result = kernel ? evalKernel(kernel, llvm::SmallVector<int64_t>(grid.begin(), grid.end()), arguments, options)
                       : evalTile(mlir::cast<mlir::func::FuncOp>(function.getOperation()), arguments, options);
  if (mlir::failed(result))
    return 1;
  for (auto [text, argument] : llvm::zip_equal(argumentTexts, arguments)) {
    auto [path, shape] = llvm::StringRef(text).split('=');
    if (!shape.empty() && !write(path, std::get<Array>(argument)))
      return 1;
  }
  return 0;
}

/// The function or kernel that was asked for.
static mlir::FunctionOpInterface findFunction(mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::FunctionOpInterface>()) {
    bool isAsked = functionName.empty() ? mlir::isa<tile::KernelOp>(function.getOperation()) == !grid.empty()
                                        : function.getName() == functionName;
    if (isAsked)
      return function;
  }
  return {};
}

static int run(mlir::FunctionOpInterface function) {
  if (function.getNumArguments() != argumentTexts.size())
    return fail("expected " + llvm::Twine(function.getNumArguments()) + " arguments, but got " +
                llvm::Twine(argumentTexts.size()));
  std::vector<Argument> arguments;
  for (auto [text, type] : llvm::zip_equal(argumentTexts, function.getArgumentTypes())) {
    std::optional<Argument> argument = parseArgument(text, type);
    if (!argument)
      return 2;
    arguments.push_back(std::move(*argument));
  }
  bool isAttn = llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<mlir::TensorType>);
  return isAttn ? runAttn(mlir::cast<mlir::func::FuncOp>(function.getOperation()), arguments)
                : runTile(function, arguments);
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Interpreters of the attn and tile dialects\n");
  mlir::DialectRegistry registry;
  attune::registerAllDialects(registry);
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(file, sources, &context);
  if (!module)
    return 2;
  mlir::FunctionOpInterface function = findFunction(*module);
  return function ? run(function) : fail("expected a function to run, but got none");
}
