# One precompiled header for every library and tool: the core of MLIR, the dialects that each stage touches, and of Attune its
# two dialects, which take two seconds to parse and whose edits rebuild nearly everything without it. Nothing else of
# Attune's own may stand here, or every edit would rebuild everything. Files still include what they use.
attune_library(AttunePch NO_PCH "${CMAKE_SOURCE_DIR}/lib/Pch.cpp")
target_precompile_headers(AttunePch PRIVATE
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/GPU/IR/GPUDialect.h>
  <mlir/Dialect/LLVMIR/LLVMDialect.h> <mlir/Dialect/LLVMIR/NVVMDialect.h>
  <mlir/Dialect/Math/IR/Math.h> <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h> <mlir/Dialect/Vector/IR/VectorOps.h> <mlir/IR/Builders.h>
  <mlir/IR/BuiltinAttributes.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/IRMapping.h>
  <mlir/IR/MLIRContext.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h>
  <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Pass/Pass.h> <mlir/Pass/PassManager.h> <mlir/Support/LLVM.h>
  <mlir/Transforms/DialectConversion.h> <mlir/Transforms/GreedyPatternRewriteDriver.h> <attune/Attn/Attn.h> <attune/Tile/Tile.h>
  <llvm/Support/Error.h> <llvm/Support/FormatVariadic.h> <llvm/Support/JSON.h> <algorithm> <array> <cmath> <cstdint> <deque> <functional> <map>
  <memory> <numeric> <optional> <set> <string> <vector>)
