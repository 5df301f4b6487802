# together.cmake - specs that run in one process, since the first program of a process costs PoCL
# half a second. A group is of one folder and theme, compiles little that is dear, and does not look
# at its process: memory, traces, signals and the environment are for specs that run alone. Its test
# is named after all of its specs; busted tells the file and line of what fails.

set(together
    "kernels: barrier clock halo mandelbrot maths tiles"
    "kernels: fft ndarray ordering products"
    "kernels: c_grid derived march sweeps"
    "lua: bad_files damaged readers special_files"
    "lua: block call carried events gradient profile"
    "lua: divided parts steps volume"
    "lua: arrays_table fields fields_arrays ndarray ndarray_numpy ordering_numpy"
    "lua: energy frames live sides study sweep"
    "lua: mandelbrot refusals run_options snapshot suggest translate"
    "lua: ocean_budget ocean_domain ocean_drifters ocean_forcing"
    "lua: ocean_open ocean_output ocean_rivers ocean_roms tides"
    "scenarios: north_sea north_sea_options ocean_shores ocean_waves"
    "scenarios: equations scenarios series sides_page"
    "scenarios: films logs own_code"
    "validation: blast kelvin_helmholtz order riemann"
    "validation: decomposition passes step straight symmetry_double symmetry_float"
    "validation: equations script_functions water_accuracy water_state"
    "validation: ocean_cgrid_state ocean_cgrid_waves ocean_orders ocean_pieces ocean_sides"
    "validation: ocean_fv_accuracy ocean_fv_balance ocean_fv_shore ocean_fv_sources ocean_fv_state")

foreach(group ${together})
    string(REGEX MATCH "^[^:]+" folder ${group})
    string(REGEX REPLACE "^[^:]+: " "" names ${group})
    string(REPLACE " " ";" files ${names})
    list(TRANSFORM files REPLACE "(.+)" "tests/${folder}/\\1_spec.lua")
    foreach(file ${files})
        if(NOT file IN_LIST specs)
            message(FATAL_ERROR "tests/together.cmake: ${file} is not there, or in two groups")
        endif()
        list(REMOVE_ITEM specs ${file})
    endforeach()
    string(REPLACE " " "," names ${names})
    spec_test("tests/${folder}/{${names}}_spec.lua" ${files})
endforeach()
