/**
 * Runs sluice and the tools of others on the same accounts of the sandbox, and compares what each has written with what the
 * accounts hold. docs/comparison.md has the tables that `--docs` writes. It needs Python and the registry of its packages.
 *
 *     npm run compare -- [--contacts 600] [--only sluice,dlt-tuned] [--tap CHECKOUT] [--environments FOLDER] [--docs]
 *
 * --contacts      size of the account; dlt with default settings takes 3.5 GB of memory at 6,000
 * --tap           a checkout of MeltanoLabs' tap for this platform; without it, the tap is skipped
 * --environments  where the packages of others are installed, outside of this repository
 */
import { readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { environmentsFolder } from "./packages.ts"
import { here, peers, sluice, type Tool } from "./tools.ts"
import { type Measurements, measure } from "./series.ts"
import { tables } from "./tables.ts"

const { values } = parseArgs({
  options: {
    contacts: { type: "string", default: "600" },
    only: { type: "string", default: ["sluice", ...Object.keys(peers)].join(",") },
    tap: { type: "string" },
    environments: { type: "string", default: environmentsFolder },
    docs: { type: "boolean", default: false }
  }
})
const contacts = Number(values.contacts)
const names = values.only.split(",")
const unknown = names.find((name) => name !== "sluice" && !Object.hasOwn(peers, name))
if (unknown !== undefined) throw new Error(`${unknown} is none of sluice, ${Object.keys(peers).join(", ")}.`)

const found: Array<readonly [Tool, Measurements]> = []
for (const name of names) {
  const tool = name === "sluice" ? sluice : peers[name]!({ environments: values.environments, checkout: values.tap })
  if (tool === undefined) {
    console.error(`${name}: skipped, because --tap names no checkout`)
    continue
  }
  console.error(`${tool.name}, ${contacts} contacts …`)
  found.push([tool, await measure(tool, contacts)])
}

const text = tables(contacts, found)
console.log(text)
if (values.docs) {
  const page = here("../../docs/comparison.md")
  const [start, end] = [`<!-- measured: ${contacts} contacts -->`, `<!-- end: ${contacts} contacts -->`]
  const [before, rest] = readFileSync(page, "utf8").split(start)
  const after = rest?.split(end)[1]
  if (after === undefined) throw new Error(`docs/comparison.md has no place for ${contacts} contacts.`)
  writeFileSync(page, `${before}${start}\n\n${text}\n${end}${after}`)
}
