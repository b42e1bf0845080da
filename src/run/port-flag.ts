/** The flag `--port` of the commands that listen. */
import * as Option from "effect/Option"
import * as Flag from "effect/cli/Flag"

export const port = (description: string) =>
  Flag.Int("port").pipe(
    Flag.withDescription(description),
    Flag.filter(
      (port) => port >= 0 && port <= 65_535,
      (port) => `${port} is not a port from 0 to 65535`
    ),
    Flag.optional,
    Flag.map(Option.getOrUndefined)
  )
