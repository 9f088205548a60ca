! SPDX-License-Identifier: BSD-3-Clause
  ! ---- Reading ----

  !> wait_s: how long to wait for a pool that does not exist yet. follow: RINGSIDE_FOLLOW_RUN, or RINGSIDE_FOLLOW_POOL. stop: not 0 ends a wait;
  !> it lives until the handle is freed, and a signal handler may set it.
  subroutine reader_open(self, pool, wait_s, follow, stop, stat)
    class(ringside_reader), intent(inout) :: self
    character(*), intent(in) :: pool
    real(c_double), intent(in), optional :: wait_s
    integer, intent(in), optional :: follow
    integer(c_int), intent(in), target, optional :: stop
    type(c_text), target :: path
    type(c_reader_options) :: options
    type(c_variable) :: none(0)
    integer(c_size_t) :: count
    call self%free()
    count = 0
    options%size = int(c_sizeof(options), c_int32_t)
    if (present(wait_s)) options%wait_s = wait_s
    if (present(follow)) options%follow = int(follow, c_int32_t)
    if (present(stop)) options%stop = c_loc(stop)
    self%refusal%size = int(c_sizeof(self%refusal), c_int32_t)
    status = c_reader_open(c_string(path, pool), options, self%handle, self%refusal)
    if (status == RINGSIDE_OK) status = c_reader_variables(self%handle, none, 0_c_size_t, count)
    if (status == RINGSIDE_OK) then
      allocate (self%variables(count))
      self%variables%size = int(c_sizeof(self%variables(1)), c_int32_t)
      status = c_reader_variables(self%handle, self%variables, count, count)
    end if
    call conclude(status, self%line(), stat)
  end subroutine

  integer function reader_variable_count(self) result(count)
    count = 0
    if (associated(self%variables)) count = size(self%variables)
  end function

  !> A variable of every step in the pool: 1 <= number <= variable_count().
  function reader_variable(self, number) result(variable)
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
    character(*), intent(in) :: name
    do number = self%variable_count(), 1, -1
      if (fortran_string(self%variables(number)%name) == name) return
    end do
  end function

  !> The runs in the pool, the newest last.
  function reader_runs(self, stat) result(runs)
    type(ringside_run), allocatable :: runs(:)
    type(c_run), allocatable :: found(:)
    integer(c_size_t) :: count, i
    count = 0
    allocate (found(0))
    status = c_reader_runs(self%handle, found, 0_c_size_t, count)
    deallocate (found)
    allocate (found(count))
    found%size = int(c_sizeof(c_run()), c_int32_t)
    if (status == RINGSIDE_OK) status = c_reader_runs(self%handle, found, size(found, kind=c_size_t), count)
    call conclude(status, self%line(), stat)
    allocate (runs(min(count, size(found, kind=c_size_t))))
    do i = 1, size(runs, kind=c_size_t)
      runs(i) = run_of(found(i))
    end do
  end function

  !> The committed steps, by ascending commit_seq.
  function reader_steps(self, stat) result(steps)
    type(ringside_step_info), allocatable :: steps(:)
    integer(c_size_t) :: count
    count = 0
    allocate (steps(0))
    status = c_reader_steps(self%handle, steps, 0_c_size_t, count)
    deallocate (steps)
    allocate (steps(count))
    steps%size = int(c_sizeof(ringside_step_info()), c_int32_t)
    if (status == RINGSIDE_OK) status = c_reader_steps(self%handle, steps, size(steps, kind=c_size_t), count)
    steps = steps(1:min(count, size(steps, kind=c_size_t)))
    call conclude(status, self%line(), stat)
  end function

  !> The oldest kept step whose commit_seq is greater than `after`. False: none came within timeout_s (less than 0: no limit),
  !> the run has ended and there is no further step (stat is RINGSIDE_END), or `stop` became other than 0.
  logical function reader_next(self, after, timeout_s, info, stat) result(found)
    integer(c_int64_t), intent(in) :: after
    real(c_double), intent(in) :: timeout_s
    type(ringside_step_info), intent(inout) :: info
    info%size = int(c_sizeof(info), c_int32_t)
    status = c_reader_next(self%handle, after, timeout_s, info)
    found = status == RINGSIDE_OK
    if (present(stat)) stat = status
    if (status > 0 .and. status /= RINGSIDE_INTERRUPTED .and. .not. present(stat)) call conclude(status, self%line())
  end function

  !> Copies a variable of a step without a hold, and verifies the copy: copy(seq, 1, c_loc(x), c_sizeof(x)). False: the step is no
  !> longer kept, or not there yet; the contents of `to` are then undefined.
  logical function reader_copy(self, commit_seq, variable, to, bytes, stat) result(copied)
    integer(c_int64_t), intent(in) :: commit_seq
    integer, intent(in) :: variable
    type(c_ptr), intent(in) :: to
    integer(c_size_t), intent(in) :: bytes
    status = c_reader_copy(self%handle, commit_seq, int(variable - 1, c_int32_t), to, bytes)
    copied = status == RINGSIDE_OK
    if (present(stat)) stat = status
    if (status > 0 .and. .not. present(stat)) call conclude(status, self%line())
  end function

  !> Holds a step. commit_seq: absent for the newest. False: it is no longer kept, or the pool is empty.
  logical function reader_hold(self, step, commit_seq, stat) result(held)
    type(ringside_step), intent(inout) :: step
    integer(c_int64_t), intent(in), optional :: commit_seq
    integer(c_int64_t) :: wanted
    call step%release(status)
    wanted = RINGSIDE_NEWEST
    if (present(commit_seq)) wanted = commit_seq
    status = c_reader_hold(self%handle, wanted, step%handle)
    held = status == RINGSIDE_OK
    if (present(stat)) stat = status
    if (held) then
      step%reader = self%handle
      step%variables => self%variables
      step%info%size = int(c_sizeof(step%info), c_int32_t)
      status = c_step_describe(step%handle, step%info)
    else if (status > 0 .and. .not. present(stat)) then
      call conclude(status, self%line())
    end if
  end function

  !> The values recorded of a step under a full name ("x.l2", "solver.rho"), as doubles; none if they are absent, or not
  !> recorded yet.
  function reader_values(self, commit_seq, name) result(values)
    integer(c_int64_t), intent(in) :: commit_seq
    character(*), intent(in) :: name
    real(c_double), allocatable :: values(:)
    type(c_text), target :: wanted
    type(c_result) :: found
    allocate (values(0))
    found%size = int(c_sizeof(found), c_int32_t)
    status = c_reader_find_result(self%handle, commit_seq, c_string(wanted, name), found)
    if (status > 0) call conclude(status, self%line())
    if (status == RINGSIDE_OK) values = values_of(found)
  end function

  !> The results of a step, by name; none if the step is not there. Until the reductions are recorded they have no values, and stat is
  !> RINGSIDE_PENDING.
  function reader_results(self, commit_seq, stat) result(results)
    integer(c_int64_t), intent(in) :: commit_seq
    type(ringside_result), allocatable :: results(:)
    type(c_result), allocatable :: found(:)
    integer(c_size_t) :: count
    count = 0
    allocate (found(0))
    status = c_reader_results(self%handle, commit_seq, found, 0_c_size_t, count)
    if (status == RINGSIDE_OK .or. status == RINGSIDE_PENDING) then
      deallocate (found)
      allocate (found(count))
      found%size = int(c_sizeof(c_result()), c_int32_t)
      status = c_reader_results(self%handle, commit_seq, found, count, count)
    end if
    results = results_of(found, status)
    if (present(stat)) stat = status
    if (status > 0 .and. .not. present(stat)) call conclude(status, self%line())
  end function

  !> The first record of the journal whose seq is at least `from`: all steps, also those that the ring has overwritten. False:
  !> there is none yet (stat is RINGSIDE_END), or the pool has no journal (RINGSIDE_ABSENT).
  logical function reader_next_record(self, from, record, stat) result(found)
    integer(c_int64_t), intent(in) :: from
    type(ringside_record), intent(inout) :: record
    type(c_record) :: kept
    kept%size = int(c_sizeof(kept), c_int32_t)
    status = c_reader_next_record(self%handle, from, kept)
    found = status == RINGSIDE_OK
    if (found) record = record_of(kept)
    if (present(stat)) stat = status
    if (status > 0 .and. .not. present(stat)) call conclude(status, self%line())
  end function

  !> The results of that record, by name; none if it is no step.
  function reader_record_results(self, stat) result(results)
    type(ringside_result), allocatable :: results(:)
    type(c_result), allocatable :: found(:)
    integer(c_size_t) :: count
    count = 0
    allocate (found(0))
    status = c_reader_record_results(self%handle, found, 0_c_size_t, count)
    if (status == RINGSIDE_OK) then
      deallocate (found)
      allocate (found(count))
      found%size = int(c_sizeof(c_result()), c_int32_t)
      status = c_reader_record_results(self%handle, found, count, count)
    end if
    results = results_of(found, status)
    call conclude(status, self%line(), stat)
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
    integer, intent(in) :: variable
    type(ringside_array) :: array
    type(c_ptr) :: data
    integer(c_size_t) :: bytes
    status = c_step_view(self%handle, int(variable - 1, c_int32_t), data, bytes)
    if (status == RINGSIDE_OK) array = array_of(self%variables(variable), data)
    call conclude(status, step_line(self), stat)
  end function

  !> The same as doubles, flat.
  function step_doubles(self, variable) result(doubles)
    integer, intent(in) :: variable
    real(c_double), pointer :: doubles(:)
    call ringside_f_pointer(self%view(variable), doubles)
  end function

  !> Hashes a variable in place, or all of them, and checks.
  subroutine step_verify(self, variable, stat)
    integer, intent(in), optional :: variable
    integer(c_int32_t) :: status, number
    number = -1_c_int32_t  ! RINGSIDE_ALL_VARIABLES
    if (present(variable)) number = int(variable - 1, c_int32_t)
    status = c_step_verify(self%handle, number)
    call conclude(status, step_line(self), stat)
  end subroutine

  !> RINGSIDE_OK: everything that was read through views of this step until now was of this step.
  subroutine step_check(self, stat)
    call conclude(c_step_check(self%handle), step_line(self), stat)
  end subroutine

  !> The last check, and the end of the hold. Does nothing if the step is not held.
  subroutine step_release(self, stat)
    class(ringside_step), intent(inout) :: self
    status = c_step_release(self%handle)
    self%handle = c_null_ptr
    if (status == RINGSIDE_OK) then
      if (present(stat)) stat = RINGSIDE_OK
      return
    end if
    call conclude(status, step_line(self), stat)
  end subroutine

  function step_line(self) result(line)
    character(len=:), allocatable :: line
    type(c_error), pointer :: error
    call c_f_pointer(c_reader_error(self%reader), error)
    line = string_of(error%line)
  end function
