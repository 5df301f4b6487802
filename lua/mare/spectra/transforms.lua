-- mare.fft: transforms, and what is made of them alone.

local fft = require 'mare.fft'

require('mare.spectra.convolution').add(fft)
require('mare.spectra.poisson').add(fft)

return fft
