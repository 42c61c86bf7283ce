# Finding the libraries of formats and servers.

option(VENTURI_PORTABLE "Leave out what needs a library that not every Linux has" OFF)
if(NOT VENTURI_PORTABLE)
  find_package(PkgConfig QUIET)
endif()

# _venturi_not_portable(INTERFACE LIBRARY PACKAGE): in a portable build the interface is left out,
# and the function that calls this ends.
macro(_venturi_not_portable interface library package)
  if(VENTURI_PORTABLE)
    venturi_no_backend(
      ${interface}
      "the engine that comes with the package is without ${library}: install it (Debian: ${package}), \
then build an engine with it: venturi build-engine")
    return()
  endif()
endmacro()

# _venturi_hdf5(FLAVOUR TARGET): makes TARGET if pkg-config knows HDF5 of that flavour.
function(_venturi_hdf5 flavour target)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(VENTURI_HDF5_${flavour} QUIET hdf5-${flavour})
  endif()
  if(VENTURI_HDF5_${flavour}_FOUND)
    add_library(${target} INTERFACE)
    target_include_directories(${target} SYSTEM INTERFACE ${VENTURI_HDF5_${flavour}_INCLUDE_DIRS})
    # The directory as well, because every flavour's library has the same name.
    find_library(VENTURI_HDF5_${flavour}_LIBRARY hdf5 NO_DEFAULT_PATH
                 PATHS ${VENTURI_HDF5_${flavour}_LIBRARY_DIRS} ${VENTURI_HDF5_${flavour}_LIBDIR})
    target_link_libraries(${target} INTERFACE ${VENTURI_HDF5_${flavour}_LIBRARY})
  endif()
endfunction()

# venturi_find_hdf5(): without MPI for the plain engine, and for each MPI the one built with it.
function(venturi_find_hdf5)
  _venturi_not_portable(hdf5 HDF5 libhdf5-dev)
  _venturi_hdf5(serial venturi_hdf5_plain)
  if(TARGET venturi_hdf5_plain)
    venturi_engine_backend(
      plain hdf5 SOURCES engine/backend/hdf5.cpp engine/backend/hdf5_serial.cpp
      LIBRARIES venturi_hdf5_plain)
  else()
    venturi_no_backend(hdf5 "HDF5 was not found: install libhdf5-dev and build again" ENGINES plain)
  endif()
  foreach(engine openmpi mpich)
    _venturi_hdf5(${engine} venturi_hdf5_${engine})
    if(NOT TARGET venturi_mpi_${engine})
      venturi_no_backend(hdf5 "this build has no MPI of that name" ENGINES ${engine})
    elseif(TARGET venturi_hdf5_${engine})
      venturi_engine_backend(
        ${engine} hdf5
        SOURCES engine/backend/hdf5.cpp engine/backend/hdf5_parallel.cpp
        LIBRARIES venturi_hdf5_${engine})
    else()
      venturi_no_backend(
        hdf5 "HDF5 for this MPI was not found: install libhdf5-${engine}-dev and build again"
        ENGINES ${engine})
    endif()
  endforeach()
endfunction()

# venturi_find_netcdf(): netCDF without MPI; where ranks share a file, one of them writes for all.
function(venturi_find_netcdf)
  _venturi_not_portable(netcdf netCDF libnetcdf-dev)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(VENTURI_NETCDF QUIET netcdf)
  endif()
  if(VENTURI_NETCDF_FOUND)
    find_library(VENTURI_NETCDF_LIBRARY netcdf
                 HINTS ${VENTURI_NETCDF_LIBRARY_DIRS} ${VENTURI_NETCDF_LIBDIR})
    add_library(venturi_netcdf INTERFACE)
    # Its own header's place alone: pkg-config adds that of HDF5 without MPI.
    find_path(VENTURI_NETCDF_INCLUDE netcdf.h HINTS ${VENTURI_NETCDF_INCLUDEDIR})
    target_include_directories(venturi_netcdf SYSTEM INTERFACE ${VENTURI_NETCDF_INCLUDE})
    target_link_libraries(venturi_netcdf INTERFACE ${VENTURI_NETCDF_LIBRARY})
    foreach(engine IN LISTS VENTURI_ALL_ENGINES)
      venturi_engine_backend(${engine} netcdf SOURCES engine/backend/netcdf.cpp
                             LIBRARIES venturi_netcdf)
    endforeach()
  else()
    venturi_no_backend(netcdf "netCDF was not found: install libnetcdf-dev and build again")
  endif()
endfunction()

# venturi_find_zlib(): pieces of several ranks in one file, compressed if so wished.
function(venturi_find_zlib)
  _venturi_not_portable(bundle zlib zlib1g-dev)
  find_package(ZLIB QUIET)
  if(ZLIB_FOUND)
    foreach(engine IN LISTS VENTURI_ALL_ENGINES)
      venturi_engine_backend(${engine} bundle LIBRARIES ZLIB::ZLIB)
    endforeach()
  else()
    venturi_no_backend(bundle "zlib was not found: install zlib1g-dev and build again")
  endif()
endfunction()

# venturi_find_curl(): objects of an S3 server. 7.85 has the option that keeps it to HTTP.
function(venturi_find_curl)
  _venturi_not_portable(s3 libcurl libcurl4-openssl-dev)
  find_package(CURL 7.85 QUIET)
  if(CURL_FOUND)
    foreach(engine IN LISTS VENTURI_ALL_ENGINES)
      venturi_engine_backend(
        ${engine} s3
        SOURCES engine/backend/s3.cpp engine/backend/s3/client.cpp engine/backend/s3/http.cpp
                engine/backend/s3/sha256.cpp engine/backend/s3/signature.cpp
                engine/backend/s3/xml.cpp
        LIBRARIES CURL::libcurl)
    endforeach()
  else()
    venturi_no_backend(s3 "no libcurl from 7.85 on was found: install libcurl4-openssl-dev and build again")
  endif()
endfunction()

# venturi_find_rados(): objects of a Ceph pool.
function(venturi_find_rados)
  _venturi_not_portable(rados librados librados-dev)
  find_path(VENTURI_RADOS_INCLUDE rados/librados.h)
  find_library(VENTURI_RADOS_LIBRARY rados)
  if(VENTURI_RADOS_INCLUDE AND VENTURI_RADOS_LIBRARY)
    add_library(venturi_rados INTERFACE)
    target_include_directories(venturi_rados SYSTEM INTERFACE ${VENTURI_RADOS_INCLUDE})
    target_link_libraries(venturi_rados INTERFACE ${VENTURI_RADOS_LIBRARY})
    foreach(engine IN LISTS VENTURI_ALL_ENGINES)
      venturi_engine_backend(${engine} rados LIBRARIES venturi_rados)
    endforeach()
  else()
    venturi_no_backend(rados "librados was not found: install librados-dev and build again")
  endif()
endfunction()
