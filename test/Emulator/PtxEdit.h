//===- PtxEdit.h - A change of PTX text -------------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Statements are found and replaced as text, since text is what is shipped. In what is looked for, `<name>` stands for
// one operand without its brackets, `<name...>` for all that stands between two brackets, and any blanks stand for any
// blanks and ends of lines:
//
//   sub.rn.f32 <d>, <a>, <b>;     becomes     sub.rn.f32 <d>, <b>, <a>;
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_PTXEDIT_H
#define ATTUNE_TEST_EMULATOR_PTXEDIT_H

#include <optional>
#include <string>

namespace attune::test {

struct PtxEdit {
  std::string find, replacement;
  std::string after = {}; ///< the place is behind the first of these; empty: anywhere
  unsigned skip = 0;      ///< so many places before the one that is meant
  bool every = false;     ///< that one and all behind it

  /// Changes the text, and gives the first place as it was and as it is; nothing if there is none.
  std::optional<std::string> apply(std::string &text) const;
};

/// What is looked for, with the operands `a` and `b` exchanged.
PtxEdit exchange(std::string find, const std::string &a, const std::string &b);

} // namespace attune::test

#endif // ATTUNE_TEST_EMULATOR_PTXEDIT_H
