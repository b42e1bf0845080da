import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { choice, flag, list, record, required, text } from "../../http/shape.ts"
import { createOpportunity, updateOpportunity } from "./opportunities.ts"
import { opportunityShape, readOpportunity } from "./fields.ts"
import { checkUser, dropNulls, find } from "../records.ts"

/** POST /opportunities/upsert (A 4.4). */
export const opportunityUpsertRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/opportunities/upsert",
    scope: "opportunities.write",
    location: { in: "body", name: "locationId" },
    summary: "Create an opportunity, or update the one with the id",
    body: {
      ...opportunityShape,
      id: text,
      pipelineId: required(text),
      followers: required(list(text)),
      followersActionType: required(choice("add", "remove")),
      isRemoveAllFollowers: required(flag)
    },
    returns: { opportunity: record("Opportunity"), new: flag },
    handle: (call, service) => upsert(call, service)
  }
]

const upsert = ({ body }: Call, service: Service): Answer => {
  const { opportunities } = service.world
  const { followers, followersActionType, id, isRemoveAllFollowers } = body
  const sent = followers as ReadonlyArray<string>
  for (const follower of sent) checkUser(follower, "followers", service)
  // Only an id selects the opportunity to update; no other matching field is documented.
  const old = id === undefined ? undefined : find(opportunities, String(id), "Opportunity")
  const data = old === undefined ? {} : opportunities.data(old)
  const fields = readOpportunity(body, service, data)
  const before = ((data as { followers?: ReadonlyArray<string> }).followers ?? []) as ReadonlyArray<string>
  const changed =
    followersActionType === "add" ? [...new Set([...before, ...sent])] : before.filter((own) => !sent.includes(own))
  const next = { ...fields, followers: isRemoveAllFollowers === true ? [] : changed }
  const row =
    old === undefined
      ? createOpportunity(service, { name: "New opportunity", status: "open", ...dropNulls(next) })
      : updateOpportunity(service, old, next)
  return { opportunity: opportunities.data(row), new: old === undefined }
}
