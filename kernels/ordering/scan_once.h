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

/* The blocks of a launch, and where block i of a row is. */
typedef struct place {
    int rows, blocks, row, i;
} place;

MR_FN void publish(MR_GLOBAL ulong *to, VALUE x) {
    entry e;
    e.words[WORDS - 1] = 0;
    e.value = x;
    MR_UNROLL(2)
    for (int w = 0; w < WORDS; ++w) mr_publish(to + w, 1ul << 32 | e.words[w]);
}

/* Returns an entry when it is there. */
MR_FN VALUE await(const MR_GLOBAL ulong *from) {
    entry e;
    int is_there;
    do {
        is_there = 1;
        MR_UNROLL(2)
        for (int w = 0; w < WORDS; ++w) {
            ulong word = mr_poll(from + w);
            e.words[w] = (uint)word;
            is_there &= (int)(word >> 32);
        }
    } while (!is_there);
    return e.value;
}

/* Where the entries of a level of a row are. */
MR_FN MR_GLOBAL ulong *entries_of(MR_GLOBAL ulong *entries, int level, place p) {
    int before = 0, blocks = p.blocks;
    for (int k = 0; k < level; ++k) {
        before += p.rows * blocks;
        blocks /= RUN;
    }
    return entries + (mr_index)(before + p.row * blocks) * WORDS;
}

/* The last block before block i, and of levels 3 to 5 the last before it of the blocks of 4096
 * blocks that the scan of the totals has; -1: none. */
MR_FN int last_before(int level, int i) {
    int before = level < 3 ? i : i > 0 ? (i - 1) >> 12 : 0;
    return before - 1;
}

/* Puts the entries of a level that are before block i, and behind those of the level above, into
 * `own` as they come, one for each work-item of a warp. Returns how many they are. */
MR_FN int await_level(MR_LOCAL_PTR VALUE *own, const MR_GLOBAL ulong *level_entries, int level,
                      place p, int lane) {
    int last = last_before(level, p.i), step = 4 * (level % 3);
    int n = last < 0 ? 0 : (last >> step) % RUN + (step == 0 ? 1 : 0);
    if (lane < n) own[lane] = await(level_entries + ((last >> step >> 4) * RUN + lane) * WORDS);
    return n;
}

/* Returns the sum of n entries, and publishes that of the level above if block i is its last.
 * total: the sum of block i */
MR_FN VALUE sum_of_level(const MR_LOCAL_PTR VALUE *own, int n, MR_GLOBAL ulong *entries, int level,
                         place p, VALUE total) {
    VALUE sum = NONE;
    int next = RUN << 4 * level;
    MR_UNROLL(4)
    for (int k = 0; k < n; ++k) sum = combine(sum, own[k]);
    if (level == LEVELS - 1 || (p.i + 1) % next != 0) return sum;
    if (level > 0) total = await(entries_of(entries, level, p) + (p.i >> 4 * level) * WORDS);
    publish(entries_of(entries, level + 1, p) + p.i / next * WORDS, combine(sum, total));
    return sum;
}

/* Returns the sum of the blocks before block i of a row. The totals of BLOCK blocks are a block
 * themselves. */
MR_FN VALUE sum_of_blocks(const MR_LOCAL_PTR VALUE *sums, int i) {
    VALUE before = combine(sums[2], sums[1]);
    if (i == 0) return NONE;
    if (i > BLOCK) before = combine(combine(combine(sums[5], sums[4]), sums[3]), before);
    return combine(before, sums[0]);
}

/* Publishes the sum of block i. Returns that of the blocks before it. */
MR_FN VALUE exchange(MR_LOCAL_PTR VALUE *own, MR_LOCAL_PTR VALUE *sums, MR_GLOBAL ulong *entries,
                     place p, VALUE total) {
    int level = mr_lid_x() / WARP, lane = mr_lid_x() % WARP, n = 0;
    if (mr_lid_x() == 0) publish(entries_of(entries, 0, p) + p.i * WORDS, total);
    if (level < LEVELS)
        n = await_level(own + level * RUN, entries_of(entries, level, p), level, p, lane);
    MR_WARP_BARRIER();
    if (level < LEVELS && lane == 0)
        sums[level] = sum_of_level(own + level * RUN, n, entries, level, p, total);
    MR_BARRIER();
    return sum_of_blocks(sums, p.i);
}

/* Global size: a group for each block, or fewer. */
MR_KERNEL MR_GROUP_SIZE(GROUP, 1, 1)
void scan_once(MR_GLOBAL VALUE *out, const MR_GLOBAL TYPE *from, MR_GLOBAL ulong *words,
               mr_index count, int blocks, int all) {
    MR_LOCAL VALUE tile[BLOCK + RUNS];
    MR_LOCAL VALUE runs[RUNS + SECTIONS];
    MR_LOCAL VALUE sections[SECTIONS + 1];
    MR_LOCAL VALUE own[LEVELS * RUN];
    MR_LOCAL VALUE sums[LEVELS];
    MR_LOCAL int taken[1];
    for (;;) {
        if (mr_lid_x() == 0) taken[0] = (int)mr_atomic_add((MR_GLOBAL uint *)words, 1u);
        MR_BARRIER();
        int b = taken[0];
        place p = { all / blocks, blocks, b / blocks, b % blocks };
        if (b >= all) break;
        mr_index start = block_start(b, blocks, count);
        int n = block_size(b, blocks, count);
        scan_block(tile, runs, sections, from + start, n, 1);
        VALUE before = exchange(own, sums, words + 1, p, sections[SECTIONS]);
        store_block(out + start, tile, runs, sections, before, n);
        MR_BARRIER();
    }
}
