import { Collection, type Data, type Entry, type Shapes, entry } from "./collection.ts"
import { addOrphans, withMalformedValues, malformFields } from "./malformed.ts"
import { person } from "./people.ts"
import { Random, streams as coreStreams } from "./random.ts"
import { creationTime, ownerOf, type AccountContext } from "./context.ts"

/** The input of a seeded record, which is the same whenever it is built. */
export interface Draw {
  readonly id: string
  readonly index: number
  readonly entry: Entry
  readonly random: Random
}

interface Seed {
  readonly stream: number
  readonly count: number
  readonly ids?: "hex" | "plain"
  readonly build: (draw: Draw) => Data
  readonly full?: NonNullable<Shapes["full"]>
  readonly list?: NonNullable<Shapes["list"]>
  readonly kind?: (index: number) => number
  readonly parent?: (index: number) => string | null
  /** When a record that derives from another was created; if undefined, it is spread over the history. */
  readonly created?: (index: number) => number | undefined
  /** The fields that the malformed variant rewrites, and whether lists contain records without an id and stale copies. */
  readonly malform?: Parameters<typeof malformFields>[0]
  readonly orphans?: boolean
  /** The share of records that were never changed. */
  readonly untouched?: number
}

/** A collection of `count` seeded records, mostly spread over the history with ties, and built when first read. */
export const seeded = (context: AccountContext, seed: Seed): Collection => {
  const draw = (entry: Entry): Draw => {
    const index = entry.source as number
    return { id: entry.id!, index, entry, random: new Random(context.seed, seed.stream + 500, index) }
  }
  const collection = new Collection({
    build: withMalformedValues(context, (entry) => seed.build(draw(entry)), malformFields(seed.malform ?? {})),
    ...(seed.full !== undefined && { full: seed.full }),
    ...(seed.list !== undefined && { list: seed.list })
  })
  for (let index = 0; index < seed.count; index++) {
    const random = new Random(context.seed, seed.stream, index)
    const created = seed.created?.(index) ?? creationTime(context, seed.stream, index, seed.count)
    const isUntouched = random.chance(seed.untouched ?? 0.5)
    const updated = isUntouched ? created : created + Math.floor((context.end - created) * random.unit() ** 4)
    const id = seed.ids === "plain" ? random.id() : random.hexId(created)
    const [kind, parent] = [seed.kind?.(index) ?? 0, seed.parent?.(index) ?? null]
    collection.add(entry({ id, kind, parent, created, updated, source: index }))
  }
  originals.set(collection, [...collection.live()])
  if (seed.orphans === true) addOrphans(context, collection)
  return collection
}

/**
 * The initial records of a seeded collection, without later changes. Other records refer to these, so that they are the same
 * whenever they are first built.
 */
export const rowsOf = (collection: Collection): ReadonlyArray<Entry> => originals.get(collection) ?? []

const originals = new WeakMap<Collection, ReadonlyArray<Entry>>()

/** The initial contacts. Other records keep the names that they copied from these. */
export class Owners {
  readonly #context: AccountContext
  readonly rows: ReadonlyArray<Entry>

  constructor(context: AccountContext, contacts: Collection) {
    this.#context = context
    this.rows = [...contacts.live()]
  }

  /** A share of the number of contacts, but usually at least `least`; 0 without contacts. */
  share(part: number, least = 0): number {
    const fewest = Math.ceil(least * this.#context.settings.minimumScale)
    return this.rows.length === 0 ? 0 : Math.max(fewest, Math.round(this.rows.length * part))
  }

  of(stream: number, index: number): { id: string; name: string; firstName: string; email: string; phone: string } {
    const owner = this.rows[ownerOf(this.#context, stream, index, this.rows.length)]!
    return { ...person(this.#context.seed, owner.source as number), id: owner.id! }
  }

  /** The contact of a seeded order or invoice. */
  buyerOf({ row, type }: { readonly row: Entry; readonly type: "order" | "invoice" }): ReturnType<Owners["of"]> {
    return this.of(type === "order" ? coreStreams.order : streams.invoice, row.source as number)
  }
}

export const cents = (amount: number): number => Math.round(amount * 100) / 100

/** The amount in a record, in any form of the malformed variant; `undefined` if it is not a number. */
export const amountOf = (shown: unknown): number => {
  const amount = Number(JSON.parse(JSON.stringify(shown ?? 0)))
  return Number.isFinite(amount) ? amount : 0
}

/** A timestamp in the weeks after the end of the history, for scheduled records. */
export const later = ({ end }: AccountContext, random: Random): number => end + random.between(1, 40 * 86_400_000)

/** YYYY-MM-DD. */
export const dayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10)

/** The stream numbers of the kinds of records that are not in the core of the account. */
export const streams = {
  template: 100,
  campaign: 101,
  product: 102,
  price: 103,
  productCollection: 104,
  invoice: 105,
  estimate: 106,
  estimateTemplate: 107,
  invoiceTemplate: 108,
  fulfillment: 109,
  orderNote: 110,
  transaction: 111,
  subscription: 112,
  coupon: 113,
  account: 114,
  post: 115,
  category: 116,
  tag: 117,
  blog: 118,
  blogPost: 119,
  author: 120,
  blogCategory: 121,
  funnel: 122,
  page: 123,
  redirect: 124,
  survey: 125,
  surveySubmission: 126
} as const
