//===- attn-emulate.cpp - Runs one kernel on the CPU ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads device code (PTX, LLVM IR, bitcode, or a lowered gpu.module), runs a kernel on buffers made by the command line, and
// prints the buffers asked for and what the checks found. Exit status 1 if anything was found.
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/KernelRun.h"
#include "attune/Support/UniqueFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

static cl::OptionCategory category("attn-emulate options");
template <typename Option> using Opt = cl::opt<Option>;

static Opt<std::string> input(cl::Positional, cl::desc("<device code>"), cl::init("-"), cl::cat(category));
static Opt<std::string> kernelName("kernel", cl::desc("Kernel to run (default: the only one)"), cl::cat(category));
static Opt<std::string> gridText("grid", cl::desc("Blocks: x,y,z"), cl::init("1,1,1"), cl::cat(category));
static Opt<std::string> blockText("block", cl::desc("Threads of a block: x,y,z"), cl::init("32,1,1"),
                                  cl::cat(category));
static Opt<unsigned> dynamicShared("dynamic-shared", cl::desc("Bytes of dynamic shared memory"), cl::cat(category));
static cl::list<std::string> bufferTexts("buffer",
                                         cl::desc("A parameter: NAME:TYPE:COUNT:INITIAL, INITIAL one of zero, "
                                                  "one, iota, random, a number, @FILE"),
                                         cl::cat(category));
static cl::list<std::string> scalarTexts("scalar", cl::desc("A parameter: TYPE:VALUE"), cl::cat(category));
static cl::list<std::string> printed("print", cl::desc("Buffer to print"), cl::cat(category));
static cl::list<std::string> dumped("dump", cl::desc("Buffer to write as raw bytes: NAME=FILE"), cl::cat(category));
static Opt<bool> counters("counters", cl::desc("Print counters and bank use"), cl::cat(category));
static Opt<bool> timing("time", cl::desc("Print the times of compiling and running"), cl::cat(category));
static Opt<bool> noCheck("no-check", cl::desc("Compute values only"), cl::cat(category));
static Opt<bool> drawnSchedule("shuffle", cl::desc("Run the warps in a drawn order"), cl::cat(category));
static Opt<bool> pessimistic("pessimistic", cl::desc("Make the rounding errors that the device may make at worst"),
                             cl::cat(category));
static Opt<std::string> chip("chip", cl::desc("The device: sm_80, sm_90a ... (default: what PTX is for; else sm_80)"),
                             cl::cat(category));
static Opt<unsigned> seed("seed", cl::desc("Of drawn buffers, of the drawn order, and of --pessimistic"), cl::init(1), cl::cat(category));

static Expected<Dim3> parseDim3(StringRef text) {
  Dim3 dims;
  uint32_t *parts[] = {&dims.x, &dims.y, &dims.z};
  unsigned index = 0;
  for (StringRef part : split(text, ','))
    if (index == 3 || part.getAsInteger(10, *parts[index++]))
      return createStringError(inconvertibleErrorCode(), "expected x,y,z, but got '" + text + "'");
  return dims;
}

/// The parameters in the order of the command line.
static Expected<std::vector<uint64_t>> makeParameters(std::vector<CommandBuffer> &buffers) {
  std::vector<std::pair<unsigned, uint64_t>> slots;
  buffers.reserve(bufferTexts.size());
  for (unsigned i = 0; i < bufferTexts.size(); ++i) {
    auto buffer = parseBuffer(bufferTexts[i], seed + i);
    if (!buffer)
      return buffer.takeError();
    buffers.push_back(std::move(*buffer));
    slots.push_back({bufferTexts.getPosition(i), uint64_t(uintptr_t(buffers.back().data()))});
  }
  for (unsigned i = 0; i < scalarTexts.size(); ++i) {
    auto value = parseScalar(scalarTexts[i]);
    if (!value)
      return value.takeError();
    slots.push_back({scalarTexts.getPosition(i), *value});
  }
  sort(slots);
  std::vector<uint64_t> parameters;
  for (auto [position, value] : slots)
    parameters.push_back(value);
  return parameters;
}

static const CommandBuffer *findBuffer(ArrayRef<CommandBuffer> buffers, StringRef name) {
  auto *found = find_if(buffers, [&](const CommandBuffer &buffer) { return buffer.name == name; });
  return found == buffers.end() ? nullptr : found;
}

static Error writeResults(ArrayRef<CommandBuffer> buffers) {
  for (StringRef name : printed) {
    const CommandBuffer *buffer = findBuffer(buffers, name);
    if (!buffer)
      return createStringError(inconvertibleErrorCode(), "expected the name of a buffer, but got '" + name + "'");
    outs() << name << ":";
    for (size_t i = 0; i < buffer->count; ++i)
      outs() << format(" %.9g", buffer->get(i));
    outs() << "\n";
  }
  for (StringRef text : dumped) {
    auto [name, path] = text.split('=');
    const CommandBuffer *buffer = findBuffer(buffers, name);
    if (!buffer || path.empty())
      return createStringError(inconvertibleErrorCode(), "expected NAME=FILE of a buffer, but got '" + text + "'");
    if (Error error = writeFile(path, [&](raw_ostream &os) { os.write(buffer->data(), buffer->bytes()); }))
      return error;
  }
  return Error::success();
}

static Expected<bool> run() {
  std::vector<CommandBuffer> buffers;
  auto parameters = makeParameters(buffers);
  auto grid = parseDim3(gridText), block = parseDim3(blockText);
  if (Error error = joinErrors(joinErrors(grid.takeError(), block.takeError()), parameters.takeError()))
    return std::move(error);
  KernelRun run{input, kernelName, *grid, *block, dynamicShared, {}, counters, timing};
  run.options.check = !noCheck;
  run.options.shuffleSchedule = drawnSchedule;
  run.options.seed = seed;
  run.options.pessimistic = pessimistic;
  run.options.chip = chip;
  Expected<bool> clean = runKernel(run, buffers, *parameters, outs());
  if (!clean)
    return clean.takeError();
  if (Error writing = writeResults(buffers))
    return std::move(writing);
  return *clean;
}

/// Whether standard output has taken all that was printed: a disk may be full.
static bool isWritten() {
  outs().flush();
  std::error_code code = outs().error();
  outs().clear_error();
  if (code)
    WithColor::error(errs(), "attn-emulate") << "expected to write standard output, but got: " << code.message() << "\n";
  return !code;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  removeOnSignals();
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Runs device code on the CPU and checks it\n");
  Expected<bool> clean = run();
  bool written = isWritten();
  if (!clean) {
    logAllUnhandledErrors(clean.takeError(), WithColor::error(errs(), "attn-emulate"));
    return 1;
  }
  return *clean && written ? 0 : 1;
}
