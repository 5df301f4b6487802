# packages.cmake - Debian packages by CPack, which tests/long/fresh.sh tries on a fresh system:
#
#   cmake -B build/deb -DCMAKE_INSTALL_PREFIX=/usr; cmake --build build/deb --target deb
#
# mare: the launcher; libmareN and libmare-engineN: the libraries, N the number of their API;
# libmare-dev: headers, static library, pkg-config, CMake, manual, examples; mare-common: Lua,
# kernels and scenarios. With /usr as the prefix libraries lie in Debian's folder of the machine.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mare)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Mare developers <mare@example.org>")
set(CPACK_PACKAGE_HOMEPAGE_URL "https://example.org/mare")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(release 1~mare1)                # not one of Debian's
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
set(CPACK_COMPONENTS_ALL mare core engine dev common)
set(CPACK_COMPONENTS_GROUPING IGNORE)

set(core libmare${mare_api})
set(engine libmare-engine${engine_api})
set(exact "(= ${PROJECT_VERSION}-${release})")

# debian_package(COMPONENT NAME SECTION DEPENDS SUMMARY MORE): also its notices.
function(debian_package component name section depends summary more)
    string(TOUPPER ${component} up)
    set(CPACK_DEBIAN_${up}_PACKAGE_NAME ${name} PARENT_SCOPE)
    set(CPACK_DEBIAN_${up}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_DEBIAN_${up}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
    set(CPACK_COMPONENT_${up}_DESCRIPTION "${summary}\n${more}" PARENT_SCOPE)
    set(doc ${CMAKE_INSTALL_DATADIR}/doc/${name})
    if(NOT name STREQUAL "mare")        # which has them by every installation
        install(FILES ${package}/copyright DESTINATION ${doc} COMPONENT ${component}
            EXCLUDE_FROM_ALL)
    endif()
    if(EXISTS ${generated}/changelog.Debian.gz)
        install(FILES ${generated}/changelog.Debian.gz DESTINATION ${doc} COMPONENT ${component}
            EXCLUDE_FROM_ALL)
    endif()
endfunction()

# The date is that of the source, so that two builds give the same packages.
set(date "Sat, 28 Nov 2026 00:00:00 +0000")
file(WRITE ${generated}/changelog.Debian
    "mare (${PROJECT_VERSION}-${release}) unstable; urgency=medium\n\n"
    "  * Release ${PROJECT_VERSION}.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
if(GZIP)
    execute_process(COMMAND ${GZIP} -9nkf ${generated}/changelog.Debian)
endif()

set(about "Mare runs kernels and finite-volume simulations on CUDA and OpenCL
devices, and shipped scenarios on processors without a driver, scripted
in Lua.\n")
# What is loaded at run time: NetCDF has another name in each release.
debian_package(mare mare science
    "${core} ${exact}, mare-common ${exact}, lua-argparse, lua-dkjson"
    "scriptable engine for GPUs and flow simulations" "${about}")
debian_package(core ${core} libs "" "devices, kernels and launches for C programs"
    "${about}This package has the library.")
debian_package(engine ${engine} libs "${core} ${exact}, mare-common ${exact}"
    "Lua engine for simulations, embedded in C programs"
    "${about}This package has the library with Lua in it.")
debian_package(dev libmare-dev libdevel "${core} ${exact}, ${engine} ${exact}"
    "headers and examples of Mare for C programs" "${about}This package is for programs in C.")
debian_package(common mare-common science "" "scenarios, kernels and Lua of Mare"
    "${about}This package has what does not depend on the machine.")
set(CPACK_DEBIAN_COMMON_PACKAGE_ARCHITECTURE all)
foreach(component MARE CORE ENGINE)
    set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS ON)
endforeach()
# What else the package of a library tells: its dependency, and that ldconfig is to look at it.
function(library_control component library api name)
    set(folder ${generated}/${name})
    file(WRITE ${folder}/shlibs "${library} ${api} ${name} (>= ${PROJECT_VERSION})\n")
    file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
    set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA "${folder}/shlibs;${folder}/triggers"
        PARENT_SCOPE)
endfunction()
library_control(CORE libmare ${mare_api} ${core})
library_control(ENGINE libmare_engine ${engine_api} ${engine})
# Without any of these Mare runs, and says what is missing when it is asked for. Drivers, FFmpeg and
# LuaJIT are the user's choice: with them the closure has hundreds of packages.
string(CONCAT CPACK_DEBIAN_MARE_PACKAGE_RECOMMENDS
    "libnetcdf19 | libnetcdf22 | libnetcdf-dev, libcairo2, libgif7, libedit2, fonts-dejavu-core")
string(CONCAT CPACK_DEBIAN_MARE_PACKAGE_SUGGESTS
    "ocl-icd-libopencl1, pocl-opencl-icd | opencl-icd, libmpfr6, ffmpeg, luajit, libopenblas0, "
    "libclblast1, openmpi-bin | mpich, libzmq5, libsodium23")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "pkg-config, cmake")
include(CPack)

add_custom_target(deb COMMAND ${CMAKE_CPACK_COMMAND} -G DEB
    COMMAND ${package}/finish.sh ${CMAKE_BINARY_DIR} DEPENDS mare mare_shared mare_engine
    mare_static peer_cuda peer_opencl manual cpu_programs WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
