/** A SQLite file, which is made anew of each release, and replaces the one before. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { onDisk, probeFolder, syncFolder } from "../../output/files.ts"
import { ownerOf } from "../../output/folder.ts"
import { scratchFolder } from "../../output/scratch.ts"
import { isLater, laterRun, previousRelease, snapshotSum } from "../../stages/publish/manifest.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { failure } from "../../values/failure.ts"
import { counted, wrong, compared } from "../../values/finding.ts"
import type { Comparison, Delivery, Receiver, Work } from "../contract.ts"
import { attempt, makeFile, open } from "./make.ts"
import type { SqliteDestination } from "./settings.ts"

type To = Receiver<SqliteDestination>

const deliver = Effect.fn("sqlite.deliver")(function* (to: To, { full, output, releases }: Delivery) {
  const { name: target } = to
  const { place } = to.destination
  const release = yield* previousRelease(releases)
  // A release that was just published is complete.
  if (release === undefined) return []
  const owner = yield* ownerOf(output.folder)
  const before = yield* stateOf(to)
  if (before && before.owner !== owner && !full)
    return yield* refused(to, "it has the tables of another output folder; ./sluice publish --full replaces them")
  if (before?.content === snapshotSum(release.manifest) && !full) return []
  if (!full && isLater(before?.run_id, release.manifest.run))
    return yield* refused(to, laterRun(String(before?.run_id)))
  const unfinished = join(dirname(place), `.${basename(place)}.unfinished`)
  yield* onDisk(unfinished, "written", async () => {
    await mkdir(dirname(place), { recursive: true, mode: 0o700 })
    await writeFile(unfinished, "", { mode: 0o600 })
  })
  const tables = yield* makeFile(unfinished, release, { memoryMb: output.memoryMb, owner, target })
  yield* removeSideFiles(place)
  yield* onDisk(place, "replaced", () => rename(unfinished, place).then(() => syncFolder(dirname(place))))
  return tables
})

/** Removes what other programs left of the old file: SQLite would replay it onto the new one, and it may name erased people. */
const removeSideFiles = Effect.fnUntraced(function* (place: string) {
  for (const side of ["-wal", "-shm", "-journal"].map((end) => place + end))
    yield* onDisk(side, "removed", () => rm(side, { force: true }))
})

/** What the file says of itself; `undefined` if there is none. A file that sluice did not make is never replaced. */
const stateOf = Effect.fnUntraced(function* (to: To) {
  const { place } = to.destination
  if (!existsSync(place)) return undefined
  const database = yield* open(to.name, place, true)
  return yield* attempt(to.name, () => database.prepare("SELECT owner, run_id, content FROM _sluice").get()!).pipe(
    Effect.catch(() => refused(to, "it exists already, and sluice did not create it"))
  )
}, Effect.scoped)

const refused = ({ destination: { place }, name: target }: To, why: string) =>
  Effect.fail(failure({ _tag: "DestinationFailed", target, detail: `${place}: ${why}` }))

/** Compares it with a file that is made of the same release. */
const compare = Effect.fn("sqlite.compare")(function* (to: To, { output, releases }: Comparison) {
  const { name: target } = to
  const { place } = to.destination
  const [release, state] = [yield* previousRelease(releases), yield* stateOf(to)]
  if (release === undefined || state === undefined)
    return compared("nothing", [wrong(place, release === undefined ? "there is no release" : "it is missing")])
  if (state["content"] !== snapshotSum(release.manifest))
    return compared("nothing", [wrong(place, "it was made of another release")])
  const owner = yield* ownerOf(output.folder)
  const other = join(yield* scratchFolder(output.folder), "other.sqlite")
  const tables = yield* makeFile(other, release, { memoryMb: output.memoryMb, owner, target })
  const database = yield* open(target, other)
  const found = yield* attempt(target, () => {
    database.exec(`ATTACH ${literal(place)} AS there`)
    return tables.map((table) => {
      const [here, there] = [`main.${table}`, `there.${table}`]
      const counts = database.prepare(
        `SELECT (SELECT count(*) FROM ${here}) AS here, (SELECT count(*) FROM ${there}) AS there,
           (SELECT count(*) FROM (SELECT * FROM ${here} EXCEPT SELECT * FROM ${there})) AS missing`
      )
      return { table, ...(counts.get() as { here: number; there: number; missing: number }) }
    })
  })
  const rows = found.reduce((sum, { there }) => sum + there, 0)
  return compared(
    `${counted(tables.length, "table")}, ${counted(rows, "row")}, compared with the release`,
    found
      .filter(({ here, missing, there }) => missing > 0 || here !== there)
      .map(({ here, missing, table, there }) =>
        wrong(
          table.slice(1, -1),
          `${counted(there, "row")} of ${here}, ${missing} of the release are missing or have other values`
        )
      )
  )
}, Effect.scoped)

export const work: Work<SqliteDestination> = {
  part: "database",
  checkOf: (target) => `sqlite ${target}`,
  needs: "This user must be able to write to the folder of the file, or to create it.",
  probe: (to) => Effect.andThen(stateOf(to), probeFolder(dirname(to.destination.place))),
  deliver: (to, given) =>
    Effect.map(deliver(to, given), (tables) => ({ to: to.destination.place, changed: tables.length, unit: "table" })),
  compare,
  remove: Effect.fnUntraced(function* (to, { isLast, output }) {
    const { place } = to.destination
    if (!isLast || (yield* stateOf(to))?.owner !== (yield* ownerOf(output))) return
    yield* onDisk(place, "removed", () => rm(place))
    yield* removeSideFiles(place)
  })
}
