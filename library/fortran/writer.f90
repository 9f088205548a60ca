! SPDX-License-Identifier: BSD-3-Clause
  ! ---- Writing ----

  !> Attaches to an analyzer. An absent argument takes its value from the environment of `ringside run -- PROGRAM`, or is a default.
  !> pool: without a socket, the library starts an analyzer for this run, which keeps the steps in that file. run_options: options of
  !> `ringside run` for this analyzer ('--slots 16'). stop: a value other than 0 ends a wait. The variable lives until the handle is
  !> freed, and a signal handler may set it. shares_core: the analyzer runs on the solver's core, so no wait spins. lent_cores: these
  !> cores are lent to the analyzer while a claim waits. problem_id: 16 bytes.
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
    type(c_writer_options) :: options
    type(c_scalar), allocatable :: all_scalars(:)
    type(c_text), target :: texts(6), names(size(variables)), units(size(variables))
    type(c_text), allocatable, target :: scalar_names(:), scalar_units(:)
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
    status = c_writer_attach(options, self%variables, size(self%variables, kind=c_size_t), all_scalars, &
      size(all_scalars, kind=c_size_t), self%handle, self%refusal)
    call conclude(status, self%line(), stat)
  end subroutine

  !> The iteration of the step that the run continues from; 0 if it begins anew, or after the first publish.
  integer(c_int64_t) function writer_kept_iteration(self) result(iteration)
    iteration = 0
    status = c_writer_kept(self%handle, iteration)
    if (status > 0) call conclude(status, self%line())
  end function

  !> That iteration + 1.
  integer(c_int64_t) function writer_next_iteration(self) result(iteration)
    iteration = self%kept_iteration() + 1
  end function

  !> That step's variable, to be read until the first publish. Its data is c_null_ptr if the run begins anew.
  function writer_kept(self, variable) result(array)
    integer, intent(in) :: variable
    type(ringside_array) :: array
    type(c_ptr) :: data
    integer(c_size_t) :: bytes
    status = c_writer_kept_variable(self%handle, int(variable - 1, c_int32_t), data, bytes)
    if (status == RINGSIDE_OK) array = array_of(self%variables(variable), data)
    if (status > 0) call conclude(status, self%line())
  end function

  !> A copy of it as doubles, flat; of size 0 if the run begins anew.
  function writer_kept_doubles(self, variable) result(doubles)
    integer, intent(in) :: variable
    real(c_double), allocatable :: doubles(:)
    real(c_double), pointer :: kept(:)
    call ringside_f_pointer(self%kept(variable), kept)
    allocate (doubles(0))
    if (associated(kept)) doubles = kept
  end function

  !> That step's scalar. False: the run begins anew, or the step does not have it.
  logical function writer_kept_f64(self, scalar, value) result(there)
    integer, intent(in) :: scalar
    real(c_double), intent(inout) :: value
    integer(c_int64_t) :: word
    there = writer_kept_i64(self, scalar, word)
    if (there) value = transfer(word, value)
  end function
  logical function writer_kept_i64(self, scalar, value) result(there)
    integer, intent(in) :: scalar
    integer(c_int64_t), intent(inout) :: value
    integer(c_int64_t) :: word
    status = c_writer_kept_scalar(self%handle, int(scalar - 1, c_int32_t), word)
    there = status == RINGSIDE_OK
    if (there) value = word
    if (status > 0) call conclude(status, self%line())
  end function

  !> Waits for the buffer of the next step. False: the run is to stop, or no analyzer is there and RINGSIDE_LOSS_SKIP
  !> was chosen.
  logical function writer_claim(self, stat) result(claimed)
    claimed = concluded_claim(self, c_writer_claim(self%handle), stat)
  end function
  !> The same without waiting: false if no buffer is free.
  logical function writer_try_claim(self, stat) result(claimed)
    claimed = concluded_claim(self, c_writer_try_claim(self%handle), stat)
  end function
  !> The same without any wait, also not for another analyzer: false if a claim might wait or fail.
  logical function writer_claim_at_once(self, stat) result(claimed)
    claimed = concluded_claim(self, c_writer_claim_at_once(self%handle), stat)
  end function
  !> The same for the last step of a run that was stopped.
  logical function writer_claim_last(self, stat) result(claimed)
    claimed = concluded_claim(self, c_writer_claim_last(self%handle), stat)
  end function

  !> Counts a step as skipped: one that the solver made and does not publish.
  subroutine writer_skip(self, stat)
    status = c_writer_skip(self%handle)
    call conclude(status, self%line(), stat)
  end subroutine

  !> A variable of the claimed step, to be written. Its data is c_null_ptr if no step is claimed.
  function writer_buffer(self, variable) result(array)
    integer, intent(in) :: variable
    type(ringside_array) :: array
    type(c_ptr) :: data
    data = c_writer_buffer(self%handle, int(variable - 1, c_int32_t))
    if (c_associated(data)) array = array_of(self%variables(variable), data)
  end function

  !> The same as doubles, flat. It may be assigned to: run%doubles(1) = x.
  function writer_doubles(self, variable) result(doubles)
    integer, intent(in) :: variable
    real(c_double), pointer :: doubles(:)
    call ringside_f_pointer(self%buffer(variable), doubles)
  end function

  !> The same variable of the step before, to be read: of the one that was published last, or of the kept one before the first
  !> publish. Its data is c_null_ptr if there is none. Valid until the next publish.
  function writer_previous(self, variable) result(array)
    integer, intent(in) :: variable
    type(ringside_array) :: array
    type(c_ptr) :: data
    data = c_writer_previous(self%handle, int(variable - 1, c_int32_t))
    if (c_associated(data)) array = array_of(self%variables(variable), data)
  end function

  !> The same as doubles, flat.
  function writer_previous_doubles(self, variable) result(doubles)
    integer, intent(in) :: variable
    real(c_double), pointer :: doubles(:)
    call ringside_f_pointer(self%previous(variable), doubles)
  end function

  !> Publishes the claimed step. scalars: in the order declared; an integer n is transfer(n, 1.0_c_double), n of kind
  !> c_int64_t. generate_ns: the time that the solver measured for making the step.
  subroutine writer_publish_64(self, iteration, scalars, generate_ns, stat)
    integer(c_int64_t), intent(in) :: iteration
    real(c_double), intent(in), contiguous, optional :: scalars(:)
    integer(c_int64_t), intent(in), optional :: generate_ns
    if (present(generate_ns)) then
      status = c_writer_publish_timed(self%handle, iteration, generate_ns, scalars, count_of(scalars))
    else
      status = c_writer_publish(self%handle, iteration, scalars, count_of(scalars))
    end if
    if (present(stat)) stat = status
    if (status /= RINGSIDE_OK .and. .not. present(stat)) call conclude(status, self%line())
  end subroutine
  subroutine writer_publish_32(self, iteration, scalars, generate_ns, stat)
    integer(c_int32_t), intent(in) :: iteration
    real(c_double), intent(in), contiguous, optional :: scalars(:)
    integer(c_int64_t), intent(in), optional :: generate_ns
    call writer_publish_64(self, int(iteration, c_int64_t), scalars, generate_ns, stat)
  end subroutine

  !> Claims, copies and publishes in one call. arrays: for each variable where its bytes are, as c_loc(x). False as a claim.
  logical function writer_put_64(self, iteration, arrays, scalars, stat) result(put)
    integer(c_int64_t), intent(in) :: iteration
    type(c_ptr), intent(in) :: arrays(:)
    real(c_double), intent(in), contiguous, optional :: scalars(:)
    type(c_ptr) :: of_each(MOST_VARIABLES)
    of_each = c_null_ptr  ! the library refuses NULL, so also a missing array
    if (allocated(self%variables)) then
      if (size(arrays) == size(self%variables)) of_each(1:size(arrays)) = arrays
    end if
    put = concluded_claim(self, c_writer_put(self%handle, iteration, of_each, scalars, count_of(scalars)), stat)
  end function
  logical function writer_put_32(self, iteration, arrays, scalars, stat) result(put)
    integer(c_int32_t), intent(in) :: iteration
    type(c_ptr), intent(in) :: arrays(:)
    real(c_double), intent(in), contiguous, optional :: scalars(:)
    put = writer_put_64(self, int(iteration, c_int64_t), arrays, scalars, stat)
  end function
  integer(c_size_t) function count_of(scalars) result(count)
    real(c_double), intent(in), optional :: scalars(:)
    count = 0
    if (present(scalars)) count = size(scalars, kind=c_size_t)
  end function

  !> Steps that were published and skipped, and the time that claims waited.
  type(ringside_counts) function writer_counts(self) result(counts)
    counts%size = int(c_sizeof(counts), c_int32_t)
    status = c_writer_counts(self%handle, counts)
    if (status /= RINGSIDE_OK) call conclude(status, self%line())
  end function

  !> The number that a trigger of the run has answered with reply:VALUE, as the last claim found it, and how many replies there
  !> were; number is 0, and value unchanged, if there was none.
  subroutine writer_reply(self, value, number)
    real(c_double), intent(inout) :: value
    integer(c_int64_t), intent(out) :: number
    number = 0
    status = c_writer_reply(self%handle, value, number)
    if (status /= RINGSIDE_OK .and. status /= RINGSIDE_ABSENT) call conclude(status, self%line())
  end subroutine

  !> This run: a resumed one has the run_id of the run that it continues.
  type(ringside_run) function writer_run(self) result(run)
    type(c_run) :: found
    found%size = int(c_sizeof(found), c_int32_t)
    status = c_writer_run(self%handle, found)
    if (status /= RINGSIDE_OK) call conclude(status, self%line())
    run = run_of(found)
  end function

  !> Of a run with `pool`, after its detach: the account, a JSON object; otherwise ''.
  function writer_account(self) result(account)
    character(len=:), allocatable :: account
    account = fortran_string(c_writer_account(self%handle))
  end function

  !> A message of the analyzer to the user about the attachment; '' in most cases.
  function writer_note(self) result(note)
    character(len=:), allocatable :: note
    note = fortran_string(c_writer_note(self%handle))
  end function

  !> Ends the run. Returns when every published step is committed.
  subroutine writer_detach(self, outcome, stat)
    integer, intent(in), optional :: outcome
    integer(c_int32_t) :: status, ended
    ended = RINGSIDE_OUTCOME_FINISHED
    if (present(outcome)) ended = int(outcome, c_int32_t)
    status = c_writer_detach(self%handle, ended)
    call conclude(status, self%line(), stat)
  end subroutine

  !> Without a detach before it, the run counts as lost, and may be resumed.
  subroutine writer_free(self)
    class(ringside_writer), intent(inout) :: self
    call c_writer_free(self%handle)
    self%handle = c_null_ptr
    if (allocated(self%variables)) deallocate (self%variables)
  end subroutine
