/** A bucket of a server of S3 that checks signatures and keeps each object as a file, beside the simulation of the other tests. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { hash } from "node:crypto"
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openPeople } from "../support/account.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { type Planted, plant, planted } from "../subject/planted.ts"
import { startVersity, versityBuilder } from "../support/versitygw.ts"

const [key, secret] = ["AKIAEXAMPLEKEYID", "an-object-store-secret-5d1f"]

describe.skipIf(versityBuilder === undefined)("versitygw", () => {
  const folder = newFolder()
  let store: Awaited<ReturnType<typeof startVersity>>
  let account: Account
  let person: Planted
  let path: string
  beforeAll(async () => {
    store = await startVersity("crm", folder, key, secret)
    account = await openPeople("contacts,opportunities", "--contacts", "20")
    person = await plant(account.service, ["opportunities"])
    await account.service.post("remove", { collection: "notes", id: person.note })
    path = join(newFolder(), "sluice.toml")
    const target = `[[publish]]\nname = "nightly"\nfolder = "s3://crm/nightly"\nprofile = "raw"\ns3_key = "env:KEY"\ns3_secret = "env:SECRET"\ns3_endpoint = "${store.url}"\n`
    writeFileSync(path, target)
  }, 600_000)
  afterAll(() => {
    store?.stop()
    if (account) discard(account)
  })

  const environment = () => ({ ...account.environment, SLUICE_FORMATS: "parquet,csv", KEY: key, SECRET: secret })
  const run = (...args: ReadonlyArray<string>) => sluice([...args, "--config", path], environment())
  const manifest = () => JSON.parse(readFileSync(join(folder, "crm/nightly/manifest.json"), "utf8"))
  /** The files of the bucket that are not as its manifest says. */
  const wrongFiles = () =>
    (manifest().files as ReadonlyArray<{ path: string; object: string; sha256: string }>).flatMap((file) =>
      [file.path, file.object].filter((name) => {
        const path = join(folder, "crm/nightly", name)
        return !existsSync(path) || hash("sha256", readFileSync(path)) !== file.sha256
      })
    )

  it("has each night what the manifest says, and is compared; a wrong key is refused", async () => {
    const wrong = await sluice(["doctor", "--config", path], { ...environment(), SECRET: "another secret" })
    assert.notStrictEqual(wrong.code, 0)
    assert.notInclude(`${wrong.stdout}${wrong.stderr}`, "another secret")

    const first = await run("sync", "--only", "contacts,opportunities")
    assert.strictEqual(first.code, 0, first.stderr)
    assert.isAbove(manifest().files.length, 10)
    assert.deepStrictEqual(wrongFiles(), [])

    await account.service.post("change", { contacts: 0.2, seed: 2 })
    const second = await run("sync", "--only", "contacts,opportunities")
    assert.strictEqual(second.code, 0, second.stderr)
    assert.deepStrictEqual(wrongFiles(), [])
    const verified = await run("verify", "--all")
    assert.strictEqual(verified.code, 0, verified.stdout)

    const [lost] = manifest().files as ReadonlyArray<{ readonly object: string }>
    rmSync(join(folder, "crm/nightly", lost!.object))
    const found = await run("verify", "--all")
    assert.notStrictEqual(found.code, 0)
    assert.include(`${found.stdout}${found.stderr}`, lost!.object)
    await run("publish", "--full")
    assert.strictEqual((await run("verify", "--all")).code, 0)
    assert.deepStrictEqual(wrongFiles(), [])
  })

  it("has nothing of an erased person in any file", async () => {
    const withPerson = () =>
      readdirSync(join(folder, "crm"), { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile() && one.name !== "crm.duckdb")
        .map((one) => join(one.parentPath, one.name))
        .filter((path) => readFileSync(path).includes(planted.email))
    assert.isNotEmpty(withPerson())
    const erased = await run("subject", "erase", "--contact", person.contact, "--all", "--apply", "--reason", "test")
    assert.strictEqual(erased.code, 0, erased.stderr)
    assert.deepStrictEqual(withPerson(), [])
    assert.deepStrictEqual(wrongFiles(), [])
  })
})
