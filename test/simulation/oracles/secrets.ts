/** No token is in any file of the output, in any row, or in what the runs have logged. */
import { filesBelow } from "../../support/contents.ts"
import type { Stage } from "../run.ts"
import type { State } from "./state.ts"

export const noSecrets = ({ logged, machine, services }: Stage, state: State): ReadonlyArray<string> => {
  const tokens = new Set(services.map(({ service }) => service.tokens.privateToken.toLowerCase()))
  const texts = [
    ...filesBelow(machine.folder),
    ["the log", logged.join("\n").toLowerCase()] as const,
    [
      "the warehouse",
      JSON.stringify([
        Object.values(state.meta),
        [...state.rows.values()].map((rows) => [...rows.values()])
      ]).toLowerCase()
    ] as const
  ]
  return texts.flatMap(([where, text]) =>
    [...tokens].some((token) => text.includes(token)) ? [`${where} has the token`] : []
  )
}
