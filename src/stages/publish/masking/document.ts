/** `masked-columns.json`: what a masked release does with each column, and the state from which it was made. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Catalogue } from "../../../catalog/discover.ts"
import { tablesOf } from "../../../catalog/tables.ts"
import type { Masking } from "../../../settings/masking.ts"
import { treatmentOf, treatments } from "./rules.ts"

export const maskingDocument = (masking: Masking, { resources }: Pick<Catalogue, "resources">, state: string) => {
  const columns = resources.flatMap(tablesOf).flatMap((table) =>
    table.columns.flatMap((column) => {
      const treatment = treatmentOf(masking, column)
      return treatment === "kept" ? [] : [[`${table.name}.${column.name}`, treatment]]
    })
  )
  return `${JSON.stringify(
    {
      profile: masking.profile,
      ...(masking.profile === "analytics" && { keyId: masking.key.id }),
      state,
      treatments,
      columns: Object.fromEntries(columns)
    },
    null,
    1
  )}\n`
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ state: Schema.String })))

/** The state of an earlier release; `undefined` if the document says none. */
export const stateOf = (document: string | undefined): string | undefined =>
  Option.getOrUndefined(Option.map(decode(document), ({ state }) => state))
