/**
 * What a run has changed, from the rows before and after it: each change has left the earlier version in the history, whole
 * and without a gap in time; what did not change is untouched; and the counts of the run are those of the rows.
 */
import { allSimulated } from "../catalogue.ts"
import { type State, type Stored, countOf, keyOf } from "./state.ts"

/** A detail changes its row also where it differs in columns that are left out here. */
const detailed = new Set(allSimulated.filter(({ resource }) => resource.detail).map(({ resource }) => resource.table))

export interface Step {
  readonly before: State
  readonly after: State
  /** The run has ended, and loaded nothing that another run had left. */
  readonly isWhole: boolean
}

export const versionsAreRight = ({ after, before, isWhole }: Step): ReadonlyArray<string> => {
  const wrong = after.duplicates.map((row) => `two rows of ${row}`)
  for (const [table, rows] of after.rows) {
    const hasDetail = detailed.has(table)
    const earlier = before.rows.get(table)!
    const added = versionsAdded(before.history.get(table)!, after.history.get(table)!)
    const counted = { new: 0, changed: 0, deleted: 0, newAndDeleted: 0 }
    for (const key of earlier.keys()) if (!rows.has(key)) wrong.push(`${table} ${key}: the row was removed`)
    for (const [key, row] of rows) {
      const previous = earlier.get(key)
      const versions = (added.get(key) ?? []).toSorted((one, other) => (one.from < other.from ? -1 : 1))
      if (previous === undefined) {
        counted.new++
        if (row.deleted !== null) counted.newAndDeleted++
      } else if (isNewlyDeleted(previous, row)) counted.deleted++
      else if (previous.content !== row.content || previous.deleted !== row.deleted) counted.changed++
      wrong.push(...chainOf(previous, row, versions, { isWhole, hasDetail }).map((one) => `${table} ${key}: ${one}`))
    }
    for (const key of added.keys()) if (!rows.has(key)) wrong.push(`${table} ${key}: an earlier version without a row`)
    wrong.push(
      ...tagsAreKept(table, added, { before, after }),
      ...countsAreRight(table, counted, { before, after, isWhole })
    )
  }
  return wrong
}

const isNewlyDeleted = (previous: Stored, row: Stored) => previous.deleted === null && row.deleted !== null

/** The versions of one row follow each other from the row before to the row after. */
const chainOf = (
  previous: Stored | undefined,
  row: Stored,
  versions: ReadonlyArray<Stored>,
  { hasDetail, isWhole }: { readonly hasDetail: boolean; readonly isWhole: boolean }
): ReadonlyArray<string> => {
  if (previous === undefined) return isWhole && versions.length > 0 ? ["a new row has an earlier version"] : []
  if (row.run === previous.run) {
    if (versions.length > 0) return ["an earlier version of a row that no other run has written"]
    return isWhole && (row.content !== previous.content || row.deleted !== previous.deleted)
      ? [`it changed without an earlier version: ${previous.content} became ${row.content}`]
      : []
  }
  const [first] = versions
  if (first === undefined) return ["it was written again without an earlier version"]
  const wrong: Array<string> = []
  if (isWhole && versions.length > 1) wrong.push(`${versions.length} earlier versions of one run`)
  if (!hasDetail && versions.length === 1 && row.content === previous.content && row.deleted === previous.deleted)
    wrong.push("an earlier version that equals the row")
  // What a killed run had read and not loaded belongs to its row, which this run has replaced since.
  const isOfKilled = !isWhole && first.run === previous.run
  if (first.content !== previous.content && !isOfKilled)
    wrong.push(`the earlier version was ${previous.content}, and is kept as ${first.content}`)
  if (first.deleted !== previous.deleted) wrong.push("the earlier version was deleted, or not, and is kept otherwise")
  if (first.from !== previous.synced) wrong.push(`the earlier version begins ${first.from}, not ${previous.synced}`)
  for (const [index, { to }] of versions.entries()) {
    const next = versions[index + 1]?.from ?? row.synced
    if (to !== next) wrong.push(`a version ends ${to}, and the next begins ${next}`)
  }
  return wrong
}

const versionsAdded = (before: ReadonlyArray<Stored>, after: ReadonlyArray<Stored>) => {
  const identity = (version: Stored) => JSON.stringify([version.row])
  const known = new Map<string, number>()
  for (const version of before) known.set(identity(version), (known.get(identity(version)) ?? 0) + 1)
  const added: Array<Stored> = []
  for (const version of after) {
    const left = known.get(identity(version)) ?? 0
    if (left > 0) known.set(identity(version), left - 1)
    else added.push(version)
  }
  return Map.groupBy(added, keyOf)
}

/** The rows of child tables go with their version. */
const tagsAreKept = (
  table: string,
  added: ReadonlyMap<string, ReadonlyArray<Stored>>,
  { after, before }: Omit<Step, "isWhole">
): ReadonlyArray<string> => {
  if (table !== "contacts") return []
  return [...added].flatMap(([key, [first]]) => {
    if (!before.rows.get(table)!.has(key)) return []
    const [was, kept] = [before.tags.get(key) ?? "", after.earlierTags.get(`${key} ${first!.from}`) ?? ""]
    return was === kept ? [] : [`contacts ${key}: its tags were ${was}, and are kept as ${kept}`]
  })
}

const countsAreRight = (
  table: string,
  counted: Readonly<Record<"new" | "changed" | "deleted" | "newAndDeleted", number>>,
  { after, before, isWhole }: Step
): ReadonlyArray<string> => {
  const difference = (count: string) => countOf(after, table, count) - countOf(before, table, count)
  const wrong: Array<string> = []
  if (difference("new_rows") !== counted.new)
    wrong.push(`${table}: ${counted.new} new rows, counted ${difference("new_rows")}`)
  if (!isWhole) return wrong
  const [changed, deleted] = [difference("changed_rows"), difference("deleted_rows")]
  const [all, seen] = [changed + deleted, counted.changed + counted.deleted]
  // A new record that a user deletes while the account is read is both new and deleted; one that comes so is new alone.
  const isMore = detailed.has(table) ? false : all > seen + counted.newAndDeleted
  if (deleted > counted.deleted + counted.newAndDeleted || all < seen || isMore)
    wrong.push(
      `${table}: ${counted.changed} rows changed and ${counted.deleted} deleted, counted ${changed} and ${deleted}`
    )
  return wrong
}

/** What was rejected is stored once, and counted. */
export const rejectsAreCounted = (state: State, before: State): ReadonlyArray<string> =>
  (["rejected_values", "rejected_records"] as const).flatMap((name) => {
    const rows = state.meta[name].length - before.meta[name].length
    const sum = (of: State) => of.meta.run_resources.reduce((all, row) => all + Number(row[name]), 0)
    const counted = sum(state) - sum(before)
    return rows === counted ? [] : [`${rows} rows of meta.${name}, counted ${counted}`]
  })
