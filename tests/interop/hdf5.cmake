# HDF5 and steps.h5 against other people's readers and writers: Debian's python3-h5py, and h5wasm (npm, pinned).
find_program(FEEDBENCH_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
add_executable(hdf5_files ${CMAKE_CURRENT_LIST_DIR}/hdf5_files.cpp)
target_link_libraries(hdf5_files PRIVATE feedbench_flags fb_accelerator fb_formats)
add_test(NAME interop_hdf5_h5py
         COMMAND ${FEEDBENCH_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/hdf5_h5py.py $<TARGET_FILE:hdf5_files>
                 ${CMAKE_SOURCE_DIR}/docs/steps.md ${CMAKE_BINARY_DIR}/hdf5_interop_h5py)
find_program(FEEDBENCH_NODE node REQUIRED)
add_test(NAME interop_hdf5_h5wasm
         COMMAND ${FEEDBENCH_NODE} ${CMAKE_CURRENT_LIST_DIR}/hdf5_h5wasm.mjs $<TARGET_FILE:hdf5_files>
                 ${CMAKE_BINARY_DIR}/hdf5_interop_h5wasm)
set_tests_properties(interop_hdf5_h5py interop_hdf5_h5wasm PROPERTIES LABELS interop TIMEOUT 120)
