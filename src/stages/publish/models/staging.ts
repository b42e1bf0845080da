/**
 * The part of the models that follows from the definitions: for each table a staging view of the rows that exist, and for dbt
 * the tables as sources, and the tests. It is made when it is needed: `models/` contains what people have written.
 */
import type { StatedCurrencies } from "../../../settings/account.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { locationZonesSql } from "../../../stores/warehouse/time-zones.ts"
import type { ContractColumn, ContractTable } from "../contracts/contract.ts"

const generated = "Generated from the definitions in pipelines/"

/** The text of each staging view, by its file. */
export const stagingViews = (tables: ReadonlyArray<ContractTable>): ReadonlyMap<string, string> =>
  new Map(tables.map((table) => [`staging/${stagingName(table)}.sql`, stagingSql(table)]))

/** All generated files of the dbt project, by path. */
export const stagingFiles = async (tables: ReadonlyArray<ContractTable>): Promise<Map<string, string>> => {
  const { stringify } = await import("yaml")
  const yaml = (content: object) => `# ${generated}\n${stringify(content, { lineWidth: 0 })}`
  return new Map([
    ...stagingViews(tables),
    ["staging/_sources.yml", yaml(sources(tables))],
    ["staging/_staging.yml", yaml({ version: 2, models: tables.map((table) => stagingProperties(table, tables)) })]
  ])
}

export const stagingName = ({ name }: ContractTable): string => `stg_${name}`

/** Whether a view of schema `bi` is one of these. */
export const isStagingName = (name: string): boolean =>
  name.startsWith("stg_") || [currenciesFile, timeZonesFile, versionsFile].includes(`staging/${name}.sql`)

/** The view of the versions of payments, which people have written. */
const versionsFile = "staging/payment_versions.sql"

/** The view of the currencies that the settings state. */
export const currenciesFile = "staging/stated_currencies.sql"
export const currenciesSql = ({ account, byLocation }: StatedCurrencies = noCurrencies): string => {
  const other = account === undefined ? "NULL::VARCHAR" : literal(account)
  const own = Array.from(byLocation, ([id, currency]) => ` WHEN ${literal(id)} THEN ${literal(currency)}`).join("")
  const value = own === "" ? other : `CASE id${own} ELSE ${other} END`
  return [
    "-- The currencies that the settings account.currency and locations.currency state.",
    `SELECT id AS location_id, ${value} AS currency`,
    "FROM {{ ref('stg_locations') }}",
    ""
  ].join("\n")
}
const noCurrencies: StatedCurrencies = { account: undefined, byLocation: new Map() }

/** The view of the time zones that locations name. */
export const timeZonesFile = "staging/location_time_zones.sql"
export const timeZonesSql = [
  "-- The time zones of the locations that name one which is known, by their names of IANA.",
  locationZonesSql("{{ ref('stg_locations') }}"),
  ""
].join("\n")

/** The system columns are last. `_deleted_at` is NULL in every row, and `_row_hash` only compares versions. */
const stagingColumns = ({ columns }: ContractTable): ReadonlyArray<ContractColumn> =>
  columns.filter(({ name }) => name !== "_deleted_at" && name !== "_row_hash")

/** The service spells a code in small letters, too. As two codes, one currency would be two. */
const currencySql = "nullif(upper(trim(currency)), '') AS currency"

/** dbt takes a text for a template, and a table or a column may be about templates. */
const plain = (text: string): string => text.replaceAll(/\{[{%#]/g, (opening) => `{{ '${opening}' }}`)

/** Rows of deleted records stay in the tables, also those of child tables. */
const stagingSql = (table: ContractTable): string =>
  [
    `-- ${plain(table.description)}`,
    "SELECT",
    stagingColumns(table)
      .map(({ name }) => `  ${name === "currency" ? currencySql : name}`)
      .join(",\n"),
    `FROM {{ source('crm', '${table.name}') }}`,
    "WHERE _deleted_at IS NULL",
    ""
  ].join("\n")

/** In the published file, the current rows are in the schema main. */
const sources = (tables: ReadonlyArray<ContractTable>) => {
  const freshness = { warn_after: { count: 26, period: "hour" }, error_after: { count: 50, period: "hour" } }
  return {
    version: 2,
    sources: [
      {
        name: "crm",
        database: "account",
        schema: "main",
        description: "Current rows of the account, with those of deleted records.",
        tables: tables.map((table) => ({
          name: table.name,
          description: plain(table.description),
          // An empty table has no row that was read.
          config: { loaded_at_field: "_synced_at", freshness: table.name === "locations" ? freshness : null },
          data_tests: [{ unique: { name: `unique_crm_${table.name}`, arguments: { column_name: keyOf(table) } } }]
        }))
      },
      {
        name: "crm_history",
        database: "account",
        schema: "crm_history",
        description: "Earlier versions of changed rows, each valid from _valid_from to _valid_to.",
        tables: tables.map(({ name }) => ({ name }))
      },
      {
        name: "meta",
        database: "account",
        schema: "meta",
        description: "Runs, and what each did.",
        tables: metaTables.map((name) => ({ name }))
      }
    ]
  }
}

/** Tables of meta that models may read. */
export const metaTables = [
  "runs",
  "run_resources",
  "watermarks",
  "schema_changes",
  "rejected_values",
  "rounded_values",
  "coverage"
]

/** A child row belongs to a parent that exists. Other references may be to records that the API no longer shows. */
const stagingProperties = (table: ContractTable, tables: ReadonlyArray<ContractTable>) => ({
  name: stagingName(table),
  description: `${plain(table.description)} One row per ${table.key.join(", ")}; without deleted records.`,
  columns: stagingColumns(table).map((column) => {
    const tests = testsOf(column, table, tables)
    return { name: column.name, description: plain(column.description), ...(tests.length > 0 && { data_tests: tests }) }
  })
})

const testsOf = (
  { name, isRequired, refersTo, documentedValues }: ContractColumn,
  { parent }: ContractTable,
  tables: ReadonlyArray<ContractTable>
): ReadonlyArray<unknown> => {
  const warning = { config: { severity: "warn" } }
  const target = tables.find((one) => one.name === refersTo?.table)
  const isParent = parent?.column === name
  return [
    ...(isRequired ? ["not_null"] : []),
    ...(refersTo && target && target.name !== "locations"
      ? [
          {
            relationships: {
              arguments: { to: `ref('${stagingName(target)}')`, field: refersTo.column },
              ...(isParent ? {} : warning)
            }
          }
        ]
      : []),
    // The service may send more values than it documents.
    ...(documentedValues ? [{ accepted_values: { arguments: { values: documentedValues }, ...warning } }] : [])
  ]
}

const keyOf = ({ key }: ContractTable): string => `concat_ws('|', ${key.join(", ")})`
