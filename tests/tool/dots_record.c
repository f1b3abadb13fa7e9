/* dots_record FOLDER: two programs play dots.c over a simulated line, the second one with the other rule. Writes what
 * they save of the difference, here and there, and the recording of a session that ended well, sound. */
#include "dots.c"
#include "reef_net_sim.h"
#include <stdio.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)

static void sample(void *context, void *input)
{
    uint32_t *n = context;
    *(Keys *)input = (Keys){(int8_t)(++*n % 60 < 40 ? 1 : -1)};
}

static reef_status file_write(void *context, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count ? REEF_OK : REEF_IO;
}

static FILE *file_open(const char *folder, const char *name)
{
    char path[1000];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL) exit(1);
    return file;
}

static void play(const char *folder, bool differ)
{
    static const char *const names[2] = {"here", "there"};
    reef_net_sim *sim = reef_net_sim_new(1, &(reef_net_line){.latency_ns = 30 * MS, .loss = 20}, NULL);
    FILE *sound = differ ? NULL : file_open(folder, "sound");
    reef_world *w[2] = {reef_world_new(NULL), reef_world_new(NULL)};
    uint32_t samples[2] = {0, 20};
    reef_net *net[2];
    for (uint64_t i = 0; i < 2; i++) {
        (void)load_rules(w[i], differ && i == 1);
        reef_net_config c = {.world = w[i], .transport = reef_net_sim_transport(sim, i + 1), .step = step};
        c.sample = sample;
        c.context = &samples[i];
        c.input = reef_id(Keys);
        c.step_ns = 16666667;
        c.nonce = 10 + i;
        if (sound && i == 0) c.record = (reef_writer){file_write, sound};
        net[i] = i ? reef_net_join(&c, 1, NULL) : reef_net_host(&c, NULL);
    }
    for (uint64_t now = 0; now < 6000 * MS; now += 4 * MS) {
        reef_net_sim_time(sim, now);
        for (int i = 0; i < 2; i++) (void)reef_net_update(net[i], now);
    }
    for (int i = 0; i < 2 && differ; i++) {
        FILE *file = file_open(folder, names[i]);
        if (reef_net_desync_save(net[i], (reef_writer){file_write, file}) != REEF_OK) exit(1);
        (void)fclose(file);
    }
    for (int i = 0; i < 2; i++) {
        reef_net_free(net[i]);
        reef_world_free(w[i]);
    }
    if (sound) (void)fclose(sound);
    reef_net_sim_free(sim);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    play(argv[1], true);
    play(argv[1], false);
    return 0;
}
