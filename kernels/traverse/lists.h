/* lists.h - the lists of an equation as macros that do something with each entry, from the defines
 * that lua/mare/schemes/equation.lua makes of its table:
 *
 *   FIELDS, FIELD_0 ...                 names of the unknowns, in the order of their planes
 *   VECTORS, NORMAL_0, TRANSVERSE_0 ... names of the components of a vector along the sweep and
 *                                       across it; PLANE_X_0, PLANE_Y_0 ... their planes
 *   PRIMITIVES, PRIMITIVE_0 ...         names of the variables that are interpolated
 *
 *   TRIPLES, NORMAL_0, TRANSVERSE_0, BINORMAL_0 ...  in three dimensions instead of VECTORS
 *
 * EACH_FIELD(DO) is DO(name, plane) for each field, EACH_PRIMITIVE(DO) is the same for those,
 * EACH_VECTOR(DO) is DO(n, t, plane of x, plane of y), EACH_TRIPLE(DO) is DO(n, t, b). */

#ifndef TRIPLES
#define TRIPLES 0
#endif

#define LIST_OF_(a, n) a##n
#define LIST_(a, n) LIST_OF_(a, n)
#define EACH_FIELD(DO) LIST_(FIRST_, FIELDS)(DO, FIELD_)
#define EACH_PRIMITIVE(DO) LIST_(FIRST_, PRIMITIVES)(DO, PRIMITIVE_)
#define EACH_VECTOR(DO) LIST_(VECTORS_, VECTORS)(DO)
#define EACH_TRIPLE(DO) LIST_(TRIPLES_, TRIPLES)(DO)

#define FIRST_1(DO, list) DO(list##0, 0)
#define FIRST_2(DO, list) FIRST_1(DO, list) DO(list##1, 1)
#define FIRST_3(DO, list) FIRST_2(DO, list) DO(list##2, 2)
#define FIRST_4(DO, list) FIRST_3(DO, list) DO(list##3, 3)
#define FIRST_5(DO, list) FIRST_4(DO, list) DO(list##4, 4)
#define FIRST_6(DO, list) FIRST_5(DO, list) DO(list##5, 5)
#define FIRST_7(DO, list) FIRST_6(DO, list) DO(list##6, 6)
#define FIRST_8(DO, list) FIRST_7(DO, list) DO(list##7, 7)
#define FIRST_9(DO, list) FIRST_8(DO, list) DO(list##8, 8)
#define FIRST_10(DO, list) FIRST_9(DO, list) DO(list##9, 9)
#define FIRST_11(DO, list) FIRST_10(DO, list) DO(list##10, 10)
#define FIRST_12(DO, list) FIRST_11(DO, list) DO(list##11, 11)
#define FIRST_13(DO, list) FIRST_12(DO, list) DO(list##12, 12)
#define FIRST_14(DO, list) FIRST_13(DO, list) DO(list##13, 13)
#define FIRST_15(DO, list) FIRST_14(DO, list) DO(list##14, 14)
#define FIRST_16(DO, list) FIRST_15(DO, list) DO(list##15, 15)

#define VECTORS_0(DO)
#define VECTORS_1(DO) DO(NORMAL_0, TRANSVERSE_0, PLANE_X_0, PLANE_Y_0)
#define VECTORS_2(DO) VECTORS_1(DO) DO(NORMAL_1, TRANSVERSE_1, PLANE_X_1, PLANE_Y_1)
#define VECTORS_3(DO) VECTORS_2(DO) DO(NORMAL_2, TRANSVERSE_2, PLANE_X_2, PLANE_Y_2)
#define VECTORS_4(DO) VECTORS_3(DO) DO(NORMAL_3, TRANSVERSE_3, PLANE_X_3, PLANE_Y_3)
#define VECTORS_5(DO) VECTORS_4(DO) DO(NORMAL_4, TRANSVERSE_4, PLANE_X_4, PLANE_Y_4)
#define VECTORS_6(DO) VECTORS_5(DO) DO(NORMAL_5, TRANSVERSE_5, PLANE_X_5, PLANE_Y_5)
#define VECTORS_7(DO) VECTORS_6(DO) DO(NORMAL_6, TRANSVERSE_6, PLANE_X_6, PLANE_Y_6)
#define VECTORS_8(DO) VECTORS_7(DO) DO(NORMAL_7, TRANSVERSE_7, PLANE_X_7, PLANE_Y_7)

#define TRIPLES_0(DO)
#define TRIPLES_1(DO) DO(NORMAL_0, TRANSVERSE_0, BINORMAL_0)
#define TRIPLES_2(DO) TRIPLES_1(DO) DO(NORMAL_1, TRANSVERSE_1, BINORMAL_1)
#define TRIPLES_3(DO) TRIPLES_2(DO) DO(NORMAL_2, TRANSVERSE_2, BINORMAL_2)
#define TRIPLES_4(DO) TRIPLES_3(DO) DO(NORMAL_3, TRANSVERSE_3, BINORMAL_3)
#define TRIPLES_5(DO) TRIPLES_4(DO) DO(NORMAL_4, TRANSVERSE_4, BINORMAL_4)
