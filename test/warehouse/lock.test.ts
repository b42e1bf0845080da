import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandName, type Holder, RunWait, holderIn, openWhenUnlocked } from "../../src/output/lock.ts"
import { Failure } from "../../src/values/failure.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

const reader: Holder = { pid: 7, program: "dbeaver", isRun: false }
const run: Holder = { pid: 8, program: "sluice sync", isRun: true }
const reasonOf = (error: unknown) => (error instanceof Failure ? error.reason : undefined)
const lockedBy = (holder: Holder, path = "o/warehouse.duckdb") => ({
  _tag: "WarehouseLocked" as const,
  path,
  ...holder
})

describe("a warehouse that another process has open", () => {
  it.effect("is opened as soon as a reader has closed it", () =>
    Effect.gen(function* () {
      let isOpen = true
      const opening = yield* Effect.forkChild(
        openWhenUnlocked(
          "o/warehouse.duckdb",
          Effect.suspend(() => (isOpen ? Effect.fail(reader) : Effect.succeed("opened"))),
          (holder) => holder
        )
      )
      yield* TestClock.adjust("20 seconds")
      isOpen = false
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(opening), "opened")
    })
  )

  it.effect("fails after half a minute, and the reason names the program", () =>
    Effect.gen(function* () {
      const opening = yield* Effect.forkChild(
        Effect.flip(openWhenUnlocked("o/warehouse.duckdb", Effect.fail(reader), (holder) => holder))
      )
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(opening.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(reasonOf(yield* Fiber.join(opening)), lockedBy(reader))
    })
  )

  it.effect("fails at once if another run has it open", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(openWhenUnlocked("o/warehouse.duckdb", Effect.fail(run), (holder) => holder))
      assert.deepStrictEqual(reasonOf(failure), lockedBy(run))
    })
  )

  it.effect("is opened once another run has ended, if the command waits for it", () =>
    Effect.gen(function* () {
      const messages: Array<unknown> = []
      const logger = Logger.make(({ message }) => void messages.push(message))
      let holder: Holder | undefined = run
      const opening = yield* Effect.suspend(() => (holder ? Effect.fail(holder) : Effect.succeed("opened"))).pipe(
        (open) => openWhenUnlocked("o/warehouse.duckdb", open, (holder) => holder),
        Effect.provideService(RunWait, 600_000),
        Effect.provide(Logger.layer([logger])),
        Effect.forkChild
      )
      yield* TestClock.adjust("9 minutes")
      holder = undefined
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(opening), "opened")
      assert.deepStrictEqual(messages, [["Waiting for sluice sync (process 8), which has warehouse.duckdb open."]])
    })
  )

  it.effect("fails if another run has not ended in the time that the command waits", () =>
    Effect.gen(function* () {
      const opening = yield* openWhenUnlocked("o/warehouse.duckdb", Effect.fail(run), (holder) => holder).pipe(
        Effect.flip,
        Effect.provideService(RunWait, 600_000),
        Effect.forkChild
      )
      yield* TestClock.adjust("599 seconds")
      assert.isUndefined(opening.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(reasonOf(yield* Fiber.join(opening)), lockedBy(run))
    })
  )

  it.live("is not opened to read, and the reason names the process that has it open", () =>
    Effect.gen(function* () {
      const path = join(newFolder(), "warehouse.duckdb")
      const holder = yield* holding(path)
      const failure = yield* Layer.build(Warehouse.layer(path, { access: "read", memoryMb: 96 })).pipe(
        Effect.scoped,
        Effect.flip
      )
      assert.deepStrictEqual(reasonOf(failure), lockedBy({ pid: holder.pid, program: "node", isRun: false }, path))
    }).pipe(Effect.scoped)
  )

  it("is held by the process in the message of DuckDB", () => {
    const path = join(newFolder(), "warehouse.duckdb")
    assert.deepStrictEqual(holderIn(conflict(2 ** 30), path), { pid: 2 ** 30, program: "node", isRun: false })
    assert.include(holderIn(conflict(process.pid), path), { pid: process.pid, isRun: false })
    assert.isUndefined(holderIn("IO Error: no such file", path))
    const held = (by: string) =>
      holderIn(`IO Error: Could not set lock on file: Conflicting lock is held in ${by}`, path)
    assert.deepStrictEqual(held("/opt/DB Tool/tool (PID 7) by user ada."), { pid: 7, program: "tool", isRun: false })
    assert.deepStrictEqual(held("PID 7. See also"), { pid: 7, program: undefined, isRun: false })
    assert.deepStrictEqual(holderIn("Could not set lock", path), { pid: undefined, program: undefined, isRun: false })
  })

  it.live("is held by a run that says its name itself, and by nobody else under this name", () =>
    Effect.gen(function* () {
      const path = join(newFolder(), "warehouse.duckdb")
      const announcement = join(path, "..", "holder.json")
      const open = Layer.build(Warehouse.layer(path, { access: "write", memoryMb: 96 })).pipe(
        Effect.provideService(CommandName, "sluice subject erase")
      )
      const written = yield* Effect.scoped(
        Effect.map(open, () => {
          assert.deepStrictEqual(holderIn(conflict(process.pid), path), {
            pid: process.pid,
            program: "sluice subject erase",
            isRun: true
          })
          assert.include(holderIn(conflict(process.ppid), path), { isRun: false })
          return readFileSync(announcement, "utf8")
        })
      )
      assert.isFalse(existsSync(announcement))
      // A killed run leaves its name, and another program gets its process id, or opens the file.
      writeFileSync(announcement, JSON.stringify({ ...JSON.parse(written), started: "1" }))
      assert.include(holderIn(conflict(process.pid), path), { isRun: false })
      writeFileSync(announcement, written)
      const { pid } = yield* holding(path)
      const failure = yield* Effect.flip(
        Effect.scoped(Layer.build(Warehouse.layer(path, { access: "read", memoryMb: 96 })))
      )
      assert.deepStrictEqual(reasonOf(failure), lockedBy({ pid, program: "node", isRun: false }, path))
    }).pipe(Effect.scoped)
  )
})

const conflict = (pid: number) =>
  `IO Error: Could not set lock on file "w.duckdb": Conflicting lock is held in /usr/bin/node (PID ${pid}). See also https://duckdb.org/docs`

/** Another process that has a database open. */
const holding = (path: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const program = `import { DuckDBInstance } from "@duckdb/node-api"
        const instance = await DuckDBInstance.create(process.argv[1])
        await (await instance.connect()).run("CREATE TABLE t (x INT); CHECKPOINT")
        console.log("open")
        setInterval(() => instance, 1000)`
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program, path], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      await Promise.race([once(child.stdout, "data"), once(child, "exit")])
      assert.isNull(child.exitCode)
      return child
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
