/** The table of docs/backup.md: every file of an output folder, and whether a backup has it. */
import { type OutputFile, isLocal, outputFiles } from "../src/output/contents.ts"
import { markdownTable } from "../src/settings/documents.ts"

const whyNot: Partial<Record<OutputFile["kind"], string>> = {
  derived: "no: made again",
  scratch: "no: of a command that was working",
  run: "no: of a process of that machine"
}

export const contentsTable = (): string =>
  markdownTable([
    ["file or folder", "what it is", "in a backup"],
    ...Object.values<OutputFile>(outputFiles).map((file) => [
      `\`${file.name}\``,
      file.what,
      (isLocal(file.name) ? whyNot[file.kind] : undefined) ?? hasIt(file)
    ])
  ])

const hasIt = ({ kind, name }: OutputFile): string =>
  name === outputFiles.tokens.name ? "with `--tokens`" : kind === "secret" ? "yes: a secret" : "yes"
