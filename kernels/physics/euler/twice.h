/* twice.h - for the fluxes here that give that of the energy twice: nowhere would it be halved but
 * at the end, where the change of a cell halves the factor of both its faces at once
 * (traverse/update.h). A flux that gives what it is called does not include this. */

#define WEIGHT(name, k) WEIGHT_##name
#define WEIGHT_rho R(1.0)
#define WEIGHT_mn R(1.0)
#define WEIGHT_mt R(1.0)
#define WEIGHT_energy R(0.5)
