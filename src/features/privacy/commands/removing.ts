/** What comes before every removal: the tables themselves, and the holds. */
import * as Effect from "effect/Effect"
import type { Hold } from "../erasure/hold.ts"
import { counted } from "../../../values/finding.ts"
import { CommandError, failedError } from "../../../console/errors.ts"
import { openReadable } from "../../../command/readable.ts"

/** Opens the warehouse for a plan: a release may lack what has to go. */
export const openToRemove = Effect.fnUntraced(function* (output: Parameters<typeof openReadable>[0]) {
  const { holder, source, tables } = yield* openReadable(output)
  if (source === "warehouse") return tables
  return yield* new CommandError({
    ends: "locked",
    message: `${holder.command} has the warehouse open, so nothing can be removed now. Nothing was changed.`,
    next: "repeat the command when it has ended"
  })
})

/** A hold comes first: nothing is removed then. */
export const refuseIfHeld = Effect.fnUntraced(function* ([hold, ...more]: ReadonlyArray<Hold>, what: string) {
  if (hold === undefined) return
  const others = more.length === 0 ? "" : ` and ${counted(more.length, "more hold")}`
  return yield* failedError(
    `The hold ${hold.id} (${hold.reason}, by ${hold.by}, ${hold.addedAt})${others} covers ${what}. Nothing was changed.`,
    "./sluice hold list"
  )
})
