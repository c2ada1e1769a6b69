//===- Compilation.h - One spec on its way to a library ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds a spec (or a file in the attn dialect) and takes it through the stages, one after another. Every tool goes this
// way; what a stage is made of stands in Pipelines.h.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_COMPILATION_H
#define ATTUNE_PIPELINE_COMPILATION_H

#include "attune/Frontend/Spec.h"
#include "attune/Target/LibraryDescription.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace attune {

class LoadedLibrary;

/// Where a module stands; each stage includes those before it.
enum class Stage { Attn, Graph, Tile, Llvm };

class Compilation {
public:
  /// Opens a .yaml spec or a .mlir file, of attn ops or of kernels and host functions as stage Tile makes them. Prints
  /// what is wrong, now and in later stages, to `errors` and sets `status` (SPEC §5) if it returns null. `target` is "cpu"
  /// or a GPU architecture such as "sm_80".
  static std::unique_ptr<Compilation> open(llvm::StringRef path, llvm::StringRef target, int &status,
                                           llvm::raw_ostream &errors = llvm::errs());
  /// A spec that has been parsed from `path`, perhaps changed since.
  static std::unique_ptr<Compilation> fromSpec(Spec spec, llvm::StringRef path, llvm::StringRef target, int &status,
                                               llvm::raw_ostream &errors = llvm::errs());
  /// What a .mlir file holds, text or bytecode (BytecodeToText.h); its name stands in messages.
  static std::unique_ptr<Compilation> fromModule(llvm::MemoryBufferRef bytes, llvm::StringRef target, int &status,
                                                 llvm::raw_ostream &errors = llvm::errs());
  /// The dialects of such a file.
  static mlir::DialectRegistry registry();
  ~Compilation();

  /// From now on the module is written to `folder` after each stage, the one that it is at first, as N-stage.mlir.
  void dumpTo(llvm::StringRef folder) { dumpFolder = folder.str(); }

  /// From now on plans are priced for this device: a name, or a path that ends in .yaml. At first it is the default one
  /// of the target.
  void priceFor(llvm::StringRef device) { deviceName = device.str(); }

  /// From now on plans are priced for so many cores of a CPU; 0: those of the device.
  void planFor(int64_t threads) { threadCount = threads; }

  /// From now on the plan at this place in the order of prices is taken; 0: the cheapest.
  void takePlan(int64_t place) { planPlace = place; }

  /// Code for one instruction set of the CPU in place of all: "avx2", "avx512", "avx512_bf16", "amx", or "native", which the runtime of a library
  /// with all of them would choose on this machine (`instructionSetNames`). Nothing for another name.
  void limitTo(llvm::StringRef isa);

  /// From now on products on a GPU are made by "mma.sync", or by "wgmma" where the target has it and it can. Empty, as at first: by wgmma where the
  /// target has it and the shared memory of all kernels fits, else by mma.sync.
  void multiplyBy(llvm::StringRef products) { productsName = products.str(); }

  /// From now on functions leave these tensors for their gradients (KeepForBackward.h), as the code of the same library for another device does.
  void leave(std::vector<std::string> names) { saved = std::move(names); }
  /// What the function leaves for its gradients, by the prices of its plan; nothing before the first stage, and of a function without gradients.
  const std::optional<std::vector<std::string>> &left() const { return saved; }

  /// Whether what was opened asks for gradients, and this is not a compilation of them.
  bool hasGradients() const;

  /// A compilation of those by the same options, of the library NAME_backward; null after a message, as where something has no gradient. It takes what
  /// this function leaves for it, and prints to `messages`, or where this one does.
  std::unique_ptr<Compilation> backward(llvm::raw_ostream *messages = nullptr);

  /// LLVM generates code for a CPU as it comes, for tests of many specs.
  void leaveUnoptimized() { optimize = false; }

  /// Takes the module to `stage`; diagnostics go to standard error with the source line.
  mlir::LogicalResult advance(Stage stage);

  /// Writes a module that a stage has made to the dump folder, if there is one.
  mlir::LogicalResult dump(Stage stage, mlir::ModuleOp made, llvm::StringRef suffix = "");

  Stage stage() const { return at; }
  mlir::ModuleOp module() { return *root; }
  mlir::MLIRContext &context() { return mlirContext; }
  /// The name of the library: of the spec, or of the file's function.
  llvm::StringRef name() const { return libraryName; }
  llvm::StringRef path() const { return sourcePath; }
  llvm::StringRef target() const { return targetName; }
  llvm::StringRef device() const { return deviceName; }
  llvm::StringRef products() const { return productsName; }
  bool isGpu() const { return targetName != "cpu"; }
  /// Absent for a .mlir file.
  const std::optional<Spec> &spec() const { return parsed; }

  /// Its tensors, sizes and name; from stage Tile on.
  const target::LibraryDescription &interface() const { return description; }
  /// The names of the attn function's arguments, in their order; from stage Tile on.
  llvm::ArrayRef<std::string> argumentNames() const { return names; }

  /// What code for a CPU is made for, the least first; from stage Llvm on.
  llvm::ArrayRef<std::string> instructionSets() const { return isas; }

  bool isOptimized() const { return optimize; }

  /// Where diagnostics go.
  llvm::raw_ostream &messages() { return errors; }

  /// The forms that the spec pins, as "law:form".
  std::vector<std::string> pins() const;

private:
  Compilation(llvm::StringRef path, llvm::StringRef target, llvm::raw_ostream &errors);
  bool useSpec(Spec spec, int &status);
  bool openSpec(int &status);
  bool openModule(int &status);
  bool useModule(llvm::MemoryBufferRef bytes, int &status);
  mlir::LogicalResult runStage(Stage stage);
  mlir::LogicalResult describe();
  mlir::LogicalResult takeGradients(const std::vector<std::string> &given);
  /// What the function leaves, by its plan.
  std::vector<std::string> decideLeft(llvm::raw_ostream &messages);
  /// What code is made for, of what is asked.
  std::vector<std::string> chooseIsas();
  /// What was opened again, as it was.
  std::unique_ptr<Compilation> again(llvm::raw_ostream &messages);

  llvm::raw_ostream &errors;
  std::string sourcePath, targetName, deviceName, libraryName, dumpFolder, productsName, moduleText;
  mlir::MLIRContext mlirContext;
  llvm::SourceMgr sources;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> handler; ///< by its own type: the destructor of its base is not virtual
  std::optional<Spec> parsed;
  mlir::OwningOpRef<mlir::ModuleOp> root;
  target::LibraryDescription description;
  std::optional<std::vector<std::string>> saved; ///< what is left for gradients, once that is known
  std::vector<std::string> names, askedIsas = {"avx2", "avx512"}, isas;
  Stage at = Stage::Attn;
  int64_t threadCount = 0, planPlace = 0;
  bool dumpedFirst = false, optimize = true, ofGradients = false, nativeOnly = false;
};

llvm::StringRef nameOf(Stage stage);

/// What code for a CPU may be limited to.
llvm::ArrayRef<llvm::StringRef> instructionSetNames();

/// Which of the instruction sets the runtime of a library takes on this machine; the first, which it then asks for, if it can run none. Beside
/// tiles, which Linux may refuse to another process, that which is taken then.
std::vector<std::string> nativeInstructionSets(llvm::ArrayRef<std::string> isas);

/// A library before it is linked: its host code as LLVM IR, and the description with the variants filled in.
struct LibraryModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  target::LibraryDescription description;
};

/// Takes a compilation for the CPU to LLVM IR. Null, with diagnostics, if that fails.
std::optional<LibraryModule> compileForCpu(Compilation &compilation);

/// Compiles for the compilation's target and writes the library to `libraryPath`; its header to `headerPath` unless that
/// is empty.
mlir::LogicalResult writeLibrary(Compilation &compilation, llvm::StringRef libraryPath, llvm::StringRef headerPath);

/// The same with the code of several targets, of which `create` takes the one for its device. There is at least one.
mlir::LogicalResult writeLibrary(llvm::ArrayRef<std::unique_ptr<Compilation>> targets, llvm::StringRef libraryPath,
                                 llvm::StringRef headerPath);

/// Compiles into a file that is gone again, without the gradients that the spec may ask for, and loads it; the handle is not made yet.
llvm::Expected<std::unique_ptr<LoadedLibrary>> compileAndLoad(Compilation &compilation);

} // namespace attune

#endif // ATTUNE_PIPELINE_COMPILATION_H
