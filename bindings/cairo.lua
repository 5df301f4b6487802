-- A small canvas over cairo, with the font read by FreeType from a file, so that text needs no
-- fontconfig set-up and looks the same everywhere. Units are pixels, y down, from the top left
-- corner; colours are 0xRRGGBB. Without a font file everything is drawn but the text.

local ffi = require 'ffi'
local bit = require 'bit'
local errors = require 'bindings.errors'
local foreign = require 'bindings.foreign'
local posix = require 'bindings.posix'

ffi.cdef [[
    void *cairo_image_surface_create(int format, int width, int height);
    unsigned char *cairo_image_surface_get_data(void *surface);
    int cairo_image_surface_get_stride(void *surface);
    int cairo_surface_status(void *surface);
    void cairo_surface_flush(void *surface);
    void cairo_surface_mark_dirty(void *surface);
    int cairo_surface_write_to_png(void *surface, const char *path);
    void *cairo_svg_surface_create(const char *path, double width, double height);
    void cairo_surface_finish(void *surface);
    void cairo_surface_destroy(void *surface);
    const char *cairo_status_to_string(int status);
    const char *cairo_version_string(void);
    void *cairo_create(void *surface);
    void cairo_destroy(void *cr);
    void cairo_save(void *cr);
    void cairo_restore(void *cr);
    void cairo_set_source_rgb(void *cr, double r, double g, double b);
    void cairo_set_source_surface(void *cr, void *surface, double x, double y);
    void cairo_set_line_width(void *cr, double width);
    void cairo_set_line_join(void *cr, int join);
    void cairo_set_dash(void *cr, const double *lengths, int count, double offset);
    void cairo_translate(void *cr, double x, double y);
    void cairo_rotate(void *cr, double angle);
    void cairo_move_to(void *cr, double x, double y);
    void cairo_line_to(void *cr, double x, double y);
    void cairo_rectangle(void *cr, double x, double y, double width, double height);
    void cairo_arc(void *cr, double x, double y, double radius, double from, double to);
    void cairo_new_path(void *cr);
    void cairo_clip(void *cr);
    void cairo_stroke(void *cr);
    void cairo_fill(void *cr);
    void cairo_paint(void *cr);
    void *cairo_font_options_create(void);
    void cairo_font_options_destroy(void *options);
    void cairo_font_options_set_antialias(void *options, int antialias);
    void cairo_font_options_set_hint_style(void *options, int style);
    void cairo_font_options_set_hint_metrics(void *options, int metrics);
    void cairo_set_font_options(void *cr, void *options);
    void *cairo_ft_font_face_create_for_ft_face(void *face, int load_flags);
    int cairo_font_face_set_user_data(void *face, const void *key, void *data,
                                      void (*destroy)(void *data));
    void cairo_font_face_destroy(void *face);
    void cairo_set_font_face(void *cr, void *face);
    void cairo_set_font_size(void *cr, double size);
    void cairo_font_extents(void *cr, double *out);
    void cairo_text_extents(void *cr, const char *text, double *out);
    void cairo_show_text(void *cr, const char *text);
    int FT_Init_FreeType(void **library);
    int FT_New_Face(void *library, const char *path, long index, void **face);
    int FT_Done_Face(void *face);
    int FT_Done_FreeType(void *library);
]]

local cairo = {}

local FORMAT_RGB24, JOIN_ROUND, ANTIALIAS_GRAY = 1, 1, 2
local HINT_STYLE_NONE, HINT_METRICS_OFF, FT_LOAD_NO_HINTING = 1, 1, 2
local max_side = 32767       -- of a cairo image

local C, freetype
local face                   -- false when no font was found

-- Loads the libraries or raises an error that says what to install; names replace the usual ones.
function cairo.load(names)
    names = names or { 'libcairo.so.2' }
    C = foreign.load('cairo', names, 'libcairo2')
end

local function library()
    if not C then cairo.load() end
    return C
end

function cairo.version()
    return ffi.string(library().cairo_version_string())
end

-- Where the font may be: with Mare itself, or where Debian and others put it.
function cairo.font_files()
    local home = package.loaded['bindings.home']
    local root = type(home) == 'table' and home.root or '.'
    local name = 'DejaVuSans.ttf'
    return { root .. '/fonts/' .. name, root .. '/share/fonts/' .. name,
        '/usr/share/fonts/truetype/dejavu/' .. name, '/usr/share/fonts/dejavu-sans-fonts/' .. name,
        '/usr/share/fonts/dejavu/' .. name, '/usr/share/fonts/TTF/' .. name }
end

local keys = ffi.new 'char[2]'       -- their addresses

-- cairo's face of a font of FreeType. cairo keeps faces beyond the end of this state, so it frees
-- FreeType's objects with its own, the last given first.
local function new_face(ft, ft_face)
    local made = library().cairo_ft_font_face_create_for_ft_face(ft_face, FT_LOAD_NO_HINTING)
    local function free_with(key, object, destructor)
        C.cairo_font_face_set_user_data(made, key, object,
            ffi.cast('void (*)(void *)', freetype[destructor]))
    end
    free_with(keys, ft, 'FT_Done_FreeType')
    free_with(keys + 1, ft_face, 'FT_Done_Face')
    return ffi.gc(made, C.cairo_font_face_destroy)
end

-- Reads the font; false when there is none.
function cairo.load_font(paths)
    face = false
    local handle = ffi.new 'void *[1]'
    local found, loaded = pcall(foreign.load, 'FreeType', { 'libfreetype.so.6' }, 'libfreetype6')
    freetype = loaded
    if not found or freetype.FT_Init_FreeType(handle) ~= 0 then return false end
    local ft = handle[0]
    for _, path in ipairs(paths or cairo.font_files()) do
        if freetype.FT_New_Face(ft, path, 0, handle) == 0 then
            face = new_face(ft, handle[0])
            return true
        end
    end
    freetype.FT_Done_FreeType(ft)
    return false
end

local Canvas = {}
Canvas.__index = Canvas

-- svg: the file that gets what is drawn, as SVG; without, it is drawn in memory
local function new_surface(width, height, svg)
    local surface = svg and C.cairo_svg_surface_create(svg, width, height)
        or C.cairo_image_surface_create(FORMAT_RGB24, width, height)
    local status = C.cairo_surface_status(surface)
    surface = ffi.gc(surface, C.cairo_surface_destroy)
    if status ~= 0 then
        error(string.format('picture of %d x %d pixels: %s', width, height,
            ffi.string(C.cairo_status_to_string(status))), 0)
    end
    return surface
end

-- At once, because the collector cannot see how large a surface is.
local function destroy(handle, destructor)
    destructor(ffi.gc(handle, nil))
end

local function set_font(cr)
    local options = C.cairo_font_options_create()
    C.cairo_font_options_set_antialias(options, ANTIALIAS_GRAY)
    C.cairo_font_options_set_hint_style(options, HINT_STYLE_NONE)
    C.cairo_font_options_set_hint_metrics(options, HINT_METRICS_OFF)
    C.cairo_set_font_options(cr, options)
    C.cairo_font_options_destroy(options)
    C.cairo_set_font_face(cr, face)
end

-- A canvas filled with the colour background. svg: a file, which Canvas:finish() writes as SVG
function cairo.canvas(width, height, background, svg)
    library()
    if face == nil then cairo.load_font() end
    if not (width >= 1 and height >= 1 and width <= max_side and height <= max_side) then
        error(string.format('picture of %.0f x %.0f pixels: each must be 1 to %d', width, height,
            max_side), 0)
    end
    local surface = new_surface(width, height, svg)
    local cr = ffi.gc(C.cairo_create(surface), C.cairo_destroy)
    local canvas = setmetatable({ surface = surface, cr = cr, width = width, height = height,
        has_text = face and true }, Canvas)
    if face then set_font(cr) end
    C.cairo_set_line_join(cr, JOIN_ROUND)
    canvas:fill_rectangle(0, 0, width, height, background)
    return canvas
end

-- Frees the memory; the canvas must not be used any more.
function Canvas:release()
    destroy(self.cr, C.cairo_destroy)
    destroy(self.surface, C.cairo_surface_destroy)
    self.cr, self.surface = nil, nil
end

function Canvas:colour(colour)
    C.cairo_set_source_rgb(self.cr, bit.rshift(colour, 16) / 255,
        bit.band(bit.rshift(colour, 8), 255) / 255, bit.band(colour, 255) / 255)
end

function Canvas:fill_rectangle(x, y, width, height, colour)
    self:colour(colour)
    C.cairo_rectangle(self.cr, x, y, width, height)
    C.cairo_fill(self.cr)
end

-- The outline, drawn outside the given rectangle
function Canvas:outline(x, y, width, height, line, colour)
    self:colour(colour)
    C.cairo_set_line_width(self.cr, line)
    C.cairo_rectangle(self.cr, x - line / 2, y - line / 2, width + line, height + line)
    C.cairo_stroke(self.cr)
end

function Canvas:disc(x, y, radius, colour)
    self:colour(colour)
    C.cairo_new_path(self.cr)
    C.cairo_arc(self.cr, x, y, radius, 0, 2 * math.pi)
    C.cairo_fill(self.cr)
end

function Canvas:line(x1, y1, x2, y2, width, colour)
    self:colour(colour)
    C.cairo_set_line_width(self.cr, width)
    C.cairo_move_to(self.cr, x1, y1)
    C.cairo_line_to(self.cr, x2, y2)
    C.cairo_stroke(self.cr)
end

-- Through n points; point(i), i = 1..n, returns x, y, or nothing for a gap. dash: length of dashes
-- and gaps, or nil.
function Canvas:curve(n, point, width, colour, dash)
    local cr, down = self.cr, false
    self:colour(colour)
    C.cairo_set_line_width(cr, width)
    C.cairo_new_path(cr)
    if dash then C.cairo_set_dash(cr, ffi.new('double[1]', dash), 1, 0) end
    for i = 1, n do
        local x, y = point(i)
        if not x then
            down = false
        elseif down then
            C.cairo_line_to(cr, x, y)
        else
            C.cairo_move_to(cr, x, y)
            down = true
        end
    end
    C.cairo_stroke(cr)
    C.cairo_set_dash(cr, nil, 0, 0)
end

-- Filled, through corners { x1, y1, x2, y2, ... }
function Canvas:polygon(corners, colour)
    self:colour(colour)
    C.cairo_new_path(self.cr)
    for k = 1, #corners, 2 do C.cairo_line_to(self.cr, corners[k], corners[k + 1]) end
    C.cairo_fill(self.cr)
end

-- Calls draw() with everything outside the rectangle cut off.
function Canvas:clipped(x, y, width, height, draw)
    C.cairo_save(self.cr)
    C.cairo_rectangle(self.cr, x, y, width, height)
    C.cairo_clip(self.cr)
    draw()
    C.cairo_restore(self.cr)
end

-- An unscaled image: fill(pixels, stride) sets 0xRRGGBB at [row * stride + column].
function Canvas:pixels(x, y, width, height, fill)
    local surface = new_surface(width, height)
    C.cairo_surface_flush(surface)
    local stride = C.cairo_image_surface_get_stride(surface) / 4
    fill(ffi.cast('uint32_t *', C.cairo_image_surface_get_data(surface)), stride)
    C.cairo_surface_mark_dirty(surface)
    C.cairo_set_source_surface(self.cr, surface, x, y)
    C.cairo_paint(self.cr)
    self:colour(0)      -- lets go of the surface
    destroy(surface, C.cairo_surface_destroy)
end

-- What has been drawn, as 0xRRGGBB (the other bits are undefined) at [row * stride + column].
function Canvas:memory()
    C.cairo_surface_flush(self.surface)
    return ffi.cast('uint32_t *', C.cairo_image_surface_get_data(self.surface)),
        C.cairo_image_surface_get_stride(self.surface) / 4
end

-- Width of a text, and the ascent and descent of its font.
function Canvas:measure(text, size)
    if not self.has_text then return 0, 0, 0 end
    local out = ffi.new 'double[6]'
    C.cairo_set_font_size(self.cr, size)
    C.cairo_font_extents(self.cr, out)
    local ascent, descent = out[0], out[1]
    C.cairo_text_extents(self.cr, text, out)
    return out[4], ascent, descent
end

-- align 0, 0.5, 1: x is the left end, the middle, the right end; y is the base line. turn: radians.
function Canvas:text(x, y, text, size, colour, align, turn)
    if not self.has_text then return end
    local cr, width = self.cr, self:measure(text, size)
    C.cairo_save(cr)
    self:colour(colour)
    C.cairo_translate(cr, x, y)
    C.cairo_rotate(cr, turn or 0)
    C.cairo_move_to(cr, -(align or 0) * width, 0)
    C.cairo_show_text(cr, text)
    C.cairo_restore(cr)
end

-- Raises where a call failed; path names the picture in the message.
local function check_written(status, path)
    if status == 0 then return end
    local number = ffi.errno()
    local reason = number ~= 0 and posix.reason(number)
        or ffi.string(C.cairo_status_to_string(status))
    errors.raise('MARE_ERROR_IO', '%s: cannot write the picture: %s', path, reason)
end

function Canvas:write_png(file, path)
    C.cairo_surface_flush(self.surface)
    ffi.errno(0)
    check_written(C.cairo_surface_write_to_png(self.surface, file), path)
end

-- Ends the file of SVG that a canvas is drawn into.
function Canvas:finish(path)
    ffi.errno(0)
    C.cairo_surface_finish(self.surface)
    check_written(C.cairo_surface_status(self.surface), path)
end

return cairo
