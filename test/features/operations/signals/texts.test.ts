/** Metrics, digests and messages, computed a second time from drawn runs, readings, targets and alarms. */
import { assert, describe, it } from "@effect/vitest"
import type { Facts } from "../../../../src/alarms/facts.ts"
import type { KnownAlarm } from "../../../../src/alarms/state.ts"
import type { Verdict } from "../../../../src/alarms/verdict.ts"
import { noFacts } from "../../../../src/alarms/watch.ts"
import { digestOf } from "../../../../src/features/operations/signals/digest.ts"
import { bodyOf, messageOf } from "../../../../src/features/operations/signals/message.ts"
import { metricsText } from "../../../../src/features/operations/signals/metrics.ts"
import { sluiceVersion } from "../../../../src/values/version.ts"
import { randomFrom } from "../../../support/random.ts"

const draw = (seed: number) => {
  const random = randomFrom(seed)
  const upTo = (max: number) => Math.floor(random() * (max + 1))
  const oneOf = <One>(of: ReadonlyArray<One>): One => of[upTo(of.length - 1)]!
  const some = <One>(value: One, share = 0.5) => (random() < share ? value : undefined)
  const many = <One>(max: number, one: (index: number) => One) =>
    Array.from({ length: upTo(max) }, (_, index) => one(index))
  // Newest first; one that still works has no end.
  const syncs = many(4, (index) => {
    const startedAt = 1_000_000_000_000 - index * 86_400_000
    const isEnded = index > 0 || random() < 0.8
    const end = { finishedAt: startedAt + upTo(9000) * 1000, exitCode: oneOf([0, 0, 3, 75]), requests: upTo(500) }
    return { id: `run${index}`, startedAt, status: oneOf(["complete", "incomplete"] as const), ...(isEnded && end) }
  })
  const readings = many(8, (index) => ({
    location: oneOf(["north", 'a"b\\c']),
    resource: `resource_${index}`,
    completeAt: some(900_000_000_000 + upTo(1000) * 1000, 0.7),
    last: some(
      { run: `run${upTo(2)}`, newRows: upTo(9), changedRows: upTo(9), deletedRows: upTo(9), rejected: upTo(9) },
      0.8
    )
  }))
  const targets = many(3, (index) => ({
    name: `target${index}`,
    deliveredAt: some(950_000_000_000, 0.7),
    failedSince: some(960_000_000_000),
    problem: "no space",
    run: "run1"
  }))
  const alarms = many(14, (index) => ({
    kind: "disk",
    where: `place${index}`,
    level: oneOf(["warning", "wrong"] as const),
    what: "it is late",
    next: "look",
    since: upTo(1000) * 1000,
    silenced: some("a while", 0.2)
  }))
  const locations = ["north", 'a"b\\c'].map((location) => ({ location, complete: upTo(5), of: 5 }))
  const failed = some({ at: oneOf([1, 2_000_000_000_000]), exitCode: 77, message: "m", next: "n" }, 0.4)
  const facts = { ...noFacts, syncs, readings, targets } as unknown as Facts
  return { syncs, readings, targets, facts, failed, locations, alarms: alarms as unknown as ReadonlyArray<KnownAlarm> }
}
type World = ReturnType<typeof draw>
const sum = <One>(rows: ReadonlyArray<One>, of: (row: One) => number) => rows.reduce((all, row) => all + of(row), 0)
/** Of the readings, what one run did. */
const ofRun = ({ readings }: World, run: string | undefined) =>
  readings.flatMap(({ last }) => (last?.run === run && last ? [last] : []))
const activeIn = ({ alarms }: World) => alarms.filter(({ silenced }) => silenced === undefined)
const seeds = Array.from({ length: 60 }, (_, index) => index + 1)
const levels = { warning: "warning", wrong: "error" } as const

describe("what is said of drawn nights", () => {
  it("metrics have a sample for each thing that is known, and nothing of what is not", () => {
    for (const seed of seeds) {
      const world = draw(seed)
      const { alarms, facts, failed, locations, readings, syncs, targets } = world
      const last = syncs.find((run) => run.finishedAt !== undefined)
      const good = syncs.find((run) => run.exitCode === 0)
      const own = ofRun(world, last?.id)
      const end =
        failed && failed.at >= (last?.finishedAt ?? 0) ? { exitCode: failed.exitCode, finishedAt: failed.at } : last
      const quoted = (text: string) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`
      const active = activeIn(world)
      const expected = [
        `sluice_info{version="${sluiceVersion}"} 1`,
        ...(end
          ? [`sluice_last_run_exit_code ${end.exitCode}`, `sluice_last_run_timestamp_seconds ${end.finishedAt! / 1000}`]
          : []),
        ...(good ? [`sluice_last_success_timestamp_seconds ${good.finishedAt! / 1000}`] : []),
        ...(last
          ? [
              `sluice_last_run_duration_seconds ${(last.finishedAt! - last.startedAt) / 1000}`,
              `sluice_last_run_requests ${last.requests}`,
              `sluice_last_run_rows{change="new"} ${sum(own, (one) => one.newRows)}`,
              `sluice_last_run_rows{change="changed"} ${sum(own, (one) => one.changedRows)}`,
              `sluice_last_run_rows{change="deleted"} ${sum(own, (one) => one.deletedRows)}`,
              `sluice_last_run_rejects ${sum(own, (one) => one.rejected)}`
            ]
          : []),
        ...readings.flatMap((one) =>
          one.completeAt === undefined
            ? []
            : [
                `sluice_complete_timestamp_seconds{location=${quoted(one.location)},resource=${quoted(one.resource)}} ${one.completeAt / 1000}`
              ]
        ),
        ...locations.flatMap((one) => [
          `sluice_resources{location=${quoted(one.location)}} ${one.of}`,
          `sluice_resources_complete{location=${quoted(one.location)}} ${one.complete}`
        ]),
        ...targets.flatMap((one) => [
          ...(one.deliveredAt === undefined
            ? []
            : [`sluice_target_delivered_timestamp_seconds{target="${one.name}"} ${one.deliveredAt / 1000}`]),
          `sluice_target_failed{target="${one.name}"} ${one.failedSince === undefined ? 0 : 1}`
        ]),
        ...(["warning", "wrong"] as const).map(
          (level) => `sluice_alarms{level="${levels[level]}"} ${active.filter((one) => one.level === level).length}`
        ),
        ...active.map(
          (one) =>
            `sluice_alarm_since_timestamp_seconds{alarm="${one.where}",level="${levels[one.level]}"} ${one.since / 1000}`
        )
      ]
      const text = metricsText(facts, { alarms, failed, verdict: { locations } as unknown as Verdict })
      const lines = text.trimEnd().split("\n")
      const samples = lines.filter((line) => !line.startsWith("#"))
      assert.sameMembers(samples, expected, `seed ${seed}`)
      // Each name is explained once, before its samples.
      const names = [...new Set(samples.map((line) => /^\w+/.exec(line)![0]))]
      assert.deepStrictEqual(
        lines.flatMap((line) => /^# TYPE (\w+) gauge$/.exec(line)?.[1] ?? []),
        names
      )
    }
  })

  it("a digest has the level of the worst alarm that is not silenced, and the rows of the last sync", () => {
    for (const seed of seeds) {
      const world = draw(seed)
      const { alarms, facts, syncs, targets } = world
      const active = activeIn(world)
      const { level, state, text, title } = digestOf(
        { alarms, now: 2_000_000_000_000, saying: "The verdict." },
        facts,
        { output: "/o", runsAt: "03:30", tables: "5 tables" }
      )
      const [last] = syncs
      const own = ofRun(world, last?.id)
      assert.strictEqual(state, "digest")
      assert.strictEqual(
        level,
        active.some((one) => one.level === "wrong") ? "error" : active.length > 0 ? "warning" : "ok"
      )
      assert.strictEqual(
        title,
        active.length === 0 ? "sluice: all is well" : `sluice: ${active.length} alarm${active.length === 1 ? "" : "s"}`
      )
      const lines = text.split("\n")
      assert.deepStrictEqual(lines.slice(0, 2), [`${title} (/o)`, "The verdict."])
      const [said] = lines.filter((line) => line.startsWith("Last sync: "))
      if (last === undefined) assert.isUndefined(said)
      else
        assert.strictEqual(
          said,
          `Last sync: ${last.status}, ${last.requests ?? 0} request${last.requests === 1 ? "" : "s"}; ${sum(own, (one) => one.newRows)} new, ${sum(own, (one) => one.changedRows)} changed and ${sum(own, (one) => one.deletedRows)} deleted rows.`
        )
      assert.include(lines, "The release has 5 tables.")
      assert.strictEqual(lines.at(-1), "The next run is at 03:30.")
      for (const one of targets) {
        const [line] = lines.filter((each) => each.startsWith(`${one.name}: has `))
        assert.strictEqual(line!.includes("not brought up to date"), one.failedSince !== undefined)
      }
      assert.deepStrictEqual(
        lines.flatMap((line) => /^(?:warning|error) (place\d+): it is late\. Next: look$/.exec(line)?.[1] ?? []),
        active.slice(0, 10).map(({ where }) => where)
      )
      assert.strictEqual(
        lines.some((line) => line === `and ${active.length - 10} more; ./sluice check lists all`),
        active.length > 10
      )
    }
  })

  it("a message is an alarm if one began, or else a recovery, and names the first and the number of the others", () => {
    for (const seed of seeds) {
      const world = draw(seed)
      const active = activeIn(world)
      const [opened, recovered] = [active.slice(0, seed % 3), active.slice(seed % 3, (seed % 3) + (seed % 4))]
      const changes = { opened, recovered }
      const message = messageOf({ ...changes, alarms: world.alarms }, "/o")
      if (opened.length + recovered.length === 0) {
        assert.isUndefined(message)
        continue
      }
      const isAlarm = opened.length > 0
      const level = !isAlarm ? "ok" : opened.some((one) => one.level === "wrong") ? "error" : "warning"
      const [first, ...others] = isAlarm ? opened : recovered
      const where = `${first!.where}${others.length > 0 ? ` and ${others.length} more` : ""}`
      const title = isAlarm ? `sluice ${level}: ${where}` : `sluice recovered: ${where}; ${active.length} still open`
      const lines = [
        ...opened.map((one) => `${levels[one.level]} ${one.where}: it is late. Next: look`),
        ...recovered.map((one) => `recovered ${one.where}: it is late`)
      ]
      assert.deepStrictEqual(message, {
        state: isAlarm ? "alarm" : "recovery",
        level,
        title,
        text: [`${title} (/o)`, ...lines].join("\n")
      })
      const body = JSON.parse(bodyOf(message!, changes))
      assert.deepInclude(body, { schema: "sluice/alarms/1", ...message })
      assert.deepStrictEqual([body.opened.length, body.recovered.length], [opened.length, recovered.length])
      assert.deepStrictEqual(JSON.parse(bodyOf(message!, changes, '{"a":"{text}","b":"{level} {state}"}')), {
        a: message!.text,
        b: `${level} ${message!.state}`
      })
      assert.strictEqual(bodyOf(message!, changes, "{title}|{text}"), `${title}|${message!.text}`)
    }
  })
})
