//===- CapturedMessage.cpp - The message of the calling thread ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapturedMessage.h"

#include "attune-c/Message.h"

#include "mlir/CAPI/Support.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace attune::capi;

static thread_local std::string lastMessage;

/// FILE:LINE:COL, as other messages have it, where the location is that of a file.
static void printPlace(Location location, llvm::raw_ostream &out) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    out << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn();
  else
    out << location;
}

/// An error and its notes; everything else is left to the context's other handlers.
static LogicalResult capture(const Diagnostic &diagnostic, llvm::raw_ostream &out) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return failure();
  printPlace(diagnostic.getLocation(), out);
  out << ": error: " << diagnostic << "\n";
  for (const Diagnostic &note : diagnostic.getNotes()) {
    printPlace(note.getLocation(), out);
    out << ": note: " << note << "\n";
  }
  return success();
}

CapturedMessage::CapturedMessage(MLIRContext *context) : out(text) {
  lastMessage.clear();
  if (context)
    handler = std::make_unique<ScopedDiagnosticHandler>(
        context, [this](Diagnostic &diagnostic) { return capture(diagnostic, out); });
}

CapturedMessage::~CapturedMessage() {
  handler.reset();
  lastMessage = std::move(text);
}

MlirStringRef attuneGetMessage() { return wrap(llvm::StringRef(lastMessage)); }

MlirStringRef attuneGetVersion() { return wrap(llvm::StringRef(ATTUNE_VERSION)); }
