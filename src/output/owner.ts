/** The id of an output folder, by which a database or a bucket knows whose data it has. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import { onDisk, readJson, writeDurably } from "./files.ts"
import { outputPaths } from "./paths.ts"

const Owner = Schema.Struct({ id: Schema.String })

/** It is made when it is first needed, and moves with the folder. */
export const ownerOf = Effect.fnUntraced(function* (output: string) {
  const path = outputPaths(output).owner
  const known = yield* readJson(path, Owner)
  if (known) return known.id
  const id = randomUUID()
  yield* onDisk(path, "written", () => writeDurably(path, JSON.stringify({ id } satisfies typeof Owner.Type)))
  return id
})
