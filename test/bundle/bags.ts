/** Bags that the tests damage, or make themselves. */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { filesIn } from "./account.ts"

/** Writes the size and the manifests anew, as somebody would who hides a change. */
export const reseal = (folder: string): void => {
  const all = [...filesIn(folder)]
  const payload = all.filter(([path]) => path.startsWith("data/"))
  const info = join(folder, "bag-info.txt")
  const size = `${payload.reduce((sum, [, content]) => sum + content.length, 0)}.${payload.length}`
  writeFileSync(info, readFileSync(info, "utf8").replace(/^Payload-Oxum: .*$/m, `Payload-Oxum: ${size}`))
  for (const algorithm of ["sha256", "sha512"])
    writeFileSync(join(folder, `manifest-${algorithm}.txt`), lines(payload, algorithm))
  const tags = [...filesIn(folder)].filter(([path]) => !/^(data\/|tagmanifest-)/.test(path))
  for (const algorithm of ["sha256", "sha512"])
    writeFileSync(join(folder, `tagmanifest-${algorithm}.txt`), lines(tags, algorithm))
}

const lines = (files: ReadonlyArray<readonly [path: string, content: Buffer]>, algorithm: string): string =>
  files.map(([path, content]) => `${createHash(algorithm).update(content).digest("hex")}  ${path}\n`).join("")

/** Changes a text in a file. */
export const edit = (path: string, change: (text: string) => string): void => {
  const text = readFileSync(path, "utf8")
  const changed = change(text)
  if (changed === text) throw new Error(`nothing to change in ${path}`)
  writeFileSync(path, changed)
}
