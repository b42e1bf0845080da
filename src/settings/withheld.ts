/** What the settings keep out of every store. Names are checked against the catalogue, which then says it with its tables. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Catalogue } from "../catalog/discover.ts"
import { type Places, placesOf } from "../catalog/field-places.ts"
import { isIndivisible, neededColumns } from "../catalog/needed-columns.ts"
import type { PersonalData } from "../catalog/personal-data.ts"
import type { Resource } from "../catalog/resource.ts"
import { type Column, type Table, tablesOf } from "../catalog/tables.ts"
import { type Withheld, pathIn } from "../catalog/withheld.ts"
import { wrong } from "../values/finding.ts"
import { closest } from "./closest.ts"
import { type SettingProblem, SettingsError } from "./errors.ts"
import type { PseudonymKey } from "./masking.ts"
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
  const all = catalogue.resources.map((resource) => new Members(resource))
  const needed = neededColumns(catalogue.resources)
  const problems: Array<SettingProblem> = []
  const [excluded, hashed, withoutUnknown] = [new Set<string>(), new Set<string>(), new Set<string>()]

  for (const { name: table, exclude = [], hash = [], only } of tables) {
    const report = (key: string, what: SettingProblem["what"]) =>
      problems.push(wrong(settings!.placeOf(`tables.${table}${key && `.${key}`}`), what))
    const members = all.find((one) => one.table(table) !== undefined)
    if (members === undefined) {
      const near = closest(
        table,
        all.flatMap((one) => one.names)
      )
      report("", { _tag: "UnknownTableSection", table, ...(near !== undefined && { closest: near }) })
      continue
    }
    const names = members.of(table)
    const known = (key: string, listed: ReadonlyArray<string>) =>
      listed.filter((column) => {
        if (names.includes(column) || members.table(table)!.columns.some(({ name }) => name === column)) return true
        const near = closest(column, names)
        report(key, { _tag: "UnknownColumn", table, key, column, ...(near !== undefined && { closest: near }) })
        return false
      })
    const removable = (key: string, listed: ReadonlyArray<string>) =>
      known(key, listed).filter((column) => {
        const isChild = members.children(table).includes(column)
        const need =
          needed.get(isChild ? column : pathIn(table, column)) ?? (names.includes(column) ? undefined : "system")
        // Equal keys have equal hashes.
        if (need === undefined || (key === "hash" && need === "key" && table !== members.names[0])) return true
        report(key, { _tag: "NeededColumn", table, key, column, need })
        return false
      })
    if (only !== undefined && exclude.length > 0) report("only", { _tag: "OnlyAndExclude", table })
    for (const column of removable("exclude", exclude)) members.exclude(table, column, excluded)
    for (const column of removable("hash", hash)) {
      const { enumValues, type } = members.table(table)!.columns.find(({ name }) => name === column) ?? {}
      if (type !== "text" || enumValues !== undefined || exclude.includes(column))
        report("hash", { _tag: "NotHashable", table, column })
      else hashed.add(pathIn(table, column))
    }
    if (only === undefined) continue
    withoutUnknown.add(table)
    const kept = new Set([...known("only", only), ...hash])
    for (const column of names)
      if (!kept.has(column) && !needed.has(pathIn(table, column)) && !needed.has(column))
        members.exclude(table, column, excluded)
  }
  for (const members of all) members.excludeClasses(classes, needed, excluded)
  if (classes.includes("direct")) for (const { names } of all) for (const table of names) withoutUnknown.add(table)
  for (const [rule, set] of [
    ["excluded", excluded],
    ["hashed", hashed]
  ] as const)
    for (const members of all)
      for (const [path, column] of members.columns)
        if (column.copyOf !== undefined && [column.copyOf, column.copyOf.split(".")[0]!].some((one) => set.has(one))) {
          if (rule === "hashed") hashed.add(path)
          else members.excludeColumn(path, needed, excluded)
        }
  for (const path of excluded) hashed.delete(path)
  for (const members of all) members.excludeEmpty(needed, excluded)
  // A field without a class of its own counts as direct.
  const fieldClasses = new Set<PersonalData>(["direct", ...Object.values(customFields)])
  const hasFields = excludeCustomFields.length > 0 || classes.some((one) => fieldClasses.has(one))
  const isNotRead = (resource: Resource) =>
    isIndivisible(resource) &&
    tablesOf(resource)[0].columns.some(
      ({ type, personal }) => type !== "system" && classes.some((one) => one === personal)
    )
  const withheld: Withheld = {
    excluded,
    hashed,
    withoutUnknown,
    ...(hasFields && {
      customFields: { keys: new Set(excludeCustomFields), classes, classOf: customFields }
    })
  }
  const resources = catalogue.resources.map((resource) => ({
    ...resource,
    withheld: isNotRead(resource) ? { ...withheld, isNotRead: true as const } : withheld
  }))
  return { catalogue: { ...catalogue, resources }, problems }
}

/** The key of the hashes; `undefined` if no column is hashed. */
export const hashKey = Effect.fn("settings.hashKey")(function* (
  settings: WithheldSettings,
  catalogue: Catalogue
): Effect.fn.Return<PseudonymKey | undefined, SettingsError> {
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

/** What can be named of a resource: the columns of its records, and its child tables. */
class Members {
  readonly columns: ReadonlyMap<string, Column>
  private readonly tables: ReadonlyArray<Table>
  private readonly places: Places

  constructor(resource: Resource) {
    this.tables = tablesOf(resource)
    this.places = placesOf(resource)
    this.columns = new Map(
      this.tables.flatMap(({ columns, name }) => columns.map((column) => [pathIn(name, column.name), column] as const))
    )
  }

  get names(): ReadonlyArray<string> {
    return this.tables.map(({ name }) => name)
  }

  table(name: string): Table | undefined {
    return this.tables.find((one) => one.name === name)
  }

  children(table: string): ReadonlyArray<string> {
    return this.places.children.flatMap((one) => (one.table === table ? [one.child.table] : []))
  }

  of(table: string): ReadonlyArray<string> {
    return [...new Set([...this.dataOf(table).map(({ name }) => name), ...this.children(table)])]
  }

  private dataOf(table: string): ReadonlyArray<Column> {
    return this.table(table)!.columns.filter(({ type }) => type !== "system")
  }

  /** The text of a custom value goes with it, and the rows below a row with it. */
  exclude(table: string, member: string, excluded: Set<string>): void {
    if (this.children(table).includes(member)) {
      excluded.add(member)
      for (const below of this.children(member)) this.exclude(member, below, excluded)
    } else if (this.columns.get(pathIn(table, member))?.role === "customValue") {
      for (const { name, role } of this.dataOf(table)) if (role === "customValue") excluded.add(pathIn(table, name))
    } else excluded.add(pathIn(table, member))
  }

  /** Each custom field has a class of its own. */
  excludeClasses(
    classes: ReadonlyArray<PersonalData>,
    needed: ReadonlyMap<string, unknown>,
    excluded: Set<string>
  ): void {
    for (const { name: table } of this.tables)
      for (const { name, personal, role } of this.dataOf(table)) {
        if (!classes.some((one) => one === personal) || role === "customValue") continue
        this.excludeColumn(pathIn(table, name), needed, excluded)
      }
  }

  /** Without a column that a child table needs, it has no rows. */
  excludeColumn(path: string, needed: ReadonlyMap<string, unknown>, excluded: Set<string>): void {
    const [table, column] = path.split(".") as [string, string]
    if (!needed.has(path)) this.exclude(table, column, excluded)
    else if (table !== this.names[0]) this.excludeTable(table, excluded)
  }

  /** A child table without a column of its own has nothing to say. */
  excludeEmpty(needed: ReadonlyMap<string, unknown>, excluded: Set<string>): void {
    for (const table of this.names.slice(1)) {
      const data = this.dataOf(table)
      const isEmpty = data.every(({ name }) => excluded.has(pathIn(table, name)))
      if (isEmpty && data.length > 0 && !needed.has(table)) this.excludeTable(table, excluded)
    }
  }

  private excludeTable(table: string, excluded: Set<string>): void {
    const parent = this.places.children.find(({ child }) => child.table === table)!.table
    this.exclude(parent, table, excluded)
  }
}
