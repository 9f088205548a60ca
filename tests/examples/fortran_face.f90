! SPDX-License-Identifier: BSD-3-Clause
! Uses the parts of the Fortran module that the examples do not use: several variables of several types and ranks,
! scalars, options, statuses, the reader. A test runs this program twice below `ringside run`, first as `face write`,
! then as `face resume` with --resume, and then alone as `face read POOL`. If an expectation is not met, the program
! prints the first such one and ends with exit code 1.
program face
  use ringside
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: nx = 3, ny = 5
  character(len=200) :: word, pool
  integer(c_int), target, volatile :: stop_flag = 0

  call get_command_argument(1, word)
  call get_command_argument(2, pool)
  select case (word)
  case ('write'); call write_steps(1_c_int64_t, 4_c_int64_t)
  case ('resume'); call write_steps(5_c_int64_t, 6_c_int64_t)
  case ('read'); call read_steps()
  end select
contains

  subroutine expect(met, what)
    logical, intent(in) :: met
    character(*), intent(in) :: what
    if (met) return
    print '(2a)', 'not met: ', what
    stop 1, quiet=.true.
  end subroutine

  !> The entry (i, j) of step k. All entries differ, so that a transposed array is detected.
  real(c_double) elemental function entry(k, i, j)
    integer(c_int64_t), intent(in) :: k
    integer, intent(in) :: i, j
    entry = real(k, c_double) + 0.1_c_double*i + 0.01_c_double*j
  end function

  subroutine write_steps(first, last)
    integer(c_int64_t), intent(in) :: first, last
    type(ringside_writer) :: run
    type(ringside_array) :: array
    real(c_double), pointer :: t(:, :), before(:, :), flat(:), t_4(:, :, :, :)
    complex(c_float_complex), pointer :: z(:)
    integer(c_int32_t), pointer :: counts(:, :, :)
    integer(c_int32_t), pointer :: bytes(:, :)
    real(c_float), pointer :: wrong(:)
    real(c_double) :: rho
    integer(c_int64_t) :: k, sweeps
    real(c_double), target :: t_put(nx, ny), t_4_put(2, 1, 1, 3)
    complex(c_float_complex), target :: z_put(4)
    integer(c_int32_t), target :: counts_put(2, 3, 4)
    type(ringside_run) :: described
    type(ringside_counts) :: counted
    integer :: i, j, stat
    logical :: claimed

    call expect(len(ringside_version()) >= 5 .and. ringside_interface() >= 1, 'the library has a version')
    call expect(ringside_dtype_bytes(RINGSIDE_C128) == 16, 'the bytes of a dtype')
    call run%attach([ringside_field('t', [nx, ny], unit='K')], socket='nowhere', peer_timeout_s=0.01_c_double, stat=stat)
    call expect(stat == RINGSIDE_PEER_LOST .and. index(run%line(), 'nowhere') > 0, 'an attachment without an analyzer fails')
    call expect(run%reason() == 0, 'a lost analyzer has no reason')
    call run%attach([ringside_field('t', [nx, ny], dtype=99)], stat=stat)
    call expect(stat == RINGSIDE_USAGE .and. len(run%line()) > 10, 'an unknown dtype is refused')
    call expect(run%reason() == RINGSIDE_REASON_ARGUMENT, 'the reason is an argument')
    call run%attach([ringside_field('t', [nx, ny])], coordination=9, stat=stat)
    call expect(stat == RINGSIDE_USAGE .and. index(run%line(), '9') > 0, 'an unknown coordination is refused')

    call run%attach([ringside_field('t', [nx, ny])], lent_cores=[-1_c_int32_t], stat=stat)
    call expect(stat == RINGSIDE_USAGE .and. index(run%line(), '-1') > 0, 'an unknown core is refused')

    call run%attach([ringside_field('t', [nx, ny], unit='K'), ringside_state('z', [4_c_int64_t], dtype=RINGSIDE_C64), &
      ringside_state('counts', [2, 3, 4], dtype=RINGSIDE_I32), ringside_state('t_4', [2, 1, 1, 3])], &
      scalars=[ringside_scalar(name='rho', unit='1'), ringside_scalar(name='sweeps', unit='', type=RINGSIDE_VALUE_I64)], &
      solver='face', problem='a plate', parameters='nx=3 ny=5', buffers=3, work=15_c_int64_t, stop=stop_flag, &
      coordination=RINGSIDE_COORDINATION_LOCKS, shares_core=.true.)

    described = run%run()
    call expect(described%solver == 'face' .and. described%problem == 'a plate' .and. described%work == 15, 'the run is described')
    call expect(run%note() == '', 'the analyzer has nothing to say')
    call expect(run%next_iteration() == first, 'the run continues after the newest step')
    rho = -1
    call expect(run%kept_scalar(1, rho) .eqv. first > 1, 'a scalar is kept')
    call ringside_f_pointer(run%kept(1), t)
    call expect(associated(t) .eqv. first > 1, 'a variable is kept')
    if (first > 1) then
      call expect(run%kept_iteration() == first - 1, 'the kept iteration')
      call expect(run%kept_scalar(2, sweeps) .and. sweeps == first*7, 'the kept integer')
      call expect(abs(rho - 1/real(first - 1, c_double)) < 1e-15_c_double, 'the kept double')
      call expect(all(shape(t) == [nx, ny]) .and. all_entries(t, first - 1), 'the kept array')
      call expect(size(run%kept_doubles(1)) == nx*ny, 'the kept array is flat')
    else
      call expect(size(run%kept_doubles(1)) == 0, 'nothing is kept')
    end if

    call expect(.not. associated(run%doubles(1)), 'no step is claimed')
    do k = first, last
      if (mod(k, 2_c_int64_t) == 0) then
        t_put = reshape([((entry(k, i, j), i=1, nx), j=1, ny)], [nx, ny])
        z_put = cmplx(k, -k, c_float_complex)
        counts_put = int(k, c_int32_t)
        t_4_put = k
        call expect(.not. run%put(k, [c_loc(t_put)], stat=stat) .and. stat == RINGSIDE_USAGE, 'one array of four is refused')
        call expect(run%put(k, [c_loc(t_put), c_loc(z_put), c_loc(counts_put), c_loc(t_4_put)], &
          [1/real(k, c_double), transfer((k + 1)*7, 1.0_c_double)]), 'a step is put')
        cycle
      end if
      call expect(run%claim(), 'a step is claimed')
      call ringside_f_pointer(run%buffer(1), t)
      t = reshape([((entry(k, i, j), i=1, nx), j=1, ny)], [nx, ny])
      call ringside_f_pointer(run%previous(1), before)
      call expect(associated(before) .eqv. k > 1, 'the step before is there')
      if (k > 1) call expect(all_entries(before, k - 1), 'its entries')
      if (k > 1) call expect(same(sum(run%previous_doubles(1)), sum(before)), 'the step before is flat')
      flat => run%doubles(1)
      call expect(size(flat) == nx*ny .and. same(flat(2), entry(k, 2, 1)), 'the first index is the contiguous one')
      call ringside_f_pointer(run%buffer(2), z)
      z = cmplx(k, -k, c_float_complex)
      array = run%buffer(3)
      call ringside_f_pointer(array, counts)
      call expect(all(shape(counts) == [2, 3, 4]) .and. array%rank == 3, 'three dimensions')
      counts = int(k, c_int32_t)
      call ringside_f_pointer(run%buffer(1), wrong, stat)
      call expect(stat == RINGSIDE_USAGE .and. .not. associated(wrong), 'a pointer of another type is refused')
      call ringside_f_pointer(run%buffer(4), t_4)
      t_4(2, 1, 1, 3) = k
      call expect(all(shape(t_4) == [2, 1, 1, 3]), 'four dimensions')
      call ringside_f_pointer(run%buffer(3), bytes, stat)
      call expect(stat == RINGSIDE_USAGE .and. .not. associated(bytes), 'a pointer of another rank is refused')
      call run%publish(k - 1, stat=stat)
      call expect(stat == RINGSIDE_USAGE .and. index(run%line(), 'iteration') > 0, 'an earlier iteration is refused')
      call run%publish(k, generate_ns=-1_c_int64_t, stat=stat)
      call expect(stat == RINGSIDE_USAGE, 'a time is not negative')
      call run%publish(k, [1/real(k, c_double), transfer((k + 1)*7, 1.0_c_double)], generate_ns=12345_c_int64_t)
    end do
    claimed = run%claim_at_once(stat)
    call expect(claimed .eqv. stat == RINGSIDE_OK, 'a claim of a buffer that is free')
    claimed = run%try_claim(stat)
    call expect(claimed .eqv. stat == RINGSIDE_OK, 'a claim without a wait')
    call run%skip()
    counted = run%counts()
    call expect(counted%published == last - first + 1 .and. counted%skipped == 1, 'what was published is counted')
    call run%detach(RINGSIDE_OUTCOME_FINISHED)
    call run%free()
  end subroutine

  subroutine read_steps()
    type(ringside_reader) :: reader
    type(ringside_variable) :: variable
    type(ringside_step) :: step
    type(ringside_step_info) :: info
    real(c_double), pointer :: t(:, :)
    complex(c_float_complex), pointer :: z(:)
    real(c_double), allocatable :: values(:)
    type(ringside_step_info), allocatable :: steps(:)
    type(ringside_run), allocatable :: runs(:)
    real(c_double), target :: copy(nx, ny), small(1)
    integer :: stat

    call ringside_catch_bus_errors()
    stop_flag = 1
    call reader%open('no such pool', stat=stat)
    call expect(stat == RINGSIDE_USAGE .and. index(reader%line(), 'no such pool') > 0, 'there is no such pool')
    call expect(reader%reason() == RINGSIDE_REASON_NO_FILE, 'the reason is that there is no file')
    call reader%open('no such pool', wait_s=3600.0_c_double, stop=stop_flag, stat=stat)
    call expect(stat == RINGSIDE_INTERRUPTED, 'a set flag ends the wait for a pool')
    call reader%open(trim(pool), follow=3, stat=stat)
    call expect(stat == RINGSIDE_USAGE, 'an unknown follow is refused')
    stop_flag = 0
    call reader%open(trim(pool))
    call expect(reader%variable_count() == 4 .and. reader%find('z') == 2 .and. reader%find('y') == 0, 'names')
    variable = reader%variable(1)
    call expect(variable%name == 't' .and. variable%unit == 'K' .and. variable%rank == 2, 'the first variable')
    call expect(all(variable%shape(1:2) == [nx, ny]), 'its shape is in Fortran''s order')

    do while (reader%next(info%commit_seq, 60.0_c_double, info, stat))
      call expect(reader%hold(step, info%commit_seq), 'the step is held')
      call expect(step%info%iteration == info%iteration, 'it is that step')
      call step%verify()
      call ringside_f_pointer(step%view(reader%find('t')), t)
      call expect(all_entries(t, info%iteration), 'its entries')
      call ringside_f_pointer(step%view(2), z)
      call expect(all(nint(real(z)) == info%iteration) .and. all(nint(aimag(z)) == -info%iteration), 'the complex entries')
      call step%check()
      values = reader%values(info%commit_seq, 't.sum')
      call expect(size(values) == 1, 'a result')
      call expect(abs(values(1) - sum(t)) < 1e-9_c_double, 'its value')
      values = reader%values(info%commit_seq, 'solver.sweeps')
      call expect(size(values) == 1, 'an integer')
      call expect(nint(values(1)) == (info%iteration + 1)*7, 'its value')
      call expect(size(reader%values(info%commit_seq, 'nothing')) == 0, 'an unknown name has no values')
      call expect(reader%copy(info%commit_seq, 1, c_loc(copy), c_sizeof(copy)), 'a copy')
      call expect(all_entries(copy, info%iteration), 'its entries')
      call expect_results(reader%results(info%commit_seq), sum(t))
      call step%release()
    end do
    call expect(stat == RINGSIDE_END .and. info%iteration == 6, 'the run has ended with the last step')
    call expect(.not. reader%copy(info%commit_seq, 1, c_loc(small), c_sizeof(small), stat) .and. stat == RINGSIDE_USAGE, &
      'a place that is too small is refused')
    call expect(.not. reader%copy(1000_c_int64_t, 1, c_loc(copy), c_sizeof(copy)), 'a step that is not there yet is not copied')
    call expect(size(reader%results(1000_c_int64_t)) == 0, 'it has no results')
    allocate (steps(0), runs(0))  ! gfortran 12 warns of an assignment that allocates
    steps = reader%steps()
    call expect(steps(size(steps))%iteration == 6, 'the newest step is the last one')
    runs = reader%runs()
    call expect(size(runs) == 1 .and. runs(1)%solver == 'face', 'a resumed run is the same run')
    call read_journal(reader)
    call reader%open(trim(pool), follow=RINGSIDE_FOLLOW_POOL)
    call expect(.not. reader%next(info%commit_seq, 0.0_c_double, info, stat) .and. stat == RINGSIDE_TIMEOUT, 'another run may come')
    call expect(reader%hold(step) .and. step%info%iteration == 6, 'the newest step')
    call step%release()
    call expect(.not. reader%hold(step, 1000_c_int64_t), 'a commit that is not kept')
    call reader%free()
  end subroutine

  subroutine expect_results(results, t_sum)
    type(ringside_result), intent(in) :: results(:)
    real(c_double), intent(in) :: t_sum
    integer :: i, found
    found = 0
    do i = 1, size(results)
      if (results(i)%name /= 't.sum') cycle
      found = found + 1
      call expect(results(i)%unit == 'K' .and. results(i)%type == RINGSIDE_VALUE_F64, 'a result''s unit and type')
      call expect(abs(results(i)%values(1) - t_sum) < 1e-9_c_double, 'a result''s value')
    end do
    call expect(found == 1, 'one result of that name')
  end subroutine

  subroutine read_journal(reader)
    type(ringside_reader), intent(in) :: reader
    type(ringside_record) :: record
    integer :: steps, ends, stat
    steps = 0
    ends = 0
    do while (reader%next_record(record%seq + 1, record, stat))
      if (record%kind == RINGSIDE_RECORD_RUN_STARTED) call expect(record%solver == 'face', 'a run begins')
      if (record%kind == RINGSIDE_RECORD_RUN_ENDED) then
        ends = ends + 1
        call expect(record%how == 'detached' .and. record%outcome == RINGSIDE_OUTCOME_FINISHED, 'how it ended')
      end if
      if (record%kind == RINGSIDE_RECORD_STEP) then
        steps = steps + 1
        call expect(record%iteration == steps, 'every step is in the journal')
        if (mod(steps, 2) == 1) call expect(record%generate_ns == 12345, 'the time that the solver measured')
        call expect(size(reader%record_results()) > 2, 'its results')
      else
        call expect(size(reader%record_results()) == 0, 'only a step has results')
      end if
    end do
    call expect(stat == RINGSIDE_END .and. steps == 6 .and. ends == 2, 'both parts of the run')
  end subroutine

  logical function same(a, b)
    real(c_double), intent(in) :: a, b
    same = abs(a - b) <= 0
  end function

  logical function all_entries(t, k)
    real(c_double), intent(in) :: t(:, :)
    integer(c_int64_t), intent(in) :: k
    integer :: i, j
    all_entries = all(abs(t - reshape([((entry(k, i, j), i=1, nx), j=1, ny)], [nx, ny])) <= 0)
  end function
end program
