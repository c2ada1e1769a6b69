//===- Arguments.h - The command line of attnc ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_ARGUMENTS_H
#define ATTUNE_COMMANDS_ARGUMENTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attune::attnc {

/// The exit statuses of SPEC §5.
enum ExitStatus { Done = 0, Failed = 1, Wrong = 2 };

enum class Command { Compile, Init, Run, Explain, Bench, Suggest, Import, Calibrate };

/// What was asked for; fields that a command does not take are left at their defaults.
struct Arguments {
  Command command = Command::Compile;
  std::vector<std::string> specs; ///< one, but for bench (several) and calibrate (none); FILE.onnx:NODE with --node
  std::string target = "cpu";       ///< the first of the targets
  std::vector<std::string> targets; ///< several only for compile; empty: cpu
  std::string device;               ///< --device: a name or a path; empty: the default one of the target
  std::string products; ///< --gpu-products; empty: wgmma where kernels fit
  std::string isa;                ///< --isa; empty: all
  std::string emit;               ///< a stage; empty: the library
  std::string output;             ///< -o
  std::string dump;               ///< --dump: a folder; empty: none
  std::string in, out;            ///< --in, --out
  std::string plot;               ///< --plot: a file; empty: none
  std::string html;               ///< --html: a file; empty: none
  double maxError = 0.05;         ///< --max-error
  uint64_t seed = 0;
  bool inputs = false, backward = false, save = false;
  std::optional<int64_t> batch, queries, keys, sequences;
  int64_t threads = 0;            ///< 0: every CPU
  int64_t plan = 0;               ///< --plan: its place in the order of prices
  int64_t plans = 0;              ///< --plans: how many to time; 0: the chosen one, beside exact softmax
  bool reference = false, emulate = false, pessimistic = false, json = false, listDevices = false, quick = false;
  bool help = false; ///< or --version: what was asked for has been printed
  std::string node;  ///< --node, of ONNX models; `specs` have it behind their files too
};

/// For how many threads of a CPU plans are priced: those that were asked for; else those that this machine has, which is
/// where a library runs that nobody compiles for another device; 0: the cores of the device that was named.
int64_t pricedThreads(const Arguments &arguments);

/// The same call for the spec at `path` alone, so that what is wrong is said of that file.
Arguments forSpec(Arguments arguments, const std::string &path);

/// Reads the command line; prints what is wrong and returns nothing if it cannot.
std::optional<Arguments> parseArguments(int argc, char **argv);

/// The help text, of one command if `command` is given.
void printHelp(std::optional<Command> command);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_ARGUMENTS_H
