# SPDX-License-Identifier: BSD-3-Clause
# Generates manual pages, completions and settings from the programs (--help-as) and from the scripts' --help. Run with
# cmake -P: BIN contains the programs, OUTPUT is emptied and filled, SCRIPTS are shell scripts for administrators. If
# PROGRAMS is given, only the pages and completions of these programs are generated.
cmake_minimum_required(VERSION 3.25)
unset(ENV{RINGSIDE_LOG_LEVEL})  # otherwise the files written here would contain it as a setting
file(REMOVE_RECURSE "${OUTPUT}")

# generate(FILE PROGRAM ARGUMENT...) writes the program's output to the file.
function(generate file program)
  get_filename_component(folder "${OUTPUT}/${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${BIN}/${program}" ${ARGN} OUTPUT_FILE "${OUTPUT}/${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(programs ringside ringside-producer ringside-analyzer ringside-memory)
if(PROGRAMS)
  set(programs ${PROGRAMS})
endif()
foreach(program ${programs})
  generate(man/man1/${program}.1 ${program} --help-as=man)
  generate(bash-completion/completions/${program} ${program} --help-as=bash)
  generate(zsh/_${program} ${program} --help-as=zsh)
  generate(fish/vendor_completions.d/${program}.fish ${program} --help-as=fish)
endforeach()
if(PROGRAMS)
  file(GLOB pages "${OUTPUT}/man/*/*")
  execute_process(COMMAND "${GZIP}" -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
  file(TOUCH "${OUTPUT}/made")
  return()
endif()
execute_process(COMMAND "${BIN}/ringside" --help-as=subcommands OUTPUT_VARIABLE subcommands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" subcommands "${subcommands}")
foreach(subcommand ${subcommands})
  generate(man/man1/ringside-${subcommand}.1 ringside ${subcommand} --help-as=man)
endforeach()
execute_process(COMMAND "${BIN}/ringside-memory" --help-as=subcommands
  OUTPUT_VARIABLE subcommands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" subcommands "${subcommands}")
foreach(subcommand ${subcommands})
  generate(man/man1/ringside-memory-${subcommand}.1 ringside-memory ${subcommand} --help-as=man)
endforeach()

# The names and manual sections of the installed scripts.
set(name_provision_pmem ringside-provision-pmem)
set(section_provision_pmem 8)
set(name_start_node ringside-start-node)
set(section_start_node 1)
foreach(script ${SCRIPTS})
  get_filename_component(key "${script}" NAME_WE)
  set(page "${OUTPUT}/man/man${section_${key}}/${name_${key}}.${section_${key}}")
  get_filename_component(folder "${page}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(
    COMMAND "${script}" --help
    COMMAND awk -v "name=${name_${key}}" -v "section=${section_${key}}" -v "version=${VERSION}"
      -f "${CMAKE_CURRENT_LIST_DIR}/script_manual.awk" "${script}" -
    OUTPUT_FILE "${page}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()

file(GLOB pages "${OUTPUT}/man/*/*")
execute_process(COMMAND "${GZIP}" -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)

# The settings of the services. The options that are given here differ from the programs' defaults.
generate(settings/analyzer.toml ringside-analyzer --pool=/var/lib/ringside/ringside.pool --help-as=toml)
file(MAKE_DIRECTORY "${OUTPUT}/settings/jobs")
generate(settings/serve.toml ringside serve --help-as=toml)
generate(examples/jobs/grid.toml ringside-producer --matrix=grid:2000 --help-as=toml)
file(TOUCH "${OUTPUT}/made")
