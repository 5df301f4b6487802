require 'tests.validation.symmetry' ('double', describe, it)
