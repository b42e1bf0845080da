/** Whether a rebuild could make the tables again, for messages that would advise one. */
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { isOlder } from "./frame.ts"
import { codeOf } from "../../values/thrown.ts"
import { nodeZlib } from "../../values/node.ts"

/** `none`: there are no segments. `older`: a version before 1.0.0 wrote them. `unreadable`: the first one cannot be read. */
export const vaultState = (folder: string): "readable" | "older" | "none" | "unreadable" => {
  try {
    const [first] = readdirSync(folder)
      .filter((name) => /^\d{6,}\.ndjson(\.zst)?$/.test(name))
      .toSorted()
    if (first === undefined) return "none"
    const content = readFileSync(join(folder, first))
    return isOlder(first.endsWith(".zst") ? nodeZlib().zstdDecompressSync(content) : content) ? "older" : "readable"
  } catch (cause) {
    return codeOf(cause) === "ENOENT" ? "none" : "unreadable"
  }
}
