import { iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, entry, without } from "../../account/collection.ts"
import { products as names } from "../../account/names.ts"
import type { PricedProduct } from "../payments/seeded-orders.ts"
import { Random } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { messageText } from "../../account/texts.ts"
import { type Draw, type Owners, cents, rowsOf, seeded, streams } from "../../account/seeded.ts"

/** Products, their collections, and their prices (B 2.2). */
export const createProducts = (context: AccountContext, owners: Owners, collections: Collection): Collection => {
  const collectionIds = rowsOf(collections).map((row) => row.id!)
  return seeded(context, {
    stream: streams.product,
    count: owners.share(0.03, 60),
    build: (draw) => product(context, draw, collectionIds),
    full: context.settings.files
      ? without("seo", "taxInclusive", "isLabelEnabled")
      : without("seo", "medias", "taxInclusive", "isLabelEnabled"),
    malform: {
      instants: "createdAt updatedAt",
      flags: "availableInStore isTaxesEnabled",
      texts: "name description statementDescriptor image"
    },
    orphans: true
  })
}

/** The name and usual price of a seeded product, for records that copy them. */
export const article = (index: number): readonly [name: string, amount: number] => {
  const [name, amount] = names[index % names.length]!
  return index < names.length ? [name, amount] : [`${name}, ${finishes[Math.floor(index / names.length) % 7]}`, amount]
}

const finishes = ["natural", "charcoal", "weathered – grey", "large", '"Deluxe"', "série été", "bulk (10)"]

const product = (
  context: AccountContext,
  { entry, id, index, random }: Draw,
  collectionIds: ReadonlyArray<string>
): Data => {
  const [name] = article(index)
  const isTaxed = random.chance(0.3)
  return {
    _id: id,
    locationId: context.locationId,
    name,
    productType: random.chance(0.01) ? "RENTAL" : random.pick(["DIGITAL", "PHYSICAL", "SERVICE", "PHYSICAL/DIGITAL"]),
    description: `<p>${messageText(random)}</p>\n<p>${messageText(random)}</p>`,
    availableInStore: random.chance(0.7),
    variants: random.chance(0.25) ? [variant(random)] : undefined,
    image: random.chance(0.6) ? `https://files.example/products/${id}.jpg` : undefined,
    statementDescriptor: random.chance(0.3) ? "HARBOR PINE" : undefined,
    collectionIds: random.chance(0.5) ? random.some(collectionIds, 3, 0.7) : undefined,
    isTaxesEnabled: random.chance(0.8) || isTaxed ? isTaxed : undefined,
    taxes: isTaxed ? [random.pick(taxesOf(context))._id] : undefined,
    automaticTaxCategoryId: random.chance(0.1) ? "txcd_10000000" : undefined,
    label: random.chance(0.15)
      ? { title: random.pick(["Sale", "New", "Ausverkauf"]), startDate: "2026-01-01" }
      : undefined,
    slug: random.chance(0.75) ? slugOf(name, index) : undefined,
    storeRank: random.chance(0.03) ? random.unit() : undefined,
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated)
  }
}

export const slugOf = (name: string, index: number): string =>
  `${name
    .toLowerCase()
    .normalize("NFD")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")}-${index}`

const variant = (random: Random): Data => ({
  id: random.id(),
  name: "Size",
  options: ["S", "M", "L"].map((name) => ({ id: random.id(), name }))
})

/** The taxes of the account. No operation lists them; `expand=tax` returns them instead of their ids. */
export const taxesOf = ({ locationId, seed }: AccountContext): ReadonlyArray<{ _id: string } & Data> =>
  ["State sales tax", "City tax", "TVA"].map((name, index) => ({
    _id: new Random(seed, streams.product + 5000, index).hexId(0),
    altId: locationId,
    altType: "location",
    name,
    rate: [5.5, 1.25, 20][index],
    calculation: "exclusive"
  }))

export const createProductCollections = (context: AccountContext): Collection =>
  seeded(context, {
    stream: streams.productCollection,
    count: collectionNames.length,
    build: ({ entry, id, index, random }) => ({
      _id: id,
      altId: context.locationId,
      name: collectionNames[index],
      slug: slugOf(collectionNames[index]!, index),
      image: random.chance(0.6) ? `https://files.example/collections/${id}.png` : undefined,
      createdAt: iso(entry.created)
    })
  })

const collectionNames = (
  "Decking|Paint & stain|Garden|Services|Kits|Spring sale|Hardware|Clearance – last pieces|Für den Balkon|" +
  "Gift cards|Tools|Irrigation"
).split("|")

/** The prices of products: most have one or two, some none, and a few have dozens. */
export const createPrices = (context: AccountContext, products: Collection): Collection => {
  const owners: Array<{ product: Entry; index: number }> = []
  for (const [index, product] of rowsOf(products).entries()) {
    const random = new Random(context.seed, streams.price + 7000, index)
    const count = index % 9 === 4 ? 0 : index % 25 === 7 ? random.between(24, 60) : random.between(1, 3)
    for (let place = 0; place < count; place++) owners.push({ product, index })
  }
  return seeded(context, {
    stream: streams.price,
    count: owners.length,
    parent: (index) => owners[index]!.product.id,
    build: (draw) => price(context, draw, owners[draw.index]!),
    full: shownPrice,
    malform: { instants: "createdAt updatedAt", money: "amount compareAtPrice", flags: "trackInventory", texts: "name" }
  })
}

/** The prices as orders copy them, with the usual price of the product. */
export const pricedProductsOf = (products: Collection, prices: Collection): ReadonlyArray<PricedProduct> => {
  const indexById = new Map(rowsOf(products).map(({ id }, index) => [id, index]))
  return rowsOf(prices).map(({ id, parent }) => {
    const [name, amount] = article(indexById.get(parent)!)
    return { productId: parent!, priceId: id!, name, amount }
  })
}

/** A price without the stored members that a read omits (B 2.2). */
const shownPrice = without(
  ..."description trialPeriod totalCycles setupFee sku shippingOptions isDigitalProduct digitalDelivery".split(" ")
)

const price = (
  context: AccountContext,
  { entry, id, random }: Draw,
  { index, product }: { index: number; product: Entry }
): Data => {
  const [, usual] = article(index)
  const amount = cents(usual * random.pick([1, 1, 0.9, 2.5, 0.333]))
  const isRecurring = random.chance(0.2)
  const isTracked = random.chance(0.5)
  return {
    _id: id,
    product: product.id,
    locationId: context.locationId,
    name: random.pick([
      "Standard",
      "Per unit",
      "Contractor",
      "Été 2026",
      "Yearly plan",
      "12 × monthly",
      'Large, "wide"'
    ]),
    type: isRecurring ? "recurring" : "one_time",
    amount,
    currency: random.chance(0.95) ? "USD" : "CAD",
    recurring: isRecurring
      ? { interval: random.pick(["day", "week", "month", "year"]), intervalCount: random.between(1, 3) }
      : undefined,
    compareAtPrice: random.chance(0.25) ? cents(amount * 1.2) : undefined,
    trackInventory: isTracked || random.chance(0.5) ? isTracked : undefined,
    availableQuantity: isTracked ? random.between(-2, 400) : undefined,
    allowOutOfStockPurchases: isTracked ? random.chance(0.3) : undefined,
    membershipOffers: random.chance(0.05)
      ? [{ label: "Members", value: random.id(), _id: random.hexId(0) }]
      : undefined,
    variantOptionIds: random.chance(0.2) ? [random.id()] : undefined,
    userId: random.chance(0.4) && context.userIds.length > 0 ? random.pick(context.userIds) : undefined,
    sku: isTracked && random.chance(0.8) ? `HP-${String(random.int(100_000)).padStart(5, "0")}` : undefined,
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated)
  }
}

/** The item of the inventory for a price. */
export const inventoryItem = (price: Data, product: Data | undefined): Data => ({
  _id: price["_id"],
  name: price["name"],
  availableQuantity: price["availableQuantity"],
  sku: price["sku"],
  allowOutOfStockPurchases: price["allowOutOfStockPurchases"],
  product: price["product"],
  productName: product?.["name"],
  updatedAt: price["updatedAt"]
})

/** A collection with a single record, which no operation deletes. */
export const single = (data: Data, created: number): Collection => {
  const collection = new Collection({ build: () => data })
  collection.add(entry({ id: String(data["_id"]), created, source: data }))
  return collection
}
