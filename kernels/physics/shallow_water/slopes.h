/* slopes.h - limited slopes of depth and velocity, and faces that are such a flow. Needs the
 * half_slope() of a limiter. */

typedef flow face;
typedef flows faces;

MR_FN face face_of(flow w) { return w; }
MR_FN face get_face(const faces *row, int l) { return get_flow(row, l); }
MR_FN void set_face(faces *row, int l, face w) { set_flow(row, l, w); }

MR_FN flow slope_of(flow a, flow b) {
    flow d;
    d.h = half_slope(a.h, b.h);
    d.un = half_slope(a.un, b.un);
    d.ut = half_slope(a.ut, b.ut);
    return d;
}

/* w + s d */
MR_FN flow shifted(flow w, real s, flow d) {
    w.h = mr_fma(s, d.h, w.h);
    w.un = mr_fma(s, d.un, w.un);
    w.ut = mr_fma(s, d.ut, w.ut);
    return w;
}
