-- fakes.lua - the folder with those of the libraries of tests/fake: fake_cuda/libcuda.so.1 and so
-- on. A build has them beside the launcher, a bundle in lib/.

local lfs = require 'lfs'
local folder = require('bindings.home').launcher:match '^(.*)/'
local shipped = folder .. '/../lib/fakes'

return lfs.attributes(shipped) and shipped or folder .. '/tests'
