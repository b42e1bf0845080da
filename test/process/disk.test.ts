/** A run on a full disk. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import { appendFileSync, existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeCredentials } from "../../src/stages/api/credentials.ts"
import { openAccount } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { start } from "../support/process.ts"
import { startService } from "../support/service.ts"
import { smallDisk, unmount } from "../support/small-disk.ts"
import { type Ran, sluice } from "../support/sluice.ts"

/** The error names the problem and the next step, without a stack trace. */
const assertExplains = ({ stderr }: Ran, problem: RegExp) => {
  assert.match(stderr, problem)
  assert.match(stderr, /^Next: \S/m)
  assert.notMatch(stderr, /\n\s+at /)
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
      unmount(disk)
    }
  })

  it("stops the files, and not the records; with more space the next run fetches them", async (context) => {
    const disk = smallDisk()
    if (!disk) return context.skip("needs the right to mount a small file system")
    execFileSync("mount", ["-o", "remount,size=60m", disk])
    const account = await openAccount("--contacts", "40", "--files", "--file-mb", "80")
    try {
      const environment = { ...account.environment, SLUICE_OUTPUT: disk, SLUICE_FILES: "contacts,users" }
      const sync = ["sync", "--only", "contacts,users,files"]
      const ran = await start(sync, environment).ended
      assert.strictEqual(ran.code, 3, ran.stderr)
      assertExplains(ran, /files: the disk is almost full, or cannot be written: no further file was fetched/)
      const rows = async (sql: string) => (await query(join(disk, "warehouse.duckdb"), sql))[0]!["n"]
      assert.strictEqual(await rows("SELECT count(*) AS n FROM crm.contacts"), "40")
      assert.strictEqual(await rows("SELECT count(*) AS n FROM crm.files WHERE bytes > 80000000"), "0")
      execFileSync("mount", ["-o", "remount,size=500m", disk])
      const again = await start(sync, environment).ended
      assert.strictEqual(again.code, 0, again.stderr)
      assert.strictEqual(await rows("SELECT count(*) AS n FROM crm.files WHERE bytes > 80000000"), "1")
    } finally {
      account.service.stop()
      unmount(disk)
    }
  })

  it("never loses an OAuth token, however little space is free when it is renewed", async (context) => {
    const disk = smallDisk()
    if (!disk) return context.skip("needs the right to mount a small file system")
    const service = await startService("--limits", "off", "--contacts", "5", "--token-lifetime", "60")
    try {
      const { clientId, clientSecret, locationId, refreshToken, url } = service
      const environment = {
        SLUICE_BASE_URL: url,
        SLUICE_LOCATION_ID: locationId,
        SLUICE_CLIENT_ID: clientId,
        SLUICE_CLIENT_SECRET: clientSecret,
        SLUICE_REFRESH_TOKEN: refreshToken,
        SLUICE_OUTPUT: join(disk, "output"),
        SLUICE_FORMATS: "none"
      }
      const run = (aheadMs = 0) =>
        sluice(["sync", "--only", "locations"], environment, { overrides: acceleratedClock(-aheadMs) })
      assert.strictEqual((await run()).code, 0)
      execFileSync("mount", ["-o", "remount,size=40m", disk])
      const ballast = join(disk, "ballast")
      const codes: Array<number | null> = []
      for (let freeKb = 0; freeKb <= 64; freeKb += 4) {
        // Each of these runs renews the token: it begins two minutes after the one before, and the token lives for one.
        const aheadMs = (freeKb / 4 + 1) * 120_000
        const renewals = async () => (await service.stats()).requestsByOperation["POST /oauth/token"]!
        const before = await renewals()
        const { bavail, bsize } = statfsSync(disk)
        writeFileSync(ballast, Buffer.alloc(bavail * bsize - freeKb * 1024))
        codes.push((await run(aheadMs)).code)
        rmSync(ballast)
        const again = await run(aheadMs)
        assert.strictEqual(again.code, 0, `${freeKb} kB: ${again.stderr}`)
        assert.isAbove(await renewals(), before)
      }
      assert.include(codes, 1, "no disk was too full")
    } finally {
      service.stop()
      unmount(disk)
    }
  })

  it("that fills up between the request for a token and its answer has room for the token", async (context) => {
    const disk = smallDisk()
    if (!disk) return context.skip("needs the right to mount a small file system")
    try {
      const [store, ballast] = [join(disk, "tokens.json"), join(disk, "ballast")]
      const settings = {
        kind: "oauth" as const,
        clientId: "client",
        clientSecret: Redacted.make("secret"),
        refreshToken: Redacted.make("refresh-0"),
        store
      }
      for (let freeKb = 0; freeKb <= 64; freeKb += 4) {
        const { bavail, bsize } = statfsSync(disk)
        writeFileSync(ballast, Buffer.alloc(bavail * bsize - freeKb * 1024))
        let isSpent = false
        const token = Effect.flatMap(
          makeCredentials(settings, () => {
            isSpent = true
            const left = statfsSync(disk)
            appendFileSync(ballast, Buffer.alloc(left.bavail * left.bsize))
            const body = JSON.stringify({ access_token: "a", refresh_token: `spent-${freeKb}-${"x".repeat(4000)}` })
            return Effect.succeed({ status: 200, body })
          }),
          (credentials) => credentials.token
        )
        const result = await Effect.runPromise(Effect.result(Effect.scoped(token)))
        assert.strictEqual(result._tag, isSpent ? "Success" : "Failure", `${freeKb} kB`)
        assert.strictEqual(existsSync(store) && readFileSync(store, "utf8").includes(`spent-${freeKb}-`), isSpent)
        if (freeKb >= 24) assert.isTrue(isSpent, `${freeKb} kB are enough`)
        for (const path of [store, ballast]) rmSync(path, { force: true })
      }
    } finally {
      unmount(disk)
    }
  })
})
