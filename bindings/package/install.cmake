# install.cmake - what `cmake --install` and CPack put where, by the package that it goes into: the
# libraries with their headers, pkg-config and CMake files, the launcher, Lua under share/mare, as
# well as for a stock LuaJIT, `require 'mare'`, manual pages, notices and examples.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_SOURCE_DIR}/bindings/package)
set(generated ${CMAKE_BINARY_DIR}/generated)

# The static library is for programs that compute without Lua: LuaJIT's FFI reaches libmare as a
# shared one.
add_library(mare_static STATIC)
target_link_libraries(mare_static PRIVATE mare_commit PUBLIC mare_core)
set_target_properties(mare_static PROPERTIES OUTPUT_NAME mare
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(mare PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})
set_target_properties(mare_engine PROPERTIES INSTALL_RPATH $ORIGIN)

install(TARGETS mare RUNTIME COMPONENT mare)
install(TARGETS mare_shared LIBRARY COMPONENT core NAMELINK_COMPONENT dev)
install(TARGETS mare_engine LIBRARY COMPONENT engine NAMELINK_COMPONENT dev)
install(TARGETS mare_static ARCHIVE COMPONENT dev)
install(FILES core/mare.h bindings/mare_engine.h TYPE INCLUDE COMPONENT dev)
# For processors without a driver, if the target cpu_programs has been built.
install(DIRECTORY ${CMAKE_BINARY_DIR}/cpu/programs DESTINATION ${CMAKE_INSTALL_LIBDIR}/mare
    COMPONENT core OPTIONAL)

set(home ${CMAKE_INSTALL_DATADIR}/mare)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME common)
install(FILES core/mare.h DESTINATION ${home}/core)
install(DIRECTORY bindings DESTINATION ${home} FILES_MATCHING PATTERN *.lua
    PATTERN package EXCLUDE PATTERN examples EXCLUDE)
install(FILES bindings/mare_engine.h DESTINATION ${home}/bindings)
install(DIRECTORY lua DESTINATION ${home} FILES_MATCHING PATTERN *.lua)
install(DIRECTORY kernels DESTINATION ${home})
install(DIRECTORY scenarios DESTINATION ${home} PATTERN run EXCLUDE PATTERN *.sh EXCLUDE)
# Benchmarks, and the plain C that they compare Mare with.
install(DIRECTORY tests/bench DESTINATION ${home}/tests PATTERN records EXCLUDE
    REGEX "openmp|peer_.*[.]c$" EXCLUDE)
install(FILES tests/kernels/mandelbrot_reference.lua DESTINATION ${home}/tests/kernels)

file(RELATIVE_PATH lua_to_prefix ${CMAKE_INSTALL_FULL_DATADIR}/lua/5.1 ${CMAKE_INSTALL_PREFIX})
configure_file(${package}/mare.lua.in ${generated}/mare.lua @ONLY)
install(FILES ${generated}/mare.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/lua/5.1)

file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(name mare mare_engine)
    configure_file(${package}/${name}.pc.in ${generated}/${name}.pc @ONLY)
    install(FILES ${generated}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT dev)
endforeach()

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/mare)
configure_package_config_file(${package}/mare-config.cmake.in ${generated}/mare-config.cmake
    INSTALL_DESTINATION ${config} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${generated}/mare-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/mare-config.cmake ${generated}/mare-config-version.cmake
    DESTINATION ${config} COMPONENT dev)

# The reference manual, from the comments of the headers and of the Lua modules.
set(manual ${CMAKE_BINARY_DIR}/manual)
find_program(GZIP gzip)
set(pages ${manual}/mare.3 ${manual}/mare_engine.3 ${manual}/mare_lua.3)
configure_file(${package}/mare.1 ${manual}/mare.1 COPYONLY)
set(gz "")
if(GZIP)
    set(pack COMMAND ${GZIP} -9nkf ${pages} ${manual}/mare.1)
    set(gz .gz)
endif()
file(GLOB_RECURSE commented CONFIGURE_DEPENDS lua/*.lua bindings/*.lua scenarios/*.lua)
add_custom_command(OUTPUT ${manual}/mare.html
    COMMAND ${CMAKE_COMMAND} -E make_directory ${manual}
    COMMAND mare -e "require('mare.launcher.manual').write(...)" ${manual} ${pack}
    DEPENDS mare ${commented} core/mare.h bindings/mare_engine.h kernels/README.md
        ${package}/mare.1 VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual}/mare.html)
install(FILES ${manual}/mare.html DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mare)
list(TRANSFORM pages APPEND "${gz}")
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT dev)
install(FILES ${manual}/mare.1${gz} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mare)
install(FILES ${package}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mare COMPONENT mare)
if(MARE_LUAJIT STREQUAL "own")
    install(FILES bindings/luajit/COPYRIGHT DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mare
        COMPONENT mare RENAME COPYRIGHT.luajit)
endif()
install(DIRECTORY bindings/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mare COMPONENT dev)
include(${package}/packages.cmake)
