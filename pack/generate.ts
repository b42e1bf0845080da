/** Writes the generated files of the repository; with `--check`, it names those that are old, and ends with 1. */
import { readFileSync, writeFileSync } from "node:fs"
import { generatedFiles, inRepository } from "./generated.ts"

const isCheck = process.argv.includes("--check")
const isCurrent = (path: string, text: string): boolean => {
  try {
    return readFileSync(inRepository(path), "utf8") === text
  } catch {
    return false
  }
}

for (const [path, text] of await generatedFiles()) {
  if (isCurrent(path, text)) continue
  console.log(isCheck ? `${path} is old: npm run generate` : path)
  if (isCheck) process.exitCode = 1
  else writeFileSync(inRepository(path), text)
}
