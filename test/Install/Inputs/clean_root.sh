#!/bin/bash
# clean_root.sh FOLDER DEB...: makes a Debian 12 of nothing but its base in FOLDER/root, installs the packages with what
# they depend on, and a C compiler, as apt does, and uses them there.
set -euo pipefail
folder=$1
shift
root=$folder/root
mkdir -p "$root"
debootstrap --variant=minbase bookworm "$root" http://deb.debian.org/debian
for suite in "debian bookworm" "debian-security bookworm-security"; do
  echo "deb http://deb.debian.org/$suite main"
done > "$root/etc/apt/sources.list"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/packages"
cp "$@" "$root/packages"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
inside apt-get update -q
inside sh -c 'apt-get install -q -y --no-install-recommends /packages/attune_* /packages/libattune-rt_* gcc libc6-dev'
cp "$folder/examples/elu1_causal.yaml" "$folder/examples/programs/causal.c" "$root/tmp"
inside sh -ec 'cd /tmp
attnc --version
attnc compile elu1_causal.yaml
cc -I. causal.c libelu1_causal.so -lm -Wl,-rpath,/tmp -o causal
./causal'
