/** A process that publishes `output` repeatedly, or `once`, and prints when each publish begins and how it failed. */
import { Effect } from "effect"
import { addThings, publishThings, warehouseAt } from "../things.ts"

const [output, times] = process.argv.slice(2)
const program = Effect.gen(function* () {
  yield* addThings([])
  do {
    process.stdout.write("begun\n")
    yield* publishThings(output!, { full: true })
  } while (times !== "once")
})
process.exitCode = await Effect.runPromise(
  program.pipe(
    Effect.provide(warehouseAt(output!)),
    Effect.match({
      onFailure: (failure) => {
        process.stdout.write(JSON.stringify(failure))
        return 1
      },
      onSuccess: () => 0
    })
  )
)
