/** Whose token it is, found out by a request that only the token of an agency or company answers in this way. */
import { Effect } from "effect"
import { at } from "../../catalog/json.ts"
import { bind, get } from "../../catalog/request.ts"
import { Api } from "./api.ts"

/** Whether it reads other locations than this one: then it is not the token of this location. */
export const isOfAgency = Effect.fn("api.isOfAgency")(function* (location: string, company: string | undefined) {
  const request = bind(get("/locations/search", { ...(company && { companyId: company }), skip: "0", limit: "10" }), {})
  const no = () => Effect.succeed(false)
  return yield* (yield* Api).send({ request, pathTemplate: request.path, priority: 1, resource: "doctor" }).pipe(
    Effect.map(({ body }) => {
      const found = at(body, "locations")
      return Array.isArray(found) && found.some((one) => at(one, "id") !== undefined && at(one, "id") !== location)
    }),
    Effect.catchTags({ Forbidden: no, RequestRejected: no, Unavailable: no })
  )
})

export const ofAgency = {
  message: "the token is that of an agency or a company: it reads several locations, and not the records of one",
  next: "Make a private integration in the location itself, or install the OAuth app there, and use its token; see docs/first-sync.md."
}
