/* primitive_faces.h - the face of a cell as its primitive variables there. */

typedef primitive face;
typedef primitives faces;

MR_FN face face_of(primitive w, parameters k) { return w; }
MR_FN face get_face(const faces *row, int l) { return get_primitive(row, l); }
MR_FN void set_face(faces *row, int l, face w) { set_primitive(row, l, w); }
