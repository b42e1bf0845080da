/** The script of docs/hand-out.md, which checks a ledger with jq and sha256sum. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { appendRecord, headOf, ledgerOf } from "../../src/stores/ledger/file.ts"
import { checkLedger } from "../../src/stores/ledger/verify.ts"
import { programOf } from "../support/programs.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const page = readFileSync(fileURLToPath(new URL("../../docs/hand-out.md", import.meta.url)), "utf8")
const script = /```bash\n(.*?)```/s.exec(page)![1]!

const hasJq = programOf("jq", "/usr/bin/jq") !== undefined

const seed = Number(process.env["SLUICE_SEED"] ?? 1)

describe.skipIf(!hasJq)("the script of docs/hand-out.md", () => {
  it("has at most 20 lines", () => assert.isAtMost(script.trimEnd().split("\n").length, 20))

  it(`accepts a ledger, and both it and sluice find each of 20 changes (seed ${seed})`, async () => {
    const output = newFolder()
    for (let n = 0; n < 12; n++)
      await appendRecord(output, `2026-11-${10 + n}T02:00:00.000Z`, "sync", {
        run: `run-${n}`,
        requests: 10 * n,
        note: 'é "\\'
      })
    const good = readFileSync(ledgerOf(output), "utf8")
    const head = await headOf(ledgerOf(output))
    const file = join(newFolder(), "ledger.jsonl")
    const check = (text: string) => {
      writeFileSync(file, text)
      return spawnSync("bash", ["-c", script, "verify-ledger.sh", file, head.sha256], { encoding: "utf8" })
    }
    const accepted = check(good)
    assert.strictEqual(accepted.status, 0, accepted.stdout + accepted.stderr)
    assert.strictEqual(accepted.stdout, `12 records, head ${head.sha256}\n`)
    const random = randomFrom(seed)
    const lines = good.trimEnd().split("\n")
    const place = () => Math.floor(random() * lines.length)
    const changes: ReadonlyArray<() => ReadonlyArray<string>> = [
      () => lines.with(place(), "{}"),
      () => {
        const at = place()
        return lines.with(at, lines[at]!.replace(/"requests":\d+/, `"requests":${1000 + at}`))
      },
      () => lines.toSpliced(place(), 1),
      () => {
        const at = Math.floor(random() * (lines.length - 1))
        return lines.toSpliced(at, 2, lines[at + 1]!, lines[at]!)
      },
      () => lines.toSpliced(place(), 0, lines[place()]!)
    ]
    for (let n = 0; n < 20; n++) {
      const changed = `${changes[n % changes.length]!().join("\n")}\n`
      assert.strictEqual(check(changed).status, 1, changed)
      const { problem, head: found } = await checkLedger(file)
      assert.isTrue(problem !== undefined || found.sha256 !== head.sha256, changed)
    }
  })
})
