/** Commands that the console starts, with a program that prints what a command prints and does not end when it should. */
import { Limits, limitsOf, usualLimits } from "../../src/values/limits.ts"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, Exit, Scope } from "effect"
import { Transcript } from "../../src/run/transcript.ts"
import { type Job, type Order, openWork } from "../../src/run/work.ts"
import { newFolder } from "../support/sluice.ts"

const order = (more: Partial<Order> = {}): Order => ({
  task: "sync",
  title: "Sync",
  by: "console",
  isWriting: true,
  isPrivate: false,
  isPlanOnly: false,
  hasEvents: true,
  args: ["sync"],
  ...more
})

const opened: Array<() => Promise<void>> = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()))
})

/** A program of the shell in the place of sluice. */
const programOf = (script: string) => {
  const path = join(newFolder(), "program")
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o700)
  return [path]
}
const openJobs = async (
  script: string | ReadonlyArray<string>,
  folder = newFolder(),
  onEnd: (job: Job) => void = () => {},
  onProblem: (message: string) => void = assert.fail,
  closeMs?: number,
  limits = usualLimits
) => {
  const scope = Scope.makeUnsafe()
  opened.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const work = await openWork({
    folder,
    program: typeof script === "string" ? programOf(script) : script,
    flags: () => ["--output", folder],
    environment: process.env,
    onEnd: (job) => Effect.sync(() => onEnd(job)),
    onProblem,
    ...(closeMs !== undefined && { closeMs })
  }).pipe(Scope.provide(scope), Effect.provideService(Limits, limits), Effect.runPromise)
  const jobs = {
    start: (order: Order) => Effect.runPromise(work.start(order)),
    stop: (id: string) => Effect.runPromise(work.stop(id)),
    get: (id: string) => Effect.runSync(work.get(id)),
    all: () => Effect.runSync(work.all),
    writing: () => Effect.runSync(work.writing)
  }
  return { folder, jobs }
}
const isEnded = ({ record }: Job) => record.endedAt !== undefined
const rejects = (run: Promise<unknown>, message: string) =>
  run.then(
    () => assert.fail(`expected: ${message}`),
    (cause: Error) => assert.include(cause.message, message)
  )
const until = async (isTrue: () => boolean) => {
  for (let tries = 0; tries < 200 && !isTrue(); tries++) await new Promise((resolve) => setTimeout(resolve, 25))
  assert.isTrue(isTrue())
}
const result = (exitCode: number) =>
  `echo '{"schema":"sluice/events/1","time":"2027-01-01T00:00:00Z","event":"finished","exitCode":${exitCode},"result":{"schema":"sluice/sync/1","exitCode":${exitCode},"data":{"requests":7}}}'`

describe("work", () => {
  it("is one process with the flags of the server, whose end and result are kept", async () => {
    const { folder, jobs } = await openJobs(`echo "$@" "$SLUICE_STARTED_BY" >&2; ${result(3)}; exit 3`)
    const job = await jobs.start(order({ session: "abc" }))
    assert.strictEqual(job.record.line, `./sluice sync --output ${folder}`)
    await until(() => isEnded(jobs.get(job.record.id)))
    assert.strictEqual(jobs.get(job.record.id).record.exitCode, 3)
    assert.deepStrictEqual(job.transcript.printed?.data, { requests: 7 })
    assert.strictEqual(job.transcript.log[0]?.message, `sync --output ${folder} --json=lines console abc`)
    const next = (await openJobs("exit 1", folder)).jobs
    assert.deepStrictEqual(
      next.all().map(({ record }) => record),
      [jobs.get(job.record.id).record]
    )
    assert.deepStrictEqual(next.get(job.record.id).transcript.printed?.data, { requests: 7 })
  })
  it("that changes the folder is started once, however often and from wherever it is asked for", async () => {
    const { jobs } = await openJobs("exec sleep 20")
    const job = await jobs.start(order())
    for (const task of ["sync", "backfill"])
      await rejects(jobs.start(order({ task })), "Sync is running. Wait for its end, or stop it.")
    // What only reads runs beside it, also once.
    await jobs.start(order({ task: "plan", title: "Plan", isWriting: false }))
    await rejects(jobs.start(order({ task: "plan", title: "Plan", isWriting: false })), "Plan is running.")
    await jobs.stop(job.record.id)
    await until(() => isEnded(jobs.get(job.record.id)))
    assert.isNull(jobs.get(job.record.id).record.exitCode)
    await jobs.start(order())
  })
  it("that a killed server has started is found again, with what it printed before and since", async () => {
    const { folder, jobs } = await openJobs(
      `echo "before" >&2; until [ -e ${"$2"}/go ]; do sleep 0.05; done; echo "since" >&2; ${result(0)}`.replace(
        "$2",
        "$3"
      )
    )
    const { record } = await jobs.start(order())
    await until(() => jobs.get(record.id).transcript.log.length === 1)
    const ended: Array<Job> = []
    const next = (await openJobs("exit 1", folder, (job) => ended.push(job))).jobs
    assert.strictEqual(next.writing()?.record.id, record.id)
    await rejects(next.start(order()), "Sync is running.")
    writeFileSync(join(folder, "go"), "")
    await until(() => ended.length === 1)
    const found = next.get(record.id)
    assert.deepStrictEqual(
      found.transcript.log.map(({ message }) => message),
      ["before", "since"]
    )
    // Nobody but its last line knows the exit code.
    assert.strictEqual(found.record.exitCode, 0)
  })
  it("that was killed is not said to be done", async () => {
    const { folder, jobs } = await openJobs(`echo '{"schema":"sluice/events/1","event":"fin' ; kill -9 $$`)
    const job = await jobs.start(order())
    await until(() => isEnded(jobs.get(job.record.id)))
    assert.isNull(jobs.get(job.record.id).record.exitCode)
    const record = JSON.parse(readFileSync(join(folder, `job-${job.record.id}.json`), "utf8"))
    // A process with the id of another one is not it.
    const { endedAt: _, exitCode: __, ...running } = record
    writeFileSync(join(folder, `job-${job.record.id}.json`), JSON.stringify({ ...running, pid: process.pid }))
    const next = (await openJobs("exit 1", folder)).jobs
    if (existsSync("/proc/self/stat")) {
      await until(() => isEnded(next.get(job.record.id)))
      assert.isNull(next.get(job.record.id).record.exitCode)
    }
  })
  it("about a person leaves nothing behind", async () => {
    const { folder, jobs } = await openJobs(`echo "jane@example.com" >&2; ${result(0)}`)
    const job = await jobs.start(
      order({ task: "subject-erase", isPrivate: true, args: ["subject", "erase", "--email=jane@example.com"] })
    )
    await until(() => isEnded(jobs.get(job.record.id)) && readdirSync(folder).length === 0)
    assert.strictEqual(job.transcript.log.length, 1)
  })
  it("that does not react to its signal keeps no server from ending, and is found by the next one", async () => {
    const script = "trap '' TERM; echo $$ >&2; while :; do sleep 0.05; done"
    const { folder, jobs } = await openJobs(script, undefined, undefined, undefined, 200)
    const { record, transcript } = await jobs.start(order())
    await until(() => transcript.log.length === 1)
    const began = Date.now()
    await opened.pop()!()
    assert.isBelow(Date.now() - began, 5000)
    const next = (await openJobs("exit 1", folder)).jobs
    assert.strictEqual(next.writing()?.record.id, record.id)
    process.kill(Number(transcript.log[0]!.message), "SIGKILL")
    await until(() => isEnded(next.get(record.id)))
    assert.isNull(next.get(record.id).record.exitCode)
  })
  it("of which the program cannot be started has failed", async () => {
    const { jobs } = await openJobs([join(newFolder(), "missing")])
    const job = await jobs.start(order())
    await until(() => isEnded(jobs.get(job.record.id)))
    assert.isNull(jobs.get(job.record.id).record.exitCode)
    assert.include(job.transcript.log[0]?.message, "ENOENT")
    await jobs.stop(job.record.id)
  })
  it("has a result of any length, and is shown as long as one can be", async () => {
    for (const [bytes, shown] of [
      [900_000, 900_000],
      [1_100_000, 1_100_000],
      [9_000_000, undefined]
    ] as const) {
      const { folder, jobs } = await openJobs(
        `printf '%s' '{"schema":"sluice/events/1","time":"2027-01-01T00:00:00Z","event":"finished","exitCode":3,"result":{"schema":"s","exitCode":3,"data":"'; head -c ${bytes} /dev/zero | tr '\\0' x; echo '"}}'; exit 3`
      )
      const { record } = await jobs.start(order())
      await until(() => isEnded(jobs.get(record.id)))
      // A server that finds the file alone says the same.
      const file = join(folder, `job-${record.id}.json`)
      const { exitCode: _, endedAt: __, ...running } = JSON.parse(readFileSync(file, "utf8"))
      for (const text of [readFileSync(file, "utf8"), JSON.stringify({ ...running, pid: 999_999 })]) {
        writeFileSync(file, text)
        const next = (await openJobs("exit 1", folder)).jobs
        await until(() => isEnded(next.get(record.id)))
        const { printed } = next.get(record.id).transcript
        assert.strictEqual(next.get(record.id).record.exitCode, 3)
        assert.strictEqual((printed?.data as string | undefined)?.length, shown)
      }
    }
  })
  it("of which many have large results holds the newest, and of the others how they ended", async () => {
    const { folder, jobs } = await openJobs(
      `printf '%s' '{"schema":"s","exitCode":3,"data":"'; head -c 300000 /dev/zero | tr '\\0' x; echo '"}'; exit 3`
    )
    const ids: Array<string> = []
    for (let one = 0; one < 8; one++) {
      const { record } = await jobs.start(order({ hasEvents: false }))
      await until(() => isEnded(jobs.get(record.id)))
      ids.push(record.id)
    }
    const next = (await openJobs("exit 1", folder)).jobs
    for (const known of [jobs, next]) {
      const printed = ids.map((id) => known.get(id).transcript.printed)
      assert.deepStrictEqual(
        printed.map((one) => one?.data !== undefined),
        [false, false, false, true, true, true, true, true]
      )
      assert.isTrue(printed.every((one) => one?.exitCode === 3))
    }
  })
  it("with a log of any length is found by the next server, which holds the end of it", async () => {
    const { folder, jobs } = await openJobs(
      `yes 'time=x level=info message="one of many lines"' | head -n 400000 >&2; ${result(0)}`
    )
    const job = await jobs.start(order())
    await until(() => isEnded(jobs.get(job.record.id)))
    assert.isAbove(statSync(join(folder, `job-${job.record.id}.err`)).size, 15_000_000)
    const before = process.memoryUsage().heapUsed
    const found = (await openJobs("exit 1", folder)).jobs.get(job.record.id)
    assert.strictEqual(found.transcript.log.length, 300)
    assert.deepStrictEqual(found.transcript.printed?.data, { requests: 7 })
    assert.isBelow(process.memoryUsage().heapUsed - before, 30_000_000)
  })
  it("that is long is kept until it has ended, and of what has ended meanwhile the newest, with its files", async () => {
    const ended: Array<string> = []
    const { folder, jobs } = await openJobs(
      `until [ -e $3/$1 ]; do sleep 0.02; done`,
      newFolder(),
      ({ record }) => ended.push(record.id),
      assert.fail,
      undefined,
      limitsOf({ serve: { jobs: 2 } })
    )
    const long = await jobs.start(order({ args: ["long"] }))
    writeFileSync(join(folder, "short"), "")
    for (let one = 0; one < 4; one++) {
      const { record } = await jobs.start(order({ task: `t${one}`, args: ["short"], isWriting: false }))
      await until(() => ended.includes(record.id))
    }
    const kept = [long.record.id, ...ended.slice(2)]
    await until(() => jobs.all().length === 3)
    assert.sameMembers(
      jobs.all().map(({ record }) => record.id),
      kept
    )
    const files = readdirSync(folder).filter((name) => name.startsWith("job-"))
    await until(() => readdirSync(folder).every((name) => !ended.slice(0, 2).some((id) => name.includes(id))))
    assert.isTrue(kept.every((id) => files.includes(`job-${id}.json`)))
    writeFileSync(join(folder, "long"), "")
    await until(() => ended.includes(long.record.id))
    assert.strictEqual(jobs.get(long.record.id).record.exitCode, 0)
  })
  it("that ends while nothing can be written ends no server, and is reported", async () => {
    const problems: Array<string> = []
    const { folder, jobs } = await openJobs(
      "echo begun >&2; sleep 0.6; exit 0",
      newFolder(),
      () => {},
      (message) => problems.push(message)
    )
    const job = await jobs.start(order())
    await until(() => job.transcript.log.length === 1)
    rmSync(folder, { recursive: true })
    await until(() => isEnded(jobs.get(job.record.id)))
    assert.match(problems.join(), /ENOENT/)
    assert.strictEqual(jobs.get(job.record.id).record.exitCode, 0)
  })
  it("is followed in bounded memory, however much it prints at once", async () => {
    const { jobs } = await openJobs(
      `yes 'level=info message="one of many lines"' | head -c 200000000 >&2; ${result(0)}`
    )
    const before = process.memoryUsage().rss
    let most = before
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 10)
    const job = await jobs.start(order())
    await until(() => isEnded(jobs.get(job.record.id)))
    clearInterval(timer)
    assert.isBelow(most - before, 100_000_000)
    assert.strictEqual(jobs.get(job.record.id).transcript.log.length, 300)
  })
  it(
    "of servers that are killed at any moment is known to the next one, and is done once",
    { tags: ["slow"] },
    async () => {
      const [folder, done] = [newFolder(), join(newFolder(), "done")]
      const [program] = programOf(`echo $1 >> ${done}; sleep 0.05; ${result(0)}`)
      const module = (name: string) => JSON.stringify(fileURLToPath(new URL(`../../${name}`, import.meta.url)))
      const text = `
      const { Effect, Scope } = await import(${module("node_modules/effect/dist/index.js")})
      const { openWork } = await import(${module("src/run/work.ts")})
      const options = { folder: ${JSON.stringify(folder)}, program: [${JSON.stringify(program)}], flags: () => [], environment: process.env, onEnd: () => Effect.void, onProblem: console.error }
      const work = await Effect.runPromise(Scope.provide(openWork(options), Scope.makeUnsafe()))
      console.log("open")
      for (let one = 0; ; one++) {
        const order = { ...${JSON.stringify(order({ isWriting: false }))}, task: "t" + one, args: [process.pid + "-" + one] }
        await Effect.runPromise(Effect.ignore(work.start(order)))
        console.log("started")
      }`
      for (let round = 0; round < 12; round++) {
        const server = spawn(process.execPath, ["--input-type=module", "--eval", text], {
          stdio: ["ignore", "pipe", "inherit"]
        })
        for (let lines = 0; lines < 2 + (round % 4);)
          lines += String((await once(server.stdout, "data"))[0]).split("\n").length - 1
        await new Promise((resolve) => setTimeout(resolve, (round * 3) % 8))
        server.kill("SIGKILL")
        await once(server, "exit")
      }
      await new Promise((resolve) => setTimeout(resolve, 500))
      const { jobs } = await openJobs("exit 1", folder)
      await until(() => jobs.all().every(isEnded))
      const ran = readFileSync(done, "utf8").trim().split("\n")
      assert.isAtLeast(ran.length, 5)
      assert.deepStrictEqual(ran, [...new Set(ran)])
      const known = new Map(jobs.all().map(({ record }) => [record.line.split(" ").at(-1)!, record]))
      const lost = ran.filter((one) => !known.has(one))
      // What ended in a server that lived on may be removed, as the oldest of many.
      assert.deepStrictEqual(jobs.all().length >= 50 ? [] : lost, [])
      for (const [one, { exitCode }] of known) assert.strictEqual(exitCode, ran.includes(one) ? 0 : null, one)
    }
  )
  it("that is not known is an error", async () => {
    const { jobs } = await openJobs("exit 0")
    for (const id of ["", "../x"]) assert.throws(() => jobs.get(id), /not known/)
  })
})

describe("a transcript", () => {
  const event = (fields: Readonly<Record<string, unknown>>, time = "2027-01-01T00:00:00Z") =>
    `${JSON.stringify({ schema: "sluice/events/1", time, location: "l", ...fields })}\n`
  it("adds up what a run has read, and estimates what is left", () => {
    const transcript = new Transcript()
    transcript.read(event({ event: "started", command: "sync", version: "1.0.0", output: "output" }))
    transcript.read(
      event({
        event: "planned",
        run: "r",
        requests: { min: 100, max: 200 },
        steps: [{ location: "l", resource: "contacts", mode: "full", requests: { min: 3 } }]
      })
    )
    transcript.read(event({ event: "resourceStarted", run: "r", resource: "contacts" }))
    assert.strictEqual(transcript.progress?.resources[0]?.state, "reading")
    const progress = { event: "progress", requests: 50, records: 900, budgets: [] }
    const resources = [{ location: "l", resource: "contacts", requests: 2, pages: 2, records: 200 }]
    transcript.read(event({ ...progress, resources }, "2027-01-01T00:00:20Z"))
    const { leftMs, planned, requests } = transcript.progress!
    assert.deepStrictEqual(
      { leftMs, planned, requests },
      { leftMs: { min: 20_000, max: 60_000 }, planned: { min: 100, max: 200 }, requests: 50 }
    )
    transcript.read(event({ event: "waiting", reason: "rateLimit", waitMs: 4000 }))
    assert.deepStrictEqual(transcript.progress?.waiting, { reason: "rateLimit", waitMs: 4000 })
    transcript.read(
      event({
        event: "resourceFinished",
        run: "r",
        resource: "contacts",
        mode: "full",
        status: "complete",
        requests: 3,
        pages: 3,
        records: 250,
        durationMs: 1,
        warnings: []
      })
    )
    assert.isUndefined(transcript.progress?.waiting)
    assert.deepInclude(transcript.progress?.resources[0], { state: "complete", records: 250, planned: { min: 3 } })
    // While it publishes, no time is left that its requests would take.
    transcript.read(event({ event: "loaded", run: "r", resources: [] }))
    transcript.read(event({ ...progress, resources: [] }, "2027-01-01T00:00:40Z"))
    assert.isTrue(transcript.progress?.isPublishing)
    assert.isUndefined(transcript.progress?.leftMs)
  })
  it("reads nothing of lines that are no event, and keeps a bounded log", () => {
    const transcript = new Transcript()
    for (const line of ["null", "[]", '{"a":1', '"x"', "\u0000", ""]) transcript.read(line)
    assert.isUndefined(transcript.progress)
    for (let line = 0; line < 1000; line++) transcript.readLog(`time=x level=warn message="${line}"`)
    assert.strictEqual(transcript.log.length, 300)
    assert.deepStrictEqual(transcript.log.at(-1), { level: "warn", message: 'time=x level=warn message="999"' })
  })
})
