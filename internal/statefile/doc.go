// Package statefile writes what a node knows to a file and reads it back, so that
// quotas outlive a restart of the only node.
//
// A file is replaced as a whole or not at all: [Write] fills a temporary file beside
// it, syncs it and renames it. [Read] checks the whole file before it hands anything
// out. Both stream: memory is bounded by a chunk, whatever the number of rows.
//
// The rows are plain values. What they mean, and how the time between writing and
// reading is taken off them, is the caller's; see [Row] for the conventions.
//
// # Format
//
// Numbers are varints of encoding/binary, "signed" ones zig-zag; hashes and the like,
// of which all bits count, have a fixed width (given in bytes) and are little-endian; a
// text is its length and its bytes.
//
//	file      magic (8 bytes), format (1), seed (8), wall (8), chunk…, 0 (4), sum (32)
//	chunk     length of what follows (4), item…
//	item      limit, register, part or row; told apart by the first byte
//	limit     1, id (8), name, text
//	register  2 (open: 3), kind (1), limit, hash, maker, writer (8 each), id, version, signed n, start, per, until, label,
//	          signed charged, signed life less until
//	part      4, from (1), to (1), length, and so many times: origin (8), number, silent·2 (doubtful: + 1)
//	row       0x80 + fields, hash (8), and those fields, in this order, that are there:
//	          64 limit, by its place among the limits of the file; else that of the row before
//	          1 signed at, less that of the limit's row before · 2 rem · 4, 8, 16 signed counts · 32 log
//	log       length, and so many pairs (signed at, less the one before, starting from the row's; signed n)
//
// The format is 2. In format 1, which is still read, a chunk began with a vector (length, and
// so many pairs of numbers) that said nothing, there were no parts, and a register ended with
// its label: what is charged of it is its n, and its life ends with until.
//
// The sum is the SHA-256 of all before it. Magic and sum have these places in any later
// format too. The sum finds accidents; it is no protection from somebody who may write
// the file.
package statefile
