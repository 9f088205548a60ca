! SPDX-License-Identifier: BSD-3-Clause
  ! ---- Variables and their memory ----

  !@ variables
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
  !@ pointers

  ! ---- Runs, results and records ----

  !@ copies

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

  ! ---- Statuses and strings ----

  !> The library's version: '0.2.0'.
  function ringside_version() result(version)
    character(len=:), allocatable :: version
    version = fortran_string(c_version())
  end function

  !> Returns a status in `stat`. A failure ends the program if the caller passes no `stat`.
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

  !@ errors
  !> The error of a handle, or the refusal of an attempt that made no handle.
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
