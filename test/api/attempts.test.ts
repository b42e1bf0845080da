/** When a request is repeated, and what is concluded of its refusals, in drawn worlds of tokens, routes, controls and outages. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { type Refused, makeAttempts } from "../../src/stages/api/attempts.ts"
import type { Control, Retry } from "../../src/stages/api/classify.ts"
import type { Credentials } from "../../src/stages/api/credentials.ts"
import { TransportError } from "../../src/stages/api/errors.ts"
import type { Budget } from "../../src/stages/api/rate-limiter.ts"
import { limitTo } from "../../src/values/limits.ts"
import { randomFrom } from "../support/random.ts"

const attemptsMax = 7
const throttledMs = 60_000
const unused = undefined as unknown as Budget

/** An account whose tokens are numbered: which it accepts, what it says instead, and when somebody else renews the token. */
const drawWorld = (seed: number) => {
  const random = randomFrom(seed)
  const below = (n: number) => Math.floor(random() * n)
  return {
    kind: random() < 0.5 ? ("private" as const) : ("oauth" as const),
    /** The first token that works, and the last that a file or a command has. */
    accepted: below(5),
    inFile: below(3),
    refusal: random() < 0.7 ? (401 as const) : (403 as const),
    /** Whether this route answers nobody, whatever the token. */
    isRouteRefused: random() < 0.3,
    /** Whether the first token has had data before. */
    isAccepted: random() < 0.5,
    /** Where the sequence of requests and controls has an outage, throttling, or a token of somebody else. */
    isOut: Array.from({ length: 40 }, () => random() < 0.1),
    isThrottled: Array.from({ length: 40 }, () => random() < 0.1),
    isRenewedByOther: Array.from({ length: 40 }, () => random() < 0.15)
  }
}

const play = Effect.fnUntraced(function* (seed: number) {
  const world = drawWorld(seed)
  let [moment, current] = [0, 0]
  const renewals: Array<number> = []
  const asked: Array<{ readonly token: number; readonly at: number; readonly answered: number | "out" | "throttled" }> =
    []
  const controls: Array<{
    readonly token: number
    readonly said: Control | "out"
    readonly status: number
    readonly after: number
  }> = []
  const credentials: Credentials = {
    token: Effect.sync(() => `token-${current}`),
    secrets: new Set(),
    renew: (rejected) =>
      Effect.sync(() => {
        if (rejected !== `token-${current}`) return "known"
        if (world.kind === "private" && current >= world.inFile) return "none"
        renewals.push(current)
        current++
        return "renewed"
      })
  }
  /** What happens while a request is on its way. */
  const pass = () => {
    if (world.isRenewedByOther[moment]) current++
    return moment++
  }
  const attempts = makeAttempts(unused, credentials, {
    hasResponded: () => true,
    kind: world.kind,
    throttledMs: limitTo(throttledMs)
  })
  if (world.isAccepted) attempts.accept("token-0")
  const attempt = Effect.gen(function* () {
    const [token, at] = [current, yield* Clock.currentTimeMillis]
    const now = pass()
    const answered = world.isOut[now]
      ? "out"
      : world.isThrottled[now]
        ? "throttled"
        : world.isRouteRefused
          ? 403
          : token >= world.accepted
            ? 200
            : world.refusal
    asked.push({ token, at, answered })
    if (answered === "out") return yield* new TransportError({ message: "reset", unsent: false })
    if (answered === "throttled") return { retry: "after the window", message: "busy", answered: 429 } satisfies Retry
    if (answered === 200) return { data: token }
    return { retry: "refused", message: `not ${token}`, answered, token: `token-${token}` } satisfies Refused
  })
  const control = (status: 401 | 403) =>
    Effect.suspend(() => {
      const token = current
      const said: Control | "out" = world.isOut[pass()] ? "out" : token >= world.accepted ? "data" : world.refusal
      controls.push({ token, said, status, after: asked.length })
      return said === "out"
        ? Effect.fail(new TransportError({ message: "reset", unsent: false }))
        : Effect.succeed(said)
    })
  const sent = yield* Effect.forkChild(Effect.result(attempts.repeated(attempt, limitTo(attemptsMax), "/x", control)))
  yield* TestClock.adjust(10 * 60_000)
  const result = yield* Fiber.join(sent)
  return { ...world, asked, controls, current, renewals, result }
})

const isRefused = (one: { readonly answered: unknown }) => one.answered === 401 || one.answered === 403

const endOf = (result: Result.Result<object, { readonly _tag: string }>) =>
  Result.isSuccess(result) ? "data" : result.failure._tag

it.effect("a request ends with data, or with what its refusals and the control of the present token say", () =>
  Effect.gen(function* () {
    const ends = new Map<string, number>()
    for (let seed = 1; seed <= 160; seed++) {
      const played = yield* play(seed)
      const { asked, controls, current, kind, renewals, result } = played
      const end = endOf(result)
      const world = JSON.stringify({ seed, ...played, isOut: 0, isThrottled: 0, isRenewedByOther: 0, end })
      ends.set(end, (ends.get(end) ?? 0) + 1)
      const last = asked.at(-1)!
      const counted = asked.filter(({ answered }) => answered !== "throttled")
      // Nobody is throttled here for a minute, so every other answer counts.
      assert.isAtMost(counted.length, attemptsMax, world)
      assert.isAtMost(renewals.length, 1, world)
      for (const [n, { at, answered }] of asked.slice(0, -1).entries()) {
        const failures = asked.slice(0, n + 1).filter((one) => one.answered !== "throttled").length
        const [least, most] =
          answered === "throttled" ? [0, 0] : [0.5, 1].map((share) => share * Math.min(125 * 2 ** failures, 8000))
        const waited = asked[n + 1]!.at - at
        assert.isTrue(waited >= Math.floor(least!) && waited <= Math.ceil(most!), `${waited} ms after ${n}: ${world}`)
      }
      // The second refusal of a token is followed by a control.
      for (const [n, { token }] of asked.entries()) {
        const same = asked.slice(n, n + 3).filter((one) => isRefused(one) && one.token === token)
        if (same.length === 3)
          assert.isTrue(
            controls.some(({ after }) => after > n && after <= n + 2),
            world
          )
      }
      // Only a request that a token has failed with 401 renews it, and an OAuth token that has worked takes a control.
      for (const renewed of renewals)
        assert.isTrue(
          asked.some(({ answered, token }) => answered === 401 && token === renewed),
          world
        )
      for (const { status } of controls)
        assert.isTrue(
          asked.some(({ answered }) => answered === status),
          world
        )
      if (end === "data") assert.strictEqual(last.answered, 200, world)
      else if (end === "Unavailable") assert.strictEqual(counted.length, attemptsMax, world)
      else {
        const said = controls.at(-1)!
        assert.strictEqual(
          end,
          said.said === "data" ? "Forbidden" : said.said === 401 ? "BadCredentials" : "WrongLocation",
          world
        )
        assert.deepStrictEqual([last.token, said.token], [current, current], `a newer token is asked first: ${world}`)
        assert.strictEqual(said.status, last.answered, world)
        assert.include(JSON.stringify(result), `not ${current}`)
        assert.isAtLeast(asked.filter(isRefused).length, 2, world)
        // What can be renewed is renewed before it is called bad.
        if (end === "BadCredentials" && last.answered === 401 && kind === "oauth") assert.lengthOf(renewals, 1, world)
        assert.isFalse(said.said !== "data" && current >= played.accepted, world)
      }
    }
    for (const end of ["data", "Forbidden", "BadCredentials", "WrongLocation", "Unavailable"])
      assert.isAtLeast(ends.get(end) ?? 0, 1, `${end}: ${JSON.stringify([...ends])}`)
  })
)
