# One function that makes a room: a static library (or the binary) of all sources in one folder. Sources are globbed with
# CONFIGURE_DEPENDS so that a new plug-in is one file and one table line, never a change to the build.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(MPI REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(HDF5 REQUIRED COMPONENTS C)
pkg_check_modules(URING REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
# s3: without libcurl and expat the backend is there and says so (storage/s3/without_curl.cpp); -DFEEDBENCH_WITH_S3=OFF tries that.
option(FEEDBENCH_WITH_S3 "build the s3 backend where libcurl and expat are there" ON)
pkg_check_modules(CURL IMPORTED_TARGET libcurl)
pkg_check_modules(EXPAT IMPORTED_TARGET expat)
add_library(feedbench_curl INTERFACE)
if(FEEDBENCH_WITH_S3 AND CURL_FOUND AND EXPAT_FOUND)
  target_compile_definitions(feedbench_curl INTERFACE FEEDBENCH_HAS_CURL=1)
  target_link_libraries(feedbench_curl INTERFACE PkgConfig::CURL PkgConfig::EXPAT)
else()
  target_compile_definitions(feedbench_curl INTERFACE FEEDBENCH_HAS_CURL=0)
endif()
# nfs: without libnfs the backend is there and says so (storage/nfs.cpp); -DFEEDBENCH_WITH_NFS=OFF tries that.
option(FEEDBENCH_WITH_NFS "build the nfs backend where libnfs is there" ON)
pkg_check_modules(NFS IMPORTED_TARGET libnfs)
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
# Its flags define _FILE_OFFSET_BITS=64, which is the default here anyway and would keep the precompiled headers from being used.
set_target_properties(PkgConfig::HIREDIS PROPERTIES INTERFACE_COMPILE_OPTIONS "")
pkg_check_modules(FUSE3 REQUIRED IMPORTED_TARGET fuse3)
set_target_properties(PkgConfig::FUSE3 PROPERTIES INTERFACE_COMPILE_OPTIONS "")
if(NOT TARGET hdf5::hdf5)
  add_library(hdf5::hdf5 INTERFACE IMPORTED)
  target_include_directories(hdf5::hdf5 INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_link_libraries(hdf5::hdf5 INTERFACE ${HDF5_C_LIBRARIES})
endif()

add_library(feedbench_flags INTERFACE)
target_include_directories(feedbench_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(feedbench_flags INTERFACE -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                                                 -fno-omit-frame-pointer
  # GCC 12 reports std::string operator+ under -O3 (GCC bug 105651), and the same code in a precompiled header under another name.
  -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
target_compile_definitions(feedbench_flags INTERFACE FEEDBENCH_VERSION="${PROJECT_VERSION}" OMPI_SKIP_MPICXX=1)
if(FEEDBENCH_SANITIZE)
  target_compile_options(feedbench_flags INTERFACE -fsanitize=${FEEDBENCH_SANITIZE} -fno-sanitize-recover=all)
  if(FEEDBENCH_SANITIZE MATCHES undefined) # null pointers end in the address sanitizer anyway; vptr checks make the build a fifth longer
    target_compile_options(feedbench_flags INTERFACE -fno-sanitize=null,vptr)
    # Tests' own code (property FEEDBENCH_TEST) is spared the undefined part, which makes their many assertions a third slower to compile.
    target_compile_options(feedbench_flags INTERFACE $<$<BOOL:$<TARGET_PROPERTY:FEEDBENCH_TEST>>:-fno-sanitize=undefined>)
  endif()
  target_link_options(feedbench_flags INTERFACE -fsanitize=${FEEDBENCH_SANITIZE})
endif()

# What is not on the path of a sample is compiled for the builder's time, not for the run's. Sanitizer and debug builds keep their own level.
# Tests and the command line, whose headers are the largest of all, are not optimised at all.
set(FEEDBENCH_COLD_OPTIONS $<$<CONFIG:RelWithDebInfo>:-O1>)
set(FEEDBENCH_UNOPTIMISED_OPTIONS $<$<CONFIG:RelWithDebInfo>:-O0>)

# One precompiled header for each set of flags (GCC refuses one made with others): the standard library's costly headers and, for the cold
# rooms, fmt and JSON. Our own headers are not in it, so that a change to one rebuilds no more than before.
set(FEEDBENCH_STD_HEADERS <algorithm> <array> <atomic> <chrono> <coroutine> <cstdint> <filesystem> <fstream> <functional> <map> <memory>
  <mutex> <optional> <random> <sstream> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)
set(FEEDBENCH_COLD_HEADERS ${FEEDBENCH_STD_HEADERS} <fmt/format.h> <nlohmann/json.hpp>)
set(FEEDBENCH_CLI_HEADERS ${FEEDBENCH_STD_HEADERS} <fmt/format.h> <CLI/CLI.hpp>)
file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cpp.in "int feedbench_precompiled_@kind@ = 0;\n")
foreach(kind hot cold cli)
  configure_file(${CMAKE_BINARY_DIR}/precompiled.cpp.in ${CMAKE_BINARY_DIR}/precompiled_${kind}.cpp @ONLY)
  add_library(precompiled_${kind} STATIC ${CMAKE_BINARY_DIR}/precompiled_${kind}.cpp)
  target_link_libraries(precompiled_${kind} PRIVATE feedbench_flags)
endforeach()
target_compile_options(precompiled_cold PRIVATE ${FEEDBENCH_COLD_OPTIONS})
target_link_libraries(precompiled_cold PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
target_compile_options(precompiled_cli PRIVATE ${FEEDBENCH_UNOPTIMISED_OPTIONS})
target_link_libraries(precompiled_cli PRIVATE fmt::fmt CLI11::CLI11)
target_precompile_headers(precompiled_cli PRIVATE ${FEEDBENCH_CLI_HEADERS})
target_precompile_headers(precompiled_hot PRIVATE ${FEEDBENCH_STD_HEADERS})
target_precompile_headers(precompiled_cold PRIVATE ${FEEDBENCH_COLD_HEADERS})

# Sanitizer builds compile several files as one (CMAKE_UNITY_BUILD), which halves their time; the release build shows that each file stands
# by itself. Of files that use one name for two things, all but one are compiled alone.
set_source_files_properties(
  harness/metrics/window_metrics.cpp
  reporters/console_checkpoints.cpp reporters/registry.cpp reporters/run_markdown.cpp reporters/run_page_curves.cpp
  reporters/run_page_checkpoints.cpp
  reporters/ingest/lenient_json.cpp reporters/ingest/surroundings.cpp reporters/ingest/system_description.cpp
  reporters/compare/checkpoint_metrics.cpp reporters/compare/html.cpp
  reporters/submission/rules.cpp reporters/submission/submitter_rules.cpp reporters/submission/writer_add.cpp
  storage/fault_plan.cpp storage/model_parameters.cpp storage/mpiio.cpp storage/mpi_collective.cpp
  storage/nfs/mount.cpp storage/nfs/version4.cpp # libnfs' raw headers declare a global `name`
  formats/hdf5_metadata.cpp formats/npz_pass.cpp
  harness/engine/frame_pool.cpp
  workloads/cache_drop.cpp workloads/checkpoint_cache.cpp workloads/checkpoint_run.cpp workloads/checkpoint_stream.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# feedbench_precompiled(<target> hot|cold|cli)
function(feedbench_precompiled target kind)
  if(kind STREQUAL cold)
    target_compile_options(${target} PRIVATE ${FEEDBENCH_COLD_OPTIONS})
  elseif(kind STREQUAL cli)
    target_compile_options(${target} PRIVATE ${FEEDBENCH_UNOPTIMISED_OPTIONS})
  endif()
  target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
endfunction()

# feedbench_room(<name> <number> DIR <folder> [ROOMS <room>...] [LIBS <target>...] [EXECUTABLE <binary>] [COLD])
function(feedbench_room name number)
  cmake_parse_arguments(R "COLD" "DIR;EXECUTABLE" "ROOMS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${R_DIR}/*.cpp)
  set(kind hot)
  if(R_COLD)
    set(kind cold)
  endif()
  set(links feedbench_flags ${R_LIBS})
  foreach(room ${R_ROOMS})
    list(APPEND links fb_${room})
  endforeach()
  if(R_EXECUTABLE)
    if(sources)
      add_executable(${R_EXECUTABLE} ${sources})
      target_link_libraries(${R_EXECUTABLE} PRIVATE ${links})
      feedbench_precompiled(${R_EXECUTABLE} cli)
      set_target_properties(${R_EXECUTABLE} PROPERTIES UNITY_BUILD OFF) # each command has a State and a run of its own
      # A template or inline function that several objects hold comes from the one that the linker meets first. The command line's objects are
      # not optimised, so the rooms go before them, hot ones first: else much of the binary runs on unoptimised copies (reading JSON took
      # twice as long).
      set(hot_archives)
      set(cold_archives)
      foreach(room ${R_ROOMS})
        get_target_property(type fb_${room} TYPE)
        get_target_property(is_cold fb_${room} FEEDBENCH_COLD)
        if(type STREQUAL STATIC_LIBRARY AND is_cold)
          list(APPEND cold_archives $<TARGET_FILE:fb_${room}>)
        elseif(type STREQUAL STATIC_LIBRARY)
          list(APPEND hot_archives $<TARGET_FILE:fb_${room}>)
        endif()
      endforeach()
      target_link_options(${R_EXECUTABLE} PRIVATE LINKER:--whole-archive ${hot_archives} ${cold_archives} LINKER:--no-whole-archive)
    endif()
  elseif(sources)
    add_library(fb_${name} STATIC ${sources})
    target_link_libraries(fb_${name} PUBLIC ${links})
    feedbench_precompiled(fb_${name} ${kind})
    set_target_properties(fb_${name} PROPERTIES FEEDBENCH_COLD ${R_COLD})
  else()
    add_library(fb_${name} INTERFACE)
    target_link_libraries(fb_${name} INTERFACE ${links})
  endif()
endfunction()
