/** The list of docs/damage.md: what of an output folder a backup has, and the names of the rest. */
import { type OutputFile, isLocal, outputFiles } from "../src/output/contents.ts"
import { wrapped } from "../src/values/text.ts"
import { markdownList } from "./settings-documents.ts"

const leftOut: Partial<Record<OutputFile["kind"], string>> = {
  derived: "what is made again",
  scratch: "what a command was writing",
  run: "what a process of that machine has"
}

const reasonOf = ({ kind, name }: OutputFile) => (isLocal(name) ? leftOut[kind] : undefined)

export const contentsList = (): string => {
  const byReason = Map.groupBy(Object.values<OutputFile>(outputFiles), reasonOf)
  const kept = (byReason.get(undefined) ?? []).map((file) => [file.name, `${file.what}${remarkOn(file)}`] as const)
  const rest = Object.values(leftOut).map((reason) => `${reason} (${namesOf(byReason.get(reason) ?? [])})`)
  const left = wrapped(`Not in a backup: ${rest.join("; ")}.`, { width: 120 })
  return [markdownList(kept), "", ...left].join("\n")
}

const namesOf = (files: ReadonlyArray<OutputFile>) => files.map(({ name }) => `\`${name}\``).join(", ")

const remarkOn = ({ kind, name }: OutputFile): string =>
  name === outputFiles.tokens.name ? ", with `--tokens`" : kind === "secret" ? ", a secret" : ""
