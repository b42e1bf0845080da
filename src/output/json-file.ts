/** Files of JSON that sluice wrote for itself. */
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import type { Failure } from "../values/failure.ts"
import { onDisk } from "./files.ts"

/** The content; `undefined` without a file. Fails if it has another shape, and does not quote it: it may name people. */
export const readJson = <A>(path: string, schema: Schema.Codec<A, unknown>): Effect.Effect<A | undefined, Failure> => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(schema))
  return onDisk(path, "read", async () => {
    const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) =>
      cause.code === "ENOENT" ? undefined : Promise.reject(cause)
    )
    if (text === undefined) return undefined
    const content = decode(text)
    if (Option.isNone(content)) throw new Error("it does not have the content that sluice writes")
    return content.value
  })
}
