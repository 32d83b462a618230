# npz, npy, indexed_binary, csv, images and TFRecord against other people's: Debian's python3-numpy, python3-pil, @roboflow/tfrecords, hyparquet and
# hyparquet-writer (npm, pinned).
find_program(FEEDBENCH_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
add_executable(interop_format_files ${CMAKE_CURRENT_LIST_DIR}/format_files.cpp)
target_link_libraries(interop_format_files PRIVATE feedbench_flags fb_formats fb_generators ZLIB::ZLIB)
add_test(NAME interop_formats_numpy
         COMMAND ${FEEDBENCH_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/formats_numpy.py $<TARGET_FILE:interop_format_files>
                 ${CMAKE_BINARY_DIR}/formats_interop_numpy)
add_test(NAME interop_formats_images
         COMMAND ${FEEDBENCH_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/formats_images.py $<TARGET_FILE:interop_format_files>
                 ${CMAKE_BINARY_DIR}/formats_interop_images)
find_program(FEEDBENCH_NODE node REQUIRED)
add_test(NAME interop_formats_tfrecords
         COMMAND ${FEEDBENCH_NODE} ${CMAKE_CURRENT_LIST_DIR}/formats_tfrecords.mjs $<TARGET_FILE:interop_format_files>
                 ${CMAKE_BINARY_DIR}/formats_interop_tfrecords)
add_test(NAME interop_formats_parquet
         COMMAND ${FEEDBENCH_NODE} ${CMAKE_CURRENT_LIST_DIR}/formats_parquet.mjs $<TARGET_FILE:interop_format_files>
                 ${CMAKE_BINARY_DIR}/formats_interop_parquet)
set_tests_properties(interop_formats_numpy interop_formats_images interop_formats_tfrecords interop_formats_parquet PROPERTIES LABELS interop TIMEOUT 300)
