import { invalid } from "../../http/errors.ts"
import { dayOf, instant } from "../../http/parameters.ts"
import type { Service } from "../../service.ts"
import { type Shape, anything, between, choice, list, number, object, required, text } from "../../http/shape.ts"
import type { Data } from "../../account/collection.ts"
import { customValues } from "../custom-fields/custom-values.ts"
import { checkUser, requireReference } from "../records.ts"

/** The fields of an opportunity that a body may set (A 2.6). */
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

/** The fields of a valid body; `old` is the opportunity that they change. */
export const readOpportunity = (body: Data, service: Service, old: Data = {}): Data => {
  const { world } = service
  const named = Object.fromEntries(Object.entries(body).filter(([name]) => name in opportunityShape))
  const fields = withStage(named, service, old)
  const { assignedTo, contactId, customFields, forecastExpectedCloseDate: closing } = fields
  if (contactId !== undefined && contactId !== old["contactId"])
    requireReference(world.contacts, contactId, "contactId")
  checkUser(assignedTo, "assignedTo", service)
  if (typeof closing === "string" && closing !== "" && !isCloseDate(closing)) {
    throw invalid("forecastExpectedCloseDate must be a date in one of the accepted formats")
  }
  if (!Array.isArray(customFields)) return fields
  const values = customFields.flatMap((sent: Data, place) => customValues(sent, place, "opportunity", service))
  return { ...fields, customFields: values.map(({ id, value }) => ({ id, fieldValue: value })) }
}

/** An opportunity that is moved to a pipeline without a stage enters its first stage, like a new one. */
const withStage = (fields: Data, { world }: Service, old: Data): Data => {
  const { pipelineId = old["pipelineId"], pipelineStageId } = fields
  if (fields["pipelineId"] === undefined && pipelineStageId === undefined) return fields
  const pipeline = world.pipelines.data(requireReference(world.pipelines, pipelineId, "pipelineId"))
  const stages = pipeline["stages"] as ReadonlyArray<Data>
  if (pipelineStageId === undefined) {
    return pipelineId === old["pipelineId"] ? fields : { ...fields, pipelineStageId: stages[0]!["id"] }
  }
  if (stages.every((stage) => stage["id"] !== pipelineStageId)) throw invalid("pipelineStageId is not valid")
  return fields
}

/** A date in one of the formats of A 2.6, or a timestamp in ISO 8601. */
const isCloseDate = (text: string): boolean =>
  dayOf(text, "-/.") !== undefined || (text.includes("T") && instant(text) !== undefined)
