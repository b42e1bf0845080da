/** The control: whether the service answers this token at all, asked after it has refused a request twice. */
import { Effect, Semaphore } from "effect"
import { bind, type BoundRequest, get, location as ofLocation } from "../../catalog/request.ts"
import { authorOf } from "./author.ts"
import type { Control } from "./classify.ts"
import type { Received } from "./exchange.ts"
import { headerOf } from "./http.ts"

/** `ask`: sends a request once. `location`: absent if only what succeeded before can be a control. */
export const makeControl = <E>(
  location: string | undefined,
  ask: (request: BoundRequest, resource: string) => Effect.Effect<Received, E>
) => {
  const first = ["/locations/{locationId}" as const, "/workflows/" as const].flatMap((path) =>
    location === undefined
      ? []
      : [bind(get(path, path === "/workflows/" ? { locationId: ofLocation } : {}), { location })]
  )
  const one = Semaphore.makeUnsafe(1)
  let succeeded: BoundRequest | undefined
  /** Counts refusals and controls, to know which came first. */
  let moment = 0
  let last: { readonly sentAt: number; readonly said: Control } | undefined

  const said = Effect.fnUntraced(function* (refused: BoundRequest, status: 401 | 403, resource: string) {
    const all = [...(succeeded ? [succeeded] : []), ...first]
    const controls = all.filter((request) => JSON.stringify(request) !== JSON.stringify(refused))
    let found: Control = controls.length === 0 ? status : "nothing"
    for (const request of controls) {
      const answer = yield* ask(request, resource)
      if (answer.status >= 200 && answer.status < 300) return "data"
      const author = authorOf(answer.status, answer.bytes, headerOf(answer.headers, "content-type"))
      if (author === "service" && (answer.status === 401 || answer.status === 403)) found = answer.status
    }
    return found
  })

  return {
    succeeded: (request: BoundRequest) => void (succeeded = request),
    /** What it says after this refusal; without any control, the refusal itself. Those that were refused at the same time share one. */
    after: (refused: BoundRequest, status: 401 | 403, resource: string) =>
      Effect.suspend(() => {
        const refusedAt = ++moment
        return Effect.suspend(() => {
          if (last !== undefined && last.sentAt > refusedAt) return Effect.succeed(last.said)
          const sentAt = ++moment
          return Effect.tap(said(refused, status, resource), (control) =>
            Effect.sync(() => void (last = { sentAt, said: control }))
          )
        }).pipe(one.withPermits(1))
      })
  }
}
