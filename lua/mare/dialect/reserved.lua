-- The words that a name in a kernel cannot be, in CUDA or in OpenCL, as the keys of a
-- table.

local reserved = {}

for word in ([[and asm auto bool break case char class const constant continue default delete do
    double else enum explicit export extern false float for friend global goto half if inline int
    kernel local long mutable namespace new not operator or private protected public real register
    restrict return short signed sizeof static struct switch template this throw true try typedef
    typename uchar uint ulong union unsigned ushort using virtual void volatile while xor R]])
    :gmatch '%a+' do
    reserved[word] = true
end

return reserved
