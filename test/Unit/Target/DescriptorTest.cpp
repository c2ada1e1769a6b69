//===- DescriptorTest.cpp - The descriptor in IR is the one of the C header ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyLibrary.h"

#include "attune/Target/EmitDescriptor.h"
#include "attune/Target/EmitLibrary.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Verifier.h"

#include <cstddef>
#include <gtest/gtest.h>

using namespace attune::target;
using namespace llvm;

namespace {

class Layout : public testing::Test {
protected:
  LLVMContext context;
  std::unique_ptr<Module> module = std::make_unique<Module>("layout", context);
  DescriptorTypes types = DescriptorTypes::get(context);

  void SetUp() override { cantFail(setHostLayout(*module)); }
  /// Offsets of all fields, then the size.
  std::vector<size_t> layout(StructType *type) {
    const StructLayout *layout = module->getDataLayout().getStructLayout(type);
    std::vector<size_t> result;
    for (unsigned i = 0; i < type->getNumElements(); ++i)
      result.push_back(layout->getElementOffset(i));
    result.push_back(layout->getSizeInBytes());
    return result;
  }
};

TEST_F(Layout, Tensor) {
  EXPECT_EQ(layout(types.tensor),
            (std::vector<size_t>{
                offsetof(attune_rt_tensor, name), offsetof(attune_rt_tensor, role), offsetof(attune_rt_tensor, dtype),
                offsetof(attune_rt_tensor, rank), offsetof(attune_rt_tensor, flags), offsetof(attune_rt_tensor, empty),
                offsetof(attune_rt_tensor, in_place_of), offsetof(attune_rt_tensor, dims), offsetof(attune_rt_tensor, bound),
                sizeof(attune_rt_tensor)}));
}

TEST_F(Layout, Plan) {
  EXPECT_EQ(layout(types.plan),
            (std::vector<size_t>{offsetof(attune_rt_plan, form), offsetof(attune_rt_plan, from_length),
                                 offsetof(attune_rt_plan, run), offsetof(attune_rt_plan, workspace),
                                 offsetof(attune_rt_plan, scratch_bytes), sizeof(attune_rt_plan)}));
}

TEST_F(Layout, Kernel) {
  EXPECT_EQ(layout(types.kernel),
            (std::vector<size_t>{offsetof(attune_rt_device_kernel, name), offsetof(attune_rt_device_kernel, block),
                                 offsetof(attune_rt_device_kernel, shared_bytes), sizeof(attune_rt_device_kernel)}));
}

TEST_F(Layout, Variant) {
  EXPECT_EQ(layout(types.variant),
            (std::vector<size_t>{offsetof(attune_rt_variant, target), offsetof(attune_rt_variant, arch),
                                 offsetof(attune_rt_variant, arch_specific), offsetof(attune_rt_variant, plan_count),
                                 offsetof(attune_rt_variant, plans), offsetof(attune_rt_variant, cubin),
                                 offsetof(attune_rt_variant, cubin_bytes), offsetof(attune_rt_variant, ptx),
                                 offsetof(attune_rt_variant, ptx_bytes), offsetof(attune_rt_variant, kernels),
                                 offsetof(attune_rt_variant, kernel_count), offsetof(attune_rt_variant, prepare),
                                 offsetof(attune_rt_variant, cubin_unpacked), offsetof(attune_rt_variant, ptx_unpacked),
                                 offsetof(attune_rt_variant, products), offsetof(attune_rt_variant, product_count),
                                 offsetof(attune_rt_variant, ptx_begin), offsetof(attune_rt_variant, tensors),
                                 offsetof(attune_rt_variant, tensor_count),
                                 sizeof(attune_rt_variant)}));
}

TEST_F(Layout, Product) {
  EXPECT_EQ(layout(types.product),
            (std::vector<size_t>{offsetof(attune_rt_product, kernel), offsetof(attune_rt_product, dtype),
                                 offsetof(attune_rt_product, reserved), offsetof(attune_rt_product, heads),
                                 offsetof(attune_rt_product, width), offsetof(attune_rt_product, depth),
                                 sizeof(attune_rt_product)}));
}

TEST_F(Layout, Descriptor) {
  EXPECT_EQ(
      layout(types.descriptor),
      (std::vector<size_t>{offsetof(attune_rt_descriptor, size), offsetof(attune_rt_descriptor, version),
                           offsetof(attune_rt_descriptor, name), offsetof(attune_rt_descriptor, summary),
                           offsetof(attune_rt_descriptor, compiler), offsetof(attune_rt_descriptor, flags),
                           offsetof(attune_rt_descriptor, tensor_count), offsetof(attune_rt_descriptor, tensors),
                           offsetof(attune_rt_descriptor, sizes), offsetof(attune_rt_descriptor, heads),
                           offsetof(attune_rt_descriptor, kv_heads), offsetof(attune_rt_descriptor, head_dim),
                           offsetof(attune_rt_descriptor, value_dim), offsetof(attune_rt_descriptor, variant_count),
                           offsetof(attune_rt_descriptor, variants),
                           offsetof(attune_rt_descriptor, size_rule_count), offsetof(attune_rt_descriptor, size_rules),
                           sizeof(attune_rt_descriptor)}));
  EXPECT_EQ(layout(types.sizeRule),
            (std::vector<size_t>{offsetof(attune_rt_size_rule, kind), offsetof(attune_rt_size_rule, symbol),
                                 offsetof(attune_rt_size_rule, value), sizeof(attune_rt_size_rule)}));
}

TEST(CompleteModule, ExportsTheEntryPointsAlone) {
  LLVMContext context;
  std::unique_ptr<Module> module = tiny::module(context);
  ASSERT_TRUE(module);
  ASSERT_FALSE(errorToBool(completeModule(*module, tiny::description())));
  EXPECT_FALSE(verifyModule(*module, &errs()));
  std::vector<std::string> exported, expected;
  for (const GlobalValue &value : module->global_values())
    if (!value.isDeclaration() && !value.hasLocalLinkage())
      exported.push_back(value.getName().str());
  for (StringRef name : entryPointNames())
    expected.push_back(("tiny_" + name).str());
  EXPECT_EQ(exported, expected);
}

/// The message of completing a module with a description that `change` has made wrong.
template <typename Change> std::string refusal(Change change) {
  LLVMContext context;
  std::unique_ptr<Module> module = tiny::module(context);
  LibraryDescription description = tiny::description();
  change(*module, description);
  return toString(completeModule(*module, description));
}

TEST(CompleteModule, RefusesWhatCannotWork) {
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) { d.name = "two words"; }),
            "expected a C identifier as the library's name, but got 'two words'");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) { d.name = "attune_rt"; }),
            "expected a library name other than 'attune' and 'attune_rt', which belong to the common header, but got "
            "'attune_rt'; rename the attention");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) { d.variants[0].plans[1].planFunction = "nowhere"; }),
            "plan 'long': expected a function 'nowhere' in the module, but there is none");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) { d.variants[0].plans[1].fromLength = 0; }),
            "plan 'long': expected lengths that start with 0 and ascend, but got 0");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) { d.variants.clear(); }),
            "expected code for at least one target, but got none");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) { d.tensors[0].dims = {-4}; }),
            "tensor 'q': expected sizes or symbols, but got an unknown symbol");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) { d.sizes[ATTUNE_RT_KEYS] = -1; }),
            "expected an input or output whose shape has the size 'keys', which is known only at run, but got none");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) {
              d.variants[0].prepare = PlanDescription{.form = "prepare", .planFunction = "nowhere"};
            }),
            "plan 'prepare': expected a function 'nowhere' in the module, but there is none");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) { d.tensors[0].role = ATTUNE_RT_PREPARED; }),
            "tensor 'q': expected static sizes of a prepared tensor, but got one known only at run");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) {
              d.tensors[0].role = ATTUNE_RT_PREPARED;
              d.tensors[0].dims = {2};
            }),
            "tensor 'o': expected prepared tensors to come last, but got one before it");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) { d.tensors[0].indexBound = 4; }),
            "tensor 'q': expected indices of dtype i32, but got f32");
  EXPECT_EQ(refusal([](Module &, LibraryDescription &d) {
              d.variants[0].target = ATTUNE_RT_CUDA;
              d.variants[0].arch = 80;
            }),
            "expected a cubin or PTX for sm_80, but got neither");
  EXPECT_EQ(
      refusal([](Module &module, LibraryDescription &) { module.getFunction("unused")->setName("tiny_run"); }),
      "expected the symbol 'tiny_run' to be free for the library's entry point, but the module has one of that name");
}

} // namespace
