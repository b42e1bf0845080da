import { invalid } from "../errors.ts"
import type { Service } from "../route.ts"
import { type Shape, anything, between, choice, list, number, object, required, text } from "../shape.ts"
import type { Data } from "../world/collection.ts"
import { checkedUser, referred } from "./references.ts"

const closeDate =
  /^(\d{4}-\d{2}-\d{2}|\d{4}\/\d{2}\/\d{2}|\d{2}\/\d{2}\/\d{4}|\d{2}-\d{2}-\d{4}|\d{4}\.\d{2}\.\d{2}|\d{2}\.\d{2}\.\d{4})$/

/** What a body may set of an opportunity (A 2.6). */
export const opportunityShape: Shape = {
  pipelineId: text,
  pipelineStageId: text,
  name: text,
  status: choice("open", "won", "lost", "abandoned"),
  contactId: text,
  assignedTo: text,
  source: text,
  monetaryValue: number,
  lostReasonId: text,
  forecastExpectedCloseDate: text,
  forecastProbability: between(number, 0, 100),
  customFields: list(object({ id: text, key: text, fieldValue: anything, field_value: anything }))
}

export const newOpportunityShape: Shape = {
  ...opportunityShape,
  pipelineId: required(text),
  name: required(text),
  status: required(opportunityShape["status"]!),
  contactId: required(text)
}

/** The fields of a body that has passed its shape; `old` is the opportunity they change. */
export const readOpportunity = (body: Data, service: Service, old: Data = {}): Data => {
  const { world } = service
  const named = Object.fromEntries(Object.entries(body).filter(([name]) => name in opportunityShape))
  const fields = withStage(named, service, old)
  const { assignedTo, contactId, customFields, forecastExpectedCloseDate: closing } = fields
  if (contactId !== undefined && contactId !== old["contactId"]) referred(world.contacts, contactId, "contactId")
  checkedUser(assignedTo, "assignedTo", service)
  if (
    typeof closing === "string" &&
    closing !== "" &&
    !closeDate.test(closing) &&
    !/^\d{4}-\d{2}-\d{2}T/.test(closing)
  ) {
    throw invalid("forecastExpectedCloseDate must be a date in one of the accepted formats")
  }
  if (!Array.isArray(customFields)) return fields
  return { ...fields, customFields: customFields.map((sent: Data, place) => storedValue(sent, place, service)) }
}

/** A deal that enters a pipeline without a stage goes to its first, as a new one does. */
const withStage = (fields: Data, { world }: Service, old: Data): Data => {
  const { pipelineId = old["pipelineId"], pipelineStageId } = fields
  if (fields["pipelineId"] === undefined && pipelineStageId === undefined) return fields
  const pipeline = world.pipelines.data(referred(world.pipelines, pipelineId, "pipelineId"))
  const stages = pipeline["stages"] as ReadonlyArray<Data>
  if (pipelineStageId === undefined) {
    return pipelineId === old["pipelineId"] ? fields : { ...fields, pipelineStageId: stages[0]!["id"] }
  }
  if (stages.every((stage) => stage["id"] !== pipelineStageId)) throw invalid("pipelineStageId is not valid")
  return fields
}

const storedValue = (sent: Data, place: number, { world }: Service): Data => {
  const { field_value, fieldValue, id, key } = sent
  const row = [...world.customFields.live()].find((field) => {
    const { fieldKey } = world.customFields.data(field)
    return field.id === id || (id === undefined && (fieldKey === key || fieldKey === `opportunity.${String(key)}`))
  })
  if (row === undefined) throw invalid(`customFields.${place} is not a custom field of this location`)
  return { id: row.id, fieldValue: fieldValue ?? field_value ?? null }
}
