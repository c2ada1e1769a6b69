//===- EmitCubin.cpp - PTX to machine code by ptxas ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Target/EmitDevice.h"

#include "attune/Support/RunProgram.h"
#include "attune/Support/UniqueFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace attune;

std::optional<std::string> attune::findPtxas() {
  for (const char *variable : {"CUDA_HOME", "CUDA_ROOT"}) {
    std::optional<std::string> root = llvm::sys::Process::GetEnv(variable);
    if (!root || root->empty())
      continue;
    SmallString<128> path(*root);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return std::string(path);
  }
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas");
  return found ? std::optional<std::string>(*found) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What ptxas -v prints
//===----------------------------------------------------------------------===//

/// The number that stands right before `phrase` in a line, or 0.
static int64_t numberBefore(StringRef line, StringRef phrase) {
  size_t end = line.find(phrase);
  if (end == StringRef::npos)
    return 0;
  StringRef number = line.take_front(end).rtrim();
  size_t begin = number.find_last_not_of("0123456789");
  int64_t value = 0;
  return number.drop_front(begin == StringRef::npos ? 0 : begin + 1).getAsInteger(10, value) ? 0 : value;
}

// ptxas info : Compiling entry function 'name' for 'sm_80'
// ptxas info : Function properties for name
//     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ptxas info : Used 128 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]
std::vector<KernelResources> attune::parseResources(StringRef output) {
  std::vector<KernelResources> kernels;
  SmallVector<StringRef> lines;
  output.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function '")) {
      kernels.emplace_back().name = line.split("function '").second.split('\'').first.str();
    } else if (kernels.empty()) {
      continue;
    } else if (line.contains("bytes stack frame")) {
      kernels.back().stack = numberBefore(line, "bytes stack frame");
      kernels.back().spillStores = numberBefore(line, "bytes spill stores");
      kernels.back().spillLoads = numberBefore(line, "bytes spill loads");
    } else if (line.contains("registers")) {
      kernels.back().registers = numberBefore(line, "registers");
      kernels.back().staticShared = numberBefore(line, "bytes smem");
    }
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Assembling
//===----------------------------------------------------------------------===//

static LogicalResult rejectSpills(Location loc, ArrayRef<KernelResources> kernels) {
  for (const KernelResources &kernel : kernels)
    if (kernel.spills())
      return emitError(loc) << "expected kernel " << kernel.name << " to fit the registers, but got "
                            << kernel.spillStores << " bytes of spills; choose smaller tiles or more warps";
  return success();
}

//===----------------------------------------------------------------------===//
// Which PTX it takes
//===----------------------------------------------------------------------===//

// Cuda compilation tools, release 13.0, V13.0.88
unsigned attune::parseRelease(StringRef output) {
  StringRef rest = output.split("release ").second;
  unsigned major = 0, minor = 0;
  if (rest.consumeInteger(10, major) || !rest.consume_front(".") || rest.consumeInteger(10, minor))
    return 0;
  return 100 * major + minor;
}

static unsigned releaseOf(StringRef ptxas) {
  llvm::Expected<ProgramRun> run = runProgram({ptxas, "--version"}, /*seconds=*/30);
  if (!run)
    return llvm::consumeError(run.takeError()), 0;
  return run->status == 0 ? parseRelease(run->said) : 0;
}

std::string attune::whyPtxasCannot(StringRef ptxas, StringRef chip) {
  // 11.8 brought PTX 7.8, and 12.0 PTX 8.0, which code for one architecture alone is written in.
  unsigned needed = chip.ends_with("a") ? 1200 : 1108, release = releaseOf(ptxas);
  if (release >= needed)
    return "";
  std::string found = release ? std::to_string(release / 100) + "." + std::to_string(release % 100)
                              : std::string("one that does not say its release");
  return ("expected ptxas of CUDA " + std::to_string(needed / 100) + "." + std::to_string(needed % 100) +
          " or later for " + chip + ", but got " + found + " at " + ptxas + "; install a later one")
      .str();
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

namespace {
struct Assembly {
  StringRef ptxas, chip;
  UniqueFile input, output;
};
} // namespace

static llvm::Expected<Assembly> makeFiles(StringRef ptxas, StringRef chip, StringRef ptx) {
  llvm::Expected<UniqueFile> input = UniqueFile::temporary("ptx");
  if (!input)
    return input.takeError();
  llvm::Expected<UniqueFile> output = UniqueFile::temporary("cubin");
  if (!output)
    return output.takeError();
  if (llvm::Error error = input->write(ptx))
    return std::move(error);
  return Assembly{ptxas, chip, std::move(*input), std::move(*output)};
}

static llvm::Expected<ProgramRun> run(const Assembly &files, ArrayRef<StringRef> further) {
  std::string architecture = ("-arch=" + files.chip).str();
  SmallVector<StringRef> command{files.ptxas, "-v", "-O3", architecture, files.input.path(), "-o", files.output.path()};
  llvm::append_range(command, further);
  return runProgram(command);
}

/// Kernels are assembled side by side, by as many threads as there are processors (0): the code is the same. An older
/// ptxas that does not know the option names it in its complaint.
static llvm::Expected<ProgramRun> runSideBySide(const Assembly &files) {
  auto result = run(files, {"--split-compile=0"});
  bool unknown = result && result->status != 0 && StringRef(result->said).contains("split-compile");
  return unknown ? run(files, {}) : std::move(result);
}

FailureOr<Cubin> attune::emitCubin(Location loc, StringRef ptx, StringRef chip, bool allowSpills) {
  std::optional<std::string> ptxas = findPtxas();
  if (!ptxas)
    return emitError(loc) << "expected ptxas in CUDA_HOME, CUDA_ROOT or PATH, but got none; emit PTX instead";
  llvm::Expected<Assembly> files = makeFiles(*ptxas, chip, ptx);
  if (!files)
    return emitError(loc) << llvm::toString(files.takeError());
  llvm::Expected<ProgramRun> assembled = runSideBySide(*files);
  if (!assembled)
    return emitError(loc) << llvm::toString(assembled.takeError());
  if (assembled->status != 0)
    return emitError(loc) << "expected ptxas to take the code, but got: " << assembled->said;
  Cubin cubin{files->output.read(), parseResources(assembled->said)};
  if (cubin.bytes.empty())
    return emitError(loc) << "expected ptxas to write a cubin, but got an empty file; emit PTX instead";
  findSpillsInLoops(cubin, chip);
  if (!allowSpills && failed(rejectSpills(loc, cubin.kernels)))
    return failure();
  return cubin;
}
