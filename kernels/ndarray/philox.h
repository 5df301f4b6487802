/* philox.h - Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
 * 2, 3", SC 2011): random words of a counter and a key, by ten rounds of two products. */

#define MR_PHILOX_ROUND(c, k0, k1) do { \
    uint64_t a_ = (uint64_t)0xD2511F53u * c[0], b_ = (uint64_t)0xCD9E8D57u * c[2]; \
    uint c0_ = (uint)(b_ >> 32) ^ c[1] ^ (k0), c2_ = (uint)(a_ >> 32) ^ c[3] ^ (k1); \
    c[0] = c0_; c[1] = (uint)b_; c[2] = c2_; c[3] = (uint)a_; \
} while (0)

/* The word of an element, whose kernel has its block, number / 4, and its place there, number % 4,
 * beside the number: compilers do not see from the numbers that neighbours share a block. */
#define mr_philox(number, k0, k1) mr_philox_word(number##_block, number##_word, k0, k1)
#define mr_philox_key(k0, k1) ((uint64_t)(k1) << 32 | (uint)(k0))
#define mr_philox_from(number, key, first) \
    mr_philox_word(number##_block + ((first) >> 2), number##_word, (uint)(key), \
        (uint)((key) >> 32))
#define mr_philox_any(number, k0, k1) \
    mr_philox_word((int64_t)(number) >> 2, (int)((number) & 3), k0, k1)

MR_FN uint mr_philox_word(int64_t block, int word, uint k0, uint k1) {
    uint64_t counter = (uint64_t)block;
    uint c[4] = { (uint)counter, (uint)(counter >> 32), 0u, 0u };
    MR_UNROLL(10)
    for (int round = 0; round < 10; ++round) {
        MR_PHILOX_ROUND(c, k0 + (uint)round * 0x9E3779B9u, k1 + (uint)round * 0xBB67AE85u);
    }
    return word < 2 ? (word == 0 ? c[0] : c[1]) : (word == 2 ? c[2] : c[3]);
}
