//===- EraseRules.cpp - States from which keys erase ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "EraseRules.h"

#include "HostBuilder.h"
#include "Regions/KeyStage.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using terms::DecaySpan;

/// g of each key of a chunk. A decay of the head is that of every key that exists.
static Source decayOfKeys(Value decay, RegionDraft &draft, const Place &keys) {
  Source g = gateAt(decay, draft, keys);
  if (cast<RankedTensorType>(decay.getType()).getRank() > 1)
    return g;
  return term(terms::existing(Axis::Key), {term(terms::repeated(draft.problem.keyTile()), {g})});
}

ErasingKeys::ErasingKeys(const KeySums &sums, RegionDraft &draft, const Place &keys)
    : count(cast<RankedTensorType>(sums.features.getType()).getDimSize(3)), channels(decaysChannels(sums.decay)),
      b(existingFeatures(sums.features, draft, keys)), v(draft.read(sums.value, draft.values(keys))),
      g(sums.decay ? decayOfKeys(sums.decay, draft, keys) : nullptr),
      erasing(term(terms::times(), {b, gateAt(sums.erase, draft, keys)})) {
  if (draft.problem.keyTile() == 1) // a token alone erases nothing of its chunk
    return;
  Source pairs;
  if (channels)
    pairs = term(terms::decayedPairs(/*exact=*/true), {erasing, b, g});
  else
    pairs = decayed(term(terms::logits(Representation::Plain, 1, /*wide=*/true), {erasing, b}), DecaySpan::Between);
  inverse = term(terms::unitInverse(), {term(terms::belowDiagonal(), {pairs})});
}

Source ErasingKeys::exponents(DecaySpan span) const {
  return term(channels ? terms::channelDecay(span) : terms::tokenDecay(span, count), {g});
}

Source ErasingKeys::decayed(Source x, DecaySpan span) const {
  return g ? term(terms::decayed(), {std::move(x), exponents(span)}) : x;
}

Source ErasingKeys::written(Source values, Source state) const {
  Source under = term(terms::product(), {decayed(erasing, DecaySpan::Since), std::move(state)});
  Source left = values ? term(terms::minus(), {std::move(values), under}) : term(terms::scale(-1), {under});
  return inverse ? term(terms::product(), {inverse, left}) : left;
}

StepForm ErasingKeys::step(ArrayRef<std::pair<Source, Source>> added, int64_t width) const {
  StepForm step{terms::erasedSums(count, width, static_cast<bool>(g)), {}};
  if (g)
    step.operands.push_back(exponents(DecaySpan::Whole));
  for (const auto &[x, y] : added)
    step.operands.append({x, y});
  return step;
}

StepForm ErasingKeys::step(Source written, int64_t width) const { return step({{decayed(b, DecaySpan::Until), std::move(written)}}, width); }

std::pair<Source, Source> kernel::erasingSpan(const KeySums &sums, RegionDraft &draft, const Place &keys) {
  ErasingKeys erasing(sums, draft, keys);
  auto over = [&](StringRef name, Source values, Source begin, int64_t width) {
    auto state = std::make_shared<BoundSource>(name, Axis::Key, Representation::Plain);
    Stage stage = existingKeys(draft.plan);
    stage.state = state, stage.begin = std::move(begin);
    return stream(stage, erasing.step(erasing.written(std::move(values), state), width));
  };
  int64_t features = cast<RankedTensorType>(sums.features.getType()).getDimSize(3);
  return {over("state", erasing.values(), nullptr, sums.width()),
          over("transition", nullptr, term(terms::unitMatrix(features), {}), features)};
}
