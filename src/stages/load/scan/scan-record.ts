/**
 * Reads a record as bytes into the row that the normaliser makes of it, to the byte, without making a value of it. Values
 * that are not written as a row has them go through the converters of the normaliser, one by one. Whatever needs more than a
 * row and a note of unknown fields is declined: rejected values and records, repeated names and keys, aliases that differ.
 * The normaliser reads it then, so it remains the one authority.
 */
import type { Limits } from "../../../values/limits.ts"
import { parseExact } from "../../../catalog/json.ts"
import { rejected, readable } from "../../../catalog/convert.ts"
import type { Child, Shape } from "../normalise/compile-fields.ts"
import * as Bytes from "../../../catalog/json-bytes.ts"
import * as Fields from "./byte-fields.ts"
import type { ByteChild, ByteField, ByteFields } from "./byte-fields.ts"
import { isDay, isInstant } from "./bytes-of-times.ts"
import * as Rows from "./rows-in-bytes.ts"

/** Thrown at a record that the normaliser must read. It has no stack, which would cost more than the record. */
const declined = Symbol("declined")

export class RecordScanner extends Bytes.JsonBytes {
  readonly rows = new Rows.RowsInBytes()
  protected readonly shape: Shape
  protected readonly limits: Limits["load"]
  private readonly fields: ByteFields
  private objects = 0
  private identities = new Int32Array(64)
  /** JSON of the location's id. */
  private location: Uint8Array = Buffer.alloc(0)

  constructor(shape: Shape, fields: ByteFields, limits: Limits["load"]) {
    super()
    this.limits = limits
    this.shape = shape
    this.fields = fields
  }

  protected open(bytes: Buffer, location: string): void {
    this.bytes = bytes
    this.rows.source = bytes
    this.location = Buffer.from(JSON.stringify(location))
    this.at = 0
    this.rows.startOver()
  }

  /** Reads the record at hand into row 0; false if it is declined. Throws `Unreadable` if it is not JSON. */
  protected read(): boolean {
    this.rows.clear()
    try {
      if (this.token() !== Bytes.openBrace) return false
      this.visit(this.fields, this.rows.add(this.shape), true, undefined)
      return true
    } catch (error) {
      if (error === declined) return false
      throw error
    }
  }

  /** The texts of columns, if the object at hand itself has each of them once, as it is stored. No row is made. */
  protected textsOf(places: ReadonlyArray<number>): ReadonlyArray<string> | undefined {
    if (this.token() !== Bytes.openBrace || this.isEmptyUntil(Bytes.closeBrace)) return undefined
    const { bytes } = this
    const texts = new Map<number, string>()
    do {
      if (this.token() !== Bytes.quote) throw new Bytes.Unreadable()
      const nameFrom = this.at + 1
      if (this.text() !== Bytes.plainText) return undefined
      const field = this.fields.find(bytes, nameFrom, this.at - 1, this.textHash)
      this.expect(Bytes.colon)
      this.token()
      const from = this.at + 1
      const kind = this.value()
      if (field?.use === Fields.isDeclined) return undefined
      if (field?.use !== Fields.inColumn || places.every((place) => place !== field.place)) continue
      if (kind !== Bytes.plainText || field.type !== Fields.asText || texts.has(field.place)) return undefined
      texts.set(field.place, bytes.toString("utf8", from, this.at - 1))
    } while (this.hasNextItem(Bytes.closeBrace))
    const found = places.flatMap((place) => texts.get(place) || [])
    return found.length === places.length ? found : undefined
  }

  /** Reads the fields of an object. Returns whether it is empty, or a definition names one of them. */
  private visit(fields: ByteFields, row: number, keepsUnknown: boolean, rest: ByteChild | undefined): boolean {
    if (this.isEmptyUntil(Bytes.closeBrace)) return true
    const { bytes } = this
    const object = ++this.objects
    let isKnown = false
    do {
      if (this.token() !== Bytes.quote) throw new Bytes.Unreadable()
      const from = this.at + 1
      if (this.text() !== Bytes.plainText) throw declined
      const to = this.at - 1
      const field = fields.find(bytes, from, to, this.textHash)
      this.expect(Bytes.colon)
      this.token()
      if (field === undefined || field.use === Fields.isUnknown) {
        if (this.isNumber(from)) throw declined
        if (rest !== undefined) this.restOf(rest, row, from, to)
        else this.unknown(field ?? this.learn(fields, from, to), row, keepsUnknown, object)
        continue
      }
      isKnown = true
      // JSON.parse keeps the last of several values.
      if (field.foundIn === object) throw declined
      field.foundIn = object
      this.place(field, row, keepsUnknown)
    } while (this.hasNextItem(Bytes.closeBrace))
    return isKnown
  }

  private learn(fields: ByteFields, from: number, to: number): ByteField {
    const learnt = fields.learn(this.bytes.toString("utf8", from, to))
    if (learnt === undefined) throw declined
    return learnt
  }

  private unknown(field: ByteField, row: number, keepsUnknown: boolean, object: number): void {
    if (field.foundIn === object) throw declined
    field.foundIn = object
    const from = this.at
    const kind = this.value()
    if (!keepsUnknown) return
    if (!Bytes.isExact(kind)) throw declined
    this.rows.addUnknown(row, field.unknown!, from, this.at)
  }

  private restOf(rest: ByteChild, row: number, from: number, to: number): void {
    this.rows.begin(row, rest.place)
    this.child(rest, row, from, to)
  }

  private place(field: ByteField, row: number, keepsUnknown: boolean): void {
    const first = this.bytes[this.at]
    if (first === letterN) return void this.value()
    switch (field.use) {
      case Fields.inColumn:
        return this.column(field, row)
      case Fields.skipped:
        return void this.value()
      case Fields.isLocation:
        return this.locationId(field, row)
      case Fields.inObject:
        return this.object(field, row, keepsUnknown, first === Bytes.openBrace, first === Bytes.openBracket)
      case Fields.inChild:
        return this.children(field.child!, row)
      default:
        throw declined
    }
  }

  private locationId(field: ByteField, row: number): void {
    const { location } = this
    const from = this.at
    const kind = this.value()
    let isSame = this.at - from === location.length
    for (let n = 0; isSame && n < location.length; n++) isSame = this.bytes[from + n] === location[n]
    if (isSame) return
    if (!Bytes.isExact(kind)) throw declined
    this.rows.addUnknown(row, field.unknown!, from, this.at)
  }

  private object(field: ByteField, row: number, keepsUnknown: boolean, isObject: boolean, isList: boolean): void {
    const { plain, whole } = field
    if (!isObject) {
      if (plain !== undefined && !isList) return this.place(plain, row, keepsUnknown)
      if (whole !== undefined) return this.place(whole, row, keepsUnknown)
      throw declined
    }
    if (whole !== undefined) {
      const start = this.at
      this.place(whole, row, keepsUnknown)
      this.at = start
    }
    const hasKnown = this.visit(field.inside!, row, keepsUnknown && whole === undefined, field.rest)
    if (!hasKnown && whole !== undefined && plain !== undefined) throw declined
  }

  private column(field: ByteField, row: number): void {
    const { rows } = this
    const from = this.at
    const kind = this.value()
    const to = this.at
    const how = this.howToHold(field.type, kind, from, to)
    if (how === Rows.absent && isEmptyText(kind, from, to) && field.type !== Fields.asText) return
    if (rows.howOf(row, field.place) !== Rows.absent) return this.again(field, row, how, kind, from, to)
    if (how === Rows.absent) return this.convert(field, row, from, to)
    if (how === Rows.quoted || how === Rows.asJsonText || how === Rows.copied) rows.set(row, field.place, how, from, to)
    if (field.textPlace < 0) return
    rows.set(row, field.textPlace, this.howToShow(kind, from, to), from, to)
  }

  /** How the text for people holds a value. See `readable`. */
  private howToShow(kind: number, from: number, to: number): number {
    if (kind === Bytes.plainText || kind === Bytes.escapedText) return Rows.copied
    if (kind <= Bytes.fraction) return Rows.quoted
    return kind === Bytes.list && isOfPlainValues(this.bytes, from, to) ? Rows.joined : Rows.asJsonText
  }

  /** The first of several aliases that has a value counts; another one that differs is rejected. */
  private again(field: ByteField, row: number, how: number, kind: number, from: number, to: number): void {
    const { bytes, rows } = this
    if (isEmptyText(kind, from, to) && field.type !== Fields.asJson) return
    const before = rows.fromOf(row, field.place)
    if (
      how === Rows.absent ||
      rows.howOf(row, field.place) !== how ||
      rows.toOf(row, field.place) - before !== to - from
    )
      throw declined
    for (let n = 0; n < to - from; n++) if (bytes[before + n] !== bytes[from + n]) throw declined
  }

  /** How the column holds a value; `absent` if the converter must decide, or for an empty text that is no value. */
  private howToHold(type: number, kind: number, from: number, to: number): number {
    switch (type) {
      case Fields.asText:
        if (kind === Bytes.plainText || kind === Bytes.escapedText) return Rows.copied
        return kind <= Bytes.fraction ? Rows.quoted : Rows.absent
      case Fields.asInstant:
        return kind === Bytes.plainText && isInstant(this.bytes, from + 1, to - 1) ? Rows.copied : Rows.absent
      case Fields.asDate:
        return kind === Bytes.plainText && isDay(this.bytes, from + 1, to - 1) ? Rows.copied : Rows.absent
      case Fields.asDecimal:
        return kind === Bytes.integer || kind === Bytes.fraction ? Rows.quoted : Rows.absent
      case Fields.asCount:
        return kind === Bytes.integer ? Rows.copied : Rows.absent
      case Fields.asFlag:
        return kind === Bytes.truth ? Rows.copied : Rows.absent
      default:
        return Bytes.isExact(kind) ? Rows.asJsonText : Rows.absent
    }
  }

  private convert(field: ByteField, row: number, from: number, to: number): void {
    const value = this.parsed(from, to)
    const converted = field.convert!(value)
    if (converted === null) return
    if (converted === rejected || typeof converted === "object" || typeof converted === "symbol") throw declined
    this.rows.setText(row, field.place, typeof converted === "string" ? this.checked(converted) : String(converted))
    if (field.textPlace >= 0) this.rows.setText(row, field.textPlace, this.checked(readable(value)))
  }

  protected parsed(from: number, to: number): unknown {
    return parseExact(this.bytes.toString("utf8", from, to), true)
  }

  /** The JSON of a text; declined if it has characters that the normaliser replaces or refuses. */
  private checked(text: string): string {
    if (!text.isWellFormed() || text.includes("\ufffd") || text.includes("\0")) throw declined
    return JSON.stringify(text)
  }

  private children(child: ByteChild, row: number): void {
    const close = child.isList ? Bytes.closeBracket : Bytes.closeBrace
    if (this.bytes[this.at] !== (child.isList ? Bytes.openBracket : Bytes.openBrace)) throw declined
    const { rows } = this
    rows.begin(row, child.place)
    if (this.isEmptyUntil(close)) return
    do {
      let [from, to] = [0, 0]
      if (!child.isList) {
        if (this.token() !== Bytes.quote) throw new Bytes.Unreadable()
        from = this.at + 1
        if (this.text() !== Bytes.plainText || this.isNumber(from)) throw declined
        to = this.at - 1
        this.expect(Bytes.colon)
      }
      this.token()
      this.child(child, row, from, to)
    } while (this.hasNextItem(close))
  }

  /** Reads an item into a row of a child table. The key is that of an object's member. */
  private child(child: ByteChild, row: number, keyFrom: number, keyTo: number): void {
    const { rows } = this
    const { shape } = child
    const item = rows.add(shape)
    const position = rows.nextItem(row, child.place)
    const first = this.bytes[this.at]
    if (first === Bytes.openBrace && !shape.scalar) this.visit(child.fields, item, true, undefined)
    else if (child.plain !== undefined && first !== letterN && (shape.scalar || first !== Bytes.openBracket))
      this.place(child.plain, item, true)
    else throw declined
    for (const [place, printed] of child.constants) rows.setText(item, place, printed)
    if (shape.keyColumnPlace !== undefined) rows.set(item, shape.keyColumnPlace, Rows.copied, keyFrom - 1, keyTo + 1)
    if (shape.positionPlace !== undefined) rows.set(item, shape.positionPlace, Rows.numbered, position, 0)
    else this.identify(shape, item, rows.fromOf(row, child.place))
    rows.append(row, child.place, item)
    for (const table of shape.below) this.hoist(table, shape, item, row)
  }

  /** Declines rows without a key, and rows that may have the key of another one in their list. */
  private identify(shape: Child, item: number, first: number): void {
    const { bytes, rows } = this
    let identity = Bytes.hashSeed
    for (const place of shape.keyPlaces) {
      const how = rows.howOf(item, place)
      if (how !== Rows.copied && how !== Rows.quoted) {
        // A constant is part of the key; a converted value may be printed in several ways.
        if (how !== Rows.owned || !shape.constants.some(([own]) => own === place)) throw declined
        continue
      }
      const isText = how === Rows.copied && bytes[rows.fromOf(item, place)] === Bytes.quote
      const to = rows.toOf(item, place) - (isText ? 1 : 0)
      for (let at = rows.fromOf(item, place) + (isText ? 1 : 0); at < to; at++)
        identity = Math.imul(identity ^ bytes[at]!, Bytes.hashFactor)
      identity = Math.imul(identity ^ Bytes.quote, Bytes.hashFactor)
    }
    while (item >= this.identities.length) {
      const more = new Int32Array(2 * this.identities.length)
      more.set(this.identities)
      this.identities = more
    }
    this.identities[item] = identity
    let compared = 0
    for (let other = first; other !== -1; other = rows.nextOf(other))
      if (this.identities[other] === identity || this.limits.scannedRows.isExceededBy(++compared)) throw declined
  }

  /** Moves the rows of a table below a child table beside it, with its id. */
  private hoist(table: string, shape: Child, inner: number, outer: number): void {
    const { rows } = this
    const from = rows.shapeOf(inner).places.of(table)
    if (rows.howOf(inner, from) !== Rows.childRows) return
    const to = rows.shapeOf(outer).places.of(table)
    const idPlace = rows.shapeOf(inner).places.get("id")
    let next = rows.fromOf(inner, from)
    rows.remove(inner, from)
    rows.begin(outer, to)
    while (next !== -1) {
      const row = next
      next = rows.nextOf(row)
      rows.detach(row)
      const place = rows.shapeOf(row).places.of(shape.idColumn)
      if (idPlace !== undefined && rows.howOf(row, place) === Rows.absent && rows.howOf(inner, idPlace) !== Rows.absent)
        rows.copy(row, place, inner, idPlace)
      rows.append(outer, to, row)
    }
  }
}

/** Whether the items of a list are texts, numbers and truth values. */
const isOfPlainValues = (bytes: Uint8Array, from: number, to: number): boolean => {
  for (let at = from + 1; at < to - 1; at++) {
    const byte = bytes[at]!
    if (byte === Bytes.quote) {
      at++
      while (bytes[at] !== Bytes.quote) at += bytes[at] === Bytes.backslash ? 2 : 1
    } else if (byte === Bytes.openBrace || byte === Bytes.openBracket || byte === letterN) return false
  }
  return true
}

const isEmptyText = (kind: number, from: number, to: number): boolean => kind === Bytes.plainText && to - from === 2

const letterN = 110
