import { type Files, privateOrigin } from "./files.ts"
import type { Link } from "./links.ts"

/** The start of a path after a redirect, with the number of redirects that follow. */
export const hopPattern = /^\/hop\/(\d)(?=\/)/

/** Where a link redirects to; undefined if it does not. `hop` is undefined at its own address. */
export const redirectOf = (
  { key, trouble }: Link,
  hop: number | undefined,
  path: string,
  files: Files
): { status: number; to: string } | undefined => {
  const draw = Number.parseInt(key.slice(4, 8), 16)
  switch (trouble) {
    case "redirect": {
      const left = hop ?? 1 + (draw % 3)
      if (left === 0) return undefined
      const to = `/hop/${left - 1}${path}`
      // An address may be relative.
      return { status: statuses[(draw + left) % 4]!, to: left % 2 === 0 ? to : files.origin + to }
    }
    case "loop":
      return { status: 302, to: `${files.origin}/hop/${hop === 1 ? 2 : 1}${path}` }
    case "redirectPrivate":
      return { status: 302, to: `${privateOrigin({ key }, files)}/latest/meta-data/` }
    case "redirectFile":
      return { status: 302, to: "file:///etc/passwd" }
    default:
      return undefined
  }
}

const statuses = [301, 302, 307, 308]
