/* The loader of the system. RTLD_NOW: a name that isn't found refuses the library here, and not when it is first
 * called. RTLD_LOCAL: names of one library are never taken for those of the next one. */
#include "hot.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <direct.h>
#include <windows.h>
#else
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <link.h>
#endif

#if defined(_WIN32)

void *hot_loader_open(const char *path, char *why, size_t size)
{
    void *library = (void *)LoadLibraryA(path);
    if (library == NULL) (void)snprintf(why, size, "it can't be opened: error %lu of the system", GetLastError());
    return library;
}
bool hot_loader_close(void *library, const char *path)
{
    (void)FreeLibrary((HMODULE)library);
    return GetModuleHandleA(path) == NULL;
}
const void *hot_loader_find(void *library, const char *name)
{
    return (const void *)(uintptr_t)GetProcAddress((HMODULE)library, name);
}
uint32_t hot_loader_ranges(void *library, reef_code_range *ranges)
{
    const unsigned char *base = library; /* a module's handle is its address */
    const IMAGE_DOS_HEADER *dos = library;
    const IMAGE_NT_HEADERS *head = (const IMAGE_NT_HEADERS *)(const void *)(base + dos->e_lfanew);
    ranges[0] = (reef_code_range){base, base + head->OptionalHeader.SizeOfImage};
    return 1;
}
bool hot_folder_make(char *path, size_t size)
{
    const char *where = getenv("TEMP");
    for (uint32_t i = 0; i < 100; i++) {
        (void)snprintf(path, size, "%s\\reef_hot_%lu_%u", where ? where : ".", GetCurrentProcessId(), i);
        if (_mkdir(path) == 0) return true;
    }
    return false;
}
void hot_folder_remove(const char *path) { (void)_rmdir(path); }
uint64_t hot_clock_ns(void)
{
    LARGE_INTEGER now, second;
    (void)QueryPerformanceCounter(&now);
    (void)QueryPerformanceFrequency(&second);
    return (uint64_t)((double)now.QuadPart / (double)second.QuadPart * 1e9);
}

#else

void *hot_loader_open(const char *path, char *why, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) (void)snprintf(why, size, "it can't be opened: %s", dlerror());
    return library;
}

bool hot_loader_close(void *library, const char *path)
{
    (void)dlclose(library);
    void *still = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (still) (void)dlclose(still);
    return still == NULL;
}

const void *hot_loader_find(void *library, const char *name) { return dlsym(library, name); }

#if defined(__linux__)
typedef struct range_search {
    const struct link_map *map;
    reef_code_range *range;
    bool found;
} range_search;

/* The segments of a library lie in one piece of memory. */
static int range_look(struct dl_phdr_info *info, size_t size, void *context)
{
    range_search *x = context;
    uintptr_t first = UINTPTR_MAX, end = 0;
    (void)size;
    if (info->dlpi_addr != x->map->l_addr || strcmp(info->dlpi_name, x->map->l_name) != 0) return 0;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        if (part->p_vaddr < first) first = part->p_vaddr;
        if (part->p_vaddr + part->p_memsz > end) end = part->p_vaddr + part->p_memsz;
    }
    *x->range = (reef_code_range){(const void *)(info->dlpi_addr + first), (const void *)(info->dlpi_addr + end)};
    x->found = first < end;
    return 1;
}

uint32_t hot_loader_ranges(void *library, reef_code_range *ranges)
{
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == NULL) return 0;
    range_search x = {.map = map, .range = ranges};
    (void)dl_iterate_phdr(range_look, &x);
    return x.found;
}
#else
uint32_t hot_loader_ranges(void *library, reef_code_range *ranges)
{
    (void)library, (void)ranges;
    return 0;
}
#endif

bool hot_folder_make(char *path, size_t size)
{
    const char *where = getenv("TMPDIR");
    const int n = snprintf(path, size, "%s/reef_hot_XXXXXX", where && where[0] ? where : "/tmp");
    return n > 0 && (size_t)n < size && mkdtemp(path) != NULL;
}
void hot_folder_remove(const char *path) { (void)rmdir(path); }
uint64_t hot_clock_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif

void hot_file_remove(const char *path) { (void)remove(path); }
