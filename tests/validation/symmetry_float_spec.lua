require 'tests.validation.symmetry' ('float', describe, it)
