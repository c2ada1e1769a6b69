/*===- Descriptor.h - What a compiled library tells the runtime ------------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * The contract between generated code and the runtime. A compiled library holds one constant `attune_rt_descriptor`
 * and thin exported wrappers NAME_create, ... over the attune_rt_* functions below, which are linked in statically.
 *
 * Argument slots. Plans, workspace functions and kernels take an array of 8-byte slots. A tensor of rank r takes
 * 1 + r + r of them: address of the first element, sizes[r], strides[r] (elements). An absent optional tensor has a
 * null address and zero sizes. A plan's slots are the tensors in the order of the variant's tensor table, then one slot with the
 * workspace's address. The slots of a prepare plan are the parameters, then the prepared tensors, then the workspace.
 * Parameters and prepared tensors are row-major and start at multiples of 64 bytes.
 *
 * Structs only grow at the end; `version` rises when the meaning of a field changes, and when a struct that stands in a
 * table grows.
 */
#ifndef ATTUNE_RT_DESCRIPTOR_H
#define ATTUNE_RT_DESCRIPTOR_H

#include "attune-rt/attune.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ATTUNE_RT_DESCRIPTOR_VERSION 6u
#define ATTUNE_RT_MAX_RANK ATTUNE_MAX_RANK

typedef enum attune_rt_role {
  ATTUNE_RT_INPUT = ATTUNE_INPUT,
  ATTUNE_RT_OUTPUT = ATTUNE_OUTPUT,
  ATTUNE_RT_OPTIONAL_INPUT = ATTUNE_OPTIONAL_INPUT,
  ATTUNE_RT_OPTIONAL_OUTPUT = ATTUNE_OPTIONAL_OUTPUT,
  ATTUNE_RT_PARAMETER = ATTUNE_PARAMETER, /* given to prepare, which copies it */
  /* The handle's own, of static sizes, filled by the prepare plan and read by the others. Callers do not see them. They
     end the tensor table. */
  ATTUNE_RT_PREPARED = 5
} attune_rt_role;

typedef enum attune_rt_dtype {
  ATTUNE_RT_F32 = 0,
  ATTUNE_RT_F16 = 1,
  ATTUNE_RT_BF16 = 2,
  ATTUNE_RT_I32 = 3
} attune_rt_dtype;

/* A dimension is a size >= 0, or -1 - symbol. */
typedef enum attune_rt_symbol {
  ATTUNE_RT_BATCH = 0,
  ATTUNE_RT_QUERIES = 1,
  ATTUNE_RT_KEYS = 2,
  ATTUNE_RT_SYMBOL_COUNT = 3
} attune_rt_symbol;

/* What an output holds if there are no keys at all. */
typedef enum attune_rt_empty {
  ATTUNE_RT_EMPTY_ZERO = 0,
  ATTUNE_RT_EMPTY_MINUS_INFINITY = 1,
  ATTUNE_RT_EMPTY_COMPUTED = 2 /* what the plan computes, such as a bias; it then runs for 0 keys too */
} attune_rt_empty;

/* Tensor flags: what the elements must be, checked where the tensor is given. */
#define ATTUNE_RT_KEY_LENGTHS 1u /* in 0 .. keys (checked on the CPU; device code clamps); inputs [batch] */
#define ATTUNE_RT_SIGNS 2u       /* -1 or 1; parameters */
#define ATTUNE_RT_INDICES 4u     /* in 0 .. bound - 1; parameters of dtype i32 */
#define ATTUNE_RT_POSITIONS 8u   /* in 0 .. bound - queries (checked on the CPU); inputs [batch] of dtype i32 */
/* From 0 on never falling to queries, or to keys (checked on the CPU; device code clamps); inputs [batch + 1] of dtype i32. */
#define ATTUNE_RT_OFFSETS 16u
#define ATTUNE_RT_KEY_OFFSETS 32u

typedef struct attune_rt_tensor {
  const char *name;
  uint32_t role;  /* attune_rt_role */
  uint32_t dtype; /* attune_rt_dtype */
  uint32_t rank;
  uint32_t flags;
  uint32_t empty; /* attune_rt_empty */
  uint32_t in_place_of; /* outputs: 1 + the index of the input whose memory it may be; 0: none */
  int64_t dims[ATTUNE_RT_MAX_RANK];
  int64_t bound; /* of ATTUNE_RT_INDICES and ATTUNE_RT_POSITIONS */
} attune_rt_tensor;

/* Computes one point of a grid. `scratch` is this thread's, 64-byte aligned. */
typedef void (*attune_rt_kernel)(const void *args, int64_t gx, int64_t gy, int64_t gz, void *scratch);
/* Launches a plan's kernels in order, each complete before the next begins. */
typedef void (*attune_rt_plan_function)(void *launcher, const void *args);
/* Bytes of workspace that the plan needs for these sizes; addresses in `args` may be null. */
typedef int64_t (*attune_rt_workspace_function)(const void *args);

typedef struct attune_rt_plan {
  const char *form;
  int64_t from_length; /* ascending within a variant; 0 first */
  attune_rt_plan_function run;
  attune_rt_workspace_function workspace; /* null: none */
  int64_t scratch_bytes;                  /* per thread */
} attune_rt_plan;

typedef struct attune_rt_device_kernel {
  const char *name; /* in the module */
  int32_t block[3];
  int32_t shared_bytes; /* dynamic shared memory */
} attune_rt_device_kernel;

/* A kernel that projects tokens, out[b, h, i, c] = sum over k of x[b, i, k] w[k, h width + c], which a vendor's library may
   compute in its place. Its slots are x [batch, tokens, depth], w [depth, heads width] and out [batch, heads, tokens,
   width] of f32; x and w are of `dtype`, w is row-major. */
typedef struct attune_rt_product {
  int64_t kernel; /* its index */
  uint32_t dtype; /* attune_rt_dtype: f32, f16 or bf16 */
  uint32_t reserved;
  int64_t heads;
  int64_t width;
  int64_t depth;
} attune_rt_product;

typedef enum attune_rt_target {
  ATTUNE_RT_AVX2 = 0,   /* all of x86-64-v3 */
  ATTUNE_RT_AVX512 = 1, /* all of x86-64-v4 */
  ATTUNE_RT_CUDA = 2,
  ATTUNE_RT_AVX512_BF16 = 3, /* x86-64-v4 and avx512_bf16 */
  ATTUNE_RT_AMX = 4 /* that, amx_tile and amx_bf16 */
} attune_rt_target;

/* Code for one instruction set or GPU architecture. */
typedef struct attune_rt_variant {
  uint32_t target; /* attune_rt_target */
  int32_t arch;    /* CUDA: compute capability, 80 for 8.0 */
  uint32_t arch_specific; /* CUDA: 1 = runs on exactly this capability (sm_90a) */
  uint32_t plan_count;    /* 1 .. ATTUNE_MAX_PLANS */
  const attune_rt_plan *plans;
  /* CUDA only; a null image is absent, and the cubin goes before the PTX. */
  const void *cubin;
  uint64_t cubin_bytes;
  const void *ptx; /* that of several variants, one after another, each ending with a zero byte */
  uint64_t ptx_bytes;
  const attune_rt_device_kernel *kernels;
  uint64_t kernel_count;
  const attune_rt_plan *prepare; /* fills the prepared tensors; null: there are none to fill */
  /* Bytes of the images once they are unpacked from the LZMA streams that they then are; 0: they lie there as they are. */
  uint64_t cubin_unpacked;
  uint64_t ptx_unpacked;
  const attune_rt_product *products; /* CUDA only */
  uint64_t product_count;
  uint64_t ptx_begin; /* where this variant's PTX begins, once it is unpacked */
  /* Those of the descriptor that callers see, then the prepared tensors of this variant; null: the descriptor's table. */
  const attune_rt_tensor *tensors;
  uint64_t tensor_count;
} attune_rt_variant;

/* What a mechanism needs of a number of tokens that only a run knows. */
typedef enum attune_rt_size_rule_kind {
  ATTUNE_RT_MULTIPLE = 0, /* a multiple of the value */
  ATTUNE_RT_EXACTLY = 1,  /* the value */
  ATTUNE_RT_AT_MOST = 2,
  ATTUNE_RT_BLOCKS = 3 /* of keys: the number of whole blocks of that many keys divides the number of queries */
} attune_rt_size_rule_kind;

typedef struct attune_rt_size_rule {
  uint32_t kind;   /* attune_rt_size_rule_kind */
  uint32_t symbol; /* attune_rt_symbol */
  int64_t value;   /* at least 1 */
} attune_rt_size_rule;

/* Descriptor flags. */
/* The mechanism needs n = N. Keys that no input or output shows are then as many as the queries. */
#define ATTUNE_RT_QUERIES_EQUAL_KEYS 1u

typedef struct attune_rt_descriptor {
  uint32_t size;
  uint32_t version;
  const char *name;
  const char *summary;
  const char *compiler;
  uint32_t flags;
  uint32_t tensor_count;
  const attune_rt_tensor *tensors;
  int64_t sizes[ATTUNE_RT_SYMBOL_COUNT]; /* batch, queries, keys; -1: known only at run */
  int64_t heads;
  int64_t kv_heads;
  int64_t head_dim;
  int64_t value_dim;
  uint64_t variant_count;
  const attune_rt_variant *variants;
  uint64_t size_rule_count;
  const attune_rt_size_rule *size_rules; /* checked at run and workspace */
} attune_rt_descriptor;

/* Called by plans. A device launch takes each slot as one 8-byte kernel parameter. */
void attune_rt_launch(void *launcher, attune_rt_kernel kernel, const void *args, int64_t slots, int64_t gx, int64_t gy,
                      int64_t gz);
/* Several kernels, none of which reads what another one writes: their points are handed out at once. */
typedef struct attune_rt_grid {
  attune_rt_kernel kernel;
  const void *args;
  int64_t sizes[3];
} attune_rt_grid;
void attune_rt_launch_together(void *launcher, const attune_rt_grid *grids, int64_t count);
void attune_rt_launch_device(void *launcher, int64_t kernel, const void *args, int64_t slots, int64_t gx, int64_t gy,
                             int64_t gz);

/* A struct of `size` (bytes, itself included), then one pointer a tensor, in the order of the table: what run is given
   (neither parameters nor prepared tensors), or the parameters alone. Pointers past `size` count as null. */
typedef struct attune_rt_tensors {
  size_t size;
  const DLTensor *tensor[1];
} attune_rt_tensors;

typedef struct attune_rt_handle attune_rt_handle;

attune_status attune_rt_create(const attune_rt_descriptor *descriptor, const attune_options *options,
                               attune_rt_handle **handle);
attune_status attune_rt_prepare(attune_rt_handle *handle, const attune_rt_tensors *parameters);
attune_status attune_rt_workspace(attune_rt_handle *handle, const attune_rt_tensors *tensors, size_t *bytes);
attune_status attune_rt_plan_index(attune_rt_handle *handle, const attune_rt_tensors *tensors, int32_t *index);
attune_status attune_rt_run(attune_rt_handle *handle, const attune_rt_tensors *tensors, void *workspace, size_t bytes,
                            void *stream);
attune_status attune_rt_info(attune_rt_handle *handle, attune_info *info);
attune_status attune_rt_tensor_info(attune_rt_handle *handle, uint32_t index, attune_tensor_info *info);
void attune_rt_destroy(attune_rt_handle *handle);
const char *attune_rt_message(void);

#ifdef __cplusplus
}
#endif

#endif /* ATTUNE_RT_DESCRIPTOR_H */
