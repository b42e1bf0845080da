/** The rows of every model of an account, computed a second time; and where a release has others. */
import type { Models, Row } from "./load.ts"
import { furtherModels } from "./further.ts"
import { moneyModels } from "./money.ts"
import { peopleModels } from "./people.ts"
import { type Expected, type Place, type Value, placesOf } from "./place.ts"
import { unknownState } from "./unknown.ts"
import { type World, counted } from "./world.ts"

const models: Readonly<Record<string, (place: Place) => ReadonlyArray<Expected>>> = {
  ...peopleModels,
  ...moneyModels,
  ...furtherModels,
  mart_unknown_state: unknownState
}

const sum = (all: ReadonlyArray<number>): number => all.reduce((sum, one) => sum + one, 0)

/** What the runs of each day did, by the days of UTC. */
const dailyChange = ({ nights, readings }: World): ReadonlyArray<Expected> =>
  [
    ...Map.groupBy(readings, (one) => {
      const day = new Date(nights[one.night]!).toISOString().slice(0, 10)
      return JSON.stringify([day, one.location, one.list])
    })
  ].map(([key, own]) => {
    const [run_date, location_id, table_name] = JSON.parse(key)
    const total = (name: (typeof counted)[number]) => sum(own.map(({ counts }) => counts[name]))
    return {
      run_date,
      location_id,
      table_name,
      runs: own.length,
      ...Object.fromEntries(counted.map((name) => [name === "records" ? "records_read" : name, total(name)])),
      rounded_values: sum(own.flatMap(({ rounded }) => rounded))
    }
  })

/** `newest`: the newest run in the file. */
const freshness = ({ nights, readings }: World, newest: number): ReadonlyArray<Expected> =>
  [...Map.groupBy(readings, ({ list, location }) => JSON.stringify([location, list])).values()].flatMap((own) => {
    const ended = own.flatMap((one) => (one.finishedAt === undefined ? [] : [{ ...one, ended: one.finishedAt }]))
    const last = ended.toSorted((one, other) => other.ended - one.ended)[0]
    if (last === undefined) return []
    const complete = nights.at(-1)!
    return [
      {
        location_id: last.location,
        table_name: last.list,
        last_status: last.status,
        last_finished_at: last.ended,
        complete_at: complete,
        full_complete_at: complete,
        hours_since_complete: Math.round((newest - complete) / 36_000) / 100
      }
    ]
  })

/** `all`: the accounts in the file. */
export const secondly = (world: World, all: ReadonlyArray<World>): ReadonlyMap<string, ReadonlyArray<Expected>> => {
  const found = new Map<string, ReadonlyArray<Expected>>()
  for (const [name, rowsOf] of Object.entries(models))
    found.set(
      name,
      placesOf(world).flatMap((place) => rowsOf(place).map((row) => ({ location_id: place.location, ...row })))
    )
  found.set("fct_daily_change", dailyChange(world))
  found.set("mart_freshness", freshness(world, Math.max(...all.map(({ nights }) => nights.at(-1)!))))
  return found
}

const isSame = (value: unknown, expected: Value): boolean => {
  if (value === null || value === undefined || expected === null || expected === undefined)
    return (value ?? undefined) === (expected ?? undefined)
  if (typeof expected !== "number") return String(value) === String(expected)
  return Math.abs(Number(value) - expected) <= Math.max(1e-6, Math.abs(expected) * 1e-12)
}

/** The columns that tell the rows of a model apart. */
const keysOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  dim_location: [],
  dim_contact: ["contact_id"],
  dim_user: ["user_id"],
  dim_pipeline_stage: ["pipeline_id", "pipeline_stage_id"],
  dim_product: ["product_id"],
  fct_contact_acquisition: ["contact_id"],
  fct_message: ["message_id"],
  fct_call: ["message_id"],
  fct_conversation_reply: ["question_message_id"],
  fct_email: ["email_id"],
  fct_email_campaign: ["email_campaign_id"],
  fct_campaign_funnel: ["campaign_kind", "source_id"],
  fct_voice_call: ["voice_call_id"],
  fct_document: ["document_id"],
  fct_appointment: ["appointment_id"],
  fct_task: ["task_id"],
  fct_form_submission: ["form_submission_id"],
  fct_opportunity: ["opportunity_id"],
  fct_opportunity_stage_change: ["opportunity_id", "change_number"],
  fct_invoice: ["invoice_id"],
  fct_invoice_line: ["invoice_id", "position"],
  fct_order_line: ["order_id", "position"],
  fct_payment: ["payment_id"],
  fct_revenue: ["payment_id", "change_number"],
  mart_unknown_state: ["fact", "state", "currency"],
  fct_subscription_month: ["subscription_id", "month_start"],
  fct_daily_change: ["run_date", "table_name"],
  mart_freshness: ["table_name"]
}

/** What differs, as `model key column: value, but expected`. */
export const differences = (world: World, all: ReadonlyArray<World>, found: Models): ReadonlyArray<string> =>
  [...secondly(world, all)].flatMap(([model, expected]) => {
    const keyOf = (row: Row) =>
      ["location_id", ...keysOf[model]!].map((column) => String(row[column] ?? "none")).join(" ")
    const own = found.get(model)!.filter((row) => world.locations.includes(String(row["location_id"])))
    const rows = Map.groupBy(own, keyOf)
    const wanted = new Map(expected.map((row) => [keyOf(row), row]))
    return [
      ...[...rows].flatMap(([key, { length }]) =>
        length > 1 || !wanted.has(key) ? [`${model} ${key}: ${length} rows, but ${wanted.has(key) ? 1 : 0}`] : []
      ),
      ...[...wanted].flatMap(([key, row]) => {
        const is = rows.get(key)?.[0]
        if (is === undefined) return [`${model} ${key}: no row`]
        const columns = new Set([...Object.keys(row), ...Object.keys(is)])
        return [...columns].flatMap((column) =>
          column in row && column in is && isSame(is[column], row[column])
            ? []
            : [`${model} ${key} ${column}: ${JSON.stringify(is[column])}, but ${JSON.stringify(row[column] ?? null)}`]
        )
      })
    ]
  })
