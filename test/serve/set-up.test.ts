/** An account that is set up by the page has the files that the terminal would have written. */
import { assert, it } from "@effect/vitest"
import { readFileSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { addLocation, writeSetup } from "../../src/features/serve/set-up.ts"
import { asking } from "../../src/features/serve/ask.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const baseUrl = "https://crm.example.com"
const environment = { NORTH: "token", SOUTH: "token" }
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
  await writeSetup(options, { baseUrl, formats, locations: [{ id: "north", token: "env:NORTH" }] })
  await init("--base-url", baseUrl, "--location", "north", "--token-ref", "env:NORTH", "--formats", "duckdb,csv")
  // The path of the schema is relative to the folder.
  const comparable = (path: string) => filesOf(path).map(([name, text]) => [name, text!.replace(/^#:schema .*/, "")])
  assert.deepStrictEqual(comparable(byPage), comparable(byTerminal))

  await addLocation(options, { id: "south", token: "env:SOUTH" })
  await init("--add", "--location", "south", "--token-ref", "env:SOUTH")
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
