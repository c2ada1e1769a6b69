//===- Window.cpp - The keys near a query --------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"

#include "llvm/ADT/StringExtras.h"

namespace attune {

namespace {
struct WindowField : MechanismField {
  constexpr WindowField() : MechanismField("window") {}
  void visit(FieldIO &mechanism, Mechanism &m) const override;
  void check(PartRules &rules) const override;
  void checkSizes(PartSizes &sizes) const override;
};
} // namespace

static Window parseWindow(Fields fields, bool onlyLength) {
  Window window;
  if (!fields.isMapping())
    return window;
  if (!onlyLength && fields.has("last")) {
    fields.allowOnly({"last"}, "window");
    window.last = fields.size("last");
    return window;
  }
  bool asLength = onlyLength || fields.has("length");
  if (asLength)
    fields.allowOnly({"length"}, "window");
  else if (fields.has("grid") || fields.has("size"))
    fields.allowOnly({"grid", "size"}, "window");
  else
    fields.allowOnly({"length", "grid", "size", "last"}, "window");
  if (asLength) {
    window.length = fields.size("length");
    return window;
  }
  // With no field at all, or only misspelt ones, it is not known which of the two is meant.
  bool either = !fields.has("grid") && !fields.has("size");
  if (either && !fields.parseState().isGood(fields.pathOf("length")))
    return window;
  if (either && fields.parseState().isGood(fields.pathOf("grid")) &&
      fields.parseState().isGood(fields.pathOf("size"))) {
    fields.missing("grid", ", or 'length' alone");
    return window;
  }
  window.grid = fields.pair("grid");
  window.size = fields.pair("size");
  return window;
}

void WindowField::visit(FieldIO &mechanism, Mechanism &m) const {
  if (mechanism.in && mechanism.in->has(name))
    m.window = parseWindow(mechanism.in->submap(name, "window"), m.kind->hasOwnWindow());
  if (!mechanism.out || !m.window)
    return;
  FlowMap text;
  FieldIO fields(text);
  fields.optional("last", m.window->last), fields.optional("length", m.window->length);
  fields.optional("grid", m.window->grid), fields.optional("size", m.window->size);
  mechanism.out->add(name, text.str());
}

/// S43: tiles cover the grid.
static void checkTiles(PartRules &of, const Window &window) {
  if (!window.grid || !window.size || !of.good({"window.grid", "window.size"}))
    return;
  for (unsigned i = 0; i < 2; ++i) {
    int64_t all = (*window.grid)[i], tile = (*window.size)[i];
    if (all % tile != 0)
      of.rules.atValue(of.path("window.size[" + std::to_string(i) + "]"), "a divisor of " + std::to_string(all), shown(tile),
                       "the tiles must cover the grid exactly");
  }
}

/// S70 and S71: the last keys that a query sees.
static void checkLast(PartRules &of) {
  if (!of.good({"kind", "window"}))
    return;
  if (!of.m.kind->seesLastKeys()) { // S70
    llvm::SmallVector<llvm::StringRef> kinds;
    for (const MechanismKind *kind : mechanismKinds())
      if (kind->seesLastKeys())
        kinds.push_back(kind->name);
    return of.atKey("window.last", llvm::join(kinds, " or ") + " with window.last", of.m.name().str(),
                          "remove `window`, or write `window: {length: …}`");
  }
  if (of.notCausal()) // S71
    of.atKey("window.last", "causal: true with window.last", "causal: false", "add `causal: true`, or remove `window`");
}

void WindowField::check(PartRules &rules) const {
  if (!rules.m.window)
    return;
  checkTiles(rules, *rules.m.window);
  if (rules.m.window->last)
    checkLast(rules);
}

/// S40, S41 and S42. A window of the mechanism's own is checked with what else its formula divides.
void WindowField::checkSizes(PartSizes &sizes) const {
  const std::optional<Window> &window = sizes.m.window;
  if (!window || window->last || !sizes.good({"kind", "window"}) || sizes.m.kind->hasOwnWindow())
    return;
  sizes.checkEqual(name);
  if (window->length)
    sizes.checkDivisor("window.length", *window->length);
  sizes.checkGrid("window.grid", window->grid);
}

static constexpr WindowField window;
const MechanismField &windowField = window;

} // namespace attune
