/** How a run ended, from its readings and from what followed them. */
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { join } from "node:path"
import { CommandError, explanationOf } from "../../src/console/errors.ts"
import { failing, nightOf, publishing } from "../../src/run/night.ts"
import type { ResourceResult } from "../../src/stages/extract/extract.ts"
import { newFolder } from "../support/sluice.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { beginRun, endRun, runsNewestFirst, unfinishedFullSync } from "../../src/stores/warehouse/meta/runs.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { type Failure, type FailureReason, exitCodes, failure } from "../../src/values/failure.ts"

const result = (reason?: ResourceResult["reason"]) =>
  ({ reason, shortfalls: [{ _tag: "CursorStuck" }], warnings: [] }) as unknown as ResourceResult
const whole = { shortfalls: [], warnings: [] } as unknown as ResourceResult

it("a night of readings is paused if it can be resumed, and incomplete otherwise", () => {
  assert.deepStrictEqual(nightOf("complete", [], undefined), { status: "complete", exitCode: 0 })
  assert.deepStrictEqual(nightOf("complete_with_warnings", [], undefined), {
    status: "complete_with_warnings",
    exitCode: 0
  })
  assert.deepStrictEqual(nightOf("complete", [], -600_000), { status: "complete_with_warnings", exitCode: 0 })
  assert.deepStrictEqual(nightOf("incomplete", [result()], undefined), { status: "incomplete", exitCode: 3 })
  assert.deepStrictEqual(nightOf("incomplete", [result("forbidden")], undefined), {
    status: "incomplete",
    exitCode: 3
  })
  for (const reason of ["forbidden", "badToken"] as const)
    assert.deepStrictEqual(nightOf("incomplete", [result(reason), whole, result()], undefined).exitCode, 3, reason)
  assert.deepStrictEqual(nightOf("incomplete", [result("forbidden"), result("retryLater")], undefined), {
    status: "paused",
    exitCode: 75
  })
})

const unreachable: FailureReason = { _tag: "DestinationFailed", target: "t", detail: "refused" }
const waits: FailureReason = { _tag: "TablesWait", target: "t", tables: [] }
const full: FailureReason = { _tag: "FileFailed", path: "p", operation: "written", detail: "ENOSPC: full" }
const published = Effect.succeed({ problems: [] })
const [complete, paused] = [
  { status: "complete", exitCode: 0 },
  { status: "paused", exitCode: 75 }
] as const

it.each([
  ["delivers all", complete, published, "complete", 0],
  ["could not build a model", complete, Effect.succeed({ problems: ["m"] }), "complete_with_warnings", 0],
  ["cannot reach a target", complete, Effect.fail(failure(unreachable)), "incomplete", 1],
  ["leaves tables of a target behind", complete, Effect.fail(failure(waits)), "incomplete", 3],
  ["cannot write a release", complete, Effect.fail(failure(full)), "incomplete", 1],
  ["has a defect", complete, Effect.die("defect"), "incomplete", 1],
  ["is stopped", complete, Effect.interrupt, "interrupted", 143],
  ["is resumed, whatever targets do", paused, Effect.fail(failure(unreachable)), "paused", 1]
] as const)("a night that %s is stored as the command ends", async (_, readings, publish, status, exitCode) => {
  const sent: Array<string> = []
  const warehouse = {
    transaction: (statements: ReadonlyArray<unknown>) => Effect.sync(() => void sent.push(...statements.map(String)))
  } as unknown as Warehouse["Service"]
  const work: Effect.Effect<{ readonly problems: ReadonlyArray<unknown> }, unknown> = publish
  const exit = await Effect.runPromiseExit(
    publishing({ id: "r1", startedAt: 0 }, 7, readings, work).pipe(Effect.provideService(Warehouse, warehouse))
  )
  assert.strictEqual(Exit.isSuccess(exit), exitCode === readings.exitCode)
  if (Exit.isSuccess(exit)) assert.deepStrictEqual(exit.value.night, { status, exitCode })
  assert.include(sent.at(-1), `status = '${status}'`)
  assert.match(sent.at(-1)!, new RegExp(`exit_code = ${exitCode}, requests = 7 WHERE run_id = 'r1'`))
})

it("a run that is killed after its readings is never complete: neither for who looks then, nor after the next run", async () => {
  const path = join(newFolder(), "warehouse.duckdb")
  const within = <A, E>(access: "read" | "write", work: Effect.Effect<A, E, Warehouse>) =>
    Effect.runPromise(work.pipe(Effect.provide(Warehouse.layer(path, { access, memoryMb: 128 }))))
  const runs = Effect.map(runsNewestFirst(), (all) => all.map(({ exitCode, status }) => [status, exitCode]))
  const begun = Effect.gen(function* () {
    yield* prepare({ resources: [], familyByTable: new Map() })
    return yield* beginRun("sync")
  })
  // What a kill leaves: nothing after the readings is stored.
  const killed = Effect.gen(function* () {
    yield* endRun(yield* begun, { status: "complete", requests: 7 })
    return yield* runs
  })
  assert.deepStrictEqual(await within("write", killed), [["complete", undefined]])
  assert.deepStrictEqual(await within("read", runs), [["interrupted", undefined]])
  const next = Effect.flatMap(begun, (run) => publishing(run, 7, complete, published))
  await within("write", next)
  assert.deepStrictEqual(await within("read", runs), [
    ["complete", 0],
    ["interrupted", undefined]
  ])
})

const codeOf = (error: CommandError | Failure) => exitCodes[explanationOf(error)!.ends]

it.each([
  ["the token is refused", new CommandError({ ends: "credentials", message: "m", next: "n" }), 77],
  ["the service is down", new CommandError({ ends: "later", message: "m", next: "n" }), 75],
  ["the disk is full", failure(full), 1]
] as const)(
  "a run that cannot read on because %s leaves its exit code, and is to be resumed",
  async (_, cause, code) => {
    const path = join(newFolder(), "warehouse.duckdb")
    const work = Effect.gen(function* () {
      yield* prepare({ resources: [], familyByTable: new Map() })
      const run = yield* beginRun("sync --each")
      yield* Effect.ignore(failing(Effect.fail(cause), run, { codeFor: codeOf, requests: () => 7 }))
      const [failed] = yield* runsNewestFirst()
      yield* beginRun("sync")
      return { failed, next: (yield* runsNewestFirst())[1], unfinished: yield* unfinishedFullSync() }
    })
    const layer = Warehouse.layer(path, { access: "write", memoryMb: 128 })
    const { failed, next, unfinished } = await Effect.runPromise(work.pipe(Effect.provide(layer)))
    for (const run of [failed, next]) {
      assert.include(run, { status: "interrupted", exitCode: code, requests: 7 })
      assert.isUndefined(run?.finishedAt)
    }
    assert.strictEqual(unfinished, failed?.startedAt)
  }
)

it("a run that is stopped while it reads leaves no exit code", async () => {
  const run = { id: "r1", startedAt: 0 }
  const warehouse = { transaction: () => Effect.die("nothing is stored") } as unknown as Warehouse["Service"]
  const exit = await Effect.runPromiseExit(
    failing(Effect.interrupt, run, { codeFor: () => 1, requests: () => 7 }).pipe(
      Effect.provideService(Warehouse, warehouse)
    )
  )
  assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
})
