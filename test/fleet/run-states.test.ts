/** What a fleet says of its runs, without a database: each combination is computed a second time. */
import { DuckDBInstance } from "@duckdb/node-api"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Order, folderOf, startChild } from "../../src/features/fleet/child.ts"
import { cellsOf } from "../../src/features/fleet/commands/fleet.ts"
import { quietMs } from "../../src/features/fleet/fence.ts"
import { runsView } from "../../src/features/fleet/tables.ts"
import { tetherMessage, tetherMs } from "../../src/features/fleet/tether.ts"
import type { EndedRun } from "../../src/features/fleet/tethered.ts"
import { randomFrom } from "../support/random.ts"

/** Each combination of these values. */
const product = <One extends object>(parts: {
  readonly [Key in keyof One]: ReadonlyArray<One[Key]>
}): ReadonlyArray<One> =>
  Object.entries<ReadonlyArray<unknown>>(parts).reduce<ReadonlyArray<object>>(
    (all, [key, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [key]: value }))),
    [{}]
  ) as ReadonlyArray<One>

interface Stored {
  readonly state: "created" | "retry" | "active" | "completed" | "cancelled" | "failed"
  readonly said: string | null
  readonly isAlive: boolean
  readonly owner: string | null
  /** Whether the owner is that of this run. */
  readonly isOwn: boolean
  readonly isHeld: boolean
  readonly isStarted: boolean
}

it("a run has the state that its job, its last words and the sign of its worker give it", async () => {
  const jobs = product<Stored>({
    state: ["created", "retry", "active", "completed", "cancelled", "failed"],
    said: [null, "partial", "waiting", "queued"],
    isAlive: [true, false],
    owner: [null, "w1"],
    isOwn: [true, false],
    isHeld: [true, false],
    isStarted: [true, false]
  })
  const connection = await (await DuckDBInstance.create(":memory:")).connect()
  const text = (value: string | null) => (value === null ? "NULL" : `'${value}'`)
  await connection.run(`CREATE SCHEMA sluice_fleet;
    CREATE TABLE sluice_fleet.job (id VARCHAR, name VARCHAR, singleton_key VARCHAR, data JSON, output JSON, state VARCHAR, created_on TIMESTAMPTZ,
      start_after TIMESTAMPTZ, heartbeat_on TIMESTAMPTZ, started_on TIMESTAMPTZ, completed_on TIMESTAMPTZ, retry_count INTEGER);
    CREATE TABLE sluice_fleet.fences (location VARCHAR, run VARCHAR, owner VARCHAR, begun_at TIMESTAMPTZ);
    ${runsView};
    INSERT INTO sluice_fleet.job VALUES ${jobs
      .map((job, index) => {
        const said = JSON.stringify({
          ...(job.said && { state: job.said, worker: "w0" }),
          exitCode: index,
          requests: 2 * index,
          message: `m${index}`
        })
        return `('j${index}', 'runs', 'l${index}', '{"kind":"backfill","from":"a","to":"b","failures":${index}}', '${said}', '${job.state}', '2026-01-01T00:00:00Z',
          '${job.isHeld ? "3000-01-01T00:00:00Z" : "2026-01-02T00:00:00Z"}', now() - INTERVAL '${job.isAlive ? 5 : 15} seconds', ${job.isStarted ? "'2026-01-03T00:00:00Z'" : "NULL"}, '2026-01-04T00:00:00Z', ${index})`
      })
      .join(", ")}, ('other', 'failed-runs', 'l0', '{}', '{}', 'created', now(), now(), now(), now(), now(), 0);
    INSERT INTO sluice_fleet.fences VALUES ${jobs.map(({ isOwn, owner }, index) => `('l${index}', '${isOwn ? "j" : "x"}${index}', ${text(owner)}, '2026-01-05T00:00:00Z')`).join(", ")}`)
  const found = await connection.runAndReadAll(
    `SELECT * REPLACE (epoch_ms(not_before) AS not_before, epoch_ms(started_at) AS started_at, epoch_ms(ended_at) AS ended_at, epoch_ms(requested_at) AS requested_at)
     FROM sluice_fleet.runs ORDER BY exit_code`
  )
  connection.closeSync()
  const stateOf = ({ isAlive, isOwn, owner, said, state }: Stored): string => {
    if (state === "created") return "queued"
    if (state === "retry") return said ?? "queued"
    if (state === "active") return isAlive ? "running" : "queued"
    if (state === "completed") return said ?? "done"
    return state === "cancelled" && isOwn && owner !== null && isAlive ? "cancelling" : state
  }
  const january = (day: number) => Date.UTC(2026, 0, day)
  assert.deepStrictEqual(
    found
      .getRowObjectsJson()
      .map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([key, value]) => [
            key,
            /_at|_before/.test(key) && value !== null ? Number(value) : value
          ])
        )
      ),
    jobs.map((job, index) => ({
      run: `j${index}`,
      location: `l${index}`,
      kind: "backfill",
      window_from: "a",
      window_to: "b",
      requested_at: january(1),
      not_before: job.isHeld ? null : january(2),
      state: stateOf(job),
      attempts: index + (job.isStarted ? 1 : 0),
      failures: index,
      worker: job.said === null ? (job.isOwn ? job.owner : null) : "w0",
      started_at: job.isOwn ? january(5) : job.isStarted ? january(3) : null,
      ended_at: january(4),
      exit_code: index,
      requests: 2 * index,
      message: `m${index}`
    }))
  )
})

it("a line of the status says how old the tables are, and of an open run when it begins, of another one why it is not done", () => {
  const now = Date.UTC(2026, 0, 31, 12)
  const states = [
    "none",
    "queued",
    "waiting",
    "running",
    "cancelling",
    "done",
    "partial",
    "failed",
    "cancelled"
  ] as const
  const hour = 3_600_000
  for (const one of product<{
    state: (typeof states)[number]
    hours: number | undefined
    message: string | undefined
    paused: boolean
  }>({
    state: states,
    hours: [undefined, -1, 3],
    message: [undefined, "it\n  failed"],
    paused: [true, false]
  })) {
    const { hours, message, paused, state } = one
    const notBefore = hours === undefined ? undefined : new Date(now + hours * hour).toISOString()
    const isOpen = state === "queued" || state === "waiting"
    const reason = [
      ...(isOpen && hours === 3 ? ["in 3 h"] : []),
      ...(message !== undefined && state !== "done" && state !== "running" ? ["it failed"] : [])
    ]
    assert.deepStrictEqual(
      cellsOf({ location: "L", paused, state, ...(message && { message }), ...(notBefore && { notBefore }) }, now),
      ["L", paused ? `${state}, paused` : state, "never complete", "", "", reason.join(": ")],
      JSON.stringify(one)
    )
  }
  const fresh = {
    location: "L",
    paused: false,
    state: "done",
    freshAt: new Date(now - 2 * hour).toISOString(),
    requestsLeft: 0,
    owner: "w"
  } as const
  assert.deepStrictEqual(cellsOf(fresh, now), ["L", "done", "2 h old", 0, "w", ""])
  assert.lengthOf(String(cellsOf({ ...fresh, state: "failed", message: "x".repeat(500) }, now).at(-1)), 120)
})

it("after an owner whose end is not known, the next one waits until the service counts nothing of it any more", () => {
  const fence = { location: "L", number: "1", snapshot: null }
  assert.strictEqual(quietMs({ ...fence, endedCleanly: true }, 10_000), 0)
  const whole = quietMs({ ...fence, endedCleanly: false }, 10_000)
  assert.isAtLeast(whole, 10_000 + tetherMs)
  assert.strictEqual(quietMs({ ...fence, endedCleanly: false }, 10_000, 4000), whole - 4000)
  assert.strictEqual(quietMs({ ...fence, endedCleanly: false }, 10_000, whole + 1), 0)
})

describe("the process of a run", () => {
  const order: Order = {
    location: "loc1",
    kind: "sync",
    token: undefined,
    refreshToken: undefined,
    tokenName: "fleet.token",
    state: "/state",
    config: undefined
  }
  /** What the worker starts for an order, and what it makes of the end. */
  const started = async (changes: Partial<Order>, end: Partial<EndedRun> = {}) => {
    let asked: { readonly args: ReadonlyArray<string>; readonly environment: object } | undefined
    const processes = {
      start: (_: object, what: NonNullable<typeof asked>) => {
        asked = what
        return Effect.succeed({
          ended: Effect.succeed({ exitCode: 0, result: "", messages: "", ...end }),
          extend: () => {},
          stop: () => {}
        })
      }
    } as unknown as Parameters<typeof startChild>[0]
    const child = await Effect.runPromise(startChild(processes, {}, { ...order, ...changes }, 0, () => {}))
    return { ...asked!, outcome: await Effect.runPromise(child.ended) }
  }

  it("has the flags of its kind, its location and folder, and its own token only", async () => {
    for (const one of product<Pick<Order, "config" | "from" | "kind" | "refreshToken" | "to" | "token">>({
      kind: ["sync", "full", "all", "backfill"],
      from: [undefined, "2025-01-01"],
      to: [undefined, "2025-02-01"],
      config: [undefined, "/c.toml"],
      token: [undefined, "env:ONE"],
      refreshToken: [undefined, "file:/two"]
    })) {
      const { args, environment } = await started(one)
      const [command, ...flags] = args
      assert.strictEqual(command, one.kind === "backfill" ? "backfill" : "sync")
      const given = new Map<string, string | undefined>()
      const rest = flags.filter((flag) => flag !== "--json")
      assert.lengthOf(rest, flags.length - 1)
      for (let index = 0; index < rest.length; index += 2) given.set(rest[index]!, rest[index + 1])
      const again = { sync: undefined, backfill: undefined, full: "lists", all: "all" }[one.kind]
      const expected = {
        "--location": "loc1",
        "--output": folderOf("/state", "loc1"),
        "--config": one.config,
        "--again": again,
        "--from": one.from,
        "--to": one.to
      }
      assert.deepStrictEqual(
        Object.fromEntries(given),
        Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined))
      )
      assert.deepStrictEqual(environment, {
        SLUICE_LOCATION_ID: "loc1",
        ...(one.token || one.refreshToken ? { SLUICE_FLEET_TOKEN_NAME: "fleet.token" } : {}),
        ...(one.refreshToken ? { SLUICE_REFRESH_TOKEN: one.refreshToken } : {}),
        ...(one.token ? { SLUICE_TOKEN: one.token } : {})
      })
    }
  })

  it("is said to have ended with its error, or else what is incomplete, or else its last line", async () => {
    const random = randomFrom(5)
    const at = (hour: number) => `2026-01-31T${String(hour).padStart(2, "0")}:00:00.000Z`
    for (let index = 0; index < 200; index++) {
      const some = <One>(value: One) => (random() < 0.5 ? value : undefined)
      const hours = [some(Math.floor(random() * 24)), some(Math.floor(random() * 24))] as const
      const ended = [
        {
          resource: "contacts",
          status: random() < 0.5 ? "incomplete" : "complete",
          ...(hours[0] !== undefined && { resumeAt: at(hours[0]) })
        },
        { resource: "tasks", status: "paused" }
      ]
      const data = some({ requests: 7, ...(random() < 0.5 && { requestsLeft: 9 }), ended })
      const error = some({
        code: "later",
        message: "it failed",
        ...(hours[1] !== undefined && { resumeAt: at(hours[1]) })
      })
      const next = some("./sluice sync")
      const exitCode = [0, 3, 75, null][Math.floor(random() * 4)]!
      const messages = some("first\nlast line\n") ?? (random() < 0.3 ? tetherMessage : "x")
      const { outcome } = await started(
        {},
        {
          exitCode,
          messages,
          result: JSON.stringify({
            schema: "sluice/sync",
            exitCode: 0,
            ...(next && { next }),
            ...(data && { data }),
            ...(error && { error })
          })
        }
      )
      const isIncomplete = data?.ended[0]?.status === "incomplete"
      const said = error
        ? "it failed"
        : isIncomplete
          ? "incomplete: contacts"
          : exitCode === 0
            ? undefined
            : messages.trim().split("\n").at(-1)
      const times = [
        ...(data && hours[0] !== undefined ? [hours[0]] : []),
        ...(error && hours[1] !== undefined ? [hours[1]] : [])
      ]
      assert.deepStrictEqual(
        { ...outcome },
        {
          exitCode,
          message: said && `${said}${exitCode === 0 || !next ? "" : " Next: ./sluice sync"}`,
          resumeAt: times.length === 0 ? undefined : Date.parse(at(Math.max(...times))),
          requests: data?.requests,
          requestsLeft: data?.requestsLeft,
          isCutOff: exitCode === null && messages === tetherMessage
        }
      )
    }
  })
})
