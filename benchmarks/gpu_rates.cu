//===- gpu_rates.cu - What an NVIDIA GPU does a second, measured --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts of a device description (lib/Cost/devices), in its units: rates are of one multiprocessor, main_bytes_per_second of
// the device. Each is the median of nine timings by events, of loops whose instructions do not wait for one another.
//
//   nvcc -O3 -gencode=arch=compute_90a,code=sm_90a gpu_rates.cu -o gpu-rates && ./gpu-rates
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "gpu-rates: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// Seconds of one call, the median of nine after a first.
template <typename Call> static double secondsOf(Call call) {
  cudaEvent_t start, end;
  check(cudaEventCreate(&start), "event"), check(cudaEventCreate(&end), "event");
  std::vector<float> taken;
  for (int i = 0; i < 10; ++i) {
    check(cudaEventRecord(start), "record");
    call();
    check(cudaEventRecord(end), "record");
    check(cudaEventSynchronize(end), "run");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, end), "time");
    if (i > 0)
      taken.push_back(milliseconds);
  }
  check(cudaGetLastError(), "launch");
  std::nth_element(taken.begin(), taken.begin() + 4, taken.end());
  return taken[4] * 1e-3;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Reads `count` 16-byte words `rounds` times; a block reads every word of its stride.
__global__ void read(const uint4 *source, size_t count, int rounds, uint32_t *sink) {
  uint32_t sum = 0;
  for (int round = 0; round < rounds; ++round)
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += 4 * size_t(gridDim.x) * blockDim.x) {
      uint4 words[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        size_t place = i + j * size_t(gridDim.x) * blockDim.x;
        words[j] = place < count ? __ldcg(source + place) : uint4{};
      }
#pragma unroll
      for (int j = 0; j < 4; ++j)
        sum ^= words[j].x ^ words[j].y ^ words[j].z ^ words[j].w;
    }
  if (sum == 0x12345678)
    *sink = sum;
}

__global__ void nothing() {}

/// Every warp reads its row of shared memory by 16 bytes a thread.
__global__ void readShared(int rounds, uint32_t *sink) {
  extern __shared__ uint4 shared[];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x)
    shared[i] = uint4{uint32_t(i), 1, 2, 3};
  __syncthreads();
  uint32_t sum = 0, place = threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      uint4 words = shared[(place + 256 * j) & 2047];
      sum ^= words.x ^ words.y ^ words.z ^ words.w;
    }
    place += sum & 1 ? 32 : 0;
  }
  if (sum == 0x12345678)
    *sink = sum;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

constexpr int chains = 8;

/// Stores the sum of what was computed where it is a number that it is not, so that nothing is left out.
template <int count> __device__ void keep(const float (&x)[count], float *sink) {
  float sum = 0;
  for (int j = 0; j < count; ++j)
    sum += x[j];
  if (sum == 1.25f)
    *sink = sum;
}

__global__ void multiplyAdds(int rounds, float *sink) {
  float x[chains];
  for (int j = 0; j < chains; ++j)
    x[j] = threadIdx.x + j;
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int j = 0; j < chains; ++j)
      x[j] = fmaf(x[j], 1.0001f, 0.5f);
  keep(x, sink);
}

__global__ void exponentials(int rounds, float *sink) {
  float x[chains];
  for (int j = 0; j < chains; ++j)
    x[j] = threadIdx.x * 1e-3f + j;
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int j = 0; j < chains; ++j)
      asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[j]));
  keep(x, sink);
}

__global__ void shuffles(int rounds, float *sink) {
  float x[chains];
  for (int j = 0; j < chains; ++j)
    x[j] = threadIdx.x * 1e-3f + j;
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int j = 0; j < chains; ++j)
      x[j] = __shfl_xor_sync(~0u, x[j], 1 + j);
  keep(x, sink);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// 16 x 8 x 16 of bf16, or 16 x 8 x 8 of tf32, `chains` sums a warp.
template <bool tf32> __global__ void warpProducts(int rounds, float *sink) {
  uint32_t a[4] = {threadIdx.x, 1, 2, 3}, b[2] = {threadIdx.x, 5};
  float c[chains][4] = {};
#define PRODUCT(shape)                                                                                                                  \
  asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                             \
               : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])                                                             \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int j = 0; j < chains; ++j)
      if constexpr (tf32)
        PRODUCT("m16n8k8.row.col.f32.tf32.tf32.f32");
      else
        PRODUCT("m16n8k16.row.col.f32.bf16.bf16.f32");
#undef PRODUCT
  for (auto &each : c)
    keep(each, sink);
}

/// A 64 x 64 tile of 128-byte rows in shared memory, swizzled, as wgmma takes it.
__device__ uint64_t tileOf(uint32_t address) {
  return (uint64_t(1) << 62) | (uint64_t(64) << 32) | (uint64_t(1) << 16) | ((address & 0x3FFFF) >> 4);
}

/// 64 x 64 x 16 of bf16, both operands in shared memory, two sums a warpgroup.
__global__ void warpgroupProducts(int rounds, float *sink) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) uint4 shared[];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x)
    shared[i] = uint4{};
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  uint32_t address = uint32_t(__cvta_generic_to_shared(shared));
  float c[2][32] = {};
  for (int round = 0; round < rounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      uint64_t a = tileOf(address + 32 * (j / 2)), b = tileOf(address + 8192 + 32 * (j / 2));
      float(&d)[32] = c[j % 2];
      asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                   "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
                     "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),
                     "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
                     "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                   : "l"(a), "l"(b));
    }
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  for (auto &each : c)
    keep(each, sink);
#endif
}

int main() {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "properties");
  const int cores = device.multiProcessorCount, rounds = 1 << 14;
  std::printf("%s, capability %d.%d, %d multiprocessors, %zu bytes of shared memory a block, %d MiB of L2\n", device.name, device.major,
              device.minor, cores, device.sharedMemPerBlockOptin, device.l2CacheSize >> 20);

  const size_t bytes = size_t(2) << 30;
  char *from, *to;
  check(cudaMalloc(&from, bytes), "memory"), check(cudaMalloc(&to, bytes), "memory");
  check(cudaMemset(from, 1, bytes), "memory"), check(cudaMemset(to, 1, bytes), "memory");
  auto *sink = reinterpret_cast<float *>(to);
  auto *word = reinterpret_cast<uint32_t *>(to);
  auto *words = reinterpret_cast<const uint4 *>(from);
  auto say = [](const char *name, double value) { std::printf("%-34s %.3e\n", name, value); };

  say("main_bytes_per_second (copied)", 2 * bytes / secondsOf([&] { cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice); }));
  say("main_bytes_per_second (read)", bytes / secondsOf([&] { read<<<8 * cores, 256>>>(words, bytes / 16, 1, word); }));
  for (int mebibytes : {4, 16, 32}) {
    size_t count = (size_t(mebibytes) << 20) / 16;
    double seconds = secondsOf([&] { read<<<8 * cores, 256>>>(words, count, 64, word); });
    std::printf("%-34s %.3e of %d MiB\n", "near_bytes_per_second", 64.0 * 16 * count / seconds / cores, mebibytes);
  }
  say("shared bytes a second", 16.0 * 8 * 256 * 2 * rounds / secondsOf([&] { readShared<<<2 * cores, 256, 32768>>>(rounds, word); }));

  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "stream");
  double thousand = secondsOf([&] {
    for (int i = 0; i < 1000; ++i)
      nothing<<<cores, 128>>>();
  });
  say("launch_seconds", thousand / 1000);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  for (int i = 0; i < 1000; ++i)
    nothing<<<cores, 128, 0, stream>>>();
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiate(&ready, graph, 0), "graph");
  say("launch_seconds in a graph", secondsOf([&] { cudaGraphLaunch(ready, 0); }) / 1000);

  double threads = 2.0 * 512 * chains * rounds;  // instructions of two blocks, which share a multiprocessor
  say("elementwise_per_second", threads / secondsOf([&] { multiplyAdds<<<2 * cores, 512>>>(rounds, sink); }));
  say("exp2_per_second", threads / secondsOf([&] { exponentials<<<2 * cores, 512>>>(rounds, sink); }));
  say("shuffles_per_second (of a warp)", threads / 32 / secondsOf([&] { shuffles<<<2 * cores, 512>>>(rounds, sink); }));
  for (int warps : {4, 8, 16})
    std::printf("%-34s %.3e, %d warps\n", "mma.sync bf16 multiply-adds",
                16.0 * 8 * 16 * chains * rounds * warps / secondsOf([&] { warpProducts<false><<<cores, 32 * warps>>>(rounds, sink); }), warps);
  say("mma.sync tf32 multiply-adds", 16.0 * 8 * 8 * chains * rounds * 16 / secondsOf([&] { warpProducts<true><<<cores, 512>>>(rounds, sink); }));
  if (device.major == 9)
    for (int groups : {1, 2, 3})
      std::printf("%-34s %.3e, %d warpgroups\n", "wgmma bf16 multiply-adds",
                  64.0 * 64 * 16 * 8 * rounds * groups / secondsOf([&] {
                    warpgroupProducts<<<cores, 128 * groups, 32768>>>(rounds, sink);
                  }),
                  groups);
  check(cudaDeviceSynchronize(), "end");
}
