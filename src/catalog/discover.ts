/** The catalogue: every definition under `pipelines/`, and those of the user's own folder. */
import { fileURLToPath } from "node:url"
import {
  type Definition,
  type DefinitionProblem,
  problemAt,
  readDefinitions,
  resolveCatalogueImports
} from "./definitions.ts"
import type { Resource } from "./resource.ts"
import { tablesOf } from "./tables.ts"

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
