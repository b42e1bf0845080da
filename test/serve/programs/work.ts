/** A server that has nothing but work, in a process of its own that can be killed. It takes orders by messages. */
import { Effect, Exit, Scope } from "effect"
import { type Order, openWork } from "../../../src/run/work.ts"

/** What it is asked; each question is answered with the number that it has. */
export type Asked = { readonly id: number } & (
  | { readonly kind: "start"; readonly order: Order }
  | { readonly kind: "stop"; readonly job: string }
  | { readonly kind: "all" }
  | { readonly kind: "close" }
)

/** `ended`: what it says by itself, of each end that it sees. */
export type Said = { readonly id: number; readonly answer: unknown } | { readonly ended: string }

const [folder = "", program = ""] = process.argv.slice(2)
/** Nobody listens to what ends after the last answer. */
const say = (said: Said) => process.send!(said, () => {})
const scope = Scope.makeUnsafe()
const work = await Effect.runPromise(
  Scope.provide(
    openWork({
      folder,
      program: [program],
      flags: () => [],
      environment: process.env,
      onEnd: ({ record }) => Effect.sync(() => say({ ended: record.id })),
      onProblem: () => {},
      closeMs: 300
    }),
    scope
  )
)
const answerTo = async (asked: Asked): Promise<unknown> => {
  switch (asked.kind) {
    case "start":
      return Effect.runPromise(Effect.map(work.start(asked.order), ({ record }) => record.id)).catch(() => undefined)
    case "stop":
      return Effect.runPromise(Effect.ignore(work.stop(asked.job)))
    case "all":
      return (await Effect.runPromise(work.all)).map(({ record }) => record)
    case "close":
      return Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
process.on("message", async (asked: Asked) => {
  say({ id: asked.id, answer: (await answerTo(asked)) ?? null })
  if (asked.kind === "close") process.disconnect()
})
process.on("disconnect", () => process.exit())
say({ id: 0, answer: null })
