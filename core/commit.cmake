# Writes a C file with the commit of a source tree, and leaves it alone if it says that already, so
# that nothing is linked again: cmake -DTREE= -DOUTPUT= [-DCOMMIT=] -P commit.cmake
# It is 'unknown' without git, or where TREE is no checkout but lies in somebody else's. COMMIT
# says it for those who build from an archive.
cmake_minimum_required(VERSION 3.25)
if(NOT COMMIT)
    set(git git -C ${TREE} --no-optional-locks)
    execute_process(COMMAND ${git} rev-parse --show-cdup OUTPUT_VARIABLE up
        RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed AND NOT up)
        execute_process(COMMAND ${git} describe --always --dirty --abbrev=12 --exclude=*
            OUTPUT_VARIABLE COMMIT ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
endif()
if(NOT "${COMMIT}" MATCHES "^[0-9A-Za-z._+-]+$")
    set(COMMIT unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
    "#include \"mare.h\"\n\nconst char *mare_commit(void) { return \"@COMMIT@\"; }\n")
