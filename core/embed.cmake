# Turns a text file into a C array: cmake -DINPUT= -DOUTPUT= -DSYMBOL= -P embed.cmake
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
file(WRITE ${OUTPUT}
    "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {\n${bytes}0x00\n};\n")
