/** Tells the browsers that are open what happens, by server-sent events. */
import { Limits } from "../../values/limits.ts"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Sse from "effect/encoding/Sse"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpError, type Role } from "../../network/server.ts"
import { type Session, isOpen } from "../../network/sessions.ts"

/** Proxies close a connection on which nothing happens. */
const beatMs = 20_000

export type Events = Effect.Success<typeof openEvents>

/** Until the scope ends. */
export const openEvents = Effect.gen(function* () {
  const limits = (yield* Limits).serve
  const browsers = new Map<Queue.Queue<string, Cause.Done>, Session>()
  const write = (text: string, role?: Role) => {
    const now = Date.now()
    for (const [waiting, who] of browsers)
      if (!isOpen(who, now)) Queue.endUnsafe(waiting)
      else if ((role ?? who.role) === who.role && !Queue.offerUnsafe(waiting, text) && limits.waitingEvents.crossed())
        Queue.endUnsafe(waiting)
  }
  yield* Effect.forkScoped(
    Effect.repeat(
      Effect.sync(() => write(":\n\n")),
      Schedule.spaced(beatMs)
    )
  )
  return {
    /** The roles of those who look. */
    watching: (): ReadonlySet<Role> => new Set([...browsers.values()].map(({ role }) => role)),
    /** To everybody, or to whoever has a role. */
    send: (event: string, data: unknown, role?: Role) => {
      if (browsers.size > 0) write(messageOf(event, data), role)
    },
    /** Sends `first` at once, and everything that follows until the browser goes away or its session ends. */
    open: Effect.fnUntraced(function* (who: Session, first: ReadonlyArray<readonly [event: string, data: unknown]>) {
      const sameRole = [...browsers.values()].filter(({ role }) => role === who.role)
      if (limits.browsers.isReachedBy(sameRole.length))
        return yield* Effect.fail(new HttpError(503, "later", "Too many pages are open."))
      const waiting = yield* Effect.acquireRelease(
        Queue.dropping<string, Cause.Done>(limits.waitingEvents.value),
        (one) => Effect.sync(() => browsers.delete(one))
      )
      browsers.set(waiting, who)
      yield* Queue.offerAll(
        waiting,
        first.map(([event, data]) => messageOf(event, data))
      )
      return HttpServerResponse.stream(Stream.encodeText(Stream.fromQueue(waiting)), {
        contentType: "text/event-stream; charset=utf-8",
        headers: { "x-accel-buffering": "no" }
      })
    })
  }
})

const messageOf = (event: string, data: unknown): string =>
  Sse.encoder.write({ _tag: "Event", id: undefined, event, data: JSON.stringify(data) })
