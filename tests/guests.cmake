# guests.cmake - the engine as a guest: in programs with a Lua of their own, of every version that
# is installed, static (its symbols shown to all, as lua's own program does) and shared, in front of
# Mare and behind it on the link line; loaded with RTLD_LOCAL; and from Python. A LuaJIT of the
# system's that the engine shares with a program is none of these.

# When cross-compiling, the Luas that are found are those of this machine.
if(NOT MARE_LUAJIT STREQUAL "own" OR CMAKE_CROSSCOMPILING)
    return()
endif()
find_package(PkgConfig QUIET)

# guest_program(NAME HEADERS PLUGIN LIBRARY...): a test of program.c with these libraries.
function(guest_program name headers plugin)
    add_executable(guest_${name} tests/guests/program.c)
    target_include_directories(guest_${name} SYSTEM PRIVATE ${headers})
    target_include_directories(guest_${name} PRIVATE tests core bindings)
    target_link_libraries(guest_${name} PRIVATE ${ARGN} m ${CMAKE_DL_LIBS})
    target_link_options(guest_${name} PRIVATE -rdynamic)
    set_target_properties(guest_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    set(words "")
    if(name MATCHES "(5.1|5.4|jit)_static")
        set(words scenario)
    endif()
    add_test(NAME guest/${name} COMMAND guest_${name} $<TARGET_FILE:${plugin}> ${words})
    set_property(GLOBAL APPEND PROPERTY guest_targets guest_${name} ${plugin})
    set_property(GLOBAL APPEND PROPERTY guest_tests guest/${name})
endfunction()

foreach(lua lua5.1 lua5.2 lua5.3 lua5.4 luajit)
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(guest_${lua} QUIET ${lua})
    endif()
    if(NOT guest_${lua}_FOUND)
        continue()
    endif()
    set(headers ${guest_${lua}_INCLUDE_DIRS})
    add_library(plugin_${lua} MODULE bindings/examples/plugin.c)
    target_include_directories(plugin_${lua} SYSTEM PRIVATE ${headers})
    target_include_directories(plugin_${lua} PRIVATE core bindings)
    target_link_libraries(plugin_${lua} PRIVATE mare_engine mare_shared)
    target_compile_options(plugin_${lua} PRIVATE -Wno-missing-prototypes)   # of luaopen_plugin
    set_target_properties(plugin_${lua} PROPERTIES PREFIX "" C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    set(library ${guest_${lua}_LINK_LIBRARIES})
    guest_program(${lua}_before "${headers}" plugin_${lua} ${library} mare_engine mare_shared)
    guest_program(${lua}_behind "${headers}" plugin_${lua} mare_engine mare_shared ${library})
    list(GET library 0 shared)
    string(REGEX REPLACE "[.]so$" ".a" static "${shared}")
    if(EXISTS ${static})
        guest_program(${lua}_static "${headers}" plugin_${lua} ${static} mare_engine mare_shared)
        if(lua STREQUAL "luajit")   # Debian's is not position-independent
            target_link_options(guest_luajit_static PRIVATE -no-pie)
        endif()
    endif()
endforeach()

add_executable(guest_loader tests/guests/loader.c)
target_include_directories(guest_loader PRIVATE core bindings)
target_link_libraries(guest_loader PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(guest_loader PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
set(copy ${CMAKE_BINARY_DIR}/tests/copy_of_engine.so)
add_custom_command(OUTPUT ${copy} DEPENDS mare_engine
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:mare_engine> ${copy} VERBATIM)
add_custom_target(guest_copy ALL DEPENDS ${copy})
add_test(NAME guest/loader COMMAND guest_loader $<TARGET_FILE:mare_engine> ${copy})
set_property(GLOBAL APPEND PROPERTY guest_targets guest_loader guest_copy)
set_property(GLOBAL APPEND PROPERTY guest_tests guest/loader)

# Two of them under valgrind, which goes with no sanitizer; tests/long/guests.sh does so with all.
foreach(lua lua5.1 lua5.4)
    if(TARGET guest_${lua}_static AND MARE_SANITIZE STREQUAL "off")
        add_test(NAME guest/${lua}_valgrind COMMAND ${CMAKE_SOURCE_DIR}/tests/valgrind.sh
            $<TARGET_FILE:guest_${lua}_static> $<TARGET_FILE:plugin_${lua}>)
        set_property(GLOBAL APPEND PROPERTY guest_tests guest/${lua}_valgrind)
    endif()
endforeach()

# A sanitizer's library would have to be loaded in front of Python's own.
find_program(python3 python3)
if(python3 AND MARE_SANITIZE STREQUAL "off")
    add_test(NAME guest/python COMMAND ${python3} ${CMAKE_SOURCE_DIR}/bindings/examples/step.py
        $<TARGET_FILE:mare_engine>)
    set_property(GLOBAL APPEND PROPERTY guest_tests guest/python)
endif()

get_property(guests GLOBAL PROPERTY guest_tests)
set_tests_properties(${guests} PROPERTIES TIMEOUT 120 LABELS embed
    SKIP_REGULAR_EXPRESSION "device 'auto': none found" SKIP_RETURN_CODE 77
    ENVIRONMENT "MARE_CACHE=${CMAKE_BINARY_DIR}/tests/cache;${sanitizer_options}")
get_property(guests GLOBAL PROPERTY guest_targets)
list(APPEND test_targets ${guests})
