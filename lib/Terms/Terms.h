//===- Terms.h - The terms that regions are made of -*- C++ -*- ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TERMS_TERMS_H
#define ATTUNE_LIB_TERMS_TERMS_H

#include "Region.h"

namespace attune::terms {
using fusion::Axis;
using fusion::StreamedTerm;
using fusion::Term;
using TermPtr = std::unique_ptr<Term>;
using StreamedPtr = std::unique_ptr<StreamedTerm>;

// Of each token.

/// (x, …): factor times the sum of all, tile by tile, in f32, which may be exponents.
TermPtr scale(double factor, fusion::Representation gives = fusion::Representation::Plain);
/// (x): (x − mean) / sqrt(variance + ε) of each row or, with `l2`, x / sqrt(Σ x² + ε).
TermPtr qkNorm(double epsilon, bool l2 = false);
/// (x, ȳ): (ȳ − mean(ȳ) − y mean(ȳ ⊙ y)) / σ, or with `l2` (ȳ − y ⟨ȳ, y⟩) / σ, of the y that `qkNorm` gives and the σ that it divides by.
TermPtr qkNormGradient(double epsilon, bool l2);
/// (x): elu(x) + 1.
TermPtr elu1();
/// (x): max(x, 0).
TermPtr relu();
/// (x) or (x, position of token 0): relu(x) times sine and cosine of π i / 2M for the positions i of `axis`, from 1 on: two tiles.
TermPtr cosformer(Axis axis, int64_t maxPosition);
/// (begin [1] of i32) or (): begin + tokens.
TermPtr advanced(fusion::Index tokens);
/// Positions [T] that count on from `begin` [1] of i32.
mlir::Value goingOn(const fusion::TileSite &site, mlir::Value positions, const fusion::Source &begin);
/// (x) or (x, held): rows of a sequence of which so many came `before`: those of `held`, which are 0 where it has none, then the `count` rows
/// of x, then 0.
TermPtr behind(fusion::Index before, fusion::Index count);
/// (x), or (|x|²) [T]: |x| of each row; with `powerOfTwo` the power of two next to it, which loses nothing of what is divided by it, and
/// 0 of 0.
TermPtr length(bool powerOfTwo);
/// (x [T], m [1]): max(m, max_{i ≤ t} x_i) of each row t.
TermPtr prefixMaximum();
/// (leaves …, sides …): the sketch of rows of norm about 1, the root of a tree of products with matrices of ±1 [rows, r]. With
/// `pairs` its numbers are sums of two f32.
TermPtr sketchTree(int64_t leaves, bool pairs);
/// (x, root's cotangent, leaves' matrices …, sides …): x̄ of the tree over x of norm about 1.
TermPtr sketchTreeGradient(int64_t leaves);
/// (x, M): x M of rows of norm about 1 and `width` columns, for a leaf of the tree: with `pairs` what their leading digits give, exactly,
/// and the rest.
TermPtr sketchLeaf(int64_t width, bool pairs);
/// (sign [rows], index [columns]): sign_i · (−1)^popcount(i & index_c).
TermPtr signMatrix();
/// (x): xᵀ.
TermPtr transposed();
/// (focus): 1 / softplus(focus).
TermPtr inverseSoftplus();
/// (x, inverse): (|y| / |y^p|) y^p of y = (relu(x) + ε) inverse.
TermPtr focused(double power, double epsilon);
/// (x, ω) or, of x ωᵀ, (x): relu(√s x ωᵀ) + ε.
TermPtr favorRelu(double scale, double epsilon);
/// (ω): |ω_f|²/2 in units of log 2.
TermPtr omegaSquares();

struct FavorOptions {
  /// What is taken off the exponents of a row: nothing; their maximum; the maximum of the last operand [m], what
  /// `omegaSquares` gives; or the last operand [1, 1].
  enum class Stabilizer { None, Row, OfFeatures, One };

  double scale, epsilon;
  int64_t features; ///< m
  bool folded;      ///< x is x ωᵀ already
  bool squares;     ///< s |x|²/2 is taken off, too
  Stabilizer stabilizer;
};
/// (x, ω if not folded, c if there is one): m^{-1/2} (exp(√s x ωᵀ − …) + ε).
TermPtr favor(FavorOptions options);
/// (x of a slice of features): x of the first `count` features, else what stands for 0.
TermPtr existingFeatures(int64_t count);
/// (): one number, in so many columns of the rows of an axis.
TermPtr filled(Axis rows, int64_t columns, double value);
/// (L): factor · (2^L + ε).
TermPtr powers(double epsilon, double factor);
/// (x [c] or [1, 1]): the largest number, for each row of an axis.
TermPtr largestForRows(Axis rows);
/// (L, c): L − c of each row.
TermPtr lowered();
/// (x, …): the tiles of all.
TermPtr blocks();
/// (x): some of its tiles.
TermPtr select(llvm::ArrayRef<unsigned> which);
/// (x) or (x, position of token 0): x rotated by its positions, those of `axis`.
TermPtr rope(Axis axis, const kernel::TokenStep &step);
/// (x) or, where the pairs are halves of rows, (x, the others of the pairs), and the position of token 0 behind them if the step has
/// them in memory: the same of some columns of whole rows.
TermPtr ropeSlice(Axis axis, const kernel::TokenStep &step, kernel::ColumnsOf of);
/// (x, bias): x + bias in each row of `axis`, 0 where a row does not exist.
TermPtr addBias(Axis axis);
/// (x, s, bias): x + s biasᵀ.
TermPtr addScaledBias();

// Of elements, in f32; the second operand is repeated where it has one a row, or one for all.

TermPtr times();
TermPtr plus();
/// (a, b) of one shape: a b, 0 where a is 0, whatever b is.
TermPtr timesUnlessZero();
/// (x, a) of as many rows: x of each row, 0 where all of a is 0, whatever x is.
TermPtr unlessZeroRows();
TermPtr minus();
TermPtr over();
TermPtr atLeast(double least);
TermPtr atMost(double most);
/// (x): x^power, of a power of at least 1.
TermPtr wholePower(int64_t power);
/// (x): 1 / x.
TermPtr inverse();
/// (a [rows], b [columns]): a_i b_j.
TermPtr outer();

/// (x [1]): x as [count].
TermPtr repeated(int64_t count);
/// (x [rows, 1]): x as [rows].
TermPtr column();
/// (x) or (x, m [1]): max(m, max |x|): [1].
TermPtr largestEntry();
/// (x): the power of two next to the largest |x| of each row.
TermPtr rowScale();
/// (before, now, 1 / now): (before / now)^power of units, exactly 1 where they are equal.
TermPtr growth(int64_t power);

// Of each pair.

/// (a, b): scale · a bᵀ summed over their tiles, exponents in units of log 2 if `gives` is Log; of operands in f32 if `wide`.
TermPtr logits(fusion::Representation gives, double scale, bool wide);
/// (w): w where the query sees the key, else what stands for 0.
TermPtr visible();
/// (x): x of rows of an axis before `end`, else 0, whatever x is.
TermPtr rowsBefore(Axis axis, fusion::Index end);
/// (w): w_ij of pairs j ≤ i, counted from the first entries of both ranges, else 0.
TermPtr lowerTriangle();
/// (inside, outside): of pairs whose tokens are in one block of `length` tokens the first, of others the second.
TermPtr diagonalBlocks(int64_t length);
/// (w): w of such pairs, or of the others if `outside`, else 0.
TermPtr onlyBlocks(int64_t length, bool outside);
/// (w): w_ij where block j of `length` tokens ends at or before token i, else what stands for 0.
TermPtr endedBlocks(int64_t length);
/// (μ, k): scale (⟨μ, k_j⟩ − |k_j|²/2) for one μ [1, d], as exponents: those of a Gaussian around μ, less what all have in common.
TermPtr gaussianLogits(double scale);
/// (s, w): s_ij + w_j.
TermPtr addLogWeights();
/// (count): its log2, or 0 unless it `weighs`: [1]; −∞ of 0.
TermPtr logCount(bool weighs);

// Of gradients.

/// (x, φ̄): x̄ of the entries' map.
TermPtr reluGradient();
TermPtr elu1Gradient();
/// (x, φ̄ of two tiles) or (x, φ̄, position of token 0): x̄ of `cosformer`.
TermPtr cosformerGradient(Axis axis, int64_t maxPosition);
/// (x, inverse, φ̄) or, of `logarithms`, (x, inverse, L̄): x̄ of `focused`.
TermPtr focusedGradient(double power, double epsilon, bool logarithms = false);
/// (x, φ̄, ω): x̄ of `favorRelu`; what reaches its x ωᵀ.
TermPtr favorReluGradient(double scale);
TermPtr favorReluProductGradient(double scale);
/// (what `favor` takes …, φ̄): x̄ of it; what reaches its x ωᵀ.
TermPtr favorGradient(FavorOptions options);
TermPtr favorProductGradient(FavorOptions options);
/// (x, ω, L̄): the same from what reaches the logarithms of features.
TermPtr favorLogGradient(double scale);
TermPtr favorLogProductGradient(double scale);
/// (x, inverse, φ̄ or L̄): what each row adds to the cotangent of the focus.
TermPtr focusGradient(double power, double epsilon, bool logarithms = false);

/// (s, lse [Tq]): e^(s − lse) of logits, 0 where lse is −∞.
TermPtr softmaxWeights();
/// Those of rows whose keys are all in the tile: e^s / Σ_j e^s.
TermPtr softmaxOfPairs();
/// (x [Tq]): x_i for every key: [Tq, Tk].
TermPtr spread();
/// (z [m]): z in each row of an axis, [T, m].
TermPtr overRows(fusion::Axis rows);
/// (w, c): c (1 − tanh²(factor · w)).
TermPtr softcapGradient(double factor);
/// (a, b): Σ_c a_tc b_tc of each row, over all tiles: [T].
TermPtr rowProducts();
/// (x [T, m]): Σ_f x_f of each row.
TermPtr rowSums();
/// (δ [T], z [T]): −δ / (z + bias), 0 where the guard holds the denominator back.
TermPtr denominatorGradient(attn::DenominatorAttr guard);
/// (): 0 for the rows of an axis, [T, width], to be stored at a place that these axes count.
TermPtr zeros(fusion::AxisSet places, fusion::Axis rows, int64_t width);
/// (w, x, …) over queries: Σ_i w_ij x_i for each key of a tile, of each x, which have these widths, with operands of products in f32 if
/// `wide`.
StreamedPtr transposedSums(llvm::ArrayRef<int64_t> widths, bool wide);

// Gradients of causal readouts, of the tokens of one chunk (ReadoutGradients.cpp). State: of `featureSums`, with a sum beside each matrix if it
// `divides`.

/// What a state's matrix M and its sum s, if it `divides`, give to rows: M x_t, M x_t + s, M x_t + w_t s, or s alone, which has no x.
enum class Carried { Matrix, Both, Weighed, Sum };
/// (x, state[, w], [d]), or (state, [d]): that, times 2^{d_t} of exponents of rows, or of rows and features, if it `decays`: a tile for each of the
/// state's blocks of features.
TermPtr carriedGradient(bool divides, Carried what, bool decays);
/// 1 of every pair of a query and a key.
TermPtr ones();
/// (x, y, w): x + w_t y of rows of as many tiles.
TermPtr plusWeighed();
/// (x, p, y) of as many tiles x as y: x + p y, or x + pᵀ y.
TermPtr pairSums(bool wide, bool transposed);
/// (b, state, p, ū): Σ_f M_f b_jf + Σ_i p_ij ū_i.
TermPtr valueReadoutGradient(bool wide, bool divides);
/// (x, p, y): x_t + p_tt y_t of each tile.
TermPtr withOwnPairs();
/// (state, state): Σ_c S_fc S'_fc, plus z_f z'_f if the states have sums: [m] if `ofFeatures`, else their sum [1].
TermPtr stateProducts(bool divides, bool ofFeatures);
/// (x [T] or [T, m], state of `rowTotals`): Σ_{i < t} x_i, of rows before the tile what the state has.
TermPtr prefixSums();
/// (x, …) of `count` operands, [T] with `width` 1 or [T, width]: Σ_t x_t of each.
StreamedPtr rowTotals(int64_t width, unsigned count);

// Causal products token by token (Scan.cpp).

/// How rows go through a state.
struct ScanForm {
  enum class Decay { None, Rows, Columns }; ///< of the state
  bool reverse = false, exclusive = false, accumulates = false;
  bool erases = false;    ///< rows with r; of one block, and the decays of it
  bool mayBeLong = false; ///< the sequence may have more tokens than a state takes one by one (Scan.cpp)
  Decay decay = Decay::None;
  /// Whether a sequence of so many tokens, of which the number may be unknown, may be that long.
  static bool isLong(int64_t tokens);
};
/// (x, y, z, S[, sums][, r]): `tile.scan` of tiles x_i, y_i [T, p_i], z_j [T, w_j] and states S_ij, of which x or z is one tile: the result of each z_j, of
/// all x_i, then what each state is behind the tile, then what rows that erase have written. Where it decays, d, D and g follow, of one tile each: exponents of what each row of y or z has decayed
/// by at the tile's end, or in reverse since its beginning, of what the state has over the tile, and of what it has at each row.
TermPtr scan(ScanForm form);
/// 1 of each key, [T, 1].
TermPtr onesOfRows();
/// (x [m]) of each tile: x as [1, m], or as [m, 1]; and [1, m] as [m].
TermPtr asRow();
TermPtr asColumn();
TermPtr ofRow();
/// (Lq, state in units 2^M, c): 2^(Lq + M − c), what reads the state in units 2^c of each row.
TermPtr readersInUnit();
/// (c, x, …): tiles x in units 2^c.
TermPtr inUnits();
/// (x, …): a state of tiles of these shapes that is all of them behind each step; it `fades` (decays, or keys erase from it), or is a sum.
StreamedPtr carriedOn(llvm::SmallVector<llvm::SmallVector<int64_t>> shapes, bool fades);

// Of EVA's summaries (EvaGradients.cpp).

/// (w): w_ij of keys that are not after the query; of keys before `from` and from `end` on; else what stands for 0.
TermPtr notAfter();
TermPtr keysOutside(fusion::Index from, fusion::Index end);
/// (w): w_rj of the keys j of chunk r, or of edge r, edges being counted from `begin` on; else what stands for 0.
TermPtr chunkMembers(int64_t chunk);
TermPtr edgeMembers(int64_t chunk, int64_t local, fusion::Index begin);
/// (x): x_r of edges of the chunk whose number is the first entry of `Axis::Block`, else 0.
TermPtr edgesOfChunk(int64_t chunk, int64_t local, fusion::Index begin);
/// (μ, k): scale (⟨μ_r, k_j⟩ − |k_j|²/2), as exponents.
TermPtr gaussianPairs(double scale);
/// (w, b, x, μ, m, c) over summaries: Σ_r w_rj b_r, Σ_r x_rj μ_r, Σ_r x_rj, Σ_r m_rj c_r of each key of a tile.
StreamedPtr memberSums(int64_t width, int64_t valueWidth);

// Over an axis.

/// (x): Σ_t x_t of tokens [T, width].
StreamedPtr tokenSum(int64_t width);
/// (Σ, count): Σ / count: [1, width].
TermPtr mean();
/// (s, v): m = max_j s_j, Σ_j 2^(s_j − m), Σ_j 2^(s_j − m) v_j for exponents s and v [keys, width], with operands of products in f32
/// if `wide`.
StreamedPtr softmaxPartial(int64_t width, bool wide = false);
/// (t, v): u = max_j |t_j|, Σ_j (t_j / u)^degree, Σ_j (t_j / u)^degree v_j.
StreamedPtr powerPartial(int64_t degree, int64_t width, attn::DenominatorAttr guard);
/// (w, v, …): Σ_j w_j v_j of each v, which have these widths, and, if `withSums`, Σ_j w_j; with operands of products in f32 if `wide`.
/// (w, v, …, e) if it `decays`: each step multiplies row i of what came before by 2^{e_i}.
StreamedPtr weightedSums(llvm::ArrayRef<int64_t> widths, bool wide, bool withSums = true, bool decays = false);
/// (b, v): S = Σ_j b_j v_jᵀ and, if `withSums`, z = Σ_j b_j, of tiles of features that have these widths, one after another.
/// (b, v, e) if it `decays`: each step multiplies row f of what came before by 2^{e_f}, and its own entries are those behind it. (b, v, …, w) if it
/// `weighs`: z = Σ_j w_j b_j.
StreamedPtr featureSums(llvm::ArrayRef<int64_t> features, int64_t width, bool wide, bool withSums = true, bool decays = false, bool weighs = false);
/// (x): the maximum of the first rows of all steps, of the second ones, …: [rows]; `least` without a step, of exponents −∞.
StreamedPtr maximum(int64_t rows, std::optional<double> least = std::nullopt);
/// (): nothing is carried; what the steps do is their outputs.
StreamedPtr nothing();
/// (span): the spans of all entries applied in order, to states of these shapes: sums, a `transition` of what came before and sums if
/// there is one, or if they are `Scaled` sums in units, which are exponents a row or, with `squares`, one for all of which the sums are
/// in the square.
StreamedPtr compose(fusion::Representation representation, llvm::SmallVector<llvm::SmallVector<int64_t>> shapes, bool squares = false,
                    std::optional<tile::Transition> transition = std::nullopt);
/// (s, s_f, v): a slice of sums of products of two entries: K, S_f = Σ_j s_jf s_j v_jᵀ, z_f = Σ_j s_jf s_j, both in the unit K².
StreamedPtr squareState(int64_t size, int64_t width);
/// (a, S_f, z_f): Σ_f a z_f, Σ_f a S_f.
StreamedPtr squareReadout(int64_t width);
/// (x, x_f, Φ̄_f) over the entries f of x [T, size]: x̄ of φ_fg = x_f x_g.
StreamedPtr squareGradient(int64_t size);
/// (x): w x_c x_{c + shift} of the columns of x, counted round.
TermPtr shiftedProduct(int64_t shift, double weight);
/// (x, Φ̄_0, Φ̄_1, …) of shifts with these weights: x̄ of their products.
TermPtr shiftedProductsGradient(llvm::ArrayRef<double> weights);
/// (E, k): Σ_j E_tj k_j of tiles that have these widths, with operands of products in f32 if `wide`.
StreamedPtr compress(llvm::ArrayRef<int64_t> widths, bool wide);
/// (E): Σ_j E_tj over keys that exist.
StreamedPtr weightSums();
/// What products keep of their operands: what operands of the schedule do; of f32 what storage has; all.
enum class Digits { Operand, Wide, All };
/// (a, b) over slices of columns: a bᵀ, of the rows of two axes.
StreamedPtr pairs(Axis rows, Axis columns, fusion::Representation gives, Digits digits);
/// (x) over slices of columns: factor · |x|² of the rows of an axis.
StreamedPtr squares(Axis rows, double factor);
/// (x, W): x W, or x Wᵀ of a `transposed` tile, of rows of `rows` and `width` columns, with operands in f32 if `wide`.
StreamedPtr contract(Axis rows, int64_t width, bool wide = false, bool transposed = false);
/// (x, M): what sketchLeaf gives, `size` columns of it, summed over slices of the columns of x and the rows of M.
StreamedPtr sketchLeaves(Axis rows, int64_t width, int64_t size, bool pairs);

// Of logits, in units of log 2.

/// (s): c tanh(s / c), with c in those units.
TermPtr softcap(double c);
/// (s [Tq, Tk], slope [1]): s − slope · |i + N − n − j| log2 e, of n `queries` and N `keys`.
TermPtr alibi(const fusion::Extent &queries, const fusion::Extent &keys);
/// (w [Tq, Tk]): w · |i + N − n − j| of the same.
TermPtr timesDistances(const fusion::Extent &queries, const fusion::Extent &keys);

// Of entries that decay (Decay.cpp): exponents in units of log 2, at most 0.

/// From the key to the query of each pair [Tq, Tk]; from before the tile of keys up to each query [Tq]; from each key to the end of the
/// tile [Tk]; over the whole tile, for each feature [m]; of each key alone [Tk].
enum class DecaySpan { Between, Since, Until, Whole, Own };
llvm::StringRef nameOf(DecaySpan span);
/// (g [1]): g, which each existing key adds, over the span.
TermPtr headDecay(DecaySpan span, int64_t features);
/// (g [T]): the sums of g over the span, of queries and keys of one chunk; 0 where a key does not exist.
TermPtr tokenDecay(DecaySpan span, int64_t features);
/// (g [T, m]): the same of each feature, [T, m] or [m]; between pairs it is no number.
TermPtr channelDecay(DecaySpan span);
/// (x, b, g [T, m]): Σ_f x_if b_jf 2^(g_(j+1)f + … + g_if) for j ≤ i of one chunk, else 0; with products in f32 if `exact`.
TermPtr decayedPairs(bool exact);
/// (begin, p, y, g [T, m]): begin_if + Σ_j p_ij y_jf 2^(g_(j+1)f + … + g_if) over j < i of one chunk, or `transposed` over those i > j that are
/// behind a row j; with products in f32 if `exact`.
TermPtr decayedPairSums(bool transposed, bool exact);
/// (x, exponents): x 2^exponent, of each entry, or of each row if there is one exponent a row.
TermPtr decayed();
/// (exponents [m]): their sums over the steps.
StreamedPtr decaySums(int64_t features);
/// (exponents [m]): 2^exponent as the transition [m, 1] of a span.
TermPtr transition();

// Of states from which keys erase (Erase.cpp).

/// (w): w_ij of pairs j < i of a chunk, else 0.
TermPtr belowDiagonal();
/// (L [T, T], 0 on and above the diagonal): (I + L)⁻¹.
TermPtr unitInverse();
/// (A, x) or (A, x, b): A x + b, with Aᵀ in the place of A if it is `transposed`.
TermPtr product(bool transposed = false);
/// (): 1 on the diagonal, the transition of no keys.
TermPtr unitMatrix(int64_t features);
/// (e [m], b, v, …) or, unless it `decays`, (b, v, …): S ← 2^e S + Σ bᵀ v over the pairs b, v, which may depend on S: by a matrix.
StreamedPtr erasedSums(int64_t features, int64_t width, bool decays = true);

// Of states.

/// (tiles …): a state that others have written.
TermPtr writtenState(fusion::Representation representation);
/// (state of `state`): its sums times 2^stateOffset (LogPairs.h).
TermPtr withOffset();
/// (M, z, S) of sums whose rows are e^M times what they hold, of m^{-1/2} times the features: in units 2^M of the features themselves. A
/// feature whose z is 0 has none, whatever its M is.
TermPtr givenUnits(int64_t features);
/// (M, z, S): some of them, as numbers that stand in the units M.
TermPtr inTheirUnits(llvm::ArrayRef<unsigned> which);
/// (M, z, S) of the same: e^M S, e^M z, as sums of features that are in no units.
TermPtr trueState(int64_t features);
/// (M, z, S), e [m] ≤ 0: what decay leaves, 2^e of each row, in units in which z is about 1 or, of cotangents, which have any sign, the largest
/// magnitude of z and S.
TermPtr faded(bool ofCotangents = false);
/// (S, z) of sums of features ≥ 0: (M, 2^−M z, 2^−M S) with M about log₂ z. A feature whose z is 0 has none.
TermPtr unitsOfSums(int64_t features);
/// (M, z, S), of sums times 2^stateOffset if `offset`: (2^M S, 2^M z), and of `normalized` cotangents, those of sums of m^{-1/2} times the features.
TermPtr sumsOfUnits(int64_t features, bool normalized, bool offset = false);
/// (S̄, z̄), the other way round, of any sign: (0, z̄, S̄), in units of 1. A feature of which both are 0 has none.
TermPtr cotangentUnits(int64_t features, bool normalized);
/// (x, k): e^k x of a number k [1]; 0 where x is.
TermPtr unscaled();
/// The other way round, of sums times 2^stateOffset if `offset`. Scales are whole numbers: they keep all their digits.
TermPtr scalesOfUnits(int64_t features, bool offset);

/// (a, state of featureSums, w, v, …): a S + w v and, of a state that has z, a z + w 1. What the state gives is computed first, then what stands behind v is
/// read in its order, then w: how many registers are live at once depends on it.
TermPtr readout(bool wide, bool divides = true);
/// (a, state of featureSums): a S and, if it `divides`, a z.
TermPtr stateReadout(bool wide, bool divides = true);
/// (Lq, state in units 2^M, c): c, a z, a S of a = 2^(Lq + M − c).
TermPtr stateReadoutInUnit(bool wide);
/// (a, state of featureSums) over slices of features: Σ a S, Σ a z.
StreamedPtr readouts(int64_t width);
/// (Lq, state in units 2^M) over slices of features: c, Σ a z, Σ a S of a = 2^(Lq + M − c).
StreamedPtr logReadouts(int64_t width, attn::DenominatorAttr guard);
/// (state in units): S / z of each feature, 0 where that is 0.
TermPtr stateMean();
/// (state in units): M + log2 z of each feature, ∞ where z is 0.
TermPtr logSums();
/// (a, x): a x, a 1.
TermPtr weightedMean();
/// (num and den): num / max(den + bias, floor), 0 where that is 0.
TermPtr normalize(attn::DenominatorAttr guard);
/// (state of softmaxPartial): acc / l, 0 where l = 0.
TermPtr softmaxFinish();
/// (length): the state of powerPartial without entries, in which the guard is in range although the true numbers are
/// length^power t.
TermPtr powerStart(int64_t power, int64_t width);
/// (state of powerPartial, or that and length): num / guard(den), 0 where that is 0; the true numbers are length^power t.
TermPtr powerFinish(int64_t degree, attn::DenominatorAttr guard, int64_t power = 1);
/// (state of powerPartial of degree 2, another of degree 2 · half, or these and length): the sums of both and the guard in one
/// unit, of which powers of 2 are taken apart, as the powers are beyond the range: num and den.
TermPtr joinPowers(int64_t half, attn::DenominatorAttr guard);
/// (state of softmaxPartial): (m + log2 l) ln 2, −∞ where l = 0.
TermPtr logSumExp();

/// (k [1], z [1]): K, a factor and M of sums e^k times what they hold, of which the largest holds z: factor times these are in the unit
/// (K M^(power/2))², about 1. Of no sums K is the least unit and M `leastLength`. Without a power K².
TermPtr givenSquares(int64_t power, double leastLength);
/// (K [1]) or (K, M): the other way round: k, a whole number, and the factor.
TermPtr scaleOfSquares(int64_t power);
/// (): the slice of no entries.
TermPtr noSquares(llvm::SmallVector<llvm::SmallVector<int64_t>> shapes);
/// (slice, factor [1]): the slice where entries are in a unit 1 / factor times as large.
TermPtr shrunk();
/// (m, den, num) or these and a state of powerPartial: such a state from sums in the unit m^degree.
TermPtr powerFrom(int64_t degree);
/// (x, Z): Σ_fg x_f x_g Z_fg of each row.
TermPtr quadratic();
/// (): how many products of two entries each column stands for, 1, 2, 2, …, for rows of that axis.
TermPtr productCounts(Axis rows, int64_t columns);
/// (acc, a, B): acc + a B.
TermPtr addProduct();
/// (acc, factor [1], a, b): factor · acc + aᵀ b.
TermPtr addTransposed();

// Of exponents, and states in their units.

/// (x, ω) or, of x ωᵀ, (x): log2 e √s x ωᵀ, with `squares` less s |x|² log2 e / 2.
TermPtr exponents(double scale, bool withSquares);
/// (x, inverse): the focused map as exponents and mantissas.
TermPtr focusedExponents(double power, double epsilon);
/// (x): exponents, or exponents and mantissas, that are written already.
TermPtr writtenExponents();
/// (x): x where the row exists, else what stands for 0.
TermPtr existing(Axis axis);
/// (L): R = max_j L_j of each feature.
TermPtr featureUnit();
/// (L, R): L + R.
TermPtr inFeatureUnit();
/// (Lq + R, Lk, R, v): the unit of each row, Σ_j w_j, Σ_j w_j v_j for w = Σ_f 2^(Lq + Lk), of keys that every row sees. Without
/// a width, of (Lq + R, Lk, R) over slices of features: the unit of each row and w.
StreamedPtr logPartial(std::optional<int64_t> width, attn::DenominatorAttr guard);
/// (Lq, Lk, R, v): the same of pairs j ≤ i, whose tiles have one first row.
StreamedPtr logDiagonal(std::optional<int64_t> width, attn::DenominatorAttr guard, int64_t bands);
/// (w in units, v): the unit of each row, Σ_j w_j, Σ_j w_j v_j.
StreamedPtr weighedPartial(int64_t width, attn::DenominatorAttr guard);
/// (x): max_f x_f of each row, or max_f |x_f|.
TermPtr rowMaximum();
TermPtr rowMagnitude();
/// (x): 2^(x_f − max_f x_f).
TermPtr inRowUnit();
/// (x): e^{x_f} / Σ_f e^{x_f}.
TermPtr softmaxOfRows();
/// (y, φ̄): y ⊙ (φ̄ − ⟨φ̄, y⟩) of y = softmaxOfRows.
TermPtr softmaxOfRowsGradient();
/// (x [T]): their maximum: [1].
TermPtr largestRow();
/// The same, and 0 where every row is −∞.
TermPtr largestRowOrZero();
/// (L, state or M): 2^(L − M) for the units M of a state.
TermPtr inUnit();
/// (L, state): 1 if an exponent is above its unit by more than the headroom, else 0.
TermPtr rises(double headroom);
/// (L, state): max_f (L_f + M_f) of each row, in which the guard is in range.
TermPtr rowUnit(attn::DenominatorAttr guard);
/// (L, M): 2^(L − M) of exponents that are not far below M, else 0; with `offset` times 2^stateOffset (LogPairs.h).
TermPtr nearUnit(int64_t bands, bool offset);
/// (Lq, Lk, M, c'): c ≥ c' and w = 2^(Lq + Lk − c) summed over features, of pairs j ≤ i (LogPairs.h).
TermPtr logContract(int64_t bands);
/// (Lq, b, state, c): c and w = 2^(Lq + M − c) bᵀ of pairs j ≤ i.
TermPtr logPlainContract();
/// (Lq, state, pairs, v[, w]): what queries read of a state and of the pairs with keys that it does not have yet, in their unit; the denominator has
/// w_j of each pair, which v has already, or 1.
TermPtr causalReadout(bool offset);
/// (what causalReadout gives): the quotient.
TermPtr normalizeInUnit(attn::DenominatorAttr guard);
/// (b, v, L) or, if it `weighs`, (b, v, L, w): M = max_j L_j, Σ_j w_j b_j, Σ_j b_j v_jᵀ, with operands of products in f32 if `wide`.
StreamedPtr state(int64_t features, int64_t width, bool wide, bool weighs = false);
/// (Lq, Lk, state, pairs, v, ō, M[, w]) or, without bands, (Lq, 2^(Lk − M), state, pairs, v, ō[, w]): a ⊙ ā of a quotient's queries, its denominators
/// g, δ = ⟨ō, o⟩, the units of rows c and, with bands, the share of the state in a ⊙ ā. Keys of the pairs enter with shares w, or as they are.
TermPtr logQueryGradient(attn::DenominatorAttr guard, int64_t bands);
/// (Lq − c, Lk, state of (−δ, ō) / g behind, ō, δ, g, v[, w]): b ⊙ b̄ and v̄ of its keys, the share of the state in b ⊙ b̄, and w̄ of the shares that
/// they enter with; of steady chunks without bands.
TermPtr logKeyGradient(int64_t bands);
/// (g) or, of sums in units of rows, (c, g, …): ln g under a guard; of rows that its floor holds back, of the floor.
TermPtr logDivisor(attn::DenominatorAttr guard);
TermPtr logDivisorInUnit(attn::DenominatorAttr guard);
/// (δ, ln g): −δ, 0 where g is the floor or 0.
TermPtr logDivisorGradient(attn::DenominatorAttr guard);
/// (ln g): log2 g of each row, ∞ of 0.
TermPtr unitOfLse();
/// (x [T, …], u [T]): x 2^−u.
TermPtr sharesOfRows();
/// (Lq, Lk, R, u): Σ_f 2^(Lq + Lk − u) of each pair that is seen, for keys of which R are the largest exponents. In bands (LogPairs.h), or 0: every
/// row sees all of the keys.
TermPtr logPairWeights(int64_t bands);
/// (Lq, Lk, R, u, p̄), p̄ 0 of pairs that are not seen: Σ 2^(Lq + Lk − u) p̄ over keys, for each query and feature, or over queries.
TermPtr logPairSums(int64_t bands, bool ofKeys);
/// (a, b, p̄): the same of numbers, Σ a ⊙ b p̄.
TermPtr featureSums(bool ofKeys);
/// (w, ō): Σ_i w_ij ō_i of each key.
TermPtr valueShares(bool wide);

// Of neighborhoods.

/// What a convolution of tokens reads: weights [heads, width, taps], or packed [heads, taps, width], tap after tap.
struct Taps {
  mlir::Value weight;
  bool packed;
  int64_t width;
  std::optional<int64_t> columns; ///< tokens of a row of an image; none: one dimension
  bool inView;                    ///< neighbors outside the view are 0
  fusion::Extent extent;          ///< of the tokens
  bool ofSlice;                   ///< the channels are the slice of values at the site
};
/// (o, v) or (o, v, bias): o + Σ_δ w_δ ⊙ v_{t + δ} + bias.
TermPtr lepe(Taps taps);

/// Where tokens of a sequence or of an image have neighbors.
struct Lattice {
  int64_t columns = 0; ///< tokens of a row of the image; 0: one dimension
  int64_t across = 0;  ///< tokens of a row of a block; 0: neighbors are not left out but at the ends
  int64_t down = 0;    ///< rows of a block; 0: those of the image

  /// Of what `lepeProducts` carries: a tile [width, 1] of each tap, and [width] of the bias.
  llvm::SmallVector<llvm::SmallVector<int64_t>> shapes(int64_t width) const;
  void print(llvm::raw_ostream &os) const;
};
/// (ȳ): what reaches v of `lepe`.
TermPtr lepeValues(Taps taps, Lattice lattice);
/// (ȳ, v) over rows of queries, v having such an extent: Σ_t ȳ_t ⊙ v_{t + δ} of each tap, and Σ_t ȳ_t.
StreamedPtr lepeProducts(int64_t width, Lattice lattice, fusion::Extent values);

} // namespace attune::terms

#endif // ATTUNE_LIB_TERMS_TERMS_H
