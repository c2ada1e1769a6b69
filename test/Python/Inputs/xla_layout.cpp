// Holds our declarations of XLA's interface to the header that jaxlib brings.
#include "XlaTypes.h"

#include "xla/ffi/api/c_api.h"

namespace ours = attune::python::xla;

#define SAME(type, field, theirs, member)                                                                              \
  static_assert(offsetof(ours::type, field) == offsetof(theirs, member) &&                                             \
                    sizeof(ours::type::field) == sizeof(theirs::member),                                               \
                #type "::" #field)
#define EQUAL(value, theirs) static_assert(static_cast<int>(ours::value) == static_cast<int>(theirs), #value)

SAME(Extension, type, XLA_FFI_Extension_Base, type);
SAME(Extension, next, XLA_FFI_Extension_Base, next);
SAME(Version, major, XLA_FFI_Api_Version, major_version);
SAME(Version, minor, XLA_FFI_Api_Version, minor_version);
SAME(ErrorArguments, message, XLA_FFI_Error_Create_Args, message);
SAME(ErrorArguments, code, XLA_FFI_Error_Create_Args, errc);
SAME(Api, version, XLA_FFI_Api, api_version);
SAME(Api, createError, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME(Metadata, version, XLA_FFI_Metadata, api_version);
SAME(Metadata, traits, XLA_FFI_Metadata, traits);
SAME(MetadataExtension, metadata, XLA_FFI_Metadata_Extension, metadata);
SAME(Buffer, dtype, XLA_FFI_Buffer, dtype);
SAME(Buffer, data, XLA_FFI_Buffer, data);
SAME(Buffer, rank, XLA_FFI_Buffer, rank);
SAME(Buffer, dims, XLA_FFI_Buffer, dims);
SAME(Text, data, XLA_FFI_ByteSpan, ptr);
SAME(Text, length, XLA_FFI_ByteSpan, len);
SAME(Scalar, value, XLA_FFI_Scalar, value);
SAME(Array, count, XLA_FFI_Array, size);
SAME(Array, data, XLA_FFI_Array, data);
SAME(Tensors, count, XLA_FFI_Args, size);
SAME(Tensors, items, XLA_FFI_Args, args);
SAME(Tensors, count, XLA_FFI_Rets, size);
SAME(Tensors, items, XLA_FFI_Rets, rets);
SAME(Attributes, count, XLA_FFI_Attrs, size);
SAME(Attributes, types, XLA_FFI_Attrs, types);
SAME(Attributes, names, XLA_FFI_Attrs, names);
SAME(Attributes, items, XLA_FFI_Attrs, attrs);
SAME(CallFrame, extensions, XLA_FFI_CallFrame, extension_start);
SAME(CallFrame, api, XLA_FFI_CallFrame, api);
SAME(CallFrame, stage, XLA_FFI_CallFrame, stage);
SAME(CallFrame, arguments, XLA_FFI_CallFrame, args);
SAME(CallFrame, results, XLA_FFI_CallFrame, rets);
SAME(CallFrame, attributes, XLA_FFI_CallFrame, attrs);

EQUAL(kS32, XLA_FFI_DataType_S32);
EQUAL(kS64, XLA_FFI_DataType_S64);
EQUAL(kF16, XLA_FFI_DataType_F16);
EQUAL(kF32, XLA_FFI_DataType_F32);
EQUAL(kF64, XLA_FFI_DataType_F64);
EQUAL(kBF16, XLA_FFI_DataType_BF16);
EQUAL(kInvalidArgument, XLA_FFI_Error_Code_INVALID_ARGUMENT);
EQUAL(kFailedPrecondition, XLA_FFI_Error_Code_FAILED_PRECONDITION);
EQUAL(kInternal, XLA_FFI_Error_Code_INTERNAL);
EQUAL(kExecute, XLA_FFI_ExecutionStage_EXECUTE);
EQUAL(kArray, XLA_FFI_AttrType_ARRAY);
EQUAL(kScalar, XLA_FFI_AttrType_SCALAR);
EQUAL(kMetadataExtension, XLA_FFI_Extension_Metadata);
static_assert(XLA_FFI_API_MAJOR == 0, "the structs of version 0");
