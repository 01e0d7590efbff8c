# stoker_module(NAME DEPS a b LIBS x y): library stoker_NAME from src/NAME/**.cc, and stoker_NAME_test
# from its *_test.cc files. DEPS are modules of lower rank; LIBS are outside libraries.
function(stoker_module name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;TEST_LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    return()
  endif()
  list(TRANSFORM ARG_DEPS PREPEND stoker_)
  add_library(stoker_${name} STATIC ${sources})
  target_link_libraries(stoker_${name} PUBLIC ${ARG_DEPS} ${ARG_LIBS})
  if(STOKER_TESTS AND tests)
    stoker_test(stoker_${name}_test SOURCES ${tests} LIBS stoker_${name} ${ARG_TEST_LIBS})
  endif()
endfunction()

# One GoogleTest program; its JSON result names each file, which tools/house uses to prove that every
# test file ran something.
function(stoker_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBS;ENV" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_test(NAME ${name}
           COMMAND ${name} --gtest_brief=1
                   --gtest_output=json:${CMAKE_BINARY_DIR}/test/results/${name}.json)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT
    "STOKER_BIN=${CMAKE_BINARY_DIR}/bin;STOKER_SOURCE=${CMAKE_SOURCE_DIR};STOKER_SIM_NVML=${CMAKE_BINARY_DIR}/lib/libnvidia-ml.so.1;${ARG_ENV}")
endfunction()
