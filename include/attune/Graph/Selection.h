//===- Selection.h - Which forms a module takes, and why -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_SELECTION_H
#define ATTUNE_GRAPH_SELECTION_H

#include "attune/Attn/Attn.h"
#include "attune/Cost/DeviceDescription.h"
#include "attune/Cost/WorkEstimate.h"
#include "attune/Graph/Thresholds.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace attune::graph {

/// The user's `pin: {law: form}`: the form is taken whatever it costs.
struct Pin {
  std::string law, form;

  bool operator==(const Pin &) const = default;
};

struct SelectOptions {
  cost::DeviceDescription device;
  std::vector<Pin> pins;
  /// Which of the plans that the pins allow: 0 the cheapest, 1 the next one. For measuring what was not taken.
  int64_t place = 0;
  /// Whole plans that are priced; a graph with more keeps the first form of its last ops.
  int64_t planBound = 1024;
  /// Whether prices over the length are recorded too, and at which lengths other forms, or exact softmax, would be cheaper: for
  /// people, not for compiling. The latter also where somebody hears remarks.
  bool curves = false;
  /// Approximate laws that may change the function, beside those of its attribute `attn.allow`.
  std::vector<std::string> allowed = {};
  /// Whether approximate laws that nobody allowed are priced too: for people.
  bool offers = false;
  /// Whether functions with gradients return what is left for these (KeepForBackward.h): where that is cheaper than to compute it again, or as the
  /// pin `save` says.
  bool save = false;
  /// That pin, which is no pin of a form: "none", "all", or the most bytes a token; empty: there is none.
  std::string savePin = {};
  /// Names that are left in place of that choice, as those of the same library's code for another device.
  std::optional<std::vector<std::string>> saved = {};
};

/// One form that a law offered for one op.
struct Decision {
  std::string law, form;
  std::string subject;     ///< what is in that form, where that is no attention: a weight's name, or the form that it is a part of
  std::optional<int> part; ///< of the attention among several of the function
  bool taken = false;
  bool feasible = true; ///< it can be built, and the device can run it
  bool pinned = false;
  double seconds = 0;               ///< of the best plan with it, at the selection's length
  cost::WorkEstimate work;          ///< of that plan
  std::optional<int64_t> from;      ///< taken in a library for unknown lengths: the first length L for which it runs
  std::optional<Crossover> cheaper; ///< not taken: where it would be
  std::string reason;               ///< one clause, for people
  mlir::Location location;

  /// As people are told it: "linearize: state", "fold wq: apart", "part1 linearize: state", "keys grouped: split".
  std::string name() const;
};

/// A function that selection made.
struct PlanFunction {
  std::string name;
  attn::Form form;
  int64_t from;
  std::string forms; ///< "linearize: state, fold wq: apart"; empty: no choice
};

/// A kernel of the plan that runs, in the order in which kernels run.
struct KernelShare {
  std::string kernel;  ///< state, merge, readout …
  std::string subject; ///< the tensor or weight, or the part, that it works on, where the name leaves that open
  double seconds = 0;
  std::string limit; ///< what it waits for: compute, shuffles, near memory, main memory or launch
  cost::WorkEstimate work;
};

/// Exact softmax of the same sizes, which is another function: told, never taken.
struct ExactComparison {
  double seconds = 0;
  std::optional<Crossover> cheaper; ///< where softmax would be cheaper than what was taken, which is cheaper here
  std::optional<Crossover> dearer;  ///< where softmax would be dearer, which is cheaper here
};

/// A plan that was priced and not taken.
struct RejectedPlan {
  std::string forms; ///< "linearize: state, fold wq: apart"
  double seconds = 0;
};

/// Prices over the length.
struct PriceCurve {
  std::string name; ///< "taken", "exact softmax" or a form, "linearize: state"
  std::vector<std::pair<int64_t, double>> points; ///< L and seconds
};

/// Another function of the same tensors, which takes the user's consent.
struct ConsentOffer {
  std::string law, change; ///< `allow: [law]`; what is computed instead
  std::string refusal;     ///< why it cannot be; empty if it can
  bool allowed = false, taken = false;
  std::string forms;  ///< of its cheapest plan
  double seconds = 0; ///< of that plan, at the selection's length
};

/// What a run could leave for its gradients beside its results, of one op.
struct SavedTensors {
  std::vector<std::string> names;
  double bytes = 0;        ///< at the selection's length
  double again = 0;        ///< seconds of the kernels that compute it again
  double moved = 0;        ///< seconds to read it from main memory
  bool stored = true;      ///< the plan stores it anyway
  bool taken = false;
};

/// The function of a function's gradients, which no law reorders: its kernels, in the order in which they run.
struct BackwardPlan {
  std::string function; ///< NAME_backward
  std::string refusal;  ///< why there is none; empty if there is
  double seconds = 0;   ///< at the selection's length
  cost::WorkEstimate work;
  std::vector<KernelShare> kernels;
};

/// Everything decided about one function of the module.
struct FunctionSelection {
  std::string function, device;
  int64_t threads = 0; ///< of a CPU that prices are for; 0: a GPU
  bool unknownLengths = false, unknownBatch = false;
  bool oneLength = false;        ///< n = N whatever they are: both are of the same tensor
  int64_t length = 0;            ///< L = 2nN / (n + N) at which prices are told
  int64_t queries = 1, keys = 1; ///< n and N there
  int64_t batch = 1;
  std::string lengthName = "L"; ///< what people are told it is: "n" where n = N, or may be
  double seconds = 0;      ///< of what runs at that length
  cost::WorkEstimate work; ///< of the same
  bool complete = true;    ///< every combination of forms was priced
  int64_t priced = 0;      ///< plans that were priced
  std::vector<PlanFunction> plans;
  std::vector<KernelShare> kernels; ///< of what runs at that length
  std::vector<Decision> decisions;
  std::vector<std::string> single; ///< attentions that have one form only
  std::vector<Pin> unbound;        ///< pins that are in none of the plans
  bool isSoftmax = false; ///< the function is exact softmax
  std::optional<int64_t> leftBytes; ///< what a run leaves for its gradients (KeepForBackward.h); none: it has none
  std::vector<SavedTensors> saved;  ///< what else it could leave
  std::string savePin;              ///< which decides of that; empty: there is none
  std::optional<BackwardPlan> backward; ///< if somebody has made it (PriceBackward.h)
  std::optional<ExactComparison> exact; ///< none if it is that, or if the device cannot run it
  std::string takenForms;             ///< of the plan at that length: "linearize: state, fold wq: apart"; empty: no choice
  std::vector<RejectedPlan> rejected; ///< the ten cheapest at that length, the cheapest first
  std::vector<ConsentOffer> consent;  ///< approximate laws that speak of the function
  double exactSeconds = 0;            ///< of the best exact plan at that length
  std::vector<PriceCurve> curves;     ///< if asked for: of what is taken, of exact softmax, of every form that can be built
};

struct Selection {
  std::vector<FunctionSelection> functions;
};

/// Brings every function of mechanisms into the forms that are cheapest on the device: one function for known lengths,
/// up to three with thresholds (`attn.plan`) for unknown ones. The module changes only if that succeeds for all
/// functions; otherwise errors say why. Reports decisions as remarks (category `attn-select-rewrites`) as well. A function's
/// attributes `attn.pin` and `attn.allow` add to the options' pins and consent; an option's pin goes first. A pin that binds
/// nothing is a warning, at its place where the function's location knows it (Attn/PinPlaces.h).
mlir::FailureOr<Selection> selectRewrites(mlir::ModuleOp module, const SelectOptions &options);

} // namespace attune::graph

#endif // ATTUNE_GRAPH_SELECTION_H
