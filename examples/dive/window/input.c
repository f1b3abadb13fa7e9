#include "input.h"

#include <SDL.h>

static SDL_GameController *pad;

/* What keys do: some of them mean one thing in the water and another in menus. */
static uint32_t meaning_of_key(SDL_Keycode key)
{
    switch (key) {
    case SDLK_w:
    case SDLK_UP: return CONTROL_UP;
    case SDLK_s:
    case SDLK_DOWN: return CONTROL_DOWN;
    case SDLK_a:
    case SDLK_LEFT: return CONTROL_LEFT;
    case SDLK_d:
    case SDLK_RIGHT: return CONTROL_RIGHT;
    case SDLK_SPACE: return CONTROL_DASH | CONTROL_CONFIRM;
    case SDLK_RETURN: return CONTROL_CONFIRM;
    case SDLK_e: return CONTROL_PULSE;
    case SDLK_LSHIFT:
    case SDLK_RSHIFT: return CONTROL_HOLD;
    case SDLK_r:
    case SDLK_BACKSPACE: return CONTROL_REWIND;
    case SDLK_p: return CONTROL_PHOTO;
    case SDLK_ESCAPE: return CONTROL_PAUSE;
    default: return 0;
    }
}

static uint32_t meaning_of_button(Uint8 button)
{
    switch (button) {
    case SDL_CONTROLLER_BUTTON_DPAD_UP: return CONTROL_UP;
    case SDL_CONTROLLER_BUTTON_DPAD_DOWN: return CONTROL_DOWN;
    case SDL_CONTROLLER_BUTTON_DPAD_LEFT: return CONTROL_LEFT;
    case SDL_CONTROLLER_BUTTON_DPAD_RIGHT: return CONTROL_RIGHT;
    case SDL_CONTROLLER_BUTTON_A: return CONTROL_DASH | CONTROL_CONFIRM;
    case SDL_CONTROLLER_BUTTON_X: return CONTROL_PULSE;
    case SDL_CONTROLLER_BUTTON_B:
    case SDL_CONTROLLER_BUTTON_LEFTSHOULDER: return CONTROL_REWIND;
    case SDL_CONTROLLER_BUTTON_RIGHTSHOULDER: return CONTROL_HOLD;
    case SDL_CONTROLLER_BUTTON_BACK: return CONTROL_PHOTO;
    case SDL_CONTROLLER_BUTTON_START: return CONTROL_PAUSE;
    default: return 0;
    }
}

static void press(controls *c, uint32_t what, bool down)
{
    if (down) c->pressed |= what, c->held |= what;
    else c->held &= ~what;
}

static void take_event(controls *c, const SDL_Event *e)
{
    switch (e->type) {
    case SDL_KEYDOWN:
        if (e->key.repeat == 0) press(c, meaning_of_key(e->key.keysym.sym), true);
        break;
    case SDL_KEYUP: press(c, meaning_of_key(e->key.keysym.sym), false); break;
    case SDL_MOUSEMOTION: {
        int wide = 1, high = 1;
        SDL_GetWindowSize(SDL_GetWindowFromID(e->motion.windowID), &wide, &high);
        c->pointer_aims = true;
        c->pointer_x = (float)e->motion.x / (float)wide;
        c->pointer_y = (float)e->motion.y / (float)high;
        break;
    }
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        press(c, e->button.button == SDL_BUTTON_LEFT ? CONTROL_DASH | CONTROL_POINT : CONTROL_PULSE,
              e->type == SDL_MOUSEBUTTONDOWN);
        break;
    case SDL_CONTROLLERDEVICEADDED:
        if (pad == NULL) pad = SDL_GameControllerOpen(e->cdevice.which);
        break;
    case SDL_CONTROLLERDEVICEREMOVED:
        if (pad != NULL) SDL_GameControllerClose(pad);
        pad = NULL;
        break;
    case SDL_CONTROLLERBUTTONDOWN:
    case SDL_CONTROLLERBUTTONUP:
        press(c, meaning_of_button(e->cbutton.button), e->type == SDL_CONTROLLERBUTTONDOWN);
        break;
    default: break;
    }
}

static float axis(SDL_GameControllerAxis which)
{
    float value = pad != NULL ? (float)SDL_GameControllerGetAxis(pad, which) / 32767.0f : 0.0f;
    return value > 0.2f || value < -0.2f ? value : 0.0f;
}

bool input_read(controls *c)
{
    c->pressed = 0;
    for (SDL_Event e; SDL_PollEvent(&e) != 0;) {
        if (e.type == SDL_QUIT) return false;
        take_event(c, &e);
    }
    c->move_x = (float)((c->held & CONTROL_RIGHT) != 0) - (float)((c->held & CONTROL_LEFT) != 0);
    c->move_y = (float)((c->held & CONTROL_DOWN) != 0) - (float)((c->held & CONTROL_UP) != 0);
    float x = axis(SDL_CONTROLLER_AXIS_LEFTX), y = axis(SDL_CONTROLLER_AXIS_LEFTY);
    if (x != 0.0f || y != 0.0f) c->move_x = x, c->move_y = y, c->pointer_aims = false;
    c->aim_x = axis(SDL_CONTROLLER_AXIS_RIGHTX), c->aim_y = axis(SDL_CONTROLLER_AXIS_RIGHTY);
    if (pad != NULL) {
        static bool was;
        bool is = axis(SDL_CONTROLLER_AXIS_TRIGGERLEFT) > 0.5f;
        if (is != was) press(c, CONTROL_REWIND, is);
        was = is;
    }
    return true;
}
