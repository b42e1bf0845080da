/** `sluice hold`: adds, lists and releases holds. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { userInfo } from "node:os"
import type { Hold } from "../erasure/hold.ts"
import { hashOf, openInLedger, readHolds, storeHolds } from "../erasure/holds.ts"
import { closest, suggestion } from "../../../settings/closest.ts"
import { commaSeparated } from "../../../values/setting.ts"
import type { Flags } from "../../../settings/read.ts"
import { outputSettings } from "../../../settings/settings.ts"
import { loadCatalogue } from "../../../command/catalogue.ts"
import { Environment } from "../../../values/environment.ts"
import { failedError, usageError } from "../../../console/errors.ts"
import { table } from "../../../console/streams.ts"
import { record } from "../../../command/recorded.ts"
import { instant, shown } from "../../../console/result.ts"

interface HoldAddFlags extends Flags {
  readonly id: string
  readonly contact: string | undefined
  readonly table: string | undefined
  readonly reason: string | undefined
  readonly by: string | undefined
}

export const holdAdd = Effect.fn("command.holdAdd")(function* (flags: HoldAddFlags) {
  const output = yield* outputSettings(flags, yield* Environment)
  const { folder } = output
  const holds = yield* readHolds(folder)
  const contacts = commaSeparated(flags.contact ?? "")
  const tables = commaSeparated(flags.table ?? "")
  const { resources } = yield* loadCatalogue(output)
  const names = resources.map((resource) => resource.table)
  const unknown = tables.find((one) => one !== "*" && !names.includes(one))
  const usage = (message: string) =>
    usageError(message, "./sluice hold add case-2026-17 --contact 3FpZ81kQ --reason TEXT")
  if (unknown !== undefined)
    return yield* usage(`--table ${unknown}: there is no such list of records${suggestion(closest(unknown, names))}`)
  if (contacts.length + tables.length === 0) return yield* usage("A hold needs a --contact or a --table.")
  if (flags.reason === undefined) return yield* usage("A hold needs a --reason.")
  if (holds.some(({ id }) => id === flags.id)) return yield* usage(`There is a hold ${flags.id} already.`)
  const hold: Hold = {
    id: flags.id,
    reason: flags.reason,
    by: flags.by ?? userInfo().username,
    addedAt: instant(yield* Clock.currentTimeMillis),
    contacts,
    tables
  }
  yield* storeHolds(folder, [...holds, hold])
  yield* record(folder, "hold", { id: hold.id, contacts: contacts.length, tables, sha256: hashOf(hold) })
  return shownHolds([...holds, hold])
})

export const holdList = Effect.fn("command.holdList")(function* (flags: Flags) {
  const { folder } = yield* outputSettings(flags, yield* Environment)
  return shownHolds(yield* readHolds(folder))
})

export const holdRelease = Effect.fn("command.holdRelease")(function* (flags: Flags & { readonly id: string }) {
  const { folder } = yield* outputSettings(flags, yield* Environment)
  const holds = yield* readHolds(folder)
  const kept = holds.filter(({ id }) => id !== flags.id)
  // A hold that only the ledger has may be released: its file was lost.
  if (kept.length === holds.length && !(yield* openInLedger(folder)).has(flags.id))
    return yield* failedError(
      `There is no hold ${flags.id}${suggestion(
        closest(
          flags.id,
          holds.map(({ id }) => id)
        )
      )}`,
      "./sluice hold list"
    )
  // The ledger first: if the process is killed in between, the hold stays.
  yield* record(folder, "release", { id: flags.id })
  yield* storeHolds(folder, kept)
  return shownHolds(kept)
})

const shownHolds = (holds: ReadonlyArray<Hold>) =>
  shown("hold", { exitCode: 0, data: { holds } }, () =>
    holds.length === 0
      ? ["No hold."]
      : table(
          ["hold", "since", "by", "what", "reason"],
          holds.map(({ addedAt, by, contacts, id, reason, tables }) => [
            id,
            addedAt,
            by,
            [...contacts, ...tables].join(", "),
            reason
          ])
        )
  )
