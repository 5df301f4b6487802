-- The words that a name in a kernel cannot be, in CUDA or in OpenCL, as the keys of a
-- table.

local reserved = {}

for word in ([[alignas alignof and and_eq asm auto bitand bitor bool break case catch char class
    compl const const_cast constant constexpr continue decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend global goto half if
    inline int kernel local long mutable namespace new noexcept not not_eq nullptr operator or
    or_eq pipe private protected public read_only read_write real register reinterpret_cast
    restrict return short signed sizeof static static_assert static_cast struct switch template
    this thread_local throw true try typedef typeid typename uchar uint ulong uniform union
    unsigned ushort using virtual void volatile while write_only xor xor_eq R]])
    :gmatch '[%w_]+' do
    reserved[word] = true
end

return reserved
