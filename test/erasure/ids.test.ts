/** Ids that the service sends never become paths: exports and erasures of contacts whose ids lead elsewhere. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { type Account, discard, openPeople } from "../support/account.ts"
import { sluice } from "../support/sluice.ts"

let account: Account
/** Beside the output folder, as far up as the ids lead. */
let victims: ReadonlyArray<string>
const ids = [
  "x/../../../victim",
  "z/../..",
  "../victim",
  "..",
  "con",
  "contacts",
  "-rf",
  "planted/../../x",
  "A".repeat(65)
]

beforeAll(async () => {
  account = await openPeople("contacts,users", "--contacts", "6")
  const above = dirname(account.output)
  victims = [join(above, "victim"), join(account.output, "victim"), join(account.output, "exports/victim")]
  const [like] = (await account.service.records("contacts")).map(({ id }) => id)
  for (const [place, id] of [...ids, "plain1"].entries())
    await account.service.post("plant", {
      collection: "contacts",
      like,
      id,
      fields: { firstName: `Planted ${place}`, email: `planted${place}@planted.example`, phone: null }
    })
  const ran = await account.sync("--only", "contacts")
  assert.strictEqual(ran.code, 0, ran.stderr)
  for (const victim of victims) {
    mkdirSync(victim, { recursive: true })
    writeFileSync(join(victim, "file"), "precious")
  }
})
afterAll(() => {
  rmSync(victims[0]!, { recursive: true, force: true })
  discard(account)
})

const run = (...args: ReadonlyArray<string>) => sluice(args, account.environment)
const all = () => globSync("**/*", { cwd: account.output }).filter((path) => !/^(tmp|holder|ledger)/.test(path))

describe("a contact with an id that is a path", { tags: ["slow"] }, () => {
  it.each(ids)("%s is exported below exports and erased with its export, and nothing else is touched", async (id) => {
    const exports = join(account.output, "exports")
    const place = ids.indexOf(id)
    const exported = await run("subject", "export", "--email", `planted${place}@planted.example`, "--json")
    const { data } = JSON.parse(exported.stdout || assert.fail(exported.stderr))
    assert.isDefined(data, exported.stdout)
    assert.strictEqual(dirname(data.folder), exports)
    assert.match(basename(data.folder), /^subject-([0-9a-f]{64}\.id|contacts)$/)
    assert.isTrue(existsSync(data.zip))
    const before = new Set(all())
    const erased = await run(
      "subject",
      "erase",
      "--email",
      `planted${place}@planted.example`,
      "--apply",
      "--reason",
      "test",
      "--json"
    )
    const result = JSON.parse(erased.stdout || assert.fail(erased.stderr))
    assert.strictEqual(result.data.records, 1)
    assert.isTrue(result.data.isErased, JSON.stringify(result.data))
    assert.notInclude(erased.stdout + erased.stderr, "Exports made earlier")
    for (const victim of victims) assert.isTrue(existsSync(join(victim, "file")), victim)
    const left = new Set(all())
    const removed = [...before].filter((path) => !left.has(path))
    assert.isNotEmpty(removed)
    assert.deepStrictEqual(
      removed.filter((path) => !path.startsWith(`exports/${basename(data.folder)}`)),
      []
    )
  })

  it("is not erased with the export of another contact, nor through a link in the place of exports", async () => {
    const exports = join(account.output, "exports")
    const elsewhere = join(victims[0]!, "exports")
    const folder = join(exports, "subject-plain1")
    const [exported, other] = [JSON.stringify({ contacts: [{ location: "other", id: "plain1" }] }), "person.json"]
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, other), exported)
    renameSync(exports, elsewhere)
    symlinkSync(elsewhere, exports)
    const refused = await run("subject", "export", "--contact", "plain1", "--force")
    assert.strictEqual(refused.code, 1)
    assert.include(refused.stderr.replaceAll(/\s+/g, " "), "is not inside")
    assert.strictEqual(readFileSync(join(elsewhere, "subject-plain1", other), "utf8"), exported)
    rmSync(exports)
    renameSync(elsewhere, exports)
    const erased = await run("subject", "erase", "--contact", "plain1", "--apply", "--reason", "test")
    assert.include([0, 3], erased.code, erased.stderr)
    assert.include(readdirSync(exports), "subject-plain1", "it is about a contact of another location")
  })

  it("goes with its export when it is too old, too", async () => {
    const [first] = await account.service.records("contacts")
    const config = join(victims[0]!, "sluice.toml")
    writeFileSync(config, `[retention.periods]\ncontacts = "1 days"\n`)
    const exported = await run("subject", "export", "--contact", String(first!["id"]))
    assert.strictEqual(exported.code, 3, "no other list was read")
    const folder = `subject-${String(first!["id"])}`
    assert.include(readdirSync(join(account.output, "exports")), folder)
    const erased = await run("retention", "--apply", "--config", config)
    assert.include([0, 3], erased.code, erased.stderr)
    assert.notInclude(readdirSync(join(account.output, "exports")).join(), folder)
  })
})

it("the plan of an erasure of a contact with such an id touches nothing", async () => {
  const before = all()
  const plan = await run("subject", "erase", "--email", "planted0@planted.example")
  assert.strictEqual(plan.code, 0, plan.stderr)
  assert.match(plan.stdout, /^contacts +1/m)
  const unknown = await run("subject", "erase", "--contact", "plain1", "--contact", "nobody")
  assert.deepInclude(unknown, { code: 1, stdout: "" }, "it is no reason to go on with the others")
  assert.include(unknown.stderr, "--contact nobody: no table has a contact with this id")
  assert.deepStrictEqual(all(), before)
  for (const victim of victims) assert.isTrue(existsSync(join(victim, "file")), victim)
})
