# Turns a text file into a C array: cmake -DINPUT= -DOUTPUT= -DSYMBOL= -DBOTH= -P embed.cmake. Where
# it includes "prelude/both.h", that file's text stands, which is BOTH.
file(READ ${INPUT} bytes HEX)
file(READ ${BOTH} both HEX)
string(HEX "#include \"prelude/both.h\"\n" include)
string(REPLACE "${include}" "${both}" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
file(WRITE ${OUTPUT}
    "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {\n${bytes}0x00\n};\n")
