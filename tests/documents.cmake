# Compilers and documents: headers, wrong uses, the amalgamation, the manual's programs, the site. They don't depend on this build's options, so one build
# is enough. Included by CMakeLists.txt.

option(REEF_COMPILE_TESTS "Test headers, wrong uses, the amalgamation and the documents' programs" ON)
if(REEF_COMPILE_TESTS AND NOT REEF_SANITIZE)
  if(REEF_PYTHON)
    reef_test(check_source quick 300 ${REEF_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/check-source)
  endif()
  foreach(name casts wrong typed one_unit vectors msvc bench)
    reef_test(compile_${name} quick 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/${name} ${PROJECT_SOURCE_DIR})
  endforeach()
  reef_test(compile_wrong_deep deep 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/wrong ${PROJECT_SOURCE_DIR} all)
  reef_test(compile_headers quick 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/headers ${PROJECT_SOURCE_DIR})
  reef_test(compile_headers_deep deep 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/headers ${PROJECT_SOURCE_DIR} all)
  reef_test(compile_everyday quick 300
    sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/everyday ${PROJECT_SOURCE_DIR} $<TARGET_FILE:reef>)
  reef_test(compile_homes quick 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/homes ${PROJECT_SOURCE_DIR} $<TARGET_FILE:reef>)
  reef_test(compile_homes_deep deep 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/homes ${PROJECT_SOURCE_DIR} $<TARGET_FILE:reef> all)
  # Optimizing the one file takes half a minute of the processor.
  reef_test(amalgamation quick 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/amalgamation ${PROJECT_SOURCE_DIR} -O0)
  reef_test(amalgamation_size deep 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/amalgamation ${PROJECT_SOURCE_DIR} -O2)
  reef_test(compile_silent deep 3600 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/silent ${PROJECT_SOURCE_DIR})
  reef_test(compile_places deep 3600 sh ${CMAKE_CURRENT_SOURCE_DIR}/compile/places ${PROJECT_SOURCE_DIR})
  # Programs outside of reef: what the release build installs is found quickly; the other ways build reef again.
  if(REEF_INSTALL AND CMAKE_BUILD_TYPE STREQUAL Release)
    reef_test(packaging quick 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/packaging/check ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    reef_test(packaging_whole deep 1800 sh ${CMAKE_CURRENT_SOURCE_DIR}/packaging/check ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} whole)
  endif()
  # What debuggers show, of the static library and, where there is one, of the shared library.
  if(UNIX AND NOT APPLE)
    set(shared_for_gdb)
    if(TARGET reef_shared)
      set(shared_for_gdb $<TARGET_FILE:reef_shared>)
    endif()
    reef_test(debugger quick 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/debugger/run ${PROJECT_SOURCE_DIR} $<TARGET_FILE:reef> ${shared_for_gdb})
    set_tests_properties(${REEF_TEST_PREFIX}debugger PROPERTIES ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
  endif()
  # The site: one build of ./test is enough, and `dev` for ./test --near. The tests that use build/site run one after the other, and
  # begin early, since they are long.
  if(UNIX AND CMAKE_BUILD_TYPE MATCHES "^(Release|Debug)$" AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT REEF_CHECKED
     AND NOT CMAKE_C_FLAGS_DEBUG MATCHES coverage)
    reef_test(site_pages quick 60 sh ${CMAKE_CURRENT_SOURCE_DIR}/site/run ${PROJECT_SOURCE_DIR})
    reef_test(site_browser quick 600 sh ${CMAKE_CURRENT_SOURCE_DIR}/site/run ${PROJECT_SOURCE_DIR} quick)
    set_tests_properties(${REEF_TEST_PREFIX}site_browser PROPERTIES RESOURCE_LOCK site_packages COST 60)
  endif()
  # The npm package, in node and in Chromium, and the whole site: one build is enough.
  if(UNIX AND CMAKE_BUILD_TYPE STREQUAL Release AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT REEF_CHECKED)
    reef_test(site deep 3600 sh ${CMAKE_CURRENT_SOURCE_DIR}/site/run ${PROJECT_SOURCE_DIR} browser)
    set_tests_properties(${REEF_TEST_PREFIX}site PROPERTIES RESOURCE_LOCK site_packages)
    reef_test(npm deep 3600 bash ${CMAKE_CURRENT_SOURCE_DIR}/npm/run ${PROJECT_BINARY_DIR})
  endif()
  set(checked_docs)
  if(REEF_CHECKED)
    set(checked_docs checked)
  endif()
  reef_test(docs quick 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/docs/run ${PROJECT_SOURCE_DIR} $<TARGET_FILE:reef> ${checked_docs})
  set(docs_addons)
  if(TARGET reef_net)
    list(APPEND docs_addons REEF_NET=$<TARGET_FILE:reef_net>)
  endif()
  if(TARGET reef_sqlite)
    list(APPEND docs_addons REEF_SQLITE=$<TARGET_FILE:reef_sqlite>)
  endif()
  set_tests_properties(${REEF_TEST_PREFIX}docs PROPERTIES ENVIRONMENT "${docs_addons}")
  if(TARGET reef_sqlite AND TARGET reef-tool AND TARGET living_reef AND UNIX)
    reef_test(docs_console quick 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/docs/console ${PROJECT_SOURCE_DIR} $<TARGET_FILE:reef-tool> $<TARGET_FILE:living_reef>)
  endif()
  reef_test(mistakes quick 120 sh ${CMAKE_CURRENT_SOURCE_DIR}/mistakes/run ${PROJECT_SOURCE_DIR} $<TARGET_FILE:reef> ${checked_docs})
  reef_test(docs_links quick 60 sh ${CMAKE_CURRENT_SOURCE_DIR}/docs/links ${PROJECT_SOURCE_DIR})
  reef_test(docs_new_kind deep 900 python3 ${CMAKE_CURRENT_SOURCE_DIR}/docs/new_kind ${PROJECT_SOURCE_DIR})
  set_tests_properties(${REEF_TEST_PREFIX}docs_new_kind PROPERTIES ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
  reef_test(seeded_patches quick 60 ${PROJECT_SOURCE_DIR}/scripts/seeded-bugs --check)
  # does the patch of scripts/instructions --uncached still apply?
  reef_test(uncached_patch quick 60 patch -s --dry-run -p1 -d ${PROJECT_SOURCE_DIR} -i benchmark/uncached.patch)
  reef_test(docs_steps quick 60 ${PROJECT_SOURCE_DIR}/scripts/check-steps --list) # the marks; ./test --deep runs the steps
elseif(REEF_CHECKED AND REEF_SANITIZE AND UNIX)
  # What the documents say of the checked build, and what it tells of mistakes.
  reef_test(docs_checked quick 300 sh ${CMAKE_CURRENT_SOURCE_DIR}/docs/run ${PROJECT_SOURCE_DIR} $<TARGET_FILE:reef> only
    -fsanitize=${REEF_SANITIZE})
  reef_test(mistakes_checked quick 120 sh ${CMAKE_CURRENT_SOURCE_DIR}/mistakes/run ${PROJECT_SOURCE_DIR} $<TARGET_FILE:reef> checked
    -fsanitize=${REEF_SANITIZE})
  set_tests_properties(${REEF_TEST_PREFIX}docs_checked ${REEF_TEST_PREFIX}mistakes_checked PROPERTIES
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};LD_LIBRARY_PATH=$<TARGET_FILE_DIR:reef>")
endif()
