/** How a run is getting on: a line that is redrawn on a terminal, a plain line every 30 s elsewhere. */
import { Clock, Effect } from "effect"
import type { Api } from "../api/api.ts"
import { duration, say } from "./output.ts"

export const progress = Effect.fnUntraced(
  function* (api: Api["Service"]) {
    const startedAt = yield* Clock.currentTimeMillis
    const live = process.stderr.isTTY && !process.env["CI"]
    while (true) {
      yield* Effect.sleep(live ? 500 : 30_000)
      const { burst, inWindow, dailyRemaining } = api.usage()
      const busiest = [...api.requestsByResource].sort(([, a], [, b]) => b - a)
      const total = busiest.reduce((sum, [, count]) => sum + count, 0)
      const line = [
        duration((yield* Clock.currentTimeMillis) - startedAt),
        `${total} requests (${busiest
          .slice(0, 4)
          .map(([resource, count]) => `${resource} ${count}`)
          .join(", ")})`,
        `budget ${Math.min(inWindow, burst)}/${burst}`,
        ...(dailyRemaining === undefined ? [] : [`${dailyRemaining} left today`])
      ].join(" · ")
      if (live) process.stderr.write(`\r\u001b[2K${line.slice(0, (process.stderr.columns ?? 120) - 1)}`)
      else say(line)
    }
  },
  Effect.ensuring(Effect.sync(() => process.stderr.isTTY && process.stderr.write("\r\u001b[2K")))
)
