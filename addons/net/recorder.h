/* What a recording consists of: recorder.c writes it, recording.c reads it.
 *
 *     "reef-rec"     the mark, 8 bytes; then pieces, each a byte for its kind, 4 bytes for its length, and its content
 *
 *     BEGIN    version; tick; bytes of an input; what the type of inputs is, as text (describe.c)
 *     STATE    a part of the world before that tick, as reef_save_to writes it; as many as it takes
 *     TICK     tick; bits of the players; their inputs. Ticks follow each other
 *     HASH     tick; hash of the state before it
 *     OTHER    the same of the other program
 *     DIFFERS  tick; player (255: none); entity: index, generation; five texts with their lengths: system, component,
 *              field, value here, value there
 *
 * A program that loads another state begins again: what counts is behind the last BEGIN. Numbers are little endian;
 * inputs are as they are in memory. */
#ifndef REEF_NET_RECORDER_H
#define REEF_NET_RECORDER_H

#include "desync.h"
#include "net.h"
#include "reef_net_recording.h"

#define RECORD_MARK "reef-rec"
enum {
    RECORD_VERSION = 1,
    RECORD_BEGIN = 1,
    RECORD_STATE,
    RECORD_TICK,
    RECORD_HASH,
    RECORD_OTHER,
    RECORD_DIFFERS,
    RECORD_MARK_BYTES = 8,
    RECORD_HEAD = 5,
    RECORD_INPUT_TEXT = 4000 /* bytes of the description of inputs; what is longer is cut */
};

#endif
