/** A place in the vault: a segment's number and a byte in its uncompressed form. */
export interface Position {
  readonly segment: number
  readonly offset: number
}

export const beginning: Position = { segment: 1, offset: 0 }

export const isBefore = (a: Position, b: Position): boolean =>
  a.segment < b.segment || (a.segment === b.segment && a.offset < b.offset)

/** Bytes from one place to a later one; over several segments, at least. */
export const bytesBetween = (a: Position, b: Position): number =>
  (b.segment - a.segment) * segmentBytesMax + b.offset - a.offset

/** Where a segment is full. A sealed one is read in one piece, so this bounds memory. */
export const segmentBytesMax = 16 * 1024 * 1024
