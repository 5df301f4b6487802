/* own.h - a flux that the equation's code brings: flux own_flux(primitive low, primitive high,
 * parameters k), of the states on the lower and the higher side of a face. */

MR_FN flux numerical_flux(face low_side, face high_side, real lambda, parameters k) {
    return own_flux(low_side, high_side, k);
}
