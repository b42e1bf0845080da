/** Rows as the normaliser holds them: an array of values, in the order of the columns. */
import type { Shape } from "./compile-fields.ts"
import { special } from "../../../catalog/convert.ts"

export interface Row {
  readonly shape: Shape
  /** By place. A string is printed in JSON as it is; all others are `Escaped`. */
  readonly values: Array<unknown>
}

/** A text that JSON escapes, or that is not ASCII. */
export class Escaped {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A value in the form in which a row holds it. */
export const held = (value: unknown): unknown =>
  typeof value === "string" && special.test(value) ? new Escaped(value) : value

/** The value that a row holds. */
export const valueIn = (values: ReadonlyArray<unknown>, place: number): unknown => {
  const value = values[place]
  return value instanceof Escaped ? value.text : value
}

/** The rows of a child table. */
export class ChildRows {
  readonly rows: Array<Row> = []
  /** The number of items so far: a rejected item leaves its position empty. */
  items = 0
  private readonly identities: Array<unknown> = []
  private seen: Set<unknown> | undefined

  /** Whether the identity exists already; adds it if not. Most lists are short, some have thousands of items. */
  isDuplicate(identity: unknown): boolean {
    if (this.seen ? this.seen.has(identity) : this.identities.includes(identity)) return true
    if (this.seen) this.seen.add(identity)
    else if (this.identities.push(identity) > 16) this.seen = new Set(this.identities)
    return false
  }
}
