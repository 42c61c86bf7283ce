# Compiles for a Linux with glibc 2.28 or newer, with the Clang and the libc++ of the PyPI package
# ziglang. VENTURI_ZIG is its program, VENTURI_PROCESSOR x86_64 or aarch64.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VENTURI_ZIG VENTURI_PROCESSOR)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${VENTURI_PROCESSOR})
set(CMAKE_C_COMPILER ${VENTURI_ZIG} cc -target ${VENTURI_PROCESSOR}-linux-gnu.2.28)
set(CMAKE_CXX_COMPILER ${VENTURI_ZIG} c++ -target ${VENTURI_PROCESSOR}-linux-gnu.2.28)
foreach(language C CXX)
  set(CMAKE_${language}_ARCHIVE_CREATE "${VENTURI_ZIG} ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_FINISH "${VENTURI_ZIG} ranlib <TARGET>")
  set(CMAKE_${language}_FLAGS_INIT "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=venturi")
endforeach()
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -s)
# Nothing of the machine that builds.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
