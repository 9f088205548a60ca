! SPDX-License-Identifier: BSD-3-Clause
! The solver of publish.c in Fortran. Against an installed library, in any folder:
!     gfortran -O2 -o publish $(pkg-config --variable=fortrandir ringside)/ringside.f90 publish.f90 $(pkg-config --libs ringside)
!     ringside run --pool heat.pool -- ./publish 2000
program publish
  use ringside
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: points = 10000
  integer :: k, iterations
  real(c_double) :: x(points)
  character(len=20) :: argument
  type(ringside_writer) :: run

  iterations = 200
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) iterations
  end if
  x = 0
  x(1) = 100

  call run%attach([ringside_field('x', [points], unit='K')])
  if (run%kept_iteration() > 0) x = run%kept_doubles(1)
  do k = int(run%next_iteration()), iterations  ! your loop
    if (.not. run%claim()) exit
    call heat_step(x)                           ! your solver
    run%doubles(1) = x
    call run%publish(k)
  end do
  call run%detach()

contains

  subroutine heat_step(t)
    real(c_double), intent(inout) :: t(:)
    t(2:points - 1) = t(2:points - 1) + 0.25_c_double*(t(1:points - 2) - 2*t(2:points - 1) + t(3:points))
  end subroutine
end program
