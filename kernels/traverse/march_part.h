/* march_part.h - the march over all strips of a part that a team has. Whoever includes this
 * defines
 *
 *   origin       a type: what is needed to find rows
 *   usual_jump   (origin, part): from the last row of a strip's part to the one behind it
 *   rows_from    (origin, column, row, part, mr_index *jump): where the rows begin that a work-item
 *                loads; the jump at the one seam of its strip, where it is not the usual one
 *   rows_to      (origin, dst, column, row, part): where those begin that it stores
 *   team_of, teams_of    (origin): the team's number, and of how many, that go over the part */

/* Where it can, a march goes without a look at faces that are no states, and ends before the first
 * one. The rows there are marched with the look, twice as many each time. On an H200 gas in Lua is
 * so at 97.6 Gcells/s, at 84.4 with the look, which comes between the instructions of a row. */
#define CAREFUL 32

/* The march over rows y->first .. y->end - 1 of a team's columns. Sets y->first to the row behind
 * the last one that is done. */
MR_FN real march_rows(origin from, MR_GLOBAL real *dst, int column, int low, int high, part p,
    MR_LOCAL_PTR real *rows, MR_LOCAL_PTR real *shared, sweep x, sweep *y, sources acts,
    moment *now, int x_first, int freely) {
    mr_index jump = usual_jump(from, p);
    const MR_GLOBAL real *at = rows_from(from, column, y->first - REACH, p, &jump);
    MR_GLOBAL real *to = rows_to(from, dst, column, y->first, p);
    return march_strip(at, to, low, high, rows, shared, x, *y, acts, now, jump, x_first, freely,
        &y->first);
}

/* A step over rows that are a team's own. Returns the largest signal rate. */
MR_FN real step_rows(origin from, MR_GLOBAL real *dst, moment *now, part p, parameters k,
    portion own, MR_LOCAL_PTR real *shared, MR_LOCAL_PTR real *rows, int x_first) {
    int lane = mr_gid_x() % TEAM;
    real rate = R(0.0);
    sweep x = sweep_along_x(p, 0, R(0.0), k), y = sweep_along_y(p, 0, R(0.0), k);
    sources acts = sources_over(p, R(0.0), R(0.0), 0);
    while (own.count > 0) {
        int column = own.strip * OWN_COLUMNS - LEAD + lane * W;
        int low = lane * W < REACH ? REACH - lane * W : 0;
        int high = least((TEAM - lane) * W - REACH, W);
        y.first = own.south + own.row;
        y.end = least(own.south + own.rows, y.first + own.count);
        if (y.first < REACH) y.end = least(y.end, p.ny - REACH);      /* one seam at a time */
        own.row += y.end - y.first;
        own.count -= y.end - y.first;
        if (own.row == own.rows) own.row = 0, ++own.strip;
        acts.column = column;
        low = column + low < 0 ? -column : low;
        high = least(high, p.nx - column);
        int end = y.end, careful = CAREFUL;
        do {
            rate = mr_max_nan(rate, march_rows(from, dst, column, low, high, p, rows, shared, x,
                &y, acts, now, x_first, MARCHES_FREELY));
            if (!MARCHES_FREELY || y.first == end) break;
            y.end = least(end, y.first + careful);
            careful *= 2;
            rate = mr_max_nan(rate, march_rows(from, dst, column, low, high, p, rows, shared, x,
                &y, acts, now, x_first, 0));
            y.end = end;
        } while (y.first < end);
    }
    return rate;
}

MR_FN int strips_of(part p) { return ceil_ratio(p.nx + LEAD - REACH, OWN_COLUMNS); }

/* What is a team's own of a part. It is known before the step before this one has ended. */
MR_FN portion own_portion(origin from, part p) {
    portion own = portion_of(team_of(from), teams_of(from), strips_of(p), p.ny);
    own.south = afresh(own.south), own.rows = afresh(own.rows);
    own.strip = afresh(own.strip), own.row = afresh(own.row), own.count = afresh(own.count);
    return own;
}
