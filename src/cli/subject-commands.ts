/** The commands about a single person. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { common } from "./flags.ts"
import { load } from "./load.ts"

const reidentify = Command.make(
  "reidentify",
  {
    ...common,
    pseudonym: Argument.String("pseudonym").pipe(
      Argument.withDescription("A pseudonym of a masked release: eml_k1_ and 26 characters.")
    ),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why the person has to be known; it is recorded."))
  },
  (flags) => load(import("./subject.ts"), (_) => _.reidentify(flags))
).pipe(
  Command.withDescription("Find the contact for whom a pseudonym stands. Needs masking.key."),
  Command.withExamples([
    {
      command: './sluice subject reidentify eml_k1_jmjc3wayzs3g2fm5n6scumidmy --reason "complaint, ticket 123"'
    }
  ])
)

export const subject = Command.make("subject").pipe(
  Command.withDescription("Find a person behind a pseudonym."),
  Command.withExamples([
    { command: './sluice subject reidentify eml_k1_jmjc3wayzs3g2fm5n6scumidmy --reason "complaint, ticket 123"' }
  ]),
  Command.withSubcommands([reidentify])
)
