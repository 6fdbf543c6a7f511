# SPDX-License-Identifier: Apache-2.0
#
# libyaml and expat from the sources of Debian, as tools/wasm_sources unpacks them: CALDER_READER_SOURCES/libyaml and /expat.
# They are the parsers of the native build, so messages and places are the same.

file(GLOB yaml_sources ${CALDER_READER_SOURCES}/libyaml/src/*.c)
set(expat_lib ${CALDER_READER_SOURCES}/expat/expat/lib)
if(NOT yaml_sources OR NOT EXISTS ${expat_lib}/xmlparse.c)
	message(FATAL_ERROR "${CALDER_READER_SOURCES} has not the sources of libyaml and expat; run tools/wasm_sources FOLDER")
endif()

add_library(calder_yaml STATIC EXCLUDE_FROM_ALL ${yaml_sources})
target_include_directories(calder_yaml SYSTEM PUBLIC ${CALDER_READER_SOURCES}/libyaml/include)
target_compile_definitions(calder_yaml PUBLIC YAML_DECLARE_STATIC PRIVATE
	YAML_VERSION_MAJOR=0 YAML_VERSION_MINOR=2 YAML_VERSION_PATCH=5 YAML_VERSION_STRING="0.2.5")
target_compile_options(calder_yaml PRIVATE -w)

# Its tables of names are salted: arc4random_buf() is in wasm/wasi/missing.c.
file(WRITE ${PROJECT_BINARY_DIR}/readers/expat_config.h "/* All of it is in cmake/CalderReaders.cmake. */\n")
add_library(calder_expat STATIC EXCLUDE_FROM_ALL ${expat_lib}/xmlparse.c ${expat_lib}/xmlrole.c ${expat_lib}/xmltok.c)
target_include_directories(calder_expat SYSTEM PUBLIC ${expat_lib} PRIVATE ${PROJECT_BINARY_DIR}/readers)
target_compile_definitions(calder_expat PUBLIC XML_STATIC PRIVATE
	XML_NS=1 XML_DTD=1 XML_GE=1 XML_CONTEXT_BYTES=1024 BYTEORDER=1234 HAVE_MEMMOVE=1 HAVE_STDINT_H=1 HAVE_STDLIB_H=1
	HAVE_UNISTD_H=1 HAVE_ARC4RANDOM_BUF=1)
target_compile_options(calder_expat PRIVATE -w)

foreach(reader YAML EXPAT)
	set(calder_have_${reader} TRUE)
	string(TOLOWER ${reader} name)
	list(APPEND calder_adapter_libraries $<BUILD_INTERFACE:calder_${name}>)
	list(APPEND calder_adapter_definitions CALDER_WITH_${reader}=1)
endforeach()
