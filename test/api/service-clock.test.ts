/** When the service's `Date` proves that the machine's clock is wrong, and when it proves nothing. */
import { assert, describe, it } from "@effect/vitest"
import { ServiceClock } from "../../src/stages/api/service-clock.ts"

const true0 = Date.parse("2026-03-02T09:00:00Z")
const day = 86_400_000

interface Heard {
  /** Milliseconds since the beginning. */
  readonly at: number
  /** How far the machine's clock is ahead of the true time. */
  readonly ahead: number
  /** How far the `Date` of the answer is away from the true time. */
  readonly lie?: number
  readonly isOfCache?: boolean
  /** How long the machine slept while it waited. */
  readonly slept?: number
}

const machineAt = ({ ahead, at }: Pick<Heard, "ahead" | "at">) => ({
  wallClock: true0 + at + ahead,
  monotonic: 5000 + at
})
const whole = (time: number) => Math.floor(time / 1000) * 1000

const after = (answers: ReadonlyArray<Heard>): ServiceClock => {
  const clock = new ServiceClock()
  for (const { ahead, at, isOfCache = false, lie = 0, slept = 0 } of answers) {
    const [sent, received] = [machineAt({ ahead, at: at - 50 - slept }), machineAt({ ahead, at })]
    clock.heard(undefined, isOfCache, sent, received)
    clock.heard(whole(true0 + at + lie), isOfCache, sent, received)
  }
  return clock
}
const each = (count: number, heard: Omit<Heard, "at">, everyMs = 1000): ReadonlyArray<Heard> =>
  Array.from({ length: count }, (_, index) => ({ at: index * everyMs, ...heard }))

describe("a clock of the machine", () => {
  it.each([2 * day, -2 * day, 6 * 60_000, -20 * 365 * day])(
    "that is wrong by %s ms is known by four seconds",
    (ahead) => {
      assert.isUndefined(after(each(3, { ahead })).wrongByMs)
      assert.isTrue(after(each(3, { ahead })).isUnsettled)
      const known = after(each(4, { ahead }))
      assert.closeTo(known.wrongByMs!, ahead, 1500)
      assert.isFalse(known.isUnsettled)
      assert.closeTo(known.now(machineAt({ ahead, at: 10_000 })), true0 + 10_000, 1500)
      // It is set right: nothing jumps.
      assert.closeTo(known.now(machineAt({ ahead: 0, at: 11_000 })), true0 + 11_000, 1500)
    }
  )

  it.each([
    ["differs by less than five minutes", each(20, { ahead: 4 * 60_000 })],
    [
      "is right, and one answer in four lies",
      each(40, { ahead: 0 }).map((one) => (one.at % 4000 === 0 ? { ...one, lie: 2 * day } : one))
    ],
    ["is right, and the first three answers lie", [...each(3, { ahead: 0, lie: day }), { at: 4000, ahead: 0 }]],
    [
      "is right, and no two answers agree",
      each(9, { ahead: 0 }).map((one, index) => ({ ...one, lie: index * day + day }))
    ],
    ["is right, and a cache keeps answers and says so", each(9, { ahead: 0, lie: -day, isOfCache: true })],
    [
      "is right, and a cache repeats one answer",
      each(9, { ahead: 0, lie: -day }).map((one) => ({ ...one, lie: -day - one.at }))
    ],
    ["is right, and the machine sleeps in each request", each(9, { ahead: 0, lie: -day, slept: day })],
    ["is right, and all answers come within two seconds", each(90, { ahead: 0, lie: day }, 20)]
  ])("that %s counts", (_, answers) => {
    const clock = after(answers)
    assert.isUndefined(clock.wrongByMs)
    const { ahead, at } = answers.at(-1)!
    assert.strictEqual(clock.now(machineAt({ ahead, at })), true0 + at + ahead)
  })

  it("that becomes wrong during a run is known once the answers before are forgotten", () => {
    const wrong = each(40, { ahead: 2 * day }).map((one) => ({ ...one, at: one.at + 20_000 }))
    assert.isUndefined(after([...each(20, { ahead: 0 }), ...wrong.slice(0, 5)]).wrongByMs)
    assert.closeTo(after([...each(20, { ahead: 0 }), ...wrong]).wrongByMs!, 2 * day, 1500)
  })

  it("that is wrong stays known if one answer in six lies", () => {
    const clock = after(
      each(60, { ahead: 2 * day }).map((one) => (one.at % 6000 === 5000 ? { ...one, lie: 5 * day } : one))
    )
    assert.closeTo(clock.now(machineAt({ ahead: 2 * day, at: 60_000 })), true0 + 60_000, 1500)
  })
})

it("a time that other answers contradict is none", () => {
  const clock = after(each(3, { ahead: 0 }))
  const at = machineAt({ ahead: 0, at: 5000 })
  assert.isUndefined(clock.heard(true0 + 3 * day, false, at, at))
  assert.strictEqual(clock.heard(true0 + 5000, false, at, at), true0 + 5000)
})
