/** The footer of a Parquet file as Thrift structs, which keep every value as it is. */
import { deserializeTCompactProtocol } from "hyparquet/src/thrift.js"
import { open } from "node:fs/promises"

/** Structs of the Parquet specification: the members have the names that hyparquet gives to Thrift fields. */
export interface Footer {
  readonly field_1?: number
  readonly field_2: ReadonlyArray<SchemaElement>
  readonly field_3: bigint
  readonly field_4: ReadonlyArray<RowGroup>
  /** Key-value metadata. */
  readonly field_5?: unknown
  readonly field_6?: string
  /** Order of the columns. */
  readonly field_7: unknown
}
export interface SchemaElement {
  readonly field_1?: number
  readonly field_2?: number
  readonly field_3?: number
  readonly field_4: Uint8Array
  readonly field_5?: number
  readonly field_6?: number
  readonly field_7?: number
  readonly field_8?: number
  readonly field_10?: object
}
export interface RowGroup {
  readonly field_1: ReadonlyArray<{ readonly field_3: ColumnMetadata }>
  readonly field_2: bigint
  readonly field_3: bigint
}
interface ColumnMetadata {
  readonly field_6: bigint
  readonly field_7: bigint
  readonly field_9: bigint
  readonly field_11?: bigint
  readonly field_14?: bigint
  readonly field_15?: number
}

export const readFooter = async (path: string): Promise<Footer> => {
  await using file = await open(path)
  const { size } = await file.stat()
  const tail = Buffer.alloc(8)
  await file.read(tail, 0, 8, size - 8)
  const bytes = Buffer.alloc(tail.readUInt32LE(0))
  await file.read(bytes, 0, bytes.length, size - 8 - bytes.length)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return deserializeTCompactProtocol({ view, offset: 0 }) as unknown as Footer
}

/** The path of each column in the schema, whose elements are in depth-first order. */
export const pathsOf = ({ field_2: elements }: Footer): ReadonlyArray<ReadonlyArray<string>> => {
  let next = 1
  const below = (above: ReadonlyArray<string>, count: number): ReadonlyArray<ReadonlyArray<string>> =>
    Array.from({ length: count }).flatMap(() => {
      const element = elements[next++]!
      const path = [...above, new TextDecoder().decode(element.field_4)]
      return element.field_5 === undefined ? [path] : below(path, element.field_5)
    })
  return below([], elements[0]!.field_5 ?? 0)
}
