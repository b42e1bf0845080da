/** A SQLite file, which is made anew of each release, and replaces the one before. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { onDisk, probeFolder, readJson, syncFolder, writeDurably } from "../../output/files.ts"
import { ownerOf } from "../../output/folder.ts"
import { scratchFolder } from "../../output/scratch.ts"
import { previousRelease, snapshotSum } from "../../stages/publish/manifest.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { failure } from "../../values/failure.ts"
import { counted, wrong, compared } from "../../values/finding.ts"
import type { Comparison, Receiver, Work } from "../contract.ts"
import { type Permitted, guarded } from "../guarded.ts"
import { attempt, makeFile, open } from "./make.ts"
import type { SqliteDestination } from "./settings.ts"

type To = Receiver<SqliteDestination>

const look = Effect.fn("sqlite.look")(function* (to: To) {
  const { place } = to.destination
  const state = yield* stateOf(to)
  if (state === undefined) return undefined
  const written = yield* readJson(writtenAs(to), Written)
  const found = yield* onDisk(place, "read", () => stat(place))
  // A file that another program has written to has other rows than it was given, or may have them.
  const isChanged =
    written !== undefined &&
    written.content === state.content &&
    (found.size !== written.bytes || found.mtimeMs !== written.modifiedMs || existsSync(`${place}-wal`))
  return { ...state, missing: isChanged ? [basename(place)] : [] }
})

const stage = Effect.fn("sqlite.stage")(function* (to: To, { found, output, owner, release }: Permitted<There>) {
  const { place } = to.destination
  const content = snapshotSum(release!.manifest)
  if (found?.content === content && found.missing.length === 0) return undefined
  const unfinished = join(dirname(place), `.${basename(place)}.unfinished`)
  yield* onDisk(unfinished, "written", async () => {
    await mkdir(dirname(place), { recursive: true, mode: 0o700 })
    await writeFile(unfinished, "", { mode: 0o600 })
  })
  const { notes, tables } = yield* makeFile(unfinished, release!, { memoryMb: output.memoryMb, owner, target: to.name })
  for (const note of notes) yield* Effect.annotateLogs(Effect.logWarning(`${place}: ${note}`), { target: to.name })
  return Effect.gen(function* () {
    yield* removeSideFiles(place)
    yield* onDisk(place, "replaced", () => rename(unfinished, place).then(() => syncFolder(dirname(place))))
    const note = writtenAs(to)
    yield* onDisk(note, "written", async () => {
      const { mtimeMs, size } = await stat(place)
      await mkdir(dirname(note), { recursive: true, mode: 0o700 })
      await writeDurably(note, JSON.stringify({ content, bytes: size, modifiedMs: mtimeMs } satisfies Written))
    })
    return tables
  })
})

type There = NonNullable<Effect.Success<ReturnType<typeof look>>>

/** The file as it was when it was written, beside the releases of the target. */
const Written = Schema.Struct({ content: Schema.String, bytes: Schema.Number, modifiedMs: Schema.Number })
type Written = typeof Written.Type
const writtenAs = ({ folder }: To): string => join(dirname(folder), "written.json")

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
  const read = attempt(to.name, () => database.prepare("SELECT owner, run_id AS run, content FROM _sluice").get())
  const detail = `${place}: it exists already, and sluice did not create it`
  return yield* Option.match(decodeState(yield* Effect.orElseSucceed(read, () => undefined)), {
    onNone: () => Effect.fail(failure({ _tag: "DestinationFailed", target: to.name, detail })),
    onSome: Effect.succeed
  })
}, Effect.scoped)

const decodeState = Schema.decodeUnknownOption(
  Schema.Struct({ owner: Schema.String, run: Schema.String, content: Schema.String })
)

/** Compares it with a file that is made of the same release. */
const compare = Effect.fn("sqlite.compare")(function* (to: To, { output, releases }: Comparison) {
  const { name: target } = to
  const { place } = to.destination
  const [release, state] = [yield* previousRelease(releases), yield* stateOf(to)]
  if (release === undefined || state === undefined)
    return compared("nothing", [wrong(place, release === undefined ? "there is no release" : "it is missing")])
  if (state.content !== snapshotSum(release.manifest))
    return compared("nothing", [wrong(place, "it was made of another release")])
  const owner = yield* ownerOf(output.folder)
  const other = join(yield* scratchFolder(output.folder), "other.sqlite")
  const { tables } = yield* makeFile(other, release, { memoryMb: output.memoryMb, owner, target })
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
  deliver: guarded({ words: ({ destination }) => ({ to: destination.place, unit: "table" }), look, stage }),
  compare,
  remove: Effect.fnUntraced(function* (to, { isLast, output }) {
    const { place } = to.destination
    if (!isLast || (yield* stateOf(to))?.owner !== (yield* ownerOf(output))) return
    yield* onDisk(place, "removed", () => rm(place))
    yield* removeSideFiles(place)
  })
}
