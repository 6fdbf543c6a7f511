// SPDX-License-Identifier: Apache-2.0
/*
 * campaign_pool.c — cases in processes of their own, several at a time.
 *
 * Every case gets a fresh copy of this process: one that crashes, hangs or spoils its memory harms no other, and whatever
 * a device keeps in globals cannot reach the next case. The child sends its outcome through a pipe; whoever ends without
 * one has crashed. Only the parent writes results.
 */
#define _GNU_SOURCE // pipe2, strsignal

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "clock.h"
#include "campaign.h"

typedef struct Worker {
	pid_t pid;
	int from; // read end of its pipe
	int64_t k;
	double deadline; // INFINITY: none
	char *got;       // [size] what came
	size_t length;
} Worker;

typedef struct ProcessPool {
	CalCampaign *campaign;
	const CalPlan *plan;
	CalPlanInfo info;
	const PoolOptions *options;
	Worker *workers; // [options->jobs], the first `busy` are at work
	struct pollfd *polled;
	unsigned busy;
	size_t size; // of an outcome
	int64_t next, done, failed;
	double shown;
} ProcessPool;

static volatile sig_atomic_t caught; // the signal that asks for an end, 0: none

static void note_signal(int number) { caught = number; }

static void catch_signals(struct sigaction old[2]) {
	struct sigaction action = {.sa_handler = note_signal};
	sigemptyset(&action.sa_mask);
	caught = 0;
	sigaction(SIGINT, &action, &old[0]);
	sigaction(SIGTERM, &action, &old[1]);
}

/* ---- the child ---------------------------------------------------------------------------------- */

/* Status, outputs, message: all outcomes have one size. */
static size_t outcome_size(const CalPlanInfo *info) {
	return sizeof(int) + (size_t)info->output_count * sizeof(double) + sizeof(((CaseOutcome *)0)->message);
}

static void send_all(int to, const char *data, size_t size) {
	while (size > 0) {
		const ssize_t put = write(to, data, size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			_exit(1);
		data += put;
		size -= (size_t)put;
	}
}

/* Signals that ask for an end are the parent's business, who ends the child. */
__attribute__((noreturn)) static void run_child(const ProcessPool *pool, int64_t k, int to, pid_t parent) {
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(1);
	char path[1200];
	const size_t outputs = (size_t)pool->info.output_count * sizeof(double);
	char *packed = calloc(1, pool->size);
	CaseOutcome outcome = {.outputs = calloc((size_t)pool->info.output_count + 1, sizeof(double))};
	if (!packed || !outcome.outputs)
		_exit(1);
	if (pool->options->series)
		snprintf(path, sizeof path, "%s/case-%06lld.csv", pool->options->series, (long long)k);
	case_run(pool->plan, k, pool->options->no_code, pool->options->series ? path : NULL, &outcome);
	const int status = (int)outcome.status;
	memcpy(packed, &status, sizeof status);
	memcpy(packed + sizeof status, outcome.outputs, outputs);
	memcpy(packed + sizeof status + outputs, outcome.message, sizeof outcome.message);
	send_all(to, packed, pool->size);
	_exit(0);
}

/* ---- the parent --------------------------------------------------------------------------------- */

static bool start_case(ProcessPool *pool, int64_t k) {
	Worker *w = &pool->workers[pool->busy];
	int ends[2];
	const pid_t parent = getpid();
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	w->pid = fork();
	if (w->pid == 0) {
		close(ends[0]);
		run_child(pool, k, ends[1], parent);
	}
	close(ends[1]);
	if (w->pid < 0) {
		close(ends[0]);
		return false;
	}
	w->from = ends[0];
	w->k = k;
	w->length = 0;
	w->deadline = pool->options->timeout > 0 ? clock_now() + pool->options->timeout : INFINITY;
	pool->busy++;
	return true;
}

/*
 * Why a process ended without an outcome. A kill often comes to all processes of a group: if this one is to die too, it had
 * better do so before it blames the case.
 */
static void describe_exit(int how, char *text, size_t size) {
	if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
		clock_pause(0.2);
	if (WIFSIGNALED(how))
		snprintf(text, size, "the process was ended by signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how)));
	else
		snprintf(text, size, "the process ended with exit code %d and no result", WEXITSTATUS(how));
}

/* The last worker takes the place over; the buffer is used again. */
static void close_worker(ProcessPool *pool, unsigned index) {
	const Worker gone = pool->workers[index];
	close(gone.from);
	pool->workers[index] = pool->workers[--pool->busy];
	pool->workers[pool->busy] = gone;
}

/* What a worker sent: status and message; the outputs go to values. */
static const char *unpack_outcome(const ProcessPool *pool, const Worker *w, int *status, double *values) {
	const size_t outputs = (size_t)pool->info.output_count * sizeof *values;
	memcpy(status, w->got, sizeof *status);
	memcpy(values, w->got + sizeof *status, outputs);
	return w->got + sizeof *status + outputs;
}

static CalStatus finish_case(ProcessPool *pool, unsigned index, bool late, CalError *error) {
	const Worker *w = &pool->workers[index];
	const bool is_complete = !late && w->length == pool->size;
	char text[200] = "";
	int how = 0, status = late ? CAL_CASE_TIMEOUT : CAL_CASE_CRASHED;
	double *values = malloc(((size_t)pool->info.output_count + 1) * sizeof *values);
	if (!values)
		return CAL_ERR_MEMORY;
	if (late)
		kill(w->pid, SIGKILL);
	while (waitpid(w->pid, &how, 0) < 0 && errno == EINTR)
		;
	if (late)
		snprintf(text, sizeof text, "it took more than %g s", pool->options->timeout);
	else if (!is_complete)
		describe_exit(how, text, sizeof text);
	const char *message = is_complete ? unpack_outcome(pool, w, &status, values) : text;
	const CalCaseResult result = {
		.k = w->k, .status = (CalCaseStatus)status, .message = message, .outputs = is_complete ? values : NULL};
	const CalStatus put = caught && !is_complete ? CAL_OK : cal_campaign_put(pool->campaign, &result, error);
	free(values);
	pool->done++;
	pool->failed += status >= CAL_CASE_FAILED;
	close_worker(pool, index);
	return put;
}

static void show_progress(ProcessPool *pool, bool last) {
	if (!pool->options->progress || (!last && clock_now() - pool->shown < 0.1))
		return;
	pool->shown = clock_now();
	fprintf(stderr, "\r%lld of %lld case%s, %lld failed ", (long long)pool->done, (long long)pool->options->count,
	        plural(pool->options->count), (long long)pool->failed);
	if (last)
		fprintf(stderr, "\r%70s\r", "");
}

/* Reads what is there; true: the worker has sent all, or is gone. */
static bool receive_bytes(const ProcessPool *pool, Worker *w) {
	const ssize_t got = read(w->from, w->got + w->length, pool->size - w->length);
	if (got > 0)
		w->length += (size_t)got;
	return got == 0 || w->length == pool->size || (got < 0 && errno != EINTR && errno != EAGAIN);
}

/* Waits for news of any worker, and takes in those that are ready. */
static CalStatus serve_workers(ProcessPool *pool, CalError *error) {
	double first = INFINITY;
	for (unsigned i = 0; i < pool->busy; i++) {
		pool->polled[i] = (struct pollfd){.fd = pool->workers[i].from, .events = POLLIN};
		first = fmin(first, pool->workers[i].deadline);
	}
	const double wait = fmin(fmax(first - clock_now(), 0), 0.5);
	const int ready = poll(pool->polled, pool->busy, (int)ceil(1e3 * wait));
	for (unsigned i = pool->busy; i-- > 0;) {
		Worker *w = &pool->workers[i];
		const bool news = ready > 0 && pool->polled[i].revents != 0;
		const bool ended = news && receive_bytes(pool, w), late = !ended && clock_now() > w->deadline;
		const CalStatus status = ended || late ? finish_case(pool, i, late, error) : CAL_OK;
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

static void kill_workers(ProcessPool *pool) {
	for (unsigned i = 0; i < pool->busy; i++) {
		kill(pool->workers[i].pid, SIGKILL);
		while (waitpid(pool->workers[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
		close(pool->workers[i].from);
	}
	pool->busy = 0;
}

static int run_pending(ProcessPool *pool) {
	const PoolOptions *options = pool->options;
	CalError error = {0};
	while (!caught && (pool->busy > 0 || pool->next < options->count)) {
		while (pool->busy < (unsigned)options->jobs && pool->next < options->count &&
		       start_case(pool, options->cases[pool->next]))
			pool->next++;
		if (pool->busy == 0) {
			snprintf(error.text, sizeof error.text, "no process can be started: %s", strerror(errno));
			say_error(pool->info.name, error.text);
			return EXIT_INPUT;
		}
		const CalStatus status = serve_workers(pool, &error);
		if (status != CAL_OK)
			return say_status(pool->info.name, status, &error);
		show_progress(pool, false);
	}
	return EXIT_OK;
}

static bool process_pool_create(ProcessPool *pool) {
	const size_t jobs = (size_t)pool->options->jobs;
	pool->workers = calloc(jobs, sizeof *pool->workers);
	pool->polled = calloc(jobs, sizeof *pool->polled);
	bool room = pool->workers && pool->polled;
	for (size_t i = 0; room && i < jobs; i++)
		room = (pool->workers[i].got = malloc(pool->size)) != NULL;
	return room;
}

static void process_pool_destroy(ProcessPool *pool) {
	for (int i = 0; pool->workers && i < pool->options->jobs; i++)
		free(pool->workers[i].got);
	free(pool->workers);
	free(pool->polled);
}

int process_pool_run(CalCampaign *campaign, const PoolOptions *options, int *ended_by) {
	ProcessPool pool = {.campaign = campaign, .plan = cal_campaign_plan(campaign), .options = options};
	struct sigaction old[2];
	pool.info = cal_plan_info(pool.plan);
	pool.size = outcome_size(&pool.info);
	if (!process_pool_create(&pool)) {
		process_pool_destroy(&pool);
		say_status(pool.info.name, CAL_ERR_MEMORY, NULL);
		return EXIT_INPUT;
	}
	fflush(NULL); // children have nothing to print again
	catch_signals(old);
	const int code = run_pending(&pool);
	kill_workers(&pool);
	sigaction(SIGINT, &old[0], NULL);
	sigaction(SIGTERM, &old[1], NULL);
	show_progress(&pool, true);
	*ended_by = caught;
	process_pool_destroy(&pool);
	return code;
}
