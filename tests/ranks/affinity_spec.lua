-- Where ranks run, as a machine of two NUMA nodes with a GPU each tells it.

local affinity = require 'mare.launcher.affinity'
local fails = require 'tests.fails'
local trial = require 'tests.scenarios.trial'

describe('the doctor', function()
    local folder = trial.new_folder()

    local function put(path, text)
        os.execute(("mkdir -p '%s%s'"):format(folder, path:match '^(.*)/'))
        trial.spit(folder .. path, text)
    end

    setup(function()
        affinity.root = folder
        for k = 0, 1 do
            local bus = ('0000:%d9:00.0'):format(k)
            put(('/sys/devices/system/node/node%d/cpulist'):format(k),
                k == 0 and '0-3,8\n' or '4-7\n')
            put(('/sys/bus/pci/devices/%s/numa_node'):format(bus), k .. '\n')
            put(('/proc/driver/nvidia/gpus/%s/information'):format(bus),
                ('Model: H200\nGPU UUID:   GPU-AA-%d\nBus Location: %s\n'):format(k, bus))
        end
    end)

    teardown(function()
        affinity.root = ''
        trial.remove(folder)
    end)

    local function own(gpu, cores)
        put('/proc/self/status', 'Name:\tmare\nCpus_allowed_list:\t' .. cores .. '\nx: 1\n')
        return affinity.own(gpu and { name = 'cuda:' .. gpu, info = { kind = 'gpu',
            uuid = 'aa-' .. gpu } })
    end

    it('tells the cores and the NUMA node of each rank, and that of its GPU', function()
        assert.same({ '  rank 0: cuda:0 at NUMA node 0, cores 8 of NUMA node 0',
            '  rank 1: cuda:1 at NUMA node 1, cores 2-5 of NUMA node 0, 1' },
            affinity.lines { own(0, '8'), own(1, '2-5') })
        assert.same({ '  rank 0: no device, cores 4 of NUMA node 1' },
            affinity.lines { own(nil, '4') })
    end)

    it('names a rank that is far from its GPU, and those that share one', function()
        local text = table.concat(affinity.lines { own(1, '0-3'), own(0, '0'), own(1, '4-7') },
            '\n')
        fails.says(text, 'rank 0 is far from its GPU', 'cuda:1 is at 1', '--map-by numa',
            'ranks 0, 2 share cuda:1')
        assert.is_nil(text:find 'rank [12] is far')
    end)

    it('says nothing of what it cannot see', function()
        os.execute(("rm -r '%s/sys'"):format(folder))
        assert.same({ '  rank 0: cuda:0, cores 0' }, affinity.lines { own(0, '0') })
    end)
end)
