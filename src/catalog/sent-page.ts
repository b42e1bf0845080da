/**
 * Parses a page, but each of its records only when something is read of it: of most records, paging reads the id and a time.
 * To parse all of them costs more than everything else that a page goes through until it is stored.
 */
import { holdsLongNumbers, parseExact } from "./json.ts"
import * as Bytes from "./json-bytes.ts"

export interface SentPage {
  readonly body: unknown
  /** Whether it has numbers that a double cannot represent; see json.ts. */
  readonly hasBigNumbers: boolean
}

/** Smaller pages are parsed faster than they are searched. */
const bytesMin = 8 * 1024

/** `path`: of the list of records. Throws a SyntaxError, like `JSON.parse`. */
export const parsePage = (bytes: Buffer, path: string | undefined): SentPage => {
  const page = path === undefined || bytes.length < bytesMin ? undefined : new PageParser(bytes).page(path)
  if (page !== undefined) return page
  const text = bytes.toString("utf8")
  const hasBigNumbers = holdsLongNumbers(text)
  return { body: parseExact(text, hasBigNumbers), hasBigNumbers }
}

/** The bytes of the records: of the list at the path, or of the whole page if it has none there. */
export const recordsIn = (bytes: Buffer, path: string): Buffer => new PageParser(bytes).list(path) ?? bytes

class PageParser extends Bytes.JsonBytes {
  private hasBigNumbers = false

  constructor(bytes: Buffer) {
    super()
    this.bytes = bytes
  }

  /** `undefined` if there is no list at the path, or the page is not written as machines write JSON. */
  page(path: string): SentPage | undefined {
    try {
      const names = this.find(path)
      if (names === undefined) return undefined
      const from = this.at
      const records = this.records()
      const to = this.at
      this.leave(names)
      const around = `${this.bytes.toString("utf8", 0, from)}[]${this.bytes.toString("utf8", to)}`
      const body = path === "" ? records : withRecords(this.parsed(around), path, records)
      return { body, hasBigNumbers: this.hasBigNumbers }
    } catch (error) {
      if (error instanceof Bytes.Unreadable) return undefined
      throw error
    }
  }

  list(path: string): Buffer | undefined {
    try {
      const names = this.find(path)
      if (names === undefined) return undefined
      const from = this.at
      this.value()
      const to = this.at
      this.leave(names)
      return this.bytes.subarray(from, to)
    } catch (error) {
      if (error instanceof Bytes.Unreadable) return undefined
      throw error
    }
  }

  /** Moves to the list at the path. Returns the names whose objects are open; `undefined` if there is no list. */
  private find(path: string): ReadonlyArray<Buffer> | undefined {
    const names = path === "" ? [] : path.split(".").map((name) => Buffer.from(name))
    for (const name of names) this.enter(name)
    return this.token() === Bytes.openBracket ? names : undefined
  }

  private records(): ReadonlyArray<unknown> {
    const records: Array<unknown> = []
    if (this.isEmptyUntil(Bytes.closeBracket)) return records
    do {
      this.token()
      const from = this.at
      const kind = this.value()
      // The text of an exact record has no name twice, no escapes in names, and no long numbers.
      records.push(
        kind === Bytes.object
          ? new Proxy<Sent>({ bytes: this.bytes, from, to: this.at, parsed: undefined }, handler)
          : this.parsed(this.bytes.toString("utf8", from, this.at))
      )
    } while (this.hasNextItem(Bytes.closeBracket))
    return records
  }

  private parsed(text: string): unknown {
    // A number is recognised by what stands before it.
    const hasBigNumbers = holdsLongNumbers(`:${text}`)
    this.hasBigNumbers ||= hasBigNumbers
    return parseExact(text, hasBigNumbers)
  }
}

const withRecords = (body: unknown, path: string, records: ReadonlyArray<unknown>): unknown => {
  const names = path.split(".")
  let inside = body as Record<string, unknown>
  for (const name of names.slice(0, -1)) inside = inside[name] as Record<string, unknown>
  inside[names.at(-1)!] = records
  return body
}

/** A record in the bytes of its page. */
interface Sent {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
  parsed: object | undefined
}

const whole = (sent: Sent): object => (sent.parsed ??= JSON.parse(sent.bytes.toString("utf8", sent.from, sent.to)))

/** Finds the value of a name in the bytes; for everything else, the record is parsed. */
const handler: ProxyHandler<Sent> = {
  get: (sent, name) =>
    sent.parsed === undefined && typeof name === "string" && !(name in Object.prototype)
      ? memberOf(sent, name)
      : Reflect.get(whole(sent), name),
  has: (sent, name) => name in whole(sent),
  ownKeys: (sent) => Reflect.ownKeys(whole(sent)),
  getOwnPropertyDescriptor: (sent, name) => Reflect.getOwnPropertyDescriptor(whole(sent), name),
  getPrototypeOf: () => Object.prototype,
  set: () => false,
  defineProperty: () => false,
  deleteProperty: () => false
}

/** The value of a name in a record; `undefined` if it has none. The record is exact, so its bytes need no checks. */
const memberOf = ({ bytes, from }: Sent, name: string): unknown => {
  const wanted = bytesOf(name)
  // Behind the brace or the comma before a name.
  for (let at = from + 1; bytes[at] === Bytes.quote; at++) {
    const end = endOfText(bytes, at)
    const stop = endOfValue(bytes, end + 1)
    if (Bytes.isSame(wanted, bytes, at + 1, end - 1)) return JSON.parse(bytes.toString("utf8", end + 1, stop))
    at = stop
  }
  return undefined
}

/** Few names are read of records. */
const names = new Map<string, Buffer>()
const bytesOf = (name: string): Buffer => {
  const known = names.get(name)
  if (known !== undefined) return known
  const bytes = Buffer.from(name)
  names.set(name, bytes)
  return bytes
}

/** `at`: its opening quote. */
const endOfText = (bytes: Buffer, at: number): number => {
  let end = at + 1
  while (bytes[end] !== Bytes.quote) end += bytes[end] === Bytes.backslash ? 2 : 1
  return end + 1
}

const endOfValue = (bytes: Buffer, from: number): number => {
  let depth = 0
  for (let at = from; ;) {
    const byte = bytes[at]!
    if (byte === Bytes.quote) at = endOfText(bytes, at)
    else if (byte === Bytes.openBrace || byte === Bytes.openBracket) {
      depth++
      at++
    } else if (byte === Bytes.closeBrace || byte === Bytes.closeBracket) {
      // The end of the object around a number or a word.
      if (depth === 0) return at
      depth--
      at++
    } else if (depth === 0 && byte === Bytes.comma) return at
    else at++
    if (depth === 0 && (byte === Bytes.quote || byte === Bytes.closeBrace || byte === Bytes.closeBracket)) return at
  }
}
