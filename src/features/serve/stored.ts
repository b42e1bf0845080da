/** Small files of the console, each replaced at once. The console decides between two of its steps, so nothing here waits. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFileSync, renameSync, writeFileSync } from "node:fs"

export const store = (path: string, value: unknown): void => {
  writeFileSync(`${path}.part`, JSON.stringify(value), { mode: 0o600 })
  renameSync(`${path}.part`, path)
}

/** `undefined` for a file that is missing, or that another version has written. */
export const stored = <A>(path: string, schema: Schema.Codec<A, unknown>): A | undefined => {
  try {
    const text = readFileSync(path, "utf8")
    return Option.getOrUndefined(Schema.decodeUnknownOption(Schema.fromJsonString(schema))(text))
  } catch {
    return undefined
  }
}
