/** A folder for what a check makes: in the output folder, where space is, or in that of the system if this user may only read. */
import * as Effect from "effect/Effect"
import { mkdir, mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { deniedText } from "./denied.ts"
import { onDisk } from "./files.ts"
import { outputPaths } from "./paths.ts"
import { removeBelow } from "./remove.ts"

/** Removed with the scope. */
export const scratchFolder = (folder: string) => {
  const own = `${outputPaths(folder).verified}${process.pid}`
  return Effect.acquireRelease(
    onDisk(own, "created", () =>
      mkdir(own, { recursive: true, mode: 0o700 }).then(
        () => own,
        (cause: NodeJS.ErrnoException) => {
          if (!deniedText.test(cause.code ?? "")) throw cause
          return mkdtemp(join(tmpdir(), "sluice-verify-"))
        }
      )
    ),
    (made) => Effect.ignore(onDisk(made, "removed", () => removeBelow(dirname(made), made)))
  )
}
