// In which of all contexts does the record stand out? LOF, Grubbs' test and the histogram rule, flag for flag as the processor's kernels say.
//
// Contexts that share their high digits form a slice: one block decides it. Cells of a slice differ in their *kind*, the low part of their word
// alone; a context of the slice holds some of the kinds, whole (`members`). So everything about rows is first brought together by
// kind, once for a slice, and a context adds up a few kinds.
//
// The same file is compiled for a GPU (NVRTC, --fmad=false) and for a processor (g++, host.hpp of the tests, -ffp-contract=off). Values of one lane are held in
// `Lanes`, work of all lanes stands in LANES blocks, and lanes talk through the functions below and nowhere else.

typedef long long i64;
typedef unsigned long long u64;

#ifndef WARPS_IN_BLOCK
#define WARPS_IN_BLOCK 4
#endif

#ifndef __CUDACC__
#include "host.hpp"
#else
#ifndef BLOCKS_AT_ONCE
#define BLOCKS_AT_ONCE 10  // of one multiprocessor: leaves each thread 48 registers, the fastest of 6, 8, 10 and 12 on an H200
#endif
#define KERNEL extern "C" __global__ void __launch_bounds__(32 * WARPS_IN_BLOCK, BLOCKS_AT_ONCE)
#define DEVICE static __device__ __forceinline__
#ifndef RARE
#define RARE static __device__ __noinline__
#endif
#define OPERATOR __device__ __forceinline__
#define SHARED_STATIC __shared__
#define LANES(L) for (int L = threadIdx.x & 31, once = 1; once; once = 0)
#define WARPS(w) for (int w = threadIdx.x >> 5, once = 1; once; once = 0)
#define THREADS(t) for (int t = threadIdx.x, once = 1; once; once = 0)
#define SYNC_WARP __syncwarp()
#define UNROLLED _Pragma("unroll 4")
#define SYNC_BLOCK __syncthreads()
#define BLOCK blockIdx.x
#define GRID gridDim.x

template <class T> struct Lanes {
    T mine;
    __device__ __forceinline__ T &operator[](int) { return mine; }
};
DEVICE unsigned ballot(Lanes<bool> &flag) { return __ballot_sync(~0u, flag.mine); }
template <class T> DEVICE T from(Lanes<T> &value, int lane) { return __shfl_sync(~0u, value.mine, lane); }
template <class T> DEVICE Lanes<T> pulled(Lanes<T> &value, Lanes<int> &lane) {
    return Lanes<T>{__shfl_sync(~0u, value.mine, lane.mine)};
}
template <class T> DEVICE Lanes<T> ahead_of(Lanes<T> &value) {
    T sum = value.mine;
    const int lane = threadIdx.x & 31;
    for (int step = 1; step < 32; step *= 2) {
        T other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    return Lanes<T>{sum - value.mine};
}
DEVICE Lanes<unsigned> alike(Lanes<int> &key) { return Lanes<unsigned>{__match_any_sync(~0u, key.mine)}; }
template <class T, class Combine> DEVICE T over_lanes(Lanes<T> &value, Combine combine) {
    T found = value.mine;
    for (int step = 16; step; step /= 2) found = combine(found, __shfl_xor_sync(~0u, found, step));
    return found;
}
DEVICE void add(int *place, int value) { atomicAdd(place, value); }
DEVICE void add(i64 *place, i64 value) { atomicAdd((u64 *)place, (u64)value); }
DEVICE void add(u64 *place, u64 value) { atomicAdd(place, value); }
DEVICE int count_bits(unsigned bits) { return __popc(bits); }
DEVICE int lowest_bit(unsigned bits) { return __ffs(bits) - 1; }
DEVICE int highest_bit(unsigned bits) { return 31 - __clz(bits); }
DEVICE int width_of(i64 number) { return 64 - __clzll(number); }
DEVICE u64 high_product(u64 a, u64 b) { return __umul64hi(a, b); }
DEVICE double root(double number) { return sqrt(number); }
DEVICE float quotient(float a, float b) { return __fdividef(a, b); }
#endif

#define MOST_KINDS 32
#define MOST_RUN 128  // contexts of a slice, for LOF and the histogram
#define HUGE_GAP ((i64)1 << 62)
#define FLOOR 1e-10  // wallflower.detectors.lof.FLOOR
#define BAND 1e-4f   // floats decide outside it, doubles in the processor's order inside; their error is below 1e-5

DEVICE unsigned below(int lane) { return lane >= 32 ? ~0u : (1u << lane) - 1; }
template <class T> DEVICE T larger(T a, T b) { return a > b ? a : b; }
template <class T> DEVICE T smaller(T a, T b) { return a < b ? a : b; }
struct Sum { template <class T> OPERATOR T operator()(T a, T b) const { return a + b; } };
struct Either { template <class T> OPERATOR T operator()(T a, T b) const { return a | b; } };
struct Least { template <class T> OPERATOR T operator()(T a, T b) const { return smaller(a, b); } };
struct Most { template <class T> OPERATOR T operator()(T a, T b) const { return larger(a, b); } };

// ---------------------------------------------------------------------------------------------- what all three detectors share

// Every kernel's first arguments: the slices and cells, then what becomes of a valid context.
#define COMMON                                                                                                                    \
    const i64 *digit_sizes, const i64 *digit_strides, const i64 *digit_bits, i64 digits, /* high digits: a slice's number */       \
        const unsigned *members, i64 run,          /* the kinds that each context of a slice holds */                              \
        const i64 *kind_starts, i64 kinds,         /* cells in order of their kind */                                              \
        const u64 *cell_highs, i64 cells,          /* the high part of each cell's word */                                         \
        const i64 *stats,                          /* by statistic, then by cell: rows, score, then the detector's own */          \
        i64 first_slice, i64 slices, i64 least, u64 *levels, const i64 *wanted, i64 wants, u64 *seen, unsigned char *out
#define GIVEN                                                                                                                     \
    Common {                                                                                                                      \
        digit_sizes, digit_strides, digit_bits, digits, members, run, kind_starts, kinds, cell_highs, cells, stats, first_slice,  \
            slices, least, levels, wanted, wants, seen, out                                                                       \
    }
struct Common {
    const i64 *digit_sizes, *digit_strides, *digit_bits;
    i64 digits;
    const unsigned *members;
    i64 run;
    const i64 *kind_starts;
    i64 kinds;
    const u64 *cell_highs;
    i64 cells;
    const i64 *stats;
    i64 first_slice, slices, least;
    u64 *levels;
    const i64 *wanted;
    i64 wants;
    u64 *seen;
    unsigned char *out;
};

// The bits that no cell of this slice may have, by one warp.
DEVICE void find_outside(const Common &given, i64 slice, u64 *outside) {
    Lanes<u64> bits;
    LANES(L) {
        bits[L] = 0;
        for (i64 digit = L; digit < given.digits; digit += 32) {
            const u64 level = (slice / given.digit_strides[digit]) % given.digit_sizes[digit];
            bits[L] |= (((u64)1 << level) - 1) << given.digit_bits[digit];
        }
    }
    const u64 all = over_lanes(bits, Either());
    LANES(L) if (L == 0) *outside = ~all;
}

// A statistic of the slice's cells of one kind, by one warp.
template <class Combine>
DEVICE i64 of_kind(const Common &given, int kind, i64 statistic, u64 outside, i64 neutral, Combine combine) {
    Lanes<i64> found;
    LANES(L) {
        found[L] = neutral;
        for (i64 cell = given.kind_starts[kind] + L; cell < given.kind_starts[kind + 1]; cell += 32)
            if (!(given.cell_highs[cell] & outside)) found[L] = combine(found[L], given.stats[statistic * given.cells + cell]);
    }
    return over_lanes(found, combine);
}

DEVICE i64 in_context(const i64 *of_kinds, int kinds, unsigned members) {
    i64 sum = 0;
    for (int kind = 0; kind < kinds; ++kind)
        if (members >> kind & 1) sum += of_kinds[kind];
    return sum;
}

// Which of the wanted scores this is, from 1; 0: none of them. All are wanted where none is named.
DEVICE int place_of(const Common &given, i64 score) {
    if (!given.wants) return 1;
    for (int place = 0; place < given.wants; ++place)
        if (given.wanted[place] == score) return place + 1;
    return 0;
}

DEVICE void emit(const Common &given, i64 slice, int context, i64 score, int place) {
    if (given.levels) add(&given.levels[score], (u64)1);
    if (given.seen) add(&given.seen[place - 1], (u64)1);
    if (given.out) given.out[slice * given.run + context] = place;
}

// ------------------------------------------------------------------------------------------------------------------------ Grubbs
#if !defined(ONLY_HISTOGRAM) && !defined(ONLY_LOF)

#define LIMBS 3
#define EVERY_SIZE_TO 4096
#define KNOTS 1024
#define CLOSE 1e-9  // relative; sums of doubles err by far less

// wallflower.detectors.critical_values.
DEVICE i64 critical(const i64 *fine, const i64 *coarse, i64 size) {
    if (size <= EVERY_SIZE_TO) return fine[size];
    const int octave = width_of(size) - 13;
    const i64 width = (i64)4 << octave, place = (size - ((i64)EVERY_SIZE_TO << octave)) >> (octave + 2);
    const i64 low = coarse[octave * KNOTS + place], high = coarse[octave * KNOTS + place + 1];
    return low + ((high - low) * (size & (width - 1)) >> (octave + 2));
}

// total² · 2^20 > kappa · squares, in whole numbers of 192 bits.
DEVICE bool exceeds(i64 total, u64 kappa, u64 squares_high, u64 squares_low) {
    const u64 size = total < 0 ? (u64)-total : (u64)total;
    const u64 low = size * size, high = high_product(size, size);
    const u64 left[3] = {low << 20, high << 20 | low >> 44, high >> 44};
    const u64 middle = high_product(kappa, squares_low), upper = kappa * squares_high;
    const u64 second = middle + upper;
    const u64 right[3] = {kappa * squares_low, second, high_product(kappa, squares_high) + (second < middle)};
    if (left[2] != right[2]) return left[2] > right[2];
    if (left[1] != right[1]) return left[1] > right[1];
    return left[0] > right[0];
}

DEVICE bool stands_out(i64 total, const i64 *limbs, int bits, i64 kappa) {
    double squares = 0;
    for (int limb = LIMBS - 1; limb >= 0; --limb) squares = squares * (double)((i64)1 << bits) + (double)limbs[limb];
    const double reached = (double)total * (double)total, limit = (double)kappa * 0x1p-20 * squares;
    const double apart = reached - limit;
    if ((apart < 0 ? -apart : apart) > CLOSE * limit) return apart > 0;
    u64 high = 0, low = 0;
    for (int limb = LIMBS - 1; limb >= 0; --limb) {
        high = high << bits | low >> (64 - bits);
        low <<= bits;
        low += (u64)limbs[limb];
        high += low < (u64)limbs[limb];
    }
    return exceeds(total, (u64)kappa, high, low);
}

// Statistics: rows, score, Σz, three limbs of Σz² of `bits` bits each, least z, largest z.
KERNEL grubbs(COMMON, const i64 *fine, const i64 *coarse, i64 bits, i64 argmax) {
    const Common given = GIVEN;
    SHARED_STATIC u64 outside;
    SHARED_STATIC i64 sums[3 + LIMBS][MOST_KINDS], lowest[MOST_KINDS], highest[MOST_KINDS];
    for (i64 here = BLOCK; here < slices; here += GRID) {
        WARPS(w) if (w == 0) find_outside(given, first_slice + here, &outside);
        SYNC_BLOCK;
        WARPS(w) for (int kind = w; kind < kinds; kind += WARPS_IN_BLOCK) {
            for (int statistic = 0; statistic < 3 + LIMBS; ++statistic) {
                const i64 found = of_kind(given, kind, statistic, outside, 0, Sum());
                LANES(L) if (L == 0) sums[statistic][kind] = found;
            }
            if (argmax) {
                const i64 low = of_kind(given, kind, 3 + LIMBS, outside, HUGE_GAP, Least());
                const i64 high = of_kind(given, kind, 4 + LIMBS, outside, -HUGE_GAP, Most());
                LANES(L) if (L == 0) {
                    lowest[kind] = low;
                    highest[kind] = high;
                }
            }
        }
        SYNC_BLOCK;
        THREADS(t) for (int context = t; context < run; context += 32 * WARPS_IN_BLOCK) {
            i64 sum[3 + LIMBS] = {};
            i64 low = HUGE_GAP, high = -HUGE_GAP;
            for (int kind = 0; kind < kinds; ++kind) {
                if (!(members[context] >> kind & 1)) continue;
                for (int statistic = 0; statistic < 3 + LIMBS; ++statistic) sum[statistic] += sums[statistic][kind];
                if (argmax) {
                    low = smaller(low, lowest[kind]);
                    high = larger(high, highest[kind]);
                }
            }
            const i64 size = sum[0], total = sum[2];
            if (size < 3 || size < least) continue;
            const int place = place_of(given, sum[1]);
            if (!place || !stands_out(total, sum + 3, bits, critical(fine, coarse, size))) continue;
            if (argmax) {
                const i64 down = size * low - total, up = size * high - total, itself = total < 0 ? -total : total;
                if (larger(down < 0 ? -down : down, up < 0 ? -up : up) > itself) continue;
            }
            emit(given, here, context, sum[1], place);
        }
        SYNC_BLOCK;
    }
}

#endif
// --------------------------------------------------------------------------------------------------------------------- histogram
#if !defined(ONLY_GRUBBS) && !defined(ONLY_LOF)

#define ROUNDS 4
#define CHUNK (32 * WARPS_IN_BLOCK * ROUNDS)

DEVICE i64 floor_division(i64 a, i64 b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// wallflower.detectors.histogram.bar of the value 0: how far the bar goes below and above it.
DEVICE void bar(i64 size, i64 low, i64 high, i64 *down, i64 *up) {
    const i64 width = high - low;
    if (width == 0) {
        *down = -low;
        *up = low;
        return;
    }
    i64 bins = (i64)root((double)size);
    while (bins * bins < size) ++bins;
    while ((bins - 1) * (bins - 1) >= size) --bins;
    const i64 place = smaller(bins - 1, floor_division(-low * bins, width));
    *down = -(low - floor_division(-place * width, bins));
    *up = (place == bins - 1 ? high + 1 : low - floor_division(-(place + 1) * width, bins)) - 1;
}

// Statistics: rows, score, rows with the record's own value, least z, largest z. Entries: all values of all cells, nearest first, on two sides.
KERNEL histogram(COMMON, const i64 *gaps_below, const u64 *highs_below, const i64 *tags_below, i64 size_below, const i64 *gaps_above,
                 const u64 *highs_above, const i64 *tags_above, i64 size_above, i64 numerator, i64 denominator) {
    const Common given = GIVEN;
    SHARED_STATIC u64 outside;
    SHARED_STATIC i64 sums[3][MOST_KINDS], lowest[MOST_KINDS], highest[MOST_KINDS];
    SHARED_STATIC i64 list_gaps[CHUNK], list_tags[CHUNK];
    SHARED_STATIC int counts[WARPS_IN_BLOCK], going;
    // Of each thread's context: rows found so far, how many are too many, how far its bar goes, and whether it is still counted.
    SHARED_STATIC i64 found[32 * WARPS_IN_BLOCK], enough[32 * WARPS_IN_BLOCK], reach[2][32 * WARPS_IN_BLOCK], score[32 * WARPS_IN_BLOCK];
    SHARED_STATIC int place[32 * WARPS_IN_BLOCK];
    for (i64 here = BLOCK; here < slices; here += GRID) {
        WARPS(w) if (w == 0) find_outside(given, first_slice + here, &outside);
        SYNC_BLOCK;
        WARPS(w) for (int kind = w; kind < kinds; kind += WARPS_IN_BLOCK) {
            for (int statistic = 0; statistic < 3; ++statistic) {
                const i64 sum = of_kind(given, kind, statistic, outside, 0, Sum());
                LANES(L) if (L == 0) sums[statistic][kind] = sum;
            }
            const i64 low = of_kind(given, kind, 3, outside, HUGE_GAP, Least());
            const i64 high = of_kind(given, kind, 4, outside, -HUGE_GAP, Most());
            LANES(L) if (L == 0) {
                lowest[kind] = low;
                highest[kind] = high;
            }
        }
        SYNC_BLOCK;
        THREADS(t) {
            place[t] = 0;
            if (t >= run) continue;
            const i64 size = in_context(sums[0], kinds, members[t]);
            if (size < 1 || size < least) continue;
            score[t] = in_context(sums[1], kinds, members[t]);
            place[t] = place_of(given, score[t]);
            if (!place[t]) continue;
            i64 low = HUGE_GAP, high = -HUGE_GAP;
            for (int kind = 0; kind < kinds; ++kind)
                if (members[t] >> kind & 1) {
                    low = smaller(low, lowest[kind]);
                    high = larger(high, highest[kind]);
                }
            found[t] = in_context(sums[2], kinds, members[t]);
            enough[t] = (numerator * size + denominator - 1) / denominator;  // fewer than share·N is fewer than its ceiling
            bar(size, low, high, &reach[0][t], &reach[1][t]);
        }
        for (int side = 0; side < 2; ++side) {
            const i64 *gaps = side ? gaps_above : gaps_below, *tags = side ? tags_above : tags_below;
            const u64 *highs = side ? highs_above : highs_below;
            const i64 size = side ? size_above : size_below;
            for (i64 at = 0; at < size; at += CHUNK) {
                WARPS(w) {
                    int held = 0;
                    for (int round = 0; round < ROUNDS; ++round) {
                        Lanes<bool> in;
                        LANES(L) {
                            const i64 entry = at + (w * ROUNDS + round) * 32 + L;
                            in[L] = entry < size && !(highs[entry] & outside);
                        }
                        held += count_bits(ballot(in));
                    }
                    LANES(L) if (L == 0) counts[w] = held;
                }
                SYNC_BLOCK;
                int listed = 0;
                for (int warp = 0; warp < WARPS_IN_BLOCK; ++warp) listed += counts[warp];
                WARPS(w) {
                    int next = 0;
                    for (int warp = 0; warp < w; ++warp) next += counts[warp];
                    for (int round = 0; round < ROUNDS; ++round) {
                        Lanes<bool> in;
                        LANES(L) {
                            const i64 entry = at + (w * ROUNDS + round) * 32 + L;
                            in[L] = entry < size && !(highs[entry] & outside);
                        }
                        const unsigned held = ballot(in);
                        LANES(L) if (in[L]) {
                            const i64 entry = at + (w * ROUNDS + round) * 32 + L;
                            list_gaps[next + count_bits(held & below(L))] = gaps[entry];
                            list_tags[next + count_bits(held & below(L))] = tags[entry];
                        }
                        next += count_bits(held);
                    }
                }
                THREADS(t) if (t == 0) going = 0;
                SYNC_BLOCK;
                THREADS(t) {
                    if (!place[t]) continue;
                    i64 rows = found[t];
                    const i64 most = enough[t], furthest = reach[side][t];
                    const unsigned mine = members[t];
                    int entry = 0;
                    for (; entry < listed && rows < most && list_gaps[entry] <= furthest; ++entry)
                        if (mine >> (list_tags[entry] & 31) & 1) rows += list_tags[entry] >> 5;
                    found[t] = rows;
                    if (rows >= most) place[t] = 0;
                    // Another chunk is needed only by a context that came to the end of this one.
                    if (rows < most && entry == listed) add(&going, 1);
                }
                SYNC_BLOCK;
                if (!going) break;
            }
            SYNC_BLOCK;
        }
        THREADS(t) if (place[t] && found[t] < enough[t]) emit(given, here, t, score[t], place[t]);
        SYNC_BLOCK;
    }
}

#endif
// --------------------------------------------------------------------------------------------------------------------------- LOF
#if !defined(ONLY_GRUBBS) && !defined(ONLY_HISTOGRAM)

// The entries of a slice on one side, nearest first: distance, and rows · 32 + kind.
template <class Z> struct List {
    Z *gaps, *tags;
    int size;
};

// What is known of each kind while a list is made.
struct Kinds {
    i64 gap[MOST_KINDS];
    int slot[MOST_KINDS], seen[MOST_KINDS];
};

// Make a slice's list of one side, by one warp: of each kind its `most` nearest distinct values, its cells' rows added up; no more once the
// kind that every context holds has them. By the merging argument of detectors/lof.md no context needs another.
template <class Z>
DEVICE int collect(const Z *gaps, const u64 *highs, const Z *tags, i64 size, u64 outside, int most, Z *list_gaps, Z *list_tags, Kinds *known) {
    LANES(L) {
        known->gap[L] = -1;
        known->slot[L] = -1;
        known->seen[L] = 0;
    }
    SYNC_WARP;
    int listed = 0;
    for (i64 at = 0; at < size; at += 32) {
        Lanes<bool> in, head, kept;
        LANES(L) in[L] = at + L < size && !(highs[at + L] & outside);
        const unsigned held = ballot(in);
        if (!held) continue;
        Lanes<Z> gap, tag;
        Lanes<int> kind, owner, slot;
        LANES(L) {
            gap[L] = in[L] ? gaps[at + L] : 0;
            tag[L] = in[L] ? tags[at + L] : 0;
            kind[L] = in[L] ? (int)(tag[L] & 31) : MOST_KINDS;
        }
        Lanes<unsigned> same = alike(kind);
        LANES(L) owner[L] = same[L] & below(L) ? highest_bit(same[L] & below(L)) : L;
        Lanes<Z> previous = pulled(gap, owner);
        LANES(L) head[L] = in[L] && (i64)gap[L] != (owner[L] < L ? (i64)previous[L] : known->gap[kind[L]]);
        const unsigned heads = ballot(head);
        LANES(L) kept[L] = head[L] && known->seen[kind[L]] + count_bits(heads & same[L] & below(L)) < most;
        const unsigned keep = ballot(kept);
        LANES(L) {
            slot[L] = kept[L] ? listed + count_bits(keep & below(L)) : -1;
            if (kept[L]) {
                list_gaps[slot[L]] = gap[L];
                list_tags[slot[L]] = tag[L];
            }
            const unsigned first = heads & same[L] & (below(L) | 1u << L);
            owner[L] = first ? highest_bit(first) : L;
        }
        SYNC_WARP;
        Lanes<int> of_head = pulled(slot, owner);
        LANES(L) if (in[L]) {
            if (!(heads & same[L] & (below(L) | 1u << L))) of_head[L] = known->slot[kind[L]];
            if (!head[L] && of_head[L] >= 0) add(&list_tags[of_head[L]], (Z)(tag[L] - kind[L]));
        }
        SYNC_WARP;
        LANES(L) if (in[L] && !(same[L] & ~below(L) & ~(1u << L))) {
            known->gap[kind[L]] = gap[L];
            known->slot[kind[L]] = of_head[L];
            known->seen[kind[L]] += count_bits(heads & same[L]);
        }
        SYNC_WARP;
        listed += count_bits(keep);
        if (known->seen[0] > most) break;
    }
    return listed;
}

// Walk outwards over a slice's list as one context sees it, by one warp, until it is all that the factor can depend on: the rows up to the value with
// which k are reached, and from there up to the value with which k more are (detectors/lof.md). `step` is −1 below the record and 1 above it; z
// (and m) are written from their first place outwards. There are two ways: this one writes every row, and gives up with −1 where a side has no room for them.
template <class Z> DEVICE int walk_rows(const List<Z> &list, unsigned members, int k, int step, int most, Z *z) {
    int rows = 0;
    for (int at = 0; at < list.size; at += 32) {
        Lanes<Z> gap, copies, ahead;
        Lanes<bool> in, flag;
        LANES(L) {
            const bool on = at + L < list.size;
            const Z tag = on ? list.tags[at + L] : 0;
            gap[L] = on ? list.gaps[at + L] : 0;
            in[L] = on && (members >> (tag & 31) & 1);
            copies[L] = in[L] ? tag >> 5 : 0;
            flag[L] = copies[L] > 1;
        }
        const unsigned held = ballot(in);
        if (!ballot(flag)) {
            if (rows + count_bits(held) > most) return -1;
            LANES(L) if (in[L]) z[step * (rows + count_bits(held & below(L)))] = step * gap[L];
            rows += count_bits(held);
        } else {
            ahead = ahead_of(copies);
            const Z more = from(ahead, 31) + from(copies, 31);
            if (more > most - rows) return -1;
            LANES(L) for (Z copy = 0; copy < copies[L]; ++copy) z[step * (rows + (int)(ahead[L] + copy))] = step * gap[L];
            rows += (int)more;
        }
        if (rows <= 2 * k) continue;
        SYNC_WARP;
        int reached = k;  // rows up to the value with which k are reached
        while (reached < rows && z[step * reached] == z[step * (k - 1)]) ++reached;
        int end = reached + k;
        if (end >= rows) continue;
        while (end < rows && z[step * end] == z[step * (reached + k - 1)]) ++end;
        if (end < rows) return end;  // the values that are kept are whole; rows beyond them change nothing
    }
    return rows;
}

// The other way: every distinct value, and how many rows it stands for.
template <class Z> DEVICE int walk_values(const List<Z> &list, unsigned members, Z k, int step, Z *z, Z *m) {
    Z within = 0, enough = -1, last = 0;  // no gap is 0
    int distinct = 0;
    for (int at = 0; at < list.size; at += 32) {
        Lanes<Z> gap, copies, ahead;
        Lanes<bool> in, head, flag;
        Lanes<int> before;
        LANES(L) {
            const bool on = at + L < list.size;
            const Z tag = on ? list.tags[at + L] : 0;
            gap[L] = on ? list.gaps[at + L] : 0;
            in[L] = on && (members >> (tag & 31) & 1);
            copies[L] = in[L] ? tag >> 5 : 0;
        }
        unsigned held = ballot(in);
        if (!held) continue;
        LANES(L) before[L] = held & below(L) ? highest_bit(held & below(L)) : L;
        Lanes<Z> previous = pulled(gap, before);
        ahead = ahead_of(copies);
        LANES(L) {
            ahead[L] += within;
            head[L] = in[L] && gap[L] != (before[L] < L ? previous[L] : last);
        }
        bool stop = false;
        if (enough < 0) {
            LANES(L) flag[L] = head[L] && ahead[L] >= k;
            const unsigned beyond = ballot(flag);
            if (beyond) enough = from(ahead, lowest_bit(beyond)) + k;
        }
        if (enough >= 0) {
            LANES(L) flag[L] = head[L] && ahead[L] >= enough;
            const unsigned beyond = ballot(flag);
            if (beyond) {
                stop = true;
                held &= below(lowest_bit(beyond));
                if (!held) break;
            }
        }
        const int end = highest_bit(held);
        within = from(ahead, end) + from(copies, end);
        last = from(gap, end);
        const unsigned heads = ballot(head) & held;
        LANES(L) if (heads >> L & 1) {
            const int place = step * (distinct + count_bits(heads & below(L)));
            z[place] = step * gap[L];
            m[place] = copies[L];
        }
        SYNC_WARP;
        LANES(L) if ((held & ~heads) >> L & 1) add(&m[step * (distinct + count_bits(heads & below(L)) - 1)], copies[L]);
        SYNC_WARP;
        distinct += count_bits(heads);
        if (stop) break;
    }
    return distinct;
}

// One warp's room: ascending z, how many rows each stands for (1 where ROWS), its k-distance, and its neighbours' first and last place.
template <class Z> struct Room {
    Z *z, *m, *reach;
    unsigned *ends;
};

// The k-distance of row p: the least, over s, of the larger end of s rows to the left and k − s to the right. One end grows with s, the other shrinks:
// s is the first at which the left end is no smaller. `half` is the largest power of two up to k + 1.
template <class Z> DEVICE void reach_of_row(const Room<Z> &room, int p, int n, int k, int half) {
    const Z *z = room.z;
    const Z here = z[p], twice = 2 * here;
    const int low = larger(0, p + k - n + 1), high = smaller(k, p);
    int s = low;
    for (int step = half; step; step >>= 1) {
        const int middle = s + step - 1;
        if (middle <= high && z[p - middle] + z[p + k - middle] > twice) s += step;
    }
    const bool by_left = s <= high && (s == low || z[p - s] + z[p + k - s + 1] >= twice);
    int first = by_left ? p - s : p - s + 1, last = by_left ? p + k - s : p + k - s + 1;
    const Z reach = by_left ? here - z[first] : z[last] - here;
    while (first > 0 && here - z[first - 1] <= reach) --first;
    while (last + 1 < n && z[last + 1] - here <= reach) ++last;
    room.reach[p] = reach;
    room.ends[p] = (unsigned)first | (unsigned)last << 16;
}

// The same for distinct values that stand for several rows each, by taking in the nearer side until k others are reached.
template <class Z> DEVICE void reach_of_value(const Room<Z> &room, int p, int n, int k) {
    const Z *z = room.z;
    const Z here = z[p];
    int first = p, last = p;
    Z inside = room.m[p], reach = 0;
    while (inside <= k) {
        const bool left = first > 0 && (last + 1 == n || here - z[first - 1] <= z[last + 1] - here);
        reach = left ? here - z[--first] : z[++last] - here;
        inside += room.m[left ? first : last];
    }
    if (first > 0 && here - z[first - 1] <= reach) --first;
    if (last + 1 < n && z[last + 1] - here <= reach) ++last;
    room.reach[p] = reach;
    room.ends[p] = (unsigned)first | (unsigned)last << 16;
}

// The sum of reaches from o to its neighbours, and how many rows those are.
template <class Z, bool ROWS> DEVICE i64 reaches(const Room<Z> &room, int o, i64 *around) {
    const int first = room.ends[o] & 0xffff, last = room.ends[o] >> 16;
    const Z here = room.z[o];
    if (ROWS) {
        Z sum = -room.reach[o];  // not to itself
UNROLLED
        for (int q = first; q <= last; ++q) sum += larger(here - room.z[q], larger(room.z[q] - here, room.reach[q]));
        *around = last - first;
        return sum;
    }
    i64 sum = -room.reach[o], rows = -1;
    for (int q = first; q <= last; ++q) {
        sum += (i64)room.m[q] * larger(here - room.z[q], larger(room.z[q] - here, room.reach[q]));
        rows += room.m[q];
    }
    *around = rows;
    return sum;
}

// Whether the factor of z[centre] exceeds the limit in doubles: the processor's divisions, in its order.
template <class Z, bool ROWS> RARE bool exactly(const Room<Z> room, int centre, double limit) {
    const int begin = room.ends[centre] & 0xffff, end = room.ends[centre] >> 16;
    double total = 0, own = 1;
    i64 others = 0;
    reaches<Z, ROWS>(room, centre, &others);
    for (int at = begin; at <= end; at += 32) {
        Lanes<double> density;
        LANES(L) {
            i64 around = 1, sum = 0;
            if (at + L <= end) sum = reaches<Z, ROWS>(room, at + L, &around);
            density[L] = 1.0 / ((double)sum / (double)around + FLOOR);
        }
        for (int o = at; o <= end && o < at + 32; ++o) {
            const double here = from(density, o - at);
            if (ROWS && o > begin && room.z[o - 1] == room.z[o]) continue;  // a copy of the value before
            i64 copies = 1;
            if (ROWS)
                while (o + copies <= end && room.z[o + copies] == room.z[o]) ++copies;
            else
                copies = room.m[o];
            if (room.z[o] == room.z[centre]) {
                own = here;
                copies -= 1;
            }
            total += (double)copies * here;
        }
    }
    return total / (double)others / own > limit;
}

template <class Z, bool ROWS> DEVICE void reaches_from(const Room<Z> &room, int begin, int end, int n, int k, int half) {
    LANES(L) for (int p = begin + L; p < end; p += 32) {
        if (ROWS)
            reach_of_row(room, p, n, k, half);
        else
            reach_of_value(room, p, n, k);
    }
    SYNC_WARP;
}

template <class Z, bool ROWS> DEVICE bool factor_exceeds(const Room<Z> &room, int n, int centre, int k, double limit, float *own) {
    SYNC_WARP;
    const int half = 1 << highest_bit((unsigned)k + 1);
    // The record's neighbours and theirs are seldom far from it: 64 places around it first, the others only if they are needed.
    const int middle_begin = smaller(larger(centre - 32, 0), larger(n - 64, 0)), middle_end = smaller(middle_begin + 64, n);
    reaches_from<Z, ROWS>(room, middle_begin, middle_end, n, k, half);
    const int begin = room.ends[centre] & 0xffff, end = room.ends[centre] >> 16;
    if (middle_begin > 0 && (begin < middle_begin || (int)(room.ends[begin] & 0xffff) < middle_begin))
        reaches_from<Z, ROWS>(room, 0, middle_begin, n, k, half);
    if (middle_end < n && (end >= middle_end || (int)(room.ends[end] >> 16) >= middle_end))
        reaches_from<Z, ROWS>(room, middle_end, n, n, k, half);
    Lanes<float> sum;
    LANES(L) {
        sum[L] = 0;
        for (int o = begin + L; o <= end; o += 32) {
            i64 around;
            const i64 sum_of = reaches<Z, ROWS>(room, o, &around);
            const float others = ROWS ? (float)(int)around : (float)around;
            const float density = quotient(others, (ROWS ? (float)(Z)sum_of : (float)sum_of) + (float)FLOOR * others);
            float rows = ROWS ? 1.0f : (float)room.m[o];
            if (o == centre) {
                rows -= 1.0f;
                own[0] = density;
                own[1] = others;
            }
            sum[L] += rows * density;
        }
    }
    SYNC_WARP;
    const float total = over_lanes(sum, Sum()), bound = own[0] * own[1] * (float)limit;
    SYNC_WARP;
    if (total > bound * (1 + BAND)) return true;
    if (total < bound * (1 - BAND)) return false;
    return exactly<Z, ROWS>(room, centre, limit);
}

// Statistics: rows, score, rows with the record's own value. Entries: the 2k nearest distinct values of each cell, on two sides. `side` is the
// most rows a side that are taken one by one, `copies` the most of the record's own value; `memory` has room for lists and warps.
template <class Z>
DEVICE void lof(const Common &given, const Z *gaps_below, const u64 *highs_below, const Z *tags_below, i64 size_below, const Z *gaps_above,
                const u64 *highs_above, const Z *tags_above, i64 size_above, int k, double limit, int list_room, int side, int copies,
                unsigned char *memory) {
    SHARED_STATIC u64 outside;
    SHARED_STATIC i64 sums[3][MOST_KINDS];
    SHARED_STATIC Kinds known[2];
    SHARED_STATIC int listed[2];
    SHARED_STATIC float own[WARPS_IN_BLOCK][2];
    // Of each context: min(k, its other rows), or 0 where it is not asked about; its score, and the record's copies in it.
    SHARED_STATIC int nearest[MOST_RUN], place[MOST_RUN];
    SHARED_STATIC i64 score[MOST_RUN], same[MOST_RUN];
    Z *lists = (Z *)memory, *rooms = lists + 4 * list_room;
    const int room_size = 2 * side + copies;
    unsigned *ends = (unsigned *)(rooms + 3 * WARPS_IN_BLOCK * room_size);
    for (i64 here = BLOCK; here < given.slices; here += GRID) {
        WARPS(w) if (w == 0) find_outside(given, given.first_slice + here, &outside);
        SYNC_BLOCK;
        WARPS(w) {
            for (int which = w; which < 2; which += WARPS_IN_BLOCK) {
                Z *gaps = lists + 2 * which * list_room;
                const int size = collect(which ? gaps_above : gaps_below, which ? highs_above : highs_below, which ? tags_above : tags_below,
                                         which ? size_above : size_below, outside, 2 * k, gaps, gaps + list_room, &known[which]);
                LANES(L) if (L == 0) listed[which] = size;
            }
            for (int kind = WARPS_IN_BLOCK - 1 - w; kind < given.kinds; kind += WARPS_IN_BLOCK)
                for (int statistic = 0; statistic < 3; ++statistic) {
                    const i64 sum = of_kind(given, kind, statistic, outside, 0, Sum());
                    LANES(L) if (L == 0) sums[statistic][kind] = sum;
                }
        }
        SYNC_BLOCK;
        THREADS(t) for (int context = t; context < given.run; context += 32 * WARPS_IN_BLOCK) {
            const unsigned members = given.members[context];
            const i64 size = in_context(sums[0], given.kinds, members);
            score[context] = in_context(sums[1], given.kinds, members);
            same[context] = in_context(sums[2], given.kinds, members);
            // Without the record itself (a stand-in for one that is unknown) there is nothing to decide.
            const bool asked = size >= 2 && size >= given.least && same[context] >= 1;
            place[context] = asked ? place_of(given, score[context]) : 0;
            nearest[context] = (int)smaller((i64)k, size - 1);
        }
        SYNC_BLOCK;
        WARPS(w) {
            const Room<Z> base = {rooms + 3 * w * room_size, rooms + (3 * w + 1) * room_size, rooms + (3 * w + 2) * room_size, ends + w * room_size};
            const List<Z> below_it = {lists, lists + list_room, listed[0]}, above_it = {lists + 2 * list_room, lists + 3 * list_room, listed[1]};
            bool by_rows = true;
            for (int context = w; context < given.run; context += WARPS_IN_BLOCK) {
                if (!place[context]) continue;
                const unsigned members = given.members[context];
                const int near = nearest[context];
                const i64 mine = same[context];
                // Rows one by one where they are few; else distinct values. Which way changes time alone: the last context's is tried first.
                Z *centre = base.z + side;
                int left = -1, right = -1;
                if (by_rows && mine <= copies) {
                    SYNC_WARP;
                    left = walk_rows(below_it, members, near, -1, side, centre - 1);
                    if (left >= 0) right = walk_rows(above_it, members, near, 1, side, centre + mine);
                }
                bool valid;
                if (right >= 0) {
                    LANES(L) for (int copy = L; copy < mine; copy += 32) centre[copy] = 0;
                    const Room<Z> room = {centre - left, base.m, base.reach, base.ends};
                    valid = factor_exceeds<Z, true>(room, left + (int)mine + right, left, near, limit, own[w]);
                } else {
                    by_rows = false;
                    SYNC_WARP;
                    left = walk_values(below_it, members, (Z)near, -1, centre - 1, base.m + side - 1);
                    right = walk_values(above_it, members, (Z)near, 1, centre + 1, base.m + side + 1);
                    LANES(L) if (L == 0) {
                        *centre = 0;
                        base.m[side] = (Z)mine;
                    }
                    SYNC_WARP;
                    Lanes<i64> held;
                    LANES(L) {
                        held[L] = 0;
                        for (int p = side - left + L; p <= side + right; p += 32) held[L] += base.m[p];
                    }
                    by_rows = over_lanes(held, Sum()) <= 2 * side;
                    const Room<Z> room = {centre - left, base.m + side - left, base.reach, base.ends};
                    valid = factor_exceeds<Z, false>(room, left + 1 + right, left, near, limit, own[w]);
                }
                LANES(L) if (L == 0 && valid) emit(given, here, context, score[context], place[context]);
            }
        }
        SYNC_BLOCK;
    }
}

#ifdef __CUDACC__
extern __shared__ __align__(16) unsigned char shared_memory[];
#ifdef ROOM_IN_GLOBAL
#define MEMORY(room, bytes) (room + BLOCK * bytes)
#else
#define MEMORY(room, bytes) shared_memory
#endif
#else
#define MEMORY(room, bytes) room
#endif
#define LOF_KERNEL(name, Z)                                                                                                       \
    KERNEL name(COMMON, const Z *gaps_below, const u64 *highs_below, const Z *tags_below, i64 size_below, const Z *gaps_above,    \
                const u64 *highs_above, const Z *tags_above, i64 size_above, i64 k, double limit, i64 list_room, i64 side,        \
                i64 copies, unsigned char *room, i64 bytes) {                                                                     \
        lof<Z>(GIVEN, gaps_below, highs_below, tags_below, size_below, gaps_above, highs_above, tags_above, size_above, (int)k,   \
               limit, (int)list_room, (int)side, (int)copies, MEMORY(room, bytes));                                               \
    }
LOF_KERNEL(lof_narrow, int)
LOF_KERNEL(lof_wide, i64)
#endif
