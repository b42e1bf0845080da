/**
 * Runs commands of sluice as processes of their own. What they print goes into files, so that a command outlives the page: a
 * server that was killed finds it again at its next start, with everything that it has printed.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { closeSync, mkdirSync, openSync, readSync, readdirSync } from "node:fs"
import { join } from "node:path"
import * as Schema from "effect/Schema"
import { isRunning, processStart } from "../../output/lock.ts"
import { fileNameOf } from "../../output/names.ts"
import { removeBelow } from "../../output/remove.ts"
import { HttpError } from "../explore/http.ts"
import { shellText } from "../../console/given-flags.ts"
import type { Environment } from "../../values/environment.ts"
import { type LogLine, Transcript } from "./progress.ts"
import { store, stored } from "./stored.ts"

const JobRecord = Schema.Struct({
  id: Schema.String,
  task: Schema.String,
  title: Schema.String,
  /** As a person types it. */
  line: Schema.String,
  by: Schema.Literals(["console", "schedule"]),
  /** Whether it changes the output folder, so that only one of these runs at a time. */
  isWriting: Schema.Boolean,
  /** It names a person: what it was told and has printed is removed at its end. */
  isPrivate: Schema.Boolean,
  /** It shows what the same command with --apply would remove. */
  isPlanOnly: Schema.Boolean,
  /** The file below the exports that it writes. */
  document: Schema.optionalKey(Schema.String),
  /** ISO 8601. */
  startedAt: Schema.String,
  pid: Schema.Int,
  /** See processStart. */
  started: Schema.optionalKey(Schema.String),
  endedAt: Schema.optionalKey(Schema.String),
  /** Null if a signal has ended it, and nobody knows what it printed last. */
  exitCode: Schema.optionalKey(Schema.NullOr(Schema.Int))
})
type JobRecord = typeof JobRecord.Type

export interface Order extends Pick<
  JobRecord,
  "task" | "title" | "by" | "isWriting" | "isPrivate" | "isPlanOnly" | "document"
> {
  /** Without the flags of the settings and the output folder, and without --json. */
  readonly args: ReadonlyArray<string>
  /** Whether the command has events. */
  readonly hasEvents: boolean
  /** Of the browser that has started it. */
  readonly session?: string | undefined
}

export interface Job {
  record: JobRecord
  readonly transcript: Transcript
  isStopping: boolean
  /** How much of its files is read. */
  readonly read: { out: number; err: number }
}

interface Options {
  readonly folder: string
  /** How a command of sluice is started: the program, and what comes before its arguments. */
  readonly program: ReadonlyArray<string>
  /** Those that name the settings file and the output folder. */
  readonly flags: () => ReadonlyArray<string>
  readonly environment: Environment["Service"]
  readonly onChange: (job: Job, lines: ReadonlyArray<LogLine>) => void
  readonly onEnd: (job: Job) => void
}
const newJob = (record: JobRecord): Job => ({
  record,
  transcript: new Transcript(),
  isStopping: false,
  read: { out: 0, err: 0 }
})

const pollMs = 250
const keptMax = 50
const partBytes = 1_000_000

export class Jobs {
  readonly #options: Options
  readonly #jobs = new Map<string, Job>()
  #timer: NodeJS.Timeout | undefined
  constructor(options: Options) {
    this.#options = options
    mkdirSync(options.folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(options.folder).toSorted()) {
      const record = /^job-.*\.json$/.test(name) ? stored(join(options.folder, name), JobRecord) : undefined
      if (record) this.#jobs.set(record.id, newJob(record))
    }
    for (const job of this.#jobs.values()) this.#follow(job)
    this.#timer = setInterval(() => this.#poll(), pollMs)
  }

  /** Newest first. */
  all(): ReadonlyArray<Job> {
    return [...this.#jobs.values()].toReversed()
  }

  running(): ReadonlyArray<Job> {
    return this.all().filter(({ record }) => record.endedAt === undefined)
  }

  /** The one that changes the output folder. */
  writing(): Job | undefined {
    return this.running().find(({ record }) => record.isWriting)
  }

  get(id: unknown): Job {
    const job = this.#jobs.get(String(id))
    if (job === undefined) throw new HttpError(404, "not found", "This work is not known any more.")
    return job
  }

  /** Between the check and the start nothing else can run, so two browsers cannot start the same twice. */
  start({ args, hasEvents, session, ...about }: Order): Job {
    const { by, isWriting, task } = about
    const other = isWriting ? this.writing() : this.running().find(({ record }) => record.task === task)
    if (other) throw new HttpError(409, "running", `${other.record.title} is running. Wait for its end, or stop it.`)
    const { environment, flags, program } = this.#options
    const startedAt = new Date().toISOString()
    // Sorts by time, also two of the same millisecond.
    const id = `${startedAt.replaceAll(/[-:.]/g, "")}-${String(this.#jobs.size).padStart(4, "0")}${randomBytes(3).toString("hex")}`
    const [out, err] = [openSync(this.#file(id, "out"), "wx", 0o600), openSync(this.#file(id, "err"), "wx", 0o600)]
    const all = [...args, ...flags()]
    const [command, ...before] = program
    const child = spawn(command!, [...before, ...all, hasEvents ? "--json=lines" : "--json"], {
      // A terminal sends its signals to the server alone, which passes them on.
      detached: true,
      env: { ...environment, SLUICE_STARTED_BY: session === undefined ? by : `${by} ${session}` },
      stdio: ["ignore", out, err]
    })
    for (const file of [out, err]) closeSync(file)
    const { pid = -1 } = child
    const started = processStart(pid)
    const line = ["./sluice", ...all.map(shellText)].join(" ")
    const record: JobRecord = { id, ...about, line, startedAt, pid, ...(started && { started }) }
    const job = newJob(record)
    this.#jobs.set(id, job)
    this.#store(job)
    child.once("error", (cause) => {
      job.transcript.readLog(cause.message)
      this.#end(job, null)
    })
    child.once("close", (exitCode) => this.#end(job, exitCode))
    child.unref()
    this.#options.onChange(job, [])
    void this.#removeOld()
    return job
  }

  stop(id: unknown): void {
    const job = this.get(id)
    if (job.record.endedAt !== undefined || !isRunning(job.record.pid, job.record.started)) return
    job.isStopping = true
    process.kill(job.record.pid, "SIGTERM")
    this.#options.onChange(job, [])
  }

  /** Stops what is running, and waits until it has saved its work. */
  async close(): Promise<void> {
    for (const { record } of this.running()) this.stop(record.id)
    while (this.running().length > 0) await new Promise((resolve) => setTimeout(resolve, pollMs))
    clearInterval(this.#timer)
  }

  #poll(): void {
    for (const job of this.running()) {
      this.#follow(job)
      if (job.record.endedAt === undefined && !isRunning(job.record.pid, job.record.started)) this.#end(job, null)
    }
  }

  /** Reads what the process has printed since the last time. */
  #follow(job: Job): void {
    const printed = this.#part(job, "out")
    job.transcript.read(printed)
    const lines = job.transcript.readLog(this.#part(job, "err"))
    if (printed !== "" || lines.length > 0) this.#options.onChange(job, lines)
  }

  #part(job: Job, kind: "out" | "err"): string {
    const parts: Array<Buffer> = []
    let file
    try {
      file = openSync(this.#file(job.record.id, kind), "r")
    } catch {
      return ""
    }
    try {
      for (;;) {
        const part = Buffer.alloc(partBytes)
        const bytes = readSync(file, part, 0, partBytes, job.read[kind])
        // The end of a line, so that no character is cut.
        const end = part.subarray(0, bytes).lastIndexOf(10) + 1
        if (end === 0) return Buffer.concat(parts).toString()
        parts.push(part.subarray(0, end))
        job.read[kind] += end
      }
    } finally {
      closeSync(file)
    }
  }

  #end(job: Job, exitCode: number | null): void {
    if (job.record.endedAt !== undefined) return
    this.#follow(job)
    // A process that another server has started: its last line says how it ended.
    const code = exitCode ?? job.transcript.printed?.exitCode ?? null
    job.record = { ...job.record, endedAt: new Date().toISOString(), exitCode: code }
    if (job.record.isPrivate) void this.#remove(job)
    else this.#store(job)
    this.#options.onChange(job, [])
    this.#options.onEnd(job)
  }

  #file(id: string, kind: "json" | "out" | "err"): string {
    return join(this.#options.folder, `job-${fileNameOf(id)}.${kind}`)
  }

  #store({ record }: Job): void {
    store(this.#file(record.id, "json"), record)
  }

  async #removeOld(): Promise<void> {
    const ended = this.all().filter(({ record }) => record.endedAt !== undefined)
    for (const { record } of ended.slice(keptMax)) {
      this.#jobs.delete(record.id)
      await this.#remove({ record })
    }
  }

  async #remove({ record }: Pick<Job, "record">): Promise<void> {
    for (const kind of ["json", "out", "err"] as const)
      await removeBelow(this.#options.folder, this.#file(record.id, kind)).catch(() => {})
  }
}
