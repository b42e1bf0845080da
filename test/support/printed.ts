/** What a part of a command prints for people, as lines of stdout and of stderr. */
import { Effect } from "effect"
import { Writable } from "node:stream"
import { Output } from "../../src/console/streams.ts"

export const printed = async <A, E>(work: Effect.Effect<A, E, Output>) => {
  const texts = { out: "", err: "" }
  const streamOf = (name: keyof typeof texts) =>
    new Writable({
      write: (chunk, _, done) => {
        texts[name] += String(chunk)
        done()
      }
    })
  const output = Output.make({ stdout: streamOf("out"), stderr: streamOf("err") }, {})
  await Effect.runPromise(Effect.provideService(work, Output, output))
  return { out: texts.out.trimEnd().split("\n"), err: texts.err.trimEnd().split("\n") }
}

/** The cells of a line of a table. */
export const cellsIn = (line: string): ReadonlyArray<string> => line.trim().split(/ {2,}/)
