# What HTML pages carry with them becomes one C++ source: our styles and script as they lie in the tree, uPlot from npm, pinned by the
# lock file. As a script (cmake -P) this file writes that source; included, it adds it to a target.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  # Our files in this order; a file that is named here and missing stops the build.
  foreach(name tables.js plots.js page.js groups.js)
    file(READ ${ASSETS}/${name} text)
    string(APPEND page_js "${text}")
  endforeach()
  file(READ ${ASSETS}/page.css page_css)
  file(READ ${UPLOT}/dist/uPlot.min.css uplot_css)
  file(READ ${UPLOT}/dist/uPlot.iife.min.js uplot_js)
  file(READ ${UPLOT}/LICENSE uplot_licence)
  set(source "#include \"reporters/html/assets.hpp\"\n\nnamespace feedbench::html::assets {\n\n")
  foreach(name page_css page_js uplot_css uplot_js uplot_licence)
    # In a page these stand in <style> and <script>, which only their own end tag ends.
    if("${${name}}" STREQUAL "" OR "${${name}}" MATCHES "</(script|style)" OR "${${name}}" MATCHES "\\)_asset_\"")
      message(FATAL_ERROR "page assets: ${name} is empty, or holds an end tag: it cannot be put into a page")
    endif()
    string(APPEND source "const std::string_view ${name} = R\"_asset_(${${name}})_asset_\";\n")
  endforeach()
  string(APPEND source "\n} // namespace feedbench::html::assets\n")
  file(WRITE ${OUT} "${source}")
  return()
endif()

find_program(NPM_PROGRAM npm REQUIRED)

# feedbench_page_assets(<target>)
function(feedbench_page_assets target)
  set(assets ${CMAKE_SOURCE_DIR}/reporters/html/assets)
  set(folder ${CMAKE_BINARY_DIR}/page_assets)
  set(uplot ${folder}/node_modules/uplot)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${folder}/node_modules/.package-lock.json
    COMMAND ${CMAKE_COMMAND} -E copy ${assets}/package.json ${assets}/package-lock.json ${folder}
    COMMAND ${NPM_PROGRAM} ci --prefix ${folder} --ignore-scripts --no-audit --no-fund --prefer-offline --no-update-notifier --loglevel=error
    DEPENDS ${assets}/package.json ${assets}/package-lock.json
    COMMENT "fetching uPlot from npm" VERBATIM)
  file(GLOB own CONFIGURE_DEPENDS ${assets}/*.js ${assets}/*.css)
  add_custom_command(OUTPUT ${folder}/assets.cpp
    COMMAND ${CMAKE_COMMAND} -DASSETS=${assets} -DUPLOT=${uplot} -DOUT=${folder}/assets.cpp -P ${CMAKE_SOURCE_DIR}/cmake/page_assets.cmake
    DEPENDS ${folder}/node_modules/.package-lock.json ${own} ${CMAKE_SOURCE_DIR}/cmake/page_assets.cmake
    COMMENT "putting the page assets into a source" VERBATIM)
  target_sources(${target} PRIVATE ${folder}/assets.cpp)
endfunction()
