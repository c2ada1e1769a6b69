//===- Compile.cpp - From a spec to a library, for C -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune-c/Compile.h"
#include "CapturedMessage.h"

#include "attune/Cost/DeviceDescription.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecToAttn.h"
#include "attune/InitAll.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Support/Suggestions.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace attune;
using namespace attune::capi;

/// Parses a spec; what is wrong with it goes to `errors`.
static std::optional<Spec> parse(StringRef yaml, StringRef name, llvm::raw_ostream &errors) {
  if (yaml.size() > largestSpec) {
    errors << name << ":1:1: error: expected at most " << largestSpec << " bytes, but got " << yaml.size() << "\n";
    return std::nullopt;
  }
  SourceFile file(name.str(), yaml.str());
  Diagnostics diagnostics;
  Spec spec;
  SpecStatus status = parseSpec(file, spec, diagnostics);
  print(diagnostics, file, errors);
  return status == SpecStatus::Good ? std::optional(std::move(spec)) : std::nullopt;
}

MlirModule attuneModuleFromSpec(MlirContext context, MlirStringRef yaml, MlirStringRef name) {
  MLIRContext &into = *unwrap(context);
  CapturedMessage message(&into);
  std::optional<Spec> spec = parse(unwrap(yaml), unwrap(name), message.stream());
  if (!spec)
    return {nullptr};
  into.loadDialect<attn::AttnDialect, func::FuncDialect>();
  return wrap(specToAttn(*spec, unwrap(name), into).release());
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// A caller's options may be of an older version, with fewer fields.
static AttuneCompileOptions complete(const AttuneCompileOptions *given) {
  AttuneCompileOptions options = ATTUNE_COMPILE_OPTIONS_INIT;
  if (given)
    std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  return options;
}

/// The targets of a list with commas; nothing, and a message, if one of them is unknown or there twice.
static std::vector<std::string> targetsOf(const AttuneCompileOptions &options, llvm::raw_ostream &errors) {
  SmallVector<StringRef> known(cost::DeviceDescription::targets().begin(), cost::DeviceDescription::targets().end());
  SmallVector<StringRef> words;
  StringRef(options.targets ? options.targets : "cpu").split(words, ',');
  std::vector<std::string> targets;
  for (StringRef word : words) {
    if (!llvm::is_contained(known, word) || llvm::is_contained(targets, word)) {
      errors << "targets: error: expected " << joinNames(known) << ", or several with commas, but got '" << word << "'\n";
      return {};
    }
    targets.push_back(word.str());
  }
  return targets;
}

static bool isKnownIsa(const AttuneCompileOptions &options, llvm::raw_ostream &errors) {
  if (!options.isa || llvm::is_contained(instructionSetNames(), StringRef(options.isa)))
    return true;
  errors << "isa: error: expected NULL, for all, or " << joinNames(instructionSetNames()) << ", but got '" << options.isa << "'\n";
  return false;
}

using Open = llvm::function_ref<std::unique_ptr<Compilation>(StringRef target, llvm::raw_ostream &errors)>;

/// Opens a compilation a target and writes the library of all.
static MlirLogicalResult compile(const AttuneCompileOptions &options, StringRef library, StringRef header,
                                 llvm::raw_ostream &errors, Open open) {
  if (!isKnownIsa(options, errors))
    return mlirLogicalResultFailure();
  std::vector<std::unique_ptr<Compilation>> compilations;
  for (const std::string &target : targetsOf(options, errors)) {
    std::unique_ptr<Compilation> compilation = open(target, errors);
    if (!compilation)
      return mlirLogicalResultFailure();
    if (options.device)
      compilation->priceFor(options.device);
    compilation->planFor(options.threads);
    if (options.isa)
      compilation->limitTo(options.isa);
    compilations.push_back(std::move(compilation));
  }
  if (compilations.empty())
    return mlirLogicalResultFailure();
  return wrap(writeLibrary(compilations, library, header));
}

MlirLogicalResult attuneCompileSpec(MlirStringRef yaml, MlirStringRef name, const AttuneCompileOptions *options,
                                    MlirStringRef library, MlirStringRef header) {
  CapturedMessage message;
  std::optional<Spec> spec = parse(unwrap(yaml), unwrap(name), message.stream());
  if (!spec)
    return mlirLogicalResultFailure();
  return compile(complete(options), unwrap(library), unwrap(header), message.stream(),
                 [&](StringRef target, llvm::raw_ostream &errors) {
                   int status = 0;
                   return Compilation::fromSpec(*spec, unwrap(name), target, status, errors);
                 });
}

MlirLogicalResult attuneCompileModule(MlirModule module, const AttuneCompileOptions *options, MlirStringRef library,
                                      MlirStringRef header) {
  CapturedMessage message;
  // A compilation has a context of its own.
  std::string text;
  llvm::raw_string_ostream stream(text);
  unwrap(module).print(stream, OpPrintingFlags().useLocalScope());
  return compile(complete(options), unwrap(library), unwrap(header), message.stream(),
                 [&](StringRef target, llvm::raw_ostream &errors) {
                   int status = 0;
                   return Compilation::fromModule({text, "module"}, target, status, errors);
                 });
}
