/** `sluice subject erase`: the plan of an erasure, or the erasure itself. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import { jobOf } from "../erasure/job.ts"
import { planErasure } from "../erasure/plan.ts"
import type { Flags } from "../../../settings/read.ts"
import { outputSettings } from "../../../settings/settings.ts"
import { loadCatalogue } from "../../../command/catalogue.ts"
import { Environment } from "../../../values/environment.ts"
import { planOrErase } from "./erasing.ts"
import { openToRemove } from "./removing.ts"
import { usageError } from "../../../console/errors.ts"
import { Output } from "../../../console/streams.ts"
import { type PersonFlags, contactText, findPerson } from "./person.ts"
import { instant } from "../../../console/result.ts"

export interface SubjectEraseFlags extends Flags, PersonFlags {
  readonly reason: string | undefined
  readonly keepFinancial: boolean
  readonly apply: boolean
}

export const subjectErase = Effect.fn("command.subjectErase")(function* (flags: SubjectEraseFlags) {
  const output = yield* outputSettings(flags, yield* Environment)
  const catalogue = yield* loadCatalogue(output)
  const next = "repeat the command with --apply --reason TEXT"
  return yield* planOrErase("subject-erase", flags, next, { catalogue, output }, planned(flags, output, catalogue))
})

const planned = Effect.fnUntraced(function* (
  flags: SubjectEraseFlags,
  output: { readonly folder: string; readonly memoryMb: number },
  catalogue: Catalogue
) {
  const { say } = yield* Output
  const tables = yield* openToRemove(output)
  return yield* Effect.gen(function* () {
    const { contacts, others, possible } = yield* findPerson(flags)
    if (others.length > 0)
      say(
        `These contacts share an address and stay: ${others.map(contactText).join("; ")}. --all erases them too.`,
        "warn"
      )
    if (possible.length > 0)
      say(
        `These contacts are possibly the same person and stay: ${possible.slice(0, 20).map(contactText).join("; ")}. --contact ID takes one of them.`,
        "warn"
      )
    const startedAt = instant(yield* Clock.currentTimeMillis)
    const plan = yield* planErasure(catalogue, contacts, others, flags.keepFinancial)
    if (flags.apply && flags.reason === undefined)
      return yield* usageError(
        "An erasure needs a reason, which its certificate contains.",
        'repeat the command with --reason "request of 3 March"'
      )
    const unjudged = [
      { table: "contacts", why: "possible" as const, records: possible.length },
      { table: "contacts", why: "shared" as const, records: others.length }
    ].filter(({ records }) => records > 0)
    return jobOf({ ...plan, unjudged }, flags.reason ?? "", startedAt)
  }).pipe(Effect.provide(tables))
}, Effect.scoped)
