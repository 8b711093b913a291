# Install: headers, both libraries, command, man page, pkg-config file, and find_package(asterism) with the targets
# asterism::shared and asterism::static.
include(CMakePackageConfigHelpers)

install(FILES include/asterism.h include/asterism_depth.h include/asterism_ranks.h
              include/asterism_tally.h include/asterism_arrow.h include/asterism_field.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS asterism_static asterism_shared EXPORT asterism-targets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} # a DLL
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET asterism)
  install(TARGETS asterism RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT asterism-targets NAMESPACE asterism:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/asterism)
configure_package_config_file(cmake/asterism-config.cmake.in asterism-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/asterism)
write_basic_package_version_file(asterism-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/asterism-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/asterism-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/asterism)

# The .pc file computes its prefix from its own location, so that a moved tree still works.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/asterism.pc.in asterism.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/asterism.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
