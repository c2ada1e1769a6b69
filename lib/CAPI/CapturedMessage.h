//===- CapturedMessage.h - The message of the calling thread -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_CAPI_CAPTUREDMESSAGE_H
#define ATTUNE_CAPI_CAPTUREDMESSAGE_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace attune::capi {

/// For the time of one call: what is written to `stream`, and the errors of `context` that this thread causes, are the
/// thread's message afterwards.
class CapturedMessage {
public:
  explicit CapturedMessage(mlir::MLIRContext *context = nullptr);
  ~CapturedMessage();

  llvm::raw_ostream &stream() { return out; }

private:
  std::string text;
  llvm::raw_string_ostream out;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};

} // namespace attune::capi

#endif // ATTUNE_CAPI_CAPTUREDMESSAGE_H
