//go:build cgo && !nopreview && linux

package surface

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include <EGL/egl.h>
#include <EGL/eglext.h>

// EGL is opened at run time, so that a program with the preview starts on
// machines that lack it. Displays are shared by all contexts of a process and
// stay initialised until it ends, because eglTerminate would end them for all.

typedef struct {
	EGLDisplay display;
	EGLContext context;
	EGLint     error;  // of the step that failed
	const char *step;
} headless;

typedef EGLDisplay (*get_platform_display_fn)(EGLenum, void *, const EGLint *);
typedef EGLBoolean (*query_devices_fn)(EGLint, void **, EGLint *);

static void *library;
static __typeof__(&eglGetProcAddress)   p_get_proc_address;
static __typeof__(&eglInitialize)       p_initialize;
static __typeof__(&eglBindAPI)          p_bind_api;
static __typeof__(&eglChooseConfig)     p_choose_config;
static __typeof__(&eglCreateContext)    p_create_context;
static __typeof__(&eglDestroyContext)   p_destroy_context;
static __typeof__(&eglMakeCurrent)      p_make_current;
static __typeof__(&eglReleaseThread)    p_release_thread;
static __typeof__(&eglGetError)         p_get_error;

static int load_egl(void) {
	if (library)
		return 1;
	void *lib = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!lib)
		return 0;
	*(void **)&p_get_proc_address = dlsym(lib, "eglGetProcAddress");
	*(void **)&p_initialize = dlsym(lib, "eglInitialize");
	*(void **)&p_bind_api = dlsym(lib, "eglBindAPI");
	*(void **)&p_choose_config = dlsym(lib, "eglChooseConfig");
	*(void **)&p_create_context = dlsym(lib, "eglCreateContext");
	*(void **)&p_destroy_context = dlsym(lib, "eglDestroyContext");
	*(void **)&p_make_current = dlsym(lib, "eglMakeCurrent");
	*(void **)&p_release_thread = dlsym(lib, "eglReleaseThread");
	*(void **)&p_get_error = dlsym(lib, "eglGetError");
	if (!p_get_proc_address || !p_initialize || !p_bind_api || !p_choose_config ||
	    !p_create_context || !p_destroy_context || !p_make_current || !p_release_thread || !p_get_error) {
		dlclose(lib);
		return 0;
	}
	library = lib;
	return 1;
}

static int fail(headless *h, const char *step) {
	h->step = step;
	h->error = p_get_error();
	return 0;
}

// open_on makes a context on one display.
static int open_on(headless *h, EGLDisplay display) {
	if (display == EGL_NO_DISPLAY || !p_initialize(display, NULL, NULL))
		return fail(h, "eglInitialize");
	static const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
	static const EGLint version[] = {
		EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 1,
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
	EGLConfig config = NULL;
	EGLint n = 0;
	h->context = EGL_NO_CONTEXT;
	if (!p_bind_api(EGL_OPENGL_API)) {
		fail(h, "eglBindAPI");
	} else if (!p_choose_config(display, wanted, &config, 1, &n) || n < 1) {
		fail(h, "eglChooseConfig");
	} else if ((h->context = p_create_context(display, config, EGL_NO_CONTEXT, version)) == EGL_NO_CONTEXT) {
		fail(h, "eglCreateContext");
	} else if (!p_make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, h->context)) {
		fail(h, "eglMakeCurrent");
		p_destroy_context(display, h->context);
	} else {
		h->display = display;
		return 1;
	}
	return 0;
}

// open_headless tries the devices of the system, hardware first as the driver
// lists them, then Mesa's surfaceless platform, which may be a software
// renderer.
static int open_headless(headless *h) {
	get_platform_display_fn get_display =
		(get_platform_display_fn)p_get_proc_address("eglGetPlatformDisplayEXT");
	if (!get_display) {
		h->step = "eglGetPlatformDisplayEXT";
		return 0;
	}
	query_devices_fn query = (query_devices_fn)p_get_proc_address("eglQueryDevicesEXT");
	void *devices[16];
	EGLint n = 0;
	if (query && query(16, devices, &n))
		for (EGLint i = 0; i < n; i++)
			if (open_on(h, get_display(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL)))
				return 1;
	return open_on(h, get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL));
}

static void close_headless(headless *h) {
	p_make_current(h->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	p_destroy_context(h->display, h->context);
	p_release_thread();
}

static void *get_proc(const char *name) { return (void *)p_get_proc_address(name); }
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// eglMu guards what the C code above keeps in static variables.
var eglMu sync.Mutex

// eglContext is an OpenGL context without a window.
type eglContext struct{ h C.headless }

// openContext makes an OpenGL context without a window current on this thread.
func openContext() (*eglContext, error) {
	eglMu.Lock()
	defer eglMu.Unlock()
	if C.load_egl() == 0 {
		return nil, fmt.Errorf("%w: libEGL.so.1 cannot be loaded: install libegl1 and a driver such as libgl1-mesa-dri", ErrContext)
	}
	c := &eglContext{}
	if C.open_headless(&c.h) == 0 {
		return nil, fmt.Errorf("%w: %s failed (EGL error 0x%x): install a driver such as libgl1-mesa-dri", ErrContext, C.GoString(c.h.step), int(c.h.error))
	}
	return c, nil
}

func (c *eglContext) close() {
	eglMu.Lock()
	defer eglMu.Unlock()
	C.close_headless(&c.h)
}

func (c *eglContext) procAddress(name string) unsafe.Pointer {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.get_proc(s)
}
