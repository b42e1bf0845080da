/** What the settings keep out of every store. Names are checked against the catalogue, which then says it with its tables. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Catalogue } from "../catalog/discover.ts"
import { type Need, isIndivisible, neededColumns } from "../catalog/needed-columns.ts"
import type { PersonalData } from "../catalog/personal-data.ts"
import { type Resource, childRequestOf } from "../catalog/resource.ts"
import { tablesOf } from "../catalog/tables.ts"
import { withholdsFrom } from "../catalog/withhold.ts"
import { type Withheld, pathIn } from "../catalog/withheld.ts"
import { wrong } from "../values/finding.ts"
import { closest } from "./closest.ts"
import { type SettingProblem, SettingsError } from "./errors.ts"
import type { PseudonymKey } from "./masking.ts"
import { Members, hasClass } from "./members.ts"
import type { ListedItems, SettingValues } from "./sections.ts"

export interface WithheldSettings {
  readonly withheld?: {
    readonly tables: ListedItems["tables"]
    readonly personalData: SettingValues["personalData"]
    /** The line of the file that contains a setting. */
    readonly placeOf: (path: string) => string
    readonly key?: () => Result.Result<PseudonymKey, SettingProblem>
  }
}

/** The catalogue with what is kept out, and what is wrong with the settings that say so. */
export const withholding = (
  { withheld: settings }: WithheldSettings,
  catalogue: Catalogue
): { readonly catalogue: Catalogue; readonly problems: ReadonlyArray<SettingProblem> } => {
  const { excludeClasses: classes = [], excludeCustomFields = [], customFields = {} } = settings?.personalData ?? {}
  const tables = settings?.tables ?? []
  if (tables.length + classes.length + excludeCustomFields.length === 0) return { catalogue, problems: [] }
  const needed = neededColumns(catalogue.resources)
  const out: Out = { excluded: new Set(), hashed: new Set(), withoutUnknown: new Set() }
  const all = catalogue.resources.map((resource) => new Members(resource, needed, out.excluded))
  const problems = tables.flatMap((one) => keepOut(one, all, needed, out, settings!.placeOf))
  for (const members of all)
    for (const column of members.excludeClasses(classes)) {
      const [table, need] = [members.names[0]!, needed.get(pathIn(members.names[0]!, column))!]
      if (need === "whole") continue
      const where = settings!.placeOf("personal_data.exclude_classes")
      problems.push(wrong(where, { _tag: "NeededOfClass", table, column, need }))
    }
  if (classes.includes("direct")) for (const { names } of all) for (const table of names) out.withoutUnknown.add(table)
  // A field without a class of its own counts as direct.
  const fieldClasses = new Set<PersonalData>(["direct", ...Object.values(customFields)])
  const hasFields = excludeCustomFields.length > 0 || classes.some((one) => fieldClasses.has(one))
  const fields = { keys: new Set(excludeCustomFields), classes, classOf: customFields }
  const withheld: Withheld = { ...out, ...(hasFields && { customFields: fields }) }
  const singleReads = new Map(tables.flatMap(({ details, name }) => (details === undefined ? [] : [[name, details]])))
  const concerned = catalogue.resources.filter((resource) => withholdsFrom(withheld, resource))
  keepCopiesOut(all, out, new Set(concerned.map(({ table }) => table)))
  for (const members of all) members.excludeEmpty()
  const isNotRead = (resource: Resource) => isIndivisible(resource) && hasClass(tablesOf(resource)[0], classes)
  const keepsOut = hasFields || out.excluded.size + out.hashed.size + out.withoutUnknown.size > 0
  const resources = catalogue.resources.map((resource) => ({
    ...resource,
    ...(singleReads.has(resource.table) && { singleReads: singleReads.get(resource.table)! }),
    ...(keepsOut && { withheld: isNotRead(resource) ? { ...withheld, isNotRead: true as const } : withheld })
  }))
  return { catalogue: { ...catalogue, resources }, problems }
}

/** Grows with each setting. */
type Out = { readonly [Name in "excluded" | "hashed" | "withoutUnknown"]: Set<string> }

/** Keeps out what one table of the settings says; returns what is wrong with it. */
const keepOut = (
  { name: table, details, exclude = [], hash = [], only }: ListedItems["tables"][number],
  all: ReadonlyArray<Members>,
  needed: ReadonlyMap<string, Need>,
  out: Out,
  placeOf: (path: string) => string
): ReadonlyArray<SettingProblem> => {
  const problems: Array<SettingProblem> = []
  const report = (key: string, what: SettingProblem["what"]) =>
    problems.push(wrong(placeOf(`tables.${table}${key && `.${key}`}`), what))
  const members = all.find(({ names }) => names.includes(table))
  if (members === undefined) {
    const names = all.flatMap((one) => one.names)
    report("", { _tag: "UnknownTableSection", table, closest: closest(table, names) })
    return problems
  }
  const names = members.of(table)
  if (details !== undefined && (table !== members.names[0] || childRequestOf(members.resource) === undefined))
    report("details", { _tag: "NoSingleReads", table })
  const known = (key: string, listed: ReadonlyArray<string>) =>
    listed.filter((column) => {
      const isKnown = names.includes(column) || members.columns.has(pathIn(table, column))
      if (!isKnown) report(key, { _tag: "UnknownColumn", table, key, column, closest: closest(column, names) })
      return isKnown
    })
  const removable = (key: string, listed: ReadonlyArray<string>) =>
    known(key, listed).filter((column) => {
      const path = members.children(table).includes(column) ? column : pathIn(table, column)
      const need = needed.get(path) ?? (names.includes(column) ? undefined : "system")
      // Equal keys have equal hashes.
      if (need === undefined || (key === "hash" && need === "key" && table !== members.names[0])) return true
      report(key, { _tag: "NeededColumn", table, key, column, need })
      return false
    })
  if (only !== undefined && exclude.length > 0) report("only", { _tag: "OnlyAndExclude", table })
  for (const column of removable("exclude", exclude)) members.exclude(table, column)
  for (const column of removable("hash", hash)) {
    const { enumValues, type } = members.columns.get(pathIn(table, column)) ?? {}
    if (type !== "text" || enumValues !== undefined || exclude.includes(column))
      report("hash", { _tag: "NotHashable", table, column })
    else out.hashed.add(pathIn(table, column))
  }
  if (only === undefined) return problems
  out.withoutUnknown.add(table)
  const kept = new Set([...known("only", only), ...hash])
  for (const column of names)
    if (!kept.has(column) && !needed.has(pathIn(table, column)) && !needed.has(column)) members.exclude(table, column)
  return problems
}

/** A column that repeats another one has no more than that, and none repeats the records of a table of which something is kept out. */
const keepCopiesOut = (all: ReadonlyArray<Members>, { excluded, hashed }: Out, concerned: ReadonlySet<string>) => {
  const copies = all.flatMap((members) =>
    [...members.columns].flatMap(([path, { copyOf }]) => (copyOf === undefined ? [] : [{ members, path, copyOf }]))
  )
  for (const { copyOf, members, path } of copies)
    if (concerned.has(copyOf) || excluded.has(copyOf) || excluded.has(copyOf.split(".")[0]!))
      members.excludeColumn(path)
    else if (hashed.has(copyOf)) hashed.add(path)
  for (const path of excluded) hashed.delete(path)
}

/** The key of the hashes; `undefined` if no column is hashed. */
export const hashKey = Effect.fn("settings.hashKey")(function* (settings: WithheldSettings, catalogue: Catalogue) {
  const found = hashKeyResult(settings, catalogue)
  if (found === undefined) return undefined
  return Result.isSuccess(found) ? found.success : yield* new SettingsError({ problems: [found.failure] })
})

/** What is wrong with that key. */
export const hashKeyProblems = (settings: WithheldSettings, catalogue: Catalogue): ReadonlyArray<SettingProblem> => {
  const found = hashKeyResult(settings, catalogue)
  return found !== undefined && Result.isFailure(found) ? [found.failure] : []
}

const hashKeyResult = ({ withheld: settings }: WithheldSettings, { resources }: Catalogue) =>
  resources.some(({ withheld }) => withheld !== undefined && withheld.hashed.size > 0) ? settings?.key?.() : undefined
