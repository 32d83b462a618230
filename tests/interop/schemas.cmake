# Every JSON Schema against what the tool writes, by ajv (npm, pinned in package.json).
if(TARGET feedbench)
  find_program(FEEDBENCH_NODE node REQUIRED)
  add_test(NAME interop_schemas
           COMMAND ${FEEDBENCH_NODE} ${CMAKE_CURRENT_LIST_DIR}/schemas.mjs $<TARGET_FILE:feedbench> $<TARGET_FILE:write_sample_results>
                   ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/schemas_interop)
  set_tests_properties(interop_schemas PROPERTIES LABELS interop TIMEOUT 120)
endif()
