import { Collection, type Data, type Entry, entry } from "./collection.ts"

/** How records derive from those of another collection: the emails of a message, the transcript of a call. */
export interface Derivation {
  readonly from: Collection
  /** Whether a record can have derived records, decided without building it. */
  readonly has: (source: Entry) => boolean
  readonly idsOf: (source: Entry) => ReadonlyArray<string>
  readonly sourceOf: (id: string) => string
  readonly build: (id: string, source: Entry) => Data
}

/** Records that are not stored: each is built, with its entry, when it is read. */
export class DerivedCollection extends Collection {
  readonly #derivation: Derivation

  constructor(derivation: Derivation) {
    super({ build: (entry) => derivation.build(entry.id!, derivation.from.get(entry.parent!)!) })
    this.#derivation = derivation
  }

  override get(id: string): Entry | undefined {
    const { from, has, idsOf, sourceOf } = this.#derivation
    const source = from.get(sourceOf(id))
    if (source === undefined || !has(source) || !idsOf(source).includes(id)) return undefined
    return entry({ id, parent: source.id, kind: source.kind, created: source.created, source: 0 })
  }

  override *live(): Generator<Entry, undefined> {
    const { from, has, idsOf } = this.#derivation
    for (const source of from.live()) {
      if (!has(source)) continue
      for (const id of idsOf(source)) yield this.get(id)!
    }
  }
}
