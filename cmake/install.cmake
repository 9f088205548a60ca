# What `cmake --install` puts where, after the GNU folders: the programs find each other beside themselves, so any prefix
# will do. Tests, benchmarks and examples are never installed. deploy/systemd installs its own units.
include(GNUInstallDirs)

# ringside_install_config(SOURCE RENAME NAME [FOLDER]): a file of settings, in SYSCONFDIR/ringside. A file that is there
# is left alone: it is its administrator's by then (in a package dpkg asks).
#
# Where that is, is known only when it is installed: /etc for the prefix /usr, under the prefix for any other.
function(ringside_install_config source name)
  install(CODE "
    set(settings \"${CMAKE_INSTALL_SYSCONFDIR}\")
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND settings STREQUAL \"etc\")
      set(settings \"/etc\")
    elseif(NOT IS_ABSOLUTE \"\${settings}\")
      set(settings \"\${CMAKE_INSTALL_PREFIX}/\${settings}\")
    endif()
    if(EXISTS \"\$ENV{DESTDIR}\${settings}/ringside/${name}\")
      message(STATUS \"Kept: \$ENV{DESTDIR}\${settings}/ringside/${name}\")
    else()
      file(INSTALL DESTINATION \"\${settings}/ringside\" TYPE FILE PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
        FILES \"${source}\")
    endif()")
endfunction()

install(TARGETS ringside ringside-producer ringside-analyzer RUNTIME)

# Everything that is installed: what deploy/package.sh builds, without tests and benchmarks.
add_custom_target(installed)
add_dependencies(installed ringside ringside-producer ringside-analyzer)

# The documents, with the links between them: README.md at the top, docs/ below it.
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png")

# What a Prometheus and a Grafana take.
install(FILES
  "${PROJECT_SOURCE_DIR}/dashboards/README.md"
  "${PROJECT_SOURCE_DIR}/dashboards/alerts.yml"
  "${PROJECT_SOURCE_DIR}/dashboards/grafana.json"
  "${PROJECT_SOURCE_DIR}/dashboards/prometheus.yml"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/ringside/dashboards")
