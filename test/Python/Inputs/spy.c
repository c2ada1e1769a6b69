/* A library that computes nothing: it remembers where the tensors lay that it was given, and can wait for a word. Its
 * interface is that of a compiled spec with two inputs, one optional output and one parameter. */
#include "attune-rt/attune.h"

#include <string.h>
#include <unistd.h>

typedef struct { size_t size; const DLTensor *tensor[4]; } spy_tensors;

void *spy_seen[4];      /* the addresses of the last run */
void *spy_prepared;     /* of the last parameter */
volatile int spy_waits; /* a run waits until this is 0, for 20 seconds at most */
volatile int spy_runs;  /* runs that are under way */

static int alive;
static const char *message = "";

static void *address(const DLTensor *tensor) { return tensor ? (char *)tensor->data + tensor->byte_offset : NULL; }

attune_status spy_create(const attune_options *options, void **handle) {
  (void)options;
  *handle = &alive;
  return ATTUNE_OK;
}

attune_status spy_prepare(void *handle, const spy_tensors *parameters) {
  (void)handle;
  spy_prepared = address(parameters->tensor[0]);
  return ATTUNE_OK;
}

attune_status spy_workspace(void *handle, const spy_tensors *tensors, size_t *bytes) {
  (void)handle, (void)tensors;
  *bytes = 100;
  return ATTUNE_OK;
}

attune_status spy_run(void *handle, const spy_tensors *tensors, void *workspace, size_t bytes, void *stream) {
  (void)handle, (void)stream;
  if ((uintptr_t)workspace % ATTUNE_WORKSPACE_ALIGNMENT != 0 || bytes < 100) {
    message = "spy_run: argument 'workspace': expected another";
    return ATTUNE_ERROR_ARGUMENT;
  }
  __atomic_add_fetch(&spy_runs, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; i < 4; ++i)
    spy_seen[i] = address(tensors->tensor[i]);
  for (int i = 0; spy_waits && i < 20000; ++i)
    usleep(1000);
  __atomic_sub_fetch(&spy_runs, 1, __ATOMIC_SEQ_CST);
  message = "spy_run: waited in vain";
  return spy_waits ? ATTUNE_ERROR_DEVICE : ATTUNE_OK;
}

attune_status spy_info(void *handle, attune_info *info) {
  (void)handle;
  memset(info, 0, sizeof(*info));
  info->name = info->summary = info->compiler = info->isa = "spy";
  info->tensor_count = 5;
  return ATTUNE_OK;
}

attune_status spy_tensor(void *handle, uint32_t index, attune_tensor_info *info) {
  static const char *names[] = {"q", "k", "o", "lse", "omega"};
  static const int roles[] = {ATTUNE_INPUT, ATTUNE_INPUT, ATTUNE_OUTPUT, ATTUNE_OPTIONAL_OUTPUT, ATTUNE_PARAMETER};
  (void)handle;
  memset(info, 0, sizeof(*info));
  info->name = names[index];
  info->role = roles[index];
  info->rank = 2;
  info->dtype = (DLDataType){kDLFloat, 32, 1};
  info->shape[0] = -1;
  info->shape[1] = 8;
  return ATTUNE_OK;
}

void spy_destroy(void *handle) { (void)handle; }
const char *spy_message(void) { return message; }
