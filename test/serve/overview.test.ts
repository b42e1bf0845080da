/** What the overview says of the status, and the one list of runs. */
import { assert, describe, it } from "@effect/vitest"
import {
  dataText,
  detailOf,
  endText,
  headlineOf,
  levelOf,
  shownStatus,
  summaryOf
} from "../../src/features/serve/overview.ts"
import { runsOf } from "../../src/features/serve/runs.ts"
import type { Ask } from "../../src/features/serve/ask.ts"
import type { StatusData } from "../../src/run/status-text.ts"
import { Transcript } from "../../src/run/transcript.ts"
import type { Job } from "../../src/run/work.ts"

const now = Date.parse("2027-03-10T08:00:00Z")
const place = (location: string, complete = 58, oldestAt = "2027-03-10T02:31:00Z") => ({
  location,
  complete,
  of: 58,
  oldestAt
})
const statusOf = (more: Partial<StatusData["verdict"]>, alarms: StatusData["alarms"] = []) =>
  ({
    alarms,
    readings: [],
    disk: {},
    locations: [],
    verdict: { state: "complete", level: "complete", text: "", causes: [], locations: [], ...more }
  }) as unknown as StatusData
const schedule = { times: ["03:30"], timeZone: "Europe/Berlin", paused: false, next: ["2027-03-11T02:30:00.000Z"] }

describe("the headline", () => {
  it("says whether each location has its data, of when, and when the next comes", () => {
    const three = ["a", "b", "c"].map((id) => place(id))
    const said = (more: Partial<StatusData["verdict"]>, when: Parameters<typeof headlineOf>[1] = schedule) =>
      headlineOf(statusOf(more), when, now)
    assert.strictEqual(said({ locations: three }), "All 3 locations have last night's data. Next run 03:30.")
    const alone = headlineOf(statusOf({ locations: [place("a")] }), undefined, now)
    assert.strictEqual(alone, "The location has last night's data.")
    const text = "b: the location cannot be read: 401"
    const causes = [{ kind: "unreadable", location: "b", text, next: "" }]
    assert.strictEqual(
      said({ state: "incomplete", level: "problem", causes, locations: [place("a"), place("b", 0), place("c")] }),
      "2 of 3 locations have last night's data. B: the location cannot be read: 401. Next run 03:30."
    )
    assert.match(said({ causes, locations: [place("b", 0)] }), /^No location has all of its data\./)
    assert.match(
      said({ locations: three }, { ...schedule, halted: { exitCode: 77, text: "x" } }),
      /The schedule has stopped\.$/
    )
    assert.match(said({ locations: three }, { ...schedule, paused: true }), /The schedule is paused\.$/)
    assert.match(
      said({ locations: three }, { ...schedule, next: ["2027-03-14T02:30:00.000Z"] }),
      /Next run Sunday.* 03:30\.$/
    )
    assert.strictEqual(headlineOf(undefined, undefined, now), "Nothing was read yet.")
  })
  it("names the day of the oldest data, at every hour of both", () => {
    const zone = "Europe/Berlin"
    const local = (at: number) => new Date(at).toLocaleString("sv-SE", { timeZone: zone })
    for (let hours = 0; hours < 48; hours += 5) {
      const at = now + hours * 3_600_000
      for (let age = 0; age < 96; age += 3) {
        const since = at - age * 3_600_000
        const text = dataText(since, at, zone)
        const [day, hour] = [local(since).slice(0, 10), Number(local(since).slice(11, 13))]
        const daysAgo = Math.round((Date.parse(local(at).slice(0, 10)) - Date.parse(day)) / 86_400_000)
        const isLastNight = (daysAgo === 0 && hour < 6) || (daysAgo === 1 && hour >= 18)
        const expected = isLastNight
          ? "last night's data"
          : (["today's data", "yesterday's data"][daysAgo] ?? `data of ${day}`)
        assert.strictEqual(text, expected, `${local(since)} at ${local(at)}`)
      }
    }
  })
})

it("of many locations the worst come first, and then 2 before 10", () => {
  const locations = [10, 2, 1, 30].map((n) => place(`l${n}`, n === 30 ? 3 : 58))
  const names = locations.map(({ location }) => ({ location, name: `Shop ${location.slice(1)}` }))
  const shown = shownStatus({ ...statusOf({ locations }), locations: names })
  assert.deepStrictEqual(
    shown.verdict.locations.map(({ location }) => location),
    ["l30", "l1", "l2", "l10"]
  )
})

it("the changes are those of the last run, and the level is that of the verdict and of the alarms that are not silenced", () => {
  const reading = (run: string, n: number) => ({ run, newRows: n, changedRows: 10 * n, deletedRows: 100 * n })
  const readings = [reading("r2", 1), reading("r2", 2), reading("r1", 7)]
  const status = {
    ...statusOf({}),
    readings,
    lastRun: { id: "r2" },
    disk: { vault: 5, warehouse: 8 }
  } as unknown as StatusData
  const shown = shownStatus(status)
  assert.deepStrictEqual(shown.changes, { new: 3, changed: 30, deleted: 300 })
  assert.strictEqual(shown.bytes, 13)
  const alarm = (level: string, silenced?: string) => ({ level, silenced }) as unknown as StatusData["alarms"][number]
  for (const [verdict, alarms, expected] of [
    ["complete", [], "ok"],
    ["complete", [alarm("error", "until then")], "ok"],
    ["complete", [alarm("warn")], "warn"],
    ["complete", [alarm("warn"), alarm("error")], "error"],
    ["warning", [], "warn"],
    ["warning", [alarm("error")], "error"],
    ["problem", [], "error"]
  ] as const)
    assert.strictEqual(levelOf(statusOf({ level: verdict }, alarms)), expected, `${verdict} ${JSON.stringify(alarms)}`)
  assert.strictEqual(levelOf(undefined), "none")
})

it("a piece of work is running until it has ended, and then says how it ended and what it made", () => {
  const job = (record: object, printed?: object, isStopping = false) => {
    const own = {
      id: "j",
      title: "T",
      task: "sync",
      line: "./sluice x",
      by: "console",
      startedAt: "s",
      isPlanOnly: false,
      ...record
    }
    return { record: own, transcript: { printed, progress: undefined }, isStopping } as unknown as Job
  }
  const common = { id: "j", title: "T", task: "sync", line: "./sluice x", by: "console" as const, startedAt: "s" }
  const [ended, document] = [{ endedAt: "e", exitCode: 0 }, { document: "d.html" }]
  assert.deepStrictEqual(summaryOf(job(document)), { ...common, state: "running" })
  assert.deepStrictEqual(summaryOf(job({}, undefined, true)), { ...common, state: "stopping" })
  const done = { ...common, state: "ended", ...ended, level: "ok" as const, text: "Done." }
  assert.deepStrictEqual(summaryOf(job(ended)), done)
  assert.deepStrictEqual(summaryOf(job({ ...ended, ...document })), { ...done, documents: ["d.html"] })
  assert.deepStrictEqual(summaryOf(job({ ...ended, isPlanOnly: true })), { ...done, applies: "./sluice x --apply" })
  const failed = { endedAt: "e", exitCode: 1 }
  const text = { level: "error" as const, text: "It ended with exit code 1." }
  assert.deepStrictEqual(summaryOf(job({ ...failed, ...document, isPlanOnly: true })), {
    ...common,
    state: "ended",
    ...failed,
    ...text
  })
  const printed = { data: { run: "r", zip: "/x/p.zip" }, error: { code: "failed", message: "no" }, next: "n" }
  assert.deepStrictEqual(detailOf(job(failed, printed)), {
    ...common,
    state: "ended",
    ...failed,
    level: "error",
    text: "no",
    run: "r",
    documents: ["p.zip"],
    result: printed.data,
    error: printed.error,
    next: "n"
  })
  const levels = [0, 1, 3, 4, 11, 75, 77, 130, 143, null].map((code) => `${code} ${endText(code, undefined).level}`)
  const warned = [3, 4, 11, 75, 130, 143]
  assert.deepStrictEqual(
    levels,
    [0, 1, 3, 4, 11, 75, 77, 130, 143, null].map(
      (code) => `${code} ${code === 0 ? "ok" : warned.includes(code ?? -1) ? "warn" : "error"}`
    )
  )
  assert.strictEqual(endText(null, undefined).text, "A signal ended the process.")
})

it("a sync of the console is one row, with what it did and why it ended so", async () => {
  const jobOf = (id: string, more: object, printed?: object) => {
    const transcript = new Transcript()
    if (printed) transcript.read(JSON.stringify({ schema: "s", exitCode: 0, ...printed }))
    const record = {
      id,
      task: "sync",
      title: "Sync",
      line: "",
      by: "schedule",
      isWriting: true,
      isPrivate: false,
      pid: 1,
      ...more
    }
    return { record, transcript, isStopping: false } as unknown as Job
  }
  const rows = ["20270310T023000100Z", "20270311T023000100Z", "20270311T120000000Z"].map((run_id) => ({
    run_id,
    command: "sync",
    started_at: `${run_id.slice(0, 4)}-${run_id.slice(4, 6)}-${run_id.slice(6, 8)} ${run_id.slice(9, 11)}:${run_id.slice(11, 13)}:00`,
    finished_at: null,
    status: "incomplete",
    exit_code: 3,
    requests: 7
  }))
  const ask = { rows: async (table: string) => (table === "meta.runs" ? rows : []) } as unknown as Ask
  const found = await runsOf(ask, [
    jobOf(
      "named",
      { startedAt: "2027-03-10T01:00:00Z", endedAt: "2027-03-10T01:01:00Z", exitCode: 3 },
      { data: { run: rows[0]!.run_id } }
    ),
    // Its result names no run: it is the one that began while it worked.
    jobOf("timed", { startedAt: "2027-03-11T02:30:00.000Z", endedAt: "2027-03-11T02:40:00.000Z", exitCode: 77 }),
    jobOf("plan", {
      title: "Plan",
      by: "console",
      isWriting: false,
      startedAt: "2027-03-11T02:31:00Z",
      endedAt: "2027-03-11T02:31:09Z",
      exitCode: 0
    })
  ])
  assert.deepStrictEqual(
    found.map((one) => [one.what, one.by, "job" in one ? one.job : undefined, "run" in one ? one.run : undefined]),
    [
      ["Sync", "terminal", undefined, rows[2]!.run_id],
      ["Plan", "console", "plan", undefined],
      ["Sync", "schedule", "timed", rows[1]!.run_id],
      ["Sync", "schedule", "named", rows[0]!.run_id]
    ]
  )
  assert.isTrue(found.every(({ text }) => text !== ""))
})
