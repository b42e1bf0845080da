/** One place that fails does not keep a report from the others. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Facts } from "../../../../src/alarms/facts.ts"
import type { KnownAlarm } from "../../../../src/alarms/state.ts"
import { report } from "../../../../src/features/operations/signals/report.ts"
import { type Receiver, startReceiver } from "../../../support/receiver.ts"
import { newFolder } from "../../../support/sluice.ts"

let receiver: Receiver
beforeAll(async () => void (receiver = await startReceiver()))
afterAll(() => receiver.stop())

const facts: Facts = {
  syncs: [],
  completeAt: [],
  nights: new Map(),
  lastReadings: [],
  standing: [],
  targets: [],
  limits: [],
  unknownTimeZones: [],
  modelProblems: [],
  newFields: [],
  newValues: []
}
const alarm: KnownAlarm = {
  kind: "disk",
  where: "disk",
  level: "wrong",
  what: "499 MB are free",
  next: "free space",
  since: 0
}
const watched = { alarms: [alarm], opened: [alarm], recovered: [], now: 0, failed: undefined }
const placesIn = (folder: string) => ({
  webhookUrl: { reference: "env:HOOK", read: () => Result.succeed(Redacted.make(`${receiver.url}/s3cret`)) },
  webhookBody: undefined,
  mailTo: "operations@example.com",
  sendmail: "/nowhere/sendmail",
  metricsFile: join(folder, "metrics", "sluice.prom")
})
const reported = (folder: string) => Effect.runPromise(report(placesIn(folder), watched, facts, "/crm"))

it("a mail program that is missing is a sentence, and the webhook and the metrics have the alarm", async () => {
  const folder = newFolder()
  receiver.answer = 200
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
