/** A folder of releases, which are made there: the link to the newest one is replaced at once, and nothing remains to be done. */
import * as Effect from "effect/Effect"
import { probeFolder } from "../../output/files.ts"
import { releaseIn } from "../../stages/publish/manifest.ts"
import type { Work } from "../contract.ts"
import { guarded } from "../guarded.ts"
import { checkPublished } from "./compare.ts"
import type { FolderDestination } from "./settings.ts"

export const work: Work<FolderDestination> = {
  part: "published",
  checkOf: (name) => `folder ${name}`,
  needs: "This user must be able to write to the folder.",
  probe: ({ folder }) => probeFolder(folder),
  deliver: guarded({
    words: ({ folder }) => ({ to: folder, unit: "file" }),
    look: ({ folder }) => releaseIn(folder),
    stage: () => Effect.succeed(undefined)
  }),
  compare: ({ folder }) => checkPublished(folder),
  // Whoever removes earlier releases knows those of the output folder too.
  remove: () => Effect.void
}
