/** What each place was notified of: whatever is drawn, it has in the end accepted what began, and then what ended, each once. */
import { assert, describe, it } from "@effect/vitest"
import type { Alarm } from "../../src/alarms/alarms.ts"
import { type KnownAlarm, type Notified, changesOf } from "../../src/alarms/state.ts"
import { dueAt, isRetryDue, afterMessage, afterDigest } from "../../src/alarms/notified.ts"
import { randomFrom } from "../support/random.ts"

const nothing: Notified = { alarms: [] }
const alarmOf = (table: string): Alarm => ({
  kind: "freshness",
  subject: table,
  where: `freshness:${table}`,
  level: "warning",
  what: "late",
  next: "x"
})
const tables = ["contacts", "tasks", "orders", "users"]

/** A place as its receiver sees it: which alarms it heard of and not the end of. */
class Receiver {
  notified = nothing
  readonly believed = new Set<string>()
  readonly said: Array<string> = []

  night(alarms: ReadonlyArray<KnownAlarm>, now: number, isUp: boolean): void {
    const { opened, recovered } = dueAt(this.notified, alarms)
    if (isUp) {
      for (const { where } of recovered) {
        this.believed.delete(where)
        this.said.push(`-${where}`)
      }
      for (const { where } of opened) {
        assert.isFalse(this.believed.has(where), `${where} was notified twice`)
        this.believed.add(where)
        this.said.push(`+${where}`)
      }
    }
    const isAsked = opened.length + recovered.length > 0
    this.notified = afterMessage(this.notified, alarms, now, isUp || !isAsked ? undefined : "it is down")
  }
}

describe("two places", () => {
  it("have each accepted every alarm that stands as soon as they answer, and each end, whatever the other one does", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const draw = randomFrom(seed)
      const receivers = [new Receiver(), new Receiver()]
      let known: ReadonlyArray<KnownAlarm> = []
      for (let now = 1; now <= 40; now++) {
        const present = now === 40 ? [] : tables.filter(() => draw() < 0.4)
        const { alarms } = changesOf(known, present.map(alarmOf), [], now)
        known = alarms
        for (const receiver of receivers) {
          const isUp = now === 40 || draw() < 0.5
          receiver.night(alarms, now, isUp)
          if (!isUp) continue
          assert.deepStrictEqual([...receiver.believed].toSorted(), alarms.map(({ where }) => where).toSorted())
          assert.isUndefined(receiver.notified.refused)
        }
      }
    }
  })

  it("hear of an alarm that came and went while they did not answer", () => {
    const place = new Receiver()
    const { alarms } = changesOf([], [alarmOf("tasks")], [], 1)
    place.night(alarms, 1, false)
    place.night([], 2, false)
    assert.deepStrictEqual(place.said, [])
    place.night([], 3, true)
    assert.deepStrictEqual(place.said, ["-freshness:tasks"])
    assert.deepStrictEqual(place.notified.alarms, [])
  })

  it("hear of what a silence covered neither when it begins nor when it ends, and again after the silence", () => {
    const place = new Receiver()
    const silence = [{ alarm: "freshness", reason: "closed", until: 3 }]
    const nights: ReadonlyArray<ReadonlyArray<string>> = [["tasks"], ["tasks"], ["tasks"], []]
    let known: ReadonlyArray<KnownAlarm> = []
    nights.forEach((present, night) => {
      known = changesOf(known, present.map(alarmOf), night === 1 ? silence : [], night).alarms
      place.night(known, night, true)
      if (night === 1) place.believed.clear()
    })
    assert.deepStrictEqual(place.said, ["+freshness:tasks", "+freshness:tasks", "-freshness:tasks"])
  })
})

describe("a place that does not answer", () => {
  it("is asked again by itself in growing intervals, of five minutes to six hours", () => {
    const minute = 60_000
    const isDueAgain = (notified: Notified, now: number) =>
      isRetryDue({ version: 1, alarms: [], free: [], notified: { mail: notified } }, ["webhook", "mail"], now)
    let notified = afterMessage(nothing, [], 0, "down")
    const tries: Array<number> = []
    for (let now = 0; now < 24 * 60 * minute; now += minute) {
      if (!isDueAgain(notified, now)) continue
      tries.push(now / minute)
      notified = afterMessage(notified, [], now, "down")
    }
    assert.deepStrictEqual(tries.slice(0, 5), [5, 10, 20, 40, 80])
    assert.isAtMost(tries.length, 11)
    assert.strictEqual(notified.refused?.since, 0)
    assert.isFalse(isDueAgain(afterMessage(notified, [], 5, undefined), Number.MAX_SAFE_INTEGER))
    const state = { version: 1 as const, alarms: [], free: [], notified: { mail: notified } }
    // The settings name no mail any more, or the clock was ahead.
    assert.isFalse(isRetryDue(state, ["webhook"], Number.MAX_SAFE_INTEGER))
    assert.isTrue(isRetryDue(state, ["mail"], notified.refused!.at - 1))
  })

  it("keeps a digest due until it has accepted one", () => {
    const refused = afterDigest({ ...nothing, digestAt: 1 }, 5, "down")
    assert.deepStrictEqual(refused, {
      alarms: [],
      digestAt: 1,
      digestDue: 5,
      refused: { since: 5, at: 5, problem: "down" }
    })
    assert.strictEqual(afterDigest(refused, 7, "down").digestDue, 5)
    assert.deepStrictEqual(afterDigest(refused, 9, undefined), { alarms: [], digestAt: 9 })
  })
})
