/** How a command describes itself. Its help, its completions, docs/commands.md and docs/schemas are made of this. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import { type Shown, printShown } from "../console/result.ts"

/** By the name in `sluice/<name>/1`, the data that a command prints with `--json`. */
export type DataOf<Results extends () => Readonly<Record<string, Schema.Top>>> = {
  readonly [Name in keyof ReturnType<Results>]: ReturnType<Results>[Name]["Type"]
}

const Serves = Context.Reference("sluice/command/Serves", { defaultValue: () => false })

interface Described {
  readonly name: string
  /** One or two sentences. */
  readonly summary: string
  /** Of a group without any: the first one of each of its commands. */
  readonly examples?: ReadonlyArray<Command.Command.Example>
  /** It runs until it is stopped, and has no work to resume. */
  readonly serves?: boolean
}

/** How a command that did not do all its work ends; the command has written why. */
export class Ended extends Data.TaggedError("Ended")<{ readonly exitCode: number }> {}

/** A command that does something. Its handler returns what is to be printed, or prints itself and returns an exit code. */
export const command = <const Flags extends Command.Command.Config, E, R>({
  name,
  flags,
  run,
  ...described
}: Described & {
  readonly flags: Flags
  readonly run: (flags: Command.Command.Config.Infer<Flags>) => Effect.Effect<Shown | number, E, R>
}) =>
  Command.make(name, flags, (given) => ended(run(given), (given as { readonly json?: boolean }).json === true)).pipe(
    about(described)
  )

/** The handlers of Effect's commands return nothing, so an exit code other than 0 leaves them as an error. */
const ended = Effect.fnUntraced(function* <E, R>(handler: Effect.Effect<Shown | number, E, R>, json: boolean) {
  const result = yield* handler
  const exitCode = typeof result === "number" ? result : yield* printShown(result, json)
  if (exitCode !== 0) return yield* new Ended({ exitCode })
})

/** A command that consists of others, which its help may show in groups. */
export const group = <const Commands extends ReadonlyArray<Command.Command.SubcommandEntry>>({
  name,
  commands,
  examples = commands.flatMap((one) => ("examples" in one ? one.examples.slice(0, 1) : [])),
  ...described
}: Described & { readonly commands: Commands }) =>
  Command.make(name).pipe(about({ ...described, examples }), Command.withSubcommands(commands))

const about =
  ({ summary, examples = [], serves = false }: Omit<Described, "name">) =>
  <Name extends string, Input, ContextInput, E, R>(self: Command.Command<Name, Input, ContextInput, E, R>) =>
    self.pipe(Command.withDescription(summary), Command.withExamples(examples), Command.annotate(Serves, serves))

export const servesOf = (command: Command.Command.Any): boolean => Context.get(command.annotations, Serves)
/** The command with these names, each below the one before. */
export const commandAt = (root: Command.Command.Any, path: ReadonlyArray<string>): Command.Command.Any =>
  path.reduce(
    ({ subcommands }, name) => subcommands.flatMap(({ commands }) => commands).find((one) => one.name === name)!,
    root
  )
