/** Every field of every record holds a word of its own; after an erasure, no byte that sluice has written contains one. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { query } from "../support/compare.ts"
import { placesOf } from "../support/every-byte.ts"
import { withLake } from "../support/extensions.ts"
import { copyOf } from "../support/fixtures.ts"
import { knowing, newFolder, ofPeople, sluice } from "../support/sluice.ts"
import { type Owner, type Words, appendWorded, wordPattern, wordedPerson } from "../support/worded.ts"
import { python } from "../support/python.ts"

/** What models need beside the tables of people. */
const ofModels = "calendars,forms,products"
const person = wordedPerson
const other: Owner = {
  name: "other",
  contact: "othercontact00001",
  email: "someone@else.example",
  phone: "+14155550128",
  madeAt: "2026-01-20T10:00:00.000Z",
  isWorded: false
}

/** Old records with words of their own, and the address of the other. */
const old: Owner = {
  name: "old",
  contact: "oldcontact0000001",
  email: other.email,
  phone: "+14155550142",
  madeAt: person.madeAt,
  isWorded: true
}
/** The words of an owner: the context of each begins with the name. */
const wordsOf = (words: Words, { name }: Owner): Words =>
  new Map([...words].filter(([, field]) => field.startsWith(`${name} `)))

/**
 * An output with two targets that have everything, a masked one, a bundle, two releases each, and a damaged warehouse.
 * Each format is published by one of them.
 */
const outputWith = async (owners: ReadonlyArray<Owner>) => {
  const [root, words] = [newFolder(), new Map() as Words]
  const [output, config] = [join(root, "output"), join(root, "sluice.toml")]
  const profiles = { first: ["raw", "parquet"], second: ["raw", "csv"], shown: ["masked", "duckdb"] }
  const targets = Object.entries(profiles).map(
    ([name, [profile, format]]) =>
      `[[publish]]\nname = "${name}"\nfolder = "${join(root, name)}"\nprofile = "${profile}"\nformats = ["${format}"]\n`
  )
  writeFileSync(config, targets.join("\n"))
  const environment = { ...knowing(`${ofPeople},${ofModels}`), SLUICE_OUTPUT: output, SLUICE_FORMATS: "duckdb" }
  const run = (...args: ReadonlyArray<string>) => sluice([...args, "--config", config], environment)
  const catalogue = await discover()
  for (const hour of [1, 2]) {
    const at = Date.UTC(2026, 0, 31, hour)
    const id = new Date(at).toISOString().replaceAll(/[-:.]/g, "")
    await Effect.runPromise(
      appendWorded(catalogue, { id, at }, owners, words).pipe(Effect.provide(Vault.layer(join(output, "vault"))))
    )
    const rebuilt = await run("rebuild")
    assert.include([0, 3], rebuilt.code, rebuilt.stderr)
  }
  const bundle = await run("export", "bundle", join(root, "bundle"))
  assert.strictEqual(bundle.code, 0, bundle.stderr)
  copyFileSync(join(output, "warehouse.duckdb"), join(output, "warehouse.damaged.duckdb"))
  const damaged = openSync(join(output, "warehouse.damaged.duckdb"), "r+")
  for (const offset of [4096, 8192]) writeSync(damaged, "damaged by a test", offset)
  writeFileSync(join(output, "vault", "000001.ndjson.torn-17"), `{"body":"${[...words.keys()][0]}`)
  // As a run leaves it that was the first to send a value.
  const alarm = {
    kind: "values",
    level: "warning",
    message: `for the first time: ${[...words.keys()][0]}`,
    next: "",
    since: 0
  }
  writeFileSync(join(output, "alarms.json"), JSON.stringify({ version: 1, alarms: [alarm], free: [] }))
  const folders = [output, ...Object.keys(profiles).map((name) => join(root, `.${name}`))]
  /** Into the warehouse only: what is published follows from it. */
  const rebuild = () => sluice(["rebuild"], { ...environment, SLUICE_FORMATS: "none" })
  return { root, output, config, run, rebuild, words, folders, before: await placesOf(folders, wordPattern) }
}

const certificateIn = (output: string) => {
  const [file] = readdirSync(join(output, "certificates"))
  return JSON.parse(readFileSync(join(output, "certificates", file!), "utf8"))
}

/** The keys of an object and its fields name the columns of a wide table: they are of no person. */
const isColumnName = / object_records\.(object_key|properties key)$/

/** The words that are left, with the field of each and the places. */
const leftIn = async (folders: ReadonlyArray<string>, words: Words) =>
  leftOf(await placesOf(folders, wordPattern), words)
const leftOf = (found: Awaited<ReturnType<typeof placesOf>>, words: Words) =>
  [...found]
    .filter(([word]) => words.has(word) && !isColumnName.test(words.get(word)!))
    .map(([word, places]) => `${words.get(word)} (${word}): ${places.slice(0, 3).join(", ")}`)

describe("what a person has in every place", { tags: ["slow"] }, () => {
  let account: Awaited<ReturnType<typeof outputWith>>
  beforeAll(async () => {
    account = await outputWith([other, person, old])
  })
  // Each test begins with the same files, at the same paths, which the settings and the state name.
  let kept: string
  beforeEach(() => {
    if (kept === undefined) kept = copyOf(account.root)
    else {
      rmSync(account.root, { recursive: true })
      cpSync(kept, account.root, { recursive: true, verbatimSymlinks: true })
    }
  })
  afterAll(() => [account.root, kept].forEach((folder) => rmSync(folder, { recursive: true })))

  it("has no word left after an erasure, which leaves the records of others and is not undone by a rebuild", async () => {
    const { before, folders, output, rebuild, run } = account
    const [words, others] = [wordsOf(account.words, person), wordsOf(account.words, old)]
    assert.isAbove(words.size, 1000)
    assert.strictEqual(before.size, words.size + others.size, "each word is in the vault at least")
    const inPlaces = [...before].filter(([word]) => words.has(word)).map(([, places]) => places)
    for (const name of folders)
      assert.isAbove(inPlaces.filter((places) => places.some((one) => one.startsWith(name))).length, 100)
    const erased = await run("subject", "erase", "--contact", person.contact, "--apply", "--reason", "test")
    assert.deepStrictEqual(await leftIn(folders, words), [])
    assert.strictEqual(erased.code, 0, `${erased.stdout}\n${erased.stderr}`)
    assert.deepInclude(certificateIn(output), { isErased: true })
    assert.deepStrictEqual(
      certificateIn(output).earlierExports.map(({ name }: { readonly name: string }) => name),
      ["bundle"]
    )

    const contacts = () => query(join(output, "warehouse.duckdb"), "SELECT id FROM crm.contacts ORDER BY id")
    const left = [{ id: old.contact }, { id: other.contact }]
    assert.deepStrictEqual(await contacts(), left)
    assert.include([0, 3], (await rebuild()).code)
    assert.deepStrictEqual(await contacts(), left)
    const after = await placesOf(folders, wordPattern)
    assert.deepStrictEqual(leftOf(after, words), [])
    const named = [...words.values()].filter((field) => isColumnName.test(field)).length
    assert.strictEqual(after.size, others.size + named, "every word of the other person")
  })

  it("has no word left in any field of what is older than a retention period, and the rest as it was", async () => {
    const tables = ["messages", "form_submissions", "invoices", "tasks", "contact_notes"]
    /** What belongs to a message or an invoice goes with it. */
    const parts = ["emails", "recordings", "transcript_sentences", "transactions"]
    const { before, config, folders, output, run, words } = account
    const periods = tables.map((table) => `${table} = "1 years"`).join(", ")
    appendFileSync(config, `[retention]\nperiods = { ${periods} }\n`)
    const isOld = (field: string) => [...tables, ...parts].some((table) => field.includes(` ${table}.`))
    const erased = await run("retention", "--apply")
    assert.strictEqual(erased.code, 0, `${erased.stdout}\n${erased.stderr}`)
    const left = await placesOf(folders, wordPattern)
    const fields = (found: Iterable<string>) => [...found].map((word) => words.get(word)!)
    assert.deepStrictEqual(
      fields(left.keys()).filter((field) => isOld(field) && !/without a key/.test(field)),
      []
    )
    const unaffected = fields(before.keys()).filter((field) => !isOld(field))
    assert.deepStrictEqual(
      fields(left.keys())
        .filter((field) => !isOld(field))
        .toSorted(),
      unaffected.toSorted()
    )
    for (const table of [...tables, ...parts]) {
      const [row] = await query(join(output, "warehouse.duckdb"), `SELECT count(*)::INTEGER AS n FROM crm.${table}`)
      assert.strictEqual(row!["n"], 1, `${table}: the records of the other`)
    }
  })
})

// Without the extension, a line says that it was skipped.
describe.skipIf(python === undefined)("an erasure in a lake", () => {
  it("of a person leaves no word of any of their fields in its files and its catalog", { tags: ["slow"] }, async () => {
    const [root, words] = [newFolder(), new Map() as Words]
    const [output, lake] = [join(root, "output"), join(root, "lake")]
    const environment = {
      ...knowing(ofPeople),
      SLUICE_OUTPUT: output,
      SLUICE_FORMATS: "none"
    }
    const config = withLake(python!, { lake })
    const catalogue = await discover()
    const some = ["contacts", "tasks", "form_submissions"]
    const resources = catalogue.resources.filter(({ table }) => some.includes(table))
    const run = { id: "20260131T010000000Z", at: Date.UTC(2026, 0, 31, 1) }
    await Effect.runPromise(
      appendWorded({ ...catalogue, resources }, run, [other, person], words).pipe(
        Effect.provide(Vault.layer(join(output, "vault")))
      )
    )
    const rebuilt = await sluice(["rebuild", ...config], environment)
    assert.include([0, 3], rebuilt.code, rebuilt.stderr)
    const inLake = (places: ReadonlyMap<string, ReadonlyArray<string>>) =>
      [...places.values()].filter((all) => all.some((place) => place.startsWith(lake))).length
    assert.isAbove(inLake(await placesOf([output, lake], wordPattern)), 50)
    const erasing = ["subject", "erase", "--contact", person.contact, "--apply", "--reason", "test"]
    const { code, stderr } = await sluice([...erasing, ...config], environment)
    assert.deepStrictEqual(await leftIn([output, lake], words), [])
    assert.strictEqual(code, 0, stderr)
    assert.deepInclude(certificateIn(output), {
      isErased: true,
      places: [{ name: "lake", folder: lake, state: "cleaned" }]
    })
    rmSync(root, { recursive: true })
  })
})

describe("what a person has in two tables", () => {
  it("has no word left after an erasure", async () => {
    const [output, words] = [join(newFolder(), "output"), new Map() as Words]
    const environment = { ...knowing(ofPeople), SLUICE_OUTPUT: output, SLUICE_FORMATS: "none" }
    const catalogue = await discover()
    const resources = catalogue.resources.filter(({ table }) => ["contacts", "tasks"].includes(table))
    const run = { id: "20260131T010000000Z", at: Date.UTC(2026, 0, 31, 1) }
    await Effect.runPromise(
      appendWorded({ ...catalogue, resources }, run, [other, person], words).pipe(
        Effect.provide(Vault.layer(join(output, "vault")))
      )
    )
    const rebuilt = await sluice(["rebuild"], environment)
    assert.include([0, 3], rebuilt.code, rebuilt.stderr)
    assert.isAbove((await placesOf([output], wordPattern)).size, 50)
    const erasing = ["subject", "erase", "--contact", person.contact, "--apply", "--reason", "test"]
    const { code, stderr } = await sluice(erasing, environment)
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(await leftIn([output], words), [])
    rmSync(output, { recursive: true })
  })
})
