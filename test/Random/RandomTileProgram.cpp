//===- RandomTileProgram.cpp - Small programs of the tile dialect --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RandomTileProgram.h"

#include "TileProgramWriter.h"

using namespace attune::random;

static std::string argumentText(const ProgramMemory &memory) {
  return "%" + memory.name + ": memref<?x?x" + std::to_string(memory.columns) + "x" + memory.dtype +
         ", strided<[?, ?, 1]>>";
}

static std::vector<ProgramMemory> drawMemories(Choices &choices) {
  std::vector<ProgramMemory> memories;
  int64_t planes = choices.between(1, 3);
  auto add = [&](const std::string &name, bool isOutput) {
    memories.push_back({name, choices.pick({"f32", "f32", "f16", "bf16"}), planes, choices.size(24), choices.size(24),
                        isOutput});
  };
  for (int64_t i = 0, count = choices.between(1, 3); i < count; ++i)
    add("in" + std::to_string(i), false);
  add("out0", true), add("out1", true);
  return memories;
}

/// A loop over the rows of a memory that carries a matrix and a vector: sums of what the body makes of each tile.
static void writeLoop(TileProgramWriter &writer, const ProgramMemory &memory) {
  Choices &choices = writer.choices;
  int64_t step = choices.between(1, 9), columns = choices.between(1, 12);
  TileName matrix = writer.constant(columns, columns, "0.0"), vector = writer.constant(columns, 0, "0.0");
  std::string first = writer.index(0), last = writer.fresh(), dimension = writer.index(1), sums = writer.fresh();
  writer.line(last + " = memref.dim %" + memory.name + ", " + dimension + " : " +
              argumentText(memory).substr(memory.name.size() + 3));
  std::vector<TileName> outside = writer.tiles;
  TileName m{writer.fresh(), columns, columns}, v{writer.fresh(), columns, 0};
  std::string row = writer.fresh(), types = matrix.type() + ", " + vector.type();
  writer.line(sums + ":2 = tile.loop #tile.sum " + row + " = " + first + " to " + last + " step " + std::to_string(step) +
              " carries(" + m.name + " = " + matrix.name + ", " + v.name + " = " + vector.name + ") : (" + types +
              ") {");
  writer.indent = "    ";
  TileName loaded = writer.load(memory, row, step, columns);
  for (int64_t i = 0, count = choices.below(4); i < count; ++i)
    writer.anything();
  // Any tile of the step's shape: made in this step, or before the loop.
  TileName weights = writer.clamp(writer.ofShape(step, columns), 2);
  TileName nextMatrix = writer.dot(loaded, true, weights, false, m), part = writer.reduce(weights, false, 0);
  TileName nextVector = writer.define(columns, 0, "arith.addf " + v.name + ", " + part.name + " : " + v.type());
  writer.line("tile.yield " + nextMatrix.name + ", " + nextVector.name + " : " + types);
  writer.indent = "  ";
  writer.line("}");
  writer.tiles = outside;
  writer.tiles.push_back({sums + "#0", columns, columns});
  writer.clamp(writer.tiles.back(), 8);
  writer.tiles.push_back({sums + "#1", columns, 0});
  writer.clamp(writer.tiles.back(), 8);
}

static std::string writeBody(Choices &choices, const std::vector<ProgramMemory> &memories) {
  TileProgramWriter writer(choices);
  writer.line("%p = tile.program_id batch");
  for (const ProgramMemory &memory : memories)
    if (!memory.isOutput)
      writer.load(memory, writer.index(choices.below(memory.rows)), choices.between(1, 12),
                  choices.once(4) ? 0 : choices.between(1, 12));
  for (int64_t i = 0, count = choices.between(1, 6); i < count; ++i)
    writer.anything();
  if (choices.once(2))
    writeLoop(writer, memories[0]);
  for (int64_t i = 0, count = choices.between(1, 4); i < count; ++i)
    writer.anything();
  for (const ProgramMemory &memory : memories)
    if (memory.isOutput) {
      TileName stored = &memory == &memories.back() ? writer.tiles.back() : writer.anyTile();
      writer.store(stored, memory, writer.index(choices.below(memory.rows)));
    }
  return writer.text;
}

RandomTileProgram attune::random::drawTileProgram(uint64_t seed) {
  Choices choices(seed, "tile program");
  RandomTileProgram program;
  program.memories = drawMemories(choices);
  std::string arguments, names, types;
  for (const ProgramMemory &memory : program.memories) {
    std::string text = argumentText(memory), separator = arguments.empty() ? "" : ", ";
    arguments += separator + text;
    names += separator + "%" + memory.name;
    types += separator + text.substr(memory.name.size() + 3);
  }
  program.text = "tile.kernel @k(" + arguments + ") grid(batch) {\n" + writeBody(choices, program.memories) +
                 "  tile.return\n}\nfunc.func @plan(" + arguments + ") {\n  %c0 = arith.constant 0 : index\n" +
                 "  %planes = memref.dim %in0, %c0 : " +
                 argumentText(program.memories[0]).substr(program.memories[0].name.size() + 3) +
                 "\n  tile.launch @k grid(%planes) (" + names + ") : " + types + "\n  return\n}\n";
  return program;
}
