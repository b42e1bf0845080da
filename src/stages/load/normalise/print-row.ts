/**
 * Prints rows as JSON, into bytes that every row uses again. A string that grows value by value leaves several times its size
 * as garbage, which costs more to collect than the row costs to print.
 */
import { ByteBuffer } from "./byte-buffer.ts"
import { wellFormed } from "../../../catalog/convert.ts"
import { ChildRows, Escaped, type Row } from "./rows.ts"

/** Most rows are much shorter. */
const bytesInitial = 64 * 1024

class Printer extends ByteBuffer {
  /** The row as JSON, without the columns that have no value. */
  print(row: Row): string {
    this.end = 0
    this.putRow(row)
    const text = this.bytes.toString("utf8", 0, this.end)
    if (this.bytes.length > 16 * bytesInitial) this.bytes = Buffer.allocUnsafeSlow(bytesInitial)
    return text
  }

  private putRow({ shape: { printedNames }, values }: Row): void {
    let separator = brace
    for (let place = 0; place < values.length; place++) {
      const value = values[place]
      if (value === undefined) continue
      this.putName(separator, printedNames[place]!)
      if (typeof value === "string") this.putPlain(value)
      else if (value instanceof ChildRows) this.putRows(value)
      else this.putText(wellFormed(value instanceof Escaped ? value.text : value))
      separator = comma
    }
    this.putText(separator === brace ? "{}" : "}")
  }

  private putRows({ rows }: ChildRows): void {
    this.putText("[")
    for (let index = 0; index < rows.length; index++) {
      if (index > 0) this.putText(",")
      this.putRow(rows[index]!)
    }
    this.putText("]")
  }

  /** Puts a text of ASCII characters that need no escape. */
  private putPlain(text: string): void {
    const bytes = this.room(text.length + 2)
    let { end } = this
    bytes[end++] = quote
    // A call costs more than a few characters.
    if (text.length > 32) end += bytes.write(text, end, "latin1")
    else for (let index = 0; index < text.length; index++) bytes[end++] = text.charCodeAt(index)
    bytes[end++] = quote
    this.end = end
  }

  private putText(text: string): void {
    const bytes = this.room(3 * text.length)
    if (text.length === 1) bytes[this.end++] = text.charCodeAt(0)
    else this.end += bytes.write(text, this.end)
  }
}

const [brace, comma, quote] = [...'{,"'].map((character) => character.charCodeAt(0)) as [number, number, number]

const printer = new Printer(Buffer.allocUnsafeSlow(bytesInitial))
export const printed = (row: Row): string => printer.print(row)
