/** Commands that the console starts, with a program that prints what a command prints and does not end when it should. */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Job, Jobs, type Order } from "../../src/features/serve/jobs.ts"
import { Transcript } from "../../src/features/serve/progress.ts"
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

const opened: Array<Jobs> = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((jobs) => jobs.close()))
})

/** A program of the shell in the place of sluice. */
const programOf = (script: string) => {
  const path = join(newFolder(), "program")
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o700)
  return [path]
}
const openJobs = (script: string, folder = newFolder(), onEnd: (job: Job) => void = () => {}) => {
  const jobs = new Jobs({
    folder,
    program: programOf(script),
    flags: () => ["--output", folder],
    environment: process.env,
    onChange: () => {},
    onEnd
  })
  opened.push(jobs)
  return { folder, jobs }
}
const until = async (isTrue: () => boolean) => {
  for (let tries = 0; tries < 200 && !isTrue(); tries++) await new Promise((resolve) => setTimeout(resolve, 25))
  assert.isTrue(isTrue())
}
const isEnded = ({ record }: Job) => record.endedAt !== undefined
const result = (exitCode: number) =>
  `echo '{"schema":"sluice/events/1","event":"finished","exitCode":${exitCode},"result":{"schema":"sluice/sync/1","exitCode":${exitCode},"data":{"requests":7}}}'`

describe("work", () => {
  it("is one process with the flags of the server, whose end and result are kept", async () => {
    const { folder, jobs } = openJobs(`echo "$@" "$SLUICE_STARTED_BY" >&2; ${result(3)}; exit 3`)
    const job = jobs.start(order({ session: "abc" }))
    assert.strictEqual(job.record.line, `./sluice sync --output ${folder}`)
    await until(() => isEnded(job))
    assert.strictEqual(job.record.exitCode, 3)
    assert.deepStrictEqual(job.transcript.printed?.data, { requests: 7 })
    assert.strictEqual(job.transcript.log[0]?.message, `sync --output ${folder} --json=lines console abc`)
    const next = openJobs("exit 1", folder).jobs
    assert.deepStrictEqual(
      next.all().map(({ record }) => record),
      [job.record]
    )
    assert.deepStrictEqual(next.get(job.record.id).transcript.printed?.data, { requests: 7 })
  })
  it("that changes the folder is started once, however often and from wherever it is asked for", async () => {
    const { jobs } = openJobs("exec sleep 20")
    const job = jobs.start(order())
    for (const task of ["sync", "backfill"])
      assert.throws(() => jobs.start(order({ task })), "Sync is running. Wait for its end, or stop it.")
    // What only reads runs beside it, also once.
    jobs.start(order({ task: "plan", title: "Plan", isWriting: false }))
    assert.throws(() => jobs.start(order({ task: "plan", title: "Plan", isWriting: false })), "Plan is running.")
    jobs.stop(job.record.id)
    await until(() => isEnded(job))
    assert.isNull(job.record.exitCode)
    jobs.start(order())
  })
  it("that a killed server has started is found again, with what it printed before and since", async () => {
    const { folder, jobs } = openJobs(
      `echo "before" >&2; until [ -e ${"$2"}/go ]; do sleep 0.05; done; echo "since" >&2; ${result(0)}`.replace(
        "$2",
        "$3"
      )
    )
    const { record } = jobs.start(order())
    await until(() => jobs.get(record.id).transcript.log.length === 1)
    const ended: Array<Job> = []
    const next = openJobs("exit 1", folder, (job) => ended.push(job)).jobs
    assert.strictEqual(next.writing()?.record.id, record.id)
    assert.throws(() => next.start(order()), "Sync is running.")
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
    const { folder, jobs } = openJobs(`echo '{"schema":"sluice/events/1","event":"fin' ; kill -9 $$`)
    const job = jobs.start(order())
    await until(() => isEnded(job))
    assert.isNull(job.record.exitCode)
    const record = JSON.parse(readFileSync(join(folder, `job-${job.record.id}.json`), "utf8"))
    // A process with the id of another one is not it.
    const { endedAt: _, exitCode: __, ...running } = record
    writeFileSync(join(folder, `job-${job.record.id}.json`), JSON.stringify({ ...running, pid: process.pid }))
    const next = openJobs("exit 1", folder).jobs
    if (existsSync("/proc/self/stat")) {
      await until(() => isEnded(next.get(job.record.id)))
      assert.isNull(next.get(job.record.id).record.exitCode)
    }
  })
  it("about a person leaves nothing behind", async () => {
    const { folder, jobs } = openJobs(`echo "jane@example.com" >&2; ${result(0)}`)
    const job = jobs.start(
      order({ task: "subject-erase", isPrivate: true, args: ["subject", "erase", "--email=jane@example.com"] })
    )
    await until(() => isEnded(job) && readdirSync(folder).length === 0)
    assert.strictEqual(job.transcript.log.length, 1)
  })
  it("of which the program cannot be started has failed", async () => {
    const jobs = new Jobs({
      folder: newFolder(),
      program: [join(newFolder(), "missing")],
      flags: () => [],
      environment: {},
      onChange: () => {},
      onEnd: () => {}
    })
    opened.push(jobs)
    const job = jobs.start(order())
    await until(() => isEnded(job))
    assert.isNull(job.record.exitCode)
    assert.include(job.transcript.log[0]?.message, "ENOENT")
    jobs.stop(job.record.id)
  })
  it("that is not known is an error", () => {
    const { jobs } = openJobs("exit 0")
    for (const id of ["", "../x", undefined, 1]) assert.throws(() => jobs.get(id), "not known")
  })
})

describe("a transcript", () => {
  const event = (fields: Readonly<Record<string, unknown>>, time = "2027-01-01T00:00:00Z") =>
    `${JSON.stringify({ schema: "sluice/events/1", time, location: "l", ...fields })}\n`
  it("adds up what a run has read, and estimates what is left", () => {
    const transcript = new Transcript()
    transcript.read(event({ event: "started" }))
    transcript.read(
      event({
        event: "planned",
        requests: { min: 100, max: 200 },
        steps: [{ location: "l", resource: "contacts", requests: { min: 3 } }]
      })
    )
    transcript.read(event({ event: "resourceStarted", resource: "contacts" }))
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
        resource: "contacts",
        status: "complete",
        requests: 3,
        pages: 3,
        records: 250
      })
    )
    assert.isUndefined(transcript.progress?.waiting)
    assert.deepInclude(transcript.progress?.resources[0], { state: "complete", records: 250, planned: { min: 3 } })
  })
  it("reads nothing of lines that are no event, and keeps a bounded log", () => {
    const transcript = new Transcript()
    transcript.read('null\n[]\n{"a":1\n"x"\n\u0000\n')
    assert.isUndefined(transcript.progress)
    for (let line = 0; line < 1000; line++) transcript.readLog(`time=x level=warn message="${line}"`)
    assert.strictEqual(transcript.log.length, 300)
    assert.deepStrictEqual(transcript.log.at(-1), { level: "warn", message: 'time=x level=warn message="999"' })
  })
})
