/** The pages that an assistant may read: the data dictionary, and those that say how the tables are to be understood. */
import { Effect, Layer } from "effect"
import * as McpServer from "effect/ai/McpServer"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { dictionary } from "../../../catalog/dictionary.ts"
import type { Catalogue } from "../../../catalog/discover.ts"
import { installed } from "../../../values/installation.ts"

const pages = {
  models: "Tables for questions, and ten questions answered in SQL",
  tables: "How tables are kept: history, deletions, types, changes of the schema",
  masking: "What each profile shows instead of personal data",
  glossary: "The words of these pages"
}

export const resources = (catalogue: Catalogue) =>
  Layer.mergeAll(
    page("sluice://dictionary", "Data dictionary", "Every table and column, with its meaning and source", () =>
      dictionary(catalogue)
    ),
    ...Object.entries(pages).map(([name, description]) =>
      page(`sluice://docs/${name}`, `${name}.md`, description, () => readFileSync(join(docs(), `${name}.md`), "utf8"))
    )
  )

const page = (uri: string, name: string, description: string, text: () => string) =>
  McpServer.resource({ uri, name, description, mimeType: "text/markdown", content: Effect.sync(text) })

/** The folder is above the built program, in a clone as well as in a package. */
const docs = (): string => ["docs", "../docs"].map(installed).find(existsSync)!
