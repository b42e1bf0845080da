/** The verdict of drawn evidence, computed a second time: what keeps something from being there, the worst first. */
import { assert, it } from "@effect/vitest"
import { type Evidence, lastEnded, verdictOf } from "../../src/alarms/verdict.ts"
import type { Run } from "../../src/stores/warehouse/meta/runs.ts"
import { randomFrom } from "../support/random.ts"

const runs = {
  good: { status: "complete", finishedAt: 100, exitCode: 0 },
  paused: { status: "paused", finishedAt: 100, exitCode: 75 },
  stopped: { status: "interrupted", finishedAt: 100, exitCode: 1 },
  ended: { status: "complete", finishedAt: 100, exitCode: 4 }
} as const

it("the verdict is the worst of what was found, with the counts of what is there", () => {
  const met = new Set<string>()
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed)
    const below = (n: number) => Math.floor(random() * n)
    const pick = <A>(all: ReadonlyArray<A>): A => all[below(all.length)]!
    const isGood = random() < 0.5
    const readings = Array.from({ length: below(4) }, (_, n) => ({
      location: pick(["L", "M"]),
      resource: `t${n}`,
      reasons: [],
      state: isGood
        ? pick(["complete", "complete", "complete_with_warnings"] as const)
        : pick(["complete", "incomplete", "never"] as const),
      completeAt: below(50),
      ...(random() < 0.2 && { isLate: true })
    }))
    const run = pick([...Object.keys(runs), undefined, "good", "good"]) as keyof typeof runs | undefined
    const failedAt = random() < 0.15 ? pick([99, 100, 101]) : undefined
    const targets = Array.from({ length: below(3) }, (_, n) => ({
      name: `target${n}`,
      ...(random() < 0.2 && { failedSince: 5 })
    }))
    const models = random() < 0.15 ? [{ where: "fct" }] : []
    const evidence = {
      readings,
      run: run && { id: "r", startedAt: 50, ...runs[run] },
      ...(failedAt !== undefined && { failed: { at: failedAt, exitCode: 78, message: "m", next: "n" } }),
      targets,
      models
    } as unknown as Evidence
    const verdict = verdictOf(evidence)
    const shown = JSON.stringify({ seed, ...evidence })

    const isOpen = (one: (typeof readings)[number]) => one.state === "incomplete" || one.state === "never"
    const isBehind = targets.some((one) => "failedSince" in one)
    const warned = readings.filter(({ state }) => state === "complete_with_warnings").length
    const problems: ReadonlyArray<readonly [boolean, string]> = [
      // A run that did nothing is the news until another one has ended.
      [failedAt !== undefined && (run === undefined || failedAt >= 100), "stopped"],
      [run === "stopped", "stopped"],
      [run === "paused", "paused"],
      [readings.some(isOpen), "incomplete"],
      [isBehind, "undelivered"],
      [models.length > 0, "models"],
      [readings.some(({ isLate }) => isLate === true), "late"],
      [run === "ended", "incomplete"],
      [warned > 0, "warned"],
      [readings.length > 0, "complete"]
    ]
    const state = problems.find(([is]) => is)?.[1] ?? "nothing"
    assert.strictEqual(verdict.state, state, shown)
    met.add(state)
    const tone = state === "complete" ? "complete" : /paused|models|late|warned/.test(state) ? "warning" : "problem"
    assert.strictEqual(verdict.tone, tone, shown)
    const there = readings.filter((one) => !isOpen(one) && !one.isLate)
    assert.deepStrictEqual(
      [verdict.complete, verdict.of, verdict.warned],
      [there.length, readings.length, warned],
      shown
    )
    assert.strictEqual(
      verdict.oldest?.completeAt,
      there.length === 0 ? undefined : Math.min(...there.map((one) => one.completeAt)),
      shown
    )
    for (const { complete, location, of, oldestAt } of verdict.locations) {
      const own = readings.filter((one) => one.location === location)
      assert.deepStrictEqual(
        [complete, of, oldestAt],
        [own.filter((one) => there.includes(one)).length, own.length, Math.min(...own.map((one) => one.completeAt))],
        shown
      )
    }
    assert.lengthOf(verdict.locations, new Set(readings.map(({ location }) => location)).size)
    const named = verdict.causes.flatMap((cause) => ("resources" in cause ? cause.resources : []))
    assert.sameMembers(
      named,
      readings.filter((one) => !there.includes(one)).map(({ resource }) => resource),
      shown
    )
  }
  assert.lengthOf([...met], 9, [...met].join(", "))
})

it("the last run is the newest, unless that one still works", () => {
  const run = (id: string, fields: Partial<Run>) => ({ id, ...fields }) as Run
  const before = run("before", { finishedAt: 1, exitCode: 0 })
  for (const [newest, isRunning, expected] of [
    [run("working", {}), true, "before"],
    [run("killed", {}), false, "killed"],
    [run("ended", { finishedAt: 2 }), true, "ended"],
    [run("failed", { exitCode: 1 }), true, "failed"]
  ] as const)
    assert.strictEqual(lastEnded([newest, before], isRunning)?.id, expected)
  assert.isUndefined(lastEnded([], true))
})
