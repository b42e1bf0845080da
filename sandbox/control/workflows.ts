import { malformed, notFound } from "../http/errors.ts"
import type { Service } from "../service.ts"
import { type Data, entry } from "../account/collection.ts"
import { triggers, workflow } from "../families/workflows/workflow-records.ts"

/** Creates a workflow, or changes the one with the `id`, like a user in the workflow editor (A 6.1). */
export const setWorkflow = (body: Data, { clock, random, world }: Service): Data => {
  const { duplicates, id: sentId, name = "Webhook", status = "published", steps, trigger, unordered } = body
  const { workflows } = world
  const old = typeof sentId === "string" ? workflows.get(sentId) : undefined
  if (sentId !== undefined && old === undefined) throw notFound("There is no such workflow")
  if (status !== "published" && status !== "draft") throw malformed("status must be published or draft")
  const known = old === undefined ? {} : workflows.data(old)
  const fields = { trigger: trigger ?? known["trigger"], steps: steps ?? known["steps"] }
  if (!triggers.some((one) => one === fields.trigger)) throw malformed(`trigger must be one of: ${triggers.join(", ")}`)
  if (!Array.isArray(fields.steps) || !fields.steps.every(isStep)) {
    throw malformed("steps must be a list of {type: custom_webhook, url, query?, headers?}")
  }
  const now = clock.now()
  const id = old?.id ?? random.id()
  const more = { name, status, ...fields, duplicates, unordered }
  const made = entry({ id, created: old?.created ?? now, source: workflow(world.context, { id, ...more }, now) })
  if (old === undefined) workflows.add(made)
  else workflows.replace(old, made)
  return { id }
}

const isStep = (step: unknown): boolean => {
  if (typeof step !== "object" || step === null) return false
  const { headers, query, type, url } = step as Data
  const isTexts = (value: unknown): boolean =>
    value === undefined ||
    (typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string"))
  return type === "custom_webhook" && typeof url === "string" && URL.canParse(url) && isTexts(headers) && isTexts(query)
}
