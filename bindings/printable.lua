-- printable(text): a message as a terminal should get it. Values of users and of files stand in
-- messages: bytes that a terminal would obey become '?', and a line of more than 1200 bytes keeps
-- its begin and its end.

local most, kept_before, kept_after = 1200, 500, 300

local function shorten(line)
    if #line <= most then return line end
    return ('%s ... (%d bytes) ... %s'):format(line:sub(1, kept_before),
        #line - kept_before - kept_after, line:sub(-kept_after))
end

-- With `is_whole`, long lines stay as they are.
return function(text, is_whole)
    text = text:gsub('[%z\1-\8\11-\31\127]', '?'):gsub('\194[\128-\159]', '?')
    return is_whole and text or (text:gsub('[^\n]+', shorten))
end
