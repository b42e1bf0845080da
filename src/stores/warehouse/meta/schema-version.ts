/** `meta.schema_version`: the format of the file, and the definitions that its tables were last brought up to date with. */
import * as Effect from "effect/Effect"
import { Warehouse, format } from "../warehouse.ts"
import { queryTexts } from "../query.ts"
import { literal } from "../sql.ts"
import { existingMetaTables } from "./tables.ts"

/** Fingerprint of the definitions to which the tables were last migrated; `undefined` in a new file. */
export const storedFingerprint = Effect.fnUntraced(function* () {
  if (!(yield* existingMetaTables(yield* Warehouse)).has("schema_version")) return undefined
  const [fingerprint] = yield* queryTexts("SELECT fingerprint FROM meta.schema_version")
  return fingerprint
})

export const storeFingerprint = (fingerprint: string): ReadonlyArray<string> => [
  "DELETE FROM meta.schema_version",
  `INSERT INTO meta.schema_version (format, fingerprint) VALUES (${format}, ${literal(fingerprint)})`
]
