/**
 * A month of nights, one of them shorter because the clock changes: the whole program with its settings, against the sandbox,
 * at the times of the nights. Faults make some nights bad.
 */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { type FileHandle, open } from "node:fs/promises"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { oddDays, offsetAt } from "../../src/features/operations/schedule/schedule.ts"
import { type Account, discard, openAlone } from "../support/account.ts"
import { acceleratedFrom } from "../support/clock.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const timeZone = "Europe/Berlin"

/** 02:30 in Berlin on each of 30 days; the night that has no 02:30 begins at 03:00, as the script of cron does. */
const nights = Array.from({ length: 30 }, (_, index) => {
  const wanted = Date.parse("2027-03-10T02:30:00Z") + index * day
  const instant = wanted - offsetAt(timeZone, wanted - day) * minute
  const isSkipped = oddDays({ hour: 2, minute: 30, timeZone }, wanted).some(
    ({ day: odd, times }) => times === 0 && odd === new Date(wanted).toISOString().slice(0, 10)
  )
  return isSkipped ? instant - 30 * minute : wanted - offsetAt(timeZone, wanted) * minute
})

/** A bad period: its nights, what happens in them, and how the sync ends. */
interface Bad {
  readonly nights: readonly [first: number, last: number]
  readonly exitCode: number | "not run"
  /** The names of the alarms, which begin in its first night. */
  readonly alarms: ReadonlyArray<string>
  readonly begin: () => Promise<unknown> | void
  readonly end?: () => Promise<unknown> | void
}

let account: Account
let receiver: Receiver
let settings: string
let isDiskFull = false
let restoreDisk = () => {}

beforeAll(async () => {
  account = await openAlone("contacts,users,tasks", "--contacts", "200", "--limits", "10000/1000/500")
  receiver = await startReceiver()
  settings = join(newFolder(), "sluice.toml")
  writeFileSync(
    settings,
    '[budget]\nreserve_per_day = 0\n[signals]\nwebhook_url = "env:WEBHOOK"\nheartbeat_url = "env:HEARTBEAT"\n'
  )
  const file = await open(join(newFolder(), "any"), "w")
  const prototype = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const { appendFile } = prototype
  restoreDisk = () => void (prototype.appendFile = appendFile)
  prototype.appendFile = function (this: FileHandle, ...data) {
    if (!isDiskFull) return appendFile.apply(this, data)
    return Promise.reject(Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }))
  }
})
afterAll(() => {
  restoreDisk()
  receiver.stop()
  discard(account)
})

const run = (command: string, at: number, ...flags: ReadonlyArray<string>) =>
  sluice(
    [command, "--config", settings, ...flags],
    { ...account.environment, WEBHOOK: `${receiver.url}/hook`, HEARTBEAT: `${receiver.url}/beat` },
    { overrides: acceleratedFrom(at) }
  )
const post = (path: string, body: unknown) => account.service.post(path, body)
const serviceAt = async (at: number) => {
  const { now } = (await post("clock", { advanceMs: 0 })) as { readonly now: number }
  await post("clock", { advanceMs: at - now })
}

const badPeriods: ReadonlyArray<Bad> = [
  {
    nights: [4, 4],
    exitCode: 75,
    alarms: ["sync"],
    begin: () => post("faults", { rules: [{ kind: "500", rate: 1 }] }),
    end: () => post("faults", { rules: [] })
  },
  {
    nights: [7, 9],
    exitCode: 77,
    alarms: ["sync"],
    begin: () => post("token", { revoke: true }),
    end: () => post("token", { restore: true })
  },
  {
    nights: [12, 12],
    exitCode: 75,
    alarms: ["sync"],
    // Another program uses up the day, which the service counts from its first request on.
    begin: async () => {
      const { locationId } = account.service
      const search = () => account.service.call("POST", "/contacts/search", { locationId, pageLimit: 1 })
      let refused = ""
      while (refused === "") await search().catch((error: Error) => (refused = error.message))
      assert.include(refused, "429")
    }
  },
  {
    nights: [15, 16],
    exitCode: 1,
    alarms: ["sync"],
    begin: () => void (isDiskFull = true),
    end: () => void (isDiskFull = false)
  },
  {
    nights: [19, 19],
    exitCode: 0,
    alarms: ["schema"],
    begin: async () => {
      const [task] = await account.service.records("tasks")
      await post("plant", {
        collection: "tasks",
        like: task!["id"] ?? task!["_id"],
        id: "t1",
        fields: { moonPhase: 1 }
      })
    }
  },
  { nights: [22, 23], exitCode: "not run", alarms: ["freshness"], begin: () => {} },
  {
    nights: [27, 27],
    exitCode: 0,
    alarms: ["volume"],
    begin: () => post("change", { contacts: 0.9, seed: 99 })
  }
]

/** The kinds of alarms that a message of the webhook opens and ends. */
interface Told {
  readonly opened: ReadonlyArray<string>
  readonly recovered: ReadonlyArray<string>
}
/** The clock of the nights runs ten times as fast as that of the service, so after half a minute it seems to be ahead. */
const kindsOf = (alarms: ReadonlyArray<{ readonly kind: string }>) =>
  [...new Set(alarms.map(({ kind }) => kind))].filter((kind) => kind !== "clock")
const messages = (): ReadonlyArray<Told> =>
  receiver.received
    .filter(({ path }) => path === "/hook")
    .map(({ body }) => JSON.parse(body.toString()))
    .map(({ opened, recovered }) => ({ opened: kindsOf(opened), recovered: kindsOf(recovered) }))
    .filter(({ opened, recovered }) => opened.length + recovered.length > 0)

it("30 nights: one alarm and one recovery per bad period, and none in good nights", { tags: ["slow"] }, async () => {
  // The clock changes in one of the nights, which is an hour shorter.
  const lengths = nights.slice(1).map((at, index) => (at - nights[index]!) / hour)
  assert.deepStrictEqual(
    lengths.filter((length) => length !== 24).toSorted((one, other) => one - other),
    [23.5, 23.5]
  )
  const log: Array<string> = []
  let isBad: Bad | undefined
  for (const [night, scheduled] of nights.entries()) {
    // Each night begins a little later, and with it the day of the service, which has 24 hours.
    const at = scheduled + night * 2 * minute
    const bad = badPeriods.find(({ nights: [first, last] }) => night >= first && night <= last)
    const ended = isBad !== bad ? isBad : undefined
    await isBad?.end?.()
    isBad = bad
    await serviceAt(at)
    await post("change", { contacts: 0.03, tasks: 0.02, seed: night })
    receiver.received.length = 0
    await bad?.begin()

    const isRun = bad?.exitCode !== "not run"
    const ran = isRun ? await run("sync", at, ...account.selection) : undefined
    const where = `night ${night}: ${ran?.stderr ?? ""}`
    if (ran) assert.strictEqual(ran.code, bad?.exitCode ?? 0, where)
    // Monitoring looks every few hours, and the scheduler may try again: neither reports anything again.
    for (const hours of [1, 5, 12]) {
      const { code, stdout } = await run("check", at + hours * hour)
      const isAlarm = bad !== undefined && (isRun || night > bad.nights[0] || hours >= 7)
      assert.strictEqual(code, isAlarm ? 4 : 0, `${where}, after ${hours} hours: ${stdout}`)
    }
    if (bad?.exitCode === 75) {
      const again = await run("sync", at + 13 * hour, ...account.selection)
      assert.strictEqual(again.code, 75, again.stderr)
    }
    const told = messages()
    const isFirst = bad?.nights[0] === night
    const expected = [
      ...(ended ? [{ opened: [], recovered: ended.alarms }] : []),
      ...(isFirst ? [{ opened: bad!.alarms, recovered: [] }] : [])
    ]
    assert.deepStrictEqual(told, expected, where)
    log.push(`${night}: exit ${ran?.code ?? "-"}${bad ? ` ${bad.alarms.join()}` : ""}`)
    const beats = receiver.received.filter(({ path }) => path.startsWith("/beat")).map(({ path }) => path)
    if (ran && bad?.exitCode !== 75)
      assert.deepStrictEqual(beats, ["/beat/start", ran.code === 0 ? "/beat" : `/beat/${ran.code}`], where)
  }
  assert.strictEqual(log.length, 30)
})

it("a night in which the service is down raises one alarm, and the next one ends it", async () => {
  const at = nights[0]! - day
  await serviceAt(at)
  receiver.received.length = 0
  await post("faults", { rules: [{ kind: "500", rate: 1 }] })
  assert.strictEqual((await run("sync", at, ...account.selection)).code, 75)
  assert.strictEqual((await run("check", at + hour)).code, 4)
  await post("faults", { rules: [] })
  assert.strictEqual((await run("sync", at + 2 * hour, ...account.selection)).code, 0)
  assert.deepStrictEqual(messages(), [
    { opened: ["sync"], recovered: [] },
    { opened: [], recovered: ["sync"] }
  ])
})
