/**
 * What was read of each row of a vault, in 23 bytes for each slot outside of the heap: a vault of years has millions of rows,
 * and a map of texts takes twenty times as much. Rows are known by 64 bits of their hash. Two rows with the same ones only look
 * as if they had changed, which keeps their records.
 */
import { hash } from "node:crypto"

/** The fingerprint of a record: 64 bits of its hash. */
export interface Fingerprint {
  readonly high: number
  readonly low: number
}

export const fingerprintOf = (text: string): Fingerprint => {
  const bytes = hash("sha256", text, "buffer")
  return { high: bytes.readUInt32LE(0), low: bytes.readUInt32LE(4) }
}

const isUsed = 1
const isAmbiguous = 2
/** Whether the fingerprint is that of the last version. */
const isKnown = 4

export class RowStates {
  #size = 0
  #slots = slotsOf(1 << 12)
  readonly #runs = new Map<string, number>()
  readonly #tables = new Map<string, number>()

  /** Notes a version that a run read. A row of which one run reads several versions is ambiguous from then on. */
  see(table: string, row: string, run: string, { high, low }: Fingerprint): void {
    const slot = this.#slotOf(table, row)
    const { flags, highs, lows, runs } = this.#slots
    const number = numberOf(this.#runs, run)
    const isOther = highs[slot] !== high || lows[slot] !== low
    if (flags[slot]! & isKnown && isOther && runs[slot] === number) flags[slot]! |= isAmbiguous
    this.#set(slot, high, low)
    runs[slot] = number
  }

  /** Forgets the versions, but not which rows are ambiguous. */
  forgetVersions(): void {
    const { flags } = this.#slots
    for (let slot = 0; slot < flags.length; slot++) flags[slot]! &= ~isKnown
  }

  /** Notes the version of a row, and returns whether it is the one that was noted last, and the row not ambiguous. */
  isRepeated(table: string, row: string, { high, low }: Fingerprint): boolean {
    const slot = this.#slotOf(table, row)
    const { flags, highs, lows } = this.#slots
    const isSame = (flags[slot]! & isKnown) !== 0 && highs[slot] === high && lows[slot] === low
    this.#set(slot, high, low)
    return isSame && (flags[slot]! & isAmbiguous) === 0
  }

  /** Forgets the version of a row. */
  forget(table: string, row: string): void {
    const slot = this.#slotOf(table, row)
    this.#slots.flags[slot]! &= ~isKnown
  }

  /** Forgets the versions of all rows of some tables. */
  forgetTables(tables: ReadonlySet<string>): void {
    const numbers = new Set([...tables].map((table) => this.#tables.get(table)))
    const { flags, tables: of } = this.#slots
    for (let slot = 0; slot < flags.length; slot++) if (numbers.has(of[slot])) flags[slot]! &= ~isKnown
  }

  #set(slot: number, high: number, low: number): void {
    const { flags, highs, lows } = this.#slots
    highs[slot] = high
    lows[slot] = low
    flags[slot]! |= isKnown
  }

  /** The slot of a row, which is added if it is new. */
  #slotOf(table: string, row: string): number {
    const { high, low } = fingerprintOf(`${table}\n${row}`)
    const found = slotFor(this.#slots, high, low)
    if (this.#slots.flags[found]! & isUsed) return found
    if (this.#size++ >= this.#slots.flags.length / 2) this.#grow()
    const slot = slotFor(this.#slots, high, low)
    const { flags, keyHighs, keyLows, tables } = this.#slots
    keyHighs[slot] = high
    keyLows[slot] = low
    flags[slot] = isUsed
    tables[slot] = numberOf(this.#tables, table)
    return slot
  }

  #grow(): void {
    const old = this.#slots
    const grown = slotsOf(old.flags.length * 2)
    for (let from = 0; from < old.flags.length; from++)
      if (old.flags[from]! & isUsed) {
        const to = slotFor(grown, old.keyHighs[from]!, old.keyLows[from]!)
        for (const part of parts) grown[part][to] = old[part][from]!
      }
    this.#slots = grown
  }
}

const slotsOf = (length: number) => ({
  keyHighs: new Uint32Array(length),
  keyLows: new Uint32Array(length),
  highs: new Uint32Array(length),
  lows: new Uint32Array(length),
  runs: new Uint32Array(length),
  tables: new Uint16Array(length),
  flags: new Uint8Array(length)
})
type Slots = ReturnType<typeof slotsOf>
const parts = ["keyHighs", "keyLows", "highs", "lows", "runs", "tables", "flags"] as const

/** The slot with this key, or the free one where it belongs. */
const slotFor = ({ flags, keyHighs, keyLows }: Slots, high: number, low: number): number => {
  const mask = flags.length - 1
  let slot = low & mask
  while (flags[slot]! & isUsed && (keyHighs[slot] !== high || keyLows[slot] !== low)) slot = (slot + 1) & mask
  return slot
}

const numberOf = (numbers: Map<string, number>, text: string): number => {
  const known = numbers.get(text)
  if (known !== undefined) return known
  numbers.set(text, numbers.size)
  return numbers.size - 1
}
