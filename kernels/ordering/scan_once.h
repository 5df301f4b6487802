/* scan_once.h - a scan that reads the elements once: groups tell each other the sums of blocks.
 *
 * Level 0 has the sums of a row's blocks; an entry of level l + 1 is the sum of 16 of level l,
 * from left to right. The sum of the blocks before one is that of at most 15 entries of each level,
 * so that it has the order of scan.krn's two launches. An entry is published by the group that
 * scans its last block. No group waits for more than a few others one after another: those which
 * complete a 16th, a 256th and so on before it. Groups take blocks in their order from a counter,
 * so that each waits only for groups that have begun.
 *
 * A word is half an entry at most: its upper half tells whether it is there. All words and the
 * counter, the word before them, are 0 before the launch. */

enum { LEVELS = 6, WORDS = (sizeof(VALUE) + 3) / 4, WARP = 32 };

typedef union entry {
    VALUE value;
    uint words[WORDS];
} entry;

MR_FN void publish(MR_GLOBAL ulong *to, VALUE x) {
    entry e;
    e.words[WORDS - 1] = 0;
    e.value = x;
    MR_UNROLL(2)
    for (int w = 0; w < WORDS; ++w) mr_publish(to + w, 1ul << 32 | e.words[w]);
}

/* Returns whether the entry is there, and then sets x. */
MR_FN int look(const MR_GLOBAL ulong *from, VALUE *x) {
    entry e;
    int is_there = 1;
    MR_UNROLL(2)
    for (int w = 0; w < WORDS; ++w) {
        ulong word = mr_poll(from + w);
        e.words[w] = (uint)word;
        is_there &= (int)(word >> 32);
    }
    *x = e.value;
    return is_there;
}

/* Returns the sum of n entries, of 16 at most, when all are there. */
MR_FN VALUE sum_of(const MR_GLOBAL ulong *from, int n) {
    VALUE own[RUN], all = NONE;
    int are_there;
    do {
        are_there = 1;
        MR_UNROLL(16)
        for (int k = 0; k < RUN; ++k)
            if (k < n) are_there &= look(from + k * WORDS, own + k);
    } while (!are_there);
    MR_UNROLL(16)
    for (int k = 0; k < RUN; ++k)
        if (k < n) all = combine(all, own[k]);
    return all;
}

/* The entries of a level of one row. */
MR_FN MR_GLOBAL ulong *entries_of(MR_GLOBAL ulong *entries, int level, mr_index row, mr_index rows,
                                  mr_index blocks) {
    for (int k = 0; k < level; ++k) {
        entries += rows * blocks * WORDS;
        blocks /= RUN;
    }
    return entries + row * blocks * WORDS;
}

/* Returns the sum of the entries of a level that are before block i of a row and behind those of
 * the level above, and publishes that of the level above if i is its last block. Levels 3 to 5 are
 * of blocks of 4096 blocks, which the scan of the totals has. total: the sum of block i */
MR_FN VALUE sum_of_level(MR_GLOBAL ulong *entries, int level, mr_index i, mr_index row,
                         mr_index rows, mr_index blocks, VALUE total) {
    MR_GLOBAL ulong *own = entries_of(entries, level, row, rows, blocks);
    mr_index last = (level < 3 ? i : (i - 1) >> 12) - 1, next = (mr_index)RUN << 4 * level;
    int step = level % 3, n = (int)(last >> 4 * step) % RUN + (step == 0 ? 1 : 0);
    VALUE sum = NONE;
    if (i == 0 || last < 0) return sum;
    sum = sum_of(own + (last >> 4 * (step + 1)) * RUN * WORDS, n);
    if (level == LEVELS - 1 || (i + 1) % next != 0) return sum;
    if (level > 0) total = sum_of(own + (i >> 4 * level) * WORDS, 1);
    publish(entries_of(entries, level + 1, row, rows, blocks) + i / next * WORDS,
        combine(sum, total));
    return sum;
}

/* Returns the sum of the blocks before block i of a row. The totals of BLOCK blocks are a block
 * themselves. */
MR_FN VALUE sum_of_blocks(const MR_LOCAL_PTR VALUE *sums, mr_index i) {
    VALUE before = combine(sums[2], sums[1]);
    if (i == 0) return NONE;
    if (i > BLOCK) before = combine(combine(combine(sums[5], sums[4]), sums[3]), before);
    return combine(before, sums[0]);
}

/* Global size: a group for each block, or fewer. */
MR_KERNEL MR_GROUP_SIZE(GROUP, 1, 1)
void scan_once(MR_GLOBAL VALUE *out, const MR_GLOBAL TYPE *from, MR_GLOBAL ulong *words,
               mr_index count, mr_index blocks, mr_index all) {
    MR_LOCAL VALUE tile[BLOCK + RUNS];
    MR_LOCAL VALUE runs[RUNS + SECTIONS];
    MR_LOCAL VALUE sections[SECTIONS + 1];
    MR_LOCAL VALUE sums[LEVELS];
    MR_LOCAL uint taken[1];
    MR_GLOBAL ulong *entries = words + 1;
    int me = mr_lid_x();
    for (;;) {
        if (me == 0) taken[0] = mr_atomic_add((MR_GLOBAL uint *)words, 1u);
        MR_BARRIER();
        mr_index b = taken[0], row = b / blocks, i = b % blocks, rows = all / blocks;
        mr_index start = block_start(b, blocks, count);
        int n = block_size(b, blocks, count);
        if (b >= all) break;
        scan_block(tile, runs, sections, from + start, n);
        if (me == 0) publish(entries_of(entries, 0, row, rows, blocks) + i * WORDS,
            sections[SECTIONS]);
        if (me % WARP == 0 && me / WARP < LEVELS)
            sums[me / WARP] = sum_of_level(entries, me / WARP, i, row, rows, blocks,
                sections[SECTIONS]);
        MR_BARRIER();
        store_block(out + start, tile, runs, sections, sum_of_blocks(sums, i), n);
        MR_BARRIER();
    }
}
