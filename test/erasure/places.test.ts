/** An erasure and the folders outside of the output folder that have received the person. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openPeople } from "../support/account.ts"
import { filesBelow } from "../support/contents.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { type Planted, plant } from "../subject/planted.ts"

describe("an erasure of a person who was published into other folders", { tags: ["slow"] }, () => {
  let account: Account
  let person: Planted
  const folder = newFolder()
  const pathOf = (name: string) => join(folder, name)
  const settings = (...targets: ReadonlyArray<string>) => {
    const path = join(folder, "sluice.toml")
    const lines = targets.map(
      (name) =>
        `[[publish]]\nname = "${name}"\nfolder = "${pathOf(name)}"\nprofile = "raw"\nformats = ["csv", "parquet"]\ntables = ["contacts", "opportunities"]\n`
    )
    writeFileSync(path, ["[models]\nbuild = false\n", ...lines].join("\n"))
    return ["--config", path]
  }
  const run = (...args: ReadonlyArray<string>) => sluice(args, account.environment)
  const sync = (flags: ReadonlyArray<string>) => run("sync", ...account.selection, ...flags)
  const erase = (flags: ReadonlyArray<string>, contact = person.contact) =>
    run("subject", "erase", "--contact", contact, "--all", "--apply", "--reason", "test", ...flags)
  const certificate = () => {
    const [file] = readdirSync(join(account.output, "certificates")).toSorted().slice(-1)
    return JSON.parse(readFileSync(join(account.output, "certificates", file!), "utf8"))
  }
  const namesPerson = (root: string) =>
    filesBelow(root).flatMap(([path, content]) => (content.includes(person.contact) ? [path] : []))

  beforeAll(async () => {
    account = await openPeople("contacts,opportunities", "--contacts", "25")
    person = await plant(account.service, ["opportunities"])
    await account.service.post("remove", { collection: "notes", id: person.note })
    const flags = settings("first", "second")
    assert.strictEqual((await sync(flags)).code, 0)
    await account.service.post("change", { contacts: 0.5, opportunities: 0.5, seed: 3 })
    assert.strictEqual((await sync([...flags, "--again=all"])).code, 0)
    for (const name of ["first", "second"]) {
      assert.lengthOf(readdirSync(pathOf(`.${name}`)), 2)
      assert.isAbove(namesPerson(pathOf(`.${name}`)).length, 1)
    }
  })
  afterAll(() => {
    discard(account)
    rmSync(folder, { recursive: true })
  })

  it("removes every earlier release of each, and names each folder that it searched", async () => {
    const output = newFolder()
    cpSync(folder, `${folder}-kept`, { recursive: true, verbatimSymlinks: true })
    cpSync(account.output, output, { recursive: true, verbatimSymlinks: true })
    const { code, stderr, stdout } = await erase(settings("first", "second"))
    assert.strictEqual(code, 0, `${stdout}\n${stderr}`)
    for (const name of ["first", "second"]) {
      assert.deepStrictEqual(namesPerson(pathOf(`.${name}`)), [])
      assert.lengthOf(readdirSync(pathOf(`.${name}`)), 1)
    }
    assert.deepInclude(certificate(), {
      isErased: true,
      places: ["first", "second"].map((name) => ({ name, folder: pathOf(name), state: "cleaned" }))
    })
    assert.includeMembers(certificate().search.folders, [account.output, pathOf(".first"), pathOf(".second")])
    // For the next tests, everything is as it was before.
    for (const [path, copy] of [
      [folder, `${folder}-kept`],
      [account.output, output]
    ] as const) {
      rmSync(path, { recursive: true })
      renameSync(copy, path)
    }
  })

  it("certifies nothing while a folder that the settings have no more still has its releases", async () => {
    const { code, stderr } = await erase(settings("first"))
    assert.strictEqual(code, 3, stderr)
    assert.include(stderr, `second, ${pathOf("second")}: it still has what was published there`)
    assert.isAbove(namesPerson(pathOf(".second")).length, 1, "the folder of another program's choice is not touched")
    assert.deepStrictEqual(namesPerson(pathOf(".first")), [])
    assert.strictEqual(certificate().isErased, false)
    assert.include(
      certificate().search.found.map(({ label }: { readonly label: string }) => label),
      "erased record",
      "rows are found by their keys"
    )
  })

  it("names a folder that was removed, and an export", async () => {
    rmSync(pathOf("second"))
    rmSync(pathOf(".second"), { recursive: true })
    const workbook = join(newFolder(), "people.xlsx")
    assert.strictEqual((await run("export", "excel", workbook, "--only", "contacts")).code, 0)
    const record = JSON.stringify((await account.service.records("contacts")).find(({ id }) => id !== person.contact))
    const other = /"id":"([^"]+)"/.exec(record)![1]!
    // What `subject export` makes; the archive of one has what is in its folder.
    const exportOf = (id: string) => join(account.output, "exports", `subject-${id}`)
    for (const id of [other, "somebody-else"]) {
      mkdirSync(exportOf(id), { recursive: true })
      writeFileSync(join(exportOf(id), "index.html"), id)
      writeFileSync(`${exportOf(id)}.zip`, "")
    }
    const { code, stderr } = await erase(settings("first"), other)
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, `second, ${pathOf("second")}: there is nothing any more`)
    assert.match(stderr, /Exports made earlier may contain what was erased: .*people\.xlsx of 20/)
    assert.isTrue(certificate().isErased)
    assert.isFalse(existsSync(pathOf(".second")))
    assert.deepStrictEqual(readdirSync(join(account.output, "exports")).toSorted(), [
      "subject-somebody-else",
      "subject-somebody-else.zip"
    ])
    assert.deepStrictEqual(certificate().search.unsearched, [])
  })
})

describe("the plan of an erasure of a person who was published into another folder", () => {
  it("changes nothing there", async () => {
    const account = await openPeople("contacts", "--contacts", "2")
    const folder = join(newFolder(), "given")
    const config = join(account.output, "sluice.toml")
    try {
      writeFileSync(
        config,
        `[models]\nbuild = false\n[[publish]]\nname = "given"\nfolder = "${folder}"\nprofile = "raw"\nformats = ["csv"]\ntables = ["contacts"]\n`
      )
      assert.strictEqual((await account.sync("--config", config)).code, 0)
      const before = filesBelow(join(folder, ".."))
      const [contact] = await account.service.records("contacts")
      const plan = ["subject", "erase", "--contact", String(contact!["id"]), "--config", config]
      assert.strictEqual((await sluice(plan, account.environment)).code, 0)
      assert.deepStrictEqual(filesBelow(join(folder, "..")), before)
    } finally {
      discard(account)
    }
  })
})
