import { assert, describe, it } from "vitest"
import { readOptions } from "../../sandbox/flags.ts"

describe("the flags", () => {
  it("are converted to options", () => {
    const values = { contacts: "20", "notes-per-contact": "1.5", limits: "25/10000/10000", latency: "0-300" }
    assert.deepEqual(
      readOptions({
        ...values,
        faults: "500:0.1,reset-after:0.05:/contacts",
        quirk: ["exportLimitMax=500"],
        "cut-limit": "7"
      }),
      {
        contacts: 20,
        notesPerContact: 1.5,
        limits: { burst: 25, intervalMs: 10_000, daily: 10_000 },
        latencyMs: [0, 300],
        faults: [
          { kind: "500", rate: 0.1 },
          { kind: "reset-after", rate: 0.05, match: "/contacts" }
        ],
        variants: { exportLimitMax: 500, pageCut: 7 }
      }
    )
    assert.deepEqual(readOptions({ limits: "off", faults: "0.02", "no-compression": true }), {
      compress: false,
      limits: "off",
      faults: 0.02
    })
  })

  it("for files are converted to options", () => {
    const sizes = { "file-mb": "300", "file-bytes": "50000", "file-contents": "400" }
    assert.deepEqual(readOptions({ files: true, ...sizes, "file-trouble": "0.1", "messages-with-files": "1" }), {
      files: true,
      fileMb: 300,
      fileBytes: 50_000,
      fileContents: 400,
      fileTrouble: 0.1,
      messagesWithFiles: 1
    })
  })

  it("that are invalid are refused with one sentence", () => {
    for (const values of [
      { contacts: "many" },
      { limits: "some" },
      { latency: "9-1" },
      { world: "flat" },
      { now: "later" },
      { faults: "flood:1" },
      { faults: "500:often" },
      { faults: "500:2" },
      { faults: '[{"kind":"500","path":"/contacts"}]' },
      { faults: '[{"kind":"500","count":"many"}]' },
      { faults: '["500"]' },
      { faults: "[" },
      { "file-trouble": "2" },
      { "messages-with-files": "1.5" },
      { "file-contents": "0" },
      { "cut-limit": "0" },
      { quirk: ["contactPaging=maybe"] },
      { quirk: ["what=ever"] }
    ]) {
      assert.throws(() => readOptions(values), /^--[a-z-]+:? .*\.$/)
    }
  })
})
