/** A position in the vault: the number of a segment and a byte offset in its uncompressed content. */
export interface Position {
  readonly segment: number
  readonly offset: number
}

export const beginning: Position = { segment: 1, offset: 0 }

export const isBefore = (a: Position, b: Position): boolean =>
  a.segment < b.segment || (a.segment === b.segment && a.offset < b.offset)

/** Bytes from one position to a later one. Across segments this is an estimate, as if each were just full. */
export const bytesBetween = (a: Position, b: Position, segmentBytes: number): number =>
  (b.segment - a.segment) * segmentBytes + b.offset - a.offset
