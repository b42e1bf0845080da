/** The catalogue: every definition under `pipelines/`, and those of the user's own folder. */
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Resource } from "./resource.ts"
import { tablesOf } from "./tables.ts"
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { registerHooks } from "node:module"
import { basename, extname, join, sep } from "node:path"

export interface Catalogue {
  readonly resources: ReadonlyArray<Resource>
  /** The family of each table, which is the first folder of its definition's path. */
  readonly familyByTable: ReadonlyMap<string, string>
  /** The folders of the definitions. */
  readonly folders?: ReadonlyArray<string>
}

/** Mistakes in definition files. */
export class DefinitionError extends Error {
  readonly problems: ReadonlyArray<DefinitionProblem>
  constructor(problems: ReadonlyArray<DefinitionProblem>) {
    super(problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).join("\n"))
    this.problems = problems
  }
}

const ours = fileURLToPath(new URL("../../pipelines", import.meta.url))

/** A built program has all definitions in one file, by their paths: to load a file for each takes longer. */
const gathered = new URL("../definitions.js", import.meta.url)

/** Imports all definitions, in the order of their paths, ours first. Throws a `DefinitionError`. */
export const discover = async (own?: string): Promise<Catalogue> => {
  const { catalogue, problems } = await readCatalogue(own)
  if (problems.length > 0) throw new DefinitionError(problems)
  return catalogue
}

/** `own`: the definitions of the user's folder that can be read. */
export const readCatalogue = async (
  own?: string
): Promise<{
  readonly catalogue: Catalogue
  readonly own: ReadonlyArray<Definition>
  readonly problems: ReadonlyArray<DefinitionProblem>
}> => {
  if (own !== undefined) resolveCatalogueImports(own)
  const read = await Promise.all([ours, ...(own === undefined ? [] : [own])].map(readDefinitions))
  const definitions = read.flatMap((folder) => folder.definitions)
  const problems = read.flatMap((folder) => folder.problems)
  const familyByTable = new Map<string, string>()
  for (const { family, file, resource } of definitions)
    for (const { name } of tablesOf(resource)) {
      if (familyByTable.has(name)) problems.push(problemAt(file, `"${name}"`, `Table ${name} is defined twice.`))
      familyByTable.set(name, family)
    }
  for (const { file, resource } of definitions) {
    const parent = resource.childOf?.table
    if (parent !== undefined && !definitions.some((one) => one.resource.table === parent))
      problems.push(problemAt(file, `"${parent}"`, `It is read for each row of ${parent}, which no file defines.`))
  }
  const resources = definitions.map(({ resource }) => resource)
  const folders = own === undefined ? [ours] : [ours, own]
  return { catalogue: { resources, familyByTable, folders }, own: read[1]?.definitions ?? [], problems }
}

/** Reads the definition files of a folder: each exports one definition, and is named after its table. */
interface Definition {
  readonly file: string
  /** The first folder of its path, or the folder of the definitions itself. */
  readonly family: string
  readonly resource: Resource
}

/** A mistake in a definition file. */
interface DefinitionProblem {
  readonly file: string
  readonly line: number
  readonly message: string
}

/** A package has JavaScript, and declarations of types beside it. */
const isDefinition = (file: string) => /\.[jt]s$/.test(file) && !file.endsWith(".d.ts")

const readDefinitions = async (
  folder: string
): Promise<{
  readonly definitions: ReadonlyArray<Definition>
  readonly problems: ReadonlyArray<DefinitionProblem>
}> => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(isDefinition)
  const built = folder === ours && existsSync(gathered) ? await import(gathered.href) : undefined
  const problems: Array<DefinitionProblem> = []
  const read = await Promise.all(
    files.sort().map(async (name) => {
      const file = join(folder, name)
      try {
        const exported = Object.values<Resource>(built?.[name] ?? (await import(pathToFileURL(file).href)))
        const table = basename(file, extname(file))
        const resource = exported[0]
        if (exported.length === 1 && resource?.table === table)
          return [{ file, family: name.includes(sep) ? name.slice(0, name.indexOf(sep)) : basename(folder), resource }]
        problems.push(problemAt(file, "table:", `The file must export one definition, of table ${table}.`))
      } catch (error) {
        problems.push(importProblem(file, error))
      }
      return []
    })
  )
  return { definitions: read.flat(), problems }
}

/** A problem on the first line that contains a text, or on line 1. */
export const problemAt = (file: string, text: string, message: string): DefinitionProblem => {
  const index = readFileSync(file, "utf8")
    .split("\n")
    .findIndex((line) => line.includes(text))
  return { file, line: Math.max(index, 0) + 1, message }
}

/** The stack of an error names the line, except for the error of an import, which names the module. */
const importProblem = (file: string, error: unknown): DefinitionProblem => {
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error))
  const line = [file, pathToFileURL(file).href].flatMap((name) => {
    const at = stack.indexOf(`${name}:`)
    return at < 0 ? [] : [Number.parseInt(stack.slice(at + name.length + 1), 10)]
  })[0]
  if (line !== undefined) return { file, line, message }
  return problemAt(file, /'([^']+)'/.exec(message)?.[1] ?? "import", message)
}

/** Lets definitions outside of the repository import `sluice/catalog/fields` and so on, wherever they are. */
const resolveCatalogueImports = (folder: string): void => {
  const within = pathToFileURL(folder + sep).href
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith("sluice/catalog/") && context.parentURL?.startsWith(within)
        ? next(
            new URL(
              `../catalog/${specifier.slice("sluice/catalog/".length)}${extname(import.meta.filename)}`,
              import.meta.url
            ).href,
            context
          )
        : next(specifier, context)
  })
}
