# SPDX-License-Identifier: Apache-2.0
#
# Toolchain of WebAssembly: clang and lld with the C library of the WebAssembly System Interface. On Debian the packages clang,
# lld, wasi-libc and libclang-rt-dev-wasm32.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar)
set(CMAKE_RANLIB llvm-ranlib)

# Not the headers of this machine: with them a program may be compiled that cannot be linked. What the C library lacks and we
# use is in wasm/wasi/missing.h. All these instructions are older than 2022 in every browser.
set(CMAKE_C_FLAGS_INIT "-nostdlibinc -isystem /usr/include/wasm32-wasi -include ${CMAKE_CURRENT_LIST_DIR}/../wasm/wasi/missing.h \
-D_WASI_EMULATED_GETPID -ftls-model=local-exec -mbulk-memory -mnontrapping-fptoint -msign-ext")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wno-unused-command-line-argument -lwasi-emulated-getpid -Wl,-z,stack-size=8388608 -Wl,--stack-first -Wl,--gc-sections -Wl,--strip-all")

set(CMAKE_FIND_ROOT_PATH /usr/lib/wasm32-wasi)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
