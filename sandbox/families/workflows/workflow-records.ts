import { iso } from "../../account/clock.ts"
import { Collection, type Data, entry, without } from "../../account/collection.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"

/** The triggers of workflows, which users select in the editor (A 6.1); `enrollment` also stands for the operation (A 6.7). */
export const triggers = [
  "contact_created",
  "appointment_booked",
  "message_inbound",
  "message_outbound",
  "opportunity_stage_changed",
  "opportunity_status_changed",
  "form_submitted",
  "order_received",
  "payment_received",
  "enrollment"
] as const

export type Trigger = (typeof triggers)[number]

/** A custom-webhook step. A secret is sent in the query of the URL or in a header (A 6.4). */
export interface WebhookStep {
  readonly type: "custom_webhook"
  readonly url: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

/** Workflows (A 2.10). No operation returns the trigger and steps that users set. */
export const createWorkflows = (context: AccountContext): Collection => {
  const workflows = new Collection({ build: () => ({}), full: without("trigger", "steps", "unordered", "duplicates") })
  definitions.forEach(([name, status, trigger], index) => {
    const id = new Random(context.seed, streams.workflow, index).id()
    const created = context.begin + index
    const url = `https://hooks.example/${trigger.replaceAll("_", "-")}`
    const steps: ReadonlyArray<WebhookStep> = index % 2 === 0 ? [{ type: "custom_webhook", url }] : []
    workflows.add(entry({ id, created, source: workflow(context, { id, name, status, trigger, steps }, created) }))
  })
  return workflows
}

/** The record of a workflow, seeded or created later. */
export const workflow = ({ locationId }: AccountContext, fields: Data, created: number): Data => ({
  ...fields,
  version: 1,
  createdAt: iso(created),
  updatedAt: iso(created),
  locationId
})

const definitions: ReadonlyArray<[string, "published" | "draft", Trigger]> = [
  ["New lead welcome", "published", "contact_created"],
  ["Estimate follow-up", "published", "opportunity_stage_changed"],
  ["Missed message, text back", "published", "message_inbound"],
  ["Review request", "draft", "opportunity_status_changed"],
  ["Booking reminder", "published", "appointment_booked"],
  ["Newsletter opt-in", "published", "form_submitted"],
  ["Order thank-you", "draft", "order_received"],
  ["Long-term nurture", "published", "enrollment"]
]
