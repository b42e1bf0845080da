/**
 * Checks the whole vault, one segment in memory at a time. It reads the files directly, because opening a vault for writing
 * sets aside an incomplete write at its end, and a check must change nothing.
 */
import { Effect } from "effect"
import { readFile, readdir } from "node:fs/promises"
import { ifMissing, onDisk } from "../../output/files.ts"
import { isTornWrite } from "../../output/leftovers.ts"
import { type Entry, foreignIn } from "../../stores/vault/entry.ts"
import { decode, isTorn } from "../../stores/vault/frame.ts"
import { type Position, isBefore } from "../../stores/vault/position.ts"
import { plainPath, readSealed } from "../../stores/vault/segments.ts"
import { type VerifyFinding, counted, note, wrong } from "../../values/finding.ts"
import { deniedText } from "../../output/denied.ts"

/** What the warehouse expects of the vault. */
export interface Expected {
  /** How far the warehouse has loaded the vault. */
  readonly loaded: Position
  /** Runs whose pages are in the tables. */
  readonly runs: ReadonlyArray<string>
  /** Labels of resources that entries may have. */
  readonly resources: ReadonlySet<string>
  readonly locations: ReadonlySet<string>
  /** Tables without a definition, whose entries are not checked. */
  readonly undefinedTables: ReadonlyArray<string>
}

export const checkVault = Effect.fn("verify.vault")(function* (folder: string, expected: Expected | undefined) {
  const { loaded, runs = [] } = expected ?? {}
  const names = yield* onDisk(folder, "read", () => readdir(folder).catch(ifMissing(undefined)))
  const files = sorted(names ?? [])
  const last = Math.max(0, ...files.sealed, ...files.plain)
  const findings: Array<VerifyFinding> = [...gaps(files, last), ...leftovers(files)]
  if (names === undefined && loaded) findings.push(wrong(folder, "the folder is missing"))
  const { undefinedTables = [] } = expected ?? {}
  const isUndefined = ({ resource }: Entry) =>
    undefinedTables.some((table) => resource === table || resource.startsWith(`${table}/`))
  for (const table of undefinedTables)
    findings.push(note(table, "no definition describes this table, so it was not checked; set pipelines.folder"))
  const foundRuns = new Set<string>()
  let [entries, bytes, waiting] = [0, 0, 0]
  let place = loaded === undefined || (loaded.segment === last + 1 && loaded.offset === 0) ? "within" : "beyond"

  for (let segment = 1; segment <= last; segment++) {
    const sealed = files.sealed.has(segment)
    if (!sealed && !files.plain.has(segment)) continue
    const content = yield* onDisk(folder, "read", () =>
      (sealed ? readSealed(folder, segment) : readFile(plainPath(folder, segment))).catch((cause) =>
        deniedText.test(cause.code) ? Promise.reject(cause) : cause.message
      )
    )
    const where = `segment ${segment}`
    if (typeof content !== "object") {
      findings.push(wrong(where, `it cannot be ${sealed ? "unpacked" : "read"}: ${content ?? "it was removed"}`))
      if (loaded?.segment === segment) place = "within"
      continue
    }
    const here = loaded?.segment === segment ? loaded.offset : undefined
    const isLoaded = loaded !== undefined && segment < loaded.segment
    const walked = walk(content, here ?? 0, foundRuns, (entry, end) =>
      expected && (isLoaded || end <= (here ?? 0)) && !isUndefined(entry) ? foreignIn(entry, expected) : undefined
    )
    for (const [what, count] of walked.unexpected)
      findings.push(wrong(where, `it contains ${what}, ${counted(count, "time")}`))
    const whole = walked.end === content.length
    entries += walked.entries
    bytes += content.length
    if (!loaded || segment > loaded.segment) waiting += walked.entries
    if (here !== undefined) {
      waiting += walked.after
      // Nobody knows this after damage; the damage itself is reported below.
      place = walked.isBoundary || (!whole && here > walked.end && here <= content.length) ? "within" : "beyond"
    }
    if (whole) continue
    const lost = entriesAfter(content, walked.end)
    const isDamageLoaded = loaded === undefined || isBefore({ segment, offset: walked.end }, loaded)
    const torn = !sealed && segment === last && isTorn(content, walked.end, isDamageLoaded) && (here ?? 0) <= walked.end
    const tail = counted(content.length - walked.end, "byte")
    findings.push(
      torn
        ? note(where, `its last ${tail} are an incomplete write, which the next sync sets aside`)
        : wrong(where, `it is damaged at byte ${walked.end}: ${lostText(lost, tail)}`)
    )
  }
  if (loaded && place === "beyond")
    findings.push(
      wrong(
        "position",
        `the warehouse has loaded segment ${loaded.segment} up to byte ${loaded.offset}, where no entry of the vault ends`
      )
    )
  if (waiting > 0) findings.push(note("position", `${counted(waiting, "entry", "entries")} wait for the next sync`))
  const lost = runs.filter((run) => !foundRuns.has(run))
  // Missing or damaged segments explain missing runs.
  if (lost.length > 0 && findings.every(({ level }) => level === "note"))
    findings.push(
      wrong(
        "runs",
        `it contains no entry of ${counted(lost.length, "run")} whose pages are in the tables; the first is ${lost[0]}`
      )
    )
  const segments = counted(
    files.sealed.size + [...files.plain].filter((one) => !files.sealed.has(one)).length,
    "segment"
  )
  return {
    looked: `${segments}, ${counted(entries, "entry", "entries")}, ${counted(Math.round(bytes / 1e6), "MB", "MB")} unpacked`,
    findings
  }
})

interface Files {
  readonly sealed: ReadonlySet<number>
  readonly plain: ReadonlySet<number>
  readonly others: ReadonlyArray<string>
}

const sorted = (names: ReadonlyArray<string>): Files => {
  const numbers = (form: RegExp) =>
    new Set(names.filter((name) => form.test(name)).map((name) => Number.parseInt(name)))
  return {
    sealed: numbers(/^\d{6,}\.ndjson\.zst$/),
    plain: numbers(/^\d{6,}\.ndjson$/),
    others: names.filter((name) => !/^\d{6,}\.ndjson(\.zst)?$/.test(name))
  }
}

/** Numbers without a segment, as ranges. */
const gaps = ({ sealed, plain }: Files, last: number): ReadonlyArray<VerifyFinding> => {
  const found: Array<VerifyFinding> = []
  for (let from = 1; from <= last; from++) {
    let to = from
    while (to <= last && !sealed.has(to) && !plain.has(to)) to++
    if (to > from) found.push(wrong(to - from === 1 ? `segment ${from}` : `segments ${from} to ${to - 1}`, "missing"))
    from = to
  }
  return found
}

const leftovers = ({ sealed, plain, others }: Files): ReadonlyArray<VerifyFinding> => [
  ...[...plain]
    .filter((segment) => sealed.has(segment))
    .map((segment) =>
      note(`segment ${segment}`, "it exists both plain and compressed; the next sync removes the plain one")
    ),
  ...others.map((name) =>
    note(
      name,
      isTornWrite(name)
        ? "an incomplete write that a sync has set aside"
        : name.endsWith(".part")
          ? "left by an interrupted compression; a later one replaces it"
          : "not a file of the vault"
    )
  )
]

/** Reads the entries up to the first damaged one, and finds whether one of them ends at `offset`. */
const walk = (
  segment: Buffer,
  offset: number,
  runs: Set<string>,
  problemOf: (entry: Entry, end: number) => string | undefined
) => {
  let [entries, after, end] = [0, 0, 0]
  const unexpected = new Map<string, number>()
  let isBoundary = offset === 0
  for (let entry = decode(segment, 0); entry; entry = decode(segment, end)) {
    entries++
    runs.add(entry.entry.run)
    if (end >= offset) after++
    end = entry.end
    isBoundary ||= end === offset
    const what = problemOf(entry.entry, end)
    if (what !== undefined) unexpected.set(what, (unexpected.get(what) ?? 0) + 1)
  }
  return { entries, after, end, isBoundary, unexpected }
}

/** Counts the intact entries after a damaged one. */
const entriesAfter = (segment: Buffer, damaged: number): number => {
  let entries = 0
  for (let at = segment.indexOf(entryStart, damaged); at >= 0; at = segment.indexOf(entryStart, at + 1))
    if (decode(segment, at + 1)) entries++
  return entries
}
const entryStart = Buffer.from('\n{"kind":')

const lostText = (lost: number, tail: string) =>
  lost === 0
    ? `its last ${tail} are not a complete entry`
    : `${counted(lost, "entry", "entries")} after it cannot be read`
