/*===- attune.h - What every compiled attention library has in common ------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * The types that the functions of a compiled library take. C99 and C++. A generated `<name>.h` carries these
 * declarations itself, under the same guard, so it needs no other header and any number of them go together.
 *
 * The life of a library called NAME:
 *
 *     NAME_create      chooses the device, the instruction set and the threads
 *     NAME_prepare     copies and checks the parameters, if there are any; allocates and computes all that runs need
 *     NAME_workspace   bytes of workspace for tensors of given sizes
 *     NAME_run         computes: never allocates, and checks everything before the first store
 *     NAME_destroy     frees everything, or leaves that to calls that other threads have begun
 *
 * Each returns an `attune_status`; after one that is not ATTUNE_OK, NAME_message() says, for the calling thread, which
 * argument was wrong, what was expected, what was found and what to do.
 *
 * Parameters stay the same from run to run: prepare copies them, so they may be changed or freed afterwards. It may be
 * called again with others; if that fails, the handle keeps what it had. A number of keys that a parameter shows holds
 * for every run until then.
 *
 * Threads: a handle may be used from any number of threads. On the CPU two runs of one handle never overlap: the second
 * waits (make one handle a thread, with threads = 1, to run side by side). On a GPU run only enqueues.
 *
 * A handle is a ticket, not an address. One that was destroyed, or that is not of this library, is refused with
 * ATTUNE_ERROR_STATE by every call, and by destroy without a word.
 *
 * Destroy every handle, and let its calls end, before the library is unloaded (dlclose): they run the library's code.
 *
 * fork: in the child of a fork, a handle for the CPU made before runs on the calling thread alone, with the same bits,
 * whatever other threads of the parent did at that moment. (If one of them was within prepare, the child may be told to
 * prepare again.) A handle for a GPU is refused there: CUDA does not outlive a fork.
 */
#ifndef ATTUNE_RT_ATTUNE_H
#define ATTUNE_RT_ATTUNE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Tensors are DLPack's DLTensor. If the program uses <dlpack/dlpack.h> too, include that one first; without it, these
 * declarations are the same in memory.
 *
 * A library accepts a tensor if
 *   - data + byte_offset is aligned to the element (data may be null if a dimension is 0);
 *   - the innermost stride is 1 (of a parameter it is free, so that a transposed view passes); the others are free
 *     (elements, not bytes), so that [batch, heads, n, d] and a view of [batch, n, heads, d] both pass without a copy.
 *     Strides of dimensions of size 1 are not looked at; strides == NULL means row-major. A stride of 0 (one row
 *     standing for many) is for inputs and parameters only;
 *   - rank, sizes, dtype and device are those that the library's header states;
 *   - all its elements together, and the memory from the lowest to the highest, are at most 2^56 bytes.
 * Elements of an output share bytes with nothing else: no other element, no input, no other output, nothing of the
 * workspace that the run needs. Inputs may share memory, and slices of one tensor that interleave are fine as inputs and
 * as outputs.
 */
#if !defined(DLPACK_DLPACK_H_) && !defined(ATTUNE_DLPACK_DECLARED)
#define ATTUNE_DLPACK_DECLARED 1

enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4 };

typedef struct {
  int32_t device_type; /* kDLCPU, kDLCUDA, ... */
  int32_t device_id;   /* ordinal; 0 for the CPU */
} DLDevice;

typedef struct {
  uint8_t code;   /* kDLInt, kDLFloat, kDLBfloat, ... */
  uint8_t bits;   /* of one element: f32 is {kDLFloat, 32, 1}, f16 {kDLFloat, 16, 1}, bf16 {kDLBfloat, 16, 1} */
  uint16_t lanes; /* 1 */
} DLDataType;

typedef struct {
  void *data; /* on a GPU a device address */
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;     /* in elements; NULL: row-major */
  uint64_t byte_offset; /* of the first element from data */
} DLTensor;
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ATTUNE_ABI_VERSION 1u
#define ATTUNE_MAX_PLANS 3
/* The workspace given to run starts at a multiple of this many bytes. */
#define ATTUNE_WORKSPACE_ALIGNMENT 64

typedef enum attune_status {
  ATTUNE_OK = 0,
  ATTUNE_ERROR_ARGUMENT = 1,    /* an argument is wrong; nothing was written */
  ATTUNE_ERROR_STATE = 2,       /* not a live handle, not prepared, or busy on this very thread */
  ATTUNE_ERROR_UNSUPPORTED = 3, /* this machine or device cannot run the library's code */
  ATTUNE_ERROR_MEMORY = 4,      /* memory or threads could not be had */
  ATTUNE_ERROR_DEVICE = 5,      /* the GPU driver reported an error, named in the message */
  ATTUNE_ERROR_LIBRARY = 6      /* the library's own description is damaged or of another version */
} attune_status;

/*
 * How a host runs the library's work on its own threads: call body(body_context, i) exactly once for each i in
 * 0 .. count-1, at the same time or one after another, on any threads, and return when all have returned. `count` is at
 * most the handle's `threads`. The result does not depend on how it is done.
 */
typedef void (*attune_body)(void *body_context, int32_t i);
typedef void (*attune_parallel_for)(void *context, int32_t count, attune_body body, void *body_context);

/* Start from ATTUNE_OPTIONS_INIT, so that fields of later versions get their defaults. */
typedef struct attune_options {
  size_t size;                      /* sizeof(attune_options) */
  uint32_t version;                 /* ATTUNE_ABI_VERSION */
  int32_t threads;                  /* CPU: 0 = every CPU that the process may use; else 1 .. 1024 */
  int32_t device_type;              /* kDLCPU or kDLCUDA; 0 = what the library was compiled for, the CPU first */
  int32_t device_id;                /* ordinal of the GPU; 0 for the CPU */
  attune_parallel_for parallel_for; /* NULL: the library's own threads, kept between runs */
  void *parallel_for_context;       /* passed to parallel_for */
  const char *isa;                  /* CPU: NULL = the best that is there; "avx2", "avx512", "avx512_bf16", "amx": that one */
} attune_options;

#define ATTUNE_OPTIONS_INIT { sizeof(attune_options), ATTUNE_ABI_VERSION, 0, 0, 0, NULL, NULL, NULL }

/* One way of computing that the library holds; run takes the last plan with from_length <= 2nN/(n+N). */
typedef struct attune_plan_info {
  const char *form;     /* e.g. "quadratic", "state", "chunked" */
  int64_t from_length;  /* the first plan has 0 */
  size_t scratch_bytes; /* per thread */
} attune_plan_info;

/* Set `size` to sizeof(attune_info) before asking. The strings live as long as the library is loaded. */
typedef struct attune_info {
  size_t size;
  uint32_t version;     /* ATTUNE_ABI_VERSION of the library */
  int32_t plan_count;
  const char *name;     /* of the library */
  const char *summary;  /* the mechanism and its sizes, in one line */
  const char *compiler; /* that made it, with its version */
  const char *isa;      /* in use: "avx2", "avx512", "sm_80" ... */
  int32_t device_type;
  int32_t device_id;
  int32_t threads;       /* that take part in a run, the caller among them */
  uint32_t reserved;
  size_t scratch_bytes;  /* that the handle holds for all threads together */
  int64_t batch, queries, keys;                     /* the size, or -1 if known only at run */
  int64_t heads, kv_heads, head_dim, value_dim;
  attune_plan_info plans[ATTUNE_MAX_PLANS];
  uint32_t tensor_count; /* that NAME_tensor describes */
  uint32_t reserved_end;
} attune_info;

typedef enum attune_role {
  ATTUNE_INPUT = 0,
  ATTUNE_OUTPUT = 1,
  ATTUNE_OPTIONAL_INPUT = 2,
  ATTUNE_OPTIONAL_OUTPUT = 3,
  ATTUNE_PARAMETER = 4 /* given to prepare, all others to run; both structs keep the order of the indices */
} attune_role;

#define ATTUNE_MAX_RANK 6

/* One tensor of the library. Set `size` to sizeof(attune_tensor_info) before asking. */
typedef struct attune_tensor_info {
  size_t size;
  const char *name;
  int32_t role; /* attune_role */
  int32_t rank;
  DLDataType dtype;
  uint32_t reserved;
  int64_t shape[ATTUNE_MAX_RANK]; /* sizes; -1, -2, -3: batch, queries, keys, known only at run */
} attune_tensor_info;

#ifdef __cplusplus
}
#endif

#endif /* ATTUNE_RT_ATTUNE_H */
