/** The states of readings and runs, as people see them. */
import { assert, describe, it } from "@effect/vitest"
import { Writable } from "node:stream"
import { Output } from "../../src/console/streams.ts"
import { isWhole, readingStates, runStates, stateText, toneByText, toneOf } from "../../src/values/state.ts"

describe("a state", () => {
  it("has a text and a tone, and what is no state has neither", () => {
    assert.deepStrictEqual(
      [...new Set([...readingStates, ...runStates])].map((state) => [state, stateText(state), toneOf(state)]),
      [
        ["complete", "complete", "complete"],
        ["complete_with_warnings", "complete with warnings", "warning"],
        ["incomplete", "incomplete", "problem"],
        ["interrupted", "interrupted", "problem"],
        ["never", "never read", "problem"],
        ["paused", "paused", "warning"]
      ]
    )
    assert.deepStrictEqual([stateText("<b>_x"), toneOf("<b>_x"), toneOf("toString")], ["<b>_x", undefined, undefined])
  })

  it("is whole if it was read to its end", () => {
    assert.deepStrictEqual([...new Set([...readingStates, ...runStates])].filter(isWhole), [
      "complete",
      "complete_with_warnings"
    ])
  })

  it("has its colour in a cell of a row on a terminal, and nowhere else", () => {
    const printed = (line: string, isTTY: boolean) => {
      let text = ""
      const stream = new Writable({
        write: (chunk, _, done) => {
          text += String(chunk)
          done()
        }
      })
      Output.make({ stdout: Object.assign(stream, { isTTY }), stderr: stream }, {}).print(line)
      return text.trimEnd()
    }
    const codes = { problem: "\u001b[31m", warning: "\u001b[33m", complete: "\u001b[32m" }
    for (const [text, tone] of toneByText) {
      assert.strictEqual(printed(`contacts  ${text}`, true), `contacts  ${codes[tone]}${text}\u001b[39m`)
      assert.strictEqual(printed(`contacts  ${text}  why`, true), `contacts  ${codes[tone]}${text}\u001b[39m  why`)
      for (const line of [`it is ${text}`, `contacts  is ${text}`]) assert.strictEqual(printed(line, true), line)
      assert.strictEqual(printed(`contacts  ${text}`, false), `contacts  ${text}`)
    }
  })
})
