/**
 * Rows of a batch as files that DuckDB reads: the rows without their child rows, and the child rows of each child table. So
 * each table gets its rows by one INSERT, and DuckDB never holds a row with lists of child rows, which takes it twice the time.
 */
import type { Resource } from "../../catalog/resource.ts"
import { tablesOf } from "../../catalog/tables.ts"
import { NdjsonFile } from "./ndjson-file.ts"
import { type ChildLists, listsIn } from "./scan/child-lists.ts"

interface ChildFile {
  readonly file: NdjsonFile
  /** The bytes of `,"invoice_items":true`, which a row has in place of the list if its list and its detail differ in it. */
  readonly isSent: Buffer
}

export class RowFiles {
  readonly rows: NdjsonFile
  private readonly children: ReadonlyArray<ChildFile>
  private readonly tables: ReadonlyArray<string>

  /** `path`: the beginning of the names of the files. */
  constructor(resource: Resource, path: string) {
    this.rows = new NdjsonFile(`${path}.ndjson`)
    this.tables = tablesOf(resource)
      .slice(1)
      .map(({ name }) => name)
    this.children = this.tables.map((name) => ({
      file: new NdjsonFile(`${path}-${name}.ndjson`),
      isSent: Buffer.from(resource.detail === undefined ? "" : `,${JSON.stringify(name)}:true`)
    }))
  }

  get files(): ReadonlyArray<NdjsonFile> {
    return [this.rows, ...this.children.map(({ file }) => file)]
  }

  /** The file of a child table. */
  childFile(table: string): NdjsonFile {
    return this.children[this.tables.indexOf(table)]!.file
  }

  /** Adds a row as the normaliser prints it. `begin`, `beginChild`: the beginnings of its line and of those of its child rows. */
  push(begin: string, beginChild: string, row: Buffer, known: ChildLists | undefined): void {
    const { rows } = this
    rows.begin(begin)
    if (this.children.length === 0) rows.put(row, 1, row.length)
    else this.divide(row, Buffer.from(beginChild), known ?? listsIn(row, this.tables))
    rows.finish()
  }

  private divide(row: Buffer, beginChild: Buffer, lists: ChildLists): void {
    const { rows } = this
    const { numbers } = lists
    let copied = 1
    for (let place = lists.from; place < lists.to;) {
      const { file, isSent } = this.children[numbers[place++]!]!
      // The columns of the key are first, so there is a comma before each list.
      rows.put(row, copied, numbers[place++]!)
      rows.put(isSent, 0, isSent.length)
      copied = numbers[place++]!
      for (let items = numbers[place++]!; items > 0; items--) {
        file.begin("")
        file.put(beginChild, 0, beginChild.length)
        file.put(row, numbers[place++]! + 1, numbers[place++]!)
        file.finish()
      }
    }
    rows.put(row, copied, row.length)
  }
}
