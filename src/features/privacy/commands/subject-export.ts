/** `sluice subject export`: everything that the tables contain about a person. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { exitCodes } from "../../../values/failure.ts"
import { onDisk } from "../../../output/files.ts"
import { removeBelow } from "../../../output/remove.ts"
import { choose } from "../../../stages/plan/plan.ts"
import type { Flags } from "../../../settings/read.ts"
import { outputSettings } from "../../../settings/settings.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { linkedResources } from "../subject/belongings.ts"
import type { CoveredResource } from "../subject/coverage.ts"
import { exportSubject } from "../subject/export.ts"
import { ownPlace } from "../subject/own-exports.ts"
import { counted } from "../../../values/finding.ts"
import { loadCatalogue } from "../../../command/catalogue.ts"
import { Environment } from "../../../values/environment.ts"
import { usageError } from "../../../console/errors.ts"
import { Output, table } from "../../../console/streams.ts"
import { openReadable, sayHolder } from "../../../command/readable.ts"
import { record } from "../../../command/recorded.ts"
import { info, shown, warning } from "../../../console/result.ts"
import { syncOnce } from "../../../run/sync.ts"
import { type PersonFlags, contactText, findPerson } from "./person.ts"

export interface SubjectExportFlags extends Flags, PersonFlags {
  readonly to: string | undefined
  readonly history: boolean
  readonly searchText: boolean
  readonly refresh: boolean
  readonly force: boolean
}

/** Reads what has changed in the tables that can contain a person. What cannot be read, the coverage says. */
const refresh = Effect.fnUntraced(function* (flags: SubjectExportFlags, enabled: ReadonlyArray<Resource>) {
  const { say } = yield* Output
  const only = linkedResources(enabled).map(({ resource }) => resource.table)
  const { data, exitCode } = yield* syncOnce({ ...flags, only: only.join(",") })
  if (exitCode !== 0) say(`The run ${data.run} did not read everything: ./sluice status says what.`, "warn")
})

export const subjectExport = Effect.fn("command.subjectExport")(function* (flags: SubjectExportFlags) {
  const output = yield* outputSettings(flags, yield* Environment)
  const { locations, optional } = output.wanted
  const catalogue = yield* loadCatalogue(output)
  const enabled = yield* choose(catalogue, { only: [], except: [], optional, full: false })
  if (flags.refresh) yield* refresh(flags, enabled)
  const readable = yield* openReadable(output)
  if (readable.source === "none") return yield* readable.locked
  yield* sayHolder(readable, yield* Clock.currentTimeMillis)
  const id = randomUUID()
  const isOwn = flags.to === undefined
  const { contacts, exported, others, possible, target } = yield* Effect.gen(function* () {
    const { addresses, contacts, others, possible } = yield* findPerson(flags)
    const target = flags.to === undefined ? yield* ownPlace(output.folder, contacts[0]?.id) : resolve(flags.to)
    yield* checkTarget(target, flags.force)
    const exported = yield* exportSubject({
      catalogue,
      enabled,
      optional,
      locations,
      target,
      id,
      contacts,
      possible,
      addresses,
      output: output.folder,
      withHistory: flags.history,
      searchText: flags.searchText,
      // The name of the folder may be that of the person. An erasure finds an export in the output folder by its id.
      record: (records) => record(output.folder, "export", { what: "subject", records, ...(isOwn && { id }) })
    })
    return { contacts, exported, others, possible, target }
  }).pipe(Effect.provide(readable.tables))
  const { candidates, coverage, files, possibleRecords, records, tables } = exported
  const isComplete = coverage.every(({ isAsSet }) => isAsSet) && readable.source === "warehouse"
  // The export must not claim that there are no data about the person while a contact or a record may be that person's.
  const isUncertain = contacts.length === 0 && (possible.length > 0 || (records === 0 && possibleRecords.length > 0))
  const exitCode = isComplete && !isUncertain ? 0 : exitCodes.partial
  const next = isUncertain
    ? possible.length > 0
      ? `look at the possible contacts, then repeat the command with --contact ${possible[0]!.id}`
      : `look at the records in ${target}/person.json (possibleRecords), then repeat the command with the address that they have`
    : isComplete
      ? `open ${target}/index.html in a browser.`
      : "./sluice sync, then repeat this command"
  const data = {
    folder: target,
    zip: `${target}.zip`,
    source: readable.source,
    contacts: contacts.map(({ id, location }) => ({ id, location })),
    others: others.map(({ id, location }) => ({ id, location })),
    ...(possible.length > 0 && { possible: possible.map(({ id, location }) => ({ id, location })) }),
    ...(possibleRecords.length > 0 && { possibleRecords }),
    records,
    tables,
    files,
    ...(candidates !== undefined && { candidates }),
    coverage: coverage.map(coverageResult)
  }
  return shown("subject-export", { exitCode, next, data }, () =>
    linesOf({ contacts, exported, others, possible, target })
  )
}, Effect.scoped)

interface Found {
  readonly contacts: ReadonlyArray<unknown>
  readonly others: ReadonlyArray<Parameters<typeof contactText>[0]>
  readonly possible: ReadonlyArray<Parameters<typeof contactText>[0]>
  readonly exported: Effect.Success<ReturnType<typeof exportSubject>>
  readonly target: string
}

/** What was found, and what was not taken. */
function* linesOf({ contacts, exported, others, possible, target }: Found) {
  const { candidates, coverage, possibleRecords } = exported
  const incomplete = coverage.filter(({ isComplete }) => !isComplete)

  yield* table(
    ["source", "found"],
    coverage.map(({ resource, finding }) => [resource, finding])
  )
  yield `${exported.held}, of ${counted(contacts.length, "contact")}, in ${target} and ${target}.zip`
  if (others.length > 0)
    yield warning(
      `Not included, although they share an address: ${others.map(contactText).join("; ")}. --all takes them.`
    )
  if (possible.length > 0)
    yield warning(
      `Not included, and possibly the same person: ${possible.slice(0, 20).map(contactText).join("; ")}${possible.length > 20 ? `; and ${possible.length - 20} more` : ""}. --contact ID takes one of them.`
    )
  if (possibleRecords.length > 0)
    yield warning(
      `Not included, and possibly about the same person: ${possibleRecords
        .slice(0, 20)
        .map(({ key, table }) => `${table} ${key}`)
        .join("; ")}${possibleRecords.length > 20 ? `; and ${possibleRecords.length - 20} more` : ""}.`
    )
  if (candidates !== undefined) yield info(`${counted(candidates, "text")} of other records in candidates.json.`)
  if (incomplete.length > 0)
    yield warning(
      `The export may lack records. ${incomplete.map(({ finding, resource }) => `${resource}: ${finding}.`).join(" ")}`
    )
}

const coverageResult = ({ completeAt, isComplete, mentions, records, resource, finding }: CoveredResource) => ({
  resource,
  records,
  mentions,
  isComplete,
  finding,
  ...(completeAt !== undefined && { completeAt })
})

const checkTarget = Effect.fnUntraced(function* (target: string, force: boolean) {
  if (!existsSync(dirname(target)))
    return yield* usageError(
      `--to ${target}: there is no folder ${dirname(target)}.`,
      "./sluice subject export --to FOLDER"
    )
  const existing = [target, `${target}.zip`].filter((path) => existsSync(path))
  if (existing.length === 0) return
  if (!force)
    return yield* usageError(
      `${existing[0]} exists already.`,
      "repeat the command with --force to replace it, or with another --to"
    )
  // Only what is an export is replaced.
  if (existsSync(target) && !existsSync(join(target, "person.json")))
    return yield* usageError(`${target} is not an export about a person, and stays.`, "name another --to")
  yield* Effect.forEach(existing, (path) => onDisk(path, "written", () => removeBelow(dirname(target), path)))
})
