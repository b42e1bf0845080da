/**
 * The profile aggregate: tables without rows about persons, and counts of the others. A group of fewer than 5 contacts
 * becomes part of a row `other`, which is left out if it has fewer than 5 contacts itself.
 */
import type { Catalogue } from "../../../catalog/discover.ts"
import type { PublishedTable } from "../../../catalog/published-tables.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { type Table, tablesOf } from "../../../catalog/tables.ts"
import { literal, name, names } from "../../../stores/warehouse/sql.ts"
import type { CopiedTable } from "./copy.ts"

/** Groups of fewer contacts are not shown. */
const contactsMin = 5

interface Aggregate {
  readonly name: string
  readonly description: string
  /** The table whose rows are counted. */
  readonly of: string
  /** SQL of columns that also the rows `other` have: the period, and the currency of the sums. */
  readonly always: Readonly<Record<string, string>>
  /** Columns of the table, which are `other` in the rows of small groups. */
  readonly by: ReadonlyArray<string>
  /** The column with the number of rows, and the columns whose sums are shown. */
  readonly count: string
  readonly sums: ReadonlyArray<string>
  /** SQL condition of rows that do not count. */
  readonly except?: string
}

const month = (column: string) => `date_trunc('month', ${column} AT TIME ZONE 'UTC')::DATE`

const aggregates: ReadonlyArray<Aggregate> = [
  {
    name: "contacts_by_month",
    description: "Contacts by month of their creation, source and type",
    of: "contacts",
    always: { month: month("date_added") },
    by: ["source", "type"],
    count: "contacts",
    sums: []
  },
  {
    name: "opportunities_by_month",
    description: "Opportunities by month of their creation, pipeline, stage and status",
    of: "opportunities",
    always: { month: month("created_at") },
    by: ["pipeline_id", "pipeline_stage_id", "status"],
    count: "opportunities",
    sums: ["monetary_value"]
  },
  {
    name: "messages_by_day",
    description: "Messages by day, channel and direction",
    of: "messages",
    always: { day: "(date_added AT TIME ZONE 'UTC')::DATE" },
    by: ["message_type", "direction"],
    count: "messages",
    sums: []
  },
  {
    name: "appointments_by_month",
    description: "Appointments by month of their start, calendar and status",
    of: "appointments",
    always: { month: month("start_time") },
    by: ["calendar_id", "appointment_status"],
    count: "appointments",
    sums: []
  },
  {
    name: "invoices_by_month",
    description: "Invoices by month of issue, currency and status, without test invoices",
    of: "invoices",
    always: { month: "date_trunc('month', issue_date)::DATE", currency: "currency" },
    by: ["status"],
    count: "invoices",
    sums: ["total", "amount_paid"],
    except: "live_mode IS FALSE"
  },
  {
    name: "payments_by_month",
    description: "Payments by month, currency and status, without test payments",
    of: "transactions",
    always: { month: month("created_at"), currency: "currency" },
    by: ["status"],
    count: "payments",
    sums: ["amount"],
    except: "live_mode IS FALSE OR mark_as_test IS TRUE"
  }
]

/** The resources that say nothing about persons: without their columns, and without references to those that do. */
export const impersonal = (resources: ReadonlyArray<Resource>): ReadonlyArray<Resource> => {
  const resourceOf = new Map(resources.flatMap((resource) => tablesOf(resource).map(({ name }) => [name, resource])))
  const columnsOf = (resource: Resource) => tablesOf(resource).flatMap(({ columns }) => columns)
  const personal = new Set(
    resources.filter((resource) =>
      columnsOf(resource).some(
        ({ name, personal }) => name !== "_extra" && (personal === "direct" || personal === "sensitive")
      )
    )
  )
  const refersToPersonal = (resource: Resource) =>
    columnsOf(resource).some(
      ({ name, references }) => name !== "location_id" && references && personal.has(resourceOf.get(references)!)
    )
  for (let before = -1; before < personal.size;) {
    before = personal.size
    for (const resource of resources) if (refersToPersonal(resource)) personal.add(resource)
  }
  return resources.filter((resource) => !personal.has(resource))
}

export type AggregateTable = ReturnType<typeof aggregateTables>[number]

/** The counts of some resources. */
export const aggregateTables = ({ resources }: Pick<Catalogue, "resources">) =>
  aggregates
    .filter(({ of }) => resources.some(({ table }) => table === of))
    .map((aggregate) => {
      const { name: table, of: resource } = aggregate
      const definition: Table = { name: table, description: aggregate.description, key: [], columns: [], detail: false }
      const published: PublishedTable = { name: table, definition, key: [], resource, recordKey: [] }
      const select = selectOf(aggregate)
      const copied: ReadonlyArray<CopiedTable> = [
        { path: `crm.${name(table)}`, select },
        // A release has earlier versions of every table; a count has none.
        { path: `crm_history.${name(table)}`, select: `FROM (${select}) LIMIT 0` }
      ]
      const comment = `COMMENT ON TABLE main.${name(table)} IS ${literal(`${aggregate.description}; groups of fewer than ${contactsMin} contacts are in a row other, or left out`)}`
      /** `comment` describes it in the DuckDB file. */
      return { published, copied, comment }
    })

/** Rows without a contact count as those of one. */
const selectOf = ({ always, by, count, except = "false", of, sums }: Aggregate): string => {
  const fixed = ["location_id", ...Object.keys(always)]
  const dimensions = [...fixed, ...by]
  const person = of === "contacts" ? "id" : "coalesce(contact_id, '')"
  const values = [
    "location_id",
    ...Object.entries(always).map(([column, sql]) => `${sql} AS ${name(column)}`),
    names([...by, ...sums]),
    `${person} AS _contact`
  ]
  const measures = [`count(*) AS ${name(count)}`, ...sums.map((column) => `sum(${name(column)}) AS ${name(column)}`)]
  const contacts = "count(DISTINCT _contact)"
  const isSame = dimensions.map((column) => `r.${name(column)} IS NOT DISTINCT FROM s.${name(column)}`).join(" AND ")
  const others = by.map((column) => `'other' AS ${name(column)}`)
  return `WITH counted AS (SELECT ${values.join(", ")} FROM crm.${name(of)} WHERE _deleted_at IS NULL AND NOT (${except})),
    small AS (SELECT ${names(dimensions)} FROM counted GROUP BY ALL HAVING ${contacts} < ${contactsMin})
    SELECT ${names(dimensions)}, ${measures.join(", ")} FROM counted GROUP BY ${names(dimensions)} HAVING ${contacts} >= ${contactsMin}
    UNION ALL
    SELECT ${names(fixed)}, ${[...others, ...measures].join(", ")} FROM counted AS r
    WHERE EXISTS (FROM small AS s WHERE ${isSame}) GROUP BY ${names(fixed)} HAVING ${contacts} >= ${contactsMin}
    ORDER BY ALL`
}
