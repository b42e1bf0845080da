/** What is refused before anything is read or written: keys that are not kept apart, and folders that overlap. */
import { assert, describe, it } from "@effect/vitest"
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { newFolder, sluice } from "../support/sluice.ts"

const key = "0f".repeat(32)

/** Runs a sync with these settings, which never gets to its first request. */
const refused = async (content: string, environment: Readonly<Record<string, string>> = {}, folder = newFolder()) => {
  const config = join(folder, "sluice.toml")
  writeFileSync(config, content)
  const output = join(folder, "output")
  const ran = await sluice(["sync", "--config", config], {
    SLUICE_BASE_URL: "http://127.0.0.1:9",
    SLUICE_TOKEN: "token",
    SLUICE_LOCATION_ID: "location",
    SLUICE_OUTPUT: output,
    ...environment
  })
  assert.strictEqual(ran.code, 78, ran.stderr)
  assert.isFalse(existsSync(join(output, "warehouse.duckdb")))
  return ran.stderr
}
const target = (folder: string, more = "", name = "analysts") =>
  `[[publish]]\nname = "${name}"\nfolder = "${folder}"\nprofile = "analytics"\n${more}\n`

describe("a key", () => {
  it.each([
    ["the profile analytics", target("/tmp/sluice-unused")],
    ["a column that is hashed", '[tables.contacts]\nhash = ["email"]\n']
  ])("is needed by %s", async (_, content) => {
    const message = await refused(content)
    assert.include(message, "masking.key is missing")
    assert.include(message, "SLUICE_MASKING_KEY")
  })

  it("has 32 bytes or more", async () => {
    const message = await refused(target("/tmp/sluice-unused"), { SLUICE_MASKING_KEY: "abcdef" })
    assert.include(message, "masking.key: <redacted> cannot be used as a key: it has 3 bytes and needs at least 32")
    assert.include(message, "openssl rand -hex 32")
  })

  it("is in no folder with the data that it protects, and only its owner can read it", async () => {
    const folder = newFolder()
    const withKey = (path: string, mode: number) => {
      writeFileSync(path, key, { mode })
      chmodSync(path, mode)
      return refused(`[masking]\nkey = "file:${path}"\n${target(join(folder, "analysts"))}`, {}, folder)
    }
    for (const below of ["output", "analysts"]) {
      mkdirSync(join(folder, below))
      const message = await withKey(join(folder, below, "key"), 0o600)
      assert.include(
        message,
        `masking.key: file:${join(folder, below, "key")} cannot be used as a key: it is in ${join(folder, below)}`
      )
    }
    assert.include(await withKey(join(folder, "key"), 0o644), `(mode 644); run chmod 600 ${join(folder, "key")}`)
  })
})

describe("a target", () => {
  const withFolders = async (...folders: ReadonlyArray<string>) => {
    const folder = newFolder()
    const content = folders.map((one, index) => target(join(folder, one), "", `target-${index}`)).join("\n")
    return refused(content, { SLUICE_MASKING_KEY: key }, folder)
  }

  it("has a folder apart from the other targets, the releases and the vault", async () => {
    assert.match(
      await withFolders("one", "one/two"),
      /sluice\.toml:\d+: publish\[1\]\.folder is .*one\/two, and it overlaps .*one of the target target-0/
    )
    assert.match(await withFolders("one", ".one"), /overlaps/)
    assert.match(await withFolders("output/published/x"), /sluice keeps files of its own there/)
    assert.match(await withFolders("output/vault"), /sluice keeps files of its own there/)
    assert.match(await withFolders("output"), /the output folder .* is inside it/)
  })

  it("has a bucket apart from the others, and keys only with a bucket", async () => {
    const problem = (folder: string, more = "") =>
      refused(target("s3://crm/a", "", "first") + target(folder, more, "second"), { SLUICE_MASKING_KEY: key })
    assert.match(
      await problem("s3://crm/a/b"),
      /publish\[1\]\.folder is s3:\/\/crm\/a\/b, and it overlaps s3:\/\/crm\/a of/
    )
    assert.match(await problem("s3://crm/a/"), /overlaps/)
    for (const folder of ["s3://", "s3://crm//x", "s3://crm/../x", "s3://CRM/x", "s3://crm/x?y"])
      assert.match(await problem(folder), /a bucket is written as s3:\/\/bucket\/prefix/, folder)
    assert.match(await problem("s3://CRM/x"), /its name has 3 to 63 lower-case letters/)
    assert.match(await problem("s3://crm/a//x"), /no part of the prefix is empty/)
    for (const folder of ["s3://crm/nightly run/x", "s3://crm/a+b", "s3://crm/~me@work/ü", "s3://crm/日本/x"])
      assert.match(await problem(folder, 's3_key = "env:KEY"'), /s3_key is set, and s3_secret is missing/, folder)
    assert.match(
      await problem("s3://crm/b", 's3_key = "env:KEY"'),
      /publish\[1\]\.s3_key is set, and s3_secret is missing/
    )
    assert.match(
      await problem("/tmp/sluice-b", 's3_endpoint = "https://s3.example.com"'),
      /publish\[1\]\.s3_endpoint is set, and the target is not in a bucket/
    )
    // Another service may have a bucket of the same name; what remains wrong is the key.
    const other = 's3_endpoint = "https://s3.example.com"\ns3_secret = "env:KEY"'
    assert.notMatch(await problem("s3://crm/a", other), /overlaps/)
  })

  it("that is a lake has all rows of the warehouse, and a place and a catalog of its own", async () => {
    const lake = (more: string, name = "a lake") =>
      `[[publish]]\nname = "${name}"\nlake = "/tmp/sluice-lake"\nprofile = "raw"\n${more}\n`
    assert.match(
      await refused(lake('formats = ["csv"]')),
      /publish\[0\]\.formats is csv, and a lake has tables instead/
    )
    assert.match(await refused(lake('tables = ["contacts"]')), /tables is contacts, and a lake has all tables/)
    assert.match(
      await refused(lake("").replace("raw", "masked")),
      /profile is masked, and .* are not masked: write raw/
    )
    assert.match(
      await refused(target("/tmp/sluice-b", 'catalog = "env:CATALOG"'), { SLUICE_MASKING_KEY: key }),
      /publish\[0\]\.catalog is set, and the target is no lake/
    )
    assert.match(
      await refused(lake("") + lake("", "other")),
      /publish\[1\]\.lake is .* overlaps .* of the target a lake/
    )
    assert.match(await refused(`[lake]\ndata = "s3://crm-lake/a"`), /lake: there is no such setting.*publish\.lake/)
  })

  it("has a known profile, a name of its own, and known tables", async () => {
    const wrong = `[[publish]]\nname = "a"\nfolder = "/tmp/sluice-a"\nprofile = "anonymous"`
    assert.match(
      await refused(wrong),
      /sluice\.toml:4: publish\[0\]\.profile is "anonymous"; expected "raw", "masked" or "analytics"/
    )
    assert.include(await refused(`[[publish]]\nname = "a"\nprofile = "masked"`), "publish[0].folder is missing")
    assert.match(
      await refused(target("/tmp/sluice-a") + target("/tmp/sluice-b"), { SLUICE_MASKING_KEY: key }),
      /publish\[1\]\.name is analysts, and another target has this name/
    )
    assert.match(
      await refused(target("/tmp/sluice-a", 'tables = ["contact"]'), { SLUICE_MASKING_KEY: key }),
      /sluice\.toml:5: tables: there is no table or family contact; did you mean contacts\?/
    )
    assert.include(await refused(`[[publish]]\nfolders = "x"`), "publish[0].folders: there is no such setting")
  })
})
