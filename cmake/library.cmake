# The libraries that every engine is made of: fmt, nlohmann-json and, where it is found, liburing.

set(VENTURI_THIRD_PARTY ${CMAKE_CURRENT_SOURCE_DIR}/third_party
    CACHE PATH "A folder with include/ and lib/ of these libraries; used instead of installed ones")

# venturi_find_libraries(): those that came with the sources, else those that are installed. Makes
# the targets fmt::fmt and nlohmann_json::nlohmann_json, and venturi_uring where liburing is found.
function(venturi_find_libraries)
  set(only)
  if(EXISTS ${VENTURI_THIRD_PARTY}/include/fmt/format.h)
    set(only NO_DEFAULT_PATH)
    add_library(fmt::fmt INTERFACE IMPORTED)
    target_include_directories(fmt::fmt SYSTEM INTERFACE ${VENTURI_THIRD_PARTY}/include)
    target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
    add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
    target_include_directories(nlohmann_json::nlohmann_json SYSTEM
                               INTERFACE ${VENTURI_THIRD_PARTY}/include)
  else()
    find_package(fmt REQUIRED)
    find_package(nlohmann_json REQUIRED)
  endif()
  find_path(VENTURI_URING_INCLUDE liburing.h PATHS ${VENTURI_THIRD_PARTY}/include ${only})
  find_library(VENTURI_URING_LIBRARY uring PATHS ${VENTURI_THIRD_PARTY}/lib ${only})
  if(VENTURI_URING_INCLUDE AND VENTURI_URING_LIBRARY)
    add_library(venturi_uring INTERFACE)
    target_include_directories(venturi_uring SYSTEM INTERFACE ${VENTURI_URING_INCLUDE})
    target_link_libraries(venturi_uring INTERFACE ${VENTURI_URING_LIBRARY})
    if(only)
      file(READ ${VENTURI_THIRD_PARTY}/versions.json versions)
      string(JSON VENTURI_URING_VERSION GET ${versions} liburing)
    elseif(PKG_CONFIG_FOUND)
      pkg_check_modules(VENTURI_URING QUIET liburing)
    endif()
    set(VENTURI_URING_VERSION "${VENTURI_URING_VERSION}" PARENT_SCOPE)
  endif()
endfunction()
