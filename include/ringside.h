/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libringside: keep every step of a solver, and read what is kept (docs/publish/library.md).
 *
 * A solver attaches to an analyzer, claims a buffer in shared memory, writes its variables into it and publishes it.
 * The analyzer copies each published step into a persistent ring, beside the solver. A reader opens that ring, also
 * while it is written, and holds a step to look at it in place.
 *
 *     ringside_writer* run = NULL;
 *     ringside_variable x = {.size = sizeof x, .dtype = RINGSIDE_F64, .name = "x", .dims = 1, .shape = {n}};
 *     ringside_error error = {.size = sizeof error};
 *     if (ringside_writer_attach(NULL, &x, 1, NULL, 0, &run, &error) != RINGSIDE_OK) die(error.line);
 *     for (uint64_t k = 1; k <= iterations; ++k) {
 *       if (ringside_writer_claim(run) != RINGSIDE_OK) die(ringside_writer_error(run)->line);
 *       iterate(ringside_writer_buffer(run, 0));
 *       ringside_writer_publish(run, k, NULL, 0);
 *     }
 *     if (ringside_writer_detach(run, RINGSIDE_OUTCOME_FINISHED) != RINGSIDE_OK) die(ringside_writer_error(run)->line);
 *     ringside_writer_free(run);
 *
 * Status. A function that can fail returns one. It is 0, a failure (greater than 0; the exit codes of the programs) or
 * another outcome (less than 0). A failure, and RINGSIDE_OVERWRITTEN, leave one line of text in the handle's error, or
 * in the ringside_error of the functions that have no handle yet. Other outcomes leave it as it was.
 *
 * Threads. [handle]: one thread at a time calls such a function with the same handle; a reader and its steps count as
 * one handle. [any]: every thread may call it at any time. Different handles are independent. Any thread may write to
 * claimed buffers and read through views.
 *
 * The library is not safe against pthread_cancel. `stop` is an int that may be a volatile sig_atomic_t.
 *
 * Fork. A handle belongs to the process that made it. In a child, calls return RINGSIDE_USAGE; freeing the handle there
 * leaves the parent's alone.
 *
 * Structs begin with their size, which the caller sets to sizeof. Fields are added at the end only. A zeroed field
 * means its default. All elements of an array have the same size, which is its stride. A function that lists fills up
 * to `room` elements of the caller's array, whose first element has its size, and sets *count to how many there are;
 * `out` may be NULL if room is 0. Outputs are written only where the status says that there is something.
 *
 * Later versions add functions, fields and constants. A program must be prepared for a status (greater than 0: a
 * failure; less than 0: another outcome), a reason, a kind of record and a type of result that it does not know, and
 * skip what it does not need. A number keeps its meaning in all versions.
 *
 * Memory. The library reads pointers that the caller passes during the call only, except for `stop` of the options.
 * Memory that a function returns belongs to the library, and is valid as long as the function says.
 */
#ifndef RINGSIDE_H
#define RINGSIDE_H

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX < 0xffffffffffffffffu
#error "libringside is for 64-bit machines"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* RINGSIDE_STATIC: defined by a build that links the library statically. The program or library that it becomes a part
 * of then does not export these functions. */
#ifdef RINGSIDE_STATIC
#define RINGSIDE_API __attribute__((visibility("hidden")))
#else
#define RINGSIDE_API __attribute__((visibility("default")))
#endif

/* The version of this interface within libringside.so.0: it grows with each function, constant or field that is added.
 * ringside_interface() returns that of the library, which is the same or greater. */
#define RINGSIDE_INTERFACE 1

typedef int32_t ringside_status;
enum {
  RINGSIDE_OK = 0,
  RINGSIDE_USAGE = 2,     /* an argument, a refusal by the analyzer, a file that is no pool: see the reasons below */
  RINGSIDE_SYSTEM = 3,    /* the system lacks something: space, permission, memory */
  RINGSIDE_PEER_LOST = 4, /* the analyzer went away */
  RINGSIDE_DAMAGED = 5,   /* data failed verification */
  RINGSIDE_INTERRUPTED = 130, /* `stop` is set */
  RINGSIDE_TIMEOUT = -1,      /* nothing came within the time given */
  RINGSIDE_END = -2,          /* the run has ended, or there is no further record */
  RINGSIDE_OVERWRITTEN = -3,  /* the step is gone; if it was held, bytes read since the last check may be another's */
  RINGSIDE_FULL = -4,         /* no buffer is free now */
  RINGSIDE_ABSENT = -5,       /* it is not there */
  RINGSIDE_PENDING = -6       /* the analyzer has not recorded it yet: ask again */
};

/* What RINGSIDE_USAGE is about. */
enum {
  RINGSIDE_REASON_ARGUMENT = 1, /* an argument of the call, or the order of calls */
  RINGSIDE_REASON_PROCESS = 2,  /* the handle belongs to another process */
  RINGSIDE_REASON_REFUSED = 3,  /* the analyzer refused: another run, another schema, a second publishing process */
  RINGSIDE_REASON_NO_FILE = 4,  /* there is no file of that name */
  RINGSIDE_REASON_NO_POOL = 5   /* the file is no pool, or one of a later format */
};

/* dtypes; little-endian; a complex number has its real part first. */
enum {
  RINGSIDE_F32 = 1,
  RINGSIDE_F64 = 2,
  RINGSIDE_C64 = 3,
  RINGSIDE_C128 = 4,
  RINGSIDE_I8 = 5,
  RINGSIDE_I16 = 6,
  RINGSIDE_I32 = 7,
  RINGSIDE_I64 = 8,
  RINGSIDE_U8 = 9,
  RINGSIDE_U16 = 10,
  RINGSIDE_U32 = 11,
  RINGSIDE_U64 = 12
};

/* Roles of a variable; 0 means RINGSIDE_ROLE_FIELD. */
enum {
  RINGSIDE_ROLE_FIELD = 1, /* kept and reduced */
  RINGSIDE_ROLE_STATE = 2  /* kept only: what the solver needs to continue */
};

/* Types of a value. */
enum {
  RINGSIDE_VALUE_F64 = 1,
  RINGSIDE_VALUE_I64 = 2,
  RINGSIDE_VALUE_I128 = 3 /* two ringside_value, the low 64 bits first */
};

/* How a run ended. */
enum {
  RINGSIDE_OUTCOME_FINISHED = 1, /* it converged, or did what was asked for */
  RINGSIDE_OUTCOME_STOPPED = 2,  /* before its end; it may be resumed */
  RINGSIDE_OUTCOME_DIVERGED = 3,
  RINGSIDE_OUTCOME_FAILED = 4
};

#define RINGSIDE_ALL_VARIABLES UINT32_MAX
#define RINGSIDE_NEWEST UINT64_MAX /* as a commit_seq: the newest step */
#define RINGSIDE_MOST_DIMS 8

typedef struct ringside_error {
  uint32_t size;
  ringside_status status;
  uint32_t reason; /* RINGSIDE_REASON_..., if status is RINGSIDE_USAGE */
  uint32_t reserved;
  char line[1008]; /* ends with a zero byte */
} ringside_error;

typedef union ringside_value {
  double f64;
  int64_t i64;
} ringside_value;

/* A variable of a run: a named array, row-major and contiguous. */
typedef struct ringside_variable {
  uint32_t size;
  uint16_t dtype;
  uint16_t role;
  uint32_t dims; /* 0 (one entry) to 8 */
  uint32_t reserved;
  const char* name; /* 1 to 63 bytes of A-Z a-z 0-9 _ . -, beginning with a letter or _ */
  const char* unit; /* printable ASCII, at most 31 bytes; NULL: none */
  uint64_t shape[RINGSIDE_MOST_DIMS];
} ringside_variable;

/* A number that the solver publishes with each step. */
typedef struct ringside_scalar {
  uint32_t size;
  uint32_t type;    /* RINGSIDE_VALUE_F64 (0 means it, too) or RINGSIDE_VALUE_I64 */
  const char* name; /* as a variable's; recorded as solver.NAME */
  const char* unit;
} ringside_scalar;

/* "0.2.0" [any] */
RINGSIDE_API const char* ringside_version(void);
/* [any] */
RINGSIDE_API uint32_t ringside_interface(void);

/* The bytes of one entry of that dtype; 0 if there is no such dtype. [any] */
RINGSIDE_API size_t ringside_dtype_bytes(uint32_t dtype);
/* The bytes of a variable; 0 if its size, dtype or shape are wrong. [any] */
RINGSIDE_API size_t ringside_variable_bytes(const ringside_variable* variable);

/* ---- Writing ------------------------------------------------------------------------------------------------- */

typedef struct ringside_writer ringside_writer;

/* pool_use: what may happen to steps of other runs in the pool. */
enum {
  RINGSIDE_POOL_FRESH = 1,     /* there must be none */
  RINGSIDE_POOL_OVERWRITE = 2, /* they are discarded */
  RINGSIDE_POOL_RESUME = 3 /* the run continues from the newest one, if it is of this problem (ringside_writer_kept) */
};

/* on_analyzer_loss: what a claim does when the analyzer is gone. */
enum {
  RINGSIDE_LOSS_WAIT = 1,     /* waits for another one, up to peer_timeout_s */
  RINGSIDE_LOSS_CONTINUE = 2, /* continues: until another one is there, steps are dropped and counted as skipped */
  RINGSIDE_LOSS_STOP = 3,     /* returns RINGSIDE_PEER_LOST */
  RINGSIDE_LOSS_SKIP = 4      /* returns RINGSIDE_FULL until another one is there: for a solver that has memory of
                                 its own for such a step, and calls ringside_writer_skip */
};

/* coordination: how the two processes notify each other. */
enum {
  RINGSIDE_COORDINATION_LOCKS = 1,
  RINGSIDE_COORDINATION_MESSAGES = 2 /* ZeroMQ; needs the library libringside-messages beside this one */
};

/* A field that is 0 or NULL takes its value from the environment that `ringside run -- PROGRAM` sets, or is a default.
 */
typedef struct ringside_writer_options {
  uint32_t size;
  uint32_t buffers;      /* RINGSIDE_BUFFERS, or 2; 2 to 64 */
  const char* socket;    /* RINGSIDE_SOCKET, or the service's; a path */
  double peer_timeout_s; /* RINGSIDE_PEER_TIMEOUT, or 30; seconds, 0.001 to 1e6: how long the analyzer may be away */
  uint32_t pool_use;     /* RINGSIDE_POOL_USE, or RINGSIDE_POOL_FRESH */
  uint32_t on_analyzer_loss; /* RINGSIDE_ON_ANALYZER_LOSS, or RINGSIDE_LOSS_WAIT */
  const char* solver;        /* its name, at most 23 bytes; NULL: the program's file name */
  const char* problem;       /* what is solved, at most 399 bytes */
  const char* parameters;    /* what the iterates depend on, at most 511 bytes */
  const void* problem_bytes; /* what else the iterates depend on, for instance the matrix: only its hash is kept */
  size_t problem_bytes_count;
  uint64_t work;             /* nonzeros, cells or whatever an iteration's work is proportional to; 0: unknown */
  const volatile int* stop;  /* not 0: a wait ends. May be set by a signal handler. Read until the handle is freed */
  uint32_t coordination;     /* RINGSIDE_COORDINATION, or RINGSIDE_COORDINATION_LOCKS */
  uint32_t shares_core;      /* not 0: the analyzer runs on the solver's core, so no wait spins */
  /* These cores are lent to the analyzer while a claim waits. NULL: with RINGSIDE_ELASTIC=on, those of RINGSIDE_CORES,
   * otherwise none. Not NULL and no core: none. */
  const int32_t* lent_cores;
  size_t lent_core_count;
  const unsigned char* problem_id; /* 16 bytes in place of the hash of solver, problem, parameters, problem_bytes */
  /* A path. Without a socket: the pool for which the library starts an analyzer, as `ringside run` does, for this run
   * (see ringside_writer_attach). With one: the analyzer's pool must be this one. NULL: RINGSIDE_POOL. */
  const char* pool;
  /* Options of `ringside run` for an analyzer that the library starts, as words of a shell: "--slots 16 --quiet".
   * NULL: RINGSIDE_RUN_OPTIONS. */
  const char* run_options;
} ringside_writer_options;

/*
 * Attaches to an analyzer and waits until it accepts. A step of the run has these variables and scalars.
 * Which analyzer: that at `socket`, or RINGSIDE_SOCKET; else, with `pool` or RINGSIDE_POOL, one that the library starts
 * for this run on cores of its own, to which it leaves them: the run continues if the pool holds steps of the same
 * problem (pool_use 0 means RINGSIDE_POOL_RESUME), the analyzer ends when the run does or this process, and prints the
 * account to standard error; else the service's.
 * options: NULL for all defaults. error: NULL if the line is not wanted. *out is NULL unless RINGSIDE_OK is returned.
 * RINGSIDE_USAGE: an argument, or the analyzer refuses (its own line); RINGSIDE_PEER_LOST: there is no analyzer;
 * RINGSIDE_INTERRUPTED. Two runs are of one problem if solver, problem, parameters, problem_bytes and variables are
 * equal: only such a run is resumed. Waits up to peer_timeout_s for an analyzer, and up to 20 times that for its
 * answer, which comes when its disk is ready. [any]
 */
RINGSIDE_API ringside_status ringside_writer_attach(const ringside_writer_options* options,
                                                    const ringside_variable* variables, size_t variable_count,
                                                    const ringside_scalar* scalars, size_t scalar_count,
                                                    ringside_writer** out, ringside_error* error);

/* The iteration of the step that the run continues from. RINGSIDE_ABSENT: the run began anew, or has published a step.
 * [handle] */
RINGSIDE_API ringside_status ringside_writer_kept(ringside_writer* writer, uint64_t* iteration);

/* That step's variable: its bytes, in the order and shape declared. Valid until the first publish. data and bytes may
 * be NULL. RINGSIDE_ABSENT: none. [handle] */
RINGSIDE_API ringside_status ringside_writer_kept_variable(ringside_writer* writer, uint32_t variable,
                                                           const void** data, size_t* bytes);

/* That step's scalar. RINGSIDE_ABSENT: no step, or the run that kept it did not declare it. [handle] */
RINGSIDE_API ringside_status ringside_writer_kept_scalar(ringside_writer* writer, uint32_t scalar,
                                                         ringside_value* value);

/*
 * Claims the buffer of the next step, waiting while the analyzer copies from it. A second claim without a publish
 * claims the same step. RINGSIDE_PEER_LOST: the analyzer is gone or stands still, and no other came within
 * peer_timeout_s; RINGSIDE_INTERRUPTED: `stop` is set, also without a wait; another failure is the analyzer's own. With
 * RINGSIDE_LOSS_CONTINUE, while no analyzer is there, the step goes to memory of the library's own (allocated once, as
 * much as the buffers have) and is dropped, which counts as skipped; with RINGSIDE_LOSS_SKIP the status is
 * RINGSIDE_FULL. Between the return of a claim and the return of its publish, the library allocates nothing and logs
 * nothing, and with RINGSIDE_COORDINATION_LOCKS it takes no lock. [handle]
 */
RINGSIDE_API ringside_status ringside_writer_claim(ringside_writer* writer);

/* The same without waiting for a buffer: RINGSIDE_FULL if none is free, or with RINGSIDE_LOSS_CONTINUE if no analyzer
 * is there. It waits only for another analyzer, with RINGSIDE_LOSS_WAIT. A solver that continues without the step calls
 * ringside_writer_skip. [handle] */
RINGSIDE_API ringside_status ringside_writer_try_claim(ringside_writer* writer);

/* The same without any wait: RINGSIDE_FULL if no buffer is free, for whatever reason, or if the analyzer is lost or
 * ends the run; RINGSIDE_INTERRUPTED if `stop` is set. With RINGSIDE_COORDINATION_LOCKS it makes no system call. For a
 * program that prepares for a wait, for instance gives up a lock: it does so only after RINGSIDE_FULL, and then calls
 * one of the claims above, which waits or has the reason. [handle] */
RINGSIDE_API ringside_status ringside_writer_claim_at_once(ringside_writer* writer);

/* The same as ringside_writer_claim for the last step of a run that was stopped: does not look at `stop`. [handle] */
RINGSIDE_API ringside_status ringside_writer_claim_last(ringside_writer* writer);

/* Counts a step as skipped: one that the solver made and does not publish. [handle] */
RINGSIDE_API ringside_status ringside_writer_skip(ringside_writer* writer);

/* A variable of the claimed step, to be written. NULL if no step is claimed or there is no such variable. At least
 * 64-byte aligned. What it holds before it is written is not defined. [any, between a claim and its publish] */
RINGSIDE_API void* ringside_writer_buffer(ringside_writer* writer, uint32_t variable);

/* The same variable of the step before, to be read: of the one that was published last, or of the kept one before the
 * first publish. NULL if there is none. Valid until the next publish. [any, between a claim and its publish] */
RINGSIDE_API const void* ringside_writer_previous(ringside_writer* writer, uint32_t variable);

/*
 * Publishes the claimed step. scalars: in the order declared; those after the first scalar_count are 0. iteration: at
 * least 1, and greater than the one before. The time that the step took to make is the time since the publish before
 * it, without the waits in claims; the time of skipped steps counts. RINGSIDE_USAGE: no step is claimed, the iteration
 * is not greater, or there are too many scalars; a claimed step stays claimed. [handle]
 */
RINGSIDE_API ringside_status ringside_writer_publish(ringside_writer* writer, uint64_t iteration,
                                                     const ringside_value* scalars, size_t scalar_count);

/* The same, with the time that the solver measured for making the step: generate_ns, at least 0. [handle] */
RINGSIDE_API ringside_status ringside_writer_publish_timed(ringside_writer* writer, uint64_t iteration,
                                                           int64_t generate_ns, const ringside_value* scalars,
                                                           size_t scalar_count);

/* Claims, copies and publishes in one call. arrays: the address of each variable's bytes. Statuses as
 * ringside_writer_claim and ringside_writer_publish. [handle] */
RINGSIDE_API ringside_status ringside_writer_put(ringside_writer* writer, uint64_t iteration, const void* const* arrays,
                                                 const ringside_value* scalars, size_t scalar_count);

/* Ends the run; outcome: RINGSIDE_OUTCOME_FINISHED ... After a claim that was interrupted or failed, FINISHED is recorded
 * as STOPPED: the program has not reached its end. A step that is claimed and not published is dropped. Nothing can be
 * claimed afterwards. A detach that failed may be tried again. Returns when every published step is committed (and
 * on the medium, if the analyzer was asked for that); `stop` does not end this wait, which may last 20 times
 * peer_timeout_s where a disk stands still. A failure says what was not committed. [handle] */
RINGSIDE_API ringside_status ringside_writer_detach(ringside_writer* writer, uint32_t outcome);

/* Of a run whose analyzer the library started, after its detach: the account as `ringside run --summary` writes it, a JSON
 * object. "" before, for a run without steps, and where the account was not told. Valid until the writer is freed. [handle] */
RINGSIDE_API const char* ringside_writer_account(const ringside_writer* writer);

typedef struct ringside_counts {
  uint32_t size;
  uint32_t buffers;   /* of this attachment */
  uint64_t published; /* steps of this attachment */
  uint64_t skipped;   /* steps for which there was no buffer or no analyzer */
  int64_t idle_ns;    /* the time that claims waited */
} ringside_counts;

/* [handle] */
RINGSIDE_API ringside_status ringside_writer_counts(ringside_writer* writer, ringside_counts* out);

/* The number that a trigger of the run has answered with `reply:VALUE` (docs/use/questions.md), as the last claim found
 * it; RINGSIDE_ABSENT if there was none. number: how many replies there were, so that a new one can be told from the
 * last; may be NULL. [handle] */
RINGSIDE_API ringside_status ringside_writer_reply(ringside_writer* writer, double* value, uint64_t* number);

/* A run as the pool keeps it. */
typedef struct ringside_run {
  uint32_t size;
  uint32_t reserved;
  unsigned char run_id[16]; /* the 32 digits that `ringside info` prints */
  unsigned char problem_id[16];
  int64_t started_unix_ns; /* since 1970-01-01 UTC */
  uint64_t work;
  const char* solver;
  const char* problem;
  const char* parameters;
} ringside_run;

/* This run: a resumed one has the run_id of the run that it continues. Its texts are valid until the writer is freed.
 * [handle] */
RINGSIDE_API ringside_status ringside_writer_run(ringside_writer* writer, ringside_run* out);

/* A message of the analyzer to the user about the attachment; "" in most cases. Valid until the writer is freed.
 * [any] */
RINGSIDE_API const char* ringside_writer_note(const ringside_writer* writer);

/* The last failure of this handle; its status is RINGSIDE_OK and its line "" if there was none. Valid until the next
 * failure. [handle] */
RINGSIDE_API const ringside_error* ringside_writer_error(const ringside_writer* writer);

/* Without a detach before it, the run counts as lost, and may be resumed. NULL is allowed. [handle] */
RINGSIDE_API void ringside_writer_free(ringside_writer* writer);

/* ---- Reading ------------------------------------------------------------------------------------------------- */

typedef struct ringside_reader ringside_reader;
typedef struct ringside_step ringside_step;

/* follow: what ringside_reader_next waits for. */
enum {
  RINGSIDE_FOLLOW_RUN = 1, /* steps until the run that is in progress, or was the last one, has ended: RINGSIDE_END */
  RINGSIDE_FOLLOW_POOL = 2 /* steps of this and of every later run: never RINGSIDE_END */
};

/* A field that is 0 or NULL is a default. */
typedef struct ringside_reader_options {
  uint32_t size;
  uint32_t follow;          /* RINGSIDE_FOLLOW_RUN */
  double wait_s;            /* how long to wait for a pool that does not exist; 0: not at all */
  const volatile int* stop; /* not 0: a wait ends. May be set by a signal handler. Read until the handle is freed */
} ringside_reader_options;

/* A step is named by its commit_seq. (A pool may keep one iteration of two runs.) */
typedef struct ringside_step_info {
  uint32_t size;
  uint32_t slot;
  uint64_t commit_seq;
  uint64_t step; /* of its attachment, from 0 */
  uint64_t iteration;
  unsigned char run_id[16];
} ringside_step_info;

typedef struct ringside_result {
  uint32_t size;
  uint32_t type;    /* RINGSIDE_VALUE_... */
  const char* name; /* "x.l2", "solver.rho" */
  const char* unit;
  uint64_t count;               /* of values; of an i128, each has two ringside_value */
  const ringside_value* values; /* NULL: absent, for instance the change of a run's first step */
} ringside_result;

/* Opens the pool at `pool`, without owning it. options: NULL for all defaults. error: NULL if the line is not wanted.
 * RINGSIDE_USAGE: there is none, or it is no pool; RINGSIDE_SYSTEM: it may not be read, or is still being made after 2
 * s (or wait_s); RINGSIDE_DAMAGED; RINGSIDE_INTERRUPTED: `stop` is set. [any] */
RINGSIDE_API ringside_status ringside_reader_open(const char* pool, const ringside_reader_options* options,
                                                  ringside_reader** out, ringside_error* error);

/* Lists the variables of every step in the pool. Their texts are valid until the reader is freed. [handle] */
RINGSIDE_API ringside_status ringside_reader_variables(ringside_reader* reader, ringside_variable* out, size_t room,
                                                       size_t* count);

/* The number of the variable with that name. RINGSIDE_ABSENT: there is none. [handle] */
RINGSIDE_API ringside_status ringside_reader_find_variable(ringside_reader* reader, const char* name,
                                                           uint32_t* variable);

/* Lists the runs that the pool knows, the newest last. If there are more than `room`, the newest ones are given. Their
 * texts are valid until the next call of this function. [handle] */
RINGSIDE_API ringside_status ringside_reader_runs(ringside_reader* reader, ringside_run* out, size_t room,
                                                  size_t* count);

/* Lists the committed steps, by ascending commit_seq. If there are more than `room`, the newest ones are given.
 * [handle] */
RINGSIDE_API ringside_status ringside_reader_steps(ringside_reader* reader, ringside_step_info* out, size_t room,
                                                   size_t* count);

/*
 * The oldest kept step whose commit_seq is greater than `after`, waiting for one. timeout_s: 0 does not wait; less than
 * 0 waits without a limit. Steps between `after` and the returned one were overwritten; they may be of several runs
 * (run_id). RINGSIDE_TIMEOUT; RINGSIDE_INTERRUPTED: `stop` is set. With RINGSIDE_FOLLOW_RUN, once there is no further
 * step: RINGSIDE_END if the journal beside the pool says that the last run has ended; RINGSIDE_PEER_LOST if it does
 * not, and for 5 s no process of this machine has owned the pool. A reader that looks between two runs finds the end of
 * the first. [handle]
 */
RINGSIDE_API ringside_status ringside_reader_next(ringside_reader* reader, uint64_t after, double timeout_s,
                                                  ringside_step_info* out);

/*
 * Holds a step: while it is held, the analyzer takes another slot, as long as there is one. The analyzer does not wait
 * for a reader. A reader waits for the analyzer with the newest step only, at most 0.1 s: its slot is the analyzer's until
 * the buffer is released, for microseconds after the commit.
 * commit_seq: of the step, or RINGSIDE_NEWEST. RINGSIDE_ABSENT: there is no such step yet; RINGSIDE_OVERWRITTEN: it is
 * gone, or the analyzer is about to overwrite it (ringside_reader_copy may still succeed); RINGSIDE_SYSTEM: this file
 * system has no locks for it (ringside_reader_copy needs none). [handle]
 */
RINGSIDE_API ringside_status ringside_reader_hold(ringside_reader* reader, uint64_t commit_seq, ringside_step** out);

/* Describes the step as ringside_reader_steps does. RINGSIDE_OVERWRITTEN: the analyzer needed the slot. [handle] */
RINGSIDE_API ringside_status ringside_step_describe(ringside_step* step, ringside_step_info* out);

/* A variable in place, read-only: no byte is copied, and none is verified. The memory stays mapped until the reader is
 * freed. [handle] */
RINGSIDE_API ringside_status ringside_step_view(ringside_step* step, uint32_t variable, const void** data,
                                                size_t* bytes);

/* Compares the hash of a variable in place, or of RINGSIDE_ALL_VARIABLES, with the recorded one, then makes a check.
 * Reads the memory once: a variable that was verified is not read again. RINGSIDE_DAMAGED; RINGSIDE_OVERWRITTEN.
 * [handle] */
RINGSIDE_API ringside_status ringside_step_verify(ringside_step* step, uint32_t variable);

/* RINGSIDE_OK: everything that was read through views of this step until now was of this step. RINGSIDE_OVERWRITTEN:
 * the analyzer needed the slot. [handle] */
RINGSIDE_API ringside_status ringside_step_check(ringside_step* step);

/* The last check, and the end of the hold; the step is freed whatever is returned. NULL is allowed. [handle] */
RINGSIDE_API ringside_status ringside_step_release(ringside_step* step);

/* Copies a variable, verified, without a hold. commit_seq: of the step. bytes: the room at `to`, at least the
 * variable's bytes. What is there may be used only if RINGSIDE_OK is returned. RINGSIDE_ABSENT; RINGSIDE_OVERWRITTEN;
 * RINGSIDE_DAMAGED. [handle] */
RINGSIDE_API ringside_status ringside_reader_copy(ringside_reader* reader, uint64_t commit_seq, uint32_t variable,
                                                  void* to, size_t bytes);

/* Lists what was recorded of a step, by name: reductions of fields, scalars of the solver. commit_seq: of the step.
 * RINGSIDE_PENDING: the scalars are there, and the reductions are not recorded yet (their values are NULL).
 * RINGSIDE_ABSENT: there is no such step yet, or the pool no longer describes its run; RINGSIDE_OVERWRITTEN. Texts and
 * values are valid until the next call of this function or of ringside_reader_find_result. [handle] */
RINGSIDE_API ringside_status ringside_reader_results(ringside_reader* reader, uint64_t commit_seq, ringside_result* out,
                                                     size_t room, size_t* count);

/* One of them. RINGSIDE_PENDING: it is not recorded yet; RINGSIDE_ABSENT: there is none of that name, or it has no
 * value. Valid as long as those of ringside_reader_results. [handle] */
RINGSIDE_API ringside_status ringside_reader_find_result(ringside_reader* reader, uint64_t commit_seq, const char* name,
                                                         ringside_result* out);

/* Kinds of records (docs/formats/files.md). */
enum {
  RINGSIDE_RECORD_STEP = 3,
  RINGSIDE_RECORD_RUN_STARTED = 4,
  RINGSIDE_RECORD_RUN_ENDED = 5,
  RINGSIDE_RECORD_ANALYZER_STARTED = 6,
  RINGSIDE_RECORD_STEPS_MISSING = 7,
  RINGSIDE_RECORD_RUN_DESCRIBED = 8,
  RINGSIDE_RECORD_MARK = 9, /* a condition of a trigger became true, for instance: step, iteration, commit_seq, and texts */
  RINGSIDE_RECORD_ANALYSIS_RESULTS = 10 /* of a user's analysis: step, iteration, commit_seq, and results by name */
};

/* A record of the journal. Fields that its kind does not have are 0 or "". Its texts are valid until the next call of
 * ringside_reader_next_record. Times are in nanoseconds. */
typedef struct ringside_record {
  uint32_t size;
  uint32_t kind;
  uint64_t seq;    /* 1, 2, 3 ... */
  int64_t unix_ns; /* when it was written, since 1970-01-01 UTC */
  unsigned char run_id[16];
  /* of a step */
  uint64_t step;
  uint64_t iteration;
  uint64_t commit_seq;
  int64_t published_at_ns;  /* CLOCK_MONOTONIC */
  int64_t generate_ns;      /* the solver's work on it */
  int64_t producer_idle_ns; /* the solver's wait for a buffer */
  int64_t analyzer_idle_ns; /* the analyzer's wait for the step */
  int64_t hand_off_ns;      /* from publishing to the first copied byte */
  int64_t transfer_ns;      /* copying and hashing */
  int64_t commit_ns;
  int64_t analyze_ns; /* reductions */
  uint64_t bytes_transferred;
  uint64_t skipped_before; /* steps dropped since the step before */
  uint32_t rebuilt;        /* 1: made from the ring; most times are 0 */
  uint32_t broke_lease;    /* 1: it overwrote a step that a reader held */
  /* of the beginning of a run */
  const char* solver;
  const char* problem;
  const char* parameters;
  /* of the end of a run */
  const char* how;  /* "detached", "producer_lost" ... */
  const char* text; /* the reason, if exit_code is not 0; of a mark, what happened */
  uint32_t exit_code;
  uint32_t outcome; /* RINGSIDE_OUTCOME_..., or 0 if the solver did not end the run itself */
  /* of a mark */
  const char* cause;   /* "trigger", "non_finite" ... */
  const char* name;    /* of the trigger or the plug-in */
  const char* actions; /* what followed: "freeze, stop" */
  /* of a step, again */
  int64_t record_ns; /* counting and recording the step before, and choosing the slot of this one */
} ringside_record;

/* The first record of the journal beside the pool whose seq is at least `from`: all steps, also those that the ring has
 * overwritten. RINGSIDE_END: there is none yet; RINGSIDE_ABSENT: the pool has no journal. To follow, ask again for the
 * last seq + 1. [handle] */
RINGSIDE_API ringside_status ringside_reader_next_record(ringside_reader* reader, uint64_t from, ringside_record* out);

/* Lists the results of that record, by name; none if it is no step and no analysis. Results that are arrays are in the
 * ring only. "#0", "#1" ... are the names where no description of the run is left. Texts and values are valid until the
 * next call of this function. [handle] */
RINGSIDE_API ringside_status ringside_reader_record_results(ringside_reader* reader, ringside_result* out, size_t room,
                                                            size_t* count);

/* The last failure of the reader or of one of its steps; its status is RINGSIDE_OK and its line "" if there was none.
 * Valid until the next failure. [handle] */
RINGSIDE_API const ringside_error* ringside_reader_error(const ringside_reader* reader);

/* Steps that are held stay held, and only they may still be used: the release of the last one frees the reader. NULL is
 * allowed. [handle] */
RINGSIDE_API void ringside_reader_free(ringside_reader* reader);

/* A load through a view of a file that was truncated raises SIGBUS. This installs a handler that ends the process with
 * one line, as Ringside's programs do. The library installs none by itself. [any] */
RINGSIDE_API void ringside_catch_bus_errors(void);

#ifdef __cplusplus
}
#endif

#endif /* RINGSIDE_H */
