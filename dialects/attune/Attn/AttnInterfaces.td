//===- AttnInterfaces.td - What mechanisms have in common -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_INTERFACES_TD
#define ATTUNE_ATTN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Attn_MechanismInterface : OpInterface<"MechanismOpInterface"> {
  let cppNamespace = "::attune::attn";
  let description = [{
    A mechanism: one op that is a paper's formula, with a decomposition into terms that means the same.
  }];
  let methods = [
    InterfaceMethod<"Builds the terms before the op and returns the values of its results; none if no terms make them.",
                    "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def Attn_DifferentiableInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::attune::attn";
  let description = [{
    An op that knows its vector-Jacobian product. With a cotangent ȳ of each result, tensors of its sizes in f32, the cotangent of an operand x
    is x̄ = (∂y/∂x)ᵀ ȳ. Shifts, rescalings, lengths, positions and indices are constants of the function and have none.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the cotangents of the operands at the builder, one an operand in their order: null where an operand is a constant. Those of the
      results are given in their order; at least one is not null, which is 0.
    }], "::llvm::SmallVector<::mlir::Value>", "buildGradients", (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents)>
  ];
}

def Attn_Differentiable : DeclareOpInterfaceMethods<Attn_DifferentiableInterface>;

def Attn_UsefulOperationsInterface : OpInterface<"UsefulOperationsOpInterface"> {
  let cppNamespace = "::attune::attn";
  let description = [{
    A step of a function as papers write it, of which it can be said what it needs at least, whatever a plan executes.
  }];
  let methods = [
    InterfaceMethod<[{
      Multiply-adds of products: the least over the exact forms of the op (all pairs, or a state), causal linear ones at their best
      length of a chunk. All sizes are static.
    }], "double", "multiplyAdds", (ins), "", "return 0;">,
    InterfaceMethod<[{
      The tokens that the op multiplies by a compression E, and E; nulls if it compresses none. Where a projection makes these
      tokens, E x may come first.
    }], "std::pair<::mlir::Value, ::mlir::Value>", "compression", (ins), "", "return {};">
  ];
}

def Attn_ExecutableInterface : OpInterface<"ExecutableOpInterface"> {
  let cppNamespace = "::attune::attn";
  let description = [{
    An op whose meaning leaves open how it is computed, and that says what laws have decided of that.

    Constraints: A52: an execution says what the op can vary alone.
  }];
  let methods = [
    InterfaceMethod<"What laws have decided; null if nothing.", "::attune::attn::ExecutionAttr", "getExecutionAttr">,
    InterfaceMethod<"Says what laws have decided.", "void", "setExecutionAttr", (ins "::attune::attn::ExecutionAttr":$execution)>,
    StaticInterfaceMethod<"What the op can vary, as its attribute prints it.", "::llvm::ArrayRef<::llvm::StringLiteral>",
                          "decisions">
  ];
  let verify = [{
    return ::attune::attn::checkExecution($_op, ConcreteOp::decisions());
  }];
}

#endif // ATTUNE_ATTN_INTERFACES_TD
