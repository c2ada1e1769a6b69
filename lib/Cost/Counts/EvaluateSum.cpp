//===- EvaluateSum.cpp - Sums over programs and steps ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One variable of a sum is symbolic: over a range of it registers are floor forms (FloorForm.h), and a range in which a
// minimum or a maximum has no such form is cut in two. Ranges of one value are numbers, so that this ends. The other
// variables, if there are any, take their values one by one.
//
//===----------------------------------------------------------------------===//
#include "CountProgram.h"
#include "FloorForm.h"

#include <array>
#include <deque>

using namespace attune;
using namespace attune::cost;

namespace {
class SumEvaluation {
public:
  SumEvaluation(const CountProgram &program, const FactorSum &sum, llvm::ArrayRef<int64_t> values, int64_t mostVisited,
                bool &isExact)
      : program(program), sum(sum), values(values), mostVisited(mostVisited), isExact(isExact) {}

  double run();

private:
  int64_t countOf(unsigned variable) const { return std::max<int64_t>(numberOf(program.counts[variable]), 0); }
  unsigned chooseSymbolic() const;
  double sumFrom(unsigned place);
  double sumOfSymbolic();
  /// The product of the factors over a range of the symbolic variable; none, and where to cut, if it has no form.
  std::optional<double> sumOver(VariableRange range, int64_t &cut);
  std::optional<FloorForm> formOf(const Instruction &made, VariableRange range, int64_t &cut) const;
  /// The form of a register; `number` holds it if it depends on sizes alone.
  const FloorForm &operand(Register value, FloorForm &number) const;
  /// Of a register that depends on sizes and on variables that have a value.
  int64_t numberOf(Register value) const;

  const CountProgram &program;
  const FactorSum &sum;
  llvm::ArrayRef<int64_t> values; ///< of registers that depend on sizes alone
  /// Values of a variable that are visited one by one; of more, as many strata are visited at their middles.
  int64_t mostVisited;
  llvm::SmallVector<FloorForm, 16> forms; ///< of `sum.needed`, as far as they have been computed
  Variables fixed = 0; ///< variables that have a value now
  std::array<int64_t, mostVariables> valueOfVariable = {};
  unsigned symbolic = 0;
  bool &isExact;
};
} // namespace

int64_t SumEvaluation::numberOf(Register value) const {
  const Instruction &made = program.sizes.instructions()[value];
  if (made.variables == 0)
    return values[value];
  if (made.step == Step::Variable)
    return valueOfVariable[made.number];
  return apply(made.step, numberOf(made.a), numberOf(made.b));
}

/// Of the variables that no other one's count depends on, the one with the most values.
unsigned SumEvaluation::chooseSymbolic() const {
  Variables inCounts = 0;
  for (unsigned variable : sum.variables)
    inCounts |= program.sizes.variablesOf(program.counts[variable]);
  unsigned best = sum.variables.back();
  int64_t most = -1;
  for (unsigned variable : sum.variables) {
    Register count = program.counts[variable];
    int64_t known = program.sizes.variablesOf(count) ? mostVisited / 4 : values[count];
    if (!(inCounts >> variable & 1) && known > most)
      best = variable, most = known;
  }
  return best;
}

double SumEvaluation::run() {
  symbolic = chooseSymbolic();
  return sumFrom(0);
}

double SumEvaluation::sumFrom(unsigned place) {
  if (place == sum.variables.size())
    return sumOfSymbolic();
  unsigned variable = sum.variables[place];
  if (variable == symbolic)
    return sumFrom(place + 1);
  int64_t count = countOf(variable), strata = std::min(count, mostVisited);
  isExact &= strata == count;
  fixed |= Variables(1) << variable;
  double total = 0;
  for (int64_t i = 0; i < strata; ++i) {
    VariableRange stratum{count * i / strata, count * (i + 1) / strata};
    valueOfVariable[variable] = stratum.middle();
    total += sumFrom(place + 1) * static_cast<double>(stratum.count());
  }
  fixed &= ~(Variables(1) << variable);
  return total;
}

double SumEvaluation::sumOfSymbolic() {
  // Enough ranges to visit as many values: the nodes of a binary tree with as many leaves.
  int64_t count = countOf(symbolic), visited = 0, mostRanges = 2 * mostVisited;
  if (count == 0)
    return 0;
  double total = 0;
  // The widest ranges first, so that what is sampled in the end is spread evenly.
  std::deque<VariableRange> ranges{{0, count}};
  for (; !ranges.empty(); ranges.pop_front(), ++visited) {
    VariableRange range = ranges.front();
    int64_t cut = range.middle();
    if (std::optional<double> part = sumOver(range, cut)) {
      total += *part;
      continue;
    }
    if (visited < mostRanges) {
      ranges.push_back({range.first, cut});
      ranges.push_back({cut, range.last});
      continue;
    }
    isExact = false;
    total += *sumOver({range.middle(), range.middle() + 1}, cut) * static_cast<double>(range.count());
  }
  return total;
}

std::optional<double> SumEvaluation::sumOver(VariableRange range, int64_t &cut) {
  forms.clear();
  for (Register value : sum.needed) {
    std::optional<FloorForm> form = formOf(program.sizes.instructions()[value], range, cut);
    if (!form)
      return std::nullopt;
    forms.push_back(std::move(*form));
  }
  double times = 1;
  std::optional<FloorForm> varying;
  for (Register factor : sum.factors) {
    FloorForm number;
    const FloorForm &form = operand(factor, number);
    if (form.isConstant())
      times *= static_cast<double>(form.constant);
    else if (varying)
      return std::nullopt;
    else
      varying = form;
  }
  return times * (varying ? varying->sumOver(range) : static_cast<double>(range.count()));
}

const FloorForm &SumEvaluation::operand(Register value, FloorForm &number) const {
  if (program.sizes.variablesOf(value) == 0) {
    number.constant = values[value];
    return number;
  }
  const auto *place = std::lower_bound(sum.needed.begin(), sum.needed.end(), value); // registers grow
  return forms[place - sum.needed.begin()];
}

std::optional<FloorForm> SumEvaluation::formOf(const Instruction &made, VariableRange range, int64_t &cut) const {
  if (made.step == Step::Variable) {
    bool isNumber = fixed >> made.number & 1 || range.count() == 1;
    int64_t number = fixed >> made.number & 1 ? valueOfVariable[made.number] : range.first;
    return isNumber ? FloorForm{number, 0, {}} : FloorForm{0, 1, {}};
  }
  FloorForm numberA, numberB;
  const FloorForm &a = operand(made.a, numberA), &b = operand(made.b, numberB);
  if (a.isConstant() && b.isConstant())
    return FloorForm{apply(made.step, a.constant, b.constant), 0, {}};
  switch (made.step) {
  case Step::Add:
  case Step::Sub: {
    FloorForm sum = a;
    sum.add(b, made.step == Step::Add ? 1 : -1);
    return sum;
  }
  case Step::Mul: {
    if (!a.isConstant() && !b.isConstant())
      return std::nullopt;
    FloorForm product;
    a.isConstant() ? product.add(b, a.constant) : product.add(a, b.constant);
    return product;
  }
  case Step::FloorDiv:
  case Step::Rem: {
    std::optional<FloorForm> quotient = b.isConstant() ? a.floorDiv(b.constant) : std::nullopt;
    if (!quotient || made.step == Step::FloorDiv)
      return quotient;
    FloorForm rest = a;
    rest.add(*quotient, -b.constant);
    return rest;
  }
  case Step::Min:
  case Step::Max: {
    FloorForm difference = a;
    difference.add(b, -1);
    FormSign sign = signOver(difference, range);
    if (sign.kind == FormSign::Changes)
      cut = sign.change;
    if (sign.kind == FormSign::Changes || sign.kind == FormSign::Unknown)
      return std::nullopt;
    return (sign.kind == FormSign::NotNegative) == (made.step == Step::Max) ? a : b;
  }
  default:
    return std::nullopt;
  }
}

double cost::evaluateSum(const CountProgram &program, const FactorSum &sum, llvm::ArrayRef<int64_t> values,
                         int64_t mostVisited, bool &isExact) {
  return SumEvaluation(program, sum, values, mostVisited, isExact).run();
}
