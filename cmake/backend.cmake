# The tables of storage interfaces: which engine has which backend, and why it lacks the others.
#
# Engines are `plain`, `openmpi` and `mpich`. A backend that needs no MPI and no other library is
# compiled once, into the core; any other is compiled for the engine that has it. What needs a
# library besides MPI becomes a module: a file beside the engine, which is loaded when a plan uses
# the interface. So no rank begins with libraries that it does not need.
#
# What an interface is and can do is in every engine, built or not: its description stands in
# engine/backend/INTERFACE.cpp, or in INTERFACE_description.cpp where that file needs a library.

set(VENTURI_ALL_ENGINES plain openmpi mpich)
set(VENTURI_BACKEND_SOURCES)

# venturi_backend(INTERFACE): every engine has engine/backend/INTERFACE.cpp.
macro(venturi_backend interface)
  list(APPEND VENTURI_BACKEND_SOURCES engine/backend/${interface}.cpp)
  foreach(engine IN LISTS VENTURI_ALL_ENGINES)
    _venturi_row(${engine} ${interface} built "")
  endforeach()
endmacro()

# venturi_engine_backend(ENGINE INTERFACE [SOURCES ...] [LIBRARIES ...]): one engine has it, from
# engine/backend/INTERFACE.cpp or the sources given; with LIBRARIES it is a module.
function(venturi_engine_backend engine interface)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_SOURCES)
    set(arg_SOURCES engine/backend/${interface}.cpp)
  endif()
  if(NOT arg_LIBRARIES)
    _venturi_row(${engine} ${interface} built "")
    set_property(GLOBAL APPEND PROPERTY venturi_sources_${engine} ${arg_SOURCES})
    return()
  endif()
  set(module venturi-${interface}-${engine})
  _venturi_row(${engine} ${interface} module ${module}.so)
  set_property(GLOBAL APPEND PROPERTY venturi_modules_${engine} ${module})
  set(entry ${VENTURI_GENERATED}/backend/module_${interface}.cpp)
  configure_file(engine/backend/module.cpp.in ${entry} @ONLY)
  add_library(${module} MODULE ${entry} ${arg_SOURCES})
  set_target_properties(${module} PROPERTIES PREFIX "" SUFFIX .so
                                             LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_include_directories(${module} PRIVATE engine ${VENTURI_GENERATED})
  target_link_libraries(${module} PRIVATE fmt::fmt venturi_options ${arg_LIBRARIES})
  if(TARGET venturi_mpi_${engine})
    target_link_libraries(${module} PRIVATE venturi_mpi_${engine})
  endif()
endfunction()

# venturi_no_backend(INTERFACE REASON [ENGINES ...]): those engines (default: all) have it not.
function(venturi_no_backend interface reason)
  cmake_parse_arguments(arg "" "" "ENGINES" ${ARGN})
  if(NOT arg_ENGINES)
    set(arg_ENGINES ${VENTURI_ALL_ENGINES})
  endif()
  foreach(engine IN LISTS arg_ENGINES)
    _venturi_row(${engine} ${interface} missing "${reason}")
  endforeach()
endfunction()

# `about` is the file of a module, or why a backend is missing.
function(_venturi_row engine interface state about)
  get_property(names GLOBAL PROPERTY venturi_interfaces_${engine})
  if(interface IN_LIST names)
    message(FATAL_ERROR "two rows for ${interface} in the engine ${engine}")
  endif()
  set_property(GLOBAL APPEND PROPERTY venturi_interfaces_${engine} ${interface})
  set_property(GLOBAL APPEND_STRING PROPERTY venturi_declarations_${engine}
               "const Description& ${interface}_description();\n")
  set(entry nullptr)
  set(module "\"\"")
  set(reason "\"\"")
  if("${state}" STREQUAL "built")
    set(entry "&${interface}_entry()")
    set_property(GLOBAL APPEND_STRING PROPERTY venturi_declarations_${engine}
                 "const Entry& ${interface}_entry();\n")
  elseif("${state}" STREQUAL "module")
    set(module "\"${about}\"")
  else()
    set(reason "\"${about}\"")
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY venturi_rows_${engine}
               "      {\"${interface}\", &${interface}_description(), ${entry}, ${module}, ${reason}},\n")
endfunction()

# venturi_descriptions(OUT): the files with descriptions of interfaces that need a library.
function(venturi_descriptions out)
  get_property(names GLOBAL PROPERTY venturi_interfaces_plain)
  set(found)
  foreach(name IN LISTS names)
    if(EXISTS ${PROJECT_SOURCE_DIR}/engine/backend/${name}_description.cpp)
      list(APPEND found engine/backend/${name}_description.cpp)
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# venturi_table(TARGET ENGINE): gives a program the table and the backends of an engine.
function(venturi_table target engine)
  get_property(VENTURI_BACKEND_DECLARATIONS GLOBAL PROPERTY venturi_declarations_${engine})
  get_property(VENTURI_BACKEND_ROWS GLOBAL PROPERTY venturi_rows_${engine})
  get_property(sources GLOBAL PROPERTY venturi_sources_${engine})
  get_property(modules GLOBAL PROPERTY venturi_modules_${engine})
  set(table ${VENTURI_GENERATED}/backend/table_${engine}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/engine/backend/table.cpp.in ${table} @ONLY)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  target_sources(${target} PRIVATE ${table} ${sources})
  # Modules find the core in the program that loads them.
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  if(modules)
    add_dependencies(${target} ${modules})
  endif()
endfunction()
