// SPDX-License-Identifier: Apache-2.0
/*
 * null_calls.h — what the generated calls of the test api.null (null_calls.py) and their fixture share.
 *
 * A pointer of Fixture that is NULL (a build without some library) stands for "no such object here": the calls pass NULL.
 */
#ifndef TEST_API_NULL_CALLS_H
#define TEST_API_NULL_CALLS_H

#include <stdio.h>
#include <string.h>

#include <calder/calder.h>

typedef struct Fixture {
	CalSetup *file;
	CalDesc *desc;
	CalModel *model;
	CalState *state;
	CalWork *work;
	CalIntegrator *integrator;
	CalBranches *branches;
	CalBatch *batch;
	CalDerivatives *derivatives;
	CalSim *sim;
	CalEvalContext *scene;
	CalScenario *scenario;
	CalExpression *expression;
	CalSetupLoads *loads;
	CalMesh *mesh;
	CalContactSet *contacts;
	CalContactWork *contact_work;
	CalModal *modal;
	CalPlan *plan;
	CalCampaign *campaign;
	CalResults *results;
	CalLive *live;
	FILE *out;
} Fixture;

enum { REFUSED = 10, ACCEPTED, RETURNED }; // exit codes of a child: an error status, another status, no status at all
static inline int call_result(CalStatus status) { return status < 0 ? REFUSED : ACCEPTED; }

extern const char *const texts[]; // some short ones
/** Zeroed memory for argument k, large enough for any structure or small array. */
void *scratch(int k);

enum { NULL_CALL_MOST = 12 };
typedef struct NullCall {
	const char *name;
	int (*call)(const Fixture *fixture, const unsigned char *null); // null[i]: argument i is NULL
	int returns_status;
	int argument_count;
	struct {
		const char *name;
		int pointer;  // it can be NULL
		int required; // a function that returns a status must refuse NULL
	} arguments[NULL_CALL_MOST];
} NullCall;
extern const NullCall null_calls[];
extern const int null_call_count;

#endif
