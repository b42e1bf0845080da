/** Files that a command has set aside instead of removing them: incomplete writes of the vault, and damaged warehouses. */
import { basename, dirname, join } from "node:path"
import { namesIn } from "../output/folder.ts"
import { outputPaths } from "../output/paths.ts"

export interface SetAside {
  readonly path: string
  readonly why: string
}

export const setAsideIn = async (output: string): Promise<ReadonlyArray<SetAside>> => {
  const { damaged, vault } = outputPaths(output)
  return [
    ...(await filesIn(vault, (name) => name.includes(".ndjson.torn-"))).map((path) => ({
      path,
      why: "an incomplete write that a sync has set aside"
    })),
    ...(await filesIn(dirname(damaged), (name) => name.startsWith(basename(damaged)))).map((path) => ({
      path,
      why: "a damaged warehouse that a rebuild has replaced"
    }))
  ]
}

const filesIn = async (folder: string, isSetAside: (name: string) => boolean): Promise<ReadonlyArray<string>> => {
  const names = await namesIn(folder)
  return names.filter(isSetAside).map((name) => join(folder, name))
}
