/** The files of the repository that follow from the program. `npm run generate` writes them; a test says if one is old. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { dictionary } from "../src/catalog/dictionary.ts"
import { type Catalogue, discover } from "../src/catalog/discover.ts"
import { commandsPage, resultDocuments } from "./result-documents.ts"
import { exampleToml } from "../src/settings/documents.ts"
import { alarmsList, jsonSchema } from "./settings-documents.ts"
import { contractOf } from "../src/stages/publish/contracts/contract.ts"
import { odcsDocument } from "../src/stages/publish/contracts/odcs.ts"
import { describedModels } from "../src/stages/publish/models/described.ts"
import { modelSections } from "../src/stages/publish/models/dictionary.ts"
import { sluiceVersion } from "../src/values/version.ts"
import { contentsList } from "./contents-list.ts"
import { joinsPart, mainJoins } from "./joins.ts"
import { messagesPage } from "./messages-page.ts"
import { questionsPart } from "./questions.ts"
import { scopesList } from "./scopes-list.ts"
import { maskedColumnsPart } from "./masked-columns.ts"

export const inRepository = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

const read = (path: string): string => readFileSync(inRepository(path), "utf8")

/** The page with the list between its two comments. */
const withList = (path: string, name: string, list: string): string => {
  const [before, , after] = read(path).split(new RegExp(`(?<=<!-- ${name} -->\\n)|(?=<!-- end of ${name} -->)`))
  return `${before}\n${list}\n\n${after}`
}

/** JSON with a line for each table, so that a comparison of versions says which have changed. */
const contractLines = (catalogue: Catalogue): string => {
  const { schema, ...about } = odcsDocument(contractOf(catalogue), sluiceVersion)
  const tables = schema.map((table) => JSON.stringify(table)).join(",\n")
  return `${JSON.stringify(about).slice(0, -1)},\n"schema": [\n${tables}\n]}\n`
}

/** Their texts by path. */
export const generatedFiles = async (): Promise<ReadonlyMap<string, string>> => {
  const catalogue = await discover()
  // The contract of a version does not change any more: it is what readers rely on.
  const contract = `docs/contract/${sluiceVersion}.odcs.json`
  return new Map([
    ["config/example.toml", exampleToml()],
    ["config/sluice.schema.json", jsonSchema()],
    ["docs/commands.md", commandsPage()],
    ["docs/every-night.md", withList("docs/every-night.md", "alarms", alarmsList())],
    ["docs/damage.md", withList("docs/damage.md", "contents", contentsList())],
    [contract, existsSync(inRepository(contract)) ? read(contract) : contractLines(catalogue)],
    [
      "docs/dictionary.md",
      [
        dictionary(catalogue),
        modelSections(await describedModels(catalogue)),
        joinsPart(contractOf(catalogue)).trimEnd(),
        `${maskedColumnsPart(catalogue)}\n`
      ].join("\n\n")
    ],
    ["docs/first-sync.md", withList("docs/first-sync.md", "scopes", scopesList(catalogue))],
    ["docs/models.md", withList("docs/models.md", "questions", await questionsPart())],
    ["docs/tables.md", withList("docs/tables.md", "joins", mainJoins(contractOf(catalogue)))],
    ["docs/messages.md", `${messagesPage()}\n`],
    ...Object.entries(resultDocuments()).map(([name, text]) => [`docs/schemas/${name}`, text] as const)
  ])
}
