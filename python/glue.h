/* Declarations of glue.c for cffi: Python's side of the extension. */

void free(void *);

/* Writes a setup as a model file to memory; *text from malloc, to be released by free(). */
CalStatus glue_setup_text(const CalSetup *setup, char **text, size_t *length, CalError *error);

/* A replay page to memory, likewise. */
CalStatus glue_replay_text(const char *results, const CalReplayOptions *options, char **text, size_t *length,
                           CalError *error);
int glue_has_hdf5(void);

/* Poses, velocities and accelerations of all nodes after cal_kinematics(); any place may be NULL. */
CalStatus glue_nodes(const CalModel *model, const CalWork *work, double *position, double *rotation, double *velocity,
                     double *acceleration);

extern "Python" void glue_on_finding(void *user, const CalFinding *finding);
extern "Python" void glue_on_diagnosis(void *user, const CalDiagnosis *diagnosis);

/* ---- states of Python's own: shadow[nq + nu + 1] is what the simulation gave, for the comparison ---- */
void glue_pull_state(CalSim *sim, int group, CalState *to, double *shadow, int nq, int nu);
void glue_push_state(CalSim *sim, int group, const CalState *from, int nq, int nu);
int glue_state_differs(const CalState *state, const double *shadow, int nq, int nu);

/* ---- runs: Python is called every tenth of a second or so, to look whether somebody wants to interrupt ---- */

typedef struct GlueClock {
	int stop;       /* CalSimOptions.stop: set where somebody does */
	double slice_s; /* wall time between two looks */
	...;
} GlueClock;
extern "Python" int glue_on_tick(int unused);
const volatile int *glue_stop(GlueClock *clock);
CalStatus glue_advance(CalSim *sim, GlueClock *clock, double t_end, CalError *error);
CalStatus glue_steps(CalSim *sim, GlueClock *clock, int64_t count, CalError *error);

typedef struct GlueRecord {
	CalSampler *sampler;
	double start, end, interval; /* interval 0: every step */
	int64_t taken;               /* samples since the start, the first included */
	double *rows;                /* [capacity columns] */
	int64_t capacity, used;
	int64_t examined;
	int64_t regular;      /* samples at multiples of the interval */
	const double *extra;  /* [extra_count] further times, ascending */
	int64_t extra_count, extra_next;
} GlueRecord;
CalStatus glue_record(CalSim *sim, GlueClock *clock, GlueRecord *record, CalError *error);

/* ---- controllers: generalized forces on all dofs of a group from a Python function ---- */

typedef struct GlueControl {
	void *handle;
	char group[128]; /* name */
	int nq, nu;
	CalState *state; /* of the caller's own, filled before each call */
	double *tau;     /* [nu] filled by it */
	...;
} GlueControl;
CalStatus glue_add_control(CalSim *sim, const char *name, const GlueControl *control, double period, double offset,
                           int *device, CalError *error);
extern "Python" int glue_on_control(void *handle);

/* ---- devices ---- */

extern "Python" int glue_on_bind(const CalDevice *device, const CalEvalContext *context);
extern "Python" int glue_on_start(const CalDevice *device, CalEvalContext *context, double *x);
extern "Python" int glue_on_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot);
extern "Python" int glue_on_sample(const CalDevice *device, CalEvalContext *context, double *x);
extern "Python" int glue_on_values(const CalDevice *device, CalEvalContext *context, double *value);
extern "Python" int glue_on_event(const CalDevice *device, CalEvalContext *context, int event, int rising, double *x);
extern "Python" int glue_on_outputs(const CalDevice *device, CalEvalContext *context, double *output);

/* ---- events with Python actions ---- */
extern "Python" CalStatus glue_on_action(void *user, CalSim *sim, CalError *error);
extern "Python" int glue_on_value(void *user, CalEvalContext *context, double *value);

/* ---- campaigns ---- */
double glue_statistic(const CalPlanOutput *output, const double *t, const double *x, size_t stride, size_t count);

/* ---- paths of equilibria ---- */
/* points[options->most] and q[options->most nq]; *count of them are filled. */
CalStatus glue_trim_path(CalSim *sim, const CalTrimPathOptions *options, CalTrimPoint *points, double *q, int nq,
                         int *count, CalError *error);
