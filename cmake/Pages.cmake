# stoker_pages(TARGET): builds ui/ and the modules it imports into TARGET as web::Pages().
function(stoker_pages target)
  set(ui ${CMAKE_SOURCE_DIR}/ui)
  set(modules ${ui}/node_modules)
  if(NOT EXISTS ${modules}/preact/dist/preact.mjs OR NOT EXISTS ${modules}/htm/dist/htm.module.js)
    message(FATAL_ERROR "ui/node_modules is missing: run scripts/setup")
  endif()
  file(GLOB sources RELATIVE ${ui} CONFIGURE_DEPENDS ${ui}/*.css ${ui}/*.js ${ui}/*.svg)
  set(pages /=${ui}/index.html)
  set(files ${ui}/index.html)
  foreach(source ${sources})
    list(APPEND pages /${source}=${ui}/${source})
    list(APPEND files ${ui}/${source})
  endforeach()
  foreach(vendor preact.js=preact/dist/preact.mjs hooks.js=preact/hooks/dist/hooks.mjs
                 htm.js=htm/dist/htm.module.js preact-LICENSE.txt=preact/LICENSE
                 htm-LICENSE.txt=htm/LICENSE)
    string(REPLACE "=" ";" pair ${vendor})
    list(GET pair 0 name)
    list(GET pair 1 file)
    list(APPEND pages /vendor/${name}=${modules}/${file})
    list(APPEND files ${modules}/${file})
  endforeach()

  if(NOT TARGET stoker_embed_pages)
    add_executable(stoker_embed_pages ${CMAKE_SOURCE_DIR}/tools/embed_pages.cc)
    target_link_libraries(stoker_embed_pages PRIVATE stoker_base)
    set_target_properties(stoker_embed_pages PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tools)
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/pages.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND stoker_embed_pages ${out} --rewrite preact=/vendor/preact.js ${pages}
    DEPENDS stoker_embed_pages ${files}
    COMMENT "Building the pages into ${target}" VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
