/** What files say of their content. */
import type { Metadata } from "./format.ts"
import type { PublishedTable } from "../../catalog/published-tables.ts"
import type { WideView } from "../warehouse/wide-view.ts"

/** The metadata of a table: its description, key and columns. */
export const metadataOf = ({
  definition,
  key,
  wide
}: PublishedTable & { readonly wide?: WideView | undefined }): Metadata => {
  const own = definition.columns.map(({ name, description, personal, references }) => [
    name,
    { description, personalData: personal, ...(references && { refersTo: references }) }
  ])
  const custom = (wide?.columns ?? []).map(({ column, label, personal }) => [
    column,
    { description: label, personalData: personal }
  ])
  return metadataFrom(definition.description, { key, columns: Object.fromEntries([...own, ...custom]) as object })
}

export const noMetadata: Metadata = { description: "", sluice: "{}" }

export const metadataFrom = (description: string, facts: object): Metadata => ({
  description,
  sluice: JSON.stringify(facts)
})
