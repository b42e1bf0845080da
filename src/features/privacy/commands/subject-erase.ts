/** `sluice subject erase`: the plan of an erasure, or the erasure itself. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import { jobOf, readJob } from "../erasure/job.ts"
import { planErasure } from "../erasure/plan.ts"
import type { Flags } from "../../../settings/read.ts"
import { reportSettings } from "../../../settings/settings.ts"
import { loadCatalogue } from "../../../command/catalogue.ts"
import { Environment } from "../../../values/environment.ts"
import { erase, refuseHeld, shownPlan } from "./erasing.ts"
import { openToRemove } from "./removing.ts"
import { usageError } from "../../../console/errors.ts"
import { Output } from "../../../console/output.ts"
import { type PersonFlags, contactText, findPerson } from "./person.ts"
import { instant } from "../../../console/result.ts"

export interface SubjectEraseFlags extends Flags, PersonFlags {
  readonly reason: string | undefined
  readonly keepFinancial: boolean
  readonly apply: boolean
}

/** With `--apply`, an erasure that was killed continues before anything else. */
export const subjectErase = Effect.fn("command.subjectErase")(function* (flags: SubjectEraseFlags) {
  const { say } = yield* Output
  const { output } = yield* reportSettings(flags, yield* Environment)
  const catalogue = yield* loadCatalogue(output)
  const pending = yield* readJob(output.folder)
  const job = pending ?? (yield* planned(flags, output, catalogue))
  if (pending) say(`The erasure of ${pending.startedAt} was stopped${flags.apply ? ", and continues" : ""}.`, "warn")
  if (!flags.apply) {
    yield* refuseHeld(output.folder, job)
    return shownPlan("subject-erase", job, "repeat the command with --apply --reason TEXT")
  }
  if (flags.reason === undefined && pending === undefined)
    return yield* usageError(
      "An erasure needs a reason, which its certificate contains.",
      'repeat the command with --reason "request of 3 March"'
    )
  return yield* erase("subject-erase", catalogue, output, job)
}, Effect.scoped)

const planned = Effect.fnUntraced(function* (
  flags: SubjectEraseFlags,
  output: { readonly folder: string; readonly memoryMb: number },
  catalogue: Catalogue
) {
  const { say } = yield* Output
  const tables = yield* openToRemove(output)
  return yield* Effect.gen(function* () {
    const { contacts, others } = yield* findPerson(flags)
    if (others.length > 0)
      say(
        `These contacts share an address and stay: ${others.map(contactText).join("; ")}. --all erases them too.`,
        "warn"
      )
    const startedAt = instant(yield* Clock.currentTimeMillis)
    return jobOf(yield* planErasure(catalogue, contacts, others, flags.keepFinancial), flags.reason ?? "", startedAt)
  }).pipe(Effect.provide(tables))
}, Effect.scoped)
