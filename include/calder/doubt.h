// SPDX-License-Identifier: Apache-2.0
/*
 * calder/doubt.h — what there is to doubt in the results of a run.
 *
 * A run that ends with CAL_OK can still deserve doubt: its step was too large for a stiff spring, its energy balance is
 * off by more than its tolerance explains. Whatever finds such a thing adds a CalDoubt to the simulation
 * (cal_sim_add_doubt, cal_context_add_doubt); whoever shows results asks for them (cal_sim_doubt) and hands them to the
 * result files (cal_results_set_doubts). A doubt never changes the course of a run.
 */
#ifndef CALDER_DOUBT_H
#define CALDER_DOUBT_H

#include <stdint.h>

#include <calder/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kind, and its name in summaries and result files. A new kind is one line here, and one in docs/doubts.md. */
#define CAL_DOUBT_LIST(X)                                                                                    \
	X(CAL_DOUBT_BALANCE, "balance")         /* the energy balance is off by more than the method explains */ \
	X(CAL_DOUBT_STABILITY, "stability")     /* a fixed step is beyond what is stable */                      \
	X(CAL_DOUBT_STEPS, "steps")             /* steps are not those that were asked for */                    \
	X(CAL_DOUBT_ACCURACY, "accuracy")       /* the error is larger than the tolerance suggests */            \
	X(CAL_DOUBT_CONTACT, "contact")         /* a contact was missed, met too late, or is too deep */         \
	X(CAL_DOUBT_ASSEMBLY, "assembly")       /* the start was moved to close loops */                         \
	X(CAL_DOUBT_FORMULA, "formula")         /* an expression jumps or chatters */                            \
	X(CAL_DOUBT_REPLAY, "replay")           /* what is shown is not what happened */                         \
	X(CAL_DOUBT_RANGE, "range")             /* a device was moved beyond what its law is for */              \
	X(CAL_DOUBT_INPUT, "input")             /* a number of the model file is suspicious */                   \
	X(CAL_DOUBT_OTHER, "other")             /* of the caller */                                              \
	X(CAL_DOUBT_FORMULATION, "formulation") /* held system matrices differ from order N */

typedef enum CalDoubtKind {
#define CAL_DOUBT_ENUM(name, text) name,
	CAL_DOUBT_LIST(CAL_DOUBT_ENUM)
#undef CAL_DOUBT_ENUM
		CAL_DOUBT_KINDS
} CalDoubtKind;

CAL_API const char *cal_doubt_name(CalDoubtKind kind); // NULL outside the list

/** One thing to doubt. */
typedef struct CalDoubt {
	CalDoubtKind kind; //
	char object[96];   // what it is about: "device \"stop\"", "body \"boom\""; "": all of the run
	double time;       // when it was first seen [s]
	double value;      // the number that is too large, and
	double limit;      // what it should not exceed, in the same unit
	int64_t count;     // how often it was seen
	char text[400];    // a sentence with the numbers and their units, and the remedy
} CalDoubt;

enum { CAL_MAX_DOUBTS = 16 }; // that a simulation keeps

#ifdef __cplusplus
}
#endif
#endif
