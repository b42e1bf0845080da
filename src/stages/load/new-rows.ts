/**
 * Rows of which the table has no earlier version. They need no merge, so each table gets a file that an INSERT reads: the rows
 * without their child rows, and the child rows of each child table with the id of their row.
 */
import type { Resource } from "../../catalog/resource.ts"
import { tablesOf } from "../../catalog/tables.ts"
import { NdjsonFile } from "./ndjson-file.ts"
import { type ChildLists, listsIn } from "./scan/child-lists.ts"

interface ChildFile {
  readonly file: NdjsonFile
  /** The bytes of `{"contact_id":`. */
  readonly begin: Buffer
}

export class NewRows {
  readonly rows: NdjsonFile
  private readonly children: ReadonlyArray<readonly [table: string, child: ChildFile]>
  private readonly tables: ReadonlyArray<string>

  /** `path`: the beginning of the names of the files. */
  constructor(resource: Resource, path: string) {
    this.rows = new NdjsonFile(`${path}-new.ndjson`)
    const children = tablesOf(resource).slice(1)
    this.tables = children.map(({ name }) => name)
    this.children = children.map(({ name, parentColumn }) => [
      name,
      {
        file: new NdjsonFile(`${path}-new-${name}.ndjson`),
        begin: Buffer.from(`{${JSON.stringify(parentColumn)}:`)
      }
    ])
  }

  get files(): ReadonlyArray<NdjsonFile> {
    return [this.rows, ...this.children.map(([, { file }]) => file)]
  }

  /** The file of a child table. */
  childFile(table: string): NdjsonFile {
    return this.children.find(([name]) => name === table)![1].file
  }

  /** Adds a row as the normaliser prints it. `begin`: the beginning of its line. `at`: when it was read. */
  push(begin: string, row: Buffer, id: string, at: number, known: ChildLists | undefined): void {
    const { rows } = this
    rows.begin(begin)
    if (this.children.length === 0) rows.put(row, 1, row.length)
    else this.divide(row, Buffer.from(`${JSON.stringify(id)},"_at":${at},`), known ?? listsIn(row, this.tables))
    rows.finish()
  }

  private divide(row: Buffer, parent: Buffer, lists: ChildLists): void {
    const { rows } = this
    const { numbers } = lists
    let copied = 1
    for (let place = lists.from; place < lists.to;) {
      const { begin, file } = this.children[numbers[place++]!]![1]
      // The columns of the key are first, so there is a comma before each list.
      rows.put(row, copied, numbers[place++]!)
      copied = numbers[place++]!
      for (let items = numbers[place++]!; items > 0; items--) {
        file.begin("")
        file.put(begin, 0, begin.length)
        file.put(parent, 0, parent.length)
        file.put(row, numbers[place++]! + 1, numbers[place++]!)
        file.finish()
      }
    }
    rows.put(row, copied, row.length)
  }
}
