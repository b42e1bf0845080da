import { assert, describe, it } from "@effect/vitest"
import { closest } from "../../src/settings/closest.ts"

describe("the closest name", () => {
  it.each([
    ["contcats", "contacts"],
    ["contct", "contacts"],
    ["calendarrs", "calendars"],
    ["tsk", "tasks"]
  ])("to %s is %s", (written, expected) => {
    assert.strictEqual(closest(written, ["calendars", "contacts", "tasks"]), expected)
  })

  it("has at most two letters more, fewer or replaced, or a quarter of a long name", () => {
    assert.isUndefined(closest("tas-ks-x", ["tasks"]))
    assert.isUndefined(closest("ts", ["tasks"]))
    assert.strictEqual(closest("conversation_assistants", ["conversation_messages"]), undefined)
    assert.strictEqual(closest("conversation_messgs", ["conversation_messages"]), "conversation_messages")
  })
})
