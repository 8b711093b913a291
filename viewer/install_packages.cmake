# Installs the packages of package-lock.json into viewer/node_modules, unless they are there; sets ASTERISM_VIEWER, or
# says in one sentence why there will be no page.
find_program(VIEWER_NODE node)
find_program(VIEWER_NPM npm)
mark_as_advanced(VIEWER_NODE VIEWER_NPM)

function(viewer_install)
  set(stamp ${CMAKE_CURRENT_SOURCE_DIR}/node_modules/.asterism-lock)
  file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/package-lock.json lock)
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
  endif()
  if(NOT "${installed}" STREQUAL "${lock}")
    execute_process(COMMAND ${VIEWER_NODE} registry.mjs ${VIEWER_NPM} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                    RESULT_VARIABLE failed OUTPUT_VARIABLE why OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(failed)
      message(STATUS "Reports are left out: npm cannot install the packages of their page, since ${why}")
      return()
    endif()
    message(STATUS "Installing the packages of the report page with npm ...")
    execute_process(COMMAND ${VIEWER_NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
                            --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=2000
                    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} RESULT_VARIABLE failed
                    OUTPUT_QUIET ERROR_VARIABLE why TIMEOUT 300)
    if(failed)
      string(REGEX MATCH "code [A-Z0-9_]+" why "${why}")
      message(STATUS "Reports are left out: npm could not install the packages of their page (${failed} ${why})")
      return()
    endif()
    file(WRITE ${stamp} ${lock})
  endif()
  set(ASTERISM_VIEWER ON PARENT_SCOPE)
endfunction()

if(NOT ASTERISM_WITH_VIEWER)
  message(STATUS "Reports are left out: ASTERISM_WITH_VIEWER is off")
elseif(NOT VIEWER_NODE OR NOT VIEWER_NPM)
  message(STATUS "Reports are left out: there is no npm, which bundles their page (on Debian: apt install nodejs npm)")
else()
  execute_process(COMMAND ${VIEWER_NODE} -p "parseInt(process.versions.node)" OUTPUT_VARIABLE node_major
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(node_major LESS 18)
    message(STATUS "Reports are left out: node is version ${node_major}, and their page takes 18 or later")
  else()
    viewer_install()
  endif()
endif()
