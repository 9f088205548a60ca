! SPDX-License-Identifier: BSD-3-Clause
! The Fortran face of ringside.h: handles as derived types, Fortran strings, and Fortran arrays of claimed buffers and of
! held steps, without a copy. Compile this file with the program that uses it, and link libringside. (Ringside's build makes this file
! of ringside.h and library/fortran.)
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
! dimension contiguous. A logical function returns .false. if there is nothing, or nothing more. A failure sets
! `stat` (RINGSIDE_USAGE ... RINGSIDE_PENDING); line() has its line, and reason() returns the cause of RINGSIDE_USAGE. Without
! `stat` it ends the program with this line and the status as exit code. A handle is not copied. For everything else (threads,
! fork, lifetimes, units) ringside.h is valid.
module ringside
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  !@ constants
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

  !> A run as the pool keeps it.
  type, public :: ringside_run
    integer(c_int8_t) :: run_id(16) = 0_c_int8_t, problem_id(16) = 0_c_int8_t
    integer(c_int64_t) :: started_unix_ns = 0, work = 0
    character(len=:), allocatable :: solver, problem, parameters
  end type

  !> A result of a step, by its full name ("x.l2", "solver.rho"). type: as recorded; values: as doubles, none if they are absent or
  !> not recorded yet.
  type, public :: ringside_result
    character(len=:), allocatable :: name, unit
    integer :: type = 0
    real(c_double), allocatable :: values(:)
  end type

  !> A record of the journal: RINGSIDE_RECORD_... Members that its kind does not have are 0 or ''. Times are in nanoseconds.
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
    !@ pointer_names
  end interface
  public :: ringside_field, ringside_state, ringside_f_pointer
  public :: ringside_version, ringside_interface, ringside_dtype_bytes, ringside_catch_bus_errors

  ! The structs of ringside.h; two are public.
  !@ structs

  !> A run that is published.
  type, public :: ringside_writer
    private
    type(c_ptr) :: handle = c_null_ptr
    type(c_variable), allocatable :: variables(:)
    type(c_error) :: refusal  ! why the last attempt made no handle
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
    procedure :: claim_at_once => writer_claim_at_once
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
    type(c_error) :: refusal  ! why the last attempt made no handle
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
    !@ interfaces
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
