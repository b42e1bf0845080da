import { conflict, invalid, notFound } from "../../http/errors.ts"
import type { Service } from "../../service.ts"
import { choice, described, type Field, flag, list, object, required, type Shape, text } from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { containsText } from "../../http/lists.ts"
import { taxesOf } from "./seeded-products.ts"
import { dropUndefined, checkReferences, removeChildren } from "../records.ts"

const uri: Field = { type: "string", format: "uri" }
const timestamp: Field = { type: "string", format: "date-time" }

export const productType = choice("DIGITAL", "PHYSICAL", "SERVICE", "PHYSICAL/DIGITAL")

/** The fields of a product that a body may set (B 2.2). */
export const productShape: Shape = {
  name: required(text),
  productType: required(productType),
  description: text,
  image: uri,
  statementDescriptor: text,
  availableInStore: flag,
  medias: list(
    object({
      id: required(text),
      url: required(uri),
      type: required(choice("image", "video")),
      title: text,
      isFeatured: flag,
      priceIds: list(text)
    })
  ),
  variants: list(object({ id: text, name: text, options: list(object({ id: text, name: text })) })),
  collectionIds: list(text),
  slug: text,
  seo: object({ title: text, description: text }),
  isTaxesEnabled: described(flag, "Default false; when true, taxes must not be empty."),
  taxes: list(text),
  taxInclusive: described(flag, "Default false."),
  automaticTaxCategoryId: text,
  isLabelEnabled: described(flag, "Default false; when true, label must not be empty."),
  label: object({ title: required(text), startDate: timestamp, endDate: timestamp })
}

export const findProduct = ({ world }: Service, idOrSlug: string): Entry => {
  const { products } = world
  const found = products.get(idOrSlug) ?? products.live().find((row) => products.data(row)["slug"] === idOrSlug)
  if (found === undefined) throw notFound(`Product with id ${idOrSlug} not found`)
  return found
}

/** Deletes a product with its prices. */
export const deleteProduct = ({ world }: Service, product: Entry): void => {
  removeChildren(world.prices, product.id!)
  world.products.remove(product)
}

export const checkProduct = (body: Data, { world }: Service, old: Entry | undefined): Data => {
  const { collections, prices, products } = world
  const { collectionIds, isLabelEnabled = false, isTaxesEnabled = false, label, medias = [], slug, taxes } = body
  const problems = [
    isTaxesEnabled === true && !(Array.isArray(taxes) && taxes.length > 0) && "taxes should not be empty",
    isTaxesEnabled !== true && taxes !== undefined && "isTaxesEnabled must be true when taxes are sent",
    isLabelEnabled === true && label === undefined && "label should not be empty"
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw invalid(...problems)
  checkReferences(collections, collectionIds, "collectionIds")
  for (const [place, { priceIds }] of (medias as ReadonlyArray<Data>).entries()) {
    checkReferences(prices, priceIds, `medias.${place}.priceIds`)
  }
  const hasSlug = (row: Entry): boolean => row !== old && products.data(row)["slug"] === slug
  if (slug !== undefined && products.live().some(hasSlug)) throw conflict(`A product with the slug ${slug} exists`)
  return { locationId: world.context.locationId, ...defaults, ...dropUndefined(body), isTaxesEnabled }
}

/** The default values of a product (B 2.2). */
const defaults: Data = { description: "", availableInStore: false }

export const productFilter = (query: Data, { world }: Service): ((row: Entry) => boolean) => {
  const { availableInStore, collectionIds, collectionSlug, includedInStore, productIds, search, storeId } = query
  const { collections, products } = world
  const wanted = collectionIds === undefined ? undefined : String(collectionIds).split(",")
  const bySlug = collections.live().find((row) => collections.data(row)["slug"] === collectionSlug)?.id ?? "none"
  // Stores are not documented. The sandbox has one, which contains the products with `availableInStore`.
  const isStore = storeId === undefined || storeId === world.context.locationId
  const inStore = includedInStore ?? (storeId === undefined ? undefined : true)
  return (row) => {
    const data = products.data(row)
    const own = (data["collectionIds"] ?? []) as ReadonlyArray<string>
    return (
      containsText(search, data["name"]) &&
      (productIds === undefined || (productIds as ReadonlyArray<unknown>).includes(row.id)) &&
      (availableInStore === undefined || data["availableInStore"] === availableInStore) &&
      (inStore === undefined || (isStore && data["availableInStore"] === true) === inStore) &&
      (wanted === undefined || wanted.some((id) => own.includes(id))) &&
      (collectionSlug === undefined || own.includes(bySlug))
    )
  }
}

export const withTaxes = (row: Entry, { world }: Service): Data => {
  const data = JSON.parse(world.products.list(row)) as Data
  const known = taxesOf(world.context)
  const taxes = (data["taxes"] as ReadonlyArray<string> | undefined)?.map(
    (id) => known.find((tax) => tax._id === id) ?? { _id: id }
  )
  return { ...data, taxes }
}
