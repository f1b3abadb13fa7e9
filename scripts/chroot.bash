# Read by scripts/check-chroot and scripts/check-steps: a bare Debian 12 in a directory, made by debootstrap. Its package mirror is the one that
# this machine's apt uses, and apt's configuration, including proxy settings, is copied. Needs root.

# chroot_make DIRECTORY [PACKAGE,...]: makes it if it isn't there, with ca-certificates and these packages beside the base system.
chroot_make()
{
    local directory=$1 packages=ca-certificates${2:+,$2} mirror
    [ "$(id -u)" -eq 0 ] || die "debootstrap needs root"
    has_command debootstrap || die "install debootstrap first"
    # The first mirror of Debian itself that apt knows.
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null | grep -v security | head -n 1)
    [ -n "$mirror" ] || die "apt knows no mirror of Debian: run apt-get update"
    if [ ! -e "$directory/etc/debian_version" ]; then
        say "debootstrap bookworm into $directory"
        debootstrap --variant=minbase --include="$packages" bookworm "$directory" "$mirror" >"$directory.log" 2>&1 ||
            { tail -n 20 "$directory.log" >&2; die "debootstrap failed"; }
        rm -f "$directory.log"
    fi
    # As this machine: sources, keys and proxies of apt, names and certificates of the network.
    rm -rf "$directory/etc/apt/sources.list" "$directory/etc/apt/sources.list.d"
    cp -a /etc/apt/sources.list.d "$directory/etc/apt/"
    if [ -e /etc/apt/sources.list ]; then cp -a /etc/apt/sources.list "$directory/etc/apt/"; fi
    # Only what says how to reach the mirror; the rest of this machine's configuration may name programs that aren't there.
    apt-config dump | grep -E '^Acquire::(http|https|ftp)::' >"$directory/etc/apt/apt.conf.d/99reef-check" || true
    cp -aL /etc/resolv.conf /etc/hosts "$directory/etc/"
    cp -aL /etc/ssl/certs/ca-certificates.crt "$directory/etc/ssl/certs/ca-certificates.crt"
}

# chroot_inside DIRECTORY COMMAND ...: runs it there as root, with nothing of this environment.
chroot_inside()
{
    local directory=$1
    shift
    chroot "$directory" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
}
