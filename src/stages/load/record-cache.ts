/**
 * The hash of the row that each record became. A list that the service cannot filter is read whole, and most of its records
 * are the same as before: to recognise one by its text costs a tenth of what it costs to normalise it.
 *
 * The cache holds nothing but results of the normaliser, which depend on the record and the program alone. So it may be
 * incomplete, old or lost; a record counts as unchanged only if the warehouse has its id with the hash from the cache.
 */
import { hash } from "node:crypto"
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { at as valueAt } from "../../catalog/json.ts"
import type { Hashes } from "./known-rows.ts"
import { type Normalise, type Normalised, type Origin, hashNumber } from "./normalise/normalise.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { installed } from "../../values/installation.ts"

/** A pair of two times 8 bytes for each record: half of an account of a million records. */
const entriesMax = 500_000
const headerBytes = 32
const entryBytes = 16

export class RecordCache {
  private readonly path: string | undefined
  private readonly catalogue: Pick<Catalogue, "resources" | "folders">
  /** Texts and rows of an open hash table, as the numbers of their hashes. 0: free. */
  private texts = new Float64Array(4096)
  private rows = new Float64Array(4096)
  private size = 0
  private added: Array<number> = []
  private isRead = false
  /** The file has the entries before `added`; else the next save replaces it. */
  private isStored = false

  /** Tables with fewer rows are normalised faster than the file is read. */
  readonly rowsMin: number

  /** `path`: the file that keeps the cache for the next run. */
  constructor(catalogue: Pick<Catalogue, "resources" | "folders">, path?: string, rowsMin = 1000) {
    this.catalogue = catalogue
    this.path = path
    this.rowsMin = rowsMin
  }

  /** Recognises the records of a table with these rows; `undefined` if they are too few to be worth it. */
  normaliserOf(normalise: Normalise, origin: Origin, table: string, hashes: Hashes): Normalise | undefined {
    if (hashes.size < this.rowsMin) return undefined
    this.read()
    const place = JSON.stringify([table, origin])
    return (record) => {
      const text = textOf(place, record)
      const id = valueAt(record, "id")
      if (text === undefined || typeof id !== "string") return normalise(record, origin)
      const before = hashes.get(id)
      const at = placeOf(this.texts, text)
      if (before !== undefined && this.texts[at] === text && this.rows[at] === before) return unchanged(id, before)
      const result = normalise(record, origin)
      if (result.keyText === id && isPlain(result) && this.size < entriesMax && this.put(text, result.hashNumber))
        this.added.push(text, result.hashNumber)
      return result
    }
  }

  /** Stores what was added since the last save. The cache is worth no failure. */
  save(): void {
    if (this.path === undefined || this.added.length === 0) return
    try {
      if (this.isStored) appendFileSync(this.path, bytesOf(this.added))
      else writeFileSync(this.path, Buffer.concat([this.program(), bytesOf(this.entries())]), { mode: 0o600 })
      this.isStored = true
      this.added = []
    } catch {
      this.isStored = false
    }
  }

  private entries(): ReadonlyArray<number> {
    const entries: Array<number> = []
    for (let place = 0; place < this.texts.length; place++)
      if (this.texts[place] !== 0) entries.push(this.texts[place]!, this.rows[place]!)
    return entries
  }

  /** Reads the file, when the first record is looked up: a small account has no use for it. */
  private read(): void {
    if (this.isRead || this.path === undefined) return
    this.isRead = true
    try {
      const file = readFileSync(this.path)
      const count = (file.length - headerBytes) / entryBytes
      if (!file.subarray(0, headerBytes).equals(this.program()) || count > entriesMax) return
      for (let n = 0; n < Math.floor(count); n++) {
        const at = headerBytes + n * entryBytes
        this.put(file.readDoubleLE(at), file.readDoubleLE(at + entryBytes / 2))
      }
      // A torn write would shift the entries after it.
      this.isStored = Number.isInteger(count)
    } catch {
      // There is none yet.
    }
  }

  /** Whether the entry is new or different. */
  private put(text: number, row: number): boolean {
    const place = placeOf(this.texts, text)
    if (this.texts[place] === text && this.rows[place] === row) return false
    if (this.texts[place] === 0) this.size++
    this.texts[place] = text
    this.rows[place] = row
    if (this.size > this.texts.length / 2) this.grow()
    return true
  }

  private grow(): void {
    const [texts, rows] = [this.texts, this.rows]
    this.texts = new Float64Array(texts.length * 2)
    this.rows = new Float64Array(texts.length * 2)
    this.size = 0
    for (let place = 0; place < texts.length; place++) if (texts[place] !== 0) this.put(texts[place]!, rows[place]!)
  }

  /** Changes with everything that decides what a record becomes: the normaliser and the definitions. */
  private program(): Buffer {
    const own = ["stages/load/normalise", "catalog"].map((folder) => installed(`src/${folder}`))
    const files = [...own, ...(this.catalogue.folders ?? [])].flatMap(filesIn)
    const sources = files.map((file) => readFileSync(file, "utf8"))
    return Buffer.from(hash("sha256", [JSON.stringify(this.catalogue.resources), ...sources].join("\0"), "buffer"))
  }
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[jt]s$/.test(name))
    .toSorted()
    .map((name) => join(folder, name))

/** The place of a text, or a free one. The length of the table is a power of two. */
const placeOf = (texts: Float64Array, text: number): number => {
  // The operator & takes the low 32 bits; the remainder of numbers that are no small integers is slow.
  const mask = texts.length - 1
  let place = text & mask
  while (texts[place] !== 0 && texts[place] !== text) place = (place + 1) & mask
  return place
}

const bytesOf = (numbers: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.allocUnsafe(numbers.length * 8)
  for (let index = 0; index < numbers.length; index++) bytes.writeDoubleLE(numbers[index]!, index * 8)
  return bytes
}

/** A number for the text of a record where it was read; `undefined` if it is nested too deeply. */
const textOf = (place: string, record: unknown): number | undefined => {
  try {
    return hashNumber(hash("sha1", place + JSON.stringify(record), "hex")) || 1
  } catch {
    return undefined
  }
}

/** A record that became the row that the warehouse has. */
const unchanged = (id: string, hashNumber: number): Normalised => ({
  row: "",
  childTables: [],
  key: [id],
  keyText: id,
  hash: "",
  hashNumber,
  unknown: [],
  rejectedValues: [],
  roundedValues: [],
  unreadable: [],
  rejectedRecords: [],
  unlistedValues: []
})

/** Whether a record leaves nothing to report with each reading. */
const isPlain = ({
  row,
  unknown,
  rejectedValues,
  roundedValues,
  unreadable,
  rejectedRecords,
  unlistedValues
}: Normalised): boolean =>
  row !== undefined &&
  unknown.length + rejectedValues.length + roundedValues.length + unreadable.length + rejectedRecords.length === 0 &&
  !unlistedValues.some(({ hasList }) => hasList)
