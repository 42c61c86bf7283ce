# The tracer that `venturi capture` loads into programs: C, and the C library alone.

set(VENTURI_TRACER_SOURCES
    counter.c
    descriptor.c
    filter.c
    library.c
    mapping.c
    moved.c
    name.c
    note.c
    note_copy.c
    program.c
    ring.c
    run.c
    spool.c
    start.c
    system.c
    wrap_aio.c
    wrap_data.c
    wrap_format.c
    wrap_hdf5.c
    wrap_kernel_aio.c
    wrap_lock_in.c
    wrap_mpi.c
    wrap_name.c
    wrap_open.c
    wrap_pnetcdf.c
    wrap_process.c
    wrap_stdio.c
    wrap_wide.c)
list(TRANSFORM VENTURI_TRACER_SOURCES PREPEND tracer/)
# Linked, because a header may be newer than the C library that is built for.
include(CheckSymbolExists)
check_symbol_exists(__libc_single_threaded sys/single_threaded.h VENTURI_HAS_SINGLE_THREADED)
if(VENTURI_HAS_SINGLE_THREADED)
  set(VENTURI_SINGLE glibc)
else()
  set(VENTURI_SINGLE none)
endif()
include(CheckStructHasMember)
check_struct_has_member("struct _IO_FILE" _IO_read_ptr stdio.h VENTURI_HAS_STREAM_PLACE)
if(VENTURI_HAS_STREAM_PLACE)
  set(VENTURI_STREAM_PLACE glibc)
else()
  set(VENTURI_STREAM_PLACE none)
endif()
set(VENTURI_CALL none)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  # With an instruction of its own for system calls, the tracer can stand in for syscall().
  set(VENTURI_CALL ${CMAKE_SYSTEM_PROCESSOR})
  list(APPEND VENTURI_TRACER_SOURCES tracer/by_number.c tracer/wrap_syscall.c)
  configure_file(tracer/old_numbers_${VENTURI_CALL}.h ${VENTURI_GENERATED}/tracer/old_numbers.h COPYONLY)
endif()
configure_file(tracer/call_${VENTURI_CALL}.h ${VENTURI_GENERATED}/tracer/call.h COPYONLY)
configure_file(tracer/single_${VENTURI_SINGLE}.h ${VENTURI_GENERATED}/tracer/single.h COPYONLY)
configure_file(tracer/stream_place_${VENTURI_STREAM_PLACE}.h ${VENTURI_GENERATED}/tracer/stream_place.h
               COPYONLY)
configure_file(tracer/ticks_${VENTURI_COUNTER}.h ${VENTURI_GENERATED}/tracer/ticks.h COPYONLY)

add_library(venturi-tracer MODULE ${VENTURI_TRACER_SOURCES})
target_include_directories(venturi-tracer PRIVATE tracer ${VENTURI_GENERATED}/tracer)
set_target_properties(
  venturi-tracer PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
                            C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
# The wrappers replace what fortified headers would inline, and it is quick in every build.
target_compile_options(venturi-tracer PRIVATE -O2 -U_FORTIFY_SOURCE -Wall -Wextra -Wconversion
                                              -Wno-sign-conversion)
if(VENTURI_WERROR)
  target_compile_options(venturi-tracer PRIVATE -Werror)
endif()
target_link_libraries(venturi-tracer PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
