// What `kernels.cu` needs when it is compiled for a processor instead of a GPU: a warp is a loop over 32 lanes, a block a loop over warps.
//
// Every step of the kernels is then run one lane after the other, so that a test without a GPU covers all of their arithmetic and all of
// their traffic between lanes. What it cannot show is a race: compute-sanitizer's racecheck does, on a device.

#include <cstdint>

#define KERNEL extern "C" void
#define DEVICE static inline
#define RARE static
#define OPERATOR
#define SHARED_STATIC static
#define LANES(L) for (int L = 0; L < 32; ++L)
#define WARPS(w) for (int w = 0; w < WARPS_IN_BLOCK; ++w)
#define THREADS(t) for (int t = 0; t < 32 * WARPS_IN_BLOCK; ++t)
#define SYNC_WARP ((void)0)
#define UNROLLED
#define SYNC_BLOCK ((void)0)
#define BLOCK 0
#define GRID 1

template <class T> struct Lanes {
    T each[32];
    T &operator[](int lane) { return each[lane]; }
};

DEVICE unsigned ballot(Lanes<bool> &flag) {
    unsigned found = 0;
    for (int lane = 0; lane < 32; ++lane) found |= unsigned(flag[lane]) << lane;
    return found;
}
template <class T> DEVICE T from(Lanes<T> &value, int lane) { return value[lane]; }
template <class T> DEVICE Lanes<T> pulled(Lanes<T> &value, Lanes<int> &lane) {
    Lanes<T> found;
    for (int here = 0; here < 32; ++here) found[here] = value[lane[here]];
    return found;
}
template <class T> DEVICE Lanes<T> ahead_of(Lanes<T> &value) {
    Lanes<T> found;
    T sum = 0;
    for (int lane = 0; lane < 32; ++lane) {
        found[lane] = sum;
        sum += value[lane];
    }
    return found;
}
DEVICE Lanes<unsigned> alike(Lanes<int> &key) {
    Lanes<unsigned> found;
    for (int here = 0; here < 32; ++here) {
        found[here] = 0;
        for (int lane = 0; lane < 32; ++lane) found[here] |= unsigned(key[lane] == key[here]) << lane;
    }
    return found;
}
template <class T, class Combine> DEVICE T over_lanes(Lanes<T> &value, Combine combine) {
    T found = value[0];
    for (int lane = 1; lane < 32; ++lane) found = combine(found, value[lane]);
    return found;
}
template <class T> DEVICE void add(T *place, T value) { *place += value; }
DEVICE int count_bits(unsigned bits) { return __builtin_popcount(bits); }
DEVICE int lowest_bit(unsigned bits) { return __builtin_ctz(bits); }
DEVICE int highest_bit(unsigned bits) { return 31 - __builtin_clz(bits); }
DEVICE int width_of(long long number) { return 64 - __builtin_clzll(number); }
DEVICE unsigned long long high_product(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
DEVICE double root(double number) { return __builtin_sqrt(number); }
DEVICE float quotient(float a, float b) { return a / b; }
