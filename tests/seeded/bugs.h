/* Seeded bugs, which test the tests. A patch in this folder puts each into a copy of the sources, where BUG(n) is true
 * while the environment variable REEF_BUG is n. scripts/seeded-bugs makes the copy, builds it, and turns one bug on
 * after the other: the tests must fail. The compiler reads this file before each file of the copy. A number is never
 * used again. */
#ifndef REEF_SEEDED_BUGS_H
#define REEF_SEEDED_BUGS_H

#ifdef __cplusplus
extern "C" int reef_bug;
#else
extern int reef_bug;
#endif
#define BUG(n) __builtin_expect(reef_bug == (n), 0)

/* number, what goes wrong */
#define REEF_BUGS(X) \
    X(1, "the count of rows changes before the shared block is copied: the copy doesn't contain the last row") \
    X(2, "the key of an edge doesn't contain the operation: a remove follows the edge of an add") \
    X(3, "the generation isn't increased when an entity is destroyed by the slow path") \
    X(4, "the destroy hook runs twice for a row") \
    X(5, "an allocation of a query's matches isn't checked") \
    X(6, "the record of the row that fills a hole isn't updated") \
    X(7, "an id that is taken by reef_create_as stays in the ring of free ids") \
    X(8, "a query doesn't find tables that are made after it") \
    X(9, "the bits of switches stay when their row is removed") \
    X(10, "columns of 16 bytes aren't copied when a row moves to another table") \
    X(11, "loops over all rows leave out the last row of a full block") \
    X(12, "a query visits tables in the order in which they were made") \
    X(13, "a name outlives its entity") \
    X(14, "values with a copy hook are copied as bytes") \
    X(15, "a component that is added keeps the bytes that were there before") \
    X(16, "a bulk spawn that fails leaves the rows that it made") \
    X(17, "an entity can be destroyed while a loop is open") \
    X(18, "one column is written though a fork shares it") \
    X(19, "memory is freed with a wrong size") \
    X(20, "a component may be named twice in a list") \
    X(21, "a node of shared pages is merged though two branches use it") \
    X(22, "the count of holders changes before the node is copied, which may fail") \
    X(23, "a restore loses the free ids") \
    X(24, "a remembered hash is used though its block was written since") \
    X(25, "a fork doesn't raise the version below which everything is shared") \
    X(26, "after a restore the world doesn't know that it has names") \
    X(27, "a query remembers chunks that were copied since") \
    X(28, "a NOT inside a group is ignored") \
    X(29, "a restore doesn't bring back when a query ran last") \
    X(30, "an ordered query misses rows that were written in place") \
    X(31, "when only some rows of a block are written, the other rows are lost") \
    X(34, "a component stays marked as disabled after it was removed") \
    X(35, "a switch that is turned off by the fast path stays marked as disabled") \
    X(41, "a new row doesn't get a stamp") \
    X(42, "the log of removals doesn't contain destroyed entities") \
    X(43, "a restore doesn't set back the readers of removals") \
    X(45, "when storage is sorted, the record of a row that comes from another block isn't updated") \
    X(51, "a recorded call after one that failed is lost") \
    X(52, "the value of a recorded call that fails is never destroyed") \
    X(53, "fresh indices that lanes skipped are lost") \
    X(54, "in a run of commands, the one that had no memory is lost") \
    X(55, "a run of commands that begins at a table's first row is applied to the table's rows in the order of the " \
          "table") \
    X(56, "the commands of a job come before those of the jobs before it") \
    X(57, "events that a slower system hasn't read are dropped when the phase ends") \
    X(58, "a system reads events a second time in its next run") \
    X(59, "events of a later job come before those of an earlier one") \
    X(60, "a later system that writes doesn't wait for a system that reads") \
    X(61, "the commands of jobs are joined in the order in which the jobs end") \
    X(62, "ids that jobs give out depend on the worker") \
    X(63, "a change by a later system of the tick is never seen") \
    X(64, "a system of the main thread runs on any thread") \
    X(65, "the watching of systems leaves out the last row of a chunk") \
    X(66, "the second run of a system visits rows in the same order as the first") \
    X(67, "the watching of systems doesn't check rows that don't match") \
    X(70, "observers aren't called when a change of one entity begins or ends a match") \
    X(71, "a component that was removed and added again before the flush isn't reported as set") \
    X(72, "a removed value that observers were shown is never destroyed") \
    X(73, "a run of commands over a whole table calls no observer") \
    X(90, "references don't notice that a block was copied") \
    X(101, "the first two free ids of a file are exchanged") \
    X(102, "a run of rows in a difference is one row too short") \
    X(103, "versions of a file are used as if they were the world's") \
    X(104, "a row that gets another entity by a difference keeps the values of the old one") \
    X(105, "versions in a file aren't replaced by small numbers") \
    X(106, "values that a restore keeps are lost by loading") \
    X(110, "an add to a dead entity brings it back") \
    X(111, "values outside of the rows outlive their entity") \
    X(112, "a block that has grown is treated as one row longer than it is") \
    X(113, "a slot is constructed before a value is moved into it") \
    X(114, "the bit of a switch that a change takes away stays") \
    X(115, "the generations of an index start again when they are used up") \
    X(116, "an index that reef_create_as makes isn't counted, so it is given out a second time") \
    X(117, "looking up a value allocates room for it") \
    X(118, "columns of 16 bytes after a new one go to the slots before theirs") \
    X(190, "for a system that the loading world doesn't have, how far it has read is lost") \
    X(191, "a file is sealed with events for a system that a restore brought back, and which it doesn't name") \
    X(192, "observers are made and removed while others are still to be called") \
    X(193, "rows are ordered by a type in REEF_SPLIT, which has no struct in memory") \
    X(194, "entities that share a value have separate values after a merge") \
    X(195, "observers aren't called for one more value beside others") \
    X(196, "a target keeps the sources whose exclusive relation was replaced") \
    X(197, "the sources of a target are destroyed with it, but not the sources of these") \
    X(198, "one half of a symmetric relation stays when the other one can't be made") \
    X(199, "saving a part of a world destroys entities that match with their targets that don't") \
    X(131, "a loop that is left early keeps what was copied for it") \
    X(124, "the next loop uses the rows that a loop which was left early had looked for") \
    X(126, "a loop writes to the only block of a table without checking whether it is shared") \
    X(140, "a history returns the hash of a state that its inputs no longer lead to") \
    X(143, "row by row, the remembered rows of a chunk are used though values moved in their store") \
    X(144, "row by row, a chunk whose rows are remembered is written without checking whether it is shared") \
    X(150, "the handles of many new entities overwrite the source of their values before it is read") \
    X(151, "rows leave a table by the fast path though some of its rows have bits") \
    X(160, "loading moves the world's version up by all the versions between the oldest write in the file and the " \
           "newest one") \
    X(161, "a difference isn't applied to a world that has a reader of removals") \
    X(162, "loading what is disabled gives the bits of the component a new version") \
    X(163, "a difference back to an earlier state is treated as one to a later state") \
    X(165, "the versions that freed queries and systems have seen stay in the state for ever") \
    X(170, "a lookup of subtypes for a dead handle reads the chunks") \
    X(171, "in a loop that defers, a change of a base counts as a write where only a subtype is there") \
    X(172, "a deferred add of a base with arguments is refused where only a subtype is there") \
    X(173, "observers of a base are called for a subtype") \
    X(174, "reef_share of a base shares the value of a subtype") \
    X(175, "reef_enable_where accepts the part of a type in REEF_SPLIT") \
    X(180, "a difference removes rows before it is certain that all their bits can be cleared") \
    X(181, "when there is no memory for a hash, 0 is compared with the hash of a file") \
    X(182, "the versions of zero entities are cleared though there is no memory for them") \
    X(185, "a journal that can't be written anew leaves the world in the state of the file") \
    X(186, "values that a restore keeps are lost when a journal can't be written anew") \
    X(187, "systems stay on or off as in the file when a journal can't be written anew") \
    X(188, "a type that a file describes is left out when there is no memory for it") \
    X(189, "loading leaves out a declared type for which there was no memory before") \
    X(210, "the index of blocks isn't told that a block was copied for this world") \
    X(211, "a chunk that is freed stays in the index of blocks") \
    X(240, "a set of components is remembered though some that come along lie outside of tables") \
    X(241, "relations of a template's copy lead to the entities of the template") \
    X(242, "queries match templates") \
    X(243, "rows of copies stay when a later entity of the template can't be copied") \
    X(244, "one half of a symmetric relation stays when the other one ends") \
    X(245, "a source that is put before another one goes behind all of them") \
    X(246, "two children of one parent may have the same name") \
    X(247, "observers of a relation aren't told its target") \
    X(248, "a relation that ends stays in the index of its target") \
    X(249, "an exclusive relation may lead round in a circle") \
    X(260, "instances that commands make lack what their prefab has outside of its columns") \
    X(340, "a copy of a script that has started counts as started") \
    X(341, "a script that was merged counts as started if its entity gets the same handle") \
    X(342, "scripts of templates run") \
    X(344, "a name that is taken is kept by an entity that loses its parent while names are unscoped") \
    X(343, "a command that makes a copy can't take a component of the template away") \
    X(261, "an ancestor that is remembered is the one below it") \
    X(250, "a tick doesn't see that sources got another target, and leaves their rows where they are") \
    X(251, "rows are grouped by the last of their relations alone") \
    X(252, "queries aren't told that handles were copied for a change that failed") \
    X(212, "a block that a system wrote by reef_mut may be written by the next one without a mark") \
    X(350, "an order by a relation that was found before stays when relations are disabled") \
    X(351, "queries follow relations that are disabled") \
    X(352, "a reflexive term doesn't hold for the target itself where its relation is disabled") \
    X(353, "a loop or tick that works erases the text of the failure before it") \
    X(354, "the text of a query names an entity by a path that leads to another one") \
    X(291, "a file's relations are followed before it is known that their sources are alive") \
    X(332, "the declaration of a library that is unloaded stays in the list of declarations") \
    X(331, "a call by another copy of reef isn't refused") \
    X(330, "a child of fork() waits for the threads of its parent's pool") \
    X(380, "the net effect of a further value and a removal has no old value") \
    X(381, "relating the side whose half is there doesn't make the other half again") \
    X(382, "a value of reef_instantiate drops the further values of its type") \
    X(390, "values keep their numbers where the program has other ones for their names") \
    X(391, "names that a file has aren't checked") \
    X(392, "two lists of fields count as the same though their names differ") \
    X(333, "reef_synctest leaves the world paused after a failure") \
    X(334, "in a loop that records, reef_set of a relation that is there is recorded") \
    X(335, "a world is freed while it is in use") \
    X(393, "a collected observer isn't told of what takes the fast paths") \
    X(394, "an observer isn't told of changes that were remembered before it came") \
    X(395, "an observer isn't told of entities that are destroyed on the fast path") \
    X(336, "for a relation that nobody observes memory is taken for an old value, which nothing reserved") \
    X(396, "a row that moves after a fork has its record written in the page that the fork shares") \
    X(397, "what an observer asks for is done at once where nobody watches it") \
    X(398, "a tracked column has the world's version, so that the inlined mut writes it unseen") \
    X(399, "a tracked component that goes along a cached edge isn't in the log of removals") \
    X(400, "an observer that is told without a plan gets the new value as the old one") \
    X(401, "of eight stamps that are neighbours a newer one isn't noted, so that readers skip it") \
    X(402, "a relation of an entity that is spawned has no bit in its row") \
    X(403, "an entity that a recording loop makes like the one before has no pending id") \
    X(404, "a loop in the order of a relation that it names looks at nothing else of a row") \
    X(405, "a collected observer is told of a single change that it didn't ask for") \
    X(406, "a query about relations that comes again doesn't look at tables that were used meanwhile") \
    X(450, "a picture of places is taken for right after a restore") \
    X(451, "a picture of places doesn't see that positions were written") \
    X(452, "where far cells share buckets, rows of other cells are found, and some twice") \
    X(453, "of more neighbours than there is room for, others than the first ones are kept") \
    X(454, "distances don't go over edges that wrap around") \
    X(455, "a system's picture of places misses what the systems before it wrote") \
    X(456, "a picture of places doesn't see that a component was disabled") \
    X(457, "the nearest are looked for in the first radius alone") \
    X(458, "large bodies are looked for as if they were points") \
    X(459, "rows of crowded cells aren't taken apart") \
    X(460, "an index of values isn't compared with the world after a restore") \
    X(461, "an index of values finds rows that are disabled") \
    X(462, "a NaN is found by a range of values") \
    X(440, "what a refused module has made stays in the world") \
    X(441, "a system of another version of a module is enabled, though the old one wasn't") \
    X(442, "a new system of another version of a module comes behind all others") \
    X(443, "a system of another version of a module begins its interval anew") \
    X(444, "a module that is too old is as good as a newer one") \
    X(500, "a condition isn't asked of the rows behind the last 64 of a chunk") \
    X(501, "a whole number that is compared by <= is compared by <") \
    X(502, "a condition on a type that is split reads the column of another field") \
    X(503, "of several values only the first is compared") \
    X(504, "a copy of a query lacks what its parameters were set to") \
    X(505, "a filter beside data that is written may ask what changed") \
    X(506, "a system doesn't say that it reads what its conditions compare") \
    X(507, "the nearest ancestor is found once for a loop, whatever is written to it") \
    X(508, "values that don't fulfil the conditions of a term with 'each' are visited") \
    X(509, "a source is bound whatever the values of its relation are") \
    X(510, "the text of a query has a name with < without quotes") \
    X(511, "a parameter that is refused is set all the same where it was compared before") \
    X(512, "a loop decides by switches alone though values decide, too") \
    X(513, "the conditions of a system are those of the text that it was made from, which is gone") \
    X(514, "a text that begins a field's text equals it") \
    X(515, "a number that is more than every f32 becomes infinite") \
    X(516, "a system may compare values of others that it doesn't declare") \
    X(517, "a query whose parameters were never set keeps systems from running") \
    X(520, "a plan doesn't count numbers that can't be what they were") \
    X(521, "a table that had types which the program hasn't got is taken for another one") \
    X(522, "a file that declares types isn't tried before") \
    X(523, "a load that may lose nothing loses fields") \
    X(530, "rows near an earlier centre of a query stay marked") \
    X(531, "a picture isn't made anew when only values that it carries changed") \
    X(532, "the slots of a picture's entities are those of an earlier one") \
    X(533, "crowds in whole cells are taken apart") \
    X(534, "a copy of a query lacks the centre of its terms with `near`") \
    X(580, "an index of values doesn't see that a column was written") \
    X(581, "an index of values keeps the rows of chunks that are gone") \
    X(582, "a row that left an index and came back since is taken for gone") \
    X(583, "an index doesn't see that another entity is in a row") \
    X(584, "a world changes the index that its fork shares") \
    X(585, "a system asks indexes of components that it doesn't declare") \
    X(586, "a system's index misses what the systems before it wrote") \
    X(587, "a picture of places cuts off the generation of an index that was used very often") \
    X(610, "a phase on the fast path writes blocks that a fork shares") \
    X(611, "a page of chunks is copied without the unit that was taken last") \
    X(540, "what refused code has declared stays known") \
    X(541, "scripts lose their classes when code is reloaded") \
    X(542, "classes of refused code stay") \
    X(543, "classes that no script has keep the code that they are in") \
    X(544, "forks and snapshots keep their values when a layout changes") \
    X(545, "it isn't counted what leads into code that comes and goes") \
    X(546, "queries still name a type as it was before its layout changed") \
    X(547, "hooks of a type stay those of the code before") \
    X(548, "recorded inputs keep the old layout of their type") \
    X(549, "a type that the program declares gets another layout") \
    X(550, "the names that a field had before don't count") \
    X(551, "what a value with hooks owns has two owners after its layout changed") \
    X(552, "a snapshot keeps the types of an old layout") \
    X(553, "values of an old layout get the hooks of the new one") \
    X(554, "a type that no layout is of any more can be used") \
    X(555, "a journal goes on with a type that another one has the name of") \
    X(556, "bytes that no field describes are lost and nobody is told") \
    X(560, "reef_net: inputs of a player count though another one sent them unsigned") \
    X(561, "reef_net: two signed versions of an input are no proof") \
    X(562, "reef_net: a relayed datagram counts whoever signed it") \
    X(563, "reef_net: a tick is confirmed before the others have told that they have the same inputs") \
    X(564, "reef_net: who has promised to drop a player goes on taking his inputs") \
    X(565, "reef_net: whoever finds another hash ends, also if the others agree with it") \
    X(566, "reef_net: a player who never tells what he has is waited for") \
    X(567, "reef_net: an event that didn't happen after all isn't told as undone") \
    X(568, "reef_net: a joiner gets the state of a later tick than he is told") \
    X(569, "reef_net: only half of the players' inputs are corrected") \
    X(570, "reef_net: a view shows what is disabled") \
    X(571, "reef_net: all who see an entity get its private types") \
    X(572, "reef_net: what leaves a view's radius stays in sight") \
    X(573, "reef_net: a view is older than its bound") \
    X(574, "reef_net: what goes out of sight is said to be destroyed") \
    X(575, "reef_net: what is destroyed is said to be out of sight only") \
    X(576, "reef_net: a field of kind entity tells the index of what is hidden") \
    X(577, "reef_net: a field of kind entity isn't sent again when its target comes into sight or goes") \
    X(640, "reef_net: a datagram that was overtaken brings back an older value") \
    X(641, "reef_net: a number is given again before the client knows that its entity went") \
    X(642, "reef_net: what a lost datagram showed isn't sent again") \
    X(644, "reef_net: a radius counts along x only") \
    X(646, "reef_net: a recording's inputs may be outside of their description") \
    X(648, "reef_net: the search for a difference looks at every second range only") \
    X(605, "reef_net: a member that is late isn't waited for, and not dropped either") \
    X(606, "reef_net: who has just become a member promises before it is caught up") \
    X(607, "reef_net: a spectator confirms what the host has confirmed in another view") \
    X(608, "reef_net: who is told something else than the others doesn't believe them") \
    X(609, "reef_net: a player begins by a command in inputs that don't count") \
    X(612, "reef_net: a member that hears nothing is waited for") \
    X(593, "a section of a file may name types of any home") \
    X(518, "a command gives an entity a unique value that another one has") \
    X(519, "after a rewind unique values are those of the time before") \
    X(588, "two entities that are made together get the same unique value") \
    X(589, "an index answers for a block that the loop has written since") \
    X(590, "an index answers for the parameter that was set before") \
    X(591, "a query that names templates misses those that an index has left out") \
    X(592, "a loop writes unique values") \
    X(594, "of a type's fields only the first 64 are told apart") \
    X(600, "a join finds values that are no number") \
    X(601, "a join finds entities that are disabled as a whole") \
    X(602, "a join goes on with the rows that an index had at its first loop") \
    X(603, "a join takes numbers below zero for large ones") \
    X(604, "who is found by a value isn't asked for further conditions") \
    X(625, "an index is copied for a query whose loop has ended") \
    X(626, "pictures of a world with ghosts show everybody who is disabled as a whole") \
    X(627, "a question to a place reaches further than ghosts do") \
    X(628, "rows with equal keys are sorted as they lie, and not by their index") \
    X(620, "a history forgets what its replay needs") \
    X(621, "after a replay the history has the states of before") \
    X(622, "a replay goes on although the history went back") \
    X(623, "a history whose layouts changed keeps ticks that it can't reach") \
    X(624, "an input needn't be of the type that the history was given") \
    X(613, "inputs that a change of layout drops can refuse it") \
    X(614, "a change of layout drops the future of a history at its first tick") \
    X(615, "an input gets another layout while a step reads it") \
    X(616, "scripts end when a replay is over") \
    X(633, "of all values of a type only those of the first chunk of each table are walked") \
    X(634, "free ids that lie at the same place in two worlds count as the same") \
    X(635, "a fork has a query's parameters from before they were set again") \
    X(636, "a fork's new query takes the place of one that it has from its origin and hasn't used yet") \
    X(637, "what a query has seen is forgotten in a fork that hasn't used it yet") \
    X(638, "a fork has a query's order from before it was changed") \
    X(639, "what a query has seen begins anew in a fork") \
    X(643, "queries that a fork hasn't used yet keep the type with the old layout") \
    X(645, "a difference passes over values in stores of entities that both worlds have in the same slots") \
    X(660, "reef_query_count doesn't look at tables that are new") \
    X(661, "64 rows whose entities aren't in turn are looked up as if they were") \
    X(670, "a value whose name gets the number 0 counts as lost") \
    X(617, "a new row whose hook refuses keeps the values that were made before") \
    X(618, "of an entity's end only one kind of event is told") \
    X(619, "of an entity's end the observers of the last component alone are told") \
    X(629, "a new row of a known table isn't stamped") \
    X(630, "of a new row the observers of the last component alone are told") \
    X(631, "the value of a new row may lie in a table that grows") \
    X(632, "restoring leaves the arrays of the world as they are where their size is right") \
    X(649, "reef_net: the state that a slow joiner got isn't kept") \
    X(650, "reef_net: a guest becomes a member before it has caught up") \
    X(651, "reef_net: a guest who differs is sent away without a search") \
    X(655, "reef_net: a joiner gets a state from before the end of a player who has gone") \
    X(656, "reef_net: a joiner gets a state from before inputs that were forgotten") \
    X(657, "reef_net: who begins many ballots gets a promise for each after the same time") \
    X(658, "reef_net: a player who stops since nothing is agreed on is blamed for it") \
    X(659, "reef_net: a guest who can't get the inputs any more isn't sent away") \
    X(671, "types of modules that are loaded are named as left behind") \
    X(681, "where a hook refuses, a list whose table is remembered leaves the values that were made before") \
    X(682, "a list whose table is remembered leaves the mark that a component which goes is disabled") \
    X(683, "a list whose table is remembered doesn't stamp what it overwrites") \
    X(684, "a list whose table is remembered doesn't destroy the values that it replaces") \
    X(685, "a list whose table is remembered logs no removals") \
    X(686, "an entity of a list that is remembered doesn't get its bits") \
    X(687, "the values in stores of an entity whose list is remembered aren't stamped") \
    X(672, "a unique value isn't free when its entity has lost the component") \
    X(673, "in another state only the first unique value of each block is known") \
    X(647, "a loop that asked once which rows of a block match isn't told of its other blocks") \
    X(680, "of 64 rows that two worlds have the last one is never compared")

#endif
