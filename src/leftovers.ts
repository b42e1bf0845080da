/** What a killed run leaves in the output folder. Only who holds the warehouse for writing may remove it: nobody uses it then. */
import { Effect } from "effect"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { type Failure, diskFailure } from "./failure.ts"

/** Names by folder; everything else is left alone. */
const leftovers: Readonly<Record<string, RegExp>> = {
  // Batches; a rebuild that was not whole, with its log and temporary files; what verify compared with.
  ".": /^(tmp|rebuilt\.duckdb(\.wal|\.tmp)?|verify-\d+)$/,
  // A segment that was being compressed; the plain one is there.
  vault: /^\d{6,}\.ndjson\.zst\.part$/,
  // A version that was being made.
  ".published": /^\d{6,}-[A-Za-z0-9_-]*\.building$/
}

export const removeLeftovers = (output: string): Effect.Effect<void, Failure> =>
  Effect.tryPromise({
    try: async () => {
      for (const [folder, form] of Object.entries(leftovers)) {
        const names = await readdir(join(output, folder)).catch(none)
        for (const name of names.filter((one) => form.test(one)))
          await rm(join(output, folder, name), { recursive: true, force: true })
      }
    },
    catch: (cause) => diskFailure(`What a stopped run left in ${output} could not be removed`, cause)
  })

const none = (cause: NodeJS.ErrnoException): ReadonlyArray<string> => {
  if (cause.code === "ENOENT") return []
  throw cause
}
