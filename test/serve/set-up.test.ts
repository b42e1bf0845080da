/** An account that is set up by the page has the files that the terminal would have written. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { addLocation, checkSetup, writeSetup } from "../../src/features/serve/set-up.ts"
import { asking } from "../../src/features/serve/ask.ts"
import { syncSettings } from "../../src/settings/settings.ts"
import { startService } from "../support/service.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const baseUrl = "https://crm.example.com"
const environment = { SLUICE_BASE_URL: baseUrl, SLUICE_TOKEN_NORTH: "token", SLUICE_TOKEN_SOUTH: "token" }
const rejects = async (work: Promise<unknown>, pattern: RegExp) =>
  assert.match(String(await work.then(() => "nothing was refused", String)), pattern)
const pathIn = (folder: string) => join(folder, "config", "sluice.toml")
const filesOf = (path: string) =>
  readdirSync(dirname(path)).map((name) => [name, readFileSync(join(dirname(path), name), "utf8")])

it("the page and the terminal write the same settings, for one location and for the next", async () => {
  const [byPage, byTerminal] = [pathIn(newFolder()), pathIn(newFolder())]
  const options = { path: byPage, output: newFolder(), ask: asking(["false"], () => [], environment), environment }
  const init = async (...flags: ReadonlyArray<string>) => {
    const { code, stderr } = await sluice(["init", "--no-check", "--config", byTerminal, ...flags], environment)
    assert.strictEqual(code, 0, stderr)
  }
  const formats = ["duckdb", "csv"]
  await writeSetup(options, { baseUrl, formats, locations: [{ id: "north", token: "env:SLUICE_TOKEN_NORTH" }] })
  await init(
    "--base-url",
    baseUrl,
    "--location",
    "north",
    "--token-ref",
    "env:SLUICE_TOKEN_NORTH",
    "--format",
    "duckdb,csv"
  )
  // The path of the schema is relative to the folder.
  const comparable = (path: string) => filesOf(path).map(([name, text]) => [name, text!.replace(/^#:schema .*/, "")])
  assert.deepStrictEqual(comparable(byPage), comparable(byTerminal))

  await addLocation(options, { id: "south", token: "env:SLUICE_TOKEN_SOUTH" })
  await init("--add", "--location", "south", "--token-ref", "env:SLUICE_TOKEN_SOUTH")
  assert.deepStrictEqual(comparable(byPage), comparable(byTerminal))
  assert.include(readFileSync(byPage, "utf8"), '[[locations]]\nid = "south"')
})

it("several locations at once are those that were added one after the other", async () => {
  const [atOnce, oneByOne] = [pathIn(newFolder()), pathIn(newFolder())]
  const optionsFor = (path: string) => ({
    path,
    output: newFolder(),
    ask: asking(["false"], () => [], environment),
    environment
  })
  const [north, south, west] = ["north", "south", "west"].map((id) => ({ id, token: `pit-${id}` }))
  const answers = { baseUrl, formats: ["duckdb"] }
  await writeSetup(optionsFor(atOnce), { ...answers, locations: [north, south, west] })
  await writeSetup(optionsFor(oneByOne), { ...answers, locations: [north] })
  await addLocation(optionsFor(oneByOne), south!)
  await addLocation(optionsFor(oneByOne), west!)
  const named = (path: string) => filesOf(path).map(([name, text]) => [name, text!.replaceAll(dirname(path), "")])
  assert.deepStrictEqual(named(atOnce), named(oneByOne))
  assert.deepStrictEqual(
    named(atOnce).map(([name]) => name),
    ["sluice.toml", "token", "token-south", "token-west"]
  )
})

const app = { clientId: "app", clientSecret: "client-secret-text", refreshToken: "refresh-token-text" }

it("an OAuth app has each secret in a file of its own, and further locations their tokens", async () => {
  const path = pathIn(newFolder())
  const options = { path, output: newFolder(), ask: asking(["false"], () => [], environment), environment }
  const given = { baseUrl, formats: ["csv"] }
  const locations = [
    { id: "north", app },
    { id: "south", token: "env:SLUICE_TOKEN_SOUTH" }
  ]
  await rejects(
    writeSetup(options, { ...given, locations: locations.toReversed() }),
    /The token of location north is missing/
  )
  await rejects(
    writeSetup(options, { ...given, locations: [{ id: "north", app: { ...app, clientSecret: "cmd:id" } }] }),
    /by hand/
  )
  assert.isFalse(existsSync(path))
  await writeSetup(options, { ...given, locations })
  const folder = dirname(path)
  assert.deepStrictEqual(readdirSync(folder).toSorted(), ["client-secret", "refresh-token", "sluice.toml"])
  for (const name of ["client-secret", "refresh-token"]) {
    assert.strictEqual(readFileSync(join(folder, name), "utf8"), `${name}-text\n`)
    assert.strictEqual(statSync(join(folder, name)).mode & 0o777, 0o600)
  }
  assert.notMatch(readFileSync(path, "utf8"), /-text/)
  const { accounts } = Effect.runSync(syncSettings({ config: path }, environment))
  assert.deepStrictEqual(
    accounts.map(({ api }) => api.credentials.kind),
    ["oauth", "private"]
  )
})

it("what tests an OAuth app keeps the successor of its refresh token", { tags: ["slow"] }, async () => {
  const service = await startService("--contacts", "3")
  const [path, output] = [pathIn(newFolder()), join(newFolder(), "output")]
  const ask = asking([join(import.meta.dirname, "../../sluice")], () => [], { ...process.env })
  const options = { path, output, ask, environment: {} }
  const { clientId, clientSecret, locationId, refreshToken, url } = service
  const answers = {
    baseUrl: url,
    formats: ["csv"],
    locations: [{ id: locationId, app: { clientId, clientSecret, refreshToken } }]
  }
  const wrong = { ...answers, locations: [{ id: locationId, app: { clientId, clientSecret: "no", refreshToken } }] }
  const refused = (await checkSetup(options, wrong)).locations[0]!
  assert.match(JSON.stringify(refused), /problem.*invalid_client|Invalid client/)
  const [found] = (await checkSetup(options, answers)).locations
  assert.hasAllKeys(found, ["id", "name", "findings", "plan"], JSON.stringify(found))
  assert.match(JSON.stringify(found), /up to \d+ requests?","setting":"details = /)
  await writeSetup(options, answers)
  const { code, stderr } = await sluice(["sync", "--config", path, "--output", output, "--only", "contacts"], {})
  assert.strictEqual(code, 0, stderr)
  service.stop()
})
