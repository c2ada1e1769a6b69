//===- SpecParser.h - From YAML to a checked spec ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_FRONTEND_SPECPARSER_H
#define ATTUNE_FRONTEND_SPECPARSER_H

#include "attune/Frontend/Spec.h"
#include "attune/Support/Diagnostics.h"

namespace attune {

/// A file beyond this many bytes is no spec.
inline constexpr size_t largestSpec = 1 << 20;

/// A layer has no more parameters than this: those of a sketch grow with its degree, which no rule bounds.
inline constexpr int64_t mostParameters = 1 << 16;

enum class SpecStatus {
  Good,
  TooLarge, // a correct spec with more parameters than this compiler takes
  Invalid,  // mistakes
};

/// The exit status of a command: 0, 1 (the work cannot be done), 2 (what was given is wrong).
int exitStatus(SpecStatus status);

/// Parses and checks `file`. Every mistake goes to `diagnostics`; `spec` is complete unless the result is Invalid.
/// Conditions on a '?' size wait for `checkSizes`. What a target cannot compile yet is its lowering's business.
SpecStatus parseSpec(const SourceFile &file, Spec &spec, Diagnostics &diagnostics);

/// The text of the spec at `path`: of a .yaml file, or of a node of an ONNX model, FILE.onnx or FILE.onnx:NODE. The error says the file.
llvm::Expected<SourceFile> readSpec(llvm::StringRef path);

/// The same as `parseSpec` for the spec at `path`; prints what is wrong to `errors`. A file that cannot be read is Invalid.
SpecStatus loadSpec(llvm::StringRef path, Spec &spec, llvm::raw_ostream &errors);

/// A correct spec with these values of its '?' sizes (nullopt leaves one open), for `checkSizes` to check. `keys` is ignored where the
/// keys follow the queries: where the spec has none, and of a projection without `cross`.
Spec resolveSizes(const Spec &spec, Size batch, Size queries, Size keys);
bool checkSizes(const Spec &resolved, Diagnostics &diagnostics);

/// Whether the spec at `path` asks for gradients; says to `errors` if not.
bool checkGradientsAsked(const Spec &spec, llvm::StringRef path, llvm::raw_ostream &errors);

/// A line for each of these sizes of a command line for which the spec has another number.
void noteIgnoredSizes(const Spec &spec, Size batch, Size queries, Size keys, llvm::raw_ostream &notes);

} // namespace attune

#endif // ATTUNE_FRONTEND_SPECPARSER_H
