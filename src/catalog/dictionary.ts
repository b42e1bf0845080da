/** Writes the data dictionary as Markdown: the meaning and source of every table and column, and how each is updated. */
import { itemAt, present } from "./present.ts"
import { singleReadsText } from "./optional.ts"
import { optionalPath, whyOptional } from "./optional-settings.ts"
import * as Duration from "effect/Duration"
import { type Covered, coverageOf, operationsOf } from "./coverage.ts"
import type { Catalogue } from "./discover.ts"
import { type PersonalData, personalDataClasses, personalDataMeanings } from "./personal-data.ts"
import {
  type ChildRequest,
  type ListResource,
  type Paging,
  type Resource,
  childRequestOf,
  totalsOf
} from "./resource.ts"
import { type Table, tablesOf } from "./tables.ts"

/** A table or a model, as people read about it. */
export interface Described {
  /** That of a model has its schema. */
  readonly name: string
  readonly family: string
  readonly description: string
  readonly key: ReadonlyArray<string>
  /** Which rows it has, and where they come from, as lines of Markdown. */
  readonly source: string
  /** The tables and models of which it is made, if it is a model. */
  readonly reads: ReadonlyArray<string>
  /** The resource whose records fill it, if it is a table. */
  readonly resource?: string
  readonly columns: ReadonlyArray<DescribedColumn>
}

export interface DescribedColumn {
  readonly name: string
  readonly type: string
  readonly description: string
  readonly personal: PersonalData
  readonly documentedValues?: ReadonlyArray<string>
  /** Says what the origins are to it. */
  readonly relation: "refers to" | "from" | "is"
  /** The table to whose ids its values belong, or the columns of which a model makes them. */
  readonly origins: ReadonlyArray<string>
}

export interface DescribedTable {
  readonly family: string
  /** The resource whose records fill the table. */
  readonly resource: Resource
  readonly table: Table
}

/** All tables, by family. */
export const describedTables = (catalogue: Catalogue): ReadonlyArray<DescribedTable> =>
  catalogue.resources
    .flatMap((resource) => {
      const family = present(catalogue.familyByTable.get(resource.table), `family of ${resource.table}`)
      return tablesOf(resource).map((table) => ({ family, resource, table }))
    })
    .toSorted((one, other) => (one.family < other.family ? -1 : one.family > other.family ? 1 : 0))

export const dictionary = (catalogue: Catalogue): string => {
  const tables = describedTables(catalogue)
  const families = new Set(tables.map(({ family }) => family))
  return [
    "# Data dictionary",
    "Made from the definitions under `pipelines/` by `./sluice dictionary`. The published DuckDB file has the same sentences as comments.",
    `Personal data: ${personalDataClasses.map((name) => `\`${name}\` ${personalDataMeanings[name]}`).join("; ")}. A JSON column has the ` +
      "class of the most personal value that it contains.",
    ...[...families].flatMap((family) => [
      `## ${family}`,
      ...tables.filter((one) => one.family === family).map((one) => markdownOf(tableDescribed(catalogue, one)))
    ])
  ].join("\n\n")
}

/** The coverage as a Markdown table. */
export const coverageTable = (catalogue: Catalogue): string =>
  [
    "| operation | becomes | |",
    "|---|---|---|",
    ...coverageOf(catalogue).map(
      ({ operation, purpose, tables, reason }: Covered) =>
        `| ${operation} | ${purpose === "tables" ? tables.join(", ") : purpose} | ${reason} |`
    )
  ].join("\n")

export const tableDescribed = (catalogue: Catalogue, { family, resource, table }: DescribedTable): Described => {
  const { columns, description, key, name, parentColumn } = table
  const source =
    parentColumn === undefined
      ? sourceSentences(catalogue, resource, table)
      : `${grainSentence(table)} Comes with its row of ${resource.table}, and is marked deleted with it.`
  return {
    name,
    family,
    description,
    key,
    source,
    reads: [],
    resource: resource.table,
    columns: columns.map(({ name, sql, description, personal, references, enumValues = [] }) => ({
      name,
      type: sql,
      description,
      personal,
      documentedValues: enumValues,
      relation: "refers to",
      origins: references === undefined ? [] : [references]
    }))
  }
}

/** A table or model as a section of Markdown. */
export const markdownOf = (described: Described): string => {
  const { columns, description, name, resource } = described
  const table = [
    `| column | type | meaning | personal data | ${resource === undefined ? "made of" : "refers to"} |`,
    "|---|---|---|---|---|",
    ...columns.map((column) => {
      const { description, name, personal, type } = column
      return `| ${name} | ${type} | ${description.replaceAll("|", "\\|")} | ${personal} | ${originText(column)} |`
    })
  ]
  const parts = [`### ${name}`, description, sourceText(described), table.join("\n")]
  return parts.filter((part) => part !== "").join("\n\n")
}

/** Which rows a table or model has, where they come from, and of what it is made. */
export const sourceText = ({ reads, source }: Described): string =>
  [source, reads.length === 0 ? "" : `- Made of ${reads.map((table) => `\`${table}\``).join(", ")}.`]
    .filter((line) => line !== "")
    .join("\n")

/** `shown`: an origin as a page has it. */
export const originText = ({ origins, relation }: DescribedColumn, shown = (origin: string) => origin): string =>
  `${relation === "is" ? "is " : ""}${origins.map(shown).join(", ")}`

const sourceSentences = ({ resources }: Catalogue, resource: Resource, table: Table): string => {
  const host = resources.find(({ table }) => table === resource.embeddedIn?.table)
  return [
    `- ${grainSentence(table)}`,
    `- Read by ${operationsOf(host ?? resource)
      .map((operation) => `\`${operation}\``)
      .join(", ")} (${resource.source.replace(/ (GET|POST) .*/, "")}); scope \`${resource.scope}\`.`,
    ...(host ? [`- Found in the pages of ${host.table}.`] : []),
    ...(resource.kind === "list" ? listSentences(resource) : []),
    ...childRequestSentence(childRequestOf(resource)),
    ...(resource.singleReads && childRequestOf(resource) ? [`- ${singleReadsText(resource)}.`] : []),
    ...(resource.unproven ? [`- ${whyOptional("further_lists")}`] : []),
    ...(resource.enabledBy ? [`- Read only if \`${optionalPath(resource.enabledBy)}\` is set.`] : []),
    ...(resource.tombstone ? [`- Deleted where \`${resource.tombstone}\` says so.`] : [])
  ].join("\n")
}

const listSentences = (resource: ListResource): ReadonlyArray<string> => {
  const { paging, pageSize } = itemAt(resource.full, 0)
  const size = paging.kind === "once" ? "" : `, ${pageSize} at once`
  return [`- Pages: ${pagingText(paging)}${size}.`, `- Rerun: ${rerunText(resource)}.`]
}

export const grainSentence = ({ key }: Pick<Table, "key">) =>
  `One row per ${key.map((column) => `\`${column}\``).join(", ")}.`

const pagingText = (paging: Paging): string => {
  switch (paging.kind) {
    case "once":
      return "all at once"
    case "offset":
      return "by offset, each touching the one before"
    case "pageNumber":
      return "by number"
    case "lastRecord":
      return "behind the last record"
    case "body":
      return "by a cursor of several values"
    case "sortValue":
      return `by the value of \`${paging.field}\`, ties read again`
    case "expiring":
      return "by a cursor that lives for minutes"
  }
}

const rerunText = (resource: Resource): string => {
  const { changes } = resource
  if (!changes) return "read whole and compared"
  const { field, overlap, strategies, fullEvery } = changes
  const [strategy] = strategies
  const what =
    strategy?.windows !== undefined
      ? `the last ${Duration.toDays(overlap)} days by \`${field}\``
      : strategy?.stopBefore === undefined
        ? `what changed since the last run by \`${field}\``
        : `newest \`${field}\` first, until what is known`
  const whole = [
    ...(fullEvery === undefined ? [] : [`every ${Duration.toDays(fullEvery)} days`]),
    ...(totalsOf(resource).length === 0 ? [] : ["when the service's total is not the number of rows"])
  ]
  return whole.length === 0 ? what : `${what}; whole ${whole.join(", and ")}`
}

const childRequestSentence = (childRequest: ChildRequest | undefined): ReadonlyArray<string> => {
  if (!childRequest) return []
  const { kind, table, versionColumn, refreshAfter, where, incremental, enabledBy, partial } = childRequest
  const what =
    kind === "detail"
      ? "Completed by a request of its own"
      : `Read under ${where ? "some rows" : "each row"} of ${table}`
  const [days, hours] = [Duration.toDays(refreshAfter), Duration.toHours(refreshAfter)]
  const period = days < 1 ? `${hours / 2} to ${hours} hours` : `${days / 2} to ${days} days`
  const when = `when new or changed${versionColumn ? ` (\`${versionColumn}\`)` : ""}, and again after ${period}`
  const span = incremental
    ? `; the last ${Duration.toDays(incremental.lookback)} days, whole every ${Duration.toDays(incremental.fullEvery)} days`
    : ""
  return [
    `- ${what}, ${when}${span}${enabledBy ? `; only if \`${optionalPath(enabledBy)}\` is set` : ""}.`,
    ...(partial ? [`- Not read, unless \`account.${partial.unless}\` is set: ${partial.omits}.`] : [])
  ]
}
