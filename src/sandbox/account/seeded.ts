import { Collection, type Data, type Entry, type Shapes, entry } from "./collection.ts"
import { addOrphans, withMalformedValues, malformFields } from "./malformed.ts"
import { person } from "./people.ts"
import { Random, streams as coreStreams } from "./random.ts"
import { creationTime, ownerOf, type AccountContext } from "./context.ts"

/** What a record is drawn from: the same every time it is built. */
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
  /** When a record was made that follows from another; spread over the history where it says nothing. */
  readonly created?: (index: number) => number | undefined
  /** The fields the malformed world respells, and whether lists show records without an id and stale copies. */
  readonly malform?: Parameters<typeof malformFields>[0]
  readonly orphans?: boolean
  /** The share of records never changed again. */
  readonly untouched?: number
}

/** A collection of `count` seeded records, most spread over the history of the account with ties, built when first read. */
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
 * The records a seeded collection began with, whatever has been added, changed and deleted since: what other records
 * were drawn from when they name one, so that they are the same whenever they are first built.
 */
export const rowsOf = (collection: Collection): ReadonlyArray<Entry> => originals.get(collection)!

const originals = new WeakMap<Collection, ReadonlyArray<Entry>>()

/** The contacts there were when the world was made. Records keep the names they copied, whatever became of them. */
export class Owners {
  readonly #context: AccountContext
  readonly rows: ReadonlyArray<Entry>

  constructor(context: AccountContext, contacts: Collection) {
    this.#context = context
    this.rows = [...contacts.live()]
  }

  /** As many of something as there are contacts to have them. */
  share(part: number, least = 0): number {
    return this.rows.length === 0 ? 0 : Math.max(least, Math.round(this.rows.length * part))
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

/** The amount a record shows, however the malformed world spells it; what is no number is nothing. */
export const amountOf = (shown: unknown): number => {
  const amount = Number(JSON.parse(JSON.stringify(shown ?? 0)))
  return Number.isFinite(amount) ? amount : 0
}

/** An instant in the weeks after the end of history, for what is scheduled. */
export const later = ({ end }: AccountContext, random: Random): number => end + random.between(1, 40 * 86_400_000)

/** YYYY-MM-DD. */
export const dayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10)

/** A number for every kind of record, apart from those of the core world. */
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
