/** What is ours, where something lies and who owns it is decided by whole values: a part of one may be somebody else's. */
import { assert, describe, it } from "@effect/vitest"
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isBelow } from "../src/output/remove.ts"
import { setAsideIn } from "../src/output/leftovers.ts"
import { newFolder } from "./support/sluice.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const names = "(mark|owner|prefix|folder|place|address|within)s?"
const parts = new RegExp(
  String.raw`${names}(\(\))?[)!?]*\.(includes|startsWith|endsWith|indexOf)\(|\.(includes|startsWith|endsWith|indexOf)\([^()]*${names}\b`,
  "i"
)

/** A protocol, an item of a list, a prefix that ends with its separator, or the pattern of a column. */
const allowed: ReadonlyArray<string> = [
  'src/catalog/discover.ts: specifier.startsWith("sluice/catalog/") && context.parentURL?.startsWith(within)',
  'src/catalog/fields.ts: Object.entries(fields).find(([prefix]) => prefix.endsWith("*") && name.startsWith(prefix.slice(0, -1)))?.[1]',
  'src/destinations/bucket/settings.ts: isNamedBy: ({ folder }) => folder?.startsWith("s3://") ?? false,',
  'src/destinations/folder/settings.ts: isNamedBy: ({ folder }) => folder !== undefined && !folder.startsWith("s3://"),',
  'src/destinations/lake/destination.ts: forget: ({ destination }) => Effect.as(removeEarlierVersions(destination), !destination.place.startsWith("s3://")),',
  'src/destinations/postgres/address.ts: const start = address.indexOf("?")',
  "src/destinations/postgres/load.ts: return others.filter((one) => !left.includes(one.owner))",
  "src/features/explore/chart.ts: if (run && before && !(isEvery && keys.indexOf(mark.x) > keys.indexOf(before.x) + 1)) run.push(mark)",
  String.raw`src/features/export/bundle/target.ts: const [, pid] = name.startsWith(prefix) ? (/^(\d+)\.(building|replaced)$/.exec(name.slice(prefix.length)) ?? []) : []`,
  "src/stages/api/links.ts: const allowed = found.filter(({ address }) => !isPrivate(address) || own.includes(address))",
  "src/stages/load/normalise/compile-fields.ts: return this.get(name) ?? this.prefixes.find(([prefix]) => name.startsWith(prefix))?.[1]"
]

describe("marks, owners, prefixes, folders and addresses", () => {
  it("are compared whole", () => {
    const found = globSync("src/**/*.ts", { cwd: root }).flatMap((path) =>
      readFileSync(join(root, path), "utf8")
        .split("\n")
        .filter((line) => parts.test(line) && !/^\s*(\/\/|\*|\/\*)/.test(line))
        .map((line) => `${path}: ${line.trim()}`)
    )
    assert.deepStrictEqual(found.toSorted(), allowed.toSorted())
  })

  it("are found by the test in each form", () => {
    for (const line of [
      "line.includes(mark)",
      "name.startsWith(own.folder)",
      "this.#owner.startsWith(text)",
      "text.indexOf(mark)",
      "one.placeOf(x).endsWith(prefix)"
    ])
      assert.match(line, parts)
  })

  it.each([
    ["/srv/crm", "/srv/crm", true],
    ["/srv/crm/a", "/srv/crm", true],
    ["/srv/crm/..a", "/srv/crm", true],
    ["/srv/crm-2", "/srv/crm", false],
    ["/srv/crm", "/srv/crm-2", false],
    ["/srv", "/srv/crm", false],
    ["/srv/crm/../other", "/srv/crm", false],
    ["/srv", "/", true]
  ])("of paths: %s below %s is %s", (path, folder, expected) => assert.strictEqual(isBelow(path, folder), expected))

  it("of files that were set aside: what a person named after them is not one", async () => {
    const output = newFolder()
    const [vault, notes] = [join(output, "vault"), ["warehouse.damaged.duckdb-notes.md", "warehouse.damaged.duckdb2"]]
    mkdirSync(vault)
    const own = [join(output, "warehouse.damaged.duckdb"), join(vault, "00000001.ndjson.torn-120")]
    for (const path of [...own, ...notes.map((name) => join(output, name)), join(vault, "my.ndjson.torn-list")])
      writeFileSync(path, "")
    const found = (await setAsideIn(output)).map(({ path }) => path)
    assert.deepStrictEqual(found.map((path) => basename(path)).toSorted(), own.map((path) => basename(path)).toSorted())
  })
})
