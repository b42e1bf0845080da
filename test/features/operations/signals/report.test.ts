/** One place that fails does not keep a report from the others. */
import { afterAll, assert, beforeAll, beforeEach, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { evidenceOf, noFacts as facts } from "../../../../src/alarms/watch.ts"
import { verdictOf } from "../../../../src/alarms/verdict.ts"
import {
  type KnownAlarm,
  type Place,
  type Notified,
  changeState,
  readState,
  notifiedAt
} from "../../../../src/alarms/state.ts"
import { metricsText } from "../../../../src/features/operations/signals/metrics.ts"
import { report } from "../../../../src/features/operations/signals/report.ts"
import { type Receiver, startReceiver } from "../../../support/receiver.ts"
import { newFolder } from "../../../support/sluice.ts"

let receiver: Receiver
beforeAll(async () => void (receiver = await startReceiver()))
afterAll(() => receiver.stop())
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = 200
})

const alarm: KnownAlarm = {
  kind: "disk",
  where: "disk",
  level: "wrong",
  what: "499 MB are free",
  next: "free space",
  since: 0
}
const verdict = verdictOf(evidenceOf(facts, { isRunning: false, failed: undefined }))
const signalsIn = (folder: string) => ({
  heartbeatUrl: undefined,
  webhookUrl: { reference: "env:HOOK", read: () => Result.succeed(Redacted.make(`${receiver.url}/s3cret`)) },
  webhookBody: undefined,
  mailTo: "operations@example.com",
  digest: undefined,
  sendmail: "/nowhere/sendmail",
  metricsFile: join(folder, "metrics", "sluice.prom"),
  isOn: true
})
const reported = async (folder: string, alarms = [alarm], digest?: "daily") => {
  const state = await readState(folder)
  const watched = {
    alarms,
    now: Date.now(),
    failed: undefined,
    verdict,
    saying: "",
    notified: (place: Place) => notifiedAt(state, place),
    store: (place: Place, notified: Notified) =>
      Effect.promise(() =>
        changeState(folder, (found) => ({ ...found, notified: { ...found.notified, [place]: notified } }))
      )
  }
  const output = { folder, signals: { ...signalsIn(folder), digest } }
  return Effect.runPromise(report(watched, { output, facts, isAtEndOfSync: digest !== undefined }))
}
const notifiedIn = async (folder: string, place: "webhook" | "mail") => notifiedAt(await readState(folder), place)

it("a mail program that is missing is a sentence, and the webhook and the metrics have the alarm", async () => {
  const folder = newFolder()
  assert.deepStrictEqual(await reported(folder), [
    "The mail was not reached: /nowhere/sendmail cannot be run (ENOENT)."
  ])
  const [sent] = receiver.received
  assert.deepInclude(JSON.parse(String(sent!.body)).opened[0], { alarm: "disk", level: "error" })
  assert.include(readFileSync(join(folder, "metrics/sluice.prom"), "utf8"), 'sluice_alarms{level="error"} 1\n')
})

it("if every place fails, there is a sentence for each, and none has the address", async () => {
  const folder = newFolder()
  receiver.answer = 500
  // A file has the name of the folder.
  writeFileSync(join(folder, "metrics"), "")
  const problems = await reported(folder)
  assert.lengthOf(problems, 3)
  assert.match(
    problems.join("\n"),
    /^The webhook .*500\.\nThe mail .*ENOENT\)\.\n\S+sluice\.prom was not reached: .*\.$/
  )
  assert.notInclude(problems.join("\n"), "s3cret")
  assert.isFalse(existsSync(join(folder, "metrics/sluice.prom")))
})

const bodies = () => receiver.received.map(({ body }) => JSON.parse(String(body)))
const mailProgram = (folder: string, script: string) => {
  const path = join(folder, "sendmail")
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return path
}

it.each([500, 404, 302])(
  "what a webhook answers with %i is sent again until it is accepted, and once",
  async (status) => {
    const folder = newFolder()
    receiver.answer = status
    for (let time = 0; time < 3; time++)
      assert.match((await reported(folder)).join("\n"), /^The webhook was not reached/)
    const { refused, ...notified } = await notifiedIn(folder, "webhook")
    assert.isUndefined(notified.alarms[0]!.acceptedAt)
    assert.match(refused!.problem, /status/)
    receiver.answer = 200
    receiver.received.length = 0
    await reported(folder)
    await reported(folder)
    assert.deepStrictEqual(
      bodies().map(({ opened, state }) => [state, opened.map((one: { alarm: string }) => one.alarm)]),
      [["alarm", ["disk"]]]
    )
    assert.isUndefined((await notifiedIn(folder, "webhook")).refused)
    receiver.answer = 500
    await reported(folder, [])
    receiver.answer = 200
    receiver.received.length = 0
    await reported(folder, [])
    await reported(folder, [])
    assert.deepStrictEqual(
      bodies().map(({ state }) => state),
      ["recovery"]
    )
  }
)

it("a digest that a place has not accepted is sent by the next check", async () => {
  const folder = newFolder()
  receiver.answer = 500
  await reported(folder, [], "daily")
  receiver.answer = 200
  receiver.received.length = 0
  const again = async () => {
    const state = await readState(folder)
    const watched = {
      alarms: [],
      now: Date.now(),
      failed: undefined,
      verdict,
      saying: "",
      notified: (place: Place) => notifiedAt(state, place)
    }
    const output = { folder, signals: { ...signalsIn(folder), mailTo: undefined, digest: "daily" as const } }
    const store = (place: Place, notified: Notified) =>
      Effect.promise(() =>
        changeState(folder, (found) => ({ ...found, notified: { ...found.notified, [place]: notified } }))
      )
    await Effect.runPromise(report({ ...watched, store }, { output, facts, isAtEndOfSync: false }))
  }
  await again()
  await again()
  assert.deepStrictEqual(
    bodies().map(({ state }) => state),
    ["digest"]
  )
})

it("a place that gives no answer keeps nothing from the other one, nor what is known of it", async () => {
  const folder = newFolder()
  receiver.answer = "hang"
  const state = { ...signalsIn(folder), sendmail: mailProgram(folder, `cat > '${folder}/mail'`) }
  const watched = {
    alarms: [alarm],
    now: 1,
    failed: undefined,
    verdict,
    saying: "",
    notified: () => ({ alarms: [] }),
    store: (place: Place, notified: Notified) =>
      Effect.promise(() =>
        changeState(folder, (found) => ({ ...found, notified: { ...found.notified, [place]: notified } }))
      )
  }
  const running = Effect.runFork(report(watched, { output: { folder, signals: state }, facts, isAtEndOfSync: false }))
  while ((await notifiedIn(folder, "mail")).alarms.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  // The webhook is still being waited for, and this process may be killed now.
  assert.isUndefined(running.pollUnsafe())
  assert.strictEqual((await notifiedIn(folder, "mail")).alarms[0]!.acceptedAt, 1)
  assert.include(readFileSync(join(folder, "mail"), "utf8"), "disk")
  await Effect.runPromise(Fiber.interrupt(running))
})

it("the metrics say of each target whether it gets what is new, and since when it has what it has", () => {
  const unknown = { run: undefined, problem: undefined }
  const targets = [
    { name: "fine", deliveredAt: 5000, failedSince: undefined },
    { name: "stays behind", deliveredAt: 3000, failedSince: 4000 },
    { name: "has nothing", deliveredAt: undefined, failedSince: 4000 }
  ]
  const text = metricsText(
    { ...facts, targets: targets.map((one) => ({ ...one, ...unknown })) },
    { alarms: [], failed: undefined, verdict }
  )
  assert.deepStrictEqual(text.match(/^sluice_target_.*/gm), [
    'sluice_target_delivered_timestamp_seconds{target="fine"} 5',
    'sluice_target_delivered_timestamp_seconds{target="stays behind"} 3',
    'sluice_target_failed{target="fine"} 0',
    'sluice_target_failed{target="stays behind"} 1',
    'sluice_target_failed{target="has nothing"} 1'
  ])
})
