/** Which tests a room of `src` has: the folders of `test` have the names of its folders, whatever they are in. */
import { existsSync } from "node:fs"
import { dirname } from "node:path"

/** Rooms whose tests have other names. */
const elsewhere: Readonly<Record<string, ReadonlyArray<string>>> = {
  "features/doctor": ["cli"],
  "features/documents": ["contracts", "cli"],
  "features/export": ["bundle", "xlsx", "cli"],
  "features/privacy": ["erasure", "location", "subject"],
  "features/export/bundle": ["bundle"],
  "features/export/bundle/verify": ["bundle"],
  "features/prune": ["features/prune", "prune"],
  "stores/formats": ["publish", "xlsx"],
  "stores/objects": ["objects", "publish"]
}

/** The folders with the tests of a file or folder of `src`; none if no folder has the name of a room that it is in. */
export const testFoldersOf = (path: string): ReadonlyArray<string> => {
  const room = path.replace(/^src\//, "").replace(/\/[^/]*\.ts$/, "")
  // All stages, stores or features are no room; all destinations are one.
  for (let at = room; at === room || at.includes("/") || at === "destinations"; at = dirname(at)) {
    const names = elsewhere[at] ?? foldersNamed(at)
    if (names.length > 0) return names.map((name) => `test/${name}`)
  }
  return []
}

/** `features/prune`, or else `prune`. */
const foldersNamed = (room: string): ReadonlyArray<string> => {
  for (let name = room; ; name = name.slice(name.indexOf("/") + 1)) {
    if (existsSync(`test/${name}`)) return [name]
    if (!name.includes("/")) return []
  }
}
