/** The API client with a server that responds as a test defines, on a virtual clock. */
import { Effect, Fiber, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { type RequestListener, createServer } from "node:http"
import type { AddressInfo, ListenOptions } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import type { ApiSettings } from "../../src/settings/account.ts"
import { Api, type Call } from "../../src/stages/api/api.ts"

/** Listens on the IPv4 loopback address unless the options say otherwise. */
export const serving = (
  answer: RequestListener,
  options: ListenOptions = { host: "127.0.0.1", port: 0 }
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer(answer).listen(options, () => resolve(server))
        })
    ),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

export const settingsFor = (baseUrl: string): ApiSettings => ({
  baseUrl,
  credentials: { kind: "private", token: Redacted.make("t") },
  fileBytesMax: 1 << 20,
  limits: { burst: 100, windowMs: 100, reservePerDay: 0 }
})

export const callTo = (path: string): Call => ({
  request: { method: "GET", path, parameters: {} },
  priority: 1,
  resource: "x"
})

/** Advances virtual time during socket operations, slowly enough that no request takes a virtual minute. */
export const advancingClock = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>, stepMs = 250) {
  const fiber = yield* Effect.forkChild(effect)
  while (fiber.pollUnsafe() === undefined) {
    yield* Effect.promise(() => wait(2))
    yield* TestClock.adjust(stepMs)
  }
  return yield* Fiber.join(fiber)
})

/** Sends one call, with its retries, to a server with this listener. */
export const sendTo = (
  answer: RequestListener,
  settings: Partial<ApiSettings> = {},
  call: Partial<Call> = {},
  stepMs?: number
) =>
  Effect.gen(function* () {
    const url = yield* serving(answer)
    return yield* Effect.flatMap(Api, (api) => api.send({ ...callTo("/x"), ...call })).pipe(
      Effect.provide(Api.layer({ ...settingsFor(url), ...settings })),
      Effect.result,
      (sending) => advancingClock(sending, stepMs)
    )
  }).pipe(Effect.scoped)
