# result.json against reporters/schema by a foreign validator: python3-jsonschema (scripts/packages.txt).
# The system's python3, which is the one that Debian's packages belong to.
find_program(FEEDBENCH_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
add_executable(write_sample_results ${CMAKE_CURRENT_LIST_DIR}/write_sample_results.cpp)
target_link_libraries(write_sample_results PRIVATE feedbench_flags fb_reporters fb_metrics)
add_test(NAME interop_result_schema
         COMMAND ${FEEDBENCH_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/result_schema.py
                 ${CMAKE_SOURCE_DIR}/reporters/schema/result.schema.json $<TARGET_FILE:write_sample_results>
                 ${CMAKE_BINARY_DIR}/sample_results)
set_tests_properties(interop_result_schema PROPERTIES LABELS interop TIMEOUT 60)
