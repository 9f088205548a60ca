! SPDX-License-Identifier: BSD-3-Clause
! The Fortran face of ringside.h: handles as derived types, Fortran strings, and Fortran arrays of claimed buffers and of
! held steps, without a copy. Compile this file with the program that uses it, and link libringside.
!
!     type(ringside_writer) :: run
!     call run%attach([ringside_field('temperature', [nx, ny], unit='K')], solver='heat')
!     do k = run%next_iteration(), 100
!       if (.not. run%claim()) exit
!       call ringside_f_pointer(run%buffer(1), x)   ! real(c_double), pointer :: x(:, :); run%doubles(1) is x(:), flat
!       call iterate(x)
!       call run%publish(k)
!     end do
!     call run%detach()
!
! Variables and scalars are numbered from 1. A shape is in Fortran's order: the pool keeps its reverse, with the last
! dimension contiguous. A function that returns a logical is false if there is nothing, or nothing more. A failure sets
! `stat` (RINGSIDE_USAGE ... RINGSIDE_PENDING); line() has its line, and reason() says what RINGSIDE_USAGE is about. Without
! `stat` it ends the program with this line and the status as exit code. A handle is not copied. Everything else (threads,
! fork, lifetimes, units) is as ringside.h says.
module ringside
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  integer, parameter, public :: RINGSIDE_OK = 0, RINGSIDE_USAGE = 2, RINGSIDE_SYSTEM = 3, RINGSIDE_PEER_LOST = 4, &
    RINGSIDE_DAMAGED = 5, RINGSIDE_INTERRUPTED = 130, RINGSIDE_TIMEOUT = -1, RINGSIDE_END = -2, RINGSIDE_OVERWRITTEN = -3, &
    RINGSIDE_FULL = -4, RINGSIDE_ABSENT = -5, RINGSIDE_PENDING = -6
  integer, parameter, public :: RINGSIDE_F32 = 1, RINGSIDE_F64 = 2, RINGSIDE_C64 = 3, RINGSIDE_C128 = 4, RINGSIDE_I8 = 5, &
    RINGSIDE_I16 = 6, RINGSIDE_I32 = 7, RINGSIDE_I64 = 8, RINGSIDE_U8 = 9, RINGSIDE_U16 = 10, RINGSIDE_U32 = 11, RINGSIDE_U64 = 12
  integer, parameter, public :: RINGSIDE_REASON_ARGUMENT = 1, RINGSIDE_REASON_PROCESS = 2, RINGSIDE_REASON_REFUSED = 3, &
    RINGSIDE_REASON_NO_FILE = 4, RINGSIDE_REASON_NO_POOL = 5
  integer, parameter, public :: RINGSIDE_ROLE_FIELD = 1, RINGSIDE_ROLE_STATE = 2
  integer, parameter, public :: RINGSIDE_VALUE_F64 = 1, RINGSIDE_VALUE_I64 = 2, RINGSIDE_VALUE_I128 = 3
  integer, parameter, public :: RINGSIDE_OUTCOME_FINISHED = 1, RINGSIDE_OUTCOME_STOPPED = 2, RINGSIDE_OUTCOME_DIVERGED = 3, &
    RINGSIDE_OUTCOME_FAILED = 4
  integer, parameter, public :: RINGSIDE_POOL_FRESH = 1, RINGSIDE_POOL_OVERWRITE = 2, RINGSIDE_POOL_RESUME = 3
  integer, parameter, public :: RINGSIDE_LOSS_WAIT = 1, RINGSIDE_LOSS_CONTINUE = 2, RINGSIDE_LOSS_STOP = 3, &
    RINGSIDE_LOSS_SKIP = 4
  integer, parameter, public :: RINGSIDE_COORDINATION_LOCKS = 1, RINGSIDE_COORDINATION_MESSAGES = 2
  integer, parameter, public :: RINGSIDE_FOLLOW_RUN = 1, RINGSIDE_FOLLOW_POOL = 2
  integer, parameter, public :: RINGSIDE_RECORD_STEP = 3, RINGSIDE_RECORD_RUN_STARTED = 4, RINGSIDE_RECORD_RUN_ENDED = 5, &
    RINGSIDE_RECORD_ANALYZER_STARTED = 6, RINGSIDE_RECORD_STEPS_MISSING = 7, RINGSIDE_RECORD_RUN_DESCRIBED = 8, &
    RINGSIDE_RECORD_MARK = 9, RINGSIDE_RECORD_ANALYSIS_RESULTS = 10
  integer, parameter, public :: RINGSIDE_MOST_DIMS = 8
  integer(c_int64_t), parameter, public :: RINGSIDE_NEWEST = -1
  integer, parameter :: MOST_VARIABLES = 256  ! of a run

  !> A variable of a run: a named array. rank 0: one entry.
  type, public :: ringside_variable
    character(len=:), allocatable :: name, unit
    integer :: dtype = RINGSIDE_F64, role = RINGSIDE_ROLE_FIELD, rank = 0
    integer(c_int64_t) :: shape(RINGSIDE_MOST_DIMS) = 0
  end type

  !> A number that the solver publishes with each step; recorded as solver.NAME.
  type, public :: ringside_scalar
    character(len=:), allocatable :: name, unit
    integer :: type = RINGSIDE_VALUE_F64
  end type

  !> A variable's memory: of a claimed buffer, of the kept step or of a held one. ringside_f_pointer makes an array of it.
  type, public :: ringside_array
    type(c_ptr) :: data = c_null_ptr
    integer :: dtype = 0, rank = 0
    integer(c_int64_t) :: shape(RINGSIDE_MOST_DIMS) = 0
  end type

  type, public, bind(c) :: ringside_step_info
    integer(c_int32_t) :: size = 0, slot = 0
    integer(c_int64_t) :: commit_seq = 0, step = 0, iteration = 0
    integer(c_int8_t) :: run_id(16) = 0_c_int8_t
  end type

  type, public, bind(c) :: ringside_counts
    integer(c_int32_t) :: size = 0, buffers = 0
    integer(c_int64_t) :: published = 0, skipped = 0, idle_ns = 0
  end type

  !> A run as the pool keeps it.
  type, public :: ringside_run
    integer(c_int8_t) :: run_id(16) = 0_c_int8_t, problem_id(16) = 0_c_int8_t
    integer(c_int64_t) :: started_unix_ns = 0, work = 0
    character(len=:), allocatable :: solver, problem, parameters
  end type

  !> What was recorded of a step under a full name ("x.l2", "solver.rho"). type: as recorded; values: as doubles, none if they are
  !> absent or not recorded yet.
  type, public :: ringside_result
    character(len=:), allocatable :: name, unit
    integer :: type = 0
    real(c_double), allocatable :: values(:)
  end type

  !> A record of the journal: RINGSIDE_RECORD_... What its kind does not have is 0 or ''. Times are in nanoseconds.
  type, public :: ringside_record
    integer :: kind = 0, exit_code = 0, outcome = 0
    integer(c_int64_t) :: seq = 0, unix_ns = 0, step = 0, iteration = 0, commit_seq = 0, published_at_ns = 0, generate_ns = 0, &
      producer_idle_ns = 0, analyzer_idle_ns = 0, hand_off_ns = 0, transfer_ns = 0, commit_ns = 0, analyze_ns = 0, &
      record_ns = 0, bytes_transferred = 0, skipped_before = 0
    integer(c_int8_t) :: run_id(16) = 0_c_int8_t
    logical :: rebuilt = .false., broke_lease = .false.
    character(len=:), allocatable :: solver, problem, parameters, how, text, cause, name, actions
  end type

  !> A variable that is kept and reduced: ringside_field(name, shape [, unit] [, dtype]); shape: [integer ::] for one entry.
  interface ringside_field
    procedure field_32, field_64
  end interface
  !> A variable that is kept only: what the solver needs to continue.
  interface ringside_state
    procedure state_32, state_64
  end interface

  !> call ringside_f_pointer(array, to [, stat]): the pointer has the array's type; its rank is the array's, at
  !> most 4, or 1. It is null() if there is no memory.
  interface ringside_f_pointer
    procedure f32_1, f32_2, f32_3, f32_4, f64_1, f64_2, f64_3, f64_4, &
      c64_1, c64_2, c64_3, c64_4, c128_1, c128_2, c128_3, c128_4, &
      i8_1, i8_2, i8_3, i8_4, i16_1, i16_2, i16_3, i16_4, &
      i32_1, i32_2, i32_3, i32_4, i64_1, i64_2, i64_3, i64_4
  end interface
  public :: ringside_field, ringside_state, ringside_f_pointer
  public :: ringside_version, ringside_interface, ringside_dtype_bytes, ringside_catch_bus_errors

  ! The structs of ringside.h.
  type, bind(c) :: c_variable
    integer(c_int32_t) :: size = 0
    integer(c_int16_t) :: dtype = 0_c_int16_t, role = 0_c_int16_t
    integer(c_int32_t) :: dims = 0, reserved = 0
    type(c_ptr) :: name = c_null_ptr, unit = c_null_ptr
    integer(c_int64_t) :: shape(RINGSIDE_MOST_DIMS) = 0
  end type
  type, bind(c) :: c_scalar
    integer(c_int32_t) :: size = 0, type = 0
    type(c_ptr) :: name = c_null_ptr, unit = c_null_ptr
  end type
  type, bind(c) :: c_error
    integer(c_int32_t) :: size = 0, status = 0, reason = 0, reserved = 0
    character(kind=c_char) :: line(1008) = c_null_char
  end type
  type, bind(c) :: c_options
    integer(c_int32_t) :: size = 0, buffers = 0
    type(c_ptr) :: socket = c_null_ptr
    real(c_double) :: peer_timeout_s = 0
    integer(c_int32_t) :: pool_use = 0, on_analyzer_loss = 0
    type(c_ptr) :: solver = c_null_ptr, problem = c_null_ptr, parameters = c_null_ptr, problem_bytes = c_null_ptr
    integer(c_size_t) :: problem_bytes_count = 0
    integer(c_int64_t) :: work = 0
    type(c_ptr) :: stop = c_null_ptr
    integer(c_int32_t) :: coordination = 0, shares_core = 0
    type(c_ptr) :: lent_cores = c_null_ptr
    integer(c_size_t) :: lent_core_count = 0
    type(c_ptr) :: problem_id = c_null_ptr
    type(c_ptr) :: pool = c_null_ptr, run_options = c_null_ptr
  end type
  type, bind(c) :: c_reader_options
    integer(c_int32_t) :: size = 0, follow = 0
    real(c_double) :: wait_s = 0
    type(c_ptr) :: stop = c_null_ptr
  end type
  type, bind(c) :: c_result
    integer(c_int32_t) :: size = 0, type = 0
    type(c_ptr) :: name = c_null_ptr, unit = c_null_ptr
    integer(c_int64_t) :: count = 0
    type(c_ptr) :: values = c_null_ptr
  end type

  type, bind(c) :: c_run
    integer(c_int32_t) :: size = 0, reserved = 0
    integer(c_int8_t) :: run_id(16) = 0_c_int8_t, problem_id(16) = 0_c_int8_t
    integer(c_int64_t) :: started_unix_ns = 0, work = 0
    type(c_ptr) :: solver = c_null_ptr, problem = c_null_ptr, parameters = c_null_ptr
  end type
  type, bind(c) :: c_record
    integer(c_int32_t) :: size = 0, kind = 0
    integer(c_int64_t) :: seq = 0, unix_ns = 0
    integer(c_int8_t) :: run_id(16) = 0_c_int8_t
    integer(c_int64_t) :: step = 0, iteration = 0, commit_seq = 0, published_at_ns = 0, generate_ns = 0, producer_idle_ns = 0
    integer(c_int64_t) :: analyzer_idle_ns = 0, hand_off_ns = 0, transfer_ns = 0, commit_ns = 0, analyze_ns = 0
    integer(c_int64_t) :: bytes_transferred = 0, skipped_before = 0
    integer(c_int32_t) :: rebuilt = 0, broke_lease = 0
    type(c_ptr) :: solver = c_null_ptr, problem = c_null_ptr, parameters = c_null_ptr, how = c_null_ptr, text = c_null_ptr
    integer(c_int32_t) :: exit_code = 0, outcome = 0
    type(c_ptr) :: cause = c_null_ptr, name = c_null_ptr, actions = c_null_ptr
    integer(c_int64_t) :: record_ns = 0
  end type

  !> A run that is published.
  type, public :: ringside_writer
    private
    type(c_ptr) :: handle = c_null_ptr
    type(c_variable), allocatable :: variables(:)
    type(c_error) :: refusal  ! of the handle that there is not
  contains
    procedure :: attach => writer_attach
    procedure :: kept_iteration => writer_kept_iteration
    procedure :: next_iteration => writer_next_iteration
    procedure :: kept => writer_kept
    procedure :: kept_doubles => writer_kept_doubles
    procedure, private :: writer_kept_f64, writer_kept_i64
    generic :: kept_scalar => writer_kept_f64, writer_kept_i64
    procedure :: claim => writer_claim
    procedure :: try_claim => writer_try_claim
    procedure :: claim_last => writer_claim_last
    procedure :: skip => writer_skip
    procedure :: buffer => writer_buffer
    procedure :: doubles => writer_doubles
    procedure :: previous => writer_previous
    procedure :: previous_doubles => writer_previous_doubles
    procedure, private :: writer_publish_32, writer_publish_64
    generic :: publish => writer_publish_32, writer_publish_64
    procedure, private :: writer_put_32, writer_put_64
    generic :: put => writer_put_32, writer_put_64
    procedure :: counts => writer_counts
    procedure :: reply => writer_reply
    procedure :: run => writer_run
    procedure :: note => writer_note
    procedure :: account => writer_account
    procedure :: detach => writer_detach
    procedure :: line => writer_line
    procedure :: reason => writer_reason
    procedure :: free => writer_free
  end type

  !> A pool, read also while it is written.
  type, public :: ringside_reader
    private
    type(c_ptr) :: handle = c_null_ptr
    type(c_variable), pointer :: variables(:) => null()
    type(c_error) :: refusal  ! of the handle that there is not
  contains
    procedure :: open => reader_open
    procedure :: variable_count => reader_variable_count
    procedure :: variable => reader_variable
    procedure :: find => reader_find
    procedure :: runs => reader_runs
    procedure :: steps => reader_steps
    procedure :: next => reader_next
    procedure :: hold => reader_hold
    procedure :: copy => reader_copy
    procedure :: values => reader_values
    procedure :: results => reader_results
    procedure :: next_record => reader_next_record
    procedure :: record_results => reader_record_results
    procedure :: line => reader_line
    procedure :: reason => reader_reason
    procedure :: free => reader_free
  end type

  !> A step that a reader holds, in place. It is released before the reader is freed.
  type, public :: ringside_step
    private
    type(c_ptr) :: handle = c_null_ptr, reader = c_null_ptr
    type(c_variable), pointer :: variables(:) => null()
    type(ringside_step_info), public :: info
  contains
    procedure :: view => step_view
    procedure :: doubles => step_doubles
    procedure :: verify => step_verify
    procedure :: check => step_check
    procedure :: release => step_release
  end type

  ! The functions of ringside.h.
  interface
    integer(c_int32_t) function c_claim(handle) bind(c, name='ringside_writer_claim')
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int32_t) function c_try_claim(handle) bind(c, name='ringside_writer_try_claim')
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int32_t) function c_claim_last(handle) bind(c, name='ringside_writer_claim_last')
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int32_t) function c_skip(handle) bind(c, name='ringside_writer_skip')
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int32_t) function c_check(handle) bind(c, name='ringside_step_check')
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int32_t) function c_release(handle) bind(c, name='ringside_step_release')
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int32_t) function c_detach(handle, outcome) bind(c, name='ringside_writer_detach')
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: outcome
    end function
    integer(c_int32_t) function c_verify(handle, variable) bind(c, name='ringside_step_verify')
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: variable
    end function
    integer(c_int32_t) function c_kept_variable(handle, variable, data, bytes) bind(c, name='ringside_writer_kept_variable')
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: variable
      type(c_ptr), intent(out) :: data
      integer(c_size_t), intent(out) :: bytes
    end function
    integer(c_int32_t) function c_view(handle, variable, data, bytes) bind(c, name='ringside_step_view')
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: variable
      type(c_ptr), intent(out) :: data
      integer(c_size_t), intent(out) :: bytes
    end function
    type(c_ptr) function c_buffer(handle, variable) bind(c, name='ringside_writer_buffer')
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: variable
    end function
    type(c_ptr) function c_previous(handle, variable) bind(c, name='ringside_writer_previous')
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: variable
    end function
    type(c_ptr) function c_writer_error(handle) bind(c, name='ringside_writer_error')
      import
      type(c_ptr), value :: handle
    end function
    type(c_ptr) function c_reader_error(handle) bind(c, name='ringside_reader_error')
      import
      type(c_ptr), value :: handle
    end function
    subroutine c_writer_free(handle) bind(c, name='ringside_writer_free')
      import
      type(c_ptr), value :: handle
    end subroutine
    subroutine c_reader_free(handle) bind(c, name='ringside_reader_free')
      import
      type(c_ptr), value :: handle
    end subroutine
    integer(c_int32_t) function c_attach(options, variables, variable_count, scalars, scalar_count, out, error) &
      bind(c, name='ringside_writer_attach')
      import
      type(c_options), intent(in) :: options
      integer(c_size_t), value :: variable_count, scalar_count
      type(c_variable), intent(in) :: variables(*)
      type(c_scalar), intent(in) :: scalars(*)
      type(c_ptr), intent(out) :: out
      type(c_error), intent(inout) :: error
    end function
    integer(c_int32_t) function c_kept(writer, iteration) bind(c, name='ringside_writer_kept')
      import
      type(c_ptr), value :: writer
      integer(c_int64_t), intent(inout) :: iteration
    end function
    integer(c_int32_t) function c_kept_scalar(writer, scalar, value) bind(c, name='ringside_writer_kept_scalar')
      import
      type(c_ptr), value :: writer
      integer(c_int32_t), value :: scalar
      integer(c_int64_t), intent(out) :: value
    end function
    integer(c_int32_t) function c_publish(writer, iteration, scalars, scalar_count) bind(c, name='ringside_writer_publish')
      import
      type(c_ptr), value :: writer
      integer(c_int64_t), value :: iteration
      real(c_double), intent(in), optional :: scalars(*)
      integer(c_size_t), value :: scalar_count
    end function
    integer(c_int32_t) function c_publish_timed(writer, iteration, generate_ns, scalars, scalar_count) &
      bind(c, name='ringside_writer_publish_timed')
      import
      type(c_ptr), value :: writer
      integer(c_int64_t), value :: iteration, generate_ns
      real(c_double), intent(in), optional :: scalars(*)
      integer(c_size_t), value :: scalar_count
    end function
    integer(c_int32_t) function c_put(writer, iteration, arrays, scalars, scalar_count) bind(c, name='ringside_writer_put')
      import
      type(c_ptr), value :: writer
      integer(c_int64_t), value :: iteration
      type(c_ptr), intent(in) :: arrays(*)
      real(c_double), intent(in), optional :: scalars(*)
      integer(c_size_t), value :: scalar_count
    end function
    integer(c_int32_t) function c_counts(writer, out) bind(c, name='ringside_writer_counts')
      import
      type(c_ptr), value :: writer
      type(ringside_counts), intent(inout) :: out
    end function
    integer(c_int32_t) function c_reply(writer, value, number) bind(c, name='ringside_writer_reply')
      import
      type(c_ptr), value :: writer
      real(c_double), intent(inout) :: value
      integer(c_int64_t), intent(inout) :: number
    end function
    integer(c_int32_t) function c_writer_run(writer, out) bind(c, name='ringside_writer_run')
      import
      type(c_ptr), value :: writer
      type(c_run), intent(inout) :: out
    end function
    type(c_ptr) function c_account(writer) bind(c, name='ringside_writer_account')
      import
      type(c_ptr), value :: writer
    end function
    type(c_ptr) function c_note(writer) bind(c, name='ringside_writer_note')
      import
      type(c_ptr), value :: writer
    end function
    integer(c_int32_t) function c_open(pool, options, out, error) bind(c, name='ringside_reader_open')
      import
      type(c_ptr), value :: pool
      type(c_reader_options), intent(in) :: options
      type(c_ptr), intent(out) :: out
      type(c_error), intent(inout) :: error
    end function
    integer(c_int32_t) function c_variables(reader, out, room, count) bind(c, name='ringside_reader_variables')
      import
      type(c_ptr), value :: reader
      type(c_variable), intent(inout) :: out(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int32_t) function c_runs(reader, out, room, count) bind(c, name='ringside_reader_runs')
      import
      type(c_ptr), value :: reader
      type(c_run), intent(inout) :: out(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int32_t) function c_steps(reader, out, room, count) bind(c, name='ringside_reader_steps')
      import
      type(c_ptr), value :: reader
      type(ringside_step_info), intent(inout) :: out(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int32_t) function c_copy(reader, commit_seq, variable, to, bytes) bind(c, name='ringside_reader_copy')
      import
      type(c_ptr), value :: reader, to
      integer(c_int64_t), value :: commit_seq
      integer(c_int32_t), value :: variable
      integer(c_size_t), value :: bytes
    end function
    integer(c_int32_t) function c_results(reader, commit_seq, out, room, count) bind(c, name='ringside_reader_results')
      import
      type(c_ptr), value :: reader
      integer(c_int64_t), value :: commit_seq
      type(c_result), intent(inout) :: out(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int32_t) function c_next_record(reader, from, out) bind(c, name='ringside_reader_next_record')
      import
      type(c_ptr), value :: reader
      integer(c_int64_t), value :: from
      type(c_record), intent(inout) :: out
    end function
    integer(c_int32_t) function c_record_results(reader, out, room, count) bind(c, name='ringside_reader_record_results')
      import
      type(c_ptr), value :: reader
      type(c_result), intent(inout) :: out(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int32_t) function c_next(reader, after, timeout_s, out) bind(c, name='ringside_reader_next')
      import
      type(c_ptr), value :: reader
      integer(c_int64_t), value :: after
      real(c_double), value :: timeout_s
      type(ringside_step_info), intent(inout) :: out
    end function
    integer(c_int32_t) function c_hold(reader, commit_seq, out) bind(c, name='ringside_reader_hold')
      import
      type(c_ptr), value :: reader
      integer(c_int64_t), value :: commit_seq
      type(c_ptr), intent(out) :: out
    end function
    integer(c_int32_t) function c_describe(step, out) bind(c, name='ringside_step_describe')
      import
      type(c_ptr), value :: step
      type(ringside_step_info), intent(inout) :: out
    end function
    integer(c_int32_t) function c_find_result(reader, commit_seq, name, out) bind(c, name='ringside_reader_find_result')
      import
      type(c_ptr), value :: reader, name
      integer(c_int64_t), value :: commit_seq
      type(c_result), intent(inout) :: out
    end function
    type(c_ptr) function c_version() bind(c, name='ringside_version')
      import
    end function
    integer(c_int32_t) function ringside_interface() bind(c, name='ringside_interface')
      import
    end function
    integer(c_size_t) function ringside_dtype_bytes(dtype) bind(c, name='ringside_dtype_bytes')
      import
      integer(c_int32_t), value :: dtype
    end function
    subroutine ringside_catch_bus_errors() bind(c, name='ringside_catch_bus_errors')
    end subroutine
    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
    end function
  end interface

  ! A string of C, which lives as long as this object.
  type :: c_text
    character(kind=c_char), allocatable :: bytes(:)
  end type

contains

  ! ---- Writing ----

  !> Attaches to an analyzer. An argument that is absent comes from the environment of `ringside run -- PROGRAM`, or is
  !> a default. pool: without a socket, the library starts an analyzer for this run, which keeps its steps in that file, and with
  !> run_options options of `ringside run`: '--slots 16'. stop: not 0 ends a wait; it lives until the handle is freed, and a signal handler may set it. shares_core: the
  !> analyzer runs on the solver's core, so no wait spins. lent_cores: lent to the analyzer while a claim waits. problem_id:
  !> 16 bytes.
  subroutine writer_attach(self, variables, scalars, solver, problem, parameters, pool_use, buffers, socket, peer_timeout_s, &
    on_analyzer_loss, work, problem_bytes, problem_bytes_count, stop, coordination, shares_core, lent_cores, problem_id, &
    pool, run_options, stat)
    class(ringside_writer), intent(inout) :: self
    type(ringside_variable), intent(in) :: variables(:)
    type(ringside_scalar), intent(in), optional :: scalars(:)
    character(*), intent(in), optional :: solver, problem, parameters, socket, pool, run_options
    integer, intent(in), optional :: pool_use, buffers, on_analyzer_loss, coordination
    logical, intent(in), optional :: shares_core
    real(c_double), intent(in), optional :: peer_timeout_s
    integer(c_int64_t), intent(in), optional :: work
    type(c_ptr), intent(in), optional :: problem_bytes
    integer(c_size_t), intent(in), optional :: problem_bytes_count
    integer(c_int), intent(in), target, optional :: stop
    integer(c_int32_t), intent(in), target, contiguous, optional :: lent_cores(:)
    integer(c_int8_t), intent(in), target, contiguous, optional :: problem_id(:)
    integer, intent(out), optional :: stat
    type(c_options) :: options
    type(c_scalar), allocatable :: all_scalars(:)
    type(c_text), target :: texts(6), names(size(variables)), units(size(variables))
    type(c_text), allocatable, target :: scalar_names(:), scalar_units(:)
    integer(c_int32_t) :: status
    integer :: i, rank

    call self%free()
    options%size = int(c_sizeof(options), c_int32_t)
    options%solver = c_string(texts(1), solver)
    options%problem = c_string(texts(2), problem)
    options%parameters = c_string(texts(3), parameters)
    options%socket = c_string(texts(4), socket)
    options%pool = c_string(texts(5), pool)
    options%run_options = c_string(texts(6), run_options)
    if (present(pool_use)) options%pool_use = int(pool_use, c_int32_t)
    if (present(buffers)) options%buffers = int(buffers, c_int32_t)
    if (present(on_analyzer_loss)) options%on_analyzer_loss = int(on_analyzer_loss, c_int32_t)
    if (present(peer_timeout_s)) options%peer_timeout_s = peer_timeout_s
    if (present(work)) options%work = work
    if (present(problem_bytes)) options%problem_bytes = problem_bytes
    if (present(problem_bytes_count)) options%problem_bytes_count = problem_bytes_count
    if (present(stop)) options%stop = c_loc(stop)
    if (present(coordination)) options%coordination = int(coordination, c_int32_t)
    if (present(shares_core)) options%shares_core = merge(1_c_int32_t, 0_c_int32_t, shares_core)
    if (present(lent_cores)) options%lent_cores = c_loc(lent_cores)
    if (present(lent_cores)) options%lent_core_count = size(lent_cores, kind=c_size_t)
    if (present(problem_id)) options%problem_id = c_loc(problem_id)

    allocate (self%variables(size(variables)))
    do i = 1, size(variables)
      rank = variables(i)%rank
      self%variables(i)%size = int(c_sizeof(self%variables(i)), c_int32_t)
      self%variables(i)%dtype = int(variables(i)%dtype, c_int16_t)
      self%variables(i)%role = int(variables(i)%role, c_int16_t)
      self%variables(i)%dims = int(rank, c_int32_t)
      self%variables(i)%name = c_string(names(i), variables(i)%name)
      self%variables(i)%unit = c_string(units(i), variables(i)%unit)
      self%variables(i)%shape(1:rank) = variables(i)%shape(rank:1:-1)
    end do
    allocate (all_scalars(0), scalar_names(0), scalar_units(0))
    if (present(scalars)) then
      deallocate (all_scalars, scalar_names, scalar_units)
      allocate (all_scalars(size(scalars)), scalar_names(size(scalars)), scalar_units(size(scalars)))
      do i = 1, size(scalars)
        all_scalars(i)%size = int(c_sizeof(all_scalars(i)), c_int32_t)
        all_scalars(i)%type = int(scalars(i)%type, c_int32_t)
        all_scalars(i)%name = c_string(scalar_names(i), scalars(i)%name)
        all_scalars(i)%unit = c_string(scalar_units(i), scalars(i)%unit)
      end do
    end if
    self%refusal%size = int(c_sizeof(self%refusal), c_int32_t)
    status = c_attach(options, self%variables, size(self%variables, kind=c_size_t), all_scalars, &
      size(all_scalars, kind=c_size_t), self%handle, self%refusal)
    call conclude(status, self%line(), stat)
  end subroutine

  !> The iteration of the step that the run continues from; 0 if it begins anew, or after the first publish.
  integer(c_int64_t) function writer_kept_iteration(self) result(iteration)
    class(ringside_writer), intent(in) :: self
    integer(c_int32_t) :: status
    iteration = 0
    status = c_kept(self%handle, iteration)
    if (status > 0) call conclude(status, self%line())
  end function

  !> That iteration + 1.
  integer(c_int64_t) function writer_next_iteration(self) result(iteration)
    class(ringside_writer), intent(in) :: self
    iteration = self%kept_iteration() + 1
  end function

  !> That step's variable, to be read until the first publish. Its data is c_null_ptr if the run begins anew.
  function writer_kept(self, variable) result(array)
    class(ringside_writer), intent(in) :: self
    integer, intent(in) :: variable
    type(ringside_array) :: array
    type(c_ptr) :: data
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: status
    status = c_kept_variable(self%handle, int(variable - 1, c_int32_t), data, bytes)
    if (status == RINGSIDE_OK) array = array_of(self%variables(variable), data)
    if (status > 0) call conclude(status, self%line())
  end function

  !> A copy of it as doubles, flat; of size 0 if the run begins anew.
  function writer_kept_doubles(self, variable) result(doubles)
    class(ringside_writer), intent(in) :: self
    integer, intent(in) :: variable
    real(c_double), allocatable :: doubles(:)
    real(c_double), pointer :: kept(:)
    call ringside_f_pointer(self%kept(variable), kept)
    allocate (doubles(0))
    if (associated(kept)) doubles = kept
  end function

  !> That step's scalar. False: the run begins anew, or the step does not have it.
  logical function writer_kept_f64(self, scalar, value) result(there)
    class(ringside_writer), intent(in) :: self
    integer, intent(in) :: scalar
    real(c_double), intent(inout) :: value
    integer(c_int64_t) :: word
    there = writer_kept_i64(self, scalar, word)
    if (there) value = transfer(word, value)
  end function
  logical function writer_kept_i64(self, scalar, value) result(there)
    class(ringside_writer), intent(in) :: self
    integer, intent(in) :: scalar
    integer(c_int64_t), intent(inout) :: value
    integer(c_int64_t) :: word
    integer(c_int32_t) :: status
    status = c_kept_scalar(self%handle, int(scalar - 1, c_int32_t), word)
    there = status == RINGSIDE_OK
    if (there) value = word
    if (status > 0) call conclude(status, self%line())
  end function

  !> Waits for the buffer of the next step. False: the run is to stop, or no analyzer is there and RINGSIDE_LOSS_SKIP
  !> was chosen.
  logical function writer_claim(self, stat) result(claimed)
    class(ringside_writer), intent(in) :: self
    integer, intent(out), optional :: stat
    claimed = concluded_claim(self, c_claim(self%handle), stat)
  end function
  !> The same without waiting: false if no buffer is free.
  logical function writer_try_claim(self, stat) result(claimed)
    class(ringside_writer), intent(in) :: self
    integer, intent(out), optional :: stat
    claimed = concluded_claim(self, c_try_claim(self%handle), stat)
  end function
  !> The same for the last step of a run that was stopped.
  logical function writer_claim_last(self, stat) result(claimed)
    class(ringside_writer), intent(in) :: self
    integer, intent(out), optional :: stat
    claimed = concluded_claim(self, c_claim_last(self%handle), stat)
  end function

  !> Counts a step as skipped: one that the solver made and does not publish.
  subroutine writer_skip(self, stat)
    class(ringside_writer), intent(in) :: self
    integer, intent(out), optional :: stat
    integer(c_int32_t) :: status
    status = c_skip(self%handle)
    call conclude(status, self%line(), stat)
  end subroutine

  !> A variable of the claimed step, to be written. Its data is c_null_ptr if no step is claimed.
  function writer_buffer(self, variable) result(array)
    class(ringside_writer), intent(in) :: self
    integer, intent(in) :: variable
    type(ringside_array) :: array
    type(c_ptr) :: data
    data = c_buffer(self%handle, int(variable - 1, c_int32_t))
    if (c_associated(data)) array = array_of(self%variables(variable), data)
  end function

  !> The same as doubles, flat. It may be assigned to: run%doubles(1) = x.
  function writer_doubles(self, variable) result(doubles)
    class(ringside_writer), intent(in) :: self
    integer, intent(in) :: variable
    real(c_double), pointer :: doubles(:)
    call ringside_f_pointer(self%buffer(variable), doubles)
  end function

  !> The same variable of the step before, to be read: of the one that was published last, or of the kept one before the first
  !> publish. Its data is c_null_ptr if there is none. Valid until the next publish.
  function writer_previous(self, variable) result(array)
    class(ringside_writer), intent(in) :: self
    integer, intent(in) :: variable
    type(ringside_array) :: array
    type(c_ptr) :: data
    data = c_previous(self%handle, int(variable - 1, c_int32_t))
    if (c_associated(data)) array = array_of(self%variables(variable), data)
  end function

  !> The same as doubles, flat.
  function writer_previous_doubles(self, variable) result(doubles)
    class(ringside_writer), intent(in) :: self
    integer, intent(in) :: variable
    real(c_double), pointer :: doubles(:)
    call ringside_f_pointer(self%previous(variable), doubles)
  end function

  !> Publishes the claimed step. scalars: in the order declared; an integer n is transfer(n, 1.0_c_double), n of kind
  !> c_int64_t. generate_ns: the time that the solver measured for making the step.
  subroutine writer_publish_64(self, iteration, scalars, generate_ns, stat)
    class(ringside_writer), intent(in) :: self
    integer(c_int64_t), intent(in) :: iteration
    real(c_double), intent(in), contiguous, optional :: scalars(:)
    integer(c_int64_t), intent(in), optional :: generate_ns
    integer, intent(out), optional :: stat
    integer(c_int32_t) :: status
    if (present(generate_ns)) then
      status = c_publish_timed(self%handle, iteration, generate_ns, scalars, count_of(scalars))
    else
      status = c_publish(self%handle, iteration, scalars, count_of(scalars))
    end if
    if (present(stat)) stat = status
    if (status /= RINGSIDE_OK .and. .not. present(stat)) call conclude(status, self%line())
  end subroutine
  subroutine writer_publish_32(self, iteration, scalars, generate_ns, stat)
    class(ringside_writer), intent(in) :: self
    integer(c_int32_t), intent(in) :: iteration
    real(c_double), intent(in), contiguous, optional :: scalars(:)
    integer(c_int64_t), intent(in), optional :: generate_ns
    integer, intent(out), optional :: stat
    call writer_publish_64(self, int(iteration, c_int64_t), scalars, generate_ns, stat)
  end subroutine

  !> Claims, copies and publishes in one call. arrays: for each variable where its bytes are, as c_loc(x). False as a claim.
  logical function writer_put_64(self, iteration, arrays, scalars, stat) result(put)
    class(ringside_writer), intent(in) :: self
    integer(c_int64_t), intent(in) :: iteration
    type(c_ptr), intent(in) :: arrays(:)
    real(c_double), intent(in), contiguous, optional :: scalars(:)
    integer, intent(out), optional :: stat
    type(c_ptr) :: of_each(MOST_VARIABLES)
    of_each = c_null_ptr  ! what is missing is NULL, which the library refuses
    if (allocated(self%variables)) then
      if (size(arrays) == size(self%variables)) of_each(1:size(arrays)) = arrays
    end if
    put = concluded_claim(self, c_put(self%handle, iteration, of_each, scalars, count_of(scalars)), stat)
  end function
  logical function writer_put_32(self, iteration, arrays, scalars, stat) result(put)
    class(ringside_writer), intent(in) :: self
    integer(c_int32_t), intent(in) :: iteration
    type(c_ptr), intent(in) :: arrays(:)
    real(c_double), intent(in), contiguous, optional :: scalars(:)
    integer, intent(out), optional :: stat
    put = writer_put_64(self, int(iteration, c_int64_t), arrays, scalars, stat)
  end function
  integer(c_size_t) function count_of(scalars) result(count)
    real(c_double), intent(in), optional :: scalars(:)
    count = 0
    if (present(scalars)) count = size(scalars, kind=c_size_t)
  end function

  !> Steps that were published and skipped, and the time that claims waited.
  type(ringside_counts) function writer_counts(self) result(counts)
    class(ringside_writer), intent(in) :: self
    integer(c_int32_t) :: status
    counts%size = int(c_sizeof(counts), c_int32_t)
    status = c_counts(self%handle, counts)
    if (status /= RINGSIDE_OK) call conclude(status, self%line())
  end function

  !> The number that a trigger of the run has answered with reply:VALUE, as the last claim found it, and how many replies there
  !> were; number is 0, and value unchanged, if there was none.
  subroutine writer_reply(self, value, number)
    class(ringside_writer), intent(in) :: self
    real(c_double), intent(inout) :: value
    integer(c_int64_t), intent(out) :: number
    integer(c_int32_t) :: status
    number = 0
    status = c_reply(self%handle, value, number)
    if (status /= RINGSIDE_OK .and. status /= RINGSIDE_ABSENT) call conclude(status, self%line())
  end subroutine

  !> This run: a resumed one has the run_id of the run that it continues.
  type(ringside_run) function writer_run(self) result(run)
    class(ringside_writer), intent(in) :: self
    type(c_run) :: found
    integer(c_int32_t) :: status
    found%size = int(c_sizeof(found), c_int32_t)
    status = c_writer_run(self%handle, found)
    if (status /= RINGSIDE_OK) call conclude(status, self%line())
    run = run_of(found)
  end function

  !> Of a run with `pool`, after its detach: the account, a JSON object; otherwise ''.
  function writer_account(self) result(account)
    class(ringside_writer), intent(in) :: self
    character(len=:), allocatable :: account
    account = fortran_string(c_account(self%handle))
  end function

  !> A message of the analyzer to the user about the attachment; '' in most cases.
  function writer_note(self) result(note)
    class(ringside_writer), intent(in) :: self
    character(len=:), allocatable :: note
    note = fortran_string(c_note(self%handle))
  end function

  !> Ends the run. Returns when every published step is committed.
  subroutine writer_detach(self, outcome, stat)
    class(ringside_writer), intent(in) :: self
    integer, intent(in), optional :: outcome
    integer, intent(out), optional :: stat
    integer(c_int32_t) :: status, ended
    ended = RINGSIDE_OUTCOME_FINISHED
    if (present(outcome)) ended = int(outcome, c_int32_t)
    status = c_detach(self%handle, ended)
    call conclude(status, self%line(), stat)
  end subroutine

  !> The line of the last failure.
  function writer_line(self) result(line)
    class(ringside_writer), intent(in) :: self
    character(len=:), allocatable :: line
    type(c_error) :: error
    error = last_error(c_writer_error(self%handle), self%handle, self%refusal)
    line = string_of(error%line)
  end function

  !> What it was about, if its status was RINGSIDE_USAGE: RINGSIDE_REASON_...
  integer function writer_reason(self) result(reason)
    class(ringside_writer), intent(in) :: self
    type(c_error) :: error
    error = last_error(c_writer_error(self%handle), self%handle, self%refusal)
    reason = error%reason
  end function

  !> Without a detach before it, the run counts as lost, and may be resumed.
  subroutine writer_free(self)
    class(ringside_writer), intent(inout) :: self
    call c_writer_free(self%handle)
    self%handle = c_null_ptr
    if (allocated(self%variables)) deallocate (self%variables)
  end subroutine

  ! ---- Reading ----

  !> wait_s: for a pool that does not exist yet. follow: RINGSIDE_FOLLOW_RUN, or RINGSIDE_FOLLOW_POOL. stop: not 0 ends a wait;
  !> it lives until the handle is freed, and a signal handler may set it.
  subroutine reader_open(self, pool, wait_s, follow, stop, stat)
    class(ringside_reader), intent(inout) :: self
    character(*), intent(in) :: pool
    real(c_double), intent(in), optional :: wait_s
    integer, intent(in), optional :: follow
    integer(c_int), intent(in), target, optional :: stop
    integer, intent(out), optional :: stat
    type(c_text), target :: path
    type(c_reader_options) :: options
    type(c_variable) :: none(0)
    integer(c_size_t) :: count
    integer(c_int32_t) :: status
    call self%free()
    count = 0
    options%size = int(c_sizeof(options), c_int32_t)
    if (present(wait_s)) options%wait_s = wait_s
    if (present(follow)) options%follow = int(follow, c_int32_t)
    if (present(stop)) options%stop = c_loc(stop)
    self%refusal%size = int(c_sizeof(self%refusal), c_int32_t)
    status = c_open(c_string(path, pool), options, self%handle, self%refusal)
    if (status == RINGSIDE_OK) status = c_variables(self%handle, none, 0_c_size_t, count)
    if (status == RINGSIDE_OK) then
      allocate (self%variables(count))
      self%variables%size = int(c_sizeof(self%variables(1)), c_int32_t)
      status = c_variables(self%handle, self%variables, count, count)
    end if
    call conclude(status, self%line(), stat)
  end subroutine

  integer function reader_variable_count(self) result(count)
    class(ringside_reader), intent(in) :: self
    count = 0
    if (associated(self%variables)) count = size(self%variables)
  end function

  !> A variable of every step in the pool: 1 <= number <= variable_count().
  function reader_variable(self, number) result(variable)
    class(ringside_reader), intent(in) :: self
    integer, intent(in) :: number
    type(ringside_variable) :: variable
    type(ringside_array) :: array
    array = array_of(self%variables(number), c_null_ptr)
    variable%name = fortran_string(self%variables(number)%name)
    variable%unit = fortran_string(self%variables(number)%unit)
    variable%dtype = array%dtype
    variable%role = self%variables(number)%role
    variable%rank = self%variables(number)%dims
    variable%shape = array%shape
  end function

  !> The number of the variable with that name, or 0.
  integer function reader_find(self, name) result(number)
    class(ringside_reader), intent(in) :: self
    character(*), intent(in) :: name
    do number = self%variable_count(), 1, -1
      if (fortran_string(self%variables(number)%name) == name) return
    end do
  end function

  !> The runs that the pool knows, the newest last.
  function reader_runs(self, stat) result(runs)
    class(ringside_reader), intent(in) :: self
    integer, intent(out), optional :: stat
    type(ringside_run), allocatable :: runs(:)
    type(c_run), allocatable :: found(:)
    integer(c_size_t) :: count, i
    integer(c_int32_t) :: status
    count = 0
    allocate (found(0))
    status = c_runs(self%handle, found, 0_c_size_t, count)
    deallocate (found)
    allocate (found(count))
    found%size = int(c_sizeof(c_run()), c_int32_t)
    if (status == RINGSIDE_OK) status = c_runs(self%handle, found, size(found, kind=c_size_t), count)
    call conclude(status, self%line(), stat)
    allocate (runs(min(count, size(found, kind=c_size_t))))
    do i = 1, size(runs, kind=c_size_t)
      runs(i) = run_of(found(i))
    end do
  end function

  !> The committed steps, by ascending commit_seq.
  function reader_steps(self, stat) result(steps)
    class(ringside_reader), intent(in) :: self
    integer, intent(out), optional :: stat
    type(ringside_step_info), allocatable :: steps(:)
    integer(c_size_t) :: count
    integer(c_int32_t) :: status
    count = 0
    allocate (steps(0))
    status = c_steps(self%handle, steps, 0_c_size_t, count)
    deallocate (steps)
    allocate (steps(count))
    steps%size = int(c_sizeof(ringside_step_info()), c_int32_t)
    if (status == RINGSIDE_OK) status = c_steps(self%handle, steps, size(steps, kind=c_size_t), count)
    steps = steps(1:min(count, size(steps, kind=c_size_t)))
    call conclude(status, self%line(), stat)
  end function

  !> The oldest kept step whose commit_seq is greater than `after`. False: none came within timeout_s (less than 0: no limit),
  !> the run has ended and there is no further step (stat is RINGSIDE_END), or `stop` became other than 0.
  logical function reader_next(self, after, timeout_s, info, stat) result(found)
    class(ringside_reader), intent(in) :: self
    integer(c_int64_t), intent(in) :: after
    real(c_double), intent(in) :: timeout_s
    type(ringside_step_info), intent(inout) :: info
    integer, intent(out), optional :: stat
    integer(c_int32_t) :: status
    info%size = int(c_sizeof(info), c_int32_t)
    status = c_next(self%handle, after, timeout_s, info)
    found = status == RINGSIDE_OK
    if (present(stat)) stat = status
    if (status > 0 .and. status /= RINGSIDE_INTERRUPTED .and. .not. present(stat)) call conclude(status, self%line())
  end function

  !> Copies a variable of a step, verified and without a hold: copy(seq, 1, c_loc(x), c_sizeof(x)). False: the step is no
  !> longer kept, or not there yet; what the place holds is then not defined.
  logical function reader_copy(self, commit_seq, variable, to, bytes, stat) result(copied)
    class(ringside_reader), intent(in) :: self
    integer(c_int64_t), intent(in) :: commit_seq
    integer, intent(in) :: variable
    type(c_ptr), intent(in) :: to
    integer(c_size_t), intent(in) :: bytes
    integer, intent(out), optional :: stat
    integer(c_int32_t) :: status
    status = c_copy(self%handle, commit_seq, int(variable - 1, c_int32_t), to, bytes)
    copied = status == RINGSIDE_OK
    if (present(stat)) stat = status
    if (status > 0 .and. .not. present(stat)) call conclude(status, self%line())
  end function

  !> Holds a step. commit_seq: absent for the newest. False: it is no longer kept, or the pool is empty.
  logical function reader_hold(self, step, commit_seq, stat) result(held)
    class(ringside_reader), intent(in) :: self
    type(ringside_step), intent(inout) :: step
    integer(c_int64_t), intent(in), optional :: commit_seq
    integer, intent(out), optional :: stat
    integer(c_int64_t) :: wanted
    integer(c_int32_t) :: status
    call step%release(status)
    wanted = RINGSIDE_NEWEST
    if (present(commit_seq)) wanted = commit_seq
    status = c_hold(self%handle, wanted, step%handle)
    held = status == RINGSIDE_OK
    if (present(stat)) stat = status
    if (held) then
      step%reader = self%handle
      step%variables => self%variables
      step%info%size = int(c_sizeof(step%info), c_int32_t)
      status = c_describe(step%handle, step%info)
    else if (status > 0 .and. .not. present(stat)) then
      call conclude(status, self%line())
    end if
  end function

  !> The values recorded of a step under a full name ("x.l2", "solver.rho"), as doubles; none if they are absent, or not
  !> recorded yet.
  function reader_values(self, commit_seq, name) result(values)
    class(ringside_reader), intent(in) :: self
    integer(c_int64_t), intent(in) :: commit_seq
    character(*), intent(in) :: name
    real(c_double), allocatable :: values(:)
    type(c_text), target :: wanted
    type(c_result) :: found
    integer(c_int32_t) :: status
    allocate (values(0))
    found%size = int(c_sizeof(found), c_int32_t)
    status = c_find_result(self%handle, commit_seq, c_string(wanted, name), found)
    if (status > 0) call conclude(status, self%line())
    if (status == RINGSIDE_OK) values = values_of(found)
  end function

  !> What was recorded of a step, by name; nothing if it is not there. The reductions have no values (and stat is
  !> RINGSIDE_PENDING) as long as they are not recorded.
  function reader_results(self, commit_seq, stat) result(results)
    class(ringside_reader), intent(in) :: self
    integer(c_int64_t), intent(in) :: commit_seq
    integer, intent(out), optional :: stat
    type(ringside_result), allocatable :: results(:)
    type(c_result), allocatable :: found(:)
    integer(c_size_t) :: count
    integer(c_int32_t) :: status
    count = 0
    allocate (found(0))
    status = c_results(self%handle, commit_seq, found, 0_c_size_t, count)
    if (status == RINGSIDE_OK .or. status == RINGSIDE_PENDING) then
      deallocate (found)
      allocate (found(count))
      found%size = int(c_sizeof(c_result()), c_int32_t)
      status = c_results(self%handle, commit_seq, found, count, count)
    end if
    results = results_of(found, status)
    if (present(stat)) stat = status
    if (status > 0 .and. .not. present(stat)) call conclude(status, self%line())
  end function

  !> The first record of the journal whose seq is at least `from`: all steps, also those that the ring has overwritten. False:
  !> there is none yet (stat is RINGSIDE_END), or the pool has no journal (RINGSIDE_ABSENT).
  logical function reader_next_record(self, from, record, stat) result(found)
    class(ringside_reader), intent(in) :: self
    integer(c_int64_t), intent(in) :: from
    type(ringside_record), intent(inout) :: record
    integer, intent(out), optional :: stat
    type(c_record) :: kept
    integer(c_int32_t) :: status
    kept%size = int(c_sizeof(kept), c_int32_t)
    status = c_next_record(self%handle, from, kept)
    found = status == RINGSIDE_OK
    if (found) record = record_of(kept)
    if (present(stat)) stat = status
    if (status > 0 .and. .not. present(stat)) call conclude(status, self%line())
  end function

  !> The results of that record, by name; none if it is no step.
  function reader_record_results(self, stat) result(results)
    class(ringside_reader), intent(in) :: self
    integer, intent(out), optional :: stat
    type(ringside_result), allocatable :: results(:)
    type(c_result), allocatable :: found(:)
    integer(c_size_t) :: count
    integer(c_int32_t) :: status
    count = 0
    allocate (found(0))
    status = c_record_results(self%handle, found, 0_c_size_t, count)
    if (status == RINGSIDE_OK) then
      deallocate (found)
      allocate (found(count))
      found%size = int(c_sizeof(c_result()), c_int32_t)
      status = c_record_results(self%handle, found, count, count)
    end if
    results = results_of(found, status)
    call conclude(status, self%line(), stat)
  end function

  !> The line of the last failure of the reader or of one of its steps.
  function reader_line(self) result(line)
    class(ringside_reader), intent(in) :: self
    character(len=:), allocatable :: line
    type(c_error) :: error
    error = last_error(c_reader_error(self%handle), self%handle, self%refusal)
    line = string_of(error%line)
  end function

  !> What it was about, if its status was RINGSIDE_USAGE: RINGSIDE_REASON_...
  integer function reader_reason(self) result(reason)
    class(ringside_reader), intent(in) :: self
    type(c_error) :: error
    error = last_error(c_reader_error(self%handle), self%handle, self%refusal)
    reason = error%reason
  end function

  !> All its steps are released before.
  subroutine reader_free(self)
    class(ringside_reader), intent(inout) :: self
    call c_reader_free(self%handle)
    self%handle = c_null_ptr
    if (associated(self%variables)) deallocate (self%variables)
  end subroutine

  !> A variable in place, read-only: a store to it ends the program. No byte is copied, and none is verified.
  function step_view(self, variable, stat) result(array)
    class(ringside_step), intent(in) :: self
    integer, intent(in) :: variable
    integer, intent(out), optional :: stat
    type(ringside_array) :: array
    type(c_ptr) :: data
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: status
    status = c_view(self%handle, int(variable - 1, c_int32_t), data, bytes)
    if (status == RINGSIDE_OK) array = array_of(self%variables(variable), data)
    call conclude(status, step_line(self), stat)
  end function

  !> The same as doubles, flat.
  function step_doubles(self, variable) result(doubles)
    class(ringside_step), intent(in) :: self
    integer, intent(in) :: variable
    real(c_double), pointer :: doubles(:)
    call ringside_f_pointer(self%view(variable), doubles)
  end function

  !> Hashes a variable in place, or all of them, and checks.
  subroutine step_verify(self, variable, stat)
    class(ringside_step), intent(in) :: self
    integer, intent(in), optional :: variable
    integer, intent(out), optional :: stat
    integer(c_int32_t) :: status, number
    number = -1_c_int32_t  ! RINGSIDE_ALL_VARIABLES
    if (present(variable)) number = int(variable - 1, c_int32_t)
    status = c_verify(self%handle, number)
    call conclude(status, step_line(self), stat)
  end subroutine

  !> RINGSIDE_OK: everything that was read through views of this step until now was of this step.
  subroutine step_check(self, stat)
    class(ringside_step), intent(in) :: self
    integer, intent(out), optional :: stat
    call conclude(c_check(self%handle), step_line(self), stat)
  end subroutine

  !> The last check, and the end of the hold. Does nothing if the step is not held.
  subroutine step_release(self, stat)
    class(ringside_step), intent(inout) :: self
    integer, intent(out), optional :: stat
    integer(c_int32_t) :: status
    status = c_release(self%handle)
    self%handle = c_null_ptr
    if (status == RINGSIDE_OK) then
      if (present(stat)) stat = RINGSIDE_OK
      return
    end if
    call conclude(status, step_line(self), stat)
  end subroutine

  function step_line(self) result(line)
    class(ringside_step), intent(in) :: self
    character(len=:), allocatable :: line
    type(c_error), pointer :: error
    call c_f_pointer(c_reader_error(self%reader), error)
    line = string_of(error%line)
  end function

  ! ---- Variables and their memory ----

  function field_32(name, shape, unit, dtype) result(variable)
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: shape(:)
    character(*), intent(in), optional :: unit
    integer, intent(in), optional :: dtype
    type(ringside_variable) :: variable
    variable = described(name, int(shape, c_int64_t), RINGSIDE_ROLE_FIELD, unit, dtype)
  end function
  function state_32(name, shape, unit, dtype) result(variable)
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: shape(:)
    character(*), intent(in), optional :: unit
    integer, intent(in), optional :: dtype
    type(ringside_variable) :: variable
    variable = described(name, int(shape, c_int64_t), RINGSIDE_ROLE_STATE, unit, dtype)
  end function
  function field_64(name, shape, unit, dtype) result(variable)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: shape(:)
    character(*), intent(in), optional :: unit
    integer, intent(in), optional :: dtype
    type(ringside_variable) :: variable
    variable = described(name, int(shape, c_int64_t), RINGSIDE_ROLE_FIELD, unit, dtype)
  end function
  function state_64(name, shape, unit, dtype) result(variable)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: shape(:)
    character(*), intent(in), optional :: unit
    integer, intent(in), optional :: dtype
    type(ringside_variable) :: variable
    variable = described(name, int(shape, c_int64_t), RINGSIDE_ROLE_STATE, unit, dtype)
  end function
  function described(name, shape, role, unit, dtype) result(variable)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: shape(:)
    integer, intent(in) :: role
    character(*), intent(in), optional :: unit
    integer, intent(in), optional :: dtype
    type(ringside_variable) :: variable
    integer :: kept
    variable%name = name
    variable%unit = ''
    if (present(unit)) variable%unit = unit
    if (present(dtype)) variable%dtype = dtype
    variable%role = role
    variable%rank = size(shape)  ! more than 8: the library refuses it
    kept = min(size(shape), RINGSIDE_MOST_DIMS)
    variable%shape(1:kept) = shape(1:kept)
  end function

  !> The memory at `data` of a variable, in Fortran's order. One entry has rank 1 here.
  function array_of(variable, data) result(array)
    type(c_variable), intent(in) :: variable
    type(c_ptr), intent(in) :: data
    type(ringside_array) :: array
    array%data = data
    array%dtype = variable%dtype
    array%rank = max(1, int(variable%dims))
    array%shape = 1
    array%shape(1:variable%dims) = variable%shape(variable%dims:1:-1)
  end function

  !> True if the array has one of these dtypes and this rank. If it has others, the program ends, or stat is RINGSIDE_USAGE.
  logical function fits(array, dtypes, rank, stat)
    type(ringside_array), intent(in) :: array
    integer, intent(in) :: dtypes(:), rank  ! an integer of Fortran holds the bits of an unsigned one, too
    integer, intent(out), optional :: stat
    character(len=4), parameter :: names(0:12) = &
      ['none', 'f32 ', 'f64 ', 'c64 ', 'c128', 'i8  ', 'i16 ', 'i32 ', 'i64 ', 'u8  ', 'u16 ', 'u32 ', 'u64 ']
    character(len=100) :: line
    fits = .false.
    if (present(stat)) stat = RINGSIDE_OK
    if (.not. c_associated(array%data)) return
    fits = any(array%dtype == dtypes) .and. (rank == 1 .or. rank == array%rank)
    if (fits) return
    write (line, '(3a, i0, 3a, i0)') 'ringside_f_pointer: found a pointer to ', trim(names(dtypes(1))), ' of rank ', rank, &
      ', expected ', trim(names(array%dtype)), ' of rank ', array%rank
    call conclude(RINGSIDE_USAGE, trim(line)//' (or 1)', stat)
  end function

  ! One for each type and rank. One with an assumed rank would have to read the rank of a pointer that is not defined yet, and
  ! gfortran writes it there only when the pointer is assigned.
  subroutine f32_1(array, to, stat)
    type(ringside_array), intent(in) :: array
    real(c_float), pointer, intent(out) :: to(:)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_F32], 1, stat)) call c_f_pointer(array%data, to, [product(array%shape)])
  end subroutine
  subroutine f32_2(array, to, stat)
    type(ringside_array), intent(in) :: array
    real(c_float), pointer, intent(out) :: to(:, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_F32], 2, stat)) call c_f_pointer(array%data, to, array%shape(1:2))
  end subroutine
  subroutine f32_3(array, to, stat)
    type(ringside_array), intent(in) :: array
    real(c_float), pointer, intent(out) :: to(:, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_F32], 3, stat)) call c_f_pointer(array%data, to, array%shape(1:3))
  end subroutine
  subroutine f32_4(array, to, stat)
    type(ringside_array), intent(in) :: array
    real(c_float), pointer, intent(out) :: to(:, :, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_F32], 4, stat)) call c_f_pointer(array%data, to, array%shape(1:4))
  end subroutine
  subroutine f64_1(array, to, stat)
    type(ringside_array), intent(in) :: array
    real(c_double), pointer, intent(out) :: to(:)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_F64], 1, stat)) call c_f_pointer(array%data, to, [product(array%shape)])
  end subroutine
  subroutine f64_2(array, to, stat)
    type(ringside_array), intent(in) :: array
    real(c_double), pointer, intent(out) :: to(:, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_F64], 2, stat)) call c_f_pointer(array%data, to, array%shape(1:2))
  end subroutine
  subroutine f64_3(array, to, stat)
    type(ringside_array), intent(in) :: array
    real(c_double), pointer, intent(out) :: to(:, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_F64], 3, stat)) call c_f_pointer(array%data, to, array%shape(1:3))
  end subroutine
  subroutine f64_4(array, to, stat)
    type(ringside_array), intent(in) :: array
    real(c_double), pointer, intent(out) :: to(:, :, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_F64], 4, stat)) call c_f_pointer(array%data, to, array%shape(1:4))
  end subroutine
  subroutine c64_1(array, to, stat)
    type(ringside_array), intent(in) :: array
    complex(c_float_complex), pointer, intent(out) :: to(:)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_C64], 1, stat)) call c_f_pointer(array%data, to, [product(array%shape)])
  end subroutine
  subroutine c64_2(array, to, stat)
    type(ringside_array), intent(in) :: array
    complex(c_float_complex), pointer, intent(out) :: to(:, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_C64], 2, stat)) call c_f_pointer(array%data, to, array%shape(1:2))
  end subroutine
  subroutine c64_3(array, to, stat)
    type(ringside_array), intent(in) :: array
    complex(c_float_complex), pointer, intent(out) :: to(:, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_C64], 3, stat)) call c_f_pointer(array%data, to, array%shape(1:3))
  end subroutine
  subroutine c64_4(array, to, stat)
    type(ringside_array), intent(in) :: array
    complex(c_float_complex), pointer, intent(out) :: to(:, :, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_C64], 4, stat)) call c_f_pointer(array%data, to, array%shape(1:4))
  end subroutine
  subroutine c128_1(array, to, stat)
    type(ringside_array), intent(in) :: array
    complex(c_double_complex), pointer, intent(out) :: to(:)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_C128], 1, stat)) call c_f_pointer(array%data, to, [product(array%shape)])
  end subroutine
  subroutine c128_2(array, to, stat)
    type(ringside_array), intent(in) :: array
    complex(c_double_complex), pointer, intent(out) :: to(:, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_C128], 2, stat)) call c_f_pointer(array%data, to, array%shape(1:2))
  end subroutine
  subroutine c128_3(array, to, stat)
    type(ringside_array), intent(in) :: array
    complex(c_double_complex), pointer, intent(out) :: to(:, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_C128], 3, stat)) call c_f_pointer(array%data, to, array%shape(1:3))
  end subroutine
  subroutine c128_4(array, to, stat)
    type(ringside_array), intent(in) :: array
    complex(c_double_complex), pointer, intent(out) :: to(:, :, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_C128], 4, stat)) call c_f_pointer(array%data, to, array%shape(1:4))
  end subroutine
  subroutine i8_1(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int8_t), pointer, intent(out) :: to(:)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I8, RINGSIDE_U8], 1, stat)) call c_f_pointer(array%data, to, [product(array%shape)])
  end subroutine
  subroutine i8_2(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int8_t), pointer, intent(out) :: to(:, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I8, RINGSIDE_U8], 2, stat)) call c_f_pointer(array%data, to, array%shape(1:2))
  end subroutine
  subroutine i8_3(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int8_t), pointer, intent(out) :: to(:, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I8, RINGSIDE_U8], 3, stat)) call c_f_pointer(array%data, to, array%shape(1:3))
  end subroutine
  subroutine i8_4(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int8_t), pointer, intent(out) :: to(:, :, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I8, RINGSIDE_U8], 4, stat)) call c_f_pointer(array%data, to, array%shape(1:4))
  end subroutine
  subroutine i16_1(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int16_t), pointer, intent(out) :: to(:)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I16, RINGSIDE_U16], 1, stat)) call c_f_pointer(array%data, to, [product(array%shape)])
  end subroutine
  subroutine i16_2(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int16_t), pointer, intent(out) :: to(:, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I16, RINGSIDE_U16], 2, stat)) call c_f_pointer(array%data, to, array%shape(1:2))
  end subroutine
  subroutine i16_3(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int16_t), pointer, intent(out) :: to(:, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I16, RINGSIDE_U16], 3, stat)) call c_f_pointer(array%data, to, array%shape(1:3))
  end subroutine
  subroutine i16_4(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int16_t), pointer, intent(out) :: to(:, :, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I16, RINGSIDE_U16], 4, stat)) call c_f_pointer(array%data, to, array%shape(1:4))
  end subroutine
  subroutine i32_1(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int32_t), pointer, intent(out) :: to(:)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I32, RINGSIDE_U32], 1, stat)) call c_f_pointer(array%data, to, [product(array%shape)])
  end subroutine
  subroutine i32_2(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int32_t), pointer, intent(out) :: to(:, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I32, RINGSIDE_U32], 2, stat)) call c_f_pointer(array%data, to, array%shape(1:2))
  end subroutine
  subroutine i32_3(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int32_t), pointer, intent(out) :: to(:, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I32, RINGSIDE_U32], 3, stat)) call c_f_pointer(array%data, to, array%shape(1:3))
  end subroutine
  subroutine i32_4(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int32_t), pointer, intent(out) :: to(:, :, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I32, RINGSIDE_U32], 4, stat)) call c_f_pointer(array%data, to, array%shape(1:4))
  end subroutine
  subroutine i64_1(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int64_t), pointer, intent(out) :: to(:)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I64, RINGSIDE_U64], 1, stat)) call c_f_pointer(array%data, to, [product(array%shape)])
  end subroutine
  subroutine i64_2(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int64_t), pointer, intent(out) :: to(:, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I64, RINGSIDE_U64], 2, stat)) call c_f_pointer(array%data, to, array%shape(1:2))
  end subroutine
  subroutine i64_3(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int64_t), pointer, intent(out) :: to(:, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I64, RINGSIDE_U64], 3, stat)) call c_f_pointer(array%data, to, array%shape(1:3))
  end subroutine
  subroutine i64_4(array, to, stat)
    type(ringside_array), intent(in) :: array
    integer(c_int64_t), pointer, intent(out) :: to(:, :, :, :)
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [RINGSIDE_I64, RINGSIDE_U64], 4, stat)) call c_f_pointer(array%data, to, array%shape(1:4))
  end subroutine

  ! ---- Runs, results and records ----

  type(ringside_run) function run_of(found) result(run)
    type(c_run), intent(in) :: found
    run%run_id = found%run_id
    run%problem_id = found%problem_id
    run%started_unix_ns = found%started_unix_ns
    run%work = found%work
    run%solver = fortran_string(found%solver)
    run%problem = fortran_string(found%problem)
    run%parameters = fortran_string(found%parameters)
  end function

  !> The values as doubles; none if they are absent.
  function values_of(found) result(values)
    type(c_result), intent(in) :: found
    real(c_double), allocatable :: values(:)
    real(c_double), pointer :: doubles(:)
    integer(c_int64_t), pointer :: words(:)
    allocate (values(0))
    if (.not. c_associated(found%values)) return
    select case (found%type)
    case (RINGSIDE_VALUE_F64)
      call c_f_pointer(found%values, doubles, [found%count])
      values = doubles
    case (RINGSIDE_VALUE_I64)
      call c_f_pointer(found%values, words, [found%count])
      values = real(words, c_double)
    case (RINGSIDE_VALUE_I128)
      call c_f_pointer(found%values, words, [2*found%count])
      values = real(words(2::2), c_double)*2.0_c_double**64 + real(words(1::2), c_double)
      where (words(1::2) < 0) values = values + 2.0_c_double**64
    end select
  end function

  function results_of(found, status) result(results)
    type(c_result), intent(in) :: found(:)
    integer(c_int32_t), intent(in) :: status
    type(ringside_result), allocatable :: results(:)
    integer :: i
    allocate (results(merge(size(found), 0, status == RINGSIDE_OK .or. status == RINGSIDE_PENDING)))
    do i = 1, size(results)
      results(i)%name = fortran_string(found(i)%name)
      results(i)%unit = fortran_string(found(i)%unit)
      results(i)%type = found(i)%type
      results(i)%values = values_of(found(i))
    end do
  end function

  type(ringside_record) function record_of(kept) result(record)
    type(c_record), intent(in) :: kept
    record%kind = kept%kind
    record%seq = kept%seq
    record%unix_ns = kept%unix_ns
    record%run_id = kept%run_id
    record%step = kept%step
    record%iteration = kept%iteration
    record%commit_seq = kept%commit_seq
    record%published_at_ns = kept%published_at_ns
    record%generate_ns = kept%generate_ns
    record%producer_idle_ns = kept%producer_idle_ns
    record%analyzer_idle_ns = kept%analyzer_idle_ns
    record%hand_off_ns = kept%hand_off_ns
    record%transfer_ns = kept%transfer_ns
    record%commit_ns = kept%commit_ns
    record%analyze_ns = kept%analyze_ns
    record%record_ns = kept%record_ns
    record%bytes_transferred = kept%bytes_transferred
    record%skipped_before = kept%skipped_before
    record%rebuilt = kept%rebuilt /= 0
    record%broke_lease = kept%broke_lease /= 0
    record%solver = fortran_string(kept%solver)
    record%problem = fortran_string(kept%problem)
    record%parameters = fortran_string(kept%parameters)
    record%how = fortran_string(kept%how)
    record%text = fortran_string(kept%text)
    record%cause = fortran_string(kept%cause)
    record%name = fortran_string(kept%name)
    record%actions = fortran_string(kept%actions)
    record%exit_code = kept%exit_code
    record%outcome = kept%outcome
  end function

  ! ---- Statuses and strings ----

  !> The library's version: '0.2.0'.
  function ringside_version() result(version)
    character(len=:), allocatable :: version
    version = fortran_string(c_version())
  end function

  !> Passes a status on. A failure that the caller does not ask for ends the program.
  subroutine conclude(status, line, stat)
    integer(c_int32_t), intent(in) :: status
    character(*), intent(in) :: line
    integer, intent(out), optional :: stat
    if (present(stat)) then
      stat = status
    else if (status /= RINGSIDE_OK) then
      write (error_unit, '(a)') line
      stop max(status, 1), quiet=.true.  ! error stop would add a backtrace
    end if
  end subroutine

  logical function concluded_claim(self, status, stat) result(claimed)
    class(ringside_writer), intent(in) :: self
    integer(c_int32_t), intent(in) :: status
    integer, intent(out), optional :: stat
    claimed = status == RINGSIDE_OK
    if (present(stat)) then
      stat = status
    else if (status > 0 .and. status /= RINGSIDE_INTERRUPTED) then
      call conclude(status, self%line())
    end if
  end function

  !> The address of the text as a string of C in `storage`; c_null_ptr if it is absent.
  type(c_ptr) function c_string(storage, text) result(address)
    type(c_text), intent(inout), target :: storage
    character(*), intent(in), optional :: text
    integer :: i
    address = c_null_ptr
    if (.not. present(text)) return
    allocate (storage%bytes(len_trim(text) + 1))
    do i = 1, len_trim(text)
      storage%bytes(i) = text(i:i)
    end do
    storage%bytes(len_trim(text) + 1) = c_null_char
    address = c_loc(storage%bytes)
  end function

  function fortran_string(text) result(string)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: string
    character(kind=c_char), pointer :: bytes(:)
    if (.not. c_associated(text)) then
      string = ''
      return
    end if
    call c_f_pointer(text, bytes, [c_strlen(text) + 1])
    string = string_of(bytes)
  end function

  !> A text of C, up to its zero byte.
  function string_of(bytes) result(string)
    character(kind=c_char), intent(in) :: bytes(:)
    character(len=:), allocatable :: string
    integer :: i
    allocate (character(len=findloc(bytes, c_null_char, dim=1) - 1) :: string)
    do i = 1, len(string)
      string(i:i) = bytes(i)
    end do
  end function

  !> The error of a handle, or the refusal of one that there is not.
  type(c_error) function last_error(of_handle, handle, refusal)
    type(c_ptr), intent(in) :: of_handle, handle
    type(c_error), intent(in) :: refusal
    type(c_error), pointer :: error
    last_error = refusal
    if (.not. c_associated(handle)) return
    call c_f_pointer(of_handle, error)
    last_error = error
  end function
end module
