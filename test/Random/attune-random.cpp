//===- attune-random.cpp - Prints or writes a random program -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RandomInputs.h"
#include "RandomSpec.h"
#include "RandomTileProgram.h"

#include "Choices.h"
#include "attune/Support/TensorFiles.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace attune::random;
namespace cl = llvm::cl;

static cl::opt<std::string> command(cl::Positional, cl::Required, cl::desc("spec|inputs|tile"));
static cl::opt<uint64_t> seed("seed", cl::desc("What everything depends on"), cl::init(0));
static cl::opt<std::string> folder("out", cl::desc("The folder to write to"));

static bool succeeded(llvm::Error error) {
  if (!error)
    return true;
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  return false;
}

static bool writeText(llvm::StringRef name, llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream file((folder + "/" + name).str(), error);
  if (!error)
    file << text;
  else
    llvm::errs() << "error: expected to write " << folder << "/" << name << ", but got " << error.message() << "\n";
  return !error;
}

static bool writeTensor(llvm::StringRef name, const HostTensor &tensor) {
  return succeeded(writeNpy((folder + "/" + name + ".npy").str(), tensor));
}

/// The spec, its tensors, and a line on the kind of inputs.
static bool writeInputs(const RandomSpec &spec) {
  RandomInputs inputs = drawInputs(spec, seed);
  llvm::outs() << "largest_logit " << inputs.largestLogit << " in_range " << inputs.inRange() << "\n";
  return writeText("spec.yaml", spec.yaml()) && writeText("spec.mlir", spec.module()) &&
         writeTensor("q", inputs.query) && writeTensor("k", inputs.key) && writeTensor("v", inputs.value) &&
         (!inputs.lengths || writeTensor("key_lengths", *inputs.lengths));
}

/// The program, its inputs, and the arguments that attune-eval takes.
static bool writeTileProgram(const RandomTileProgram &program) {
  bool good = writeText("program.mlir", program.text);
  for (const ProgramMemory &memory : program.memories) {
    std::string path = folder + "/" + memory.name + ".npy";
    if (memory.isOutput) {
      llvm::outs() << path << "=" << memory.planes << "x" << memory.rows << "x" << memory.columns << " ";
      continue;
    }
    llvm::outs() << path << " ";
    HostTensor tensor = HostTensor::zeros(ElementType::F32, {memory.planes, memory.rows, memory.columns});
    Choices choices(seed, memory.name);
    for (int64_t i = 0; i < tensor.count(); ++i)
      tensor.data<float>()[i] = static_cast<float>(choices.normal());
    good &= writeTensor(memory.name, tensor);
  }
  llvm::outs() << "\n";
  return good;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Random specs, inputs and programs\n");
  if (!folder.empty())
    llvm::sys::fs::create_directories(folder);
  if (command == "spec") {
    llvm::outs() << drawSpec(seed).yaml();
    return 0;
  }
  if (command == "tile" && folder.empty()) {
    llvm::outs() << drawTileProgram(seed).text;
    return 0;
  }
  if (command == "tile")
    return writeTileProgram(drawTileProgram(seed)) ? 0 : 1;
  if (command == "inputs" && !folder.empty())
    return writeInputs(drawSpec(seed)) ? 0 : 1;
  llvm::errs() << "error: expected spec, tile, or inputs with --out, but got '" << command << "'\n";
  return 2;
}
