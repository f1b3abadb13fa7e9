# cmake -DPROGRAM=... -DEXPECTED=... -P compare-output.cmake: runs a program, which must succeed and print exactly this.
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${result}\n${output}${errors}")
endif()
file(READ ${EXPECTED} expected)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "The output differs from ${EXPECTED}.\n--- expected\n${expected}--- got\n${output}---")
endif()
