/** Controls: how the service answers a request whose answer is known, such as for an id that was never issued. */
import { Effect } from "effect"
import { Api, type Call } from "./api.ts"
import type { Refusal } from "./author.ts"

/** `undefined` if it does not refuse it, so that its refusals prove nothing. */
export const refusalOfNobody = (call: Omit<Call, "priority">, id: string) =>
  Effect.map(answerTo(call, id), (answer) => (answer === "answered" ? undefined : answer))

/** What a request for this id is answered with; `undefined` if by nothing that the service itself says. */
export const answerTo = Effect.fnUntraced(function* (call: Omit<Call, "priority">, id: string) {
  const nothing = () => Effect.undefined
  return yield* (yield* Api).send({ ...call, priority: 2 }).pipe(
    Effect.as("answered" as const),
    Effect.catchTags({
      RequestRejected: ({ refusal }) =>
        Effect.succeed<Refusal | undefined>(refusal === undefined ? refusal : { refusal, ids: [id] }),
      Forbidden: nothing,
      Unavailable: nothing
    })
  )
})
