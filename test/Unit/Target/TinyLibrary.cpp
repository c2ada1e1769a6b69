//===- TinyLibrary.cpp - A library small enough to write in LLVM IR -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyLibrary.h"

#include "attune/Target/EmitObject.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune::target;
using namespace llvm;

namespace {

// Slots of q: address 0, sizes 1-4, strides 5-8; of o: 9, 10-13, 14-17; workspace 18. A program is (row, head,
// batch).
constexpr const char *kernelText = R"(
declare void @attune_rt_launch(ptr, ptr, ptr, i64, i64, i64, i64)

define i64 @slot(ptr %args, i64 %i) alwaysinline {
  %p = getelementptr i64, ptr %args, i64 %i
  %v = load i64, ptr %p
  ret i64 %v
}

define ptr @row(ptr %args, i64 %first, i64 %x, i64 %y, i64 %z) alwaysinline {
  %s0 = add i64 %first, 5
  %s1 = add i64 %first, 6
  %s2 = add i64 %first, 7
  %a = call i64 @slot(ptr %args, i64 %first)
  %t0 = call i64 @slot(ptr %args, i64 %s0)
  %t1 = call i64 @slot(ptr %args, i64 %s1)
  %t2 = call i64 @slot(ptr %args, i64 %s2)
  %o0 = mul i64 %t0, %z
  %o1 = mul i64 %t1, %y
  %o2 = mul i64 %t2, %x
  %o01 = add i64 %o0, %o1
  %o = add i64 %o01, %o2
  %base = inttoptr i64 %a to ptr
  %p = getelementptr float, ptr %base, i64 %o
  ret ptr %p
}

define void @scaled(ptr %args, i64 %x, i64 %y, i64 %z, float %c, float %d) alwaysinline {
entry:
  %q = call ptr @row(ptr %args, i64 0, i64 %x, i64 %y, i64 %z)
  %o = call ptr @row(ptr %args, i64 9, i64 %x, i64 %y, i64 %z)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %qi = getelementptr float, ptr %q, i64 %i
  %oi = getelementptr float, ptr %o, i64 %i
  %v = load float, ptr %qi
  %w = fmul float %v, %c
  %u = fadd float %w, %d
  store float %u, ptr %oi
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 3
  br i1 %more, label %loop, label %done
done:
  ret void
}

define void @unused() { ret void }

define i64 @tiny_bytes(ptr %args) { ret i64 256 }
)";

// For each variant, with its factor in place of CONSTANT.
constexpr const char *variantText = R"(
define void @ISA_plain(ptr %args, i64 %x, i64 %y, i64 %z, ptr %scratch) {
  call void @scaled(ptr %args, i64 %x, i64 %y, i64 %z, float CONSTANT, float 0.0)
  ret void
}

define void @ISA_one(ptr %args, i64 %x, i64 %y, i64 %z, ptr %scratch) {
  %w = call i64 @slot(ptr %args, i64 18)
  %p = inttoptr i64 %w to ptr
  store float 1.0, ptr %p
  ret void
}

define void @ISA_added(ptr %args, i64 %x, i64 %y, i64 %z, ptr %scratch) {
  %w = call i64 @slot(ptr %args, i64 18)
  %p = inttoptr i64 %w to ptr
  %d = load float, ptr %p
  call void @scaled(ptr %args, i64 %x, i64 %y, i64 %z, float CONSTANT, float %d)
  ret void
}

define void @ISA_short(ptr %launcher, ptr %args) {
  %n = call i64 @slot(ptr %args, i64 3)
  %b = call i64 @slot(ptr %args, i64 1)
  call void @attune_rt_launch(ptr %launcher, ptr @ISA_plain, ptr %args, i64 19, i64 %n, i64 2, i64 %b)
  ret void
}

define void @ISA_long(ptr %launcher, ptr %args) {
  %n = call i64 @slot(ptr %args, i64 3)
  %b = call i64 @slot(ptr %args, i64 1)
  call void @attune_rt_launch(ptr %launcher, ptr @ISA_one, ptr %args, i64 19, i64 1, i64 1, i64 1)
  call void @attune_rt_launch(ptr %launcher, ptr @ISA_added, ptr %args, i64 19, i64 %n, i64 2, i64 %b)
  ret void
}
)";

std::string replaced(std::string text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string variant(StringRef isa, StringRef constant) {
  return replaced(replaced(variantText, "ISA", isa), "CONSTANT", constant);
}

VariantDescription describeVariant(attune_rt_target target, StringRef isa) {
  VariantDescription result;
  result.target = target;
  result.plans.push_back({.form = "short", .fromLength = 0, .planFunction = (isa + "_short").str()});
  result.plans.push_back({.form = "long",
                          .fromLength = 100,
                          .planFunction = (isa + "_long").str(),
                          .workspaceFunction = "tiny_bytes",
                          .scratchBytes = 100});
  return result;
}

} // namespace

std::unique_ptr<Module> tiny::module(LLVMContext &context) {
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module =
      parseAssemblyString(kernelText + variant("avx2", "2.0") + variant("avx512", "3.0"), diagnostic, context);
  if (!module) {
    diagnostic.print("tiny", errs());
    return nullptr;
  }
  for (Function &function : *module)
    if (function.getName().starts_with("avx"))
      setCpuTarget(function, function.getName().starts_with("avx512") ? ATTUNE_RT_AVX512 : ATTUNE_RT_AVX2);
  return module;
}

LibraryDescription tiny::description() {
  LibraryDescription result;
  result.name = "tiny";
  result.summary = "a factor, and in long runs a summand, for tests";
  SmallVector<int64_t, 4> shape = {dynamicSize(ATTUNE_RT_BATCH), 2, dynamicSize(ATTUNE_RT_QUERIES), 3};
  result.tensors.push_back({.name = "q", .role = ATTUNE_RT_INPUT, .dtype = ATTUNE_RT_F32, .dims = shape});
  result.tensors.push_back({.name = "o", .role = ATTUNE_RT_OUTPUT, .dtype = ATTUNE_RT_F32, .dims = shape});
  result.sizes = {-1, -1, 100}; // no tensor shows the keys
  result.heads = 2;
  result.kvHeads = 2;
  result.headDim = 3;
  result.valueDim = 3;
  result.variants.push_back(describeVariant(ATTUNE_RT_AVX2, "avx2"));
  result.variants.push_back(describeVariant(ATTUNE_RT_AVX512, "avx512"));
  return result;
}

tiny::Folder::Folder() {
  SmallString<128> unique;
  sys::fs::createUniqueDirectory("attune-target", unique);
  path = unique.str().str();
}

tiny::Folder::~Folder() { sys::fs::remove_directories(path); }
