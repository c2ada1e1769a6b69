//===- PtxInParts.cpp - Kernels to PTX side by side ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels have nothing in common but tables of constants, so each thread takes some of them: in a context of its own,
// from bitcode, all globals with them. The texts are joined as if one thread had printed all, because what the compiler
// makes must not depend on how many processors it runs on:
//
//     head, with the globals      the same in each part, but for the name of its first kernel
//     // .globl <kernel>
//     .visible .entry <kernel> …  labels $L__BB<place among the kernels of the part>_<block>
//
//===----------------------------------------------------------------------===//
#include "ModuleToPtx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <thread>

using namespace attune;
using llvm::StringRef;

static constexpr llvm::StringLiteral announcement = "\t// .globl\t", entry = ".visible .entry ", label = "$L__BB";

//===----------------------------------------------------------------------===//
// Who makes what
//===----------------------------------------------------------------------===//

namespace {
/// A kernel, by its place among those of the module.
struct Kernel {
  std::string name;
  unsigned size; // instructions
};

using Part = llvm::SmallVector<size_t>; // places of kernels, ascending
} // namespace

static std::vector<Kernel> kernelsOf(const llvm::Module &module) {
  std::vector<Kernel> kernels;
  for (const llvm::Function &function : module)
    if (!function.isDeclaration())
      kernels.push_back({function.getName().str(), function.getInstructionCount()});
  return kernels;
}

/// The largest first, each to the part that has least to do.
static std::vector<Part> divide(const std::vector<Kernel> &kernels, size_t count) {
  std::vector<size_t> order(kernels.size());
  for (size_t place = 0; place < order.size(); ++place)
    order[place] = place;
  llvm::stable_sort(order, [&](size_t a, size_t b) { return kernels[a].size > kernels[b].size; });
  std::vector<Part> parts(count);
  std::vector<uint64_t> load(count);
  for (size_t place : order) {
    size_t least = std::distance(load.begin(), llvm::min_element(load));
    parts[least].push_back(place), load[least] += kernels[place].size;
  }
  for (Part &part : parts)
    llvm::sort(part);
  return parts;
}

//===----------------------------------------------------------------------===//
// A part
//===----------------------------------------------------------------------===//

static llvm::Expected<std::string> makePart(StringRef bitcode, const std::vector<Kernel> &kernels, const Part &part,
                                            StringRef chip) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "kernels"), context);
  if (!module)
    return module.takeError();
  llvm::StringSet<> kept;
  for (size_t place : part)
    kept.insert(kernels[place].name);
  for (llvm::Function &function : llvm::make_early_inc_range(**module))
    if (!function.isDeclaration() && !kept.contains(function.getName()))
      function.eraseFromParent();
  return moduleToPtx(**module, chip);
}

/// All parts, each by a thread of its own.
static std::vector<llvm::Expected<std::string>> makeParts(StringRef bitcode, const std::vector<Kernel> &kernels,
                                                          const std::vector<Part> &parts, StringRef chip) {
  std::vector<std::optional<llvm::Expected<std::string>>> made(parts.size());
  auto make = [&](size_t number) { made[number].emplace(makePart(bitcode, kernels, parts[number], chip)); };
  std::vector<std::thread> threads;
  for (size_t number = 1; number < parts.size(); ++number)
    threads.emplace_back(make, number);
  make(0);
  for (std::thread &thread : threads)
    thread.join();
  std::vector<llvm::Expected<std::string>> texts;
  for (std::optional<llvm::Expected<std::string>> &text : made)
    texts.push_back(std::move(*text));
  return texts;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// A kernel's text, whose labels are of the kernel `from` of a part, with those of kernel `to` of the module.
static void appendRelabelled(std::string &text, StringRef kernel, size_t from, size_t to) {
  std::string found = (label + llvm::Twine(from) + "_").str(), wanted = (label + llvm::Twine(to) + "_").str();
  for (size_t place; (place = kernel.find(found)) != StringRef::npos; kernel = kernel.drop_front(place + found.size()))
    text.append(kernel.data(), place).append(wanted);
  text.append(kernel.data(), kernel.size());
}

/// What is before the first kernel, less its announcement and with the globals; and the kernels.
static std::pair<std::string, llvm::SmallVector<StringRef>> cut(StringRef text) {
  auto [head, rest] = text.split(announcement);
  size_t begin = rest.find(("\n" + entry).str()), lineEnd = rest.find('\n');
  if (begin == StringRef::npos)
    return {};
  llvm::SmallVector<StringRef> kernels;
  rest.drop_front(begin + 1).split(kernels, announcement);
  for (StringRef &kernel : llvm::drop_begin(kernels))
    kernel = kernel.split('\n').second;
  return {(head + rest.slice(lineEnd + 1, begin + 1)).str(), kernels};
}

static llvm::Expected<std::string> join(std::vector<llvm::Expected<std::string>> texts, const std::vector<Part> &parts,
                                        const std::vector<Kernel> &kernels) {
  llvm::Error errors = llvm::Error::success();
  std::vector<std::string> relabelled(kernels.size());
  std::string joined;
  for (auto [text, part] : llvm::zip_equal(texts, parts)) {
    if (!text) {
      errors = llvm::joinErrors(std::move(errors), text.takeError());
      continue;
    }
    auto [head, found] = cut(*text);
    if (found.size() != part.size() || (!joined.empty() && head != joined))
      return llvm::joinErrors(std::move(errors),
                              llvm::createStringError("expected PTX with one head and " + llvm::Twine(part.size()) +
                                                      " kernels, but got " + llvm::Twine(found.size()) +
                                                      "; this is a fault of the compiler"));
    joined = head;
    for (auto [number, kernel] : llvm::enumerate(found))
      appendRelabelled(relabelled[part[number]], kernel, number, part[number]);
  }
  if (errors)
    return errors;
  for (auto [kernel, text] : llvm::zip_equal(kernels, relabelled))
    joined += (announcement + kernel.name + "\n" + text).str();
  return joined;
}

llvm::Expected<std::string> attune::moduleToPtxInParts(llvm::Module &device, StringRef chip, unsigned threads) {
  std::vector<Kernel> kernels = kernelsOf(device);
  if (kernels.size() < 2)
    return moduleToPtx(device, chip);
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(device, stream, /*ShouldPreserveUseListOrder=*/true);
  std::vector<Part> parts = divide(kernels, std::clamp<size_t>(threads, 1, kernels.size()));
  return join(makeParts(StringRef(bitcode.data(), bitcode.size()), kernels, parts, chip), parts, kernels);
}
