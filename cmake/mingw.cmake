# Cross-compiles for 64-bit Windows with Debian's gcc-mingw-w64-x86-64-posix; tests run under wine. Everything that is
# linked is static, so that a program or a DLL needs nothing but what Windows has.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR "${CMAKE_CURRENT_LIST_DIR}/wine")
set(CMAKE_FIND_ROOT_PATH ${ASTERISM_WINDOWS_LIBRARIES} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${ASTERISM_WINDOWS_LIBRARIES}/lib/pkgconfig)
# FindZLIB would take the import library of a DLL, if Debian's libz-mingw-w64-dev is installed.
set(ZLIB_LIBRARY ${ASTERISM_WINDOWS_LIBRARIES}/lib/libz.a CACHE FILEPATH "")
set(ZLIB_INCLUDE_DIR ${ASTERISM_WINDOWS_LIBRARIES}/include CACHE PATH "")
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ASTERISM_WINDOWS_LIBRARIES)
