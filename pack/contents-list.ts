/** The list of docs/damage.md: every file of an output folder, and whether a backup has it. */
import { type OutputFile, isLocal, outputFiles } from "../src/output/contents.ts"
import { markdownList } from "./settings-documents.ts"

const whyNot: Partial<Record<OutputFile["kind"], string>> = {
  derived: "not in a backup: made again",
  scratch: "not in a backup: of a command that was working",
  run: "not in a backup: of a process of that machine"
}

export const contentsList = (): string =>
  markdownList(
    Object.values<OutputFile>(outputFiles).map((file) => {
      const inBackup = (isLocal(file.name) ? whyNot[file.kind] : undefined) ?? hasIt(file)
      return [file.name, `${file.what}; ${inBackup}`] as const
    })
  )

const hasIt = ({ kind, name }: OutputFile): string =>
  name === outputFiles.tokens.name
    ? "in a backup with `--tokens`"
    : kind === "secret"
      ? "in a backup: a secret"
      : "in a backup"
