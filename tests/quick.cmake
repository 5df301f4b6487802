# quick.cmake - the tests labelled "quick", which `ctest -L quick` runs after each small change.
# They take 17 s of processor time and need neither a device nor a compiler of kernels. Specs see no
# device here, so that one which comes to need it fails.

get_property(tests DIRECTORY PROPERTY TESTS)
list(FILTER tests INCLUDE REGEX ^\(core|fake|headers\)/)
list(REMOVE_ITEM tests core/nvrtc core/together)

foreach(name device dialect figure film grid image inversion lock manual
        ocean_gridded options pages plot progress random repl riemann screen tune_kept)
    list(APPEND tests tests/lua/${name}_spec.lua)
    set_property(TEST tests/lua/${name}_spec.lua APPEND PROPERTY ENVIRONMENT
        OCL_ICD_VENDORS=/nonexistent CUDA_VISIBLE_DEVICES=)
endforeach()
list(APPEND tests tidy)
set_property(TEST ${tests} APPEND PROPERTY LABELS quick)
