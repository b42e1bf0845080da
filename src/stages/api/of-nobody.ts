/** Controls: how the service answers a request whose answer is known, such as for an id that was never issued. */
import { Effect } from "effect"
import { Api, type Call } from "./api.ts"
import type { Refusal } from "./author.ts"

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
