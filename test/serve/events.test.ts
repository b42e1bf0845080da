/** What a browser that follows the console hears, and when it hears nothing more. */
import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { openEvents } from "../../src/features/serve/events.ts"
import { Limits, limitsOf } from "../../src/values/limits.ts"
import type { Session } from "../../src/network/sessions.ts"

it.effect("events end with the session of a browser, also with one that nobody has closed", () =>
  Effect.gen(function* () {
    const events = yield* openEvents
    const now = Date.now()
    const sessions = [now, now, now].map((lastSeen, index): Session => ({ id: `s${index}`, role: "owner", lastSeen }))
    const [stays, expires, closed] = sessions
    const answers = yield* Effect.forEach(sessions, (who) => events.open(who, [["state", "first"]]))
    events.send("log", "second")
    expires!.lastSeen = now - 12 * 3_600_000 - 1
    closed!.lastSeen = undefined
    events.send("log", "third")
    // The one that stays ends here, and has heard all.
    stays!.lastSeen = undefined
    events.send("log", "fourth")
    const heard = yield* Effect.forEach(answers, ({ body }) =>
      body._tag === "Stream" ? Stream.mkString(Stream.decodeText(body.stream)) : assert.fail(body._tag)
    )
    const wordsIn = (text: string) => Array.from(text.matchAll(/data: "(\w+)"/g), ([, word]) => word)
    assert.deepStrictEqual(heard.map(wordsIn), [
      ["first", "second", "third"],
      ["first", "second"],
      ["first", "second"]
    ])
  })
)

it.effect("of the browsers of a role, the first are heard, and one that reads nothing is given up", () =>
  Effect.gen(function* () {
    const events = yield* openEvents
    const who = (role: Session["role"]): Session => ({ id: role, role, lastSeen: Date.now() })
    const owner = yield* events.open(who("owner"), [])
    const { message } = yield* Effect.flip(events.open(who("owner"), []))
    assert.strictEqual(message, "Too many pages are open.")
    yield* events.open(who("reader"), [])
    for (const text of ["1", "2", "3"]) events.send("log", text, "owner")
    const heard = owner.body._tag === "Stream" ? yield* Stream.mkString(Stream.decodeText(owner.body.stream)) : ""
    assert.deepStrictEqual(
      Array.from(heard.matchAll(/data: "(\d)"/g), ([, word]) => word),
      ["1", "2"]
    )
  }).pipe(Effect.provideService(Limits, limitsOf({ serve: { browsers: 1, waitingEvents: 2 } })))
)
