/**
 * Rows whose values are places in the bytes of a page. Nothing is made of a value until its row is printed; then its bytes are
 * copied. The arrays are used again for every record.
 */
import { ByteBuffer } from "../normalise/byte-buffer.ts"
import type { Shape } from "../normalise/compile-fields.ts"
import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote
} from "../../../catalog/json-bytes.ts"
import type { UnknownField } from "./byte-fields.ts"

/** How a value is held. */
export const absent = 0
/** The bytes between two places, as they are. */
export const copied = 1
/** The same between quotes. */
export const quoted = 2
/** The JSON between two places, as a text. */
export const asJsonText = 3
/** A printed text of its own. */
export const owned = 4
/** The rows of a child table: the first, the last, and the number of items. */
export const childRows = 5
/** An integer. */
export const numbered = 6
/** The items of the list between two places, as one text. */
export const joined = 7

const numbersPerPiece = 4
const bytesInitial = 256 * 1024

export class RowsInBytes extends ByteBuffer {
  constructor() {
    super(Buffer.allocUnsafeSlow(bytesInitial))
  }

  source: Buffer = Buffer.alloc(0)
  rowsEnd = 0
  private readonly shapes: Array<Shape> = []
  private starts = new Int32Array(64)
  private nexts = new Int32Array(64)
  private extras = new Int32Array(64)
  private lastExtras = new Int32Array(64)
  private pieces = new Int32Array(1024)
  private piecesEnd = 0
  private readonly texts: Array<string> = []
  private textsEnd = 0
  /** Unknown fields: what they are, where their values are, and the next one of the row. */
  private readonly unknownFields: Array<UnknownField> = []
  private unknownPlaces = new Int32Array(96)
  unknownEnd = 0
  /** See `ChildLists`. */
  childLists = new Int32Array(4096)
  childListsEnd = 0
  private rowStart = 0

  clear(): void {
    this.rowsEnd = 0
    this.piecesEnd = 0
    this.textsEnd = 0
    this.unknownEnd = 0
  }

  /** A row without values. */
  add(shape: Shape): number {
    const row = this.rowsEnd++
    const length = numbersPerPiece * shape.blank.length
    if (row === this.starts.length) {
      this.starts = grown(this.starts)
      this.nexts = grown(this.nexts)
      this.extras = grown(this.extras)
      this.lastExtras = grown(this.lastExtras)
    }
    while (this.piecesEnd + length > this.pieces.length) this.pieces = grown(this.pieces)
    this.shapes[row] = shape
    this.starts[row] = this.piecesEnd
    this.nexts[row] = -1
    this.extras[row] = -1
    this.pieces.fill(0, this.piecesEnd, this.piecesEnd + length)
    this.piecesEnd += length
    return row
  }

  shapeOf(row: number): Shape {
    return this.shapes[row]!
  }

  set(row: number, place: number, how: number, from: number, to: number): void {
    const at = this.starts[row]! + numbersPerPiece * place
    this.pieces[at] = how
    this.pieces[at + 1] = from
    this.pieces[at + 2] = to
  }

  /** `text`: as it is to be printed. */
  setText(row: number, place: number, text: string): void {
    this.set(row, place, owned, this.textsEnd, 0)
    this.texts[this.textsEnd++] = text
  }

  howOf(row: number, place: number): number {
    return this.pieces[this.starts[row]! + numbersPerPiece * place]!
  }

  fromOf(row: number, place: number): number {
    return this.pieces[this.starts[row]! + numbersPerPiece * place + 1]!
  }

  toOf(row: number, place: number): number {
    return this.pieces[this.starts[row]! + numbersPerPiece * place + 2]!
  }

  copy(row: number, place: number, from: number, placeThere: number): void {
    this.set(row, place, this.howOf(from, placeThere), this.fromOf(from, placeThere), this.toOf(from, placeThere))
  }

  remove(row: number, place: number): void {
    this.set(row, place, absent, 0, 0)
  }

  textAt(row: number, place: number): string {
    return this.texts[this.fromOf(row, place)]!
  }

  /** Begins a list of child rows, unless there is one. */
  begin(row: number, place: number): void {
    const at = this.starts[row]! + numbersPerPiece * place
    if (this.pieces[at] === childRows) return
    this.set(row, place, childRows, -1, -1)
    this.pieces[at + 3] = 0
  }

  /** The position of the next item in a list of child rows. */
  nextItem(row: number, place: number): number {
    return this.pieces[this.starts[row]! + numbersPerPiece * place + 3]!++
  }

  append(row: number, place: number, child: number): void {
    const at = this.starts[row]! + numbersPerPiece * place
    if (this.pieces[at + 1] === -1) this.pieces[at + 1] = child
    else this.nexts[this.pieces[at + 2]!] = child
    this.pieces[at + 2] = child
  }

  nextOf(row: number): number {
    return this.nexts[row]!
  }

  detach(row: number): void {
    this.nexts[row] = -1
  }

  addUnknown(row: number, field: UnknownField, from: number, to: number): void {
    const unknown = this.unknownEnd++
    if (3 * this.unknownEnd > this.unknownPlaces.length) this.unknownPlaces = grown(this.unknownPlaces)
    const places = this.unknownPlaces
    this.unknownFields[unknown] = field
    places[3 * unknown] = from
    places[3 * unknown + 1] = to
    places[3 * unknown + 2] = -1
    if (field.printed === undefined) return
    if (this.extras[row] === -1) this.extras[row] = unknown
    else places[3 * this.lastExtras[row]! + 2] = unknown
    this.lastExtras[row] = unknown
  }

  unknownField(unknown: number): UnknownField {
    return this.unknownFields[unknown]!
  }

  unknownFrom(unknown: number): number {
    return this.unknownPlaces[3 * unknown]!
  }

  unknownTo(unknown: number): number {
    return this.unknownPlaces[3 * unknown + 1]!
  }

  /** Forgets the rows that were printed. */
  startOver(): void {
    this.end = 0
    this.childListsEnd = 0
  }

  /** Prints a row as JSON, without the columns that have no value. `childNumbers`: see `ChildLists`, by place. */
  print(row: number, childNumbers: Int32Array): Buffer {
    this.rowStart = this.end
    this.putRow(row, childNumbers)
    return this.bytes.subarray(this.rowStart, this.end)
  }

  private putRow(row: number, childNumbers?: Int32Array): void {
    const { printedNames, blank, extra } = this.shapes[row]!
    let at = this.starts[row]!
    let separator = openBrace
    for (let place = 0; place < blank.length; place++, at += numbersPerPiece) {
      const isExtra = place === extra && this.extras[row] !== -1
      if (this.pieces[at] === absent && !isExtra) continue
      if (childNumbers !== undefined && this.pieces[at] === childRows) {
        this.putList(childNumbers[place]!, printedNames[place]!, this.pieces[at + 1]!)
        continue
      }
      this.putName(separator, printedNames[place]!)
      separator = comma
      if (isExtra) this.putExtra(this.extras[row]!)
      else this.putPiece(this.pieces[at]!, this.pieces[at + 1]!, this.pieces[at + 2]!)
    }
    if (separator === openBrace) this.putByte(openBrace)
    this.putByte(closeBrace)
  }

  /** Puts a list of child rows, and notes where they are. The columns of the key are before it. */
  private putList(child: number, name: Uint8Array, first: number): void {
    const { rowStart } = this
    const begin = this.note(child, this.end - rowStart)
    this.note(0, 0)
    this.putName(comma, name)
    this.putByte(openBracket)
    let items = 0
    for (let row = first; row !== -1; row = this.nexts[row]!) {
      if (row !== first) this.putByte(comma)
      const from = this.end - rowStart
      this.putRow(row)
      this.note(from, this.end - rowStart)
      items++
    }
    this.putByte(closeBracket)
    this.childLists[begin + 2] = this.end - rowStart
    this.childLists[begin + 3] = items
  }

  /** Notes two numbers, and returns the place of the first. */
  private note(one: number, other: number): number {
    const at = this.childListsEnd
    if (at + 2 > this.childLists.length) this.childLists = grown(this.childLists)
    this.childLists[at] = one
    this.childLists[at + 1] = other
    this.childListsEnd = at + 2
    return at
  }

  private putPiece(how: number, from: number, to: number): void {
    if (how === copied) this.putBytes(this.source, from, to)
    else if (how === quoted) {
      this.putByte(quote)
      this.putBytes(this.source, from, to)
      this.putByte(quote)
    } else if (how === asJsonText) {
      this.putByte(quote)
      this.putEscaped(from, to)
      this.putByte(quote)
    } else if (how === joined) this.putJoined(from, to)
    else if (how === owned) this.putText(this.texts[from]!)
    else if (how === numbered) this.putText(String(from))
    else {
      this.putByte(openBracket)
      for (let child = from; child !== -1; child = this.nexts[child]!) {
        if (child !== from) this.putByte(comma)
        this.putRow(child)
      }
      this.putByte(closeBracket)
    }
  }

  /** Unknown fields: a text that is a JSON object. */
  private putExtra(first: number): void {
    this.putByte(quote)
    for (let unknown = first; unknown !== -1; unknown = this.unknownPlaces[3 * unknown + 2]!) {
      const { printed } = this.unknownFields[unknown]!
      this.putByte(unknown === first ? openBrace : comma)
      this.putBytes(printed!, 0, printed!.length)
      this.putEscaped(this.unknownFrom(unknown), this.unknownTo(unknown))
    }
    this.putByte(closeBrace)
    this.putByte(quote)
  }

  private putByte(byte: number): void {
    this.room(1)[this.end++] = byte
  }

  private putBytes(source: Uint8Array, from: number, to: number): void {
    const bytes = this.room(to - from)
    let { end } = this
    // A call costs more than a few bytes.
    if (to - from > 64) {
      bytes.set(source.subarray(from, to), end)
      this.end = end + to - from
      return
    }
    for (let at = from; at < to; at++) bytes[end++] = source[at]!
    this.end = end
  }

  /** Puts bytes of JSON as the content of a text. */
  private putEscaped(from: number, to: number): void {
    const bytes = this.room(2 * (to - from))
    const { source } = this
    let { end } = this
    for (let at = from; at < to; at++) {
      const byte = source[at]!
      if (byte === quote || byte === backslash) bytes[end++] = backslash
      bytes[end++] = byte
    }
    this.end = end
  }

  /** Puts the items of a list of plain values as a text, separated by commas. */
  private putJoined(from: number, to: number): void {
    const bytes = this.room(2 * (to - from))
    const { source } = this
    let { end } = this
    bytes[end++] = quote
    let isText = false
    for (let at = from + 1; at < to - 1; at++) {
      const byte = source[at]!
      if (byte === quote) {
        isText = !isText
        continue
      }
      bytes[end++] = byte
      if (isText && byte === backslash) bytes[end++] = source[++at]!
      else if (!isText && byte === comma) bytes[end++] = 32
    }
    bytes[end++] = quote
    this.end = end
  }

  private putText(text: string): void {
    const bytes = this.room(3 * text.length)
    this.end += bytes.write(text, this.end)
  }
}

const grown = (numbers: Int32Array): Int32Array<ArrayBuffer> => {
  const more = new Int32Array(2 * numbers.length)
  more.set(numbers)
  return more
}
