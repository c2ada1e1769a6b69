//===- Random.cpp - Counter-based random numbers -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Random.h"

#include <cmath>

// A fused multiply-add would round differently from machine to machine.
#pragma STDC FP_CONTRACT OFF

namespace attune {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * counter[0];
    uint64_t second = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

RandomTensor::RandomTensor(uint64_t seed, llvm::StringRef name)
    : key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, nameHash(0xcbf29ce484222325) {
  for (char c : name)
    nameHash = (nameHash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
}

uint64_t RandomTensor::bits(uint64_t index) const {
  uint64_t block = index / 2;
  std::array<uint32_t, 4> words = philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                                              static_cast<uint32_t>(nameHash), static_cast<uint32_t>(nameHash >> 32)},
                                             key);
  unsigned half = index % 2 * 2;
  return uint64_t(words[half + 1]) << 32 | words[half];
}

double RandomTensor::uniform(uint64_t index) const {
  // 52 bits and a half: exact in a double, and never 0 or 1.
  return (static_cast<double>(bits(index) >> 12) + 0.5) * 0x1p-52;
}

uint64_t RandomTensor::below(uint64_t index, uint64_t bound) const {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(bits(index)) * bound >> 64);
}

/// c[0] + c[1] x + … + c[7] x^7.
static double polynomial(const double (&c)[8], double x) {
  double sum = c[7];
  for (int i = 6; i >= 0; --i)
    sum = sum * x + c[i];
  return sum;
}

/// The natural logarithm of a normal x > 0 from correctly rounded operations: x = 2^e m with m in [√½, √2), and
/// ln m = 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 0.172, whose series is cut below 1e-17.
static double portableLog(double x) {
  int exponent;
  double m = std::frexp(x, &exponent); // exact
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  double s = (m - 1) / (m + 1), square = s * s, sum = 0;
  for (int k = 23; k >= 1; k -= 2)
    sum = sum * square + 1.0 / k;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

double normalQuantile(double p) {
  static constexpr double a[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                  1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                  3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr double b[8] = {1.0,
                                  4.2313330701600911252e1,
                                  6.8718700749205790830e2,
                                  5.3941960214247511077e3,
                                  2.1213794301586595867e4,
                                  3.9307895800092710610e4,
                                  2.8729085735721942674e4,
                                  5.2264952788528545610e3};
  static constexpr double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                  3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double d[8] = {1.0,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  static constexpr double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                  2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double f[8] = {1.0,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  double r = std::sqrt(-portableLog(q < 0 ? p : 1 - p));
  double z = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5) / polynomial(f, r - 5);
  return q < 0 ? -z : z;
}

} // namespace attune
