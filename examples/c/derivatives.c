// SPDX-License-Identifier: Apache-2.0
/* Derivatives of the accelerations and of the energy of a double pendulum. */
#include <stdio.h>
#include <stdlib.h>

#include <calder/calder.h>

enum { NU = 2 };

static void check(CalStatus status, const CalError *error) {
	if (status == CAL_OK)
		return;
	fprintf(stderr, "%s\n", error && error->text[0] ? error->text : cal_status_text(status));
	exit(1);
}

static void print_matrix(const char *name, const double *m) {
	printf("%s  [%+9.4f %+9.4f; %+9.4f %+9.4f]\n", name, m[0], m[1], m[2], m[3]);
}

int main(int argc, char **argv) {
	const char *path = argc > 1 ? argv[1] : "examples/double_pendulum.yaml";
	CalSetup *setup = NULL;
	CalModel *model = NULL;
	CalDerivatives *derivatives = NULL;
	CalState state;
	CalError error = {0};
	double udot[NU], dq[NU * NU], du[NU * NU], dtau[NU * NU], energy_dq[NU];

	check(cal_model_file_read(path, NULL, &setup, &error), &error);
	check(cal_model_compile(cal_setup_desc(setup), &(CalCompileOptions){0}, &model, &error), &error);
	check(cal_state_create(model, &state), NULL);
	check(cal_derivatives_create(model, &derivatives), NULL);

	state.q[0] = 0.5, state.q[1] = -0.3, state.u[1] = 1.0;
	check(cal_forward_derivatives(model, &state, NULL, derivatives, udot, dq, du, dtau), NULL);
	print_matrix("dudot/dq  ", dq);
	print_matrix("dudot/du  ", du);
	print_matrix("dudot/dtau", dtau);
	check(cal_energy_gradient(model, &state, derivatives, energy_dq, NULL), NULL);
	printf("dE/dq       [%+9.4f %+9.4f]\n", energy_dq[0], energy_dq[1]);

	cal_derivatives_destroy(derivatives);
	cal_state_destroy(&state);
	cal_model_destroy(model);
	cal_setup_destroy(setup);
	return 0;
}
