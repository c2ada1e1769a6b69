//===- Lepe.cpp - The convolution of the values --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"

namespace attune {

/// Whether the image is that of the window.
static bool hasWindow(const Mechanism &m) { return m.window && !m.kind->hasOwnWindow(); }

namespace {
struct LepeField : MechanismField {
  constexpr LepeField() : MechanismField("lepe") {}
  void visit(FieldIO &mechanism, Mechanism &m) const override {
    mechanism.map<Lepe>(name, m.lepe, {"grid", "bias"}, [](FieldIO &fields, Lepe &of) {
      fields.optional("grid", of.grid), fields.boolean("bias", of.bias);
    });
  }
  /// S50 and S51.
  void check(PartRules &of) const override {
    if (!of.m.lepe || !of.good({"kind", name}))
      return;
    if (of.causal())
      of.atKey(name, "causal: false with lepe", "causal: true", "the convolution reads the next token: remove `lepe` or `causal`");
    if (of.m.lepe->grid && of.good({"lepe.grid", "window"}) && hasWindow(of.m))
      of.atKey("lepe.grid", "no grid (the window fixes it)", "'grid'", "remove `grid`");
  }
  /// S42, S49.
  void checkSizes(PartSizes &of) const override {
    if (!of.m.lepe || !of.good({name}))
      return;
    of.checkEqual(name);
    if (of.good({"kind", "window"}) && !hasWindow(of.m))
      of.checkGrid("lepe.grid", of.m.lepe->grid);
  }
  void addParameters(PartTensors &tensors) const override {
    const Mechanism &m = tensors.m;
    if (!m.lepe)
      return;
    bool image = m.lepe->grid || (hasWindow(m) && m.window->grid);
    int64_t heads = tensors.part.heads, width = tensors.spec.valueDim;
    PartTensors::Shape weight = {heads, width, 3};
    if (image)
      weight.push_back(3);
    tensors.add("lepe.weight", weight, name, Elements::Normal, 1 / std::sqrt(image ? 9.0 : 3.0));
    if (m.lepe->bias)
      tensors.add("lepe.bias", {heads, width}, name, Elements::Normal, fromZero);
  }
};
} // namespace

static constexpr LepeField lepe;
const MechanismField &lepeField = lepe;

} // namespace attune
