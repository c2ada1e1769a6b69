//===- EmulatedAsm.cpp - The inline assembly that the emulator knows ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/EmulatedAsm.h"

using namespace attune;

static constexpr char waitLoop[] = "{\n\t.reg .pred       P1; \n\tLAB_WAIT: \n\t"
                                   "mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2; \n\t"
                                   "@P1 bra.uni DONE; \n\tbra.uni     LAB_WAIT; \n\tDONE: \n\t}";

// The operands stand in the order of the intrinsic's.
static constexpr EmulatedAsm table[] = {
    {"exp2", "ex2.approx.ftz.f32 $0, $1;", "=f,f", "llvm.nvvm.ex2.approx.ftz.f32"},
    {"log2", "lg2.approx.ftz.f32 $0, $1;", "=f,f", "llvm.nvvm.lg2.approx.ftz.f"},
    {"reciprocal", "rcp.approx.ftz.f32 $0, $1;", "=f,f", "llvm.nvvm.rcp.approx.ftz.f"},
    {"rsqrt", "rsqrt.approx.ftz.f32 $0, $1;", "=f,f", "llvm.nvvm.rsqrt.approx.ftz.f"},
    {"tanh", "tanh.approx.f32 $0, $1;", "=f,f", "llvm.nvvm.tanh.approx.f32"},
    {"to-tf32", "cvt.rna.tf32.f32 $0, $1;", "=r,f", "llvm.nvvm.f2tf32.rna"},
    {"to-f16x2", "cvt.rn.f16x2.f32 $0, $1, $2;", "=r,f,f", "llvm.nvvm.ff2f16x2.rn"},
    {"to-bf16x2", "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f", "llvm.nvvm.ff2bf16x2.rn"},
    {"copy-commit", "cp.async.commit_group;", "", "llvm.nvvm.cp.async.commit.group"},
    {"copy-wait-all", "cp.async.wait_all;", "", "llvm.nvvm.cp.async.wait.all"},
    {"warp-barrier", "bar.warp.sync $0;", "r", "llvm.nvvm.bar.warp.sync"},
    {"mma-f16",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
     "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"},
    {"mma-bf16",
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
     "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", "llvm.nvvm.mma.m16n8k16.row.col.bf16"},
    // What the nvvm dialect emits.
    {"mbarrier-init-if", "@$2 mbarrier.init.shared.b64 [$0], $1;", "r,r,b", "attune.mbarrier.init.predicated"},
    {"mbarrier-arrive-expect-if", "@$2 mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "r,r,b",
     "attune.mbarrier.arrive.expect_tx.predicated"},
    {"mbarrier-wait", waitLoop, "r,r,r", "attune.mbarrier.wait.parity"},
};

llvm::ArrayRef<EmulatedAsm> attune::emulatedAsmTable() { return table; }

//===----------------------------------------------------------------------===//
// wgmma.mma_async
//===----------------------------------------------------------------------===//

static std::string registerList(unsigned first, unsigned count) {
  std::string list = "{";
  for (unsigned i = 0; i < count; ++i)
    list += (i ? ", $" : "$") + std::to_string(first + i);
  return list + "}";
}

std::string WgmmaAsm::text() const {
  unsigned next = 2 * sums();
  auto operand = [&] { return "$" + std::to_string(next++); };
  std::string a = registersOfA ? registerList(next, 4) : "";
  a = registersOfA ? (next += 4, a) : operand();
  std::string b = operand(), add = operand();
  std::string type = "." + element.str();
  std::string text = "{\n.reg .pred p;\nsetp.ne.b32 p, " + add + ", 0;\nwgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(columns) + "k" + std::to_string(depth) + ".f32" + type + type + " " +
                     registerList(0, sums()) + ", " + a + ", " + b + ", p, ";
  text += operand() + ",  " + operand();
  if (depth == 16) {
    text += ", " + operand();
    text += registersOfA ? "" : ",  " + operand();
  }
  return text + ";\n}\n";
}

std::string WgmmaAsm::constraints() const {
  std::string list;
  for (unsigned i = 0; i < sums(); ++i)
    list += "=f,";
  for (unsigned i = 0; i < sums(); ++i)
    list += std::to_string(i) + ",";
  list += registersOfA ? "r,r,r,r,l,n,n,n" : "l,l,n,n,n";
  return list + (depth != 16 ? "" : registersOfA ? ",n" : ",n,n");
}

std::optional<WgmmaAsm> attune::findWgmmaAsm(llvm::StringRef text, llvm::StringRef constraints) {
  auto [head, rest] = text.split("wgmma.mma_async.sync.aligned.m64n");
  WgmmaAsm product;
  if (rest.consumeInteger(10, product.columns) || !rest.consume_front("k") || rest.consumeInteger(10, product.depth) ||
      !rest.consume_front(".f32."))
    return std::nullopt;
  product.element = rest.take_until([](char c) { return c == '.'; });
  product.registersOfA = constraints.contains("r,r,r,r,l");
  bool known = product.element == "tf32"
                   ? product.depth == 8
                   : (product.element == "f16" || product.element == "bf16") && product.depth == 16;
  bool fits = product.columns >= 8 && product.columns <= 256 && product.columns % 8 == 0;
  if (!known || !fits || product.text() != text || product.constraints() != constraints)
    return std::nullopt;
  return product;
}

std::string WgmmaOrderAsm::text() const {
  return wait ? "wgmma.wait_group.sync.aligned $" + std::to_string(2 * registers()) + ";" : "wgmma.fence.sync.aligned;";
}

std::string WgmmaOrderAsm::constraints() const {
  std::string list;
  for (unsigned i = 0; i < registers(); ++i)
    list += i < floats ? "=f," : "=r,";
  for (unsigned i = 0; i < registers(); ++i)
    list += std::to_string(i) + ",";
  return wait ? list + "n" : list.substr(0, list.size() - 1);
}

std::optional<WgmmaOrderAsm> attune::findWgmmaOrderAsm(llvm::StringRef text, llvm::StringRef constraints) {
  WgmmaOrderAsm order{text.starts_with("wgmma.wait_group"), unsigned(constraints.count("=f")),
                      unsigned(constraints.count("=r"))};
  bool known = order.registers() && order.text() == text && order.constraints() == constraints;
  return known ? std::optional(order) : std::nullopt;
}

const EmulatedAsm *attune::findEmulatedAsm(llvm::StringRef text) {
  for (const EmulatedAsm &entry : table)
    if (entry.text == text.trim())
      return &entry;
  return nullptr;
}
