#include "draw.h"

#include "shaders.h"

#include <SDL_opengl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The calls of OpenGL, which are found at run time. */
#define CALLS(X) \
    X(PFNGLCREATESHADERPROC, CreateShader) \
    X(PFNGLSHADERSOURCEPROC, ShaderSource) \
    X(PFNGLCOMPILESHADERPROC, CompileShader) \
    X(PFNGLGETSHADERIVPROC, GetShaderiv) \
    X(PFNGLGETSHADERINFOLOGPROC, GetShaderInfoLog) \
    X(PFNGLCREATEPROGRAMPROC, CreateProgram) \
    X(PFNGLATTACHSHADERPROC, AttachShader) \
    X(PFNGLLINKPROGRAMPROC, LinkProgram) \
    X(PFNGLGETPROGRAMIVPROC, GetProgramiv) \
    X(PFNGLUSEPROGRAMPROC, UseProgram) \
    X(PFNGLGETUNIFORMLOCATIONPROC, GetUniformLocation) \
    X(PFNGLUNIFORM4FPROC, Uniform4f) \
    X(PFNGLUNIFORM2FPROC, Uniform2f) \
    X(PFNGLUNIFORM4FVPROC, Uniform4fv) \
    X(PFNGLGENBUFFERSPROC, GenBuffers) \
    X(PFNGLBINDBUFFERPROC, BindBuffer) \
    X(PFNGLBUFFERDATAPROC, BufferData) \
    X(PFNGLGENVERTEXARRAYSPROC, GenVertexArrays) \
    X(PFNGLBINDVERTEXARRAYPROC, BindVertexArray) \
    X(PFNGLENABLEVERTEXATTRIBARRAYPROC, EnableVertexAttribArray) \
    X(PFNGLVERTEXATTRIBPOINTERPROC, VertexAttribPointer) \
    X(PFNGLVERTEXATTRIBDIVISORPROC, VertexAttribDivisor) \
    X(PFNGLDRAWARRAYSINSTANCEDPROC, DrawArraysInstanced) \
    X(gl_draw_arrays, DrawArrays) \
    X(gl_viewport, Viewport) \
    X(gl_four, Scissor) \
    X(gl_enable, Enable) \
    X(gl_blend, BlendFunc) \
    X(gl_names, GenTextures) \
    X(gl_blend, BindTexture) \
    X(gl_texture, TexImage2D) \
    X(gl_parameter, TexParameteri) \
    X(gl_read, ReadPixels)
typedef void(APIENTRY *gl_draw_arrays)(GLenum, GLint, GLsizei);
typedef void(APIENTRY *gl_viewport)(GLint, GLint, GLsizei, GLsizei);
typedef gl_viewport gl_four;
typedef void(APIENTRY *gl_enable)(GLenum);
typedef void(APIENTRY *gl_blend)(GLenum, GLuint);
typedef void(APIENTRY *gl_names)(GLsizei, GLuint *);
typedef void(APIENTRY *gl_texture)(GLenum, GLint, GLint, GLsizei, GLsizei, GLint, GLenum, GLenum, const void *);
typedef void(APIENTRY *gl_parameter)(GLenum, GLenum, GLint);
typedef void(APIENTRY *gl_read)(GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *);

static struct {
#define X(type, name) type name;
    CALLS(X)
#undef X
} gl;

/* A program with the places of its uniforms. */
typedef struct shader {
    GLuint program;
    GLint camera, lamp, cone, mood, bell, lights, tints;
} shader;

static SDL_GLContext context;
static shader floor_shader, sprite_shader;
static GLuint sprite_buffer, empty_array, sprite_array;
static const char *first_line;

static bool find_calls(const char **why)
{
#define X(type, name) \
    do { \
        void *found = SDL_GL_GetProcAddress("gl" #name); \
        *why = "OpenGL has no gl" #name; \
        if (found == NULL) return false; \
        memcpy(&gl.name, &found, sizeof found); \
    } while (0);
    CALLS(X)
#undef X
    return true;
}

static GLuint compile(GLenum kind, const char *text, const char **why)
{
    static char log[600];
    const char *parts[] = {first_line, dive_light_glsl, text};
    GLint good = 0;
    GLuint s = gl.CreateShader(kind);
    gl.ShaderSource(s, 3, parts, NULL);
    gl.CompileShader(s);
    gl.GetShaderiv(s, GL_COMPILE_STATUS, &good);
    if (good) return s;
    gl.GetShaderInfoLog(s, sizeof log, NULL, log);
    *why = log;
    return 0;
}

static bool make_shader(shader *s, const char *vertex, const char *fragment, const char **why)
{
    GLuint v = compile(GL_VERTEX_SHADER, vertex, why), f = v != 0 ? compile(GL_FRAGMENT_SHADER, fragment, why) : 0;
    GLint good = 0;
    if (f == 0) return false;
    s->program = gl.CreateProgram();
    gl.AttachShader(s->program, v);
    gl.AttachShader(s->program, f);
    gl.LinkProgram(s->program);
    gl.GetProgramiv(s->program, GL_LINK_STATUS, &good);
    *why = "a shader can't be linked";
    s->camera = gl.GetUniformLocation(s->program, "camera");
    s->lamp = gl.GetUniformLocation(s->program, "lamp");
    s->cone = gl.GetUniformLocation(s->program, "cone");
    s->mood = gl.GetUniformLocation(s->program, "mood");
    s->bell = gl.GetUniformLocation(s->program, "bell");
    s->lights = gl.GetUniformLocation(s->program, "lights");
    s->tints = gl.GetUniformLocation(s->program, "tints");
    return good != 0;
}

static void attribute(GLuint number, GLint count, GLenum type, GLboolean fraction, size_t offset)
{
    gl.EnableVertexAttribArray(number);
    gl.VertexAttribPointer(number, count, type, fraction, sizeof(sprite), (const void *)(uintptr_t)offset);
    gl.VertexAttribDivisor(number, 1);
}

static void set_attributes(size_t first)
{
    const size_t at = first * sizeof(sprite);
    attribute(0, 4, GL_FLOAT, GL_FALSE, at + offsetof(sprite, x));
    attribute(1, 2, GL_FLOAT, GL_FALSE, at + offsetof(sprite, width));
    attribute(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, at + offsetof(sprite, paint));
    attribute(3, 4, GL_UNSIGNED_BYTE, GL_FALSE, at + offsetof(sprite, shape));
}

static bool make_things(const char **why)
{
    static unsigned char pixels[NOISE_SIDE * NOISE_SIDE * 4];
    GLuint texture;
    if (!find_calls(why) || !make_shader(&floor_shader, dive_floor_vert, dive_floor_frag, why) ||
        !make_shader(&sprite_shader, dive_sprite_vert, dive_sprite_frag, why))
        return false;
    noise_make(pixels);
    gl.GenTextures(1, &texture);
    gl.BindTexture(GL_TEXTURE_2D, texture);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, NOISE_SIDE, NOISE_SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    gl.GenVertexArrays(1, &empty_array);
    gl.GenVertexArrays(1, &sprite_array);
    gl.GenBuffers(1, &sprite_buffer);
    gl.Enable(GL_BLEND);
    gl.Enable(GL_SCISSOR_TEST);
    gl.BlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    return true;
}

SDL_Window *draw_open(int wide, int high, bool full_screen, const char **why)
{
    static const struct {
        int profile, major, minor;
        const char *line;
    } kinds[] = {{SDL_GL_CONTEXT_PROFILE_CORE, 3, 3, "#version 330 core\n"},
                 {SDL_GL_CONTEXT_PROFILE_ES, 3, 0, "#version 300 es\nprecision highp float;\nprecision highp int;\n"}};
    const Uint32 flags = SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI |
                         (full_screen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, kinds[i].profile);
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, kinds[i].major);
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, kinds[i].minor);
        first_line = kinds[i].line;
        SDL_Window *window =
            SDL_CreateWindow("Dive", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, wide, high, flags);
        context = window != NULL ? SDL_GL_CreateContext(window) : NULL;
        *why = SDL_GetError();
        if (context != NULL && make_things(why)) return window;
        draw_close(window);
    }
    return NULL;
}

void draw_close(SDL_Window *window)
{
    if (context != NULL) SDL_GL_DeleteContext(context);
    context = NULL;
    if (window != NULL) SDL_DestroyWindow(window);
}

static void use_shader(const shader *s, const pass *p)
{
    gl.UseProgram(s->program);
    gl.Uniform4f(s->camera, p->x, p->y, 1.0f / p->half_wide, 1.0f / p->half_high);
    gl.Uniform4f(s->lamp, p->lamp_x, p->lamp_y, p->lamp_dx, p->lamp_dy);
    gl.Uniform4f(s->cone, p->cosine, p->range, p->sea != 0 ? 1.0f : 0.0f, p->time);
    gl.Uniform4f(s->mood, p->backward, p->hurt, p->dark, 0.0f);
    gl.Uniform2f(s->bell, p->bell_x, p->bell_y);
    float places[LIGHTS_MAX * 4], tints[LIGHTS_MAX * 4];
    for (int i = 0; i < LIGHTS_MAX; i++) {
        const light *l = &p->lights[i];
        memcpy(&places[i * 4], (const float[]){l->x, l->y, l->radius, l->power}, 4 * sizeof(float));
        memcpy(&tints[i * 4], (const float[]){l->r, l->g, l->b, 0.0f}, 4 * sizeof(float));
    }
    gl.Uniform4fv(s->lights, LIGHTS_MAX, places);
    gl.Uniform4fv(s->tints, LIGHTS_MAX, tints);
}

void draw_frame(const frame *f, int wide, int high)
{
    gl.BindBuffer(GL_ARRAY_BUFFER, sprite_buffer);
    gl.BufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(f->count * sizeof(sprite)), f->sprites, GL_STREAM_DRAW);
    for (uint32_t i = 0; i < f->pass_count; i++) {
        const pass *p = &f->passes[i];
        GLint left = (GLint)(p->left * (float)wide), bottom = (GLint)((1.0f - p->top - p->high) * (float)high);
        GLsizei w = (GLsizei)(p->wide * (float)wide), h = (GLsizei)(p->high * (float)high);
        gl.Viewport(left, bottom, w, h);
        gl.Scissor(left, bottom, w, h);
        if (p->sea != 0) {
            gl.BindVertexArray(empty_array);
            use_shader(&floor_shader, p);
            gl.DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        }
        if (p->count == 0) continue;
        gl.BindVertexArray(sprite_array);
        set_attributes(p->first);
        use_shader(&sprite_shader, p);
        gl.DrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)p->count);
    }
}

/* Copies what was drawn: high rows of wide pixels of three bytes, from the top; a row every `pitch` bytes. */
static void draw_read(unsigned char *pixels, int pitch, int wide, int high)
{
    static unsigned char row[4 * 8192];
    for (int y = 0; y < high && wide <= 8192; y++) {
        gl.ReadPixels(0, high - 1 - y, wide, 1, GL_RGBA, GL_UNSIGNED_BYTE, row);
        for (int x = 0; x < wide; x++) memcpy(&pixels[y * pitch + x * 3], &row[x * 4], 3);
    }
}

bool draw_picture(const char *path, int wide, int high)
{
    SDL_Surface *image = SDL_CreateRGBSurfaceWithFormat(0, wide, high, 24, SDL_PIXELFORMAT_RGB24);
    bool good = image != NULL;
    if (good) {
        draw_read(image->pixels, image->pitch, wide, high);
        good = SDL_SaveBMP(image, path) == 0;
        SDL_FreeSurface(image);
    }
    if (!good) fprintf(stderr, "dive: can't write %s\n", path);
    return good;
}
