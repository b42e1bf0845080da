/** The records of commands, and the commands that show and check them. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type BundleAccount, filesIn, openBundleAccount } from "../bundle/account.ts"
import { edit, reseal } from "../bundle/bags.ts"
import { discard } from "../support/account.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe("the ledger", () => {
  let bundled: BundleAccount
  let path: string
  const run = (...args: ReadonlyArray<string>) => sluice(args, bundled.environment)
  const records = () =>
    readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
  const verify = async (...args: ReadonlyArray<string>) => {
    const { code, stdout, stderr } = await run("ledger", "verify", "--json", ...args)
    if (stdout === "") throw new Error(stderr)
    return { code, data: JSON.parse(stdout).data }
  }
  beforeAll(async () => {
    bundled = await openBundleAccount()
    path = join(bundled.account.output, "ledger.jsonl")
  })
  afterAll(() => {
    discard(bundled.account)
    rmSync(bundled.folder, { recursive: true })
  })

  it(
    "has a record of each command, without personal data, and its head is in the status",
    { tags: ["slow"] },
    async () => {
      const fromPage = { ...bundled.environment, SLUICE_STARTED_BY: "console f3iXaowA" }
      assert.strictEqual((await sluice(["publish"], fromPage)).code, 0)
      assert.strictEqual((await bundled.export(join(bundled.folder, "audit"))).code, 0)
      const failed = await sluice(["sync", ...bundled.account.selection], {
        ...bundled.environment,
        SLUICE_TOKEN: "wrong-token"
      })
      assert.strictEqual(failed.code, 77)
      const all = records()
      assert.deepStrictEqual(
        all.map(({ kind }) => kind),
        ["sync", "publish", "export", "sync"]
      )
      const [sync, publish, exported, refused] = all
      assert.isAbove(sync.detail.newRows, 50)
      assert.strictEqual(sync.detail.release.run, sync.detail.run)
      assert.include(publish.detail, { due: "unchanged", startedBy: "console f3iXaowA" })
      assert.notProperty(sync.detail, "startedBy")
      assert.strictEqual(exported.detail.bundle, "audit")
      assert.match(exported.detail.manifestSha256, /^[0-9a-f]{64}$/)
      assert.deepInclude(refused.detail, { status: "failed", ends: "credentials" })
      assert.notInclude(readFileSync(path, "utf8"), bundled.folder)
      const { data } = JSON.parse((await run("status", "--json")).stdout)
      assert.strictEqual(data.ledger.seq, 4)
      const shown = await run("status")
      assert.include(shown.stdout, `Ledger: 4 records, head ${data.ledger.sha256.slice(0, 12)}`)
      const listed = await run("ledger", "show")
      assert.match(listed.stdout, /^ +3 {2}\S+ {2}export {3}bundle=audit /m)
    }
  )

  it("is intact, and a bundle contains it up to the release", { tags: ["slow"] }, async () => {
    const { code, data } = await verify(join(bundled.folder, "audit"))
    assert.deepStrictEqual(data.findings, [])
    assert.strictEqual(code, 0)
    // Records after the release do not change its bundle.
    assert.strictEqual((await bundled.export(join(bundled.folder, "again"))).code, 0)
    const bag = filesIn(join(bundled.folder, "audit"))
    assert.deepStrictEqual(filesIn(join(bundled.folder, "again")), bag)
    const [first] = readFileSync(path, "utf8").split("\n")
    assert.strictEqual(bag.get("data/ledger.jsonl")!.toString(), `${first}\n`)
    assert.match(bag.get("bag-info.txt")!.toString(), /^Ledger-Head: 1 [0-9a-f]{64}$/m)
  })

  it("that was changed is found by `ledger verify`, also if its end is removed", { tags: ["slow"] }, async () => {
    const before = readFileSync(path, "utf8")
    try {
      edit(path, (text) => text.replace(/"newRows":\d+/, '"newRows":0'))
      const edited = await verify()
      assert.strictEqual(edited.code, 1)
      assert.match(edited.data.findings[0], /line 2: record 1 was edited/)
      const { stdout } = await run("ledger", "verify")
      assert.match(stdout, /^WRONG {2}.*ledger\.jsonl line 2: record 1 was edited/m)
      // Written anew up to its end, the chain is in order: only the bundle shows the change.
      writeFileSync(path, `${before.split("\n")[0]!.replace(/"newRows":\d+/, '"newRows":0')}\n`)
      const rewritten = await verify(join(bundled.folder, "audit"))
      assert.match(rewritten.data.findings[0], /record 1 is another one than in the ledger/)
      writeFileSync(path, before)
      assert.strictEqual((await run("sync", ...bundled.account.selection)).code, 0)
      writeFileSync(path, before)
      const cut = await verify()
      assert.strictEqual(cut.code, 1)
      assert.match(cut.data.findings[0], /^meta\.runs: run \S+ has no record: it was removed, or/)
    } finally {
      writeFileSync(path, before)
    }
  })

  it("in a bundle is compared with its chain and its head", { tags: ["slow"] }, async () => {
    const bag = join(bundled.folder, "again")
    edit(join(bag, "data/ledger.jsonl"), (text) => text.replace(/"newRows":\d+/, '"newRows":0'))
    reseal(bag)
    const { code, stdout } = await bundled.verify(bag)
    assert.strictEqual(code, 1)
    assert.match(stdout, /^WRONG +data\/ledger\.jsonl: its head is not the Ledger-Head of bag-info\.txt$/m)
  })

  it("that does not exist yet has a next step", async () => {
    const folder = newFolder()
    writeFileSync(join(folder, "notes.txt"), "of somebody else")
    const { code, stderr } = await sluice(["ledger", "verify"], { SLUICE_OUTPUT: folder })
    assert.strictEqual(code, 1)
    assert.match(stderr, /There is no ledger in .*: the first sync begins it\.\n.*Next: name the output folder/)
  })
})
