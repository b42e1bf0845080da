/** An output folder for one test, which is removed when the test ends. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

export const newOutput = (): string => {
  const output = mkdtempSync(join(tmpdir(), "sluice-publish-"))
  onTestFinished(() => rmSync(output, { recursive: true, force: true }))
  return output
}
