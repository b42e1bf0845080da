/**
 * Work: commands of sluice that somebody has started, and follows. What they print goes into files, so that a command outlives
 * the server: one that was killed finds it again at its next start, with everything that it has printed.
 */
import { Limits } from "../values/limits.ts"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { access, mkdir, readFile, readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { shellText } from "../console/given-flags.ts"
import { writeAtomically } from "../output/files.ts"
import { isRunning, processStart } from "../output/lock.ts"
import { fileNameOf } from "../output/names.ts"
import { removeBelow } from "../output/remove.ts"
import type { Environment } from "../values/environment.ts"
import { messageOf } from "../values/thrown.ts"
import { AddedLines } from "./added-lines.ts"
import { type Program, startProcess } from "./process.ts"
import { type LogLine, Transcript } from "./transcript.ts"

const JobRecord = Schema.Struct({
  id: Schema.String,
  task: Schema.String,
  title: Schema.String,
  /** As a person types it. */
  line: Schema.String,
  by: Schema.Literals(["console", "schedule"]),
  /** Whether it changes the output folder, so that only one of these runs at a time. */
  isWriting: Schema.Boolean,
  /** It names a person: only an owner sees it, its files are removed at its end, and it is forgotten soon after. */
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
  readonly record: JobRecord
  readonly transcript: Transcript
  readonly isStopping: boolean
}

interface Change extends Pick<JobRecord, "id" | "isPrivate"> {
  /** New lines of its log. */
  readonly lines: ReadonlyArray<LogLine>
}

/** Why work is not started, or not found. */
export class WorkRefused extends Data.TaggedError("WorkRefused")<{
  readonly code: "running" | "not found"
  readonly message: string
}> {}

interface Options {
  readonly folder: string
  readonly program: Program
  /** Those that name the settings file and the output folder. */
  readonly flags: () => ReadonlyArray<string>
  readonly environment: Environment["Service"]
  readonly onEnd: (job: Job) => Effect.Effect<void>
  /** Something that a person should know, and that ends no server, such as a full disk. */
  readonly onProblem: (message: string) => void
  /** A process that does not react to its signal in this time is left to the next server, which finds it. */
  readonly closeMs?: number
}

export type Work = Effect.Success<ReturnType<typeof openWork>>

const pollMs = 250
/** A result of more characters is large. */
const largeResult = 200_000
/** Who has started what names a person has this time to look at it. */
const privateMs = 15 * 60_000
const usualCloseMs = 30_000

/** Opens the work of a folder. When the scope ends, what is running is stopped, and has time to save. */
export const openWork = Effect.fnUntraced(function* (options: Options) {
  const { closeMs = usualCloseMs, environment, flags, folder, onEnd, program } = options
  const fileOf = (id: string, kind: "json" | "out" | "err") => join(folder, `job-${fileNameOf(id)}.${kind}`)
  const limits = (yield* Limits).serve
  const jobs = yield* Ref.make<ReadonlyMap<string, Job>>(new Map())
  const changes = yield* PubSub.unbounded<Change>()
  const following = yield* FiberMap.make<string>()
  const scope = yield* Effect.scope

  /** For what nobody waits for. */
  const guarded = <A>(work: Effect.Effect<A, Error>) =>
    Effect.catch(work, ({ message }) => Effect.sync(() => options.onProblem(message)))
  const write = (record: JobRecord) => attempt(() => writeAtomically(fileOf(record.id, "json"), JSON.stringify(record)))
  const remove = (id: string) =>
    guarded(
      attempt(async () => {
        for (const kind of ["json", "out", "err"] as const) await removeBelow(folder, fileOf(id, kind))
      })
    )
  const change = (id: string, next: (job: Job) => Partial<Job>, lines: ReadonlyArray<LogLine> = []) =>
    Ref.update(jobs, (all) => {
      const job = all.get(id)
      return job === undefined ? all : new Map(all).set(id, { ...job, ...next(job) })
    }).pipe(Effect.andThen(reported(id, lines)))
  const reported = (id: string, lines: ReadonlyArray<LogLine>) =>
    Effect.flatMap(Ref.get(jobs), (all) =>
      PubSub.publish(changes, { id, isPrivate: all.get(id)?.record.isPrivate ?? true, lines })
    )

  /** Newest first. */
  const all = Effect.map(Ref.get(jobs), (known) => [...known.values()].toReversed())
  const running = Effect.map(all, (known) => known.filter(({ record }) => record.endedAt === undefined))
  const get = (id: string) =>
    Effect.flatMap(Ref.get(jobs), (known) => {
      const job = known.get(id)
      return job === undefined
        ? Effect.fail(new WorkRefused({ code: "not found", message: "This work is not known any more." }))
        : Effect.succeed(job)
    })

  /** What reads the process's files on from where it was. */
  const readerOf = ({ record: { endedAt, id }, transcript }: Job) => {
    const out = new AddedLines(fileOf(id, "out"), endedAt === undefined ? Infinity : limits.resultTailBytes.value)
    const err = new AddedLines(fileOf(id, "err"), limits.logTailBytes.value)
    return Effect.gen(function* () {
      let isChanged = false
      const lines: Array<LogLine> = []
      const read = async () => {
        await out.read((line, isCut) => {
          transcript.read(line, isCut)
          isChanged = true
        })
        await err.read((message) => {
          const line = transcript.readLog(message)
          if (line) lines.push(line)
        })
      }
      yield* guarded(attempt(read))
      if (isChanged || lines.length > 0) yield* reported(id, lines)
    }).pipe(Effect.uninterruptible)
  }

  /** `exited`: waits for the end of the process. */
  const follow = ({ record: { id } }: Job, read: Effect.Effect<void>, exited: Effect.Effect<number | null>) =>
    Effect.raceFirst(exited, Effect.andThen(Effect.repeat(read, Schedule.spaced(pollMs)), Effect.never)).pipe(
      Effect.flatMap((exitCode) => Effect.uninterruptible(Effect.andThen(read, end(id, exitCode))))
    )

  const bounded = Effect.map(all, (known) => {
    const large = known.filter(({ transcript }) => transcript.printedLength > largeResult)
    for (const { transcript } of large.slice(limits.largeResults.value)) transcript.forgetData()
  })
  const forget = (id: string) => Ref.update(jobs, (known) => new Map([...known].filter(([one]) => one !== id)))

  const end = Effect.fnUntraced(function* (id: string, exitCode: number | null) {
    const endedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const found = yield* Effect.orDie(get(id))
    // A process that another server has started: its last line says how it ended.
    const code = exitCode ?? found.transcript.printed?.exitCode ?? null
    const job = { ...found, record: { ...found.record, endedAt, exitCode: code } }
    // On a full disk, the next server takes it for ended as soon as its process is.
    yield* job.record.isPrivate ? remove(id) : guarded(write(job.record))
    yield* change(id, () => job)
    if (job.record.isPrivate) yield* Effect.forkIn(Effect.delay(forget(id), privateMs), scope)
    yield* onEnd(job)
    yield* bounded
    const ended = (yield* all).flatMap(({ record }) => (record.endedAt === undefined ? [] : [record]))
    const newest = ended.toSorted((one, other) => ((one.endedAt ?? "") < (other.endedAt ?? "") ? 1 : -1))
    for (const old of newest.slice(limits.jobs.value)) {
      yield* forget(old.id)
      yield* remove(old.id)
    }
  })

  /** Takes the place of a job, unless another one is in its way: two browsers cannot start the same twice. */
  const take = (about: Omit<JobRecord, "id" | "pid" | "startedAt">, startedAt: string) =>
    Effect.flatMap(
      Ref.modify(jobs, (known): [Job | WorkRefused, ReadonlyMap<string, Job>] => {
        const running = [...known.values()].filter(({ record }) => record.endedAt === undefined)
        const other = running.find(({ record }) => (about.isWriting ? record.isWriting : record.task === about.task))
        if (other) {
          const message = `${other.record.title} is running. Wait for its end, or stop it.`
          return [new WorkRefused({ code: "running", message }), known]
        }
        // Sorts by time, also two of the same millisecond.
        const number = `${String(known.size).padStart(4, "0")}${randomBytes(3).toString("hex")}`
        const id = `${startedAt.replaceAll(/[-:.]/g, "")}-${number}`
        const job: Job = {
          record: { id, ...about, startedAt, pid: -1 },
          transcript: new Transcript(),
          isStopping: false
        }
        return [job, new Map(known).set(id, job)]
      }),
      (job) => (job instanceof WorkRefused ? Effect.fail(job) : Effect.succeed(job))
    )

  const start = Effect.fnUntraced(function* ({ args, hasEvents, session, ...about }: Order) {
    const { by } = about
    const words = [...args, ...flags()]
    const line = ["./sluice", ...words.map(shellText)].join(" ")
    const job = yield* take({ ...about, line }, new Date(yield* Clock.currentTimeMillis).toISOString())
    const { id } = job.record
    const own = yield* Scope.make()
    const exited = yield* Effect.gen(function* () {
      const files = [fileOf(id, "out"), fileOf(id, "err")]
      yield* attempt(async () => {
        if (program[0]?.includes("/")) await access(program[0])
        for (const file of files) await writeFile(file, "", { flag: "wx", mode: 0o600 })
      })
      const started = yield* startProcess(
        whenBegun,
        [...files, ...program, ...words, hasEvents ? "--json=lines" : "--json"],
        {
          environment: { ...environment, SLUICE_STARTED_BY: session === undefined ? by : `${by} ${session}` },
          stdin: "pipe",
          output: "ignore",
          outlives: true
        }
      )
      const { exitCode, pid, say, stop } = started
      const since = processStart(pid)
      const record = { ...job.record, pid, ...(since && { started: since }) }
      yield* change(id, () => ({ record }))
      yield* Effect.tapError(write(record), () => Effect.sync(() => stop("SIGKILL")))
      say("begin")
      return exitCode
    }).pipe(
      Scope.provide(own),
      Effect.catch(({ message }) => {
        job.transcript.readLog(message)
        return Effect.succeed(Effect.succeed(null))
      })
    )
    const placed = yield* Effect.orDie(get(id))
    const followed = follow(placed, readerOf(placed), exited)
    yield* FiberMap.run(following, id, Effect.ensuring(followed, Scope.close(own, Exit.void)))
    return placed
  }, Effect.uninterruptible)

  const stop = Effect.fnUntraced(function* (id: string) {
    const { record } = yield* get(id)
    if (record.endedAt !== undefined || !isRunning(record.pid, record.started)) return
    process.kill(record.pid, "SIGTERM")
    yield* change(record.id, () => ({ isStopping: true }))
  })

  yield* Effect.promise(() => mkdir(folder, { recursive: true, mode: 0o700 }))
  const names = (yield* Effect.promise(() => readdir(folder))).toSorted()
  const stored = new Set(names)
  // What a killed server was about to start has no record, and has not begun.
  const isLeftOver = (name: string) =>
    /^job-.*\.(json\.part|out|err)$/.test(name) &&
    (name.endsWith(".part") || !stored.has(name.replace(/[a-z]+$/, "json")))
  for (const name of names.filter(isLeftOver)) yield* guarded(attempt(() => removeBelow(folder, join(folder, name))))
  for (const name of names) {
    const record = /^job-.*\.json$/.test(name) ? yield* storedIn(join(folder, name), JobRecord) : undefined
    if (record === undefined) continue
    const job: Job = { record, transcript: new Transcript(), isStopping: false }
    yield* Ref.update(jobs, (known) => new Map(known).set(record.id, job))
    const read = readerOf(job)
    yield* read
    yield* bounded
    const isAlive = Effect.sync(() => isRunning(record.pid, record.started))
    const exited = Effect.repeat(isAlive, { while: (is) => is, schedule: Schedule.spaced(pollMs) })
    if (record.endedAt === undefined)
      yield* FiberMap.run(following, record.id, follow(job, read, Effect.as(exited, null)))
  }
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(running, (left) =>
      Effect.forEach(left, ({ record }) => Effect.ignore(stop(record.id))).pipe(
        Effect.andThen(FiberMap.awaitEmpty(following)),
        Effect.timeoutOption(closeMs),
        Effect.ignore
      )
    )
  )
  return {
    /** Newest first. */
    all,
    running,
    /** The one that changes the output folder. */
    writing: Effect.map(running, (known) => known.find(({ record }) => record.isWriting)),
    get,
    start,
    stop,
    changes
  }
})

/** What a file says; `undefined` for one that is missing, or that another version has written. */
export const storedIn = <A>(path: string, schema: Schema.Codec<A, unknown>): Effect.Effect<A | undefined> =>
  Effect.promise(() =>
    readFile(path, "utf8").then(
      (text) => Option.getOrUndefined(Schema.decodeUnknownOption(Schema.fromJsonString(schema))(text)),
      () => undefined
    )
  )

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new Error(messageOf(cause)) })

/**
 * Its arguments are two files and a program with its own: what that prints goes to the end of the files. It begins with a line on
 * standard input, and never if the server was killed before it had stored that it has started it.
 */
const whenBegun: Program = [
  "/bin/sh",
  "-c",
  'read -r begin || exit 1; out=$1 err=$2; shift 2; exec "$@" </dev/null >>"$out" 2>>"$err"',
  "sluice"
]
