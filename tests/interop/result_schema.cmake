# result.json against reporters/schema by a foreign validator: python3-jsonschema (scripts/packages.txt).
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_executable(write_sample_results ${CMAKE_CURRENT_LIST_DIR}/write_sample_results.cpp)
target_link_libraries(write_sample_results PRIVATE feedbench_flags fb_reporters fb_metrics)
add_test(NAME interop_result_schema
         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/result_schema.py
                 ${CMAKE_SOURCE_DIR}/reporters/schema/result.schema.json $<TARGET_FILE:write_sample_results>
                 ${CMAKE_BINARY_DIR}/sample_results)
set_tests_properties(interop_result_schema PROPERTIES LABELS interop TIMEOUT 60)
