//===- EmitDescriptor.cpp - Adds a library's descriptor to LLVM IR --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attune/Target/EmitDescriptor.h"

#include "PackImage.h"
#include "PtxTexts.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace attune::target;
using namespace llvm;

DescriptorTypes DescriptorTypes::get(LLVMContext &context) {
  Type *i32 = Type::getInt32Ty(context), *i64 = Type::getInt64Ty(context);
  Type *ptr = PointerType::getUnqual(context);
  DescriptorTypes types;
  types.tensor = StructType::get(context, {ptr, i32, i32, i32, i32, i32, i32, ArrayType::get(i64, ATTUNE_RT_MAX_RANK), i64});
  types.plan = StructType::get(context, {ptr, i64, ptr, ptr, i64});
  types.kernel = StructType::get(context, {ptr, ArrayType::get(i32, 3), i32});
  types.product = StructType::get(context, {i64, i32, i32, i64, i64, i64});
  types.variant =
      StructType::get(context, {i32, i32, i32, i32, ptr, ptr, i64, ptr, i64, ptr, i64, ptr, i64, i64, ptr, i64, i64, ptr, i64});
  types.descriptor =
      StructType::get(context, {i32, i32, ptr, ptr, ptr, i32, i32, ptr, ArrayType::get(i64, ATTUNE_RT_SYMBOL_COUNT),
                                i64, i64, i64, i64, i64, ptr, i64, ptr});
  types.sizeRule = StructType::get(context, {i32, i32, i64});
  return types;
}

namespace {

/// Builds the constants of one descriptor.
class DescriptorBuilder {
public:
  DescriptorBuilder(Module &module, const LibraryDescription &description)
      : module(module), context(module.getContext()), description(description), types(DescriptorTypes::get(context)),
        texts(description.variants) {}

  Expected<GlobalVariable *> build();

private:
  /// An image, its bytes in the library, and once unpacked (0: it is not packed).
  struct Image {
    Constant *data, *bytes, *unpacked;
  };
  Image image(StringRef bytes, bool endWithZero);
  Image newImage(StringRef bytes, bool endWithZero);
  Constant *number(int64_t value, unsigned bits) {
    return ConstantInt::get(IntegerType::get(context, bits), static_cast<uint64_t>(value), /*IsSigned=*/true,
                            /*ImplicitTrunc=*/true);
  }
  Constant *i32(int64_t value) { return number(value, 32); }
  Constant *i64(int64_t value) { return number(value, 64); }
  Constant *null() { return ConstantPointerNull::get(PointerType::getUnqual(context)); }
  template <typename Range> Constant *array(IntegerType *element, const Range &values) {
    SmallVector<Constant *> constants;
    for (int64_t value : values)
      constants.push_back(number(value, element->getBitWidth()));
    return ConstantArray::get(ArrayType::get(element, constants.size()), constants);
  }

  GlobalVariable *global(Constant *value, StringRef name, unsigned alignment = 0);
  Constant *text(StringRef value);
  Constant *table(StructType *type, ArrayRef<Constant *> rows, StringRef name);
  Expected<Constant *> function(StringRef name, StringRef form);
  Constant *tensor(const TensorDescription &tensor);
  Expected<Constant *> plan(const PlanDescription &plan);
  Constant *kernel(const DeviceKernelDescription &kernel);
  SmallVector<Constant *> products(const VariantDescription &variant);
  SmallVector<Constant *> tensorsOf(const VariantDescription &variant);
  Expected<Constant *> variant(const VariantDescription &variant);

  Module &module;
  LLVMContext &context;
  const LibraryDescription &description;
  DescriptorTypes types;
  PtxTexts texts;
  StringMap<Image> images;
};

GlobalVariable *DescriptorBuilder::global(Constant *value, StringRef name, unsigned alignment) {
  auto *variable = new GlobalVariable(module, value->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage,
                                      value, "attune." + name);
  if (alignment)
    variable->setAlignment(Align(alignment));
  return variable;
}

Constant *DescriptorBuilder::text(StringRef value) {
  return global(ConstantDataArray::getString(context, value), "text");
}

/// Variants may have the same one.
DescriptorBuilder::Image DescriptorBuilder::image(StringRef bytes, bool endWithZero) {
  if (bytes.empty())
    return {null(), i64(0), i64(0)};
  auto [entry, isNew] = images.try_emplace(bytes);
  if (isNew)
    entry->second = newImage(bytes, endWithZero);
  return entry->second;
}

DescriptorBuilder::Image DescriptorBuilder::newImage(StringRef bytes, bool endWithZero) {
  SmallVector<uint8_t, 0> packed = packImage(bytes);
  if (packed.empty() || packed.size() >= bytes.size())
    return {global(ConstantDataArray::getString(context, bytes, endWithZero), "image", /*alignment=*/64),
            i64(static_cast<int64_t>(bytes.size())), i64(0)};
  return {global(ConstantDataArray::get(context, packed), "image", /*alignment=*/64),
          i64(static_cast<int64_t>(packed.size())), i64(static_cast<int64_t>(bytes.size()))};
}

Constant *DescriptorBuilder::table(StructType *type, ArrayRef<Constant *> rows, StringRef name) {
  if (rows.empty())
    return null();
  return global(ConstantArray::get(ArrayType::get(type, rows.size()), rows), name);
}

Expected<Constant *> DescriptorBuilder::function(StringRef name, StringRef form) {
  if (name.empty())
    return null();
  Function *found = module.getFunction(name);
  if (found && !found->isDeclaration())
    return found;
  return createStringError(inconvertibleErrorCode(),
                           "plan '" + form + "': expected a function '" + name + "' in the module, but there is none");
}

Constant *DescriptorBuilder::tensor(const TensorDescription &tensor) {
  SmallVector<int64_t> dims(tensor.dims.begin(), tensor.dims.end());
  dims.resize(ATTUNE_RT_MAX_RANK, 0);
  int64_t flags = (tensor.keyLengths ? ATTUNE_RT_KEY_LENGTHS : 0) | (tensor.offsets ? ATTUNE_RT_OFFSETS : 0) |
                  (tensor.keyOffsets ? ATTUNE_RT_KEY_OFFSETS : 0) | (tensor.signs ? ATTUNE_RT_SIGNS : 0) |
                  (tensor.indexBound ? ATTUNE_RT_INDICES : 0) | (tensor.mostPosition ? ATTUNE_RT_POSITIONS : 0);
  const auto *input = llvm::find_if(description.tensors, [&](const TensorDescription &other) { return other.name == tensor.inPlaceOf; });
  int64_t inPlaceOf = input == description.tensors.end() ? 0 : 1 + (input - description.tensors.begin());
  return ConstantStruct::get(types.tensor, {text(tensor.name), i32(tensor.role), i32(tensor.dtype),
                                            i32(tensor.dims.size()), i32(flags), i32(tensor.ifEmpty), i32(inPlaceOf),
                                            array(Type::getInt64Ty(context), dims),
                                            i64(tensor.mostPosition ? tensor.mostPosition : tensor.indexBound)});
}

Expected<Constant *> DescriptorBuilder::plan(const PlanDescription &plan) {
  Expected<Constant *> run = function(plan.planFunction, plan.form);
  if (!run)
    return run.takeError();
  Expected<Constant *> workspace = function(plan.workspaceFunction, plan.form);
  if (!workspace)
    return workspace.takeError();
  return ConstantStruct::get(types.plan,
                             {text(plan.form), i64(plan.fromLength), *run, *workspace, i64(plan.scratchBytes)});
}

Constant *DescriptorBuilder::kernel(const DeviceKernelDescription &kernel) {
  return ConstantStruct::get(
      types.kernel, {text(kernel.name), array(Type::getInt32Ty(context), kernel.block), i32(kernel.sharedBytes)});
}

SmallVector<Constant *> DescriptorBuilder::products(const VariantDescription &variant) {
  SmallVector<Constant *> result;
  for (auto [place, kernel] : enumerate(variant.kernels))
    if (const std::optional<attune_rt_product> &product = kernel.product)
      result.push_back(ConstantStruct::get(types.product, {i64(static_cast<int64_t>(place)), i32(product->dtype), i32(0),
                                                           i64(product->heads), i64(product->width),
                                                           i64(product->depth)}));
  return result;
}

/// Those that callers see, then the variant's own.
SmallVector<Constant *> DescriptorBuilder::tensorsOf(const VariantDescription &variant) {
  SmallVector<Constant *> result;
  for (const TensorDescription &each : description.tensors)
    if (each.role != ATTUNE_RT_PREPARED)
      result.push_back(tensor(each));
  for (const TensorDescription &each : *variant.prepared)
    result.push_back(tensor(each));
  return result;
}

Expected<Constant *> DescriptorBuilder::variant(const VariantDescription &variant) {
  SmallVector<Constant *> plans, kernels;
  for (const PlanDescription &description : variant.plans) {
    Expected<Constant *> built = plan(description);
    if (!built)
      return built.takeError();
    plans.push_back(*built);
  }
  for (const DeviceKernelDescription &description : variant.kernels)
    kernels.push_back(kernel(description));
  Constant *prepare = null();
  if (variant.prepare) {
    Expected<Constant *> built = plan(*variant.prepare);
    if (!built)
      return built.takeError();
    prepare = global(*built, "prepare");
  }
  SmallVector<Constant *> multiplied = products(variant), tensors = variant.prepared ? tensorsOf(variant) : SmallVector<Constant *>();
  Image cubin = image(variant.cubin, /*endWithZero=*/false), ptx = image(variant.ptx.empty() ? "" : texts.joined(), /*endWithZero=*/true);
  return ConstantStruct::get(types.variant,
                             {i32(variant.target), i32(variant.arch), i32(variant.archSpecific), i32(plans.size()),
                              table(types.plan, plans, "plans"), cubin.data, cubin.bytes, ptx.data, ptx.bytes,
                              table(types.kernel, kernels, "kernels"), i64(kernels.size()), prepare, cubin.unpacked,
                              ptx.unpacked, table(types.product, multiplied, "products"), i64(multiplied.size()),
                              i64(texts.beginOf(variant.ptx)), table(types.tensor, tensors, "tensors"), i64(tensors.size())});
}

Expected<GlobalVariable *> DescriptorBuilder::build() {
  SmallVector<Constant *> tensors, variants, rules;
  for (const SizeRule &rule : description.sizeRules)
    rules.push_back(ConstantStruct::get(types.sizeRule, {i32(rule.kind), i32(rule.symbol), i64(rule.value)}));
  for (const TensorDescription &description : description.tensors)
    tensors.push_back(tensor(description));
  for (const VariantDescription &description : description.variants) {
    Expected<Constant *> built = variant(description);
    if (!built)
      return built.takeError();
    variants.push_back(*built);
  }
  int64_t flags = description.queriesEqualKeys ? ATTUNE_RT_QUERIES_EQUAL_KEYS : 0;
  Constant *value = ConstantStruct::get(
      types.descriptor, {i32(sizeof(attune_rt_descriptor)), i32(ATTUNE_RT_DESCRIPTOR_VERSION), text(description.name),
                         text(description.summary), text(compilerVersion()), i32(flags), i32(tensors.size()),
                         table(types.tensor, tensors, "tensors"), array(Type::getInt64Ty(context), description.sizes),
                         i64(description.heads), i64(description.kvHeads), i64(description.headDim),
                         i64(description.valueDim), i64(variants.size()), table(types.variant, variants, "variants"),
                         i64(rules.size()), table(types.sizeRule, rules, "size_rules")});
  return global(value, "descriptor");
}

} // namespace

Expected<GlobalVariable *> attune::target::addDescriptor(Module &module, const LibraryDescription &description) {
  if (Error error = checkDescription(description))
    return error;
  return DescriptorBuilder(module, description).build();
}
