# SPDX-License-Identifier: BSD-3-Clause
# Says where `cmake --install` puts the files; it follows the rules of GNUInstallDirs. A program finds the other files
# relative to its executable (common/program/program_folder), so any prefix works, and an installation can be moved.
# Tests and benchmarks are not installed. deploy/systemd installs its own units.
include(GNUInstallDirs)

# ringside_install_config(SOURCE NAME) installs a file of settings in SYSCONFDIR/ringside. An existing file is kept,
# because an administrator may have changed it (in a package, dpkg asks the administrator).
#
# The folder is known only at installation: it is /etc for the prefix /usr, and below the prefix for any other prefix.
# The folder for jobs, which administrators write, is made beside the settings.
function(ringside_install_config source name)
  install(CODE "
    set(settings \"${CMAKE_INSTALL_SYSCONFDIR}\")
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND settings STREQUAL \"etc\")
      set(settings \"/etc\")
    elseif(NOT IS_ABSOLUTE \"\${settings}\")
      set(settings \"\${CMAKE_INSTALL_PREFIX}/\${settings}\")
    endif()
    file(INSTALL DESTINATION \"\${settings}/ringside\" TYPE DIRECTORY FILES \"${PROJECT_BINARY_DIR}/share/settings/jobs\")
    if(EXISTS \"\$ENV{DESTDIR}\${settings}/ringside/${name}\")
      message(STATUS \"Kept: \$ENV{DESTDIR}\${settings}/ringside/${name}\")
    else()
      file(INSTALL DESTINATION \"\${settings}/ringside\" TYPE FILE PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
        FILES \"${source}\")
    endif()")
endfunction()

install(TARGETS ringside ringside-producer ringside-analyzer ringside-memory RUNTIME)
# Programs that only ringside starts.
get_property(command_programs GLOBAL PROPERTY RINGSIDE_COMMAND_PROGRAMS)
install(TARGETS ${command_programs} RUNTIME DESTINATION libexec/ringside)
# ringside-memory preloads these libraries. Their folder is beside the other libraries, but not in a linker's search
# path.
if(TARGET ringside_memory_preload)
  install(TARGETS ringside_memory_preload LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/ringside")
endif()

# The programs generate their manual pages, completions and settings whenever one of them is linked.
set(generated "${PROJECT_BINARY_DIR}/share")
set(scripts "")
foreach(script provision_pmem start_node)
  if(EXISTS "${PROJECT_SOURCE_DIR}/deploy/${script}.sh")
    list(APPEND scripts "${PROJECT_SOURCE_DIR}/deploy/${script}.sh")
  endif()
endforeach()
find_program(RINGSIDE_GZIP gzip REQUIRED)
add_custom_command(OUTPUT "${generated}/made"
  COMMAND "${CMAKE_COMMAND}" "-DBIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "-DOUTPUT=${generated}" "-DSCRIPTS=${scripts}"
    "-DVERSION=${PROJECT_VERSION}" "-DGZIP=${RINGSIDE_GZIP}" -P "${PROJECT_SOURCE_DIR}/cmake/generate_manual.cmake"
  DEPENDS ringside ${command_programs} ringside-producer ringside-analyzer ringside-memory ${scripts}
    "${PROJECT_SOURCE_DIR}/cmake/generate_manual.cmake" "${PROJECT_SOURCE_DIR}/cmake/script_manual.awk"
  COMMENT "Manual pages, completions, settings" VERBATIM)
add_custom_target(manual ALL DEPENDS "${generated}/made")
# ringside_install_manual(FOLDER [COMPONENT NAME]) installs pages and completions.
function(ringside_install_manual folder)
  install(DIRECTORY "${folder}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}" ${ARGN})
  install(DIRECTORY "${folder}/bash-completion" "${folder}/fish" DESTINATION "${CMAKE_INSTALL_DATADIR}" ${ARGN})
  # Below /usr, Debian's zsh reads completions only from the folder of the packages; below /usr/local, it reads them
  # from the usual folder.
  install(CODE "
    set(functions site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND EXISTS /etc/debian_version)
      set(functions vendor-completions)
    endif()
    file(INSTALL \"${folder}/zsh/\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${functions}\")" ${ARGN})
endfunction()
ringside_install_manual("${generated}")
install(DIRECTORY "${generated}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
ringside_install_config("${generated}/settings/analyzer.toml" analyzer.toml)
ringside_install_config("${generated}/settings/serve.toml" serve.toml)

# Scripts for administrators, under the names that the documents use.
foreach(script ${scripts})
  get_filename_component(name "${script}" NAME_WE)
  if(name STREQUAL "provision_pmem")
    install(PROGRAMS "${script}" DESTINATION "${CMAKE_INSTALL_SBINDIR}" RENAME ringside-provision-pmem)
  else()
    install(PROGRAMS "${script}" DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME ringside-start-node)
  endif()
endforeach()
if(EXISTS "${PROJECT_SOURCE_DIR}/deploy/slurm")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/deploy/slurm" DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")
endif()

# Everything that is installed. deploy/package.sh builds this target, so it builds no tests and benchmarks.
add_custom_target(installed)
add_dependencies(installed manual libringside libringside-messages libringside_memory)
if(TARGET ringside_memory_preload)
  add_dependencies(installed ringside_memory_preload)
endif()
if(TARGET libringside_mpi)  # RINGSIDE_BUILD_MPI: package ringside-mpi
  set(generated_mpi "${PROJECT_BINARY_DIR}/share_mpi")
  add_custom_command(OUTPUT "${generated_mpi}/made"
    COMMAND "${CMAKE_COMMAND}" "-DBIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "-DOUTPUT=${generated_mpi}"
      "-DPROGRAMS=ringside-producer-mpi" "-DGZIP=${RINGSIDE_GZIP}" -P "${PROJECT_SOURCE_DIR}/cmake/generate_manual.cmake"
    DEPENDS ringside-producer-mpi "${PROJECT_SOURCE_DIR}/cmake/generate_manual.cmake"
    COMMENT "Manual page and completions of ringside-producer-mpi" VERBATIM)
  add_custom_target(manual_mpi ALL DEPENDS "${generated_mpi}/made")
  install(TARGETS ringside-producer-mpi RUNTIME COMPONENT mpi_programs)
  ringside_install_manual("${generated_mpi}" COMPONENT mpi_programs)
  add_dependencies(installed libringside_mpi manual_mpi)
endif()
if(TARGET ringside_core)  # RINGSIDE_BUILD_PYTHON
  add_dependencies(installed ringside_core)
endif()

# The documents, in the layout that their links need: README.md in the top folder, with docs/ and the linked files
# beside it.
install(FILES
  "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/SECURITY.md"
  "${PROJECT_SOURCE_DIR}/CITATION.cff"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples"
  PATTERN "CMakeLists.txt" EXCLUDE PATTERN "package_graph" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/proto/ringside.proto" DESTINATION "${CMAKE_INSTALL_DOCDIR}/proto")
install(FILES "${PROJECT_SOURCE_DIR}/dashboards/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}/dashboards")
install(CODE "set(documents \"${CMAKE_INSTALL_DOCDIR}\")")
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/installed_links.cmake")

# Files for Prometheus and Grafana.
include("${PROJECT_SOURCE_DIR}/dashboards/grafana.cmake")
install(FILES
  "${PROJECT_SOURCE_DIR}/dashboards/README.md"
  "${PROJECT_SOURCE_DIR}/dashboards/alerts.yml"
  "${PROJECT_BINARY_DIR}/dashboards/grafana.json"
  "${PROJECT_SOURCE_DIR}/dashboards/prometheus.yml"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/ringside/dashboards")
