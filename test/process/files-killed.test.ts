/** Syncs that are killed while they fetch files: nothing is lost, and only what was under way is fetched again. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { readFileSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { accountIn, discard } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newOutput } from "../support/fixtures.ts"
import { start } from "../support/process.ts"
import { startService } from "../support/service.ts"
import { sluice } from "../support/sluice.ts"

const kills = 20
/** Files that are fetched at a time. */
const inFlight = 32

describe("files", () => {
  it("are all there after many kills, each with the right content, and few were fetched twice", async () => {
    const service = await startService(
      ..."--limits off --contacts 200 --messages 4000 --messages-with-files 1".split(" "),
      ..."--files --file-contents 3000 --file-bytes 30000".split(" ")
    )
    const account = accountIn(await newOutput(), service)
    const environment = { ...account.environment, SLUICE_FILES: "message_attachments" }
    try {
      const read = await sluice(
        ["sync", "--only", "conversations,messages", "--except", "emails,recordings,transcript_sentences"],
        account.environment
      )
      assert.strictEqual(read.code, 0, read.stderr)
      const links = (await service.links()).filter(({ collection }) => collection === "messages")
      const paths = new Set(links.map(({ path }) => String(path)))
      assert.isAbove(paths.size, 2000)
      let killed = 0
      for (let round = 0; round < kills; round++) {
        const before = Number((await service.fileStats())["bodies"])
        const running = start(["sync", "--only", "files"], environment)
        const stop = 10 + Math.round(Math.random() * 250)
        let isEnded = false
        void running.ended.then(() => (isEnded = true))
        while (!isEnded && Number((await service.fileStats())["bodies"]) < before + stop) await wait(5)
        running.kill("SIGKILL")
        if ((await running.ended).code === null) killed++
      }
      assert.isAbove(killed, 5)
      const last = await sluice(["sync", "--only", "files"], environment)
      assert.strictEqual(last.code, 0, last.stderr)
      const rows = await query(account.warehouse, "SELECT link, path, sha256 FROM crm.files WHERE status = 'fetched'")
      const wrong = links.filter((link) => {
        const row = rows.find((one) => String(one["link"]).includes(String(link["path"])))
        return row?.["sha256"] !== link["sha256"]
      })
      assert.deepStrictEqual(wrong, [])
      for (const { path, sha256 } of rows)
        assert.strictEqual(
          createHash("sha256")
            .update(readFileSync(join(account.output, String(path))))
            .digest("hex"),
          sha256
        )
      const bodies = Number((await service.fileStats())["bodies"])
      assert.isAtMost(bodies - paths.size, killed * inFlight)
      assert.deepStrictEqual(
        readdirSync(join(account.output, "files")).filter((name) => name.endsWith(".part")),
        []
      )
      const verified = await sluice(["verify", "--all"], account.environment)
      assert.strictEqual(verified.code, 0, verified.stderr)
    } finally {
      discard(account)
    }
  })

  it("of a gigabyte are streamed: memory stays what it is without them", async () => {
    const service = await startService("--limits", "off", "--contacts", "20", "--files", "--file-mb", "1000")
    const account = accountIn(await newOutput(), service)
    try {
      const peak = async (environment: Readonly<Record<string, string>>) => {
        const running = start(["sync", "--only", "contacts,files"], { ...account.environment, ...environment })
        let most = 0
        let isEnded = false
        void running.ended.then(() => (isEnded = true))
        while (!isEnded) {
          const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(statusOf(running.pid)) ?? []
          most = Math.max(most, Number(kilobytes ?? 0) / 1024)
          await wait(50)
        }
        const ended = await running.ended
        assert.strictEqual(ended.code, 0, ended.stderr)
        return most
      }
      const without = await peak({})
      const withFile = await peak({ SLUICE_FILES: "contacts", SLUICE_FILES_MAX_BYTES: "2000000000" })
      const sizes = await query(account.warehouse, "SELECT path, bytes FROM crm.files WHERE bytes > 1000000000")
      assert.lengthOf(sizes, 1)
      assert.strictEqual(statSync(join(account.output, String(sizes[0]!["path"]))).size, 1000 * 1024 * 1024)
      assert.isAtMost(withFile - without, 40, `${withFile} MB instead of ${without} MB`)
    } finally {
      discard(account)
    }
  })
})

/** Empty where the system does not say. */
const statusOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8")
  } catch {
    return ""
  }
}
