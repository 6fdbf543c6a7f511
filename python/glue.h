/* Declarations of glue.c for cffi: Python's side of the extension. */

void free(void *);

/* Writes a setup as a model file to memory; *text from malloc, to be released by free(). */
CalStatus glue_setup_text(const CalSetup *setup, char **text, size_t *length, CalError *error);

/* Poses, velocities and accelerations of all nodes after cal_kinematics(); any place may be NULL. */
CalStatus glue_nodes(const CalModel *model, const CalWork *work, double *position, double *rotation, double *velocity,
                     double *acceleration);

extern "Python" void glue_on_finding(void *user, const CalFinding *finding);
extern "Python" void glue_on_diagnosis(void *user, const CalDiagnosis *diagnosis);
