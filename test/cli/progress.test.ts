/** When the progress of a run is shown and logged. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { PassThrough } from "node:stream"
import { Output } from "../../src/console/streams.ts"
import { progress } from "../../src/run/progress.ts"
import { contacts } from "../../pipelines/crm/contacts.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { exactly } from "../../src/values/range.ts"
import type { Step } from "../../src/values/step.ts"
import { silentApi } from "../extract/fakes.ts"

const step: Step = {
  resource: contacts,
  embedded: [],
  mode: "full",
  checkpoints: {},
  refreshCutoff: undefined,
  capabilities: noCapabilities,
  childCapabilities: undefined
}

const terminal = () => Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })

const watched = (requests: Map<string, number>) => ({
  accounts: [
    {
      location: "L",
      counts: new Map([["contacts", { pages: 3, records: 300 }]]),
      api: {
        ...silentApi,
        send: () => Effect.die("not used"),
        requestsByResource: requests,
        usage: () => ({ burst: 100, windowMs: 10_000, inWindow: 3, dailyRemaining: 5000 })
      }
    }
  ],
  expectedByLocation: new Map([
    ["L", [{ step, list: { requests: exactly(200), basis: "the last full read" as const, changed: exactly(0) } }]]
  ])
})

describe("the progress", () => {
  it.effect("without a terminal is logged each minute, with the time left", () =>
    Effect.gen(function* () {
      const entries: Array<Readonly<Record<string, unknown>>> = []
      const logger = Logger.map(Logger.formatStructured, ({ annotations }) => void entries.push(annotations))
      const stderr = new PassThrough()
      const requests = new Map([["contacts", 0]])
      const running = yield* progress(watched(requests)).pipe(
        Effect.provideService(Output, Output.make({ stdout: stderr, stderr }, {})),
        Effect.provide(Logger.layer([logger])),
        Effect.forkChild
      )
      yield* TestClock.adjust("60 seconds")
      requests.set("contacts", 60)
      yield* TestClock.adjust("60 seconds")
      yield* Fiber.interrupt(running)
      assert.deepInclude(entries[1], {
        requests: 60,
        planned_min: 200,
        planned_max: 200,
        records: 300,
        seconds_left_min: 140,
        seconds_left_max: 140
      })
      assert.strictEqual(entries.length, 2)
      assert.isNull(stderr.read())
    })
  )

  it.effect("on a terminal is drawn twice a second and when the terminal changes its size, until the run ends", () =>
    Effect.gen(function* () {
      const stderr = terminal()
      const running = yield* progress(watched(new Map([["contacts", 3]]))).pipe(
        Effect.provideService(Output, Output.make({ stdout: terminal(), stderr }, { TERM: "xterm" })),
        Effect.forkChild
      )
      yield* TestClock.adjust("500 millis")
      const drawn = String(stderr.read())
      assert.match(drawn, /^resource +pages +records +requests\ncontacts +3 +300 +3\n\[#*-+\] 1 %\n/)
      stderr.columns = 40
      stderr.emit("resize")
      const redrawn = String(stderr.read())
      // The bar of 79 columns, and the sums, take two rows each now.
      assert.isTrue(redrawn.startsWith("\r\u001b[6A\u001b[Jresource"), JSON.stringify(redrawn))
      yield* Fiber.interrupt(running)
      assert.match(JSON.stringify(String(stderr.read())), /^"\\r\\u001b\[\dA\\u001b\[J"$/)
      assert.strictEqual(stderr.listenerCount("resize"), 0)
    })
  )
})
