/** The codes with which commands end are what docs/operations.md promises to schedulers. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { exitCodes } from "../../src/values/failure.ts"

it("each exit code has the meaning that the page of operations says", () => {
  const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8")
  const meanings = new Map(Array.from(page.matchAll(/^- (\d+): (.*)$/gm), ([, code, text]) => [Number(code), text!]))
  const words: Readonly<Record<keyof typeof exitCodes, RegExp>> = {
    failed: /failed/,
    damaged: /failed/,
    usage: /command line/,
    partial: /incomplete/,
    alarms: /alarms/,
    locked: /same output folder/,
    later: /for now/,
    credentials: /token/,
    config: /setting is missing or wrong/
  }
  for (const kind of Object.keys(exitCodes) as ReadonlyArray<keyof typeof exitCodes>)
    assert.match(meanings.get(exitCodes[kind]) ?? "", words[kind], kind)
})
