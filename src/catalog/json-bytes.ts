/**
 * Walks JSON in bytes without making values. It tells of each value whether its text is exact: the text that JSON.stringify
 * prints of it, so that the bytes may be copied in its place. Whatever is not certain is not exact.
 */

/** What a value is. All but the last four are exact. */
export const nothing = 0
export const truth = 1
export const integer = 2
export const fraction = 3
/** A string without escapes. */
export const plainText = 4
/** A string with escapes such as `\n`, and no others. */
export const escapedText = 5
export const list = 6
export const object = 7
/** A number that is not written in its shortest form, or that a double may not hold. */
export const oddNumber = 8
/** A string with escapes that JSON.stringify does not write. */
export const oddText = 9
export const oddList = 10
export const oddObject = 11

export const isExact = (kind: number): boolean => kind < oddNumber

/** Thrown at what is not JSON, or is nested deeper than any record of the service. */
export class Unreadable extends Error {}

const depthMax = 64
/** Keys of a free-form object that are compared with each other. */
const keysMax = 64

const none = Buffer.alloc(0)

export class JsonBytes {
  protected bytes: Buffer = none
  protected at = 0
  /** Hashes of the keys of all open objects. */
  private readonly keys = new Int32Array(depthMax * (keysMax + 1))
  private keysEnd = 0
  /** Describes the string that was walked last. */
  protected textHash = 0

  /** The next byte that is not blank. */
  protected token(): number {
    const { bytes } = this
    let byte = bytes[this.at]!
    while (byte === 32 || byte === 10 || byte === 13 || byte === 9) byte = bytes[++this.at]!
    return byte
  }

  protected expect(byte: number): void {
    if (this.token() !== byte) throw new Unreadable()
    this.at++
  }

  /** Whether another item follows in the list or object that `close` ends; moves behind the comma or the end. */
  protected hasNextItem(close: number): boolean {
    const byte = this.token()
    this.at++
    if (byte === comma) return true
    if (byte === close) return false
    throw new Unreadable()
  }

  /** Whether the list or object at hand is empty; moves behind its beginning, and behind its end if so. */
  protected isEmptyUntil(close: number): boolean {
    this.at++
    if (this.token() !== close) return false
    this.at++
    return true
  }

  /** Moves to the value of a name. */
  protected enter(name: Uint8Array): void {
    this.expect(openBrace)
    do {
      if (this.isKey(name)) return
      this.value()
    } while (this.hasNextItem(closeBrace))
    throw new Unreadable()
  }

  /** Moves to the end of the page, where no name of the path is repeated: JSON.parse would take the last one. */
  protected leave(path: ReadonlyArray<Uint8Array>): void {
    for (const name of path.toReversed())
      while (this.hasNextItem(closeBrace)) {
        if (this.isKey(name)) throw new Unreadable()
        this.value()
      }
    this.token()
    if (this.at !== this.bytes.length) throw new Unreadable()
  }

  /** Whether the key at hand is the name; moves behind its colon. */
  private isKey(name: Uint8Array): boolean {
    if (this.token() !== quote) throw new Unreadable()
    const from = this.at + 1
    if (this.text() !== plainText) throw new Unreadable()
    const end = this.at - 1
    this.expect(colon)
    return isSame(name, this.bytes, from, end)
  }

  /** Moves behind a value, and returns what it is. */
  protected value(depth = 0): number {
    switch (this.token()) {
      case quote:
        return this.text()
      case openBrace:
        return this.anyObject(depth)
      case openBracket:
        return this.anyList(depth)
      case 116:
        return this.word(4, truth)
      case 102:
        return this.word(5, truth)
      case 110:
        return this.word(4, nothing)
      default:
        return this.number()
    }
  }

  private word(length: number, kind: number): number {
    const { bytes, at } = this
    const word = length === 5 ? falseBytes : kind === truth ? trueBytes : nullBytes
    for (let n = 0; n < length; n++) if (bytes[at + n] !== word[n]) throw new Unreadable()
    this.at = at + length
    return kind
  }

  protected text(): number {
    const { bytes } = this
    let at = this.at + 1
    let kind = plainText
    let hash = hashSeed
    for (;;) {
      const byte = bytes[at]!
      if (byte === quote) break
      if (byte === backslash) {
        const escaped = bytes[at + 1]!
        if (isSimpleEscape[escaped] === 0) {
          if (escaped !== 117 && escaped !== 47) throw new Unreadable()
          kind = oddText
        } else if (kind === plainText) kind = escapedText
        at += 2
        hash = Math.imul(hash ^ escaped, hashFactor)
      } else {
        // The end of the bytes, or a control character.
        if (!(byte >= 32)) throw new Unreadable()
        hash = Math.imul(hash ^ byte, hashFactor)
        at++
      }
    }
    this.at = at + 1
    this.textHash = hash
    return kind
  }

  private number(): number {
    const { bytes } = this
    const start = this.at
    let at = start
    const isNegative = bytes[at] === 45
    if (isNegative) at++
    const digits = at
    while (isDigit(bytes[at]!)) at++
    const whole = at - digits
    if (whole === 0 || (whole > 1 && bytes[digits] === 48)) throw new Unreadable()
    let kind = isNegative && whole === 1 && bytes[digits] === 48 ? oddNumber : integer
    if (bytes[at] === 46) {
      const point = at++
      while (isDigit(bytes[at]!)) at++
      const decimals = at - point - 1
      if (decimals === 0) throw new Unreadable()
      kind = decimals > 6 || bytes[at - 1] === 48 ? oddNumber : fraction
    }
    if (bytes[at] === 101 || bytes[at] === 69) {
      at++
      if (bytes[at] === 43 || bytes[at] === 45) at++
      const exponent = at
      while (isDigit(bytes[at]!)) at++
      if (at === exponent) throw new Unreadable()
      kind = oddNumber
    }
    this.at = at
    // A double holds 15 digits.
    return at - digits > 15 ? oddNumber : kind
  }

  private anyList(depth: number): number {
    if (depth > depthMax) throw new Unreadable()
    const start = this.at
    if (this.isEmptyUntil(closeBracket)) return this.at - start === 2 ? list : oddList
    let kind = list
    do {
      if (this.isBlank() || !isExact(this.value(depth + 1)) || this.isBlank()) kind = oddList
    } while (this.hasNextItem(closeBracket))
    return kind
  }

  private anyObject(depth: number): number {
    if (depth > depthMax) throw new Unreadable()
    const start = this.at
    if (this.isEmptyUntil(closeBrace)) return this.at - start === 2 ? object : oddObject
    const keysStart = this.keysEnd
    let kind = object
    do {
      if (this.isBlank()) kind = oddObject
      if (this.token() !== quote) throw new Unreadable()
      const from = this.at + 1
      if (this.text() !== plainText || this.isNumber(from) || !this.isNewKey(keysStart) || this.isBlank())
        kind = oddObject
      this.expect(colon)
      if (this.isBlank() || !isExact(this.value(depth + 1)) || this.isBlank()) kind = oddObject
    } while (this.hasNextItem(closeBrace))
    this.keysEnd = keysStart
    return kind
  }

  /** Whether the text that was walked last, from a place on, consists of digits. JavaScript puts such names first. */
  protected isNumber(from: number): boolean {
    const { bytes } = this
    let at = from
    while (isDigit(bytes[at]!)) at++
    return bytes[at] === quote
  }

  private isBlank(): boolean {
    const byte = this.bytes[this.at]!
    return byte <= 32
  }

  /** Whether the key that was walked last differs from those before it in its object. Few keys have the same hash. */
  private isNewKey(start: number): boolean {
    const { keys, keysEnd, textHash } = this
    if (keysEnd - start > keysMax) return false
    for (let place = start; place < keysEnd; place++) if (keys[place] === textHash) return false
    keys[this.keysEnd++] = textHash
    return true
  }
}

export const isDigit = (byte: number): boolean => byte >= 48 && byte <= 57

/** Whether a text has these bytes. */
export const isSame = (text: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean => {
  if (text.length !== to - from) return false
  for (let n = 0; n < text.length; n++) if (text[n] !== bytes[from + n]) return false
  return true
}

/** The hash of FNV-1a, of 32 bits. */
export const hashSeed = 0x811c9dc5 | 0
export const hashFactor = 16777619
export const hashOf = (bytes: Uint8Array): number => {
  let hash = hashSeed
  for (const byte of bytes) hash = Math.imul(hash ^ byte, hashFactor)
  return hash
}

const codeOf = (character: string) => character.charCodeAt(0)
export const quote = codeOf('"')
export const backslash = codeOf("\\")
export const comma = codeOf(",")
export const colon = codeOf(":")
export const openBrace = codeOf("{")
export const closeBrace = codeOf("}")
export const openBracket = codeOf("[")
export const closeBracket = codeOf("]")

const [trueBytes, falseBytes, nullBytes] = [Buffer.from("true"), Buffer.from("false"), Buffer.from("null")]

const isSimpleEscape = new Uint8Array(256)
for (const character of '"\\bfnrt') isSimpleEscape[codeOf(character)] = 1
