/** A run on a full disk. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { openAccount } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { start } from "../support/process.ts"
import { type Ran, newFolder } from "../support/sluice.ts"

/** The error names the problem and the next step, without a stack trace. */
const assertExplains = ({ stderr }: Ran, problem: RegExp) => {
  assert.match(stderr, problem)
  assert.match(stderr, /^Next: \S/m)
  assert.notMatch(stderr, /\n\s+at /)
}

/** A file system of a few megabytes, which only root can mount. */
const smallDisk = (): string | undefined => {
  const folder = newFolder()
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=9m", "tmpfs", folder], { stdio: "ignore" })
    return folder
  } catch {
    return undefined
  }
}

describe("a full disk", () => {
  it("ends the run with 1 and a next step, and with more space the next run resumes", async (context) => {
    const disk = smallDisk()
    if (!disk) return context.skip("needs the right to mount a small file system")
    const account = await openAccount("--contacts", "8000", "--messages", "200", "--notes-per-contact", "0")
    try {
      const environment = { ...account.environment, SLUICE_OUTPUT: disk }
      const ran = await start(["sync", "--only", "contacts"], environment).ended
      assert.strictEqual(ran.code, 1, ran.stderr)
      assertExplains(ran, /could not be written: .*(ENOSPC|No space left)/i)
      execFileSync("mount", ["-o", "remount,size=500m", disk])
      const before = (await account.service.stats()).requestsByOperation["POST /contacts/search"]!
      const again = await start(["sync", "--only", "contacts"], environment).ended
      assert.strictEqual(again.code, 0, again.stderr)
      const after = (await account.service.stats()).requestsByOperation["POST /contacts/search"]!
      assert.isAtMost(after, 17 + 2, `${before} before, ${after} after`)
      const [row] = await query(join(disk, "warehouse.duckdb"), "SELECT count(*) AS n FROM crm.contacts")
      assert.strictEqual(row!["n"], "8000")
    } finally {
      account.service.stop()
      execFileSync("umount", [disk])
    }
  })
})
