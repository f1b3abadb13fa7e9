/* The seeded bugs: what scripts/seeded-bugs turns on one by one, to prove that the tests see. In a build with
 * REEF_SEEDED_BUGS the environment variable REEF_BUG=n turns bug n on; its place says BUG(n) (platform.h). In every
 * other build BUG(n) is the constant false. A number is never used again. */
#ifndef REEF_BASE_BUGS_H
#define REEF_BASE_BUGS_H

#include "reef/status.h"

/* number, what goes wrong */
#define REEF_BUGS(X) \
    X(1, "the count of rows changes before the block is unshared: the copy lacks the last row") \
    X(2, "the key of an edge lacks the operation: a remove takes the way of an add") \
    X(3, "the generation isn't bumped when an entity dies by the general path") \
    X(4, "the destroy hook runs twice for a row") \
    X(5, "an allocation of a query's matches isn't checked") \
    X(6, "the record of the row that fills a hole isn't updated") \
    X(7, "an id taken out of turn stays in the ring of free ids") \
    X(8, "a query doesn't find tables that are made after it") \
    X(9, "the switches of a row outlive it") \
    X(10, "columns of 16 bytes stay behind when a row moves to another table") \
    X(11, "what goes over all rows leaves out the last one of a full block") \
    X(12, "a query visits tables in the order in which they were made") \
    X(13, "a name outlives its entity") \
    X(14, "values with a copy hook are copied as bytes") \
    X(15, "a component that is added keeps the bytes that lay there before") \
    X(16, "a bulk spawn that fails leaves the rows that it made") \
    X(17, "an entity can be destroyed while a loop is open") \
    X(18, "one column is written without being unshared") \
    X(19, "memory goes back with a size that isn't its own") \
    X(20, "a component may be named twice in a list") \
    X(21, "a node of shared pages is merged though two branches look at it") \
    X(22, "the count of holders changes before the node is copied, which may fail") \
    X(23, "a restore loses the free ids") \
    X(24, "a kept hash is used though its block was written since") \
    X(25, "a fork doesn't raise the version below which everything is shared") \
    X(26, "after a restore the world doesn't know that it has names") \
    X(27, "a query remembers chunks that were copied since") \
    X(28, "in a group what must not hold may hold") \
    X(29, "the last run of a query isn't taken along by a restore") \
    X(30, "an ordered query misses rows that were written in place") \
    X(31, "a block of which only some rows are written loses the others") \
    X(34, "the mark of a disabled component outlives the component") \
    X(35, "a switch that is turned off by the fast path leaves its mark") \
    X(41, "a row that is made isn't stamped") \
    X(42, "the log of removals doesn't hear of the destroyed") \
    X(43, "readers of removals don't go back with a restore") \
    X(45, "when storage is sorted, the record of a row that comes from another block isn't updated") \
    X(51, "a recorded call behind one that failed is lost") \
    X(52, "the value of a recorded call that fails is never destroyed") \
    X(53, "fresh indices that lanes passed over are lost") \
    X(54, "of a run of commands, the one that had no memory is lost") \
    X(55, "a run of commands that begins at a table's first row is done for the table's rows in its order") \
    X(56, "the commands of a job come before those of the jobs before it") \
    X(57, "events that a slower system hasn't read are dropped when the phase ends") \
    X(58, "a system reads events that it has read again in its next run") \
    X(59, "events of a later job come before those of an earlier one") \
    X(60, "a system that reads doesn't hold back a later one that writes") \
    X(61, "the commands of jobs are joined in the order in which the jobs end") \
    X(62, "ids that jobs give out depend on the worker") \
    X(63, "a change made by a later system of the tick is never seen") \
    X(64, "a system of the main thread runs on any thread") \
    X(65, "the watch over systems leaves out the last row of a chunk") \
    X(66, "the second run of a system goes the same way as the first") \
    X(67, "the watch over systems doesn't look at rows that don't match") \
    X(70, "a match that begins or ends by a change of one entity isn't told") \
    X(71, "what was removed and added again until the flush isn't told as set") \
    X(72, "a value that was told of when it went is never destroyed") \
    X(73, "a run of commands over a whole table tells no observer") \
    X(90, "references aren't told of a block that was copied") \
    X(101, "the first two free ids of a file change places") \
    X(102, "a piece of rows in a difference is one row short") \
    X(103, "versions of a file are taken as if they were the world's") \
    X(104, "a row that gets another entity by a difference keeps what the one before owned") \
    X(105, "versions in a file are as large as the world's") \
    X(106, "values that a rewind leaves alone are lost by loading") \
    X(110, "an add to a dead entity brings it back") \
    X(111, "values outside of the rows outlive their entity") \
    X(112, "a block that grew is taken for one row longer than it is") \
    X(113, "a slot is constructed before a value is moved into it") \
    X(114, "the bit of a switch that a change takes away stays") \
    X(115, "a generation that is used up begins anew") \
    X(116, "an index made by hand isn't counted: the counter of new ones comes to it") \
    X(117, "asking for a value makes room for it") \
    X(118, "columns of 16 bytes behind a new one go to the slots before theirs") \
    X(190, "how far a system has read that the world of a loaded file hasn't got is forgotten") \
    X(191, "a file is sealed with events for a system that a restore brought back, and which it doesn't name") \
    X(192, "observers come and go while others are yet to be told") \
    X(193, "rows are ordered by structs that lie nowhere") \
    X(194, "values that entities have in common are each one's own after a merge") \
    X(195, "one more value beside others is told to nobody") \
    X(131, "a loop that is left keeps what was copied for it") \
    X(124, "the rows that a loop which was left had looked for are those of the next one") \
    X(126, "a loop writes to the only block of a table without a look at whether it is shared") \
    X(140, "a history tells the hash of a state that its inputs don't lead to any more") \
    X(143, "row by row, what is remembered of a chunk holds though values moved in their store") \
    X(144, "row by row, a chunk whose rows are remembered is written without a look at whether it is shared") \
    X(145, "a block that changed hands early stays so though the loop never came to it") \
    X(150, "ids of many go to where their values come from before these are read") \
    X(151, "rows leave a table by the fast path though some of its rows have bits") \
    X(160, "loading moves the world's version up by all the versions between the oldest write in the file and the " \
           "newest one") \
    X(161, "a difference isn't applied to a world that has a reader of removals") \
    X(162, "loading marks of what is disabled makes new who has it") \
    X(163, "a difference that leads back is taken for one that leads on") \
    X(165, "what queries and systems that are gone have seen stays in the state for ever") \
    X(170, "where subtypes are asked for, a dead handle is looked up among the chunks") \
    X(171, "in a loop that defers, a change of a base counts as a write where only a subtype is there") \
    X(172, "a deferred add of a base with arguments is refused where only a subtype is there") \
    X(173, "observers of a base take a subtype for it") \
    X(174, "what is shared of a base is the value of a subtype") \
    X(175, "what a query matches gets marks of its own for the field of a split type") \
    X(180, "rows end by a difference before the bits of all of them can be cleared") \
    X(181, "a hash that had no memory is compared with the one of a file") \
    X(182, "the versions of no entities are cleared where there is no memory for them") \
    X(185, "a journal that can't be written anew leaves the world in the state of the file") \
    X(186, "values that a rewind leaves alone are lost where a journal can't be written anew") \
    X(187, "systems stay switched as in the file where a journal can't be written anew") \
    X(188, "a type that a file describes is left out where there is no memory for it") \
    X(189, "a declared type that there was no memory for yet is left out by loading")

#endif
