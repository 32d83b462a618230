// libnfs's headers in the one order in which they compile.
//
// Thread: one a context. Owner: libnfs. Units: bytes. Errors: negative errno, or RPC_STATUS_*. Source: libnfs 4.0.0.
#pragma once

// clang-format off
#include <nfsc/libnfs-zdr.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-portmap.h>
// clang-format on
