/** Reads some records again, each with one request, and compares them with their rows. */
import { Effect } from "effect"
import { present } from "../../catalog/present.ts"
import { Api } from "../../stages/api/api.ts"
import { isSame, neverIssued } from "../../stages/api/author.ts"
import { answerTo } from "../../stages/api/of-nobody.ts"
import { failureIn, singleRecord } from "../../catalog/answer.ts"
import { at, membersOf, parseExact } from "../../catalog/json.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { requestForRow } from "../../catalog/get-one.ts"
import { type Resource, transformed } from "../../catalog/resource.ts"
import { snakeCase } from "../../catalog/fields.ts"
import { keyOf } from "../../catalog/tables.ts"
import type { Row } from "../../stores/warehouse/warehouse.ts"
import { type Chosen, choose, epochMs, isCompared, same, shown, textOf } from "./sampling.ts"
import { type Checked, type VerifyFinding, counted, note, wrong } from "../../values/finding.ts"
import type { KnownTable } from "./existing-tables.ts"

export interface SampleOptions {
  readonly catalogue: Catalogue
  readonly location: string
  /** The number of rows. */
  readonly rows: number
  /** The normaliser of the resource, so that both sides of a comparison are normalised alike. */
  readonly normaliserOf: (
    resource: Resource
  ) => (record: unknown, origin: { readonly location: string }) => { readonly row: string | undefined }
}

export type Sampled = Effect.Success<ReturnType<typeof checkSample>>
type Status = "agree" | "differ" | "changed since" | "deleted since" | "not readable"

const concurrency = 8

export const checkSample = Effect.fn("verify.sample")(function* (options: SampleOptions) {
  const chosen = yield* choose(options.catalogue, options.location, options.rows)
  const compared = yield* Effect.forEach(chosen, (one) => compareRow(one, options), { concurrency })
  const numbers = { agree: 0, differ: 0, "changed since": 0, "deleted since": 0, "not readable": 0 }
  for (const { status } of compared) numbers[status]++
  const total = numbers.agree + numbers.differ
  const share = total === 0 ? "" : `, ${Math.floor((numbers.agree / total) * 1000) / 10} % of ${total} agree`
  const differing = compared.filter(({ status }) => status === "differ")
  return {
    numbers,
    /** Tables with a row that differs from the service. */
    disagreeing: [...new Set(differing.map(({ table }) => table))].sort(),
    checked: {
      part: "service",
      check: "sample",
      looked: `${counted(compared.length, "row")} of ${counted(new Set(compared.map(({ table }) => table)).size, "table")}${share}`,
      findings: [
        ...compared.flatMap(({ findings }) => findings),
        ...deletionFindings(compared),
        ...(numbers["changed since"] > 0
          ? [note("service", `${counted(numbers["changed since"], "row")} changed since the last sync; not compared`)]
          : [])
      ]
    } satisfies Checked
  }
})

/** A missing record was deleted after the last sync, or the sync did not notice its deletion: unknown which. */
const deletionFindings = (
  compared: ReadonlyArray<Effect.Success<ReturnType<typeof compareRow>>>
): ReadonlyArray<VerifyFinding> =>
  [
    ...Map.groupBy(
      compared.filter(({ status }) => status === "deleted since"),
      ({ table }) => table
    )
  ].map(([table, deleted]) =>
    note(table, `the service no longer has ${counted(deleted.length, "row")}, for example ${deleted[0]?.id}`)
  )

const compareRow = Effect.fnUntraced(function* ({ known, row }: Chosen, { location, normaliserOf }: SampleOptions) {
  const { resource, table } = known
  const id = keyOf(resource)
    .map((column) => row[column])
    .join("/")
  const where = `${table.name} ${id}`
  const ended = (status: Status, findings: ReadonlyArray<VerifyFinding> = []) => ({
    table: table.name,
    id,
    status,
    findings
  })
  const { record: path, differing = [], request: own } = present(resource.getOne, `request for a row of ${table.name}`)
  const unread = ({ message }: { readonly message: string }) =>
    Effect.succeed(ended("not readable", [note(where, `could not be read: ${message}`)]))

  return yield* Effect.gen(function* () {
    const request = present(requestForRow(resource, row, { location }), `request for ${where}`)
    const { path: pathTemplate } = own
    const { body } = yield* (yield* Api).send({ request, pathTemplate, priority: 2, resource: `verify/${table.name}` })
    const failure = failureIn(singleRecord(resource, row["id"]))(body, 200)
    if (failure !== undefined) return yield* unread({ message: failure })
    const [record] = transformed(resource, at(body, path))
    const normalised = normaliserOf(resource)(record, { location }).row
    if (normalised === undefined)
      return ended("not readable", [note(where, "the response contains no record that becomes a row")])
    // The normaliser writes a JSON object of columns.
    const theirs = membersOf(parseExact(normalised))
    if (
      keyOf(resource).some(
        (key) => (theirs[key] ?? undefined) !== undefined && textOf(theirs[key]) !== String(row[key])
      )
    )
      return ended("not readable", [note(where, "the response contains another record")])
    const readAt = new Date(Number(row["_read_at"])).toISOString()
    const findings = differences(known, row, theirs, differing).map(({ column, ours, theirs }) =>
      wrong(
        where,
        `${column.name} is ${shown(column, ours)} in the warehouse (read at ${readAt}) and ${shown(column, theirs)} in the service`
      )
    )
    if (findings.length === 0) return ended("agree")
    return isNewer(known, row, theirs) ? ended("changed since") : ended("differ", findings)
  }).pipe(
    Effect.catchTags({
      Forbidden: unread,
      RequestRejected: Effect.fnUntraced(function* (error) {
        const id = neverIssued(String(row["id"]))
        const request = present(requestForRow(resource, { ...row, id }, { location }), `request for ${where}`)
        const ofNobody = yield* answerTo({ request, resource: `verify/${table.name}` }, id)
        const { refusal = "null" } = error
        const isLike = isSame({ refusal, ids: [String(row["id"])] }, ofNobody)
        return isLike ? ended("deleted since") : yield* unread(error)
      })
    })
  )
})

/** Compares the columns that both sides fill: a list may omit fields that a single read returns, and vice versa. */
const differences = (
  { columns }: KnownTable,
  ours: Row,
  theirs: Readonly<Record<string, unknown>>,
  except: ReadonlyArray<string>
) =>
  columns
    .filter((column) => isCompared(column) && column.withheld === undefined && !except.includes(column.name))
    .flatMap((column) => {
      const [own, other] = [ours[column.name] ?? undefined, theirs[column.name] ?? undefined]
      if (own === undefined || other === undefined || same(column, String(own), other)) return []
      return [{ column, ours: String(own), theirs: textOf(other) }]
    })

/** Compares the time of the last change with that of our row, or with the time at which our row was read. */
const isNewer = ({ resource, columns }: KnownTable, ours: Row, theirs: Readonly<Record<string, unknown>>): boolean =>
  columns
    .filter(
      ({ name: column, role, type }) => type === "instant" && (role === "changed" || column === changeColumn(resource))
    )
    .some(({ name: column }) => epochMs(theirs[column]) > Number(ours[column] ?? ours["_read_at"]))

const changeColumn = ({ changes }: Resource) => changes && snakeCase(changes.field)
