/** Where the lists of child rows are in a printed row, so that the rows go to files of their own. */
import * as Bytes from "../../../catalog/json-bytes.ts"

/**
 * For each list: the number of its child table, where it begins (with the comma before its name) and ends, how many items it
 * has, and where each of these begins and ends.
 */
export interface ChildLists {
  readonly numbers: Int32Array | ReadonlyArray<number>
  readonly from: number
  readonly to: number
}

/** Finds the lists in a row. `tables`: the child tables. */
export const listsIn = (row: Buffer, tables: ReadonlyArray<string>): ChildLists => {
  const numbers = new Lists(row).find(tables)
  return { numbers, from: 0, to: numbers.length }
}

class Lists extends Bytes.JsonBytes {
  constructor(row: Buffer) {
    super()
    this.bytes = row
  }

  find(tables: ReadonlyArray<string>): ReadonlyArray<number> {
    const numbers: Array<number> = []
    this.at = 1
    do {
      const from = this.at
      this.text()
      const table = tables.indexOf(this.bytes.toString("utf8", from + 1, this.at - 1))
      this.at++
      const items = table === -1 ? [] : this.items()
      if (table === -1) this.value()
      else numbers.push(table, from - 1, this.at, items.length / 2, ...items)
    } while (this.hasNextItem(Bytes.closeBrace))
    return numbers
  }

  private items(): ReadonlyArray<number> {
    const places: Array<number> = []
    if (this.isEmptyUntil(Bytes.closeBracket)) return places
    do {
      places.push(this.at)
      this.value()
      places.push(this.at)
    } while (this.hasNextItem(Bytes.closeBracket))
    return places
  }
}
