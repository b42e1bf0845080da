import { shownTexts } from "./shown-texts.ts"

export type Data = Record<string, unknown>

/** One version of one record. A change creates a new entry, so a list that was read earlier keeps the earlier version. */
export interface Entry {
  readonly id: string | null
  /** The parent: the contact of a note, the conversation of a message. */
  readonly parent: string | null
  /** A number that lists filter by without building the record: the type of a message. */
  readonly kind: number
  readonly created: number
  readonly updated: number
  /** The date of the last message of a conversation. */
  readonly last: number
  /** The index of a seeded record, which is built when first read; or the record itself after a write. */
  readonly source: number | Data
  full: string | undefined
  list: string | undefined
  dead: boolean
}

/** The order of a list: by a key of the entry, then by id. `name` identifies the order in the cache of lists. */
export interface Order {
  readonly name: string
  readonly key: (entry: Entry) => number | string
}

export interface Filter {
  /** Filters with the same key accept the same entries. */
  readonly key: string
  readonly test: (entry: Entry) => boolean
}

export const byCreated: Order = { name: "created", key: (entry) => entry.created }
export const byUpdated: Order = { name: "updated", key: (entry) => entry.updated }
export const byLast: Order = { name: "last", key: (entry) => entry.last }

export const entry = (fields: Partial<Entry> & Pick<Entry, "id" | "created" | "source">): Entry => ({
  id: fields.id,
  parent: fields.parent ?? null,
  kind: fields.kind ?? 0,
  created: fields.created,
  updated: fields.updated ?? fields.created,
  last: fields.last ?? 0,
  source: fields.source,
  full: undefined,
  list: undefined,
  dead: false
})

/** How the records of a collection are built from their entries, and shown in single reads and in lists. */
export interface Shapes {
  readonly build: (entry: Entry) => Data
  /** The form of a single read. */
  readonly full?: (data: Data) => Data
  /** The form in a list; by default the full form. */
  readonly list?: (data: Data) => Data
}

/** A form without the named fields: JSON omits undefined values. */
export const without = (...names: ReadonlyArray<string>): ((data: Data) => Data) => {
  const absent = Object.fromEntries(names.map((name) => [name, undefined]))
  return (data) => ({ ...data, ...absent })
}

/** All records of one kind, their sorted lists, and their JSON, which is kept for a while when it was shown. */
export class Collection {
  readonly shapes: Shapes
  readonly #byId = new Map<string, Entry>()
  #byParent: Map<string, Array<Entry>> | undefined
  /** Every entry ever added. Each cached list records how far it has read this, so a write costs it one merge. */
  readonly #log: Array<Entry> = []
  #removals = 0
  readonly #indexes = new Map<string, { read: number; byKey: Map<string, Array<Entry>> }>()
  readonly #lists = new Map<string, { rows: ReadonlyArray<Entry>; read: number; removals: number }>()
  #finish: ((data: Data, entry: Entry) => Data) | undefined
  readonly #unfinished = new Set<Entry>()

  constructor(shapes: Shapes) {
    this.shapes = shapes
  }

  get size(): number {
    return this.#byId.size
  }

  get(id: string): Entry | undefined {
    return this.#byId.get(id)
  }

  /** The entries that can be read by id, in the order of their creation in the sandbox. */
  live(): IteratorObject<Entry> {
    return this.#log.values().filter((entry) => !entry.dead && entry.id !== null && this.#byId.get(entry.id) === entry)
  }

  /** All entries ever, including changed and deleted versions. */
  allVersions(): IteratorObject<Entry> {
    return this.#log.values()
  }

  /** Entries that lists show but single reads do not find: records without an id, and stale copies. */
  orphans(): IteratorObject<Entry> {
    return this.#log.values().filter((entry) => !entry.dead && this.#byId.get(entry.id ?? "") !== entry)
  }

  children(parent: string): ReadonlyArray<Entry> {
    if (this.#byParent === undefined) {
      this.#byParent = new Map()
      for (const entry of this.live()) this.#addToParent(entry)
    }
    return this.#byParent.get(parent)?.filter((entry) => !entry.dead) ?? []
  }

  /** The live entries whose key is `wanted`. The index is built on the first call, and extended on later ones. */
  lookup(name: string, keyOf: (data: Data) => string | undefined, wanted: string): ReadonlyArray<Entry> {
    const index = this.#indexes.get(name) ?? { read: 0, byKey: new Map<string, Array<Entry>>() }
    this.#indexes.set(name, index)
    for (; index.read < this.#log.length; index.read++) {
      const entry = this.#log[index.read]!
      if (entry.dead || entry.id === null || this.#byId.get(entry.id) !== entry) continue
      const key = keyOf(this.data(entry))
      if (key === undefined) continue
      const alike = index.byKey.get(key)
      if (alike === undefined) index.byKey.set(key, [entry])
      else alike.push(entry)
    }
    return index.byKey.get(wanted)?.filter((entry) => !entry.dead) ?? []
  }

  add(entry: Entry): Entry {
    if (entry.id !== null) this.#byId.set(entry.id, entry)
    this.#log.push(entry)
    this.#addToParent(entry)
    return entry
  }

  /** Adds an entry that lists show but single reads do not find. */
  addOrphan(entry: Entry): void {
    this.#log.push(entry)
  }

  replace(old: Entry, next: Entry): Entry {
    this.#markRemoved(old)
    return this.add(next)
  }

  remove(entry: Entry): void {
    this.#markRemoved(entry)
    if (entry.id !== null) this.#byId.delete(entry.id)
  }

  data(entry: Entry): Data {
    const isBuilt = typeof entry.source === "number"
    const data = typeof entry.source === "number" ? this.shapes.build(entry) : entry.source
    return this.#finish !== undefined && (isBuilt || this.#unfinished.has(entry)) ? this.#finish(data, entry) : data
  }

  /** Changes all seeded records, when each is read. Records that are written later are left as they are. */
  finish(change: (data: Data, entry: Entry) => Data): void {
    this.#finish = change
    for (const entry of this.#log) if (typeof entry.source !== "number") this.#unfinished.add(entry)
  }

  full(entry: Entry): string {
    const { full } = this.shapes
    const make = () => JSON.stringify(full === undefined ? this.data(entry) : full(this.data(entry)))
    return shownTexts.of(entry, "full", make)
  }

  list(entry: Entry): string {
    const { list } = this.shapes
    if (list === undefined) return this.full(entry)
    return shownTexts.of(entry, "list", () => JSON.stringify(list(this.data(entry))))
  }

  /** The matching entries in ascending order. The array never changes, so it can be kept as a snapshot. */
  sorted(order: Order, filter?: Filter): ReadonlyArray<Entry> {
    const name = `${order.name} ${filter?.key ?? ""}`
    const known = this.#lists.get(name) ?? { rows: [], read: 0, removals: this.#removals }
    this.#lists.delete(name)
    this.#lists.set(name, known)
    if (known.read < this.#log.length || known.removals < this.#removals) {
      const stayed = known.rows.filter((entry) => !entry.dead)
      const came = this.#log.slice(known.read).filter((entry) => !entry.dead && (filter?.test(entry) ?? true))
      // The sort detects the part that is already sorted, so adding a few entries to many takes linear time.
      known.rows = sortBy(order, stayed, came)
      known.read = this.#log.length
      known.removals = this.#removals
    }
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= maxLists) break
      this.#lists.delete(oldest)
    }
    return known.rows
  }

  #markRemoved(entry: Entry): void {
    entry.dead = true
    this.#removals++
    const siblings = entry.parent === null ? undefined : this.#byParent?.get(entry.parent)
    if (siblings !== undefined) siblings.splice(siblings.indexOf(entry), 1)
  }

  #addToParent(entry: Entry): void {
    if (entry.parent === null || this.#byParent === undefined) return
    const siblings = this.#byParent.get(entry.parent)
    if (siblings === undefined) this.#byParent.set(entry.parent, [entry])
    else siblings.push(entry)
  }
}

const sortBy = (order: Order, stayed: ReadonlyArray<Entry>, came: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const keyed = (entry: Entry) => ({ key: order.key(entry), entry })
  const rows = [...stayed.map(keyed), ...came.map(keyed)]
  rows.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : (a.entry.id ?? "") < (b.entry.id ?? "") ? -1 : 1))
  return rows.map((row) => row.entry)
}

const maxLists = 24
