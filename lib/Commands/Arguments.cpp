//===- Arguments.cpp - The command line of attnc ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Commands/Arguments.h"

#include "Version.h"

#include "attune/Cost/DeviceDescription.h"
#include "attune/Onnx/NodeSpec.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Support/Suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune::attnc;
using llvm::StringRef;

namespace {
struct CommandInfo {
  StringRef name;
  char letter; // in the options' lists of commands
  Command command;
  StringRef usage;
  StringRef summary;
  StringRef needsSpec = ""; // what a .yaml spec has that a .mlir file lacks; empty: either will do
};

/// An option of one or more commands: `apply` stores its value (empty for a flag) and says whether it was understood.
struct OptionInfo {
  StringRef name;
  StringRef value;    // what the value is; empty for a flag
  StringRef commands; // letters: c(ompile) i(nit) r(un) e(xplain) b(ench) s(uggest) (i)m(port) k: calibrate
  StringRef summary;
  bool (*apply)(Arguments &, StringRef);
};
} // namespace

static const CommandInfo commands[] = {
    {"compile", 'c', Command::Compile, "attnc compile SPEC [options]", "compile to lib<name>.so and <name>.h"},
    {"init", 'i', Command::Init, "attnc init SPEC --out DIR [options]",
     "write parameters, and with --inputs inputs, as .npy", "which says how its parameters are drawn"},
    {"run", 'r', Command::Run, "attnc run SPEC --in DIR --out DIR [options]",
     "compile in memory, run on the CPU or the first GPU, write the output"},
    {"explain", 'e', Command::Explain, "attnc explain SPEC [options]", "show the plan: forms, prices, thresholds"},
    {"bench", 'b', Command::Bench, "attnc bench SPEC... [options]",
     "time against the exact softmax and the machine's limit", "whose operations and whose exact softmax are known"},
    {"suggest", 's', Command::Suggest, "attnc suggest SPEC --in DIR [options]",
     "try attentions on your tensors: error, time, which to take", "whose mechanism can be exchanged"},
    {"import", 'm', Command::Import, "attnc import MODEL.onnx [options]", "print the spec of a node of an ONNX model"},
    {"calibrate", 'k', Command::Calibrate, "attnc calibrate [-o FILE.yaml] [options]",
     "measure this machine: a description for --device"},
};

static const StringRef targets[] = {"cpu", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90a"};
static const StringRef stages[] = {"attn", "graph", "tile", "llvm", "asm", "obj", "ptx", "cubin"};

static bool positive(StringRef text, std::optional<int64_t> &value) {
  int64_t number;
  if (text.getAsInteger(10, number) || number < 1 || number > INT32_MAX)
    return false;
  value = number;
  return true;
}

static bool oneOf(llvm::ArrayRef<StringRef> list, StringRef text, std::string &value) {
  value = text.str();
  return llvm::is_contained(list, text);
}

/// Names with commas, each once.
static bool listOf(llvm::ArrayRef<StringRef> list, StringRef text, std::vector<std::string> &values) {
  llvm::SmallVector<StringRef> words;
  text.split(words, ',');
  for (StringRef word : words) {
    if (!llvm::is_contained(list, word) || llvm::is_contained(values, word))
      return false;
    values.push_back(word.str());
  }
  return true;
}

int64_t attune::attnc::pricedThreads(const Arguments &arguments) {
  if (arguments.threads)
    return arguments.threads;
  return arguments.device.empty() ? llvm::hardware_concurrency().compute_thread_count() : 0;
}

Arguments attune::attnc::forSpec(Arguments arguments, const std::string &path) {
  arguments.specs = {path};
  return arguments;
}

static bool threadCount(Arguments &a, StringRef v) {
  return !v.getAsInteger(10, a.threads) && a.threads >= 1 && a.threads <= 1024;
}

static bool takeTargets(Arguments &a, StringRef v) {
  bool known = listOf(targets, v, a.targets);
  if (known)
    a.target = a.targets.front();
  return known;
}

static bool takeOutput(Arguments &a, StringRef v) { return a.output = v.str(), !v.empty(); }

static bool takePlot(Arguments &a, StringRef v) { return a.plot = v.str(), !v.empty(); }

static const OptionInfo options[] = {
    {"--target", "one of cpu, sm_80, sm_86, sm_87, sm_89, sm_90a", "rebs",
     "the machine to compile for (default: cpu)", takeTargets},
    {"--target", "one of cpu, sm_80, sm_86, sm_87, sm_89, sm_90a", "c",
     "the machine to compile for (default: cpu), or several with commas, for one library", takeTargets},
    {"--device", "a name (see attnc explain --list-devices) or a path that ends in .yaml", "crebs",
     "the device to price plans for (default: the usual one of the target); it implies the target",
     [](Arguments &a, StringRef v) { return a.device = v.str(), !v.empty(); }},
    {"--list-devices", "", "e", "list the devices that have a description",
     [](Arguments &a, StringRef) { return a.listDevices = true; }},
    {"--node", "a name", "cirebsm", "of a node of an ONNX model, or of one of its outputs (default: the only one with attention)",
     [](Arguments &a, StringRef v) { return a.node = v.str(), !v.empty(); }},
    {"--emit", "one of attn, graph, tile, llvm, asm, obj, ptx, cubin", "c", "stop after a stage and print it",
     [](Arguments &a, StringRef v) { return oneOf(stages, v, a.emit); }},
    {"-o", "a path", "c", "where to write (a folder, or a file; default: here)", takeOutput},
    {"-o", "a path", "k", "where to write the description (default: printed)", takeOutput},
    {"-o", "a path", "s", "where to write the spec to take (default: nowhere)", takeOutput},
    {"--max-error", "a number above 0", "s", "relative error against exact softmax that is allowed (default: 0.05)",
     [](Arguments &a, StringRef v) { return !v.getAsDouble(a.maxError) && a.maxError > 0; }},
    {"--plot", "a file", "e", "draw prices over the length, as SVG", takePlot},
    {"--html", "a file", "e", "write all of it as one page for a browser",
     [](Arguments &a, StringRef v) { return a.html = v.str(), !v.empty(); }},
    {"--plot", "a file", "s", "draw errors over times, as SVG", takePlot},
    {"--dump", "a folder", "c", "also write the module after each stage, as 0-attn.mlir, 1-graph.mlir …",
     [](Arguments &a, StringRef v) { return a.dump = v.str(), !v.empty(); }},
    {"--gpu-products", "one of mma.sync, wgmma", "cr",
     "the matrix instructions of f16 and bf16 on sm_90a (default: wgmma, unless a kernel has no room for it)",
     [](Arguments &a, StringRef v) { return oneOf({"mma.sync", "wgmma"}, v, a.products); }},
    {"--isa", "one of native, avx2, avx512, avx512_bf16, amx", "c",
     "code of a CPU for this instruction set only, native: for this machine (default: for all, one is taken where it runs)",
     [](Arguments &a, StringRef v) { return oneOf(attune::instructionSetNames(), v, a.isa); }},
    {"--in", "a folder of .npy files or one .safetensors file", "rs", "the inputs and parameters",
     [](Arguments &a, StringRef v) { return a.in = v.str(), !v.empty(); }},
    {"--out", "a folder", "ir", "where to write the tensors",
     [](Arguments &a, StringRef v) { return a.out = v.str(), !v.empty(); }},
    {"--seed", "an unsigned integer", "is", "of the random draws (default: 0)",
     [](Arguments &a, StringRef v) { return !v.getAsInteger(10, a.seed); }},
    {"--batch", "a positive integer", "ieb", "the batch, where the spec says '?'",
     [](Arguments &a, StringRef v) { return positive(v, a.batch); }},
    {"--sequences", "a positive integer", "ib", "the number of packed sequences, where the spec says '?'",
     [](Arguments &a, StringRef v) { return positive(v, a.sequences); }},
    {"--queries", "a positive integer", "ieb", "the number of queries n, where the spec says '?'",
     [](Arguments &a, StringRef v) { return positive(v, a.queries); }},
    {"--keys", "a positive integer", "ieb", "the number of keys N, where the spec says '?'",
     [](Arguments &a, StringRef v) { return positive(v, a.keys); }},
    {"--threads", "a positive integer", "r", "threads to use (default: every CPU)", threadCount},
    {"--threads", "a positive integer", "bs",
     "threads to use and to price plans for (default: every CPU; with --device prices are for its cores)", threadCount},
    {"--threads", "a positive integer", "ce",
     "threads of a CPU to price plans for (default: every CPU of this machine; with --device its cores)", threadCount},
    {"--plan", "an integer from 0", "c", "take the plan at this place in the order of prices, of which 0 is the cheapest",
     [](Arguments &a, StringRef v) { return !v.getAsInteger(10, a.plan) && a.plan >= 0; }},
    {"--plans", "a positive integer", "b", "time so many plans of each spec beside one another, the cheapest first",
     [](Arguments &a, StringRef v) { return !v.getAsInteger(10, a.plans) && a.plans >= 1; }},
    {"--inputs", "", "i", "write standard-normal inputs too",
     [](Arguments &a, StringRef) { return a.inputs = true; }},
    {"--backward", "", "i", "write standard-normal gradients of the outputs too, as grad_<output>.npy",
     [](Arguments &a, StringRef) { return a.backward = true; }},
    {"--backward", "", "r", "compute the gradients that the spec asks for, from those of the outputs",
     [](Arguments &a, StringRef) { return a.backward = true; }},
    {"--backward", "", "b", "time the gradients that the spec asks for as well, beside both passes of exact softmax",
     [](Arguments &a, StringRef) { return a.backward = true; }},
    {"--save", "", "r", "write what is left for the gradients too, as saved.<name>.npy",
     [](Arguments &a, StringRef) { return a.save = true; }},
    {"--reference", "", "r", "compute the function as it is written, by the interpreter, in float64",
     [](Arguments &a, StringRef) { return a.reference = true; }},
    {"--emulate", "", "r", "run a GPU target's device code on the CPU",
     [](Arguments &a, StringRef) { return a.emulate = true; }},
    {"--pessimistic", "", "r", "with --emulate make the rounding errors that the device may make at worst",
     [](Arguments &a, StringRef) { return a.pessimistic = true; }},
    {"--json", "", "ebs", "print JSON", [](Arguments &a, StringRef) { return a.json = true; }},
    {"--json", "", "m", "print JSON: the node, its operator, its inputs and outputs, the spec",
     [](Arguments &a, StringRef) { return a.json = true; }},
    {"--json", "", "r", "with --emulate print what each kernel did, as JSON",
     [](Arguments &a, StringRef) { return a.json = true; }},
    {"--quick", "", "k", "measure for a moment only, to see that it works",
     [](Arguments &a, StringRef) { return a.quick = true; }},
    {"--help", "", "cirebsmk", "print this help", [](Arguments &a, StringRef) { return a.help = true; }},
};

static const CommandInfo *findCommand(Command command) {
  return llvm::find_if(commands, [&](const CommandInfo &info) { return info.command == command; });
}

static bool takes(const OptionInfo &option, Command command) {
  return option.commands.contains(findCommand(command)->letter);
}

/// Those that take a .mlir file as well.
static llvm::SmallVector<StringRef> commandsOfModules() {
  llvm::SmallVector<StringRef> names;
  for (const CommandInfo &info : commands)
    if (info.needsSpec.empty() && info.command != Command::Calibrate && info.command != Command::Import)
      names.push_back(info.name);
  return names;
}

void attune::attnc::printHelp(std::optional<Command> command) {
  llvm::raw_ostream &os = llvm::outs();
  if (!command) {
    os << "attnc compiles attention: SPEC is a .yaml spec, a node of an .onnx model (--node) or, for "
       << llvm::join(commandsOfModules(), ", ") << ", a .mlir file in the attn dialect.\n\n";
    for (const CommandInfo &info : commands)
      os << "  " << llvm::left_justify(info.usage, 46) << info.summary << "\n";
    os << "\nattnc COMMAND --help lists the options of a command; attnc --version says what this is.\n"
          "Exit status: 0; 1 the work failed; 2 the spec, the call or a tensor is wrong.\n";
    return;
  }
  const CommandInfo &info = *findCommand(*command);
  os << info.usage << "\n  " << info.summary << "\n\n";
  for (const OptionInfo &option : options)
    if (takes(option, *command))
      os << "  " << llvm::left_justify(option.name, 16) << option.summary
         << (option.value.empty() ? "" : ("; " + option.value).str()) << "\n";
}

/// `attnc: error: expected …, but got …` with a note.
static std::nullopt_t complain(const llvm::Twine &expected, const llvm::Twine &got, const llvm::Twine &note) {
  llvm::errs() << "attnc: error: expected " << expected << ", but got " << got << "\nattnc: note: " << note << "\n";
  return std::nullopt;
}

static const OptionInfo *findOption(StringRef name, Command command) {
  const OptionInfo *found = llvm::find_if(
      options, [&](const OptionInfo &option) { return option.name == name && takes(option, command); });
  return found != std::end(options) ? found : nullptr;
}

static llvm::SmallVector<StringRef> optionsOf(Command command) {
  llvm::SmallVector<StringRef> names;
  for (const OptionInfo &option : options)
    if (takes(option, command))
      names.push_back(option.name);
  return names;
}

/// Applies the option at `position`, which moves past its value; an error is printed.
static bool applyOption(Arguments &arguments, llvm::ArrayRef<StringRef> words, size_t &position) {
  auto [name, attached] = words[position].split('=');
  std::string help = ("see attnc " + findCommand(arguments.command)->name + " --help").str();
  const OptionInfo *option = findOption(name, arguments.command);
  if (!option)
    return complain("an option of attnc " + findCommand(arguments.command)->name, "'" + name + "'",
                    attune::suggestionNote(name, optionsOf(arguments.command), help)),
           false;
  bool isAttached = words[position].contains('=');
  StringRef value = attached;
  if (!option->value.empty() && !isAttached) {
    if (++position == words.size())
      return complain(option->value + " after " + name, "nothing", help), false;
    value = words[position];
  }
  if ((option->value.empty() && isAttached) || !option->apply(arguments, value))
    return complain(option->value.empty() ? "no value after " + name.str() : (option->value + " after " + name).str(),
                    "'" + value + "'", help),
           false;
  return true;
}

/// A device says what code it runs: the target, where none is given.
static bool takeDevice(Arguments &arguments) {
  if (arguments.device.empty())
    return true;
  if (arguments.targets.size() > 1)
    return complain("one target with --device", "several", "compile for one device at a time"), false;
  llvm::Expected<attune::cost::DeviceDescription> device = attune::cost::DeviceDescription::named(arguments.device);
  if (!device) {
    llvm::errs() << "attnc: error: " << llvm::toString(device.takeError()) << "\n";
    return false;
  }
  if (!arguments.targets.empty() && arguments.target != device->target)
    return complain("a device of target " + arguments.target + " after --device",
                    device->name + ", which is of " + device->target, "leave --target out"),
           false;
  arguments.target = device->target;
  return true;
}

/// A file in the attn dialect has less than a spec.
static bool checkSuffixes(const Arguments &arguments) {
  const CommandInfo &info = *findCommand(arguments.command);
  for (StringRef path : arguments.specs)
    if (!info.needsSpec.empty() && path.ends_with(".mlir"))
      return complain("a .yaml spec, " + info.needsSpec, path,
                      llvm::join(commandsOfModules(), ", ") + " take a .mlir file"),
             false;
  return true;
}

/// A node is named behind its file from here on.
static bool takeNode(Arguments &arguments) {
  auto isModel = [](StringRef path) { return path.ends_with(".onnx"); };
  if (arguments.command == Command::Import && !arguments.specs.empty() && !attune::onnx::nodePathOf(arguments.specs[0]))
    return complain("a model whose name ends in .onnx", "'" + arguments.specs[0] + "'", "see attnc import --help"), false;
  if (arguments.node.empty())
    return true;
  if (llvm::none_of(arguments.specs, isModel))
    return complain("a model whose name ends in .onnx with --node", arguments.specs.empty() ? "nothing" : "'" + arguments.specs[0] + "'",
                    "other files have no nodes; leave --node out"),
           false;
  for (std::string &path : arguments.specs)
    if (isModel(path))
      path += ":" + arguments.node;
  return true;
}

/// What a command cannot do without, and options that exclude each other.
static bool checkComplete(const Arguments &arguments) {
  const CommandInfo &info = *findCommand(arguments.command);
  auto missing = [&](const llvm::Twine &what) { return complain(what, "nothing", "call it as: " + info.usage), false; };
  if (arguments.command == Command::Calibrate) {
    if (!arguments.specs.empty())
      return complain("no spec", "'" + arguments.specs[0] + "'", "call it as: " + info.usage), false;
    if (!arguments.output.empty() && !StringRef(arguments.output).ends_with(".yaml"))
      return complain("a path that ends in .yaml after -o", "'" + arguments.output + "'", "--device takes such files"),
             false;
    return true;
  }
  if (arguments.listDevices)
    return true;
  if (arguments.specs.empty())
    return missing("a spec");
  if (arguments.command != Command::Bench && arguments.specs.size() > 1)
    return complain("one spec", "'" + arguments.specs[1] + "' as well", "call it as: " + info.usage), false;
  bool oneTarget = arguments.command != Command::Compile || !arguments.emit.empty();
  if (arguments.targets.size() > 1 && oneTarget)
    return complain("one target for a command that makes no library", "several", "see " + info.usage), false;
  if ((arguments.command == Command::Run || arguments.command == Command::Suggest) && arguments.in.empty())
    return missing("--in DIR");
  if ((arguments.command == Command::Run || arguments.command == Command::Init) && arguments.out.empty())
    return missing("--out DIR");
  if (arguments.reference && arguments.emulate)
    return complain("--reference or --emulate", "both", "the interpreter has no device code to emulate"), false;
  if (arguments.emulate && arguments.target == "cpu")
    return complain("a GPU target with --emulate", "cpu", "add --target sm_80"), false;
  if (arguments.pessimistic && !arguments.emulate)
    return complain("--emulate with --pessimistic", "nothing", "only the emulator has numbers to choose from"), false;
  if (arguments.command == Command::Run && arguments.json && !arguments.emulate)
    return complain("--emulate with --json", "nothing", "only the emulator counts what kernels do"), false;
  if (arguments.products == "wgmma" && arguments.target != "sm_90a" && !llvm::is_contained(arguments.targets, "sm_90a"))
    return complain("--target sm_90a with --gpu-products wgmma", arguments.target, "other targets do not have it"), false;
  bool forCpu = arguments.target == "cpu" || llvm::is_contained(arguments.targets, "cpu");
  if (!arguments.isa.empty() && !forCpu)
    return complain("--target cpu with --isa " + arguments.isa, arguments.target, "only code of a CPU has instruction sets"), false;
  if (arguments.backward && arguments.plans > 0)
    return complain("--backward or --plans", "both", "plans are of the function; leave one of them out"), false;
  bool deviceStage = arguments.emit == "ptx" || arguments.emit == "cubin";
  if (deviceStage && arguments.target == "cpu")
    return complain("a GPU target with --emit " + arguments.emit, "cpu", "add --target sm_80"), false;
  return true;
}

std::optional<Arguments> attune::attnc::parseArguments(int argc, char **argv) {
  llvm::SmallVector<StringRef> words(argv + 1, argv + argc);
  Arguments arguments;
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    arguments.help = true;
    printHelp(std::nullopt);
    return words.empty() ? std::nullopt : std::optional(arguments);
  }
  if (words[0] == "--version") {
    arguments.help = true;
    printVersion(llvm::outs());
    return arguments;
  }
  const CommandInfo *info = llvm::find_if(commands, [&](const CommandInfo &entry) { return entry.name == words[0]; });
  if (info == std::end(commands)) {
    llvm::SmallVector<StringRef> names = llvm::map_to_vector(commands, [](const CommandInfo &each) { return each.name; });
    return complain("one of " + attune::joinNames(names), "'" + words[0] + "'",
                    attune::suggestionNote(words[0], names, "see attnc --help"));
  }
  arguments.command = info->command;
  for (size_t position = 1; position < words.size(); ++position) {
    if (!words[position].starts_with("-") || words[position] == "-")
      arguments.specs.push_back(words[position].str());
    else if (!applyOption(arguments, words, position))
      return std::nullopt;
  }
  if (arguments.help)
    printHelp(arguments.command);
  else if (!takeNode(arguments) || !checkSuffixes(arguments) || !takeDevice(arguments) || !checkComplete(arguments))
    return std::nullopt;
  return arguments;
}
