/** Writes the data dictionary as Markdown: the meaning and source of every table and column, and how each is updated. */
import { optionalPath } from "./optional-settings.ts"
import * as Duration from "effect/Duration"
import { type Covered, coverageOf, operationsOf } from "./coverage.ts"
import type { Catalogue } from "./discover.ts"
import { personalDataClasses, personalDataMeanings } from "./personal-data.ts"
import { type ChildRequest, type ListResource, type Paging, type Resource, childRequestOf } from "./resource.ts"
import { type Table, tablesOf } from "./tables.ts"

export interface DescribedTable {
  readonly family: string
  /** The resource whose records fill the table. */
  readonly resource: Resource
  readonly table: Table
}

/** All tables, by family. */
export const describedTables = (catalogue: Catalogue): ReadonlyArray<DescribedTable> =>
  catalogue.resources
    .flatMap((resource) =>
      tablesOf(resource).map((table) => ({ family: catalogue.familyByTable.get(resource.table)!, resource, table }))
    )
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
      ...tables.filter((one) => one.family === family).map((one) => tableSection(catalogue, one))
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

/** A table as a section of Markdown. */
export const tableSection = (catalogue: Catalogue, described: DescribedTable): string => {
  const { table } = described
  const columns = [
    "| column | type | meaning | personal data | refers to |",
    "|---|---|---|---|---|",
    ...table.columns.map(
      ({ name, sql, description, personal, references }) =>
        `| ${name} | ${sql} | ${description.replaceAll("|", "\\|")} | ${personal} | ${references ?? ""} |`
    )
  ]
  return [`### ${table.name}`, table.description, sourceText(catalogue, described), columns.join("\n")].join("\n\n")
}

/** Which rows a table has, and where they come from. */
export const sourceText = (catalogue: Catalogue, { resource, table }: DescribedTable): string =>
  table.parentColumn === undefined
    ? sourceSentences(catalogue, resource, table)
    : `${grainSentence(table)} Comes with its row of ${resource.table}, and is marked deleted with it.`

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
    ...(resource.enabledBy ? [`- Read only if \`${optionalPath(resource.enabledBy)}\` is set.`] : []),
    ...(resource.tombstone ? [`- Deleted where \`${resource.tombstone}\` says so.`] : [])
  ].join("\n")
}

const listSentences = (resource: ListResource): ReadonlyArray<string> => {
  const { paging, pageSize } = resource.full[0]!
  const size = paging.kind === "once" ? "" : `, ${pageSize} at once`
  return [`- Pages: ${pagingText(paging)}${size}.`, `- Rerun: ${rerunText(resource)}.`]
}

const grainSentence = ({ key }: Table) => `One row per ${key.map((column) => `\`${column}\``).join(", ")}.`

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

const rerunText = ({ changes }: Resource): string => {
  if (!changes) return "read whole and compared"
  const { field, overlap, strategies, fullEvery } = changes
  const [strategy] = strategies
  const what =
    strategy?.windows !== undefined
      ? `the last ${Duration.toDays(overlap)} days by \`${field}\``
      : strategy?.stopBefore === undefined
        ? `what changed since the last run by \`${field}\``
        : `newest \`${field}\` first, until what is known`
  return fullEvery === undefined ? what : `${what}; whole every ${Duration.toDays(fullEvery)} days`
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
