# Pages in a browser: Debian's chromium driven by playwright-core (npm, pinned). Screenshots stay in <build folder>/browser.
# feedbench_browser_test(<name of the .mjs file>)
find_program(FEEDBENCH_NODE node REQUIRED)
function(feedbench_browser_test name)
  add_test(NAME browser_${name} COMMAND ${FEEDBENCH_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/${name}.mjs)
  set_tests_properties(browser_${name} PROPERTIES LABELS browser TIMEOUT 180 PROCESSORS 2 SKIP_RETURN_CODE 77
    ENVIRONMENT "FEEDBENCH=${CMAKE_BINARY_DIR}/feedbench;FEEDBENCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};FEEDBENCH_BINARY_DIR=${CMAKE_BINARY_DIR}")
endfunction()
if(TARGET feedbench)
  feedbench_browser_test(report)
  feedbench_browser_test(compare)
endif()
