/** What a browser that follows the console hears, and when it hears nothing more. */
import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { openEvents } from "../../src/features/serve/events.ts"
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
