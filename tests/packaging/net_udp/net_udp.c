/* Opens a socket, invites and takes the invitation. */
#include <reef_net_udp.h>
#include <stdio.h>

int main(void)
{
    char text[REEF_NET_INVITATION_MAX];
    reef_net_udp *udp = reef_net_udp_new(&(reef_net_udp_config){.bind = "127.0.0.1"}, NULL);
    const bool good = udp && reef_net_udp_invite(udp, "127.0.0.1", 2, text, sizeof text) == REEF_OK &&
                      reef_net_udp_invited(udp, text, 1, NULL) != 0;
    reef_net_udp_free(udp);
    puts(good ? "hello, 1 entity at 3 4" : "there is no socket");
    return 0;
}
