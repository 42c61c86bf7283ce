# The tables of storage interfaces: which engine has which backend, and why it lacks the others.
#
# Engines are `plain`, `openmpi` and `mpich`. A backend that needs no MPI and no other library is
# compiled once, into the core; any other is compiled for the engine that has it.

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
# engine/backend/INTERFACE.cpp or the sources given.
function(venturi_engine_backend engine interface)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_SOURCES)
    set(arg_SOURCES engine/backend/${interface}.cpp)
  endif()
  _venturi_row(${engine} ${interface} built "")
  set_property(GLOBAL APPEND PROPERTY venturi_sources_${engine} ${arg_SOURCES})
  set_property(GLOBAL APPEND PROPERTY venturi_libraries_${engine} ${arg_LIBRARIES})
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

function(_venturi_row engine interface state reason)
  get_property(names GLOBAL PROPERTY venturi_interfaces_${engine})
  if(interface IN_LIST names)
    message(FATAL_ERROR "two rows for ${interface} in the engine ${engine}")
  endif()
  set_property(GLOBAL APPEND PROPERTY venturi_interfaces_${engine} ${interface})
  string(SUBSTRING ${interface} 0 1 first)
  string(TOUPPER ${first} first)
  string(SUBSTRING ${interface} 1 -1 rest)
  set(entry nullptr)
  if(state STREQUAL built)
    set(entry "&${interface}_entry()")
    set_property(GLOBAL APPEND_STRING PROPERTY venturi_declarations_${engine}
                 "const Entry& ${interface}_entry();\n")
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY venturi_rows_${engine}
               "      {schema::Interface::k${first}${rest}, ${entry}, \"${reason}\"},\n")
endfunction()

# venturi_table(TARGET ENGINE): gives a program the table, backends and libraries of an engine.
function(venturi_table target engine)
  get_property(VENTURI_BACKEND_DECLARATIONS GLOBAL PROPERTY venturi_declarations_${engine})
  get_property(VENTURI_BACKEND_ROWS GLOBAL PROPERTY venturi_rows_${engine})
  get_property(sources GLOBAL PROPERTY venturi_sources_${engine})
  get_property(libraries GLOBAL PROPERTY venturi_libraries_${engine})
  set(table ${VENTURI_GENERATED}/backend/table_${engine}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/engine/backend/table.cpp.in ${table} @ONLY)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  target_sources(${target} PRIVATE ${table} ${sources})
  target_link_libraries(${target} PRIVATE ${libraries})
endfunction()
