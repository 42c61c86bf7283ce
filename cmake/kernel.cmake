# The tables of kernels: which engine has which, and why it lacks the others.
#
# As for backends (backend.cmake): what a kernel measures is in every engine, built or not. Its
# description stands in engine/kernel/KERNEL.cpp, or in KERNEL_description.cpp where that file needs
# an MPI.

set(VENTURI_KERNEL_SOURCES)

# venturi_kernel(KERNEL): every engine has engine/kernel/KERNEL.cpp.
macro(venturi_kernel kernel)
  list(APPEND VENTURI_KERNEL_SOURCES engine/kernel/${kernel}.cpp)
  foreach(engine IN LISTS VENTURI_ALL_ENGINES)
    _venturi_kernel_row(${engine} ${kernel} TRUE "")
  endforeach()
endmacro()

# venturi_mpi_kernel(KERNEL REASON): the engines with MPI have it; the others give the reason.
macro(venturi_mpi_kernel kernel reason)
  list(APPEND VENTURI_KERNEL_SOURCES engine/kernel/${kernel}_description.cpp)
  foreach(engine IN LISTS VENTURI_ALL_ENGINES)
    if(engine STREQUAL "plain")
      _venturi_kernel_row(${engine} ${kernel} FALSE "${reason}")
    else()
      _venturi_kernel_row(${engine} ${kernel} TRUE "")
      set_property(GLOBAL APPEND PROPERTY venturi_sources_${engine} engine/kernel/${kernel}.cpp)
    endif()
  endforeach()
endmacro()

foreach(engine openmpi mpich)
  set_property(GLOBAL APPEND PROPERTY venturi_sources_${engine} engine/kernel/message.cpp)
endforeach()

function(_venturi_kernel_row engine kernel built reason)
  set_property(GLOBAL APPEND_STRING PROPERTY venturi_kernel_declarations_${engine}
               "const Description& ${kernel}_description();\n")
  set(entry nullptr)
  if(built)
    set(entry "&${kernel}_entry()")
    set_property(GLOBAL APPEND_STRING PROPERTY venturi_kernel_declarations_${engine}
                 "const Entry& ${kernel}_entry();\n")
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY venturi_kernel_rows_${engine}
               "      {\"${kernel}\", &${kernel}_description(), ${entry}, \"${reason}\"},\n")
endfunction()

# venturi_kernel_table(TARGET ENGINE): gives a program the table of an engine's kernels.
function(venturi_kernel_table target engine)
  get_property(VENTURI_KERNEL_DECLARATIONS GLOBAL PROPERTY venturi_kernel_declarations_${engine})
  get_property(VENTURI_KERNEL_ROWS GLOBAL PROPERTY venturi_kernel_rows_${engine})
  set(table ${VENTURI_GENERATED}/kernel/table_${engine}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/engine/kernel/table.cpp.in ${table} @ONLY)
  target_sources(${target} PRIVATE ${table})
endfunction()

# Loops that are compiled once for each level of instructions; the best one is chosen at run time.
# A library must not take the place of a loop that is measured, so nothing becomes memset or memcpy.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(VENTURI_LOOPS_STAY -fno-tree-loop-distribute-patterns)
else()
  set(VENTURI_LOOPS_STAY -fno-builtin)
endif()
function(_venturi_level level name bytes)
  set(VENTURI_LEVEL ${level})
  set(VENTURI_LEVEL_NAME ${name})
  set(VENTURI_LEVEL_BYTES ${bytes})
  set(file ${VENTURI_GENERATED}/kernel/memory_loops_${level}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/engine/kernel/memory_loops.cpp.in ${file} @ONLY)
  set(flags -O3 ${VENTURI_LOOPS_STAY} -ffp-contract=fast -Wno-psabi)
  if(NOT level STREQUAL "base")
    if(VENTURI_ZIG)
      string(REPLACE - _ name ${name})
    endif()
    list(APPEND flags -march=${name})
  endif()
  set_source_files_properties(
    ${file} PROPERTIES COMPILE_OPTIONS "${flags}" SKIP_PRECOMPILE_HEADERS ON)
  set_property(GLOBAL APPEND PROPERTY venturi_loops ${file})
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  _venturi_level(base x86-64 16)
  _venturi_level(v3 x86-64-v3 32)
  _venturi_level(v4 x86-64-v4 64)
  list(APPEND VENTURI_KERNEL_SOURCES engine/kernel/level_x86.cpp)
else()
  _venturi_level(base ${CMAKE_SYSTEM_PROCESSOR} 16)
  list(APPEND VENTURI_KERNEL_SOURCES engine/kernel/level_none.cpp)
endif()
get_property(loops GLOBAL PROPERTY venturi_loops)
list(APPEND VENTURI_KERNEL_SOURCES ${loops})
