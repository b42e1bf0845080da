/** A place in the vault: a segment's number and a byte in its uncompressed form. */
export interface Position {
  readonly segment: number
  readonly offset: number
}

export const beginning: Position = { segment: 1, offset: 0 }

export const isBefore = (a: Position, b: Position): boolean =>
  a.segment < b.segment || (a.segment === b.segment && a.offset < b.offset)
