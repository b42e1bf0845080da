/** How many files a removal concerns, in results. */
import * as Schema from "effect/Schema"

/** `recordings`: the name of `files` in 1.0.0. */
export const FileCounts = { files: Schema.Int, recordings: Schema.Int }
export const fileCounts = (files: number) => ({ files, recordings: files })
