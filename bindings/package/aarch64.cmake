# aarch64.cmake - builds for 64-bit ARM on another machine, and runs what must run by qemu-user:
#
#   cmake -B build/aarch64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=bindings/package/aarch64.cmake
#
# Debian has what it needs in gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(MARE_HOST_CC cc CACHE STRING "compiler of programs that run while LuaJIT is built")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
# Programs are looked for here, libraries and headers there.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
