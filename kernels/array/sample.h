/* sample.h - which cells of a state an output shows: from element `origin` on every step-th of a
 * row and every step-th row. They come to lie without gaps, `columns` a row, from out[first]. */

MR_FN mr_index sampled(mr_index origin, int i, int j, int step, int stride) {
    return origin + (mr_index)j * step * stride + (mr_index)i * step;
}
