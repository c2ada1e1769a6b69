//===- Gates.h - What tokens leave, erase and write -*- C++ -*------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_GATES_H
#define ATTUNE_LIB_REFERENCE_GATES_H

#include "Matrix.h"
#include "attune/Reference/Array.h"

#include <cmath>

namespace attune::reference {

/// A number of each head [heads], of each token [batch, heads, tokens] or of each of its entries [batch, heads, tokens, entries].
inline double gateAt(const Array &gate, int64_t batch, int64_t head, int64_t token, int64_t entry) {
  return gate.rank() == 1 ? gate({head}) : gate.rank() == 3 ? gate({batch, head, token}) : gate({batch, head, token, entry});
}

/// What one token does to a state S [m, dv] and z [m]; a null gate is not there.
struct TokenGates {
  const Array *decay, *erase, *write;
  int64_t batch, head, token;

  double kept(int64_t feature) const { return decay ? std::exp(gateAt(*decay, batch, head, token, feature)) : 1; }
  /// w of an entry of the value: β of the delta rule, where nothing else is given.
  double written(int64_t entry) const {
    if (write)
      return gateAt(*write, batch, head, token, entry);
    return erase && erase->rank() == 3 ? gateAt(*erase, batch, head, token, 0) : 1;
  }

  /// S ← diag(α) S;  S ← S + φ (w ⊙ v − Sᵀ (β ⊙ φ))ᵀ;  z ← diag(α) z + w φ.
  void enter(const double *phi, const double *value, Matrix &state, std::vector<double> &sum) const {
    std::vector<double> update(state.width());
    for (int64_t c = 0; c < state.width(); ++c)
      update[c] = written(c) * value[c];
    for (int64_t f = 0; f < state.height(); ++f) {
      double share = kept(f);
      for (int64_t c = 0; c < state.width(); ++c)
        state[f][c] *= share;
      sum[f] = share * sum[f] + written(0) * phi[f];
      double erased = erase ? gateAt(*erase, batch, head, token, f) * phi[f] : 0;
      for (int64_t c = 0; c < state.width() && erased != 0; ++c)
        update[c] -= erased * state[f][c];
    }
    for (int64_t f = 0; f < state.height(); ++f)
      addScaled(phi[f], update.data(), state.width(), state[f]);
  }
};

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_GATES_H
